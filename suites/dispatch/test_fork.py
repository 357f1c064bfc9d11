# SPDX-License-Identifier: Apache-2.0
"""Objects and vendors in a child process: what the parent made is as good there (DISP-OBJ-015)."""

from __future__ import annotations

import pytest

from harness.check import CL, Loader, Objects, PatternedCall, Sandbox, api, requirement, slots

KINDS = {"platform", "device", "context", "queue", "memory", "program", "kernel", "event", "sampler"}


@requirement("DISP-OBJ-015")
@pytest.mark.parametrize("way", ["dlopen", "linked"])
def test_objects_of_the_parent_work_in_a_forked_child(loader: Loader, sandbox: Sandbox, way: str) -> None:
    """After a fork calls on objects of the parent reach their vendors in the child, and so do those on new objects.

    One function of each class is called before the fork, and again in the child.
    """
    sandbox.vendor_of_each_kind(loader.has("ICD 2"))
    with loader.start(sandbox, linked=way == "linked") as cl:
        owners = [Objects(cl, platform) for platform in cl.GetPlatformIDs()]
        functions = {
            slots()[function.name].class_: function
            for function in api().dispatched()
            if slots()[function.name].reached == "export" and cl.symbol(function.name)
            if function.name.startswith(("clRetain", "clFinish", "clGetPlatformInfo"))
        }
        assert set(functions) == KINDS
        for function in functions.values():
            for objects in owners:
                PatternedCall(cl, function, objects).make()
        in_parent = len(sandbox.log)
        cl.fork()
        calls = [PatternedCall(cl, function, objects) for function in functions.values() for objects in owners]
        for call in calls:
            call.make()
        for objects in owners:
            objects.forget("cl_command_queue")
            assert cl.clFlush(objects.queue) == CL.SUCCESS
        assert cl.clFlush(None) == CL.INVALID_COMMAND_QUEUE
        assert cl.platform_names() == {"a", "b"}
        events = sandbox.log[in_parent:]
    assert len({event.thread for event in events}) == 1
    entered = [(e.who, e.name) for e in events if e.kind == "call" and e.who != "application"]
    for call in calls:
        assert entered.count((call.objects.owner, call.function.name)) >= 1, str(call)
    assert [who for who, name in entered if name == "clFlush"] == [objects.owner for objects in owners]
