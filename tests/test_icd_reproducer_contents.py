# SPDX-License-Identifier: Apache-2.0
"""The C program of a failure shows contents from the first byte on that differs, beside what was expected there."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from harness.check.icd.memory import Memory, expect_same, numbered
from harness.probe.icd_objects import IcdObjects
from harness.run import reproducer
from harness.sandbox import Sandbox
from harness.subject.icd import Icd

SIZE = 1000


def output_of(tmp_path: Path, text: str, library: Path) -> list[str]:
    """The lines that a program prints of a library."""
    source = tmp_path / "program.c"
    source.write_text(text)
    subprocess.run([os.environ.get("CC", "cc"), "-Wall", "-w", source, "-ldl", "-o", tmp_path / "program"], check=True)
    done = subprocess.run([tmp_path / "program", library], capture_output=True, text=True)
    return [line.strip() for line in done.stdout.splitlines()]


def test_contents_are_shown_from_the_first_byte_that_differs(tmp_path: Path) -> None:
    sandbox = Sandbox()
    content, new = numbered(SIZE, 1), numbered(SIZE, 2)

    def write(objects: IcdObjects) -> None:
        memory = Memory(objects)
        mem = memory.buffer(content)
        memory.succeed("clEnqueueWriteBuffer", memory.queue, mem, 1, 0, SIZE, new, 0, None, None)
        expect_same(memory.content(mem, SIZE), new)

    try:
        icd = Icd(sandbox.icd("faulty", faults=["writes_leave_last_byte"], features="compiler").path)
        with pytest.raises(AssertionError) as caught, icd.attempts(sandbox) as attempts:
            attempts.check("write", write)
        text = reproducer.of_case("case", caught.value, sandbox).text("case", "")
        faulty = output_of(tmp_path, text, icd.path)
        got, expected = (next(line for line in faulty if line.startswith(word)) for word in ("got:", "expected:"))
        assert got.endswith(f" from byte {SIZE - 1} on = {content[-1]:02x}"), faulty
        assert expected.endswith(f" from byte {SIZE - 1} on = {new[-1]:02x}"), faulty
        assert "=> the defect is there" in faulty
        with reproducer.correct_mock() as correct:
            assert "=> the defect is gone" in output_of(tmp_path, text, correct)
    finally:
        sandbox.close()
