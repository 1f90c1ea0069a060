"""cupy.linalg: cuBLAS of the emulator, and cuSOLVER and cuSPARSE by their own kernels."""
import cupy
import numpy
from checks import check

random = numpy.random.default_rng(1)
for type_, tolerance in ((numpy.float64, 1e-6), (numpy.float32, 1e-2)):
    a, b = random.random((40, 40)).astype(type_), random.random((40, 3)).astype(type_)
    s = a @ a.T + 40 * numpy.eye(40, dtype=type_)
    on_a, on_b, on_s = cupy.asarray(a), cupy.asarray(b), cupy.asarray(s)
    for name in ("solve", "lstsq"):
        options = {"rcond": None} if name == "lstsq" else {}
        found, expected = (getattr(m.linalg, name)(*args, **options) for m, args in ((cupy, (on_s, on_b)), (numpy, (s, b))))
        first = (found, expected) if name == "solve" else (found[0], expected[0])
        check(name, first[0].get(), first[1], tolerance)
    for name in ("inv", "cholesky", "pinv", "eigvalsh"):
        scale = numpy.abs(getattr(numpy.linalg, name)(s)).max()
        check(name, getattr(cupy.linalg, name)(on_s).get() / scale, getattr(numpy.linalg, name)(s) / scale, tolerance)
    check("slogdet", cupy.linalg.slogdet(on_s)[1].get(), numpy.linalg.slogdet(s)[1], tolerance)
    q, r = cupy.linalg.qr(on_a)
    check("qr", (q @ r).get(), a, tolerance)
    u, values, v = cupy.linalg.svd(on_a)
    check("svd", ((u * values) @ v).get(), a, tolerance)
    values, vectors = cupy.linalg.eigh(on_s)
    check("eigh", ((vectors * values) @ vectors.T).get() / s.max(), s / s.max(), tolerance)
    check("norms", cupy.linalg.norm(on_a, axis=1).get(), numpy.linalg.norm(a, axis=1), tolerance)
    stacked = numpy.stack([s, 2 * s])
    check("several at once", cupy.linalg.inv(cupy.asarray(stacked)).get(), numpy.linalg.inv(stacked), tolerance)
c = random.random((20, 20)) + 1j * random.random((20, 20))
check("complex", cupy.linalg.inv(cupy.asarray(c)).get(), numpy.linalg.inv(c), 1e-6)
for kernel in ("cublas", "_ZN"):
    print("kernel", kernel)
