"""Sessions without a loader: the probe opens the library under test itself."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol, TypeVar

from harness.build import build
from harness.probe.session import Session
from harness.sandbox import Sandbox, Unsupported
from harness.sandbox.sandbox import PASSED_ON

Kind = TypeVar("Kind", bound=Session)


class _Facts(Protocol):
    sanitizer: str


class _Subject(Protocol):
    path: Path
    time_limit: float

    @property
    def facts(self) -> _Facts: ...


def start_directly(
    kind: type[Kind],
    subject: _Subject,
    sandbox: Sandbox,
    *,
    counted_heap: bool = False,
    preload: Sequence[str] = (),
    late: bool = False,
    now: bool = False,
) -> Kind:
    """A session, to be entered with `with`, in which the subject is what the probe has opened; late: not yet;
    now: with all its functions bound at once.
    """
    environment = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
    environment |= {"PATH": "/usr/bin:/bin", "HOME": "/nonexistent", "LC_ALL": "C"}
    environment.setdefault("ASAN_OPTIONS", "detect_leaks=0")
    environment["LD_PRELOAD"] = ":".join(p for p in (subject.facts.sanitizer, *preload) if p)
    if counted_heap:
        if subject.facts.sanitizer or build().sanitize:
            raise Unsupported("machine", "a sanitizer's heap cannot be counted")
        environment["GLIBC_TUNABLES"] = "glibc.malloc.tcache_count=0:glibc.malloc.mxfast=0"
    command = [str(build().probe), "--loader", str(subject.path), "--socket", "{socket}"]
    command += ["--log", str(sandbox.log_path)] + ["--late"] * late + ["--now"] * now
    session = kind(command, environment | sandbox.env, sandbox.root, subject.time_limit, cwd=sandbox.root)
    sandbox.runs.append(session)
    return session
