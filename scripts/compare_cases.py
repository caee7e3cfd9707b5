"""Random inputs and command lines for `compare_with.py`: runs that may abstain, and queries of several systems.

A case is a folder of input files and the words of one command. Nothing here uses demur, so that old and new code are
given the same files.
"""

from __future__ import annotations

import csv
import json
import random
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

SINGLE, PAIRED, RETRIEVAL = 40, 60, 100
CREATED_AT = "2026-01-31T12:00:00Z"
ITEMS = {
    "PHQ-8": ("NoInterest", "Depressed", "Sleep", "Tired", "Appetite", "Failure", "Concentrating", "Moving"),
    "GAD-7": ("Nervous", "ControlWorry", "WorryTooMuch", "TroubleRelaxing", "Restless", "Irritable", "Afraid"),
    "none": ("q1", "q 2", "q/3", "q:4", "q=5"),
}
CALIBRATIONS = {
    "temperature": ("--method", "temperature", "--features", "verbalized_confidence"),
    "logistic": ("--method", "logistic", "--features", "verbalized_confidence,token_msp,llm_evidence_count"),
    "linear": ("--method", "linear", "--features", "token_msp,retrieval_similarity_mean"),
    "isotonic": ("--method", "isotonic", "--variant", "token_msp"),
    "platt": ("--method", "platt", "--variant", "llm"),
}
INTERVALS = (
    *("recommended", "percentile", "expanded_percentile", "t_interval", "studentised"),
    *("analytic", "analytic_log", "jackknife", "bca"),
)
SYSTEMS = ("bge", "a b", "x:y", "bge-large", "bge2", "m/large", "r@5", "it's", 'the "best"', "dense=1", "é")
CRITERIA = ("A1", "A10", "sleep / tired", "a:b", "C@1", "d=e")
POLICIES = ("fixed:1", "fixed:5", "threshold:0.3", "threshold:-0.5", "gap", "elbow")

Json = dict[str, Any]
Words = list[str]


@dataclass(frozen=True, slots=True)
class System:
    """How a made-up system behaves: the shares of units it answers and errs on, and whether its signals are tied."""

    answers: float
    errs: float
    tied: bool

    @classmethod
    def random(cls, rng: random.Random) -> System:
        """Any system, now and then one that answers nothing, answers everything, or never errs."""
        answers, errs = rng.uniform(0.2, 1), rng.uniform(0.1, 0.9)
        return cls(rng.choice([0, 1, *[answers] * 10]), rng.choice([0, *[errs] * 6]), rng.random() < 1 / 2)

    def answer(self, rng: random.Random, truth: int) -> tuple[int | None, Json]:
        """A score or None, and every signal of the unit; errors tend to be less confident."""
        wrong = rng.random() < self.errs
        score = rng.choice([other for other in range(4) if other != truth]) if wrong else truth
        knows = min(max(rng.gauss(0.4 if wrong else 0.6, 0.25), 0.001), 0.999)
        knows = round(knows * 4) / 4 if self.tied else knows
        return (score if rng.random() < self.answers else None), {
            "llm_evidence_count": round(5 * knows),
            "keyword_evidence_count": rng.randint(0, 2),
            "retrieval_similarity_mean": rng.choice([knows, knows, knows, None]),
            "retrieval_similarity_max": (1 + knows) / 2,
            "verbalized_confidence": rng.choice([1 + round(4 * knows), 3, None]),
            "token_msp": knows,
            "token_pe": 1 - knows,
            "token_energy": knows - 1,
            "consistency_modal_confidence": round(5 * knows) / 5,
            "consistency_score_std": round(3 * (1 - knows)) / 2,
        }


def write_cases(folder: Path) -> None:
    """Write the training run and every case: the files it reads and `command.json`, always the same ones."""
    rng = random.Random(0)
    training = _experiment(rng, System(0.9, 0.4, tied=False), _truths(rng, range(40), ITEMS["PHQ-8"]), "few_shot")
    _write_json(folder / "training.json", {"experiments": [training]})
    for number in range(SINGLE + PAIRED + RETRIEVAL):
        kind = "single" if number < SINGLE else "paired" if number < SINGLE + PAIRED else "retrieval"
        place = folder / f"{number:03}-{kind}"
        place.mkdir()
        rng = random.Random(number)
        words = _retrieval(place, rng) if kind == "retrieval" else _evaluate(place, rng, paired=kind == "paired")
        resampling = ["--bootstrap-resamples", str(rng.randint(200, 1000)), "--seed", str(rng.randint(0, 2**40))]
        _write_json(place / "command.json", [*words, *resampling, "--created-at", CREATED_AT])


