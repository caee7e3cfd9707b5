"""Figures as the scripts of the user's documents write them: their shapes, their names and their habits."""

import json

import pytest

from demur.extensions.audit.figures import Printed
from demur.extensions.audit.reported.reading import runs_to_audit
from demur.extensions.audit.reported.runs import audited_runs
from demur.files.strict_json import loads
from runs import experiment, participant, run, written

LINSPACE = "would equal it, bins by the rounded edges of numpy.linspace: 0.3 is below its own"
LAST_OPEN = "would equal it, p = 1.0 dropped: the last bin is open"


def verdicts(audited, data, content, **options):
    found = audited(data, loads(json.dumps(content), number=Printed.of), **options)
    return {one.key: (one.status, one.cause) for one in found}


@pytest.fixture(scope="module")
def older(tmp_path_factory):
    """An older run, which still counts keywords; 0.4 · 0.75 and 0.3 · 1 are equal on paper, and all there is."""
    people = [participant(person, {"Tired": None if person % 2 else 3, "Sleep": 0}) for person in range(6)]
    for person in people:
        for index, given in enumerate(person["item_signals"].values()):
            quoted, spoken = ((0, 4), (3, 1))[index % 2]
            given |= {"llm_evidence_count": quoted, "keyword_evidence_count": index}
            given |= {"verbalized_confidence": spoken, "retrieval_similarity_mean": 0.0}
    return runs_to_audit([written(tmp_path_factory.mktemp("older"), run(experiment(*people)))])


def values(runs, content):
    return {one.key: one.recomputed for one in audited_runs(runs, loads(json.dumps(content), number=Printed.of))}


class TestHabitsOfTheOlderScript:
    @pytest.mark.slow
    def test_the_metrics_and_the_interpretation_of_document_003_are_read(self, older):
        metrics = ("aurc", "aurc_optimal", "eaurc", "aurc_achievable", "augrc", "augrc_optimal", "eaugrc", "cmax")
        percent = ("aurc_gap_pct", "augrc_gap_pct", "achievable_gain_pct")
        typed = {"metrics": dict.fromkeys(metrics, 7.77), "interpretation": dict.fromkeys(percent, 7.77)}
        right = values(older, typed)
        assert [*right] == [f"{section}.{name}" for section, members in typed.items() for name in members]
        for name, value in right.items():
            section, _, figure = name.partition(".")
            typed[section][figure] = value
        assert set(verdicts(audited_runs, older, typed).values()) == {("match", None)}

    def test_a_drop_rate_is_a_share_of_the_draws_and_1_for_an_undefined_number_is_named(self, older):
        rates = {"0.10": 0.0, "0.94": 1.0, "0.90": 0.9}
        content = {"llm": {"bootstrap": {"drop_rate": {"mae_at_coverage": rates}}}}
        found = verdicts(audited_runs, older, content, resamples=400)
        assert [*found.values()] == [
            ("match", None),
            ("differs", "would equal it, 1 given where the number itself is undefined"),
            ("differs", "no known cause"),
        ]

    def test_total_evidence_as_an_alias_of_llm_is_named(self, older):
        alias = values(older, {"llm": {"aurc": 7}})["llm.aurc"]
        found = verdicts(audited_runs, older, {"total_evidence": {"aurc": alias}})
        assert [*found.values()] == [
            ("differs", "would equal it, total_evidence without the keyword counts, as an alias of llm")
        ]

    @pytest.mark.slow
    def test_composites_that_were_not_rounded_are_named(self, older):
        spoken = 0.4 * 0.75 > 0.3
        assert spoken, "as floats they are two confidences"
        split = values(older, {"verbalized": {"aurc": 7, "risk@0.1": 7}})
        content = {name.removeprefix("verbalized."): value for name, value in split.items()}
        found = verdicts(audited_runs, older, {"hybrid_verbalized": content})
        cause = "would equal it, composite confidences not rounded to 12 decimals: ties broken that are equal on paper"
        assert [*found.values()] == [("differs", cause)] * 2
