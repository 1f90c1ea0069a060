"""What torch.compile makes of a model for a GPU that is not there: kernels of Triton, which run on the emulator.

Dynamo traces the model on a CPU's tensors, which have sizes and no memory. Before Inductor lowers the graph its tensors
become those of a GPU, so that it writes the code it would write there. That code's own call() is run on the tensors
without memory: what it asks of libraries is seen by the recorder, and its kernels are written down with their arguments.

Of several configurations that Inductor would time, the one that is projected to be the fastest on `TUNED_ON` is taken.
Not as there: products whose sides are no multiples of 8 are not padded, and nothing is tuned by max-autotune.
"""

from __future__ import annotations

import contextlib
import csv
import functools
import io
import re
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any

import numpy
import torch
import triton
from torch.utils._pytree import tree_map_only
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

from .arguments import buffer
from .launch import Launch
from .library import KernelcastError, Status
from .operators import Operator
from .replaced import replaced
from .triton import launch

TUNED_ON = "a100"

# What the host needs beside the launch, for a kernel and for a call of what was compiled as a whole: 6.8 and 44 us less the
# launch's 3 us, measured on a GB200's host, meta-pytorch/tritonbench#1017.
HOST_KERNEL_S = 4e-6
HOST_CALL_S = 35e-6

# Bytes may be places in the window of a pooling: the first one lies outside of the image at its edge, the middle one of 3, 5
# or 7 squared never does. The first of these with which a kernel stays inside its memory.
_CONTENTS = (0, 4, 12, 24)

# What Inductor asks of its device. A100: CUDA C++ Programming Guide, compute capability 8.0.
_CAPABILITY = (8, 0)
_DEVICE = SimpleNamespace(
    name="NVIDIA A100-SXM4-80GB", major=8, minor=0, multi_processor_count=108, regs_per_multiprocessor=65536, warp_size=32,
    max_threads_per_multi_processor=2048, max_threads_per_block=1024, total_memory=80 << 30, gcnArchName="",
    shared_memory_per_block=48 << 10, shared_memory_per_block_optin=163 << 10, shared_memory_per_multiprocessor=164 << 10,
)  # fmt: skip


@dataclass(frozen=True)
class Generated(Operator):
    """A kernel that Inductor wrote, with its arguments: numbers, and shape, strides and type of tensors."""

    source: str = ""
    args: tuple = ()

    @property
    def kind(self) -> str:
        return "kernel"

    @property
    def sizes(self) -> str:
        return "x".join(str(arg) for arg in self.args if isinstance(arg, int))

    def row(self, times: int) -> dict[str, str]:
        for content in _CONTENTS:
            try:
                made = list(self.launches(content))
                fastest = made[0] if len(made) == 1 else min(made, key=lambda each: each.project([TUNED_ON])[0].time_s)
                return next(csv.DictReader(io.StringIO(replace(fastest, times=times).emulate().csv)))
            except KernelcastError as error:
                if error.status != Status.FINDING or content == _CONTENTS[-1]:
                    raise

    def launches(self, content: int = 0) -> Iterator[Launch]:
        """Of each configuration that Inductor would try. `content` is what tensors of bytes hold."""
        from torch._inductor.runtime.triton_heuristics import GridExpr

        tuner = _loaded(self.kernel, self.source)
        signature = tuner.triton_meta["signature"]
        for config in tuner.configs:
            constants = {**tuner.triton_meta["constants"], **config.kwargs}
            values = dict(zip((name for name in tuner.fn.arg_names if name not in config.kwargs), self.args))
            with _as_if_present(), warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)  # of a default that is to change
                compiled = triton.compile(
                    ASTSource(tuner.fn, signature, constants, tuner.triton_meta["configs"][0]),
                    target=_Driver().get_current_target(),
                    options={"num_warps": config.num_warps, "num_stages": config.num_stages},
                )
            passed = [
                _argument(value, signature[name], _bound(self.source), content)
                for name, value in values.items()
                if name not in constants and signature[name] != "constexpr"
            ]
            grid = GridExpr.from_meta(tuner.inductor_meta, config).eval_slow({**values, **config.kwargs})
            yield launch(compiled, grid, passed)


@dataclass(frozen=True)
class _Kernel:
    """What Inductor's code calls in place of a compiled kernel."""

    name: str
    source: str
    recorder: Any

    def run(self, *args: Any, **_: Any) -> None:
        told = tuple((tuple(a.shape), a.stride(), a.dtype) if isinstance(a, torch.Tensor) else a for a in args)
        self.recorder.add([Generated(self.name, "", source=self.source, args=told)], HOST_KERNEL_S)


@functools.lru_cache(maxsize=None)
def _loaded(name: str, source: str) -> Any:
    """Inductor's own object, with the function and its configurations."""
    from torch._inductor.codecache import PyCodeCache

    with _as_if_present():
        return getattr(PyCodeCache.load(source), name)


def _bound(source: str) -> int:
    """Below which indices that are read must stay, by what the kernel asserts; 1 where it reads none."""
    return min((int(bound) for bound in re.findall(r"device_assert\(.*? < (\d+)\)", source)), default=1)


def _argument(value: Any, kind: str, bound: int, content: int) -> Any:
    if isinstance(value, int):
        return numpy.int64(value) if kind == "i64" else value
    if not isinstance(value, tuple):
        raise KernelcastError(Status.UNAVAILABLE, f"Inductor's kernel has a {type(value).__name__} as an argument")
    shape, stride, dtype = value
    count = 1 + sum((side - 1) * step for side, step in zip(shape, stride)) if 0 not in shape else 0
    if dtype is torch.int64 and bound > 1:
        return numpy.random.default_rng(1).integers(0, bound, count)
    if content and dtype is torch.int8:
        return numpy.full(count, content, numpy.int8)
    return buffer(max(1, count) * dtype.itemsize)


