# SPDX-License-Identifier: Apache-2.0
"""Error codes and constants by name, read from the headers."""

from __future__ import annotations

import pickle
import re
from pathlib import Path

import pytest

from harness.api import families, headers
from harness.api.codes import CL, Code, Constant, UnknownConstant
from harness.api.model import api


def test_a_code_is_a_number_that_prints_its_name() -> None:
    assert (CL.INVALID_VALUE, CL.SUCCESS) == (-30, 0)
    assert f"{Code(-30)} {Code(0)!r} {Code(-31337)} {Code(-30):d}" == "CL_INVALID_VALUE CL_SUCCESS -31337 -30"
    assert [type(CL.INVALID_VALUE), type(CL.PLATFORM_NAME)] == [Code, Constant]
    assert f"{CL.PLATFORM_NAME} {CL.PLATFORM_NAME:#x}" == "CL_PLATFORM_NAME 0x902"
    copied = pickle.loads(pickle.dumps(CL.PLATFORM_NAME))
    assert (copied, str(copied)) == (0x902, "CL_PLATFORM_NAME")


def test_a_failure_reads_in_names() -> None:
    with pytest.raises(AssertionError, match="CL_INVALID_VALUE == CL_SUCCESS"):
        assert Code(-30) == CL.SUCCESS


def test_a_core_name_comes_before_an_extension_of_the_same_number() -> None:
    assert str(Code(-1)) == "CL_DEVICE_NOT_FOUND"
    assert {str(Code(n)) for n in (-1000, -1001, -1092, -1093, -1121, -1142)} == {
        "CL_INVALID_GL_SHAREGROUP_REFERENCE_KHR",
        "CL_PLATFORM_NOT_FOUND_KHR",
        "CL_EGL_RESOURCE_NOT_ACQUIRED_KHR",
        "CL_INVALID_EGL_OBJECT_KHR",
        "CL_CONTEXT_TERMINATED_KHR",
        "CL_INVALID_SEMAPHORE_KHR",
    }


def test_an_unknown_name_is_refused_with_the_nearest_one() -> None:
    with pytest.raises(UnknownConstant, match=r"do not define CL_INVALID_VALU; did you mean CL_INVALID_VALUE\?"):
        CL.INVALID_VALU  # noqa: B018
    assert not hasattr(CL, "__no_such__")
    assert "INVALID_VALUE" in dir(CL)


def test_families_are_read_from_the_comments_of_headers() -> None:
    text = """
/* cl_thing_info */
#define CL_THING_NAME 0x10
/* 0x11 is reserved */
#define CL_THING_SIZE 0x12

/* cl_thing_flags and cl_other_flags - bitfield */
#define CL_THING_ROUND (1 << 0)
typedef cl_bitfield cl_thing_set;
#define CL_STRAY 1
/* cl_thing_set */
#define CL_SET_ALL 1
/* Additional Error Codes */
#define CL_INVALID_THING -99
"""
    names = ("CL_THING_NAME", "CL_THING_SIZE", "CL_THING_ROUND", "CL_STRAY", "CL_SET_ALL", "CL_INVALID_THING")
    assert families.read([text], dict.fromkeys(names, 1)) == {
        "cl_thing_info": families.Family(False, ("CL_THING_NAME", "CL_THING_SIZE")),
        "cl_thing_flags": families.Family(True, ("CL_THING_ROUND",)),
        "cl_other_flags": families.Family(True, ("CL_THING_ROUND",)),
        "cl_thing_set": families.Family(True, ("CL_SET_ALL",)),
        families.ERRORS: families.Family(False, ("CL_INVALID_THING",)),
    }


def test_the_supplement_contradicts_no_header() -> None:
    supplied = headers._constants(headers.SUPPLEMENT.read_text())
    assert supplied
    assert {name: api().constants[name] for name in supplied} == supplied


def test_error_codes_are_redeclared_nowhere() -> None:
    root = Path(__file__).parents[1]
    errors = {api().constants[name] for name in api().families[families.ERRORS].names} - {0, -1, -2, -3}
    declared = [
        f"{file.relative_to(root)}: {match[0]}"
        for folder in ("harness", "suites", "tests")
        for file in sorted((root / folder).rglob("*.py"))
        for match in re.finditer(r"^[A-Z][A-Z_0-9, ]* = (-\d+(, -\d+)*)$", file.read_text(), re.M)
        if errors & {int(number) for number in match[1].split(", ")}
    ]
    assert declared == []
