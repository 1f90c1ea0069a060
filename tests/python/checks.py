"""What the tests beside this one have in common. Variables: KERNELCAST_BIN, where the programs are; KERNELCAST_EXAMPLE,
the C example project.c, compiled."""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest

BESIDE = os.path.dirname(os.path.abspath(__file__))
OPENCL = """__kernel void saxpy(__global const float* x, __global float* y, float a, int n) {
  int i = get_global_id(0);
  if (i < n) y[i] += a * x[i];
}
"""
CUDA = """extern "C" __global__ void saxpy(const float* x, float* y, float a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] += a * x[i];
}
"""
with open(os.path.join(BESIDE, "saxpy.ptx")) as file:
    PTX = file.read()
HAS_CLANG = bool(shutil.which("clang-19") or os.path.exists("/usr/lib/llvm-19/bin/clang"))


def skip(why):
    """Ends a script whose tests cannot run here."""
    print("kernelcast-skipped:", why)
    raise SystemExit(0)


def program(name, *arguments, text=None):
    """What a program of the suite writes."""
    path = shutil.which(name, path=os.environ.get("KERNELCAST_BIN"))
    if path is None:
        raise unittest.SkipTest(f"no {name} in KERNELCAST_BIN")
    return subprocess.run([path, *arguments], input=text, stdout=subprocess.PIPE, text=True, check=True).stdout


def main():
    """Runs the tests of a script, with a cache of their own."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_CACHE_HOME"] = os.path.join(folder, "cache")
        os.environ.setdefault("TRITON_CACHE_DIR", os.path.join(folder, "triton"))
        outcome = unittest.main(module="__main__", exit=False, verbosity=2).result
    sys.exit(not outcome.wasSuccessful())
