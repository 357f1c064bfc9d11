# SPDX-License-Identifier: Apache-2.0
"""Calls that are proper but for the state of an object (API-STA)."""

from __future__ import annotations

import pytest

from harness.check import CL, Icd, IcdObjects, Sandbox, api, calls, requirement


@requirement("API-STA-001")
@pytest.mark.parametrize("function", sorted({rule.function for rule in calls.states()}))
def test_call_that_a_state_forbids_is_refused_with_its_error(icd: Icd, sandbox: Sandbox, function: str) -> None:
    """A call that the state of one of its objects does not allow gives the error that the text names."""

    def check(objects: IcdObjects, rule: calls.Rule) -> None:
        calls.require_sentence(objects, rule)
        codes = [0 if error == "CL_SUCCESS" else api().constant(error) for error in rule.errors]
        call = calls.prepare(objects, function, rule.changed)
        error = call.make()
        assert error in codes, f"answered {error}, expected {' or '.join(rule.errors)}"
        if call.errcode is not None and 0 not in codes:
            assert call.result == 0, f"gave an object beside the error {error}"
            assert call.without_errcode().make() == 0, "gave an object where errcode_ret is NULL"

    with icd.attempts(sandbox) as attempts:
        for rule in calls.states():
            if rule.function == function:
                attempts.check(str(rule), lambda objects, rule=rule: check(objects, rule))  # type: ignore[misc]


# Texts of OpenCL 2.0 and newer no longer have these.
OLDER = ("clEnqueueBarrier", "clEnqueueMarker", "clEnqueueTask", "clEnqueueWaitForEvents")


@requirement("API-STA-005")
def test_queue_on_the_device_takes_nothing_from_the_host(icd: Icd, sandbox: Sandbox) -> None:
    """Commands of the host, clFlush and clFinish are refused by a queue that is on the device."""

    def check(objects: IcdObjects, function: str) -> None:
        assert calls.prepare(objects, function, {"command_queue": "on_device"}).make() == CL.INVALID_COMMAND_QUEUE

    with icd.attempts(sandbox) as attempts:
        for function in calls.recipes():
            of_the_host = function.startswith("clEnqueue") or function in ("clFlush", "clFinish")
            if of_the_host and function not in OLDER and calls.has_parameter(function, "command_queue"):
                attempts.check(function, lambda objects, function=function: check(objects, function))  # type: ignore[misc]
