"""Runs of `demur produce` for the tests: synthetic interviews, the scripted endpoint, and no waiting."""

from __future__ import annotations

import json
from contextlib import contextmanager
from pathlib import Path

from demur import Instrument
from demur.extensions.lab.interviews import simulated_interviews
from demur.extensions.produce.config import load_settings
from demur.extensions.produce.inputs import read_inputs_of
from demur.extensions.produce.producing import ProduceOptions, Production
from demur.extensions.produce.scripted_answers import Script
from demur.facts.instruments import INSTRUMENTS
from faults import FaultyEndpoint


def no_wait(_):
    """Time passes at once."""


SHORT = Instrument("Short", ("Sleep", "Tired"), 0, 3)  # answers in a quarter of the time


def interviews(folder: Path, participants=6, seed=1, instrument=SHORT) -> Path:
    """A new folder of made-up interviews; an instrument that is not known is in a file beside them."""
    made = simulated_interviews(participants, seed=seed, instrument=instrument).write(folder)
    if instrument.name not in INSTRUMENTS:
        fields = {"name": instrument.name, "items": [*instrument.items]}
        fields |= {"min": instrument.minimum, "max": instrument.maximum}
        (folder / "instrument.json").write_text(json.dumps(fields))
        text = (folder / "produce.toml").read_text()
        (folder / "produce.toml").write_text(text.replace(f'"{instrument.name}"', '"instrument.json"'))
    return made


@contextmanager
def serving(folder: Path, faults=(), **how):
    """The scripted endpoint for a folder of interviews."""
    with FaultyEndpoint(Script.read(folder / "answers.json"), faults, **how) as endpoint:
        yield endpoint


def settings_of(folder: Path, url: str, **changes):
    """The configuration of a folder of interviews, with another endpoint."""
    changes["endpoint"] = {"base_url": url, **changes.get("endpoint", {})}
    return load_settings(folder / "produce.toml", changes)


def production(folder: Path, url: str, run: Path, *, changes=None, **options) -> Production:
    """A run, ready to be produced, that waits for nothing."""
    inputs = read_inputs_of(settings_of(folder, url, **(changes or {})), folder)
    return Production(inputs, run, ProduceOptions(**{"wait": no_wait, **options}))


def produced(folder: Path, url: str, run: Path, **how):
    """The outcome of a run, and what its run file holds by mode and participant."""
    outcome = production(folder, url, run, **how).produce()
    return outcome, results(run)


def results(run: Path) -> dict:
    """The results of a run file by mode and participant."""
    content = json.loads((run / "run.json").read_text())
    return {
        (experiment["results"]["mode"], entry["participant_id"]): entry
        for experiment in content["experiments"]
        for entry in experiment["results"]["results"]
    }


def failures(run: Path) -> list:
    """What failed, as the failure file holds it."""
    return json.loads((run / "failures.json").read_text())["failures"]
