"""PEFT over transformers' own loading of a GGUF file gives the logits that we give, with the adapter beside the weights
and merged into them: so an adapter that is trained on one side means the same on the other."""

import os
import pathlib
import sys

import pytest
import torch

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS / "files"), str(TESTS.parents[1] / "bench" / "generator")]
import test_model_files as model_files  # noqa: E402
from test_model_files import real_model  # noqa: E402, F401

try:
    import gguf
    import peft
    import transformer_reference as reference
    import transformers
except ImportError as problem:
    pytestmark = pytest.mark.skip(reason=f"{problem.name} is not installed")
DRIVER = os.environ["CUDAL1_TRANSFORMER_DRIVER"]


def quantised_rows(numpy, random, kind, rows, columns):
    values = (0.05 * random.standard_normal((rows, columns))).astype(numpy.float32)
    return gguf.quantize(values, gguf.GGMLQuantizationType[kind])


def with_random_adapter(file, folder):
    base = transformers.AutoModelForCausalLM.from_pretrained(file.parent, gguf_file=file.name, dtype=torch.float32)
    config = peft.LoraConfig(r=8, lora_alpha=16, target_modules="all-linear", task_type="CAUSAL_LM")
    adapted = peft.get_peft_model(base, config).eval()
    torch.manual_seed(11)
    with torch.no_grad():
        for name, tensor in adapted.named_parameters():
            if "lora_" in name:
                tensor.normal_(std=0.05)
    adapted.save_pretrained(folder)
    return adapted


def expect_same_logits(file, work, sequence):
    adapted = with_random_adapter(file, work / "adapter")
    expected = reference.reference_logits(adapted, sequence)
    with adapted.disable_adapter():
        plain = reference.reference_logits(adapted, sequence)
    largest = expected.abs().max()
    assert (plain - expected).abs().max() > 1e-2 * largest, "the adapter changes nothing"
    for path in ("torch", "decoder"):
        found = reference.driver_logits(DRIVER, work, expected.shape[1], model=str(file), adapter=str(work / "adapter"),
                                        path=path, dtype="f32", sequence=sequence)
        assert (found - expected).abs().max() <= 1e-5 * largest, path


@pytest.mark.parametrize("kind", ["F32", "Q8_0", "Q4_1"])
def test_peft_over_a_small_file_gives_our_logits(kind, tmp_path):
    file = tmp_path / "small.gguf"
    model_files.write_llama(file, kind, rows_of=quantised_rows)
    expect_same_logits(file, tmp_path, torch.randint(0, 64, (100,)).tolist())


def test_peft_over_the_real_file_gives_our_logits(real_model, tmp_path):  # noqa: F811
    expect_same_logits(real_model, tmp_path, torch.randint(0, 49152, (100,)).tolist())
