# SPDX-License-Identifier: Apache-2.0
"""Which loader is tested where none is named: the system's, and the reference loader on a machine that has none."""

from __future__ import annotations

import argparse
import json
import shlex
import subprocess
from pathlib import Path
from xml.etree import ElementTree

import pytest

from harness.build import ROOT, build
from harness.cli import loader
from harness.subject import search

NOTE = "there is no libOpenCL.so.1 on this machine: this run tests clharness's own reference loader"
REFERENCE = "clharness reference loader"
CASE = "test_library_path_without_final_newline and not linked"


def options(*arguments: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    loader.add_arguments(parser)
    return parser.parse_args(arguments)


@pytest.fixture
def without_a_loader(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine that has no OpenCL loader."""
    monkeypatch.setattr(loader, "system_loader", lambda: None)


def test_reference_loader_is_the_default(
    without_a_loader: None, tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Terminal, JSON and JUnit all say that the reference loader was tested."""
    monkeypatch.setattr("sys.argv", ["clharness", "loader"])
    records, junit = tmp_path / "run.jsonl", tmp_path / "run.xml"

    code = loader.run(options("-k", CASE, "-j", "1", "--json", str(records), "--junit", str(junit)))

    output = capfd.readouterr().out
    assert code == 0, output
    first, second, third = output.splitlines()[:3]
    assert first == f"clharness: {NOTE}"
    assert REFERENCE in second and str(build().reference_loader) in third
    assert output.splitlines()[-1].startswith(REFERENCE)
    header = json.loads(records.read_text().splitlines()[0])
    assert header["subject"]["facts"]["name"] == REFERENCE
    assert header["subject"]["facts"]["path"] == str(build().reference_loader)
    properties = {p.get("name"): p.get("value") for p in ElementTree.parse(junit).iter("property")}
    assert properties["loader.name"] == REFERENCE
    assert properties["loader.path"] == str(build().reference_loader)


def test_system_loader_is_taken_where_there_is_one(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(loader, "system_loader", lambda: Path("/usr/lib/libOpenCL.so.1"))

    arguments = loader.loader_option(None)

    assert not any(argument.startswith("--loader") for argument in arguments)
    assert capsys.readouterr().out == ""


def test_named_loader_is_taken_where_there_is_no_other(
    without_a_loader: None, capsys: pytest.CaptureFixture[str]
) -> None:
    named = build().reference_loader
    assert f"--loader={named}" in loader.loader_option(str(named))
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("there_is_one", [False, True], ids=["none", "one"])
def test_search_without_a_linker_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, there_is_one: bool) -> None:
    """A linker cache that lists no loader, and folders with one and without."""
    nothing = subprocess.CompletedProcess[str]([], 0, stdout="0 libs found in cache\n", stderr="")
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: nothing)
    monkeypatch.setattr(search, "FOLDERS", (str(tmp_path),))
    if there_is_one:
        (tmp_path / search.SONAME).touch()

    assert search.system_loader() == (tmp_path / search.SONAME if there_is_one else None)


@pytest.mark.parametrize(
    ("needs", "loader_is_there", "missing"),
    [("build", False, False), ("tests", False, True), ("tests", True, False)],
    ids=["loader-command", "own-tests", "own-tests-with-a-loader"],
)
def test_set_up_installs_no_loader_for_a_user(tmp_path: Path, needs: str, loader_is_there: bool, missing: bool) -> None:
    """What the set-up finds missing on a machine without a loader: it only counts for the project's own tests."""
    script = f"""
        root={shlex.quote(str(ROOT))} build={shlex.quote(str(tmp_path))}
        source "$root/harness/setup/machine.sh"
        has_system_loader() {{ {"true" if loader_is_there else "false"}; }}
        look_around {needs}
        echo "missing: ${{missing[*]}}"
    """
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True)

    assert done.stdout.startswith("missing:")
    assert ("loader" in done.stdout.split()) == missing


def test_loader_that_cannot_be_loaded_is_said_at_once(tmp_path: Path) -> None:
    """One that needs a library that is nowhere, such as one of a newer system: no case is run on it."""
    needed, library = tmp_path / "libneeded.so", tmp_path / "libOpenCL.so.1"
    source = tmp_path / "loader.c"
    source.write_text("int clGetPlatformIDs(void); int clGetPlatformIDs(void) { return 0; }\n")
    subprocess.run(["cc", "-shared", "-fPIC", "-o", needed, source], check=True)
    link: list[str | Path] = ["-Wl,--no-as-needed", needed, "-Wl,-soname,libOpenCL.so.1"]
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source, *link], check=True)
    sound = subprocess.run([ROOT / "clharness", "loader", library, "-k", "none_is_called_so"], capture_output=True)
    needed.unlink()

    done = subprocess.run([ROOT / "clharness", "loader", library, "-k", CASE], capture_output=True, text=True)

    assert sound.returncode == 4
    assert done.returncode == 2
    assert f"{library} cannot be loaded: " in done.stderr and "libneeded.so" in done.stderr
