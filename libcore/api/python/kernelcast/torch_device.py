"""PyTorch on the emulator's device: its own kernels are machine code, so what they would do the CPU does, and the kernels
that it would have started have rows of libraries (kernelcast.aten). Kernels of Triton, of extensions and of
torch.compile run on the emulator as they are.

Method: in PyTorch's dispatcher a function of this module takes the place of each kernel of CUDA (start/sitecustomize.py
sees to it). Device addresses of the emulator are host addresses: it calls the CPU's kernel with tensors that lie in the
same memory, so that what is changed in place is changed there, and nothing is copied that a GPU would not copy.
Operators without a kernel, and copies that are one of the driver's, are PyTorch's own.

Limits: random numbers are those of the CPU's generator. Recurrent layers of cuDNN and layouts other than strided are
refused.
"""

from __future__ import annotations

import ctypes
import functools
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils._pytree import tree_flatten, tree_map, tree_unflatten

from .aten import base_of, has_no_kernel, kernels_of, tensors_in

__all__ = ["start"]

_aten = torch.ops.aten


class _Area(ctypes.Structure):
    _fields_ = [("begin", ctypes.c_void_p), ("bytes", ctypes.c_uint64), ("written", ctypes.c_int)]


_Work = ctypes.CFUNCTYPE(None)
_NO_WORK = _Work()


class _Emulator:
    """The functions of runtimes/cudart/api/operators.cpp."""

    def __init__(self):
        library = ctypes.CDLL("libkernelcast-cuda.so")
        self.begin, self.end = library.kernelcast_operators_begin, library.kernelcast_operators_end
        self._touch, self._add = library.kernelcast_operators_touch, library.kernelcast_operators_add
        self.fill = library.kernelcast_operators_fill
        self.fill.argtypes = [ctypes.c_void_p, ctypes.c_uint64, ctypes.c_int]
        self._copy, self._wait = library.cudaMemcpyAsync, library.cudaStreamSynchronize
        self._copy.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_void_p]
        self._wait.argtypes = [ctypes.c_void_p]
        self._touch.argtypes = [ctypes.POINTER(_Area), ctypes.c_size_t]
        self._add.argtypes = [
            ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_double, ctypes.c_uint64,
            ctypes.c_uint64, ctypes.POINTER(_Area), ctypes.c_size_t, _Work,
        ]  # fmt: skip

    def touch(self, areas: ctypes.Array[_Area], name: str) -> None:
        if self._touch(areas, len(areas)):
            raise RuntimeError(f"{name}: a tensor does not lie in the memory of the emulator's device")

    def copy(self, to: torch.Tensor, of: torch.Tensor, non_blocking: bool = False) -> torch.Tensor:
        """As PyTorch copies between tensors whose bytes are the same."""
        size = of.numel() * of.element_size()
        if size:
            stream = torch._C._cuda_getCurrentRawStream((to if to.is_cuda else of).device.index)
            code = self._copy(to.data_ptr(), of.data_ptr(), size, 4, stream)
            if not code and not non_blocking and not (to.is_cuda and of.is_cuda):
                code = self._wait(stream)
            if code:
                torch.cuda.check_error(code)
        return to

    def add(self, operator, areas: ctypes.Array[_Area], work: Any = _NO_WORK) -> None:
        stream = torch._C._cuda_getCurrentRawStream(torch.cuda.current_device())
        sizes = operator.library.split(":", 2)[-1]
        self._add(stream, operator.kernel.encode(), sizes.encode(), operator.library.encode(), operator.flop,
                  int(operator.read_bytes), int(operator.written_bytes), areas, len(areas), work)  # fmt: skip


def _device_of(args: Any, kwargs: Any) -> torch.device:
    """Where an operator runs: where it is told to make something, else where its first tensor of a GPU is."""
    given = kwargs.get("device")
    if given is not None and torch.device(given).type == "cuda":
        return torch.device(given)
    return next((t.device for t in tensors_in((args, kwargs)) if t.is_cuda), torch.device("cuda"))


def _is_dense(tensor: torch.Tensor) -> bool:
    """Whether its elements lie side by side, in whatever order, each once."""
    expected = 1
    for stride, side in sorted((stride, side) for stride, side in zip(tensor.stride(), tensor.shape) if side != 1):
        if stride != expected:
            return tensor.numel() == 0
        expected *= side
    return True


