# SPDX-License-Identifier: Apache-2.0
"""Which check names which requirement, and what the state of the catalogue is made of."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from harness.cli import explain as explain_command
from harness.cli import requirements as requirements_command
from harness.cli.main import main
from harness.errors import UsageError
from harness.requirements.catalogue import Group, Index, Requirement, catalogue
from harness.requirements.marks import Check, find_checks
from harness.requirements.state import (
    checks_by_requirement,
    checks_without_proof,
    problems,
    section_states,
    state_of,
    without_proof,
)

SUITE = '''\
"""A suite."""
import pytest
from somewhere import requirement

CASES = [pytest.param(1, marks=requirement("DISC-LNX-005"))]
NAMED = ("DISC-LNX-006",)


@requirement("DISC-LNX-001", "DISC-LNX-002")
@pytest.mark.parametrize("x", [pytest.param(1, marks=pytest.mark.requirement("DISC-LNX-003"))])
def test_function(x) -> None:
    requirements("DISC-LNX-007")


@pytest.mark.requirement("DISC-LNX-004")
class TestClass:
    def test_method(self):
        pass
'''

EXPRESSIONS = """

@requirement(*NAMED)
@pytest.mark.parametrize("x", marked("DISC-LNX-008"))
def test_named(x):
    names = [pytest.param(1, marks=requirement(chosen(x) or "DISC-LNX-009"))]
