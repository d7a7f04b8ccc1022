"""Model files beside the packages that define them: gguf, transformers and PEFT. Skipped where one is not installed."""

from __future__ import annotations

import hashlib
import importlib
import json
import os
import subprocess
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch

TOOL = os.environ.get("CUDAL1_MODEL_TOOL", str(Path(__file__).resolve().parents[3] / "build/ci/bin/model_tool"))
REAL_MODEL = "SmolLM2-135M-Instruct.Q4_1.gguf"


def needs(name: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except ImportError:
        pytest.skip(f"{name} is not installed")


@pytest.fixture
def real_model() -> Path:
    cache = os.environ.get("CUDAL1_CACHE_DIR") or Path(
        os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "cudal1"
    )
    path = Path(os.environ.get("CUDAL1_MODEL") or Path(cache, "models", REAL_MODEL))
    if not path.exists():
        pytest.skip(f"{path} is not there: cudal1 models fetch")
    return path


def run_tool(*arguments: object) -> str:
    done = subprocess.run([TOOL, *map(str, arguments)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def digest(values: torch.Tensor) -> str:
    return hashlib.sha256(values.detach().float().contiguous().numpy().tobytes()).hexdigest()


def tensors_of(path: Path) -> dict[str, tuple[str, str, str]]:
    """Name to (type, hash of the values, shape)."""
    lines = (line.split(" ") for line in run_tool("tensors", path).splitlines())
    return {name: (kind, hashed, shape) for name, kind, hashed, shape in lines}


def expect_same_tensors(path: Path, state: dict[str, torch.Tensor], tied: bool) -> None:
    found = tensors_of(path)
    expected = {name: tensor for name, tensor in state.items() if not (tied and name == "lm_head.weight")}
    assert found.keys() == expected.keys()
    for name, tensor in expected.items():
        assert found[name][2] == ",".join(map(str, tensor.shape)), name
        assert found[name][1] == digest(tensor), name


# Where a type's blocks have their scales (f16), and how many bytes and elements a block has.
BLOCKS = {
    "Q8_0": ([0], 34, 32),
    "Q4_0": ([0], 18, 32),
    "Q4_1": ([0, 2], 20, 32),
    "Q5_0": ([0], 22, 32),
    "Q5_1": ([0, 2], 24, 32),
    "Q4_K": ([0, 2], 144, 256),
    "Q5_K": ([0, 2], 176, 256),
    "Q6_K": ([208], 210, 256),
}


def random_rows(numpy: ModuleType, random: Any, kind: str, rows: int, columns: int) -> Any:
    if kind in ("F32", "F16"):
        return random.standard_normal((rows, columns)).astype(numpy.float32 if kind == "F32" else numpy.float16)
    if kind == "BF16":
        values = torch.from_numpy(random.standard_normal((rows, columns))).to(torch.bfloat16)
        return values.view(torch.uint8).numpy()
    scales, size, elements = BLOCKS[kind]
    blocks = random.integers(0, 256, (rows * columns // elements, size), dtype=numpy.uint8)
    for place in scales:  # any bits but those of infinities and NaN, subnormal ones included
        halves = random.integers(0, 0x7C00, len(blocks), dtype=numpy.uint16) | (
            random.integers(0, 2, len(blocks), dtype=numpy.uint16) << 15
        )
        blocks[:, place : place + 2] = halves.view(numpy.uint8).reshape(-1, 2)
    return blocks.reshape(rows, -1)


def hugging_face_rows(values: torch.Tensor, heads: int) -> torch.Tensor:
    """GGUF's Llama order back, as transformers' loader describes it."""
    return values.view(heads, values.shape[0] // heads // 2, 2, -1).transpose(1, 2).reshape(values.shape)


# (GGUF's name, Hugging Face's, rows, columns) of a Llama with one layer, four heads and two key/value heads of 128.
HEADS, KV_HEADS, HIDDEN, FEED_FORWARD = 4, 2, 512, 768
MATRICES = [
    ("token_embd", "model.embed_tokens", 64, HIDDEN),
    ("blk.0.attn_q", "model.layers.0.self_attn.q_proj", HIDDEN, HIDDEN),
    ("blk.0.attn_k", "model.layers.0.self_attn.k_proj", HIDDEN // 2, HIDDEN),
    ("blk.0.attn_v", "model.layers.0.self_attn.v_proj", HIDDEN // 2, HIDDEN),
    ("blk.0.attn_output", "model.layers.0.self_attn.o_proj", HIDDEN, HIDDEN),
    ("blk.0.ffn_gate", "model.layers.0.mlp.gate_proj", FEED_FORWARD, HIDDEN),
    ("blk.0.ffn_up", "model.layers.0.mlp.up_proj", FEED_FORWARD, HIDDEN),
    ("blk.0.ffn_down", "model.layers.0.mlp.down_proj", HIDDEN, FEED_FORWARD),
]


def write_llama(path: Path, kind: str, rope_factors: Any = None, rows_of: Any = random_rows) -> dict[str, torch.Tensor]:
    """A file of random blocks, written by the gguf package; gives what that package makes of them."""
    gguf, numpy = needs("gguf"), needs("numpy")
    random = numpy.random.default_rng(20261118)
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_block_count(1)
    writer.add_context_length(128)
    writer.add_embedding_length(HIDDEN)
    writer.add_feed_forward_length(FEED_FORWARD)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(KV_HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_freq_base(500000.0)
    writer.add_vocab_size(64)
    stored_as = gguf.GGMLQuantizationType[kind]
    expected = {}
    for gguf_name, name, rows, columns in MATRICES:
        stored = rows_of(numpy, random, kind, rows, columns)
        writer.add_tensor(f"{gguf_name}.weight", stored, raw_dtype=stored_as)
        values = torch.from_numpy(gguf.dequantize(stored, stored_as).reshape(rows, columns).copy())
        if gguf_name.endswith(("_q", "_k")):
            values = hugging_face_rows(values, HEADS if gguf_name.endswith("_q") else KV_HEADS)
        expected[f"{name}.weight"] = values
    for name in ("blk.0.attn_norm", "blk.0.ffn_norm", "output_norm"):
        writer.add_tensor(f"{name}.weight", numpy.ones(HIDDEN, numpy.float32))
    if rope_factors is not None:
        writer.add_tensor("rope_freqs.weight", rope_factors)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return expected


@pytest.mark.parametrize("kind", ["F32", "F16", "BF16", *BLOCKS])
def test_random_blocks_decode_to_the_bits_that_gguf_gives(kind: str, tmp_path: Path) -> None:
    expected = write_llama(tmp_path / "random.gguf", kind)
    found = tensors_of(tmp_path / "random.gguf")
    for name, values in expected.items():
        assert found[name][:2] == (kind, digest(values)), name


@pytest.mark.parametrize("factor", [8.0, 32.0])
def test_the_factors_of_a_llama_3_file_mean_the_scaling_that_transformers_has(factor: float, tmp_path: Path) -> None:
    transformers, rope = needs("transformers"), needs("transformers.modeling_rope_utils")
    config = transformers.LlamaConfig(
        hidden_size=HIDDEN, num_attention_heads=HEADS, max_position_embeddings=131072,
        rope_parameters={
            "rope_type": "llama3", "rope_theta": 500000.0, "factor": factor, "low_freq_factor": 1.0,
            "high_freq_factor": 4.0, "original_max_position_embeddings": 8192,
        },
    )  # fmt: skip
    stretched, _ = rope.ROPE_INIT_FUNCTIONS["llama3"](config, "cpu")
    plain = 500000.0 ** (-torch.arange(0, 128, 2) / 128)
    write_llama(tmp_path / "stretched.gguf", "F16", (plain / stretched).float().numpy())
    assert json.loads(run_tool("config", tmp_path / "stretched.gguf"))["rope_scaling"] == [
        pytest.approx(factor), 1.0, 4.0, 8192,
    ]  # fmt: skip


def test_the_real_model_is_what_transformers_loads(real_model: Path) -> None:
    transformers = needs("transformers")
    needs("gguf")
    model = transformers.AutoModelForCausalLM.from_pretrained(
        real_model.parent, gguf_file=real_model.name, dtype=torch.float32
    )
    expect_same_tensors(real_model, model.state_dict(), tied=True)
    found = json.loads(run_tool("config", real_model))
    for key in ("num_hidden_layers", "hidden_size", "num_attention_heads", "num_key_value_heads", "head_dim",
                "intermediate_size", "vocab_size", "max_position_embeddings", "rms_norm_eps", "tie_word_embeddings"):
        assert found[key] == getattr(model.config, key), key
    assert found["rope_theta"] == model.config.rope_parameters["rope_theta"]


def small_model(transformers: ModuleType, architecture: str, **more: Any) -> Any:
    config = getattr(transformers, f"{architecture}Config")(
        num_hidden_layers=2, hidden_size=64, num_attention_heads=4, num_key_value_heads=2, head_dim=16,
        intermediate_size=96, vocab_size=128, max_position_embeddings=512, **more,
    )  # fmt: skip
    torch.manual_seed(7)
    return getattr(transformers, f"{architecture}ForCausalLM")(config)


@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
@pytest.mark.parametrize("architecture", ["Llama", "Qwen2", "Qwen3"])
def test_folders_that_transformers_saves_are_read(
    architecture: str, dtype: torch.dtype, tied: bool, tmp_path: Path
) -> None:
    transformers = needs("transformers")
    model = small_model(transformers, architecture, tie_word_embeddings=tied).to(dtype)
    model.save_pretrained(tmp_path, max_shard_size="60KB")
    assert (tmp_path / "model.safetensors.index.json").exists()
    expect_same_tensors(tmp_path, model.state_dict(), tied)


def test_llama_3_scaling_is_read_as_transformers_writes_it(tmp_path: Path) -> None:
    transformers = needs("transformers")
    scaling = {
        "rope_type": "llama3", "rope_theta": 500000.0, "factor": 32.0, "low_freq_factor": 1.0,
        "high_freq_factor": 4.0, "original_max_position_embeddings": 64,
    }  # fmt: skip
    small_model(transformers, "Llama", rope_parameters=scaling, eos_token_id=[5, 6]).save_pretrained(tmp_path)
    found = json.loads(run_tool("config", tmp_path))
    assert found["rope_theta"] == 500000.0
    assert found["rope_scaling"] == [32.0, 1.0, 4.0, 64]
    assert found["end_tokens"] == [5, 6]


@pytest.mark.parametrize("stabilised", [False, True])
@pytest.mark.parametrize("targets", ["all-linear", ["q_proj", "down_proj"], r"model\.layers\.1\..*_proj"])
def test_peft_reads_what_we_write_and_we_what_it_writes(targets: Any, stabilised: bool, tmp_path: Path) -> None:
    transformers, peft = needs("transformers"), needs("peft")
    base = small_model(transformers, "Llama")
    base.save_pretrained(tmp_path / "base")
    config = peft.LoraConfig(r=4, lora_alpha=12, target_modules=targets, use_rslora=stabilised, task_type="CAUSAL_LM")
    adapted = peft.get_peft_model(base, config)
    with torch.no_grad():
        for name, tensor in adapted.named_parameters():
            if "lora_" in name:
                tensor.normal_(std=0.2)
    adapted.save_pretrained(tmp_path / "theirs")
    run_tool("adapter", tmp_path / "base", tmp_path / "theirs", tmp_path / "ours")
    tokens = torch.arange(24)[None]
    with torch.no_grad():
        expected = adapted(tokens).logits
        fresh = transformers.AutoModelForCausalLM.from_pretrained(tmp_path / "base")
        assert not torch.equal(fresh(tokens).logits, expected)
        reloaded = peft.PeftModel.from_pretrained(fresh, tmp_path / "ours")
        ours = {name: tensor for name, tensor in reloaded.named_parameters() if "lora_" in name}
        theirs = {name: tensor for name, tensor in adapted.named_parameters() if "lora_" in name}
        assert ours.keys() == theirs.keys()
        for name, tensor in theirs.items():
            assert torch.equal(ours[name], tensor), name
        assert torch.equal(reloaded(tokens).logits, expected)
