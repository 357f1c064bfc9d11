# SPDX-License-Identifier: Apache-2.0
"""Texts and lists of every small shape are read and written within their memory, at both ends of it (DISC-GEN)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from harness.check import Loader, Sandbox, requirement

# Where the heap has unreadable pages: past the end of every block, or before its start.
SIDES: dict[str, dict[str, Any]] = {"past the end": {"guarded_heap": True}, "before the start": {"guarded_front": True}}

LINES = {
    "nothing": b"", "newline": b"\n", "CR LF": b"\r\n", "two newlines": b"\n\n", "blank": b" ", "blank line": b" \n",
    "slash": b"/", "slash line": b"/\n", "dot": b".", "letter": b"x", "letter line": b"x\n", "tab": b"\t", "NUL": b"\0",
    "NUL line": b"\0\n",
}  # fmt: skip
TEXTS = ["", " ", ":", "::", "/", "x", "x:", ":x", "/x/", ".", "0", "T"]
VARIABLES = [
    "OCL_ICD_VENDORS", "OPENCL_VENDOR_PATH", "OCL_ICD_FILENAMES", "OPENCL_LAYERS", "OPENCL_LAYER_PATH",
    "OCL_ICD_ENABLE_TRACE", "OCL_ICD_DEBUG", "OCL_ICD_PLATFORM_SORT", "OCL_ICD_DEFAULT_PLATFORM",
    "OCL_ICD_ASSUME_ICD_EXTENSION", "OCL_ICD_FORCE_LEGACY_TERMINATION", "OCL_ICD_DISABLE_DYNAMIC_LIBRARY_UNLOADING",
]  # fmt: skip
# What a vendor may say of itself; the length of each comes out as an odd number of bytes somewhere.
EXTENSIONS = {
    "nothing": "", "blank": " ", "letter": "c", "shorter": "cl_khr_ic", "alone": "cl_khr_icd",
    "blank before": " cl_khr_icd", "blank after": "cl_khr_icd ", "letter before": "xcl_khr_icd",
    "longer": "cl_khr_icd_", "two others": "a b",
}  # fmt: skip
SUFFIXES = ["", "X", "KHR", "cl", "clGetPlatformIDs", "x" * 14, "x" * 15, "x" * 16, "x" * 17]
NAMES = ["", "c", "cl", "clGet", "clGetPlatformID", "KHR", "X", "clX", "x" * 14, "x" * 15, "x" * 16, "x" * 17]

PLACES = {"only": [b"bad"], "first": [b"bad", b"good"], "last": [b"good", b"bad"]}


@requirement("DISC-GEN-018")
@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("line", LINES)
def test_vendor_file_is_read_within_its_memory(
    loader: Loader, sandbox: Sandbox, line: str, place: str, side: str
) -> None:
    """A vendor file of a few bytes is read within them, and the vendor beside it is offered."""
    good = f"{sandbox.icd('good', suffix='GOOD')}\n".encode()
    sandbox.vendors_in_order([good if kind == b"good" else LINES[line] for kind in PLACES[place]])
    with loader.start(sandbox, **SIDES[side]) as cl:
        assert cl.platform_names() == (["good"] if place != "only" else [])
        assert bool(cl.GetExtensionFunctionAddress("clSomethingGOOD")) == (place != "only")


@requirement("DISC-GEN-018")
@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("line", LINES)
def test_layer_file_is_read_within_its_memory(loader: Loader, sandbox: Sandbox, line: str, side: str) -> None:
    """A layer file of a few bytes is read within them, and the layer beside it is used."""
    loader.require("OPENCL_LAYER_PATH")
    sandbox.vendor("good")
    folder = sandbox.folder("layers")
    (folder / "a.lay").write_bytes(LINES[line])
    (folder / "b.lay").write_text(f"{sandbox.layer('layer')}\n")
    sandbox.env["OPENCL_LAYER_PATH"] = str(folder)
    with loader.start(sandbox, **SIDES[side]) as cl:
        assert cl.platform_names() == ["good"]
    assert sandbox.log.calls("clGetPlatformInfo", by="layer")


@requirement("DISC-GEN-018")
@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("variable", VARIABLES)
def test_variable_is_read_within_its_memory(loader: Loader, sandbox: Sandbox, variable: str, side: str) -> None:
    """A variable of a few characters is read within them; the vendors are those of the usual heap."""
    sandbox.vendor("good", suffix="GOOD")
    usual = dict(sandbox.env)
    for text in TEXTS:
        sandbox.env = usual | {variable: text}
        with loader.start(sandbox) as cl:
            names = list(cl.platform_names())
        with loader.start(sandbox, **SIDES[side]) as cl:
            assert cl.platform_names() == names, f"{variable}={text!r}"
            assert bool(cl.GetExtensionFunctionAddress("clSomethingGOOD")) == bool(names)


def offered(loader: Loader, sandbox: Sandbox, **start: Any) -> list[str]:
    with loader.start(sandbox, **start) as cl:
        names = list(cl.platform_names())
        for name in NAMES:
            cl.GetExtensionFunctionAddress(name)
        return names


@requirement("DISC-GEN-018")
@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("extensions", EXTENSIONS)
def test_extensions_are_read_within_their_memory(loader: Loader, sandbox: Sandbox, extensions: str, side: str) -> None:
    """Extensions are read within their memory; the good vendor is offered, the odd one as with the usual heap."""
    sandbox.vendor("good")
    sandbox.vendor("odd", extensions=EXTENSIONS[extensions])
    names = offered(loader, sandbox, **SIDES[side])
    assert "good" in names
    assert names == offered(loader, sandbox)


@requirement("DISC-GEN-018")
@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("suffix", SUFFIXES, ids=lambda text: text or "nothing")
def test_suffix_is_read_within_its_memory(loader: Loader, sandbox: Sandbox, suffix: str, side: str) -> None:
    """A vendor's suffix and a name that is asked for are compared within their memory; both vendors are offered."""
    sandbox.vendor("good")
    sandbox.vendor("odd", suffix=suffix)
    assert sorted(offered(loader, sandbox, **SIDES[side])) == ["good", "odd"]


MANY: dict[str, Callable[[Sandbox, int], object]] = {
    "libraries": lambda s, count: [s.vendor(f"v{n:02}") for n in range(count)],
    "platforms": lambda s, count: s.vendor("v", platforms=count),
    "files of nothing": lambda s, count: [s.vendor_file(f"{n:02}.icd", "/nothing.so\n") for n in range(count)],
}


@requirement("DISC-GEN-018")
@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("count", [0, 1, 2, 8, 9, 33])
@pytest.mark.parametrize("what", MANY)
def test_lists_are_kept_within_their_memory(loader: Loader, sandbox: Sandbox, what: str, count: int, side: str) -> None:
    """Lists of files, libraries and platforms of every length are kept within their memory."""
    MANY[what](sandbox, count)
    assert len(offered(loader, sandbox, **SIDES[side])) == (0 if what == "files of nothing" else count)