def _write_json(path: Path, content: object) -> None:
    path.write_text(json.dumps(content), encoding="utf-8")


def _maybe(rng: random.Random, *words: str, share: float = 1 / 2) -> Words:
    return [*words] if rng.random() < share else []


# Runs


def _evaluate(folder: Path, rng: random.Random, *, paired: bool) -> Words:
    """One or two runs, as run files or as long tables without an instrument."""
    instrument = rng.choice(["PHQ-8", "PHQ-8", "GAD-7", "none"])
    people = range(100, 100 + rng.choice([1, 2, 3, *[rng.randint(4, 60)] * 10]))
    truths = _truths(rng, people, ITEMS[instrument])
    systems = [System.random(rng) for _ in range(1 + paired)]
    shared = paired and rng.random() < 1 / 3
    present = [_some(rng, truths) if shared else truths for _ in systems]
    write = _write_table if instrument == "none" else _write_run
    dropped = rng.sample(_SIGNALS, rng.choice([0, 0, 0, 3, 6]))
    inputs = [write(folder, rng, name, *run, dropped) for name, *run in zip("ab", systems, present, strict=False)]
    return [
        "evaluate",
        *(word for path in inputs for word in ("--input", path)),
        *(["--instrument", instrument] if instrument != "PHQ-8" else []),
        *(["--intersection-only"] if shared else _maybe(rng, "--intersection-only", share=paired / 5)),
        *("--loss", rng.choice(["abs", "zero_one"] if instrument == "none" else ["abs", "abs_norm", "zero_one"])),
        *_confidence(rng, dropped),
        *_maybe(rng, "--coverage-grid", ",".join(_coverages(rng))),
        *_maybe(rng, "--area-coverage", _coverages(rng)[0], share=0.3),
        *_maybe(rng, "--level", rng.choice(["0.5", "0.9", "0.99"])),
        *_maybe(rng, "--interval", rng.choice(INTERVALS)),
    ]


_SIGNALS = (
    *("keyword_evidence_count", "retrieval_similarity_max", "token_pe", "token_energy"),
    *("consistency_modal_confidence", "consistency_score_std", "retrieval_similarity_mean"),
)


def _confidence(rng: random.Random, dropped: Words) -> Words:
    """Every variant, the default ones, or a few by name; with or without a calibration the run can serve."""
    served = [name for name in CALIBRATIONS if name != "linear" or "retrieval_similarity_mean" not in dropped]
    calibration = ["--calibration", f"../calibration-{rng.choice(served)}.json"]
    named = rng.choice(["llm,token_msp", "secondary:llm+token_msp:average", "secondary:llm+verbalized:product"])
    return rng.choice(
        [
            [],
            ["--confidence", named],
            ["--confidence", "all"],
            ["--confidence", "all", *calibration],
            ["--confidence", "all", *calibration],
        ]
    )


def _coverages(rng: random.Random) -> Words:
    """Distinct coverages between 0 and 1, with one to three decimals."""
    return [*dict.fromkeys(rng.choice(["0.1", "0.25", "0.3", "0.5", "0.625", "0.75", "0.9", "1"]) for _ in range(5))]


def _truths(rng: random.Random, people: range, items: tuple[str, ...]) -> dict[int, dict[str, int]]:
    return {person: {item: rng.randint(0, 3) for item in items} for person in people}


def _some(rng: random.Random, truths: dict[int, Any]) -> dict[int, Any]:
    """Most of the participants, the first of them always: two such sets overlap."""
    return {person: truth for index, (person, truth) in enumerate(truths.items()) if not index or rng.random() < 0.8}  # noqa: PLR2004


def _experiment(
    rng: random.Random, system: System, truths: dict[int, Any], mode: str, dropped: Words | tuple[()] = ()
) -> Json:
    """One experiment of a run file; some participants fail, never the first."""
    failing, results = rng.choice([0, 0, 0.1]), []
    for index, (person, truth) in enumerate(truths.items()):
        if index and rng.random() < failing:
            results.append({"participant_id": person, "success": False, "error": "made up"})
            continue
        answers = {item: system.answer(rng, score) for item, score in truth.items()}
        kept = {item: {k: v for k, v in signals.items() if k not in dropped} for item, (_, signals) in answers.items()}
        maps = {"ground_truth_items": truth, "item_signals": kept}
        maps["predicted_items"] = {item: score for item, (score, _) in answers.items()}
        results.append({"participant_id": person, "success": True, "error": None, **maps})
    return {"provenance": {"mode": mode}, "results": {"mode": mode, "results": results}}


