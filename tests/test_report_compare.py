# SPDX-License-Identifier: Apache-2.0
"""What differs between two runs; bisecting; and what the commands about recorded runs say and end with."""

from __future__ import annotations

import dataclasses
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from harness.build import ROOT, build
from harness.cli.main import main
from harness.deviation import Deviation
from harness.report import CaseResult, Footer, Header, SubjectRecord
from harness.report.compare import KINDS, compare, lines
from harness.report.markdown_compare import comparison_summary
from harness.report.records import counts_of, to_line
from harness.report.saved import Saved, read
from harness.requirements.catalogue import catalogue
from harness.sandbox.vulkan import VulkanSandbox
from tests.forked import clharness
from tests.small_runs import SmallRun
from tests.test_report_terminal import HEADER, case

WRONG = (Deviation("size=0", "CL_SUCCESS instead of CL_INVALID_VALUE"),)
WORSE = (*WRONG, Deviation("ptr=NULL", "SIGSEGV"))


def run(*results: CaseResult, version: str = "1", name: str = "Some") -> Saved:
    facts = {"path": "/lib/libOpenCL.so.1", "name": name, "version": version}
    header = dataclasses.replace(HEADER, subject=SubjectRecord(facts=facts))
    return Saved(Path("x"), header, results, footer={"complete": True})


def plain(text: str, _style: str) -> str:
    return text


@pytest.mark.parametrize(
    ("before", "after", "kind"),
    [
        ({"verdict": "pass"}, {"verdict": "fail"}, "broken"),
        ({"verdict": "unsupported", "unsupported": "loader"}, {"verdict": "fail"}, "capability"),
        ({"verdict": "unsupported", "unsupported": "machine"}, {"verdict": "crash"}, "changed"),
        ({"verdict": "fail"}, {"verdict": "crash"}, "broken"),
        ({"verdict": "fail", "deviations": WRONG}, {"verdict": "fail", "deviations": WORSE}, "broken"),
        ({"verdict": "pass"}, {"verdict": "unsupported", "unsupported": "loader"}, "broken"),
        ({"verdict": "fail"}, {"verdict": "pass"}, "fixed"),
        ({"verdict": "hang"}, {"verdict": "unsupported", "unsupported": "machine"}, "changed"),
        ({"verdict": "hang"}, {"verdict": "unsupported", "unsupported": "loader"}, "capability"),
        ({"verdict": "pass", "outcome": "a"}, {"verdict": "pass", "outcome": "b"}, "changed"),
        ({"verdict": "crash"}, {"verdict": "fail"}, "changed"),
        ({"verdict": "fail", "deviations": WORSE}, {"verdict": "fail", "deviations": WRONG}, "changed"),
        ({"verdict": "pass"}, {"verdict": "unsupported", "unsupported": "machine"}, "changed"),
        (None, {"verdict": "fail"}, "new"),
        ({"verdict": "fail"}, None, "gone"),
        ({"verdict": "fail", "deviations": WRONG}, {"verdict": "fail", "deviations": WRONG}, None),
        ({"verdict": "pass", "outcome": "a"}, {"verdict": "pass", "outcome": "a"}, None),
        ({"verdict": "fail"}, {"verdict": "fail", "deviations": WRONG}, "changed"),
    ],
)
def test_kind_of_a_change(before: dict[str, Any] | None, after: dict[str, Any] | None, kind: str | None) -> None:
    """What was expected of either run makes no difference."""
    sides = [[] if about is None else [case("test_x", **about)] for about in (before, after)]
    comparison = compare(run(*sides[0]), run(*sides[1]))
    assert [change.kind for change in comparison.changes] == ([kind] if kind else [])
    assert comparison.broke == (kind == "broken")


def test_records_that_could_not_hold_deviations_and_outcomes_do_not_differ_in_them() -> None:
    """A check that fails as before has not changed because its record now says more."""
    old = run(case("test_a", "fail"), case("test_b"))
    new = run(case("test_a", "fail", deviations=WRONG), case("test_b", outcome="a"))
    assert not compare(dataclasses.replace(old, written=2), new).changes
    assert [change.kind for change in compare(old, new).changes] == ["changed", "changed"]


