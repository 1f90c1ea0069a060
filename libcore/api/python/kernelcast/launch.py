"""Launches, and what is found out about them: projections onto devices, and counts of an emulation."""

from __future__ import annotations

import ctypes
import math
import os
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Iterable, Union

from . import records
from .arguments import set_all
from .library import KernelcastError, ProjectionRow, Status, called, opened

if TYPE_CHECKING:
    import pandas

Source = Union[str, "os.PathLike[str]"]
Size = Union[int, Sequence]  # of int

_LANGUAGES = {"opencl": 0, "cuda": 1, "ptx": 2}
_SUFFIXES = {".cl": "opencl", ".cu": "cuda", ".ptx": "ptx"}
_MARKS = (
    ("ptx", r"^\s*\.version\s+\d"),
    ("cuda", r"\b__global__\b"),
    ("opencl", r"\b(__kernel|kernel\s+void)\b"),
)


def language_of(source: str) -> str:
    """ "ptx", "cuda" or "opencl", by what only that language has."""
    for language, mark in _MARKS:
        if re.search(mark, source, re.MULTILINE):
            return language
    raise ValueError('the source is neither PTX nor CUDA C++ nor OpenCL C; give language="cuda"')


def _sides(size: Size, what: str) -> tuple[int, ...]:
    sides = tuple(size) if hasattr(size, "__iter__") else (size,)
    if not 1 <= len(sides) <= 3 or not all(hasattr(side, "__index__") and side > 0 for side in sides):
        raise ValueError(f"{what}={size!r}: expected 1 to 3 positive integers")
    return tuple(int(side) for side in sides)


@dataclass(frozen=True)
class Projection:
    """What is projected for one device. Times are in seconds, NaN where there is none: then `rank` is 0."""

    device: str
    name: str
    rank: int
    time_s: float
    time_low_s: float
    time_high_s: float
    relative_time: float
    decided: bool
    limiter: str
    status: str
    reason: str


class Emulation:
    """What a launch does, independent of any device: its `kernel` record."""

    def __init__(self, handle: ctypes.c_void_p):
        self.csv: str = called("ranking_kernel_csv", handle).decode()
        self.from_cache: bool = bool(called("ranking_from_cache", handle))
        self.cost_s: float = called("ranking_cost_s", handle)

    @property
    def kernel(self) -> dict[str, Any]:
        """The record by its columns: kernelcast-records(5)."""
        return records.rows(self.csv)[0]

    def frame(self) -> pandas.DataFrame:
        """The record as a frame of one row."""
        return records.read(self.csv)


class Ranking(Emulation, Sequence):
    """Projections, the fastest first; devices without a time last."""

    def __init__(self, handle: ctypes.c_void_p):
        super().__init__(handle)
        self._rows = [_projection(handle, i) for i in range(called("ranking_count", handle))]

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, index):
        return self._rows[index]

    def __repr__(self) -> str:
        best = self.best
        fastest = f", {best.device} is the fastest: {best.time_s:.3g} s" if best else ""
        return f"<Ranking of {len(self)} devices{fastest}>"

    @property
    def best(self) -> Projection | None:
        """The fastest; None where no device has a time."""
        return self._rows[0] if self._rows and not math.isnan(self._rows[0].time_s) else None

    def frame(self) -> pandas.DataFrame:
        """A row for each device."""
        return records.pandas_module().DataFrame([asdict(row) for row in self._rows])


def _projection(handle: ctypes.c_void_p, index: int) -> Projection:
    row = ProjectionRow()
    called("ranking_get", handle, index, ctypes.byref(row), ctypes.sizeof(row))
    values = {name: getattr(row, name) for name in Projection.__annotations__}
    values = {name: value.decode() if isinstance(value, bytes) else value for name, value in values.items()}
    return Projection(**{**values, "decided": bool(row.decided)})


@dataclass(frozen=True)
class Launch:
    """A kernel with its sizes and arguments. `grid` is in blocks (work-groups), `block` in threads (work-items).

    `source` is the text of the kernel, or a Path of a .cu, .cl or .ptx file. `options` are the compiler's, such as
    "-DN=4". `shared` is CUDA's dynamic shared memory, bytes. kernelcast.arguments says what `args` may be. It is launched
    `times` times: times and counts are totals of all.
    """

    source: Source
    kernel: str
    grid: Size
    block: Size
    args: Sequence[Any]
    language: str | None = None
    options: Sequence[str] = ()
    shared: int = 0
    times: int = 1

    def project(
        self,
        devices: str | Iterable[str] | None = None,
        *,
        groups: int | None = None,
        timeout: float | None = None,
        database: str | os.PathLike | None = None,
        cache: bool = True,
    ) -> Ranking:
        """The launch's times on `devices` (ids, names or aliases), by default on all GPUs of the database.

        `groups` is how many work-groups are emulated, 0 for all; by default as many as it takes. `timeout` is in
        seconds; beyond it the status is LIMIT.
        """
        names = [devices] if isinstance(devices, str) else list(devices or ())
        chosen = (ctypes.c_char_p * len(names))(*(name.encode() for name in names))
        if devices is not None and not names:
            raise ValueError("devices is empty; None is all GPUs of the database")
        with _Handle(self, groups, timeout, cache) as launch:
            return launch.result(Ranking, "project", opened(database), launch.handle, chosen, len(names))

    def emulate(
        self,
        outputs: Sequence[Any] = (),
        *,
        groups: int | None = None,
        timeout: float | None = None,
        cache: bool = True,
    ) -> Emulation:
        """Counts what the launch does. `outputs` are those of `args` that get the results: all groups are emulated."""
        with _Handle(self, groups, timeout, cache, outputs) as launch:
            return launch.result(Emulation, "emulate", launch.handle)


