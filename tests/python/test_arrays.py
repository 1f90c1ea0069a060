"""With numpy and pandas."""

import math
import tempfile
import unittest
from pathlib import Path

import kernelcast
import numpy
from checks import CUDA, HAS_CLANG, PTX, main, program


class Arrays(unittest.TestCase):
    def setUp(self):
        self.x = numpy.arange(1000, dtype=numpy.float32)
        self.y = numpy.ones(1000, numpy.float32)

    def project(self, *args, **named):
        return kernelcast.project(PTX, "saxpy", 4, 256, args, devices=["a100", "t4"], **named)

    def test_scalars_have_their_types(self):
        self.project(self.x, self.y, numpy.float32(2), numpy.int32(1000))
        with self.assertRaisesRegex(kernelcast.KernelcastError, "of 4 bytes"):
            self.project(self.x, self.y, numpy.float64(2), 1000)
        with self.assertRaisesRegex(kernelcast.KernelcastError, "of 4 bytes"):
            self.project(self.x, self.y, 2.0, numpy.int64(1000))

    def test_arrays_are_contiguous(self):
        with self.assertRaisesRegex(ValueError, r"argument 0: .*numpy.ascontiguousarray\(\)"):
            self.project(self.x[::2], self.y, 2.0, 500)

    def test_contents_are_read(self):
        source = PTX.replace("ld.param.u32 %r5, [n];", "ld.param.u64 %rd1, [x];\n ld.global.u32 %r5, [%rd1];")
        limits = numpy.full(7, 7, numpy.int32)
        ranking = kernelcast.project(source, "saxpy", 1, 32, [limits, self.y, 1.0, 0], devices="a100", cache=False)
        self.assertEqual(ranking.kernel["global_store_bytes"], 4 * 7)

    def test_outputs(self):
        matrix = self.y.reshape(10, 100)
        kernelcast.emulate(PTX, "saxpy", 4, 256, [self.x, matrix, 2.0, 1000], outputs=[matrix])
        numpy.testing.assert_array_equal(self.y, 2 * self.x + 1)

    @unittest.skipUnless(HAS_CLANG, "no clang-19")
    def test_outputs_of_cuda(self):
        kernelcast.emulate(CUDA, "saxpy", 4, 256, [self.y, self.x, 2.0, 1000], outputs=[self.x])
        numpy.testing.assert_array_equal(self.x, numpy.arange(1000) + 2)


class Frames(unittest.TestCase):
    def test_of_a_ranking(self):
        ranking = kernelcast.project(PTX, "saxpy", 1, 256, [None, None, 1.0, 0])
        frame = ranking.frame()
        self.assertEqual(list(frame.columns), list(kernelcast.Projection.__annotations__))
        self.assertEqual(len(frame), len(ranking))
        kinds = {name: frame[name].dtype.kind for name in ("rank", "time_s", "decided")}
        self.assertEqual(kinds, {"rank": "i", "time_s": "f", "decided": "b"})
        self.assertEqual(frame.iloc[0].device, ranking.best.device)

    def test_of_records(self):
        ranking = kernelcast.project(PTX, "saxpy", 1, 256, [None, None, 1.0, 0], devices="a100")
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "rows.csv")
            path.write_text(ranking.csv)
            for source in (ranking.csv, path, str(path)):
                frame = kernelcast.read(source)
                self.assertEqual(frame.kernel.dtype, "string")
                self.assertEqual(frame.groups_total.dtype, "int64")
                self.assertTrue(math.isnan(frame.vliw_ops_per_bundle[0]) or frame.vliw_ops_per_bundle[0] >= 1)
            projections = kernelcast.read(program("perfcast", "--device", "a100", str(path)))
        self.assertEqual(projections.time_s.dtype, "float64")
        self.assertEqual(projections.reason[0], "")

    def test_text_that_is_a_number(self):
        frame = kernelcast.read("kernel,case,time_s,mine\n64,1e3,1,2\n65,NA,,3\n")
        self.assertEqual(list(frame["kernel"]), ["64", "65"])
        self.assertEqual(list(frame["case"]), ["1e3", "NA"])
        self.assertEqual([str(frame[name].dtype) for name in ("time_s", "mine")], ["float64", "int64"])


if __name__ == "__main__":
    main()