def test_gained_capability_breaks_nothing_and_a_lost_one_does() -> None:
    lacking = run(case("test_a", "unsupported", unsupported="loader"))
    assert not compare(lacking, run(case("test_a", "fail"))).broke
    assert compare(run(case("test_a")), lacking).broke


def lacking(name: str, capability: str | None = "ICD 2", identifier: str = "DISC-LNX-013") -> CaseResult:
    about = {"unsupported": "loader", "capability": capability, "reason": f"this loader does not have: {capability}"}
    return case(name, "unsupported", identifier, **about)


@pytest.mark.parametrize(("name", "kind"), [("Some", "broken"), ("Other", "capability"), ("unknown", "broken")])
def test_capability_that_another_product_never_had_is_not_broken(name: str, kind: str) -> None:
    """A name that is not told is no sign of another one: the query may be what broke."""
    comparison = compare(run(case("test_a")), run(lacking("test_a"), name=name))
    assert [change.kind for change in comparison.changes] == [kind]
    assert comparison.code == (1 if kind == "broken" else 0)


def test_product_beside_another_has_not_broken() -> None:
    """Neither of two products comes before the other; a run that is worse ends the command as it does for one."""
    names = "test_a", "test_b"
    comparison = compare(
        run(case("test_a"), case("test_b", "fail")), run(case("test_a", "crash"), case("test_b"), name="Other")
    )
    text = "\n".join([*lines(comparison, plain, 120), comparison_summary(comparison)])
    assert "WORSE IN THE SECOND: 1 case: is right, or less wrong, in the first" in text
    assert "BETTER IN THE SECOND: 1 case: is right in the second" in text and "#### Worse in the second" in text
    assert not any(word in text.lower() for word in ("broke", "fixed")) and all(name in text for name in names)
    assert comparison.code == 1


def test_capabilities_that_differ_are_a_line_each() -> None:
    """Whatever the requirements are: what a reader wants to know is which of the two lacks what."""
    names = [f"test_{i}" for i in range(4)]
    identifiers = list(catalogue())[:4]
    before = [case(name, "crash" if n == 3 else "pass", identifiers[n]) for n, name in enumerate(names)]
    after = [lacking(name, "ICD 2", identifiers[n]) for n, name in enumerate(names)]
    only = lacking("test_only", None), case("test_only")
    comparison = compare(run(*before, only[0]), run(*after, only[1], name="Other"))
    assert comparison.sentence() == (
        "0 worse in the second, 0 better in the second, 0 changed, 5 differ in capability, 0 new, 0 gone; "
        "5 cases are in both runs."
    )
    text = lines(comparison, plain, 120)
    at = text.index("DIFFERS IN CAPABILITY: 5 cases: each needs what only one of the two has; nothing else is worse")
    assert text[at + 1 : at + 3] == [
        "    4  after lacks ICD 2 (3 pass, 1 crash before)",
        "    1  before: this loader does not have: None (1 pass after)",
    ]
    assert "       discovery/test_x.py::test_2" in lines(comparison, plain, 120, verbose=True)
    assert "| after lacks ICD 2 | 3 pass, 1 crash before | 4 |" in comparison_summary(comparison)


def test_capability_that_was_lost_is_told_once() -> None:
    """Not for each requirement that needs it."""
    names = list(catalogue())[:5]
    before, after = [case(f"test_{i}", "pass", i) for i in names], [lacking(f"test_{i}", "ICD 2", i) for i in names]
    text = lines(compare(run(*before), run(*after)), plain, 120)
    assert "  after lacks ICD 2  5 pass before  5 cases, the first of which is" in text


def test_each_text_stands_under_its_own_side() -> None:
    before = run(case("test_a", "crash", message="It answers.\nSIGSEGV"))
    after = run(case("test_a", "fail", message="It answers.\nassert 1 == 2"))
    text = lines(compare(before, after), plain, 120)
    assert "    was: SIGSEGV" in text and "    now: assert 1 == 2" in text


@pytest.mark.parametrize("width", [40, 60, 80])
def test_names_are_not_cut(width: int) -> None:
    name = "test_" + "long_" * 20
    text = lines(compare(run(case(name)), run(case(name, "fail"))), plain, width)
    assert f"    discovery/test_x.py::{name}" in text
    assert [line for line in text if len(line) > width and name not in line and "/lib/libOpenCL" not in line] == []


