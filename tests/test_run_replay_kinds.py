# SPDX-License-Identifier: Apache-2.0
"""`clharness replay` of layers, ICDs and Vulkan drivers, from the run to the replay, as for loaders."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from harness.build import build
from tests import forked

FAULTY_LAYER = build().folder / "mock_layers/examples/libfaulty_layer.so"
LACKING_ICD = build().folder / "mock_icds/libicd_without_get_extension_function_address.so"

DRIVER = """\
#include <stdint.h>
#include <stdlib.h>
int vk_icdNegotiateLoaderICDInterfaceVersion(uint32_t *version)
{
    *version = getenv("WRONG") ? 99 : *version < 5 ? *version : 5;
    return 0;
}
void *vk_icdGetInstanceProcAddr(void *instance, const char *name)
{
    (void)instance;
    (void)name;
    return NULL;
}
"""


def clharness(*arguments: object, output: Path) -> forked.Done:
    return forked.clharness(*arguments, CLHARNESS_OUTPUT=str(forked.with_derived(output)))


@pytest.mark.parametrize(
    ("kind", "library", "name"),
    [
        ("layer", FAULTY_LAYER, "test_layer_info_of_an_unknown_name_is_invalid_value"),
        ("icd", LACKING_ICD, "test_export_types_are_those_of_the_creation and sync"),
    ],
)
def test_replay_says_that_it_happened_again(kind: str, library: Path, name: str, tmp_path: Path) -> None:
    run = clharness(kind, library, "-k", name, "--time-limit", "30", output=tmp_path)
    assert run.returncode == 1, run.stdout + run.stderr
    (kept,) = (folder for folder in tmp_path.glob("failures/*/*/*") if (folder / "replay.sh").exists())
    again = clharness("replay", kept, output=tmp_path)
    assert again.returncode == 1, again.stdout + again.stderr
    assert f"happened again: {name.partition(' ')[0]}" in again.stdout


def test_replay_and_bisect_run_of_a_vulkan_driver_have_its_variables(tmp_path: Path) -> None:
    """What only shows with a variable of --env happens again; it was `gone`."""
    source, library = tmp_path / "driver.c", tmp_path / "libvulkan_wrong.so"
    source.write_text(DRIVER)
    subprocess.run([build().compiler, "-shared", "-fPIC", source, "-o", library], check=True)
    name = "test_answer_is_the_lower_of_both_versions"
    records = tmp_path / "bad.jsonl"
    run = clharness("icd", library, "--env", "WRONG=1", "-k", name, "--json", records, output=tmp_path)
    assert run.returncode == 1, run.stdout + run.stderr
    kept = next(folder for folder in tmp_path.glob("failures/*/*/*") if (folder / "replay.sh").exists())
    again = clharness("replay", kept, output=tmp_path)
    assert again.returncode == 1, again.stdout + again.stderr
    assert f"happened again: {name}" in again.stdout
    assert "--- session 0" in again.stdout and "--- ended with status 0" in again.stdout
    for variables, code in (("--env", "WRONG=1"), 1), ((), 0):
        done = clharness("bisect-run", records, library, *variables, output=tmp_path)
        assert done.returncode == code, done.stdout + done.stderr
