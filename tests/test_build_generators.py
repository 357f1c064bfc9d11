# SPDX-License-Identifier: Apache-2.0
"""The programs that write files of the build: each runs again when anything that it reads has changed."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.build import build
from harness.selftest.mutants.loader import FOLDER, lists

ROOT = Path(__file__).parents[1]
GENERATOR = "harness/setup/generator.py"

# What some generator reads: every file of these names, wherever it lies, and the lists of the loader's faults.
READ = (
    *(str(path.relative_to(ROOT)) for path in lists()),
    *("rules.toml", "calls.toml", "queries.toml", "slots.toml", "index.toml", "supplement.h"),
    *("from_api.py", "generate.py", "headers.py", "seed.py", "families.py", "rules.py"),
    *("symbol_versions.py", "generator.py"),
)


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the repository, so that files can be touched; its path has a blank."""
    root = tmp_path_factory.mktemp("check out")
    for name in ("CMakeLists.txt", "pyproject.toml"):
        shutil.copy2(ROOT / name, root)
    for name in ("cmake", "fuzz", "harness", "mock_icds", "mock_layers", "tests"):
        shutil.copytree(ROOT / name, root / name, ignore=shutil.ignore_patterns("__pycache__"))
    return root


@pytest.fixture(scope="module")
def generated(checkout: Path) -> list[str]:
    """The files that are generated, once they have been; the environment holds another package of our name."""
    if not shutil.which("ninja"):
        pytest.skip("ninja is not installed, and only it can be asked")
    other = checkout.parent / "other"
    (other / "harness").mkdir(parents=True, exist_ok=True)
    (other / "harness" / "__init__.py").write_text("raise SystemExit('the wrong one')\n")
    folder = checkout / "build"
    options = ["-G", "Ninja", f"-DCLHARNESS_PYTHON={sys.executable}"]
    subprocess.run(["cmake", "-S", checkout, "-B", folder, *options], check=True, capture_output=True)
    rules = ["ninja", "-C", str(folder), "-t", "targets", "rule", "CUSTOM_COMMAND"]
    names = subprocess.run(rules, check=True, capture_output=True, text=True).stdout.splitlines()
    files = [name for name in names if name.endswith((".c", ".h", ".json", ".map"))]
    assert "harness/api/api.json" in files
    environment = os.environ | {"PYTHONPATH": str(other)}
    subprocess.run(["ninja", "-C", folder, *files], check=True, capture_output=True, env=environment)
    return files


def work(checkout: Path, files: list[str]) -> bool:
    """Whether the build tool would make any of the files again."""
    done = subprocess.run(["ninja", "-C", checkout / "build", "-n", *files], check=True, capture_output=True, text=True)
    return "no work to do" not in done.stdout


def touched(checkout: Path, name: str) -> Iterator[Path]:
    """Each file of a name, outside the build, while it is newer than anything built; those for Vulkan only where its
    registry is installed."""
    for path in sorted(checkout.rglob(name)):
        used = build().vulkan is not None or "vulkan" not in path.relative_to(checkout).parts
        if used and not path.is_relative_to(checkout / "build"):
            before = path.stat()
            newest = (checkout / "build" / ".ninja_log").stat().st_mtime_ns + 10**10
            os.utime(path, ns=(newest, newest))
            yield path
            os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def test_nothing_is_generated_twice(checkout: Path, generated: list[str]) -> None:
    """Also: the build tool can be asked, which a glob with CONFIGURE_DEPENDS would make impossible."""
    assert not work(checkout, generated)
    for unread in touched(checkout, "expectations/*.toml"):
        assert not work(checkout, generated), f"{unread} is read by no generator"


def test_no_build_has_work_each_time_that_it_is_asked() -> None:
    """A glob with CONFIGURE_DEPENDS is work for Ninja, always: no second command would find its build current."""
    files = [ROOT / "CMakeLists.txt", *ROOT.glob("cmake/*.cmake")]
    for folder in ("fuzz", "harness", "mock_icds", "mock_layers", "tests"):
        files += (ROOT / folder).rglob("CMakeLists.txt")
    globs = [path.name for path in files if re.search(r"GLOB(_RECURSE)?\s+\w+\s+CONFIGURE_DEPENDS", path.read_text())]
    assert globs == []


def test_library_in_a_path_with_a_blank_is_linked_once(checkout: Path, generated: list[str]) -> None:
    """What linkers write for Ninja about a script that they read is cut at the blank (CMake 3.27 to 4.0)."""
    build_it = ["ninja", "-C", str(checkout / "build"), "clharness_reference_loader"]
    subprocess.run(build_it, check=True, capture_output=True)
    again = subprocess.run([*build_it, "-n", "-d", "explain"], check=True, capture_output=True, text=True)
    assert "no work to do" in again.stdout, again.stdout + again.stderr


@pytest.mark.parametrize("name", READ)
def test_what_a_generator_reads_is_a_dependency(checkout: Path, generated: list[str], name: str) -> None:
    noticed = [work(checkout, generated) for _ in touched(checkout, name)]
    assert noticed and all(noticed)


def test_a_new_list_of_faults_is_noticed(checkout: Path, generated: list[str]) -> None:
    new = checkout / FOLDER.relative_to(ROOT) / "new.toml"
    before = new.parent.stat()
    new.touch()
    assert work(checkout, generated)
    new.unlink()
    os.utime(new.parent, ns=(before.st_atime_ns, before.st_mtime_ns))  # it is read, too: other tests find it as it was


def test_modules_of_the_users_pythonpath_can_be_imported(tmp_path: Path) -> None:
    """And what is read is listed as make understands it; what lies outside the repository is not."""
    modules = tmp_path / "modules"
    modules.mkdir()
    (modules / "users_own.py").write_text("TEXT = 'found'\n")
    (modules / "program.py").write_text(
        "import sys, users_own\nfrom pathlib import Path\nfrom harness.errors import Exit\n"
        "Path(sys.argv[1]).write_text(users_own.TEXT)\n"
    )
    output, depfile = tmp_path / "out put", tmp_path / "depfile"

    command = [sys.executable, "-P", str(ROOT / GENERATOR), str(depfile), str(output), "program", str(output)]
    subprocess.run(command, check=True, cwd=tmp_path, env={"PYTHONPATH": "modules"})

    assert output.read_text() == "found"
    target, _, read = depfile.read_text().partition(": ")
    assert target == str(output).replace(" ", "\\ ")
    assert f"{ROOT}/harness/errors.py".replace(" ", "\\ ") in re.split(r"(?<!\\) ", read.strip())
    assert str(modules) not in read
