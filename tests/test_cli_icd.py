# SPDX-License-Identifier: Apache-2.0
"""`clharness icd` on mock ICDs, by each way of naming one, and on files that are not ICDs."""

from __future__ import annotations

import json
import random
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from harness.build import ROOT, build
from harness.cli.main import main
from harness.errors import UsageError
from harness.sandbox import Sandbox
from harness.selftest.mutants.icd import icd_mutants
from harness.subject import icd as subject
from tests.forked import clharness
from tests.samples import WHOLE


@pytest.fixture
def sandbox() -> Iterator[Sandbox]:
    box = Sandbox()
    yield box
    box.close()


def run_icd(*arguments: object, **environment: str) -> subprocess.CompletedProcess[str]:
    variables: dict[str, Any] = {"COLUMNS": "200", **environment}
    return clharness("icd", *arguments, "-j", "1", **variables)


def part(*options: str) -> tuple[str, ...]:
    """Options that choose a part of all cases; ci/nightly wants all in each test."""
    return () if WHOLE else options


def cases(records: Path) -> list[dict[str, Any]]:
    return [case for case in map(json.loads, records.read_text().splitlines()) if case["record"] == "case"]


@pytest.mark.parametrize("icd2", [False, True])
def test_correct_icd_is_green(sandbox: Sandbox, tmp_path: Path, icd2: bool) -> None:
    """The report names the ICD; what it has is checked, and what it does not advertise is unsupported."""
    mock = sandbox.icd("mine", icd2=icd2, version="OpenCL 3.0 mine 7.25", features="images compiler")
    records, junit = tmp_path / "run.jsonl", tmp_path / "run.xml"
    chosen = part("-k", "test_icd_loader or test_icd_tables or test_icd_api_handles")
    done = run_icd(mock.path, "--json", records, "--junit", junit, *chosen)
    assert done.returncode == 0, done.stdout + done.stderr
    first, second, *_, last = done.stdout.splitlines()
    assert "ICD mine 7.25" in first and second.startswith(f"  ICD          {mock.path}")
    assert re.match(r"ICD mine 7\.25: as expected, \d{2,} cases", last)
    head = json.loads(records.read_text().splitlines()[0])
    assert head["subject"]["facts"]["functions"] == list(subject.FUNCTIONS)
    assert [each["kind"] for each in head["used_with"]] == ["loader"]
    assert head["used_with"][0]["facts"]["path"] == str(build().reference_loader)
    loader_managed = {case["verdict"] for case in cases(records) if "test_icd_loader_managed" in case["case"]}
    assert loader_managed == ({"pass", "unsupported"} if icd2 else {"unsupported"})
    properties = {p.get("name"): p.get("value") for p in ElementTree.parse(junit).iter("property")}
    assert properties["icd.name"] == "mine"


@pytest.mark.parametrize(
    ("settings", "shard"),
    [
        ({"variant": "icd_exports_all"}, "1/24"),
        ({"exact_objects": True}, "9/24"),
        ({"version": "OpenCL 1.2 old"}, "17/24"),
        ({}, "?/3"),
    ],
)
def test_other_correct_icds_are_green(sandbox: Sandbox, settings: dict[str, Any], shard: str) -> None:
    """One that exports all functions, one with little objects, an old one, and that above in more cases, by chance."""
    shard = shard.replace("?", str(random.randint(1, 3)))
    done = run_icd(sandbox.icd("other", features="images compiler", **settings).path, *part("--shard", shard))
    assert done.returncode == 0, f"{shard}: {done.stdout}{done.stderr}"


def test_icd_without_platforms_has_nothing_to_be_judged(sandbox: Sandbox, tmp_path: Path) -> None:
    """A driver without its hardware: what needs a platform is unsupported."""
    records = tmp_path / "run.jsonl"
    mock = sandbox.icd("none", faults=["platform_not_found"])
    done = run_icd(mock.path, "--json", records, *part("--shard", "1/24"))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "no platform on this machine" in done.stdout
    assert any(case["verdict"] == "pass" for case in cases(records))


QUERIES_OF_KERNELS = ("clGetKernelInfo", "clGetKernelArgInfo", "clGetKernelWorkGroupInfo")


