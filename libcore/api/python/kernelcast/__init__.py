"""Which device runs a kernel fastest, and how fast, without a device: libkernelcast for Python.

    import kernelcast, numpy
    x = numpy.zeros(1 << 20, numpy.float32)
    source = "__global__ void twice(float* x) { x[blockIdx.x * blockDim.x + threadIdx.x] *= 2; }"
    ranking = kernelcast.project(source, "twice", grid=4096, block=256, args=[x])
    print(ranking.best, ranking.frame())

kernelcast.triton, kernelcast.numba, kernelcast.cupy and kernelcast.kernel_tuner serve these packages. Manual page:
kernelcast-python(3).
"""

from .arguments import Buffer, Local, buffer, local
from .launch import Emulation, Launch, Projection, Ranking, emulate, project
from .library import Device, KernelcastError, Status, devices, version
from .records import read

__all__ = [
    "Buffer",
    "Device",
    "Emulation",
    "KernelcastError",
    "Launch",
    "Local",
    "Projection",
    "Ranking",
    "Status",
    "buffer",
    "devices",
    "emulate",
    "local",
    "project",
    "read",
    "version",
]
