# SPDX-License-Identifier: Apache-2.0
"""The symbols of the loader's library, as the dynamic linker sees them (DISP-EXP)."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.check import (
    LOADER_INFO,
    CommandError,
    Loader,
    Sandbox,
    Session,
    Unsupported,
    Value,
    api,
    build,
    opencl_version,
    requirement,
    slots,
)

VERSIONS = ["1.0", "1.1", "1.2", "2.0", "2.1", "2.2", "3.0", "3.1"]

# What linkers and instrumented builds add.
NOT_THE_LOADERS = re.compile(r"_init|_fini|_edata|_end|__bss_start|__(gcov|llvm|asan|odr_asan|ubsan|tsan|sanitizer)\w*")


def named_functions() -> dict[str, str]:
    """Every function that an application finds by its name, and the version of OpenCL that it is from."""
    return {slot.function: opencl_version(slot) for slot in slots().values() if slot.reached == "export"}


def supported(loader: Loader, cl: Session) -> str:
    """The version of OpenCL that the loader names, else the latest that it has any function of."""
    version_text = re.match(r"OpenCL (\d\.\d)", loader.facts.opencl_version)
    if version_text:
        return version_text.group(1)
    present = {symbol.name for symbol in cl.exports()}
    return max(version for name, version in named_functions().items() if name in present)


def newer(loader: Loader, version: str) -> Unsupported:
    return Unsupported("loader", loader.lacks.format(f"OpenCL {version}"), f"OpenCL {version}")


@requirement("DISP-EXP-001")
@pytest.mark.parametrize("version", VERSIONS)
def test_functions_of_a_version_are_exported(loader: Loader, sandbox: Sandbox, version: str) -> None:
    """Every function of each OpenCL version up to the loader's is exported, by a definition in the loader itself."""
    with loader.start(sandbox) as cl:
        if version > supported(loader, cl):
            raise newer(loader, version)
        exports = {symbol.name: symbol.address for symbol in cl.exports()}
        names = [name for name, since in named_functions().items() if since == version]
        assert names
        missing = [name for name in names if name not in exports]
        assert not missing, f"functions of OpenCL {version} are not exported"
        for name in names:
            assert cl.symbol(name) == exports[name], f"{name} is found elsewhere than it is defined"
            module = cl.module(Value(exports[name], hex(exports[name])))
            assert Path(module).resolve() == loader.path, f"{name} is in {module}"
        assert len({exports[name] for name in names}) == len(names), "two functions are one"


@requirement("DISP-EXP-002")
@pytest.mark.parametrize("version", VERSIONS)
def test_symbol_has_the_version_that_brought_it(loader: Loader, sandbox: Sandbox, version: str) -> None:
    """Each function has the version of OpenCL that brought it, and is found by that and by no other version."""
    sandbox.require_linux("versions of symbols")
    with loader.start(sandbox) as cl:
        exports = [symbol for symbol in cl.exports() if named_functions().get(symbol.name) == version]
        if not exports and version > supported(loader, cl):
            raise newer(loader, version)
        assert exports
        assert {symbol.name: symbol.version for symbol in exports} == {s.name: f"OPENCL_{version}" for s in exports}
        for symbol in exports:
            result = {v: cl.symbol(symbol.name, f"OPENCL_{v}") for v in VERSIONS}
            assert result == {v: symbol.address if v == version else 0 for v in VERSIONS}


@requirement("DISP-EXP-002")
def test_symbol_versions_inherit_in_a_chain(loader: Loader, sandbox: Sandbox) -> None:
    """The versions form a chain, in which each inherits from the one before."""
    sandbox.require_linux("versions of symbols")
    with loader.start(sandbox) as cl:
        versions = cl.symbol_versions()
        used = {symbol.version for symbol in cl.exports() if symbol.name in named_functions()}
    chain = [f"OPENCL_{version}" for version in VERSIONS if f"OPENCL_{version}" in versions]
    assert used == set(versions) == set(chain)
    assert versions == dict(zip(chain, ["", *chain], strict=False))


@requirement("DISP-EXP-007")
def test_version_that_is_told_is_the_latest_that_is_exported(loader: Loader, sandbox: Sandbox) -> None:
    """The version of OpenCL that the loader says it is for is that of its latest function and its latest node."""
    loader.require(LOADER_INFO)
    with loader.start(sandbox) as cl:
        text = cl.buffer(256, 0)
        assert cl.call_at(cl.GetExtensionFunctionAddress(LOADER_INFO), LOADER_INFO, 1, 256, text, None) == 0
        version = re.match(r"OpenCL (\d\.\d)", text.text())
        assert version, "the answer is not a version of OpenCL"
        present = {symbol.name for symbol in cl.exports()}
        latest = max(version for name, version in named_functions().items() if name in present)
        nodes = [name.removeprefix("OPENCL_") for name in cl.symbol_versions() if name.startswith("OPENCL_")]
        assert latest == version[1], "the latest function is not of the version that is told"
        assert max(nodes, default=latest) == latest, "the latest node of the version script has no function"


@requirement("DISP-EXP-003")
def test_exported_extension_functions_are_those_of_the_address_query(
    loader: Loader, sandbox: Sandbox, record: Callable[[str], None]
) -> None:
    """Functions of extensions may be exported; those that are, the address query gives, too, and the same ones."""
    sandbox.vendor("a")
    with loader.start(sandbox) as cl:
        names = [slot.function for slot in slots().values() if slot.reached != "export"]
        exported = {symbol.name: symbol.address for symbol in cl.exports() if symbol.name in names}
        assert {name: int(cl.GetExtensionFunctionAddress(name)) for name in exported} == exported
    record(f"{len(exported)} exported" if exported else "none exported")


@requirement("DISP-EXP-004")
def test_only_functions_of_opencl_are_exported(loader: Loader, sandbox: Sandbox) -> None:
    """Nothing but functions of OpenCL is exported: what else a library shows, others may be bound to."""
    with loader.start(sandbox) as cl:
        names = [symbol.name for symbol in cl.exports()]
    assert len(names) == len(set(names)), "a name is exported twice"
    assert "clGetPlatformIDs" in names
    others = [name for name in names if name not in api().functions and not NOT_THE_LOADERS.fullmatch(name)]
    assert not [name for name in others if not re.fullmatch(r"cl[A-Z][A-Za-z0-9]*", name)]


@requirement("DISP-EXP-005")
def test_loader_library_is_named_libopencl(loader: Loader, sandbox: Sandbox) -> None:
    """The library is libOpenCL.so.1 to the dynamic linker: who asks for that, finds the one that is there already.

    On Windows it is OpenCL.dll to itself; the file may have been renamed since.
    """
    if build().windows:
        assert loader.facts.soname.lower() == "opencl.dll"
        return
    assert loader.facts.soname == "libOpenCL.so.1"
    with loader.start(sandbox) as cl:
        try:
            cl.command(f"load {b'libOpenCL.so.1'.hex()}")
            again = ""
        except CommandError as error:
            again = str(error)
        assert not again, "the name leads to no library"
        maps = Path(f"/proc/{cl.pid}/maps").read_text()
        loaded = {line[line.index("/") :] for line in maps.splitlines() if "/" in line}  # a path may hold blanks
        assert {path for path in loaded if "libOpenCL" in path} <= {str(loader.path)}, "the name leads to another one"
        assert str(loader.path) in loaded
