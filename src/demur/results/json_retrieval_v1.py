"""Reading retrieval files of version 0.1: nested members are translated into columns of the present format."""

from collections.abc import Iterator

from demur.errors import UserError
from demur.inference.warnings import KINDS
from demur.quantities import Measure
from demur.results import json_table
from demur.results.json_v1_cells import present_method
from demur.results.reference import REFERENCES
from demur.results.table import Results
from demur.types import Json

_RENAMED = {"mae": "risk", "precision": "empty_precision", "recall": "empty_recall", "f1": "empty_f1"}
_USUAL = {"confidence": "", "among": "all", "by_convention": False, "undefined": "", "no_interval": ""}
_POOLED: Json = {"positives_only": {"among": "with_gold"}, "all_queries": {}, "detection": {"confidence": "prob"}}
_OTHERS: Json = {"gate": {"confidence": "prob"}, "empty_decision": {}, "dynamic_k": {}}


def decoded(content: Json) -> Results:
    """Results from the content of a file."""
    try:
        translated = _translated(content)
    except UserError:
        raise
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        problem = f"missing or misplaced: {error}"
        raise UserError(f"a retrieval file of version 0.1 does not hold together: {problem}") from None
    return json_table.decoded(translated)


def _translated(file: Json) -> Json:
    systems, baseline, sections = file["systems"], file["settings"]["baseline"], _sections(file["settings"]["policies"])
    rows = [_row(name, *number) for name, system in systems.items() for number in _numbers(sections, system)]
    for name, deltas in file["deltas"].items():
        for section, numbers in deltas.items():
            minus = sections[section] | {"minus": {"system": baseline}}
            rows += [_row(name, minus, quantity, number) for quantity, number in numbers.items()]
    rows += [row for name, system in systems.items() for row in _fold_rows(name, sections, system["folds"] or {})]
    columns = dict.fromkeys(column for row in rows for column in row)
    gates = {name: system["gate"] for name, system in systems.items() if system["gate"]}
    return _study(file) | {
        "schema_version": {"1": "2"}[file["schema_version"]],
        "estimates": {column: [row.get(column, _USUAL.get(column)) for row in rows] for column in columns},
        "curves": [
            {"system": name, "confidence": "prob", "defined": gate["defined"], "curve": gate["curve"]}
            for name, gate in gates.items()
        ],
        "warnings": [_warning(file, warning) for warning in file["warnings"]],
    }


def _sections(policies: list[str]) -> dict[str, Json]:
    """The key columns of the numbers in each section of a file; of a policy, the suffix of their names."""
    sections = {**_POOLED, **_OTHERS, **{f"policies/{policy}": {"end": f"@{policy}"} for policy in policies}}
    for section, columns in _POOLED.items():
        sections |= {f"{section}/micro": columns, f"{section}/macro": columns | {"group": ("criterion", None)}}
    return sections


def _study(file: Json) -> Json:
    (first, *_), counts, settings = file["systems"].values(), file["queries"], dict(file["settings"])
    with_gold, all_queries = (first[section]["per_criterion"] for section in ("positives_only", "all_queries"))
    return {
        "task": "retrieval",
        **{name: file[name] for name in ("created_at", "tool", "inputs", "convention", "reference_ranges")},
        "reference": REFERENCES["phq8-evidence"] if file["reference_ranges"] else None,
        "baseline": settings.pop("baseline"),
        "settings": settings,
        "bootstrap": file["bootstrap"] and {name: file["bootstrap"][name] for name in ("seed", "n_resamples")},
        "systems": [
            {
                "name": name,
                "abstained": system["queries_abstained"],
                "candidates": system["candidates"],
                "empty_decision_by": system["empty_decision_by"],
                "empty_selections": system["dynamic_k"] and system["dynamic_k"]["abstained"],
                "breaches": system["dynamic_k"]["breaches"] if system["dynamic_k"] else (),
            }
            for name, system in file["systems"].items()
        ],
        "posts": counts["posts"],
        "queries": counts["queries_total"],
        "with_gold": counts["queries_with_positives"],
        "criteria": [
            {"name": name, "queries": part["queries"], "with_gold": with_gold[name]["queries"]}
            for name, part in all_queries.items()
        ],
        "folds": counts["folds"] or (),
        "has_evidence_rate": counts["queries_with_positives"] / max(counts["queries_total"], 1),
    }


