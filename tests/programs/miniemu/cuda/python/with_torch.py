"""PyTorch: operators of its own, which the CPU does in the device's memory, beside a kernel of Triton's."""
import torch
import torch.nn.functional as F
from checks import check, skip
from torch import nn

if torch.version.cuda is None:
    skip("this torch is built without CUDA")

import triton
import triton.language as tl

torch.manual_seed(1)


@triton.jit
def scaled(x, out, factor, n, block: tl.constexpr):
    i = tl.program_id(0) * block + tl.arange(0, block)
    tl.store(out + i, tl.load(x + i, mask=i < n) * factor, mask=i < n)


def agree(what, found, expected, tolerance=1e-4):
    check(what, found.detach().float().cpu().numpy(), expected.detach().float().numpy(), tolerance)


def on_both(make):
    """What a function makes of a device."""
    return make("cuda"), make("cpu")


x = torch.randn(40, 24)
on = x.cuda()
agree("there and back", on, x)
agree("arithmetic", (on * 2 + 1) / 3 - on.T.reshape(40, 24), (x * 2 + 1) / 3 - x.T.reshape(40, 24))
agree("products", on @ on.T, x @ x.T)
agree("reductions", torch.stack([on.sum(), on.std(), on.amax()]), torch.stack([x.sum(), x.std(), x.amax()]))
agree("a cut of columns", on[:, 3:9].contiguous(), x[:, 3:9])
agree("indices", on[torch.tensor([3, 1, 3], device="cuda")], x[[3, 1, 3]])
agree("sorting", on.sort(dim=1).values, x.sort(dim=1).values)
agree("a choice", torch.where(on > 0, on, -on), x.abs())
agree("where it is positive", on[on > 0], x[x > 0])

changed = on.clone()
changed[2:5] = 7
changed.view(-1)[::5].add_(1)
expected = x.clone()
expected[2:5] = 7
expected.view(-1)[::5].add_(1)
agree("parts changed in place", changed, expected)
out = torch.empty(0, device="cuda")
torch.add(on, on, out=out)
agree("a result with memory of its own", out, x + x)
agree("half precision, and back", on.half().T.contiguous().float(), x.half().T.float())
agree("a type changed on the way", on.to("cpu", torch.float64), x.double())

torch.manual_seed(3)
one = torch.rand(5, device="cuda")
torch.manual_seed(3)
agree("random numbers again", torch.rand(5, device="cuda"), one.cpu())

twice = torch.empty_like(on)
scaled[(triton.cdiv(on.numel(), 256),)](on, twice, 2.0, on.numel(), 256)
agree("a kernel of Triton's between them", twice + 1, 2 * x + 1)


def trained(device):
    torch.manual_seed(5)
    model = nn.Sequential(
        nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.LayerNorm(8 * 64),
        nn.Linear(8 * 64, 10),
    ).to(device)  # fmt: skip
    images, labels = torch.randn(4, 3, 16, 16).to(device), torch.arange(4).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), 1e-2)
    for _ in range(3):
        loss = F.cross_entropy(model(images), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return torch.cat([parameter.flatten() for parameter in model.parameters()])


agree("three steps of training", *on_both(trained), 1e-3)


def attended(device):
    torch.manual_seed(6)
    q, k, v = (torch.randn(2, 4, 32, 16).to(device).requires_grad_() for _ in range(3))
    out = F.scaled_dot_product_attention(q, k, v, is_causal=True)
    out.square().sum().backward()
    return torch.stack([out, q.grad, k.grad, v.grad])


agree("attention and its gradients", *on_both(attended), 1e-3)
with torch.autocast("cuda", torch.float16):
    agree("mixed precision", F.linear(on, on), F.linear(x, x), 0.05)

weights = torch.randn(24, 24, device="cuda")
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    result = torch.relu(on @ weights)
for step in range(2):
    on.copy_(x + step)
    graph.replay()
    agree("a graph, replayed", result, torch.relu((x + step) @ weights.cpu()))

assert "device='cuda:0'" in repr(on) and torch.cuda.get_device_name() and torch.cuda.memory_allocated() > 0
for kernel in ("aten.mm", "aten.convolution", "aten.native_batch_norm", "scaled"):
    print("kernel", kernel)
