# SPDX-License-Identifier: Apache-2.0
"""The ways in which clharness ends without a verdict, each with its exit code.

All carry a text for the user: what is wrong, where, and what to do. Whoever is outermost (the command, or
the pytest plugin) prints that text and nothing else; a traceback is for defects of the harness only.
"""

from __future__ import annotations

import enum


class Exit(enum.IntEnum):
    """What the exit code of a run says."""

    AS_EXPECTED = 0
    UNEXPECTED = 1
    USAGE = 2
    HARNESS = 3
    NOTHING_RAN = 4
    NOT_APPLICABLE = 77
    INTERRUPTED = 130


class ClharnessError(Exception):
    """Base of the errors whose text is meant for the user."""

    exit_code: Exit = Exit.HARNESS


class UsageError(ClharnessError):
    """The user asked for something that cannot be: a wrong path, a malformed file, an unknown ID."""

    exit_code = Exit.USAGE


class NotBuilt(UsageError):
    """What the command needs has not been built yet."""


class NothingToRun(ClharnessError):
    """What the user asked for is nothing."""

    exit_code = Exit.NOTHING_RAN


class HarnessError(ClharnessError):
    """The harness cannot do its work here: nothing is built, the disk is full, a tool is missing."""

    exit_code = Exit.HARNESS
