# SPDX-License-Identifier: Apache-2.0
"""The name of the command type that a function's events have."""

from __future__ import annotations

import re

_SPELLED = {"NDRange": "Ndrange", "SVMMemFill": "SVM_Memfill", "SVM": "SVM_", "WithWaitList": ""}


def command_type(function: str) -> str:
    """The command type that events of an enqueueing function have: CL_COMMAND_READ_BUFFER for clEnqueueReadBuffer."""
    name = function.removeprefix("clEnqueue")
    for theirs, ours in _SPELLED.items():
        name = name.replace(theirs, ours)
    return "CL_COMMAND_" + re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).upper().replace("__", "_")
