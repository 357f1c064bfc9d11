# SPDX-License-Identifier: Apache-2.0
"""A process with a subject in it, under the guard of all subjects (harness/sandbox/guard.c): it reaches no process that
is not its own, and what it leaves behind ends with it.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO

from harness.probe.process import Process, has_ended

_FILE_LIMIT = 64 << 30  # bytes: some drivers keep the memory of their objects in files
_SAYS = 5.0  # seconds in which a fuzzer that is interrupted says how far it came
_MOST_OUTPUT = 64 << 20  # bytes, after which it begins anew
_SHOWN = 4 << 20  # bytes of output that are looked at, from its begin and from its end


class Guarded(Process):
    """Runs in a folder, which has to be its own. As a context, at whose end nothing is left of it."""

    def __init__(
        self,
        command: Sequence[str | Path],
        variables: Mapping[str, str],
        folder: Path,
        output: IO[bytes],
        errors: IO[bytes] | None = None,
        campaign: Path | None = None,
    ) -> None:
        """Its errors go where its output goes unless they have a file of their own. Of the folder of a campaign it can
        change its own folder alone, where the machine allows that."""
        program, *arguments = map(str, command)
        super().__init__(
            [shutil.which(program, path=variables.get("PATH")) or program, *arguments],
            variables,
            _FILE_LIMIT,
            cwd=folder,
            stdout=output,
            stderr=errors or output,
            kept=[campaign, folder] if campaign else [],
            unlisted=True,
        )

    def __enter__(self) -> Guarded:
        return self

    def __exit__(self, *about: object) -> None:
        self.end()

    def has_ended(self, seconds: float) -> bool:
        """Whether it ends within this time."""
        return has_ended(self.descriptor, seconds)

    def interrupt(self) -> int | None:
        """Its status where it ends when it is asked to, as a fuzzer does, which says then how far it came."""
        if not self.has_ended(0) and self.is_alive():
            with contextlib.suppress(ProcessLookupError):
                descriptor = os.pidfd_open(self.pid)
                signal.pidfd_send_signal(descriptor, signal.SIGINT)
                os.close(descriptor)
        return self.code() if self.has_ended(_SAYS) else None

    def code(self) -> int:
        """How it ended, which it has: its exit code, or the number of a signal below 0."""
        status = self.status()
        return -signal.SIGKILL if status is None else status


def begin_anew(file: IO[bytes]) -> None:
    """Leaves nothing of a file that was opened to append to it, where it has become too large: a subject may write
    without end."""
    if os.fstat(file.fileno()).st_size > _MOST_OUTPUT:
        os.ftruncate(file.fileno(), 0)


def output_of(file: IO[bytes]) -> bytes:
    """What was written into a file, as far as it is looked at; also where the subject has removed it."""
    descriptor = file.fileno()
    size = os.fstat(descriptor).st_size
    if size <= 2 * _SHOWN:
        return os.pread(descriptor, size, 0)
    return os.pread(descriptor, _SHOWN, 0) + b"\n" + os.pread(descriptor, _SHOWN, size - _SHOWN)
