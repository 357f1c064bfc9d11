# SPDX-License-Identifier: Apache-2.0
"""cl_khr_icd 2.0 in a vendor's ICD: tags, functions, and the loader's data in every object (DISP-ICD2)."""

from __future__ import annotations

import pytest

from harness.check import (
    CL,
    FURTHER_OBJECTS,
    ICD2_FUNCTIONS,
    OBJECT_QUERIES,
    TAGGED,
    Icd,
    IcdSession,
    Sandbox,
    Unsupported,
    Value,
    api,
    requirement,
)

GET, SET = ICD2_FUNCTIONS
DATA = 0x1001  # no address of anything: the vendor keeps it, and does not look at what it points to


def platforms_of(session: IcdSession) -> list[Value]:
    """The platforms with cl_khr_icd 2.0."""
    platforms = [platform for platform in session.some_platforms() if session.is_icd2(platform)]
    if not platforms:
        raise Unsupported("loader", "this ICD is of before cl_khr_icd 2.0", "ICD 2")
    return platforms


def set_data(session: IcdSession, platform: Value, data: int) -> int:
    address = session.query(SET)
    assert address
    return session.call_at(address, SET, platform, Value(data, str(data)))


@requirement("DISP-ICD2-001")
def test_tags_in_the_table_come_with_both_functions(icd: Icd, sandbox: Sandbox) -> None:
    """The table has the tag in both slots, and the library has both functions."""
    with icd.open(sandbox) as session:
        for platform in platforms_of(session):
            assert [session.entry(platform, name) for name in TAGGED] == [CL.ICD2_TAG_KHR, CL.ICD2_TAG_KHR]
        missing = [name for name in ICD2_FUNCTIONS if not session.query(name)]
        assert not missing


@requirement("DISP-ICD2-002", "DISP-ICD2-016")
def test_dispatch_data_stands_in_the_second_word_of_the_platform(icd: Icd, sandbox: Sandbox) -> None:
    """What is set for a platform stands in its second word, whatever it is; its table stays in the first."""
    with icd.open(sandbox) as session:
        for platform in platforms_of(session):
            table = session.table(platform)
            assert set_data(session, platform, DATA) == 0
            assert session.word(platform, 8) == DATA
            assert session.table(platform) == table


@requirement("DISP-ICD2-014", "DISP-ICD2-015")
@pytest.mark.parametrize("kind", [kind for kind in OBJECT_QUERIES if kind != "cl_platform_id"])
def test_object_of_each_class_has_the_dispatch_data(icd: Icd, sandbox: Sandbox, kind: str) -> None:
    """Every object that is handed out has the data of its platform in its second word."""
    with icd.open(sandbox) as session:
        for platform in platforms_of(session):
            assert set_data(session, platform, DATA) == 0
            assert session.word(session.objects(platform)[kind], 8) == DATA


@requirement("DISP-ICD2-014")
@pytest.mark.parametrize("function", FURTHER_OBJECTS)
def test_object_that_a_function_makes_has_the_dispatch_data(icd: Icd, sandbox: Sandbox, function: str) -> None:
    """So has every object that a function gives."""
    with icd.open(sandbox) as session:
        for platform in platforms_of(session):
            assert set_data(session, platform, DATA) == 0
            version = session.version(platform)
            objects = session.objects(platform)
            objects.require_function(function, version)
            assert session.word(FURTHER_OBJECTS[function][1](objects), 8) == DATA


@requirement("DISP-ICD2-017")
def test_each_platform_hands_its_dispatch_data_to_its_devices(icd: Icd, sandbox: Sandbox) -> None:
    """Each platform has the data that was set for it, and hands that on to its devices."""
    with icd.open(sandbox) as session:
        platforms = platforms_of(session)
        if len(platforms) < 2:
            raise Unsupported("machine", "this ICD has one platform on this machine")
        for number, platform in enumerate(platforms):
            assert set_data(session, platform, DATA + 16 * number) == 0
        for number, platform in enumerate(platforms):
            assert session.word(platform, 8) == DATA + 16 * number
            assert session.word(session.objects(platform).context, 8) == DATA + 16 * number


@requirement("DISP-ICD2-018")
def test_function_query_finds_known_names_only(icd: Icd, sandbox: Sandbox) -> None:
    """Functions of a platform are found, names of none and no platform are answered with NULL."""
    with icd.open(sandbox) as session:
        for platform in platforms_of(session):
            address = session.query(GET)
            assert address
            assert session.call_at(address, GET, platform, "clGetPlatformInfo")
            assert not session.call_at(address, GET, platform, "clharnessNoSuchFunction")
            assert not session.call_at(address, GET, None, "clGetPlatformInfo")


@requirement("DISP-ICD2-019")
def test_dispatch_data_for_no_platform_is_invalid_platform(icd: Icd, sandbox: Sandbox) -> None:
    """Data for no platform are refused with CL_INVALID_PLATFORM."""
    with icd.open(sandbox) as session:
        assert platforms_of(session)
        address = session.query(SET)
        assert address
        assert session.call_at(address, SET, None, Value(DATA, str(DATA))) == CL.INVALID_PLATFORM


@requirement("DISP-ICD2-020")
def test_table_has_the_functions_for_older_loaders(icd: Icd, sandbox: Sandbox) -> None:
    """Besides the tags the table is one that older loaders can use: it has the functions of OpenCL 1.0."""
    functions = [
        f for f in api().dispatched() if f.name in ("clGetDeviceIDs", "clCreateContext", "clFinish", "clFlush")
    ]
    assert functions
    with icd.open(sandbox) as session:
        for platform in platforms_of(session):
            empty = [f.name for f in functions if not session.entry(platform, f.name)]
            assert not empty
