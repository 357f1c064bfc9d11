# SPDX-License-Identifier: Apache-2.0
"""--update-expectations: the file then says what the run showed, and keeps what people wrote into it."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import pytest

from harness import expectations as expectations_module
from harness.deviation import Deviation
from harness.errors import UsageError
from harness.expectations import Expectations, load
from harness.expectations.document import Document
from harness.expectations.update import refuse_unasked, update
from harness.report.records import CaseResult, UnsupportedKind, Verdict
from tests.samples import WHOLE

LOADER = {"name": "Some loader", "version": "2.3.1"}
FIFO = "DISC-LNX-011"
NEWLINES = "DISC-LNX-017"

FILE = """\
# About this loader.
loader = "Some loader"
versions = ">=2, <3"

# Upstream knows.
[[deviation]]
requirement = "DISC-LNX-011"
verdict = "hang"  # forever
reason = "opens every file"

# Seen in the wild.
[[outcome]]
requirement = "DISC-LNX-017"
outcome = "accepted"
"""


def case(
    name: str,
    requirement: str = FIFO,
    verdict: Verdict = "pass",
    outcome: str | None = None,
    unsupported: UnsupportedKind | None = None,
    message: str = "",
    deviates: tuple[str, ...] = (),
) -> CaseResult:
    return CaseResult(
        case=f"suites/discovery/test_x.py::{name}",
        requirements=(requirement,),
        verdict=verdict,
        outcome=outcome,
        unsupported=unsupported,
        message=message,
        deviations=tuple(Deviation(*text.split(": ")) for text in deviates),
    )


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "some-loader.toml"
    file.write_text(FILE)
    return file


def updated(path: Path, *results: CaseResult, whole_suite: bool = True) -> tuple[str, list[str]]:
    target, sayings = update(load(path, "2.3.1"), results, LOADER, whole_suite)
    assert target == path
    return path.read_text(), sayings


ACCEPTED = case("test_newlines", NEWLINES, outcome="accepted")
HANGS = case("test_fifo", verdict="hang")


def test_nothing_changes_when_all_is_as_expected(path: Path) -> None:
    before = path.stat().st_mtime_ns
    assert updated(path, HANGS, ACCEPTED) == (FILE, [])
    assert path.stat().st_mtime_ns == before


def test_a_deviation_that_is_gone_goes_with_its_comment(path: Path) -> None:
    text, sayings = updated(path, case("test_fifo"), ACCEPTED)
    assert text == FILE[: FILE.index("# Upstream")] + FILE[FILE.index("# Seen") :]
    assert sayings == ["removed deviation DISC-LNX-011: its cases pass"]


def test_another_verdict_is_changed_on_its_line(path: Path) -> None:
    text, sayings = updated(path, case("test_fifo", verdict="crash"), ACCEPTED)
    assert text == FILE.replace('verdict = "hang"', 'verdict = "crash"')
    assert sayings == ["changed deviation DISC-LNX-011: the verdict is now crash"]


def test_another_outcome_is_changed_on_its_line(path: Path) -> None:
    text, sayings = updated(path, HANGS, case("test_newlines", NEWLINES, outcome='"refused"'))
    assert text == FILE.replace('outcome = "accepted"', 'outcome = "\\"refused\\""')
    assert sayings == ['changed outcome DISC-LNX-017: the outcome is now "refused"']


def test_an_entry_for_several_cases_is_narrowed_to_those_that_deviate(path: Path) -> None:
    text, sayings = updated(path, case("test_f[a]"), case("test_f[b]", verdict="hang"), ACCEPTED)
    assert sayings == ["narrowed deviation DISC-LNX-011 to 1 of its 2 cases"]
    assert "# Upstream knows.\n[[deviation]]\n" in text
    after = load(path, "2.3.1")
    assert after.expected([FIFO], "test_f[a]").verdicts == ("pass",)
    deviating = after.expected([FIFO], "test_f[b]")
    assert (deviating.verdicts, deviating.reason) == (("hang",), "opens every file")


def test_cases_that_now_differ_get_an_entry_each(path: Path) -> None:
    updated(path, case("test_f[a]", verdict="fail"), case("test_f[b]", verdict="hang"), ACCEPTED)
    after = load(path, "2.3.1")
    assert after.expected([FIFO], "test_f[a]").verdicts == ("fail",)
    assert after.expected([FIFO], "test_f[b]").verdicts == ("hang",)


def test_a_verdict_of_a_list_stays_a_list(path: Path) -> None:
    path.write_text(FILE.replace('"hang"', '["hang", "crash"]'))
    assert updated(path, case("test_f[a]", verdict="crash"), ACCEPTED)[1] == []
    updated(path, case("test_f[a]"), case("test_f[b]", verdict="crash"), ACCEPTED)
    assert load(path, "2.3.1").expected([FIFO], "test_f[b]").verdicts == ("hang", "crash")


def test_a_new_deviation_is_appended_with_its_message(path: Path) -> None:
    new = case("test_crlf", "DISC-LNX-013", "fail", message="expected {a}\nhappened {}")
    text, sayings = updated(path, HANGS, ACCEPTED, new)
    assert text.startswith(FILE)
    assert text.endswith(
        '\n[[deviation]]\nrequirement = "DISC-LNX-013"\nverdict = "fail"\nreason = "to be explained: expected {a}"\n'
    )
    assert sayings == ["added fail for DISC-LNX-013"]


def test_a_new_outcome_is_pinned(path: Path) -> None:
    _, sayings = updated(path, HANGS, ACCEPTED, case("test_bom", "DISC-LNX-022", outcome="lost"))
    assert sayings == ["pinned 'lost' for DISC-LNX-022"]
    assert load(path, "2.3.1").expected(["DISC-LNX-022"], "test_bom").outcome == "lost"


@pytest.mark.parametrize(
    ("cases", "patterns"),
    [
        ({"test_a": "fail", "test_b": "fail"}, [None]),
        ({"test_a[1]": "fail", "test_a[2]": "fail", "test_b": "pass"}, ["test_a[*]"]),
        ({"test_a[1]": "fail", "test_a[2]": "crash", "test_b": "pass"}, ["test_a[1]", "test_a[2]"]),
        ({"test_a[1]": "fail", "test_a[2]": "pass"}, ["test_a[1]"]),
        ({"test_a": "fail", "test_b": "crash"}, ["test_a", "test_b"]),
    ],
)
def test_new_entries_are_as_few_as_say_the_same(
    path: Path, cases: dict[str, Verdict], patterns: list[str | None]
) -> None:
    results = [case(name, "DISC-LNX-013", verdict) for name, verdict in cases.items()]
    updated(path, HANGS, ACCEPTED, *results)
    after = load(path, "2.3.1")
    assert [e.case for e in after.entries if e.requirement == "DISC-LNX-013"] == patterns
    for name, verdict in cases.items():
        assert after.expected(["DISC-LNX-013"], name).verdicts == (verdict,)


def test_new_entries_come_in_the_order_of_the_catalogue(path: Path) -> None:
    names = [("test_b", "DISC-LNX-014"), ("test_c[2]", "DISC-LNX-013"), ("test_c[1]", "DISC-LNX-013")]
    results = [case(name, requirement, "fail") for name, requirement in names]
    updated(path, *results, whole_suite=False)
    assert [e.case for e in load(path).entries if e.case] == ["test_c[1]", "test_c[2]", "test_b"]


def test_a_part_of_the_suite_gets_exact_entries(path: Path) -> None:
    new = case("test_a[1]", "DISC-LNX-013", "fail")
    updated(path, new, whole_suite=False)
    assert [e.case for e in load(path).entries if e.requirement == "DISC-LNX-013"] == ["test_a[1]"]


def test_a_part_of_the_suite_leaves_entries_for_other_cases_alone(path: Path) -> None:
    text, sayings = updated(path, case("test_fifo"), whole_suite=False)
    assert text == FILE
    assert sayings == ["left deviation DISC-LNX-011 alone, though it no longer holds: not all its cases were judged"]


def test_a_part_of_the_suite_can_remove_an_entry_for_one_case(path: Path) -> None:
    path.write_text(FILE.replace('verdict = "hang"', 'case = "test_fifo"\nverdict = "hang"'))
    _, sayings = updated(path, case("test_fifo"), whole_suite=False)
    assert sayings == ["removed deviation DISC-LNX-011 test_fifo: its cases pass"]


def test_trouble_of_machine_and_harness_is_no_evidence(path: Path) -> None:
    trouble = [
        case("test_fifo", verdict="error"),
        case("test_socket", verdict="unsupported", unsupported="machine"),
        case("test_other", "DISC-LNX-013", "error"),
        case("test_else", "DISC-LNX-013", "unsupported", unsupported="machine"),
    ]
    assert updated(path, *trouble, ACCEPTED) == (FILE, [])


def test_what_could_not_be_judged_keeps_its_entry(path: Path) -> None:
    machine = case("test_f[b]", verdict="unsupported", unsupported="machine")
    text, sayings = updated(path, case("test_f[a]"), machine, ACCEPTED)
    assert text == FILE
    assert sayings[0].startswith("left deviation DISC-LNX-011 alone")


LACKING = "the loader does not honour"


def lacking(name: str, capability: str) -> CaseResult:
    """A case for which the loader lacks a capability."""
    result = case(name, "DISC-LNX-013", "unsupported", unsupported="loader")
    return dataclasses.replace(result, capability=capability, reason=f"{LACKING} {capability}")


@pytest.mark.parametrize("whole_suite", [True, False])
def test_a_capability_that_the_loader_never_had_is_not_recorded(path: Path, whole_suite: bool) -> None:
    cases = [lacking("test_x", "OCL_ICD_VENDORS"), lacking("test_y", "OPENCL_LAYERS")]
    assert updated(path, HANGS, ACCEPTED, *cases, whole_suite=whole_suite) == (FILE, [])


def test_a_capability_that_is_gone_is_recorded_with_its_own_reason(path: Path) -> None:
    path.write_text(
        FILE.replace("# Upstream", '[capabilities]\nOCL_ICD_VENDORS = ""\nOPENCL_LAYERS = ""\n\n# Upstream')
    )
    updated(path, HANGS, ACCEPTED, lacking("test_x", "OCL_ICD_VENDORS"), lacking("test_y", "OPENCL_LAYERS"))
    after = load(path)
    for name, capability in (("test_x", "OCL_ICD_VENDORS"), ("test_y", "OPENCL_LAYERS")):
        expected = after.expected(["DISC-LNX-013"], name)
        assert expected.verdicts == ("unsupported",)
        assert expected.reason == f"to be explained: {LACKING} {capability}"


def test_stale_entries_go_after_a_run_of_the_whole_suite(path: Path) -> None:
    text, sayings = updated(path, ACCEPTED)
    assert "deviation" not in text
    assert sayings == ["removed deviation DISC-LNX-011: no case has it"]


def test_an_unusual_layout_loses_its_comments_and_nothing_else(path: Path) -> None:
    path.write_text(
        'loader = "Some loader"\ndeviation = [{requirement = "DISC-LNX-011", verdict = "hang", reason = "r"},'
        ' {requirement = "DISC-LNX-012", verdict = "fail", reason = "s"}]\n'
    )
    text, _ = updated(path, case("test_fifo", verdict="crash"), case("test_x", "DISC-LNX-012", "fail"))
    after = load(path)
    assert [(e.requirement, e.verdicts, e.reason) for e in after.entries] == [
        (FIFO, ("crash",), "r"),
        ("DISC-LNX-012", ("fail",), "s"),
    ]
    assert text.startswith('loader = "Some loader"\n')


def test_a_header_inside_a_string_does_not_confuse(path: Path) -> None:
    tricky = 'reason = """opens\n[[deviation]]\nverdict = "fail"\n"""\n'
    path.write_text(FILE.replace('reason = "opens every file"\n', tricky))
    updated(path, case("test_fifo", verdict="crash"), ACCEPTED)
    after = load(path).expected([FIFO], "test_fifo")
    assert after.verdicts == ("crash",)
    assert after.reason == 'opens\n[[deviation]]\nverdict = "fail"\n'


def test_a_new_file_is_for_the_version_that_ran(tmp_path: Path) -> None:
    folder = tmp_path
    hard = 'quote " backslash \\ tab\t bell \a byte \udc80'
    nothing = expectations_module.find("Some loader", "2.3.1", folder)
    file = folder / "some-loader.toml"
    path, sayings = update(nothing, [case("t", verdict="fail", message=hard)], LOADER, True, file)
    assert path == file
    assert sayings[0] == "new file for Some loader 2.3.1"
    expectations = expectations_module.find("Some loader", "2.3.1", folder)
    assert expectations.expected([FIFO], "t").verdicts == ("fail",)
    assert expectations.expected([FIFO], "t").reason == f"to be explained: {hard[:-1]}?"
    assert expectations_module.find("Some loader", "2.3.2", folder).path is None


@pytest.mark.parametrize("name", ["Some\nloader", 'Some """\n[[deviation]]\n', "Some\x01\x7floader", "Some loader\r\n"])
@pytest.mark.parametrize("version", ["2.3.1", "2.3.1\n", "2.3 (git)", "v2.3", "2\u00b2", "2" * 250])
def test_a_new_file_is_about_whatever_the_loader_calls_itself(name: str, version: str, tmp_path: Path) -> None:
    """Nothing of that is read as a line of the file."""
    file = tmp_path / "some.toml"
    update(Expectations(), [case("t", verdict="fail")], LOADER | {"name": name, "version": version}, True, file)
    expectations = expectations_module.find(name, version, tmp_path)
    assert expectations.path == file and len(expectations.entries) == 1


