"""Kernels of CuPy, projected: a cupy.RawKernel, or its source and name where CuPy is not installed.

Method: RawKernel's code and options are what libkernelcast compiles. Arguments are as kernelcast.arguments has them,
but as in CuPy a float has 64 bits; arrays of CuPy are copied from the device, arrays of numpy serve as well.
"""

from __future__ import annotations

from typing import Any, Sequence

import numpy

from .launch import Launch, Ranking


def _argument(argument: Any) -> Any:
    if isinstance(argument, float):
        return numpy.float64(argument)
    if hasattr(argument, "__cuda_array_interface__"):
        return argument.get()
    return argument


def launch(
    kernel: Any,
    grid: int | Sequence[int],
    block: int | Sequence[int],
    args: Sequence[Any],
    *,
    name: str | None = None,
    options: Sequence[str] = (),
    shared_mem: int = 0,
) -> Launch:
    """The launch of a RawKernel, or of a source with the kernel's `name` and `options`. `grid`, `block`, `args` and
    `shared_mem` are as in a call of the kernel."""
    if isinstance(kernel, str):
        if name is None:
            raise TypeError('a source needs the name of its kernel: name="scale"')
        code = kernel
    else:
        code, name, options = kernel.code, kernel.name, kernel.options
    return Launch(code, name, grid, block, [_argument(argument) for argument in args], "cuda", options, shared_mem)


def project(
    kernel: Any,
    grid: int | Sequence[int],
    block: int | Sequence[int],
    args: Sequence[Any],
    *,
    devices=None,
    groups: int | None = None,
    timeout: float | None = None,
    database=None,
    **options: Any,
) -> Ranking:
    """Ranks devices for a kernel of CuPy; `options` are those of launch()."""
    made = launch(kernel, grid, block, args, **options)
    return made.project(devices, groups=groups, timeout=timeout, database=database)
