"""Conversion of the entries of a log to a file of units, with clusters, groups, losses, abstentions and counts."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal, localcontext
from pathlib import Path
from tempfile import SpooledTemporaryFile
from typing import IO, Any

from demur.errors import UserError, and_more, harmless, literal, located, registered, shown
from demur.extensions.importers import helm, inspect_log, lm_eval, oai_evals, promptfoo
from demur.extensions.importers.hashing import Hashes, short_hash
from demur.extensions.importers.registry import IMPORTERS, Importer, ImportOptions, LogEntry, LogFacts
from demur.extensions.importers.user_choices import AbstentionRules
from demur.extensions.importers.values import as_text
from demur.facts.columns import MISSING, written_number
from demur.facts.paths import at_path
from demur.facts.signals import SIGNALS
from demur.files.numbers import finite_float
from demur.files.write import check_target, write_whole
from demur.read.units_file import RESERVED
from demur.types import Json

TOOLS = (helm, inspect_log, lm_eval, oai_evals, promptfoo)  # importing a module registers its tool
_IN_MEMORY = 1 << 22
_CHUNK = 1 << 16
_MOST_NAMES = 50
_RANGE = re.compile(r"(-?[0-9]{1,15}(?:\.[0-9]{1,15})?):(-?[0-9]{1,15}(?:\.[0-9]{1,15})?)")
_DIGITS = 50
_HUGE = 1e300
_UNSCORED = "unscored"
_INDEPENDENT = "give --cluster to group questions of one document"


def import_units(tool: str, paths: Sequence[str | Path], output: str | Path, options: ImportOptions) -> ImportedUnits:
    """Read the logs of a tool and write their units: a header, then one line per unit."""
    chosen = registered("importer", tool, IMPORTERS)
    logs = [*map(Path, paths)]
    check_target(output, logs)
    with SpooledTemporaryFile(_IN_MEMORY) as spool:
        imported = ImportedUnits(chosen, options, spool)
        imported.facts.path = logs[0]
        try:
            for entry in chosen.read(logs, options, imported.facts):
                with located(imported.facts.path):
                    imported.add(entry)
        except OSError as error:
            hint = ": name a log in it" if isinstance(error, IsADirectoryError) else ""
            raise UserError(f"{error.filename or logs[0]}: cannot be read ({error.strerror}){hint}") from None
        with located(", ".join(map(str, logs))):
            imported.finish()
        write_whole(output, imported.pieces(), inputs=[*logs, *imported.facts.read_beside])
    return imported


def records(tool: str, path: Path) -> Iterator[Json]:
    """Read all records of a log, to list their fields."""
    return registered("importer", tool, IMPORTERS).records(path)


class ImportedUnits:
    """The units of a log: counted, and stored as lines in a temporary file until the header can be written."""

    def __init__(self, tool: Importer, options: ImportOptions, spool: IO[bytes]) -> None:
        self.tool, self.options, self._spool = tool, options, spool
        self.facts = LogFacts()
        self.rules = AbstentionRules(options.abstain, tool.own, tool.rules)
        self.causes: Counter[str] = Counter()
        self.filled: Counter[str] = Counter()
        self.rows = self.answered = self.abstained = 0
        self._keys, self._clusters = Hashes(), Hashes()
        self._scale = _scale(options.score_range)
        cluster = [options.cluster] if options.cluster else []
        self._paths = [*cluster, *options.groups.values(), *options.confidences.values()]
        self._absent: Counter[str] = Counter()
        self._suggestions: dict[str, dict[str, None]] = {path: {} for path in self._paths}
        self._without_cluster: list[str] = []
        self._left_out: dict[str, str] = {}
        self._unexplained = 0

    def add(self, entry: LogEntry) -> None:
        """Convert an entry to a unit and add it."""
        with located(entry.where):
            unit = self._unit(entry)
            self._spool.write(_line(unit))
        self._keys.add(_key(unit))
        self._clusters.add(unit["cluster"])
        self.rows += 1
        self.filled.update(name for name, value in unit["signals"].items() if value is not None)
        if unit["status"] == "failed":
            self.causes[unit["cause"]] += 1
        elif unit["loss"] is None:
            self.abstained += 1
        else:
            self.answered += 1

    def finish(self) -> None:
        """Raise an error at the end of the log if units are not unique or a path never occurred."""
        if not self.rows:
            why = "".join(f"; {message}" for code, message in self.facts.warnings if code == "incomplete_log")
            raise UserError(f"no {self.tool.noun}s: there is nothing to import{why}")
        self._check_keys()
        for path in self._paths:
            if self._absent[path] == self.rows:
                names = [*self._suggestions[path]]
                hint = f"; there are: {', '.join(map(shown, names[:_MOST_NAMES]))}" if names else ""
                raise UserError(f"no {shown(path)} in {self.rows} {self.tool.noun}s{hint}")
        if self._without_cluster:
            text = f"{self._without_cluster[0]}: no {shown(self.options.cluster)}, which is its cluster"
            raise UserError(and_more(text, len(self._without_cluster)))
        for name, why in self._left_out.items():
            del self.filled[name]
            hint = f"left out; keep it under another name, --confidence NAME={self.facts.signal_paths.get(name, name)}"
            self.facts.warn("signal_left_out", f"the signal {shown(name)} {why}: {hint}")
        if self._unexplained and _UNSCORED not in self.options.abstain:
            text = f"{self._unexplained} scores are NaN for no stated reason, and are imported as abstentions"
            self.facts.warn("unexplained_scores", f"{text}; if the scorer failed there: --abstain value=N")
        if self._clusters.distinct == self.rows:
            message = f"cluster: {self.rows} of {self.rows} units are their own cluster: {_INDEPENDENT}"
            self.facts.warn("independent_rows", message)
        elif not self.options.cluster and not self.options.choices.get("cluster_regex"):
            counted = f"{self._clusters.distinct} for {self.rows} units"
            message = f"cluster: each question is its own cluster ({counted}): {_INDEPENDENT}"
            self.facts.warn("independent_rows", message)

    def header(self) -> Json:
        """The first line of the file: the source of the units, how they were converted, and their counts."""
        options, facts = self.options, self.facts
        counts = {"rows": self.rows, "answered": self.answered, "abstained": self.abstained}
        mapping = {
            **facts.mapping,
            "cluster": facts.mapping.get("cluster") or options.cluster or facts.mapping["item"],
            "score_range": options.score_range,
            "groups": dict(options.groups),
            "signals": {
                name: options.confidences.get(name) or facts.signal_paths.get(name, name) for name in self.filled
            },
            "abstain": [*self.rules.counts],
        }
        return {
            "demur_units": 1,
            "source": {"format": self.tool.name, **facts.source},
            "mapping": mapping,
            "counts": {
                **counts,
                "failed": self.causes.total(),
                "clusters": self._clusters.distinct,
                "by_rule": self.rules.counts,
                "by_cause": dict(self.causes),
            },
            "warnings": [{"code": code, "message": message} for code, message in facts.warnings],
        }

    def pieces(self) -> Iterator[bytes]:
        """The content of the file, in pieces."""
        yield _line(self.header())
        self._spool.seek(0)
        for line in self._spool if self._left_out else ():
            unit = json.loads(line)
            unit["signals"] = {name: value for name, value in unit["signals"].items() if name not in self._left_out}
            yield _line(unit)
        while piece := self._spool.read(_CHUNK):
            yield piece

    def report(self) -> Iterator[str]:
        """Lines that tell the user what was imported."""
        header = self.header()
        source, counts = header["source"], header["counts"]
        origin = [f"{what} {shown(source[what])}" for what in ("task", "model") if source[what]]
        kinds = ", ".join(f"{counts[kind]} {kind}" for kind in ("answered", "abstained", "failed"))
        if counts["failed"] == counts["rows"]:
            kinds = f"all failed ({_counted(counts['by_cause'])}), so there is nothing to evaluate"
        clusters = f"{counts['clusters']} clusters ({shown(header['mapping']['cluster'])})"
        yield "; ".join([f"{counts['rows']} {self.tool.noun}s: {kinds}", clusters, *origin])
        yield f"loss: {harmless(header['mapping']['loss'])}"
        yield f"abstained by: {_counted(counts['by_rule']) or 'no rule'}"
        if not counts["abstained"] and counts["failed"] < counts["rows"]:
            yield "no unit abstained under these rules"
        if counts["failed"]:
            yield f"failed by: {_counted(counts['by_cause'])}"
        filled = {f"{name} ({path})": self.filled[name] for name, path in header["mapping"]["signals"].items()}
        yield f"signals: {_counted(filled) or 'none: name one with --confidence PATH'}"
        yield from (f"warning: {harmless(message)}" for _, message in self.facts.warnings)

    def _unit(self, entry: LogEntry) -> Json:
        rule = None if entry.failed else self.rules.rule_for(entry)
        failed = entry.failed or (self._lost(entry) if rule is None else None)
        loss = None if failed or rule is not None else self._loss(entry.value)
        self._unexplained += rule == _UNSCORED and entry.reason is None
        signals = {name: _finite(value, name) for name, value in entry.signals.items()}
        unit: Json = {
            "cluster": self._cluster(entry),
            "item": entry.item.strip(),
            "repeat": entry.repeat,
            "loss": loss,
            "status": "failed" if failed else "ok",
            "groups": {name: self._text_at(entry, path) for name, path in self.options.groups.items()},
            "signals": self._readable(signals) | {name: self._signal(entry, name) for name in self.options.confidences},
        }
        if not unit["item"]:
            raise UserError("its id is blank, expected a text or a number")
        if failed:
            unit["cause"] = failed
        elif loss is None and entry.reason:
            unit["abstain_reason"] = entry.reason
        if self.options.include_text and entry.answer is not None:
            unit["answer"] = entry.answer
        return unit

    def _readable(self, signals: Mapping[str, float]) -> dict[str, float]:
        wrong = {name: why for name, value in signals.items() if (why := _misnamed(name, value))}
        self._left_out |= wrong
        return {name: value for name, value in signals.items() if name not in wrong}

    def _lost(self, entry: LogEntry) -> str | None:
        """The cause of the failure of an entry without a score, if no rule that was given makes it an abstention."""
        rule = self.rules.dropped_for(entry)
        if rule is None or rule in (_UNSCORED, "null"):
            return rule and _UNSCORED
        value = json.dumps(entry.value)
        raise UserError(f"score {value} abstains by default, which --abstain replaces: add --abstain {shown(rule)}")

    def _cluster(self, entry: LogEntry) -> str:
        text = entry.item if entry.cluster is None else entry.cluster
        if self.options.cluster:
            text = self._text_at(entry, self.options.cluster) or ""
            if not text.strip():
                self._without_cluster.append(entry.where)
        return text.strip()

    def _at(self, entry: LogEntry, path: str) -> Any:
        """The value at a path, or None, which is counted so that a path that no entry has is an error at the end."""
        value = at_path(entry.record, path)
        if value is MISSING or value is None:
            self._absent[path] += 1
            if len(self._suggestions[path]) < _MOST_NAMES:
                self._suggestions[path].update(dict.fromkeys(_names_beside(entry.record, path)))
            return None
        return value

    def _text_at(self, entry: LogEntry, path: str) -> str | None:
        value = self._at(entry, path)
        text = as_text(value)
        if value is not None and text is None:
            raise UserError(f"{shown(path)} is {literal(value)}, expected a text or a number")
        return text and text.strip()

    def _signal(self, entry: LogEntry, name: str) -> float | None:
        path = self.options.confidences[name]
        value = self._at(entry, path)
        number = None if value is None else _finite(value, path)
        if number is not None and (why := _misnamed(name, number)):
            raise UserError(f"--confidence {shown(name)}={shown(path)}: the signal {why}; give it another NAME")
        return number

    def _loss(self, value: Any) -> float:
        """The distance of a score from the best one, as a fraction of the range, computed in decimals."""
        score = value
        if isinstance(value, str):
            score = self.tool.codes.get(value, self.tool.codes.get(value.lower(), value))
        elif isinstance(value, bool):
            score = int(value)
        low, high = self._scale
        written = isinstance(score, str) and self.tool.codes
        if finite_float(written_number(score) if written else score) is None:
            raise UserError(f"score {json.dumps(value)[:60]}, expected {self.tool.expected}")
        number = Decimal(str(score))
        if not low <= number <= high:
            raise UserError(f"score {literal(score)} is outside {low}:{high}; give its range, --score-range LOW:HIGH")
        with localcontext(prec=_DIGITS):
            loss = float((high - number) / (high - low))
        return int(loss) if loss.is_integer() else loss

    def _check_keys(self) -> None:
        """Refuse a unit that appears twice."""
        suspects, seen = self._keys.repeated(), set()
        self._spool.seek(0)
        for line in self._spool if suspects else ():
            unit = json.loads(line)
            key = _key(unit)
            if key in seen:
                where = f"{self.tool.noun} {shown(unit['item'])}, repeat {unit['repeat']}"
                raise UserError(f"{where} appears twice; logs of several runs are imported one at a time")
            if short_hash(key) in suspects:
                seen.add(key)


def _names_beside(record: Any, path: str) -> list[str]:
    parent = at_path(record, path.rpartition(".")[0])
    return [name for name in parent if isinstance(name, str)] if isinstance(parent, Mapping) else []


def _scale(text: str) -> tuple[Decimal, Decimal]:
    form = _RANGE.fullmatch(text)
    if not form or Decimal(form[1]) >= Decimal(form[2]):
        raise UserError(f"--score-range {literal(text)}, expected LOW:HIGH, such as 0:10")
    return Decimal(form[1]), Decimal(form[2])


def _finite(value: Any, name: str) -> float:
    if finite_float(value) is None or not abs(value) < _HUGE:
        raise UserError(f"{shown(name)} is {literal(value)}, expected a number")
    return float(value) if isinstance(value, float) else int(value)


def _misnamed(name: str, value: float) -> str | None:
    """Why a signal cannot have this name: a column of units has it, or a declared signal with other values."""
    declared = SIGNALS.get(name)
    if name in RESERVED:
        return "has the name of a column"
    if declared is not None and (declared.text or not declared.allows(float(value))):
        return f"is {literal(value)}, and {shown(name)} is {declared.expected}"
    return None


def _key(unit: Json) -> str:
    return f"{unit['repeat']} {unit['item']}"


def _line(content: Json) -> bytes:
    try:
        return (json.dumps(content, ensure_ascii=False, allow_nan=False) + "\n").encode()
    except UnicodeEncodeError:
        raise UserError("a text holds half of a character, which no file can hold") from None


def _counted(counts: dict[str, int]) -> str:
    return ", ".join(f"{shown(name)} {count}" for name, count in counts.items())
