"""Random inputs and commands for `compare_with.py`: tables, run files, queries, and what is done with them.

A case is a folder of input files and `steps.json`, the commands to run there. Nothing here uses demur, so that both
checkouts get the same files. A command is a list of words and of options; an option is a list of its name and values,
which `compare_with.py` spells as a checkout does.
"""

from __future__ import annotations

import csv
import json
import random
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

Json: TypeAlias = dict[str, Any]
Words: TypeAlias = list[str]
Command: TypeAlias = list["str | list[str]"]
Truths: TypeAlias = "dict[int, dict[str, int]]"

WHEN = ["created-at", "2026-01-31T12:00:00Z"]
ITEMS = {
    "PHQ-8": ("NoInterest", "Depressed", "Sleep", "Tired", "Appetite", "Failure", "Concentrating", "Moving"),
    "GAD-7": ("Nervous", "ControlWorry", "WorryTooMuch", "TroubleRelaxing", "Restless", "Irritable", "Afraid"),
}
CALIBRATIONS: dict[str, list[Words]] = {
    "temperature": [["method", "temperature"], ["features", "verbalized_confidence"]],
    "logistic": [["method", "logistic"], ["features", "verbalized_confidence,token_msp,llm_evidence_count"]],
    "linear": [["method", "linear"], ["features", "token_msp,retrieval_similarity_mean"]],
    "isotonic": [["method", "isotonic"], ["variant", "token_msp"]],
    "platt": [["method", "platt"], ["variant", "llm"]],
}
INTERVALS = (
    *("recommended", "percentile", "expanded_percentile", "t_interval", "studentised"),
    *("analytic", "analytic_log", "jackknife", "bca"),
)
CONVENTIONS = ("fd-shifts", "geifman", "torch-uncertainty", "prefix-mean", "ln", "sele", "item-by-item")
COVERAGES = ("0.1", "0.25", "0.3", "0.5", "0.625", "0.75", "0.9", "1")
SYSTEMS = ("bge", "a b", "x:y", "bge-large", "bge2", "m/large", "r@5", "it's", 'the "best"', "dense=1", "é")
CRITERIA = ("A1", "A10", "sleep / tired", "a:b", "C@1", "d=e")
POLICIES = ("fixed:1", "fixed:5", "threshold:0.3", "threshold:-0.5", "gap", "elbow")


@dataclass(frozen=True, slots=True)
class System:
    """How a made-up system behaves: the shares of units it answers and errs on, and whether its signals are tied."""

    answers: float
    errs: float
    tied: bool

    @classmethod
    def drawn(cls, rng: random.Random) -> System:
        """Any system, now and then one that answers nothing, answers everything, or never errs."""
        answers, errs = rng.uniform(0.2, 1), rng.uniform(0.1, 0.9)
        return cls(rng.choice([0, 1, *[answers] * 10]), rng.choice([0, *[errs] * 6]), rng.random() < 1 / 2)

    def confidence(self, rng: random.Random, *, wrong: bool) -> float:
        """A number between 0 and 1, which tends to be lower for errors."""
        knows = min(max(rng.gauss(0.4 if wrong else 0.6, 0.25), 0.001), 0.999)
        return round(knows * 4) / 4 if self.tied else knows


def write_cases(folder: Path, evaluations: int) -> None:
    """Write the training run and every case, the same ones whenever it is called."""
    rng = random.Random(0)
    folder.mkdir(parents=True)
    truths = {person: {item: rng.randint(0, 3) for item in ITEMS["PHQ-8"]} for person in range(40)}
    _write_json(folder / "training.json", {"experiments": [_experiment(rng, System(0.9, 0.4, tied=False), truths)]})
    for name, options in CALIBRATIONS.items():
        command: Command = ["calibrate", ["input", "../training.json"], *options, ["output", "calibration.json"], WHEN]
        _write_case(folder / f"calibration-{name}", [command])
    for number in range(evaluations):
        name, make = [*KINDS.items()][number % len(KINDS)]
        place = folder / f"{number:03}-{name}"
        place.mkdir()
        _write_case(place, make(place, random.Random(number)))


def _write_case(place: Path, steps: list[Command]) -> None:
    place.mkdir(exist_ok=True)
    _write_json(place / "steps.json", steps)


def _write_json(path: Path, content: object) -> None:
    path.write_text(json.dumps(content), encoding="utf-8")


def _write_csv(path: Path, rows: list[Json]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)


def _maybe(rng: random.Random, *option: str, share: float = 1 / 2) -> list[Words]:
    return [[*option]] if rng.random() < share else []


def _resampling(rng: random.Random) -> list[Words]:
    return [["bootstrap-resamples", str(rng.randint(200, 500))], ["seed", str(rng.randint(0, 2**40))]]


def _written() -> Command:
    return [["output", "results.json"], ["quiet"], WHEN]


