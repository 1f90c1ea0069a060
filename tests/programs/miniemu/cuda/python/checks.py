"""What the scripts beside this one have in common."""
import numpy


def check(what, found, expected, tolerance=1e-5):
    found, expected = numpy.asarray(found), numpy.asarray(expected)
    assert found.shape == expected.shape, f"{what}: shape {found.shape}, expected {expected.shape}"
    right = numpy.allclose(found, expected, rtol=tolerance, atol=tolerance)
    assert right, f"{what}: {found.ravel()[:8]}, expected {expected.ravel()[:8]}"
    print(what, "as numpy has it")


def skip(why):
    print("kernelcast-skipped:", why)
    raise SystemExit(0)
