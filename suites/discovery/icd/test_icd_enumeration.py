# SPDX-License-Identifier: Apache-2.0
"""clIcdGetPlatformIDsKHR of a vendor's ICD: counts, lists, and improper calls (DISC-ACC)."""

from __future__ import annotations

import pytest

from harness.check import CANARY, CL, ENUMERATE, Icd, Loader, Sandbox, Unsupported, requirement

THREADS = 16


@requirement("DISC-ACC-023")
def test_count_of_platforms_comes_with_success_and_stays_the_same(icd: Icd, sandbox: Sandbox) -> None:
    """A count comes with CL_SUCCESS and is not 0; no platform is CL_PLATFORM_NOT_FOUND_KHR. It stays the same."""
    with icd.open(sandbox) as session:
        counts = [session.buffer(4, 0) for _ in range(3)]
        results = [session.enumerate(0, None, count) for count in counts]
        assert results[0] in (0, CL.PLATFORM_NOT_FOUND_KHR)
        assert (results[0] == 0) == (counts[0].u32() > 0)
        assert len(set(results)) == 1
        assert len({count.u32() for count in counts}) == 1


@requirement("DISC-ACC-023")
def test_list_has_as_many_different_platforms_as_the_count(icd: Icd, sandbox: Sandbox) -> None:
    """The list has as many different handles as the count says, the same each time, with the count or without."""
    with icd.open(sandbox) as session:
        first = session.all_platforms()
        assert len({int(handle) for handle in first}) == len(first)
        listed, count = session.buffer(8 * len(first), 0), session.buffer(4, 0)
        assert session.enumerate(len(first), listed, count) == 0
        assert count.u32() == len(first)
        assert set(listed.handles()) == set(first)


@requirement("DISC-ACC-023")
def test_room_for_fewer_platforms_lists_as_many(icd: Icd, sandbox: Sandbox) -> None:
    """With room for fewer platforms than there are, as many are listed; the count is of all."""
    with icd.open(sandbox) as session:
        platforms = session.all_platforms()
        if len(platforms) < 2:
            raise Unsupported("machine", "this ICD has one platform on this machine")
        listed, count = session.buffer(8 * len(platforms)), session.buffer(4, 0)
        assert session.enumerate(1, listed, count) == 0
        assert listed.handles()[0] in platforms
        assert listed[8:] == bytes([CANARY]) * (8 * len(platforms) - 8)
        assert count.u32() == len(platforms)


@requirement("DISC-ACC-023")
def test_room_for_more_platforms_lists_all(icd: Icd, sandbox: Sandbox) -> None:
    """With room for more platforms than there are, all are listed and counted."""
    with icd.open(sandbox) as session:
        platforms = session.all_platforms()
        listed, count = session.buffer(8 * len(platforms) + 24), session.buffer(4, 0)
        assert session.enumerate(len(platforms) + 3, listed, count) == 0
        assert listed.handles()[: len(platforms)] == platforms
        assert count.u32() == len(platforms)


@requirement("DISC-ACC-034")
def test_room_for_more_platforms_leaves_the_rest_untouched(icd: Icd, sandbox: Sandbox) -> None:
    """With room for more platforms than there are, what lies past the last one stays as it is."""
    with icd.open(sandbox) as session:
        platforms = session.all_platforms()
        listed, count = session.buffer(8 * len(platforms) + 24), session.buffer(4, 0)
        assert session.enumerate(len(platforms) + 3, listed, count) == 0
        assert listed[8 * len(platforms) :] == bytes([CANARY]) * 24


@requirement("DISC-ACC-023")
@pytest.mark.parametrize("call", ["no output", "no entries", "no entries, with count"])
def test_enumeration_without_output_or_entries_is_invalid_value(icd: Icd, sandbox: Sandbox, call: str) -> None:
    """A call without any output, or with a list of no entries, gives CL_INVALID_VALUE."""
    with icd.open(sandbox) as session:
        session.all_platforms()
        listed = None if call == "no output" else session.buffer(8)
        count = session.buffer(4) if call.endswith("count") else None
        assert session.enumerate(0, listed, count) == CL.INVALID_VALUE


@requirement("DISC-ACC-023")
def test_first_enumeration_in_16_threads_gives_each_the_same_count(icd: Icd, sandbox: Sandbox) -> None:
    """16 threads that ask at the same time, as the first of all, get the same count."""
    with icd.open(sandbox) as session:
        address = session.query(ENUMERATE)
        assert address
        counts = [session.buffer(4, 0) for _ in range(THREADS)]
        query = [session.in_thread(i, ENUMERATE, 0, None, c, address=address) for i, c in enumerate(counts)]
        assert session.go() == THREADS
        assert {later.result() for later in query} in ({0}, {CL.PLATFORM_NOT_FOUND_KHR})
        assert len({count.u32() for count in counts}) == 1


@requirement("DISC-ACC-036")
def test_forked_process_has_the_same_platforms(icd: Icd, sandbox: Sandbox) -> None:
    """A process that is forked when the library is loaded, and not used so far, has the same platforms."""
    with icd.open(sandbox) as session:
        expected = len(session.all_platforms())
    with icd.open(sandbox) as session:
        assert session.query(ENUMERATE)
        session.fork()
        assert len(session.platforms()) == expected


@requirement("DISC-ACC-039")
def test_library_loaded_again_has_the_same_platforms(icd: Icd, sandbox: Sandbox) -> None:
    """Closed and opened again the library has the same platforms, and the process ends as usual."""
    with icd.open(sandbox) as session:
        expected = len(session.all_platforms())
        for _ in range(2):
            session.close()
            session.open()
            assert len(session.platforms()) == expected
        session.close()
        assert session.quit() == 0


@requirement("DISC-ACC-023", "DISC-ACC-025", "DISC-ACC-026")
def test_loader_lists_each_platform_with_its_name(icd: Icd, through: Loader, sandbox: Sandbox) -> None:
    """A loader accepts each platform: it lists as many, with the same names."""
    with icd.open(sandbox) as session:
        names = []
        for platform in session.all_platforms():
            session.platform = platform
            names.append(session.GetPlatformInfo(platform))
    with icd.start(through, sandbox) as cl:
        assert sorted(cl.platform_names()) == sorted(names)