def test_fault_is_named(sandbox: Sandbox, tmp_path: Path) -> None:
    """The checks that have to do with an object that a function makes are red, for that function, and no others."""
    mock = sandbox.icd("faulty", functions={"without_dispatch": ["clCloneKernel"]}, features="images compiler")
    records = tmp_path / "run.jsonl"
    # Besides those that are named below, checks of kernels that others make.
    chosen = part("-k", "clone or Clone or test_context_ends or test_kernel_of or test_parameter_of or clCreateKernel")
    assert run_icd(mock.path, "--json", records, *chosen).returncode == 1
    red = [case["case"].rpartition("::")[2] for case in cases(records) if case["status"] == "unexpected"]
    assert set(red) == {
        "test_object_that_a_function_makes_begins_with_a_table[clCloneKernel]",
        "test_object_goes_on_without_the_others_whichever_function_made_it[clCloneKernel]",
        "test_clone_has_the_arguments_of_its_kernel",
        "test_context_ends_with_the_last_of_what_was_made_in_it",
        *(f"test_clone_answers_each_query_like_its_kernel[{query}]" for query in QUERIES_OF_KERNELS),
        "test_kernel_of_each_function_says_what_it_is[clCloneKernel]",
        "test_parameter_of_each_functions_kernel_says_what_it_is[clCloneKernel]",
        "test_reference_count_follows_whichever_function_made_it[clCloneKernel]",
    }


def test_crash_is_a_verdict(sandbox: Sandbox, tmp_path: Path) -> None:
    """A driver that aborts when it is unloaded: its cases say so, and the others are run."""
    mock = sandbox.icd("aborts", faults=["destructor_aborts"])
    records = tmp_path / "run.jsonl"
    assert run_icd(mock.path, "-k", "library_loaded_again or suffix_has_no_spaces", "--json", records).returncode == 1
    assert "crash" in {case["verdict"] for case in cases(records)}
    assert len(cases(records)) == 2


def test_reproducers_are_collected(sandbox: Sandbox, tmp_path: Path) -> None:
    """Programs with readable names that show the failure, and a README that lists them and what has no program."""
    mock = sandbox.icd("faulty", faults=["event_type_unknown", "count_call_says=7"], features="compiler")
    folder = tmp_path / "programs"
    chosen = "test_list_has or in_16_threads or test_visible or (event_of_each_command and clEnqueueReadBuffer)"
    assert run_icd(mock.path, "-k", chosen, "--reproducers", folder).returncode == 1
    programs = sorted(path.name for path in folder.glob("*.c"))
    program = folder / "DISC-ACC-023_list_has_as_many_different_platforms_as_the_count.c"
    assert program.name in programs
    readme = (folder / "README.md").read_text()
    assert readme.startswith("# What faulty") and all(f"`{name}`" in readme for name in programs)
    assert str(mock.path) in readme and "-ldl" in readme
    target = tmp_path / "run"
    subprocess.run(["cc", "-w", str(program), "-ldl", "-o", str(target)], check=True)
    assert "clIcdGetPlatformIDsKHR" in program.read_text()
    assert subprocess.run([target], capture_output=True, text=True, timeout=60).stdout
    assert run_icd(mock.path, "-k", "test_list_has", "--reproducers", folder).returncode == 2  # it is not empty
    assert run_icd(mock.path, "-k", "test_list_has", "--reproducers", tmp_path / "no" / "folder").returncode == 2


def test_icd_is_used_through_further_loaders(sandbox: Sandbox) -> None:
    mock = sandbox.icd("plain")
    again = sandbox.root / "libOpenCL-again.so"
    again.symlink_to(build().reference_loader)
    done = run_icd(mock.path, "-k", "test_loader_lists_each", "--loader", again)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "2 cases" in done.stdout


BROKEN = """
#include <CL/cl.h>
CL_API_ENTRY cl_int CL_API_CALL clGetPlatformIDs(cl_uint room, cl_platform_id *platforms, cl_uint *count)
{
    return room || platforms || !count ? CL_INVALID_VALUE : -1001;
}
"""


