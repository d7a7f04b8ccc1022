"""Hugging Face's transformers beside our own: models as both read them, and what our driver computes."""

from __future__ import annotations

import json
import pathlib
import subprocess
import time

import numpy
import torch
from safetensors.torch import save_file
from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer

GGUF_PARTS = {"self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v",
              "self_attn.o_proj": "attn_output", "mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up",
              "mlp.down_proj": "ffn_down", "input_layernorm": "attn_norm", "post_attention_layernorm": "ffn_norm"}


class Busy(Exception):
    """Others use the machine: a time that is measured now would be theirs as well."""


def busy_share(seconds=3.0):
    """Of all processors' time, what others take while we wait."""
    def times():
        fields = [int(field) for field in pathlib.Path("/proc/stat").read_text().split("\n")[0].split()[1:9]]
        return sum(fields), fields[3] + fields[4]  # all; idle or waiting for a disk
    before = times()
    time.sleep(seconds)
    after = times()
    return 1.0 - (after[1] - before[1]) / max(1, after[0] - before[0])


def require_idle_processors(what, most=0.1):
    if (share := busy_share()) > most:
        raise Busy(f"{what}: others take {100 * share:.0f}% of the processors' time")


def drive(driver, work, **job):
    """One job of tests/model/parity/transformer_driver.cpp."""
    file = pathlib.Path(work) / "job.json"
    file.write_text(json.dumps(job))
    done = subprocess.run([driver, str(file)], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip())
    return json.loads(done.stdout)


def driver_logits(driver, work, vocabulary, **job):
    """(T, V) in fp32."""
    out = pathlib.Path(work) / "logits.bin"
    drive(driver, work, job="logits", out=str(out), **job)
    values = numpy.fromfile(out, dtype=numpy.float32).reshape(-1, vocabulary)
    out.unlink()
    if not numpy.isfinite(values).all():  # which the largest of some differences would not show
        raise RuntimeError(f"{job['model']}, {job['path']}, {job['dtype']}: logits that are not finite")
    return torch.from_numpy(values)


def write_fp32_folder(gguf, folder):
    """The GGUF as transformers dequantises it, with its tokenizer."""
    gguf, folder = pathlib.Path(gguf), pathlib.Path(folder)
    loaded = AutoModelForCausalLM.from_pretrained(gguf.parent, gguf_file=gguf.name, dtype=torch.float32)
    config = loaded.config
    if hasattr(config, "quantization_config"):
        del config.quantization_config
    plain = AutoModelForCausalLM.from_config(config, dtype=torch.float32)
    plain.load_state_dict(loaded.state_dict())
    plain.save_pretrained(folder)
    AutoTokenizer.from_pretrained(gguf.parent, gguf_file=gguf.name).save_pretrained(folder)


def write_block_folder(gguf, fp32_folder, folder):
    """The GGUF's blocks as they are, rows in Hugging Face's order."""
    from gguf import GGUFReader

    config = AutoConfig.from_pretrained(fp32_folder)
    stored = {tensor.name: tensor for tensor in GGUFReader(gguf).tensors}
    names = {"model.embed_tokens.weight": "token_embd.weight", "model.norm.weight": "output_norm.weight"}
    for layer in range(config.num_hidden_layers):
        for part, short in GGUF_PARTS.items():
            names[f"model.layers.{layer}.{part}.weight"] = f"blk.{layer}.{short}.weight"
    tensors = {}
    for name, short in names.items():
        tensor = stored[short]
        kind = tensor.tensor_type.name.lower()
        if kind == "f32":
            tensors[name] = torch.from_numpy(numpy.array(tensor.data, dtype=numpy.float32))
            continue
        rows = torch.from_numpy(numpy.array(tensor.data, dtype=numpy.uint8)).reshape(int(tensor.shape[1]), -1)
        if "attn_q" in short or "attn_k." in short:
            heads = config.num_attention_heads if "attn_q" in short else config.num_key_value_heads
            half = rows.shape[0] // heads // 2
            rows = rows.view(heads, half, 2, -1).transpose(1, 2).reshape(rows.shape)
        tensors[f"{name}#{kind}"] = rows.contiguous().view(-1)
    pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
    save_file(tensors, str(pathlib.Path(folder) / "model.safetensors"))
    (pathlib.Path(folder) / "config.json").write_text((pathlib.Path(fp32_folder) / "config.json").read_text())


def reference_logits(model, sequence):
    """(T, V) in fp32."""
    with torch.no_grad():
        return model(torch.tensor([sequence])).logits[0].float()


def greedy(model, prompts, new_tokens):
    """Prompts of one length; the texts that follow them."""
    model.generation_config.eos_token_id = None
    ids = torch.tensor(prompts)
    with torch.no_grad():
        texts = model.generate(ids, attention_mask=torch.ones_like(ids), do_sample=False, max_new_tokens=new_tokens,
                               pad_token_id=0)
    return texts[:, ids.shape[1]:].tolist()


def unexcused_difference(model, prompt, ours, theirs, smallest_gap=1e-4):
    """None where the texts are equal, or part at two tokens that score the same; else the gap where they part."""
    for place, (one, other) in enumerate(zip(ours, theirs)):
        if one != other:
            top = reference_logits(model, prompt + theirs[:place])[-1].topk(2).values
            gap = (top[0] - top[1]).item()
            return None if gap < smallest_gap else gap
    return None if len(ours) == len(theirs) else float("inf")
