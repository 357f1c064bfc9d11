# SPDX-License-Identifier: Apache-2.0
"""How a vendor's ICD reads property lists (PL-GEN). Every list ends where an unreadable page begins."""

from __future__ import annotations

import pytest

from harness.check import (
    CL,
    CONTEXTS,
    CREATORS,
    MEMORY,
    QUEUE,
    QUEUES,
    SAMPLER,
    Creator,
    Icd,
    Parts,
    Sandbox,
    Unsupported,
    creators_of,
    list_of,
    orders,
    requirement,
    shown,
)

UNKNOWN = 0x7777
WITH_NAMES = [name for name in CREATORS if name != "clCreateImageWithProperties"]  # for images the core has none


def zero(creator: Creator) -> None:
    creator.require_zero()


def valid(creator: Creator) -> list[tuple[int, int]]:
    """All properties with valid values, but for CL_CONTEXT_INTEROP_USER_SYNC, which has a check of its own."""
    pairs = [*creator.valid_pairs(), *creator.valid_zero_pairs()]
    return [pair for pair in pairs if pair[0] != CL.CONTEXT_INTEROP_USER_SYNC]


@requirement("PL-GEN-001")
@pytest.mark.parametrize("function", WITH_NAMES)
def test_valid_property_is_heeded_alone(icd: Icd, sandbox: Sandbox, function: str) -> None:
    """Each property that the platform has is accepted in the shortest list, and heeded.

    The other checks of lists use those for which this holds.
    """

    def with_properties(creator: Creator) -> None:
        if not valid(creator):
            raise Unsupported("loader", f"this platform has no property for {function}", function)

    with icd.open(sandbox) as session, Parts() as parts:
        for creator in creators_of(session, function, with_properties):
            for pair in valid(creator):
                with parts(shown(creator.alone(pair))):
                    creator.expect_heeded(creator.alone(pair))


@requirement("PL-GEN-001", "PL-GEN-006")
@pytest.mark.parametrize("function", WITH_NAMES)
def test_lists_of_every_length_are_heeded_to_their_end(icd: Icd, sandbox: Sandbox, function: str) -> None:
    """Lists of one property, of two, and of all that there are: each is heeded, and nothing past the end is read."""
    with icd.open(sandbox) as session:
        for creator in creators_of(session, function, names=1):
            pairs = creator.pairs()
            chosen = [pairs[:length] for length in range(1, len(pairs) + 1)] + [[pair] for pair in pairs[1:]]
            for given in chosen:
                creator.expect_heeded(given)


def creators(identifier: str) -> pytest.MarkDecorator:
    """All functions, for this requirement; those of memory objects have one of their own for it, too."""
    own = {function: [identifier, *["PL-MEM-004"] * (function in MEMORY)] for function in CREATORS}
    return pytest.mark.parametrize(
        "function", [pytest.param(f, marks=pytest.mark.requirement(*names), id=f) for f, names in own.items()]
    )


@creators("PL-GEN-002")
def test_no_property_list_makes_an_object_of_defaults(icd: Icd, sandbox: Sandbox, function: str) -> None:
    """NULL in the place of a list gives an object with all defaults.

    A context may be refused with CL_INVALID_PLATFORM, as no platform is named.
    """
    with icd.open(sandbox) as session:
        for creator in creators_of(session, function):
            creator.expect_heeded(None)


@creators("PL-GEN-003")
def test_empty_property_list_makes_an_object_of_defaults(icd: Icd, sandbox: Sandbox, function: str) -> None:
    """A list of its end marker alone does what NULL does."""
    with icd.open(sandbox) as session:
        for creator in creators_of(session, function):
            without_list, _ = creator.create(None)
            assert creator.expect_heeded([]) or without_list == CL.INVALID_PLATFORM


@requirement("PL-GEN-004")
@pytest.mark.parametrize("function", WITH_NAMES)
def test_value_of_zero_does_not_end_the_list(icd: Icd, sandbox: Sandbox, function: str) -> None:
    """A value of 0 does not end the list: what follows it counts, be it a property or an error."""
    with icd.open(sandbox) as session:
        for creator in creators_of(session, function, zero):
            zeros = creator.zero_pairs()
            names = [name for name, _ in zeros]
            pairs = zeros + [pair for pair in creator.pairs() if pair[0] not in names]
            creator.expect_heeded(pairs)
            unknown = [(UNKNOWN, 1)]
            before, after = (creator.create(order)[0] for order in (unknown + zeros, zeros + unknown))
            assert before == after


@requirement("PL-GEN-004", "PL-SMP-003")
def test_sampler_without_normalized_coordinates_heeds_the_rest(icd: Icd, sandbox: Sandbox) -> None:
    """CL_FALSE for normalized coordinates is heeded, at each place of the list, and so is what follows it."""
    pairs = [(CL.SAMPLER_NORMALIZED_COORDS, 0), (CL.SAMPLER_FILTER_MODE, CL.FILTER_LINEAR)]
    with icd.open(sandbox) as session:
        for creator in creators_of(session, SAMPLER, lambda one: one.require_heeded(*pairs)):
            for order in (pairs, pairs[::-1], pairs[:1]):
                creator.expect_heeded(order)