def _numbers(sections: dict[str, Json], system: Json) -> Iterator[tuple[Json, str, Json]]:
    """Every number of a system except those of folds: its key columns, its name and its members."""
    groups: list[tuple[Json, Json]] = [(sections["empty_decision"], system["empty_decision"])]
    for section, columns in _POOLED.items():
        part = system[section] or {"micro": {}, "macro": {}, "per_criterion": {}}
        groups += [(columns | {"by_convention": part.get("single_class", False)}, part["micro"])]
        groups += [(sections[f"{section}/macro"], part["macro"])]
        for criterion, numbers in part["per_criterion"].items():
            single_class = criterion in part.get("single_class_criteria", ())
            own = {"group": ("criterion", criterion), "by_convention": single_class}
            groups += [(columns | own, numbers.get("metrics", numbers))]
    groups += [(sections[section], system[section]["metrics"]) for section in ("dynamic_k", "gate") if system[section]]
    groups += [(sections[f"policies/{policy}"], numbers) for policy, numbers in system["policies"].items()]
    rates = system["detection"]["threshold_at_fpr"] if system["detection"] else {}
    reached = {f"tpr@fpr={rate}": {"at": at["fpr"], "threshold": at["threshold"]} for rate, at in rates.items()}
    bounds = system["gate"]["upper_bound95"] if system["gate"] else {}
    for columns, name, number in ((columns, *member) for columns, numbers in groups for member in numbers.items()):
        pooled = columns.get("confidence") == "prob" and "group" not in columns
        more = reached.get(name, {}) | ({"upper_bound95": bounds[name]} if name in bounds else {})
        yield columns | (more if pooled else {}), name, number


def _row(system: str, columns: Json, name: str, number: Json) -> Json:
    ends, ci95, above = number["ci95_recommended"], number["ci95"] or (None, None), number.get("share_above")
    return _named(system, columns, name) | {
        "value": number["delta"] if "delta" in number else number["value"],
        "std_error": number["std_error"],
        "ci95_low": ci95[0],
        "ci95_high": ci95[1],
        "low": ends and ends["low"],
        "high": ends and ends["high"],
        "method": ends and present_method(ends["method"]),
        "drop_rate": number.get("drop_rate"),
        "share_above": above,
        "share_below": None if above is None else 1 - above,  # the file holds only share_above
        "undefined": number["reason"] or "",
        "no_interval": number["no_interval"] or "",
    }


def _named(system: str, columns: Json, name: str) -> Json:
    quantity = str(Measure.of(f"{_RENAMED.get(name, name)}{columns.get('end', '')}"))
    return {"system": system, "quantity": quantity} | {key: value for key, value in columns.items() if key != "end"}


def _fold_rows(system: str, sections: dict[str, Json], folds: Json) -> Iterator[Json]:
    for section, name, over in ((section, *member) for section, members in folds.items() for member in members.items()):
        row = _named(system, sections[section], name)
        for fold, value in over["values"].items():
            undefined = "no such query" if value is None else ""
            yield row | {"group": ("fold", fold), "value": value, "undefined": undefined}
        undefined = "a fold has no such query" if over["mean"] is None else ""
        yield row | {"group": ("fold", None), "value": over["mean"], "spread": over["std"], "undefined": undefined}


def _warning(file: Json, worded: Json) -> Json:
    """A warning with the sentence of the file, and the numbers that its code and section are about."""
    code, section = worded["code"], worded["where"]
    subject = KINDS[code].subject if code in KINDS else ""
    about: Json = {"among": "with_gold"} if (code, section) == ("criterion_without_gold", "positives_only") else {}
    parameters: Json = {}
    for name in file["systems"]:
        if code == "single_class" and section in (f"{name} detection", f"{name} folds"):
            about = {"system": name, "confidence": "prob"}
            parameters = {"folds": len(file["queries"]["folds"])} if section == f"{name} folds" else {}
        elif section == (f"{name} gate {subject}" if subject else name):
            about = {"system": name, "confidence": "prob"} if subject else {"system": name}
    return {"code": code, "about": about, "parameters": parameters, "message": worded["message"]}