def _dense_alike(a: torch.Tensor, b: torch.Tensor) -> bool:
    """Whether one copy of bytes makes one the other."""
    return (
        a.dtype == b.dtype
        and a.shape == b.shape
        and (a.stride() == b.stride() or (a.is_contiguous() and b.is_contiguous()))
        and _is_dense(a)
        and a.is_conj() == b.is_conj()
        and a.is_neg() == b.is_neg()
    )


class _Aliases:
    """Tensors of the CPU in the memory of the device's, for one operator."""

    def __init__(self):
        self.of: dict[int, torch.Tensor] = {}  # by the id of an alias: its tensor
        self._made: dict[int, torch.Tensor] = {}  # the other way round
        self.areas: dict[int, tuple[int, bool]] = {}  # by address: bytes, and whether it is written

    def see(self, tensor: torch.Tensor, written: bool) -> None:
        storage = tensor.untyped_storage()
        if storage.nbytes():
            _, before = self.areas.get(storage.data_ptr(), (0, False))
            self.areas[storage.data_ptr()] = storage.nbytes(), before or written

    def make(self, tensor: torch.Tensor, written: bool) -> torch.Tensor:
        self.see(tensor, written)
        if id(tensor) not in self._made:
            alias = _in_memory_of(tensor)
            self._made[id(tensor)] = alias
            self.of[id(alias)] = tensor
        return self._made[id(tensor)]

    def array(self) -> ctypes.Array[_Area]:
        return (_Area * len(self.areas))(*(_Area(at, size, written) for at, (size, written) in self.areas.items()))


def _on_cpu(func, args, kwargs, aliases: _Aliases):
    """The arguments with aliases in place of the device's tensors, and those for results that have no memory yet."""
    grown = []

    def of_cpu(value, written):
        if isinstance(value, torch.Tensor):
            if not value.is_cuda:
                return value
            if written and value.numel() == 0:
                alias = torch.empty(0, dtype=value.dtype)
                aliases.of[id(alias)] = value
                grown.append((alias, value))
                return alias
            return aliases.make(value, written)
        if isinstance(value, torch.device):
            return torch.device("cpu") if value.type == "cuda" else value
        if isinstance(value, (list, tuple)):
            return type(value)(of_cpu(item, written) for item in value)
        return value

    writes = {p.name: p.alias_info is not None and p.alias_info.is_write for p in func._schema.arguments}
    on_cpu = [of_cpu(value, is_write) for value, is_write in zip(args, writes.values())]
    named = {key: of_cpu(value, writes[key]) for key, value in kwargs.items()}
    if "pin_memory" in named:
        named["pin_memory"] = None
    return on_cpu, named, grown


def _in_memory_of(tensor: torch.Tensor) -> torch.Tensor:
    if tensor.layout is not torch.strided or tensor.is_quantized:
        raise NotImplementedError(f"kernelcast: tensors of layout {tensor.layout} are not on the emulator; use strided ones")
    storage = tensor.untyped_storage()
    size = storage.nbytes()
    if not size:
        return torch.empty_strided(tensor.size(), tensor.stride(), dtype=tensor.dtype)
    data = torch.frombuffer((ctypes.c_char * size).from_address(storage.data_ptr()), dtype=torch.uint8)
    alias = torch.empty(0, dtype=tensor.dtype)
    alias.set_(data.untyped_storage(), tensor.storage_offset(), tensor.size(), tensor.stride())
    if tensor.is_conj():
        alias = torch._conj(alias)
    return torch._neg_view(alias) if tensor.is_neg() else alias


class _Random:
    """A generator of the CPU for one of the device: it begins anew where that one does."""

    def __init__(self, of: torch.Generator):
        self.of, self.generator = of, torch.Generator()
        self._begun: tuple[int, int] | None = None

    def __enter__(self) -> torch.Generator:
        state = self.of.initial_seed(), self.of.get_offset()
        if state != self._begun:
            self.generator.manual_seed((state[0] + 0x9E3779B97F4A7C15 * state[1]) % 2**63)
        return self.generator

    def __exit__(self, *_) -> None:
        self.of.set_offset(self.of.get_offset() + 4)
        self._begun = self.of.initial_seed(), self.of.get_offset()


