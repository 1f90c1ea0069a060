"""Kernel Tuner's scripts without a GPU. They do what the examples of Kernel Tuner do, with smaller spaces.
KERNEL_TUNER_EXAMPLES may name the folder examples/cuda of its sources, of which three run."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import kernelcast
from checks import HAS_CLANG, main, skip

try:
    import kernel_tuner
    from kernelcast.kernel_tuner import only
except ImportError as error:
    skip(error)

VECTOR_ADD = '''
import numpy
from kernel_tuner import tune_kernel

source = """
__global__ void vector_add(float* c, float* a, float* b, int n) {
  int i = blockIdx.x * block_size_x + threadIdx.x;
  if (i < n) c[i] = WRONG a[i] + b[i];
}
"""
a, b = numpy.random.rand(2, 10000).astype(numpy.float32)
args = [numpy.zeros_like(a), a, b, numpy.int32(a.size)]
parameters = {"block_size_x": [32 * 2**i for i in range(7)]}
results, environment = tune_kernel("vector_add", source, a.size, args, parameters, OPTIONS)
print(environment["device_name"], len(results))
'''

OPENCL = """
import kernel_tuner, numpy

source = "__kernel void twice(__global float* x) { x[get_global_id(0)] *= 2; }"
x = numpy.ones(1024, numpy.float32)
kernel_tuner.tune_kernel("twice", source, x.size, [x], {"block_size_x": [32, 64]}, lang="opencl")
"""

# Tiles in shared memory, constant memory, a macro that makes some configurations too large, one that is wrong.
CONVOLUTION = '''
import kernel_tuner, numpy

source = """
#define WIDTH 256
#define BORDER (filter_width / 2 * 2)
#if block_size_y == 7
#error odd
#endif
__constant__ float weights[17 * 17];
__global__ void convolution(float* out, float const* in) {
  __shared__ float tile[block_size_y * tile_size_y + BORDER][block_size_x * tile_size_x + BORDER];
  int x0 = blockIdx.x * block_size_x * tile_size_x, y0 = blockIdx.y * block_size_y * tile_size_y;
  for (int y = threadIdx.y; y < block_size_y * tile_size_y + BORDER; y += block_size_y)
    for (int x = threadIdx.x; x < block_size_x * tile_size_x + BORDER; x += block_size_x)
      tile[y][x] = in[(y0 + y) * (WIDTH + BORDER) + x0 + x];
  __syncthreads();
  for (int ty = 0; ty < tile_size_y; ++ty)
    for (int tx = 0; tx < tile_size_x; ++tx) {
      int x = threadIdx.x + tx * block_size_x, y = threadIdx.y + ty * block_size_y;
      float sum = 0;
      for (int i = 0; i < filter_width; ++i)
        for (int j = 0; j < filter_width; ++j) sum += tile[y + i][x + j] * weights[i * filter_width + j];
      out[(y0 + y) * WIDTH + x0 + x] = sum;
    }
}
"""
width, filter_width = 256, 5
image = numpy.random.rand((width + filter_width - 1) ** 2).astype(numpy.float32)
out = numpy.zeros(width * width, numpy.float32)
weights = numpy.random.rand(filter_width**2).astype(numpy.float32)
parameters = {"filter_width": [filter_width], "block_size_x": [16, 32], "block_size_y": [4, 7, 32],
              "tile_size_x": [1, 8], "tile_size_y": [1, 8]}
kernel_tuner.tune_kernel("convolution", source, (width, width), [out, image], parameters,
    grid_div_x=["block_size_x", "tile_size_x"], grid_div_y=["block_size_y", "tile_size_y"],
    cmem_args={"weights": weights}, answer=[out, None], restrictions=["tile_size_x == tile_size_y"], lang="cupy",
    cache="convolution")
'''

MATMUL = '''
import kernel_tuner, numpy

source = """
#define N 128
extern "C" __global__ void matmul(float* c, float const* a, float const* b) {
  __shared__ float of_a[block_size_x][block_size_x], of_b[block_size_x][block_size_x * tile_size_x];
  int x = blockIdx.x * block_size_x * tile_size_x + threadIdx.x, y = blockIdx.y * block_size_x + threadIdx.y;
  float sum[tile_size_x] = {};
  for (int k = 0; k < N; k += block_size_x) {
    of_a[threadIdx.y][threadIdx.x] = a[y * N + k + threadIdx.x];
    for (int t = 0; t < tile_size_x; ++t)
      of_b[threadIdx.y][threadIdx.x + t * block_size_x] = b[(k + threadIdx.y) * N + x + t * block_size_x];
    __syncthreads();
    for (int i = 0; i < block_size_x; ++i)
      for (int t = 0; t < tile_size_x; ++t) sum[t] += of_a[threadIdx.y][i] * of_b[i][threadIdx.x + t * block_size_x];
    __syncthreads();
  }
  for (int t = 0; t < tile_size_x; ++t) c[y * N + x + t * block_size_x] = sum[t];
}
"""
a, b = numpy.random.rand(2, 128, 128).astype(numpy.float32)
args = [numpy.zeros_like(a), a, b]
parameters = {"block_size_x": [8, 16, 32], "block_size_y": [8, 16, 32], "tile_size_x": [1, 2, 4]}
kernel_tuner.tune_kernel("matmul", source, a.shape, args, parameters, grid_div_x=["block_size_x", "tile_size_x"],
    grid_div_y=["block_size_y"], restrictions=["block_size_x == block_size_y"], answer=[a @ b, None, None], atol=1e-3,
    metrics={"GFLOP/s": lambda p: 2e-6 * 128**3 / p["time"]}, iterations=32)
'''


class KernelTuner(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def tune(self, script, *options, fails=False):
        """Standard output and error of a script's run in the folder."""
        if not isinstance(script, Path):
            (self.folder / "tuning.py").write_text(script)
            script = "tuning.py"
        command = [sys.executable, "-m", "kernelcast.kernel_tuner", str(script), *options]
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(done.returncode != 0, fails, done.stdout + done.stderr)
        return done.stdout, done.stderr

    def simulated(self, name):
        """What Kernel Tuner reads from a cache file in simulation mode, by time."""
        path = self.folder / name
        results, _ = kernel_tuner.tune_cache(str(path), quiet=True)
        cached = json.loads(path.read_text())
        timed = [row for row in results if "__error__" not in row]
        self.assertEqual(len(timed), sum("__error__" not in row for row in cached["cache"].values()))
        return sorted(timed, key=lambda row: row["time"]), cached

    def vector_add(self, options="", wrong=""):
        return VECTOR_ADD.replace("OPTIONS", options).replace("WRONG", wrong)

    def test_vector_add_and_its_fastest_configurations(self):
        out, errors = self.tune(self.vector_add(), "--device", "A100", "--top", "2")
        self.assertIn("A100 SXM4 40GB 6", out)  # 2048 threads are no configuration
        self.assertEqual(errors, "kernelcast: the 2 fastest configurations are in tuning-a100-top.json\n")
        fastest, cached = self.simulated("tuning-a100.json")
        self.assertEqual(cached["device_name"], "A100 SXM4 40GB")
        self.assertLess(fastest[0]["time_low"], fastest[0]["time"])
        top = json.loads((self.folder / "tuning-a100-top.json").read_text())
        self.assertEqual([row["time"] for row in top], [row["time"] for row in fastest[:2]])
        out, _ = self.tune(
            self.vector_add("restrictions=only('tuning-a100-top.json')").replace(
                "import numpy", "import numpy\nfrom kernelcast.kernel_tuner import only"
            )
        )
        self.assertIn("A100 SXM4 40GB 2", out)

    def test_times_are_those_of_project(self):
        self.tune(OPENCL, "--device", "t4")
        fastest, _ = self.simulated("tuning-t4.json")
        source = "__kernel void twice(__global float* x) { x[get_global_id(0)] *= 2; }"
        for row in fastest:
            block = row["block_size_x"]
            expected = kernelcast.project(
                source, "twice", 1024 // block, block, [kernelcast.buffer(4096)], devices="t4"
            )
            self.assertAlmostEqual(row["time"] / (1e3 * expected.best.time_s), 1, places=6)

    def test_convolution(self):
        _, errors = self.tune(CONVOLUTION, "--device", "T4")
        self.assertEqual(errors.count("results of kernels are not checked"), 1)  # constant memory
        self.assertEqual(errors.count("has no time: bytes"), 0)
        self.assertEqual(errors.count("of shared memory for a work-group"), 1)
        self.assertEqual(errors.count("odd"), 1)
        fastest, cached = self.simulated("convolution.json")
        reasons = [row.get("__error__") for row in cached["cache"].values()]
        self.assertEqual(reasons.count("CompilationFailedConfig"), 4)
        self.assertGreater(reasons.count("RuntimeFailedConfig"), 0)
        self.assertGreater(len(fastest), 1)

    def test_matmul(self):
        self.tune(MATMUL)
        fastest, _ = self.simulated("tuning-a100.json")
        self.assertEqual(len(fastest), 9)

    def test_samples(self):
        self.tune(MATMUL, "--samples", "3", "--no-check")
        self.assertEqual(len(self.simulated("tuning-a100.json")[0]), 3)

    def test_answers_are_checked(self):
        self.tune(self.vector_add("answer=[a + b, None, None, None]"))
        out, errors = self.tune(self.vector_add("answer=[a + b, None, None, None]", wrong="1 +"), fails=True)
        self.assertIn("Kernel result verification failed", out + errors)
        self.tune(self.vector_add("answer=[a + b, None, None, None]", wrong="1 +"), "--no-check")

    def test_refusals(self):
        _, errors = self.tune(self.vector_add(), "--device", "a1000", fails=True)
        self.assertIn("did you mean 'a100'", errors)
        _, errors = self.tune(Path("none.py"), fails=True)
        self.assertIn("none.py: no such file", errors)
        with self.assertRaisesRegex(ValueError, "has no configurations"):
            (self.folder / "none.json").write_text("[]")
            only(self.folder / "none.json")

    @unittest.skipUnless(os.environ.get("KERNEL_TUNER_EXAMPLES"), "KERNEL_TUNER_EXAMPLES is not set")
    def test_its_own_examples(self):
        for name in ("vector_add", "matmul", "convolution"):
            for path in Path(os.environ["KERNEL_TUNER_EXAMPLES"]).glob(name + ".*"):
                shutil.copy(path, self.folder)
            self.tune(Path(name + ".py"), "--samples", "2")
            self.assertLessEqual(len(self.simulated(f"{name}-a100.json")[0]), 2)


if __name__ == "__main__":
    if not HAS_CLANG:
        skip("no clang-19")
    main()
