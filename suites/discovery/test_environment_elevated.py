# SPDX-License-Identifier: Apache-2.0
"""Variables in a process with elevated privileges: none of them chooses a library (DISC-ENV)."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from harness.check import Loader, Sandbox, Unsupported, build, requirement


def directory(sandbox: Sandbox) -> None:
    sandbox.vendor("chosen")
    sandbox.env["OCL_ICD_VENDORS"] = str(sandbox.vendors)


def relative_directory(sandbox: Sandbox) -> None:
    sandbox.vendor("chosen")
    sandbox.env["OCL_ICD_VENDORS"] = sandbox.vendors.name


def configuration_file(sandbox: Sandbox) -> None:
    sandbox.vendor("chosen")
    sandbox.env["OCL_ICD_VENDORS"] = str(sandbox.vendors / "chosen.icd")


def library(sandbox: Sandbox) -> None:
    sandbox.env["OCL_ICD_VENDORS"] = str(sandbox.icd("chosen"))


def library_list(sandbox: Sandbox) -> None:
    sandbox.env["OCL_ICD_FILENAMES"] = str(sandbox.icd("chosen"))


def library_list_of_two(sandbox: Sandbox) -> None:
    sandbox.env["OCL_ICD_FILENAMES"] = f"{sandbox.root}/missing.so:{sandbox.icd('chosen')}"


def alias(sandbox: Sandbox) -> None:
    sandbox.vendor("chosen")
    sandbox.env["OPENCL_VENDOR_PATH"] = str(sandbox.vendors)


def layer_list(sandbox: Sandbox) -> None:
    vendor_for_layers(sandbox)
    sandbox.env["OPENCL_LAYERS"] = str(sandbox.layer("chosen"))


def layer_directory(sandbox: Sandbox) -> None:
    vendor_for_layers(sandbox)
    folder = sandbox.folder("layers")
    sandbox.vendor_file("chosen.lay", f"{sandbox.layer('chosen')}\n", folder)
    sandbox.env["OPENCL_LAYER_PATH"] = str(folder)


def vendor_for_layers(sandbox: Sandbox) -> None:
    """Some loaders look for layers only where there is a vendor."""
    sandbox.vendor("vendor")
    sandbox.env["OCL_ICD_VENDORS"] = str(sandbox.vendors)


VARIABLES = [
    directory,
    relative_directory,
    configuration_file,
    library,
    library_list,
    library_list_of_two,
    alias,
    layer_list,
    layer_directory,
]


@requirement("DISC-ENV-013")
@pytest.mark.parametrize("variable", VARIABLES, ids=lambda variable: variable.__name__)
def test_variable_is_ignored_with_elevated_privileges(
    loader: Loader, sandbox: Sandbox, variable: Callable[[Sandbox], None]
) -> None:
    """A variable that names libraries is not honoured in a set-uid process, though it is in a plain one."""
    if variable.__name__ not in ("library_list", "library_list_of_two", "layer_list"):
        sandbox.require_linux("folders of configuration files")
    if "layer" in variable.__name__ and not build().mock_layers:
        raise Unsupported("machine", "this build has no mock layer")
    variable(sandbox)
    with loader.start(sandbox, unset=() if "OCL_ICD_VENDORS" in sandbox.env else ("OCL_ICD_VENDORS",)) as cl:
        assert not cl.secure
        cl.platform_names()
    if not sandbox.log.happened("loaded", by="chosen"):
        raise Unsupported("loader", f"this loader does not honour {', '.join(sandbox.env)} in that way at all")

    sandbox.forget_log()
    with loader.start(
        sandbox, elevated=True, unset=() if "OCL_ICD_VENDORS" in sandbox.env else ("OCL_ICD_VENDORS",)
    ) as cl:
        assert cl.secure
        cl.platform_names()
        assert cl.vendor_function("clThingMOCK") in (None, "vendor")
    assert not sandbox.log.of("chosen")


@requirement("DISC-ENV-015")
@pytest.mark.parametrize("elevated", [False, True], ids=["plain", "elevated"])
def test_trace_with_elevated_privileges_loads_no_library(
    loader: Loader, sandbox: Sandbox, record: Callable[[str], None], elevated: bool
) -> None:
    """A variable that is true or false and chooses no library may be honoured with elevated privileges, or not."""
    loader.require("OCL_ICD_ENABLE_TRACE")
    sandbox.vendor("a")
    sandbox.env["OCL_ICD_ENABLE_TRACE"] = "True"
    if elevated:
        with loader.start(sandbox, unset=("OCL_ICD_VENDORS",)) as cl:
            cl.platform_names()
        if not cl.stderr:
            raise Unsupported("machine", "this loader traces nothing but vendors, and this machine has none of its own")
    with loader.start(sandbox, elevated=elevated) as cl:
        cl.platform_names()
    record("honoured" if cl.stderr else "ignored")


@requirement("DISC-ENV-013")
def test_all_variables_at_once_load_no_library_with_elevated_privileges(loader: Loader, sandbox: Sandbox) -> None:
    """With elevated privileges, no library is loaded that a variable names, also where several do."""
    libraries = [sandbox.icd(name) for name in "abc"]
    for mock in libraries if sandbox.suffix == ".so" else ():
        (sandbox.vendors / f"{mock.name}.icd").write_text(f"{mock}\n")
    layer = sandbox.layer("layer") if build().mock_layers else None
    sandbox.env |= {
        "OCL_ICD_VENDORS": str(sandbox.vendors),
        "OPENCL_VENDOR_PATH": str(sandbox.vendors),
        "OCL_ICD_FILENAMES": ":".join(map(str, libraries)),
        "OPENCL_LAYERS": str(layer),
    }
    with loader.start(sandbox) as cl:
        assert cl.used_platforms() == {"a", "b", "c"}
    sandbox.forget_log()
    with loader.start(sandbox, elevated=True) as cl:
        before = cl.open_files()
        cl.platform_names()
        cl.platform_names()
        assert cl.open_files() == before
        assert not any(cl.maps(library) for library in libraries)
    assert not {event.who for event in sandbox.log} - {"application"}
