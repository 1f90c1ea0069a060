"""Which GPU runs a PyTorch model fastest, and how fast, without a GPU and without the model's memory.

    import kernelcast.torch, torchvision
    answer = kernelcast.torch.project(lambda: torchvision.models.resnet50(), lambda: torch.zeros(32, 3, 224, 224))
    print(answer)

or, of a function that returns (model, inputs): python -m kernelcast.torch script.py:make_model --train -o kernels.csv

The model runs once on tensors that have sizes and no memory (FakeTensorMode); each operator of forward, loss, backward and
optimizer becomes rows of the library's kernels that PyTorch starts for it on a GPU (kernelcast.operators). Manual page:
kernelcast-python(3).

Limits: tensors are those of the CPU, so that what a model does only on "cuda" tensors is not seen. What depends on the
values of tensors (mixtures of experts, `nonzero`) is refused. Layouts are those of the model; which kernel cuDNN and cuBLAS
would take is not known, but what it costs usually.
"""

from __future__ import annotations

import argparse
import contextlib
import copy
import importlib.util
import itertools
import sys
import weakref
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

try:
    import torch
    from torch._subclasses.fake_tensor import (
        DataDependentOutputException,
        DynamicOutputShapeException,
        FakeCopyMode,
        FakeTensor,
        FakeTensorMode,
    )
    from torch.utils._python_dispatch import TorchDispatchMode
    from torch.utils._pytree import tree_map_only
    from torch.utils.module_tracker import ModuleTracker
except ImportError as error:
    if __name__ != "__main__":
        raise
    print(f"kernelcast.torch: error: {error}\nhint: python -m pip install torch, 2.3 or later, for {sys.executable}", file=sys.stderr)
    sys.exit(5)

from .allocator import Allocator
from .aten import base_of, bytes_of, collective_of, has_no_kernel, kernels_of, tensors_in
from .library import KernelcastError, Status
from .operators import Answer, Issued, Operator, Recording, collective
from .replaced import replaced

__all__ = ["project", "record"]

# What an eager PyTorch's host needs beside the launch, in seconds: for an operator, for a view or another call without a
# kernel. Chosen on bench-suites/measured/torch_h100.csv, where forward passes and training steps whose kernels take less
# than 0.8 of their time are 18 to 55 us for each kernel; that host is a virtual machine.
HOST_OPERATOR_S = 20e-6
HOST_VIEW_S = 4e-6

if torch.distributed.is_available():
    from torch.distributed.tensor import DTensor as _Shared
    from torch.distributed.tensor._sharding_prop import ShardingPropagator
else:
    _Shared, ShardingPropagator = (), None


class _Memory(Allocator):
    """Of storages while they live, and what becomes of them in order, to be gone through again."""

    def __init__(self):
        super().__init__()
        self._live: set[int] = set()
        self._events: list[tuple[int, int]] = []  # a storage's address and bytes, 0 where it goes
        self.marks: dict[str, int] = {}  # by a part's name: the events before it

    def see(self, value: Any) -> None:
        for tensor in tensors_in(value):
            storage = tensor.untyped_storage()
            key = storage._cdata
            if key in self._live or not storage.nbytes():
                continue
            self._live.add(key)
            address = self.allocate(storage.nbytes())
            self._events.append((address, storage.nbytes()))
            weakref.finalize(storage, self._gone, key, address)

    def _gone(self, key: int, address: int) -> None:
        self._live.discard(key)
        self._events.append((address, 0))
        self.release(address)

    def mark(self, name: str) -> None:
        self.marks[name] = len(self._events)

    def reserved_in_steps(self, steps: int = 3) -> int:
        """Bytes that the allocator has taken from the driver after some steps. In the first one the optimizer makes its state
        when memory is cut into the step's blocks, so that later ones do not find the same."""
        if "step" not in self.marks:
            return self.reserved
        ends = [self.marks["state"], self.marks["step"], self.marks["optimizer"], len(self._events)]
        held, state, step, last = (self._events[a:b] for a, b in zip([0, *ends], ends))
        allocator = Allocator()
        placed: dict[int, int] = {}

        def go_through(events):
            for address, size in events:
                if size:
                    placed[address] = allocator.allocate(size)
                elif address in placed:
                    allocator.release(placed.pop(address))

        go_through(held)
        for number in range(steps):
            before = set(placed)
            go_through(step)
            if number == 0:
                kept = set(placed)
                go_through(state)
                before |= set(placed) - kept
            go_through(last)
            go_through([(address, 0) for address in placed.keys() - before])
        return allocator.reserved


