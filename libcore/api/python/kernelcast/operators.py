"""Operators of neural networks: calls of libraries whose kernels are machine code, as rows and commands of the suite.

perfcast takes the time of each from its sizes and devdb/libraries.csv (kernelcast-models(7)); rank puts them one after the
other as the host issues them. kernelcast.torch records them, kernelcast.llm writes them down from a model's sizes.
"""

from __future__ import annotations

import csv
import functools
import io
import os
import shutil
import subprocess
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import records
from .library import KernelcastError, Status

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True)
class Operator:
    """A kernel of a library: `library` is operation:type:sizes, bytes are those that must be moved."""

    kernel: str
    library: str
    flop: float = 0
    read_bytes: float = 0
    written_bytes: float = 0

    @property
    def kind(self) -> str:
        """As the record `command` has it."""
        return "library"

    @property
    def sizes(self) -> str:
        return self.library.partition(":")[2]

    def row(self, times: int) -> dict[str, Any]:
        """What the record `kernel` tells of so many of them."""
        return {
            "library": self.library,
            "library_flop": repr(float(self.flop * times)),
            "global_load_bytes": repr(float(self.read_bytes * times)),
            "global_store_bytes": repr(float(self.written_bytes * times)),
        }


@dataclass(frozen=True)
class Collective(Operator):
    """An operation of `devices` GPUs together, called as NCCL does; `read_bytes` as NCCL's tests count them."""

    devices: int = 2

    @property
    def kind(self) -> str:
        return "collective"


def collective(kernel: str, size: float, devices: int) -> Collective:
    return Collective(kernel, "", read_bytes=size, devices=devices)


def named(operation: str, kind: str, *sizes: float) -> str:
    """The column library."""
    return f"{operation}:{kind}:{'x'.join(str(int(size)) for size in sizes)}"


def product(
    kernel: str,
    kind: str,
    m: int,
    n: int,
    k: int,
    batch: int = 1,
    *,
    width: float,
    weight_width: float | None = None,
    operation: str = "gemm",
    read_bytes: float | None = None,
) -> Operator:
    """`batch` products of m x k and k x n numbers of type `kind`, of `width` bytes each; the right ones may have another.
    `read_bytes` where less than these are read, as of a convolution."""
    read = batch * (width * m * k + (width if weight_width is None else weight_width) * k * n)
    return Operator(
        kernel,
        named(operation, kind, m, n, k, batch),
        2.0 * m * n * k * batch,
        read if read_bytes is None else read_bytes,
        float(width) * m * n * batch,
    )


def attention(
    kernel: str,
    kind: str,
    heads: int,
    queries: int,
    keys: int,
    features: int,
    *,
    width: float,
    causal: bool,
    key_heads: int | None = None,
    gradient: bool = False,
) -> Operator:
    """`heads` are those of the whole batch; `key_heads` as many where several share their keys. A gradient has two and a half
    times the products, and moves each tensor and its gradient."""
    part = 0.5 + 0.5 * max(0, keys - queries) / keys if causal and queries > 1 else 1.0
    shared = heads if key_heads is None else key_heads
    q, kv = width * features * heads * queries, width * features * 2.0 * shared * keys
    return Operator(
        kernel,
        named("attention", kind, heads, queries, keys, features),
        4.0 * heads * queries * keys * features * part * (2.5 if gradient else 1),
        3 * q + kv if gradient else q + kv,
        q + kv if gradient else q,
    )


@dataclass(frozen=True)
class Issued:
    """An operator where the model asks for it: in which module, and in which phase: forward, backward or optimizer.
    `host_s` is what the host needs for it, and for what has no kernel since the last one, beside the launch itself. `beside`: on
    a stream of its own, after what was issued so far; `joins`: after all of these, too."""

    operator: Operator
    module: str = ""
    phase: str = "forward"
    host_s: float = 0
    beside: bool = False
    joins: bool = False


