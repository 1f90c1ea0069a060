"""What the scripts of Triton have in common: memory of the device that cuda-python's driver gives, a product and attention."""
import numpy
import triton
import triton.language as tl
from cuda.bindings import driver


def called(result):
    code, *rest = result
    assert int(code) == 0, code
    return rest[0] if len(rest) == 1 else rest


called(driver.cuInit(0))
called(driver.cuCtxSetCurrent(called(driver.cuDevicePrimaryCtxRetain(0))))


class Array:
    types = {"float32": tl.float32, "float16": tl.float16, "int32": tl.int32, "int64": tl.int64, "int8": tl.int8,
             "uint8": tl.uint8, "uint64": tl.uint64}

    def __init__(self, values, dtype=None):  # dtype: where numpy has no such type
        self.values = numpy.ascontiguousarray(values)
        self.dtype = dtype or self.types[str(self.values.dtype)]
        self.shape = self.values.shape
        self.pointer = int(called(driver.cuMemAlloc(self.values.nbytes)))
        called(driver.cuMemcpyHtoD(self.pointer, self.values.ctypes.data, self.values.nbytes))

    def data_ptr(self):
        return self.pointer

    def get(self):
        out = numpy.empty_like(self.values)
        called(driver.cuMemcpyDtoH(out.ctypes.data, self.pointer, out.nbytes))
        return out


@triton.jit
def matmul(a, b, out, m, n, k, rows: tl.constexpr, columns: tl.constexpr, depth: tl.constexpr):
    i = tl.program_id(0) * rows + tl.arange(0, rows)
    j = tl.program_id(1) * columns + tl.arange(0, columns)
    d = tl.arange(0, depth)
    total = tl.zeros((rows, columns), tl.float32)
    for at in range(0, k, depth):
        of_a = tl.load(a + i[:, None] * k + (at + d)[None, :])
        of_b = tl.load(b + (at + d)[:, None] * n + j[None, :])
        total = tl.dot(of_a, of_b, total)
    tl.store(out + i[:, None] * n + j[None, :], total)


@triton.jit
def attention(q, k, v, out, n, scale, rows: tl.constexpr, columns: tl.constexpr, depth: tl.constexpr,
              causal: tl.constexpr = False):
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
        if causal:
            scores = tl.where(i[:, None] >= j[None, :], scores, -float("inf"))
        now = tl.maximum(most, tl.max(scores, axis=1))
        powers = tl.exp(scores - now[:, None])
        fade = tl.exp(most - now)
        sums = sums * fade + tl.sum(powers, axis=1)
        total = tl.dot(powers.to(tl.float16), of_v, total * fade[:, None])
        most = now
    tl.store(out + i[:, None] * depth + d[None, :], total / sums[:, None])
