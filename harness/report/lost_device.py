# SPDX-License-Identifier: Apache-2.0
"""The sign of a device that is lost, or has stopped: one sentence, before what is red in consequence of it.

Such a driver makes cases of every section red, each for a reason of its own, and none of them says what to look for.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from harness.report.numbers import counted
from harness.report.records import CaseResult

_LEAST = 5  # cases: fewer are findings like any others
_SHARE = 3  # of the unexpected cases, one in so many must show it
_CODES = "CL_DEVICE_NOT_AVAILABLE|CL_OUT_OF_RESOURCES|CL_OUT_OF_HOST_MEMORY|CL_MEM_OBJECT_ALLOCATION_FAILURE"
# As deviations say it: "CODE instead of CL_SUCCESS", "clFinish answered CODE, expected CL_SUCCESS".
_ANSWER = re.compile(rf"(?:^|[: ])({_CODES})(?= instead of|, expected)")


def sign_of_lost_device(unexpected: Iterable[CaseResult]) -> str | None:
    """What many unexpected cases have in common that a lost or stopped device explains, or None."""
    cases = list(unexpected)
    codes: Counter[str] = Counter()
    for result in cases:
        codes.update({code for deviation in result.deviations for code in _ANSWER.findall(deviation.how)})
    stopped = sum(result.verdict == "hang" for result in cases)
    code, number = (codes.most_common(1) or [("", 0)])[0]
    most = max(number, stopped)
    if most < _LEAST or most * _SHARE < len(cases):
        return None
    of = f"{most} of {counted(len(cases), 'unexpected case')}"
    if stopped >= number:
        return f"{of} got no answer: look first for a device that has stopped."
    return f"{of} got {code} where another answer was due: look first for a device that is lost, or out of memory."
