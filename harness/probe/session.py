# SPDX-License-Identifier: Apache-2.0
"""One probe process as a check uses it.

with loader.start(sandbox) as cl:
    platforms = cl.GetPlatformIDs()                 # convenient forms, named without `cl`
    rc = cl.clGetPlatformIDs(0, None, count)        # any function of the API, as in C
"""

from __future__ import annotations

from collections.abc import Callable

from harness.api.codes import nearest
from harness.api.model import api
from harness.probe.calls import CANARY
from harness.probe.checks import Checks
from harness.probe.replies import CommandError

__all__ = ["CANARY", "CommandError", "Session"]


class Session(Checks):
    """A running probe. Use it as a context manager: leaving it ends the process and raises if that goes wrong.

    After the end, `exit_code`, `signal` and `stderr` say how it ended.
    """

    def __getattr__(self, name: str) -> Callable[..., int]:
        if name.startswith("cl") and name in api().functions:
            return lambda *arguments: self.call(name, *arguments)
        near = "" if name.startswith("_") else nearest(name, [*api().functions, *dir(self)])
        raise AttributeError(f"a session has no {name}{near}")
