# SPDX-License-Identifier: Apache-2.0
"""Functions of a vendor's ICD with NULL in the place of an object, and with objects that do not belong together
(API-HDL)."""

from __future__ import annotations

import pytest

from harness.check import CL, Icd, IcdObjects, Parameter, Sandbox, Unsupported, api, calls, requirement

MEANT = {
    ("clGetPlatformInfo", "platform"): [CL.SUCCESS, CL.INVALID_PLATFORM],
    ("clGetDeviceIDs", "platform"): [CL.SUCCESS, CL.INVALID_PLATFORM, CL.DEVICE_NOT_FOUND],
    # Its built-in kernel is unknown, too: which error comes first is open.
    ("clCreateProgramWithBuiltInKernels", "context"): [CL.INVALID_CONTEXT, CL.INVALID_VALUE, CL.INVALID_OPERATION],
    ("clGetKernelWorkGroupInfo", "device"): [CL.SUCCESS],
    ("clGetKernelSubGroupInfo", "device"): [CL.SUCCESS, CL.INVALID_DEVICE, CL.INVALID_OPERATION, CL.INVALID_VALUE],
}
FOREIGN_PROGRAMS = ("clCreateProgramWithBinary", "clCreateProgramWithIL", "clCreateProgramWithBuiltInKernels")


def handles(function: str, *classes: str) -> list[Parameter]:
    """Parameters that are single objects of these classes; of all classes that have an error, without any named."""
    expected = classes or tuple(calls.INVALID)
    return [p for p in api().functions[function].parameters if p.kind == "handle" and p.handle in expected]


def names(function: str) -> list[str]:
    return [p.name for p in api().functions[function].parameters]


WITH_HANDLES = [function for function in calls.recipes() if handles(function)]
WAITING = [function for function in calls.recipes() if "num_events_in_wait_list" in names(function)]
ENQUEUED = [function for function in calls.recipes() if function.startswith("clEnqueue")]
WITH_OBJECTS = [function for function in ENQUEUED if handles(function, "cl_mem", "cl_kernel")]
OF_ONE_TYPE = [
    function
    for function in ENQUEUED
    if any("buffer" in p.name or "image" in p.name for p in handles(function, "cl_mem"))
]
CREATING = [f for f in calls.recipes() if any(p.kind == "errcode" for p in api().functions[f].parameters)]


@requirement("API-HDL-001", "DISP-NUL-016")
@pytest.mark.parametrize("function", WITH_HANDLES)
def test_null_for_an_object_is_the_error_of_its_class(icd: Icd, sandbox: Sandbox, function: str) -> None:
    """NULL in the place of an object is the error CL_INVALID_… of its class."""

    def check(objects: IcdObjects, parameter: Parameter) -> None:
        code = api().constant(calls.INVALID[parameter.handle])
        call = calls.prepare(objects, function, {parameter.name: "-"})
        error = call.make()
        if function == "clSVMAlloc":
            assert error == CL.SUCCESS, f"answered {error:#x}, expected NULL"
            return
        meant = MEANT.get((function, parameter.name))
        expected = " or ".join(map(str, meant)) if meant else calls.INVALID[parameter.handle]
        assert error in (meant or calls.refusals(function, code)), f"answered {error}, expected {expected}"
        assert call.errcode is None or call.result == 0, f"gave an object beside the error {error}"

    with icd.attempts(sandbox) as attempts:
        for parameter in handles(function):
            attempts.check(f"{parameter.name} NULL", lambda objects, p=parameter: check(objects, p))  # type: ignore[misc]


@requirement("API-HDL-002", "DISP-NUL-016")
@pytest.mark.parametrize("function", WAITING)
def test_wait_list_that_does_not_fit_is_refused_by_every_command(icd: Icd, sandbox: Sandbox, function: str) -> None:
    """A wait list that does not fit its count, or that holds NULL, is CL_INVALID_EVENT_WAIT_LIST."""
    improper = {
        "a count of 1, and NULL as list": {"num_events_in_wait_list": "1", "event_wait_list": "-"},
        "a count of 0, and a list": {"num_events_in_wait_list": "0", "event_wait_list": "w:done"},
        "a list that holds NULL": {"num_events_in_wait_list": "1", "event_wait_list": "w:0"},
    }

    def check(objects: IcdObjects, changed: dict[str, str]) -> None:
        error = calls.prepare(objects, function, changed).make()
        errors = calls.refusals(function, CL.INVALID_EVENT_WAIT_LIST)
        assert error in errors, f"answered {error}, expected CL_INVALID_EVENT_WAIT_LIST"

    with icd.attempts(sandbox) as attempts:
        for label, changed in improper.items():
            attempts.check(label, lambda objects, changed=changed: check(objects, changed))  # type: ignore[misc]


