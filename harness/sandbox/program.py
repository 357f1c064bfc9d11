# SPDX-License-Identifier: Apache-2.0
"""A user's own program, run in the foreground: signals go on to it, and its exit code comes back."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence

from harness.errors import UsageError


def run_program(command: Sequence[str], environment: Mapping[str, str]) -> int:
    """Runs a command; gives its exit code as a shell would. Raises UsageError where it cannot be run."""
    sys.stdout.flush()
    process: subprocess.Popen[bytes] | None = None
    early: list[int] = []  # signals that came before there was a process to hand them to

    def pass_on(number: int, _frame: object) -> None:
        if number == signal.SIGINT:  # which a terminal sends to both of us
            return
        if process is None:
            early.append(number)
        else:
            process.send_signal(number)

    before = {number: signal.signal(number, pass_on) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    try:
        process = subprocess.Popen(command, env=dict(environment))
        for number in early:
            process.send_signal(number)
        status = process.wait()
    except OSError as error:
        raise UsageError(f"{command[0]}: cannot be run: {error.strerror}") from None
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    if status < 0:
        print(f"clharness: {command[0]} was ended by {signal.Signals(-status).name}", file=sys.stderr)
        return 128 - status
    return status
