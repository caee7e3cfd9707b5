"""An evaluation of summaries that may not leave their sites: what each makes of its own stays in a folder there."""

from __future__ import annotations

import secrets
import shutil
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from pathlib import Path
from tempfile import gettempdir
from typing import Any
from weakref import finalize

from demur.distributed.passes import Passes, StoredPart
from demur.distributed.ranges import Storage, unwritable
from demur.distributed.sites import Sites
from demur.errors import UserError, located
from demur.evaluation.data import parts_of
from demur.facts.items import Items, Source
from demur.files.strict_json import fingerprint
from demur.read.files import named_input
from demur.summaries.file import read_summary


def at_sites(entry: Any, said: Mapping[str, Any]) -> tuple[str | None, Items]:
    """The facts of a system whose summary, or a folder of such, each site has under one path of its own."""
    name, path = named_input(entry)
    if not isinstance(path, (str, Path)):
        raise UserError("sites read what they have themselves: give the path of the summary that each of them has")
    with ExitStack() as stack:
        sites = stack.enter_context(Sites(said.get("workers", 1)))
        storages = [Storage(f"demur-{secrets.token_hex(8)}", site) for site in sites.names]
        own = [(storage, str(path), said.get("scratch")) for storage in storages]
        stack.callback(_close, sites, own)
        opened = sites.each(open_site, own, said.get("progress"))
        made = Passes.of([part for parts in opened for part in parts], sites, said.get("seed"))
        finalize(made, stack.pop_all().close)
    parts = made.summary.about.parts
    return name, made.items(Source(str(path), fingerprint("\n".join(parts).encode())))


def open_site(task: tuple[Storage, str, str | Path | None]) -> list[StoredPart]:
    """At a site: make a folder for what is kept there, and tell of its summaries what others may know."""
    folder = _folder(task)
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise unwritable(folder.parent, error) from None
    return [_told(Storage(str(folder), task[0].site), part) for part in parts_of([task[1]])]


def _told(storage: Storage, path: Path) -> StoredPart:
    summary, _ = read_summary(path)
    with located(path):
        if not summary.about.sites:
            raise UserError("its ids may be names: write pseudonyms, demur summarize --site NAME --salt FILE")
    return StoredPart.of(storage, str(path), summary)


def close_site(task: tuple[Storage, str, str | Path | None]) -> None:
    """At a site: remove what was kept."""
    shutil.rmtree(_folder(task), ignore_errors=True)


def _folder(task: tuple[Storage, str, str | Path | None]) -> Path:
    storage, _, scratch = task
    return Path(scratch or gettempdir()).absolute() / storage.folder


def _close(sites: Sites, own: list[Any]) -> None:
    for task in own:
        with suppress(UserError):  # a site that is gone keeps its folder
            sites.each(close_site, [task])
