# SPDX-License-Identifier: Apache-2.0
"""Queries of a vendor's ICD with memory of every size, and queries that are none (API-QRY)."""

from __future__ import annotations

import pytest

from harness.check import CANARY, CL, Buffer, Icd, IcdObjects, Query, Sandbox, Unsupported, calls, queries, requirement

ELSEWHERE = "CL_PROGRAM_BINARIES"  # its answer goes where the memory points to, and no text has NULL there
FUNCTIONS = sorted({query.function for query in queries()} & calls.recipes().keys())


def asked_of(function: str) -> list[Query]:
    return [query for query in queries() if query.function == function]


def ask(objects: IcdObjects, function: str, number: int, room: int, to: Buffer | None, size: Buffer | None) -> int:
    """One query about the object that calls.toml has for the function."""
    objects.require_function(function, objects.version())
    call = calls.prepare(objects, function)
    call.arguments[-4:] = [number, room, to, size]
    return call.make()


def size_of(objects: IcdObjects, query: Query) -> int:
    """Bytes of the answer. Makes the attempt `unsupported` where the version or the object has none."""
    version = objects.device_version() if query.function == "clGetDeviceInfo" else objects.version()
    if query.version > version:
        raise Unsupported("loader", f"{query} came with OpenCL {'.'.join(map(str, query.version))}", query.name)
    size_output = objects.session.buffer(8)
    error = ask(objects, query.function, query.number, 0, None, size_output)
    calls.require_answer(query, error)
    assert error == CL.SUCCESS, f"answered {error} to the query of its size, expected CL_SUCCESS"
    return size_output.u64()


def check_size(objects: IcdObjects, query: Query) -> None:
    size = size_of(objects, query)
    assert query.fits(size), f"is a {query.type}; it reports a size of {size} bytes"


def check_memory(objects: IcdObjects, query: Query) -> None:
    size, cl = size_of(objects, query), objects.session
    assert size < 1 << 24, f"it reports a size of {size} bytes"
    exact, size_output = cl.buffer(size + 24), cl.buffer(8)
    error = ask(objects, query.function, query.number, size, exact, size_output)
    if size or error != CL.INVALID_VALUE:  # of an empty list, no text says whether 0 bytes are enough
        assert error == CL.SUCCESS, f"needs {size} bytes; with these it answered {error}"
        assert size_output.u64() == size, f"its size is {size} bytes, and {size_output.u64()} when memory is given"
    assert exact[size:] == bytes([CANARY]) * 24, f"wrote past its {size} bytes"
    larger = cl.buffer(size + 24)
    error = ask(objects, query.function, query.number, size + 24, larger, None)
    assert error == CL.SUCCESS, f"needs {size} bytes; with {size + 24} it answered {error}"
    for room in sorted({0, 1, size - 1}) if size > 1 else [0] * size:
        error = ask(objects, query.function, query.number, room, cl.buffer(max(room, 1)), None)
        assert error == CL.INVALID_VALUE, (
            f"needs {size} bytes; with {room} it answered {error}, expected CL_INVALID_VALUE"
        )


def check_rest(objects: IcdObjects, query: Query) -> None:
    size = size_of(objects, query)
    assert size < 1 << 24, f"it reports a size of {size} bytes"
    larger = objects.session.buffer(size + 24)
    error = ask(objects, query.function, query.number, size + 24, larger, None)
    assert error == CL.SUCCESS, f"needs {size} bytes; with {size + 24} it answered {error}"
    assert larger[size:] == bytes([CANARY]) * 24, f"has {size} bytes, and wrote more into larger memory"


