# SPDX-License-Identifier: Apache-2.0
"""A library for another machine is noticed by its ELF header, and what cannot be tested of it is refused by name."""

from __future__ import annotations

import shlex
import struct
import subprocess
from pathlib import Path

import pytest

from harness.api import headers

SHELL_ROOT = shlex.quote(str(Path(__file__).parents[1]))
I386, ARM, X86_64, AARCH64 = 3, 40, 62, 183


def library(folder: Path, bits: int, machine: int) -> Path:
    path = folder / "libOpenCL.so.1"
    path.write_bytes(struct.pack("<4sBB10xHH", b"\x7fELF", bits // 32, 1, 3, machine) + bytes(64))
    return path


def set_up(body: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    script = f'set -euo pipefail; say() {{ echo "$*"; }}; root={SHELL_ROOT} build=/b; '
    script += f'source "$root/harness/setup/other_machines.sh"; {body}'
    command = ["bash", "-c", script, "set-up", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60)


@pytest.mark.parametrize(
    "bits, machine, here, wanted",
    [
        (32, I386, "x86_64", "x86-32"),
        (64, X86_64, "x86_64", ""),
        (64, AARCH64, "x86_64", "arm64"),
        (64, AARCH64, "aarch64", ""),
        (32, ARM, "x86_64", ""),
        (64, I386, "x86_64", ""),
    ],
)
def test_library_is_noticed_by_its_header(tmp_path: Path, bits: int, machine: int, here: str, wanted: str) -> None:
    path = library(tmp_path, bits, machine)
    done = set_up(f'uname() {{ echo {here}; }}; other_machine_of "$@"', "loader", path, "-k", "fifo")
    assert (done.returncode, done.stdout.strip()) == (0, wanted), done


@pytest.mark.parametrize("content", [b"", b"\x7fELF\x01", b"INPUT(libOpenCL.so.1)\n", bytes(64)])
def test_other_files_are_not_taken_for_one(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "libOpenCL.so.1"
    path.write_bytes(content)
    assert set_up('other_machine_of "$@"', "loader", path).stdout == ""


@pytest.mark.parametrize("machine, words", [("x86-32", "32-bit library for x86"), ("arm64", "for 64-bit ARM")])
def test_folder_to_build_in_is_chosen_once(machine: str, words: str) -> None:
    done = set_up(f'use_other_machine {machine}; use_other_machine {machine}; echo "$CLHARNESS_BUILD"')
    assert done.stdout.splitlines()[1:] == [f"/b/{machine}"]
    assert words in done.stdout


@pytest.mark.parametrize("machine", ["x86-32", "arm64"])
@pytest.mark.parametrize("arguments", [("icd", "lib.so"), ("layer", "lib.so"), ("loader", "lib.so", "--torture")])
def test_what_is_not_supported_is_refused_by_name(machine: str, arguments: tuple[str, ...]) -> None:
    done = set_up('refuse_on_other_machine "$@"; exit 0', machine, arguments[0], *arguments)
    assert done.returncode == 2
    assert "not supported" in done.stdout


@pytest.mark.parametrize("machine", ["x86-32", "arm64"])
def test_loader_is_not_refused(machine: str) -> None:
    assert set_up('refuse_on_other_machine "$@"; exit 0', machine, "loader", "loader", "lib.so").returncode == 0


def test_packages_for_another_machine_remove_none() -> None:
    """gcc-multilib and a cross compiler would remove each other; gcc-12-multilib stands beside it."""
    depends = "gcc-multilib\\n  Depends: gcc-12-multilib\\n"
    script = f"""
        apt-cache() {{ case $1 in depends) printf '{depends}' ;; show) echo "Package: $2" ;; esac; }}
        source "$root/harness/setup/machine.sh"; source "$root/harness/setup/install.sh"
        packages_of compiler-x86-32; packages_of compiler-arm64; words_of compiler-x86-32; words_of compiler-arm64
        declare -f apt_install"""
    lines = set_up(script).stdout.splitlines()
    assert lines[:2] == ["gcc-12-multilib", "gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user-static"]
    assert "32-bit programs" in lines[2] and "qemu-aarch64" in lines[3]
    assert any("--no-remove" in line for line in lines[4:])


def test_what_apt_refuses_is_said(tmp_path: Path) -> None:
    """Also where nothing but what is needed is missing: apt-get's own reason, then what to do."""
    refusal = "E: Packages need to be removed but remove is disabled."
    script = f"""
        stop() {{ say "$@"; exit 3; }}; root_by() {{ :; }}; is_debian() {{ :; }}; look_around() {{ :; }}
        source "$root/harness/setup/install.sh"
        apt-cache() {{ :; }}; apt_get() {{ echo '{refusal}' >>$build/setup.log; return 1; }}
        build={shlex.quote(str(tmp_path))} missing=(compiler-arm64) wanted=()
        provide build '' 2>&1"""
    done = set_up(script)
    assert done.returncode == 3, done
    assert refusal in done.stdout and "apt-get could not install everything" in done.stdout


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
