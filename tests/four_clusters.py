"""A worked example: four clusters of two units, and a system that declines two of the units."""

from demur import TableOptions, read_table

WHO, ITEM = [*"AABBCCDD"], ["1", "2"] * 4
LOSS, SURE = [0, 1, 0, 0, 1, None, 0, None], [0.9, 0.9, 0.8, 0.7, 0.7, 0, 0.6, 0]


def system(loss=LOSS):
    return read_table(
        {"cluster": WHO, "item": ITEM, "loss": loss, "sure": SURE}, instrument=None, options=TableOptions(loss_max=1)
    )
