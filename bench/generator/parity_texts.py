"""Texts on which tokenizers are compared: code and prose of this repository, and generated ones (fixed seed) that go
where tokenizers differ: many scripts, every kind of character, space, digits, contractions, pieces of special tokens."""

from __future__ import annotations

import pathlib
import random
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]

SCRIPTS = {  # ranges of letters, some with the digits and marks that go with them
    "latin": [(0x41, 0x5A), (0x61, 0x7A), (0xC0, 0x24F)], "greek": [(0x391, 0x3C9)], "cyrillic": [(0x410, 0x44F)],
    "armenian": [(0x531, 0x556)], "hebrew": [(0x5D0, 0x5EA), (0x5B0, 0x5BC)],
    "arabic": [(0x620, 0x64A), (0x64B, 0x652), (0x660, 0x669)], "devanagari": [(0x904, 0x939), (0x93E, 0x94D), (0x966, 0x96F)],
    "bengali": [(0x985, 0x9B9)], "tamil": [(0xB85, 0xBB9)], "thai": [(0xE01, 0xE3A), (0xE40, 0xE5B)],
    "georgian": [(0x10D0, 0x10FF)], "hangul": [(0xAC00, 0xD7A3)], "jamo": [(0x1100, 0x11FF)], "kana": [(0x3041, 0x30FF)],
    "han": [(0x4E00, 0x9FFF)], "han_b": [(0x20000, 0x2A6DF)], "han_h": [(0x31350, 0x323AF)], "ethiopic": [(0x1200, 0x137C)],
    "cherokee": [(0x13A0, 0x13FF)], "cuneiform": [(0x12000, 0x12399)], "gothic": [(0x10330, 0x1034A)],
    "mathematical": [(0x1D400, 0x1D7FF)], "emoji": [(0x1F300, 0x1FAFF)], "symbols": [(0x2190, 0x2BFF)],
    "kawi": [(0x11F00, 0x11F59)], "private": [(0xE000, 0xE0FF), (0xF0000, 0xF00FF), (0x100000, 0x1000FF)],
}
SPACES = " \t\n\r\v\f\x85\xa0\u1680\u180e\u2000\u2003\u2009\u200a\u200b\u200d\u2028\u2029\u202f\u205f\u2060\u3000\ufeff"
NUMBERS = "0123456789²³¹¼½¾٠٣९০௧๔൧Ⅷⅻ①⑳㊿𝟘𝟡𐄇𑁦🄀"
CONTRACTIONS = ["'s", "'S", "'t", "'re", "'RE", "'ve", "'m", "'ll", "'LL", "'d", "'\u017f", "\u2019s", "'\u212a", "''s"]
MARKS = [chr(c) for c in [*range(0x300, 0x370), 0x5B0, 0x64B, 0x93C, 0xE38, 0x20D0, 0x20E3, 0xFE0F, 0x1F3FB]]
PUNCTUATION = list("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~") + ["//", "/**", "->", "::", "<|", "|>", "…", "—", "«", "»", "、", "。"]


