"""JAX: what XLA compiles, with products by cuBLAS and solvers by cuSOLVER's own kernels."""
import sys

import jax
import jax.numpy as jnp
import numpy
from checks import check, skip
from jax import lax

try:
    jax.devices("cuda")
except RuntimeError as error:
    if "Unknown backend" not in str(error):
        raise
    skip("this JAX has no plug-in for CUDA")
random = numpy.random.default_rng(1)
x = random.random((100, 48), dtype=numpy.float32)


def softmax(a):
    e = numpy.exp(a - a.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


check("a fused function", jax.jit(lambda a: jnp.tanh(a) * 2 + a.sum(1, keepdims=True))(x), numpy.tanh(x) * 2 + x.sum(1, keepdims=True), 1e-4)
check("a product", jnp.dot(x, x.T), x @ x.T, 1e-3)


def loss(weights, a, labels):
    hidden = jnp.tanh(a @ weights[0])
    return -jnp.mean(jax.nn.log_softmax(hidden @ weights[1])[jnp.arange(100), labels])


weights = [random.standard_normal((48, 64), dtype=numpy.float32) / 7, random.standard_normal((64, 10), dtype=numpy.float32) / 8]
labels = random.integers(0, 10, 100)
value, gradients = jax.jit(jax.value_and_grad(loss))(weights, x, labels)
hidden = numpy.tanh(x @ weights[0])
likely = softmax(hidden @ weights[1])
check("a loss", value, -numpy.log(likely[numpy.arange(100), labels]).mean(), 1e-3)
likely[numpy.arange(100), labels] -= 1
check("its gradient", gradients[1], hidden.T @ likely / 100, 1e-3)

line = x[:, 0].copy()
check("a running sum", jnp.cumsum(line), numpy.cumsum(line), 1e-3)
check("sorting", jnp.sort(line), numpy.sort(line))
rolled = line.copy()
for _ in range(10):
    rolled = (rolled * 0.9 + 0.1 * numpy.roll(rolled, 1)).astype(numpy.float32)
check("a loop", jax.jit(lambda a: lax.fori_loop(0, 10, lambda _, v: v * 0.9 + 0.1 * jnp.roll(v, 1), a))(line), rolled)

q, k, v = (random.standard_normal((2, 32, 4, 16)).astype(numpy.float32) for _ in range(3))
weights_of = softmax(numpy.einsum("bthd,bshd->bhts", q, k) / 4)
check("attention", jax.jit(jax.nn.dot_product_attention)(q, k, v), numpy.einsum("bhts,bshd->bthd", weights_of, v), 1e-3)
check("a Fourier transform", jnp.fft.fft(line), numpy.fft.fft(line), 1e-3)

square = x.T @ x + 48 * numpy.eye(48, dtype=numpy.float32)
check("a solver", jnp.linalg.solve(square, x.T), numpy.linalg.solve(square, x.T), 1e-2)
check("eigenvalues", jnp.linalg.eigh(square)[0], numpy.linalg.eigh(square)[0], 1e-1)
with jax.default_device(jax.devices("cpu")[0]):
    expected = jax.random.normal(jax.random.key(0), (1000,))
check("random numbers, as on a CPU", jax.random.normal(jax.random.key(0), (1000,)), expected, 1e-4)
sys.stdout.flush()
for kernel in ("triton_softmax", "cublas", "cufft", "loop_"):
    print("kernel", kernel)
