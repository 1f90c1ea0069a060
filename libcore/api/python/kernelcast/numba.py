"""Kernels of Numba, compiled to PTX for a GPU that is not there, and projected. Needs NVVM, of a CUDA toolkit or of
NVIDIA's packages for Python, but no driver.

Method: numba.cuda.compile_ptx(); arrays become the parameters of Numba's array structure (two owners, number and size
of elements, data, shape, strides), complex numbers become two.

Limits: arguments are numbers, contiguous arrays and tuples of these.
"""

from __future__ import annotations

import re
from typing import Any, Callable, Iterator, Sequence

import numpy
from numba import cuda, types, typeof

from .launch import Launch, Ranking


def _parameters(kind: types.Type, argument: Any) -> Iterator[Any]:
    """What the machine gets for one argument."""
    if isinstance(kind, types.Array):
        size, item = argument.size, argument.itemsize
        flat = argument if argument.flags.c_contiguous else argument.T  # of the same memory
        if not flat.flags.c_contiguous:
            raise ValueError("an array that is not contiguous; numpy.ascontiguousarray() makes it so")
        yield from (None, None, numpy.int64(size), numpy.int64(item), flat)
        yield from map(numpy.int64, (*argument.shape, *argument.strides))
    elif isinstance(kind, (types.Tuple, types.UniTuple)):
        for element, value in zip(kind.types, argument):
            yield from _parameters(element, value)
    elif isinstance(kind, types.Complex):
        part = getattr(numpy, kind.underlying_float.name)
        yield from (part(argument.real), part(argument.imag))
    elif isinstance(kind, types.Boolean):
        yield numpy.uint8(bool(argument))
    elif isinstance(kind, (types.Integer, types.Float)):
        yield getattr(numpy, kind.name)(argument)
    else:
        raise TypeError(f"arguments of Numba's type {kind} are not supported: numbers, arrays and tuples are")


def launch(
    kernel: Callable,
    grid: int | Sequence[int],
    block: int | Sequence[int],
    args: Sequence[Any],
    *,
    signature: Sequence[types.Type] | None = None,
    capability: tuple[int, int] = (8, 0),
    shared: int = 0,
    **compiler: Any,
) -> Launch:
    """The launch of a @cuda.jit kernel, or of its function. `signature` are the types of the arguments, by default
    those that Numba sees in `args`, as in a call of the kernel. `compiler` are options of compile_ptx(): fastmath."""
    kinds = tuple(signature) if signature is not None else tuple(typeof(argument) for argument in args)
    if len(kinds) != len(args):
        raise TypeError(f"the signature has {len(kinds)} types, {len(args)} arguments given")
    options = dict(getattr(kernel, "targetoptions", {}))
    chosen = {name: options[name] for name in ("fastmath", "opt") if options.get(name) is not None}
    function = getattr(kernel, "py_func", kernel)
    ptx, _ = cuda.compile_ptx(function, kinds, cc=capability, **{**chosen, **compiler})
    [name] = re.findall(r"\.entry\s+([\w$]+)", ptx)
    parameters = [value for kind, argument in zip(kinds, args) for value in _parameters(kind, argument)]
    return Launch(ptx, name, grid, block, parameters, "ptx", shared=shared)


def project(
    kernel: Callable,
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
    """Ranks devices for a kernel of Numba; `options` are those of launch()."""
    made = launch(kernel, grid, block, args, **options)
    return made.project(devices, groups=groups, timeout=timeout, database=database)
