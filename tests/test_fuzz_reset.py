# SPDX-License-Identifier: Apache-2.0
"""The state of a loader is put back before each input: what it shows does not depend on the inputs before."""

from __future__ import annotations

import random
import subprocess
from pathlib import Path

import pytest

from harness.build import build
from harness.fuzz import builds
from harness.fuzz.target_process import environment
from tests.samples import WHOLE

OTHERS = 10_000 if WHOLE else 1_000  # inputs before, at least
RANDOM_INPUTS = 300 if WHOLE else 100
AGAIN = 3  # times as many inputs once more, after which the process is as large as it was
GROWTH = 512  # KiB that it may grow by over those: how much of its files is in memory differs by half of that

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


# A process has used what its parent had when it was forked: this test would be asked what it uses itself.
MEASURE = """
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    struct rusage used;
    int status = 127 << 8;
    pid_t child = fork();
    if (child == 0) {
        execv(argv[1], argv + 1);
        _exit(127);
    }
    wait4(child, &status, 0, &used);
    printf("%ld\\n", used.ru_maxrss);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 126;
}
"""


@pytest.fixture(scope="module")
def measure(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small program that runs another, and says after its output how much memory that had, in KiB."""
    program = tmp_path_factory.mktemp("measure") / "measure"
    command = [build().compiler, "-w", "-x", "c", "-", "-o", str(program)]
    subprocess.run(command, input=MEASURE, text=True, check=True)
    return program


def replay(measure: Path, target: str, *arguments: object) -> tuple[list[str], int]:
    """The lines with digests, and the most memory that the process had, in KiB."""
    program = build().folder / "fuzz" / f"replay_{target}"
    own = build().with_vulkan().reference_loader if builds.is_of_vulkan(target) else build().reference_loader
    command = [str(measure), str(program), "--loader", str(own), "--digest", *map(str, arguments)]
    done = subprocess.run(command, env=environment({}), capture_output=True, text=True)
    assert done.returncode == 0, f"{command[:5]}: {done.stderr[-2000:]}"
    *lines, _, used = done.stdout.splitlines()
    return lines, int(used)


@pytest.mark.parametrize("target", TARGETS)
def test_inputs_leave_nothing_behind(measure: Path, target: str, inputs: Path) -> None:
    """Neither in what the loader shows, nor in the memory of the process."""
    fresh, _ = replay(measure, target, "--each", inputs)
    assert len(fresh) == len(list(inputs.iterdir())) and len(set(fresh)) == len(fresh)
    times = OTHERS // SLOWER.get(target, 1) // len(fresh) + 1
    after_others, before = replay(measure, target, *[inputs] * times)
    assert len(after_others) == times * len(fresh)
    different = set(after_others) - set(fresh)
    assert not different, f"{len(different)} of {len(fresh)} inputs show something else than in a fresh process"
    after_more, after = replay(measure, target, *[inputs] * times * (1 + AGAIN))
    assert set(after_more) == set(after_others)
    ran = f"{before} KiB after {len(after_others)} inputs, {after} after {len(after_more)}"
    assert after - before <= GROWTH, ran
