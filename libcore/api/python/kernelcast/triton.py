"""Kernels of Triton 3.3 and later, compiled for a GPU that is not there, and projected. Needs neither torch nor CUDA.

Method: Triton's compiler with a target of its own; its PTX is launched as Triton's launcher would: num_warps * 32
threads, dynamic shared memory, and null for the hidden pointers at the end of the parameters (scratch memory).
Arguments are specialized as Triton does it for tensors from torch: pointers are multiples of 16 bytes, integers that
are multiples of 16 are known to be, and integers of 1 become constants.

Limits: no clusters (num_ctas), no tensor descriptors, no tuples.
"""

from __future__ import annotations

import ctypes
import re
from typing import Any, Mapping, Sequence

import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

from .arguments import buffer
from .launch import Launch, Ranking

_TYPES = {
    "bool": "i1", "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64",
    "uint8": "u8", "uint16": "u16", "uint32": "u32", "uint64": "u64",
    "float16": "fp16", "bfloat16": "bf16", "float32": "fp32", "float64": "fp64",
}  # fmt: skip
_WIDE = {"i64": ctypes.c_int64, "u64": ctypes.c_uint64, "fp64": ctypes.c_double}


def type_of(argument: Any) -> str:
    """Triton's name of an argument's type: "*fp32", "i32"."""
    name = _TYPES.get(str(getattr(argument, "dtype", None)))
    if name is None:
        if isinstance(argument, bool):
            return "i1"
        if isinstance(argument, int):
            return "i32" if -(2**31) <= argument < 2**31 else "i64"
        if isinstance(argument, float):
            return "fp32"
        raise TypeError(f"a {type(argument).__name__} has no type of Triton's; give signature={{...}}")
    return name if argument.shape == () else "*" + name


def compile(
    function: triton.JITFunction,
    args: Sequence[Any],
    constexprs: Mapping[str, Any] | None = None,
    *,
    signature: Mapping[str, str] | None = None,
    capability: int = 80,
    **options: Any,
) -> tuple[Any, list[Any]]:
    """Compiles a @triton.jit function, and returns the kernel and those of `args` that became its parameters.

    `args` are the arguments that are not constexpr, in their order; `signature` names the types of those that do not
    say it themselves, such as kernelcast.buffer(): {"x": "*fp32"}. `options` are Triton's: num_warps, num_stages.
    """
    constants = dict(constexprs or {})
    given = [parameter for parameter in function.params if parameter.name not in constants]
    if len(given) != len(args):
        names = ", ".join(parameter.name for parameter in given)
        raise TypeError(f"{function.__name__} takes {len(given)} arguments ({names}), {len(args)} given")
    types = dict.fromkeys(constants, "constexpr")
    attributes, passed = {}, []
    for parameter, argument in zip(given, args):
        name = parameter.name
        types[name] = (signature or {}).get(name) or type_of(argument)
        specialized = not parameter.do_not_specialize
        is_integer = types[name][0] in "iu" and types[name] != "i1"
        if specialized and is_integer and argument == 1:
            types[name], constants[name] = "constexpr", 1
            continue
        if specialized and (types[name].startswith("*") or is_integer and argument % 16 == 0):
            attributes[(parameter.num,)] = [["tt.divisibility", 16]]
        wide = _WIDE.get(types[name])
        passed.append(wide(argument) if wide else argument)
    types = {name: types[name] for name in function.arg_names}
    source = ASTSource(function, types, constants, attributes)
    return triton.compile(source, target=GPUTarget("cuda", capability, 32), options=options), passed


def launch(kernel: Any, grid: int | Sequence[int], args: Sequence[Any], constexprs=None, **compiler: Any) -> Launch:
    """The launch of a compiled kernel, or of a @triton.jit function, for which the rest is as compile() takes it."""
    if isinstance(kernel, triton.JITFunction):
        kernel, args = compile(kernel, args, constexprs, **compiler)
    elif constexprs or compiler:
        raise TypeError("the kernel is compiled already: constexprs and options have no effect")
    data = kernel.metadata
    if getattr(data, "num_ctas", 1) > 1:
        raise ValueError("kernels with num_ctas > 1 are not supported")
    ptx = kernel.asm["ptx"]
    hidden = _parameter_count(ptx, data.name) - len(args)
    if hidden < 0 or hidden > 2:
        raise TypeError(f"{data.name} takes {hidden + len(args)} arguments, with Triton's own, {len(args)} given")
    blocks = 1
    for side in [grid] if isinstance(grid, int) else grid:
        blocks *= side
    scratch = getattr(data, "global_scratch_size", 0) * blocks
    last = [buffer(scratch) if scratch else None, None][:hidden]
    return Launch(ptx, data.name, grid, data.num_warps * 32, [*args, *last], "ptx", shared=data.shared)


def project(
    kernel: Any,
    grid: int | Sequence[int],
    args: Sequence[Any],
    constexprs: Mapping[str, Any] | None = None,
    *,
    devices=None,
    groups: int | None = None,
    timeout: float | None = None,
    database=None,
    **options: Any,
) -> Ranking:
    """Ranks devices for a kernel of Triton; the rest is as launch() takes it."""
    made = launch(kernel, grid, args, constexprs, **options)
    return made.project(devices, groups=groups, timeout=timeout, database=database)


def _parameter_count(ptx: str, name: str) -> int:
    entry = re.search(r"\.entry\s+" + re.escape(name) + r"\s*\((.*?)\)\s*[.{]", ptx, re.DOTALL)
    return entry.group(1).count(".param") if entry else 0
