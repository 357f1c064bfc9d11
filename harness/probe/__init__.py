# SPDX-License-Identifier: Apache-2.0
"""The application under our control, as Python drives it."""

from harness.probe.calls import Buffer
from harness.probe.session import Session
from harness.probe.values import Names, Value
from harness.probe.verdicts import AbnormalExit, Crashed, Hung, SubjectFailure

__all__ = ["AbnormalExit", "Buffer", "Crashed", "Hung", "Names", "Session", "SubjectFailure", "Value"]
