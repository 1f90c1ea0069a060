"""PyTorch models without a GPU: operators against closed forms, memory, and what is refused. Needs torch (5 GB of packages
with PyPI's): not part of requirements.txt."""

import dataclasses
import importlib.util
import math
import resource
import subprocess
import sys
import tempfile
import unittest
from collections import Counter
from pathlib import Path

from checks import main, skip

try:
    import numpy
    import torch
    from torch import nn

    import kernelcast
    import kernelcast.torch
except ImportError as error:
    skip(error)


def record(model, *shape, **how):
    return kernelcast.torch.record(lambda: model, lambda: torch.zeros(*shape), **how)


def libraries(recording, operation):
    return Counter(
        one.operator.library for one in recording.issued if one.operator.library.split(":")[0] == operation
    )


class Operators(unittest.TestCase):
    def test_products_forward_and_backward(self):
        model = nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 16))
        forward = record(model, 8, 64)
        self.assertEqual(libraries(forward, "gemm"), {"gemm:f32:8x32x64x1": 1, "gemm:f32:8x16x32x1": 1})
        step = record(model, 8, 64, train=True)
        expected = {"gemm:f32:8x32x64x1": 1, "gemm:f32:8x16x32x1": 1, "gemm:f32:16x32x8x1": 1, "gemm:f32:32x64x8x1": 1,
                    "gemm:f32:8x32x16x1": 1}  # fmt: skip
        self.assertEqual(libraries(step, "gemm"), expected)
        self.assertEqual({one.phase for one in step.issued}, {"forward", "backward", "optimizer"})
        self.assertEqual({one.module for one in forward.issued if "gemm" in one.operator.library}, {"0", "2"})

    def test_half_precision_by_autocast_and_as_a_whole(self):
        model = nn.Sequential(nn.Linear(64, 64), nn.LayerNorm(64), nn.Softmax(-1))
        amp = record(model, 8, 64, amp="float16")
        self.assertEqual(list(libraries(amp, "gemm")), ["gemm:f16:8x64x64x1"])
        self.assertEqual(list(libraries(amp, "layer_norm")), ["layer_norm:f32:8x64"])  # as on CUDA
        self.assertEqual(list(libraries(amp, "softmax")), ["softmax:f32:8x64"])
        whole = record(model, 8, 64, dtype="bfloat16")
        self.assertEqual(list(libraries(whole, "layer_norm")), ["layer_norm:bf16:8x64"])

    def test_convolutions(self):
        plain = record(nn.Conv2d(8, 16, 3, padding=1, bias=False), 2, 8, 10, 10)
        self.assertEqual(list(libraries(plain, "convolution")), ["convolution:tf32:200x16x72x1"])
        depthwise = record(nn.Conv2d(8, 8, 3, padding=1, groups=8, bias=False), 2, 8, 10, 10)
        self.assertEqual(list(libraries(depthwise, "depthwise")), ["depthwise:f32:1600x9"])
        step = record(nn.Sequential(nn.Conv2d(8, 16, 3, padding=1, bias=False), nn.Conv2d(16, 4, 1, bias=False)), 2, 8, 10, 10, train=True)
        weights = {name for name in libraries(step, "convolution")}
        self.assertIn("convolution:tf32:16x72x200x1", weights)  # of the first layer's weights
        self.assertIn("convolution:tf32:200x16x4x1", weights)  # of what the second layer was given
        self.assertEqual(sum(one.operator.flop for one in step.issued if "convolution" in one.operator.library),
                         2 * 200 * 16 * 72 * 2 + 3 * 2 * 200 * 4 * 16)  # fmt: skip
        nested = record(nn.Conv2d(8, 16, 3, padding=1, bias=False), 2, 8, 10, 10, dtype="float16")
        self.assertEqual(len(libraries(nested, "layout")), 1)
        inner = record(nn.Conv2d(8, 16, 3, padding=1, bias=False), 2, 8, 10, 10, dtype="float16", channels_last=True)
        self.assertEqual(len(libraries(inner, "layout")), 0)

    def test_attention_is_one_kernel_each_way(self):
        class Attention(nn.Module):
            def __init__(self):
                super().__init__()
                self.scale = nn.Parameter(torch.ones(1))

            def forward(self, x):
                return nn.functional.scaled_dot_product_attention(x * self.scale, x, x, is_causal=True)

        step = record(Attention(), 2, 4, 128, 32, train=True)
        (forward, backward) = [one for one in step.issued if one.operator.library.startswith("attention")]
        self.assertEqual(forward.operator.library, "attention:f32:8x128x128x32")
        self.assertEqual(forward.operator.flop, 4 * 8 * 128 * 128 * 32 / 2)
        self.assertEqual(backward.operator.flop, 2.5 * forward.operator.flop)
        self.assertEqual(backward.phase, "backward")

    def test_recurrent_networks_have_products_in_each_step(self):
        inputs, hidden, steps, batch = 24, 32, 10, 4
        for kind, gates in ((nn.LSTM, 4), (nn.GRU, 3), (nn.RNN, 1)):
            model = kind(inputs, hidden, 2, bidirectional=True, batch_first=True)
            forward = libraries(record(model, batch, steps, inputs), "gemm")
            rows = gates * hidden
            expected = {f"gemm:tf32:{batch * steps}x{rows}x{inputs}x1": 2, f"gemm:tf32:{batch * steps}x{rows}x{2 * hidden}x1": 2,
                        f"gemm:tf32:{batch}x{rows}x{hidden}x1": 4 * steps}  # fmt: skip
            self.assertEqual(forward, expected)
            step = record(model, batch, steps, inputs, train=True)
            flop = {phase: sum(one.operator.flop for one in step.issued if one.phase == phase) for phase in ("forward", "backward")}
            self.assertEqual(flop["backward"], 2 * flop["forward"])
            self.assertEqual(sum(one.host_s > 1e-5 and "recurrent" in one.operator.kernel for one in step.issued), 2)
        with self.assertRaisesRegex(kernelcast.KernelcastError, "proj_size"):
            record(nn.LSTM(inputs, hidden, proj_size=8), steps, batch, inputs)

    def test_dropout_is_one_kernel_each_way(self):
        step = record(nn.Sequential(nn.Linear(8, 8), nn.Dropout(0.1)), 4, 8, train=True)
        self.assertEqual(list(libraries(step, "dropout")), ["dropout:f32:32"])
        self.assertEqual(len(libraries(step, "random")), 0)
        self.assertEqual(len(libraries(record(nn.Dropout(0.1), 4, 8), "dropout")), 0)

    def test_views_are_free_and_strides_of_zero_count_once(self):
        class Views(nn.Module):
            def forward(self, x):
                return x.view(64, 64).t().unsqueeze(0).expand(7, 64, 64) + 1

        (add,) = record(Views(), 4096).issued
        self.assertEqual((add.operator.read_bytes, add.operator.written_bytes), (4 * 4096, 4 * 7 * 4096))