def test_case_that_was_renamed_is_compared() -> None:
    """Moved to another file, or a function with another name: what is left of both is the same case."""
    family = ["one", "two"]
    before = run(case("test_moved"), *(case(f"test_old[{p}]", "fail") for p in family), case("test_gone[one]"))
    moved = dataclasses.replace(case("test_moved", "fail"), case="suites/discovery/test_y.py::test_moved")
    after = run(moved, *(case(f"test_new[{p}]") for p in family), case("test_other[one]", requirement="DISC-LNX-011"))
    comparison = compare(before, after)
    assert [change.kind for change in comparison.changes] == ["broken", "fixed", "fixed", "new", "gone"]
    assert (comparison.cases, comparison.renamed) == (3, 3)
    assert comparison.sentence().endswith("3 cases are in both runs, 3 of them by another name.")


def test_case_that_may_be_one_of_several_is_not_renamed() -> None:
    comparison = compare(run(case("test_old")), run(case("test_a"), case("test_b")))
    assert [change.kind for change in comparison.changes] == ["new", "new", "gone"]


def test_equal_verdicts_are_said_once() -> None:
    before = run(case("test_a", outcome="one"), case("test_b", "fail", deviations=WORSE))
    after = run(case("test_a", outcome="two"), case("test_b", "fail", deviations=WRONG))
    assert [change.how for change in compare(before, after).changes] == ["pass 'one' -> 'two'", "fail, otherwise"]


def test_groups_beyond_those_shown_are_counted_by_verdicts() -> None:
    """A loader that crashes at its start changes each requirement in the same way."""
    names = list(catalogue())[:20]
    before, after = ([case(f"test_{i}", verdict, i) for i in names] for verdict in ("pass", "crash"))
    assert "  and 8 more groups (--verbose): 8 cases pass -> crash" in lines(
        compare(run(*before), run(*after)), plain, 120
    )


@pytest.mark.parametrize(("side", "message"), [(0, "the run before was cut short"), (1, "the run after was cut short")])
def test_run_that_was_cut_short_ends_with_130(side: int, message: str, tmp_path: Path) -> None:
    """What it did not reach is neither new nor gone."""
    files = [written(tmp_path / f"{n}.jsonl", BEFORE) for n in range(2)]
    files[side].write_text("".join(files[side].read_text().splitlines(keepends=True)[:3]))
    comparison = compare(*map(read, files))
    assert (comparison.code, comparison.changes) == (130, ())
    assert message in comparison.sentence() and comparison.cases == 2
    assert main(["compare", *map(str, files)]) == 130


def test_runs_without_a_common_case_end_with_4(tmp_path: Path) -> None:
    cases = case("test_a"), case("test_b", requirement="DISC-LNX-011")
    files = [written(tmp_path / f"{one.name}.jsonl", run(one)) for one in cases]
    assert main(["compare", *map(str, files)]) == 4
    assert compare(*map(read, files)).sentence() == "no case is in both runs; 1 new, 1 gone."


BEFORE = run(case("test_a"), case("test_b"), case("test_same", "fail"), case("test_old", "crash", "DISC-LNX-011"))
AFTER = run(
    case("test_a", "fail", message="It answers.\nassert 1 == 2", reproduce="./clharness replay x"),
    case("test_b", "fail", message="It answers.\nassert 1 == 2"),
    case("test_same", "fail"),
    case("test_old", "pass", "DISC-LNX-011"),
    version="2",
)


def test_comparison_names_requirement_and_reason_and_folds_equal_changes() -> None:
    text = lines(compare(BEFORE, AFTER), plain, 120)
    verdict = "2 broken, 1 fixed, 0 changed, 0 new, 0 gone; 4 cases are in both runs."
    assert text[0].startswith("before  Some 1 (/lib/libOpenCL.so.1, ")
    assert text[1].startswith("after   Some 2 (")
    assert [n for n, line in enumerate(text) if line == verdict] == [3, len(text) - 1]
    at = text.index("BROKEN: 2 cases: each was right, or less wrong, before")
    assert text[at + 1 : at + 6] == [
        "  DISC-LNX-013  pass -> fail  2 cases, the first of which is",
        "    discovery/test_x.py::test_a",
        "    must: A file without a trailing newline is accepted.",
        "    now: assert 1 == 2",
        "    ./clharness replay x",
    ]
    assert "    discovery/test_x.py::test_b" in lines(compare(BEFORE, AFTER), plain, 120, verbose=True)


