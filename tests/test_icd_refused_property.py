# SPDX-License-Identifier: Apache-2.0
"""A driver that refuses one valid property has one finding: the other checks of property lists do without it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.report.causes import causes
from harness.report.records import CaseResult
from harness.report.saved import read
from harness.sandbox import Sandbox
from tests.forked import clharness

FEATURES: dict[str, Any] = {
    "refuses": True,
    "features": "compiler device_queues images out_of_order terminate",
    "extensions": "cl_khr_icd cl_khr_initialize_memory cl_khr_mipmap_image cl_khr_priority_hints "
    "cl_khr_terminate_context cl_khr_throttle_hints cl_ext_buffer_device_address",
}
ALONE = "test_valid_property_is_heeded_alone"
FINDINGS = {  # the property's name, the cases that may be concerned, and the check that finds it
    "CL_CONTEXT_INTEROP_USER_SYNC": (0x1085, "Context", "test_user_sync_is_true_or_false_and_nothing_else"),
    "CL_CONTEXT_TERMINATE_KHR": (0x2032, "Context", ALONE),
    "CL_QUEUE_PROPERTIES": (0x1093, "Queue or queue", ALONE),
    "CL_QUEUE_THROTTLE_KHR": (0x1097, "Queue or hints", ALONE),
    "CL_SAMPLER_FILTER_MODE": (0x1154, "Sampler or sampler or level", ALONE),
    "CL_MEM_DEVICE_PRIVATE_ADDRESS_EXT": (0x5000, "Buffer", ALONE),
}


@pytest.fixture
def sandbox() -> Iterator[Sandbox]:
    box = Sandbox()
    yield box
    box.close()


def red_cases(library: Path, records: Path, chosen: str) -> list[CaseResult]:
    options = ["-k", f"(test_icd_property or function_makes) and ({chosen})", "-j", "1", "--json", str(records)]
    clharness("icd", library, *options)
    return [result for result in read(records).results if result.counts]


@pytest.mark.parametrize("name", FINDINGS)
def test_refused_property_is_one_finding(sandbox: Sandbox, tmp_path: Path, name: str) -> None:
    """The finding is that of the property's own check; what cannot be judged without it is a failed precondition."""
    number, chosen, check = FINDINGS[name]
    mock = sandbox.icd("mine", faults=[f"properties_refuse_name={number}"], **FEATURES)
    red = red_cases(mock.path, tmp_path / "run.jsonl", chosen)
    assert {result.name.partition("[")[0].rpartition("::")[2] for result in red} == {check}
    assert len(causes(red)) == 1
