# SPDX-License-Identifier: Apache-2.0
"""The lists of settings: what is in them, what is refused, and that the mocks know each of them."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.build import ROOT
from harness.errors import UsageError
from harness.sandbox import Sandbox
from harness.sandbox.faults import FOLDERS, Kind
from harness.sandbox.settings import Scope, Setting, Value, settings
from harness.sandbox.vulkan import VulkanSandbox

LISTS: list[tuple[Kind, Scope]] = [
    *(("icd", "mock"), ("icd", "platform"), ("icd", "function")),
    ("layer", "function"),
    *(("vulkan", "mock"), ("vulkan", "function")),
]


@pytest.fixture
def sandbox() -> Iterator[VulkanSandbox]:
    box = VulkanSandbox()
    yield box
    box.close()


def load(library: Path) -> str:
    """Loads a library in a process of its own; gives what it complains about."""
    program = "import ctypes, sys; ctypes.CDLL(sys.argv[1])"
    done = subprocess.run([sys.executable, "-c", program, library], capture_output=True, text=True, timeout=30)
    return done.stderr if done.returncode else ""


@pytest.mark.parametrize("kind", ["icd", "layer", "vulkan"])
def test_every_setting_is_read_with_its_sentence(kind: Kind) -> None:
    source = (ROOT / FOLDERS[kind] / "settings.h").read_text()
    names = re.findall(r"^\w*SETTING\((\w+),", re.sub(r"^#.*", "", source, flags=re.M), re.M)
    listed = [setting for k, scope in LISTS if k == kind for setting in settings(k, scope).values()]
    assert names
    assert sorted(setting.name for setting in listed) == sorted(names)
    for setting in listed:
        assert re.fullmatch(r"[A-Z].*\.", setting.sentence), f"{setting.name} needs a sentence: {setting.sentence!r}"
        assert "*" not in setting.sentence
        assert setting.type in ("flag", "number", "text", "path", "platforms")


def value_of(setting: Setting) -> Value:
    values: dict[str, Value] = {"flag": True, "number": 1, "text": 'a "text", with \\ and ü'}
    return values[setting.type]


def words_of(kind: Kind, setting: Setting, sandbox: Sandbox) -> list[str]:
    if kind == "vulkan":
        return ["vkCmdDraw", "all"]
    more = {"path": [f"clFlush {sandbox.root}/fifo"], "platforms": ["all", "clFinish 63"]}
    return more.get(setting.type, ["clFlush", "all"])


@pytest.mark.parametrize(("kind", "scope"), LISTS)
def test_the_mocks_know_every_setting(kind: Kind, scope: Scope, sandbox: VulkanSandbox) -> None:
    for setting in settings(kind, scope).values():
        if scope == "function":
            make: Any = {"icd": sandbox.icd, "layer": sandbox.layer, "vulkan": sandbox.library}[kind]
            mock = make(setting.name, functions={setting.name: words_of(kind, setting, sandbox)})
        elif scope == "platform":
            mock = sandbox.icd(setting.name, per_platform=[{setting.name: value_of(setting)}])
        else:
            values: dict[str, Any] = {setting.name: value_of(setting)}
            mock = (sandbox.library if kind == "vulkan" else sandbox.icd)(setting.name, **values)
        assert re.search(rf"^(platform\.0\.)?{setting.name} = ", Path(f"{mock.path}.conf").read_text(), re.M)
        assert load(mock.path) == "", setting.name


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("gpu = 1", "unknown setting 'gpu'"),
        ("gpus = 1", "unknown setting 'gpus'"),  # of platforms only
        ("platform.64.gpus = 1", "unknown setting 'platform.64.gpus'"),
        ("platform.0.gpus = two", "'gpus' needs a whole number from 0"),
        ("platform.0.gpus = -1", "'gpus' needs a whole number from 0"),
        ("platform.0.gpus = ", "'gpus' needs a whole number from 0"),
        ("icd2 = yes", "'icd2' needs a whole number from 0 to 1"),
        ("icd2 = 2", "'icd2' needs a whole number from 0 to 1"),
        ("lacks = clFlus", "unknown function 'clFlus'"),
        ("lacks = clFlush 64", "'lacks' needs a whole number from 0 to 63"),
        ("answers = clFlush 1", "a word too much for the setting 'answers'"),
        ("waits_at = clFlush", "no path for the setting 'waits_at'"),
    ],
)
def test_a_mock_refuses_what_it_cannot_read(line: str, says: str, sandbox: Sandbox) -> None:
    mock = sandbox.icd("a")
    assert load(mock.path) == ""
    Path(f"{mock.path}.conf").write_text(f"{line}\n")
    assert says in load(mock.path)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"icd": True}, "did you mean 'icd2'?"),
        ({"sufix": "A"}, "did you mean 'suffix'?"),
        ({"icd2": 1}, "'icd2' needs true or false, not 1"),
        ({"table": "long"}, "'table' needs a whole number from 0, not 'long'"),
        ({"table": -1}, "'table' needs a whole number from 0, not -1"),
        ({"gpus": True}, "'gpus' needs a whole number from 0, not True"),
        ({"suffix": 7}, "'suffix' needs a string, not 7"),
        ({"per_platform": [{"unloadable": "yes"}]}, "'unloadable' needs true or false, not 'yes'"),
        ({"per_platform": [{"icd2": True}]}, "platforms of the mock ICD have no setting 'icd2'"),
        ({"functions": {"answer": ["clFlush"]}}, "did you mean 'answers'?"),
        ({"functions": {"answer": []}}, "did you mean 'answers'?"),
        ({"functions": {"only": ["clFlush"]}}, "functions of the mock ICD have no setting 'only'"),
        ({"functions": {"answers": ["clFlush 1"]}}, "'answers' needs a function and nothing else"),
        ({"functions": {"waits_at": ["clFlush"]}}, "'waits_at' needs a function and a path"),
        ({"functions": {"lacks": ["clFlush first"]}}, "'lacks' needs a function, or a function and a platform"),
        ({"functions": {"lacks": ["clFlush 64"]}}, "'lacks' needs a function, or a function and a platform"),
    ],
    ids=str,
)
def test_a_wrong_setting_is_refused_in_a_sentence(given: dict[str, object], says: str, sandbox: Sandbox) -> None:
    with pytest.raises(UsageError, match=re.escape(says)):
        sandbox.vendor("a", **given)


def test_settings_of_layers_are_their_own(sandbox: Sandbox) -> None:
    with pytest.raises(UsageError, match="functions of the mock layer have no setting 'answers'"):
        sandbox.layer("a", functions={"answers": ["clFlush"]})
