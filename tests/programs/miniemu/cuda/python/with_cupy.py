"""CuPy: kernels of its own and the user's, and libraries."""
import shutil

import cupy
import numpy

from checks import check

random = numpy.random.default_rng(1)
x = random.random(1000, dtype=numpy.float32)
y = random.random(1000, dtype=numpy.float32)
on_x, on_y = cupy.asarray(x), cupy.asarray(y)

scale = cupy.RawKernel(
    'extern "C" __global__ void scale(float* a, float factor, int n) {'
    "  int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) a[i] *= factor; }",
    "scale",
)
copy = on_x.copy()
scale((8,), (128,), (copy, numpy.float32(3), 1000))
check("RawKernel", copy.get(), 3 * x)

module = cupy.RawModule(
    code="template <class T> __global__ void square(T const* a, T* b, int n) {"
    "  int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) b[i] = a[i] * a[i]; }",
    name_expressions=["square<double>"],
)
doubles, squares = cupy.asarray(x, dtype=numpy.float64), cupy.zeros(1000)
module.get_function("square<double>")((8,), (128,), (doubles, squares, 1000))
check("RawModule, a template", squares.get(), x.astype(numpy.float64) ** 2)

distance = cupy.ElementwiseKernel("float32 a, float32 b", "float32 c", "c = (a - b) * (a - b)", "distance")
check("ElementwiseKernel", distance(on_x, on_y).get(), (x - y) ** 2)
norm = cupy.ReductionKernel("float32 a", "float32 b", "a * a", "a + b", "b = sqrt(a)", "0", "norm_of")
check("ReductionKernel", norm(on_x).get(), numpy.linalg.norm(x), 1e-4)


@cupy.fuse()
def fused(a, b):
    return cupy.exp(a) * b + 1


check("fused operations", fused(on_x, on_y).get(), numpy.exp(x) * y + 1)
check("arithmetic", (on_x * 2 + on_y / 3 - 1).get(), x * 2 + y / 3 - 1)
a, b = on_x.reshape(20, 50), on_y.reshape(50, 20)
check("a product of matrices", (a @ b).get(), a.get() @ b.get(), 1e-4)
check("a Fourier transform", cupy.fft.fft(on_x).get(), numpy.fft.fft(x), 1e-3)
pool = cupy.cuda.MemoryAsyncPool()
with cupy.cuda.using_allocator(pool.malloc):
    check("memory of a pool", (on_x * 2).get(), x * 2)
check("sine", cupy.sin(on_x).get(), numpy.sin(x))
check("a comparison and a choice", cupy.where(on_x > on_y, on_x, on_y).get(), numpy.maximum(x, y))
check("sum along an axis", on_x.reshape(20, 50).sum(axis=1).get(), x.reshape(20, 50).sum(axis=1), 1e-4)
check("minimum", on_x.min().get(), x.min())
check("running sum", cupy.cumsum(on_x).get(), numpy.cumsum(x), 1e-4)
check("sorting", cupy.sort(on_x).get(), numpy.sort(x))
check("a transposed copy", cupy.ascontiguousarray(on_x.reshape(20, 50).T).get(), x.reshape(20, 50).T)

if shutil.which("nvcc"):
    source = 'extern "C" __global__ void doubled(float* a) { a[threadIdx.x] *= 2; }'
    doubled = cupy.RawKernel(source, "doubled", backend="nvcc")
    copy = on_x.copy()
    doubled((1,), (1000,), (copy,))
    check("a kernel compiled by nvcc", copy.get(), 2 * x)
    print("kernel doubled")

for kernel in ("scale", "square", "distance", "norm_of", "cupy_multiply", "cupy_add", "cupy_sin", "cupy_where", "cublas",
               "cufft"):
    print("kernel", kernel)