class _Device:
    def __init__(self, emulator: _Emulator):
        self._emulator = emulator
        self._random: dict[int, _Random] = {}
        self._captures: list[Any] = []  # that graphs call
        self._types: dict[Any, list[torch.dtype | None]] = {}
        self._strides: dict[Any, list[tuple[int, ...] | None]] = {}

    def compute(self, func, args, kwargs, layouts=None):
        """On the CPU, in the device's memory. `layouts`: the strides of what it returns, flat."""
        self._emulator.begin()
        try:
            with torch.cuda.device(_device_of(args, kwargs)):
                captured = torch.cuda.is_current_stream_capturing()
                return (self._captured if captured else self._compute)(func, args, kwargs, layouts)
        finally:
            self._emulator.end()

    def _add(self, func, args, results, aliases, work=_NO_WORK):
        """The kernels that PyTorch would have started; of a captured operator the first one does the work."""
        name = func._schema.name.split("::")[1]
        if tensors_in((args, results)):
            areas = aliases.array()
            for operator in kernels_of("aten." + name, base_of(func._schema), args, results):
                self._emulator.add(operator, areas, work)
                work = _NO_WORK

    def convolution(self, func, *args):
        return self.compute(func, args, {}, self._layouts(func, args, {}))

    def _layouts(self, func, args, kwargs):
        """The strides that PyTorch gives to what this returns on a GPU, flat; what torch.compile makes relies on them."""
        key = func, *(
            (leaf.shape, leaf.stride(), leaf.dtype) if isinstance(leaf, torch.Tensor) else leaf
            for leaf in tree_flatten((args, kwargs))[0]
        )  # fmt: skip
        if key not in self._strides:
            made = self._without_values(func, args, kwargs)[1]
            self._strides[key] = [value.stride() if isinstance(value, torch.Tensor) else None for value in made]
        return self._strides[key]

    def _without_values(self, func, args, kwargs):
        """Tensors by the ids of those without values that stand for them, and what the function returns, flat, and how."""
        known = {}
        with FakeTensorMode(allow_non_fake_inputs=True) as mode:

            def without(leaf):
                if not isinstance(leaf, torch.Tensor):
                    return leaf
                fake = mode.from_tensor(leaf)
                known[id(fake)] = leaf
                kept.append(fake)
                return fake

            kept: list[torch.Tensor] = []  # whose ids are not to be another's
            made, shape = tree_flatten(func(*tree_map(without, args), **tree_map(without, kwargs)))
        kept += made
        return known, made, shape

    def _compute(self, func, args, kwargs, layouts):
        aliases = _Aliases()
        on_cpu, named, grown = _on_cpu(func, args, kwargs, aliases)
        self._emulator.touch(aliases.array(), str(func))
        out = self._called(func, on_cpu, named)
        for alias, tensor in grown:
            if alias.numel():
                tensor.resize_(alias.shape)
                aliases.make(tensor, True).copy_(alias)
        flat, shape = tree_flatten(out)
        layouts = layouts or [None] * len(flat)
        results = tree_unflatten([self._on_device(v, aliases, s) for v, s in zip(flat, layouts)], shape)
        self._add(func, (*args, *kwargs.values()), results, aliases)
        return results

    def _captured(self, func, args, kwargs, layouts):
        """Into a graph: its results have memory now, and contents each time that the graph runs."""
        known, made, shape = self._without_values(func, args, kwargs)
        layouts = layouts or [None] * len(made)
        results, fresh = [], []
        for at, (value, layout) in enumerate(zip(made, layouts)):
            if isinstance(value, torch.Tensor) and id(value) not in known:
                results.append(torch.empty_strided(value.shape, layout or value.stride(), dtype=value.dtype, device="cuda"))
                fresh.append((at, results[-1]))
            else:
                results.append(known.get(id(value), value))
        aliases = _Aliases()
        on_cpu, named, _ = _on_cpu(func, args, kwargs, aliases)
        to = [(at, aliases.make(result, True)) for at, result in fresh]

        def work():
            out = tree_flatten(self._called(func, list(on_cpu), dict(named)))[0]
            for at, result in to:
                result.copy_(out[at])

        self._captures.append(_Work(work))
        results = tree_unflatten(results, shape)
        self._add(func, (*args, *kwargs.values()), results, aliases, self._captures[-1])
        return results

    def _called(self, func, args, kwargs):
        where = [p.name for p in func._schema.arguments]
        if "generator" in where:
            at = where.index("generator")
            given = args[at] if at < len(args) else kwargs.get("generator")
            if given is None:
                given = torch.cuda.default_generators[torch.cuda.current_device()]
            if given.device.type == "cuda":
                random = self._random.setdefault(id(given), _Random(given))
                with random as generator:
                    if at < len(args):
                        args[at] = generator
                    else:
                        kwargs["generator"] = generator
                    return self._in_some_precision(func, args, kwargs)
        return self._in_some_precision(func, args, kwargs)

    def _in_some_precision(self, func, args, kwargs):
        """Types of 16 bits and fewer in float32, rounded once at the end, as CUDA's kernels do and the CPU's do not all."""
        leaves, shape = tree_flatten((args, kwargs))
        wide, narrow = [], {}
        for leaf in leaves:
            few = isinstance(leaf, torch.Tensor) and leaf.dtype in _NARROW
            wide.append(leaf.float() if few else leaf)
            if few:
                narrow[id(wide[-1])] = leaf
        if not narrow or func.overloadpacket in _MOVING:
            return func(*args, **kwargs)
        types = self._result_types(func, leaves, shape, next(iter(narrow.values())).dtype)
        args, kwargs = tree_unflatten(wide, shape)
        for at, parameter in enumerate(func._schema.arguments):
            if parameter.name == "half_to_float" and at < len(args):
                args[at] = False
        out, results = tree_flatten(func(*args, **kwargs))
        given = {**dict(zip((p.name for p in func._schema.arguments), args)), **kwargs}
        for parameter in func._schema.arguments:
            if parameter.alias_info is None or not parameter.alias_info.is_write:
                continue
            for made in tensors_in(given.get(parameter.name)):
                if id(made) in narrow:
                    narrow[id(made)].resize_(made.shape).copy_(made)
        for at, value in enumerate(out):
            if isinstance(value, torch.Tensor):
                out[at] = narrow[id(value)] if id(value) in narrow else value.to(types[at] if types else value.dtype)
        return tree_unflatten(out, results)

    def _result_types(self, func, leaves, shape, narrow):
        """Of what the function returns, flat: as PyTorch's own rules for tensors without a device have it."""
        key = func, *(
            leaf.dtype if isinstance(leaf, torch.Tensor) else leaf if isinstance(leaf, (bool, torch.dtype)) else type(leaf)
            for leaf in leaves
        )  # fmt: skip
        if key not in self._types:
            try:
                without = [
                    torch.empty_strided(leaf.size(), leaf.stride(), dtype=leaf.dtype, device="meta")
                    if isinstance(leaf, torch.Tensor)
                    else torch.device("meta") if isinstance(leaf, torch.device)
                    else None if isinstance(leaf, torch.Generator) else leaf
                    for leaf in leaves
                ]  # fmt: skip
                args, kwargs = tree_unflatten(without, shape)
                made = tree_flatten(func(*args, **kwargs))[0]
                self._types[key] = [value.dtype if isinstance(value, torch.Tensor) else None for value in made]
            except (RuntimeError, NotImplementedError):
                self._types[key] = [narrow] * len(func._schema.returns)
        return self._types[key]

    def _on_device(self, value, aliases, layout=None):
        if not isinstance(value, torch.Tensor):
            return value
        if id(value) in aliases.of:
            return aliases.of[id(value)]
        if value.layout is not torch.strided:
            raise NotImplementedError(f"kernelcast: tensors of layout {value.layout} are not on the emulator")
        if layout is not None and len(layout) == value.dim() and layout != value.stride():
            value = torch.empty_strided(value.shape, layout, dtype=value.dtype).copy_(value)
        if not _is_dense(value):
            value = value.contiguous()
        value = value.resolve_conj().resolve_neg()
        out = torch.empty_strided(value.size(), value.stride(), dtype=value.dtype, device="cuda")
        size = value.numel() * value.element_size()
        if size:
            aliases.see(out, True)
            self._emulator.touch((_Area * 1)(_Area(out.untyped_storage().data_ptr(), size, 1)), "a result")
            ctypes.memmove(out.data_ptr(), value.data_ptr(), size)
        return out

    # ------------------------------------------------------------ copies

    def copy(self, func, to, of, non_blocking=False):
        if _dense_alike(to, of):
            return self._emulator.copy(to, of, non_blocking)
        if to.is_cuda and of.is_cuda:
            return self.compute(func, (to, of), {})
        if to.is_cuda:  # the host converts
            host = torch.empty(to.shape, dtype=to.dtype, pin_memory=of.is_pinned())
            host.copy_(of)
            if to.is_contiguous():
                return self._emulator.copy(to, host, non_blocking)
            staged = torch.empty(to.shape, dtype=to.dtype, device=to.device)
            self._emulator.copy(staged, host, non_blocking)
            return self.compute(func, (to, staged), {})
        staged = torch.empty(of.shape, dtype=to.dtype, device=of.device)  # the device does
        self.copy(func, staged, of)
        if to.is_contiguous() and to.shape == of.shape:
            return self._emulator.copy(to, staged, non_blocking)
        host = torch.empty(of.shape, dtype=to.dtype)
        self._emulator.copy(host, staged)
        to.copy_(host)
        return to

    def to_copy(self, func, x, *, dtype=None, layout=None, device=None, pin_memory=None, non_blocking=False, memory_format=None):
        out = torch.empty_like(
            x, dtype=dtype, layout=layout, device=device, pin_memory=pin_memory,
            memory_format=memory_format or torch.preserve_format,
        )  # fmt: skip
        return self.copy(_aten.copy_.default, out, x, non_blocking)

    def clone(self, func, x, *, memory_format=None):
        out = torch.empty_like(x, memory_format=memory_format or torch.preserve_format)
        return self.copy(_aten.copy_.default, out, x)

    def fill(self, func, x, value=0):
        """By the emulator, which does it when something reads it, where all bytes are the same."""
        other = isinstance(value, torch.Tensor) or value != 0 or not _is_dense(x) or x.numel() == 0
        if other or torch.cuda.is_current_stream_capturing():
            return self.compute(func, (x,) if func is _aten.zero_.default else (x, value), {})
        self._emulator.begin()
        try:
            if self._emulator.fill(x.data_ptr(), x.numel() * x.element_size(), 0):
                raise RuntimeError(f"{func}: a tensor does not lie in the memory of the emulator's device")
            aliases = _Aliases()
            aliases.see(x, True)
            with torch.cuda.device(x.device):
                self._add(func, (x, value), x, aliases)
        finally:
            self._emulator.end()
        return x

    # ------------------------------------------------------------ attention

    def flash_attention(self, func, q, k, v, dropout_p=0.0, is_causal=False, return_debug_mask=False, *, scale=None):
        layouts = self._layouts(func, (q, k, v, dropout_p, is_causal), {"scale": scale})
        out, sums = self._attention(q, k, v, None, dropout_p, is_causal, scale, layouts)
        nothing = torch.empty((), dtype=torch.int64, device="cpu")
        return out, sums, None, None, q.shape[2], k.shape[2], nothing, nothing, torch.empty(0, dtype=q.dtype, device="cuda")

    def efficient_attention(self, func, q, k, v, bias, with_sums, dropout_p=0.0, is_causal=False, *, scale=None):
        layouts = self._layouts(func, (q, k, v, bias, with_sums, dropout_p, is_causal), {"scale": scale})
        out, sums = self._attention(q, k, v, bias, dropout_p, is_causal, scale, layouts)
        # In rows of a multiple of 32, or none.
        padded = torch.empty((*sums.shape[:2], -(-sums.shape[2] // 32) * 32 if with_sums else 0), dtype=sums.dtype, device="cuda")
        if with_sums:
            padded[..., : sums.shape[2]] = sums
        nothing = torch.empty((), dtype=torch.int64, device="cpu")
        return out, padded, nothing, nothing

    def _attention(self, q, k, v, bias, dropout_p, is_causal, scale, layouts):
        if dropout_p > 0:
            raise NotImplementedError("kernelcast: attention with dropout; torch.nn.attention.sdpa_kernel(SDPBackend.MATH) has it")
        op = _aten._scaled_dot_product_flash_attention_for_cpu.default
        return self.compute(op, (q, k, v, 0.0, is_causal), {"attn_mask": bias, "scale": scale}, [layouts[0], None])

    def flash_attention_backward(
        self, func, gradient, q, k, v, out, sums, starts_q, starts_k, max_q, max_k, dropout_p, is_causal, seed, offset, *, scale=None
    ):
        given = (gradient, q, k, v, out, sums, starts_q, starts_k, max_q, max_k, dropout_p, is_causal, seed, offset)
        layouts = self._layouts(func, given, {"scale": scale})
        return self._attention_backward(gradient, q, k, v, out, sums, None, is_causal, scale, layouts)

    def efficient_attention_backward(
        self, func, gradient, q, k, v, bias, out, sums, seed, offset, dropout_p, mask, is_causal=False, *, scale=None
    ):
        if mask[3]:
            raise NotImplementedError("kernelcast: the gradient of attention's mask; sdpa_kernel(SDPBackend.MATH) has it")
        given = (gradient, q, k, v, bias, out, sums, seed, offset, dropout_p, mask, is_causal)
        layouts = self._layouts(func, given, {"scale": scale})
        sums = sums[..., : q.shape[2]].contiguous()
        return *self._attention_backward(gradient, q, k, v, out, sums, bias, is_causal, scale, layouts), None

    def _attention_backward(self, gradient, q, k, v, out, sums, bias, is_causal, scale, layouts):
        op = _aten._scaled_dot_product_flash_attention_for_cpu_backward.default
        given = (gradient, q, k, v, out, sums, 0.0, is_causal)
        return self.compute(op, given, {"attn_mask": bias, "scale": scale}, layouts[:3])

    # ------------------------------------------------------------ cuDNN

    def batch_norm(self, func, x, weight, bias, mean, variance, training, momentum, epsilon):
        op = _aten.native_batch_norm.default
        out = self.compute(op, (x, weight, bias, mean, variance, training, momentum, epsilon), {}, [x.stride(), None, None])
        return *out, torch.empty(0, dtype=torch.uint8, device="cuda")

    def batch_norm_backward(self, func, x, gradient, weight, mean, variance, saved_mean, saved_variance, epsilon, reserve):
        given = (gradient, x, weight, mean, variance, saved_mean, saved_variance, True, epsilon, [True, True, True])
        return self.compute(_aten.native_batch_norm_backward.default, given, {}, [x.stride(), None, None])

    def without_cudnn(self, func, *args, **kwargs):
        raise NotImplementedError(f"kernelcast: {func} is cuDNN's; with torch.backends.cudnn.enabled = False it is PyTorch's")


_HANDLERS = {
    _aten.copy_.default: _Device.copy,
    _aten._to_copy.default: _Device.to_copy,
    _aten.clone.default: _Device.clone,
    _aten.zero_.default: _Device.fill,
    _aten.fill_.Scalar: _Device.fill,
    _aten._scaled_dot_product_flash_attention.default: _Device.flash_attention,
    _aten._scaled_dot_product_flash_attention_backward.default: _Device.flash_attention_backward,
    _aten._scaled_dot_product_efficient_attention.default: _Device.efficient_attention,
    _aten._scaled_dot_product_efficient_attention_backward.default: _Device.efficient_attention_backward,
    _aten.convolution.default: _Device.convolution,
    _aten.convolution_backward.default: _Device.convolution,
    _aten.cudnn_batch_norm.default: _Device.batch_norm,
    _aten.cudnn_batch_norm_backward.default: _Device.batch_norm_backward,
    _aten._cudnn_rnn.default: _Device.without_cudnn,
}
# Which are made of other operators, but one kernel each on a GPU.
_WHOLE = (_aten.embedding.default,)


_NARROW = frozenset((torch.float16, torch.bfloat16))
# Whose results are bits of their arguments.
_MOVING = frozenset(
    getattr(_aten, name)
    for name in "cat copy_ clone index index_select index_put_ _index_put_impl_ gather scatter where flip roll masked_select "
    "masked_fill_ masked_fill constant_pad_nd embedding tril triu take repeat_interleave nonzero fill_ zero_".split()
    if hasattr(_aten, name)
)


def _operators() -> Iterator[Any]:
    """Those with kernels of CUDA, and of composed ones those that are one here."""
    names = torch._C._dispatch_get_registrations_for_dispatch_key("CUDA")
    for name in names:
        namespace, _, rest = name.partition("::")
        if namespace != "aten":
            continue
        base, _, overload = rest.partition(".")
        func = getattr(getattr(_aten, base, None), overload or "default", None)
        if func is None or func in _HANDLERS or func in _WHOLE:
            continue
        if not has_no_kernel(base_of(func._schema), func._schema):
            yield func
    yield from _HANDLERS
    yield from _WHOLE


def _kernel(device: _Device, func: Any) -> Callable:
    handler = _HANDLERS.get(func)
    if handler:
        return functools.partial(handler, device, func)
    return lambda *args, **kwargs: device.compute(func, args, kwargs)


_library: torch.library.Library | None = None  # lasts as long as the process


def start() -> None:
    """In this process, once; without the emulator's library, or for a torch without CUDA, nothing happens."""
    global _library
    if _library is not None or torch.version.cuda is None:
        return
    try:
        device = _Device(_Emulator())
    except (OSError, AttributeError):
        return
    _library = torch.library.Library("aten", "IMPL", "CUDA")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that they are overridden
        for func in _operators():
            _library.impl(func, _kernel(device, func), allow_override=True)
    torch.backends.cuda.enable_cudnn_sdp(False)
