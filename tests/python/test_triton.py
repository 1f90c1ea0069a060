"""Kernels of Triton, compiled for sm_80 without a GPU."""

import unittest

from checks import main, skip

import kernelcast
import numpy

try:
    import kernelcast.triton
    import triton
    import triton.language as tl
except ImportError as error:
    skip(error)


@triton.jit
def vector_add(x, y, out, n, block: tl.constexpr):
    i = tl.program_id(0) * block + tl.arange(0, block)
    tl.store(out + i, tl.load(x + i, mask=i < n) + tl.load(y + i, mask=i < n), mask=i < n)


@triton.jit
def matmul(a, b, out, n, k, step, rows: tl.constexpr, columns: tl.constexpr, depth: tl.constexpr):
    i = tl.program_id(0) * rows + tl.arange(0, rows)
    j = tl.program_id(1) * columns + tl.arange(0, columns)
    d = tl.arange(0, depth)
    total = tl.zeros((rows, columns), tl.float32)
    for at in range(0, k, depth):
        of_a = tl.load(a + i[:, None] * k + (at + d)[None, :] * step)
        of_b = tl.load(b + (at + d)[:, None] * n + j[None, :] * step)
        total = tl.dot(of_a, of_b, total)
    tl.store(out + i[:, None] * n + j[None, :], total)


class Triton(unittest.TestCase):
    n = 256
    sizes = {"rows": 64, "columns": 32, "depth": 32}

    def arguments(self):
        a, b = numpy.ones((2, self.n, self.n), numpy.float16)
        return [a, b, numpy.zeros((self.n, self.n), numpy.float32), self.n, self.n, 1]

    def project(self, kernel, args, constexprs=None, **named):
        return kernelcast.triton.project(
            kernel, (self.n // 64, self.n // 32), args, constexprs, devices=["a100", "h100"], **named
        )

    def test_matmul(self):
        ranking = self.project(matmul, self.arguments(), self.sizes, num_warps=8)
        self.assertEqual([row.status for row in ranking], ["ok", "ok"])
        self.assertEqual(ranking.kernel["block_x"], 8 * 32)
        self.assertEqual(ranking.kernel["matrix_flop"], f"mma/f16/f32:{2 * self.n**3}")
        self.assertGreater(ranking.kernel["shared_bytes"], 0)
        self.assertEqual(ranking.kernel["global_store_bytes"], 4 * self.n**2)

    def test_results_of_matmul(self):
        random = numpy.random.default_rng(1)
        a, b = random.standard_normal((2, 64, 64)).astype(numpy.float16)
        out = numpy.zeros((64, 64), numpy.float32)
        launch = kernelcast.triton.launch(matmul, (1, 2), [a, b, out, 64, 64, 1], self.sizes)
        launch.emulate([out])
        numpy.testing.assert_allclose(out, a.astype(numpy.float32) @ b.astype(numpy.float32), rtol=1e-3, atol=1e-3)

    def test_buffers_and_compiled_kernels(self):
        buffer = kernelcast.buffer(2 * self.n**2)
        args = [buffer, buffer, *self.arguments()[2:]]
        with self.assertRaisesRegex(TypeError, "a Buffer has no type of Triton's; give signature="):
            self.project(matmul, args, self.sizes)
        types = {"a": "*fp16", "b": "*fp16"}
        compiled, passed = kernelcast.triton.compile(matmul, args, self.sizes, signature=types)
        self.assertEqual(len(passed), 5)  # step is 1: a constant
        expected = self.project(matmul, args, self.sizes, signature=types)
        self.assertEqual(self.project(compiled, passed).best.time_s, expected.best.time_s)

    def test_aligned_pointers_are_loaded_as_vectors(self):
        x = numpy.ones(1 << 16, numpy.float32)
        launch = kernelcast.triton.launch(vector_add, 64, [x, x, x.copy(), x.size], {"block": 1024})
        self.assertIn("ld.global.v4", launch.source)
        self.assertEqual(launch.project("a100").kernel["global_load_bytes"], 2 * x.nbytes)

    def test_scalars(self):
        x = numpy.ones(1024, numpy.float32)
        for n, parameter in ((1000, ".u32"), (numpy.int64(1000), ".u64"), (2**40, ".u64")):
            launch = kernelcast.triton.launch(vector_add, 1, [x, x, x.copy(), n], {"block": 1024})
            self.assertIn(f".param {parameter} vector_add_param_3", launch.source)
            stored = launch.project("a100").kernel["global_store_bytes"]
            self.assertEqual(stored, 4 * min(n, 1024))

    def test_errors(self):
        with self.assertRaisesRegex(TypeError, r"matmul takes 6 arguments \(a, b, out, n, k, step\), 2 given"):
            self.project(matmul, [None, None], self.sizes)


if __name__ == "__main__":
    main()
