# SPDX-License-Identifier: Apache-2.0
"""What a platform of a vendor's ICD answers about itself (DISC-ACC)."""

from __future__ import annotations

import pytest

from harness.check import CANARY, CL, Icd, IcdSession, Sandbox, Unsupported, Value, api, requirement

STRINGS = ["CL_PLATFORM_EXTENSIONS", "CL_PLATFORM_ICD_SUFFIX_KHR"]


def size_of(session: IcdSession, platform: Value, query: str) -> int:
    """Bytes of an answer."""
    size = session.buffer(8, 0)
    assert session.call("clGetPlatformInfo", platform, api().constant(query), 0, None, size) == CL.SUCCESS
    assert 0 < size.u64() < 1 << 20
    return size.u64()


@requirement("DISC-ACC-024")
def test_platforms_have_a_table(icd: Icd, sandbox: Sandbox) -> None:
    """Every platform is an object: its first word is the address of a table, by which it tells its name."""
    with icd.open(sandbox) as session:
        for platform in session.some_platforms():
            assert platform
            session.check_table(platform)
            assert session.objects(platform).owner


@requirement("DISC-ACC-025")
def test_platform_extensions_list_cl_khr_icd(icd: Icd, sandbox: Sandbox) -> None:
    """CL_PLATFORM_EXTENSIONS has the word cl_khr_icd."""
    with icd.open(sandbox) as session:
        for platform in session.some_platforms():
            session.platform = platform
            assert "cl_khr_icd" in session.GetPlatformInfo(platform, "CL_PLATFORM_EXTENSIONS").split()


@requirement("DISC-ACC-026")
def test_suffix_has_no_spaces(icd: Icd, sandbox: Sandbox) -> None:
    """CL_PLATFORM_ICD_SUFFIX_KHR has no spaces, for names of functions end in it; it may be empty (DISC-ACC-018)."""
    with icd.open(sandbox) as session:
        for platform in session.some_platforms():
            session.platform = platform
            suffix = session.GetPlatformInfo(platform, "CL_PLATFORM_ICD_SUFFIX_KHR")
            assert not any(character.isspace() for character in suffix)


def string_of(session: IcdSession, platform: Value, query: str) -> bytes:
    """An answer in memory of exactly the size that is told before it, and with it."""
    session.platform = platform
    needed = size_of(session, platform, query)
    text, size = session.buffer(needed), session.buffer(8, 0)
    assert session.call("clGetPlatformInfo", platform, api().constant(query), needed, text, size) == CL.SUCCESS
    assert size.u64() == needed
    return text.bytes()


@requirement("DISC-ACC-026")
@pytest.mark.parametrize("query", STRINGS)
def test_string_fits_memory_of_exactly_its_size(icd: Icd, sandbox: Sandbox, query: str) -> None:
    """Memory of the reported size is enough for the string and its terminator, and the size comes with it."""
    with icd.open(sandbox) as session:
        for platform in session.some_platforms():
            assert b"\0" in string_of(session, platform, query)


@requirement("DISC-ACC-034")
@pytest.mark.parametrize("query", STRINGS)
def test_string_ends_with_its_only_zero_byte(icd: Icd, sandbox: Sandbox, query: str) -> None:
    """The size of a string is that of its text and one zero byte."""
    with icd.open(sandbox) as session:
        for platform in session.some_platforms():
            text = string_of(session, platform, query)
            assert text.find(b"\0") == len(text) - 1


@requirement("DISC-ACC-034")
@pytest.mark.parametrize("query", STRINGS)
def test_string_in_larger_memory_leaves_the_rest_untouched(icd: Icd, sandbox: Sandbox, query: str) -> None:
    """Of larger memory nothing past the string is written."""
    with icd.open(sandbox) as session:
        for platform in session.some_platforms():
            session.platform = platform
            needed = size_of(session, platform, query)
            text = session.buffer(needed + 40)
            assert (
                session.call("clGetPlatformInfo", platform, api().constant(query), needed + 40, text, None)
                == CL.SUCCESS
            )
            assert text[needed:] == bytes([CANARY]) * 40


@requirement("DISC-ACC-026")
@pytest.mark.parametrize("query", STRINGS)
def test_string_in_too_little_memory_is_invalid_value(icd: Icd, sandbox: Sandbox, query: str) -> None:
    """Memory that is too small gives CL_INVALID_VALUE."""
    with icd.open(sandbox) as session:
        for platform in session.some_platforms():
            session.platform = platform
            needed = size_of(session, platform, query)
            for room in sorted({0, 1, needed - 1} - {needed}):
                text = session.buffer(max(room, 1))
                result = session.call("clGetPlatformInfo", platform, api().constant(query), room, text, None)
                assert result == CL.INVALID_VALUE, room


@requirement("DISC-ACC-026")
def test_exported_query_answers_the_same(icd: Icd, sandbox: Sandbox) -> None:
    """clGetPlatformInfo gives the same suffix by the query for its address, exported, and in the table."""
    with icd.open(sandbox) as session:
        for platform in session.some_platforms():
            session.platform = platform
            expected = session.GetPlatformInfo(platform, "CL_PLATFORM_ICD_SUFFIX_KHR")
            exported = session.symbol("clGetPlatformInfo")
            others = [session.query("clGetPlatformInfo"), Value(exported, str(exported))]
            constant = api().constant("CL_PLATFORM_ICD_SUFFIX_KHR")
            for address in others:
                if address:
                    text = session.buffer(256, 0)
                    assert session.call_at(address, "clGetPlatformInfo", platform, constant, 256, text, None) == 0
                    assert text.text() == expected


@requirement("DISC-ACC-027")
def test_unloadable_platform_answers_with_a_cl_bool(icd: Icd, sandbox: Sandbox) -> None:
    """A platform with cl_khr_icd_unloadable answers CL_PLATFORM_UNLOADABLE_KHR with a cl_bool."""
    with icd.open(sandbox) as session:
        count = 0
        for platform in session.some_platforms():
            session.platform = platform
            if "cl_khr_icd_unloadable" in session.GetPlatformInfo(platform, "CL_PLATFORM_EXTENSIONS").split():
                count += 1
                value, size = session.buffer(4), session.buffer(8, 0)
                constant = CL.PLATFORM_UNLOADABLE_KHR
                assert session.call("clGetPlatformInfo", platform, constant, 4, value, size) == CL.SUCCESS
                assert size.u64() == 4
                assert value.u32() in (0, 1)
        if not count:
            raise Unsupported("loader", "no platform of this ICD has cl_khr_icd_unloadable", "cl_khr_icd_unloadable")
