"""The compiled kernel, called through ctypes: weights and running sums as numpy computes them, in less time.

Arrays of replicates are in tiles, [group][row][8 replicates]. What leaves this module has a column per replicate.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demur.sampling.harmonic import harmonic_tables
from demur.sampling.line import Cut, Line
from demur.sampling.numbers import Number, Term
from demur.sampling.steps import Steps
from demur.sampling.weights import Weights
from demur.types import Floats, Indices

LANES = 8
SETS = {"baseline": 2, "avx2": 4, "avx512": 8}  # instruction sets, and how many replicates one instruction processes
_INTERFACE = 1  # must equal that of kernel.c
_MOST = 64  # as in kernel.c
_MOST_TILES = 1 << 21  # doubles: 16 MB of influences at a time, or one area
_LARGEST = 255
_HERE = Path(__file__).parent


class _Steps(ctypes.Structure):
    _fields_ = (
        ("steps", ctypes.c_int64),
        ("clusters", ctypes.c_int64),
        *((name, ctypes.c_void_p) for name in ("begin", "cluster", "count", "loss")),
    )


class _Cut(ctypes.Structure):
    _fields_ = (
        *((name, ctypes.c_void_p) for name in ("index", "end", "height", "left", "right", "by_count")),
        ("selective", ctypes.c_int64),
    )


class _Term(ctypes.Structure):
    _fields_ = (("numbers", ctypes.c_void_p), ("apart", ctypes.c_int64), ("single", ctypes.c_int64))


@dataclass(frozen=True, eq=False)
class Kernel:
    """The kernel compiled for one instruction set. Instruction sets differ in speed, not in results."""

    instructions: str
    library: ctypes.CDLL = field(repr=False)

    def __str__(self) -> str:
        return f"c:{self.instructions}"

    def call(self, name: str, *arguments: Any) -> int:
        """Call a function of the kernel: whole numbers are passed as 64-bit integers, arrays by their address."""
        return int(getattr(self.library, name)(*map(_passed, arguments)))

    def drawn(self, seed: int, replicates: range, clusters: int) -> Tiles | None:
        """Bootstrap weights of the clusters in each replicate; None if a weight exceeds a byte."""
        groups = -(-len(replicates) // LANES)
        tiles = np.zeros((groups, clusters, LANES), np.uint8)
        exceeded = self.call("draw", ctypes.c_uint64(seed), replicates.start, len(replicates), clusters, tiles)
        return None if exceeded else Tiles(self, tiles, len(replicates), clusters)

    def packed(self, rows: Floats) -> Tiles | None:
        """Convert weights, one row per replicate, to tiles; None if one is not a whole number from 0 to 255."""
        if rows.size and not (rows.min() >= 0 and rows.max() <= _LARGEST and (rows == np.floor(rows)).all()):
            return None
        replicates, clusters = rows.shape
        full = np.zeros((-(-replicates // LANES) * LANES, clusters), np.uint8)
        full[:replicates] = rows
        return Tiles(self, np.ascontiguousarray(full.reshape(-1, LANES, clusters).swapaxes(1, 2)), replicates)


def _passed(argument: Any) -> Any:
    if isinstance(argument, np.ndarray):
        if not argument.flags.c_contiguous:
            raise ValueError("the kernel takes arrays that are in order")
        return ctypes.c_void_p(argument.ctypes.data)
    return ctypes.c_int64(argument) if isinstance(argument, int) else argument


class Tiles(Weights):
    """How often each cluster occurs in each replicate, as bytes ordered by group of 8 replicates, cluster and lane.

    `size` is how many clusters every replicate has, if that is known.
    """

    def __init__(self, kernel: Kernel, tiles: NDArray[np.uint8], replicates: int, size: int | None = None) -> None:
        self.kernel, self.tiles, self.size, self._replicates = kernel, tiles, size, replicates
        self._lines = []

    @cached_property
    def columns(self) -> Floats:
        """The weights as an array, clusters × replicates."""
        return _columns(self.tiles, self.replicates)

    @property
    def replicates(self) -> int:
        """The number of replicates."""
        return self._replicates

    @property
    def width(self) -> int:
        """The number of lanes: the number of replicates, rounded up to whole groups of 8."""
        return len(self.tiles) * LANES

    def line(self, steps: Steps, *, whole: bool) -> Line:
        """The running sums along the given steps."""
        return self._kept(KernelLine(steps, self, whole))

    def padded(self, values: Any, kind: type[np.generic] = np.float64) -> NDArray[Any]:
        """Copy numbers of replicates (the last axis) into an array with one element per lane."""
        full = np.zeros((*np.shape(values)[:-1], self.width), kind)
        full[..., : self.replicates] = values
        return full

    def total(self, by_cluster: Floats) -> Floats:
        """The weighted sum over the clusters, in each replicate, of a whole number per cluster."""
        if self.size is not None and (by_cluster == by_cluster[0]).all():
            return np.full(self.replicates, self.size * float(by_cluster[0]))
        totals = np.empty(self.width)
        self.kernel.call(
            "totals", self.tiles.shape[1], len(self.tiles), self.tiles, np.ascontiguousarray(by_cluster), totals
        )
        return totals[: self.replicates]

    def squares(self, numbers: Sequence[Number]) -> list[Floats]:
        """Σ u² over the clusters of each replicate, where u are the influences of the clusters on each number."""
        known: dict[int, Floats] = {}
        for batch in self._batches(_by_area(numbers)):
            known |= dict(zip(map(id, batch), self._squares(batch), strict=True))
        return [known[id(number)] for number in numbers]

    def _batches(self, numbers: Sequence[Number]) -> Iterator[list[Number]]:
        """Numbers with so few terms that one call and a limited memory hold their influences."""
        most_areas = max(_MOST_TILES // self.tiles.size, 1)
        batch: list[Number] = []
        terms: set[Term] = set()
        for each in numbers:
            more = terms | set(each.slope or ())
            areas = sum(isinstance(term, AreaTerm) for term in more)
            if batch and (len(more) > _MOST or areas > most_areas or len(batch) == _MOST):
                yield batch
                batch, more = [], set(each.slope or ())
            batch.append(each)
            terms = more
        if batch:
            yield batch

    def _squares(self, numbers: Sequence[Number]) -> Floats:
        slopes = [each.slope or {} for each in numbers]
        index = {term: place for place, term in enumerate(dict.fromkeys(term for slope in slopes for term in slope))}
        held, described = self._described([*index])
        which = np.array([index[term] for slope in slopes for term in slope], np.int64)
        begin = np.cumsum([0, *map(len, slopes)])
        factors, sums = np.zeros((len(which), self.width)), np.empty((len(numbers), self.width))
        for row, factor in zip(factors, (factor for slope in slopes for factor in slope.values()), strict=True):
            row[: self.replicates] = factor
        sizes = self.tiles.shape[1], len(self.tiles), self.tiles
        self.kernel.call("squares", *sizes, len(index), described, len(numbers), begin, which, factors, sums)
        del held  # the kernel has read the influences
        return sums[:, : self.replicates]

    def _described(self, terms: Sequence[Term]) -> tuple[list[Floats], Any]:
        """The influences on each term where the kernel finds them, and the arrays that hold them."""
        held: list[Floats] = []
        described = (_Term * len(terms))()
        lines: dict[KernelLine, list[int]] = {}
        for place, term in enumerate(terms):
            if isinstance(term, AreaTerm):
                lines.setdefault(term.line, []).append(place)
                continue
            numbers = term.tiles() if isinstance(term, UnitTerm) else self._tiled(term.by_cluster)
            held.append(numbers)
            described[place] = _Term(numbers.ctypes.data, LANES, numbers.ndim == 1)
        for line, places in lines.items():
            influences = line.influences([terms[place] for place in places])
            held.append(influences)
            for area, place in enumerate(places):
                start = influences.ctypes.data + area * LANES * influences.itemsize
                described[place] = _Term(start, len(places) * LANES, 0)
        return held, described

    def _tiled(self, by_cluster: Floats) -> Floats:
        if by_cluster.shape[1] == 1:
            return np.ascontiguousarray(by_cluster[:, 0])
        tiles = self.padded(by_cluster).reshape(len(by_cluster), -1, LANES)
        return np.ascontiguousarray(tiles.swapaxes(0, 1))


def _by_area(numbers: Sequence[Number]) -> list[Number]:
    """Numbers with those of the same area side by side, so that its influences are computed once."""
    first: dict[Term, int] = {}
    for number in numbers:
        for term in number.slope or ():
            first.setdefault(term, len(first))
    return sorted(numbers, key=lambda number: [first[term] for term in number.slope or () if type(term) is AreaTerm])


def _columns(tiles: NDArray[Any], replicates: int) -> Floats:
    return tiles.swapaxes(0, 1).reshape(tiles.shape[1], -1)[:, :replicates].astype(np.float64)


@dataclass(frozen=True, eq=False)
class KernelLine(Line):
    """Running sums and areas computed by the kernel."""

    weights: Tiles

    @property
    def _kernel(self) -> Kernel:
        return self.weights.kernel

    @cached_property
    def _steps(self) -> Any:
        steps = self.steps
        arrays = (
            np.ascontiguousarray(steps.begin, np.int64),
            np.ascontiguousarray(steps.cluster, np.int32),
            np.ascontiguousarray(steps.count, np.float64),
            np.ascontiguousarray(steps.loss, np.float64),
        )
        described = _Steps(len(steps), steps.clusters, *(array.ctypes.data for array in arrays))
        described.arrays = arrays  # kept as long as what points into them
        return described

    @cached_property
    def _tiles(self) -> tuple[Floats, Floats]:
        count, loss = np.empty((2, len(self.weights.tiles), len(self.steps) + 1, LANES))
        arguments = ctypes.byref(self._steps), len(count), self.weights.tiles, count, loss
        self._kernel.call("running_sums", *arguments)
        return count, loss

    @cached_property
    def sums(self) -> tuple[Floats, Floats]:
        """Number of answers and sum of losses up to each step (rows) in each replicate (columns)."""
        count, loss = (_columns(tiles, self.weights.replicates) for tiles in self._tiles)
        return count, loss

    @cached_property
    def ends(self) -> list[Floats]:
        """The number of answers and the sum of losses of each replicate as a whole."""
        return [tiles[:, -1].reshape(-1)[: self.weights.replicates] for tiles in self._tiles]

    def points(self, *indices: Indices) -> list[Floats]:
        """Numbers of answers, then sums of losses, at the given points of each replicate, at most the last point."""
        found = []
        for index in indices:
            places = self.weights.padded(index, np.int64)
            sums = np.empty((2, *places.shape))
            rows = places.size // self.weights.width
            arguments = len(self.steps), len(self.weights.tiles), *self._tiles, rows, places, *sums
            self._kernel.call("at_points", *arguments)
            found.append(sums[..., : self.weights.replicates])
        return [sums[kind] for kind in (0, 1) for sums in found]

    def reach(self, need: Floats) -> Indices:
        """Index of the first point with at least `need` answers, counted from 1; J + 1 where there is none."""
        needs = self.weights.padded(need)
        index = np.empty(needs.shape, np.int64)
        rows = needs.size // self.weights.width
        self._kernel.call("reach", len(self.steps), len(self.weights.tiles), self._tiles[0], rows, needs, index)
        return index[..., : self.weights.replicates]

    def _cut(self, cut: Cut, *, selective: bool) -> Any:
        arrays = self.weights.padded([cut.index, cut.end, cut.height, cut.left, cut.right, cut.by_count])
        arrays[0, self.weights.replicates :] = len(self.steps) + 1
        described = _Cut(*(row.ctypes.data for row in arrays), selective)
        described.arrays = arrays
        return described

    def _area(self, cut: Cut, *, selective: bool) -> tuple[Floats, Term]:
        value, described = np.empty(self.weights.width), self._cut(cut, selective=selective)
        arguments = len(self.steps), len(self.weights.tiles), *self._tiles, ctypes.byref(described), value
        self._kernel.call("area", *arguments)
        return value[: self.weights.replicates], AreaTerm(self, described)

    def influences(self, terms: Sequence[Any]) -> Floats:
        """Influences of the clusters on several areas of the line: [group][cluster][area][8 replicates]."""
        cuts = (_Cut * len(terms))(*(term.cut for term in terms))
        influences = np.empty((*self.weights.tiles.shape[:2], len(terms), LANES))
        sums = ctypes.byref(self._steps), len(influences), *self._tiles
        self._kernel.call("influences", *sums, len(terms), cuts, influences)
        return influences

    def _area_by_unit(self, loss: Floats) -> Number:
        value, total, _ = self.by_unit(loss, influences=False)
        return Number(value, {UnitTerm(self, loss, total): 1.0})

    def by_unit(self, loss: Floats, *, influences: bool) -> tuple[Floats, Floats, Floats]:
        """The area with every unit a point, the sum of its influences, and the influences as tiles if wanted."""
        value, total = np.empty((2, self.weights.width))
        tiles = np.empty(self.weights.tiles.shape if influences else 0)
        tables = harmonic_tables(float(self.ends[0].max(initial=0)))
        sums = ctypes.byref(self._steps), len(self.weights.tiles), *self._tiles
        written = value, total, tiles if influences else ctypes.c_void_p(None)
        self._kernel.call("by_unit", *sums, np.ascontiguousarray(loss, np.float64), *tables, *written)
        return value[: self.weights.replicates], total[: self.weights.replicates], tiles


class AreaTerm(Term):
    """The derivative of an area up to a cut, computed by the kernel together with those of other areas of the line."""

    def __init__(self, line: KernelLine, cut: Any) -> None:
        super().__init__(lambda: _columns(line.influences([self])[:, :, 0], line.weights.replicates))
        object.__setattr__(self, "line", line)
        object.__setattr__(self, "cut", cut)

    line: KernelLine
    cut: Any


class UnitTerm(Term):
    """The derivative of the area in which every unit is a point."""

    def __init__(self, line: KernelLine, loss: Floats, total: Floats) -> None:
        super().__init__(lambda: _columns(self.tiles(), line.weights.replicates), total)
        object.__setattr__(self, "tiles", lambda: line.by_unit(loss, influences=True)[2])

    tiles: Any


def _kernels() -> tuple[dict[str, Kernel], str]:
    """The kernel with each instruction set of this processor, the widest last; none, and why, where there is none."""
    found: dict[str, Kernel] = {}
    try:
        baseline = ctypes.CDLL(str(_HERE / library_name("baseline")))
    except OSError as error:
        if (_HERE / library_name("baseline")).exists():
            return found, f"the kernel does not load here: {error}"
        return found, "the kernel was not built when demur was installed: that takes a C compiler"
    if baseline.interface() != _INTERFACE:
        return found, f"the kernel is of another version of demur, which is to be installed again: {_HERE}"
    for name, width in SETS.items():
        path = _HERE / library_name(name)
        if width <= baseline.widest() and path.exists():
            found[f"c:{name}"] = Kernel(name, ctypes.CDLL(str(path)))
    return found, ""


def library_name(instructions: str) -> str:
    """File name of the kernel compiled for an instruction set."""
    return f"_kernel_{instructions}.so"


KERNELS, MISSING = _kernels()


def origin() -> str:
    """The folder of the kernel and the compiler that built it, or why there is no kernel."""
    if MISSING:
        return f"none: {MISSING}"
    compiler = next(iter(KERNELS.values())).library.compiler
    compiler.restype = ctypes.c_char_p
    return f"{_HERE}, compiled by {compiler().decode()}"
