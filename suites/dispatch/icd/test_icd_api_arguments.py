# SPDX-License-Identifier: Apache-2.0
"""Calls of a vendor's functions, proper ones and such that are improper in one argument (API-ARG)."""

from __future__ import annotations

import pytest

from harness.check import (
    ARGUMENT_INFORMATION,
    CL,
    KERNEL_OF_ARGUMENTS,
    KERNELS,
    Icd,
    IcdObjects,
    Sandbox,
    api,
    calls,
    requirement,
)


@requirement("API-ARG-001")
@pytest.mark.parametrize("function", sorted({rule.function for rule in calls.rules()}))
def test_improper_argument_is_refused_with_its_error(icd: Icd, sandbox: Sandbox, function: str) -> None:
    """An argument that the text excludes gives the error that the text names, and NULL where that is not asked for."""

    def check(objects: IcdObjects, rule: calls.Rule) -> None:
        calls.require_sentence(objects, rule)
        errors = [*rule.errors, *sorted(calls.accepted(rule) - set(rule.errors))]
        codes = [0 if error in ("NULL", "CL_SUCCESS") else api().constant(error) for error in errors]
        call = calls.prepare(objects, function, rule.changed)
        error = call.make()
        expected = calls.refusals(function, *codes)
        assert error in expected, f"answered {error}, expected {' or '.join(rule.errors)}"
        if call.errcode is not None and 0 not in expected:
            assert call.result == 0, f"gave an object beside the error {error}"
            assert call.without_errcode().make() == 0, "gave an object where errcode_ret is NULL"

    with icd.attempts(sandbox) as attempts:
        for rule in calls.rules():
            if rule.function == function:
                attempts.check(str(rule), lambda objects, rule=rule: check(objects, rule))  # type: ignore[misc]


@requirement("API-ARG-002")
@pytest.mark.parametrize("function", [name for name in calls.recipes() if name not in calls.FOREIGN_PROGRAMS])
def test_proper_call_succeeds(icd: Icd, sandbox: Sandbox, function: str) -> None:
    """The same call without anything improper succeeds: the positive control of all of these."""

    def check(objects: IcdObjects) -> None:
        if function == "clSVMAlloc":
            assert objects.named("svm")
            return
        error = calls.prepare(objects, function).make()
        calls.require_function(objects, function, error)
        objects.require_device(error)
        assert error == CL.SUCCESS, f"answered {error}, expected CL_SUCCESS"
        if function.startswith("clEnqueue"):  # no text says what becomes of a command when its process ends
            objects.require("clFinish", objects.session.call("clFinish", objects.queue))

    with icd.attempts(sandbox) as attempts:
        attempts.check(f"{function} {' '.join(calls.recipes()[function].words)}", check)


@requirement("API-ARG-002")
@pytest.mark.parametrize(
    "source",
    [
        pytest.param(KERNEL_OF_ARGUMENTS, id="arguments"),
        pytest.param("kernel void name() {}\n", id="none"),
        pytest.param(KERNELS, id="none and arguments"),
    ],
)
def test_argument_information_is_available_where_it_was_asked_for(icd: Icd, sandbox: Sandbox, source: str) -> None:
    """Kernels are built with -cl-kernel-arg-info, with arguments or none; without it, as the control."""
    with icd.open(sandbox) as session:
        objects = session.objects(session.some_platforms()[0])
        for options in ("", ARGUMENT_INFORMATION):
            program = objects.with_source(source)
            error = session.call("clBuildProgram", program, 0, None, options, None, None)
            assert error == CL.SUCCESS, f"options {options!r}; the build log: {objects.build_log(program)}"