@pytest.mark.parametrize(
    ("folder", "kind"),
    [
        (expectations_module.FOLDER, "loader"),
        (expectations_module.FOLDER / "layers", "layer"),
        (expectations_module.FOLDER / "icds", "icd"),
    ],
)
def test_a_subject_that_no_file_is_about_is_not_written_into_the_checkout(folder: Path, kind: str) -> None:
    before = {path: path.stat().st_mtime_ns for path in folder.iterdir()}
    with pytest.raises(UsageError) as caught:
        refuse_unasked(Expectations(folder=folder), LOADER | {"path": "/opt/my lib.so"}, None, kind)
    command = f"./clharness {kind} '/opt/my lib.so' --update-expectations --expect some-loader.toml"
    assert str(caught.value) == (
        "--update-expectations: no file of this project is about Some loader 2.3.1; "
        f"name the file to write with --expect: {command}"
    )
    assert {path: path.stat().st_mtime_ns for path in folder.iterdir()} == before


def test_a_new_file_can_be_named(tmp_path: Path) -> None:
    unnamed = {"name": "unknown", "version": ""}
    path, _ = update(Expectations(), [HANGS], unnamed, True, tmp_path / "mine.toml")
    assert load(path).expected([FIFO], "test_fifo").verdicts == ("hang",)