@requirement("PL-GEN-005")
@pytest.mark.parametrize("function", [*CONTEXTS, SAMPLER])
def test_value_that_equals_a_name_is_a_value(icd: Icd, sandbox: Sandbox, function: str) -> None:
    """A value that is equal to the name of a property is a value: here a bad one, like any other bad one."""
    with icd.open(sandbox) as session:
        for creator in creators_of(session, function, zero):
            first = (
                [(CL.CONTEXT_PLATFORM, creator.platform)]
                if function in CONTEXTS
                else [(CL.SAMPLER_FILTER_MODE, CL.FILTER_LINEAR)]
            )
            name, value = (
                (CL.CONTEXT_INTEROP_USER_SYNC, CL.CONTEXT_PLATFORM)
                if function in CONTEXTS
                else (CL.SAMPLER_ADDRESSING_MODE, CL.SAMPLER_FILTER_MODE)
            )
            for before, after in ((first, []), ([], first), ([], [])):
                outcomes = []
                for bad in (UNKNOWN, value):
                    error, handle = creator.create(list_of(*before, (name, bad), *after))
                    answer_of_bad = creator.answers(handle, []) if handle else {}
                    answer_of_bad.pop(CL.SAMPLER_ADDRESSING_MODE, None)  # whatever became of the bad value
                    outcomes.append((error, answer_of_bad))
                assert outcomes[0] == outcomes[1]


@requirement("PL-SMP-005")
def test_level_of_detail_that_equals_a_name_is_a_value(icd: Icd, sandbox: Sandbox) -> None:
    """The same with a good one, as far as that is one: the bits of a float, however small."""

    def leveled(creator: Creator) -> None:
        creator.require_extension("cl_khr_mipmap_image")
        names = (CL.SAMPLER_LOD_MIN_KHR, CL.SAMPLER_ADDRESSING_MODE, CL.SAMPLER_FILTER_MODE)
        creator.require_heeded(*(pair for pair in creator.valid_pairs() if pair[0] in names))

    with icd.open(sandbox) as session:
        for creator in creators_of(session, SAMPLER, leveled):
            pairs = [
                (CL.SAMPLER_LOD_MIN_KHR, CL.SAMPLER_FILTER_MODE),
                (CL.SAMPLER_ADDRESSING_MODE, creator.expected_answers([])[CL.SAMPLER_ADDRESSING_MODE]),
                (CL.SAMPLER_FILTER_MODE, CL.FILTER_LINEAR),
            ]
            creator.expect_heeded(pairs)


@requirement("PL-GEN-007")
@pytest.mark.parametrize("function", WITH_NAMES)
def test_properties_are_heeded_in_any_order(icd: Icd, sandbox: Sandbox, function: str) -> None:
    """Properties may come in any order."""
    with icd.open(sandbox) as session:
        for creator in creators_of(session, function, names=2):
            for order in orders(creator.pairs()):
                creator.expect_heeded(order)


@requirement("PL-GEN-008")
@pytest.mark.parametrize("function", WITH_NAMES)
def test_property_list_is_only_read(icd: Icd, sandbox: Sandbox, function: str) -> None:
    """The list is as it was after the call, and may lie in memory that cannot be written."""
    with icd.open(sandbox) as session:
        for creator in creators_of(session, function, names=1):
            for pairs in (creator.pairs(), creator.pairs()[::-1]):
                words = session.words(list_of(*pairs))
                before = words.bytes()
                creator.expect_created(words)
                assert words.bytes() == before
            words.protect()
            creator.expect_created(words)


@requirement("PL-GEN-013")
@pytest.mark.parametrize("function", [name for name in WITH_NAMES if name not in QUEUES])  # of which PL-CQ-002 is
def test_name_that_is_right_in_32_bits_is_unknown(icd: Icd, sandbox: Sandbox, function: str) -> None:
    """A name that is right in its lower half only is a name like any other that is unknown."""
    with icd.open(sandbox) as session:
        for creator in creators_of(session, function, names=1):
            name, value = creator.pairs()[-1]
            creator.expect_created([(name, value)])
            unknown = creator.create([(UNKNOWN, value)])[0]
            error = creator.create([(name | 1 << 40, value)])[0]
            if function in QUEUES:  # whose errors for an unknown name are not said
                assert bool(error) == bool(unknown)
            else:
                assert error == unknown


@requirement("PL-GEN-013", "PL-CQ-001")
def test_unknown_bit_of_queue_properties_is_invalid_value(icd: Icd, sandbox: Sandbox) -> None:
    """CL_QUEUE_PROPERTIES has 64 bits: an unknown one is not valid, wherever it is."""
    with icd.open(sandbox) as session, Parts() as parts:
        for creator in creators_of(session, QUEUE, Creator.require_bits):
            for bit in (12, *[31] * ("cl_intel_thread_local_exec" not in creator.extensions), 32, 40, 63):
                with parts(shown([(CL.QUEUE_PROPERTIES, CL.QUEUE_PROFILING_ENABLE | 1 << bit)])):
                    assert creator.create([(CL.QUEUE_PROPERTIES, CL.QUEUE_PROFILING_ENABLE | 1 << bit)]) == (
                        CL.INVALID_VALUE,
                        0,
                    )


@requirement("PL-GEN-016")
@pytest.mark.parametrize("function", WITH_NAMES)
def test_several_errors_in_one_list_make_nothing(icd: Icd, sandbox: Sandbox, function: str) -> None:
    """Of several errors in one list any may be reported; nothing is made."""
    with icd.open(sandbox) as session:
        for creator in creators_of(session, function, names=1):
            pair = creator.pairs()[0]
            for pairs in ([(UNKNOWN, 0), pair, pair], [pair, (UNKNOWN, 1), pair, (UNKNOWN + 1, 2)]):
                creator.expect_refused(pairs, *creator.about.refuses, CL.INVALID_PLATFORM)
