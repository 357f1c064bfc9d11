# SPDX-License-Identifier: Apache-2.0
"""Variables and the user's own registry in processes of every integrity (DISC-ENV, DISC-WIN)."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from harness.check import INTEGRITY, LEGACY, VENDORS_KEY, Sandbox, WindowsLoader, requirement

Record = Callable[[str], None]
USER_KEY = r"HKCU\SOFTWARE\Khronos\OpenCL\Vendors"
# "High integrity on Windows": what runs as administrator, or as a service.
ELEVATED = ("high", "system")


@requirement("DISC-ENV-013")
@pytest.mark.parametrize("level", INTEGRITY)
def test_list_of_libraries_is_for_ordinary_processes(
    loader: WindowsLoader, sandbox: Sandbox, level: str, record: Record
) -> None:
    """OCL_ICD_FILENAMES counts in processes of low and medium integrity, and in no elevated one; between is either."""
    loader.require("OCL_ICD_FILENAMES")
    sandbox.registry_vendor(sandbox.icd("registered"))
    sandbox.env["OCL_ICD_FILENAMES"] = str(sandbox.icd("variable"))
    with loader.start(sandbox, integrity=level) as cl:
        names = sorted(cl.platform_names())
    assert names in (["registered"], ["registered", "variable"])
    if level == "medium plus":
        record("used" if "variable" in names else "ignored")
    else:
        assert ("variable" in names) == (level not in ELEVATED)


@requirement("DISC-WIN-001", "DISC-WIN-005")
@pytest.mark.parametrize("level", INTEGRITY)
def test_vendors_of_the_machine_are_for_every_process(loader: WindowsLoader, sandbox: Sandbox, level: str) -> None:
    """What is installed on the machine is there for processes of every integrity."""
    sandbox.registry_vendor(sandbox.icd("registered"))
    sandbox.adapter(vendor=sandbox.icd("driver"))
    with loader.start(sandbox, integrity=level) as cl:
        assert sorted(cl.platform_names()) == ["driver", "registered"]


@requirement("DISC-ENV-013")
@pytest.mark.parametrize("level", INTEGRITY)
def test_registry_of_the_user_is_not_for_elevated_processes(
    loader: WindowsLoader, sandbox: Sandbox, level: str, record: Record
) -> None:
    """Vendors in the user's own registry, which no text has, are never loaded into an elevated process."""
    sandbox.registry_vendor(sandbox.icd("machine"))
    sandbox.registry_vendor(sandbox.icd("user"), key=USER_KEY)
    with loader.start(sandbox, integrity=level) as cl:
        names = sorted(cl.platform_names())
    assert names in (["machine"], ["machine", "user"])
    assert level not in ELEVATED or names == ["machine"]
    record("read" if "user" in names else "not read")


@requirement("DISC-ENV-013")
@pytest.mark.parametrize("machine", ["has no key", "may not be read"])
@pytest.mark.parametrize("level", ["medium", "high"])
def test_registry_of_the_user_does_not_stand_in_for_that_of_the_machine(
    loader: WindowsLoader, sandbox: Sandbox, level: str, machine: str, record: Record
) -> None:
    """Where the machine's own key cannot be opened, an elevated process does not take the user's in its place."""
    sandbox.adapter(vendor=sandbox.icd("driver"))
    sandbox.registry_vendor(sandbox.icd("user"), key=USER_KEY)
    if machine == "may not be read":
        sandbox.registry_deny(VENDORS_KEY)
    with loader.start(sandbox, integrity=level) as cl:
        names = sorted(cl.platform_names())
    assert names in (["driver"], ["driver", "user"])
    assert level not in ELEVATED or names == ["driver"]
    record("read" if "user" in names else "not read")


@requirement("DISC-ENV-013")
@pytest.mark.parametrize("level", INTEGRITY)
def test_list_of_layers_is_for_ordinary_processes(
    loader: WindowsLoader, sandbox: Sandbox, level: str, record: Record
) -> None:
    """OPENCL_LAYERS counts in processes of low and medium integrity, and in no elevated one; between is either."""
    loader.require("OPENCL_LAYERS")
    if not loader.has("initialises layers with properties"):
        sandbox.env[LEGACY] = "1"
    sandbox.registry_vendor(sandbox.icd("registered"))
    sandbox.env["OPENCL_LAYERS"] = str(sandbox.layer("variable"))
    with loader.start(sandbox, integrity=level) as cl:
        assert cl.platform_names() == ["registered"]
    loaded = "variable" in {e.who for e in sandbox.log.happened("loaded")}
    if level == "medium plus":
        record("used" if loaded else "ignored")
    else:
        assert loaded == (level not in ELEVATED)


@requirement("DISC-ENV-013")
def test_process_that_cannot_ask_what_it_may_do_has_its_vendors(
    loader: WindowsLoader, sandbox: Sandbox, record: Record
) -> None:
    """Where the process cannot ask for its integrity, the machine's vendors are there; the list may count, or not."""
    loader.require("OCL_ICD_FILENAMES")
    sandbox.no_token()
    sandbox.registry_vendor(sandbox.icd("registered"))
    sandbox.env["OCL_ICD_FILENAMES"] = str(sandbox.icd("variable"))
    with loader.start(sandbox) as cl:
        names = sorted(cl.platform_names())
    assert names in (["registered"], ["registered", "variable"])
    record("used" if "variable" in names else "ignored")
