# SPDX-License-Identifier: Apache-2.0
"""The C program of a mutant shows it, and shows nothing on a correct mock ICD (all of them: ci/nightly)."""

from __future__ import annotations

import json
from pathlib import Path

from tests.forked import clharness

# One of each: an error code, contents of memory, a table, a crash, an extension's function, a state, several answers,
# what a callback is told, the order of callbacks, what is left behind.
FAULTS = (
    "user_events_have_queues",
    "host_access_is_ignored",
    "no_table_clCreateKernel",
    "properties_sorted_in_place",
    "finalize_takes_any_handle",
    "late_callbacks_are_told_completion",
    "destructor_callbacks_forwards",
    "builds_leave_descriptors",
)


def test_program_of_each_kind_of_fault_shows_it_and_nothing_else(tmp_path: Path) -> None:
    output = tmp_path / "selftest.json"
    done = clharness("selftest", "--icd", "--programs", "--json", output, "--fault", *FAULTS)
    assert done.returncode == 0, done.stdout
    faults = json.loads(output.read_text())["faults"]
    assert {fault["name"]: fault["program"] for fault in faults} == dict.fromkeys(FAULTS, "shown")
