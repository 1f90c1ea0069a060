"""Warp: kernels that it compiles, arrays, reductions by tiles, gradients, and a graph."""
import numpy
import warp as wp
from checks import check

wp.init()
random = numpy.random.default_rng(1)
x = random.random(1000, dtype=numpy.float32)


@wp.kernel
def scale(a: float, x: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = a * x[i] + wp.sin(x[i])


@wp.kernel
def total(x: wp.array(dtype=float), out: wp.array(dtype=float)):
    wp.atomic_add(out, 0, x[wp.tid()])


@wp.struct
class Body:
    place: wp.vec3
    speed: wp.vec3


@wp.kernel
def fall(bodies: wp.array(dtype=Body), step: float):
    i = wp.tid()
    body = bodies[i]
    body.speed = body.speed + wp.vec3(0.0, -9.81, 0.0) * step
    body.place = body.place + body.speed * step
    bodies[i] = body


@wp.kernel
def tiles(a: wp.array2d(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    row = wp.tile_load(a[i], shape=64)
    wp.tile_store(out, wp.tile_sum(row), offset=i)


@wp.kernel
def squares(x: wp.array(dtype=float), loss: wp.array(dtype=float)):
    i = wp.tid()
    wp.atomic_add(loss, 0, x[i] * x[i])


on_x, out = wp.array(x, device="cuda"), wp.empty(1000, dtype=float, device="cuda")
wp.launch(scale, dim=1000, inputs=[2.0, on_x, out], device="cuda")
check("a kernel", out.numpy(), 2 * x + numpy.sin(x))

sums = wp.zeros(1, dtype=float, device="cuda")
wp.launch(total, dim=1000, inputs=[on_x, sums], device="cuda")
check("atomic sums", sums.numpy(), [x.sum()], 1e-4)

bodies = wp.zeros(10, dtype=Body, device="cuda")
for _ in range(3):
    wp.launch(fall, dim=10, inputs=[bodies, 0.1], device="cuda")
check("structures", bodies.numpy()["place"][:, 1], [-9.81 * 0.01 * 6] * 10, 1e-4)

rows = random.random((16, 64), dtype=numpy.float32)
of_rows = wp.zeros(16, dtype=float, device="cuda")
wp.launch_tiled(tiles, dim=[16], inputs=[wp.array(rows, device="cuda"), of_rows], block_dim=32, device="cuda")
check("tiles", of_rows.numpy(), rows.sum(1), 1e-4)

given = wp.array(x, device="cuda", requires_grad=True)
loss = wp.zeros(1, dtype=float, device="cuda", requires_grad=True)
with wp.Tape() as tape:
    wp.launch(squares, dim=1000, inputs=[given, loss], device="cuda")
tape.backward(loss)
check("gradients", given.grad.numpy(), 2 * x)

out.zero_()
with wp.ScopedCapture(device="cuda") as capture:
    wp.launch(scale, dim=1000, inputs=[1.0, on_x, out], device="cuda")
wp.capture_launch(capture.graph)
check("a graph", out.numpy(), x + numpy.sin(x))
for kernel in ("scale", "total", "fall", "tiles", "squares"):
    print("kernel", kernel)
