"""Graded, tied, gap-ridden TREC files: every measure that ir-measures has too, to 1e-12, query by query and on average.

ir-measures breaks ties in two ways: trec_eval's, the greater id first, and for RR@k the lesser id first. Ours is always
the former, so RR@k is compared on runs without ties.
"""

import random

import ir_measures
import pytest
from ir_measures import AP, RR, P, R, Success, nDCG

from demur import Key, Plan, RetrievalSettings, evaluate_retrieval, read_trec
from demur.extensions.retrieval.quantities.ranking import per_query

DEPTHS = (1, 3, 5, 10, 100)
TOLERANCE = 1e-12
CUT = {"P": P, "R": R, "AP": AP, "Success": Success}


def made(rng, *, ties):
    """Judgments from −1 to 3, and a run with unjudged documents, topics nobody judged, and topics it lacks."""
    documents = [f"d{number}" for number in range(rng.choice((3, 12, 30)))]
    judged, scored = {}, {}
    for topic in range(rng.randint(2, 8)):
        grades = rng.choice(([-1, 0, 0, 1, 2, 3], [0, 1], [-1, 0], [0, 0, 0, 2], [1, 2, 3]))
        if rng.random() < 0.85:
            judged[f"q{topic}"] = {name: rng.choice(grades) for name in documents if rng.random() < 0.6}
        if rng.random() < 0.85:
            levels = 4 if ties else 10**6
            scored[f"q{topic}"] = {name: rng.randint(-levels, levels) / 2 for name in documents if rng.random() < 0.7}
    judged["always"] = {"d0": 3, "d1": 1, "d2": -1}
    scored["always"] = {"d2": 1, "d1": 1, "d9": 0}
    if not ties:
        scored = {topic: {name: score for score, name in _by_score(found).items()} for topic, found in scored.items()}
    # trec_eval's C code never returns from a topic whose judgments are all negative.
    return {t: g for t, g in judged.items() if max(g.values(), default=-1) >= 0}, {t: s for t, s in scored.items() if s}


def _by_score(found):
    return {score: name for name, score in found.items()}


def written(folder, judged, scored):
    lines = [f"{topic} 0 {name} {grade}\n" for topic, grades in judged.items() for name, grade in grades.items()]
    (folder / "qrels").write_text("".join(lines), encoding="utf-8")
    lines = [f"{topic} Q0 {name} 0 {score!r} t\n" for topic, found in scored.items() for name, score in found.items()]
    (folder / "run").write_text("".join(lines), encoding="utf-8")
    return read_trec(folder / "qrels", {"t": folder / "run"})["t"]


def shared(level, *, ties):
    """Measures of ir-measures by our own names for them, which are the names it prints."""
    measures = {f"{name}@{k}": measure(rel=level) @ k for name, measure in CUT.items() for k in DEPTHS}
    measures |= {f"nDCG@{k}": nDCG @ k for k in DEPTHS} | {"nDCG": nDCG, "AP": AP(rel=level), "RR": RR(rel=level)}
    return measures if ties else {f"RR@{k}": RR(rel=level) @ k for k in DEPTHS}


@pytest.mark.parametrize("seeds", [range(3), pytest.param(range(3, 400), marks=pytest.mark.slow)])
@pytest.mark.parametrize("ties", [True, False])
def test_every_shared_measure_is_theirs(tmp_path, seeds, ties):
    for seed in seeds:
        judged, scored = made(random.Random(seed), ties=ties)
        facts, level = written(tmp_path, judged, scored), seed % 3 + 1
        measures = shared(level, ties=ties)
        theirs = {(str(m), q): value for q, m, value in ir_measures.iter_calc([*measures.values()], judged, scored)}
        means = ir_measures.calc_aggregate([*measures.values()], judged, scored)
        settings = RetrievalSettings(metrics=[*measures], relevance_level=level)
        results = evaluate_retrieval({"t": facts}, settings=settings, plan=Plan(0, seed=None))
        ours = per_query(facts.at_level(level), settings.measures)
        for measure, their in zip(settings.measures, measures.values()):
            for query, post in enumerate(facts.post_ids):
                assert ours[measure][query] == pytest.approx(theirs[str(their), post], abs=TOLERANCE), (seed, post)
            assert results[Key("t", str(measure))].value == pytest.approx(means[their], abs=TOLERANCE), (seed, measure)
