"""Kernels of Triton's tutorials: compiled for four targets of NVIDIA and one of AMD, run on the emulator, compared with
numpy, and projected.

Usage: tutorials.py TUTORIALS BIN RESULTS

TUTORIALS is the folder python/tutorials of Triton's repository, which this tree does not hold. Only the functions with
@triton.jit are taken from it, at their own lines, so that neither torch nor a GPU is needed. Writes into RESULTS:
  triton/TARGET/KERNEL.ptx   what Triton compiles
  triton.csv                 kernel,target,status,s_per_group: ok, wrong, or why it does not run; seconds to emulate a group
  triton-rows.csv            records of `miniemu`, of sizes that fill a device, with the column variant
"""

import ast
import csv
import importlib.util
import pathlib
import subprocess
import sys
import warnings

import numpy
import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

TARGETS = {"sm_80": 80, "sm_90a": 90, "sm_100a": 100, "sm_120a": 120}
AMD = "gfx942"
TYPES = {"float16": "fp16", "float32": "fp32", "int32": "i32", "int64": "i64", "uint64": "u64"}
BUFFERS = {"float16": "f16", "float32": "f32", "int32": "i32", "int64": "i64", "uint64": "u64"}
random = numpy.random.default_rng(1)


def functions_of(path, folder):
    """The module of a tutorial's @triton.jit functions, each at its own line; autotuners and hosts are left out."""
    text = path.read_text()
    lines = text.split("\n")
    kept = [""] * len(lines)
    kept[0] = "import triton; import triton.language as tl"
    for node in ast.parse(text).body:
        if not isinstance(node, ast.FunctionDef):
            continue
        if not any("triton.jit" in ast.unparse(d) for d in node.decorator_list):
            continue
        kept[node.lineno - 2] = "@triton.jit"
        kept[node.lineno - 1 : node.end_lineno] = lines[node.lineno - 1 : node.end_lineno]
    made = folder / (path.stem.replace("-", "_") + ".py")
    made.write_text("\n".join(kept) + "\n")
    spec = importlib.util.spec_from_file_location(made.stem, made)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Kernel:
    """A launch in two sizes: `small` is checked, `large` is projected. Each is a function that gives the arguments that are
    not constants (arrays, integers, floats), the grid, and the expected array of the argument `out`. A constant that differs
    is a pair. `least` is the oldest target."""

    def __init__(self, name, tutorial, function, small, large, constants, out, tolerance, warps=4, stages=3, least=80):
        self.name, self.tutorial, self.function = name, tutorial, function
        self.small, self.large, self.constants = small, large, constants
        self.out, self.tolerance, self.warps, self.stages, self.least = out, tolerance, warps, stages, least


def halves(*shape):
    return (random.standard_normal(shape) * 0.5).astype(numpy.float16)


def floats(*shape):
    return random.standard_normal(shape).astype(numpy.float32)


class Random:
    """An array whose values are not needed."""

    def __init__(self, dtype, count):
        self.dtype, self.size = dtype, count


