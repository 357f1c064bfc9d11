# SPDX-License-Identifier: Apache-2.0
"""`clharness layer` on the example layers, on a mock layer with handles of its own, and on what is not a layer."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest

from harness.build import ROOT, build
from harness.cli.main import main
from harness.sandbox import Sandbox
from harness.selftest.mutants.layer import layer_mutants
from tests.forked import clharness

NEEDY = """\
#include <stdlib.h>
__attribute__((constructor)) static void need(void)
{
    if (!getenv("MINE")) {
        abort();
    }
}
"""
QUICK = "not transparency or clCreateBuffer or clEnqueueNDRangeKernel or application"


@pytest.fixture
def sandbox() -> Iterator[Sandbox]:
    box = Sandbox()
    yield box
    box.close()


def example(name: str) -> Path:
    return build().folder / "mock_layers" / "examples" / f"lib{name}_layer.so"


def layer(*arguments: object) -> subprocess.CompletedProcess[str]:
    return clharness("layer", *arguments, COLUMNS="200")


def test_print_example_is_green(tmp_path: Path) -> None:
    """The report is of the loader's form, and its heads name the layer."""
    records, junit = tmp_path / "run.jsonl", tmp_path / "run.xml"
    done = layer(example("print"), "-k", QUICK, "-j", 1, "--json", records, "--junit", junit)
    assert done.returncode == 0, done.stdout + done.stderr
    first, second, *_, last = done.stdout.splitlines()
    assert "layer print example" in first and second.startswith(f"  layer        {example('print')}")
    assert re.match(r"layer print example: as expected, \d{3} cases", last)
    head = json.loads(records.read_text().splitlines()[0])
    assert head["subject"]["facts"]["name"] == "print example"
    assert head["subject"]["facts"]["functions"] == ["clGetLayerInfo", "clInitLayer", "clInitLayerWithProperties"]
    assert head["used_with"][0]["facts"]["path"] == str(build().reference_loader)
    properties = {p.get("name"): p.get("value") for p in ElementTree.parse(junit).iter("property")}
    assert properties["layer.name"] == "print example"


def test_every_mistake_of_the_faulty_example_is_named(tmp_path: Path) -> None:
    """The checks in the table of the examples' README are red, and they are the only ones besides what follows."""
    records = tmp_path / "run.jsonl"
    done = layer(example("faulty"), "-k", QUICK, "-j", 1, "--json", records)
    assert done.returncode == 1, done.stdout + done.stderr
    cases = [json.loads(line) for line in records.read_text().splitlines()]
    red = {c["case"].rpartition("::")[2] for c in cases if c["record"] == "case" and c["status"] == "unexpected"}
    readme = (ROOT / "mock_layers" / "examples" / "README.md").read_text()
    named = set(re.findall(r"`(test_[^`]+)`", readme))
    assert len(named) == 9
    for name in named:
        assert any(case == name or case.startswith(f"{name}[") for case in red), name
    collateral = (
        "test_call_through_a_loader_passes_the_chain_once",
        "test_application_sees_no_difference",
        "test_proper_call_is_the_same_through_the_layer",
        "test_null_for_target_or_output_is_invalid_value",
        "test_table_for_a_shorter_target_is_no_longer",
    )
    assert not {case for case in red if not case.startswith((*named, *collateral))}


def test_layer_with_handles_of_its_own_is_green(sandbox: Sandbox) -> None:
    """Handles that a layer hands out in the place of the vendors' are not a difference that anybody sees."""
    mock = sandbox.layer("wraps", faults=["wraps_handles"])
    done = layer(mock.path, "-k", "clFlush or clCreateBuffer or clWaitForEvents or application", "-j", 1)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "handles of its own" in done.stdout


