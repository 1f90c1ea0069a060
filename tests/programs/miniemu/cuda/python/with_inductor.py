"""torch.compile: kernels that Inductor writes for Triton, beside what PyTorch computes without it."""
import copy

import torch
import torch.nn.functional as F
from checks import check, skip
from torch import nn

if torch.version.cuda is None:
    skip("this torch is built without CUDA")


def agree(what, found, expected, tolerance=1e-3):
    check(what, found.detach().float().cpu().numpy(), expected.detach().float().numpy(), tolerance)


torch.manual_seed(1)
x = torch.randn(200, 96)


def pointwise(a):
    return torch.softmax(F.gelu(a) * 2 + 1, -1).sum(0)


agree("softmax and sums, fused", torch.compile(pointwise)(x.cuda()), pointwise(x))


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.qkv, self.out = nn.LayerNorm(64), nn.Linear(64, 192), nn.Linear(64, 64)

    def forward(self, a):
        q, k, v = self.qkv(self.norm(a)).chunk(3, -1)
        q, k, v = (t.unflatten(-1, (4, 16)).transpose(1, 2) for t in (q, k, v))
        return a + self.out(F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).flatten(2))


block, tokens = Block(), torch.randn(2, 48, 64)
compiled = torch.compile(copy.deepcopy(block).cuda())
expected, found = block(tokens), compiled(tokens.cuda())
agree("a block of a transformer", found, expected)
expected.square().sum().backward()
found.square().sum().backward()
agree("its gradients", compiled.qkv.weight.grad, block.qkv.weight.grad, 1e-2)

images = torch.randn(4, 3, 16, 16)
network = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.AdaptiveAvgPool2d(1)).eval()
with torch.no_grad():
    agree("a convolution", torch.compile(copy.deepcopy(network).cuda())(images.cuda()), network(images))

model = nn.Sequential(nn.Linear(96, 64), nn.ReLU(), nn.Linear(64, 10))
twin = copy.deepcopy(model).cuda()
labels = torch.arange(200) % 10
plain, fused = torch.optim.AdamW(model.parameters(), 1e-2), torch.optim.AdamW(twin.parameters(), 1e-2)
forward, step = torch.compile(twin), torch.compile(fused.step)
for _ in range(2):
    F.cross_entropy(model(x), labels).backward()
    plain.step()
    F.cross_entropy(forward(x.cuda()), labels.cuda()).backward()
    step()
agree("two steps of training", twin[0].weight, model[0].weight)


def product(a, b):
    return F.relu(a @ b)


captured = torch.compile(product, mode="reduce-overhead")
for _ in range(3):
    agree("as a CUDA graph", captured(x.cuda(), x.T.contiguous().cuda()), product(x, x.T))
for kernel in ("triton_per_fused", "triton_poi_fused", "aten.addmm", "aten.mm"):
    print("kernel", kernel)
