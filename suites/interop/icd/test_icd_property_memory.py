# SPDX-License-Identifier: Apache-2.0
"""Buffers, images, samplers and pipes of a vendor's ICD: what their properties mean (PL-MEM, PL-SMP, PL-PIP)."""

from __future__ import annotations

import struct
from collections.abc import Callable

import pytest

from harness.check import (
    BUFFER,
    CL,
    CONTEXT,
    IMAGE,
    OLDER,
    SAMPLER,
    Answer,
    Creator,
    Icd,
    Sandbox,
    Unsupported,
    Value,
    api,
    creators_of,
    list_of,
    requirement,
    shown,
)

MEM_QUERIES = {"CL_MEM_TYPE": 4, "CL_MEM_FLAGS": 8, "CL_MEM_SIZE": 8, "CL_MEM_HOST_PTR": 8, "CL_MEM_CONTEXT": 8}


@requirement("PL-MEM-004")
@pytest.mark.parametrize("function", [BUFFER, IMAGE])
@pytest.mark.parametrize("words", [None, [0]], ids=["null", "empty"])
def test_no_properties_make_what_the_older_function_makes(
    icd: Icd, sandbox: Sandbox, function: str, words: list[int] | None
) -> None:
    """With NULL or an empty list the object is what the function without a list makes: every query answers the same."""
    older = {BUFFER: "clCreateBuffer", IMAGE: "clCreateImage"}[function]
    with icd.open(sandbox) as session:
        for creator in creators_of(session, function):
            code = session.buffer(4)
            control = session.call(older, *OLDER[older][1](creator.objects), code)
            assert isinstance(control, Value)
            error, handle = creator.create(words)
            assert (error, code.code()) == (0, 0)
            for query, size in MEM_QUERIES.items():
                answers = [creator.number(one, api().constant(query), size) for one in (handle, control)]
                assert (query, answers[0]) == (query, answers[1])


@requirement("PL-MEM-004")
@pytest.mark.parametrize("words", [None, [0]], ids=["null", "empty"])
def test_buffer_errors_are_those_of_the_older_function(icd: Icd, sandbox: Sandbox, words: list[int] | None) -> None:
    """What clCreateBuffer refuses is refused with the same error, and what it takes is taken."""
    with icd.open(sandbox) as session:
        for creator in creators_of(session, BUFFER):
            context, memory = creator.objects.context, session.buffer(64)
            for flags, size, host in (
                (CL.MEM_READ_WRITE, 0, None),
                (CL.MEM_READ_WRITE | CL.MEM_WRITE_ONLY, 64, None),
                (1 << 62, 64, None),
                (CL.MEM_READ_WRITE, 64, memory),
                (CL.MEM_COPY_HOST_PTR, 64, None),
                (CL.MEM_USE_HOST_PTR, 64, None),
                (CL.MEM_COPY_HOST_PTR, 64, memory),
                (0, 64, None),
            ):
                codes = [session.buffer(4), session.buffer(4)]
                older = session.call("clCreateBuffer", context, flags, size, host, codes[0])
                handle = session.call(BUFFER, context, words, flags, size, host, codes[1])
                assert (flags, size, codes[1].code(), bool(handle)) == (flags, size, codes[0].code(), bool(older))


@requirement("PL-SMP-002")
def test_sampler_has_its_defaults_unless_listed(icd: Icd, sandbox: Sandbox) -> None:
    """A sampler's coordinates are normalized, its addressing is clamp, its filter nearest, unless the list says it."""
    defaults = {
        CL.SAMPLER_NORMALIZED_COORDS: 1,
        CL.SAMPLER_ADDRESSING_MODE: CL.ADDRESS_CLAMP,
        CL.SAMPLER_FILTER_MODE: CL.FILTER_NEAREST,
    }
    with icd.open(sandbox) as session:
        for creator in creators_of(session, SAMPLER):
            heeded = [name for name, _ in creator.pairs()]
            for words in ([0], *(list_of(pair) for pair in defaults.items() if pair[0] in heeded)):
                handle = creator.make(words)
                assert {query: creator.number(handle, query, 4) for query in defaults} == defaults


