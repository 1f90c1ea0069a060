"""Triton for sm_100: products by tcgen05 with sums in tensor memory, of tiles by tensor maps, in specialised warps; attention,
softmax, layer norm, products of several sizes. Products of scaled blocks are in with_triton_scaled.py."""
import numpy
import triton
import triton.language as tl

from checks import check
from triton_device import Array, attention
from triton_tiles import check_attention, check_products, random, sizes


@triton.jit
def attention_of_tiles(q, k, v, out, n, scale, rows: tl.constexpr, columns: tl.constexpr, depth: tl.constexpr,
                       specialised: tl.constexpr):
    of_k = tl.make_tensor_descriptor(k, [n, depth], [depth, 1], [columns, depth])
    of_v = tl.make_tensor_descriptor(v, [n, depth], [depth, 1], [columns, depth])
    i = tl.program_id(0) * rows + tl.arange(0, rows)
    d = tl.arange(0, depth)
    of_q = tl.load(q + i[:, None] * depth + d[None, :])
    most = tl.full((rows,), -float("inf"), tl.float32)
    sums = tl.zeros((rows,), tl.float32)
    total = tl.zeros((rows, depth), tl.float32)
    for at in tl.range(0, n, columns, warp_specialize=specialised):
        scores = tl.dot(of_q, of_k.load([at, 0]).T) * scale
        now = tl.maximum(most, tl.max(scores, axis=1))
        powers = tl.exp(scores - now[:, None])
        fade = tl.exp(most - now)
        sums = sums * fade + tl.sum(powers, axis=1)
        total = tl.dot(powers.to(tl.float16), of_v.load([at, 0]), total * fade[:, None])
        most = now
    tl.store(out + i[:, None] * depth + d[None, :], total / sums[:, None])


@triton.jit
def softmax(x, out, n, width: tl.constexpr):
    row, j = tl.program_id(0), tl.arange(0, width)
    values = tl.load(x + row * n + j, mask=j < n, other=-float("inf"))
    powers = tl.exp(values - tl.max(values, axis=0))
    tl.store(out + row * n + j, powers / tl.sum(powers, axis=0), mask=j < n)


@triton.jit
def layer_norm(x, weight, bias, out, n, width: tl.constexpr):
    row, j = tl.program_id(0), tl.arange(0, width)
    values = tl.load(x + row * n + j, mask=j < n, other=0.0)
    apart = tl.where(j < n, values - tl.sum(values, axis=0) / n, 0.0)
    scale = 1 / tl.sqrt(tl.sum(apart * apart, axis=0) / n + 1e-5)
    w, b = tl.load(weight + j, mask=j < n), tl.load(bias + j, mask=j < n)
    tl.store(out + row * n + j, apart * scale * w + b, mask=j < n)


# Products of several sizes, whose addresses and sizes lie in memory; programs take tiles of all of them in turn.
@triton.jit
def grouped_matmul(places, sizes, count, rows: tl.constexpr, columns: tl.constexpr, depth: tl.constexpr):
    tile, before = tl.program_id(0), 0
    for g in range(count):
        m, n, k = tl.load(sizes + 3 * g), tl.load(sizes + 3 * g + 1), tl.load(sizes + 3 * g + 2)
        across = tl.cdiv(n, columns)
        tiles = tl.cdiv(m, rows) * across
        while tile >= before and tile < before + tiles:
            a = tl.load(places + 3 * g).to(tl.pointer_type(tl.float16))
            b = tl.load(places + 3 * g + 1).to(tl.pointer_type(tl.float16))
            out = tl.load(places + 3 * g + 2).to(tl.pointer_type(tl.float16))
            i = (tile - before) // across * rows + tl.arange(0, rows)
            j = (tile - before) % across * columns + tl.arange(0, columns)
            d = tl.arange(0, depth)
            total = tl.zeros((rows, columns), tl.float32)
            for at in range(0, k, depth):
                of_a = tl.load(a + i[:, None] * k + (at + d)[None, :])
                of_b = tl.load(b + (at + d)[:, None] * n + j[None, :])
                total = tl.dot(of_a, of_b, total)
            tl.store(out + i[:, None] * n + j[None, :], total.to(tl.float16))
            tile += tl.num_programs(0)
        before += tiles


check_products("tcgen05.mma")
check_attention(attention)
for specialised in (False, True):
    check_attention(attention_of_tiles, specialised=specialised)

x = random.standard_normal((20, 300)).astype(numpy.float32)
out = Array(numpy.zeros_like(x))
softmax[(20,)](Array(x), out, 300, width=512)
powers = numpy.exp(x - x.max(axis=1, keepdims=True))
check("softmax", out.get(), powers / powers.sum(axis=1, keepdims=True), 1e-5)
weight, bias = random.standard_normal((2, 300)).astype(numpy.float32)
layer_norm[(20,)](Array(x), Array(weight), Array(bias), out, 300, width=512)
apart = x - x.mean(axis=1, keepdims=True)
check("layer norm", out.get(), apart / numpy.sqrt((apart**2).mean(axis=1, keepdims=True) + 1e-5) * weight + bias, 1e-4)

groups = []
for m, n, k in ((256, 128, 64), (128, 256, 192), (128, 128, 128)):
    a = random.standard_normal((m, k)).astype(numpy.float16)
    b = random.standard_normal((k, n)).astype(numpy.float16)
    groups.append((a, b, Array(a), Array(b), Array(numpy.zeros((m, n), numpy.float16)), (m, n, k)))
places = numpy.array([[g[2].pointer, g[3].pointer, g[4].pointer] for g in groups], numpy.uint64)
grouped_matmul[(3,)](Array(places), Array(numpy.array([g[5] for g in groups], numpy.int32)), len(groups), **sizes, num_warps=4)
for a, b, _, _, out, _ in groups:
    check("grouped matrix multiplication", out.get(), a.astype(numpy.float32) @ b.astype(numpy.float32), 1e-2)

for kernel in ("softmax", "layer_norm", "grouped_matmul"):
    print("kernel", kernel)