def repository_files(suffixes, most_bytes):
    names = subprocess.run(["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True).stdout.split("\n")
    texts, size = [], 0
    for name in sorted(names):
        if not name.endswith(suffixes) or size > most_bytes:
            continue
        text = (ROOT / name).read_bytes().decode("utf-8", errors="replace")[:30_000]
        texts.append(text)
        size += len(text)
    return texts


def character(random, ranges):
    first, last = random.choice(ranges)
    return chr(random.randint(first, last))


def word(random, ranges):
    letters = [character(random, ranges) for _ in range(random.randint(1, 9))]
    if random.random() < 0.2:
        letters.insert(random.randint(1, len(letters)), random.choice(MARKS))
    return "".join(letters)


def between_words(random):
    kind = random.random()
    if kind < 0.6:
        return " "
    if kind < 0.75:
        return "".join(random.choice(SPACES) for _ in range(random.randint(1, 6)))
    if kind < 0.8:
        return random.choice([" ", "\n", "\r\n", "\t", "    "]) * random.randint(1, 12)
    if kind < 0.9:
        return random.choice(PUNCTUATION) * random.randint(1, 3)
    return "".join(random.choice(NUMBERS) for _ in range(random.randint(1, 8)))


def prose(random, ranges, words):
    parts = []
    for _ in range(words):
        parts += [word(random, ranges), random.choice(CONTRACTIONS) if random.random() < 0.1 else "", between_words(random)]
    return "".join(parts)


def any_character(random):
    while True:
        code = random.choice([random.randrange(0x110000), random.randrange(0x3000), random.randrange(0x20000)])
        if not 0xD800 <= code < 0xE000:
            return chr(code)


def every_character():
    """All of the planes that are in use, every hundredth beyond; each beside a letter, a digit, itself and a space, and
    between marks, one of which belongs after most others and one before."""
    codes = [c for c in range(0x20000) if not 0xD800 <= c < 0xE000]
    codes += [*range(0x20000, 0x33480, 7), *range(0xE0000, 0xE0200), *range(0x33480, 0x110000, 101)]
    return ["".join(f"x{chr(c)}1{chr(c)}{chr(c)}  {chr(c)}y'{chr(c)}\na\u0345{chr(c)}\u0334\n" for c in codes[i:i + 512])
            for i in range(0, len(codes), 512)]


def emoji(random):
    joined = ["👩🏽‍💻", "👨‍👩‍👧‍👦", "🏳️‍🌈", "🇩🇪🇫🇷", "1️⃣", "❤️‍🔥", "🫱🏻‍🫲🏿", "🫨", "🪿"]
    return "".join(random.choice(joined) + random.choice(["", " ", "a", "7"]) for _ in range(300))


def long_runs():
    return [c * n for c in ["a", " ", "\n", "é", "漢", "!", "7", "\r\n", "\t", " \n", "ab", "🙂"] for n in (1, 2, 3, 7, 2000)]


def with_tokens(random, texts, tokens):
    """Special tokens, whole and in pieces, put into texts at random places."""
    changed = []
    for text in texts:
        for _ in range(random.randint(1, 12)):
            token = random.choice(tokens)
            piece = token if random.random() < 0.7 else token[random.randrange(len(token)):]
            place = random.randint(0, len(text))
            text = text[:place] + random.choice(["", " ", "\n"]) + piece + text[place:]
        changed.append(text)
    return changed


def texts(special_tokens, seed=7):
    chosen = random.Random(seed)
    made = repository_files((".cpp", ".hpp", ".py", ".md", ".sh", ".cmake", ".cuh", ".txt"), 700_000)
    made += [file.replace("\n", "\r\n") for file in made[:10]]
    for ranges in SCRIPTS.values():
        made += [prose(chosen, ranges, 150) for _ in range(4)]
    every_range = [one for ranges in SCRIPTS.values() for one in ranges]
    made += [prose(chosen, every_range, 150) for _ in range(40)]
    made += ["".join(any_character(chosen) for _ in range(1000)) for _ in range(80)]
    made += [emoji(chosen), *long_runs(), *every_character(), ""]
    return made + with_tokens(chosen, made[:200], special_tokens)


def chats():
    """Conversations with what templates treat differently: own and default system messages, space around texts, thoughts."""
    user, system = {"role": "user", "content": "Write a kernel.\n"}, {"role": "system", "content": "\n You are terse. "}
    def answer(text):
        return {"role": "assistant", "content": text}
    thoughtful = "<think>\n\nHm, 3 * 7.\n</think>\n\n\n21"
    conversations = [[user], [system, user], [user, answer("\n\nDone")], [user, answer(thoughtful)],
                     [user, answer(thoughtful), user], [system, user, answer("A"), user, answer("B"), answer(thoughtful)],
                     [{"role": "user", "content": "\u00a0\t  1  \u3000"}, answer("")], [user, system, user, answer("x" * 300)]]
    return [{"messages": messages, "generate": generate} for messages in conversations for generate in (False, True)]
