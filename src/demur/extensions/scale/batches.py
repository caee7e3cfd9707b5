"""Summaries of large tables, made in batches of rows: each batch is read, summarized and merged."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from demur.errors import UserError
from demur.extensions.scale.merging import merged
from demur.extensions.scale.summary import Summary
from demur.facts.codes import Codes
from demur.facts.instruments import INSTRUMENTS
from demur.facts.items import Items
from demur.facts.labels import Spelling
from demur.files.strict_json import fingerprint
from demur.read.tables import FileTable, opened_table
from demur.workers import Progress

_ROWS = 1 << 19  # in a batch
_ENTRIES = 1 << 22  # not yet merged, at most; or as many as the merged summary has, if more
Count = Callable[[Items, str], Summary]


def in_batches(
    path: str | Path, read: Callable[[FileTable], dict[str, Items]], count: Count, progress: Progress | None
) -> Summary | None:
    """Summarize a table in batches; None if it must be read whole, to be understood or to report its error.

    `read` returns the facts of each system in a batch, and `count` the summary of facts under the name of a part.
    """
    summaries, kinds = list[Summary](), list[Any]()
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
                summaries.append(count(items, fingerprint(str(number).encode())))
                if sum(len(summary.count) for summary in summaries[1:]) > max(_ENTRIES, len(summaries[0].count)):
                    summaries = [merged(summaries, [path] * len(summaries))]
            origin = source()
        whole = merged(summaries, [path] * len(summaries)) if summaries else None
    except UserError:
        return None
    if whole is None or origin is None:
        return None
    return replace(whole, header=whole.header.model_copy(update={"parts": (origin.sha256,)}))


def _may_be_of_instrument(items: Items) -> bool:
    """Whether all item names are those of an instrument, whose completeness only the whole table shows."""
    return items.losses is None and any({*items.item_names} <= {*known.items} for known in INSTRUMENTS.values())


def _kind(name: str, items: Items) -> tuple[Any, ...]:
    """What is inferred from whole columns; if batches differ in it, the table must be read whole."""
    texts = frozenset(map(type, items.cluster_ids))
    return name, texts, (*items.signals,), _spelling(items), items.repeats is None, items.numbered


def _spelling(items: Items) -> Callable[[Any], Any] | None:
    """What is compared of labels; None where truths are not texts."""
    if items.labels is None:
        return None
    truth, answer = (Codes.numbered(own, items.labels) for own in (items.truth, items.answer[items.answered]))
    return Spelling.of(truth, answer).reading
