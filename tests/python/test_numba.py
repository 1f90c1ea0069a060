"""Kernels of Numba, compiled without a GPU; skipped where there is no NVVM."""

import unittest

from checks import main, skip

import kernelcast
import numpy

try:
    import kernelcast.numba
    from numba import complex64, cuda, float32, int64, types
    from numba.core.errors import NumbaError
except ImportError as error:
    skip(error)


@cuda.jit
def transposed(x, y, factor):
    i, j = cuda.grid(2)
    if i < x.shape[0] and j < x.shape[1]:
        y[j, i] = factor * x[i, j]


@cuda.jit
def chosen(x, how, z, flag):
    i = cuda.grid(1)
    if flag and i < how[1]:
        x[i] = z.real * how[0] + z.imag


class Numba(unittest.TestCase):
    def test_arrays(self):
        x = numpy.ones((96, 64), numpy.float32)
        y = numpy.zeros((64, 96), numpy.float32, order="F")
        ranking = kernelcast.numba.project(transposed, (3, 2), (32, 32), [x, y, 2.0], devices=["a100"])
        self.assertEqual(ranking.best.status, "ok")
        self.assertEqual(ranking.kernel["global_load_bytes"], x.nbytes)
        self.assertEqual(ranking.kernel["global_store_bytes"], y.nbytes)

    def test_results(self):
        x = numpy.random.default_rng(1).random((96, 64), numpy.float32)
        for order in "CF":
            y = numpy.zeros((64, 96), numpy.float32, order=order)
            kernelcast.numba.launch(transposed, (3, 2), (32, 32), [x, y, 2.0]).emulate([y])
            numpy.testing.assert_array_equal(y, 2 * x.T)
        out = numpy.zeros(128, numpy.float32)
        kernelcast.numba.launch(chosen, 2, 64, [out, (2, 100), 3 + 4j, True]).emulate([out])
        numpy.testing.assert_array_equal(out, [10.0] * 100 + [0] * 28)

    def test_tuples_complex_numbers_and_signatures(self):
        x = numpy.zeros(128, numpy.float32)
        args = [x, (2, 100), numpy.complex64(1 + 2j), True]
        for signature in (None, [float32[::1], types.UniTuple(int64, 2), complex64, types.boolean]):
            ranking = kernelcast.numba.project(chosen, 2, 64, args, signature=signature, devices="a100")
            self.assertEqual(ranking.kernel["global_store_bytes"], 400)

    def test_errors(self):
        x = numpy.ones((64, 64), numpy.float32)
        with self.assertRaisesRegex(ValueError, "not contiguous"):
            kernelcast.numba.launch(transposed, 1, 32, [x[:, ::2], x, 2.0])
        with self.assertRaisesRegex(TypeError, "the signature has 1 types, 3 arguments given"):
            kernelcast.numba.launch(transposed, 1, 32, [x, x, 2.0], signature=[float32])


if __name__ == "__main__":
    try:
        kernelcast.numba.launch(chosen, 1, 32, [numpy.zeros(1, numpy.float32), (1, 1), 1j, True])
    except (OSError, RuntimeError, NumbaError) as error:
        skip(f"Numba compiles nothing for CUDA here: {str(error).splitlines()[0]}")
    main()
