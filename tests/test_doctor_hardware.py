# SPDX-License-Identifier: Apache-2.0
"""Devices, rights and kernel drivers, on machines that are folders."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from harness.doctor import hardware
from harness.doctor.hardware import Hardware

NVIDIA, INTEL, AMD = "0x10de", "0x8086", "0x1002"


def library(root: Path, name: str, content: bytes = b"") -> Path:
    path = root / name
    path.write_bytes(content or b"nothing")
    return path


def gpu(root: Path, vendor: str, driver: str = "") -> None:
    device = root / "sys/bus/pci/devices/0000:01:00.0"
    device.mkdir(parents=True)
    (device / "class").write_text("0x030000\n")
    (device / "vendor").write_text(f"{vendor}\n")
    if driver:
        (device / "driver").symlink_to(f"../../../bus/pci/drivers/{driver}")


def node(root: Path, path: str) -> Path:
    place = root / path
    place.parent.mkdir(parents=True, exist_ok=True)
    place.touch()
    return place


def hints(root: Path, name: str, content: bytes = b"", **environment: str) -> dict[str, str]:
    advice = Hardware(environment, root).hints(library(root, name, content), [])
    return {one.name: f"{one.what} {one.do}" for one in advice}


def test_gpu_without_kernel_driver_names_the_module(tmp_path: Path) -> None:
    gpu(tmp_path, NVIDIA)
    advice = hints(tmp_path, "libnvidia-opencl.so.1")
    assert set(advice) == {"kernel-module"}
    assert "modprobe nvidia" in advice["kernel-module"]


def test_machine_without_gpu_is_told_so(tmp_path: Path) -> None:
    assert "no NVIDIA GPU" in hints(tmp_path, "libnvidia-opencl.so.1")["node-missing"]
    assert not Hardware({}, tmp_path).has_any(tmp_path / "libnvidia-opencl.so.1")


def test_node_that_is_missing_though_the_driver_runs(tmp_path: Path) -> None:
    """As in a container."""
    gpu(tmp_path, AMD, "amdgpu")
    (tmp_path / ".dockerenv").touch()
    advice = hints(tmp_path, "libamdocl64.so")
    assert set(advice) == {"node-missing", "confined"}
    assert "Docker" in advice["confined"]


def test_rights_name_the_group_and_the_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gpu(tmp_path, INTEL, "i915")
    render = node(tmp_path, "dev/dri/renderD128")
    render.chmod(0o660)
    group = os.stat(render).st_gid
    monkeypatch.setattr(os, "access", lambda *_: False)
    advice = hints(tmp_path, "libigdrcl.so", USER="somebody")
    assert set(advice) == {"node-permission"}
    assert "/dev/dri/renderD128" in advice["node-permission"]
    assert f"usermod -aG {hardware._group(group)} somebody" in advice["node-permission"]


def test_node_that_can_be_opened_is_no_reason(tmp_path: Path) -> None:
    gpu(tmp_path, INTEL, "i915")
    node(tmp_path, "dev/dri/renderD128")
    assert hints(tmp_path, "libigdrcl.so") == {}


def test_driver_of_another_version_than_the_kernel_s(tmp_path: Path) -> None:
    gpu(tmp_path, NVIDIA, "nvidia")
    for name in ("nvidiactl", "nvidia0", "nvidia-uvm"):
        node(tmp_path, f"dev/{name}")
    version = node(tmp_path, "proc/driver/nvidia/version")
    version.write_text("NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.183.01  Sun May 12 19:39:15 UTC 2024\n")
    assert hints(tmp_path, "libnvidia-opencl.so.535.183.01") == {}
    advice = hints(tmp_path, "libnvidia-opencl.so.550.90.07")
    assert set(advice) == {"driver-mismatch"}
    assert "535.183.01" in advice["driver-mismatch"] and "550.90.07" in advice["driver-mismatch"]


def test_rusticl_wants_a_variable(tmp_path: Path) -> None:
    node(tmp_path, "dev/dri/renderD128")
    assert set(hints(tmp_path, "libRusticlOpenCL.so.1")) == {"rusticl-not-enabled"}
    assert hints(tmp_path, "libRusticlOpenCL.so.1", RUSTICL_ENABLE="iris") == {}


def test_chroot_without_sys_and_proc_is_told_so(tmp_path: Path) -> None:
    assert set(hints(tmp_path, "libpocl.so.2")) == {"no-sys", "no-proc"}
    (tmp_path / "sys").mkdir()
    assert set(hints(tmp_path, "libpocl.so.2")) == {"no-proc"}
    (tmp_path / "proc/self").mkdir(parents=True)
    assert hints(tmp_path, "libpocl.so.2") == {}


def test_unknown_driver_is_asked_for_the_nodes_that_it_names(tmp_path: Path) -> None:
    (tmp_path / "sys").mkdir()
    (tmp_path / "proc/self").mkdir(parents=True)
    content = b"\0cannot open /dev/mali0\0/dev/dri/renderD%d\0/dev/null\0"
    advice = hints(tmp_path, "libown.so", content)
    assert set(advice) == {"node-missing"}
    node(tmp_path, "dev/mali0")
    node(tmp_path, "dev/dri/renderD128")
    assert hints(tmp_path, "libown.so", content) == {}
