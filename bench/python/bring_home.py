#!/usr/bin/env python3
"""What is worth keeping of measurements on a machine that will be gone: a few small files in a folder.

    bring_home.py FOLDER --results bench/results [--records FOLDER…]

results.tar.gz has the first folder as it is; records.tar.gz has what of the others is text, and their archives, whole also
while somebody writes to them. Packages, weights and compiled kernels stay behind."""

from __future__ import annotations

import argparse
import contextlib
import pathlib
import sqlite3
import tarfile
import tempfile

TEXTS = {".csv", ".cu", ".json", ".jsonl", ".log", ".md", ".new", ".txt", ".through", ""}
MOST_BYTES = 4 << 20  #: of a text
PARTS_OF_PACKAGES = {"cpp", "cubins", "headers", "original"}


def is_text(file: pathlib.Path, below: pathlib.Path) -> bool:
    named = file.suffix in TEXTS and file.is_file() and not file.is_symlink()
    return named and not PARTS_OF_PACKAGES & set(file.relative_to(below).parts) and file.stat().st_size <= MOST_BYTES


def copy_of_archive(archive: pathlib.Path, folder: pathlib.Path) -> pathlib.Path:
    copy = folder / "archive.sqlite"
    copy.unlink(missing_ok=True)
    with contextlib.closing(sqlite3.connect(f"file:{archive}?mode=ro", uri=True)) as connection:
        connection.execute("VACUUM INTO ?", (str(copy),))
    return copy


def keep_records(folders: list[pathlib.Path], output: pathlib.Path) -> None:
    with tarfile.open(output, "w:gz") as kept, tempfile.TemporaryDirectory() as scratch:
        for folder in folders:
            for file in sorted(folder.rglob("*")):
                name = pathlib.Path(folder.name) / file.relative_to(folder)
                if file.suffix == ".sqlite":
                    kept.add(copy_of_archive(file, pathlib.Path(scratch)), name)
                elif is_text(file, folder):
                    kept.add(file, name)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--results", type=pathlib.Path, required=True)
    parser.add_argument("--records", type=pathlib.Path, nargs="*", default=[])
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    with tarfile.open(options.folder / "results.tar.gz", "w:gz") as kept:
        kept.add(options.results)
    keep_records([folder for folder in options.records if folder.is_dir()], options.folder / "records.tar.gz")


if __name__ == "__main__":
    main()
