# SPDX-License-Identifier: Apache-2.0
"""`clharness icd` on mock Vulkan drivers, by manifest and by library, and on manifests that are wrong."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.build import build
from harness.cli.main import main
from harness.errors import UsageError
from harness.sandbox.vulkan import VulkanSandbox
from harness.selftest.mutants.vulkan_driver import vulkan_driver_mutants
from harness.subject.vulkan_driver import VulkanDriver
from harness.subject.vulkan_manifest import read_manifest
from tests.forked import clharness

if build().vulkan is None:
    pytest.skip("the build has no Vulkan", allow_module_level=True)

ICD: dict[str, Any] = {"library_path": "./libdriver.so", "api_version": "1.1.0"}


@pytest.fixture
def sandbox() -> Iterator[VulkanSandbox]:
    box = VulkanSandbox()
    yield box
    box.close()


def run_icd(*arguments: object) -> subprocess.CompletedProcess[str]:
    return clharness("icd", *arguments, "-j", "1", COLUMNS="200")


@pytest.mark.parametrize("by", ["manifest", "library"])
def test_correct_driver_is_green(sandbox: VulkanSandbox, tmp_path: Path, by: str) -> None:
    """Named by either; checks of a manifest are unsupported where there is none."""
    driver = sandbox.driver("mine", faults=["create_instance_refuses_extensions"], api_version="1.2.7")
    records = tmp_path / "run.jsonl"
    named = sandbox.shown[0] if by == "manifest" else driver.path
    done = run_icd(named, "--json", records, "-k", "manifest or negotiation or listed")
    assert done.returncode == 0, done.stdout + done.stderr
    head, *lines = map(json.loads, records.read_text().splitlines())
    facts = head["subject"]["facts"]
    assert (head["subject"]["kind"], facts["path"]) == ("vulkan_driver", str(named))
    assert (facts["vulkan_version"], facts["interface"]) == ("1.2.7", 5)
    of_manifests = {line["verdict"] for line in lines if "_driver_manifest.py" in line.get("case", "")}
    assert of_manifests == ({"pass"} if by == "manifest" else {"unsupported"})


def test_driver_of_vulkan_1_0_may_refuse_later_versions(sandbox: VulkanSandbox, tmp_path: Path) -> None:
    """Its handles, objects, lists and functions are asked for by instances of Vulkan 1.0: no such check is red."""
    faults = ["create_instance_refuses_versions", "create_instance_refuses_extensions"]
    lacks = ["vkEnumerateInstanceVersion", "vkEnumeratePhysicalDeviceGroups", "vkGetDeviceQueue2"]
    sandbox.driver("old", faults=faults, api_version="1.0.0", interface=4, functions={"lacks": lacks})
    records = tmp_path / "run.jsonl"
    done = run_icd(
        sandbox.shown[0], "--json", records, "-k", "driver_handles or driver_objects or driver_lists or own_version"
    )
    assert done.returncode == 0, done.stdout + done.stderr
    cases = [line for line in map(json.loads, records.read_text().splitlines()) if line["record"] == "case"]
    assert sum(case["verdict"] == "pass" for case in cases) > len(cases) // 2 > 5


def test_faulty_driver_is_red(sandbox: VulkanSandbox) -> None:
    """The report names the manifest that reproduces the case."""
    sandbox.driver("mine", faults=["queue_without_magic"])
    done = run_icd(sandbox.shown[0], "-k", "magic")
    assert done.returncode == 1
    assert "VK-OBJ-002 (must)" in done.stdout and "[queue]" in done.stdout
    assert f"./clharness icd {sandbox.shown[0]}" in done.stdout


@pytest.mark.parametrize("fault", ["negotiation_fails=-3", "create_instance_fails=-3"])
def test_driver_that_makes_no_instance_is_one_red_case(sandbox: VulkanSandbox, tmp_path: Path, fault: str) -> None:
    """What all others need is missing: they wait for it, with that as their reason."""
    sandbox.driver("mine", faults=[fault])
    records = tmp_path / "run.jsonl"
    done = run_icd(sandbox.shown[0], "--json", records, "-k", "gate or driver_instances or magic")
    assert done.returncode == 1, done.stdout + done.stderr
    cases = [line for line in map(json.loads, records.read_text().splitlines()) if line["record"] == "case"]
    red = [case["case"].rpartition("::")[2] for case in cases if case["status"] == "unexpected"]
    assert red == ["test_driver_negotiates_and_makes_an_instance"]
    waiting = [case for case in cases if (case["reason"] or "").startswith("precondition failed: ")]
    assert len(waiting) > len(cases) // 2 > 5


def test_what_is_for_opencl_is_refused_with_a_driver(
    sandbox: VulkanSandbox, capsys: pytest.CaptureFixture[str]
) -> None:
    sandbox.driver("mine")
    assert main(["icd", str(sandbox.shown[0]), "--loader", str(build().reference_loader)]) == 2
    assert "is a Vulkan driver, which is tested without a loader: leave --loader out" in capsys.readouterr().err
    assert main(["icd", str(sandbox.shown[0]), "--reproducers", str(sandbox.root / "new")]) == 2
    assert "--reproducers writes programs of OpenCL: leave it out" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (
            '{"ICD": {',
            r"is not JSON: line 1, column 10: Expecting property name .*; a manifest of a Vulkan driver reads",
        ),
        ("", "is not JSON: line 1, column 1"),
        (b"\xff\xfe{", "is not JSON: "),
        ("[" * 100_000, "is not JSON: "),
        ("[]", "holds an array, not an object"),
        ("{}", 'has no "ICD"'),
        ('{"ICD": []}', 'has an array as "ICD", not an object'),
        ('{"ICD": {}}', 'has no "library_path" in "ICD"'),
        ('{"ICD": {"library_path": 1}}', 'has a number as "library_path"'),
        ('{"ICD": {"library_path": ""}}', 'has the "library_path" ""'),
        ('{"ICD": {"library_path": "./no.so"}}', r"names \./no\.so .*: there is no file /.*/no\.so; build or install"),
        ('{"ICD": {"library_path": "no.so"}}', "a name that the dynamic linker looks for, which is in none of /"),
        ('{"layer": {}}', "is the manifest of a Vulkan layer, not of a driver: not supported yet"),
    ],
)
def test_wrong_manifest_is_refused_in_a_sentence(
    tmp_path: Path, content: str | bytes, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """What is wrong, where, and what to do; the command says the same."""
    path = tmp_path / "driver.json"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(UsageError, match=words):
        read_manifest(path)
    assert main(["icd", str(path)]) == 2
    assert str(path) in capsys.readouterr().err


def test_library_path_has_three_forms(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Relative to the manifest, wherever one is; absolute; and a name that the linker looks for."""
    folder = tmp_path / "lib"
    folder.mkdir()
    (folder / "libdriver.so").write_bytes(build().with_vulkan().drivers["driver"].read_bytes())
    manifest = tmp_path / "driver.json"
    monkeypatch.setenv("LD_LIBRARY_PATH", str(folder))
    for name in ("lib/libdriver.so", str(folder / "libdriver.so"), "libdriver.so"):
        manifest.write_text(json.dumps({"ICD": ICD | {"library_path": name}}))
        driver = VulkanDriver(manifest)
        assert driver.path == folder / "libdriver.so"
        assert driver.named == manifest


def test_selftest_of_drivers_catches_its_mutants(capsys: pytest.CaptureFixture[str]) -> None:
    """A mutant of the library, one of the manifest, and one of what calls do."""
    chosen = ["calls_a_loader", "manifest_of_unknown_format", "device_list_never_incomplete"]
    assert set(chosen) < set(vulkan_driver_mutants())
    assert main(["selftest", "--vulkan-driver", "--fault", *chosen, "-j", "1"]) == 0
    assert "3 of 3 faults caught" in capsys.readouterr().out