class _Modules(ModuleTracker):
    """In the backward pass forward functions run where something is computed again: what they make has no gradient to be
    told of, and would stay as long as someone waited for it."""

    def __init__(self):
        super().__init__()
        self.forward = True

    def _fw_pre_hook(self, mod, input):
        super()._fw_pre_hook(mod, input if self.forward else ())

    def _fw_post_hook(self, mod, input, output):
        super()._fw_post_hook(mod, input, output if self.forward else ())


class _Recorder(TorchDispatchMode):
    """Writes down what each operator starts."""

    def __init__(self, memory: _Memory):
        super().__init__()
        self.issued: list[Issued] = []
        self.phase = "forward"
        self.memory = memory
        self.recording = True
        self.aside = False
        self.modules = _Modules()
        self._host_s = 0.0
        self._view_s = HOST_VIEW_S
        self._joins = False

    @classmethod
    def is_infra_mode(cls) -> bool:
        return True  # Dynamo compiles all the same

    @contextlib.contextmanager
    def apart(self) -> Iterator[None]:
        """What is done meanwhile does not count."""
        before, self.aside = self.aside, True
        try:
            yield
        finally:
            self.aside = before

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        if any(issubclass(each, _Shared) for each in types):
            return NotImplemented  # it becomes operators on its own part
        out = func(*args, **(kwargs or {}))
        if self.aside:
            return out
        schema = func._schema
        if func.namespace in ("aten", "kernelcast"):
            name = schema.name.split("::")[1]
            base = base_of(schema)
            self.memory.see(out)
            if has_no_kernel(base, schema):
                self._host_s += self._view_s
            else:
                self._add(name, base, (*args, *(kwargs or {}).values()), out)
        elif "c10d" in func.namespace:
            self._together(schema.name, args, out)
        elif func.namespace not in ("prim", "profiler", "prims"):
            self._add(f"{func.namespace}.{schema.name.split('::')[1]}", "", (*args, *(kwargs or {}).values()), out)
        return out

    def _together(self, name, args, out):
        if name == "_c10d_functional::wait_tensor":
            self._joins = True
            return
        operator = collective_of(name, args, out)
        if operator is None:
            raise KernelcastError(Status.BAD_DATA, f"{name}: no model of NCCL's has its time")
        self.add([operator], beside=True)
        self._joins = name.startswith("c10d::")  # its caller waits

    def _add(self, name, base, args, out):
        if not self.recording or not tensors_in((args, out)):
            return
        made = kernels_of("aten." + name if base else name, base, args, out)
        if base.startswith("recurrent"):  # one call of cuDNN's
            self.add(itertools.islice(made, 1))
            self.add(made, 0.0)
        else:
            self.add(made)

    @contextlib.contextmanager
    def region(self, host_s: float) -> Iterator[None]:
        """A call of code for which the host makes no views by operators; it takes `host_s` as a whole."""
        self._host_s += host_s
        self._view_s = 0.0
        try:
            yield
        finally:
            self._view_s = HOST_VIEW_S

    def join(self) -> None:
        """What comes next waits for what runs beside."""
        self._joins = True

    def add(self, operators: Iterable[Operator], host_s: float = HOST_OPERATOR_S, beside: bool = False) -> None:
        parents = [name for name in self.modules.parents if name != "Global"]
        module = max(parents, key=len, default="")
        module = module.split(".", 1)[1] if "." in module else ""
        for operator in operators:
            self.issued.append(Issued(operator, module, self.phase, host_s + self._host_s, beside, self._joins and not beside))
            self._host_s = 0.0
            self._joins = self._joins and beside


