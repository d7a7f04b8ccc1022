#!/usr/bin/env python3
"""Registers, and bytes of local memory, of the kernels in cubins: what lies there was spilled, or is an array that is
indexed at run time.

    cubin_resources.py [--spilled] FILE.cubin…"""

from __future__ import annotations

import argparse
import pathlib
import struct

FRAME_SIZE, REGISTERS = 0x11, 0x2F  # attributes of .nv.info
WITH_BYTES = 0x04                   # their format: as many bytes as are said follow


def sections_of(elf):
    """Name -> bytes of each section of a 64-bit ELF file."""
    (table,) = struct.unpack_from("<Q", elf, 0x28)
    size, count, names_index = struct.unpack_from("<HHH", elf, 0x3A)
    headers = [struct.unpack_from("<IIQQQQIIQQ", elf, table + i * size) for i in range(count)]
    contents = [elf[offset:offset + length] for _, _, _, _, offset, length, *_ in headers]
    names = contents[names_index]
    return {names[header[0]:names.index(b"\0", header[0])].decode(): content for header, content in zip(headers, contents)}


def symbols_of(sections):
    names = sections[".strtab"]
    table = sections[".symtab"]
    starts = [struct.unpack_from("<I", table, at)[0] for at in range(0, len(table), 24)]
    return [names[start:names.index(b"\0", start)].decode() for start in starts]


def resources_of(elf):
    """Kernel -> attribute -> number."""
    sections = sections_of(elf)
    symbols, info = symbols_of(sections), sections.get(".nv.info", b"")
    found, at = {}, 0
    while at < len(info):
        form, attribute, size = struct.unpack_from("<BBH", info, at)
        if form == WITH_BYTES and attribute in (FRAME_SIZE, REGISTERS):
            symbol, number = struct.unpack_from("<II", info, at + 4)
            found.setdefault(symbols[symbol], {})[attribute] = number
        at += 4 + (size if form == WITH_BYTES else 0)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--spilled", action="store_true", help="only kernels with local memory")
    parser.add_argument("files", type=pathlib.Path, nargs="+")
    options = parser.parse_args()
    for file in options.files:
        for kernel, numbers in resources_of(file.read_bytes()).items():
            local = numbers.get(FRAME_SIZE, 0)
            if local or not options.spilled:
                print(f"{file.name}  {kernel}: {numbers.get(REGISTERS, 0)} registers, {local} bytes of local memory")


if __name__ == "__main__":
    main()
