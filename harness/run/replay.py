# SPDX-License-Identifier: Apache-2.0
"""Writes `replay.sh`: a failed case as a shell script that needs the built probe and no Python.

sh build/failures/SUBJECT/RUN/CASE/replay.sh                 replays the exchange and prints it
sh build/failures/SUBJECT/RUN/CASE/replay.sh gdb --args      the same under a debugger (any command prefix)
"""

from __future__ import annotations

import os
import shlex
import stat
from collections.abc import Sequence
from pathlib import Path

from harness.build import build
from harness.calllog.reader import DEFAULT_SIZE, HEADER, MAGIC
from harness.probe.connection import Connection
from harness.sandbox import Sandbox
from harness.sandbox.machine import NOBODY

MAX_ORDERED = 500  # larger directories are replayed in whatever order they are copied

HEAD = """\
#!/bin/sh
# Replays {case} without Python. Arguments become a prefix of the probe, for example: gdb --args, or valgrind.
# Files stand where they stood in the case, because configuration files name them by path: {root}
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root={root}
if [ -e "$root" ]; then echo "replay: $root is in the way: remove it first" >&2; exit 2; fi
mkdir -m 700 "$root"
end() {{
    cp "$root/calllog" "$here/calllog.replayed" 2>/dev/null || :
    chmod -R u+rwX "$root" 2>/dev/null
    rm -rf "$root"
}}
trap end EXIT
trap 'exit 143' INT TERM
exec 9<"$root"
flock -n 9 2>/dev/null || : # so that no run that ends takes it for one that was left behind
cp -a "$here/." "$root"
cd "$root"
"""

ORDER = """\
# The order in which readdir lists {folder} decides what some loaders do.
fill() {{ rm -rf {folder}; mkdir -p {folder}; for name in "$@"; do cp -a "$here/"{folder}"/$name" {folder}/; done; }}
same() {{ [ "$(ls -U {folder})" = "$(printf '%s\\n' {names})" ]; }}
fill {names}
same || fill {reversed}
same || echo 'replay: this file system lists {folder} in another order than in the case' >&2
"""


def _order(sandbox: Sandbox, folder: Path) -> str:
    names = [entry.name for entry in os.scandir(folder) if entry.is_file(follow_symlinks=False)]
    if not 1 < len(names) <= MAX_ORDERED or len(names) != len(os.listdir(folder)):
        return ""
    return ORDER.format(
        folder=shlex.quote(str(folder.relative_to(sandbox.root))),
        names=shlex.join(names),
        reversed=shlex.join(reversed(names)),
    )


def _special_files(sandbox: Sandbox) -> list[str]:
    """Commands that make what a copy cannot hold."""
    lines = []
    for path, state in sorted(sandbox.paths()):
        name = shlex.quote(str(path.relative_to(sandbox.root)))
        if stat.S_ISFIFO(state.st_mode):
            lines.append(f"mkfifo -- {name}")
        elif stat.S_ISSOCK(state.st_mode):
            lines.append(f"echo 'replay: the socket' {name} 'is not made again' >&2")
        elif stat.S_ISCHR(state.st_mode) or stat.S_ISBLK(state.st_mode):
            kind = "c" if stat.S_ISCHR(state.st_mode) else "b"
            lines.append(f"mknod -- {name} {kind} {os.major(state.st_rdev)} {os.minor(state.st_rdev)}")
    return lines


def _own_copy(copy: str) -> str:
    """Makes the program again that was there for one session alone."""
    built = next(program for program in (build().probe, build().linked_probe) if program.name == Path(copy).name)
    return f"install -D -m 4500 -o {NOBODY} -g {NOBODY} {shlex.quote(str(built))} {shlex.quote(copy)}"


def _without_conversation(argv: Sequence[str]) -> list[str]:
    """A probe's command without the option that says how the harness talks with it, and that option's argument."""
    command = list(argv)
    for option in ("--socket", "--standard"):
        if option in command:
            place = command.index(option)
            del command[place : place + 2]
    return command


def _session(session: Connection, number: int, root: Path) -> list[str]:
    """Runs one recorded exchange; the prefix stands directly before the probe, inside of any private root."""
    command = _without_conversation(session.argv)
    program = command.index("--loader") - 1  # the probe, behind whatever stands in front of it
    environment = shlex.join(f"{name}={value}" for name, value in session.environment.items())
    user = f"setpriv --reuid {NOBODY} --regid {NOBODY} --clear-groups " if session.ordinary_user else ""
    before, after = (
        shlex.join(command[:program]),
        shlex.join([*command[program:], "--script", f"{root}/exchange-{number}"]),
    )
    return [
        f"echo '--- session {number}'",
        *([_own_copy(session.argv[0])] if session.own_copy else []),
        "status=0",
        f'env -i {environment} {user}{before} "$@" {after} 9<&- || status=$?'.replace("  ", " "),
        'echo "--- ended with status $status"',
    ]


def script(case: str, sandbox: Sandbox, sessions: Sequence[Connection]) -> str:
    """The text of replay.sh for a sandbox that is about to be copied."""
    lines = [HEAD.format(case=" ".join(case.split()), root=shlex.quote(str(sandbox.root)))]
    lines += [_order(sandbox, sandbox.vendors)]
    lines += _special_files(sandbox)
    magic = MAGIC.decode().replace("\n", "\\n")
    lines += [f"printf '{magic}' > calllog; truncate -s {HEADER + DEFAULT_SIZE} calllog; chmod 666 calllog"]
    for number, session in enumerate(sessions):
        lines += _session(session, number, sandbox.root)
    lines += ["exit $status" if sessions else "echo 'replay: no process was started in this case' >&2"]
    return "\n".join(line for line in lines if line) + "\n"