class Together(unittest.TestCase):
    def test_gradients_are_averaged_in_buckets_beside_the_backward_pass(self):
        model = nn.Sequential(*(nn.Linear(1024, 1024, bias=False) for _ in range(10)))  # 4 MiB each
        one, eight = (record(model, 64, 1024, train=True, parallel=devices) for devices in (1, 8))
        together = [one.operator for one in eight.issued if one.operator.kind == "collective"]
        self.assertEqual({(each.kernel, each.devices) for each in together}, {("ncclAllReduce", 8)})
        self.assertEqual([each.read_bytes / 2**20 for each in together], [4, 28, 8])
        self.assertEqual(eight.memory_bytes["peak"] - one.memory_bytes["peak"], 40 * 2**20)
        rows = kernelcast.records.rows(eight.commands_csv())
        beside = [row for row in rows if row["kind"] == "collective"]
        self.assertEqual({row["stream"] for row in beside}, {"2"})
        last = beside[-1]["command"]
        after = [row for row in rows[:-1] if str(last) in row["after"].split(";")]
        self.assertEqual([row["kernel"] for row in after], ["c10d.bucket"])  # which copies the averages back
        times = {
            system: eight.project(["h100"], host="none", options=["--system", system]).time_s()
            for system in ("hgx-h100", "pcie5-8")
        }
        self.assertLess(one.project(["h100"], host="none").time_s(), times["hgx-h100"])
        self.assertLess(times["hgx-h100"], times["pcie5-8"])

    @unittest.skipUnless(torch.distributed.is_available(), "no torch.distributed")
    def test_tensor_parallel_layers(self):
        from torch.distributed.device_mesh import init_device_mesh
        from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module
        from torch.testing._internal.distributed.fake_pg import FakeStore

        torch.distributed.init_process_group("fake", rank=0, world_size=4, store=FakeStore())
        self.addCleanup(torch.distributed.destroy_process_group)
        mesh = init_device_mesh("cpu", (4,))

        def model():
            layers = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 64))
            return parallelize_module(layers, mesh, {"0": ColwiseParallel(), "2": RowwiseParallel()})

        try:
            made = kernelcast.torch.record(model, lambda: torch.zeros(32, 64))
        except (NotImplementedError, RuntimeError) as error:
            self.skipTest(f"DTensor without memory: {error}"[:200])
        self.assertEqual(libraries(made, "gemm"), {"gemm:f32:32x64x64x1": 2})
        (sum_,) = [one for one in made.issued if one.operator.kind == "collective"]
        self.assertEqual((sum_.operator.kernel, sum_.operator.read_bytes, sum_.operator.devices), ("ncclAllReduce", 4 * 32 * 64, 4))


