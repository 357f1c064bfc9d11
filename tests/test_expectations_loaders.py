# SPDX-License-Identifier: Apache-2.0
"""What an ICD does with one loader is expected only where that loader is used: elsewhere, nothing is stale."""

from __future__ import annotations

from pathlib import Path

from harness.expectations import load
from harness.expectations.abilities import abilities

FILE = """
loader = "Some ICD"
versions = ">=0"

[[deviation]]
requirement = "DISP-TAB-008"
case = "test_application[Khronos]"
verdict = "fail"
deviates = ["with this loader"]
reason = "its slots are NULL"
when = ["loader Khronos"]
"""
CASES = [(("DISP-TAB-008",), "test_application[reference]")]
WITH_BOTH = [*CASES, (("DISP-TAB-008",), "test_application[Khronos]")]


def test_entry_of_a_loader_that_is_not_used_is_not_stale(tmp_path: Path) -> None:
    path = tmp_path / "some.toml"
    path.write_text(FILE)
    names = ["reference"], ["reference", "Khronos"]
    without, used = (load(path, "1.0", abilities({}, lambda loaders=loaders: loaders)) for loaders in names)  # type: ignore[misc]
    assert not without.stale(CASES)
    assert [entry.case for entry in used.stale(CASES)] == ["test_application[Khronos]"]
    assert not used.stale(WITH_BOTH)
    assert used.expected(*WITH_BOTH[1]).verdicts == ("fail",)
