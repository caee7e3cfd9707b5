"""Text tables: rows of text whose columns line up."""

from collections.abc import Collection, Iterable, Iterator, Sequence


def table(rows: Iterable[Sequence[str]], to_the_left: Collection[int] = (0,)) -> Iterator[str]:
    r"""Rows of text with their columns lined up: the first to the left, numbers to the right.

    >>> print(*table([("", "value"), ("Cmax", "0.5"), ("AURC", "0.125")]), sep="\n")
          value
    Cmax    0.5
    AURC  0.125
    """
    listed = [*rows]
    widths = [max(map(len, column)) for column in zip(*listed, strict=True)]
    for row in listed:
        cells = (
            f"{cell:<{width}}" if place in to_the_left else f"{cell:>{width}}"
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        yield "  ".join(cells).rstrip()
