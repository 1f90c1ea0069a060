"""Triton for sm_100: products by tcgen05 with sums in tensor memory, of tiles by tensor maps, in specialised warps, and of
scaled blocks of 4 and 8 bits."""
import numpy
import triton
import triton.language as tl

from checks import check, skip
from triton_device import Array, matmul

try:
    from triton.tools.tensor_descriptor import TensorDescriptor
except ImportError:
    skip("this Triton has no tensor descriptors")
if not hasattr(tl, "dot_scaled"):
    skip("this Triton has no products of scaled blocks")


workspaces = []  # of tensor maps that kernels make


def workspace(size, alignment, stream):
    workspaces.append(Array(numpy.zeros(size + alignment, numpy.int8)))
    return workspaces[-1]


triton.set_allocator(workspace)


@triton.jit
def matmul_of_tiles(a, b, out, k, rows: tl.constexpr, columns: tl.constexpr, depth: tl.constexpr):
    i, j = tl.program_id(0) * rows, tl.program_id(1) * columns
    total = tl.zeros((rows, columns), tl.float32)
    for at in range(0, k, depth):
        total = tl.dot(a.load([i, at]), b.load([at, j]), total)
    out.store([i, j], total.to(tl.float16))


@triton.jit
def persistent_matmul(a, b, out, m, n, k, rows: tl.constexpr, columns: tl.constexpr, depth: tl.constexpr,
                      specialised: tl.constexpr):
    of_a = tl.make_tensor_descriptor(a, [m, k], [k, 1], [rows, depth])
    of_b = tl.make_tensor_descriptor(b, [n, k], [k, 1], [columns, depth])
    of_out = tl.make_tensor_descriptor(out, [m, n], [n, 1], [rows, columns])
    across = tl.cdiv(n, columns)
    for tile in tl.range(tl.program_id(0), tl.cdiv(m, rows) * across, tl.num_programs(0), warp_specialize=specialised):
        i, j = tile // across * rows, tile % across * columns
        total = tl.zeros((rows, columns), tl.float32)
        for at in range(0, k, depth):
            total = tl.dot(of_a.load([i, at]), of_b.load([j, at]).T, total)
        of_out.store([i, j], total.to(tl.float16))