"""


@pytest.fixture
def suites(tmp_path: Path) -> Path:
    folder = tmp_path / "suites" / "discovery"
    folder.mkdir(parents=True)
    (folder / "test_a.py").write_text(SUITE)
    return tmp_path / "suites"


def test_marks_are_found_wherever_they_stand(suites: Path) -> None:
    assert [(c.requirement, c.line, c.name) for c in find_checks(suites)] == [
        ("DISC-LNX-005", 5, ""),
        ("DISC-LNX-001", 9, "test_function"),
        ("DISC-LNX-002", 9, "test_function"),
        ("DISC-LNX-003", 10, "test_function"),
        ("DISC-LNX-004", 15, "TestClass"),
    ]


def test_an_expression_chooses_from_the_tables_of_the_file(suites: Path) -> None:
    (suites / "discovery" / "test_a.py").write_text(SUITE + EXPRESSIONS)
    checks = [(c.requirement, c.line, c.name) for c in find_checks(suites)]
    assert checks[1] == ("DISC-LNX-006", 6, "")
    assert checks[-2:] == [("DISC-LNX-008", 22, ""), ("DISC-LNX-009", 24, "")]
    assert "DISC-LNX-007" not in [name for name, _, _ in checks], "an ID in the body of a check is not a mark"


def test_an_expression_without_a_table_is_told(suites: Path) -> None:
    (suites / "discovery" / "test_a.py").write_text("@requirement(*somewhere.ids)\ndef test_x():\n    pass\n")
    assert [(c.requirement, c.line, c.name) for c in find_checks(suites)] == [(None, 1, "test_x")]


def test_a_check_says_where_it_is(suites: Path) -> None:
    check = find_checks(suites)[1]
    assert check.suite == "discovery"
    assert str(check) == "suites/discovery/test_a.py:9 test_function"


def test_broken_python_is_said_clearly(suites: Path) -> None:
    (suites / "discovery" / "test_b.py").write_text("def (:\n")
    with pytest.raises(UsageError, match=r"test_b\.py: not valid Python"):
        find_checks(suites)


def requirement(identifier: str, **changes: str | None) -> Requirement:
    group, section, _ = identifier.split("-")
    facts = {
        "subject": "loader",
        "strength": "must",
        "text": "T.",
        "source": "",
        "check": "",
        "fault": "",
        "sentence": "S.",
    }
    return Requirement(id=identifier, group=group, section=section, **(facts | changes))  # type: ignore[arg-type]


INDEX = Index(
    groups={"D": Group("Discovery", "discovery", ("A",)), "L": Group("Layers", "layers", ("A",), "waits")},
    later_by_subject={},
    documents={},
    titles={},
)


def test_must_without_the_sentence_of_a_text_is_a_problem(tmp_path: Path) -> None:
    silent = [requirement("D-A-001", sentence=None, later="waits"), requirement("D-A-002", later="waits")]
    silent.append(requirement("D-A-003", sentence=None, strength="should", later="waits"))
    (message,) = problems({r.id: r for r in silent}, INDEX, [], tmp_path)
    assert message.startswith("D-A-001: is a must without `sentence`")


def test_states() -> None:
    checked = {"D-A-001": 1}
    assert state_of(requirement("D-A-001", no_check="n", later="l"), checked) == "check"
    assert state_of(requirement("D-A-002", no_check="n", later="l"), checked) == "reason"
    assert state_of(requirement("D-A-003", later="l"), checked) == "later"
    assert state_of(requirement("D-A-004"), checked) == "open"
    entries = {f"D-A-00{n}": requirement(f"D-A-00{n}") for n in (1, 2, 3)}
    assert section_states(entries, checked) == {"D-A": {"check": 1, "open": 2}}


def found(suites: Path, checks: list[Check], *requirements: Requirement) -> list[str]:
    return problems({r.id: r for r in requirements}, INDEX, checks, suites)


def test_a_gap_in_the_field_of_a_suite_is_a_problem(suites: Path) -> None:
    (message,) = found(suites, [], requirement("D-A-001"))
    assert message.startswith("D-A-001: has neither a check in suites/discovery nor a reason")


@pytest.mark.parametrize(
    "entry",
    [
        requirement("L-A-001"),  # there is no layers suite yet
        requirement("D-A-001", later="waits"),
        requirement("D-A-001", no_check="cannot be had"),
        requirement("D-A-001", subject="ICD"),
    ],
    ids=["no suite", "later", "no check", "not for loaders"],
)
def test_no_gap(suites: Path, entry: Requirement) -> None:
    assert found(suites, [], entry) == []


def test_a_requirement_of_loader_and_icd_is_the_loaders_too(suites: Path) -> None:
    assert len(found(suites, [], requirement("D-A-001", subject="loader+ICD"))) == 1


def test_an_unknown_requirement_is_a_problem(suites: Path) -> None:
    check = Check("D-A-009", "suites/discovery/test_a.py", 3, "test_x")
    assert found(suites, [check]) == [
        "suites/discovery/test_a.py:3 test_x: names D-A-009, which is not in the catalogue"
    ]


def test_a_requirement_given_by_an_expression_is_a_problem(suites: Path) -> None:
    (message,) = found(suites, [Check(None, "suites/discovery/test_a.py", 3, "test_x")])
    assert "by an expression" in message


def test_a_check_of_what_cannot_be_checked_is_a_problem(suites: Path) -> None:
    check = Check("D-A-001", "suites/discovery/test_a.py", 3, "test_x")
    (message,) = found(suites, [check], requirement("D-A-001", no_check="cannot be had"))
    assert "says that no check can be had" in message


def test_a_group_cannot_wait_when_its_suite_checks_it(suites: Path) -> None:
    check = Check("L-A-001", "suites/layers/test_a.py", 3, "test_x")
    (message,) = found(suites, [check], requirement("L-A-001", later="waits"))
    assert "group L says it waits" in message
    elsewhere = Check("L-A-001", "suites/discovery/test_a.py", 3, "test_x")
    assert found(suites, [elsewhere], requirement("L-A-001", later="waits")) == []


@pytest.fixture
def commands(suites: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setattr(requirements_command, "_SUITES", suites)
    monkeypatch.setattr(explain_command, "_SUITES", suites)


def test_requirements_table(commands: None, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["requirements"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["section", "entries", "check", "reason", "later", "open", "faults"]
    (row,) = [line for line in lines if line.startswith("DISC-LNX ")]
    assert row.split()[-4:-1] == ["38", "5", "33"]
    *_, total, blank, later, open_ = lines
    assert total.split()[:2] == ["total", str(len(catalogue()))]
    assert not blank
    assert later == "later (its check waits for something): LAY-DEI-009"
    assert open_.startswith("open (it has no check yet): DISC-GEN-001, ")
    assert "DISC-LNX-005" not in open_


def test_requirements_markdown(commands: None, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["requirements", "--markdown"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[1] == "| --- | --: | --: | --: | --: | --: | --: |"
    end = lines.index("")
    assert {line.count("|") for line in lines[:end]} == {8}
    head, rule, *matrix = lines[end + 1 :]
    assert head == "| requirement | strength | checks | faults |"
    assert len(matrix) == len(catalogue())
    assert {re.sub(r"\\\\.", "", line).count("|") for line in (rule, *matrix)} == {5}
    (row,) = [line for line in matrix if line.startswith("| DISC-LNX-005 |")]
    assert "| suites/discovery/test_a.py:5 | suffix_without_dot," in row
    assert any(line.startswith("| DISC-WIN-014 |") and "| none: " in line for line in matrix)


def test_requirements_json(commands: None, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["requirements", "--json"]) == 0
    entries = {entry["id"]: entry for entry in json.loads(capsys.readouterr().out)}
    assert len(entries) == len(catalogue())
    assert entries["DISC-LNX-001"]["state"] == "check"
    assert entries["DISC-LNX-001"]["checks"] == [
        {"file": "suites/discovery/test_a.py", "line": 9, "name": "test_function"}
    ]
    assert entries["DISC-LNX-008"]["state"] == "open"
    assert "fifo_blocks" in entries["DISC-LNX-011"]["faults"]


def test_requirements_proof_names_checks_and_faults(commands: None, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["requirements", "--proof"]) == 0
    lines = capsys.readouterr().out.splitlines()
    at = lines.index("DISC-LNX-001  must")
    assert lines[at + 1] == "  check   test_function"
    assert lines[at + 2].startswith("  faults  no_default_folder, ")


def selftest_result(folder: Path, state: str, whole: bool = True) -> Path:
    path = folder / "result.json"
    check = {"name": "suites/discovery/test_a.py::test_function", "state": state}
    check |= {"proof": "fifo_blocks" if state == "proven" else None}  # type: ignore[dict-item]
    path.write_text(json.dumps({"whole": whole, "checks": [check]}))
    return path


def test_requirements_say_what_a_self_test_proved(
    commands: None, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    result = selftest_result(tmp_path, "proven")
    assert main(["requirements", "--proof", "--selftest", str(result)]) == 0
    assert "  check   test_function (fails under fifo_blocks)\n" in capsys.readouterr().out


@pytest.mark.parametrize("state", ["proven", "unproven", "not applicable"])
def test_requirements_check_complains_of_what_a_self_test_left_open(
    commands: None, capsys: pytest.CaptureFixture[str], tmp_path: Path, state: str
) -> None:
    main(["requirements", "--check", "--selftest", str(selftest_result(tmp_path, state))])
    message = "suites/discovery/test_a.py::test_function: the self-test has no proof of it"
    assert (message in capsys.readouterr().err) == (state == "unproven")


@pytest.mark.parametrize(
    ("text", "message"),
    [(None, "cannot be read"), ("{", "is not a result"), ('{"checks": 1}', "is not a result"), ("part", "of a part")],
)
def test_requirements_refuse_another_file(
    commands: None, capsys: pytest.CaptureFixture[str], tmp_path: Path, text: str | None, message: str
) -> None:
    path = tmp_path / "result.json"
    if text == "part":
        selftest_result(tmp_path, "proven", whole=False)
    elif text is not None:
        path.write_text(text)
    assert main(["requirements", "--selftest", str(path)]) == 2
    assert message in capsys.readouterr().err


def test_a_check_whose_requirements_have_no_fault_is_a_problem() -> None:
    checks = [Check(i, "suites/discovery/test_a.py", 3, "test_x") for i in ("D-A-001", "D-A-002")]
    (message,) = checks_without_proof(checks, {"D-A-003": True})
    assert message.startswith("suites/discovery/test_a.py:3 test_x: none of D-A-001, D-A-002 has a mutant")
    assert checks_without_proof(checks, {"D-A-002": True}) == []


def test_a_check_without_a_fault_is_a_problem() -> None:
    entries = {f"D-A-00{n}": requirement(f"D-A-00{n}", strength=s) for n, s in enumerate(("must", "must", "de-facto"))}
    checked = dict.fromkeys(entries)
    (message,) = without_proof(entries, checked, {"D-A-000": 1})
    assert message.startswith("D-A-001: is checked, but has neither a mutant nor a reason")
    assert without_proof(entries, {}, {}) == []
    assert without_proof({"D-A-001": requirement("D-A-001", subject="ICD")}, {"D-A-001": 1}, {}) == []


def test_requirements_check_finds_gaps(commands: None, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["requirements", "--check"]) == 1
    message = capsys.readouterr().err
    assert "clharness: DISC-LNX-008: has neither a check" in message
    assert "DISC-LNX-001:" not in message
    assert "LAY-DEI-009" not in message


def test_explain_a_requirement(commands: None, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "disc-lnx-001"]) == 0
    message = capsys.readouterr().out
    assert "Without overrides the loader scans the directory /etc/OpenCL/vendors." in message
    for label in ("source", "checked by", "fault", "checks"):
        assert f"\n  {label:13}" in message
    assert "S0 = cl_khr_icd, text of its versions 1.x" in message
    assert "suites/discovery/test_a.py:9 test_function" in message


def test_explain_says_why_there_is_no_check(commands: None, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "DISC-WIN-014", "LAY-DEI-009"]) == 0
    message = capsys.readouterr().out
    assert "A duty of installers" in message
    assert "needs the checks of the loader's companion programs" in message


def test_explain_shows_grey_area_and_expectations(
    commands: None, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "some.toml").write_text(
        'loader = "Some"\nversions = ">=1"\n[[outcome]]\nrequirement = "DISC-LNX-022"\noutcome = "lost"\n'
        '[[deviation]]\nrequirement = "DISC-LNX-022"\ncase = "*x"\nverdict = ["fail", "hang"]\n'
        'reason = "why"\nlink = "somewhere"\nversions = ">=2"\n'
    )
    monkeypatch.setattr("harness.expectations.known.__defaults__", (tmp_path,))
    assert main(["explain", "DISC-LNX-022"]) == 0
    message = capsys.readouterr().out
    assert "grey area    File content details" in message
    assert "  known        Some >=2: deviation fail or hang in *x: why <somewhere>\n" in message
    assert "               Some >=1: outcome lost\n" in message


def test_explain_a_section(commands: None, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "DISC-AND"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "DISC-AND  Android"
    assert len(lines) == 4


def test_explain_an_unknown_requirement(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "DISC-LNX-1O1"]) == 2
    message = capsys.readouterr().err
    assert message.startswith("clharness: DISC-LNX-1O1: no such requirement; did you mean DISC-LNX-")
    assert message.count("\n") == 1


def test_checks_by_requirement_leaves_out_expressions(suites: Path) -> None:
    assert None not in checks_by_requirement(find_checks(suites))