@requirement("API-HDL-003", "DISP-NUL-016")
@pytest.mark.parametrize("function", WAITING)
def test_event_of_another_context_is_invalid_context(icd: Icd, sandbox: Sandbox, function: str) -> None:
    """A wait list with an event of another context, alone or as the last one, is CL_INVALID_CONTEXT."""

    def check(objects: IcdObjects) -> None:
        stranger = objects.other.event
        assert objects.session.call("clSetUserEventStatus", stranger, 0) == 0  # or a vendor that takes it would wait
        at = names(function).index("num_events_in_wait_list")
        for before in (0, 1):
            # A call that fails may have unmapped what it was given.
            anew = IcdObjects(objects.session, objects.platform)
            call = calls.prepare(anew, function)
            events = [*[anew.named("done")] * before, stranger]
            call.arguments[at : at + 2] = [len(events), events]
            error = call.make()
            errors = calls.refusals(function, CL.INVALID_CONTEXT)
            assert error in errors, f"answered {error}, expected CL_INVALID_CONTEXT"

    with icd.attempts(sandbox) as attempts:
        attempts.check("an event of another context", check)


@requirement("API-HDL-003", "DISP-NUL-016")
@pytest.mark.parametrize("function", WITH_OBJECTS)
def test_object_of_another_context_is_invalid_context(icd: Icd, sandbox: Sandbox, function: str) -> None:
    """A memory object or a kernel of another context than the queue's is CL_INVALID_CONTEXT."""

    def check(objects: IcdObjects, parameter: Parameter) -> None:
        call = calls.prepare(objects, function)
        at = names(function).index(parameter.name)
        call.arguments[at] = objects.other.named(calls.recipes()[function].words[at])
        error = call.make()
        errors = calls.refusals(function, CL.INVALID_CONTEXT)
        if function == "clEnqueueUnmapMemObject":
            errors += [CL.INVALID_VALUE]  # it is not mapped there, either
        assert error in errors, f"answered {error}, expected CL_INVALID_CONTEXT"

    with icd.attempts(sandbox) as attempts:
        for parameter in handles(function, "cl_mem", "cl_kernel"):
            attempts.check(f"{parameter.name} of another context", lambda objects, p=parameter: check(objects, p))  # type: ignore[misc]


@requirement("API-HDL-004")
@pytest.mark.parametrize("function", OF_ONE_TYPE)
def test_memory_object_of_another_type_is_invalid_mem_object(icd: Icd, sandbox: Sandbox, function: str) -> None:
    """An image in the place of a buffer, and a buffer in the place of an image, is CL_INVALID_MEM_OBJECT."""

    def check(objects: IcdObjects, parameter: Parameter) -> None:
        objects.require_images()
        other = "image" if "buffer" in parameter.name else "mem"
        error = calls.prepare(objects, function, {parameter.name: other}).make()
        if function == "clEnqueueCopyImage" and error == CL.IMAGE_FORMAT_MISMATCH:
            return  # nor do an image and a buffer have the same format
        assert error == CL.INVALID_MEM_OBJECT, f"answered {error}, expected CL_INVALID_MEM_OBJECT"

    with icd.attempts(sandbox) as attempts:
        for parameter in handles(function, "cl_mem"):
            what = "an image" if "buffer" in parameter.name else "a buffer"
            attempts.check(f"{what} as {parameter.name}", lambda objects, p=parameter: check(objects, p))  # type: ignore[misc]


@requirement("API-HDL-005")
@pytest.mark.parametrize("function", CREATING)
def test_call_without_errcode_gives_an_object_or_null(icd: Icd, sandbox: Sandbox, function: str) -> None:
    """errcode_ret may be NULL: a proper call gives an object, an improper one NULL."""

    def check_proper(objects: IcdObjects) -> None:
        if function in FOREIGN_PROGRAMS or calls.prepare(objects, function).make():
            raise Unsupported("loader", f"{function} answers an error to a proper call", function)
        call = calls.prepare(objects, function, {"errcode_ret": "-"})
        call.make()
        assert call.result, "answered NULL to a proper call"

    def check_improper(objects: IcdObjects) -> None:
        first = next((p.name for p in handles(function)), None)
        changed = (
            {first: "-"}
            if first
            else {"num_devices": "0"}
            if "num_devices" in names(function)
            else {"device_type": "0"}
        )
        call = calls.prepare(objects, function, {**changed, "errcode_ret": "-"})
        call.make()
        assert call.result == 0, f"gave an object for a call with {changed}"

    with icd.attempts(sandbox) as attempts:
        attempts.check("a proper call", check_proper)
        attempts.check("an improper call", check_improper)