@requirement("PL-SMP-005")
def test_level_of_detail_is_taken_as_float_bits(icd: Icd, sandbox: Sandbox, record: Callable[[str], None]) -> None:
    """How a float is written into the list is not laid down: its bits in the lower half are tried."""
    with icd.open(sandbox) as session:
        for creator in creators_of(session, SAMPLER, lambda one: one.require_extension("cl_khr_mipmap_image")):
            bits = struct.unpack("<I", struct.pack("<f", 1.5))[0]
            error, handle = creator.create([(CL.SAMPLER_LOD_MIN_KHR, bits)])
            answered = creator.number(handle, CL.SAMPLER_LOD_MIN_KHR, 4) if handle else None
            assert bool(handle) == (error == 0)
            record(f"error {error}" if error else "as bits" if answered == bits else "taken")


# --- pipes ---


def pipe(creator: Creator, words: list[int] | None) -> tuple[int, Value]:
    """A pipe of 4 packets of 16 bytes, with a list of properties."""
    code = creator.session.buffer(4)
    handle = creator.session.call("clCreatePipe", creator.objects.context, 0, 16, 4, words, code)
    assert isinstance(handle, Value)
    return Answer(code.code(), shown(words)), handle


def has_pipes(creator: Creator) -> bool:
    """Devices of OpenCL 2 have pipes; from 3.0 on they say whether they have."""
    creator.objects.require_function("clCreatePipe", creator.objects.device_version())
    if creator.objects.device_version() < (3, 0):
        return True
    support = creator.session.buffer(4, 0)
    query = CL.DEVICE_PIPE_SUPPORT
    if creator.session.call("clGetDeviceInfo", creator.objects.device, query, 4, support, None):
        raise Unsupported("loader", "this device does not say whether it has pipes", "precondition")
    return bool(support.u32())


def pipes(creator: Creator) -> None:
    if not has_pipes(creator):
        raise Unsupported("loader", "this device has no pipes", "pipes")


def no_pipes(creator: Creator) -> None:
    if has_pipes(creator):
        raise Unsupported("loader", "this device has pipes", "no pipes")


@requirement("PL-PIP-001", "PL-GEN-015")
def test_pipe_with_properties_is_invalid_value(icd: Icd, sandbox: Sandbox) -> None:
    """A pipe has no properties: NULL is fine, and a list is CL_INVALID_VALUE."""
    with icd.open(sandbox) as session:
        for creator in creators_of(session, CONTEXT, pipes):
            error, handle = pipe(creator, None)
            assert error == CL.SUCCESS
            assert handle
            for words in ([0x7777, 1, 0], [0x7777, 0, 0]):
                assert pipe(creator, words) == (CL.INVALID_VALUE, 0)


@requirement("PL-PIP-002")
def test_pipe_with_an_empty_list_is_refused_or_made(icd: Icd, sandbox: Sandbox, record: Callable[[str], None]) -> None:
    """By the letter an empty list is CL_INVALID_VALUE, too; yet the query speaks of lists that are not NULL."""
    with icd.open(sandbox) as session:
        for creator in creators_of(session, CONTEXT, pipes):
            error, handle = pipe(creator, [0])
            assert error in (0, CL.INVALID_VALUE)
            assert bool(handle) == (error == 0)
            record("refused" if error else "taken")


@requirement("PL-PIP-003", "PL-GEN-011")
def test_pipe_properties_have_size_0(icd: Icd, sandbox: Sandbox) -> None:
    """CL_PIPE_PROPERTIES answers a size of 0, whether there is memory or not."""
    with icd.open(sandbox) as session:
        for creator in creators_of(session, CONTEXT, pipes):
            if creator.version < (3, 0):
                raise Unsupported("loader", "CL_PIPE_PROPERTIES came with OpenCL 3.0", "OpenCL 3.0")
            size, room = session.buffer(8), session.buffer(16)
            result = pipe(creator, None)[1]
            assert session.call("clGetPipeInfo", result, CL.PIPE_PROPERTIES, 0, None, size) == CL.SUCCESS
            assert size.u64() == 0
            assert session.call("clGetPipeInfo", result, CL.PIPE_PROPERTIES, 16, room, size) == CL.SUCCESS
            assert size.u64() == 0


@requirement("PL-PIP-004")
@pytest.mark.parametrize("words", [None, [0]], ids=["null", "empty"])
def test_pipe_on_a_device_without_pipes_is_invalid_operation(
    icd: Icd, sandbox: Sandbox, words: list[int] | None
) -> None:
    """A device of OpenCL 3.0 without pipes refuses them with CL_INVALID_OPERATION (an empty list may come first)."""
    with icd.open(sandbox) as session:
        for creator in creators_of(session, CONTEXT, no_pipes):
            error, handle = pipe(creator, words)
            assert error == CL.INVALID_OPERATION or (words and error == CL.INVALID_VALUE)
            assert not handle
