"""The JSON Schema of a run file, for whoever writes one. The reader checks more than a schema can say."""

import math
from typing import Any

from demur.facts.instruments import PHQ8, Instrument
from demur.facts.signals import SIGNALS, Signal

Json = dict[str, Any]


def run_schema(instrument: Instrument = PHQ8) -> Json:
    """What a run file of this instrument looks like. Members that are not named are allowed, items are not."""
    results = {"mode": {"type": ["string", "null"]}, "results": {"type": "array", "items": _participant(instrument)}}
    experiment = {
        "type": "object",
        "required": ["results"],
        "properties": {
            "provenance": {"type": ["object", "null"], "properties": {"mode": {"type": ["string", "null"]}}},
            "results": {"type": "object", "required": ["results"], "properties": results},
        },
    }
    metadata = {name: {"type": ["string", "null"]} for name in ("run_id", "git_commit")}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"demur run file ({instrument.name})",
        "type": "object",
        "required": ["experiments"],
        "properties": {
            "run_metadata": {"type": ["object", "null"], "properties": metadata},
            "experiments": {"type": "array", "minItems": 1, "items": experiment},
        },
    }


def _participant(instrument: Instrument) -> Json:
    score = {"minimum": instrument.minimum, "maximum": instrument.maximum}
    signals = {"type": "object", "properties": {name: _signal(signal) for name, signal in SIGNALS.items()}}
    maps = {
        "ground_truth_items": _by_item(instrument, {"type": "integer", **score}),
        "predicted_items": _by_item(instrument, {"type": ["integer", "null"], **score}),
        "item_signals": _by_item(instrument, signals),
    }
    return {
        "type": "object",
        "required": ["participant_id", "success"],
        "properties": {"participant_id": {"type": ["integer", "string"]}, "success": {"type": "boolean"}},
        "if": {"properties": {"success": {"const": True}}},
        "then": {"required": [*maps], "properties": maps},
    }


def _by_item(instrument: Instrument, value: Json) -> Json:
    return {
        "type": "object",
        "properties": dict.fromkeys(instrument.items, value),
        "required": [*instrument.items],
        "additionalProperties": False,
    }


def _signal(signal: Signal) -> Json:
    if signal.text:
        return {"type": ["string", "null"]}
    schema: Json = {"type": ["integer" if signal.whole else "number", "null"]}
    if math.isfinite(signal.low):
        schema["minimum"] = signal.low
    if math.isfinite(signal.high):
        schema["maximum"] = signal.high
    return schema
