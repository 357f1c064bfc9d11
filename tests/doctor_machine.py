# SPDX-License-Identifier: Apache-2.0
"""A machine prepared for clharness doctor: a private root with its own /etc/OpenCL, and mocks for vendors."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import harness.cli.doctor  # noqa: F401 (which compiles it: machines only read what is compiled)
from harness.build import ROOT, build
from harness.sandbox import Sandbox
from harness.sandbox.machine import bubblewrap
from harness.subject.search import system_loader

PYTHON = "/usr/bin/python3"
VENDORS = "/etc/OpenCL/vendors"


@dataclass
class Diagnosis:
    """How doctor ended, what it printed, and its JSON."""

    code: int
    text: str
    data: dict[str, Any]

    @property
    def findings(self) -> set[str]:
        return {finding["name"] for finding in self.data["findings"]}

    @property
    def notes(self) -> set[str]:
        return {note["name"] for note in self.data["notes"]}

    def finding(self, name: str) -> dict[str, str]:
        """The one finding of that name."""
        found: list[dict[str, str]] = [one for one in self.data["findings"] if one["name"] == name]
        assert len(found) == 1, self.data["findings"]
        return found[0]


@dataclass
class Machine:
    """One machine; `sandbox` holds what is prepared, `binds` what it shows at other places."""

    sandbox: Sandbox
    environment: dict[str, str] = field(default_factory=dict)
    binds: dict[str, Path] = field(default_factory=dict)
    limits: dict[int, int] = field(default_factory=dict)  # soft ones, by resource.RLIMIT_*
    user: int | None = None  # instead of this one
    loader: Path | None = None  # instead of the system's
    time_limit: int = 8  # seconds that doctor gives each library

    def doctor(self, *arguments: str) -> Diagnosis:
        """Runs doctor on it, as a person would."""
        done = self.run("--json", "--time-limit", str(self.time_limit), *arguments)
        assert done.returncode in (0, 1), done.stdout + done.stderr
        return Diagnosis(done.returncode, done.stdout, json.loads(done.stdout))

    def run(self, *arguments: str, columns: int = 80) -> subprocess.CompletedProcess[str]:
        """The command with these arguments."""
        binds = {VENDORS: self.sandbox.vendors, **self.binds}
        if self.loader:
            binds[str(system().resolve())] = self.loader
        folders = [ROOT, build().folder]
        command = bubblewrap(binds, [self.sandbox.root, *folders])
        above = ["/etc", "/etc/OpenCL"]
        above += [str(parent) for folder in folders for parent in reversed(folder.parents) if parent != Path("/")]
        # What bubblewrap makes for itself on the way to them is closed to other users.
        command[1:1] = [word for path in dict.fromkeys(above) for word in ("--perms", "0755", "--dir", path)]
        environment = {"PATH": "/usr/bin:/bin", "HOME": "/nonexistent", "COLUMNS": str(columns), **self.environment}
        variables = [word for name, value in environment.items() for word in ("--setenv", name, value)]
        as_user = ["setpriv", f"--reuid={self.user}", f"--regid={self.user}", "--clear-groups"] if self.user else []
        # In continuous integration, what Pythons compile lies below the build folder: it takes half of a start.
        compiled = ["-X", f"pycache_prefix={sys.pycache_prefix}"] if sys.pycache_prefix else []
        python = [*as_user, PYTHON, *compiled, "-P", "-c", _START, str(ROOT), "doctor", *arguments]
        command = [*command[:-1], "--clearenv", *variables, "--", *python]
        return subprocess.run(command, capture_output=True, text=True, timeout=240, preexec_fn=self._limit)

    def _limit(self) -> None:
        for which, soft in self.limits.items():
            resource.setrlimit(which, (soft, resource.getrlimit(which)[1]))


# The variables of a machine hold no PYTHONPATH: it would be one more that doctor has to try.
_START = "import sys; sys.path.insert(0, sys.argv.pop(1)); from harness.cli.main import main; sys.exit(main())"


def system() -> Path:
    """The system's loader."""
    loader = system_loader()
    assert loader is not None, f"no loader is installed here ({os.uname().nodename})"
    return loader
