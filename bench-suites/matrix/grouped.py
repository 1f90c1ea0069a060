"""Triton's tutorial of a grouped product, whose matrices are named by pointers in memory: run as an application, attached to.

Usage: miniemu --attach --as DEVICE … -- python grouped.py TUTORIALS FOLDER
"""

import pathlib
import sys
import warnings

import numpy
from cuda.bindings import driver

warnings.simplefilter("ignore")
sys.path.insert(0, str(pathlib.Path(__file__).parent))
from tutorials import functions_of, halves  # noqa: E402


def called(result):
    code, *rest = result
    if int(code):
        raise RuntimeError(code)
    return rest[0] if len(rest) == 1 else rest


called(driver.cuInit(0))
called(driver.cuCtxSetCurrent(called(driver.cuDevicePrimaryCtxRetain(0))))


class Array:
    """Memory of the device, as Triton's launcher takes it."""

    def __init__(self, values):
        self.values = numpy.ascontiguousarray(values)
        self.dtype = str(self.values.dtype)
        self.pointer = int(called(driver.cuMemAlloc(self.values.nbytes)))
        called(driver.cuMemcpyHtoD(self.pointer, self.values.ctypes.data, self.values.nbytes))

    def data_ptr(self):
        return self.pointer

    def get(self):
        out = numpy.empty_like(self.values)
        called(driver.cuMemcpyDtoH(out.ctypes.data, self.pointer, out.nbytes))
        return out


module = functions_of(pathlib.Path(sys.argv[1]) / "08-grouped-gemm.py", pathlib.Path(sys.argv[2]))
sizes = [(1024, 1024, 1024), (512, 512, 512), (256, 256, 256), (128, 128, 128)]
a = [Array(halves(m, k)) for m, n, k in sizes]
b = [Array(halves(k, n)) for m, n, k in sizes]
c = [Array(numpy.zeros((m, n), numpy.float16)) for m, n, k in sizes]
pointers = [Array(numpy.array([x.pointer for x in group], numpy.int64)) for group in (a, b, c)]
shapes = Array(numpy.array(sizes, numpy.int32))
strides = Array(numpy.array([(k, n, n) for m, n, k in sizes], numpy.int32))
module.grouped_matmul_kernel[(84,)](
    *pointers, shapes, strides, len(sizes), NUM_SM=84, BLOCK_SIZE_M=128, BLOCK_SIZE_N=128, BLOCK_SIZE_K=32
)
for x, y, z in zip(a, b, c):
    expected = x.values.astype(numpy.float32) @ y.values.astype(numpy.float32)
    if not numpy.allclose(z.get(), expected, rtol=2e-2, atol=5e-2):
        sys.exit("wrong")
print("ok")