def vector_add(n, checked):
    x, y = (floats(n), floats(n)) if checked else (Random("float32", n),) * 2
    return [x, y, Random("float32", n), n], (-(-n // 1024),), x + y if checked else None


def softmax(rows, columns, checked):
    x = floats(rows, columns) if checked else Random("float32", rows * columns)
    expected = None
    if checked:
        powers = numpy.exp(x - x.max(axis=1, keepdims=True))
        expected = powers / powers.sum(axis=1, keepdims=True)
    return [Random("float32", rows * columns), x, columns, columns, rows, columns], (min(rows, 432),), expected


def product(n, checked, grid, strides=True, extra=()):
    a, b = (halves(n, n), halves(n, n)) if checked else (Random("float16", n * n),) * 2
    expected = a.astype(numpy.float32) @ b.astype(numpy.float32) if checked else None
    return [a, b, Random("float16", n * n), n, n, n, *((n, 1, n, 1, n, 1) if strides else ()), *extra], grid, expected


def transposed_product(n, checked, grid):
    args, grid, _ = product(n, checked, grid, strides=False)
    expected = args[0].astype(numpy.float32) @ args[1].astype(numpy.float32).T if checked else None
    return args, grid, expected


def layer_norm(rows, columns, checked):
    x = halves(rows, columns) if checked else Random("float16", rows * columns)
    w, b = (halves(columns), halves(columns)) if checked else (Random("float16", columns),) * 2
    expected = None
    if checked:
        wide = x.astype(numpy.float32)
        apart = wide - wide.mean(axis=1, keepdims=True)
        expected = apart / numpy.sqrt(wide.var(axis=1, keepdims=True) + 1e-5) * w + b
    return (
        [
            x,
            Random("float16", rows * columns),
            w,
            b,
            Random("float32", rows),
            Random("float32", rows),
            columns,
            columns,
            1e-5,
        ],
        (rows,),
        expected,
    )


def layer_norm_sums(groups, columns, checked):
    dw, db = (
        (floats(groups, columns), floats(groups, columns)) if checked else (Random("float32", groups * columns),) * 2
    )
    return (
        [dw, db, Random("float32", columns), Random("float32", columns), groups, columns],
        (-(-columns // 128),),
        dw.sum(axis=0) if checked else None,
    )


def attention(heads, context, depth, checked):
    n = heads * context * depth
    q, k, v = (halves(heads, context, depth) for _ in range(3)) if checked else (Random("float16", n),) * 3
    expected = None
    if checked:
        scores = numpy.einsum("hid,hjd->hij", q.astype(numpy.float32), k.astype(numpy.float32)) * 0.125
        powers = numpy.tril(numpy.exp(scores - scores.max(axis=2, keepdims=True)))
        expected = powers / powers.sum(axis=2, keepdims=True) @ v.astype(numpy.float32)
    return (
        [0.125, Random("float32", heads * context), 1, heads, q, k, v, Random("float16", n), context],
        (context // 64, heads),
        expected,
    )


SQUARE = {"BLOCK_SIZE_M": 128, "BLOCK_SIZE_N": 128, "BLOCK_SIZE_K": 64, "GROUP_SIZE_M": 8}
KERNELS = [
    Kernel(
        "vector add",
        "01-vector-add",
        "add_kernel",
        lambda: vector_add(5000, True),
        lambda: vector_add(1 << 24, False),
        {"BLOCK_SIZE": 1024},
        2,
        1e-6,
    ),
    Kernel(
        "softmax",
        "02-fused-softmax",
        "softmax_kernel",
        lambda: softmax(9, 781, True),
        lambda: softmax(4096, 4096, False),
        {"BLOCK_SIZE": (1024, 4096), "num_stages": 2},
        0,
        1e-5,
        warps=8,
    ),
    Kernel(
        "matmul",
        "03-matrix-multiplication",
        "matmul_kernel",
        lambda: product(256, True, (4,)),
        lambda: product(4096, False, (1024,)),
        {**SQUARE, "ACTIVATION": ""},
        2,
        2e-2,
        warps=8,
    ),
    Kernel(
        "layer norm",
        "05-layer-norm",
        "_layer_norm_fwd_fused",
        lambda: layer_norm(7, 1000, True),
        lambda: layer_norm(4096, 8192, False),
        {"BLOCK_SIZE": (1024, 8192)},
        1,
        1e-2,
        warps=8,
    ),
    Kernel(
        "layer norm: sums of gradients",
        "05-layer-norm",
        "_layer_norm_bwd_dwdb",
        lambda: layer_norm_sums(96, 1000, True),
        lambda: layer_norm_sums(256, 8192, False),
        {"BLOCK_SIZE_M": 32, "BLOCK_SIZE_N": 128},
        2,
        1e-4,
    ),
    Kernel(
        "attention",
        "06-fused-attention",
        "_attn_fwd",
        lambda: attention(2, 256, 64, True),
        lambda: attention(64, 4096, 64, False),
        {
            "HEAD_DIM": 64,
            "BLOCK_M": 64,
            "BLOCK_N": 64,
            "FP8_OUTPUT": False,
            "STAGE": 3,
            "warp_specialize": False,
            "IS_HOPPER": False,
        },
        7,
        1e-2,
    ),
    Kernel(
        "persistent matmul",
        "09-persistent-matmul",
        "matmul_kernel_persistent",
        lambda: product(256, True, (3,)),
        lambda: product(4096, False, (132,)),
        {**SQUARE, "NUM_SMS": (3, 132)},
        2,
        2e-2,
        warps=8,
    ),
    Kernel(
        "persistent matmul: tensor maps",
        "09-persistent-matmul",
        "matmul_kernel_descriptor_persistent",
        lambda: transposed_product(256, True, (3,)),
        lambda: transposed_product(4096, False, (132,)),
        {**SQUARE, "EPILOGUE_SUBTILE": False, "NUM_SMS": (3, 132), "WARP_SPECIALIZE": False, "FLATTEN": False},
        2,
        2e-2,
        warps=8,
        least=90,
    ),
]


def compiled(kernel, function, args, constants, target):
    types, attributes, constants = {}, {}, dict(constants)
    given = [p for p in function.params if p.name not in constants]
    for parameter, argument in zip(given, args, strict=True):
        name = parameter.name
        if isinstance(argument, (numpy.ndarray, Random)):
            types[name] = "*" + TYPES[str(argument.dtype)]
            attributes[(parameter.num,)] = [["tt.divisibility", 16]]
        elif isinstance(argument, float):
            types[name] = "fp32"
        elif argument == 1:
            constants[name] = 1
        else:
            types[name] = "i32"
            if argument % 16 == 0:
                attributes[(parameter.num,)] = [["tt.divisibility", 16]]
    for name in constants:
        types[name] = "constexpr"
    source = ASTSource(function, {name: types[name] for name in function.arg_names}, constants, attributes)
    if target == AMD:  # as many work-items: half as many wavefronts of 64
        return triton.compile(
            source, target=GPUTarget("hip", AMD, 64), options={"num_warps": kernel.warps // 2, "num_stages": 2}
        )
    return triton.compile(
        source,
        target=GPUTarget("cuda", TARGETS[target], 32),
        options={"num_warps": kernel.warps, "num_stages": kernel.stages},
    )


def command(bin, folder, made, args, grid, expected, out, tolerance):
    """miniemu with these arguments; contents and what is expected are files."""
    data = made.metadata
    line = [
        bin / "miniemu",
        folder / "kernel.ptx",
        "-k",
        data.name,
        "--grid",
        ",".join(map(str, grid)),
        "-l",
        str(data.num_warps * 32),
        "--shared",
        str(data.shared),
        "--no-registers",
        "--quiet",
        "--timing",
    ]
    number = 0
    for at, argument in enumerate(args):
        if isinstance(argument, numpy.ndarray):
            argument.tofile(folder / f"{at}.bin")
            line += ["-a", f"buf:{BUFFERS[str(argument.dtype)]}:{argument.size}:file={folder}/{at}.bin"]
        elif isinstance(argument, Random):
            line += [
                "-a",
                f"buf:{BUFFERS[argument.dtype]}:{argument.size}:{'zero' if expected is not None or at == out else 'random'}",
            ]
        elif isinstance(argument, float):
            line += ["-a", f"f32:{argument}"]
        elif argument != 1:
            line += ["-a", f"i32:{argument}"]
        if isinstance(argument, (numpy.ndarray, Random)):
            if at == out and expected is not None:
                numpy.ascontiguousarray(expected, args[out].dtype).tofile(folder / "expected.bin")
                line += ["--check", f"{number}={folder}/expected.bin:{tolerance}"]
            number += 1
    blocks = numpy.prod(grid)
    scratch = getattr(data, "global_scratch_size", 0) * int(blocks)
    parameters = made.asm["ptx"].split(".entry", 1)[1].split(")", 1)[0].count(".param")
    passed = sum(isinstance(a, (numpy.ndarray, Random, float)) or a != 1 for a in args)
    for hidden in range(parameters - passed):
        line += ["-a", f"buf:u8:{scratch}:zero" if scratch and hidden == 0 else "null"]
    return line


def constants_of(kernel, large):
    return {name: value[large] if isinstance(value, tuple) else value for name, value in kernel.constants.items()}


def error_of(text):
    """The error of miniemu, without the place."""
    lines = [line for line in text.split("\n") if " error: " in line]
    return lines[-1].split(" error: ")[-1].split(": ", 1)[-1] if lines else text.strip().split("\n")[-1]


def run_one(kernel, function, target, bin, results, status, rows):
    folder = results / "triton" / target / kernel.name.replace(" ", "-").replace(":", "")
    folder.mkdir(parents=True, exist_ok=True)

    def note(what, seconds=""):
        print(f"{kernel.name}, {target}: {what}", file=sys.stderr)
        status.writerow([kernel.name, target, what, seconds])

    try:
        args, grid, expected = kernel.small()
        made = compiled(kernel, function, args, constants_of(kernel, 0), target)
        (folder / "kernel.ptx").write_text(made.asm["ptx"])
        small = command(bin, folder, made, args, grid, expected, kernel.out, kernel.tolerance)
        run = subprocess.run([*small, "--groups", "all", "-o", folder / "small.csv"], capture_output=True, text=True)
        if run.returncode:
            return note(error_of(run.stderr).split("cannot be executed: ")[-1].split(";")[0])
        args, grid, _ = kernel.large()
        made = compiled(kernel, function, args, constants_of(kernel, 1), target)
        (folder / "kernel.ptx").write_text(made.asm["ptx"])
        large = command(bin, folder, made, args, grid, None, kernel.out, kernel.tolerance)
        if target == "sm_80":
            listing = compiled(kernel, function, args, constants_of(kernel, 1), AMD).asm["amdgcn"]
            (folder / f"{AMD}.s").write_text(listing)
            large += ["--machine-code", "ptx", "--machine-code", f"{AMD}={folder}/{AMD}.s"]
        run = subprocess.run(
            [*large, "--label", f"variant={target}", "--label", f"name={kernel.name}"], capture_output=True, text=True
        )
        if run.returncode:
            return note("large: " + error_of(run.stderr))
        made_rows = list(csv.DictReader(run.stdout.splitlines()))
        rows += made_rows
        note("ok", float(made_rows[0]["emulation_s"]) / float(made_rows[0]["groups_emulated"]))
    except Exception as error:  # what Triton's compiler says of a target
        note(f"Triton: {type(error).__name__}: {str(error).splitlines()[0][:80] if str(error) else ''}")


def main():
    tutorials, bin, results = map(pathlib.Path, sys.argv[1:])
    warnings.simplefilter("ignore")
    source = results / "tutorials"
    source.mkdir(parents=True, exist_ok=True)
    rows = []
    with open(results / "triton.csv", "w", newline="") as file:
        status = csv.writer(file, lineterminator="\n")
        status.writerow(["kernel", "target", "status", "s_per_group"])
        for kernel in KERNELS:
            module = functions_of(tutorials / (kernel.tutorial + ".py"), source)
            for target, capability in TARGETS.items():
                if capability < kernel.least:
                    status.writerow([kernel.name, target, "–", ""])
                    continue
                run_one(kernel, getattr(module, kernel.function), target, bin, results, status, rows)
                file.flush()
    with open(results / "triton-rows.csv", "w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()