class Memory(unittest.TestCase):
    def test_of_a_step_with_adamw(self):
        model = nn.Linear(1024, 1024, bias=False)
        step = record(model, 1, 1024, train=True)
        weights = 4 * 1024 * 1024
        self.assertEqual(step.memory_bytes["gradients"], weights)
        self.assertAlmostEqual(step.memory_bytes["optimizer"] / (2 * weights), 1, delta=0.01)
        self.assertGreaterEqual(step.peak_bytes, 4 * weights)
        self.assertLess(step.peak_bytes, 7 * weights)  # and what the optimizer makes on the way

    def test_activations_of_a_transformer(self):
        """Korthikanti et al., arXiv:2205.05198, equation 1: s b h (34 + 5 a s / h) bytes for a layer in 16 bits."""
        s, b, h, a = 512, 2, 256, 4

        class Layer(nn.Module):
            def __init__(self):
                super().__init__()
                self.norm, self.qkv, self.out = nn.LayerNorm(h), nn.Linear(h, 3 * h), nn.Linear(h, h)
                self.norm2, self.up, self.down = nn.LayerNorm(h), nn.Linear(h, 4 * h), nn.Linear(4 * h, h)
                self.drop, self.gelu = nn.Dropout(0.1), nn.GELU()

            def forward(self, x):
                q, k, v = (t.view(b, s, a, h // a).transpose(1, 2) for t in self.qkv(self.norm(x)).split(h, dim=2))
                weights = self.drop(torch.softmax(q @ k.transpose(2, 3) / 8, dim=-1))
                x = x + self.drop(self.out((weights @ v).transpose(1, 2).reshape(b, s, h)))
                return x + self.drop(self.down(self.gelu(self.up(self.norm2(x)))))

        def activations(layers):
            model = nn.Sequential(*(Layer() for _ in range(layers)))
            # An optimizer that needs little, so that the most is held where the backward pass begins.
            step = record(model, b, s, h, train=True, dtype="bfloat16", optimizer=lambda p: torch.optim.SGD(p, foreach=False))
            self.assertGreaterEqual(step.memory_bytes["reserved"], step.peak_bytes)
            return step.peak_bytes - step.memory_bytes["parameters and inputs"]

        expected = s * b * h * (34 + 5 * a * s / h)
        self.assertAlmostEqual((activations(8) - activations(4)) / 4 / expected, 1, delta=0.02)

    def test_what_is_computed_again_is_not_held(self):
        class Deep(nn.Module):
            def __init__(self, checkpoints):
                super().__init__()
                self.parts = nn.ModuleList(
                    nn.Sequential(nn.Linear(64, 64), nn.Dropout(0.5), nn.GELU(), nn.Linear(64, 64)) for _ in range(16)
                )
                self.checkpoints = checkpoints

            def forward(self, x):
                for part in self.parts:
                    x = torch.utils.checkpoint.checkpoint(part, x, use_reentrant=False) if self.checkpoints else part(x)
                return x

        plain, again = (record(Deep(checkpoints), 4096, 64, train=True) for checkpoints in (False, True))
        self.assertLess(again.peak_bytes, 0.5 * plain.peak_bytes)
        products = [sum(libraries(step, "gemm").values()) for step in (plain, again)]
        self.assertEqual(products[1] - products[0], 16)  # early stop: the last product of a part is not computed again

    def test_a_model_takes_none_here(self):
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        out = kernelcast.torch.record(
            lambda: nn.Sequential(*(nn.Linear(16384, 16384) for _ in range(8))), lambda: torch.zeros(64, 16384)
        )
        self.assertGreater(out.peak_bytes, 8 * 2**30)
        self.assertLess(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before, 2**20)  # KiB

    def test_a_model_that_is_there_stays_as_it_is(self):
        model = nn.Linear(4, 4)
        before = model.weight.detach().clone()
        kernelcast.torch.record(model, torch.zeros(2, 4), train=True, dtype="bfloat16")
        self.assertEqual(model.weight.dtype, torch.float32)
        self.assertTrue(torch.equal(model.weight, before))


def generated(recording):
    """Kernels that Inductor wrote, in order."""
    return [one.operator for one in recording.issued if one.operator.kind == "kernel"]


@unittest.skipUnless(importlib.util.find_spec("triton"), "no triton")
class Compiled(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        try:
            record(nn.ReLU(), 2, compile=True)
        except kernelcast.KernelcastError as error:
            raise unittest.SkipTest(error.message) from None

    def test_what_is_fused_goes_through_memory_once(self):
        class Chain(nn.Module):
            def forward(self, x, y):
                return torch.relu(x * 2 + y).sin()

        how = {"compile": True, "train": False}
        recording = kernelcast.torch.record(Chain(), (torch.zeros(1 << 20), torch.zeros(1 << 20)), **how)
        (kernel,) = generated(recording)
        self.assertEqual(len(recording.issued), 1)
        row = kernel.row(3)
        self.assertEqual((float(row["launches"]), row["kernel"]), (3, kernel.kernel))
        self.assertEqual(float(row["global_load_bytes"]), 3 * 2 * 4 * 2**20)
        self.assertEqual(float(row["global_store_bytes"]), 3 * 4 * 2**20)

    def test_results_are_those_of_the_cpu(self):
        class Norm(nn.Module):
            def forward(self, x, weight, bias):
                return nn.functional.layer_norm(nn.functional.gelu(x), (200,), weight, bias)

        x, weight, bias = torch.randn(37, 200), torch.randn(200), torch.randn(200)
        (kernel,) = generated(kernelcast.torch.record(Norm(), (x, weight, bias), compile=True))
        out = numpy.zeros((37, 200), numpy.float32)
        for launch in kernel.launches():
            sizes = [arg for arg in launch.args if isinstance(arg, int)]
            hidden = [arg for arg in launch.args[len(kernel.args) :]]
            args = [x.numpy(), weight.numpy(), bias.numpy(), out, *sizes, *hidden]
            dataclasses.replace(launch, args=args).emulate(outputs=[out])
            numpy.testing.assert_allclose(out, Norm()(x, weight, bias).numpy(), rtol=1e-4, atol=1e-5)

    def test_a_training_step(self):
        class Block(nn.Module):
            def __init__(self):
                super().__init__()
                self.norm, self.qkv, self.out = nn.LayerNorm(512), nn.Linear(512, 1536), nn.Linear(512, 512)

            def forward(self, x):
                q, k, v = (t.view(8, 512, 8, 64).transpose(1, 2) for t in self.qkv(self.norm(x)).split(512, 2))
                y = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
                return x + nn.functional.dropout(self.out(y.transpose(1, 2).reshape(8, 512, 512)), 0.1)

        eager, compiled = (record(Block(), 8, 512, 512, train=True, compile=way) for way in (False, True))
        for operation in ("gemm", "attention"):
            self.assertEqual(libraries(compiled, operation), libraries(eager, operation))
        self.assertEqual({one.phase for one in compiled.issued}, {"forward", "backward", "optimizer"})
        self.assertLess(compiled.memory_bytes["activations"], eager.memory_bytes["activations"])

    def test_what_memory_holds_keeps_kernels_inside_it(self):
        """Places in a pooling's window, and indices into a table, are what such memory can hold."""
        pooling = nn.Sequential(nn.Conv2d(3, 8, 3), nn.MaxPool2d(3, 2, 1))
        step = record(pooling, 2, 3, 32, 32, train=True, compile=True)
        self.assertIn("max_pool2d_with_indices_backward", "".join(one.kernel for one in generated(step)))
        step.kernels_csv()

        class Table(nn.Module):
            def __init__(self):
                super().__init__()
                self.table = nn.Embedding(1 << 16, 64)

            def forward(self, at):
                return self.table(at) * 2

        (kernel,) = generated(kernelcast.torch.record(Table, lambda: torch.zeros(1 << 14, dtype=torch.long), compile=True))
        distinct = (1 << 16) * (1 - (1 - 2.0**-16) ** (1 << 14))  # rows that random indices reach
        touched = float(kernel.row(1)["global_footprint_bytes"]) - (1 << 14) * (64 * 4 + 8)
        self.assertAlmostEqual(touched / (distinct * 64 * 4), 1, delta=0.1)


class Refused(unittest.TestCase):
    def test_what_depends_on_values(self):
        class Chooses(nn.Module):
            def forward(self, x):
                return x[x > 0]

        with self.assertRaisesRegex(kernelcast.KernelcastError, "depends on the values of its tensors"):
            record(Chooses(), 16)

    def test_gradients_of_a_forward_pass(self):
        with self.assertRaisesRegex(ValueError, "train"):
            record(nn.Linear(4, 4), 2, 4, parallel=2)

    def test_types_that_are_none(self):
        with self.assertRaisesRegex(ValueError, "float8x"):
            record(nn.Linear(4, 4), 2, 4, dtype="float8x")


class Command(unittest.TestCase):
    def run_it(self, *arguments):
        return subprocess.run([sys.executable, "-m", "kernelcast.torch", *arguments], capture_output=True, text=True)

    def test_rows_and_answer(self):
        with tempfile.TemporaryDirectory() as folder:
            script = Path(folder, "net.py")
            script.write_text("import torch\ndef net():\n    return torch.nn.Linear(512, 512), torch.zeros(64, 512)\n")
            kernels, commands = Path(folder, "k.csv"), Path(folder, "c.csv")
            done = self.run_it(f"{script}:net", "--train", "-o", str(kernels), "--commands", str(commands))
            self.assertEqual(done.returncode, 0, done.stderr)
            rows = kernelcast.records.rows(kernels.read_text())
            self.assertIn("gemm:f32:64x512x512x1", {row["library"] for row in rows})
            ordered = kernelcast.records.rows(commands.read_text())
            self.assertEqual(ordered[-1]["kind"], "wait")
            self.assertEqual(sum(row["launches"] for row in rows), len(ordered) - 1)
            done = self.run_it(f"{script}:net", "--device", "a100", "--device", "h100")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("fastest:", done.stdout)
            for wrong, status in (("net.py", 2), (f"{folder}/none.py:net", 4), (f"{script}:other", 2)):
                self.assertEqual(self.run_it(wrong).returncode, status, wrong)

    def test_times_of_operators_add_up(self):
        answer = kernelcast.torch.project(
            lambda: nn.Sequential(nn.Linear(4096, 4096), nn.ReLU(), nn.Linear(4096, 4096)),
            lambda: torch.zeros(4096, 4096),
            ["h100", "a100"],
            host="none",
        )
        self.assertEqual(answer.best, "h100")
        for device in ("a100", "h100"):
            kernels = answer.by("kernel", device=device)
            self.assertTrue(math.isclose(sum(row["part"] for row in kernels), 1))
            self.assertAlmostEqual(sum(row["time_s"] for row in kernels) / answer.time_s(device), 1, delta=0.02)
        self.assertEqual(answer.by("module")[0]["module"], "0")


if __name__ == "__main__":
    main()
