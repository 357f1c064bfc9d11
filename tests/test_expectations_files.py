# SPDX-License-Identifier: Apache-2.0
"""Expectation files: versions, which entry decides, what is stale, and what is said of malformed files."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.errors import UsageError
from harness.expectations import Expectations, Expected, find, known, load
from harness.expectations.abilities import abilities
from harness.expectations.versions import matches, parse_version

HEAD = 'loader = "Some loader"\nversions = ">=2.0, <3"\n'


def written(folder: Path, text: str, name: str = "some.toml") -> Path:
    path = folder / name
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    ("versions", "version", "inside"),
    [
        (">=2.3.1, <2.4", "2.3.1", True),
        (">=2.3.1, <2.4", "2.3.3", True),
        (">=2.3.1, <2.4", "2.4", False),
        (">=2.3.1, <2.4", "2.3", False),
        (">=2.3.1, <2.4", "2.10", False),  # numbers, not text
        (">2.9", "2.10", True),
        ("==2.3", "2.3.0", True),  # zeros at the end mean nothing
        ("!=2.3", "2.3.0", False),
        ("<=2.3", "2.3-rc1", True),  # the numbers in front decide
        (">2", "v3.0.6", True),
        (">=2.3.1, <2.4", "2.3.2 (git)", True),
        ("", "2.3", True),
        ("", None, True),
        (">=0", "unknown", False),
        ("==0", "0.0", True),
    ],
)
def test_version_ranges(versions: str, version: str | None, inside: bool) -> None:
    assert matches(versions, version) is inside


@pytest.mark.parametrize("versions", ["2.3", "~=2.3", ">=", ">=2.3 <3", ">=a"])
def test_malformed_version_ranges(versions: str) -> None:
    with pytest.raises(ValueError, match="is not a version clause"):
        matches(versions, "2.3")


def test_parse_version() -> None:
    assert parse_version("2.3.0-rc1") == (2, 3)
    assert parse_version("unknown") is None
    assert parse_version(None) is None


def test_without_a_file_everything_is_expected_to_pass() -> None:
    assert Expectations().path is None
    assert Expectations().expected(["DISC-LNX-001"], "test_x") == Expected(("pass",), None, None)


def test_a_deviation_and_an_outcome_are_expected(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        HEAD
        + '[[deviation]]\nrequirement = "DISC-LNX-011"\ncase = "*fifo*"\nverdict = ["hang", "crash"]\n'
        + 'reason = "opens it"\n[[outcome]]\nrequirement = "DISC-LNX-017"\noutcome = "accepted"\n',
    )
    expectations = load(path, "2.3")
    fifo = expectations.expected(["DISC-LNX-001", "DISC-LNX-011"], "test_fifo[a]")
    assert (fifo.verdicts, fifo.reason, fifo.entry) == (
        ("hang", "crash"),
        "opens it",
        "deviation DISC-LNX-011 *fifo*",
    )
    assert expectations.expected(["DISC-LNX-011"], "test_socket").verdicts == ("pass",)
    pinned = expectations.expected(["DISC-LNX-017"], "test_newlines")
    assert (pinned.verdicts, pinned.outcome) == (("pass",), "accepted")


@pytest.mark.parametrize(
    ("pinned", "version", "all_pinned"),
    [("==2.3.1", "2.3.1", True), ("==2.3.1", "2.3.2", False), ("==2.3.1", None, False), (None, "2.3.1", False)],
)
def test_every_outcome_of_some_versions_is_pinned(
    tmp_path: Path, pinned: str | None, version: str | None, all_pinned: bool
) -> None:
    path = written(tmp_path, HEAD + (f'pinned = "{pinned}"\n' if pinned else ""))
    assert load(path, version).expected(["DISC-LNX-017"], "test_x").all_pinned == all_pinned


def test_brackets_in_a_case_pattern_stand_for_themselves(tmp_path: Path) -> None:
    entry = '[[deviation]]\nrequirement = "DISC-LNX-011"\ncase = "{}"\nverdict = "fail"\nreason = "r"\n'
    exact = load(written(tmp_path, HEAD + entry.format("test_x[p]")), "2.3")
    assert exact.expected(["DISC-LNX-011"], "test_x[p]").verdicts == ("fail",)
    assert exact.expected(["DISC-LNX-011"], "test_xp").verdicts == ("pass",)
    family = load(written(tmp_path, HEAD + entry.format("test_x[*]")), "2.3")
    assert family.expected(["DISC-LNX-011"], "test_x[p-q]").verdicts == ("fail",)
    assert family.expected(["DISC-LNX-011"], "test_x").verdicts == ("pass",)


def test_case_patterns_mind_the_case_of_letters(tmp_path: Path) -> None:
    entry = '[[deviation]]\nrequirement = "DISC-LNX-011"\ncase = "*FIFO"\nverdict = "fail"\nreason = "r"\n'
    assert load(written(tmp_path, HEAD + entry)).expected(["DISC-LNX-011"], "test_fifo").verdicts == ("pass",)


def test_an_entry_with_a_pattern_goes_before_one_without(tmp_path: Path) -> None:
    general = '[[deviation]]\nrequirement = "DISC-LNX-011"\nverdict = "fail"\nreason = "r"\n'
    special = '[[deviation]]\nrequirement = "DISC-LNX-011"\ncase = "*fifo"\nverdict = "hang"\nreason = "r"\n'
    expectations = load(written(tmp_path, HEAD + general + special), "2.3")
    assert expectations.expected(["DISC-LNX-011"], "test_fifo").verdicts == ("hang",)
    assert expectations.expected(["DISC-LNX-011"], "test_socket").verdicts == ("fail",)


def test_an_entry_can_hold_for_some_versions_only(tmp_path: Path) -> None:
    entry = '[[deviation]]\nrequirement = "DISC-LNX-011"\nverdict = "fail"\nreason = "r"\nversions = "<2.3"\n'
    path = written(tmp_path, HEAD + entry)
    assert load(path, "2.2").expected(["DISC-LNX-011"], "t").verdicts == ("fail",)
    newer = load(path, "2.3")
    assert newer.expected(["DISC-LNX-011"], "t").verdicts == ("pass",)
    assert newer.stale([]) == []  # it says nothing about this version, so it cannot be stale
    assert len(newer.all_entries) == 1


def test_an_entry_can_hold_for_what_a_subject_has_or_lacks(tmp_path: Path) -> None:
    when = '["ICD 2", "OPENCL_3.1", "no OPENCL_LAYERS"]'
    entry = f'[[deviation]]\nrequirement = "DISC-LNX-011"\nverdict = "fail"\nreason = "r"\nwhen = {when}\n'
    path = written(tmp_path, HEAD + entry)
    subject: dict[str, list[str]] = {"capabilities": ["ICD 2"], "symbol_versions": ["OPENCL_3.0", "OPENCL_3.1"]}
    with_layers = subject | {"capabilities": ["ICD 2", "OPENCL_LAYERS"]}
    older = subject | {"symbol_versions": ["OPENCL_3.0"]}
    assert load(path, "2.3", abilities(subject)).expected(["DISC-LNX-011"], "t").verdicts == ("fail",)
    for other in (with_layers, older, {"capabilities": list[str]()}):
        assert load(path, "2.3", abilities(other)).expected(["DISC-LNX-011"], "t").verdicts == ("pass",)
    assert load(path, "2.3").entries == ()  # nothing is known of the subject


def test_a_capability_counts_unless_the_library_was_built_without_it(tmp_path: Path) -> None:
    path = written(tmp_path, HEAD + '[capabilities]\n"OPENCL_LAYERS" = ""\n"ICD 2" = ""\n')
    without_layers = abilities({"capabilities": [], "left_out": ["OPENCL_LAYERS"]})
    assert load(path, "2.3", without_layers).capabilities == {"ICD 2"}
    assert load(path, "2.3", abilities({"capabilities": []})).capabilities == {"OPENCL_LAYERS", "ICD 2"}


def test_stale_entries_decide_no_case(tmp_path: Path) -> None:
    deviation = '[[deviation]]\nrequirement = "{}"\ncase = "{}"\nverdict = "fail"\nreason = "r"\n'
    outcome = '[[outcome]]\nrequirement = "DISC-LNX-017"\noutcome = "o"\n'
    expectations = load(
        written(
            tmp_path,
            HEAD + deviation.format("DISC-LNX-011", "*fifo") + deviation.format("DISC-LNX-011", "*gone") + outcome,
        ),
        "2.3",
    )
    cases = [(["DISC-LNX-011"], "test_fifo"), (["DISC-LNX-012"], "test_gone")]
    assert [entry.id for entry in expectations.stale(cases)] == [
        "deviation DISC-LNX-011 *gone",
        "outcome DISC-LNX-017",
    ]
    assert [e.id for e in expectations.stale([*cases, (["DISC-LNX-017"], "test_y")])] == [
        "deviation DISC-LNX-011 *gone"
    ]


def test_an_entry_is_not_stale_where_one_of_this_version_alone_decides_its_cases(tmp_path: Path) -> None:
    deviation = '[[deviation]]\nrequirement = "DISC-LNX-011"\ncase = "{}"\nverdict = "fail"\nreason = "r"\n{}'
    of_version = deviation.format("test_fifo*", 'versions = "==2.3"\n')
    of_capability = deviation.format("test_link*", 'when = ["ICD 2"]\n')
    general = deviation.format("*fifo", "") + deviation.format("*link", "") + deviation.format("*gone", "")
    shadowed_in_all = deviation.format("*", "") + deviation.format("test_pipe", "")
    cases = [(["DISC-LNX-011"], "test_fifo"), (["DISC-LNX-011"], "test_link")]
    path = written(tmp_path, HEAD + of_version + of_capability + general)
    assert [e.case for e in load(path, "2.3", {"ICD 2"}).stale(cases)] == ["*gone"]
    path = written(tmp_path, HEAD + shadowed_in_all)
    assert [e.case for e in load(path, "2.3").stale([(["DISC-LNX-011"], "test_pipe")])] == ["test_pipe"]


def test_a_loader_finds_its_file_by_name_and_version(tmp_path: Path) -> None:
    written(tmp_path, 'loader = "Some"\nversions = "<3"\n', "a.toml")
    newer = written(tmp_path, 'loader = "Some"\nversions = ">=3"\n', "b.toml")
    anyone = written(tmp_path, 'loader = "Other"\n', "c.toml")
    assert find("Some", "3.1", tmp_path).path == newer
    assert find("Other", None, tmp_path).path == anyone
    assert find("Some", "unknown", tmp_path).path is None
    assert find("Third", "3.1", tmp_path).path is None
    assert [file.path for file in known(tmp_path)] == sorted(tmp_path.iterdir())


def test_two_files_for_one_loader_are_refused(tmp_path: Path) -> None:
    written(tmp_path, 'loader = "Some"\nversions = "<=3"\n', "a.toml")
    written(tmp_path, 'loader = "Some"\nversions = ">=3"\n', "b.toml")
    with pytest.raises(UsageError, match=r"a\.toml and b\.toml hold for Some 3; make their `versions`"):
        find("Some", "3", tmp_path)


def test_the_files_of_the_repository_are_well_formed() -> None:
    for file in known():
        assert file.loader
        assert file.path is not None
        find(file.loader, "1.0")


DEVIATION = '[[deviation]]\nrequirement = "DISC-LNX-011"\nverdict = "hang"\nreason = "r"\n'


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("loader = Some", "not valid TOML"),
        ('versions = ">=1"', "the head needs `loader`"),
        ('loader = "Some"\nversions = "new"', "the head has a malformed version range: 'new'"),
        ('loader = "Some"\nversion = "1"', "the head has the unknown key 'version'"),
        ('loader = "Some"\ndeviation = "x"', "deviation is not a list; write [[deviation]]"),
        ('loader = "Some"\ndeviation = ["x"]', "[[deviation]] number 1 is not a table"),
        (
            HEAD + DEVIATION.replace("DISC-LNX-011", "DISC-LNX-999"),
            "number 1 (DISC-LNX-999) names a requirement",
        ),
        (
            HEAD + DEVIATION + DEVIATION.replace('reason = "r"', ""),
            "[[deviation]] number 2 (DISC-LNX-011) needs",
        ),
        (HEAD + DEVIATION.replace('"hang"', '"slow"'), "has verdict 'slow'; it must be one of"),
        (HEAD + DEVIATION.replace('"hang"', '"error"'), "has verdict 'error'"),
        (HEAD + DEVIATION.replace('"hang"', '["hang", 3]'), "has verdict 3"),
        (HEAD + DEVIATION.replace('"hang"', "[]"), "needs `verdict`"),
        (HEAD + DEVIATION.replace('"hang"', '"pass"'), "expects a pass, which is not a deviation"),
        (HEAD + DEVIATION + 'outcome = "x"', "has the unknown key 'outcome'"),
        (HEAD + DEVIATION + 'case = ""', "needs `case`"),
        (HEAD + DEVIATION + "deviates = []", "needs `deviates` as a list"),
        (HEAD + DEVIATION + 'deviates = "clFlush: SIGSEGV"', "needs `deviates` as a list"),
        (HEAD + 'sections = "DISC-LNX"', "the head needs `sections` as a list"),
        (HEAD + 'pinned = "all"', "`pinned` has a malformed version range: 'all'"),
        (HEAD + DEVIATION + 'versions = "2"', "(DISC-LNX-011) has a malformed version range"),
        (
            HEAD + '[[outcome]]\nrequirement = "DISC-LNX-017"\n',
            "[[outcome]] number 1 (DISC-LNX-017) needs `outcome`",
        ),
    ],
)
def test_a_malformed_file_is_said_clearly(tmp_path: Path, text: str, says: str) -> None:
    path = written(tmp_path, text)
    with pytest.raises(UsageError) as caught:
        load(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert says in str(caught.value)


def test_a_missing_file_is_said_clearly(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read: No such file"):
        load(tmp_path / "none.toml")


def test_entries_of_another_suite_are_not_stale(tmp_path: Path) -> None:
    path = tmp_path / "x.toml"
    entry = '[[deviation]]\nrequirement = "{}"\nverdict = "fail"\nreason = "so"\n'
    path.write_text('loader = "x"\n' + "".join(map(entry.format, ("DISC-LNX-001", "DISC-LNX-002", "DISP-ARG-001"))))
    expectations = load(path)
    assert [e.requirement for e in expectations.stale([(("DISC-LNX-001",), "test_a")])] == ["DISC-LNX-002"]
    both = [(("DISC-LNX-001",), "test_a"), (("DISP-ARG-002",), "test_b")]
    assert [e.requirement for e in expectations.stale(both)] == ["DISC-LNX-002", "DISP-ARG-001"]


def test_sections_that_a_file_has_not_seen(tmp_path: Path) -> None:
    seen = load(written(tmp_path, HEAD + 'confirmed = "2026-01-31"\nsections = ["DISC-LNX"]\n'))
    assert seen.confirmed == "2026-01-31"
    assert seen.has_seen(["DISC-LNX-011", "DISP-ARG-001"])
    assert not seen.has_seen(["DISP-ARG-001"])
    assert load(written(tmp_path, HEAD)).has_seen(["DISP-ARG-001"])  # an older file: nothing is known to be new


def test_an_entry_without_a_reason_is_unexplained(tmp_path: Path) -> None:
    unexplained = DEVIATION.replace('"r"', '"to be explained: assert 1"')
    expectations = load(written(tmp_path, HEAD + DEVIATION + unexplained))
    assert [entry.number for entry in expectations.unexplained] == [1]