class _Averaged:
    """Gradients of data parallel training, as DistributedDataParallel averages them: copied into buckets of 25 MiB, the first of
    1 MiB, in the order in which they are ready; a full one is reduced beside the backward pass. Source: torch/nn/parallel/distributed.py,
    torch/csrc/distributed/c10d/reducer.cpp."""

    def __init__(self, recorder: _Recorder, parameters: list[torch.nn.Parameter], devices: int):
        self._recorder, self._devices = recorder, devices
        self._held = torch.empty(sum(int(bytes_of(p)) for p in parameters), dtype=torch.uint8)
        recorder.memory.see(self._held)
        self._ready: list[torch.Tensor] = []
        self._limit = 1 << 20
        self._hooks = [p.register_post_accumulate_grad_hook(self._add) for p in parameters]

    def _add(self, parameter):
        self._copy(parameter.grad)
        self._ready.append(parameter.grad)
        if sum(map(bytes_of, self._ready)) >= self._limit:
            self._reduce()

    def _copy(self, gradient):
        self._recorder.add(kernels_of("c10d.bucket", "copy", (gradient, gradient), gradient))

    def _reduce(self):
        size, kind = sum(map(bytes_of, self._ready)), "ncclAllReduce"
        self._recorder.add([collective(kind, size, self._devices)], beside=True)
        self._ready, self._limit = [], 25 << 20

    def end(self, parameters):
        """Of the backward pass."""
        if self._ready:
            self._reduce()
        self._recorder.join()
        for parameter in parameters:
            if parameter.grad is not None:
                self._copy(parameter.grad)
        for hook in self._hooks:
            hook.remove()


# scaled_dot_product_attention as one kernel each way.
_OPERATORS = torch.library.Library("kernelcast", "DEF")
_OPERATORS.define("attention(Tensor q, Tensor k, Tensor v, bool causal) -> Tensor")
_OPERATORS.define("attention_backward(Tensor gradient, Tensor q, Tensor k, Tensor v, bool causal) -> (Tensor, Tensor, Tensor)")


@torch.library.register_fake("kernelcast::attention")
def _attention(q, k, v, causal):
    return q.new_empty((*q.shape[:-1], v.shape[-1]))


@torch.library.register_fake("kernelcast::attention_backward")
def _attention_gradient(gradient, q, k, v, causal):
    return torch.empty_like(q), torch.empty_like(k), torch.empty_like(v)


def _save_for_gradient(ctx, inputs, output):
    ctx.save_for_backward(*inputs[:3], output)
    ctx.causal = inputs[3]


def _gradient_of_attention(ctx, gradient):
    q, k, v, _ = ctx.saved_tensors
    return *torch.ops.kernelcast.attention_backward(gradient, q, k, v, ctx.causal), None


torch.library.register_autograd("kernelcast::attention", _gradient_of_attention, setup_context=_save_for_gradient)


# A recurrent network as cuDNN's; `reserve` is what its gradient needs beside results. Weights are those of all layers, in
# PyTorch's order; there are as many gates as rows of the first one hold hidden states.
_RECURRENT = "Tensor x, Tensor h, Tensor[] weights, int layers, int directions, bool batch_first"
_OPERATORS.define(f"recurrent({_RECURRENT}) -> (Tensor, Tensor, Tensor, Tensor)")
_OPERATORS.define(f"recurrent_backward(Tensor gradient, Tensor reserve, {_RECURRENT}) -> (Tensor, Tensor, Tensor[])")


@torch.library.register_fake("kernelcast::recurrent")
def _recurrent(x, h, weights, layers, directions, batch_first):
    hidden = h.shape[-1]
    gates = weights[0].shape[0] // hidden
    out = x.new_empty((*x.shape[:-1], directions * hidden))
    return out, torch.empty_like(h), torch.empty_like(h), x.new_empty((layers, out.numel(), gates + 1))