def test_icd_is_not_blamed_for_a_loader_that_lists_no_vendor(sandbox: Sandbox, tmp_path: Path) -> None:
    """As the system's may be that is taken where none is named."""
    broken = sandbox.root / "libOpenCL-broken.so"
    command = [build().compiler, "-shared", "-fPIC", "-x", "c", "-", "-o", str(broken)]
    subprocess.run(command, input=BROKEN, text=True, check=True)
    records = tmp_path / "run.jsonl"
    done = run_icd(sandbox.icd("plain").path, "-k", "test_loader_lists_each", "--loader", broken, "--json", records)
    assert done.returncode == 0, done.stdout + done.stderr
    verdicts = {case["verdict"]: case["reason"] for case in cases(records)}
    assert verdicts == {"pass": None, "unsupported": f"{broken} does not list a correct vendor either"}


def test_variables_are_passed_on(sandbox: Sandbox, tmp_path: Path) -> None:
    mock, records = sandbox.icd("faulty", faults=["count_call_fails"]), tmp_path / "run.jsonl"
    done = run_icd(mock.path, "-k", "test_count_of_platforms", "--env", "VENDOR_ENABLE=a=b", "--json", records)
    assert done.returncode == 1, done.stdout + done.stderr
    assert [case["environment"]["VENDOR_ENABLE"] for case in cases(records)] == ["a=b"]
    assert run_icd(mock.path, "--env", "VENDOR_ENABLE").returncode == 2


def test_ways_of_naming_an_icd(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    """A library, an .icd file, the name of an installed one, and a library that the dynamic linker's folders hold."""
    mock = sandbox.vendor("mine")
    file = sandbox.vendors / "mine.icd"
    monkeypatch.setattr(subject, "SYSTEM_VENDORS", str(sandbox.vendors))
    assert [subject.find_library(str(named)) for named in (mock, file, "mine", "mine.icd")] == [mock.path] * 4
    file.write_text(mock.path.name)
    monkeypatch.setenv("LD_LIBRARY_PATH", str(mock.path.parent))
    assert subject.find_library("mine") == mock.path
    monkeypatch.delenv("LD_LIBRARY_PATH")
    for named in ("mine", "yours"):
        with pytest.raises(UsageError, match=r"libmine\.so, which is in none of|neither a file yours nor"):
            subject.find_library(named)
    file.write_text("\n")
    with pytest.raises(UsageError, match="names no library"):
        subject.find_library("mine")


@pytest.mark.parametrize(
    ("path", "says"),
    [("missing.so", "neither a file"), ("README.md", "not a shared library"), (str(ROOT), "is a folder")],
)
def test_what_is_no_icd_is_said(path: str, says: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["icd", path]) == 2
    assert says in capsys.readouterr().err


def test_library_that_no_loader_could_use_is_said(sandbox: Sandbox) -> None:
    """One that has no function of an ICD, and one that needs a library that is nowhere."""
    done = run_icd(sandbox.icd("nothing", variant="not_an_icd").path)
    assert done.returncode == 2
    assert "is not an OpenCL ICD" in done.stderr
    done = run_icd(sandbox.icd("needs", variant="icd_needs_absent_library").path)
    assert done.returncode == 2
    assert "cannot be loaded" in done.stderr and "libclharness_absent.so" in done.stderr


def test_checks_of_an_icd_are_in_no_other_run(sandbox: Sandbox) -> None:
    """One collection holds checks of one subject."""
    folders = ["suites/discovery", "suites/layers"]
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", *folders, "--clharness-part"]
    icd, layer = sandbox.icd("a").path, build().folder / "mock_layers" / "examples" / "libprint_layer.so"
    for option, name in (("--clharness-part", "loader"), (f"--layer={layer}", "layer"), (f"--icd={icd}", "icd")):
        output = subprocess.run([*command, option], cwd=ROOT, capture_output=True, text=True).stdout
        assert ("icd/test_icd_" in output) == (name == "icd")
        assert ("layer/test_layer_" in output) == (name == "layer")
        assert ("suites/discovery/test_" in output) == (name == "loader")


def test_selftest_of_icds(capsys: pytest.CaptureFixture[str]) -> None:
    """A fault of a mock ICD is caught by the check that it names."""
    assert len(icd_mutants()) >= 100
    assert main(["selftest", "--icd", "--fault", "list_call_fills_room", "icd2_reads_data", "-j", "1"]) == 0
    output = capsys.readouterr().out
    assert re.search(
        r"^list_call_fills_room +test_room_for_more_platforms_leaves_the_rest_untouched +fail", output, re.M
    )
    assert "2 of 2 faults caught" in output
