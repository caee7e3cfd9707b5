"""Pseudonyms: ids of clusters that a site may share, made of its name and a salted hash."""

from __future__ import annotations

import hmac
import re
from dataclasses import replace
from pathlib import Path

import numpy as np

from demur.errors import UserError, literal, unreadable
from demur.facts.ids import ClusterId
from demur.summaries.ids import Ids
from demur.summaries.summary import Summary

_SITE = re.compile("[A-Za-z0-9][A-Za-z0-9._-]*")
_DIGITS = 32  # of 64: the chance that any two of a billion ids collide is 1 in 10²⁰
_SHORTEST = 16


def read_salt(path: str | Path) -> bytes:
    """The secret in a file, without the white space around it."""
    try:
        salt = Path(path).read_bytes().strip()
    except OSError as error:
        raise unreadable(path, error) from None
    if len(salt) < _SHORTEST:
        way_out = "openssl rand -hex 32 makes one"
        raise UserError(f"{path}: a salt of {len(salt)} bytes, expected {_SHORTEST} or more; {way_out}")
    return salt


def pseudonym(name: ClusterId, site: str, salt: bytes) -> str:
    """The site, a colon, and the first 32 hexadecimal digits of HMAC-SHA-256 of the id under the salt.

    >>> pseudonym("p17", "bergen", b"sixteen bytes or more")
    'bergen:51fc27261cd0afd0f522d4a1da5c64a5'
    """
    return f"{site}:{hmac.digest(salt, str(name).encode(), 'sha256').hex()[:_DIGITS]}"


def salted(summary: Summary, site: str, salt: bytes) -> Summary:
    """The summary under pseudonyms. They begin with the site, so in sorted order those of a site are consecutive."""
    if not _SITE.fullmatch(site):
        raise UserError(f"site {literal(site)}, expected letters, digits, and . _ - between them")
    if summary.about.sites:
        raise UserError(f"its ids are pseudonyms already, of {', '.join(summary.about.sites)}: leave out --site")
    names = [pseudonym(name, site, salt) for name in (*summary.ids.plain(), *summary.failed.plain())]
    if len({*names}) < len(names):
        raise UserError("two ids have the same pseudonym: take another salt")
    known, failed = names[: len(summary.ids)], names[len(summary.ids) :]
    order = np.argsort(known)
    cluster = np.argsort(order)[summary.columns[0]]
    rows = np.argsort(cluster, kind="stable")
    return replace(
        summary,
        about=summary.about.model_copy(update={"sites": (site,)}),
        ids=Ids.of(sorted(known)),
        failed=Ids.of(sorted(failed)),
        digests=summary.digests[order],
        columns=[column[rows] for column in (cluster.astype(summary.columns[0].dtype), *summary.columns[1:])],
        count=summary.count[rows],
    )
