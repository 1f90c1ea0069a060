"""PyCUDA: modules of PTX and (where there is nvcc) of CUDA C++, arrays of the device, memory, events."""
import shutil

import numpy
import pycuda.autoinit  # noqa: F401
import pycuda.driver as driver
from pycuda import gpuarray
from pycuda.compiler import SourceModule

from checks import check

ptx = """
.version 7.0
.target sm_80
.address_size 64
.visible .entry doubled(.param .u64 a) {
  .reg .b64 %rd<4>;
  .reg .b32 %r<2>;
  .reg .f32 %f<2>;
  ld.param.u64 %rd1, [a];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd3, %rd1, %rd2;
  ld.global.f32 %f1, [%rd3];
  add.f32 %f1, %f1, %f1;
  st.global.f32 [%rd3], %f1;
  ret;
}
"""
values = numpy.random.default_rng(1).random(256, dtype=numpy.float32)
kernel = driver.module_from_buffer(ptx.encode()).get_function("doubled")
out = values.copy()
begin, end = driver.Event(), driver.Event()
begin.record()
kernel(driver.InOut(out), block=(256, 1, 1), grid=(1, 1))
end.record()
end.synchronize()
assert begin.time_till(end) >= 0
check("a module and InOut", out, 2 * values)
pointer = driver.mem_alloc(values.nbytes)
driver.memcpy_htod(pointer, values)
kernel.prepare("P").prepared_call((1, 1), (256, 1, 1), pointer)
driver.memcpy_dtoh(out, pointer)
check("a prepared call", out, 2 * values)
print("kernel doubled")

if shutil.which("nvcc"):
    source = SourceModule("__global__ void tripled(float* a) { a[threadIdx.x] *= 3; }")
    out = values.copy()
    source.get_function("tripled")(driver.InOut(out), block=(256, 1, 1))
    check("a module of CUDA C++", out, 3 * values)
    on_device = gpuarray.to_gpu(values)
    check("an array", (2 * on_device + on_device).get(), 3 * values)
    check("a sum", gpuarray.sum(on_device).get(), values.sum(dtype=numpy.float64), 1e-4)
    print("kernel tripled")
