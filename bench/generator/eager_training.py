"""A training loop in eager PyTorch, as a good engineer writes it without torch.compile: what our step is compared with.

    eager_training.py BATCHES [--device cuda]

BATCHES is JSON: {"config": {...}, "batches": [[[id, ...], ...], ...]}. Weights are random. Commands come as lines of
JSON: {"make": "full" | "lora"} makes a model and its optimiser, {"layout": "packed" | "padded", "steps": n} trains n
steps, which takes turns with whoever else is measured. Each is answered by a line: {"seconds", "tokens", "loss"}.

Weights and what flows are bf16; AdamW is fused and has fp32 copies of what it trains, as our step has. The norm, the
rotary positions, the gate and the loss are written as Hugging Face's Llama writes them. Attention is flash attention,
over cumulative lengths (packed) or over texts with padding behind them (padded), which needs no mask: whoever measures
takes the faster one. LoRA has rank 32 on every linear layer, as PEFT computes it.
"""

import argparse
import json
import sys
import time

import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.attention import SDPBackend, sdpa_kernel

RANK, ALPHA = 32, 32.0
RATE = 1e-4


class Batch:
    """Ids, positions and targets as (rows, columns): one row where it is packed, -100 where nothing is learned."""

    def __init__(self, texts, layout, pinned):
        self.tokens = sum(map(len, texts))
        longest = max(map(len, texts))
        self.longest = longest
        if layout == "packed":
            ids = torch.tensor([sum(texts, [])])
            targets = torch.tensor([sum((text[1:] + [-100] for text in texts), [])])
            positions = torch.cat([torch.arange(len(text)) for text in texts])[None]
            lengths = torch.tensor([0] + [len(text) for text in texts]).cumsum(0).to(torch.int32)
        else:
            longest = -(-longest // 8) * 8
            ids = torch.tensor([text + [0] * (longest - len(text)) for text in texts])
            targets = torch.tensor([text[1:] + [-100] * (longest - len(text) + 1) for text in texts])
            positions = torch.arange(longest).expand(len(texts), longest).contiguous()
            lengths = None
        self.tensors = [ids, targets, positions, lengths]
        if pinned:
            self.tensors = [None if one is None else one.pin_memory() for one in self.tensors]

    def on(self, device):
        return [None if one is None else one.to(device, non_blocking=True) for one in self.tensors]


class Norm(nn.Module):
    def __init__(self, size, epsilon):
        super().__init__()
        self.weight, self.epsilon = nn.Parameter(torch.ones(size)), epsilon

    def forward(self, x):
        wide = x.to(torch.float32)
        wide = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + self.epsilon)
        return self.weight * wide.to(x.dtype)


class LoraLinear(nn.Module):
    def __init__(self, base):
        super().__init__()
        self.base = base
        self.a = nn.Parameter(torch.randn(RANK, base.in_features) * base.in_features**-0.5)
        self.b = nn.Parameter(torch.zeros(base.out_features, RANK))

    def forward(self, x):
        return self.base(x) + F.linear(F.linear(x, self.a), self.b) * (ALPHA / RANK)


def rotate_half(x):
    first, second = x.chunk(2, -1)
    return torch.cat((-second, first), -1)


