"""The contents of the run file, and of the files of failures and usage."""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from demur.extensions.produce.config import FEW_SHOT
from demur.extensions.produce.inputs import Inputs, Scores
from demur.extensions.produce.journal import Journal, StepUsage
from demur.extensions.produce.references import SIMILARITY_SCALE
from demur.facts.ids import ClusterId
from demur.facts.instruments import Instrument
from demur.files.strict_model import now
from demur.types import Json

_MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class Prices:
    """The prices per million tokens, None if not given."""

    prompt: float | None = None
    completion: float | None = None

    def cost(self, usage: StepUsage) -> float | None:
        """The cost of requests; None if no prices are given."""
        if self.prompt is None or self.completion is None:
            return None
        return (usage.prompt_tokens * self.prompt + usage.completion_tokens * self.completion) / _MILLION


def run_content(inputs: Inputs, journal: Journal, begun: Json) -> Json:
    """The content of the run file; it depends only on configuration, data and answers, and has no times."""
    # Hashes say what was used. git is not asked: the configuration of a repository can run any command.
    metadata = {"run_id": begun["run_id"], "git_commit": None}
    metadata |= {"producer": "demur", **begun["made"]}
    metadata |= {"synthetic": True} if inputs.settings.data.synthetic else {}
    experiments = []
    for mode in inputs.settings.assess.modes:
        results = [*_results(mode, inputs, journal)]
        shared = {"mode": mode, "model": inputs.settings.endpoint.model}
        counts = {
            "total_participants": len(results),
            "successful_participants": sum(result["success"] for result in results),
        }
        experiments.append(
            {
                "provenance": {**shared, **_provenance(mode, inputs, begun)},
                "results": {**shared, **counts, "results": results},
            }
        )
    return {"run_metadata": metadata, "experiments": experiments}


def _provenance(mode: str, inputs: Inputs, begun: Json) -> Json:
    settings, about = begun["settings"], inputs.prompts.about
    assess = {name: value for name, value in settings["assess"].items() if name not in ("mode", "prompts")}
    endpoint = {name: settings["endpoint"][name] for name in ("base_url", "top_logprobs")}
    few_shot = mode == FEW_SHOT
    references = {
        "reference_split": settings["data"]["reference_split"],
        "embedding_base_url": settings["endpoint"]["embedding_base_url"] or endpoint["base_url"],
        "embedding_model": settings["endpoint"]["embedding_model"] or settings["endpoint"]["model"],
        "similarity_scale": SIMILARITY_SCALE,
        **settings["retrieval"],
    }
    return {
        "split": settings["data"]["split"],
        "instrument": inputs.instrument.name,
        "speaker": settings["data"]["speaker"],
        "prompts": {"name": about["name"], "version": about["version"], "prompt_sha256": inputs.prompts.sha256},
        **assess,
        "endpoint": {**endpoint, "capabilities": begun["capabilities"]},
        "retrieval": references if few_shot else None,
        "sha256": begun["hashes"],
    }


def _results(mode: str, inputs: Inputs, journal: Journal) -> Iterator[Json]:
    """The participants that are done or failed, in the order of their ids."""
    for person in inputs.people:
        case = mode, str(person)
        if case in journal.done:
            yield _success(person, inputs.truth[str(person)], journal.done[case], inputs.instrument)
        elif case in journal.failed:
            yield {"participant_id": person, "success": False, "error": journal.failed[case]["category"]}


def _success(person: ClusterId, truth: Scores, done: Json, scale: Instrument) -> Json:
    predicted: Mapping[str, int | None] = {item: done["predicted"][item] for item in scale.items}
    given = {item: score for item, score in predicted.items() if score is not None}
    missing, total = len(predicted) - len(given), sum(given.values())
    errors = [abs(score - truth[item]) for item, score in given.items()]
    return {
        "participant_id": person,
        "success": True,
        "error": None,
        "ground_truth_items": {item: truth[item] for item in scale.items},
        "predicted_items": {**predicted},
        "item_signals": {item: done["signals"][item] for item in scale.items},
        "ground_truth_total": sum(truth[item] for item in scale.items),
        "predicted_total": total,
        "predicted_total_min": total + missing * scale.minimum,
        "predicted_total_max": total + missing * scale.maximum,
        "available_items": len(given),
        "na_items": missing,
        "mae_available": sum(errors) / len(errors) if errors else None,
    }


def failures_content(inputs: Inputs, journal: Journal) -> Json:
    """The content of the failure file, without any text of transcripts or answers."""
    entries = [
        {"mode": mode, "participant_id": person, **journal.failed[mode, str(person)]}
        for mode in inputs.settings.assess.modes
        for person in inputs.people
        if (mode, str(person)) in journal.failed
    ]
    return {"by_category": dict(sorted(Counter(entry["category"] for entry in entries).items())), "failures": entries}


def usage_content(journal: Journal, prices: Prices, seconds: float) -> Json:
    """The content of the usage file, by step; `seconds` is the time that this call took."""
    steps = {step: _step_usage(usage, prices) for step, usage in sorted(journal.usage.items())}
    costs = [step["cost"] for step in steps.values() if step["cost"] is not None]
    prices_given = {"prompt_per_million": prices.prompt, "completion_per_million": prices.completion}
    return {
        "created_at": now(),
        "seconds": round(seconds, 3),
        "steps": steps,
        "prices": prices_given,
        "cost": math.fsum(costs) if costs else None,
        "items_left_without_references_by_the_budget": journal.emptied(),
    }


def _step_usage(usage: StepUsage, prices: Prices) -> Json:
    ordered = sorted(usage.seconds)
    return {
        "requests": usage.requests,
        "attempts": usage.attempts,
        "prompt_tokens": usage.prompt_tokens,
        "cached_tokens": usage.cached_tokens,
        "completion_tokens": usage.completion_tokens,
        "seconds_median": statistics.median(ordered) if ordered else None,
        "seconds_p95": ordered[math.ceil(0.95 * len(ordered)) - 1] if ordered else None,
        "cost": prices.cost(usage),
    }
