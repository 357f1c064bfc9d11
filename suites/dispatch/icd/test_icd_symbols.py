# SPDX-License-Identifier: Apache-2.0
"""What can be seen of a vendor's ICD from outside (DISP-EXP)."""

from __future__ import annotations

from collections.abc import Callable

from harness.check import Icd, requirement


@requirement("DISP-EXP-006")
def test_visible_symbols_are_functions_of_opencl(icd: Icd, record: Callable[[str], None]) -> None:
    """Only functions of OpenCL can be seen from outside: other names may meet those of other libraries."""
    others, shown = icd.facts.leaked, ", ".join(icd.facts.leaked_names)
    assert others == 0, f"{others} other symbols: {shown} …"
    record("exports further functions of OpenCL" if icd.facts.exported else "exports what loaders look for")