class Attention(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.heads, self.kv_heads, self.size = config["heads"], config["kv_heads"], config["head_size"]
        hidden = config["hidden"]
        self.q_proj = nn.Linear(hidden, self.heads * self.size, bias=False)
        self.k_proj = nn.Linear(hidden, self.kv_heads * self.size, bias=False)
        self.v_proj = nn.Linear(hidden, self.kv_heads * self.size, bias=False)
        self.o_proj = nn.Linear(self.heads * self.size, hidden, bias=False)

    def forward(self, x, cosines, sines, lengths, longest):
        rows, columns, _ = x.shape
        query = self.q_proj(x).view(rows, columns, self.heads, self.size)
        key = self.k_proj(x).view(rows, columns, self.kv_heads, self.size)
        value = self.v_proj(x).view(rows, columns, self.kv_heads, self.size)
        query = query * cosines + rotate_half(query) * sines
        key = key * cosines + rotate_half(key) * sines
        if lengths is None:
            query, key, value = (one.transpose(1, 2) for one in (query, key, value))
            mixed = F.scaled_dot_product_attention(query, key, value, is_causal=True, enable_gqa=True).transpose(1, 2)
        elif x.is_cuda:
            mixed = torch.ops.aten._flash_attention_forward(
                query[0], key[0], value[0], lengths, lengths, longest, longest, 0.0, True, False)[0]
        else:
            mixed = self.text_by_text(query[0], key[0], value[0], lengths.tolist())
        return self.o_proj(mixed.reshape(rows, columns, -1))

    def text_by_text(self, query, key, value, starts):
        mixed = []
        for begin, end in zip(starts, starts[1:]):
            parts = (one[begin:end].transpose(0, 1)[None] for one in (query, key, value))
            mixed.append(F.scaled_dot_product_attention(*parts, is_causal=True, enable_gqa=True)[0].transpose(0, 1))
        return torch.cat(mixed)


class Layer(nn.Module):
    def __init__(self, config):
        super().__init__()
        hidden, inner, epsilon = config["hidden"], config["feed_forward"], config["norm_epsilon"]
        self.attention_norm, self.feed_forward_norm = Norm(hidden, epsilon), Norm(hidden, epsilon)
        self.attention = Attention(config)
        self.gate_proj = nn.Linear(hidden, inner, bias=False)
        self.up_proj = nn.Linear(hidden, inner, bias=False)
        self.down_proj = nn.Linear(inner, hidden, bias=False)

    def forward(self, x, *positions):
        x = x + self.attention(self.attention_norm(x), *positions)
        y = self.feed_forward_norm(x)
        return x + self.down_proj(F.silu(self.gate_proj(y)) * self.up_proj(y))


class Model(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.size, self.theta = config["head_size"], config["rope_theta"]
        self.embedding = nn.Embedding(config["vocabulary"], config["hidden"])
        self.layers = nn.ModuleList(Layer(config) for _ in range(config["layers"]))
        self.norm = Norm(config["hidden"], config["norm_epsilon"])
        for weight in self.parameters():
            if weight.dim() > 1:
                nn.init.normal_(weight, std=0.02)

    def angles(self, positions, dtype):
        steps = torch.arange(0, self.size, 2, device=positions.device, dtype=torch.float32) / self.size
        angles = positions[..., None].float() * self.theta**-steps
        angles = torch.cat((angles, angles), -1)[:, :, None]  # (rows, columns, 1, D)
        return angles.cos().to(dtype), angles.sin().to(dtype)

    def forward(self, ids, targets, positions, lengths, longest):
        x = self.embedding(ids)
        cosines, sines = self.angles(positions, x.dtype)
        for layer in self.layers:
            x = layer(x, cosines, sines, lengths, longest)
        logits = F.linear(self.norm(x), self.embedding.weight).float()
        return F.cross_entropy(logits.view(-1, logits.size(-1)), targets.view(-1), ignore_index=-100)


def add_adapters(module):
    for name, child in module.named_children():
        if isinstance(child, nn.Linear):
            setattr(module, name, LoraLinear(child))
        else:
            add_adapters(child)


class Training:
    def __init__(self, config, kind, device):
        torch.manual_seed(1)
        model = Model(config)
        if kind == "lora":
            model.requires_grad_(False)
            add_adapters(model)
        self.device, self.model = device, model.to(device, torch.bfloat16)
        self.trained = [one for one in self.model.parameters() if one.requires_grad]
        self.copies = [one.detach().float() for one in self.trained]
        for copy in self.copies:
            copy.grad = torch.zeros_like(copy)
        self.optimiser = torch.optim.AdamW(self.copies, lr=RATE, weight_decay=0.0, fused=True)

    def step(self, batch):
        tensors = batch.on(self.device)
        with sdpa_kernel([SDPBackend.FLASH_ATTENTION]):
            loss = self.model(*tensors, batch.longest)
            loss.backward()
        torch._foreach_copy_([copy.grad for copy in self.copies], [one.grad for one in self.trained])
        nn.utils.clip_grad_norm_(self.copies, 1.0)
        self.optimiser.step()
        with torch.no_grad():
            torch._foreach_copy_(self.trained, self.copies)
        for one in self.trained:
            one.grad = None
        return loss.detach()


def measured(training, batches, steps):
    synchronise = torch.cuda.synchronize if training.device.type == "cuda" else lambda: None
    synchronise()
    begin, tokens, losses = time.perf_counter(), 0, []
    for step in range(steps):
        batch = batches[step % len(batches)]
        losses.append(training.step(batch))
        tokens += batch.tokens
    synchronise()
    seconds = time.perf_counter() - begin
    return {"seconds": seconds, "tokens": tokens, "loss": losses[-1].item()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("batches")
    parser.add_argument("--device", default="cuda")
    options = parser.parse_args()
    with open(options.batches) as file:
        given = json.load(file)
    device, training = torch.device(options.device), None
    batches = {layout: [Batch(texts, layout, device.type == "cuda") for texts in given["batches"]]
               for layout in ("packed", "padded")}
    for line in sys.stdin:
        command = json.loads(line)
        if "make" in command:
            training = None  # its memory first
            training = Training(given["config"], command["make"], device)
            answer = {"torch": torch.__version__, "trained": sum(one.numel() for one in training.copies)}
        else:
            answer = measured(training, batches[command["layout"]], command["steps"])
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
