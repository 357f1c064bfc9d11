# SPDX-License-Identifier: Apache-2.0
"""Findings of one cause are one group, and those of two causes are two."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from harness.fuzz.causes import causes
from harness.fuzz.findings import Finding

Make = Callable[..., Finding]
DEFAULT = "vendor 0: 1 platforms"


@pytest.fixture
def finding(tmp_path: Path) -> Make:
    def make(key: str, *stack: str, kind: str = "crash", target: str = "limits", words: str = "") -> Finding:
        folder = tmp_path / f"{target}-{key}"
        folder.mkdir()
        (folder / "description.txt").write_text(words)
        return Finding(target, kind, key, "It ends.", True, 3, str(folder), stack=stack)

    return make


def numbers(*findings: Finding) -> list[int]:
    groups = causes(findings)
    return [next(n for n, group in enumerate(groups) if one in group) for one in findings]


def test_places_of_one_function_reached_in_one_way_are_one_defect(finding: Make) -> None:
    one = finding("memory@parse+0x10", "parse+0x10", "clGetPlatformIDs", words="a\n")
    other = finding("memory@parse+0x44", "parse+0x44", "clGetPlatformIDs", words="b\n", target="icd_file")
    elsewhere = finding("memory@parse+0x48", "parse+0x48", "clGetPlatformInfo", words="c\n")
    assert numbers(one, other, elsewhere) == [0, 0, 1]


def test_place_without_a_name_is_known_by_its_callers(finding: Make) -> None:
    same = ("libOpenCL.so.1+0x900", "clGetPlatformIDs")
    one = finding("memory@libOpenCL.so.1+0x10", "libOpenCL.so.1+0x10", *same, words="a\n")
    other = finding("memory@libOpenCL.so.1+0x44", "libOpenCL.so.1+0x44", *same, words="b\n")
    elsewhere = finding("x", "libOpenCL.so.1+0x44", "libOpenCL.so.1+0x901", "clGetPlatformIDs", words="c\n")
    assert numbers(one, other, elsewhere) == [0, 0, 1]


def test_inputs_that_differ_in_numbers_alone_are_one_defect(finding: Make) -> None:
    one = finding("leak@f", kind="leak", words='suffix "abcdefghijklm" (300 bytes)\n')
    other = finding("leak@g", kind="leak", words='suffix "xyzxyzxyzxyz" (5000 bytes)\n')
    short = finding("leak@h", kind="leak", words='suffix "KHR" (3 bytes)\n')
    crash = finding("memory@h", words='suffix "KHR" (3 bytes)\n')
    assert numbers(one, other, short, crash) == [0, 0, 1, 2]


def test_equal_inputs_in_calls_that_share_no_function_are_two_defects(finding: Make) -> None:
    one = finding("memory@clCreateContextFromType", "clCreateContextFromType", words=DEFAULT)
    other = finding("memory@clGetDeviceIDs", "clGetDeviceIDs", words=DEFAULT)
    inner = finding("memory@free_list", "free_list", "clGetDeviceIDs", words=DEFAULT)
    assert numbers(one, other, inner) == [0, 1, 1]


def test_finding_that_belongs_to_two_groups_joins_them(finding: Make) -> None:
    one = finding("memory@a", "a", "call", words="x 1\n")
    other = finding("memory@b", "b", "other", words="y 2\n")
    both = finding("memory@b+0x1", "b+0x1", "other", "call", words="x 2\n")
    joining = finding("memory@b+0x2", "b+0x2", "other", words="x 3\n")
    assert numbers(one, other) == [0, 1]
    assert numbers(one, other, both, joining) == [0, 0, 0, 0]


def test_input_that_is_not_described_is_no_common_cause(finding: Make) -> None:
    assert numbers(finding("leak@f", kind="leak"), finding("leak@g", kind="leak")) == [0, 1]


def test_many_functions_that_go_wrong_in_one_way_have_one_cause(finding: Make) -> None:
    """As where a table of functions was moved; two may well be two, and so may other ways and other targets."""
    functions = "clGetDeviceInfo", "clCreateBuffer", "clFinish"
    calls = [finding(f"calls-{name}", kind="wrong", words=name) for name in functions]
    two = [finding(f"result-{name}", kind="wrong", words=f"{name} result") for name in functions[:2]]
    elsewhere = finding("calls-clFlush", kind="wrong", words="else", target="dispatch_sequence")
    crash = finding("calls-clWaitForEvents", words="other")
    assert numbers(*calls, *two, elsewhere, crash) == [0, 0, 0, 1, 2, 3, 4]
    assert numbers(*calls[:2], *two) == [0, 1, 2, 3]
    assert causes([crash, *two, *calls]) == [[crash], [two[0]], [two[1]], calls]