@torch.library.register_fake("kernelcast::recurrent_backward")
def _recurrent_gradient(gradient, reserve, x, h, weights, layers, directions, batch_first):
    return torch.empty_like(x), torch.empty_like(h), [torch.empty_like(weight) for weight in weights]


def _save_for_recurrent_gradient(ctx, inputs, output):
    x, h, weights, *ctx.how = inputs
    ctx.save_for_backward(output[3], x, h, *weights)


def _gradient_of_recurrent(ctx, gradient, *_):
    reserve, x, h, *weights = ctx.saved_tensors
    return *torch.ops.kernelcast.recurrent_backward(gradient, reserve, x, h, weights, *ctx.how), None, None, None


torch.library.register_autograd("kernelcast::recurrent", _gradient_of_recurrent, setup_context=_save_for_recurrent_gradient)


def _recurrent_network(has_cells: bool) -> Callable:
    """torch._VF's function of this kind: lstm() has cells beside hidden states."""

    def run(x, state, weights, has_biases, layers, dropout, train, bidirectional, batch_first=None):
        if batch_first is None:
            raise KernelcastError(Status.BAD_DATA, "a recurrent network of packed sequences: their lengths are values of tensors")
        h = state[0] if has_cells else state
        if len(weights) != layers * (1 + bidirectional) * (4 if has_biases else 2):
            raise KernelcastError(Status.BAD_DATA, "an LSTM with proj_size is not known")
        out, h_n, c_n, _ = torch.ops.kernelcast.recurrent(x, h, weights, layers, 1 + bidirectional, batch_first)
        return (out, h_n, c_n) if has_cells else (out, h_n)

    return run


# What autocast computes in float32 on CUDA and not on a CPU.
_FLOAT32 = "layer_norm group_norm softmax log_softmax norm exp log pow cumsum sum prod softplus cosine_similarity".split()


@contextlib.contextmanager
def _as_cuda(recorder: _Recorder, amp: torch.dtype | None) -> Iterator[None]:
    """What PyTorch does otherwise for tensors of a GPU."""

    def sdpa(query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None, enable_gqa=False):
        if amp is not None:
            query, key, value = (tensor.to(amp) for tensor in (query, key, value))
        return torch.ops.kernelcast.attention(query, key, value, is_causal)

    def in_float32(function):
        def wrapped(x, *args, **kwargs):
            if torch.is_autocast_enabled("cpu") and isinstance(x, torch.Tensor) and x.dtype == amp:
                x = x.float()
                args = [a.float() if isinstance(a, torch.Tensor) and a.dtype == amp else a for a in args]
            return function(x, *args, **kwargs)

        return wrapped

    def dropout(input, p=0.5, training=True, inplace=False):
        return torch.native_dropout(input, p, True)[0] if training and p > 0 else input

    def shapes(*args):  # which DTensor finds out by running the operator on the whole
        with recorder.apart():
            return propagate(*args)

    with contextlib.ExitStack() as stack:
        if propagate := getattr(ShardingPropagator, "_propagate_tensor_meta_non_cached", None):
            stack.enter_context(replaced(ShardingPropagator, _propagate_tensor_meta_non_cached=shapes))
        of_kinds = {name: _recurrent_network(name == "lstm") for name in ("lstm", "gru", "rnn_tanh", "rnn_relu")}
        stack.enter_context(replaced(torch._VF, **of_kinds))
        stack.enter_context(replaced(torch.nn.functional, scaled_dot_product_attention=sdpa, dropout=dropout))
        fast = torch.backends.mha.get_fastpath_enabled()
        torch.backends.mha.set_fastpath_enabled(False)
        stack.callback(torch.backends.mha.set_fastpath_enabled, fast)
        if amp is not None:
            for owner in (torch, torch.Tensor):
                known = {name: in_float32(getattr(owner, name)) for name in _FLOAT32 if hasattr(owner, name)}
                stack.enter_context(replaced(owner, **known))
        yield


