"""Language models from their sizes: closed forms, published numbers of parameters, and answers of the suite's programs."""

import contextlib
import io
import json
import tempfile
import unittest
from pathlib import Path

from checks import main

import kernelcast
from kernelcast import llm
from kernelcast.operators import Issued, Operator, Recording, attention, named, product

LLAMA = {
    "model_type": "llama",
    "hidden_size": 4096,
    "intermediate_size": 14336,
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "vocab_size": 128256,
}


def config(**changes):
    return llm.Config.read({**LLAMA, **changes})


class Sizes(unittest.TestCase):
    def test_parameters_are_those_that_their_authors_state(self):
        self.assertAlmostEqual(config().parameters / 8.030e9, 1, delta=0.001)  # Llama 3 8B
        big = config(hidden_size=8192, intermediate_size=28672, num_hidden_layers=80, num_attention_heads=64)
        self.assertAlmostEqual(big.parameters / 70.55e9, 1, delta=0.001)  # Llama 3 70B
        mixtral = config(vocab_size=32000, num_local_experts=8, num_experts_per_tok=2)
        self.assertAlmostEqual(mixtral.parameters / 46.7e9, 1, delta=0.005)
        gpt2 = llm.Config.read({"n_embd": 768, "n_layer": 12, "n_head": 12, "vocab_size": 50257})
        self.assertAlmostEqual(gpt2.parameters / 124e6, 1, delta=0.01)

    def test_a_token_has_two_operations_for_each_weight_that_it_meets(self):
        step = llm.step(config(), 1, 1, weights="bf16")
        products = sum(one.operator.flop for one in step.issued if one.operator.library.startswith("gemm"))
        matrices = config().parameters - config().vocabulary * config().hidden - 65 * 4096
        self.assertEqual(products, 2 * matrices)
        read = sum(one.operator.read_bytes for one in step.issued if one.operator.library.startswith("gemm"))
        self.assertAlmostEqual(read / (2 * matrices), 1, delta=0.001)
        four = llm.step(config(), 1, 1, weights="int4")
        self.assertLess(sum(one.operator.read_bytes for one in four.issued), 0.3 * read)

    def test_keys_and_values(self):
        self.assertEqual(config().cache_bytes(1, 1, 2), 2 * 32 * 8 * 128 * 2)
        self.assertEqual(config().cache_bytes(4, 8192, 2, parallel=8), 4 * 8192 * 2 * 32 * 128 * 2)
        self.assertEqual(config(sliding_window=4096).cache_bytes(1, 9000, 2), config().cache_bytes(1, 4096, 2))

    def test_experts_are_read_as_far_as_tokens_take_them(self):
        sizes = {"num_local_experts": 8, "num_experts_per_tok": 2}
        up = [one.operator for one in llm.step(config(**sizes), 1, 1).issued if one.operator.kernel == "up"]
        self.assertEqual(up[0].library, named("gemm", "bf16", 1, 2 * 14336, 4096, 2))
        many = [one.operator for one in llm.step(config(**sizes), 512, 512).issued if one.operator.kernel == "up"]
        self.assertEqual(many[0].library, named("gemm", "bf16", 128, 2 * 14336, 4096, 8))

    def test_what_is_no_config_is_refused_with_its_place(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "config.json")
            for text, expected in (
                ('{"hidden_size": 4096,\n  oops}', "config.json:2:3: error:"),
                ('{"hidden_size": 4096}', "no 'num_attention_heads'"),
                (json.dumps({**LLAMA, "hidden_size": -1}), "'hidden_size' is -1"),
                ("[]", "no 'hidden_size'"),
            ):
                path.write_text(text)
                with self.assertRaisesRegex(kernelcast.KernelcastError, expected):
                    llm.Config.read(path)
            with self.assertRaisesRegex(kernelcast.KernelcastError, "No such file"):
                llm.Config.read(Path(folder, "absent.json"))


class Operators(unittest.TestCase):
    def test_operations_and_bytes(self):
        one = product("p", "f16", 3, 5, 7, 11, width=2)
        self.assertEqual((one.flop, one.read_bytes, one.written_bytes), (2 * 3 * 5 * 7 * 11, 2 * 11 * (21 + 35), 2 * 11 * 15))
        full = attention("a", "f16", 8, 64, 64, 32, width=2, causal=False)
        self.assertEqual(full.flop, 4 * 8 * 64 * 64 * 32)
        self.assertEqual(attention("a", "f16", 8, 64, 64, 32, width=2, causal=True).flop, full.flop / 2)
        self.assertEqual(attention("a", "f16", 8, 1, 64, 32, width=2, causal=True).flop, full.flop / 64)
        self.assertEqual(attention("a", "f16", 8, 64, 64, 32, width=2, causal=False, gradient=True).flop, 2.5 * full.flop)

    def test_operators_that_differ_in_bytes_alone_have_rows_of_their_own(self):
        a, b = (Operator("add", "elementwise:f32:100", 0, read, 400) for read in (400, 800))
        rows = kernelcast.records.rows(Recording([Issued(a), Issued(b), Issued(a)]).kernels_csv())
        self.assertEqual([(row["case"], row["launches"]) for row in rows], [("f32:100", 2), ("f32:100.2", 1)])
        self.assertEqual([row["global_load_bytes"] for row in rows], [800, 800])


class Answers(unittest.TestCase):
    def test_a_model_that_fits_is_ranked_and_one_that_does_not_is_named(self):
        out = llm.project(config(), ["h100", "rtx3080"], context=1024)
        self.assertEqual([row["device"] for row in out.rows], ["h100"])
        self.assertEqual(out.lacking, ["rtx3080"])  # 16 GB of weights
        self.assertIn("rtx3080", str(out))
        # Between what the memory gives at its peak, and half of it.
        least = out.memory_bytes["weights"] / 3.35e12
        self.assertTrue(least < out["h100"]["decode_s"] < 2 * least, out["h100"])
        self.assertGreater(out["h100"]["prefill_s"], 2 * 8e9 * 1023 / 990e12)

    def test_more_sequences_share_the_weights(self):
        one, many = (llm.project(config(), "h100", batch=batch, context=512)["h100"]["tokens_per_s"] for batch in (1, 16))
        self.assertTrue(8 < many / one < 16, many / one)

    def test_several_gpus_share_a_layer(self):
        alone = llm.project(config(), "a100", context=1024)["a100"]["decode_s"]
        shared = llm.project(config(), "a100", context=1024, parallel=4, system="dgx-a100")["a100"]["decode_s"]
        self.assertTrue(alone / 4 < shared < alone, (alone, shared))

    def test_the_command(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "config.json")
            path.write_text(json.dumps(LLAMA))
            with contextlib.redirect_stdout(io.StringIO()) as text:
                self.assertEqual(llm.main([str(path), "--device", "h100", "--csv"]), 0)
            self.assertTrue(text.getvalue().startswith("device,prefill_s,decode_s"))
            self.assertEqual(llm.main([str(Path(folder, "none.json"))]), 4)


if __name__ == "__main__":
    main()
