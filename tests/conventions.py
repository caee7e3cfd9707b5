"""The three worked tables of answers, and what the tools themselves report of them.

Every number was computed by the package it is of, on these very rows; fractions are what it is on paper.
"""

import math
from fractions import Fraction as F

from demur import grade_units

CONFIDENCE = {
    "T1": [0.9, 0.9, 0.8, 0.7, 0.7, None, 0.6, None],
    "T2": [0.9, 0.8, 0.7, 0.6, 0.5],
    "T3": [2, 2, 1, None],
}
LOSS = {"T1": [0, 1, 0, 0, 1, None, 0, None], "T2": [0, 0, 1, 0, 1], "T3": [0, 2, 0, None]}
TABLES = tuple(CONFIDENCE)


def rows_of(table, reversed_rows=False):
    """The rows as (loss, confidence), an abstention with neither."""
    rows = [*zip(LOSS[table], CONFIDENCE[table], strict=True)]
    return rows[::-1] if reversed_rows else rows


def graded(rows):
    """Rows of (loss, confidence) as units that are graded."""
    return grade_units([0 if sure is None else sure for _, sure in rows], loss=[loss for loss, _ in rows])


OURS = {
    "T1": {
        "aurc": F(151, 480),
        "augrc": F(7, 64),
        "aurc_optimal": F(11, 240),
        "augrc_optimal": F(1, 32),
        "eaurc": F(43, 160),
        "eaugrc": F(5, 64),
        "aurc_achievable": F(29, 96),
        "cmax": F(3, 4),
    },
    "T2": {
        "aurc": F(47, 300),
        "augrc": F(3, 25),
        "aurc_optimal": F(9, 100),
        "augrc_optimal": F(2, 25),
        "eaurc": F(1, 15),
        "eaugrc": F(1, 25),
        "aurc_achievable": F(23, 200),
    },
    "T3": {
        "aurc": F(17, 24),
        "augrc": F(1, 4),
        "aurc_optimal": F(1, 12),
        "augrc_optimal": F(1, 16),
        "eaurc": F(5, 8),
        "eaugrc": F(3, 16),
        "aurc_achievable": F(17, 24),
    },
}
FD_SHIFTS = {
    "T1": {
        "aurc": F(151, 360) * 1000,
        "augrc": F(7, 36) * 1000,
        "aurc_hyperbola": 419.11590163551307,
        "aurc_optimal": 63.023261261223986,
        "augrc_optimal": F(1000, 18),
        "eaurc": 356.42118318322048,
        "eaugrc": F(1000, 36) * 5,
        "aurc_achievable": F(1000, 3),
    },
    "T2": {
        "aurc": F(47, 300) * 1000,
        "augrc": F(120),
        "aurc_hyperbola": 161.46424045856452,
        "aurc_optimal": 93.5046257404058,
        "augrc_optimal": F(80),
        "eaurc": 63.16204092626086,
        "eaugrc": F(40),
        "aurc_achievable": 127.48443309948507,
    },
    "T3": {
        "aurc": F(17, 18) * 1000,
        "augrc": F(4, 9) * 1000,
        "aurc_hyperbola": 936.9767387387764,
        "aurc_optimal": F(1000, 9),
        "augrc_optimal": F(1000, 9),
        "eaurc": F(5, 6) * 1000,
        "eaugrc": F(1, 3) * 1000,
        "aurc_achievable": 936.9767387387764,
    },
}
# With every abstention an answer of confidence −1, of loss 0 or of the largest loss.
FD_SHIFTS_ABSTENTIONS = {
    ("T1", 0): {"aurc": 387.5, "augrc": 171.875},
    ("T1", 1): {"aurc": 418.75, "augrc": 203.125},
    ("T3", 0): {"aurc": F(41, 48) * 1000, "augrc": 375},
    ("T3", 2): {"aurc": F(11, 12) * 1000, "augrc": 437.5},
}
# Of the tools that sort: rows as given, and reversed.
SORTED = {
    ("geifman", "aurc"): {"T1": (F(43, 120), F(29, 120)), "T2": (F(17, 100),) * 2, "T3": (F(7, 9), F(4, 9))},
    ("geifman", "eaurc"): {
        "T1": (0.2953100720721096, None),
        "T2": (0.07649537425959443, None),
        "T3": (0.4773152073338144, None),
    },
    ("torch-uncertainty", "aurc"): {"T1": (F(33, 100), F(12, 25)), "T2": (F(47, 240),) * 2, "T3": (math.nan,) * 2},
    ("torch-uncertainty", "augrc"): {"T1": (F(1, 5), F(1, 4)), "T2": (F(3, 20),) * 2, "T3": (math.nan,) * 2},
    ("torch-uncertainty", "risk@0.5"): {"T1": (F(1, 3), None), "T2": (F(1, 3), None)},
    ("torch-uncertainty", "risk@0.8"): {"T1": (F(2, 5), None), "T2": (F(1, 4), None)},
    ("torch-uncertainty", "coverage@risk=0.25"): {"T1": (F(2, 3), math.nan), "T2": (F(4, 5), F(4, 5))},
    ("prefix-mean", "aurc"): {"T1": (F(23, 45), F(109, 360)), "T2": (F(59, 300),) * 2, "T3": (F(11, 9), F(5, 9))},
    ("ln", "aurc"): {
        "T1": (0.41758765616512267, 0.26487253418609685),
        "T2": (0.17509374747077996,) * 2,
        "T3": (0.9241962407465937, 0.46209812037329684),
    },
    ("sele", "aurc"): {"T1": (F(1, 4), F(7, 36)), "T2": (F(4, 25),) * 2, "T3": (F(2, 3), F(4, 9))},
    ("item-by-item", "aurc"): {"T1": (F(33, 160), F(3, 10)), "T2": (F(47, 300),) * 2, "T3": (F(1, 3), F(7, 12))},
}
RANGES = {
    ("T1", "geifman", "aurc"): (F(29, 120), F(43, 120)),
    ("T1", "torch-uncertainty", "aurc"): (F(33, 100), F(12, 25)),
    ("T1", "torch-uncertainty", "augrc"): (F(1, 5), F(1, 4)),
    ("T1", "prefix-mean", "aurc"): (F(109, 360), F(23, 45)),
    ("T1", "sele", "aurc"): (F(7, 36), F(1, 4)),
    ("T1", "ln", "aurc"): (0.26487253418609685, 0.41758765616512267),
    ("T3", "geifman", "aurc"): (F(4, 9), F(7, 9)),
    ("T3", "prefix-mean", "aurc"): (F(5, 9), F(11, 9)),
    ("T3", "sele", "aurc"): (F(4, 9), F(2, 3)),
    ("T3", "ln", "aurc"): (0.46209812037329684, 0.9241962407465937),
}
# Reported by the tools, and known to an audit alone: rows as given, and reversed.
LM_POLYGRAPH = {"T1": (F(109, 360), F(23, 45)), "T2": (F(59, 300),) * 2, "T3": (F(5, 18), F(11, 18))}
TORCH_PLOT = {"aurc": F(47, 300), "augrc": F(11, 300)}  # of T2, printed as 15.67% and 3.67%