def _autocast(amp: torch.dtype | None) -> contextlib.AbstractContextManager:
    return contextlib.nullcontext() if amp is None else torch.autocast("cpu", amp)


class _Making(TorchDispatchMode):
    """While a model is made: what asks for the value of a tensor gets 0, as initial values count for nothing."""

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        if func is torch.ops.aten._local_scalar_dense.default:
            return _zero(args[0].dtype)
        return func(*args, **(kwargs or {}))


def _zero(dtype: torch.dtype) -> Any:
    return False if dtype is torch.bool else 0.0 if dtype.is_floating_point else 0


def _copied(otherwise: Callable) -> Callable:
    """copy.deepcopy of tensors without memory, whose storages cannot be copied."""

    def deep_copy(self, memo):
        if not isinstance(self, FakeTensor):
            return otherwise(self, memo)
        if id(self) not in memo:
            memo[id(self)] = self.detach().clone().requires_grad_(self.requires_grad)
        return memo[id(self)]

    return deep_copy


def _dtype(value: str | torch.dtype | None) -> torch.dtype | None:
    if value is None or isinstance(value, torch.dtype):
        return value
    known = {"half": torch.float16, "fp16": torch.float16, "bf16": torch.bfloat16, "fp32": torch.float32}
    found = known.get(value, getattr(torch, value, None))
    if not isinstance(found, torch.dtype):
        raise ValueError(f"dtype={value!r}: expected float32, bfloat16, float16 or float64")
    return found


def _loss_of(out: Any) -> torch.Tensor:
    if hasattr(out, "loss") and isinstance(out.loss, torch.Tensor):
        return out.loss
    tensors = [tensor for tensor in tensors_in(out) if tensor.is_floating_point()]
    if not tensors:
        raise KernelcastError(Status.USAGE, "the model's result has no loss and no floating-point tensor\nhint: give loss=")
    return tensors[0].float().sum()


def _called(model, inputs):
    if isinstance(inputs, dict):
        return model(**inputs)
    return model(*inputs) if isinstance(inputs, (tuple, list)) else model(inputs)


def record(
    model: Any,
    inputs: Any,
    *,
    train: bool = False,
    dtype: str | torch.dtype | None = None,
    amp: str | torch.dtype | None = None,
    loss: Callable[[Any], torch.Tensor] | None = None,
    optimizer: Callable[..., torch.optim.Optimizer] | None = None,
    channels_last: bool = False,
    graph: bool = False,
    compile: bool = False,
    parallel: int = 1,
    title: str | None = None,
) -> Recording:
    """What a forward pass, or with `train` a training step, asks of its GPU.

    `model` and `inputs` (a tensor, a tuple or a dictionary of arguments) are made, or functions that make them: then they
    take no memory. `dtype` is what both are turned into, `amp` the type of torch.autocast. `loss` takes the model's result;
    by default its `loss`, else the sum of its first tensor. `optimizer` takes the parameters: AdamW(foreach=True) unless given.
    `compile`: as torch.compile runs the model (kernelcast.inductor); needs triton. `parallel` devices train it on as many inputs,
    and average gradients as DistributedDataParallel does; other ways are in the model, by torch.distributed with the group "fake".
    """
    if parallel > 1 and not train:
        raise ValueError(f"parallel={parallel}: without train no gradients are averaged")
    dtype, amp = _dtype(dtype), _dtype(amp)
    mode = FakeTensorMode(allow_non_fake_inputs=True)
    memory = _Memory()
    recorder = _Recorder(memory)
    try:
        with mode:
            model, inputs = _faked(mode, model), _faked(mode, inputs)
            if channels_last:
                _change(model, lambda t: t.contiguous(memory_format=torch.channels_last) if t.dim() == 4 else t)
                inputs = tree_map_only(
                    torch.Tensor, lambda t: t.contiguous(memory_format=torch.channels_last) if t.dim() == 4 else t, inputs
                )
            if dtype is not None:
                _change(model, lambda t: t.to(dtype) if t.is_floating_point() else t)
                inputs = tree_map_only(torch.Tensor, lambda t: t.to(dtype) if t.is_floating_point() else t, inputs)
            model.train(train)
            call = _compiled(model, recorder) if compile else model
            parameters = [p for p in model.parameters() if p.requires_grad]
            modules = contextlib.nullcontext() if compile else recorder.modules
            with recorder:
                memory.see([list(model.parameters()), list(model.buffers()), inputs])
            held = memory.allocated
            if train:
                stepping = (optimizer or _adamw)(parameters)
                _step(recorder, modules, call, inputs, loss, stepping, amp, parallel)
            else:
                with torch.no_grad(), recorder, modules, _as_cuda(recorder, amp), _autocast(amp):
                    _called(call, inputs)
            gradients = sum(bytes_of(p.grad) for p in parameters if p.grad is not None)
            states = sum(bytes_of(list(state.values())) for state in stepping.state.values()) if train else 0
    except (DataDependentOutputException, DynamicOutputShapeException) as error:
        raise KernelcastError(
            Status.BAD_DATA,
            f"what the model does depends on the values of its tensors: {error.func}\n"
            "hint: tensors have sizes and no values here; give the model without that branch, or of a language model its "
            "config to kernelcast.llm",
        ) from None
    except RuntimeError as error:  # Dynamo's
        if not compile:
            raise
        raise KernelcastError(
            Status.UNAVAILABLE,
            f"PyTorch {torch.__version__} does not compile this for a GPU that is not there: {str(error).strip().splitlines()[0]}\n"
            "hint: PyTorch 2.15 is known to; kernelcast choose -- python script.py runs the compiled model on the emulator",
        ) from error
    return Recording(
        issued=recorder.issued,
        memory_bytes={
            "parameters and inputs": int(held),
            "gradients": int(gradients),
            "optimizer": int(states),
            "activations": int(max(0, memory.peak - held - gradients - states)),
            "peak": int(memory.peak),
            "reserved": int(memory.reserved_in_steps()),
        },
        graph=graph,
        title=title or type(model).__name__,
    )


