"""A large table summarized some rows at a time: each batch is read as a table of its own, counted and merged."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from demur.distributed.workers import Progress
from demur.errors import UserError
from demur.facts.instruments import INSTRUMENTS
from demur.facts.items import Items
from demur.files.strict_json import fingerprint
from demur.read.tables import FileTable, opened_table
from demur.summaries.merging import merged
from demur.summaries.summary import Summary

_ROWS = 1 << 19  # in a batch
_ENTRIES = 1 << 24  # that wait to be merged, at least; as many as were merged before, if these are more
Count = Callable[[Items, str], Summary]


def in_batches(
    path: str | Path, read: Callable[[FileTable], dict[str, Items]], count: Count, progress: Progress | None
) -> Summary | None:
    """The summary of a table; None if only all of its rows together tell what is in it, or what is wrong.

    `read` gives the facts of each system of some rows, and `count` the summary of some facts, under the name of a part.
    """
    made, kinds = list[Summary](), list[Any]()
    try:
        with opened_table(path, progress) as (opened, source):
            if opened.units is not None:
                return None
            for number, batch in enumerate(opened.batches(_ROWS, progress)):
                systems = read(batch)
                kinds += [_kind(name, items) for name, items in systems.items()]
                if len({*kinds}) > 1 or any(map(_may_be_of_instrument, systems.values())):
                    return None
                [items] = systems.values()
                made.append(count(items, fingerprint(str(number).encode())))
                if sum(len(each.count) for each in made[1:]) > max(_ENTRIES, len(made[0].count)):
                    made = [merged(made, [path] * len(made))]
            origin = source()
        whole = merged(made, [path] * len(made)) if made else None
    except UserError:
        return None
    if whole is None or origin is None:
        return None
    return replace(whole, about=whole.about.model_copy(update={"parts": (origin.sha256,)}))


def _may_be_of_instrument(items: Items) -> bool:
    """Whether the items may be those of an instrument, of which every cluster has all."""
    return items.losses is None and any({*items.item_names} <= {*known.items} for known in INSTRUMENTS.values())


def _kind(name: str, items: Items) -> tuple[Any, ...]:
    """What is told from all cells of a column, or from all columns: if batches differ in it, none of them is right."""
    texts = frozenset(map(type, items.cluster_ids))
    return name, texts, (*items.signals,), items.labels is None, items.repeats is None, items.numbered
