# SPDX-License-Identifier: Apache-2.0
"""What doctor prints, and what it leaves alone."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import jsonschema
import pytest

from harness.build import ROOT
from harness.sandbox import Sandbox
from harness.sandbox.machine import require_private_mounts
from tests.doctor_machine import Machine, system

SCHEMA = json.loads((ROOT / "harness" / "doctor" / "schema.json").read_text())


@pytest.fixture
def machine() -> Iterator[Machine]:
    require_private_mounts()
    sandbox = Sandbox(system())
    sandbox.vendor("well")
    yield Machine(sandbox)
    sandbox.close()


def break_much(machine: Machine) -> None:
    """Vendors with several reasons, a layer, and text that could move the cursor."""
    sandbox = machine.sandbox
    sandbox.vendor("lost", variant="icd_needs_absent_library")
    sandbox.vendor("none", platforms=0)
    sandbox.vendor("other", extensions="cl_khr_fp64")
    sandbox.vendor_file("escape.icd", "/opt/\x1b[2Jgone.so\n")
    machine.environment["OPENCL_LAYERS"] = str(sandbox.layer("layer"))


@pytest.mark.parametrize("columns", [60, 80, 120])
def test_text_fits_and_has_the_verdict_first_and_last(machine: Machine, columns: int) -> None:
    break_much(machine)
    done = machine.run(columns=columns)
    lines = done.stdout.splitlines()
    assert (done.returncode, done.stderr) == (1, "")
    verdict = lines[: lines.index("")]
    assert verdict == lines[-len(verdict) :]
    assert verdict[0].startswith("clharness doctor: not healthy: ")
    too_long = [line for line in lines if len(line) > columns]
    assert all(" " not in line.strip() or "/" in line for line in too_long), too_long  # one path can be longer
    assert all(line.isprintable() for line in lines)


def test_healthy_machine_takes_few_lines(machine: Machine) -> None:
    done = machine.run()
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("clharness doctor: healthy: programs see 1 platform with 1 device")
    assert len(done.stdout.splitlines()) <= 8, done.stdout


def test_verbose_shows_each_step(machine: Machine) -> None:
    text = " ".join(machine.run("--verbose").stdout.split())
    assert "file ok, line ok, library ok, ELF ok, dependencies ok, loading ok, functions ok, platforms ok" in text


def test_json_is_as_the_schema_says(machine: Machine) -> None:
    jsonschema.validate(machine.doctor().data, SCHEMA)
    break_much(machine)
    sick = machine.doctor("env").data
    jsonschema.validate(sick, SCHEMA)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**sick, "findings": [{"name": "A"}]}, SCHEMA)
    assert [layer["loaded"] for layer in sick["layers"]] == [True]
    steps = {
        os.path.basename(v["named_in"]): [s for s, state in v["steps"].items() if state == "fails"]
        for v in sick["vendors"]
    }
    assert steps["lost.icd"] == ["dependencies"] and steps["well.icd"] == []


def snapshot(folder: Path) -> dict[str, tuple[int, int, int, int]]:
    """What lies below a folder, with all that a change would change, but for the time of the last access."""
    paths = [folder, *folder.rglob("*")]
    state = {str(path): path.lstat() for path in paths if path.name != "calllog"}
    return {name: (s.st_mode, s.st_size, s.st_mtime_ns, s.st_ctime_ns) for name, s in state.items()}


def test_nothing_is_changed(machine: Machine, tmp_path: Path) -> None:
    """Neither vendors nor the home of the user, where drivers keep what they compile."""
    break_much(machine)
    home = machine.sandbox.folder("home")
    machine.environment["HOME"] = str(home)
    before = snapshot(machine.sandbox.root)
    assert str(home) in before
    assert machine.run().returncode == 1
    assert snapshot(machine.sandbox.root) == before


def test_command_needs_no_build(tmp_path: Path) -> None:
    """Nor does it make one."""
    missing = tmp_path / "missing"
    environment = {"PATH": "/usr/bin:/bin:/usr/sbin", "CLHARNESS_BUILD": str(missing), "OCL_ICD_VENDORS": str(tmp_path)}
    done = subprocess.run([ROOT / "clharness", "doctor"], env=environment, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (1, "")
    assert "has no file that ends in .icd" in " ".join(done.stdout.split())
    assert not missing.exists()


def test_doctor_needs_no_module_besides_python() -> None:
    """-S leaves out what is installed."""
    code = "import sys; sys.path.insert(0, sys.argv[1]); import harness.cli.doctor"
    done = subprocess.run(["/usr/bin/python3", "-I", "-S", "-c", code, ROOT], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
