# SPDX-License-Identifier: Apache-2.0
"""Seeds of the targets for Vulkan loaders: meaningful inputs (fuzz/README.md).

python -m harness.fuzz.seeds_vulkan --out FOLDER     writes FOLDER/vulkan_manifest, FOLDER/vulkan_negotiation
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator

from harness.fuzz import seeds

FIRST, LINKED, PORTABLE, NESTED = 1, 2, 4, 8
WAYS = 9  # how a manifest is found
OWN = {"library_path": "/lib/libown.so", "api_version": "1.1.0"}
MANIFEST: dict[str, object] = {"file_format_version": "1.0.0", "ICD": OWN}


def found(where: int, way: int, content: bytes, filtered: bytes = b"\0") -> bytes:
    """An input of vulkan_manifest."""
    return bytes([where, way]) + filtered + content


def vulkan_manifest() -> Iterator[bytes]:
    """A proper manifest found in each way, then one with each thing wrong."""
    good = json.dumps(MANIFEST).encode()
    for way in range(WAYS):
        yield found(FIRST * (way % 2), way, good)
    for number in range(6):
        yield found(FIRST, 4, good, bytes([3, number]))
    fields = {
        "library_path": ["", "libown.so", "./libown.so", "../lib/libown.so", 7, None, [], "/lib/" + 300 * "a"],
        "api_version": ["", "1", "1.0.0", "2.0.0", "0.1.1.0", "1.99999.0", "one", 1.1, None],
        "library_arch": ["64", "32", "", 64],
        "is_portability_driver": [True, False, "true"],
    }
    for key, values in fields.items():
        for value in values:
            yield found(FIRST | PORTABLE, 0, json.dumps(MANIFEST | {"ICD": {**OWN, key: value}}).encode())
    for text in (
        "",
        "{",
        "[]",
        "{}",
        "null",
        '{"ICD": []}',
        '{"ICD": {}}',
        '{"a": "\\u00e4\\n\\/"}',
        good.decode()[:-1],
    ):
        yield found(FIRST | LINKED, 6, text.encode())
    yield found(FIRST | NESTED, 0, bytes([200]) + good)
    yield found(FIRST, 0, good + b"\0")


def driver(shape: int = 0, rest: bytes = b"") -> bytes:
    """One driver of vulkan_negotiation: which of its traits are drawn, and these."""
    return bytes([shape]) + rest


def machine(*drivers: bytes, application: bytes = b"\0\0\0\0\1") -> bytes:
    """An input of `vulkan_negotiation`: one to some drivers, and what the application asks."""
    return bytes([len(drivers) - 1]) + b"".join(drivers) + application


def vulkan_negotiation() -> Iterator[bytes]:
    """One to three drivers: ordinary ones, each version and export, and each answer wrong."""
    plain = driver()
    for count in (1, 2, 3):
        yield machine(*[plain] * count)
    for version in range(5):
        yield machine(driver(1, bytes([version])), plain, application=bytes([1, version, 0, 0, 1, 1]))
    for exports in (1, 2, 4, 9, 11, 15, 17, 21, 32):
        yield machine(driver(2, bytes([exports])), plain)
    for interface in range(10):
        yield machine(plain, driver(2, bytes([0x40 | 0x20, interface])))
    for result in range(11):
        yield machine(driver(2, bytes([0x80, 0, result, 0])), plain)
        for position in range(9):
            answers = bytearray(9)
            answers[position] = result
            if result % 4 == position % 4:
                yield machine(driver(4, bytes(answers)), plain)
    for answer in (0, 1, 2, 7, 8, 99):
        yield machine(driver(2, bytes([0x80, 0, 0, 1, answer])), plain)
    for function in range(12):
        yield machine(driver(8, bytes([function])), plain)
    for extensions in (0, 1, 0x20, 0x3F):
        yield machine(driver(0x20, bytes([extensions])), plain, application=bytes([4, extensions & 3, 0, 0, 1]))
    for devices in (0, 2, 3):
        yield machine(driver(0x40, bytes([devices])), plain)


if __name__ == "__main__":
    sys.exit(seeds.main("harness.fuzz.seeds_vulkan", __doc__, (vulkan_manifest, vulkan_negotiation), sys.argv[1:]))
