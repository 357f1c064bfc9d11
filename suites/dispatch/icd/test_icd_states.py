# SPDX-License-Identifier: Apache-2.0
"""Calls that are proper but for the state of an object (API-STA)."""

from __future__ import annotations

import pytest

from harness.check import Icd, IcdObjects, Sandbox, api, calls, requirement


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
        assert call.errcode is None or call.result == 0, f"gave an object beside the error {error}"

    with icd.attempts(sandbox) as attempts:
        for rule in calls.states():
            if rule.function == function:
                attempts.check(str(rule), lambda objects, rule=rule: check(objects, rule))  # type: ignore[misc]
