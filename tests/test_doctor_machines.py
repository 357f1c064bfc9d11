# SPDX-License-Identifier: Apache-2.0
"""Doctor on machines that were prepared with reasons for which an ICD is skipped, and on healthy ones."""

from __future__ import annotations

import contextlib
import os
import resource
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.build import build
from harness.sandbox import Sandbox
from harness.sandbox.machine import is_root, require_private_mounts
from tests.doctor_machine import Machine, system
from tests.doctor_rare_reasons import ADVICE, HEALTHY, RARE
from tests.doctor_reasons import MACHINES, STRICTER, Prepare, layer
from tests.doctor_surroundings import SURROUNDINGS, SURROUNDINGS_ADVICE, WELL_SURROUNDED
from tests.samples import sample

SICK = MACHINES | RARE | SURROUNDINGS
WELL = HEALTHY | WELL_SURROUNDED
# What never comes back is waited for up to the limit, for a vendor twice: the others on these machines are quick.
ENDLESS = {name: 3 for name in (*MACHINES, *RARE) if name.endswith("that hangs") or name.startswith("a FIFO")}


@pytest.fixture
def machine() -> Iterator[Machine]:
    """A healthy one, with the vendor "well"."""
    require_private_mounts()
    sandbox = Sandbox(system())
    sandbox.vendor("well")
    yield Machine(sandbox)
    sandbox.close()


@contextlib.contextmanager
def noexec(folder: Path) -> Iterator[None]:
    subprocess.run(["mount", "-t", "tmpfs", "-o", "noexec", "none", folder], check=True)
    try:
        yield
    finally:
        subprocess.run(["umount", folder], check=True)


@pytest.mark.parametrize("name", sample(list(SICK), len(SICK) // 2))
def test_reason_is_named_and_nothing_else(machine: Machine, name: str) -> None:
    """The vendor that works is not accused."""
    prepare, expected = SICK[name]
    prepare(machine)
    machine.time_limit = ENDLESS.get(name, machine.time_limit)
    diagnosis = machine.doctor()
    assert diagnosis.findings == expected, diagnosis.text
    assert diagnosis.code == (1 if expected else 0)
    for finding in diagnosis.data["findings"]:
        assert all(finding[part].strip() for part in ("what", "where", "do")), finding
        assert finding["what"].endswith((".", "!")), finding
        assert "libwell" not in finding["what"] or name in ("a vendor named twice", "a layer that is a vendor")
    assert (ADVICE | SURROUNDINGS_ADVICE).get(name, "") in " ".join(
        finding["do"] for finding in diagnosis.data["findings"]
    )


@pytest.mark.skipif(not is_root(), reason="only root can mount")
def test_library_on_a_file_system_without_programs_is_named(machine: Machine) -> None:
    folder = machine.sandbox.folder("noexec")
    with noexec(folder):
        machine.sandbox.vendor_file("sick.icd", f"{machine.sandbox.icd('sick', folder=folder)}\n")
        assert machine.doctor().findings == {"mounted-noexec"}


@pytest.mark.parametrize("name", STRICTER)
def test_reason_is_named_for_another_loader(machine: Machine, name: str) -> None:
    """The reference loader binds all functions at once, and has its own way through the steps."""
    prepare, expected = STRICTER[name]
    prepare(machine)
    machine.loader = build().reference_loader
    machine.time_limit = ENDLESS.get(name, machine.time_limit)
    diagnosis = machine.doctor()
    assert diagnosis.findings == expected, diagnosis.text


@pytest.mark.skipif(not is_root(), reason="only root can be another user")
def test_user_who_may_start_no_process_is_told_so(machine: Machine) -> None:
    machine.user = 20_000 + os.getpid() % 40_000  # what counts is all processes of the user: this one has no other
    machine.limits[resource.RLIMIT_NPROC] = 1
    done = machine.run()
    assert (done.returncode, done.stdout) == (3, "")
    assert "may have 1 processes (ulimit -u)" in done.stderr and done.stderr.count("\n") == 1


def test_what_this_loader_accepts_is_a_note(machine: Machine) -> None:
    """ocl-icd lists a platform with an empty suffix; other loaders do not."""
    machine.sandbox.vendor("sick", suffix="")
    diagnosis = machine.doctor()
    assert (diagnosis.findings, diagnosis.code) == (set(), 0)
    assert "no-suffix" in diagnosis.notes


def healthy(machine: Machine) -> None:
    del machine


def two_vendors(machine: Machine) -> None:
    machine.sandbox.vendor("other", platforms=2, suffix="OTHER")


def icd2(machine: Machine) -> None:
    machine.sandbox.vendor("other", icd2=True, suffix="OTHER")


def no_final_newline(machine: Machine) -> None:
    machine.sandbox.vendor_file("other.icd", str(machine.sandbox.icd("other")))


def reference_loader(machine: Machine) -> None:
    machine.loader = build().reference_loader


def proper_layer(machine: Machine) -> None:
    layer()(machine)


def readme(machine: Machine) -> None:
    machine.sandbox.vendor_file("README", "Files of vendors.\n")


USUAL = (healthy, two_vendors, icd2, no_final_newline, reference_loader, proper_layer, readme)
SOUND: dict[str, Prepare] = {one.__name__: one for one in USUAL} | WELL


@pytest.mark.parametrize("name", sample(list(SOUND), len(SOUND) // 2))
def test_healthy_machine_is_not_accused(machine: Machine, name: str) -> None:
    SOUND[name](machine)
    diagnosis = machine.doctor()
    assert diagnosis.data["findings"] == []
    assert (diagnosis.code, diagnosis.data["healthy"]) == (0, True)
    assert all(vendor["listed"] == len(vendor["platforms"]) > 0 for vendor in diagnosis.data["vendors"])


def test_each_program_has_a_loader_of_its_own(machine: Machine) -> None:
    """The second one finds a vendor's library in its place."""
    folder = machine.sandbox.folder("driver")
    machine.sandbox.icd("own", folder=folder, file="libOpenCL.so.1", platforms=0)
    source = "int main(void) { return 0; }"
    programs = [machine.sandbox.libraries / name for name in ("plain", "other")]
    code = machine.sandbox.file("program.c", source)
    linked: list[str | Path] = [build().compiler, code, "-Wl,--no-as-needed", system().resolve(), "-o"]
    subprocess.run([*linked, programs[0]], check=True)
    subprocess.run([*linked, programs[1], f"-Wl,-rpath,{folder}"], check=True)
    assert machine.doctor(str(programs[0])).findings == set()
    diagnosis = machine.doctor(*map(str, programs))
    assert diagnosis.findings == {"program-other-loader", "not-a-loader"}
    assert [Path(program["loader"]).parent == folder for program in diagnosis.data["programs"]] == [False, True]