def _shown(rng: random.Random) -> list[Words]:
    """What an evaluation of any input may be asked to add."""
    return [
        *_maybe(rng, "coverage-grid", ",".join(dict.fromkeys(rng.choices(COVERAGES, k=5)))),
        *_maybe(rng, "area-coverage", rng.choice(COVERAGES), share=0.3),
        *_maybe(rng, "level", rng.choice(["0.5", "0.9", "0.99"])),
        *_maybe(rng, "interval", rng.choice(INTERVALS)),
    ]


# Tables

# What a table tells of each unit, and the options that say so.
TOLD: Mapping[str, list[Words]] = {
    "whole losses": [["loss-max", "3"]],
    "real losses": [["loss-max", "1.5"]],
    "losses without a maximum": [],
    "scores": [["score-range", "0:10"]],
    "labels": [],
    "numbers": [["loss", "abs"]],
}


def _told(rng: random.Random, told: str, truth: int, *, wrong: bool, answers: bool) -> Json:
    """The columns of one unit in a table of that kind, empty where the system abstains."""
    if told in {"labels", "numbers"}:
        given = rng.choice([other for other in range(4) if other != truth]) if wrong else truth
        spelled = "wxyz" if told == "labels" else "0123"
        return {"truth": spelled[truth], "prediction": spelled[given] if answers else ""}
    if told == "scores":
        return {"score": (rng.choice([rng.uniform(0, 9), 5]) if wrong else 10) if answers else ""}
    loss = (rng.randint(1, 3) if told == "whole losses" else rng.uniform(0.01, 1.5)) if wrong else 0
    return {"loss": loss if answers else ""}


@dataclass(frozen=True, slots=True)
class Tables:
    """Tables of several systems, and raters, on the same units."""

    folder: Path
    rng: random.Random
    told: str
    units: list[Json]

    @classmethod
    def drawn(cls, folder: Path, rng: random.Random, told: str = "", least: int = 1) -> Tables:
        """One to some hundred clusters of one to eight units, with labels of groups."""
        clusters = max(least, rng.choice([1, 2, 3, *[rng.randint(4, 60)] * 8, 300]))
        items, sizes = rng.randint(1, 8), rng.random() < 1 / 2
        units = [
            {"cluster": f"p {person}", "item": f"q{item}", "sex": "fmx"[person % 3], "age": 18 + person % 60}
            | {"site": rng.choice("AB"), "right": rng.randint(0, 3)}
            for person in range(clusters)
            for item in range(rng.randint(1, items) if sizes else items)
        ]
        return cls(folder, rng, told or rng.choice([*TOLD]), units)

    def write(self, name: str, system: System | None = None, *, status: bool = False) -> str:
        """Write the table of one more system; with a status, some of its units have failed."""
        system, rows = system or System.drawn(self.rng), []
        for index, unit in enumerate(self.units):
            wrong, answers = self.rng.random() < system.errs, self.rng.random() < system.answers
            row = {key: value for key, value in unit.items() if key != "right"}
            row |= _told(self.rng, self.told, unit["right"], wrong=wrong, answers=answers or not index)
            row |= {"sure": system.confidence(self.rng, wrong=wrong), "other": self.rng.random()}
            row |= {"abstained": str(not answers and index > 0).lower()} if "loss" in row else {}
            row |= {"status": "failed" if index and self.rng.random() < 0.05 else "ok"} if status else {}  # noqa: PLR2004
            rows.append(row)
        _write_csv(self.folder / f"{name}.csv", rows)
        return f"{name}.csv"

    def write_rater(self, name: str) -> str:
        """Write what a rater, who declines a few, says of the units."""
        rows = []
        for unit in self.units:
            wrong, answers = self.rng.random() < 0.3, self.rng.random() < 0.9  # noqa: PLR2004
            told = _told(self.rng, self.told, unit["right"], wrong=wrong, answers=answers)
            rows.append({"cluster": unit["cluster"], "item": unit["item"]} | told)
        _write_csv(self.folder / f"{name}.csv", rows)
        return f"{name}.csv"

    def evaluate(self, *names: str, options: list[Words], confidence: str = "sure,other") -> list[Command]:
        """One command that evaluates tables written before."""
        inputs = [["input", name] for name in names]
        told = [["instrument", "none"], *TOLD[self.told], ["confidence", confidence]]
        return [["evaluate", *inputs, *told, *options, *_resampling(self.rng), *_written()]]


def _one(folder: Path, rng: random.Random) -> list[Command]:
    tables = Tables.drawn(folder, rng)
    status = rng.random() < 1 / 3
    failed = [["failed-units", rng.choice(["drop", "abstain"])]] if status else []
    return tables.evaluate(tables.write("a", status=status), options=[*failed, *_shown(rng)])


