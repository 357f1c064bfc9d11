# SPDX-License-Identifier: Apache-2.0
"""What a release says of itself: one version, one list of dependencies, and a bill of materials that follows both."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib

from harness import __version__
from harness.build import ROOT, build

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())


def test_version_stands_in_one_file() -> None:
    assert re.fullmatch(r"\d+\.\d+\.\d+", __version__)
    assert PROJECT["project"]["dynamic"] == ["version"]
    assert PROJECT["tool"]["scikit-build"]["metadata"]["version"]["input"] == "harness/__init__.py"
    written = re.compile(rf"version\W{{1,6}}{re.escape(__version__)}", re.I)
    named = [ROOT / "CMakeLists.txt", ROOT / "pyproject.toml", *(ROOT / "cmake").rglob("*.*")]
    assert [str(path) for path in named if written.search(path.read_text())] == []


def test_build_has_the_version() -> None:
    assert __version__.encode() in build().reference_loader.read_bytes()


def test_changelog_has_the_version_or_says_unreleased() -> None:
    heads = re.findall(r"^## (.*)$", (ROOT / "CHANGELOG.md").read_text(), re.M)
    assert heads[0] == "Unreleased" or heads[0].startswith(__version__)
    assert any(head.startswith(__version__) for head in heads)


def test_wheel_is_built_with_what_it_runs_with() -> None:
    backend = PROJECT["build-system"]["requires"][0]
    assert backend.startswith("scikit-build-core>=")
    assert PROJECT["build-system"]["requires"][1:] == PROJECT["project"]["dependencies"]


def test_bill_of_materials_lists_every_dependency() -> None:
    done = subprocess.run([sys.executable, ROOT / "ci" / "sbom.py"], capture_output=True, text=True, check=True)
    bill = json.loads(done.stdout)
    assert (bill["bomFormat"], bill["specVersion"]) == ("CycloneDX", "1.5")
    assert bill["metadata"]["component"]["version"] == __version__
    names = {component["name"] for component in bill["components"]}
    wanted = {re.split(r"[<>=]", entry)[0] for entry in PROJECT["project"]["dependencies"]}
    assert len(wanted) >= 7 and names >= wanted | {"OpenCL-Headers"}
    refs = {component["bom-ref"] for component in bill["components"]}
    assert set(bill["dependencies"][0]["dependsOn"]) == refs
