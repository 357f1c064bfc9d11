# SPDX-License-Identifier: Apache-2.0
"""The state of a loader is put back before each input: what it shows does not depend on the inputs before."""

from __future__ import annotations

import os
import random
import subprocess
from pathlib import Path

import pytest

from harness.build import build
from harness.fuzz import builds
from harness.fuzz.target_process import environment

WHOLE = bool(os.environ.get("CLHARNESS_WHOLE_TESTS"))
OTHERS = 10_000 if WHOLE else 1_000  # inputs before, at least
RANDOM_INPUTS = 300 if WHOLE else 100
GROWTH = 1024 if WHOLE else 512  # KiB that the process may grow by over all of them: output buffers alone

SLOWER = {"limits": 30}  # an input of which makes a thousand vendors: so many times fewer
TARGETS = [name for name in builds.targets() if name != builds.OF_ICD]


@pytest.fixture
def inputs(target: str, tmp_path: Path) -> Path:
    """The seeds of a target, and inputs by chance: always the same ones."""
    folder, chance = tmp_path / "inputs", random.Random(6)
    folder.mkdir()
    for number in range(RANDOM_INPUTS // SLOWER.get(target, 1)):
        (folder / f"random{number:03}").write_bytes(chance.randbytes(chance.randrange(1, 200)))
    for seed in builds.seeds(target).iterdir() if builds.seeds(target).is_dir() else ():
        (folder / seed.name).write_bytes(seed.read_bytes())
    return folder


def replay(target: str, *arguments: object) -> tuple[list[str], int]:
    """The lines with digests, and the most memory that the process had, in KiB."""
    program = build().folder / "fuzz" / f"replay_{target}"
    own = build().with_vulkan().reference_loader if builds.is_of_vulkan(target) else build().reference_loader
    command = [str(program), "--loader", str(own), "--digest", *map(str, arguments)]
    process = subprocess.Popen(command, env=environment({}), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    output, errors = process.stdout, process.stderr
    assert output and errors
    lines, warnings = output.read().splitlines(), errors.read()
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, f"{command[:4]}: {warnings[-2000:]}"
    return lines[:-1], used.ru_maxrss


@pytest.mark.parametrize("target", TARGETS)
def test_inputs_leave_nothing_behind(target: str, inputs: Path) -> None:
    """Neither in what the loader shows, nor in the memory of the process."""
    fresh, _ = replay(target, "--each", inputs)
    assert len(fresh) == len(list(inputs.iterdir())) and len(set(fresh)) == len(fresh)
    times = OTHERS // SLOWER.get(target, 1) // len(fresh) + 1
    _, once = replay(target, inputs)
    after_others, often = replay(target, *[inputs] * times)
    assert len(after_others) == times * len(fresh)
    different = set(after_others) - set(fresh)
    assert not different, f"{len(different)} of {len(fresh)} inputs show something else than in a fresh process"
    assert often - once <= GROWTH, f"{once} KiB after {len(fresh)} inputs, {often} after {len(after_others)}"
