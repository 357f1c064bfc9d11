# SPDX-License-Identifier: Apache-2.0
"""Queries that are newer than the headers of this build: the table has their numbers."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import pytest

from harness.api.contract import queries as table
from harness.check.icd import info
from harness.probe.icd_objects import IcdObjects
from harness.sandbox import Sandbox
from harness.subject.icd import Icd


@pytest.fixture
def objects() -> Iterator[IcdObjects]:
    """Those of a mock ICD."""
    sandbox = Sandbox()
    try:
        with Icd(sandbox.icd("icd", platforms=1).path).open(sandbox) as session:
            yield session.objects(session.some_platforms()[0])
    finally:
        sandbox.close()


def test_query_without_a_name_in_the_headers_is_asked(objects: IcdObjects, monkeypatch: pytest.MonkeyPatch) -> None:
    known = next(q for q in table.queries() if q.name == "CL_DEVICE_AVAILABLE")
    newer = dataclasses.replace(known, name="CL_DEVICE_NAMED_BY_NO_HEADER")
    monkeypatch.setattr(info, "queries", lambda: (newer,))
    assert info.Info(objects).number("clGetDeviceInfo", objects.device, newer.name) == 1