def test_a_loader_without_a_name_needs_a_named_file() -> None:
    with pytest.raises(UsageError, match="name the file to write with --expect"):
        update(Expectations(), [HANGS], {"name": "unknown"}, True)


def test_a_folder_that_cannot_be_written_is_said_clearly(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"none/x\.toml: cannot be written: No such file or directory"):
        update(Expectations(), [HANGS], LOADER, True, tmp_path / "none" / "x.toml")


def test_nothing_is_left_beside_the_file(path: Path) -> None:
    updated(path, case("test_fifo"))
    assert list(path.parent.iterdir()) == [path]


def test_document_set_changes_the_value_only() -> None:
    document = Document('[[deviation]]\n  verdict  =  ["hang",\n   "crash"] # why\nreason = "verdict = x"\n')
    document.set("deviation", 0, "verdict", "fail")
    assert document.render() == '[[deviation]]\n  verdict  =  "fail" # why\nreason = "verdict = x"\n'


def test_document_adds_a_value_above_the_comments_between_entries() -> None:
    text = FILE.replace("# Seen in", "# --- Outcomes ---\n\n# Seen in")
    document = Document(text)
    document.set("deviation", 0, "link", "x")
    assert document.render() == text.replace('every file"\n', 'every file"\nlink = "x"\n')