@dataclass
class _Handle:
    """A kernelcast_launch while it is in use."""

    launch: Launch
    groups: int | None
    timeout: float | None
    cache: bool
    outputs: Sequence[Any] = ()
    handle: ctypes.c_void_p = field(default_factory=ctypes.c_void_p)

    def __enter__(self) -> _Handle:
        try:
            self._fill()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_) -> None:
        called("launch_destroy", self.handle)

    def result(self, kind, name: str, *arguments):
        ranking = ctypes.c_void_p()
        called(name, *arguments, ctypes.byref(ranking))
        try:
            return kind(ranking)
        finally:
            called("ranking_destroy", ranking)

    def _fill(self) -> None:
        text, language, options = _sources(self.launch)
        grid, block = _sides(self.launch.grid, "grid"), _sides(self.launch.block, "block")
        dimensions = max(len(grid), len(block))
        grid += (1,) * (dimensions - len(grid))
        block += (1,) * (dimensions - len(block))
        sizes = ctypes.c_size_t * dimensions
        source = text.encode()
        called("launch_create", language, source, len(source), self.launch.kernel.encode(), ctypes.byref(self.handle))
        for option in options:
            called("launch_option", self.handle, option.encode())
        called("launch_size", self.handle, dimensions, sizes(*(g * b for g, b in zip(grid, block))), sizes(*block))
        called("launch_dynamic_shared", self.handle, self.launch.shared)
        if self.groups is not None:
            called("launch_groups", self.handle, self.groups)
        if self.timeout is not None:
            called("launch_limit", self.handle, 0, self.timeout)
        called("launch_cache", self.handle, self.cache)
        called("launch_times", self.handle, self.launch.times)
        self.kept = set_all(self.handle, self.launch.args, self.outputs)


def _sources(launch: Launch) -> tuple[str, int, list[str]]:
    """Text, kernelcast_language, options."""
    text, options, language = launch.source, list(launch.options), launch.language
    if isinstance(launch.options, str):
        raise TypeError('options is a list: ["-DN=4"]')
    if not isinstance(text, str):
        path = Path(text)
        try:
            text = path.read_text()
        except OSError as error:
            raise KernelcastError(Status.IO, f"{path}: {error.strerror}") from None
        language = language or _SUFFIXES.get(path.suffix)
        options.append(f"-I{path.absolute().parent}")  # what it includes
    language = language.lower() if language else language_of(text)
    if language not in _LANGUAGES:
        raise ValueError(f"language={launch.language!r}: expected one of {', '.join(_LANGUAGES)}")
    return text, _LANGUAGES[language], [] if language == "ptx" else options


def project(
    source: Source,
    kernel: str,
    grid: Size,
    block: Size,
    args: Sequence[Any],
    *,
    devices: str | Iterable[str] | None = None,
    language: str | None = None,
    options: Sequence[str] = (),
    shared: int = 0,
    groups: int | None = None,
    timeout: float | None = None,
    database: str | os.PathLike | None = None,
    cache: bool = True,
) -> Ranking:
    """Ranks devices for a launch: Launch says what describes it, Launch.project() the rest."""
    launch = Launch(source, kernel, grid, block, args, language, options, shared)
    return launch.project(devices, groups=groups, timeout=timeout, database=database, cache=cache)


def emulate(
    source: Source,
    kernel: str,
    grid: Size,
    block: Size,
    args: Sequence[Any],
    *,
    outputs: Sequence[Any] = (),
    language: str | None = None,
    options: Sequence[str] = (),
    shared: int = 0,
    groups: int | None = None,
    timeout: float | None = None,
    cache: bool = True,
) -> Emulation:
    """Counts what a launch does, and writes results into `outputs`, which are some of `args`."""
    launch = Launch(source, kernel, grid, block, args, language, options, shared)
    return launch.emulate(outputs, groups=groups, timeout=timeout, cache=cache)
