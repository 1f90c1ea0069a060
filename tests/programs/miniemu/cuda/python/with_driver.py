"""cuda-python: a program compiled by NVRTC, for the device and for a virtual architecture, loaded and launched by the
driver's interface, and by the runtime inside the package."""
import ctypes

import numpy
from cuda.bindings import driver, nvrtc, runtime

from checks import check


def called(result):
    code, *rest = result
    assert int(code) == 0, code
    return rest[0] if len(rest) == 1 else rest


source = b"""
extern "C" __global__ void axpy(float factor, float const* x, float const* y, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = factor * x[i] + y[i];
}
"""


def compiled(architecture):
    program = called(nvrtc.nvrtcCreateProgram(source, b"axpy.cu", 0, [], []))
    called(nvrtc.nvrtcCompileProgram(program, 1, [b"-arch=" + architecture]))
    machine = architecture.startswith(b"sm")
    size = called((nvrtc.nvrtcGetCUBINSize if machine else nvrtc.nvrtcGetPTXSize)(program))
    code = b" " * size
    called((nvrtc.nvrtcGetCUBIN if machine else nvrtc.nvrtcGetPTX)(program, code))
    called(nvrtc.nvrtcDestroyProgram(program))
    return code


called(driver.cuInit(0))
context = called(driver.cuDevicePrimaryCtxRetain(0))
called(driver.cuCtxSetCurrent(context))
random = numpy.random.default_rng(1)
x, y = random.random((2, 1000), dtype=numpy.float32)
for architecture in (b"sm_80", b"compute_80"):
    image = numpy.frombuffer(compiled(architecture) + b"\0", dtype=numpy.uint8)
    module = called(driver.cuModuleLoadData(image.ctypes.data))
    kernel = called(driver.cuModuleGetFunction(module, b"axpy"))
    pointers = [called(driver.cuMemAlloc(x.nbytes)) for _ in range(3)]
    stream = called(driver.cuStreamCreate(0))
    for pointer, values in zip(pointers, (x, y)):
        called(driver.cuMemcpyHtoDAsync(pointer, values.ctypes.data, values.nbytes, stream))
    values = (3.0, *pointers, 1000)
    types = (ctypes.c_float, None, None, None, ctypes.c_int)
    called(driver.cuLaunchKernel(kernel, 8, 1, 1, 128, 1, 1, 0, stream, (values, types), 0))
    out = numpy.zeros_like(x)
    called(driver.cuMemcpyDtoHAsync(out.ctypes.data, pointers[2], out.nbytes, stream))
    called(driver.cuStreamSynchronize(stream))
    check(architecture.decode(), out, 3 * x + y)
    for pointer in pointers:
        called(driver.cuMemFree(pointer))
    called(driver.cuModuleUnload(module))

assert called(runtime.cudaGetDeviceCount()) == 1
to_device, to_host = (runtime.cudaMemcpyKind(kind) for kind in (1, 2))
library = called(runtime.cudaLibraryLoadData(compiled(b"sm_80"), [], [], 0, [], [], 0))
kernel = called(runtime.cudaLibraryGetKernel(library, b"axpy"))
stream = called(runtime.cudaStreamCreate())
pointers = [int(called(runtime.cudaMalloc(x.nbytes))) for _ in range(3)]
for pointer, values in zip(pointers, (x, y)):
    called(runtime.cudaMemcpyAsync(pointer, values.ctypes.data, values.nbytes, to_device, stream))
types = (ctypes.c_float, *[ctypes.c_void_p] * 3, ctypes.c_int)
called(driver.cuLaunchKernel(int(kernel), 8, 1, 1, 128, 1, 1, 0, int(stream), ((3.0, *pointers, 1000), types), 0))
out = numpy.zeros_like(x)
called(runtime.cudaMemcpyAsync(out.ctypes.data, pointers[2], out.nbytes, to_host, stream))
called(runtime.cudaStreamSynchronize(stream))
called(runtime.cudaDeviceSynchronize())
check("the runtime", out, 3 * x + y)
called(runtime.cudaLibraryUnload(library))
called(driver.cuDevicePrimaryCtxRelease(0))
print("kernel axpy")
