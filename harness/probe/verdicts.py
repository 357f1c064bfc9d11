# SPDX-License-Identifier: Apache-2.0
"""What a subject can do to a case besides answering wrongly."""

from __future__ import annotations


class SubjectFailure(Exception):
    """The subject ended the case; `verdict` is crash, hang or leak, `stacks` the stacks of its threads where known."""

    verdict = "crash"

    def __init__(self, message: str, stacks: str = "") -> None:
        super().__init__(message + (f"\n{stacks}" if stacks else ""))
        self.stacks = stacks


class Crashed(SubjectFailure):
    """The process died of a signal during a call, or while it ended."""


class AbnormalExit(SubjectFailure):
    """The process ended by itself when it should not have, or with an exit code that is not 0."""


class ProtocolViolation(SubjectFailure):
    """What came from the probe is not what the probe says: the subject wrote in its place, or into its memory."""


class Excessive(SubjectFailure):
    """The subject took more of the machine than a case may."""


class Hung(SubjectFailure):
    """Silence beyond the time limit."""

    verdict = "hang"


class Leaked(SubjectFailure):
    """Memory, descriptors or mappings were left behind."""

    verdict = "leak"
