# SPDX-License-Identifier: Apache-2.0
"""What discovery leaves as it is in the process (DISC-GEN)."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from harness.check import LEGACY, Loader, Parts, Sandbox, requirement, state_changes


def _vendors(loader: Loader, sandbox: Sandbox) -> None:
    sandbox.vendor("b")


def _broken(loader: Loader, sandbox: Sandbox) -> None:
    sandbox.vendor("odd", variant="not_an_icd")
    sandbox.vendor_file("missing.icd", "/missing/library.so\n")
    text = sandbox.file("text.so", "not a library\n" * 100)
    sandbox.vendor_file("text.icd", f"{text}\n")


def _layers(loader: Loader, sandbox: Sandbox) -> None:
    loader.require("OPENCL_LAYERS")
    if not loader.has("initialises layers with properties"):
        sandbox.env[LEGACY] = "1"
    sandbox.env["OPENCL_LAYERS"] = str(sandbox.layer("layer"))


def _layer_files(loader: Loader, sandbox: Sandbox) -> None:
    """Several, which are put in order: by the collation of a locale, say."""
    loader.require("OPENCL_LAYER_PATH")
    if not loader.has("initialises layers with properties"):
        sandbox.env[LEGACY] = "1"
    folder = sandbox.folder("layers")
    for name in ("one", "two", "three"):
        (folder / f"{name}.lay").write_text(f"{sandbox.layer(name).path}\n")
    sandbox.env["OPENCL_LAYER_PATH"] = str(folder)


MACHINES: dict[str, Callable[[Loader, Sandbox], None]] = {
    "vendors": _vendors,
    "broken": _broken,
    "layers": _layers,
    "layer files": _layer_files,
}


@requirement("DISC-GEN-022")
@pytest.mark.parametrize("machine", MACHINES)
def test_discovery_leaves_the_state_of_the_process_as_it_is(loader: Loader, sandbox: Sandbox, machine: str) -> None:
    """Whatever is found, working directory, environment, locale, arithmetic and signals are the application's."""
    sandbox.vendor("a")
    sandbox.env["LC_ALL"] = "C.UTF-8"  # which is the locale of an application that asks for that of the environment
    MACHINES[machine](loader, sandbox)
    with loader.start(sandbox, late=True) as cl, Parts() as parts:
        before = cl.state()
        cl.open()
        assert "a" in cl.platform_names()
        cl.GetExtensionFunctionAddress("clSomethingElse")
        for name, change in state_changes(before, cl.state()).items():
            parts.fail(name, change)