class _Driver:
    """Triton's, without a GPU."""

    def get_current_target(self):
        return GPUTarget("cuda", 10 * _CAPABILITY[0] + _CAPABILITY[1], 32)

    def get_active_torch_device(self):
        return torch.device("cuda", 0)

    def get_current_device(self):
        return 0

    def is_active(self):
        return True


def _forget() -> None:
    """What PyTorch keeps of its answers to whether there is a GPU."""
    from torch._inductor.runtime.hints import DeviceProperties

    for function in (*vars(torch.utils._triton).values(), DeviceProperties.create):
        getattr(function, "cache_clear", _nothing)()


@contextlib.contextmanager
def _as_if_present() -> Iterator[None]:
    """PyTorch, Inductor and Triton find a GPU."""
    from torch._dynamo.device_interface import CudaInterface
    from torch._inductor.runtime import triton_helpers

    always = {
        "is_available": lambda *_: True, "device_count": lambda: 1, "current_device": lambda: 0,
        "get_device_properties": lambda *_: _DEVICE,
    }  # fmt: skip
    of_torch = {
        **always, "get_device_capability": lambda *_: _CAPABILITY, "get_device_name": lambda *_: _DEVICE.name,
        "_exchange_device": lambda _: 0, "_maybe_exchange_device": lambda _: 0, "set_device": lambda _: None,
        "get_rng_state": lambda *_: torch.get_rng_state(), "set_rng_state": lambda *_: None,
    }  # fmt: skip
    of_dynamo = {
        **always, "get_compute_capability": lambda *_: 10 * _CAPABILITY[0] + _CAPABILITY[1],
        "get_multi_processor_count": lambda *_: _DEVICE.multi_processor_count,
    }  # fmt: skip
    with (
        replaced(torch.cuda, **of_torch),
        replaced(CudaInterface, **{name: staticmethod(value) for name, value in of_dynamo.items()}),
        replaced(CudaInterface.Worker, get_device_properties=staticmethod(lambda *_: _DEVICE)),
        replaced(triton.runtime.driver, _active=_Driver()),
        replaced(triton_helpers, set_driver_to_gpu=_nothing),
    ):
        _forget()
        try:
            yield
        finally:
            _forget()


def _on_gpu(graph: torch.fx.GraphModule, inputs: list) -> list:
    """The graph's inputs as tensors of a GPU; what its nodes are known to be becomes that, too."""
    mode = torch._guards.detect_fake_mode(inputs)
    gpu = torch.device("cuda", 0)
    bases: dict[tuple, torch.Tensor] = {}  # what shares memory still does

    def moved(value):
        storage = value.untyped_storage()
        key = (storage._cdata, value.dtype)
        if key not in bases:
            bases[key] = torch.empty(storage.nbytes() // value.dtype.itemsize, dtype=value.dtype, device=gpu)
        return bases[key].as_strided(value.shape, value.stride(), value.storage_offset())

    with mode, torch.no_grad():
        inputs = tree_map_only(torch.Tensor, moved, inputs)
        for node in graph.graph.nodes:
            if "val" in node.meta:
                node.meta["val"] = tree_map_only(torch.Tensor, moved, node.meta["val"])
            if node.op == "call_function":
                node.args, node.kwargs = tree_map_only(torch.device, lambda _: gpu, (node.args, node.kwargs))
    graph.recompile()
    return inputs


def _empty(size, stride, dtype):
    return torch.empty_strided(size, stride, dtype=dtype)


def _reinterpreted(tensor, size, stride, offset=0):
    return torch.as_strided(tensor, size, stride, tensor.storage_offset() + offset)


def _nothing(*_: Any) -> None:
    pass


def _without_memory(call: Callable, recorder: Any) -> Callable:
    """Inductor's call() on tensors that have none."""
    names = call.__globals__
    names |= {name: _empty for name in names if name.startswith("empty_strided_")}
    names |= {name: _nothing for name in names if name.startswith("assert_")}
    names |= {"reinterpret_tensor": _reinterpreted, "copy_if_misaligned": lambda tensor: tensor, "get_raw_stream": lambda _: 0}

    def run(inputs):
        same = {"_exchange_device": lambda _: 0, "_maybe_exchange_device": lambda _: 0, "set_device": _nothing}
        with replaced(torch.cuda, **same), recorder.region(HOST_CALL_S):
            return call(inputs)

    return run


def compiled(model: Callable, recorder: Any) -> Callable:
    """The model as torch.compile runs it. `recorder` has add(operators, host_s), and contexts: apart() while code is made,
    region(host_s) while it runs, of which the host's time is that of each call."""
    import torch._inductor.config as config
    from torch._inductor import compile_fx
    from torch._inductor.async_compile import AsyncCompile

    def inner(graph, inputs, **how):
        with recorder.apart():
            inputs = _on_gpu(graph, inputs)
            ours = {"triton": lambda _, name, source, **__: _Kernel(name, source, recorder)}
            with _as_if_present(), replaced(AsyncCompile, **ours):
                made = compile_fx.compile_fx_inner(graph, inputs, **how)
            made.current_callable = _without_memory(made.current_callable, recorder)
            return made

    def backend(graph, inputs):
        settings = {"compile_threads": 1, "fx_graph_cache": False, "fx_graph_remote_cache": False}
        with recorder.apart(), config.patch(settings), torch._functorch.config.patch(enable_autograd_cache=False):
            return compile_fx.compile_fx(graph, inputs, inner_compile=inner, config_patches=settings)

    torch._dynamo.reset()
    return torch.compile(model, backend=backend)
