# SPDX-License-Identifier: Apache-2.0
"""The inputs that a target's process has run, oldest first (fuzz/engine/kept_inputs.c)."""

from __future__ import annotations

import struct
from pathlib import Path

VARIABLE = "CLHARNESS_FUZZ_INPUTS"
_USED = struct.Struct("=Q")
_SIZE = struct.Struct("=I")


def kept_inputs(file: Path) -> list[bytes]:
    """Those that a file holds; none where there is no such file, and none from where a subject spoilt it."""
    try:
        content = file.read_bytes()
    except FileNotFoundError:
        return []
    inputs: list[bytes] = []
    if len(content) < _USED.size:
        return inputs
    (used,) = _USED.unpack_from(content)
    at, end = _USED.size, min(_USED.size + used, len(content))
    while at + _SIZE.size <= end:
        (size,) = _SIZE.unpack_from(content, at)
        at += _SIZE.size + size
        if at > end:
            break
        inputs.append(content[at - size : at])
    return inputs
