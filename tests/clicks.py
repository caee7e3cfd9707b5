"""What a reader clicks on a page, and what its table must then say."""

from demur.show.text import threshold_at


def choose(page, radio):
    """Click what a reader clicks: the words beside a button that is only drawn."""
    page.locator("label").filter(has=page.locator(radio)).click()
    page.wait_for_function("radio => document.querySelector(radio).checked", arg=radio)


def records(results, confidence="llm"):
    return [results.curves[system, confidence] for system in results.systems]


def row(results, record, point):
    """What the table must say of an operating point."""
    curve, ends, units = record.curve, record.risk_intervals, results.selective.units
    percent = results.selective.loss.name == "zero_one"
    scale, unit = (100, "%") if percent else (1, "")
    low, high = (None, None) if ends is None else (ends.low[point], ends.high[point])
    return [
        threshold_at(record, point),
        f"{curve.coverage[point]:.1%}",
        f"{round(curve.coverage[point] * units)} of {units}",
        f"{scale * curve.selective_risk[point]:.3g}{unit}",
        "no interval at this point" if low is None else f"[{scale * low:.3g}, {scale * high:.3g}]",
        f"{100 * results.selective.loss.raw_multiplier * curve.generalized_risk[point]:.3g}",
    ]


def first_reaching(record, count, units):
    return next((i for i, share in enumerate(record.curve.coverage) if round(share * units) >= count), None)
