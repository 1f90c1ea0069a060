"""Triton for sm_100 and sm_120: products with factors for blocks, of 8 and of 4 bits."""

import numpy
import triton
import triton.language as tl

from checks import check, skip
from triton_device import Array

if not hasattr(tl, "dot_scaled"):
    skip("this Triton has no scaled products")


@triton.jit
def scaled_matmul(
    a,
    of_a,
    b,
    of_b,
    out,
    k,
    format_a: tl.constexpr,
    format_b: tl.constexpr,
    packed_a: tl.constexpr,
    packed_b: tl.constexpr,
    block: tl.constexpr,
    rows: tl.constexpr,
    columns: tl.constexpr,
    depth: tl.constexpr,
):
    i, j = tl.arange(0, rows), tl.arange(0, columns)
    from_a, from_b, factors = (
        tl.arange(0, depth // packed_a),
        tl.arange(0, depth // packed_b),
        tl.arange(0, depth // block),
    )
    total = tl.zeros((rows, columns), tl.float32)
    for at in range(0, k, depth):
        x = tl.load(a + i[:, None] * (k // packed_a) + at // packed_a + from_a[None, :])
        y = tl.load(b + j[None, :] * (k // packed_b) + at // packed_b + from_b[:, None])
        of_x = tl.load(of_a + i[:, None] * (k // block) + at // block + factors[None, :])
        of_y = tl.load(of_b + j[:, None] * (k // block) + at // block + factors[None, :])
        total = tl.dot_scaled(x, of_x, format_a, y, of_y, format_b, total)
    tl.store(out + i[:, None] * columns + j[None, :], total)


# What the codes of a format are worth, by the Open Compute Project's "Microscaling Formats".
def values(exponent_bits, mantissa_bits):
    code = numpy.arange(1 << (1 + exponent_bits + mantissa_bits))
    exponent = code >> mantissa_bits & ((1 << exponent_bits) - 1)
    mantissa = (code & ((1 << mantissa_bits) - 1)) / (1 << mantissa_bits)
    bias = (1 << (exponent_bits - 1)) - 1
    size = numpy.where(exponent > 0, (1 + mantissa) * 2.0 ** (exponent - bias), mantissa * 2.0 ** (1 - bias))
    return numpy.where(code >> (exponent_bits + mantissa_bits), -size, size)


formats = {"e4m3": (values(4, 3), 1), "e5m2": (values(5, 2), 1), "e2m1": (values(2, 1), 2)}
random = numpy.random.default_rng(2)


def matrix(rows, k, format):
    """Bytes as Triton takes them, two elements of 4 bits in one, and what they are worth."""
    table, packed = formats[format]
    # Small ones of each format, without infinities.
    codes = random.integers(0, len(table) * 3 // 8, (rows, k)) + random.integers(0, 2, (rows, k)) * (len(table) // 2)
    if packed == 2:
        return (codes[:, 0::2] | codes[:, 1::2] << 4).astype(numpy.uint8), table[codes]
    return codes.astype(numpy.uint8), table[codes]


rows, columns, k = 128, 64, 256
for format_a, format_b, of_factors, block in (
    ("e4m3", "e4m3", "e8m0", 32),
    ("e5m2", "e4m3", "e8m0", 32),
    ("e2m1", "e2m1", "e8m0", 32),
    ("e2m1", "e4m3", "e8m0", 32),
    ("e2m1", "e2m1", "e4m3", 16),
):
    a, worth_a = matrix(rows, k, format_a)
    b, worth_b = matrix(columns, k, format_b)
    if of_factors == "e8m0":
        of_a, of_b = (random.integers(124, 131, (n, k // block)).astype(numpy.uint8) for n in (rows, columns))
        size_a, size_b = (2.0 ** (x.astype(int) - 127) for x in (of_a, of_b))
    else:
        of_a, of_b = (random.integers(0x28, 0x48, (n, k // block)).astype(numpy.uint8) for n in (rows, columns))
        size_a, size_b = (values(4, 3)[x] for x in (of_a, of_b))
    given = []
    for array in (of_a, of_b):
        given.append(Array(array.view(numpy.int8)))
        given[-1].dtype = tl.uint8 if of_factors == "e8m0" else tl.float8e4nv
    of = []
    for array in (a, b):
        of.append(Array(array.view(numpy.int8)))
        of[-1].dtype = tl.uint8
    out = Array(numpy.zeros((rows, columns), numpy.float32))
    compiled = scaled_matmul[(1,)](
        of[0],
        given[0],
        of[1],
        given[1],
        out,
        k,
        format_a,
        format_b,
        formats[format_a][1],
        formats[format_b][1],
        block,
        rows=rows,
        columns=columns,
        depth=128,
        num_warps=4,
    )
    expected = (worth_a * numpy.repeat(size_a, block, axis=1)) @ (worth_b * numpy.repeat(size_b, block, axis=1)).T
    check(f"a product of {format_a} and {format_b} with factors of {of_factors}", out.get(), expected, 1e-3)
    # Triton widens factors of two sizes before sm_120 multiplies them.
    widened = formats[format_a][1] != formats[format_b][1] and ".target sm_120" in compiled.asm["ptx"]
    assert widened or "block_scale" in compiled.asm["ptx"], "no block_scale in it"

print("kernel scaled_matmul")
