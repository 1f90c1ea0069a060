"""Kernels of CuPy, by what a RawKernel has; CuPy itself is not needed."""

import types
import unittest

import kernelcast
import kernelcast.cupy
import numpy
from checks import HAS_CLANG, main, skip

SOURCE = """extern "C" __global__ void scale(TYPE* a, double factor, int n) {
  extern __shared__ TYPE tile[];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  tile[threadIdx.x] = i < n ? a[i] : 0;
  __syncthreads();
  if (i < n) a[i] = factor * tile[threadIdx.x];
}
"""


class CuPy(unittest.TestCase):
    def setUp(self):
        self.args = (numpy.ones(1000, numpy.float32), 3.0, 1000)  # a Python float has 64 bits, as in CuPy

    def test_a_raw_kernel(self):
        kernel = types.SimpleNamespace(code=SOURCE, name="scale", options=("-DTYPE=float", "-std=c++14"))
        ranking = kernelcast.cupy.project(kernel, (8,), (128,), self.args, shared_mem=512, devices="a100")
        self.assertEqual(ranking.best.status, "ok")
        self.assertEqual(ranking.kernel["global_store_bytes"], 4000)
        self.assertEqual(ranking.kernel["shared_bytes"], 512)

    def test_a_source(self):
        options = {"options": ["-DTYPE=float"], "shared_mem": 512, "devices": "a100"}
        ranking = kernelcast.cupy.project(SOURCE, (8,), (128,), self.args, name="scale", **options)
        self.assertEqual(ranking.kernel["groups_total"], 8)
        with self.assertRaisesRegex(TypeError, "needs the name of its kernel"):
            kernelcast.cupy.project(SOURCE, (8,), (128,), self.args, **options)

    def test_too_little_shared_memory(self):
        with self.assertRaises(kernelcast.KernelcastError) as caught:
            kernelcast.cupy.project(SOURCE, 8, 128, self.args, name="scale", options=["-DTYPE=float"], devices="a100")
        self.assertEqual(caught.exception.status, kernelcast.Status.FINDING)


if __name__ == "__main__":
    if not HAS_CLANG:
        skip("no clang-19")
    main()