def test_document_keeps_entries_of_two_kinds_in_turns() -> None:
    text = FILE + FILE[FILE.index("\n# Upstream") :].replace("DISC-LNX-011", "DISC-LNX-012")
    document = Document(text)
    document.set("deviation", 1, "verdict", "crash")
    assert document.render() == text.replace('"DISC-LNX-012"\nverdict = "hang"', '"DISC-LNX-012"\nverdict = "crash"')


def test_document_gives_every_file_of_the_project_back_as_it_is() -> None:
    """Of each the head and every eighth entry, the last ones, too; ci/nightly wants all of them."""
    for file in (*expectations_module.FOLDER.glob("*.toml"), *expectations_module.FOLDER.glob("*/*.toml")):
        text = file.read_text(encoding="utf-8")
        if not WHOLE:
            head, *entries = re.split(r"^(?=\[\[)", text, flags=re.MULTILINE)
            text = "".join([head, *entries[::-8][::-1]])
        assert Document(text).render() == text, file


# --- which calls deviate, and how ---

CRASHES = ("clFlush: SIGSEGV",)
ANSWERS = ("clFinish: CL_SUCCESS instead of CL_INVALID_VALUE", "clFlush: SIGSEGV")


def test_a_new_entry_lists_what_deviates(path: Path) -> None:
    updated(path, HANGS, ACCEPTED, case("test_crlf", "DISC-LNX-013", "fail", deviates=ANSWERS))
    assert load(path).expected(["DISC-LNX-013"], "test_crlf").deviation.deviates == ANSWERS  # type: ignore[union-attr]


