"""Arguments of a kernel, from Python's objects to what libkernelcast takes.

An int is 32 bits, a float is 32 bits, a bool is a byte. Scalars of numpy and ctypes have their own types. An array of
numpy, or another contiguous object with the buffer protocol, is a buffer with its content; the same object twice is the
same buffer. None is a null pointer.
"""

from __future__ import annotations

import ctypes
import struct
from dataclasses import dataclass
from typing import Any, Sequence

from .library import called


@dataclass(frozen=True, eq=False)
class Buffer:
    """Device memory without a content: zeros."""

    bytes: int


@dataclass(frozen=True)
class Local:
    """Memory of the work-group whose size the launch gives: OpenCL's __local arguments."""

    bytes: int


def buffer(bytes: int) -> Buffer:
    """A buffer of zeros. Pass the same object twice for two pointers to the same memory."""
    return Buffer(bytes)


def local(bytes: int) -> Local:
    """An argument of OpenCL's __local memory."""
    return Local(bytes)


def _value(argument: Any) -> bytes | None:
    """The bytes of a scalar or a structure; None where it is something else."""
    if isinstance(argument, bool):
        return struct.pack("?", argument)
    if isinstance(argument, int):
        if not -(2**31) <= argument < 2**32:
            raise OverflowError(f"{argument} does not fit in 32 bits; numpy.int64 or ctypes.c_int64 has 64")
        return (argument % 2**32).to_bytes(4, "little")
    if isinstance(argument, float) and not hasattr(argument, "dtype"):
        return struct.pack("f", argument)
    if isinstance(argument, (ctypes._SimpleCData, ctypes.Structure, ctypes.Union)):
        return bytes(argument)
    if getattr(argument, "shape", None) == () and hasattr(argument, "tobytes"):
        return argument.tobytes()
    return None


def _content(argument: Any) -> tuple[int | None, int, Any, bool] | None:
    """Address (None: zeros), bytes, what keeps the address valid, whether it may be written; None where it is not a
    buffer."""
    if isinstance(argument, Buffer):
        return None, argument.bytes, argument, False
    interface = getattr(argument, "__array_interface__", None)
    if interface is not None:
        if interface.get("strides") is not None:
            raise ValueError("an array that is not contiguous; numpy.ascontiguousarray() makes it so")
        address, readonly = interface["data"]
        return address, argument.nbytes, argument, not readonly
    try:
        view = memoryview(argument)
    except TypeError:
        return None
    if not view.c_contiguous:
        raise ValueError("a buffer that is not contiguous")
    array = ctypes.c_char * view.nbytes
    memory = array.from_buffer_copy(view) if view.readonly else array.from_buffer(view)
    return ctypes.addressof(memory), view.nbytes, memory, not view.readonly


def _set(
    launch: ctypes.c_void_p, index: int, argument: Any, before: dict[tuple[int, int], int], is_output: bool
) -> Any:
    if argument is None:
        return called("launch_null", launch, index)
    if isinstance(argument, Local):
        return called("launch_shared", launch, index, argument.bytes)
    value = _value(argument)
    if value is not None:
        return called("launch_value", launch, index, value, len(value))
    memory = _content(argument)
    if memory is None:
        raise TypeError(
            f"a {type(argument).__name__}; pass a number, an array of numpy, kernelcast.buffer(bytes), "
            "kernelcast.local(bytes) or None"
        )
    address, size, kept, writable = memory
    key = (address or id(argument), size)
    if key in before:
        return called("launch_same_buffer", launch, index, before[key])
    before[key] = index
    if is_output and not writable:
        raise ValueError("an output that cannot be written")
    called("launch_output" if is_output else "launch_buffer", launch, index, address, size)
    return kept


def _identity(argument: Any) -> int:
    """Equal for an array and its transposed view, which Numba's adapter passes."""
    interface = getattr(argument, "__array_interface__", None)
    return id(argument) if interface is None else interface["data"][0]


def set_all(launch: ctypes.c_void_p, arguments: Sequence, outputs: Sequence = ()) -> list:
    """Sets a launch's arguments; returns what must live as long as the launch. Outputs are some of the arguments."""
    written = {_identity(output) for output in outputs}
    if not written <= {_identity(argument) for argument in arguments}:
        raise ValueError("an output that is not among the arguments: pass the same object in args and outputs")
    kept: list = []
    before: dict[tuple[int, int], int] = {}  # first argument of each buffer
    for index, argument in enumerate(arguments):
        try:
            kept.append(_set(launch, index, argument, before, _identity(argument) in written))
        except (TypeError, ValueError, OverflowError) as error:
            raise type(error)(f"argument {index}: {error}") from None
    return kept
