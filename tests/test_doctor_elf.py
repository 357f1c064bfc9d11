# SPDX-License-Identifier: Apache-2.0
"""doctor reads ELF files that are whole, cut short and damaged."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from harness.build import build
from harness.doctor import elf
from harness.doctor.elf import Damaged
from harness.subject.library import read_library


@pytest.fixture
def library() -> Path:
    return build().reference_loader


def test_whole_library_reads_as_the_other_reader_says(library: Path) -> None:
    """Which goes by sections, with pyelftools."""
    own, other = elf.read(library), read_library(library, "a library", "")
    assert own.exported == other.exported
    assert (own.soname, own.needed, own.bits) == (other.soname, other.needed, other.bits)
    assert own.undefined and own.undefined <= other.undefined
    assert {version for names in own.versions.values() for version in names} >= {"GLIBC_2.2.5"}


def test_library_of_any_length_is_whole_or_damaged(library: Path, tmp_path: Path) -> None:
    data, path = library.read_bytes(), tmp_path / "cut.so"
    for length in range(0, len(data), 997):
        path.write_bytes(data[:length])
        try:
            elf.read(path)
        except Damaged as error:
            assert str(error).startswith("is ")


def test_library_with_wrong_bytes_is_read_or_damaged(library: Path, tmp_path: Path) -> None:
    data, path, source = library.read_bytes(), tmp_path / "wrong.so", random.Random(1)
    for _ in range(300):
        wrong = bytearray(data)
        for _ in range(4):
            wrong[source.randrange(4096)] = source.randrange(256)
        path.write_bytes(wrong)
        try:
            elf.read(path)
        except Damaged as error:
            assert str(error)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is empty"),
        (b"!<arch>\n", "a static library"),
        (b"MZ\x90\0", "a Windows library"),
        (b"version https://git-lfs.github.com/spec/v1\n", "Git LFS"),
        (b"/* GNU ld script */ INPUT(-lfoo)\n", "a linker script"),
        (b"#!/bin/sh\n", "a script"),
        (b"text\n", "a text file"),
        (bytes(5000), "zeros"),
        (b"\x7fELF\2\1", "cut short"),
    ],
)
def test_other_files_are_named(tmp_path: Path, content: bytes, words: str) -> None:
    path = tmp_path / "file.so"
    path.write_bytes(content)
    with pytest.raises(Damaged, match=words):
        elf.read(path)
