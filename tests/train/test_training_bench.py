"""The loop that our training is compared with, and the programs that compare, on the CPU with a tiny model."""

import json
import os
import pathlib
import subprocess
import sys

import pytest

torch = pytest.importorskip("torch")
bench = pathlib.Path(__file__).resolve().parents[2] / "bench" / "generator"
sys.path.insert(0, str(bench))
import eager_training  # noqa: E402

CONFIG = {"layers": 2, "hidden": 64, "heads": 4, "kv_heads": 2, "head_size": 16, "feed_forward": 96, "vocabulary": 512,
          "norm_epsilon": 1e-5, "rope_theta": 100000.0}
TEXTS = [[5, 6, 7, 8, 9], [11, 3], [400, 401, 402, 403, 404, 405, 406, 407, 408]]


def training(kind):
    torch.set_num_threads(1)
    return eager_training.Training(CONFIG, kind, torch.device("cpu"))


def test_padding_changes_nothing_that_is_learned():
    losses = [training("full").step(eager_training.Batch(TEXTS, layout, False)).item() for layout in ("packed", "padded")]
    assert losses[0] == pytest.approx(losses[1], abs=2e-2)


def test_only_tokens_of_texts_are_counted():
    for layout in ("packed", "padded"):
        batch = eager_training.Batch(TEXTS, layout, False)
        assert batch.tokens == 16
        assert (batch.tensors[1] >= 0).sum().item() == 13, "the last token of a text has nothing after it"


@pytest.mark.parametrize("kind", ["full", "lora"])
def test_the_loop_learns(kind):
    loop, batch = training(kind), eager_training.Batch(TEXTS, "packed", False)
    loop.optimiser.param_groups[0]["lr"] = 1e-2
    losses = [loop.step(batch).item() for _ in range(12)]
    assert losses[-1] < losses[0] - 0.3


def test_an_adapter_is_on_every_linear_layer():
    sizes = 2 * (64 * 2 * 2 + (64 + 32) * 2 + (64 + 96) * 3)  # q and o, k and v, gate, up and down
    assert sum(one.numel() for one in training("lora").copies) == 32 * sizes


def run(program, tmp_path, *options):
    path = pathlib.Path(os.environ.get("CUDAL1_BENCH_PROGRAMS", "")) / program
    if not path.is_file():
        pytest.skip(f"{program} is not built")
    output = tmp_path / "rows.json"
    subprocess.run([path, "--tiny", "--device", "cpu", "--output", output, "--commit", "abc", *options], check=True,
                   timeout=250, env={**os.environ, "OMP_NUM_THREADS": "1", "CUDAL1_PYTHON": sys.executable})
    return json.loads(output.read_text())


def test_training_is_measured_for_adapters_and_for_all_weights(tmp_path):
    result = run("training_speed", tmp_path, "--texts", "3", "--mean-length", "12", "--steps", "2", "--rounds", "2")
    assert [row["what"] for row in result["rows"]] == ["training step on the CPU, LoRA, non-padding tokens",
                                                       "training step on the CPU, full, non-padding tokens"]
    for row in result["rows"]:
        details = row["details"]
        assert row["value"] == pytest.approx(details["tokens/s"] / details["eager PyTorch, tokens/s"])
        assert len(details["tokens/s of each round"]) == 2
        assert not row["holds"], "the loop beside it is far from what it must reach"


def test_sampler_and_trainer_agree_on_the_cpu(tmp_path):
    result = run("sampling_parity", tmp_path, "--slots", "8", "--new-tokens", "12", "--dtype", "f32")
    (row,) = result["rows"]
    assert row["holds"] and row["value"] < 1e-4
    assert row["details"]["sampled tokens"] == 96
    assert row["commit"] == "abc"