def _change(model: torch.nn.Module, change: Callable[[torch.Tensor], torch.Tensor]) -> None:
    """Puts other parameters and buffers in place, which model.to() does not do for tensors without memory. What several
    modules share stays shared."""
    made: dict[int, torch.nn.Parameter] = {}
    for module in model.modules():
        for name, old in list(module._parameters.items()):
            if old is not None:
                if id(old) not in made:
                    made[id(old)] = torch.nn.Parameter(change(old.detach()), old.requires_grad)
                module._parameters[name] = made[id(old)]
        for name, buffer in list(module._buffers.items()):
            if buffer is not None:
                module._buffers[name] = change(buffer)


def _compiled(model, recorder):
    try:
        from .inductor import compiled
    except ImportError as error:
        raise KernelcastError(Status.UNAVAILABLE, f"{error}\nhint: python -m pip install triton") from None
    return compiled(model, recorder)


def _adamw(parameters):
    return torch.optim.AdamW(parameters, foreach=True)


def _step(recorder, modules, model, inputs, loss, optimizer, amp, parallel):
    parameters = [p for group in optimizer.param_groups for p in group["params"]]
    recorder.recording = False
    recorder.memory.mark("state")
    with recorder:  # the optimizer makes its state in the first step
        for parameter in parameters:
            parameter.grad = torch.empty_like(parameter)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
    recorder.recording = True
    averaged = _Averaged(recorder, parameters, parallel) if parallel > 1 else None
    recorder.memory.mark("step")
    with recorder, modules:
        recorder.phase = "forward"
        with _as_cuda(recorder, amp):  # what is computed again (torch.utils.checkpoint) is in the backward pass
            with _autocast(amp):
                value = (loss or _loss_of)(_called(model, inputs))
            recorder.phase = "backward"
            recorder.modules.forward = False
            value.backward()
        if averaged:
            averaged.end(parameters)
        del value
        recorder.phase = "optimizer"
        recorder.memory.mark("optimizer")
        optimizer.step()