# Factors are packed along k where they have 4 bits; b is given by columns.
@triton.jit
def matmul_of_blocks(a, a_scales, b, b_scales, out, n, k, a_type: tl.constexpr, b_type: tl.constexpr,
                     a_pack: tl.constexpr, b_pack: tl.constexpr, block: tl.constexpr, rows: tl.constexpr,
                     columns: tl.constexpr, depth: tl.constexpr):
    i = tl.program_id(0) * rows + tl.arange(0, rows)
    j = tl.program_id(1) * columns + tl.arange(0, columns)
    total = tl.zeros((rows, columns), tl.float32)
    for at in range(0, k, depth):
        of_a = tl.load(a + i[:, None] * (k // a_pack) + (at // a_pack + tl.arange(0, depth // a_pack))[None, :])
        of_b = tl.load(b + j[None, :] * (k // b_pack) + (at // b_pack + tl.arange(0, depth // b_pack))[:, None])
        d = at // block + tl.arange(0, depth // block)
        scale_a = tl.load(a_scales + i[:, None] * (k // block) + d[None, :])
        scale_b = tl.load(b_scales + j[:, None] * (k // block) + d[None, :])
        total = tl.dot_scaled(of_a, scale_a, a_type, of_b, scale_b, b_type, total)
    tl.store(out + i[:, None] * n + j[None, :], total)


@triton.jit
def attention(q, k, v, out, n, scale, rows: tl.constexpr, columns: tl.constexpr, depth: tl.constexpr):
    i = tl.program_id(0) * rows + tl.arange(0, rows)
    d = tl.arange(0, depth)
    of_q = tl.load(q + i[:, None] * depth + d[None, :])
    most = tl.full((rows,), -float("inf"), tl.float32)
    sums = tl.zeros((rows,), tl.float32)
    total = tl.zeros((rows, depth), tl.float32)
    for at in range(0, n, columns):
        j = at + tl.arange(0, columns)
        of_k = tl.load(k + j[None, :] * depth + d[:, None])
        of_v = tl.load(v + j[:, None] * depth + d[None, :])
        scores = tl.dot(of_q, of_k) * scale
        now = tl.maximum(most, tl.max(scores, axis=1))
        powers = tl.exp(scores - now[:, None])
        fade = tl.exp(most - now)
        sums = sums * fade + tl.sum(powers, axis=1)
        total = tl.dot(powers.to(tl.float16), of_v, total * fade[:, None])
        most = now
    tl.store(out + i[:, None] * depth + d[None, :], total / sums[:, None])


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


random = numpy.random.default_rng(1)
m, n, k = 200, 256, 192
a = random.standard_normal((256, k)).astype(numpy.float16)
b = random.standard_normal((k, n)).astype(numpy.float16)
product = a.astype(numpy.float32) @ b.astype(numpy.float32)
sizes = {"rows": 128, "columns": 128, "depth": 64}

for name, of_a, of_b in (("float16", a, b), ("float32", a.astype(numpy.float32), b.astype(numpy.float32))):
    out = Array(numpy.zeros((256, n), numpy.float32))
    compiled = matmul[(2, 2)](Array(of_a), Array(of_b), out, 256, n, k, **sizes, num_stages=2, num_warps=4)
    check("matrix multiplication of " + name, out.get(), product, 1e-3)
    assert "tcgen05.mma" in compiled.asm["ptx"], "no tcgen05 in it"

# 200 rows: the last tile ends beyond the tensors.
out = Array(numpy.zeros((m, n), numpy.float16))
tiles = (TensorDescriptor(Array(a[:m]), [m, k], [k, 1], [128, 64]), TensorDescriptor(Array(b), [k, n], [n, 1], [64, 128]),
         TensorDescriptor(out, [m, n], [n, 1], [128, 128]))
compiled = matmul_of_tiles[(2, 2)](*tiles, k, **sizes, num_warps=8)
check("tiles by tensor maps of the host", out.get(), product[:m], 1e-2)
assert "cp.async.bulk.tensor" in compiled.asm["ptx"], "no tensor copy in it"

for specialised in (False, True):
    out = Array(numpy.zeros((m, n), numpy.float16))
    compiled = persistent_matmul[(3,)](Array(a[:m]), Array(b.T), out, m, n, k, **sizes, specialised=specialised, num_warps=4)
    check("tiles by tensor maps of the kernel", out.get(), product[:m], 1e-2)

# e2m1: a sign, two bits of exponent, one of mantissa; e4m3 of small whole numbers; scales: exponents, or e4m3.
e2m1 = numpy.array([0, 0.5, 1, 1.5, 2, 3, 4, 6, 0, -0.5, -1, -1.5, -2, -3, -4, -6], numpy.float32)
e4m3 = {0: 0x00, 1: 0x38, 2: 0x40, 3: 0x44, -1: 0xB8, -2: 0xC0, -3: 0xC4}


def factors(of_type, rows):
    if of_type == "e2m1":
        codes = random.integers(0, 16, (rows, k)).astype(numpy.uint8)
        return e2m1[codes], Array(codes[:, 0::2] | codes[:, 1::2] << 4), 2
    values = random.integers(-3, 4, (rows, k))
    codes = numpy.vectorize(e4m3.get)(values).astype(numpy.uint8)
    return values.astype(numpy.float32), Array(codes, tl.float8e4nv), 1


for a_type, b_type, block in (("e4m3", "e4m3", 32), ("e2m1", "e2m1", 32), ("e2m1", "e4m3", 32), ("e2m1", "e2m1", 16)):
    k = 256
    values_a, of_a, a_pack = factors(a_type, 256)
    values_b, of_b, b_pack = factors(b_type, 256)
    scales = []
    for rows in (256, 256):
        if block == 32:
            codes = random.integers(125, 130, (rows, k // block)).astype(numpy.uint8)
            scales.append((2.0 ** (codes.astype(numpy.float32) - 127), Array(codes)))
        else:
            values = random.integers(1, 4, (rows, k // block))
            codes = numpy.vectorize(e4m3.get)(values).astype(numpy.uint8)
            scales.append((values.astype(numpy.float32), Array(codes, tl.float8e4nv)))
    whole_a, whole_b = (v * numpy.repeat(s, block, axis=1) for v, (s, _) in zip((values_a, values_b), scales))
    out = Array(numpy.zeros((256, 256), numpy.float32))
    compiled = matmul_of_blocks[(2, 2)](of_a, scales[0][1], of_b, scales[1][1], out, 256, k, a_type, b_type, a_pack, b_pack,
                                        block, 128, 128, 128, num_warps=4)
    check(f"scaled blocks of {block} elements, {a_type} and {b_type}", out.get(), whole_a @ whole_b.T, 1e-5)
    assert "block_scale" in compiled.asm["ptx"], "no product of scaled blocks in it"

q, key, v = random.standard_normal((3, 256, 64)).astype(numpy.float16)
scores = 0.125 * (q.astype(numpy.float32) @ key.astype(numpy.float32).T)
powers = numpy.exp(scores - scores.max(axis=1, keepdims=True))
expected = powers / powers.sum(axis=1, keepdims=True) @ v.astype(numpy.float32)
out = Array(numpy.zeros((256, 64), numpy.float32))
attention[(2,)](Array(q), Array(key), Array(v), out, 256, 0.125, rows=128, columns=64, depth=64, num_warps=4)
check("attention", out.get(), expected, 1e-2)
for specialised in (False, True):
    out = Array(numpy.zeros((256, 64), numpy.float32))
    attention_of_tiles[(2,)](Array(q), Array(key), Array(v), out, 256, 0.125, rows=128, columns=64, depth=64,
                             specialised=specialised, num_warps=4)
    check("attention of tiles", out.get(), expected, 1e-2)

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

for kernel in ("matmul", "matmul_of_tiles", "persistent_matmul", "matmul_of_blocks", "attention", "attention_of_tiles", "softmax",
               "layer_norm", "grouped_matmul"):
    print("kernel", kernel)
