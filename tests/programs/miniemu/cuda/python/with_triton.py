"""Triton, without torch: twelve kernels."""
import numpy
import triton
import triton.language as tl

from checks import check
from triton_device import Array, attention, matmul


@triton.jit
def vector_add(x, y, out, n, block: tl.constexpr):
    i = tl.program_id(0) * block + tl.arange(0, block)
    tl.store(out + i, tl.load(x + i, mask=i < n) + tl.load(y + i, mask=i < n), mask=i < n)


@triton.jit
def softmax(x, out, columns, block: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, block)
    values = tl.load(x + row * columns + i, mask=i < columns, other=-float("inf"))
    powers = tl.exp(values - tl.max(values, axis=0))
    tl.store(out + row * columns + i, powers / tl.sum(powers, axis=0), mask=i < columns)


@triton.jit
def layer_norm(x, weight, bias, out, columns, epsilon, block: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, block)
    values = tl.load(x + row * columns + i, mask=i < columns, other=0.0)
    mean = tl.sum(values, axis=0) / columns
    apart = tl.where(i < columns, values - mean, 0.0)
    scale = 1 / tl.sqrt(tl.sum(apart * apart, axis=0) / columns + epsilon)
    w = tl.load(weight + i, mask=i < columns)
    b = tl.load(bias + i, mask=i < columns)
    tl.store(out + row * columns + i, apart * scale * w + b, mask=i < columns)


@triton.jit
def dropout(x, out, n, share, seed, block: tl.constexpr):
    i = tl.program_id(0) * block + tl.arange(0, block)
    kept = tl.rand(seed, i) > share
    tl.store(out + i, tl.where(kept, tl.load(x + i, mask=i < n) / (1 - share), 0.0), mask=i < n)


@triton.jit
def row_sums(x, out, columns, block: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, block)
    tl.store(out + row, tl.sum(tl.load(x + row * columns + i, mask=i < columns, other=0.0), axis=0))


@triton.jit
def bins_of(x, out, n, block: tl.constexpr):
    i = tl.program_id(0) * block + tl.arange(0, block)
    tl.atomic_add(out + tl.load(x + i, mask=i < n), 1, mask=i < n)


@triton.jit
def running_sum(x, out, block: tl.constexpr):
    i = tl.arange(0, block)
    tl.store(out + i, tl.cumsum(tl.load(x + i), axis=0))


@triton.jit
def transposed(x, out, rows: tl.constexpr, columns: tl.constexpr):
    i, j = tl.arange(0, rows), tl.arange(0, columns)
    values = tl.load(x + i[:, None] * columns + j[None, :])
    tl.store(out + j[:, None] * rows + i[None, :], tl.trans(values))


@triton.jit
def sorted_of(x, out, block: tl.constexpr):
    i = tl.arange(0, block)
    tl.store(out + i, tl.sort(tl.load(x + i)))


@triton.jit
def larger(a, b):
    return tl.maximum(a, b)


@triton.jit
def running_maximum(x, out, columns: tl.constexpr):
    i = tl.program_id(0) * columns + tl.arange(0, columns)
    tl.store(out + i, tl.associative_scan(tl.load(x + i), 0, larger))


random = numpy.random.default_rng(1)
x, y = random.random((2, 1000), dtype=numpy.float32)
out = Array(0 * x)
vector_add[(8,)](Array(x), Array(y), out, 1000, block=128)
check("vector addition", out.get(), x + y)

matrix = random.standard_normal((6, 100)).astype(numpy.float32)
out = Array(0 * matrix)
softmax[(6,)](Array(matrix), out, 100, block=128)
powers = numpy.exp(matrix - matrix.max(axis=1, keepdims=True))
check("softmax", out.get(), powers / powers.sum(axis=1, keepdims=True))

a = random.standard_normal((64, 96)).astype(numpy.float16)
b = random.standard_normal((96, 64)).astype(numpy.float16)
out = Array(numpy.zeros((64, 64), numpy.float32))
compiled = matmul[(2, 2)](Array(a), Array(b), out, 64, 64, 96, rows=32, columns=32, depth=32)
check("matrix multiplication", out.get(), a.astype(numpy.float32) @ b.astype(numpy.float32), 1e-3)
assert "mma.sync" in compiled.asm["ptx"], "no mma.sync in it"

weight, bias = random.random((2, 100), dtype=numpy.float32)
out = Array(0 * matrix)
layer_norm[(6,)](Array(matrix), Array(weight), Array(bias), out, 100, 1e-5, block=128)
apart = matrix - matrix.mean(axis=1, keepdims=True)
check("layer normalisation", out.get(), apart / numpy.sqrt(matrix.var(axis=1, keepdims=True) + 1e-5) * weight + bias, 1e-4)

out = Array(0 * x)
dropout[(8,)](Array(x), out, 1000, 0.25, 7, block=128)
kept = out.get() != 0
assert 650 < kept.sum() < 850, kept.sum()
check("dropout", out.get(), numpy.where(kept, x / 0.75, 0))

out = Array(numpy.zeros(6, numpy.float32))
row_sums[(6,)](Array(matrix), out, 100, block=128)
check("sums", out.get(), matrix.sum(axis=1), 1e-4)

values = random.integers(0, 16, 1000).astype(numpy.int32)
out = Array(numpy.zeros(16, numpy.int32))
bins_of[(8,)](Array(values), out, 1000, block=128)
check("atomics", out.get(), numpy.bincount(values, minlength=16))

out = Array(numpy.zeros(256, numpy.float32))
running_sum[(1,)](Array(x[:256]), out, block=256)
check("running sums", out.get(), numpy.cumsum(x[:256]), 1e-4)

tile = random.random((32, 64), dtype=numpy.float32)
out = Array(numpy.zeros((64, 32), numpy.float32))
transposed[(1,)](Array(tile), out, rows=32, columns=64)
check("a transposed tile", out.get(), tile.T)

out = Array(numpy.zeros(128, numpy.float32))
sorted_of[(1,)](Array(x[:128]), out, block=128)
check("sorting", out.get(), numpy.sort(x[:128]))

out = Array(0 * tile)
running_maximum[(32,)](Array(tile), out, columns=64)
check("a scan", out.get(), numpy.maximum.accumulate(tile, axis=1))

q, k, v = random.standard_normal((3, 128, 32)).astype(numpy.float16)
out = Array(numpy.zeros((128, 32), numpy.float32))
attention[(4,)](Array(q), Array(k), Array(v), out, 128, 0.25, rows=32, columns=32, depth=32, causal=True)
scores = 0.25 * (q.astype(numpy.float32) @ k.astype(numpy.float32).T)
powers = numpy.tril(numpy.exp(scores - scores.max(axis=1, keepdims=True)))
check("attention", out.get(), powers / powers.sum(axis=1, keepdims=True) @ v.astype(numpy.float32), 1e-2)

for kernel in ("vector_add", "softmax", "matmul", "layer_norm", "dropout", "row_sums", "bins_of", "running_sum",
               "transposed", "sorted_of", "running_maximum", "attention"):
    print("kernel", kernel)
