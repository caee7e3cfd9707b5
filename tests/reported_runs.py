"""Reported figures of runs, audited against the answers they are of."""

import json

from demur import Curve, Scores, confidence, grade
from demur.extensions.audit.figures import Printed
from demur.extensions.audit.reported.runs import audited_runs
from demur.files.strict_json import loads

MODES = ("zero_shot", "few_shot")


def audited(runs, content, **options):
    return {one.key: one for one in audited_runs(runs, loads(json.dumps(content), number=Printed.of), **options)}


def verdicts(runs, content, **options):
    return {key: (one.status, one.cause) for key, one in audited(runs, content, **options).items()}


def scores(runs, system, name, loss="abs_norm"):
    """What demur measures."""
    items = runs[system]
    curve = Curve.of(grade(items, loss=loss, confidence=confidence(items, name)))
    return Scores(curve).to_dict()