def test_an_entry_without_a_list_gets_one_and_keeps_the_rest(path: Path) -> None:
    text, sayings = updated(path, case("test_fifo", verdict="hang", deviates=CRASHES), ACCEPTED)
    listed = 'reason = "opens every file"\ndeviates = ["clFlush: SIGSEGV"]\n'
    assert text == FILE.replace('reason = "opens every file"\n', listed)
    assert sayings == ["changed deviation DISC-LNX-011: what deviates is now clFlush: SIGSEGV"]
    assert updated(path, case("test_fifo", verdict="hang", deviates=CRASHES), ACCEPTED) == (text, [])


def test_a_pattern_that_fits_what_deviates_is_kept(path: Path) -> None:
    path.write_text(FILE.replace('reason = "op', 'deviates = ["cl*: SIG*"]\nreason = "op'))
    assert updated(path, case("test_fifo", verdict="hang", deviates=CRASHES), ACCEPTED)[1] == []


def test_cases_that_deviate_otherwise_are_taken_apart(path: Path) -> None:
    results = [case(f"test_f[{n}]", verdict="hang", deviates=CRASHES if n < 3 else ANSWERS) for n in (1, 2, 3)]
    _, sayings = updated(path, *results, ACCEPTED)
    assert sayings == ["split deviation DISC-LNX-011: its cases deviate in 3 ways"]
    after = load(path)
    assert [(e.case, e.deviates) for e in after.entries if e.kind == "deviation"] == [
        ("test_f[1]", CRASHES),
        ("test_f[2]", CRASHES),
        ("test_f[3]", ANSWERS),
    ]
    assert {e.reason for e in after.entries if e.kind == "deviation"} == {"opens every file"}


def test_a_capability_of_another_version_does_not_narrow_an_entry(path: Path) -> None:
    lacking = case("test_f[b]", verdict="unsupported", unsupported="loader")
    updated(path, case("test_f[a]", verdict="hang", deviates=CRASHES), lacking, ACCEPTED)
    assert [(e.case, e.deviates) for e in load(path).entries[:1]] == [(None, CRASHES)]
    text = path.read_text()
    _, sayings = updated(path, case("test_f[a]"), lacking, ACCEPTED)
    assert path.read_text() == text
    assert sayings == ["left deviation DISC-LNX-011 alone, though it no longer holds: not all its cases were judged"]


def test_chance_adds_to_what_is_listed(path: Path) -> None:
    path.write_text(FILE.replace('"hang"', '["hang", "pass"]'))
    updated(path, case("test_fifo", verdict="hang", deviates=CRASHES), ACCEPTED)
    updated(path, case("test_fifo", verdict="hang", deviates=ANSWERS[:1]), ACCEPTED)
    assert load(path).entries[0].deviates == (*CRASHES, ANSWERS[0])


def test_a_failure_without_a_text_is_not_listed(path: Path) -> None:
    path.write_text(FILE.replace('"hang"', '["hang", "fail", "pass"]'))
    silent = dataclasses.replace(case("test_fifo", verdict="fail"), deviations=(Deviation("", ""),))
    text, _ = updated(path, silent, ACCEPTED)
    assert "deviates" not in text
    assert load(path).entries[0].verdicts == ("hang", "fail", "pass")


def test_a_part_of_the_suite_does_not_list_for_cases_that_did_not_run(path: Path) -> None:
    result = case("test_fifo", verdict="hang", deviates=CRASHES)
    assert updated(path, result, ACCEPTED, whole_suite=False) == (FILE, [])


