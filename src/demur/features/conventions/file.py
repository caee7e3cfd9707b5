"""Numbers of other conventions in result files: the model of their member of a run, and the member from the rows."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, ClassVar

from demur.features.conventions.evaluation import NO_INTERVAL
from demur.features.conventions.options import Conventions
from demur.features.conventions.statements import conventions_of, is_order_dependent
from demur.files.strict_model import SPARSE, Declared, Part, Placed
from demur.inference.estimates import Estimate
from demur.inference.key import Key
from demur.results.feature_files import FileMembers
from demur.results.file_models import Many, Number
from demur.results.table import Results
from demur.types import Json


class EmulatedNumber(Part):
    """A number of another tool, and its range over all orders of equal confidences where it depends on one."""

    value: Number
    range: Annotated[tuple[float | None, float | None], Declared(strict=False)] | None
    order_dependent: bool
    note: str | None


class EmulatedMembers(FileMembers):
    """The conventions of a study, and the numbers of a run in each of them."""

    study: ClassVar = {"conventions": Placed(Annotated[Many[str] | None, SPARSE], order=20)}
    nested: ClassVar = {"conventions": study["conventions"]._replace(before="estimates", order=30)}
    run: ClassVar = {"emulated": Placed(Annotated[Mapping[str, Mapping[str, EmulatedNumber]] | None, SPARSE], order=40)}

    def recorded(self, study: Any) -> Conventions | None:
        """The names of the conventions."""
        return Conventions(*study.conventions) if study.conventions else None

    def encoded(self, results: Results, system: str, confidence: str) -> Json:
        """The numbers of each convention by name."""
        members: dict[str, Any] = {name: {} for name in conventions_of(results)}
        for row in results.where(system=system, confidence=confidence, minus=None) if members else ():
            if row.key.convention:
                members.setdefault(row.key.convention, {})[row.key.quantity] = {
                    "value": None if math.isnan(row.value) else row.value,
                    "range": row.over_ties,
                    "order_dependent": is_order_dependent(row),
                    "note": row.undefined or row.remark or None,
                }
        return {"emulated": members} if members else {}

    def decoded(self, system: str, confidence: str, run: Any) -> Iterator[Estimate]:
        """The inverse of `encoded`."""
        for convention, numbers in (run.emulated or {}).items():
            for name, number in numbers.items():
                note: dict[str, Any] = {"undefined" if number.value is None else "remark": number.note or ""}
                value = math.nan if number.value is None else number.value
                key = Key(system, name, confidence, convention=convention)
                yield Estimate(key, value, no_interval=NO_INTERVAL, over_ties=number.range, **note)

    def holds(self, results: Results, key: Key) -> bool:  # noqa: ARG002
        """Every number of another convention is in its member."""
        return bool(key.convention)