def test_nothing_differs() -> None:
    assert lines(compare(BEFORE, BEFORE), plain, 80)[-1] == "nothing differs in 4 cases."


def test_comparison_as_markdown() -> None:
    text = comparison_summary(compare(BEFORE, AFTER))
    assert text.startswith("### clharness compare: 2 broken, 1 fixed")
    url = "https://registry.khronos.org/OpenCL/sdk/3.0/docs/man/html/cl_khr_icd.html"
    assert f"| [DISC-LNX-013]({url}) | pass -&gt; fail | 2 | test\\_a | now: assert 1 == 2 |" in text
    assert [f"#### {kind.capitalize()}" in text for kind in KINDS] == [True, True, False, False, False, False]


def written(path: Path, of: Saved, code: int = 0) -> Path:
    footer = Footer(counts_of(of.results), code, complete=True, planned=len(of.results), recorded=len(of.results))
    records = [of.header.to_json(), *(r.to_json() for r in of.results), footer.to_json()]
    path.write_text("".join(map(to_line, records)))
    return path


def test_command_ends_with_1_where_something_broke(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before, after = written(tmp_path / "a.jsonl", BEFORE), written(tmp_path / "b.jsonl", AFTER)
    page, markdown = tmp_path / "page", tmp_path / "c.md"
    assert main(["compare", str(before), str(after), "--markdown", str(markdown), "--html", str(page)]) == 1
    assert "BROKEN: 2 cases" in capsys.readouterr().out
    assert markdown.read_text().startswith("### clharness compare")
    assert "2 broken" in (page / "index.html").read_text()
    assert main(["compare", str(after), str(before)]) == 1, "test_old crashes again"
    assert main(["compare", str(after), str(after)]) == 0


@pytest.mark.parametrize(
    ("text", "says"), [("none.jsonl", "no such file"), (".", "is a folder"), ("README.md", "is neither records of a")]
)
def test_wrong_sides_are_one_sentence(text: str, says: str, capsys: pytest.CaptureFixture[str]) -> None:
    path = ROOT / text
    assert main(["compare", str(path), str(path)]) == 2
    message = capsys.readouterr().err
    assert says in message and message.count("\n") == 1


def test_libraries_on_which_nothing_runs_end_with_4(capfd: pytest.CaptureFixture[str]) -> None:
    library = str(build().reference_loader)
    assert main(["compare", library, library, "-k", "no_check_has_this_name"]) == 4
    assert "nothing ran" in capfd.readouterr().err


def test_libraries_are_run() -> None:
    """The reference loader against itself, in a few cases."""
    library = str(build().reference_loader)
    done = clharness("compare", library, library, "-k", "without_final_newline", "--time-limit", "30")
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stderr.count("running the checks on") == 2
    assert "nothing differs in" in done.stdout and "in 0 cases" not in done.stdout


def test_libraries_are_run_with_the_variables_that_they_need(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    commands: list[list[str]] = []

    def started(command: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        commands.append(command)
        records = next(word for word in command if word.startswith("--json="))
        written(Path(records.removeprefix("--json=")), BEFORE)
        return subprocess.CompletedProcess(command, 1, "", "")

    monkeypatch.setattr(subprocess, "run", started)
    library = str(build().reference_loader)
    assert main(["compare", library, library, "--env", "ONE=1", "--env", "TWO=a b"]) == 0
    assert [command[-2:] for command in commands] == [["--env=ONE=1", "--env=TWO=a b"]] * 2
    assert "nothing differs" in capsys.readouterr().out


@pytest.mark.skipif(build().vulkan is None, reason="the build has no Vulkan")
def test_manifest_is_a_driver_and_not_records() -> None:
    """It begins with the same character as the records of a run."""
    box = VulkanSandbox()
    try:
        manifest = str(box.manifest("a.json", box.library("a")))
        done = clharness("compare", manifest, manifest, "-k", "writes_nothing_to_standard_output and loaded")
    finally:
        box.close()
    assert done.returncode == 0, done.stdout + done.stderr
    assert "nothing differs in" in done.stdout and "in 0 cases" not in done.stdout


def test_records_come_from_a_pipe(tmp_path: Path) -> None:
    """Such as `compare <(zcat before.jsonl.gz) after.jsonl`: what was looked at is not lost."""
    before, after = written(tmp_path / "a.jsonl", BEFORE), written(tmp_path / "b.jsonl", AFTER)
    reading, writing = os.pipe()
    with os.fdopen(writing, "wb") as pipe:
        pipe.write(before.read_bytes())
    try:
        assert main(["compare", f"/dev/fd/{reading}", str(after)]) == 1
    finally:
        os.close(reading)


# --- bisect-run ---

TURNS = """
@requirement("DISC-LNX-013")
@pytest.mark.parametrize("platforms", [1, 2])
def test_platforms(loader, sandbox, platforms):
    \"\"\"Each vendor has one platform.\"\"\"
    if os.environ.get("GOOD"):
        return
    sandbox.vendor("a", platforms=platforms)
    with loader.start(sandbox) as cl:
        assert len(cl.platform_names()) == 1
"""
COMMAND = """
import sys
from pathlib import Path
from harness.cli import loader
from harness.cli.main import main
loader._ROOT = Path(sys.argv.pop(1))
sys.exit(main(sys.argv[1:]))
"""


@pytest.fixture
def bad(tmp_path: Path) -> SmallRun:
    """A run with one red case of two."""
    small = SmallRun(tmp_path, build().reference_loader)
    small.suite(TURNS)
    assert small.run().code == 1
    return small


def bisect(small: SmallRun, library: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", COMMAND, str(small.root), "bisect-run", str(small.records), library]
    return subprocess.run(command, env=small.environment | environment, capture_output=True, text=True)


def test_bisect_says_bad_good_and_skip(bad: SmallRun) -> None:
    library = str(build().reference_loader)
    done = bisect(bad, library)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "1 of 1 case unexpected" in done.stdout, "only the red case runs"
    assert bisect(bad, library, GOOD="1").returncode == 0
    assert bisect(bad, "/no/such/library.so").returncode == 125
    assert bisect(bad, str(bad.root / "pytest.ini")).returncode == 125


def test_loader_bisects_as_bisect_run_does(bad: SmallRun) -> None:
    command = [sys.executable, "-c", COMMAND, str(bad.root), "loader", "--bisect", str(bad.records)]
    for library, code in ((str(bad.library), 1), ("/no/such/library.so", 125)):
        done = subprocess.run([*command, library], env=bad.environment, capture_output=True, text=True)
        assert done.returncode == code, done.stdout + done.stderr
    done = subprocess.run(command, env=bad.environment, capture_output=True, text=True)
    assert (done.returncode, "name the loader" in done.stderr) == (2, True)


def test_bisecting_without_a_red_case_gives_up(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    green = written(tmp_path / "green.jsonl", run(case("test_a")))
    assert main(["bisect-run", str(green), "/lib/x.so"]) == 128
    assert "no case of that run is red" in capsys.readouterr().out


# --- report ---


def test_report_gives_the_exit_code_of_the_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    red = dataclasses.replace(case("test_a", "fail"), status="unexpected")
    one, other = written(tmp_path / "a.jsonl", run(red), 1), written(tmp_path / "b.jsonl", run(case("test_a")), 0)
    assert main(["report", str(one)]) == 1
    assert "Some 1: not as expected, 1 of 1 case unexpected." in capsys.readouterr().out
    assert main(["report", str(other)]) == 0
    assert main(["report", str(other), str(one), "--html", str(tmp_path / "page")]) == 1
    assert "2 runs side by side" in (tmp_path / "page" / "index.html").read_text()


def test_run_writes_its_page(tmp_path: Path) -> None:
    small = SmallRun(tmp_path, build().reference_loader)
    small.suite(TURNS)
    done = small.run("--html", str(tmp_path / "page"))
    assert done.code == 1
    text = (tmp_path / "page" / "index.html").read_text()
    assert "test_platforms[2]" in text
    embedded = json.loads(text.partition('id="data">')[2].partition("</script>")[0])
    assert len(embedded["cases"]) == 2
    assert os.path.getsize(tmp_path / "page" / "index.html") < 200_000
    header: Header = run().header
    assert header.subject.title == "Some 1"
