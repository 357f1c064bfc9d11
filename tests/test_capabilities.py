# SPDX-License-Identifier: Apache-2.0
"""What a loader can do is found out by asking: several ways, nothing by accident, and a broken thing is not absent."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.build import build
from harness.sandbox import Sandbox
from harness.selftest.mutants import VARIABLE
from harness.subject import Loader, capabilities

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


@needs_mutants
def test_loader_info_that_fails_is_not_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its checks have something to say, and the loader keeps its expectation file, though its name is unknown."""
    loader = asked(monkeypatch, "loader_info_refuses_every_name")
    assert loader.has("clGetICDLoaderInfoOCLICD")
    assert (loader.facts.name, loader.facts.version) == ("unknown", "")


@pytest.mark.parametrize("content", [b"\0OCL_ICD_VENDRS\0", b"\0OCL_ICD_VENDORSS\0", b"\0OPENCL_LAYER_PATHS\0"])
def test_variable_that_differs_by_a_slip_is_a_sign(tmp_path: Path, content: bytes) -> None:
    loader = Loader(build().reference_loader)
    loader.path = tmp_path / "library"
    loader.path.write_bytes(content)
    signs = [name for name in capabilities.CAPABILITIES if capabilities.signs(loader, name)]
    assert signs == ["OPENCL_LAYER_PATH" if b"LAYER" in content else "OCL_ICD_VENDORS"]


@pytest.mark.parametrize(
    "content", [b"", b"\0OCL_ICD_DEBUG\0", b"\0OPENCL_1.0\0", b"\0OCL_ICD_VENDORS=%s\0", b"\0MY_OCL_ICD_VENDORS\0"]
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