@dataclass
class Recording:
    """What a model asks of its device, in order, and the memory that it holds at most, in bytes by what for."""

    issued: list[Issued] = field(default_factory=list)
    memory_bytes: dict[str, int] = field(default_factory=dict)
    graph: bool = False  # all of it as one CUDA graph
    title: str = "model"

    @property
    def peak_bytes(self) -> int:
        return self.memory_bytes.get("peak", 0)

    def launches(self) -> Counter[Operator]:
        """How often each operator is issued, without operations of several devices."""
        return Counter(one.operator for one in self.issued if one.operator.kind != "collective")

    def cases(self) -> dict[Operator, str]:
        """A name for each operator that no other with this kernel has."""
        names: dict[Operator, str] = {}
        taken: dict[tuple[str, str], int] = defaultdict(int)
        for operator in self.launches():
            taken[operator.kernel, operator.sizes] += 1
            count = taken[operator.kernel, operator.sizes]
            names[operator] = operator.sizes if count == 1 else f"{operator.sizes}.{count}"
        return names

    def kernels_csv(self) -> str:
        """The record `kernel`: a row for each operator, with how often it is issued."""
        cases = self.cases()
        counted = {name: "1" if name.startswith(("grid_", "block_", "groups_")) else "0" for name in _required_columns()}
        rows = []
        for operator, count in self.launches().items():
            own = {"kernel": operator.kernel, "case": cases[operator], "launches": count}
            rows.append({**counted, **operator.row(count), **own, "allocated_bytes": self.peak_bytes or ""})
        return csv_text(rows)

    def commands_csv(self) -> str:
        """The record `command`: the operators in order, and the host's wait for the last."""
        cases = self.cases()
        rows: list[dict[str, Any]] = []
        before, beside = 0, 0  # the last of each stream
        for number, one in enumerate(self.issued, 1):
            together = one.operator.kind == "collective"
            after = [before, beside] if one.beside or one.joins else [before]
            rows.append(
                {
                    "process": "",
                    "command": number,
                    "kind": one.operator.kind,
                    "stream": 2 if one.beside else 1,
                    "after": ";".join(str(each) for each in after if each),
                    "kernel": one.operator.kernel,
                    "case": one.operator.devices if together else cases[one.operator],
                    "bytes": one.operator.read_bytes if together else 0,
                    "host_waits": "no",
                    "host_s": 0 if self.graph else repr(one.host_s),
                    "graph": 1 if self.graph else 0,
                }
            )
            if one.beside:
                beside = number
            else:
                before = number
        last = ";".join(str(each) for each in (before, beside) if each)
        rows.append({**dict.fromkeys(rows[0], ""), "command": len(rows) + 1, "kind": "wait", "after": last, "bytes": 0,
                     "host_waits": "yes", "host_s": 0, "graph": 0})  # fmt: skip
        return csv_text(rows)

    def write(self, kernels: str | os.PathLike, commands: str | os.PathLike | None = None) -> None:
        """Both records as files, for perfcast and rank."""
        Path(kernels).write_text(self.kernels_csv())
        if commands is not None:
            Path(commands).write_text(self.commands_csv())

    def project(
        self,
        devices: str | Iterable[str] | None = None,
        *,
        host: str | float = "measured",
        options: Iterable[str] = (),
    ) -> Answer:
        """Which device is the fastest: kernelcast choose on these rows, with further options of it.

        `host`: how much of the host's time counts: "measured" (what the commands have), "none", or a factor.
        """
        names = [devices] if isinstance(devices, str) else list(devices or ())
        chosen = [word for name in names for word in ("--device", name)]
        with tempfile.TemporaryDirectory() as folder:
            kernels, commands = Path(folder, "k.csv"), Path(folder, "c.csv")
            self.write(kernels, commands)
            files = Path(folder, "files")
            text = _run(
                "kernelcast", "choose", "--rows", str(kernels), "--commands", str(commands), "--subject", self.title,
                "--host", str(host), "--files", str(files), *chosen, *options,
            )  # fmt: skip
            totals = [row for row in records.rows((files / "ranking.csv").read_text()) if row["kernel"] == "total"]
            times = {
                (row["kernel"], row["case"], row["device"]): row
                for row in records.rows((files / "projections.csv").read_text())
            }
        return Answer(self, text, totals, times)


@dataclass
class Answer:
    """Devices in order of time, and what each operator takes on each. `text` is what kernelcast choose says."""

    recording: Recording
    text: str
    ranking: list[dict[str, Any]]
    _times: dict[tuple[str, str, str], dict[str, Any]]

    def __str__(self) -> str:
        return self.text

    @property
    def best(self) -> str:
        return self.ranking[0]["device"]

    def time_s(self, device: str | None = None) -> float:
        """Of everything recorded, on a device (by its id), by default the fastest one."""
        for row in self.ranking:
            if row["device"] == (device or self.best):
                return row["time_s"]
        raise KeyError(device)

    def by(self, *columns: str, device: str | None = None) -> list[dict[str, Any]]:
        """Times of the operators together by kernel, module, phase or library, the longest first: {columns, operators, time_s,
        part}, without the host's."""
        device = device or self.best
        cases, launches = self.recording.cases(), self.recording.launches()
        sums: dict[tuple, list[float]] = defaultdict(lambda: [0, 0.0])
        for one in self.recording.issued:
            if one.operator not in cases:
                continue
            row = self._times[one.operator.kernel, cases[one.operator], device]
            values = {"kernel": one.operator.kernel, "module": one.module, "phase": one.phase,
                      "library": one.operator.library}  # fmt: skip
            each = sums[tuple(values[column] for column in columns)]
            each[0] += 1
            if row["time_s"] is not None:
                each[1] += (row["time_s"] - (row["t_launch_s"] or 0)) / launches[one.operator]
        whole = sum(time_s for _, time_s in sums.values()) or 1
        return [
            {**dict(zip(columns, key)), "operators": count, "time_s": time_s, "part": time_s / whole}
            for key, (count, time_s) in sorted(sums.items(), key=lambda item: -item[1][1])
        ]

    def frame(self) -> pandas.DataFrame:
        """A row for each device."""
        return records.pandas_module().DataFrame(self.ranking)


def csv_text(rows: list[dict[str, Any]]) -> str:
    """A column for each that some row has."""
    text = io.StringIO()
    writer = csv.DictWriter(text, dict.fromkeys(name for row in rows for name in row), "", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


@functools.lru_cache(maxsize=None)
def _required_columns() -> tuple[str, ...]:
    """Those of the record `kernel` that a file must have."""
    listed = csv.DictReader(io.StringIO(_run("miniemu", "--columns")))
    return tuple(row["name"] for row in listed if row["record"] == "kernel" and row["required"] == "yes")


def _program(name: str) -> str:
    """A program of the suite: in $KERNELCAST_BIN, the package, or on PATH."""
    for folder in (os.environ.get("KERNELCAST_BIN"), str(Path(__file__).parent / "bin")):
        if folder and os.access(os.path.join(folder, name), os.X_OK):
            return os.path.join(folder, name)
    found = shutil.which(name)
    if not found:
        raise KernelcastError(
            Status.UNAVAILABLE, f"'{name}' is not installed\nhint: put it on PATH, or set KERNELCAST_BIN to its folder"
        )
    return found


def _run(name: str, *arguments: str) -> str:
    done = subprocess.run([_program(name), *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        raise KernelcastError(done.returncode if done.returncode in set(Status) else Status.INTERNAL, done.stderr.strip())
    return done.stdout
