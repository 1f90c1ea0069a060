"""The package by ctypes alone: no package of PyPI is needed."""

import array
import ctypes
import math
import os
import pickle
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import kernelcast
from checks import CUDA, HAS_CLANG, OPENCL, PTX, main, program

ITEMS = 1 << 20


def saxpy(source=PTX, items=ITEMS, args=None, grid=None, block=256, kernel="saxpy", **named):
    if args is None:
        args = [kernelcast.buffer(4 * items), kernelcast.buffer(4 * items), 2.5, items]
    return kernelcast.project(source, kernel, grid or items // 256, block, args, **named)


class Projections(unittest.TestCase):
    def test_ptx_is_as_the_programs_have_it(self):
        with tempfile.TemporaryDirectory() as folder:
            path, rows = os.path.join(folder, "saxpy.ptx"), os.path.join(folder, "rows.csv")
            Path(path).write_text(PTX)
            buffer = f"buf:f32:{ITEMS}:zero"
            arguments = ["-a", buffer, "-a", buffer, "-a", "f32:2.5", "-a", f"i32:{ITEMS}"]
            Path(rows).write_text(program("miniemu", path, "-k", "saxpy", "-g", str(ITEMS), "-l", "256", *arguments))
            expected = kernelcast.records.rows(program("perfcast", "--device", "a100", rows))[0]
        found = saxpy(devices="a100").best
        self.assertEqual(found.device, "a100")
        self.assertAlmostEqual(found.time_s / expected["time_s"], 1, places=6)
        self.assertEqual(found.limiter, expected["limiter"])

    @unittest.skipUnless(HAS_CLANG and os.environ.get("KERNELCAST_EXAMPLE"), "no clang-19 or no example")
    def test_opencl_is_as_the_c_example_has_it(self):
        printed = subprocess.run(os.environ["KERNELCAST_EXAMPLE"], capture_output=True, text=True, check=True).stdout
        rows = [f"{p.rank:2}  {p.device:<12} {p.time_s:10.3e} s  {p.limiter}" for p in saxpy(OPENCL)[:5]]
        self.assertEqual(printed.splitlines(), rows)

    @unittest.skipUnless(HAS_CLANG, "no clang-19")
    def test_the_language_is_found(self):
        for source in (PTX, CUDA, OPENCL):
            self.assertEqual(saxpy(source, devices="a100").kernel["kernel"], "saxpy")

    @unittest.skipUnless(HAS_CLANG, "no clang-19")
    def test_a_file_with_what_it_includes(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "kernel.cl")
            path.write_text('#include "body.h"\n')
            Path(folder, "body.h").write_text(OPENCL)
            self.assertEqual(len(saxpy(path, devices=["a100", "t4"])), 2)

    def test_a_ranking(self):
        ranking = saxpy()
        self.assertEqual(len(ranking), len(kernelcast.devices()))
        times = [p.time_s for p in ranking if not math.isnan(p.time_s)]
        self.assertEqual(times, sorted(times))
        self.assertEqual(ranking.best, ranking[0])
        self.assertEqual(ranking.kernel["groups_total"], ITEMS // 256)
        self.assertEqual(ranking.kernel["global_load_bytes"], 8 * ITEMS)
        self.assertEqual(ranking.csv.count("\n"), 2)
        self.assertTrue(saxpy().from_cache)
        self.assertFalse(saxpy(cache=False).from_cache)

    def test_a_grid_is_in_blocks(self):
        ranking = saxpy(grid=(4, 2), block=(64, 1, 2), args=[None, None, 1.0, 0], devices="t4")
        names = [side + axis for side in ("grid_", "block_") for axis in "xyz"]
        self.assertEqual([ranking.kernel[name] for name in names], [4, 2, 1, 64, 1, 2])

    def test_arguments(self):
        x, y = array.array("f", [1.0] * 512), bytearray(2048)
        for a, n in ((1.0, 512), (ctypes.c_float(1), ctypes.c_uint32(512)), (1, -5)):
            self.assertEqual(len(saxpy(args=[x, y, a, n], grid=2, devices="a100")), 1)
        shared = kernelcast.buffer(2048)
        footprint = [
            saxpy(args=[first, second, 1.0, 512], grid=2, devices="a100").kernel["global_footprint_bytes"]
            for first, second in ((shared, shared), (shared, kernelcast.buffer(2048)))
        ]
        self.assertEqual(footprint[1], 2 * footprint[0])


class Errors(unittest.TestCase):
    def check_library(self, status, *parts, **named):
        with self.assertRaises(kernelcast.KernelcastError) as caught:
            saxpy(**{"devices": "a100", **named})
        self.assertEqual(caught.exception.status, status)
        for part in parts:
            self.assertIn(part, str(caught.exception))
        return caught.exception

    def test_of_the_library(self):
        status, buffer = kernelcast.Status, kernelcast.buffer(4096)
        error = self.check_library(status.USAGE, "no kernel 'saxpi'", "did you mean 'saxpy'", kernel="saxpi")
        self.assertEqual(pickle.loads(pickle.dumps(error)).message, error.message)
        self.check_library(status.USAGE, "takes 4 arguments, 3 given", args=[buffer, buffer, 1.0])
        self.check_library(status.USAGE, "of 4 bytes", args=[buffer, buffer, 1.0, ctypes.c_int64(1)])
        self.check_library(status.UNAVAILABLE, "no device 'a1000'", "did you mean 'a100'", devices="a1000")
        self.check_library(status.FINDING, "global load", args=[buffer, kernelcast.buffer(16), 1.0, 1024])
        self.check_library(status.BAD_DATA, source=PTX.replace(".entry saxpy(", ".entry saxpy"))
        self.check_library(status.IO, "no device database", database="/nonexistent")
        self.check_library(status.IO, "/nonexistent.cl", source=Path("/nonexistent.cl"))

    def check_python(self, kind, part, **named):
        with self.assertRaisesRegex(kind, part):
            saxpy(**{"devices": "a100", **named})

    def test_of_the_package(self):
        buffer = kernelcast.buffer(4096)
        self.check_python(
            OverflowError, "argument 3: 1099511627776 does not fit in 32 bits", args=[buffer, buffer, 1.0, 1 << 40]
        )
        self.check_python(TypeError, "argument 2: a str; pass", args=[buffer, buffer, "1", 1])
        self.check_python(ValueError, "argument 0: .*not contiguous", args=[memoryview(bytes(64))[::2], buffer, 1.0, 1])
        self.check_python(ValueError, "block=0: expected 1 to 3 positive integers", block=0)
        self.check_python(ValueError, "grid=.*: expected 1 to 3", grid=(1, 2, 3, 4))
        self.check_python(ValueError, "neither PTX nor CUDA", source="hello")
        self.check_python(ValueError, "expected one of opencl, cuda, ptx", language="hip")
        self.check_python(TypeError, "options is a list", options="-DN=4")
        self.check_python(ValueError, "devices is empty", devices=[])

    def test_without_a_library(self):
        script = "import kernelcast; kernelcast.devices()"
        environment = {**os.environ, "KERNELCAST_LIBRARY": "/nonexistent/libkernelcast.so"}
        done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True)
        self.assertIn("hint: install it (make install), or set KERNELCAST_LIBRARY", done.stderr)


class Emulations(unittest.TestCase):
    def test_counts(self):
        emulation = kernelcast.emulate(PTX, "saxpy", 2, 256, [None, None, 1.0, 0])
        self.assertEqual(emulation.kernel["groups_total"], 2)
        self.assertEqual(emulation.kernel["global_load_bytes"], 0)

    def test_outputs(self):
        x, y = array.array("f", range(1000)), array.array("f", [1.0] * 1000)
        kernelcast.emulate(PTX, "saxpy", 4, 256, [x, y, 2.0, 1000], outputs=[y])
        self.assertEqual(list(y), [2.0 * i + 1 for i in range(1000)])
        kernelcast.emulate(PTX, "saxpy", 4, 256, [x, y, 2.0, 1000])
        self.assertEqual(y[1], 3.0)  # not an output

    def test_outputs_that_are_not_right(self):
        x = array.array("f", [0.0] * 256)
        with self.assertRaisesRegex(ValueError, "not among the arguments"):
            kernelcast.emulate(PTX, "saxpy", 1, 256, [x, x, 2.0, 256], outputs=[bytearray(4)])
        fixed = bytes(1024)
        with self.assertRaisesRegex(ValueError, "argument 1: an output that cannot be written"):
            kernelcast.emulate(PTX, "saxpy", 1, 256, [x, fixed, 2.0, 256], outputs=[fixed])


if __name__ == "__main__":
    main()
