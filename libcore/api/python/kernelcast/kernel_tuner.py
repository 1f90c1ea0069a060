"""Kernel Tuner without a GPU: a tuning script runs unmodified, and `time` is what is projected for a device.

    python -m kernelcast.kernel_tuner convolution.py --device A100 --top 10

Method: Kernel Tuner's back ends for CUDA and OpenCL are replaced before the script runs; tune_kernel() gets a cache
file where it has none. A configuration that does not compile, that does not fit on the device or whose emulation finds
an error has no time, and the reason is printed once. With `--top` the fastest configurations are written; on a machine
with the GPU tune_kernel(..., restrictions=kernelcast.kernel_tuner.only("convolution-a100-top.json")) measures these.

Limits: the contents of constant memory and textures are not passed, so that results of such kernels are not checked.
Observers of real hardware (power, clocks) have none.
"""

from __future__ import annotations

import argparse
import importlib
import inspect
import json
import os
import re
import runpy
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Callable, TypeVar

import kernel_tuner
import numpy
from kernel_tuner import core, util
from kernel_tuner.backends.backend import GPUBackend
from kernel_tuner.observers.observer import BenchmarkObserver

from .launch import Launch, Projection, Ranking, project
from .library import KernelcastError, Status, has, version

# A configuration is at fault; other statuses end the tuning.
_OF_CONFIGURATION = {
    Status.FINDING: util.RuntimeFailedConfig,
    Status.BAD_DATA: util.CompilationFailedConfig,
    Status.LIMIT: util.RuntimeFailedConfig,
}
_ERROR = "__error__" if hasattr(util, "check_result_type") else "time"  # the latter before Kernel Tuner 1.4
_SKIPPED = "too many resources requested for launch"  # what Kernel Tuner takes for a configuration's own fault


_Result = TypeVar("_Result")


@dataclass
class _Settings:
    device: Projection  # whose `device` and `name` count
    database: str | None
    timeout: float | None
    check: bool


class _Failed(Exception):
    """A configuration without a time; the argument is Kernel Tuner's class of it."""


def _say(message: str) -> None:
    print(f"kernelcast: {message}", file=sys.stderr)


class _Configuration:
    """What Kernel Tuner takes for a compiled kernel."""

    reasons: set[str] = set()  # that were printed, without their numbers

    def __init__(self, instance: core.KernelInstance, options: list[str]):
        self.instance = instance
        self.options = options
        self.result: dict[str, Any] | None = None  # as a benchmark has it

    def launch(self, args: list, threads: tuple, grid: tuple, shared: int) -> Launch:
        language = "opencl" if self.instance.kernel_source.lang == "OPENCL" else "cuda"
        source, name = self.instance.kernel_string, self.instance.name
        return Launch(source, name, grid, threads, args, language, self.options, shared)

    def guarded(self, step: Callable[[], _Result], without: str) -> _Result:
        """What a step returns; _Failed where the configuration is at fault, which is then `without` something."""
        try:
            return step()
        except KernelcastError as error:
            if error.status not in _OF_CONFIGURATION:
                raise
            raise self.failed(error.message, _OF_CONFIGURATION[error.status], without) from None

    def failed(self, reason: str, kind: type, without: str) -> _Failed:
        reason = reason.split(": error: ", 1)[-1].splitlines()[0]  # without the path of a source, which differs
        without_numbers = without + re.sub(r"\d+", "", reason)
        if without_numbers not in self.reasons:
            self.reasons.add(without_numbers)
            _say(f"{util.get_instance_string(self.instance.params)} has no {without}: {reason}")
        return _Failed(kind)


class _Time(BenchmarkObserver):
    """Gives Kernel Tuner the result of the last run."""

    def __init__(self, backend: Backend):
        self.backend = backend

    def get_results(self) -> dict[str, Any]:
        return dict(self.backend.result)


