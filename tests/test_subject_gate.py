# SPDX-License-Identifier: Apache-2.0
"""What all checks of an ICD need is asked first: where it is missing, one case says so, and the others wait for it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.sandbox import Sandbox, Unsupported
from harness.subject.icd import Icd
from tests.forked import clharness


@pytest.fixture
def sandbox() -> Iterator[Sandbox]:
    room = Sandbox()
    yield room
    room.close()


def asked(sandbox: Sandbox, **settings: object) -> Icd:
    icd = Icd(sandbox.icd("subject", **settings).path)  # type: ignore[arg-type]
    icd.ask()
    return icd


def test_correct_icd_lacks_nothing(sandbox: Sandbox) -> None:
    assert asked(sandbox, features="images compiler").gate == {}


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        ("count_call_fails", "cl_platform_id"),
        ("platform_info_fails", "cl_platform_id"),
        ("extensions_size_fails", "cl_platform_id"),
        ("device_list_fails", "cl_device_id"),
    ],
)
def test_icd_that_cannot_be_asked_says_why(sandbox: Sandbox, fault: str, kind: str) -> None:
    icd = asked(sandbox, faults=[fault])
    assert list(icd.gate)[:1] == [kind]
    with icd.open(sandbox) as session, pytest.raises(Unsupported, match="precondition failed: "):
        assert session.objects(session.some_platforms()[0]).device


def test_cause_that_many_cases_have_is_one_red_case(tmp_path: Path, sandbox: Sandbox) -> None:
    mock = sandbox.icd("subject", faults=["platform_info_fails"], features="images compiler")
    records = tmp_path / "run.jsonl"
    done = clharness("icd", mock.path, "--json", records, "-k", "test_icd_gate or api_lifetime")
    assert done.returncode == 1, done.stdout
    cases = [r for r in map(json.loads, records.read_text().splitlines()) if r["record"] == "case"]
    red = [case["case"] for case in cases if case["status"] == "unexpected"]
    assert [name.rpartition("::")[2] for name in red] == ["test_platform_device_and_plain_objects_can_be_had"]
    waiting = [case for case in cases if (case["reason"] or "").startswith("precondition failed: ")]
    assert len(waiting) == len(cases) - 1 > 5


def test_record_names_every_device_with_its_versions(sandbox: Sandbox) -> None:
    listed = asked(sandbox, platforms=2, gpus=2, features="images compiler").facts.devices
    assert len(listed) >= 4
    assert all(device["name"] and device["platform"] for device in listed)
    assert all(device["version"].startswith("OpenCL ") and device["driver"] for device in listed)


@pytest.mark.parametrize(("which", "expected"), [("1", 1), ("0", 0), ("", 0)])
def test_platform_can_be_chosen(sandbox: Sandbox, which: str, expected: int) -> None:
    icd = asked(sandbox, platforms=2, features="images compiler")
    icd.only_platform = which
    with icd.open(sandbox) as session:
        platforms = session.all_platforms()
        used = session.some_platforms()
        assert used == ([platforms[expected]] if which else platforms)


def test_platform_and_device_can_be_chosen_by_name(sandbox: Sandbox) -> None:
    icd = asked(sandbox, gpus=2, features="images compiler")
    with icd.open(sandbox) as session:
        names = [session.objects(p).owner for p in session.some_platforms()]
        devices = session.GetDeviceIDs(session.some_platforms()[0])
    icd.only_platform, icd.only_device = names[0].upper(), "1"
    with icd.open(sandbox) as session:
        chosen = session.objects(session.some_platforms()[0]).device
        assert chosen == session.GetDeviceIDs(session.some_platforms()[0])[1]
    assert len(devices) > 1


def test_platform_that_is_not_there_is_said(sandbox: Sandbox) -> None:
    icd = asked(sandbox, features="images compiler")
    icd.only_platform = "no such platform"
    with icd.open(sandbox) as session, pytest.raises(Unsupported, match="no platform 'no such platform'"):
        session.some_platforms()
