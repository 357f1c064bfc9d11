# SPDX-License-Identifier: Apache-2.0
"""The inputs that a target's process has run, oldest first, and where it ended (fuzz/engine/kept_inputs.c)."""

from __future__ import annotations

import os
import struct
from pathlib import Path

VARIABLE = "CLHARNESS_FUZZ_INPUTS"
_USED = struct.Struct("=Q")
_SIZE = struct.Struct("=I")
_WHOLE = 4 << 20  # bytes of the file


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


def ended_with_subject(file: Path) -> bool:
    """Whether the process that kept the file ended while it was loading the subject, or ran an input."""
    try:
        with file.open("rb") as content:
            content.seek(-_USED.size, os.SEEK_END)
            return content.tell() == _WHOLE - _USED.size and any(content.read())
    except OSError:
        return False