def _faked(mode: FakeTensorMode, value: Any) -> Any:
    """Without memory: made by a function in that mode, or a copy of what is there."""
    if callable(value) and not isinstance(value, torch.nn.Module):
        with _Making(), replaced(torch.Tensor, __deepcopy__=_copied(torch.Tensor.__deepcopy__)):
            return value()
    if isinstance(value, torch.nn.Module):
        if any(isinstance(p, FakeTensor) for p in value.parameters()):
            return value
        with FakeCopyMode(mode):
            return copy.deepcopy(value)
    return tree_map_only(torch.Tensor, lambda t: t if hasattr(t, "fake_mode") else mode.from_tensor(t), value)


def project(
    model: Any,
    inputs: Any,
    devices: str | Iterable[str] | None = None,
    *,
    host: str | float = "measured",
    system: str | None = None,
    options: Iterable[str] = (),
    **how: Any,
) -> Answer:
    """Ranks devices for a model: record() says what describes it, Recording.project() the rest. `system`: what links several."""
    links = ("--system", system) if system else ()
    return record(model, inputs, **how).project(devices, host=host, options=[*options, *links])


def _function_named(text: str) -> Callable:
    path, _, name = text.rpartition(":")
    if not path or not name:
        raise KernelcastError(Status.USAGE, f"'{text}' is no script and function\nhint: script.py:make_model")
    if path.endswith(".py"):
        if not Path(path).is_file():
            raise KernelcastError(Status.IO, f"{path}: no such file")
        spec = importlib.util.spec_from_file_location(Path(path).stem, path)
        module = importlib.util.module_from_spec(spec)
        sys.path.insert(0, str(Path(path).absolute().parent))
        spec.loader.exec_module(module)
    else:
        module = importlib.import_module(path)
    if not hasattr(module, name):
        raise KernelcastError(Status.USAGE, f"{path} has no function {name}")
    return getattr(module, name)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m kernelcast.torch",
        description="Writes the rows of a PyTorch model, for perfcast and rank, without a GPU; without -o says which device "
        "runs it fastest, as kernelcast choose does.",
    )
    parser.add_argument("function", metavar="SCRIPT:FUNCTION", help="returns the model and its inputs; a file or a module")
    parser.add_argument("--train", action="store_true", help="a training step: forward, loss, backward, optimizer")
    parser.add_argument("--dtype", help="what model and inputs are turned into: float32, bfloat16, float16")
    parser.add_argument("--amp", metavar="DTYPE", help="torch.autocast in this type")
    parser.add_argument("--channels-last", action="store_true", help="images with their channels innermost")
    parser.add_argument("--compile", action="store_true", help="as torch.compile runs it: kernels that Inductor writes")
    parser.add_argument("--parallel", type=int, default=1, metavar="GPUS", help="that average their gradients; --system links them")
    parser.add_argument("--graph", action="store_true", help="the whole as one CUDA graph: the host launches it once")
    parser.add_argument("-o", "--output", metavar="FILE", help="the record kernel")
    parser.add_argument("--commands", metavar="FILE", help="the record command")
    return parser


def main(arguments: list[str] | None = None) -> int:
    parser = _parser()
    options, others = parser.parse_known_args(arguments)
    try:
        function = _function_named(options.function)
        made: dict[str, Any] = {}

        def model():
            made["model"], made["inputs"] = function()
            return made["model"]

        recording = record(
            model, lambda: made["inputs"], train=options.train, dtype=options.dtype, amp=options.amp,
            channels_last=options.channels_last, graph=options.graph, compile=options.compile,
            parallel=options.parallel, title=options.function.rpartition(":")[2],
        )  # fmt: skip
        if options.output:
            if others:
                parser.error(f"unrecognized arguments: {' '.join(others)}")
            recording.write(options.output, options.commands)
        else:
            print(recording.project(options=others), end="")
    except KernelcastError as error:
        print(f"kernelcast.torch: error: {error.message}", file=sys.stderr)
        return int(error.status)
    return 0


if __name__ == "__main__":
    sys.exit(main())
