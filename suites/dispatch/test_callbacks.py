# SPDX-License-Identifier: Apache-2.0
"""Callbacks: what the vendor hands to the application arrives, and the application may call OpenCL from there."""

from __future__ import annotations

from typing import Any

import pytest

from harness.check import (
    CallbackArgument,
    Loader,
    Objects,
    PatternedCall,
    Sandbox,
    Session,
    Unsupported,
    also_through_layers,
    api,
    requirement,
)

# Functions that take a callback, and what the callback's first argument is where that is an object.
CALLBACKS = {
    "clCreateContext.pfn_notify": None,
    "clCreateContextFromType.pfn_notify": None,
    "clBuildProgram.pfn_notify": "clRetainProgram",
    "clCompileProgram.pfn_notify": "clRetainProgram",
    "clLinkProgram.pfn_notify": "clRetainProgram",
    "clSetProgramReleaseCallback.pfn_notify": "clRetainProgram",
    "clSetEventCallback.pfn_notify": "clRetainEvent",
    "clSetMemObjectDestructorCallback.pfn_notify": "clRetainMemObject",
    "clSetContextDestructorCallback.pfn_notify": "clRetainContext",
    "clEnqueueNativeKernel.user_func": None,
    "clEnqueueSVMFree.pfn_free_func": "clRetainCommandQueue",
}


def callbacks() -> list[Any]:
    """Every callback parameter of a function with a slot; the table above knows each of them."""
    result = [
        f"{function}.{parameter.name}"
        for function in api().dispatched()
        for parameter in function.parameters
        if parameter.kind == "callback"
    ]
    assert sorted(result) == sorted(CALLBACKS)
    return result


def needs_function(cl: Session, name: str) -> None:
    if not int(cl.command(f"symbol {name}"), 16):
        raise Unsupported("loader", f"this loader does not export {name}")


@requirement("DISP-ARG-024")
@pytest.mark.parametrize("how", ["calls_back", "calls_back_threaded"])
@pytest.mark.parametrize("callback", callbacks())
def test_calls_from_a_callback_reach_both_vendors(loader: Loader, sandbox: Sandbox, callback: str, how: str) -> None:
    """From a vendor's callback, in the calling thread or another one, calls reach both vendors and come back.

    The outer call comes back, too, and what the vendor hands to the callback arrives.
    """
    name = callback.split(".")[0]
    sandbox.vendor_of_each_kind(loader.has("ICD 2"), functions={how: [name]})
    with loader.start(sandbox) as cl:
        needs_function(cl, name)
        calls, other = sorted((Objects(cl, p) for p in cl.GetPlatformIDs()), key=lambda o: o.owner)
        count = cl.buffer(4, 0)
        inner = [
            cl.when(callback, "clGetPlatformIDs", 0, None, count),
            cl.when(callback, "clRetainEvent", calls.event),
            cl.when(callback, "clRetainContext", other.context),
        ]
        retain = CALLBACKS[callback]
        if retain:
            inner.append(cl.when(callback, retain, CallbackArgument(0)))
        assert cl.callbacks() == 0
        call = PatternedCall(cl, api().functions[name], calls)
        call.make()

        assert cl.callbacks() == len(inner)
        assert [done.result() for done in inner] == [0] * len(inner)
        assert count.u32() == 2
        assert call.function.result_kind == "handle" or call.result == 0
    log = sandbox.log
    assert len(log.calls("clRetainContext", by="b")) == 1
    assert len(log.calls("clRetainEvent", by="a")) == 1 + (retain == "clRetainEvent")
    assert not retain or log.calls(retain, by="a")
    check_handed_over(call, log.happened(f"callback {callback}", by="application")[0].arguments, log)


def check_handed_over(call: PatternedCall, arrived: tuple[int, ...], log: Any) -> None:
    """The user data arrives as it was given; so does the vendor's object."""
    sent = log.calls(call.function.name, by="application")[-1].arguments
    names = [p.name for p in call.function.parameters]
    data = "args" if "args" in names else "user_data"
    assert arrived[-1 if data == "user_data" else 0] == sent[names.index(data)]


@requirement("DISP-ARG-024")
@pytest.mark.parametrize("last", ["clFlush", "clBuildProgram"])
def test_many_calls_from_a_callback_come_back(loader: Loader, sandbox: Sandbox, last: str) -> None:
    """The application can create, ask for addresses, wait, and even call the same function again from a callback."""
    callback = "clBuildProgram.pfn_notify"
    for name in "ab":
        sandbox.vendor(name, functions={"calls_back_threaded": ["clBuildProgram"]}, suffix=name.upper())
    with loader.start(sandbox) as cl:
        a, b = (Objects(cl, p) for p in cl.GetPlatformIDs())
        again = {"clFlush": (a.queue,), "clBuildProgram": (b.program, 0, None, None, None, None)}
        error = cl.buffer(4)
        items = [
            cl.when(callback, "clCreateBuffer", b.context, 0, 64, None, error),
            cl.when(callback, "clGetExtensionFunctionAddress", f"clThing{b.owner.upper()}"),
            cl.when(callback, "clCreateUserEvent", a.context, error),
        ]
        done = [cl.when(callback, "clFinish", objects.queue) for objects in (a, b)]
        done.append(cl.when(callback, last, *again[last]))
        call = PatternedCall(cl, api().functions["clBuildProgram"], a)
        call.make()

        assert call.result == 0
        assert cl.callbacks() == len(items) + len(done)
        assert all(later.result() for later in items)
        assert [later.result() for later in done] == [0, 0, 0]
    log = sandbox.log
    assert log.calls("clCreateBuffer", by=b.owner)
    assert log.calls("clCreateUserEvent", by=a.owner)
    assert log.calls(last, by=(a if last == "clFlush" else b).owner)


also_through_layers(globals())
