"""numba-cuda: arithmetic, atomics, shared memory, a barrier of the whole grid, functions of mathematics."""
import math

import numpy
from numba import cuda, float32

from checks import check

random = numpy.random.default_rng(1)


@cuda.jit
def axpy(factor, x, y, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = factor * x[i] + y[i]


@cuda.jit
def histogram(values, bins):
    i = cuda.grid(1)
    if i < values.size:
        cuda.atomic.add(bins, values[i], 1)


@cuda.jit
def largest(values, out):
    i = cuda.grid(1)
    if i < values.size:
        cuda.atomic.max(out, 0, values[i])


@cuda.jit
def product(a, b, out):
    tile_a = cuda.shared.array((8, 8), float32)
    tile_b = cuda.shared.array((8, 8), float32)
    row, column = cuda.grid(2)
    y, x = cuda.threadIdx.x, cuda.threadIdx.y
    total = float32(0)
    for tile in range(a.shape[1] // 8):
        tile_a[y, x] = a[row, tile * 8 + x]
        tile_b[y, x] = b[tile * 8 + y, column]
        cuda.syncthreads()
        for k in range(8):
            total += tile_a[y, k] * tile_b[k, x]
        cuda.syncthreads()
    out[row, column] = total


@cuda.jit
def rows_in_turn(matrix):
    column = cuda.grid(1)
    grid = cuda.cg.this_grid()
    for row in range(1, matrix.shape[0]):
        opposite = matrix.shape[1] - column - 1
        matrix[row, column] = matrix[row - 1, opposite] + 1
        grid.sync()


@cuda.jit
def functions(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[0, i] = math.sin(x[i])
        out[1, i] = math.exp(x[i])
        out[2, i] = math.log(x[i])
        out[3, i] = math.sqrt(x[i])
        out[4, i] = math.erf(x[i])
        out[5, i] = x[i] ** 2.5


x = random.random(1000, dtype=numpy.float32)
y = random.random(1000, dtype=numpy.float32)
out = numpy.zeros_like(x)
axpy[8, 128](numpy.float32(3), x, y, out)
check("arithmetic", out, 3 * x + y)

values = random.integers(0, 16, 1000).astype(numpy.int32)
bins = numpy.zeros(16, numpy.int32)
histogram[8, 128](values, bins)
check("atomic addition", bins, numpy.bincount(values, minlength=16))
most = numpy.zeros(1, numpy.float32)
largest[8, 128](x, most)
check("atomic maximum", most[0], x.max())

a = random.random((32, 48), dtype=numpy.float32)
b = random.random((48, 24), dtype=numpy.float32)
out = numpy.zeros((32, 24), numpy.float32)
product[(4, 3), (8, 8)](a, b, out)
check("shared memory", out, a @ b)

matrix = numpy.zeros((6, 256), numpy.int32)
rows_in_turn[4, 64](matrix)
check("a barrier of the grid", matrix, numpy.arange(6)[:, None] + numpy.zeros((1, 256)))

x = random.random(300) + 0.1
out = numpy.zeros((6, 300))
functions[3, 128](x, out)
expected = [numpy.sin(x), numpy.exp(x), numpy.log(x), numpy.sqrt(x), [math.erf(v) for v in x], x**2.5]
check("functions of mathematics", out, expected, 1e-12)

for kernel in ("axpy", "histogram", "largest", "product", "rows_in_turn", "functions"):
    print("kernel", kernel)
