# SPDX-License-Identifier: Apache-2.0
"""ci/subjects: the list of the loaders and drivers that packages and tags give, and how one of them is fetched."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from harness.build import ROOT

SUBJECTS = ROOT / "ci" / "subjects"
KHRONOS = "https://github.com/KhronosGroup"


def subjects(*arguments: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [SUBJECTS, *arguments],
        env=os.environ | {"CLHARNESS_SUBJECTS": str(folder)} | environment,
        capture_output=True,
        text=True,
        timeout=300,
    )


def test_each_subject_has_its_own_name_a_system_and_a_file(tmp_path: Path) -> None:
    listed = subjects("list", folder=tmp_path)
    assert (listed.returncode, listed.stderr) == (0, "")
    rows = [line.split(" ") for line in listed.stdout.splitlines()]
    names = [row[0] for row in rows]
    assert len(names) == len(set(names)) > 30
    for name, system, archive, kind, file, *variables in rows:
        assert system in ("here", "trixie", "sid") and kind in ("loader", "icd") and file.startswith("/usr/"), name
        assert archive in ("source", "pypi") or archive.startswith(("bullseye", "bookworm", "trixie", "sid")), name
        assert [text for text in variables if "=" not in text] == [], name
    loaders = [name for name, _, archive, kind, *_ in rows if kind == "loader" and not name.startswith("vulkan-")]
    assert {name.rsplit("-", 1)[0] for name in loaders} == {"ocl-icd", "khronos", "cuda"} and len(loaders) > 12
    drivers = {name.rsplit("-", 1)[0] for name, *_, kind, _file in (row[:5] for row in rows) if kind == "icd"}
    assert drivers == {"pocl", "rusticl", "clover", "oclgrind", "intel", "lavapipe"}


@pytest.mark.parametrize("arguments", [["fetch", "none"], ["run", "none"], ["unknown"]], ids=" ".join)
def test_unknown_words_are_refused_in_one_sentence(arguments: list[str], tmp_path: Path) -> None:
    refused = subjects(*arguments, folder=tmp_path)
    assert refused.returncode == 3
    assert len(refused.stderr.splitlines()) == 1 and arguments[-1] in refused.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["results"]


def repository(folder: Path, **files: str) -> str:
    """A git repository with the tag v2025.07.22; its URL."""
    if not shutil.which("git"):
        pytest.skip("git is not installed")
    folder.mkdir(parents=True)
    for name, text in files.items():
        (folder / name.replace("_txt", ".txt").replace("_c", ".c")).write_text(text)
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-C", str(folder)]
    for command in (["init", "-q"], ["add", "."], ["commit", "-qm", "a"], ["tag", "v2025.07.22"]):
        subprocess.run([*git, *command], check=True, stdin=subprocess.DEVNULL)
    return folder.as_uri()


def test_loader_of_a_tag_is_built_with_the_headers_of_that_tag(tmp_path: Path) -> None:
    lists = (
        "cmake_minimum_required(VERSION 3.16)\nproject(a C)\nadd_library(OpenCL SHARED a.c)\n"
        "target_include_directories(OpenCL PRIVATE ${OPENCL_ICD_LOADER_HEADERS_DIR})\n"
        "set_target_properties(OpenCL PROPERTIES SOVERSION 1)\n"
    )
    headers = repository(tmp_path / "of headers", README_txt="headers of the tag")
    source = '#if !__has_include("README.txt")\n#error other headers\n#endif\nint answer;\n'
    loader = repository(tmp_path / "of loader", CMakeLists_txt=lists, a_c=source)
    instead = {"GIT_CONFIG_COUNT": "2"}
    for index, (name, url) in enumerate({"OpenCL-Headers": headers, "OpenCL-ICD-Loader": loader}.items()):
        instead |= {f"GIT_CONFIG_KEY_{index}": f"url.{url}.insteadOf", f"GIT_CONFIG_VALUE_{index}": f"{KHRONOS}/{name}"}

    fetched = subjects("fetch", "khronos-2025.07.22", folder=tmp_path / "place", **instead)

    assert fetched.returncode == 0, fetched.stderr
    library = tmp_path / "place" / "khronos-2025.07.22" / "files" / "usr" / "lib" / "khronos" / "libOpenCL.so.1"
    assert library.read_bytes()[:4] == b"\x7fELF" and not library.is_symlink()


def test_subject_that_cannot_be_had_fails_the_run_and_leaves_nothing(tmp_path: Path) -> None:
    empty = repository(tmp_path / "empty", README_txt="no such tag")
    instead = {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": f"url.{empty}.insteadOf", "GIT_CONFIG_VALUE_0": KHRONOS}
    missing = subjects("fetch", "khronos-2026.05.29", folder=tmp_path / "place", **instead)
    assert missing.returncode == 1 and "could not clone OpenCL-Headers v2026.05.29" in missing.stderr
    assert not (tmp_path / "place" / "khronos-2026.05.29").exists()