def _pair(folder: Path, rng: random.Random) -> list[Command]:
    tables = Tables.drawn(folder, rng)
    return tables.evaluate(tables.write("a"), tables.write("b"), options=_shown(rng))


def _many(folder: Path, rng: random.Random) -> list[Command]:
    tables = Tables.drawn(folder, rng)
    names = [tables.write(name) for name in "abcde"[: rng.randint(3, 5)]]
    return tables.evaluate(*names, options=[*_maybe(rng, "baseline", names[1]), *_shown(rng)])


def _groups(folder: Path, rng: random.Random) -> list[Command]:
    tables = Tables.drawn(folder, rng, least=8)
    names = [tables.write(name) for name in "abc"[: rng.choice([1, 1, 2, 3])]]
    at = rng.choice([["threshold", "0.5"], ["at-coverage", "0.3"]])
    groups = [["group", "sex", "sex"], ["group", "age", "age:20,30,60"], ["group", "site", "site"]]
    chosen = rng.sample(groups, rng.randint(1, 3))
    strata = _maybe(rng, "stratify", "sex", share=0.3) if groups[0] in chosen else []
    return tables.evaluate(*names, options=[*chosen, at, *strata, ["min-clusters", "4"]], confidence="sure")


def _raters(folder: Path, rng: random.Random) -> list[Command]:
    tables = Tables.drawn(folder, rng, told=rng.choice(["whole losses", "real losses", "labels", "numbers"]))
    names = [tables.write(name) for name in "abc"[: rng.choice([1, 1, 2, 3])]]
    raters = [["rater", f"Dr {name}", tables.write_rater(f"r{name}")] for name in "xy"[: rng.randint(1, 2)]]
    options = [
        *raters,
        *(_maybe(rng, "forced", tables.write("forced", System(1, 0.5, tied=False))) if len(names) == 1 else []),
        *_maybe(rng, "margin", "0.1"),
        *_maybe(rng, "handover-threshold", "0.5"),
        *_maybe(rng, "point", "Paper: coverage=0.5, risk=0.25, ci=0.1..0.4"),
        *_maybe(rng, "point", "Bare: coverage=0.75, risk=0.3"),
    ]
    return tables.evaluate(*names, options=options, confidence="sure")


def _costs(folder: Path, rng: random.Random) -> list[Command]:
    tables = Tables.drawn(folder, rng, told=rng.choice(["whole losses", "real losses", "scores", "labels"]), least=2)
    names = [tables.write(name) for name in "abc"[: rng.choice([1, 1, 2, 3])]]
    prices = [["abstention-cost", price] for price in rng.sample(["0.1", "1:3", "0.5", "1:20"], rng.randint(1, 3))]
    return tables.evaluate(*names, options=[*prices, *_maybe(rng, "cross-fit", "2")])


def _conventions(folder: Path, rng: random.Random) -> list[Command]:
    tables = Tables.drawn(folder, rng)
    names = [tables.write(name) for name in "abc"[: rng.choice([1, 1, 2, 3])]]
    chosen = [["convention", name] for name in rng.sample(CONVENTIONS, rng.randint(1, 4))]
    return tables.evaluate(*names, options=chosen)


def _choose(folder: Path, rng: random.Random) -> list[Command]:
    """Choose a threshold, certify one, and apply the rules to another table."""
    tables = Tables.drawn(folder, rng, told=rng.choice(["whole losses", "real losses", "labels"]), least=10)
    first, second = tables.write("a"), tables.write("b")
    told: list[Words] = [["instrument", "none"], *TOLD[tables.told], ["confidence", "sure"]]
    target = rng.choice([["risk", "0.6"], ["coverage", "0.4"], ["errors-per-100", "30"], ["abstention-cost", "0.3"]])
    method = rng.choice(["guarded_t", "betting", "crc"])
    certified: list[Words] = [["errors-per-100", "40"] if method == "crc" else ["risk", "0.7"], ["certify", method]]
    certified += [["max-units", "8"], ["grid", "0.9,0.7,0.5,0.25"], ["allow-empty"]]
    seed = ["seed", str(rng.randint(0, 2**40))]
    return [
        ["choose", first, *told, target, seed, ["output", "rule.json"], ["json"], WHEN],
        ["choose", first, *told, *certified, seed, ["output", "certified.json"], ["json"], WHEN],
        ["apply", "rule.json", second, ["output", "decisions.csv"]],
        ["apply", "certified.json", second, ["check"]],
    ]


# Run files


