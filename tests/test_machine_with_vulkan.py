# SPDX-License-Identifier: Apache-2.0
"""A machine that has Vulkan drivers, layers and settings of its own: none of them reaches a case of a Vulkan loader."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from harness.build import ROOT, build
from harness.sandbox.vulkan import manifest_of
from tests.samples import WHOLE

OWN = "/etc/vulkan/libown.so"
SETTINGS = {"additional_drivers": [{"path": "/etc/vulkan/own.json"}], "additional_drivers_use_exclusively": True}
LAYER = {
    "name": "VK_LAYER_own",
    "type": "GLOBAL",
    "library_path": OWN,
    "api_version": "1.1.0",
    "implementation_version": "1",
    "description": "own",
    "disable_environment": {"OWN_DISABLE": "1"},
}
# What such a machine has below /etc/vulkan. The library ends each process that opens it.
FILES = {
    "settings": {"loader_settings.d/vk_loader_settings.json": {"file_format_version": "1.0.0", "settings": SETTINGS}},
    "driver": {"icd.d/own.json": manifest_of(OWN)},
    "layer": {"implicit_layer.d/own.json": {"file_format_version": "1.0.0", "layer": LAYER}},
}
LIBRARY = "__attribute__((constructor)) static void ends(void) { __builtin_trap(); }"
# Cases in which nothing, and in which variables name manifests, and elevated ones.
CASES = "test_vulkan_search or test_vulkan_settings or test_vulkan_elevated or test_vulkan_negotiation"
SCRIPT = """
mount -t tmpfs none "$1" && mkdir "$1/upper" "$1/work" && cp -r "$2" "$1/upper/vulkan" &&
    mount -t overlay none -o "lowerdir=/etc,upperdir=$1/upper,workdir=$1/work" /etc || exit 77
shift 2
exec "$@"
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="a private /etc needs root")
@pytest.mark.parametrize("what", FILES)
def test_vulkan_of_the_machine_takes_no_part_in_a_run(tmp_path: Path, what: str) -> None:
    """What loaders find below /etc/vulkan of the machine itself changes no verdict of the reference loader."""
    own = tmp_path / "vulkan"
    own.mkdir(mode=0o755)
    library: list[str | Path] = ["cc", "-shared", "-fPIC", "-x", "c", "-", "-o", own / "libown.so"]
    subprocess.run(library, input=LIBRARY, text=True, check=True)
    for name, content in (FILES[what] | {"own.json": manifest_of(OWN)}).items():
        (own / name).parent.mkdir(exist_ok=True)
        (own / name).write_text(json.dumps(content))
    (tmp_path / "etc").mkdir()
    command: list[str | Path] = ["unshare", "-m", "sh", "-c", SCRIPT, "sh", tmp_path / "etc", own]
    command += [sys.executable, "-m", "harness.cli", "loader", build().with_vulkan().reference_loader]
    command += ["-k", CASES, "-j", "1"]
    if not WHOLE:  # others of these cases for each; the library would end nearly all
        command += ["--shard", f"{list(FILES).index(what) + 1}/{len(FILES)}"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if done.returncode == 77:
        pytest.skip(f"this machine allows no private /etc: {done.stderr}")
    assert done.returncode == 0, done.stdout + done.stderr
