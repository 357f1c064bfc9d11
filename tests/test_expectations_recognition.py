# SPDX-License-Identifier: Apache-2.0
"""A loader that does not say its name keeps its expectation file: texts of its library say whose it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.build import build
from harness.errors import UsageError
from harness.expectations import FOLDER
from harness.expectations.recognition import of_build, recognised

TEXTS = ["Some Loader", "Some Vendor", "SOME_VARIABLE"]
HEAD = f'loader = "Some Loader"\nversions = ">=2.2, <2.4"\nrecognised_by = {TEXTS}\n'.replace("'", '"')


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "some.toml").write_text(HEAD)
    (tmp_path / "silent.toml").write_text('loader = "Silent"\n')
    return tmp_path


def library(*texts: str) -> bytes:
    return b"\x7fELF\0" + b"".join(text.encode() + b"\0" for text in texts)


@pytest.mark.parametrize("broken", [None, *TEXTS])
def test_most_of_the_texts_are_enough(folder: Path, broken: str | None) -> None:
    known = recognised(library(*(text for text in TEXTS if text != broken), "2.3.1"), folder)
    assert known is not None and known.path is not None
    assert (known.path.name, known.version) == ("some.toml", "2.3.1")


@pytest.mark.parametrize(
    "texts",
    [
        [],
        ["2.3.1"],
        ["Some Loader", "2.3.1"],
        ["Some Loaders", "Some Vendor", "2.3.1"],
        ["Another Some Loader", "Some Vendor", "2.3.1"],
        TEXTS,
        [*TEXTS, "2.4.0"],
        [*TEXTS, "v2.3.1"],
        [*TEXTS, "2.3.1", "2.2.0"],
    ],
    ids=["nothing", "version", "too few", "longer", "end of a longer one", "no version", "later", "other", "two"],
)
def test_other_libraries_are_not_recognised(folder: Path, texts: list[str]) -> None:
    assert recognised(library(*texts), folder) is None


def test_library_that_two_files_are_about_is_not_recognised(folder: Path) -> None:
    (folder / "other.toml").write_text(HEAD)
    assert recognised(library(*TEXTS, "2.3.1"), folder) is None


NAMELESS = HEAD + '[[nameless]]\nversion = "2.3"\ntexts = ["OLD_A", "OLD_B"]\n'


def test_nameless_release_is_recognised_by_all_its_texts_and_taken_for_one_version(folder: Path) -> None:
    (folder / "some.toml").write_text(NAMELESS)
    known = recognised(library("OLD_A", "OLD_B"), folder)
    assert known is not None and known.path is not None
    assert (known.path.name, known.version) == ("some.toml", "2.3")


@pytest.mark.parametrize(
    "texts",
    [["OLD_A"], ["OLD_A", "OLD_BB"], ["OLD_A", "OLD_B", *TEXTS], ["OLD_A", "OLD_B", *TEXTS[:2], "2.4"]],
    ids=["one of two", "longer", "later release without a version", "later release with another version"],
)
def test_what_lacks_a_text_or_has_those_of_later_releases_is_not_nameless(folder: Path, texts: list[str]) -> None:
    (folder / "some.toml").write_text(NAMELESS)
    assert recognised(library(*texts), folder) is None


OLDER = '[[nameless]]\nversion = "2.2"\ntexts = ["OLD_A"]\nwithout = ["OLD_B", "OLD_C"]\n'


@pytest.mark.parametrize(
    ("texts", "version"),
    [
        (["OLD_A"], "2.2"),
        (["OLD_A", "OLD_BB"], "2.2"),
        (["OLD_A", "OLD_B"], "2.3"),
        (["OLD_A", "OLD_C"], None),
        (["OLD_A", "OLD_B", "OLD_C"], "2.3"),
        (["OLD_B"], None),
    ],
)
def test_kinds_of_nameless_releases_differ_by_what_is_not_in_them(
    folder: Path, texts: list[str], version: str | None
) -> None:
    (folder / "some.toml").write_text(NAMELESS + OLDER)
    known = recognised(library(*texts), folder)
    assert (known and known.version) == version


def test_library_of_two_kinds_of_nameless_releases_is_not_recognised(folder: Path) -> None:
    (folder / "some.toml").write_text(NAMELESS + '[[nameless]]\nversion = "2.2"\ntexts = ["OLD_A"]\n')
    assert recognised(library("OLD_A", "OLD_B"), folder) is None


def test_loader_that_says_another_name_is_not_nameless(folder: Path) -> None:
    (folder / "some.toml").write_text(NAMELESS)
    assert recognised(library("OLD_A", "OLD_B"), folder, says_name=True) is None


def test_later_release_is_known_by_its_own_texts(folder: Path) -> None:
    (folder / "some.toml").write_text(NAMELESS)
    known = recognised(library("OLD_A", "OLD_B", *TEXTS, "2.3.1"), folder)
    assert known is not None and known.version == "2.3.1"


@pytest.mark.parametrize(
    ("nameless", "message"),
    [
        ("nameless = true\n", "needs `\\[\\[nameless\\]\\]` as tables"),
        ('[nameless]\nversion = "2.3"\ntexts = ["OLD_A"]\n', "needs `\\[\\[nameless\\]\\]` as tables"),
        ('[[nameless]]\ntexts = ["OLD_A"]\n', "needs `version`"),
        ('[[nameless]]\nversion = "2.3"\ntexts = "OLD_A"\n', "needs `texts` as a list"),
        ('[[nameless]]\nversion = "2.3"\ntext = ["OLD_A"]\n', "text"),
    ],
    ids=["flag", "one table", "no version", "no list", "unknown key"],
)
def test_nameless_that_is_not_understood_is_refused(folder: Path, nameless: str, message: str) -> None:
    (folder / "some.toml").write_text(HEAD + nameless)
    with pytest.raises(UsageError, match=message):
        recognised(library("OLD_A"), folder)


def test_texts_that_are_not_a_list_are_refused(folder: Path) -> None:
    (folder / "wrong.toml").write_text('loader = "Wrong"\nrecognised_by = "Wrong"\n')
    with pytest.raises(UsageError, match="needs `recognised_by` as a list"):
        recognised(library(), folder)


def test_build_that_says_nothing_is_known_by_its_build_id(folder: Path) -> None:
    (folder / "vendor.toml").write_text('loader = "A vendor\'s"\nbuild_ids = ["00ff", "01fe"]\n')
    known = of_build("01fe", folder)
    assert known is not None and known.path is not None
    assert (known.path.name, known.version) == ("vendor.toml", None)


@pytest.mark.parametrize("build_id", ["", "00", "00FF", "02"])
def test_other_builds_are_not_known(folder: Path, build_id: str) -> None:
    (folder / "vendor.toml").write_text('loader = "A vendor\'s"\nbuild_ids = ["00ff", "01fe"]\n')
    assert of_build(build_id, folder) is None


def test_build_that_two_files_list_is_refused(folder: Path) -> None:
    for name in ("one.toml", "two.toml"):
        (folder / name).write_text(f'loader = "{name}"\nbuild_ids = ["00ff"]\n')
    with pytest.raises(UsageError, match=r"one\.toml and two\.toml list the build 00ff"):
        of_build("00ff", folder)


@pytest.mark.parametrize("value", ['"00ff"', '[""]', "[1]"])
def test_build_ids_that_are_not_texts_are_refused(folder: Path, value: str) -> None:
    (folder / "wrong.toml").write_text(f'loader = "Wrong"\nbuild_ids = {value}\n')
    with pytest.raises(UsageError, match="needs `build_ids` as a list"):
        of_build("00ff", folder)


def test_the_reference_loader_is_recognised() -> None:
    known = recognised(build().reference_loader.read_bytes())
    assert known is not None and known.path is not None
    assert known.path.name == "reference.toml"


def test_the_khronos_loader_of_before_its_name_is_recognised() -> None:
    """As its releases of 2020 to 2022; and none of ocl-icd, which reads one of its variables."""
    release = ["OCL_ICD_FILENAMES", "OCL_ICD_VENDORS", "clIcdGetPlatformIDsKHR", "libOpenCL.so.1", "OPENCL_2.2"]
    known = recognised(library(*release))
    assert known is not None and known.path is not None
    assert (known.path.name, known.version) == ("khronos.toml", "3.0.4")
    assert recognised(library(*release[1:])) is None


def test_the_khronos_loader_for_windows_of_before_its_name_is_recognised() -> None:
    """As its releases of 2021 and 2022, which have another file than those for Linux."""
    release = [
        "OCL_ICD_FILENAMES",
        r"SOFTWARE\Khronos\OpenCL\Vendors",
        "OpenCLDriverName",
        "clIcdGetPlatformIDsKHR",
        "D3DKMTSubmitPresentBltToHwQueue",
    ]
    known = recognised(library(*release), FOLDER / "windows")
    assert known is not None and known.path is not None
    assert (known.path.name, known.version) == ("khronos.toml", "3.0.4")
    assert recognised(library(*release[1:]), FOLDER / "windows") is None
