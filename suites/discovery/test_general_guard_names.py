# SPDX-License-Identifier: Apache-2.0
"""Names of files of every small length are read within their memory, at both ends of it (DISC-GEN)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from harness.check import Loader, Sandbox, requirement

SIDES: dict[str, dict[str, Any]] = {"past the end": {"guarded_heap": True}, "before the start": {"guarded_front": True}}

# Shorter than an ending, the ending itself, a part of it, and the longest that a file can have.
NAMES = (
    "x",
    "cd",
    "icd",
    "lay",
    "xicd",
    ".icd",
    ".lay",
    "x.icd",
    "x.lay",
    "x.ic",
    f"{'x' * 251}.icd",
    f"{'x' * 251}.lay",
)


def empty_files(folder: Path) -> None:
    for name in NAMES:
        (folder / name).write_bytes(b"")


@requirement("DISC-GEN-018")
@pytest.mark.parametrize("side", SIDES)
def test_name_of_a_vendor_file_is_read_within_its_memory(loader: Loader, sandbox: Sandbox, side: str) -> None:
    """Empty files whose names are short, long, or an ending alone cost no vendor, and are read within their memory."""
    sandbox.require_linux("folders of configuration files")
    sandbox.vendor("good")
    empty_files(sandbox.vendors)
    with loader.start(sandbox) as cl:
        assert cl.platform_names() == ["good"]
    with loader.start(sandbox, **SIDES[side]) as cl:
        assert cl.platform_names() == ["good"]


@requirement("DISC-GEN-018")
@pytest.mark.parametrize("side", SIDES)
def test_name_of_a_layer_file_is_read_within_its_memory(loader: Loader, sandbox: Sandbox, side: str) -> None:
    """The same of layers: the one whose file has an ordinary name is used."""
    loader.require("OPENCL_LAYER_PATH")
    sandbox.vendor("good")
    folder = sandbox.folder("layers")
    empty_files(folder)
    (folder / "a.lay").write_text(f"{sandbox.layer('layer')}\n")
    sandbox.env["OPENCL_LAYER_PATH"] = str(folder)
    with loader.start(sandbox, **SIDES[side]) as cl:
        assert cl.platform_names() == ["good"]
    assert sandbox.log.calls("clGetPlatformInfo", by="layer")
