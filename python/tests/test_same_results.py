"""A module and the task that the bridge makes of it give the same outputs and leave the same state behind."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from graph_runner import expect_same_results

modules = {
    "linear_gelu": """
        class Model(nn.Module):
            def __init__(self, width, approximate):
                super().__init__()
                self.fc = nn.Linear(width, 6)
                self.approximate = approximate
            def forward(self, x):
                return F.gelu(self.fc(x), approximate=self.approximate)
        def get_inputs(): return [torch.randn(3, 8)]
        def get_init_inputs(): return {"width": 8, "approximate": "tanh"}
        """,
    "batch_norm_in_training": """
        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.conv = nn.Conv2d(3, 4, 3, padding=1)
                self.bn = nn.BatchNorm2d(4)
            def forward(self, x): return F.relu(self.bn(self.conv(x)), inplace=True)
        def get_inputs(): return [torch.rand(2, 3, 5, 5)]
        """,
    "batch_norm_of_statistics": """
        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.bn = nn.BatchNorm1d(4)
                self.eval()
            def forward(self, x): return self.bn(x)
        def get_inputs(): return [torch.rand(2, 4)]
        """,
    "residual_written_in_place": """
        class Model(nn.Module):
            def forward(self, x):
                y = x * 2
                z = y + 1
                y += x
                y.relu_()
                return y - z, y
        def get_inputs(): return [torch.randn(4, 4)]
        """,
    "what_works_in_place_keeps_its_dtype": """
        class Model(nn.Module):
            def forward(self, x, bias):
                y = (x * 2).half()
                y += bias
                above = x * 1
                above.gt_(0.5)
                return y, above
        def get_inputs(): return [torch.randn(4, 8), torch.randn(8)]
        """,
    "copies_of_inputs_are_written": """
        class Model(nn.Module):
            def forward(self, x):
                half, turned, flat, copied = x.half(), x.t().contiguous(), x.t().reshape(-1), x.to(torch.float32, copy=True)
                half += 1
                turned *= 2
                flat.relu_()
                copied.neg_()
                return half, turned, flat, copied, x + 1
        def get_inputs(): return [torch.randn(4, 8)]
        """,
    "a_view_is_written": """
        class Model(nn.Module):
            def forward(self, x):
                y = x.clone()
                y[:, 0] = 7.0
                y[1].mul_(2)
                return y
        def get_inputs(): return [torch.randn(4, 4)]
        """,
    "several_outputs": """
        class Model(nn.Module):
            def forward(self, x):
                values, where = torch.max(x, dim=1)
                parts = torch.split(x, 2, dim=1)
                return {"values": values, "rest": [where, parts[1]]}
        def get_inputs(): return [torch.randn(4, 6)]
        """,
    "named_inputs_of_many_kinds": """
        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.table = nn.Embedding(10, 4)
            def forward(self, tokens, mask, scale=2.0):
                return self.table(tokens).masked_fill(mask.unsqueeze(-1), float("-inf")) * scale
        def get_inputs():
            return {"mask": torch.zeros(2, 3, dtype=torch.bool), "tokens": torch.randint(0, 10, (2, 3))}
        """,
    "strides": """
        class Model(nn.Module):
            def forward(self, x): return x.contiguous() + x
        def get_inputs(): return [torch.randn(4, 6).t()]
        """,
    "lstm": """
        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.lstm = nn.LSTM(4, 5, num_layers=2, batch_first=True)
            def forward(self, x, h, c): return self.lstm(x, (h, c))[0]
        def get_inputs(): return [torch.randn(2, 3, 4), torch.zeros(2, 2, 5), torch.zeros(2, 2, 5)]
        """,
    "a_constant_of_its_own": """
        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.offsets = torch.tensor([1.0, 2.0, 3.0])
                self.register_buffer("scale", torch.tensor([2.0, 2.0, 4.0]), persistent=False)
            def forward(self, x): return x * self.scale + self.offsets + torch.tensor([0.5, 0.0, 0.0])
        def get_inputs(): return [torch.randn(2, 3)]
        """,
    "shared_weights": """
        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.first = nn.Linear(4, 4)
                self.second = nn.Linear(4, 4)
                self.second.weight = self.first.weight
            def forward(self, x): return self.second(self.first(x))
        def get_inputs(): return [torch.randn(2, 4)]
        """,
    "half_precision": """
        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.fc = nn.Linear(4, 4).half()
            def forward(self, x): return self.fc(x).float().softmax(-1)
        def get_inputs(): return [torch.randn(2, 4, dtype=torch.float16)]
        """,
    "autocast": """
        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.fc = nn.Linear(4, 6)
                self.bn = nn.BatchNorm1d(6)
            def forward(self, x):
                with torch.autocast("cpu", dtype=torch.bfloat16):
                    y = F.gelu(self.fc(x))
                with torch.no_grad():
                    y = y.float() * 2
                return self.bn(y), y
        def get_inputs(): return [torch.randn(8, 4)]
        """,
    "autocast_inside_of_operators": """
        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.lstm, self.gru, self.cell = nn.LSTM(8, 8, 2, bidirectional=True), nn.GRU(8, 8), nn.LSTMCell(8, 8)
            def forward(self, x):
                with torch.autocast("cpu", dtype=torch.bfloat16):
                    with torch.autocast("cpu", enabled=False):
                        exact = torch.einsum("bij,bkj->bik", x, x)
                    product, sum = torch.einsum("bij,bkj->bik", x, x), torch.einsum("bij->bi", x)
                    recurrent = *self.lstm(x), self.gru(x), self.cell(x[0])
                    return exact, product, sum, recurrent, torch.tensordot(x, x, ([2], [2])), F.dropout(x.flatten(1), 0.0)
        def get_inputs(): return [torch.randn(2, 5, 8)]
        """,
    "batch_norm_under_autocast_and_beside_a_written_view": """
        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.conv = nn.Conv2d(3, 4, 3)
                self.bn = nn.BatchNorm2d(4)
                self.fixed = nn.BatchNorm2d(4).eval()
            def forward(self, x):
                before = self.bn.running_mean * 2
                with torch.autocast("cpu", dtype=torch.bfloat16):
                    y = self.bn(self.bn(self.conv(x)))
                y[:, 0] = self.bn.running_mean[0]
                return self.fixed(y), before, self.bn.running_var * 2
        def get_inputs(): return [torch.rand(2, 3, 5, 5)]
        """,
    "bfloat16": """
        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.conv = nn.Conv1d(3, 4, 3).bfloat16()
            def forward(self, x): return self.conv(x).sum(dim=-1, dtype=torch.float32)
        def get_inputs(): return [torch.randn(2, 3, 9).to(torch.bfloat16)]
        """,
    "random_nodes": """
        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.rows = nn.Dropout(0.4)
                self.channels = nn.Dropout2d(0.5)
                self.never = nn.Dropout(0.0)
            def forward(self, x):
                x = self.never(self.channels(self.rows(x)))
                x = F.dropout(x * 1, 0.1, inplace=True)
                return x + 0.1 * torch.randn_like(x) + torch.rand_like(x)
        def get_inputs(): return [torch.randn(3, 8, 5, 5)]
        """,
    "integers_and_booleans": """
        class Model(nn.Module):
            def forward(self, counts, mask, bytes):
                return torch.where(mask, counts.cumsum(0), -counts), bytes.to(torch.int32) + 1, mask.any(dim=1)
        def get_inputs():
            return [torch.randint(-5, 9, (4, 4)), torch.rand(4, 4) > 0.5,
                    torch.randint(0, 200, (3,), dtype=torch.uint8)]
        """,
    "convolutions_without_a_batch": """
        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.conv, self.back, self.line = nn.Conv2d(3, 4, 3), nn.ConvTranspose2d(4, 3, 3), nn.Conv1d(3, 4, 3, padding="same")
            def forward(self, x):
                y = self.back(self.conv(x))
                return y, self.line(y.flatten(1))
        def get_inputs(): return [torch.randn(3, 6, 6)]
        """,
    "channels_last": """
        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.conv = nn.Conv2d(3, 4, 3).to(memory_format=torch.channels_last)
            def forward(self, x): return self.conv(x)
        def get_inputs(): return [torch.randn(2, 3, 6, 6).to(memory_format=torch.channels_last)]
        """,
    "a_buffer_that_counts": """
        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.register_buffer("calls", torch.zeros((), dtype=torch.int64))
                self.register_buffer("mean", torch.zeros(4))
            def forward(self, x):
                self.calls += 1
                self.mean = 0.9 * self.mean + 0.1 * x.mean(0)
                return x - self.mean * self.calls
        def get_inputs(): return [torch.randn(3, 4)]
        """,
    "results_go_into_given_tensors": """
        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.register_buffer("product", torch.zeros(4, 4))
                self.register_buffer("largest", torch.zeros(3))
                self.register_buffer("places", torch.zeros(3, dtype=torch.int64))
            def forward(self, x):
                before = self.product + 1
                torch.matmul(x.t(), x, out=self.product)
                torch.max(x, dim=1, out=(self.largest, self.places))
                wide = torch.empty(3, 4, dtype=torch.float64)
                torch.add(x, self.largest.unsqueeze(1), out=wide)
                transposed = torch.empty(4, 3).t()
                torch.add(x, 1, out=transposed)
                return x @ self.product, before, wide, self.places, transposed.as_strided((12,), (1,))
        def get_inputs(): return [torch.randn(3, 4)]
        """,
    "parts_of_buffers_are_written": """
        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.register_buffer("sums", torch.ones(4, 8))
            def forward(self, x):
                self.sums[0].mul_(2)
                torch.add(x[0], 1, out=self.sums[1])
                return x + 1
        def get_inputs(): return [torch.randn(3, 8)]
        """,
    "spectral_norms": """
        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.conv = nn.utils.spectral_norm(nn.Conv2d(3, 5, 3))
                self.bn = nn.BatchNorm2d(5)
                self.fc = nn.utils.parametrizations.spectral_norm(nn.Linear(7, 6), n_power_iterations=2)
            def forward(self, x): return self.fc(self.bn(self.conv(x)))
        def get_inputs(): return [torch.randn(2, 3, 9, 9)]
        """,
    "memory_is_written_before_it_is_read": """
        class Model(nn.Module):
            def forward(self, x):
                swapped = torch.empty(4, 3)
                swapped[:2] = x[2:]
                swapped[2:] = x[:2]
                filled = x.new_empty(3).fill_(2.0)
                copied = torch.empty_like(x)
                copied.copy_(x)
                return swapped, filled, copied
        def get_inputs(): return [torch.randn(4, 3)]
        """,
    "looks_at_a_number": """
        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.steps = [step.item() for step in torch.linspace(0, 0.5, 3)]
            def forward(self, x):
                for step in self.steps:
                    x = x * (1 - step)
                return x
        def get_inputs(): return [torch.randn(2, 4)]
        """,
}


@pytest.mark.parametrize("name", modules)
def test_a_task_computes_what_its_module_computes(name: str, module_file: Any, tmp_path: Path) -> None:
    expect_same_results(module_file(modules[name]), tmp_path / "task")
