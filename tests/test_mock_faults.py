# SPDX-License-Identifier: Apache-2.0
"""The lists of faults: what is in them, what is refused, and that the mocks know each of them."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.build import build
from harness.errors import UsageError
from harness.sandbox.faults import Kind, check_faults, fault_lists, faults
from harness.sandbox.vulkan import VulkanSandbox

KINDS: list[Kind] = ["icd", "layer", "vulkan"]


@pytest.fixture
def sandbox() -> Iterator[VulkanSandbox]:
    box = VulkanSandbox()
    yield box
    box.close()


@pytest.mark.parametrize("kind", KINDS)
def test_every_entry_is_found_with_its_sentence(kind: Kind) -> None:
    source = "".join(header.read_text() for header in fault_lists(kind))
    names = re.findall(r"^FAULT\((\w+)\)", source, re.M)
    assert names
    assert list(faults(kind)) == names
    for name, sentence in faults(kind).items():
        assert re.fullmatch(r"[A-Z].*\.", sentence), f"{name} needs a sentence: {sentence!r}"
        assert "*" not in sentence


@pytest.mark.parametrize("kind", KINDS)
def test_the_mocks_know_every_fault(kind: Kind, sandbox: VulkanSandbox) -> None:
    """A copy that has every fault in its configuration loads (those that end the process, or wait, left out)."""
    chosen = [name for name in faults(kind) if not re.search(r"^constructor|enumeration_sleeps|destructor", name)]
    written = [f"{name}=1" if "VALUE" in faults(kind)[name] else name for name in chosen]
    assert len(written) > 5
    make: Any = {"icd": sandbox.icd, "layer": sandbox.layer, "vulkan": sandbox.library}[kind]
    mock = make("all", faults=written)
    assert _load(mock.path) == ""
    Path(f"{mock.path}.conf").write_text("fault = unheard_of\n")
    assert "unheard_of" in _load(mock.path)


def _load(library: Path) -> str:
    """Loads a library in a process of its own; gives what it complains about."""
    program = "import ctypes, sys; ctypes.CDLL(sys.argv[1])"
    done = subprocess.run([sys.executable, "-c", program, library], capture_output=True, text=True, timeout=30)
    return done.stderr if done.returncode else ""


@pytest.mark.parametrize(
    ("kind", "written", "says"),
    [
        ("icd", "count_call_fail", "did you mean 'count_call_fails'"),
        ("icd", "zzz", "clharness mock --faults"),
        ("icd", "", "has no fault ''"),
        ("icd", "platform_is_null=3", "takes no value"),
        ("icd", "list_call_writes", "needs a value"),
        ("icd", "list_call_writes=", "not a whole number"),
        ("icd", "list_call_writes=two", "not a whole number"),
        ("icd", "list_call_writes=09", "not a whole number"),
        ("icd", "constructor_aborts@0", "not a matter of one platform"),
        ("icd", "platform_is_null@-1", "not a number from 0"),
        ("icd", "platform_is_null@", "not a number from 0"),
        ("icd", "platform_is_null\nname = other", "has no fault"),
        ("layer", "init_fails@0", "not a matter of one platform"),
        ("layer", "count_call_fails", "mock layer has no fault"),
    ],
)
def test_an_unknown_fault_or_a_wrong_value_is_refused(kind: Kind, written: str, says: str) -> None:
    with pytest.raises(UsageError, match=re.escape(says)):
        check_faults(kind, [written])


@pytest.mark.parametrize(
    "written", ["list_call_writes=0", "count_call_fails=-33", "count_call_says=0x10", "platform_is_null@12"]
)
def test_what_means_something_is_taken(written: str) -> None:
    assert check_faults("icd", [written]) == [written]


def test_sandbox_refuses_what_the_mocks_do_not_know(sandbox: VulkanSandbox) -> None:
    with pytest.raises(UsageError, match="count_call_fails"):
        sandbox.icd("a", faults=["count_call_fial"])
    with pytest.raises(UsageError, match="init_fails"):
        sandbox.layer("b", faults=["init_fail"])
    with pytest.raises(UsageError, match="'suffix'"):
        sandbox.icd("c", sufix="X")
    with pytest.raises(UsageError, match="'gpus'"):
        sandbox.icd("d", per_platform=[{"gpu": 1}])
    with pytest.raises(UsageError, match="'icd_exports_all'"):
        sandbox.icd("e", variant="icd_export_all")
    with pytest.raises(UsageError, match="'layer_without_deinit'"):
        sandbox.layer("f", variant="layer_without_deniit")


def test_every_variant_is_a_library() -> None:
    for path in (*build().mock_icds.values(), *build().mock_layers.values()):
        assert path.read_bytes()[:4] == b"\x7fELF"
