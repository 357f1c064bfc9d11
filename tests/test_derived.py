# SPDX-License-Identifier: Apache-2.0
"""What is kept between commands: it holds for exactly what it was made of, and is made where it cannot be kept."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness import derived
from harness.build import ROOT, build
from harness.subject import answers
from harness.subject.facts import Facts


@pytest.fixture
def output(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CLHARNESS_OUTPUT", str(tmp_path))
    monkeypatch.setattr(derived, "_packs", {})
    return tmp_path


def in_a_process(output: Path, code: str) -> str:
    head = "from pathlib import Path\nfrom harness import derived, tomlfile\n"
    return subprocess.run(
        [sys.executable, "-c", head + code],
        env=os.environ | {"PYTHONPATH": str(ROOT), "CLHARNESS_OUTPUT": str(output)},
        check=True,
        capture_output=True,
        text=True,
    ).stdout


MAKE = "print(derived.kept('some', 'name', {digest!r}, lambda: print('made') or {value!r}))"


def test_what_was_made_is_there_in_the_next_process(tmp_path: Path) -> None:
    code = MAKE.format(digest="1", value={"a": [1, "ü", None]})
    first = in_a_process(tmp_path, code)
    assert first.startswith("made\n")
    assert in_a_process(tmp_path, code) == first.removeprefix("made\n")


def test_another_digest_is_something_else(tmp_path: Path) -> None:
    in_a_process(tmp_path, MAKE.format(digest="1", value="old"))
    assert in_a_process(tmp_path, MAKE.format(digest="2", value="new")) == "made\nnew\n"
    assert in_a_process(tmp_path, MAKE.format(digest="2", value="?")) == "new\n"


@pytest.mark.parametrize("spoil", [b"", b"\xff\n", b"no tabs", b"a\tname\t{", bytes(range(156, 256))])
def test_a_damaged_pack_is_none(tmp_path: Path, spoil: bytes) -> None:
    in_a_process(tmp_path, MAKE.format(digest="1", value="old"))
    (tmp_path / "derived" / "some").write_bytes(spoil)
    assert in_a_process(tmp_path, MAKE.format(digest="1", value="new")) == "made\nnew\n"


def test_a_folder_that_cannot_be_written_to_changes_nothing(tmp_path: Path) -> None:
    (tmp_path / "derived").write_text("in the way")
    code = MAKE.format(digest="1", value="one")
    assert in_a_process(tmp_path, code) == in_a_process(tmp_path, code) == "made\none\n"


def test_what_json_cannot_hold_is_made_each_time(output: Path) -> None:
    values = [derived.kept("some", "name", "1", lambda: object()) for _ in range(2)]
    assert values[0] is not values[1]


def test_objects_are_not_shared(output: Path) -> None:
    first = derived.kept("some", "name", "1", lambda: {"list": [1]})
    first["list"].append(2)
    assert derived.kept("some", "name", "1", lambda: {"list": [1]}) == {"list": [1]}


def test_a_forked_process_leaves_its_parents_pack_alone(tmp_path: Path) -> None:
    child = "import os\nif os.fork() == 0:\n    derived.kept('some', 'b', '1', int)\n    raise SystemExit\nos.wait()\n"
    written = "print((derived.folder() / 'some').exists())\n"
    assert in_a_process(tmp_path, f"derived.kept('some', 'a', '1', int)\n{child}{written}") == "False\n"
    assert "\ta\t" in (tmp_path / "derived" / "some").read_text()


def test_a_table_outside_the_project_leaves_nothing(tmp_path: Path) -> None:
    table = tmp_path / "some.toml"
    table.write_text("a = 1\n")
    assert in_a_process(tmp_path, f"print(tomlfile.read(Path({str(table)!r})))") == "{'a': 1}\n"
    assert not (tmp_path / "derived").exists()


def test_a_table_of_the_project_is_what_it_is(tmp_path: Path) -> None:
    code = "import json\nprint(json.dumps(tomlfile.read(Path('harness/requirements/index.toml'))))"
    first = in_a_process(tmp_path, f"import os\nos.chdir({str(ROOT)!r})\n{code}")
    assert (tmp_path / "derived" / "toml-harness-requirements").exists()
    assert in_a_process(tmp_path, f"import os\nos.chdir({str(ROOT)!r})\n{code}") == first
    assert json.loads(first)["group"]


# --- what a loader answered ---


class Asked:
    """A subject, and how often it was asked."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.facts = Facts(str(path), str(path), needed=["libbeside.so"])
        self.variables: dict[str, str] = {}
        self.times = 0

    def ask(self, certain: bool = True) -> dict[str, Any]:
        def answer() -> tuple[dict[str, Any], bool]:
            self.times += 1
            return {"shown": [str(self.times)]}, certain

        return answers.remembered(self, answer)


@pytest.fixture
def asked(output: Path) -> Asked:
    path = output / "libOpenCL.so.1"
    path.write_bytes(b"one")
    return Asked(path)


def test_a_loader_is_asked_once(asked: Asked) -> None:
    assert [asked.ask(), asked.ask()] == [{"shown": ["1"]}] * 2
    assert asked.times == 1


def change_the_file(asked: Asked, monkeypatch: pytest.MonkeyPatch) -> None:
    times = asked.path.stat()
    asked.path.write_bytes(b"two")
    os.utime(asked.path, ns=(times.st_atime_ns, times.st_mtime_ns))


def bring_a_library(asked: Asked, monkeypatch: pytest.MonkeyPatch) -> None:
    (asked.path.parent / "libbeside.so").write_bytes(b"")


def seed_a_fault(asked: Asked, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLHARNESS_FAULT", "some")


def build_the_probe(asked: Asked, monkeypatch: pytest.MonkeyPatch) -> None:
    real = build()
    probe = asked.path.parent / "probe"
    probe.write_bytes(b"")
    values = {**vars(real), "probe": probe}
    monkeypatch.setattr(answers, "build", lambda: type("Build", (), values)())


def give_a_variable(asked: Asked, monkeypatch: pytest.MonkeyPatch) -> None:
    asked.variables = {"MINE": "1"}


@pytest.mark.parametrize("change", [change_the_file, give_a_variable, bring_a_library, seed_a_fault, build_the_probe])
def test_a_loader_is_asked_again_after(
    asked: Asked, monkeypatch: pytest.MonkeyPatch, change: Callable[[Asked, pytest.MonkeyPatch], None]
) -> None:
    asked.ask()
    change(asked, monkeypatch)
    assert asked.ask() == {"shown": ["2"]}


def test_what_a_loader_did_not_answer_is_asked_again(asked: Asked) -> None:
    assert [asked.ask(certain=False), asked.ask(certain=False), asked.ask()] == [{"shown": [n]} for n in "123"]
    assert asked.ask() == {"shown": ["3"]}
