"""Numbers of other conventions in tables, on the console and on the page."""

import json
import re

from artifacts import golden
from commands import ROOT
from demur.features.conventions.emulations import EMULATIONS
from demur.results.load import results_of
from demur.show.console import evaluation_text
from demur.show.html import report_html
from demur.show.tables import FORMS, table_text

HOSTILE = ("<script>x</script>", "=1+1", "a|b", "\x1b[31m", "\\input{x}", "aurc@")


def test_names_from_a_file_are_shown_and_not_obeyed():
    content = golden("one")
    number = {"value": 1.0, "range": [None, 2.0], "order_dependent": True}
    for run in content["confidence_variants"].values():
        run["emulated"] = {name: {name: {**number, "note": name}} for name in HOSTILE}
    results = results_of({**content, "conventions": HOSTILE}).narrowed("llm")
    assert "<script>x" not in report_html(results)
    assert "\x1b" not in evaluation_text(results)
    made = {form: table_text(results, form) for form in FORMS}
    assert not any("\x1b" in text for text in made.values())
    assert r"\input{x}" not in made["latex"]
    assert not re.search(r"(^|,)=1", made["csv"], flags=re.MULTILINE)
    assert r"a\|b, a\|b" in made["markdown"]


def test_rows_of_other_conventions_have_no_difference():
    content = json.loads((ROOT / "tests" / "golden" / "paired.json").read_text())
    number = {"value": 0.5, "range": None, "order_dependent": False, "note": None}
    for both in content["confidence_variants"].values():
        for side in both.values():
            side["emulated"] = {"ln": {"aurc": number}}
    results = results_of({**content, "conventions": ["ln"]})
    rows = [line for line in table_text(results, "markdown").splitlines() if "AURC, ln" in line]
    assert len(rows) == len(results.selective.confidences)
    assert all(row.endswith("| AURC, ln | 0.5000 | 0.5000 | – |") for row in rows)
    assert set(EMULATIONS) >= set(results.study.conventions)
