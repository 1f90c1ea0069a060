"""What PyTorch's operators start on a GPU: kernels of its libraries, from an operator's arguments and its result.

kernelcast.torch records the operators. Source: ATen's own choices as its CUDA sources make them; what each kernel reaches
is devdb/libraries.csv's. An operator that is not listed here goes through its tensors once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import torch
from torch.utils._pytree import tree_flatten

from .operators import Operator, attention, collective, named, product

_KINDS = {
    torch.float32: "f32",
    torch.float64: "f64",
    torch.float16: "f16",
    torch.bfloat16: "bf16",
    torch.int8: "i8",
    torch.uint8: "i8",
    torch.bool: "i8",
    torch.int16: "i16",
    torch.int32: "i32",
    torch.int64: "i64",
    torch.float8_e4m3fn: "f8",
    torch.float8_e5m2: "f8",
}


def kind_of(tensor: torch.Tensor, tensor_float: bool = False) -> str:
    """The type as devdb/libraries.csv calls it; of float32 TensorFloat-32 where that is allowed."""
    kind = _KINDS.get(tensor.dtype, "f32")
    return "tf32" if kind == "f32" and tensor_float else kind


def bytes_of(value: Any) -> float:
    """Distinct ones of the tensors in it: what is repeated by a stride of 0 counts once."""
    total = 0.0
    for tensor in tree_flatten(value)[0]:
        if isinstance(tensor, torch.Tensor):
            sides = (side for side, stride in zip(tensor.shape, tensor.stride()) if stride != 0)
            total += math.prod(sides) * tensor.element_size()
    return total


def tensors_in(value: Any) -> list[torch.Tensor]:
    return [leaf for leaf in tree_flatten(value)[0] if isinstance(leaf, torch.Tensor)]


def _last(tensor: torch.Tensor) -> tuple[int, int]:
    """Rows and the numbers of one."""
    columns = tensor.shape[-1] if tensor.dim() else 1
    return (tensor.numel() // columns if columns else 0), columns


# Handlers: what PyTorch starts on a GPU for an operator, from its arguments and its result.


def _mm(name, args, out):
    a, b = args[:2]
    yield product(name, kind_of(a, torch.backends.cuda.matmul.allow_tf32), a.shape[0], b.shape[1], a.shape[1], width=a.element_size())


def _addmm(name, args, out):
    yield from _mm(name, args[1:3], out)


def _bmm(name, args, out):
    a, b = args[:2]
    yield product(
        name, kind_of(a, torch.backends.cuda.matmul.allow_tf32), a.shape[1], b.shape[2], a.shape[2], a.shape[0], width=a.element_size()
    )


def _baddbmm(name, args, out):
    yield from _bmm(name, args[1:3], out)


def _linear(name, args, out):
    a, weight = args[:2]
    rows, columns = _last(a)
    yield product(name, kind_of(a, torch.backends.cuda.matmul.allow_tf32), rows, weight.shape[0], columns, width=a.element_size())


def _moving(operation: str, name: str, read: Any, written: Any, sizes: Iterable[int] | None = None, flop: float = 0):
    like = next(iter(tensors_in(read) + tensors_in(written)))
    written_tensors = tensors_in(written)
    count = max((t.numel() for t in written_tensors + tensors_in(read)), default=0)
    library = named(operation, kind_of(like), *(sizes or [count]))
    return Operator(name, library, flop, bytes_of(read), bytes_of(written))


def _channels_outside(x) -> bool:
    """Of half precision with channels that are not the innermost: kernels for matrix units need another layout."""
    return x.dim() >= 4 and x.shape[1] > 1 and x.stride()[1] != 1 and x.dtype in (torch.float16, torch.bfloat16)


def _convolution_product(name, x, weight, out, groups, transposed):
    if transposed:  # the gradient of the convolution from `out` to `x`
        yield from _convolution_gradient(name, out, weight, x, groups)
        return
    m, n, k = out.shape[0] * math.prod(out.shape[2:]), out.shape[1] // groups, weight[0].numel()  # of each group
    if groups > 1 and groups == x.shape[1]:
        yield _moving("depthwise", name, (x, weight), out, [m * n * groups, k], 2.0 * m * n * groups * k)
        return
    if _channels_outside(x):
        yield _moving("layout", name + ".layout", x, x)
    yield product(
        name, kind_of(x, torch.backends.cudnn.allow_tf32), m, n, k, groups, width=x.element_size(),
        operation="convolution", read_bytes=bytes_of((x, weight)),
    )  # fmt: skip


def _convolution_gradient(name, x, weight, out, groups):
    """Of `x`, from that of `out`."""
    pixels, channels = x.shape[0] * math.prod(x.shape[2:]), x.shape[1]
    summed = out.shape[1] // groups * math.prod(weight.shape[2:])
    if groups > 1 and groups == channels:
        yield _moving("depthwise", name, (out, weight), x, [pixels * channels, summed], 2.0 * pixels * channels * summed)
        return
    yield product(
        name, kind_of(out, torch.backends.cudnn.allow_tf32), pixels, channels // groups, summed, groups,
        width=x.element_size(), operation="convolution", read_bytes=bytes_of((out, weight)),
    )  # fmt: skip


def _convolution(name, args, out):
    x, weight, bias = args[:3]
    yield from _convolution_product(name, x, weight, out, args[8], args[6])
    if bias is not None:
        yield _moving("elementwise", name + ".bias", (out, bias), out)


def _convolution_backward(name, args, out):
    gradient, x, weight = args[:3]
    groups, mask = args[9], args[10]
    if _channels_outside(x):
        yield _moving("layout", name + ".layout", gradient, gradient)
        yield _moving("layout", name + ".layout", x, x)
    if mask[0]:
        yield from _convolution_gradient(name + ".input", x, weight, gradient, groups)
    if mask[1]:
        pixels = gradient.shape[0] * math.prod(gradient.shape[2:])
        outs, summed = gradient.shape[1] // groups, weight[0].numel()
        if groups > 1 and groups == x.shape[1]:
            yield _moving("depthwise", name + ".weight", (gradient, x), weight, [outs * groups * pixels, summed],
                          2.0 * outs * groups * summed * pixels)  # fmt: skip
        else:
            yield product(
                name + ".weight", kind_of(x, torch.backends.cudnn.allow_tf32), outs, summed, pixels, groups,
                width=x.element_size(), operation="convolution", read_bytes=bytes_of((gradient, x)),
            )  # fmt: skip
    if mask[2]:
        yield _moving("reduction_columns", name + ".bias", gradient, [], [gradient.numel()])


def _batch_norm(name, args, out):
    x = args[0]
    result = tensors_in(out)[0]
    flags = [value for value in args if isinstance(value, bool)]
    if flags and flags[0]:
        yield _moving("batch_norm_statistics", name + ".statistics", x, [], [x.shape[1], x.numel() // x.shape[1]])
    yield _moving("batch_norm", name, x, result)


def _batch_norm_backward(name, args, out):
    gradient, x = args[:2]
    yield _moving("batch_norm_statistics", name + ".sums", (gradient, x), [], [x.shape[1], 2 * x.numel() // x.shape[1]])
    yield _moving("batch_norm", name, (gradient, x), tensors_in(out)[0])


def _rows(operation):
    def handler(name, args, out):
        x = tensors_in(args)[0]
        yield _moving(operation, name, args, tensors_in(out)[0], _last(x))

    return handler


def _layer_norm_backward(name, args, out):
    gradient, x = args[:2]
    results = [tensor for tensor in out if tensor is not None]
    yield _moving("layer_norm", name, (gradient, x), results[0], _last(x))
    if len(results) > 1:
        yield _moving("reduction_columns", name + ".weight", (gradient, x), results[1:], _last(x))


def _reads(operation):
    def handler(name, args, out):
        yield _moving(operation, name, args, out, [max((t.numel() for t in tensors_in(args)), default=0)])

    return handler


def _gather(name, args, out):
    index = [tensor for tensor in tensors_in(args) if not tensor.is_floating_point()]
    yield _moving("gather", name, (out, index), out)


def _scatter(name, args, out):
    """Reads what is added and what it is added to."""
    moved = tensors_in(args)[1:] or tensors_in(out)
    yield _moving("scatter", name, (moved, moved), moved[-1:])


def _embedding_backward(name, args, out):
    yield _moving("elementwise", name + ".zero", [], out)
    yield _moving("scatter", name, (args[0], args[0], args[1]), args[0])


def _sort(name, args, out):
    x = tensors_in(args)[0]
    yield _moving("sort", name, x, out, _last(x))


def _lists(args):
    """Of tensors."""
    return [value for value in args if isinstance(value, (list, tuple)) and value and isinstance(value[0], torch.Tensor)]


def _foreach(name, args, out):
    """Lists of tensors in as few kernels as their arguments fit (ATen/native/cuda/MultiTensorApply.cuh)."""
    lists = _lists(args)
    if not lists:
        return
    max_tensors = (110, 64, 48, 36, 30)[min(len(lists), 5) - 1]
    blocks = sum(-(-tensor.numel() // 65536) for tensor in lists[0])
    kernels = max(-(-len(lists[0]) // max_tensors), -(-blocks // 320))
    written = lists[0] if name.endswith("_") or not tensors_in(out) else out
    whole = _moving("elementwise", name, lists, written)
    count = sum(tensor.numel() for tensor in lists[0])
    for _ in range(kernels):
        yield Operator(name, named("elementwise", kind_of(lists[0][0]), count // kernels), 0,
                       whole.read_bytes / kernels, whole.written_bytes / kernels)  # fmt: skip


def _fused_optimizer(name, args, out):
    lists = _lists(args)
    yield _moving("elementwise", name, lists[:4], [lists[0], *lists[2:4]])


def _copy(name, args, out):
    """Copies, also into another type; slow where the innermost dimension changes."""
    x, result = tensors_in(args)[-1], tensors_in(out)[0]
    if x.numel() == result.numel() and x.dim() > 1 and _innermost(x) != _innermost(result):
        yield _moving("transpose", name, x, result)
    else:
        yield _moving("elementwise", name, x, result)


def _innermost(tensor: torch.Tensor) -> int:
    """The dimension, of those longer than 1, whose neighbours lie closest."""
    sides = [(stride, -at) for at, (side, stride) in enumerate(zip(tensor.shape, tensor.stride())) if side > 1]
    return -min(sides)[1] if sides else 0


def _attention(first: int, causal: int, gradient: bool = False) -> Callable:
    """Where the query stands among the arguments, and whether it is causal; key and value follow the query."""

    def handler(name, args, out):
        q, k = args[first : first + 2]
        yield attention(
            "aten.scaled_dot_product_attention" + ("_backward" if gradient else ""),
            kind_of(q), math.prod(q.shape[:-2]), q.shape[-2], k.shape[-2], q.shape[-1], width=q.element_size(),
            causal=len(args) > causal and bool(args[causal]), key_heads=math.prod(k.shape[:-2]), gradient=gradient,
        )  # fmt: skip

    return handler


def _recurrent(gradient: bool) -> Callable:
    """Of each layer and direction a product for all inputs, then in each step one of the hidden states and the gates: Appleyard
    et al., arXiv:1604.01946, without products of several steps together."""

    def handler(name, args, out):
        x, h, weights, layers, directions, batch_first = args[2:] if gradient else args
        steps, batch = x.shape[1 if batch_first else 0], x.shape[0 if batch_first else 1]
        hidden, kind, width = h.shape[-1], kind_of(x, torch.backends.cudnn.allow_tf32), x.element_size()
        matrices = [weight for weight in weights if weight.dim() == 2]
        for inputs, _ in zip(matrices[::2], matrices[1::2]):
            rows, features = inputs.shape
            states = float(width * batch * hidden)
            cell = Operator(name + ".cell", named("elementwise", kind_of(x), batch * rows), 0, states * (rows / hidden + 1),
                            states * (rows / hidden if gradient else 2))  # fmt: skip
            if not gradient:
                yield product(name + ".input", kind, steps * batch, rows, features, width=width)
            for _ in range(steps):
                step = (batch, hidden, rows) if gradient else (batch, rows, hidden)
                yield product(name + ".step", kind, *step, width=width)
                yield cell
            if gradient:
                yield product(name + ".input", kind, steps * batch, features, rows, width=width)
                yield product(name + ".weight", kind, rows, features, steps * batch, width=width)
                yield product(name + ".weight", kind, rows, hidden, steps * batch, width=width)

    return handler


def _elementwise(name, args, out):
    yield _moving("elementwise", name, args, out)


_HANDLERS: dict[str, Callable] = {
    "mm": _mm,
    "addmm": _addmm,
    "bmm": _bmm,
    "baddbmm": _baddbmm,
    "linear": _linear,
    "convolution": _convolution,
    "_convolution": _convolution,
    "convolution_backward": _convolution_backward,
    "native_batch_norm": _batch_norm,
    "_native_batch_norm_legit": _batch_norm,
    "_native_batch_norm_legit_no_training": _batch_norm,
    "native_batch_norm_backward": _batch_norm_backward,
    "native_layer_norm": _rows("layer_norm"),
    "native_layer_norm_backward": _layer_norm_backward,
    "_fused_rms_norm": _rows("rms_norm"),
    "_fused_rms_norm_backward": _layer_norm_backward,
    "native_group_norm": _rows("group_norm"),
    "native_group_norm_backward": _layer_norm_backward,
    "_softmax": _rows("softmax"),
    "_log_softmax": _rows("softmax"),
    "_softmax_backward_data": _rows("softmax"),
    "_log_softmax_backward_data": _rows("softmax"),
    "max_pool2d_with_indices": _reads("pooling"),
    "max_pool2d_with_indices_backward": _reads("pooling"),
    "avg_pool2d": _reads("pooling"),
    "avg_pool2d_backward": _reads("pooling"),
    "_adaptive_avg_pool2d": _reads("pooling"),
    "_adaptive_avg_pool2d_backward": _reads("pooling"),
    "embedding": _gather,
    "index_select": _gather,
    "gather": _gather,
    "index": _gather,
    "embedding_dense_backward": _embedding_backward,
    "scatter_add": _scatter,
    "index_add": _scatter,
    "index_put": _scatter,
    "_index_put_impl": _scatter,
    "scatter": _scatter,
    "sort": _sort,
    "topk": _reads("topk"),
    "cumsum": _reads("scan"),
    "cumprod": _reads("scan"),
    "native_dropout": _reads("dropout"),
    "cat": _reads("concatenation"),
    "stack": _reads("concatenation"),
    "_to_copy": _copy,
    "clone": _copy,
    "copy": _copy,
    "recurrent": _recurrent(False),
    "recurrent_backward": _recurrent(True),
    "attention": _attention(0, 3),
    "attention_backward": _attention(1, 4, True),
    "_scaled_dot_product_flash_attention_for_cpu": _attention(0, 4),
    "_scaled_dot_product_flash_attention_for_cpu_backward": _attention(1, 7, True),
    "_fused_adam": _fused_optimizer,
    "_fused_adamw": _fused_optimizer,
    "_fused_sgd": _fused_optimizer,
}
_HANDLERS |= {
    name: _reads(operation)
    for operation, names in (
        ("reduction", "sum mean amax amin argmax argmin max min var std var_mean prod any all norm linalg_vector_norm logsumexp"),
        ("reduction", "nll_loss_forward nll_loss2d_forward mse_loss count_nonzero"),
        ("interpolation", "upsample_nearest2d upsample_bilinear2d upsample_bicubic2d"),
        ("interpolation", "upsample_nearest2d_backward upsample_bilinear2d_backward upsample_bicubic2d_backward"),
        ("interpolation", "_upsample_bilinear2d_aa _upsample_bicubic2d_aa"),
        ("interpolation", "_upsample_bilinear2d_aa_backward _upsample_bicubic2d_aa_backward"),
        ("random", "rand randn uniform normal bernoulli randint randperm exponential rand_like randn_like"),
    )
    for name in names.split()
}

# Calls without a kernel.
_NOTHING = frozenset(
    "empty empty_like empty_strided new_empty new_empty_strided lift_fresh lift_fresh_copy set resize _local_scalar_dense "
    "_unsafe_view _reshape_alias _assert_async _assert_scalar _assert_tensor_metadata sym_size sym_numel sym_stride is_same_size "
    "record_stream scalar_tensor _has_compatible_shallow_copy_type is_pinned device".split()
)


def _group_size(group: Any) -> int:
    import torch.distributed as distributed

    if isinstance(group, str):
        return distributed.distributed_c10d._resolve_process_group(group).size()
    return distributed.ProcessGroup.unbox(group).size()


# Of torch.distributed: NCCL's name, and the argument that tells the bytes: that with all of them.
_TOGETHER = {
    "_c10d_functional::all_reduce": ("ncclAllReduce", "input"),
    "_c10d_functional::all_reduce_": ("ncclAllReduce", "input"),
    "_c10d_functional::all_gather_into_tensor": ("ncclAllGather", "result"),
    "_c10d_functional::reduce_scatter_tensor": ("ncclReduceScatter", "input"),
    "_c10d_functional::broadcast": ("ncclBroadcast", "input"),
    "_c10d_functional::broadcast_": ("ncclBroadcast", "input"),
    "c10d::allreduce_": ("ncclAllReduce", "input"),
    "c10d::broadcast_": ("ncclBroadcast", "input"),
    "c10d::reduce_": ("ncclReduce", "input"),
    "c10d::_allgather_base_": ("ncclAllGather", "input"),  # whose first argument is the result
    "c10d::_reduce_scatter_base_": ("ncclReduceScatter", "second"),
}


def collective_of(name: str, args: tuple, out: Any) -> Operator | None:
    """Of an operator of torch.distributed; None where it is no operation of several GPUs that NCCL's model knows."""
    if name not in _TOGETHER:
        return None
    kernel, of = _TOGETHER[name]
    moved = out if of == "result" else args[1] if of == "second" else args[0]
    groups = [arg for arg in args if type(arg).__name__ == "ScriptObject"]
    return collective(kernel, bytes_of(moved), _group_size(groups[0] if groups else args[-1]))


def base_of(schema: Any) -> str:
    """An operator's name without the _ of those in place: "add" of aten::add_."""
    name = schema.name.split("::")[1]
    return name[:-1] if name.endswith("_") and not name.endswith("__") else name


def has_no_kernel(base: str, schema: Any) -> bool:
    """Whether an operator makes a view, or only asks the host. `base` is base_of()."""
    is_view = any(value.alias_info is not None and not value.alias_info.is_write for value in schema.returns)
    return is_view or base in _NOTHING


def kernels_of(name: str, base: str, args: tuple, out: Any) -> Iterator[Operator]:
    """In order; `name` is what their rows are called after."""
    handler = _foreach if base.startswith("_foreach_") else _HANDLERS.get(base, _elementwise)
    return handler(name, args, out)