def _runs(folder: Path, rng: random.Random) -> list[Command]:
    """One or two run files, of participants of whom some failed."""
    paired = rng.random() < 1 / 2
    instrument = rng.choice(["PHQ-8", "PHQ-8", "GAD-7"])
    people = range(100, 100 + rng.choice([1, 2, 3, *[rng.randint(4, 60)] * 10]))
    truths = {person: {item: rng.randint(0, 3) for item in ITEMS[instrument]} for person in people}
    shared = paired and rng.random() < 1 / 3
    dropped = rng.sample(_SIGNALS, rng.choice([0, 0, 0, 3, 6]))
    names = "ab"[: 1 + paired]
    for name in names:
        present = {one: truths[one] for one in truths if one == people[0] or not shared or rng.random() < 0.8}  # noqa: PLR2004
        experiment = _experiment(rng, System.drawn(rng), present, dropped)
        content = {"run_metadata": {"run_id": name, "git_commit": None}, "experiments": [experiment]}
        _write_json(folder / f"{name}.json", content)
    served = [name for name in CALIBRATIONS if name != "linear" or "retrieval_similarity_mean" not in dropped]
    calibration = ["calibration", f"../calibration-{rng.choice(served)}.json"]
    named = rng.choice(["llm,token_msp", "secondary:llm+token_msp:average", "secondary:llm+verbalized:product"])
    confidences: list[list[Words]] = [[], [["confidence", named]], [["confidence", "all"]]]
    options = [
        *(["input", f"{name}.json"] for name in names),
        *([["instrument", instrument]] if instrument != "PHQ-8" else []),
        *([["intersection-only"]] if shared else []),
        ["loss", rng.choice(["abs", "abs_norm", "zero_one"])],
        *rng.choice([*confidences, [["confidence", "all"], calibration]]),
        *_shown(rng),
    ]
    return [["evaluate", *options, *_resampling(rng), *_written()]]


_SIGNALS = (
    *("keyword_evidence_count", "retrieval_similarity_max", "token_pe", "token_energy"),
    *("consistency_modal_confidence", "consistency_score_std", "retrieval_similarity_mean"),
)


def _experiment(rng: random.Random, system: System, truths: Truths, dropped: Words | tuple[()] = ()) -> Json:
    """One experiment of a run file; some participants fail, never the first."""
    failing, results = rng.choice([0, 0, 0.1]), []
    for index, (person, truth) in enumerate(truths.items()):
        if index and rng.random() < failing:
            results.append({"participant_id": person, "success": False, "error": "made up"})
            continue
        answers = {item: _answer(rng, system, score) for item, score in truth.items()}
        kept = {item: {k: v for k, v in signals.items() if k not in dropped} for item, (_, signals) in answers.items()}
        maps: Json = {"ground_truth_items": truth, "item_signals": kept}
        maps["predicted_items"] = {item: score for item, (score, _) in answers.items()}
        results.append({"participant_id": person, "success": True, "error": None, **maps})
    return {"provenance": {"mode": "few_shot"}, "results": {"mode": "few_shot", "results": results}}


def _answer(rng: random.Random, system: System, truth: int) -> tuple[int | None, Json]:
    wrong = rng.random() < system.errs
    score = rng.choice([other for other in range(4) if other != truth]) if wrong else truth
    knows = system.confidence(rng, wrong=wrong)
    return (score if rng.random() < system.answers else None), {
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


# Queries


def _retrieval(folder: Path, rng: random.Random) -> list[Command]:
    """One to four systems on the same queries, in one per-query file."""
    systems = rng.sample(SYSTEMS, rng.randint(1, 4))
    with_scores = [name for name in systems if rng.random() < 0.6]  # noqa: PLR2004
    with_selection = [name for name in systems if rng.random() < 1 / 2]
    probabilities = rng.choice([[], ["prob"], ["prob"], [f"{name}_prob" for name in systems]])
    columns = [*(f"{name}_scores" for name in with_scores), *(f"{name}_selected_ids" for name in with_selection)]
    columns += [*probabilities, *rng.choice([[], ["fold"]])]
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
    bounds = rng.choice([[], [["k-min", "1"], ["hard-cap", "4"], ["k-max-ratio", "0.75"]]])
    options = [
        ["data", "queries.csv"],
        *_maybe(rng, "k", rng.choice(["10", "1,10", "2,3,7", "1,3,5,10,50"])),
        *_maybe(rng, "effective-k", share=0.3),
        *(_maybe(rng, "threshold", rng.choice(["0.3", "0.5", "1"])) if probabilities else []),
        *(["policy", name] for name in chosen),
        *(bounds if chosen or with_selection else []),
        *_maybe(rng, "baseline", rng.choice(systems)),
    ]
    return [["retrieval", *options, *_resampling(rng), *_written()]]


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


KINDS: dict[str, Callable[[Path, random.Random], list[Command]]] = {
    "one": _one,
    "pair": _pair,
    "many": _many,
    "groups": _groups,
    "raters": _raters,
    "costs": _costs,
    "conventions": _conventions,
    "runs": _runs,
    "retrieval": _retrieval,
    "choose": _choose,
}
