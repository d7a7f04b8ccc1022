"""Small random models of every architecture: our transformer and decoder give what Hugging Face's transformers gives."""

import os
import pathlib
import sys

import pytest
import torch

try:
    import transformers
except ImportError:
    transformers = None
else:
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "bench" / "generator"))
    import transformer_reference as reference

pytestmark = pytest.mark.skipif(transformers is None, reason="transformers is not installed")
DRIVER = os.environ["CUDAL1_TRANSFORMER_DRIVER"]
SIZES = {"vocab_size": 320, "hidden_size": 64, "intermediate_size": 160, "num_hidden_layers": 3, "num_attention_heads": 4,
         "num_key_value_heads": 2, "max_position_embeddings": 512, "initializer_range": 0.2}
LLAMA3_ROPE = {"rope_type": "llama3", "rope_theta": 10000.0, "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
               "original_max_position_embeddings": 64}
NAMES = ["llama", "llama_untied", "qwen2", "qwen3"]


def config(name):
    return {
        "llama": lambda: transformers.LlamaConfig(**SIZES, tie_word_embeddings=True, rope_parameters=LLAMA3_ROPE),
        "llama_untied": lambda: transformers.LlamaConfig(**SIZES, tie_word_embeddings=False, rms_norm_eps=1e-3),
        "qwen2": lambda: transformers.Qwen2Config(**SIZES, tie_word_embeddings=False),
        "qwen3": lambda: transformers.Qwen3Config(**SIZES, head_dim=32, tie_word_embeddings=True),
    }[name]()


@pytest.fixture(params=NAMES)
def saved(request, tmp_path):
    """A model whose every parameter is random, norms and biases included, and the folder it lies in."""
    torch.manual_seed(1)
    model = transformers.AutoModelForCausalLM.from_config(config(request.param), dtype=torch.float32).eval()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if parameter.dim() == 1:
                parameter.normal_(1.0 if "norm" in name else 0.0, 0.2)
    model.save_pretrained(tmp_path / "model")
    return model, tmp_path


@pytest.mark.parametrize("path", ["torch", "decoder"])
def test_logits_are_those_of_transformers(saved, path):
    model, work = saved
    sequence = torch.randint(0, 320, (200,)).tolist()
    expected = reference.reference_logits(model, sequence)
    found = reference.driver_logits(DRIVER, work, 320, model=str(work / "model"), path=path, dtype="f32", sequence=sequence)
    assert (found - expected).abs().max() <= 1e-5 * expected.abs().max()


def test_greedy_texts_are_those_of_transformers(saved):
    model, work = saved
    prompts = torch.randint(0, 320, (5, 11)).tolist()
    theirs = reference.greedy(model, prompts, 40)
    ours = reference.drive(DRIVER, work, job="generate", model=str(work / "model"), dtype="f32", prompts=prompts,
                           new_tokens=40, slots=3)["texts"]
    for prompt, one, other in zip(prompts, ours, theirs):
        assert reference.unexcused_difference(model, prompt, one, other) is None
