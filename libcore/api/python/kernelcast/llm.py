"""Which GPUs hold a language model, and how many tokens a second they make, from the model's config.json alone.

    python -m kernelcast.llm config.json --batch 8 --context 4096
    kernelcast.llm.project(config, batch=8, context=4096).frame()

The kernels are those of an engine for inference: products with the weights, attention over the cached keys and values,
norms and activations fused, each step as one CUDA graph; sizes are the config's (Llama, Mistral, Qwen, Gemma, Phi, and
mixtures of experts such as Mixtral, whose tokens are taken to spread evenly). Nothing is downloaded. Manual page:
kernelcast-python(3).

Limits: no speculative decoding, no paging of the cache, prompts of one length; with tensor parallelism all GPUs do the same,
and add up by NCCL's all-reduce twice a layer.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import records
from .library import KernelcastError, Status, devices as known_devices
from .operators import Answer, Issued, Operator, Recording, attention, collective, csv_text, named, product

if TYPE_CHECKING:
    import pandas

# Type of the products, and bytes of a weight with its scales: 4 bits in groups of 32 with a half as scale.
WEIGHTS = {
    "fp32": ("f32", 4.0),
    "fp16": ("f16", 2.0),
    "bf16": ("bf16", 2.0),
    "fp8": ("f8", 1.0),
    "int8": ("i8", 1.0),
    "int4": ("i4", 0.5625),
}


@dataclass(frozen=True)
class Config:
    """Sizes of a decoder, as Hugging Face's config.json has them."""

    layers: int
    hidden: int
    intermediate: int
    heads: int
    key_heads: int
    head_width: int
    vocabulary: int
    experts: int = 1
    experts_of_token: int = 1
    gated: bool = True
    tied: bool = False
    window: int = 0  # of the attention, 0: all
    name: str = "model"

    @staticmethod
    def read(source: str | os.PathLike | dict[str, Any]) -> Config:
        """From a file, or what is in it."""
        if isinstance(source, dict):
            values, place = source, "config"
        else:
            place = os.fspath(source)
            try:
                values = json.loads(Path(source).read_text())
            except OSError as error:
                raise KernelcastError(Status.IO, f"{place}: {error.strerror}") from None
            except json.JSONDecodeError as error:
                raise KernelcastError(
                    Status.BAD_DATA, f"{place}:{error.lineno}:{error.colno}: error: {error.msg}\nhint: a model's config.json"
                ) from None
        values = {**values, **values.get("text_config", {})} if isinstance(values, dict) else {}

        def number(*names: str, otherwise: int | None = None) -> int:
            for name in names:
                value = values.get(name)
                if value is not None:
                    if not isinstance(value, int) or isinstance(value, bool) or value <= 0:
                        raise KernelcastError(Status.BAD_DATA, f"{place}: '{name}' is {value!r}\nhint: a positive integer")
                    return value
            if otherwise is None:
                raise KernelcastError(Status.BAD_DATA, f"{place}: no '{names[0]}'\nhint: a config.json of a decoder")
            return otherwise

        hidden, heads = number("hidden_size", "n_embd", "d_model"), number("num_attention_heads", "n_head")
        activation = str(values.get("hidden_act") or values.get("activation_function") or "silu")
        window = values.get("sliding_window") if values.get("use_sliding_window", True) else None
        gpt2 = "n_embd" in values
        return Config(
            layers=number("num_hidden_layers", "n_layer"),
            hidden=hidden,
            intermediate=number("moe_intermediate_size", "intermediate_size", "n_inner", otherwise=4 * hidden),
            heads=heads,
            key_heads=number("num_key_value_heads", otherwise=heads),
            head_width=number("head_dim", otherwise=max(1, hidden // heads)),
            vocabulary=number("vocab_size"),
            experts=number("num_local_experts", "num_experts", "n_routed_experts", otherwise=1),
            experts_of_token=number("num_experts_per_tok", otherwise=1),
            gated=not gpt2 and values.get("model_type") not in ("phi", "gpt_neox", "opt", "falcon") and activation != "relu",
            tied=bool(values.get("tie_word_embeddings", gpt2)),
            window=window if isinstance(window, int) else 0,
            name=str(values.get("_name_or_path") or values.get("model_type") or "model"),
        )

    def _layer_weights(self) -> tuple[int, int]:
        """Numbers of a layer: of attention, of the experts together."""
        attention_ = self.hidden * self.head_width * (2 * self.heads + 2 * self.key_heads)
        return attention_, self.experts * (3 if self.gated else 2) * self.hidden * self.intermediate

    @property
    def parameters(self) -> int:
        embeddings = self.vocabulary * self.hidden * (1 if self.tied else 2)
        return embeddings + self.layers * (sum(self._layer_weights()) + 2 * self.hidden) + self.hidden

    def weight_bytes(self, width: float, parallel: int = 1) -> float:
        """On one of `parallel` GPUs; embeddings and norms stay in two bytes where weights have fewer."""
        matrices = self.layers * sum(self._layer_weights()) + self.vocabulary * self.hidden
        rest = self.parameters - matrices
        return (matrices * width + max(0, rest) * max(2.0, min(width, 4.0))) / parallel

    def cache_bytes(self, batch: int, context: int, width: float, parallel: int = 1) -> float:
        """Keys and values."""
        kept = min(context, self.window) if self.window else context
        heads = max(1, math.ceil(self.key_heads / parallel))
        return 2.0 * self.layers * heads * self.head_width * width * batch * kept


def step(
    config: Config,
    tokens: int,
    context: int,
    batch: int = 1,
    *,
    weights: str = "bf16",
    parallel: int = 1,
    title: str = "step",
    graph: bool = True,
) -> Recording:
    """A step of `batch` sequences that each take in `tokens` and then have `context`: many for a prompt, one to make one more."""
    if weights not in WEIGHTS:
        raise ValueError(f"weights={weights!r}: expected one of {', '.join(WEIGHTS)}")
    kind, width = WEIGHTS[weights]
    plain, half = ("f32", 4.0) if weights == "fp32" else (("bf16", 2.0) if weights == "bf16" else ("f16", 2.0))
    rows = batch * tokens
    issued: list[Issued] = []

    def add(operator: Operator, module: str) -> None:
        issued.append(Issued(operator, module))

    def matrix(name: str, columns: int, summed: int, count: int = rows, experts: int = 1) -> Operator:
        return product(name, kind, count, columns, summed, experts, width=half, weight_width=width)

    def norm(name: str) -> Operator:
        return Operator(name, named("rms_norm", plain, rows, config.hidden), 0, 2 * half * rows * config.hidden,
                        2 * half * rows * config.hidden)  # fmt: skip

    def pointwise(name: str, read: float, written: float) -> Operator:
        return Operator(name, named("elementwise", plain, written), 0, half * read, half * written)

    heads, key_heads = math.ceil(config.heads / parallel), max(1, math.ceil(config.key_heads / parallel))
    queries, shared = heads * config.head_width, key_heads * config.head_width
    inner = math.ceil(config.intermediate / parallel)
    seen = min(context, config.window) if config.window else context
    add(Operator("embed", named("gather", plain, rows * config.hidden), 0, half * rows * config.hidden,
                 half * rows * config.hidden), "embed")  # fmt: skip
    for _ in range(config.layers):
        add(norm("norm"), "attention")
        add(matrix("qkv", queries + 2 * shared, config.hidden), "attention")
        add(pointwise("rope", rows * (queries + 2 * shared), rows * (queries + 2 * shared)), "attention")
        add(attention("attention", plain, batch * heads, tokens, seen, config.head_width, width=half, causal=True,
                      key_heads=batch * key_heads), "attention")  # fmt: skip
        add(matrix("output", config.hidden, queries), "attention")
        if parallel > 1:
            add(collective("ncclAllReduce", half * rows * config.hidden, parallel), "attention")
        add(norm("norm"), "feed_forward")
        used, count = 1, rows
        if config.experts > 1:
            add(matrix("route", config.experts, config.hidden), "feed_forward")
            # Tokens that spread evenly: how many experts at least one of them takes, and how many each of these has.
            used = round(config.experts * (1 - (1 - config.experts_of_token / config.experts) ** rows))
            used = max(config.experts_of_token, min(config.experts, used))
            count = math.ceil(rows * config.experts_of_token / used)
        up = (2 if config.gated else 1) * inner
        add(matrix("up", up, config.hidden, count, used), "feed_forward")
        add(pointwise("activate", used * count * up, used * count * inner), "feed_forward")
        add(matrix("down", config.hidden, inner, count, used), "feed_forward")
        if parallel > 1:
            add(collective("ncclAllReduce", half * rows * config.hidden, parallel), "feed_forward")
    add(norm("norm"), "head")
    add(matrix("logits", math.ceil(config.vocabulary / parallel), config.hidden, batch), "head")
    weight_bytes = config.weight_bytes(width, parallel)
    cache = config.cache_bytes(batch, context, half, parallel)
    activations = half * rows * (2 * config.hidden + 3 * inner) + 4.0 * batch * config.vocabulary
    memory = {"weights": weight_bytes, "keys and values": cache, "activations": activations}
    return Recording(
        issued,
        {**{name: int(value) for name, value in memory.items()}, "peak": int(sum(memory.values()))},
        graph=graph,
        title=title,
    )


@dataclass
class Inference:
    """Devices that hold the model, most tokens a second first: {device, prefill_s, decode_s, tokens_per_s, cost...}."""

    config: Config
    rows: list[dict[str, Any]]
    lacking: list[str]
    memory_bytes: dict[str, int]
    batch: int
    context: int
    prompt: int
    weights: str
    parallel: int
    steps: tuple[Answer, Answer] = field(repr=False)

    def __getitem__(self, device: str) -> dict[str, Any]:
        return next(row for row in self.rows if row["device"] == device)

    def frame(self) -> pandas.DataFrame:
        return records.pandas_module().DataFrame(self.rows)

    def __str__(self) -> str:
        memory = self.memory_bytes
        each = "" if self.parallel == 1 else f" on each of {self.parallel}"
        lines = [
            f"{self.config.name}: {self.config.parameters / 1e9:.3g} billion parameters, {self.weights}; batch {self.batch}, "
            f"prompt {self.prompt}, context {self.context}",
            f"memory{each}: {memory['peak'] / 1e9:.3g} GB: weights {memory['weights'] / 1e9:.3g}, keys and values "
            f"{memory['keys and values'] / 1e9:.3g}, activations {memory['activations'] / 1e9:.3g}",
            f"    {'device':<18}{'prompt':>10}{'a token':>10}{'tokens/s':>10}   interval" + (
                "    per million tokens" if any(row.get("cost_per_million") for row in self.rows) else ""),
        ]  # fmt: skip
        for number, row in enumerate(self.rows[:10], 1):
            low, high = self.batch / row["decode_high_s"], self.batch / row["decode_low_s"]
            cost = f"    {row['cost_per_million']:.3g} {row['currency']}" if row.get("cost_per_million") else ""
            lines.append(
                f"{number:>2}  {row['device']:<18}{_time(row['prefill_s']):>10}{_time(row['decode_s']):>10}"
                f"{row['tokens_per_s']:>10.4g}   {low:.3g} to {high:.3g}{cost}"
            )
        if len(self.rows) > 10:
            lines.append(f"    and {len(self.rows) - 10} more that hold it")
        if self.lacking:
            shown = ", ".join(self.lacking[:6])
            more = f" and {len(self.lacking) - 6} more" if len(self.lacking) > 6 else ""
            lines.append(f"not ranked, as their memory is too small or a rate is not known: {shown}{more}")
        return "\n".join(lines) + "\n"


def _time(seconds: float) -> str:
    for factor, unit in ((1, "s"), (1e3, "ms")):
        if seconds * factor >= 1:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds * 1e6:.3g} us"


def project(
    config: Config | str | os.PathLike | dict[str, Any],
    devices: str | Iterable[str] | None = None,
    *,
    batch: int = 1,
    context: int = 4096,
    prompt: int | None = None,
    weights: str = "bf16",
    parallel: int = 1,
    system: str | None = None,
    prices: str | os.PathLike | None = None,
    graph: bool = True,
) -> Inference:
    """Tokens a second of `batch` sequences with `context` tokens, of which the first `prompt` (all but one unless given) are
    taken in at once. `parallel` GPUs share each layer, over the links of `system` where it is named. `prices` as
    kernelcast choose takes them."""
    config = config if isinstance(config, Config) else Config.read(config)
    prompt = max(1, context - 1) if prompt is None else prompt
    options = [*(["--system", system] if system else []), *(["--prices", os.fspath(prices)] if prices else [])]
    how = {"weights": weights, "parallel": parallel}
    # Their memory is that of the whole context.
    taking = step(config, prompt, prompt, batch, title="prefill", graph=graph, **how)
    making = step(config, 1, context, batch, title="decode", graph=graph, **how)
    memory = {name: max(taking.memory_bytes[name], making.memory_bytes[name]) for name in making.memory_bytes}
    taking.memory_bytes = making.memory_bytes = memory
    answers = tuple(recording.project(devices, host="none", options=options) for recording in (taking, making))
    prefill = {row["device"]: row for row in answers[0].ranking}
    rows = []
    for row in answers[1].ranking:
        device = row["device"]
        if device not in prefill:
            continue
        out = {
            "device": device,
            "prefill_s": prefill[device]["time_s"],
            "decode_s": row["time_s"],
            "decode_low_s": row["time_low_s"] or row["time_s"],
            "decode_high_s": row["time_high_s"] or row["time_s"],
            "tokens_per_s": batch / row["time_s"],
        }
        if row.get("price_per_hour"):
            hours = row["time_s"] / batch * 1e6 / 3600
            share = row["price_per_hour"] / (row.get("gpus_per_instance") or 1) * parallel
            out |= {"cost_per_million": hours * share, "currency": row["currency"]}
        rows.append(out)
    rows.sort(key=lambda row: -row["tokens_per_s"])
    names = [devices] if isinstance(devices, str) else list(devices) if devices else [d.id for d in known_devices()]
    lacking = [name for name in names if name not in {row["device"] for row in rows}]
    return Inference(config, rows, lacking, memory, batch, context, prompt, weights, parallel, answers)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m kernelcast.llm",
        description="Which GPUs hold a language model, and how many tokens a second they make.",
    )
    parser.add_argument("config", help="the model's config.json")
    parser.add_argument("--batch", type=int, default=1, help="sequences at a time (default 1)")
    parser.add_argument("--context", type=int, default=4096, help="tokens of each sequence (default 4096)")
    parser.add_argument("--prompt", type=int, help="tokens that are taken in at once (default: all but one)")
    parser.add_argument("--weights", choices=WEIGHTS, default="bf16", help="type of the weights (default bf16)")
    parser.add_argument("--parallel", type=int, default=1, metavar="GPUS", help="GPUs that share each layer (default 1)")
    parser.add_argument("--system", help="with --parallel: the system that they are in, such as hgx-h100")
    parser.add_argument("--device", action="append", help="only this device; may be repeated")
    parser.add_argument("--prices", help="prices of an hour, as of kernelcast choose")
    parser.add_argument("--csv", action="store_true", help="all devices as CSV")
    return parser


def main(arguments: list[str] | None = None) -> int:
    parser = _parser()
    options = parser.parse_args(arguments)
    for name in ("batch", "context", "parallel"):
        if getattr(options, name) < 1:
            parser.error(f"--{name} must be at least 1")
    try:
        out = project(
            options.config, options.device, batch=options.batch, context=options.context, prompt=options.prompt,
            weights=options.weights, parallel=options.parallel, system=options.system, prices=options.prices,
        )  # fmt: skip
    except KernelcastError as error:
        print(f"kernelcast.llm: error: {error.message}", file=sys.stderr)
        return int(error.status)
    if options.csv:
        print(csv_text(out.rows), end="")
    else:
        print(out, end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