def test_changes_are_declared(sandbox: Sandbox) -> None:
    """A change is red, and what the layer declares to change is not."""
    mock = sandbox.layer("changes", functions={"changes_result": ["clFlush"]})
    selection = ("-k", "clFlush or clFinish", "-j", 1)
    assert layer(mock.path, *selection).returncode == 1
    done = layer(mock.path, *selection, "--changes", "clFlush")
    assert done.returncode == 0, done.stdout + done.stderr
    assert layer(mock.path, *selection, "--changes", "clFlash").returncode == 2


def test_layer_is_used_through_further_loaders(sandbox: Sandbox) -> None:
    mock = sandbox.layer("plain")
    again = sandbox.root / "libOpenCL-again.so"
    again.symlink_to(build().reference_loader)
    done = layer(mock.path, "-k", "test_process_that_used", "-j", 1, "--loader", again)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "6 cases" in done.stdout


def test_variables_of_the_layer_are_in_every_process_that_has_it(tmp_path: Path) -> None:
    """Without a loader, through one, and in either scheme: without its variable this one ends the process."""
    needy, library = tmp_path / "needy.c", tmp_path / "libneedy_layer.so"
    needy.write_text(NEEDY)
    sources = [needy, ROOT / "mock_layers" / "examples" / "print_layer.c"]
    subprocess.run([build().compiler, "-shared", "-fPIC", "-w", *sources, "-o", library], check=True)
    chosen = "ends_normally or initialised_and_deinitialised or clFinish or application"
    done = layer(library, "--env", "MINE=1", "-k", chosen)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("path", "says"),
    [
        ("missing.so", "no such file"),
        ("README.md", "not a shared library"),
        (str(ROOT), "is a folder"),
    ],
)
def test_what_is_no_layer_is_said(path: str, says: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["layer", path]) == 2
    assert says in capsys.readouterr().err


def test_library_without_any_function_of_a_layer_is_said(sandbox: Sandbox) -> None:
    nothing = sandbox.layer("nothing", variant="layer_without_info_init_init_with_properties_deinit")
    done = layer(nothing.path, "-j", 1)
    assert done.returncode == 2
    assert "is not an OpenCL layer" in done.stderr


def test_library_of_another_kind_names_its_command(sandbox: Sandbox) -> None:
    vendor = sandbox.icd("a").path
    done = layer(vendor, "-j", 1)
    assert done.returncode == 2
    assert f"{vendor} is an OpenCL ICD, not an OpenCL layer: clharness icd {vendor} tests it" in done.stderr


def test_checks_of_a_layer_are_not_in_a_run_of_a_loader() -> None:
    """One collection holds checks of one subject."""
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "suites/layers", "--clharness-part"]
    of_a_loader = subprocess.run(command, cwd=ROOT, capture_output=True, text=True).stdout
    of_a_layer = subprocess.run(
        [*command, f"--layer={example('print')}"], cwd=ROOT, capture_output=True, text=True
    ).stdout
    assert "suites/layers/test_" in of_a_loader and "layers/layer/" not in of_a_loader
    assert "suites/layers/layer/test_" in of_a_layer and "suites/layers/test_" not in of_a_layer


def test_faults_of_layers_are_listed() -> None:
    """Each has its sentence and its requirement; those of single functions are there for each of them."""
    mutants = layer_mutants()
    assert len(mutants) > 500
    assert all(one.mutant.sentence and one.mutant.requirements for one in mutants.values())
    assert {"swallows_clFlush", "calls_neighbour_clFinish", "ignores_num_entries"} <= set(mutants)


def test_selftest_of_layers(capsys: pytest.CaptureFixture[str]) -> None:
    """A fault of a mock layer is caught by the check that it names; .ci/run tries faults on all of their checks."""
    checks = ["-k", "test_layer_name or clFlush"]
    assert main(["selftest", "--layer", "--fault", "name_without_end", "swallows_clFlush", *checks, "-j", "1"]) == 0
    output = capsys.readouterr().out
    assert re.search(r"^name_without_end +test_layer_name_ends_with_its_only_zero_byte +fail", output, re.M)
    assert "2 of 2 faults caught" in output