def _write_run(
    folder: Path, rng: random.Random, name: str, system: System, truths: dict[int, Any], dropped: Words
) -> str:
    experiment = _experiment(rng, system, truths, f"mode {name}", dropped)
    content = {"run_metadata": {"run_id": name, "git_commit": None}, "experiments": [experiment]}
    _write_json(folder / f"{name}.json", content)
    return f"{name}.json"


def _write_table(
    folder: Path, rng: random.Random, name: str, system: System, truths: dict[int, Any], dropped: Words
) -> str:
    """A long table, one row per unit."""
    rows = []
    for person, truth in truths.items():
        for item, score in truth.items():
            prediction, signals = system.answer(rng, score)
            kept = {key: value for key, value in signals.items() if key not in dropped}
            rows.append({"cluster": f"p {person}", "item": item, "truth": score, "prediction": prediction, **kept})
    _write_csv(folder / f"{name}.csv", rows)
    return f"{name}.csv"


def _write_csv(path: Path, rows: list[Json]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)


# Queries


def _retrieval(folder: Path, rng: random.Random) -> Words:
    """One to four systems on the same queries, in one per-query file."""
    systems = rng.sample(SYSTEMS, rng.randint(1, 4))
    with_scores = [name for name in systems if rng.random() < 0.6]  # noqa: PLR2004
    with_selection = [name for name in systems if rng.random() < 1 / 2]
    probabilities = rng.choice([[], ["prob"], ["prob"], [f"{name}_prob" for name in systems]])
    columns = [*(f"{name}_scores" for name in with_scores), *(f"{name}_selected_ids" for name in with_selection)]
    columns += [*probabilities, *_maybe(rng, "fold")]
    criteria = rng.sample(CRITERIA, rng.randint(1, len(CRITERIA)))
    evidence, depth = rng.choice([0, 1, *[rng.uniform(0.2, 0.9)] * 6]), rng.choice([3, 8, 20])
    rows = []
    for post in range(rng.choice([1, 2, 3, *[rng.randint(4, 40)] * 10])):
        for criterion in criteria:
            query = {"post_id": f"post/{post}", "criterion_id": criterion, "fold": post % 3}
            rows.append(_query(rng, query, systems, depth, has_gold=rng.random() < evidence))
    kept = ["post_id", "criterion_id", "gold_ids", *(f"{name}_topk" for name in systems), *columns]
    _write_csv(folder / "queries.csv", [{column: row[column] for column in kept} for row in rows])
    policies = [name for name in POLICIES if with_scores or name.startswith("fixed")]
    chosen = rng.sample(policies, rng.randint(0, 2))
    shows_some = chosen or any("selected_ids" in column for column in kept)
    bounds = _maybe(rng, "--k-min", "1", "--hard-cap", "4", "--k-max-ratio", "0.75", share=0.3)
    return [
        *("retrieval", "--data", "queries.csv"),
        *_maybe(rng, "--k", rng.choice(["10", "1,10", "2,3,7", "1,3,5,10,50"])),
        *_maybe(rng, "--effective-k", share=0.3),
        *(_maybe(rng, "--threshold", rng.choice(["0.3", "0.5", "1"])) if probabilities else []),
        *(word for name in chosen for word in ("--policy", name)),
        *(bounds if shows_some else []),
        *_maybe(rng, "--baseline", rng.choice(systems)),
    ]


def _query(rng: random.Random, query: Json, systems: Words, depth: int, *, has_gold: bool) -> Json:
    """One row: what there is to find, and what every system ranks, selects and believes."""
    ids = [f"s{number}" for number in range(depth + 4)]
    gold = rng.sample(ids, rng.randint(1, 3)) if has_gold else []
    row = query | {"gold_ids": "|".join(gold), "prob": _probability(rng, has_gold=has_gold)}
    for skill, name in enumerate(systems):
        scores = {one: round(rng.gauss(skill * (one in gold), 1), rng.choice([1, 4])) for one in ids}
        ranked = sorted(ids, key=scores.__getitem__, reverse=True)[: rng.choice([0, depth // 2, depth, depth, depth])]
        row[f"{name}_topk"] = "|".join(ranked)
        row[f"{name}_scores"] = "|".join(str(scores[one]) for one in ranked)
        row[f"{name}_selected_ids"] = "|".join(ranked[: rng.randint(0, 5)])
        row[f"{name}_prob"] = _probability(rng, has_gold=has_gold)
    return row


def _probability(rng: random.Random, *, has_gold: bool) -> float:
    """A probability, every other one rounded so that some are tied."""
    return round(min(max(rng.gauss(0.6 if has_gold else 0.4, 0.25), 0), 1), rng.choice([1, 6]))