class Backend(GPUBackend):
    """A device that emulates and projects. Kernel Tuner's units: milliseconds."""

    settings: _Settings
    units = {"time": "ms"}
    max_threads = 1024

    def __init__(self, device=0, iterations=7, compiler_options=None, observers=None):
        self.iterations = iterations
        self.options = list(compiler_options or [])
        self.name = self.settings.device.name
        self.env = {
            "device_name": self.name,
            "kernelcast_version": version(),
            "iterations": iterations,
            "compiler_options": self.options,
        }
        self.shared = 0
        self.is_timed = False
        self.result: dict[str, Any] = {}
        self.observers = [*(observers or []), _Time(self)]
        for observer in self.observers:
            observer.register_device(self)

    def ready_argument_list(self, arguments):
        return [argument.copy() if isinstance(argument, numpy.ndarray) else argument for argument in arguments]

    def compile(self, kernel_instance):
        self.shared = 0
        return _Configuration(kernel_instance, self.options)

    def run_kernel(self, func, gpu_args, threads, grid, stream=None):
        launch = func.launch(gpu_args, threads, grid, self.shared)
        if not self.is_timed:
            self._run_for_results(func, launch)
            return
        if func.result is None:
            try:
                func.result = self._projected(func, launch)
            except _Failed as failed:
                func.result = {_ERROR: failed.args[0]()}
        self.result = func.result

    def _run_for_results(self, func: _Configuration, launch: Launch) -> None:
        if not self.settings.check:
            return
        outputs = [argument for argument in launch.args if isinstance(argument, numpy.ndarray)]
        try:
            func.guarded(lambda: launch.emulate(outputs, timeout=self.settings.timeout), "results to check")
        except _Failed:
            raise RuntimeError(_SKIPPED) from None

    def _projected(self, func: _Configuration, launch: Launch) -> dict[str, Any]:
        known = self.settings

        def step() -> Ranking:
            return launch.project(known.device.device, timeout=known.timeout, database=known.database)

        row = func.guarded(step, "time")[0]
        if numpy.isnan(row.time_s):
            raise func.failed(row.reason or row.status, util.RuntimeFailedConfig, "time")
        times = {"time": row.time_s, "time_low": row.time_low_s, "time_high": row.time_high_s}
        result = {name: 1e3 * value for name, value in times.items() if not numpy.isnan(value)}
        return {**result, "times": [result["time"]] * self.iterations, "limiter": row.limiter}

    def start_event(self):
        self.is_timed = True

    def stop_event(self):
        self.is_timed = False

    def kernel_finished(self):
        return True

    def synchronize(self):
        pass

    def memset(self, allocation, value, size):
        allocation.view(numpy.uint8).reshape(-1)[:size] = value

    def memcpy_dtoh(self, dest, src):
        dest[...] = src

    def memcpy_htod(self, dest, src):
        dest[...] = src

    def copy_shared_memory_args(self, smem_args):
        self.shared = int(smem_args["size"])

    def copy_constant_memory_args(self, cmem_args):
        pass

    def copy_texture_memory_args(self, texmem_args):
        raise NotImplementedError("texmem_args: textures by name are not supported")


class OpenCLBackend(Backend):
    """The same with OpenCL's order of arguments."""

    def __init__(self, device=0, platform=0, iterations=7, compiler_options=None, observers=None):
        super().__init__(device, iterations, compiler_options, observers)


_BACKENDS: dict[str, tuple[str, type[Backend]]] = {
    "cupy": ("CupyFunctions", Backend),
    "nvcuda": ("CudaFunctions", Backend),
    "pycuda": ("PyCudaFunctions", Backend),
    "opencl": ("OpenCLFunctions", OpenCLBackend),
}


def install(settings: _Settings) -> None:
    """Has Kernel Tuner use Backend in this process."""
    Backend.settings = settings
    for name, (original, replacement) in _BACKENDS.items():
        setattr(importlib.import_module(f"kernel_tuner.backends.{name}"), original, replacement)
        setattr(core, original, replacement)  # where some versions import it
    core._select_default_cuda_backend = lambda: Backend


