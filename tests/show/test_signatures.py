"""Where a signature is shown: under every table, in the captions of the curve and of a figure; and other numbers."""

import re

import pytest

from artifacts import golden
from demur import report_html
from demur.results.load import results_of
from demur.show.console import evaluation_text
from demur.show.figure import figure_bytes
from demur.show.table_rows import Layout
from demur.show.tables import BOARD_FORMS, FORMS, table_text
from parametrized import parametrize_few


@pytest.fixture(scope="module", params=["one", "paired", "three"])
def results(request):
    return results_of(golden(request.param))


def test_under_every_table_of_the_console_its_own(results):
    shown = re.findall(r"^Signature: (\S+)$", evaluation_text(results), flags=re.MULTILINE)
    assert shown == [str(results.study.signature(name)) for name in results.selective.confidences]


@pytest.mark.parametrize("form", [form for form in FORMS if form != "csv"])
def test_below_every_table(results, form):
    text = table_text(results, form).replace(r"\textbar\allowbreak{}", "|").replace(r"\_", "_").replace("-{}", "-")
    assert text.count(str(results.study.signature())) == 1


def test_below_a_leaderboard():
    results = results_of(golden("three"))
    for form in set(BOARD_FORMS) - {"csv"}:
        assert "loss:abs" in BOARD_FORMS[form](results, Layout(("leaderboard",)))


def test_in_the_captions_and_the_methods_of_the_page(results):
    page = report_html(results).replace("|<wbr>", "|")  # a line may end after a key
    for name in results.selective.confidences:
        assert f'<figcaption class="quiet"><code>{results.study.signature(name)}</code></figcaption>' in page
    assert f"<dt>Signature</dt><dd><code>{results.study.signature()}</code></dd>" in page


@parametrize_few("kind", ["risk-coverage", "forest"], 1)
@pytest.mark.slow
def test_in_the_caption_of_a_figure(kind):
    results = results_of(golden("paired")).narrowed("verbalized")
    drawn = figure_bytes(results, ".svg", kind=kind).decode()
    assert "".join(re.findall(r">([a-z][^<]*(?:\||:0\.2\.0))</", drawn)) == str(results.study.signature())
