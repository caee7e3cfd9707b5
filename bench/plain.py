"""Risk and coverage as one writes them the first time: what the bootstrap is compared with."""

from __future__ import annotations

import numpy as np

from demur import ItemPrediction
from demur.extensions.lab.runs import Run

GRID = [f"0.{tenth}" for tenth in range(1, 10)]
BUNDLE = ["cmax", "aurc", "augrc", "aurc@0.5", "augrc@0.5", *(f"risk@{c}" for c in GRID)]  # fourteen numbers


def plain_curve(items: list[ItemPrediction]) -> list[tuple[float, float, float]]:
    """Operating points as one writes them the first time: filter, sort, walk the plateaus."""
    predicted = [item for item in items if item.pred is not None]
    predicted.sort(key=lambda item: item.confidence, reverse=True)
    points: list[tuple[float, float, float]] = []
    total, position = 0.0, 0
    while position < len(predicted):
        confidence = predicted[position].confidence
        while position < len(predicted) and predicted[position].confidence == confidence:
            total += abs((predicted[position].pred or 0) - predicted[position].gt) / 3
            position += 1
        points.append((position / len(items), total / position, total / len(items)))
    return points


def plain_area(points: list[tuple[float, float, float]], column: int, end: float) -> float:
    if not points:
        return 0.0
    area, x0, y0 = 0.0, 0.0, points[0][1] if column == 1 else 0.0
    for point in points:
        x1, y1 = point[0], point[column]
        if x1 > end:
            cut = y0 + (y1 - y0) * (end - x0) / (x1 - x0)
            return area + (end - x0) * (y0 + cut) / 2
        area += (x1 - x0) * (y0 + y1) / 2
        x0, y0 = x1, y1
    return area


def plain_bundle(people: list[list[ItemPrediction]], drawn: list[int]) -> list[float]:
    """Fourteen numbers of one replicate; rows regrouped and the curve rebuilt for each, as separate functions do."""
    values = []
    for index in range(len(BUNDLE)):
        points = plain_curve([row for person in drawn for row in people[person]])
        if index == 0:
            values.append(points[-1][0] if points else 0.0)
        elif index in (1, 2):
            values.append(plain_area(points, index, 2.0))
        elif index in (3, 4):
            values.append(plain_area(points, index - 2, 0.5))
        else:
            values.append(next((risk for c, risk, _ in points if c >= float(GRID[index - 5])), np.nan))
    return values


def rows_of(run: Run, confidence: str) -> list[list[ItemPrediction]]:
    people, items = run.answered.shape
    ranked_by = run.signals[confidence].tolist()
    answers = np.where(run.answered, run.answer, -1).tolist()
    return [
        [
            ItemPrediction(
                p, i, None if answers[p][i] < 0 else answers[p][i], int(run.people.truth[p, i]), ranked_by[p][i]
            )
            for i in range(items)
        ]
        for p in range(people)
    ]