@pytest.mark.parametrize(
    ("red", "green", "expected"),
    [
        (["test_a[x-1]", "test_a[x-2]"], ["test_a[y-1]"], ["test_a[x-*]"]),
        (["test_a[x-1]", "test_a[y-1]"], ["test_a[y-2]"], ["test_a[*-1]"]),
        (["test_a[x-1]", "test_a[y-2]"], ["test_a[x-2]"], ["test_a[x-1]", "test_a[y-2]"]),
        (["test_a[1]", "test_a[2]"], ["test_b"], ["test_a[*]"]),
        (["test_a[1]", "test_b"], [], [None]),
    ],
)
def test_entries_that_say_the_same_become_one(
    path: Path, red: list[str], green: list[str], expected: list[str | None]
) -> None:
    entry = '\n[[deviation]]\nrequirement = "DISC-LNX-013"\ncase = "{}"\nverdict = "fail"\nreason = "r"\n'
    path.write_text(FILE + "".join(map(entry.format, red)))
    results = [case(name, "DISC-LNX-013", "fail", deviates=CRASHES) for name in red]
    updated(path, HANGS, ACCEPTED, *results, *(case(name, "DISC-LNX-013") for name in green))
    after = [e for e in load(path).entries if e.requirement == "DISC-LNX-013"]
    assert [e.case for e in after] == expected
    assert {(e.deviates, e.reason) for e in after} == {(CRASHES, "r")}


def test_a_pattern_becomes_one_with_entries_that_say_the_same(path: Path) -> None:
    entry = '\n[[deviation]]\nrequirement = "DISC-LNX-013"\ncase = "{}"\nverdict = "fail"\nreason = "r"\n'
    path.write_text(FILE + entry.format("test_a[x-*]") + entry.format("test_a[y-1]") + entry.format("test_a[y-2]"))
    names = ["test_a[x-1]", "test_a[x-2]", "test_a[y-1]", "test_a[y-2]"]
    results = [case(name, "DISC-LNX-013", "fail", deviates=CRASHES) for name in names]
    _, sayings = updated(path, HANGS, ACCEPTED, *results, case("test_b", "DISC-LNX-013"))
    assert [e.case for e in load(path).entries if e.requirement == "DISC-LNX-013"] == ["test_a[*]"]
    assert sayings[-1] == "folded 3 entries for DISC-LNX-013 into 1"


def test_entries_with_comments_or_other_reasons_stay_apart(path: Path) -> None:
    entry = '\n{}[[deviation]]\nrequirement = "DISC-LNX-013"\ncase = "test_a[{}]"\nverdict = "fail"\nreason = "{}"\n'
    path.write_text(FILE + entry.format("", 1, "r") + entry.format("# Mind this.\n", 2, "r") + entry.format("", 3, "s"))
    results = [case(f"test_a[{n}]", "DISC-LNX-013", "fail", deviates=CRASHES) for n in (1, 2, 3)]
    text, _ = updated(path, HANGS, ACCEPTED, *results)
    assert [e.case for e in load(path).entries if e.requirement == "DISC-LNX-013"] == [r.name for r in results]
    assert "# Mind this.\n[[deviation]]" in text


# --- with which catalogue a file was last confirmed ---

DAY = "2026-01-31"


def confirmed(path: Path, *results: CaseResult, whole_suite: bool = True) -> tuple[str, list[str]]:
    _, sayings = update(load(path, "2.3.1"), results, LOADER, whole_suite, day=DAY)
    return path.read_text(), sayings


def test_a_run_of_all_cases_confirms_the_file(path: Path) -> None:
    text, sayings = confirmed(path, HANGS, ACCEPTED, case("test_x", "DISC-ENV-001"))
    head = f'versions = ">=2, <3"\nconfirmed = "{DAY}"\nsections = [\n    "DISC-LNX", "DISC-ENV",\n]\n'
    assert text == FILE.replace('versions = ">=2, <3"\n', head)
    assert sayings == [f"confirmed on {DAY}, with 2 sections of the catalogue"]
    assert confirmed(path, HANGS, ACCEPTED) == (text, [])


def test_a_head_with_tables_is_confirmed_above_them(path: Path) -> None:
    path.write_text(FILE.replace("\n# Upstream", '\n# What it has.\n[capabilities]\n"ICD 2" = ""\n\n# Upstream'))
    text, _ = confirmed(path, HANGS, ACCEPTED)
    head = f'versions = ">=2, <3"\nconfirmed = "{DAY}"\nsections = [\n    "DISC-LNX",\n]\n'
    assert f"{head}\n# What it has.\n[capabilities]\n" in text
    assert "# Upstream knows.\n[[deviation]]" in text


def test_a_part_of_the_suite_confirms_nothing(path: Path) -> None:
    assert confirmed(path, HANGS, ACCEPTED, whole_suite=False) == (FILE, [])