def check_places(objects: IcdObjects, query: Query) -> None:
    """CL_PROGRAM_BINARIES: the memory holds an address for each device, and too little of it is room for fewer."""
    size, cl = size_of(objects, query), objects.session
    sizes = cl.buffer(size)
    error = ask(objects, query.function, CL.PROGRAM_BINARY_SIZES, size, sizes, None)
    assert error == CL.SUCCESS, f"its sizes have as many bytes; with {size} they answered {error}"
    binaries: list[object] = [cl.buffer(max(sizes.word(i), 1)) for i in range(size // 8)]
    size_output = cl.buffer(8)
    error = ask(objects, query.function, query.number, size, cl.words(binaries), size_output)
    assert error == CL.SUCCESS, f"needs {size} bytes; with these it answered {error}"
    assert size_output.u64() == size, f"its size is {size} bytes, and {size_output.u64()} when memory is given"
    error = ask(objects, query.function, query.number, size + 8, cl.words([*binaries, 0]), None)
    assert error == CL.SUCCESS, f"needs {size} bytes; with {size + 8} it answered {error}"
    for room in (0, 1, size - 1):
        error = ask(objects, query.function, query.number, room, cl.words(binaries), None)
        assert error == CL.INVALID_VALUE, (
            f"needs {size} bytes; with {room} it answered {error}, expected CL_INVALID_VALUE"
        )


def check_string(objects: IcdObjects, query: Query) -> None:
    size = size_of(objects, query)
    assert size > 0, "has 0 bytes; an empty string has one"
    text = objects.session.buffer(size)
    assert ask(objects, query.function, query.number, size, text, None) == 0
    assert b"\0" in text.bytes(), f"is {text.bytes()!r}, without a zero byte"


@requirement("API-QRY-001")
@pytest.mark.parametrize("function", FUNCTIONS)
def test_answer_has_the_size_of_its_type(icd: Icd, sandbox: Sandbox, function: str) -> None:
    """A query of the platform's version is answered, with the size that its type has."""
    with icd.attempts(sandbox) as attempts:
        for query in asked_of(function):
            attempts.check(query.name, lambda objects, query=query: check_size(objects, query))  # type: ignore[misc]


@requirement("API-QRY-002")
@pytest.mark.parametrize("function", FUNCTIONS)
def test_answer_fits_memory_of_its_size_and_is_refused_less(icd: Icd, sandbox: Sandbox, function: str) -> None:
    """Memory of the reported size is enough, nothing past it is written, and too little of it is CL_INVALID_VALUE."""
    with icd.attempts(sandbox) as attempts:
        for query in asked_of(function):
            check = check_places if query.name == ELSEWHERE else check_memory
            attempts.check(query.name, lambda objects, check=check, query=query: check(objects, query))  # type: ignore[misc]


@requirement("API-QRY-006")
@pytest.mark.parametrize("function", FUNCTIONS)
def test_larger_memory_is_left_past_the_answer(icd: Icd, sandbox: Sandbox, function: str) -> None:
    """Memory that is larger than the reported size is as it was past the answer."""
    with icd.attempts(sandbox) as attempts:
        for query in asked_of(function):
            if query.name != ELSEWHERE:
                attempts.check(query.name, lambda objects, query=query: check_rest(objects, query))  # type: ignore[misc]


@requirement("API-QRY-006")
def test_larger_memory_is_left_past_the_devices(icd: Icd, sandbox: Sandbox) -> None:
    """Memory with room for more devices than there are is as it was past the last one."""

    def check(objects: IcdObjects) -> None:
        size = 8 * len(objects.session.GetDeviceIDs(objects.platform))
        devices, room = objects.session.buffer(size + 16), size // 8 + 2
        objects.require_device()
        error = objects.session.call("clGetDeviceIDs", objects.platform, CL.DEVICE_TYPE_ALL, room, devices, None)
        assert error == CL.SUCCESS, f"answered {error} with room for two more devices"
        assert devices[size:] == bytes([CANARY]) * 16, "wrote past the last device into larger memory"

    with icd.attempts(sandbox) as attempts:
        attempts.check("all devices, and room for two more", check)


@requirement("API-QRY-003")
@pytest.mark.parametrize("function", sorted({q.function for q in queries() if q.size == 0} & set(FUNCTIONS)))
def test_string_ends_with_zero(icd: Icd, sandbox: Sandbox, function: str) -> None:
    """A string has a zero byte that its size counts."""
    with icd.attempts(sandbox) as attempts:
        for query in asked_of(function):
            if query.size == 0:
                attempts.check(query.name, lambda objects, query=query: check_string(objects, query))  # type: ignore[misc]


@requirement("API-QRY-004")
@pytest.mark.parametrize("function", FUNCTIONS)
def test_unknown_query_of_a_core_function_is_invalid_value(icd: Icd, sandbox: Sandbox, function: str) -> None:
    """A query that is none of the function's is CL_INVALID_VALUE."""
    of_others = next(
        q.number for q in queries() if q.function not in (function, "clGetPlatformInfo", "clGetDeviceInfo")
    )
    others = (
        [CL.PROFILING_INFO_NOT_AVAILABLE, CL.KERNEL_ARG_INFO_NOT_AVAILABLE]
        if "Profiling" in function or "Arg" in function
        else []
    )

    def check(objects: IcdObjects, number: int) -> None:
        memory, size = objects.session.buffer(64), objects.session.buffer(8)
        error = ask(objects, function, number, 64, memory, size)
        assert error in [CL.INVALID_VALUE, *others], f"answered {error}, expected CL_INVALID_VALUE"

    with icd.attempts(sandbox) as attempts:
        for number in (0, 0x7FFF, 0xFFFFFFFF, of_others):
            attempts.check(f"param_name {number:#x}", lambda objects, number=number: check(objects, number))  # type: ignore[misc]


@requirement("API-QRY-005")
@pytest.mark.parametrize("function", FUNCTIONS)
def test_query_without_outputs_does_not_crash(icd: Icd, sandbox: Sandbox, function: str) -> None:
    """Without memory and without a size to be told, there is nothing to be done, and nothing crashes."""

    def check(objects: IcdObjects) -> None:
        number = calls.prepare(objects, function).arguments[-4]
        error = ask(objects, function, number, 0, None, None)
        assert error in (0, CL.INVALID_VALUE, CL.PROFILING_INFO_NOT_AVAILABLE, CL.KERNEL_ARG_INFO_NOT_AVAILABLE), (
            f"answered {error}"
        )

    with icd.attempts(sandbox) as attempts:
        attempts.check("both outputs NULL", check)
