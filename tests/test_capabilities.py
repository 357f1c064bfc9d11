# SPDX-License-Identifier: Apache-2.0
"""What a loader can do is found out by asking: several ways, nothing by accident, and a broken thing is not absent."""

from __future__ import annotations

from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile  # type: ignore[import-untyped]

from harness.build import build
from harness.errors import UsageError
from harness.sandbox import Sandbox
from harness.selftest.mutants import VARIABLE
from harness.subject import Loader, capabilities
from harness.subject.search import system_loader

SEEDED = build().seeded_loader
needs_mutants = pytest.mark.skipif(SEEDED is None, reason="this build has no seeded loader")


def asked(monkeypatch: pytest.MonkeyPatch, mutant: str) -> Loader:
    """The reference loader, made wrong, after it was asked what it can do."""
    monkeypatch.setenv(VARIABLE, mutant)
    assert SEEDED
    loader = Loader(SEEDED)
    loader.ask()
    return loader


@needs_mutants
def test_loader_that_reads_no_variable_has_none_by_accident(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its vendors are shown in the compiled-in directory then, which must not look like another variable's effect."""
    loader = asked(monkeypatch, "vendors_variable_ignored")
    assert not loader.by_variable
    assert not loader.has("OCL_ICD_VENDORS")
    assert not loader.has(capabilities.NEEDS_SLASH)
    assert not loader.has("OPENCL_VENDOR_PATH")
    assert loader.has("OPENCL_LAYERS")


@pytest.mark.parametrize(("name", "near"), [("OPENCL_LAYER", "'OPENCL_LAYERS'"), ("ICD2", "'ICD 2'")])
def test_capability_that_nobody_knows_is_refused(name: str, near: str) -> None:
    """A check that required it would be unsupported by every loader, and never run."""
    loader = Loader(build().reference_loader)
    with pytest.raises(UsageError, match=f"no capability '{name}'; did you mean {near}"):
        loader.require(name)


@needs_mutants
def test_loader_that_finds_folders_with_a_slash_alone_is_led_by_a_slash(monkeypatch: pytest.MonkeyPatch) -> None:
    """What else it does is tested; that it takes no other spelling is a deviation of its own."""
    loader = asked(monkeypatch, "folder_loses_last_character")
    assert loader.has("OCL_ICD_VENDORS")
    assert loader.has(capabilities.NEEDS_SLASH)
    assert loader.by_variable
    sandbox = Sandbox(loader.path)
    try:
        sandbox.vendor("a")
        with loader.start(sandbox) as cl:
            assert cl.platform_names() == ["a"]
    finally:
        sandbox.close()


@needs_mutants
@pytest.mark.parametrize(
    ("mutant", "capability"),
    [
        ("vendors_variable_misspelt", "OCL_ICD_VENDORS"),
        ("layers_variable_misspelt", "OPENCL_LAYERS"),
        ("icd2_function_misspelt", "ICD 2"),
        ("no_vendor_unloaded", "unloads vendors"),
    ],
)
def test_broken_capability_leaves_its_sign(monkeypatch: pytest.MonkeyPatch, mutant: str, capability: str) -> None:
    loader = asked(monkeypatch, mutant)
    assert not loader.has(capability)
    assert capabilities.signs(loader, capability)
    assert "yes" not in capabilities.outcomes(loader, capability).values()


def dies(loader: Loader, sandbox: Sandbox) -> bool:
    """A question that the loader's process does not survive."""
    sandbox.vendor("a", faults=["constructor_aborts"])
    with loader.start(sandbox) as cl:
        return bool(cl.platform_names())


def spoils(loader: Loader, sandbox: Sandbox) -> bool:
    """A question that it answers, and writes over the call log."""
    mock = sandbox.vendor("a")
    with loader.start(sandbox) as cl:
        cl.platform_names()
    sandbox.log_path.write_bytes(b"\xff" * sandbox.log_path.stat().st_size)
    return bool(sandbox.log.calls("clGetPlatformIDs", by=mock.name))


def lives(loader: Loader, sandbox: Sandbox) -> bool:
    """A question that it answers with no."""
    with loader.start(sandbox) as cl:
        return bool(cl.platform_names())


@pytest.mark.parametrize(
    ("ways", "signs", "has"),
    [
        ((dies, dies), ("OPENCL_LAYERS",), True),
        ((dies, spoils), ("OPENCL_LAYERS",), True),
        ((dies, dies), ("OPENCL_NO_SUCH_LAYERS",), False),
        ((dies, lives), ("OPENCL_LAYERS",), False),
        ((lives, dies), ("OPENCL_LAYERS",), False),
    ],
)
def test_what_a_loader_shows_a_sign_of_and_never_survives_is_not_absent(
    monkeypatch: pytest.MonkeyPatch, ways: tuple[capabilities.Question, ...], signs: tuple[str, ...], has: bool
) -> None:
    """Its checks run, and fail: a suite of which nothing applied would have been skipped."""
    monkeypatch.setitem(capabilities.CAPABILITIES, "OPENCL_LAYERS", capabilities.Capability(ways, signs))
    monkeypatch.setattr(capabilities, "remembered", lambda loader, ask: ask()[0])
    loader = Loader(build().reference_loader)
    loader.ask()
    assert loader.has("OPENCL_LAYERS") is has


@needs_mutants
def test_loader_info_that_fails_is_not_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its checks have something to say, and the loader keeps its expectation file, though its name is unknown."""
    loader = asked(monkeypatch, "loader_info_refuses_every_name")
    assert loader.has("clGetICDLoaderInfoOCLICD")
    assert (loader.facts.name, loader.facts.version) == ("unknown", "")


@pytest.mark.parametrize(
    "content",
    [
        b"\0OCL_ICD_VENDRS\0", b"\0OCL_ICD_VENDORSS\0", b"\0OPENCL_LAYER_PATHS\0", b"\0OCL_ICD_VEND\0",
        b"\0OCLICD_VENDORS\0", b"\0OPENCL_ICD_VENDORS\0",
    ],
)  # fmt: skip
def test_variable_that_differs_by_a_slip_is_a_sign(tmp_path: Path, content: bytes) -> None:
    loader = Loader(build().reference_loader)
    loader.path = tmp_path / "library"
    loader.path.write_bytes(content)
    signs = [name for name in capabilities.CAPABILITIES if capabilities.signs(loader, name)]
    assert signs == ["OPENCL_LAYER_PATH" if b"LAYER" in content else "OCL_ICD_VENDORS"]


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\0OCL_ICD_DEBUG\0",
        b"\0OPENCL_1.0\0",
        b"\0OCL_ICD_VENDORS=%s\0",
        b"\0MY_OCL_ICD_VENDORS\0",
        b"\0OCL_ICD\0",
    ],
)
def test_other_texts_are_not_signs(tmp_path: Path, content: bytes) -> None:
    loader = Loader(build().reference_loader)
    loader.path = tmp_path / "library"
    loader.path.write_bytes(content)
    assert [name for name in capabilities.CAPABILITIES if capabilities.signs(loader, name)] == []


def test_only_a_part_of_which_nothing_stands_in_the_file_is_left_out(tmp_path: Path) -> None:
    reference = build().reference_loader
    assert capabilities.left_out(Loader(reference)) == []
    library = reference.read_bytes()
    for text in (b"OPENCL_LAYERS", b"OPENCL_LAYER_PATH", b"clGetLayerInfo", b"clInitLayer"):
        assert text in library
        library = library.replace(text, b"x" * len(text))
        (tmp_path / "libOpenCL.so.1").write_bytes(library)
        all_gone = text == b"clInitLayer"
        layers = ["OPENCL_LAYERS", "OPENCL_LAYER_PATH", "initialises layers with properties"] if all_gone else []
        assert capabilities.left_out(Loader(tmp_path / "libOpenCL.so.1")) == layers


def test_loader_that_only_refuses_the_functions_of_icd_2_was_built_without_it(tmp_path: Path) -> None:
    """It names them, but asks no vendor for a function: the names of functions are in its table of symbols alone."""
    library = tmp_path / "libOpenCL.so.1"
    content = bytearray(build().reference_loader.read_bytes())
    for text in (b"clFlush", b"clFinish", b"clRetainContext"):
        assert capabilities.left_out(Loader(build().reference_loader)) == []
        _blank_in_data(content, text)
        library.write_bytes(content)
        assert capabilities.left_out(Loader(library)) == (["ICD 2"] if text == b"clRetainContext" else [])
    assert b"\0clFlush\0" in content
    assert b"\0clIcdSetPlatformDispatchDataKHR\0" in content
    assert capabilities.signs(Loader(library), "ICD 2") == []
    assert capabilities.signs(Loader(build().reference_loader), "ICD 2")


def _blank_in_data(library: bytearray, text: bytes) -> None:
    """Overwrites a text in the data of the reference loader, not in its tables of symbols."""
    with build().reference_loader.open("rb") as file:
        for section in ELFFile(file).iter_sections():
            if section["sh_type"] == "SHT_PROGBITS":
                start, end = section["sh_offset"], section["sh_offset"] + section["sh_size"]
                library[start:end] = bytes(library[start:end]).replace(text, b"x" * len(text))


@needs_mutants
def test_variable_that_is_asked_for_is_a_sign(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its name is put together at run time: no text in the file names it."""
    sound = Loader(build().reference_loader)
    assert capabilities.signs(sound, "OCL_ICD_DEFAULT_PLATFORM") == []
    assert b"OCL_ICD_DEFAULT_PLATFORM" not in build().reference_loader.read_bytes()
    monkeypatch.setenv(VARIABLE, "variable_put_together_and_ignored")
    assert SEEDED
    assert capabilities.signs(Loader(SEEDED), "OCL_ICD_DEFAULT_PLATFORM") == ["OCL_ICD_DEFAULT_PLATFORM"]


def ways_to_the_info_function(loader: Loader) -> set[str]:
    way = "clGetPlatformInfo of the table"
    loader.ask()
    return {name.removeprefix(way) for name in loader.facts.capabilities if name.startswith(way)}


def test_reference_loader_takes_no_info_function_from_a_table() -> None:
    assert ways_to_the_info_function(Loader(build().reference_loader)) == set()


def test_ocl_icd_takes_the_info_function_from_a_table_by_assumption_alone() -> None:
    path = system_loader()
    if path is None:
        pytest.skip("no system loader")
    loader = Loader(path)
    ways = ways_to_the_info_function(loader)
    if loader.facts.name != "OpenCL ICD Loader":
        pytest.skip("the system loader is not ocl-icd")
    assert ways == {" by assumption"}
