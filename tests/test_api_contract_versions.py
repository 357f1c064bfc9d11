# SPDX-License-Identifier: Apache-2.0
"""Rules of the contract hold for versions of OpenCL; calls that are improper in two things have two errors."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.api.codes import CL
from harness.api.contract import rules
from harness.api.contract.rules import Rule
from harness.api.model import api
from harness.check.icd import calls
from harness.errors import UsageError
from harness.sandbox import Sandbox, Unsupported
from harness.subject.icd import Icd
from tests.forked import clharness

HEAD = '[clCreateBuffer]\nsource = "RT Creating Buffer Objects"\n'


@pytest.fixture
def sandbox() -> Iterator[Sandbox]:
    room = Sandbox()
    yield room
    room.close()


def loaded(tmp_path: Path, *rows: str) -> list[Rule]:
    file = tmp_path / "rules.toml"
    file.write_text(HEAD + f"rules = {list(rows)!r}\n")
    return list(rules.load(api(), file))


@pytest.mark.parametrize(
    ("end", "held", "not_held"),
    [
        ("", [(1, 0), (3, 0)], []),
        (" @1.2", [(1, 2), (3, 0)], [(1, 0), (1, 1)]),
        (" @1.1-2.0", [(1, 1), (2, 0)], [(1, 0), (2, 1), (3, 0)]),
    ],
)
def test_rule_holds_for_the_versions_that_its_row_names(
    tmp_path: Path, end: str, held: list[tuple[int, int]], not_held: list[tuple[int, int]]
) -> None:
    rule = loaded(tmp_path, f"size=0 -> CL_INVALID_BUFFER_SIZE{end}")[0]
    assert rule.errors == ("CL_INVALID_BUFFER_SIZE",)
    assert [v for v in [*held, *not_held] if rule.holds_for(v)] == held


def test_rule_is_never_older_than_its_function() -> None:
    by_function = {rule.function: rule for rule in rules.rules()}
    assert by_function["clEnqueueFillBuffer"].since == (1, 2)
    assert by_function["clCreatePipe"].since == (2, 0)


def test_rule_does_not_hold_beside_the_extension_that_makes_its_call_proper(tmp_path: Path) -> None:
    row = "size=0 -> CL_INVALID_BUFFER_SIZE unless cl_khr_empty_buffers @1.2"
    rule = loaded(tmp_path, row)[0]
    assert rule.errors == ("CL_INVALID_BUFFER_SIZE",)
    assert rule.holds_for((1, 2), ["cl_khr_icd"])
    assert not rule.holds_for((1, 2), ["cl_khr_icd", "cl_khr_empty_buffers"])
    assert not rule.holds_for((1, 1))


@pytest.mark.parametrize("end", ["unless", "unless 3.0", "unless cl_khr_icd cl_khr_spir"])
def test_extension_that_is_none_is_refused(tmp_path: Path, end: str) -> None:
    with pytest.raises(UsageError, match=r"unless"):
        loaded(tmp_path, f"size=0 -> CL_INVALID_BUFFER_SIZE {end}")


def test_version_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"@1\.2"):
        loaded(tmp_path, "size=0 -> CL_INVALID_BUFFER_SIZE @newest")


def test_row_that_names_a_flag_of_a_later_version_says_so() -> None:
    """Flags of OpenCL 1.2 in functions of OpenCL 1.0 and 1.1: their rules came with the flags."""
    late = [
        str(rule)
        for rule in (*rules.rules(), *rules.states())
        if any("CL_MEM_HOST_" in word or "INVALIDATE_REGION" in word for word in rule.changed.values())
        and rule.since < (1, 2)
    ]
    assert late == []


def test_local_argument_of_no_bytes_is_proper_from_opencl_3_1() -> None:
    """clSetKernelArg: "For OpenCL 3.1 and newer, arg_size may be zero"."""
    rule = next(r for r in rules.rules() if str(r) == "arg_index=2 arg_size=0 arg_value=-")
    assert rule.holds_for((3, 0))
    assert not rule.holds_for((3, 1))


def test_event_that_is_null_is_a_bad_event_or_a_bad_list() -> None:
    """The list of errors of clEnqueueWaitForEvents names neither error; the list of all error codes has both."""
    rule = next(r for r in rules.rules() if r.function == "clEnqueueWaitForEvents" and str(r) == "event_list=w:0")
    assert {"CL_INVALID_EVENT", "CL_INVALID_EVENT_WAIT_LIST"} <= set(rule.errors)


def test_two_improper_arguments_may_have_the_error_of_either(tmp_path: Path) -> None:
    both, *_ = listed = loaded(
        tmp_path,
        "size=0 host_ptr=?64 -> CL_INVALID_BUFFER_SIZE",
        "size=0 -> CL_INVALID_BUFFER_SIZE",
        "host_ptr=?64 -> CL_INVALID_HOST_PTR",
    )
    assert rules.accepted(both, listed) == {"CL_INVALID_BUFFER_SIZE", "CL_INVALID_HOST_PTR"}


def test_argument_that_another_one_makes_proper_adds_no_error(tmp_path: Path) -> None:
    pair, *_ = listed = loaded(
        tmp_path,
        "flags=CL_MEM_COPY_HOST_PTR host_ptr=?64 -> CL_INVALID_VALUE",
        "flags=CL_MEM_COPY_HOST_PTR -> CL_INVALID_HOST_PTR",
    )
    assert rules.accepted(pair, listed) == {"CL_INVALID_VALUE"}


@pytest.mark.parametrize(("version", "verdict"), [("3.0", "unsupported"), ("3.1", "fail")])
def test_sampler_of_another_context_is_asked_for_from_opencl_3_1(
    sandbox: Sandbox, tmp_path: Path, version: str, verdict: str
) -> None:
    """Older texts speak of the context of memory objects alone; those are asked for in any version."""
    library = sandbox.icd(
        "old", version=f"OpenCL {version} mock", features="images compiler", faults=["arguments_are_of_any_context"]
    ).path
    case, records = "another_context_is_refused and (sampler_t or global)", tmp_path / "records.jsonl"
    clharness("icd", library, "-j", "1", "-k", case, "--json", records)
    lines = [json.loads(line) for line in records.read_text().splitlines()]
    verdicts = {line["case"].partition("[")[2]: line["verdict"] for line in lines if line["record"] == "case"}
    assert verdicts == {"global]": "fail", "sampler_t]": verdict}


@pytest.mark.parametrize(("version", "applies"), [("1.1", False), ("1.2", True), ("3.0", True)])
def test_driver_is_asked_for_what_its_version_says(sandbox: Sandbox, version: str, applies: bool) -> None:
    """A driver that reports OpenCL 1.1 is not held to a sentence of OpenCL 1.2, and one of 1.2 is."""
    rule = next(r for r in rules.rules() if r.function == "clCreateBuffer" and "HOST_READ_ONLY" in str(r))
    icd = Icd(sandbox.icd("old", version=f"OpenCL {version} mock", features="images compiler").path)
    with icd.open(sandbox) as session:
        objects = session.objects(session.some_platforms()[0])
        if applies:
            calls.require_sentence(objects, rule)
            assert objects.device_version() >= (1, 2)
        else:
            with pytest.raises(Unsupported, match="does not have this rule"):
                calls.require_sentence(objects, rule)


@pytest.mark.parametrize(
    ("extension", "error"), [("cl_khr_spir", CL.INVALID_IMAGE_DESCRIPTOR), ("cl_khr_mipmap_image", CL.SUCCESS)]
)
def test_driver_with_mipmaps_is_not_asked_to_refuse_them(sandbox: Sandbox, extension: str, error: int) -> None:
    """clCreateImage: num_mip_levels "must be 0 … unless the cl_khr_mipmap_image extension is supported"."""
    rule = next(r for r in rules.rules() if r.unless == "cl_khr_mipmap_image")
    mock = sandbox.icd("mip", extensions=f"cl_khr_icd {extension}", features="images", refuses=True)
    with Icd(mock.path).open(sandbox) as session:
        objects = session.objects(session.some_platforms()[0])
        assert calls.prepare(objects, rule.function, rule.changed).make() == error
        if error:
            calls.require_sentence(objects, rule)
        else:
            with pytest.raises(Unsupported, match="cl_khr_mipmap_image makes this call a proper one"):
                calls.require_sentence(objects, rule)
