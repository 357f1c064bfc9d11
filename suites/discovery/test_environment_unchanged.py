# SPDX-License-Identifier: Apache-2.0
"""The environment after discovery: as it was, byte for byte, in the process and in its children (DISC-ENV)."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from harness.check import CL, Loader, Sandbox, build, requirement


def paths(sandbox: Sandbox, *names: str) -> list[str]:
    return [str(sandbox.icd(name)) for name in names]


def layers(sandbox: Sandbox, *names: str) -> list[str]:
    """Layers where the build has them, else libraries that are none: a list is cut in either case."""
    if build().mock_layers:
        return [str(sandbox.layer(name)) for name in names]
    return [f"{sandbox.root}/missing-{name}.so" for name in names]


Settings = Callable[[Sandbox], dict[str, str]]
SETTINGS: dict[str, Settings] = {
    "one library": lambda s: {"OCL_ICD_FILENAMES": ":".join(paths(s, "a"))},
    "two libraries": lambda s: {"OCL_ICD_FILENAMES": ":".join(paths(s, "a", "b"))},
    "three libraries": lambda s: {"OCL_ICD_FILENAMES": ":".join(paths(s, "a", "b", "c"))},
    "library and separator": lambda s: {"OCL_ICD_FILENAMES": f"{s.icd('a')}:"},
    "missing libraries": lambda s: {"OCL_ICD_FILENAMES": "/missing/a.so:/missing/b.so:"},
    "library not in ASCII": lambda s: {"OCL_ICD_FILENAMES": f"{s.icd('a', file='größe.so')}:/missing/\udcff.so"},
    "directory": lambda s: {"OCL_ICD_VENDORS": f"{s.vendors}/"},
    "two directories": lambda s: {"OCL_ICD_VENDORS": f"{s.vendors}:{s.vendors}"},
    "missing directory": lambda s: {"OCL_ICD_VENDORS": "/missing"},
    "configuration file": lambda s: {"OCL_ICD_VENDORS": f"{s.vendors}/usual.icd"},
    "library as directory": lambda s: {"OCL_ICD_VENDORS": str(s.icd("a"))},
    "empty variables": lambda s: {"OCL_ICD_VENDORS": "", "OCL_ICD_FILENAMES": "", "OPENCL_LAYERS": ""},
    "alias": lambda s: {"OPENCL_VENDOR_PATH": f"{s.vendors}/"},
    "one layer": lambda s: {"OPENCL_LAYERS": ":".join(layers(s, "a"))},
    "two layers": lambda s: {"OPENCL_LAYERS": ":".join(layers(s, "a", "b"))},
    "three layers": lambda s: {"OPENCL_LAYERS": ":".join(layers(s, "a", "b", "c"))},
    "layer and separator": lambda s: {"OPENCL_LAYERS": f"{layers(s, 'a')[0]}:"},
    "missing layers": lambda s: {"OPENCL_LAYERS": "/missing/a.so:/missing/b.so"},
    "layer directory": lambda s: {"OPENCL_LAYER_PATH": f"{s.vendors}/"},
    "words": lambda s: {
        "OCL_ICD_PLATFORM_SORT": "none",
        "OCL_ICD_DEFAULT_PLATFORM": "0",
        "OCL_ICD_ASSUME_ICD_EXTENSION": "debug",
        "OCL_ICD_DEBUG": "7",
        "OCL_ICD_ENABLE_TRACE": "True",
        "OCL_ICD_FORCE_LEGACY_TERMINATION": "no",
        "OCL_ICD_DISABLE_DYNAMIC_LIBRARY_UNLOADING": "1",
    },
}


@requirement("DISC-ENV-014")
@pytest.mark.parametrize(
    ("setting", "linked"), [(s, False) for s in SETTINGS] + [("three libraries", True), ("three layers", True)]
)
def test_environment_is_unchanged(loader: Loader, sandbox: Sandbox, setting: str, linked: bool) -> None:
    """After discovery, every variable of the process has the value that it was started with."""
    if "ASCII" in setting:
        sandbox.require_linux("bytes of any kind in variables")
    sandbox.vendor("usual")
    sandbox.env |= SETTINGS[setting](sandbox)
    with loader.start(sandbox, linked=linked, late=not linked) as cl:
        before = cl.process_environment()
        assert {name: before[name.encode()] for name in sandbox.env} == {
            name: cl.environment[name].encode(errors="surrogateescape") for name in sandbox.env
        }
        if not linked:
            cl.open()
        cl.platform_names()
        cl.clGetPlatformInfo(None, CL.PLATFORM_NAME, 0, None, None)
        cl.GetExtensionFunctionAddress("clThingMOCK")
        assert cl.process_environment() == before


@requirement("DISC-ENV-014")
@pytest.mark.parametrize("setting", ["three libraries", "three layers", "directory", "alias"])
def test_child_inherits_the_same_environment(loader: Loader, sandbox: Sandbox, setting: str) -> None:
    """A child process that is started after discovery inherits the environment that its parent was started with."""
    sandbox.vendor("usual")
    sandbox.env |= SETTINGS[setting](sandbox)
    with loader.start(sandbox) as cl:
        before = cl.process_environment()
        names = cl.platform_names()
        cl.fork()
        assert cl.process_environment() == before
        assert {name: cl.getenv(name) for name in sandbox.env} == {n: v.encode() for n, v in sandbox.env.items()}
        assert cl.platform_names() == list(names)


@requirement("DISC-ENV-014")
@pytest.mark.parametrize("setting", ["three libraries", "three layers"])
def test_loader_opened_again_finds_the_same(loader: Loader, sandbox: Sandbox, setting: str) -> None:
    """A loader that is closed and opened again reads the variables as it did the first time."""
    sandbox.vendor("usual")
    sandbox.env |= SETTINGS[setting](sandbox)
    with loader.start(sandbox) as cl:
        names = cl.platform_names()
        first = set(sandbox.log.happened("loaded").components())
        cl.close()
        sandbox.forget_log()
        cl.open()
        assert cl.platform_names() == list(names)
        components = set(sandbox.log.calls().components()) - {"application"}
    assert components <= first
