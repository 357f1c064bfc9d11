# SPDX-License-Identifier: Apache-2.0
"""Variables and the user's own registry in processes of every integrity (DISC-ENV, DISC-WIN)."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from harness.check import INTEGRITY, Sandbox, WindowsLoader, requirement

Record = Callable[[str], None]
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
    sandbox.registry_vendor(sandbox.icd("user"), key=r"HKCU\SOFTWARE\Khronos\OpenCL\Vendors")
    with loader.start(sandbox, integrity=level) as cl:
        names = sorted(cl.platform_names())
    assert names in (["machine"], ["machine", "user"])
    assert level not in ELEVATED or names == ["machine"]
    record("read" if "user" in names else "not read")
