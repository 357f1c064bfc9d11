# SPDX-License-Identifier: Apache-2.0
"""The objects that checks of ICDs call their functions with (harness/probe/icd_objects.py)."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from harness.check.icd import calls
from harness.probe.icd_objects import IcdObjects
from harness.sandbox import Sandbox
from harness.subject.icd import Icd


@pytest.fixture
def objects() -> Iterator[IcdObjects]:
    """Those of a mock ICD."""
    sandbox = Sandbox()
    try:
        icd = sandbox.icd("icd", platforms=1, refuses=True, features="images compiler")
        with Icd(icd.path).open(sandbox) as session:
            yield session.objects(session.some_platforms()[0])
    finally:
        sandbox.close()


def test_object_of_a_name_is_made_once(objects: IcdObjects) -> None:
    assert objects.named("mem2") == objects.named("mem2")
    assert objects.named("mem2") != objects.named("mem")


def test_shared_memory_is_other_memory_each_time(objects: IcdObjects) -> None:
    """A call may have freed it: a driver gives its place to what is allocated next, which would overlap with it."""
    assert objects.named("svm") != objects.named("svm")
    call = calls.prepare(objects, "clEnqueueSVMMemcpy")
    assert call.arguments[2] != call.arguments[3]


def test_mapping_is_made_for_each_call_that_gives_one_back(objects: IcdObjects) -> None:
    """A driver refuses to take one address back twice, and is right."""
    answers = [calls.prepare(objects, "clEnqueueUnmapMemObject").make() for _ in range(2)]
    assert answers == [0, 0]


def test_program_of_a_source_is_built_once(objects: IcdObjects) -> None:
    """For each context."""
    one, other = "kernel void name() {}", "kernel void name(global int *to) {}"
    assert objects.built(one) == objects.built(one)
    assert len({objects.built(one), objects.built(other), objects.other.built(one)}) == 3