class _Tuning:
    """tune_kernel() with a cache file, and with what the command line chose."""

    def __init__(self, stem: str, top: int | None, samples: int | None):
        self.stem, self.top, self.samples = stem, top, samples
        self.original = kernel_tuner.tune_kernel
        self.calls = 0
        self.said = False

    def __call__(self, *given, **named):
        bound = inspect.signature(self.original).bind(*given, **named)
        arguments = bound.arguments
        if arguments.get("simulation_mode"):
            return self.original(**arguments)
        self.calls += 1
        suffix = "" if self.calls == 1 else f"-{self.calls}"
        if not arguments.get("cache"):
            arguments["cache"] = f"{self.stem}{suffix}.json"
            Path(arguments["cache"]).unlink(missing_ok=True)  # written by another run, maybe of another kernel
        if arguments.pop("parallel", None):
            _say("parallel= has no effect")
        if self.samples and not arguments.get("strategy"):
            arguments["strategy"] = "random_sample"
            arguments["strategy_options"] = {"max_fevals": self.samples}
        self._without_checks(arguments)
        results, environment = self.original(**arguments)
        if self.top:
            _write_top(f"{self.stem}{suffix}-top.json", results, list(arguments["tune_params"]), self.top)
        return results, environment

    def _without_checks(self, arguments: dict[str, Any]) -> None:
        wanted = arguments.get("answer") is not None or arguments.get("verify")
        if not wanted or (Backend.settings.check and not arguments.get("cmem_args")):
            return
        if not self.said:
            _say("results of kernels are not checked")
        self.said = True
        arguments.update(answer=None, verify=None)


def _write_top(path: str, results: list[dict], names: list[str], count: int) -> None:
    timed = sorted((row for row in results if row and isinstance(row.get("time"), float)), key=lambda row: row["time"])
    rows = [{name: row[name] for name in [*names, "time"]} for row in timed[:count]]
    Path(path).write_text(json.dumps(rows, cls=util.NpEncoder, indent=1) + "\n")
    _say(f"the {len(rows)} fastest configurations are in {path}")


def only(path: str | os.PathLike) -> list[str]:
    """Restrictions for tune_kernel() that let only the configurations pass which `--top` wrote to a file:
    restrictions=only("FILE"), or restrictions=[...] + only("FILE") beside those of the script."""
    rows = json.loads(Path(path).read_text())
    if not rows:
        raise ValueError(f"{path} has no configurations")
    clauses = (" and ".join(f"{name} == {value!r}" for name, value in row.items() if name != "time") for row in rows)
    return [" or ".join(f"({clause})" for clause in clauses)]


def _device(name: str, database: str | None) -> Projection:
    """The device as the database has it, found by any of its names."""
    nothing = ".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry nothing() { ret; }\n"
    return project(nothing, "nothing", 1, 32, [], devices=name, database=database)[0]


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m kernelcast.kernel_tuner",
        description="Run a Kernel Tuner script without a GPU: times are projected for a device. "
        "Arguments that are not listed here are the script's.",
        allow_abbrev=False,
    )
    parser.add_argument("script", help="a Python script that calls kernel_tuner.tune_kernel()")
    parser.add_argument("--device", default="a100", help="id, name or alias of the device (default: %(default)s)")
    parser.add_argument("--devdb", metavar="FOLDER", help="the device database")
    parser.add_argument("--top", type=int, metavar="K", help="write the K fastest configurations to a file, for only()")
    parser.add_argument(
        "--samples", type=int, metavar="N", help="N random configurations, if the script has no strategy"
    )
    parser.add_argument("--timeout", type=float, metavar="SECONDS", help="limit of each emulation (default: none)")
    parser.add_argument("--no-check", action="store_true", help="ignore answer= and verify=; kernels write no results")
    options, rest = parser.parse_known_args(arguments)
    script = Path(options.script)
    if not script.is_file():
        parser.error(f"{script}: no such file")
    try:
        device = _device(options.device, options.devdb)
    except KernelcastError as error:
        parser.exit(error.status, error.message + "\n")
    install(_Settings(device, options.devdb, options.timeout, not options.no_check and has("emulate")))
    tuning = _Tuning(f"{script.stem}-{device.device}", options.top, options.samples)
    kernel_tuner.tune_kernel = kernel_tuner.interface.tune_kernel = tuning
    sys.argv = [str(script), *rest]
    sys.path[0] = str(script.absolute().parent)
    runpy.run_path(str(script), run_name="__main__")


if __name__ == "__main__":
    main()
