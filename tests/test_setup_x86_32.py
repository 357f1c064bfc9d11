# SPDX-License-Identifier: Apache-2.0
"""A 32-bit library for x86 is noticed by its ELF header, and what cannot be tested of 32 bits is refused by name."""

from __future__ import annotations

import struct
import subprocess
from pathlib import Path

import pytest

from harness.api import headers

ROOT = Path(__file__).parents[1]
I386, ARM, X86_64 = 3, 40, 62


def library(folder: Path, bits: int, machine: int) -> Path:
    path = folder / "libOpenCL.so.1"
    path.write_bytes(struct.pack("<4sBB10xHH", b"\x7fELF", bits // 32, 1, 3, machine) + bytes(64))
    return path


def set_up(body: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    script = f'set -euo pipefail; say() {{ echo "$*"; }}; root={ROOT} build=/b; '
    script += f"source {ROOT}/harness/setup/x86_32.sh; {body}"
    command = ["bash", "-c", script, "set-up", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60)


@pytest.mark.parametrize("bits, machine, wanted", [(32, I386, 0), (64, X86_64, 1), (32, ARM, 1), (64, I386, 1)])
def test_library_is_noticed_by_its_header(tmp_path: Path, bits: int, machine: int, wanted: int) -> None:
    path = library(tmp_path, bits, machine)
    assert set_up('asks_for_x86_32 "$@" && exit 0; exit 1', "loader", path, "-k", "fifo").returncode == wanted


@pytest.mark.parametrize("content", [b"", b"\x7fELF\x01", b"INPUT(libOpenCL.so.1)\n", bytes(64)])
def test_other_files_are_not_taken_for_one(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "libOpenCL.so.1"
    path.write_bytes(content)
    assert set_up('asks_for_x86_32 "$@" && exit 0; exit 1', "loader", path).returncode == 1


def test_folder_to_build_in_is_chosen_once() -> None:
    done = set_up('use_x86_32; use_x86_32; echo "$CLHARNESS_BUILD"')
    assert done.stdout.splitlines()[1:] == ["/b/x86-32"]
    assert "32-bit library for x86" in done.stdout


@pytest.mark.parametrize("arguments", [("icd", "lib.so"), ("layer", "lib.so"), ("loader", "lib.so", "--torture")])
def test_what_is_not_supported_is_refused_by_name(arguments: tuple[str, ...]) -> None:
    done = set_up('refuse_x86_32 "$@"; exit 0', arguments[0], *arguments)
    assert done.returncode == 2
    assert "not supported" in done.stdout


def test_loader_is_not_refused() -> None:
    assert set_up('refuse_x86_32 "$@"; exit 0', "loader", "loader", "lib.so").returncode == 0


def test_sizes_are_those_of_the_address() -> None:
    by_bits = {bits: headers.read(bits=bits) for bits in (64, 32)}
    for bits, api in by_bits.items():
        assert api.address == bits // 8
        functions = {function.name: function for function in api.functions}
        create, queue = functions["clCreateContext"], functions["clCreateCommandQueueWithProperties"]
        read = functions["clEnqueueReadBuffer"]
        assert create.parameters[0].pointee == bits // 8  # intptr_t
        assert queue.parameters[2].pointee == 8  # cl_properties
        assert {p.name: p.size for p in read.parameters}["size"] == bits // 8
        assert functions["clGetDeviceIDs"].parameters[1].size == 8  # cl_bitfield
