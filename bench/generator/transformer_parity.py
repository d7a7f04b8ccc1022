"""Our transformer and decoder beside Hugging Face's on the real model, on the CPU.

  python bench/generator/transformer_parity.py MODEL.gguf --driver build/release/bin/transformer_driver --work FOLDER
      [--first-token build/release/bin/first_token] [--only logits,narrow,greedy,kl,speed,first_token] [--rows FILE.json]

Prints a line a figure and leaves the rows in the file. Needs transformers, gguf and safetensors.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import subprocess
import sys
import time

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent), str(pathlib.Path(__file__).resolve().parent.parent / "python")]
import transformer_reference as reference  # noqa: E402
from result_rows import row  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]


class Parity:
    def __init__(self, arguments):
        self.driver, self.work, self.gguf = arguments.driver, pathlib.Path(arguments.work), arguments.model
        self.first_token_driver = arguments.first_token
        self.fp32, self.blocks = self.work / "fp32", self.work / "blocks"
        if not (self.fp32 / "model.safetensors").exists():
            reference.write_fp32_folder(arguments.model, self.fp32)
        if not (self.blocks / "model.safetensors").exists():
            reference.write_block_folder(arguments.model, self.fp32, self.blocks)
        self.model = AutoModelForCausalLM.from_pretrained(self.fp32, dtype=torch.float32)
        tokenizer = AutoTokenizer.from_pretrained(self.fp32)
        code = "".join(file.read_text() for file in sorted((ROOT / "src/graph").glob("*.cpp")))
        self.tokens = tokenizer(code[:60000])["input_ids"]
        self.vocabulary = self.model.config.vocab_size

    def pieces(self, count, length):
        assert len(self.tokens) >= count * length
        return [self.tokens[i * length:(i + 1) * length] for i in range(count)]

    def ours(self, folder, path, dtype, sequence):
        return reference.driver_logits(self.driver, self.work, self.vocabulary, model=str(folder), path=path, dtype=dtype,
                                       sequence=sequence)

    def logits(self):
        """Largest difference over the largest logit, of both implementations."""
        for path in ("torch", "decoder"):
            worst = 0.0
            for piece in self.pieces(3, 1000):
                expected = reference.reference_logits(self.model, piece)
                found = self.ours(self.fp32, path, "f32", piece)
                worst = max(worst, ((found - expected).abs().max() / expected.abs().max()).item())
            yield row(f"logits against transformers, bit-identical fp32 weights, 3,000 positions of code ({path})", worst,
                      "of the largest logit", "max difference at most 1e-5 of the largest logit", worst <= 1e-5)

    def narrow(self):
        piece = self.pieces(1, 1000)[0]
        exact = reference.reference_logits(self.model, piece)
        for dtype, theirs in (("bf16", torch.bfloat16), ("f16", torch.float16)):
            model = AutoModelForCausalLM.from_pretrained(self.fp32, dtype=theirs)
            reference_error = (reference.reference_logits(model, piece) - exact).square().mean().sqrt().item()
            for path in ("torch", "decoder"):
                error = (self.ours(self.fp32, path, dtype, piece) - exact).square().mean().sqrt().item()
                ratio = error / reference_error
                yield row(f"{dtype}: rms error against fp32 transformers ({path})", ratio, "of transformers' own in that type",
                          "at most 1.2 times", ratio <= 1.2, {"rms error": error, "transformers' rms error": reference_error})

    def greedy(self):
        prompts = self.pieces(20, 48)
        theirs = reference.greedy(self.model, prompts, 256)
        ours = reference.drive(self.driver, self.work, job="generate", model=str(self.fp32), dtype="f32", prompts=prompts,
                               new_tokens=256, slots=20)["texts"]
        different = sum(a != b for a, b in zip(ours, theirs))
        gaps = [reference.unexcused_difference(self.model, *texts) for texts in zip(prompts, ours, theirs)]
        wrong = sum(gap is not None for gap in gaps)
        yield row("greedy decoding, 20 prompts of 256 tokens, fp32", wrong, "texts that differ without excuse",
                  "equal; a difference is excused only at a top-two gap below 1e-4", wrong == 0, {"excused": different - wrong})

    def kl(self):
        piece = self.pieces(1, 1000)[0]
        exact = reference.reference_logits(self.model, piece).log_softmax(-1)
        for dtype in ("as_file", "bf16"):
            found = self.ours(self.blocks, "decoder", dtype, piece).log_softmax(-1)
            divergence = (exact.exp() * (exact - found)).sum(-1).mean().item()
            yield row(f"CPU decoding, weights {dtype}: KL to fp32 on 1,000 positions of code", divergence, "nats",
                      "at most 1e-3", divergence <= 1e-3)

    def speed(self):
        """Both in turns, so that what else the machine does disturbs both; the best of each."""
        reference.require_idle_processors("speed on the CPU")
        prompt, new_tokens = 64, 64
        models = {dtype: AutoModelForCausalLM.from_pretrained(self.fp32, dtype=kind)
                  for dtype, kind in (("f32", torch.float32), ("bf16", torch.bfloat16))}
        for batch, bar in ((1, 3), (8, 2)):
            prompts = self.pieces(batch, prompt)
            rates = {}
            for _ in range(3):
                for dtype, model in models.items():
                    start = time.perf_counter()
                    reference.greedy(model, prompts, new_tokens)
                    rate = batch * new_tokens / (time.perf_counter() - start)
                    rates[f"transformers {dtype}"] = max(rate, rates.get(f"transformers {dtype}", 0))
                for dtype in ("as_file", "bf16", "f32"):
                    done = reference.drive(self.driver, self.work, job="generate", model=str(self.blocks), dtype=dtype,
                                           prompts=prompts, new_tokens=new_tokens, slots=batch)
                    rate = batch * new_tokens / done["seconds"]
                    rates[f"ours {dtype}"] = max(rate, rates.get(f"ours {dtype}", 0))
            reference.require_idle_processors(f"speed on the CPU, batch {batch}, after it was measured")
            ratio = rates["ours as_file"] / max(rates["transformers f32"], rates["transformers bf16"])
            yield row(f"CPU, {os.cpu_count()} cores, batch {batch}, against the faster dtype of transformers in the same run",
                      ratio, "times its tokens/s", f"at least {bar} times", ratio >= bar,
                      {"tokens/s, prompts of 64 included": rates, "kernels": done["kernels"], "load": os.getloadavg()[0]})

    def first_token(self):
        """The whole process, the file warm in the cache: the best of four."""
        reference.require_idle_processors("start to first token")
        best, inside = float("inf"), None
        for _ in range(4):
            start = time.perf_counter()
            done = subprocess.run([self.first_token_driver, str(self.gguf), "300"], capture_output=True, text=True, check=True)
            if (seconds := time.perf_counter() - start) < best:
                best, inside = seconds, json.loads(done.stdout)
        reference.require_idle_processors("start to first token, after it was measured")
        yield row("start to first token on CPU, 300-token prompt, warm file cache", best, "s", "at most 3 s", best <= 3,
                  inside | {"cores": os.cpu_count()})


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("model")
    parser.add_argument("--driver", required=True)
    parser.add_argument("--work", required=True)
    parser.add_argument("--first-token")
    parser.add_argument("--only", default="logits,narrow,greedy,kl,speed")
    parser.add_argument("--rows")
    arguments = parser.parse_args()
    parity = Parity(arguments)
    rows = []
    for part in arguments.only.split(","):
        try:
            for entry in getattr(parity, part)():
                rows.append(entry)
                print("holds" if entry["holds"] else "FAILS", f"{entry['what']}: {entry['value']:.4g} {entry['unit']}",
                      json.dumps(entry.get("details", {})), flush=True)
        except reference.Busy as reason:
            print(f"left out: {reason}", flush=True)
    if arguments.rows:
        pathlib.Path(arguments.rows).write_text(json.dumps(rows, indent=1) + "\n")
    return 0 if all(entry["holds"] for entry in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
