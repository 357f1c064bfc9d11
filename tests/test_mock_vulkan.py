# SPDX-License-Identifier: Apache-2.0
"""clharness mock with [[vulkan]]: what a program sees of the drivers, and what is said about a wrong file."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from harness.build import ROOT, build
from harness.errors import UsageError
from harness.sandbox.mock_config import read

if build().vulkan is None:
    pytest.skip("the build has no Vulkan", allow_module_level=True)

# Lists the devices by the system's loader, as any application does: a VkInstanceCreateInfo is 64 bytes, and a device's
# name stands at byte 20 of its properties.
APPLICATION = """\
import ctypes
vk = ctypes.CDLL("libvulkan.so.1")
info = (ctypes.c_uint64 * 8)(1)
instance = ctypes.c_void_p()
print(vk.vkCreateInstance(info, None, ctypes.byref(instance)))
count = ctypes.c_uint32(16)
devices = (ctypes.c_void_p * 16)()
vk.vkEnumeratePhysicalDevices(instance, ctypes.byref(count), devices)
for device in devices[:count.value]:
    properties = ctypes.create_string_buffer(2048)
    vk.vkGetPhysicalDeviceProperties(ctypes.c_void_p(device), properties)
    print(properties.raw[20:276].split(b"\\0")[0].decode())
vk.vkDestroyInstance(instance, None)
"""


def run_mock(config: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-P", "-m", "harness.cli", "mock", "--config", str(config), *arguments]
    environment = os.environ | {"PYTHONPATH": str(ROOT)} | variables
    program = ["--", sys.executable, "-c", APPLICATION]
    return subprocess.run([*command, *program], capture_output=True, text=True, env=environment, timeout=60)


def test_program_sees_the_drivers_of_the_example() -> None:
    done = run_mock(ROOT / "mock_icds/vulkan/two-drivers.toml", "--log")
    result, *lines = done.stdout.splitlines()
    assert (done.returncode, result) == (0, "0"), done.stderr
    assert sorted(lines[:3]) == ["one.0", "one.1", "two.0"]
    assert any(line.strip().startswith("two | vkCreateInstance") for line in lines)
    assert re.search(r"calls: .*\bone \d+.*\btwo \d+", done.stderr)


def test_drivers_have_faults_functions_and_manifests(tmp_path: Path) -> None:
    """Of four drivers one is good: the others are refused by their manifest, their answer, or what they lack."""
    config = tmp_path / "drivers.toml"
    config.write_text(
        '[[vulkan]]\nname = "good"\n'
        '[[vulkan]]\nname = "arch"\n[vulkan.manifest]\nlibrary_arch = "32"\nlibrary_path = "/nowhere/lib.so"\n'
        '[[vulkan]]\nname = "refuses"\nfaults = ["negotiation_fails=-9"]\n'
        '[[vulkan]]\nname = "fails"\nfaults = ["create_instance_fails=-3"]\n'
    )
    done = run_mock(config)
    assert done.stdout.splitlines() == ["0", "good.0"], done.stderr


def test_reference_loader_is_lent_where_there_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """A machine without libvulkan: the program gets the reference loader, and is told so."""
    from harness.cli import mock
    from harness.cli.main import main

    config = tmp_path / "drivers.toml"
    config.write_text('[[vulkan]]\nname = "a"\n')
    monkeypatch.setattr(mock, "system_loader", lambda name: None)
    assert main(["mock", "--config", str(config), "--", sys.executable, "-c", APPLICATION]) == 0
    message = capfd.readouterr()
    assert message.out.splitlines() == ["0", "a.0"]
    assert "there is no libvulkan.so.1 on this machine" in message.err
    assert "libOpenCL" not in message.err


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ('name = "a"\ndevice = 2', "has the unknown key 'device'; did you mean 'devices'?"),
        ('name = "a"\nfaults = ["negotiation_fail=-3"]', "did you mean 'negotiation_fails'?"),
        ('name = "a"\nmanifest = "a.json"', "needs a table as `manifest`, not 'a.json'"),
        ('name = "a"\nplatforms = 2', "has the unknown key 'platforms'"),
    ],
)
def test_wrong_entry_is_refused_in_a_sentence(tmp_path: Path, entry: str, message: str) -> None:
    config = tmp_path / "drivers.toml"
    config.write_text(f"[[vulkan]]\n{entry}\n")
    with pytest.raises(UsageError) as refused:
        read(config)
    assert "[[vulkan]] a:" in str(refused.value) and message in str(refused.value)
