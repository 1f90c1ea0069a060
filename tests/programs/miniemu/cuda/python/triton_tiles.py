"""What the scripts for sm_90 and sm_100 have in common: products of tiles that tensor maps describe, from the host and from the
kernel, in specialised warps."""
import numpy
import triton
import triton.language as tl

from checks import check, skip
from triton_device import Array, matmul

try:
    from triton.tools.tensor_descriptor import TensorDescriptor
except ImportError:
    skip("this Triton has no tensor descriptors")


workspaces = []  # of tensor maps that kernels make


def workspace(size, alignment, stream):
    workspaces.append(Array(numpy.zeros(size + alignment, numpy.int8)))
    return workspaces[-1]


triton.set_allocator(workspace)


@triton.jit
def matmul_of_tiles(a, b, out, k, rows: tl.constexpr, columns: tl.constexpr, depth: tl.constexpr):
    i, j = tl.program_id(0) * rows, tl.program_id(1) * columns
    total = tl.zeros((rows, columns), tl.float32)
    for at in range(0, k, depth):
        total = tl.dot(a.load([i, at]), b.load([at, j]), total)
    out.store([i, j], total.to(tl.float16))


@triton.jit
def persistent_matmul(a, b, out, m, n, k, rows: tl.constexpr, columns: tl.constexpr, depth: tl.constexpr,
                      specialised: tl.constexpr):
    of_a = tl.make_tensor_descriptor(a, [m, k], [k, 1], [rows, depth])
    of_b = tl.make_tensor_descriptor(b, [n, k], [k, 1], [columns, depth])
    of_out = tl.make_tensor_descriptor(out, [m, n], [n, 1], [rows, columns])
    across = tl.cdiv(n, columns)
    for tile in tl.range(tl.program_id(0), tl.cdiv(m, rows) * across, tl.num_programs(0), warp_specialize=specialised):
        i, j = tile // across * rows, tile % across * columns
        total = tl.zeros((rows, columns), tl.float32)
        for at in range(0, k, depth):
            total = tl.dot(of_a.load([i, at]), of_b.load([j, at]).T, total)
        of_out.store([i, j], total.to(tl.float16))


random = numpy.random.default_rng(1)
sizes = {"rows": 128, "columns": 128, "depth": 64}


def check_products(instruction):
    """`instruction`: a plain product must have it."""
    m, n, k = 200, 256, 192
    a = random.standard_normal((256, k)).astype(numpy.float16)
    b = random.standard_normal((k, n)).astype(numpy.float16)
    product = a.astype(numpy.float32) @ b.astype(numpy.float32)

    for name, of_a, of_b in (("float16", a, b), ("float32", a.astype(numpy.float32), b.astype(numpy.float32))):
        out = Array(numpy.zeros((256, n), numpy.float32))
        compiled = matmul[(2, 2)](Array(of_a), Array(of_b), out, 256, n, k, **sizes, num_stages=2, num_warps=4)
        check("matrix multiplication of " + name, out.get(), product, 1e-3)
        assert instruction in compiled.asm["ptx"], "no " + instruction + " in it"

    # 200 rows: the last tile ends beyond the tensors.
    out = Array(numpy.zeros((m, n), numpy.float16))
    tiles = (TensorDescriptor(Array(a[:m]), [m, k], [k, 1], [128, 64]), TensorDescriptor(Array(b), [k, n], [n, 1], [64, 128]),
             TensorDescriptor(out, [m, n], [n, 1], [128, 128]))
    compiled = matmul_of_tiles[(2, 2)](*tiles, k, **sizes, num_warps=8)
    check("tiles by tensor maps of the host", out.get(), product[:m], 1e-2)
    assert "cp.async.bulk.tensor" in compiled.asm["ptx"], "no tensor copy in it"

    for specialised in (False, True):
        out = Array(numpy.zeros((m, n), numpy.float16))
        compiled = persistent_matmul[(3,)](Array(a[:m]), Array(b.T), out, m, n, k, **sizes, specialised=specialised, num_warps=4)
        check("tiles by tensor maps of the kernel", out.get(), product[:m], 1e-2)
        assert "tensormap.replace" in compiled.asm["ptx"], "no tensor map is made"
    for kernel in ("matmul", "matmul_of_tiles", "persistent_matmul"):
        print("kernel", kernel)


def check_attention(kernel, **options):
    q, key, v = random.standard_normal((3, 256, 64)).astype(numpy.float16)
    out = Array(numpy.zeros((256, 64), numpy.float32))
    kernel[(2,)](Array(q), Array(key), Array(v), out, 256, 0.125, rows=128, columns=64, depth=64, num_warps=4, **options)
    scores = 0.125 * (q.astype(numpy.float32) @ key.astype(numpy.float32).T)
    powers = numpy.exp(scores - scores.max(axis=1, keepdims=True))
    name = kernel.fn.__name__
    check(name, out.get(), powers / powers.sum(axis=1, keepdims=True) @ v.astype(numpy.float32), 1e-2)
    print("kernel", name)
