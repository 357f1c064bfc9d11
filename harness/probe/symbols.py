# SPDX-License-Identifier: Apache-2.0
"""The functions of a library by address, as its tables of symbols have them.

Without pyelftools, which takes half a second for a library of ours, and more than a case for its import alone.
"""

from __future__ import annotations

import struct

MAX_SYMBOLS = 1 << 20  # of a table; one with more shows addresses
_TABLES = (2, 11)  # SHT_SYMTAB, SHT_DYNSYM
_FUNCTION = 2  # STT_FUNC


def functions_of(library: bytes) -> tuple[list[int], list[tuple[int, str]]]:
    """Addresses of a library's functions, sorted, and where each ends with its name. Nothing in the file is trusted."""
    try:
        functions = _functions(library)
    except (struct.error, IndexError, OverflowError):
        return [], []
    addresses = sorted(functions)
    return addresses, [functions[address] for address in addresses]


def _functions(library: bytes) -> dict[int, tuple[int, str]]:
    if library[:4] != b"\x7fELF":
        return {}
    wide, order = library[4] == 2, "<" if library[5] == 1 else ">"
    start = struct.unpack_from(order + "Q", library, 40)[0] if wide else struct.unpack_from(order + "I", library, 32)[0]
    size, count = struct.unpack_from(order + "HH", library, 58 if wide else 46)
    header = struct.Struct(order + ("IIQQQQII" if wide else "10I"))
    sections = [header.unpack_from(library, start + number * size) for number in range(count)]
    symbol = struct.Struct(order + ("IBBHQQ" if wide else "IIIBBH"))
    functions: dict[int, tuple[int, str]] = {}
    for section in sections:
        kind, offset, length, names = section[1], section[4], section[5], section[6]
        if kind not in _TABLES or length > MAX_SYMBOLS * symbol.size:
            continue
        text = library[sections[names][4] : sections[names][4] + sections[names][5]]
        for row in symbol.iter_unpack(library[offset : offset + length]):
            name, (info, value, extent) = row[0], (row[1], row[4], row[5]) if wide else (row[3], row[1], row[2])
            if info & 15 == _FUNCTION and value:
                functions[value] = (value + extent, _text(text, name))
    return functions


def _text(table: bytes, at: int) -> str:
    end = table.find(b"\0", at)
    return table[at : end if end >= 0 else len(table)].decode(errors="replace")
