"""tokenizer_parity.py --driver PROGRAM [--only model|small] [--rows FILE.json]: our tokenizer beside transformers', id by id.

`model` is the real GGUF file (CUDAL1_MODEL, or where `cudal1 models` keeps it), `small` are vocabularies trained here with
the pre-tokenizers of other models. PROGRAM is bench/generator's tokenize_file. Exit status 1 where anything differs, 77
where a package or the model is missing.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "python"))
import parity_texts  # noqa: E402
import result_rows  # noqa: E402

try:
    import transformers
    from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers
except ImportError as missing:
    print(f"SKIP: {sys.executable} has no {missing.name}")
    sys.exit(77)

QWEN_PATTERN = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|"
                r"\s*[\r\n]+|\s+(?!\S)|\s+")
LLAMA3_PATTERN = QWEN_PATTERN.replace(r"|\p{N}|", r"|\p{N}{1,3}|")
SUPPORTED_TEMPLATES = ["llama3", "llama3_1", "llama3_2", "qwen2_5", "qwen3", "qwen3_instruct_2507"]
SPECIAL = {"chatml": ["<|endoftext|>", "<|im_start|>", "<|im_end|>"],
           "llama3": ["<|begin_of_text|>", "<|end_of_text|>", "<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>"]}




class Refused(Exception):
    """Our tokenizer does not take a file; the text is what it says of it."""


def model_file():
    if named := os.environ.get("CUDAL1_MODEL"):
        return pathlib.Path(named)
    cache = os.environ.get("CUDAL1_CACHE_DIR")
    cache = pathlib.Path(cache) if cache else pathlib.Path(
        os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "cudal1"
    return cache / "models" / "SmolLM2-135M-Instruct.Q4_1.gguf"


def digits_then_bytes():
    return pre_tokenizers.Sequence([pre_tokenizers.Digits(individual_digits=True),
                                    pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)])


def split_then_bytes(pattern):
    return pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(pattern), behavior="isolated"),
                                    pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])


def real_tokenizers():
    """As transformers reads the file, and with the pre-tokenizer that the file names (smollm: digits one by one), which
    transformers drops when it reads a GGUF."""
    file = model_file()
    if not file.exists():
        return print(f"SKIP: no model at {file}: cudal1 models fetches it, CUDAL1_MODEL names another") or {}
    plain = transformers.AutoTokenizer.from_pretrained(file.parent, gguf_file=file.name)
    named = transformers.AutoTokenizer.from_pretrained(file.parent, gguf_file=file.name)
    named.backend_tokenizer.pre_tokenizer = digits_then_bytes()
    return {"SmolLM2 as transformers reads it": plain, "SmolLM2 with single digits": named}


def small_tokenizer(pre_tokenizer, special, texts, normalizer=None, ignore_merges=False, all_bytes=True):
    tokenizer = Tokenizer(models.BPE(ignore_merges=ignore_merges))
    tokenizer.pre_tokenizer, tokenizer.decoder = pre_tokenizer, decoders.ByteLevel()
    if normalizer:
        tokenizer.normalizer = normalizer
    alphabet = pre_tokenizers.ByteLevel.alphabet() if all_bytes else []
    trainer = trainers.BpeTrainer(vocab_size=6000, initial_alphabet=alphabet, show_progress=False)
    tokenizer.train_from_iterator(texts, trainer)
    tokenizer.add_special_tokens([AddedToken(text, normalized=False) for text in special])
    return transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, bos_token=special[0])


def small_tokenizers(texts):
    learned = texts[:150] + texts[-250:-200]
    few_bytes = [text for text in learned if text.isascii()]
    qwen = small_tokenizer(split_then_bytes(QWEN_PATTERN), SPECIAL["chatml"] + ["<think>", "</think>"], learned,
                           normalizers.NFC())
    return {
        "small, Qwen's pattern and NFC": qwen,
        "small, Llama 3's pattern, pieces whole": small_tokenizer(
            split_then_bytes(LLAMA3_PATTERN), SPECIAL["llama3"], learned, ignore_merges=True),
        "small, single digits": small_tokenizer(digits_then_bytes(), SPECIAL["chatml"], learned),
        "small, bytes missing": small_tokenizer(digits_then_bytes(), SPECIAL["chatml"], few_bytes, all_bytes=False),
    }


def text_cases(texts):
    return [{"text": text, "special": special} for special in (False, True) for text in texts]


def reference_ids(tokenizer, case):
    if "messages" in case:
        return tokenizer.apply_chat_template(case["messages"], add_generation_prompt=case["generate"], return_dict=False,
                                             enable_thinking=False, date_string="26 Jul 2024")
    tokenizer.backend_tokenizer.encode_special_tokens = not case["special"]
    return tokenizer.backend_tokenizer.encode(case["text"], add_special_tokens=False).ids


def reference(tokenizer, case):
    ids = reference_ids(tokenizer, case)
    decode = tokenizer.backend_tokenizer.decode
    return {"ids": ids, "decoded": decode(ids, skip_special_tokens=False),
            "decoded_plain": decode(ids, skip_special_tokens=True)}


def ours(driver, tokenizer, cases):
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        tokenizer.save_pretrained(folder)
        (folder / "cases").write_text("".join(json.dumps(case) + "\n" for case in cases))
        run = subprocess.run([driver, folder / "tokenizer.json", folder / "cases", folder / "results"],
                             capture_output=True, text=True)
        if run.returncode:
            raise Refused(run.stderr.strip())
        results = [json.loads(line) for line in (folder / "results").read_text().split("\n")[:-1]]
    return results, json.loads(run.stdout)


def count_differing(left, right):
    return sum(a != b for a, b in zip(left, right)) + abs(len(left) - len(right))


def compare(name, driver, tokenizer, cases):
    """Prints what was compared; returns how many ids were, and how many differ, decoded texts counted as one each."""
    print(name, flush=True)
    results, speed = ours(driver, tokenizer, cases)
    ids = differing = texts = 0
    for case, got in zip(cases, results, strict=True):
        wanted = reference(tokenizer, case)
        wrong_ids = count_differing(wanted["ids"], got["ids"])
        wrong_texts = sum(wanted[key] != got[key] for key in ("decoded", "decoded_plain"))
        if (wrong_ids or wrong_texts) and not differing + texts:
            print("  first difference:", ascii(case)[:300], first_difference(wanted, got))
        ids, differing, texts = ids + len(wanted["ids"]), differing + wrong_ids, texts + wrong_texts
    print(f"  {len(cases)} cases, {ids} ids compared, {differing} differ; {2 * len(cases)} decoded texts, {texts} differ")
    if speed["bytes"]:
        megabytes = speed["bytes"] / 1e6
        print(f"  {megabytes:.2f} MB encoded on one core at {megabytes / speed['seconds']:.1f} MB/s")
    return ids, differing + texts


def total(counts):
    return tuple(map(sum, zip(*counts))) or (0, 0)


def first_difference(wanted, got):
    for i, (a, b) in enumerate(zip(wanted["ids"], got["ids"])):
        if a != b:
            return f"at id {i}: transformers {wanted['ids'][max(0, i - 2):i + 6]}, ours {got['ids'][max(0, i - 2):i + 6]}"
    return f"{len(wanted['ids'])} ids and {len(got['ids'])}, {ascii(wanted['decoded'])[:80]} and {ascii(got['decoded'])[:80]}"


def compare_model_chats(driver, tokenizer):
    """Its own template adds a system message, which we leave out on purpose: conversations that have one are compared."""
    cases = [case for case in parity_texts.chats() if case["messages"][0]["role"] == "system"]
    return compare("SmolLM2's chat template", driver, tokenizer, cases)


def published_templates():
    """Chat templates of many models, as the package trl carries them; it is not imported, only looked into."""
    found = importlib.util.find_spec("trl")
    if not found:
        print("chat templates of other models are not compared: the package trl has them (pip install --no-deps trl)")
        return {}
    folder = pathlib.Path(found.submodule_search_locations[0]) / "chat_templates"
    return {file.stem: file.read_text() for file in sorted(folder.glob("*.jinja")) if not file.stem.endswith("_training")}


def compare_template(name, text, driver, tokenizer):
    tokenizer.chat_template = text
    try:
        return compare(f"chat template {name}", driver, tokenizer, parity_texts.chats())
    except Refused as reason:
        print(f"  refused: {reason}")
        return 0, int(name in SUPPORTED_TEMPLATES)


def compare_templates(driver, qwen, llama3, plain):
    """Those that we take must give the same ids, with a tokenizer that has added tokens for the template's own tags only:
    what messages say of others is text to us and a token to transformers."""
    def fitting(text):
        return llama3 if "<|eot_id|>" in text else qwen if "<think>" in text else plain
    return total(compare_template(name, text, driver, fitting(text)) for name, text in published_templates().items())


def main():
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("--driver", required=True)
    options.add_argument("--only", choices=["model", "small"])
    options.add_argument("--rows", help="a file for the row of bench/results/generator.json")
    chosen = options.parse_args()
    special = [*SPECIAL["chatml"], *SPECIAL["llama3"], "<jupyter_code>", "<think>"]
    texts = parity_texts.texts(special)
    real = real_tokenizers() if chosen.only != "small" else {}
    small = small_tokenizers(texts) if chosen.only != "model" else {}
    if not real and not small:
        return 77
    counts = [compare(name, chosen.driver, tokenizer, text_cases(texts)) for name, tokenizer in (real | small).items()]
    if real:
        counts.append(compare_model_chats(chosen.driver, next(iter(real.values()))))
    if small:
        qwen, llama3, plain, _ = small.values()
        counts.append(compare_templates(chosen.driver, qwen, llama3, plain))
    compared, differing = total(counts)
    print(f"{compared} ids compared, {differing} differ")
    if chosen.rows:
        megabytes = sum(len(text.encode()) for text in texts) / 1e6
        pathlib.Path(chosen.rows).write_text(json.dumps([result_rows.row(
            "tokenizer against transformers, 1 MB of code, prose, many scripts, valid Unicode, with and without special tokens",
            differing, "ids and decoded texts that differ", "identical ids and decode", not differing,
            {"ids compared": compared, "MB of text": round(megabytes, 2), "tokenizers": [*real, *small]})], indent=1) + "\n")
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
