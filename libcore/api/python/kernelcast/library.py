"""libkernelcast as ctypes sees it: where it is, its functions, its errors, its device databases.

Limits: Linux. libkernelcast.h documents the functions.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import enum
import functools
import os
from ctypes import POINTER, c_char_p, c_double, c_int, c_size_t, c_uint, c_uint64, c_void_p
from dataclasses import dataclass
from pathlib import Path


class Status(enum.IntEnum):
    """kernelcast_status of libkernelcast.h."""

    DONE = 0
    FINDING = 1
    USAGE = 2
    BAD_DATA = 3
    IO = 4
    UNAVAILABLE = 5
    LIMIT = 6
    NO_MEMORY = 7
    INTERNAL = 8


class KernelcastError(Exception):
    """What libkernelcast refused: `status`, and `message` with place and hint."""

    def __init__(self, status: int, message: str):
        super().__init__(message)
        self.status = Status(status)
        self.message = message

    def __reduce__(self):
        return type(self), (self.status, self.message)


class ProjectionRow(ctypes.Structure):
    """kernelcast_projection of libkernelcast.h."""

    _fields_ = [
        ("device", c_char_p),
        ("name", c_char_p),
        ("rank", c_uint64),
        ("time_s", c_double),
        ("time_low_s", c_double),
        ("time_high_s", c_double),
        ("relative_time", c_double),
        ("decided", c_int),
        ("limiter", c_char_p),
        ("status", c_char_p),
        ("reason", c_char_p),
    ]


_SIZES = POINTER(c_size_t)
_FUNCTIONS = {  # name: result, arguments; a result of Status is checked by called()
    "version": (c_char_p, []),
    "message": (c_char_p, []),
    "database_open": (Status, [c_char_p, POINTER(c_void_p)]),
    "device_count": (c_size_t, [c_void_p]),
    "device_id": (c_char_p, [c_void_p, c_size_t]),
    "device_name": (c_char_p, [c_void_p, c_size_t]),
    "launch_create": (Status, [c_int, c_char_p, c_size_t, c_char_p, POINTER(c_void_p)]),
    "launch_destroy": (None, [c_void_p]),
    "launch_option": (Status, [c_void_p, c_char_p]),
    "launch_size": (Status, [c_void_p, c_uint, _SIZES, _SIZES]),
    "launch_value": (Status, [c_void_p, c_uint, c_void_p, c_size_t]),
    "launch_buffer": (Status, [c_void_p, c_uint, c_void_p, c_size_t]),
    "launch_output": (Status, [c_void_p, c_uint, c_void_p, c_size_t]),
    "launch_same_buffer": (Status, [c_void_p, c_uint, c_uint]),
    "launch_shared": (Status, [c_void_p, c_uint, c_size_t]),
    "launch_null": (Status, [c_void_p, c_uint]),
    "launch_dynamic_shared": (Status, [c_void_p, c_size_t]),
    "launch_groups": (Status, [c_void_p, c_uint64]),
    "launch_limit": (Status, [c_void_p, c_uint64, c_double]),
    "launch_cache": (Status, [c_void_p, c_int]),
    "launch_times": (Status, [c_void_p, c_uint64]),
    "project": (Status, [c_void_p, c_void_p, POINTER(c_char_p), c_size_t, POINTER(c_void_p)]),
    "emulate": (Status, [c_void_p, POINTER(c_void_p)]),
    "ranking_destroy": (None, [c_void_p]),
    "ranking_count": (c_size_t, [c_void_p]),
    "ranking_get": (Status, [c_void_p, c_size_t, POINTER(ProjectionRow), c_size_t]),
    "ranking_from_cache": (c_int, [c_void_p]),
    "ranking_cost_s": (c_double, [c_void_p]),
    "ranking_kernel_csv": (c_char_p, [c_void_p]),
}


def _place() -> str:
    chosen = os.environ.get("KERNELCAST_LIBRARY")
    if chosen:
        return chosen
    for beside in Path(__file__).parent.glob("lib/**/libkernelcast.so"):  # of a wheel
        return str(beside)
    return ctypes.util.find_library("kernelcast") or "libkernelcast.so.0"


@functools.lru_cache(maxsize=None)
def library() -> ctypes.CDLL:
    """The shared library: $KERNELCAST_LIBRARY, else the package's own, else the system's."""
    try:
        loaded = ctypes.CDLL(_place())
    except OSError as error:
        raise KernelcastError(
            Status.UNAVAILABLE,
            f"libkernelcast cannot be loaded: {error}\n"
            "hint: install it (make install), or set KERNELCAST_LIBRARY to the path of libkernelcast.so",
        ) from None
    for name, (result, arguments) in _FUNCTIONS.items():
        function = getattr(loaded, "kernelcast_" + name, None)
        if function is not None:
            function.restype = c_int if result is Status else result
            function.argtypes = arguments
    return loaded


def has(name: str) -> bool:
    """Whether the library is new enough to have kernelcast_`name`."""
    return hasattr(library(), "kernelcast_" + name)


def called(name: str, *arguments):
    """Calls kernelcast_`name`; a status other than DONE becomes a KernelcastError."""
    if not has(name):
        raise KernelcastError(
            Status.UNAVAILABLE,
            f"libkernelcast {version()} has no kernelcast_{name}\nhint: install a newer libkernelcast",
        )
    result = getattr(library(), "kernelcast_" + name)(*arguments)
    if _FUNCTIONS[name][0] is Status and result != Status.DONE:
        raise KernelcastError(result, library().kernelcast_message().decode(errors="replace"))
    return result


def version() -> str:
    """Of libkernelcast."""
    return library().kernelcast_version().decode()


@dataclass(frozen=True)
class Device:
    """A GPU of the device database: `id` such as "a100", `name` as it is sold."""

    id: str
    name: str


@functools.lru_cache(maxsize=None)
def _opened(folder: str | None) -> c_void_p:
    handle = c_void_p()
    called("database_open", os.fsencode(folder) if folder else None, ctypes.byref(handle))
    return handle  # open until the process ends: any number of threads may use it


def opened(database: str | os.PathLike | None) -> c_void_p:
    """The handle of a database; None is $KERNELCAST_DEVDB, else the one that is installed with the library."""
    return _opened(os.environ.get("KERNELCAST_DEVDB") if database is None else os.fspath(database))


def devices(database: str | os.PathLike | None = None) -> list[Device]:
    """The GPUs of a device database, a folder; None as project() takes it."""
    handle = opened(database)
    return [
        Device(called("device_id", handle, i).decode(), called("device_name", handle, i).decode())
        for i in range(called("device_count", handle))
    ]
