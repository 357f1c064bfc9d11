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
from harness.report.saved import Saved
from tests.small_runs import SmallRun
from tests.test_report_terminal import HEADER, case

WRONG = (Deviation("size=0", "CL_SUCCESS instead of CL_INVALID_VALUE"),)
WORSE = (*WRONG, Deviation("ptr=NULL", "SIGSEGV"))


def run(*results: CaseResult, version: str = "1") -> Saved:
    facts = {"path": "/lib/libOpenCL.so.1", "name": "Some", "version": version}
    return Saved(Path("x"), dataclasses.replace(HEADER, subject=SubjectRecord(facts=facts)), results)


def plain(text: str, _style: str) -> str:
    return text


@pytest.mark.parametrize(
    ("before", "after", "kind"),
    [
        ({"verdict": "pass"}, {"verdict": "fail"}, "broken"),
        ({"verdict": "unsupported"}, {"verdict": "crash"}, "broken"),
        ({"verdict": "fail"}, {"verdict": "crash"}, "broken"),
        ({"verdict": "fail", "deviations": WRONG}, {"verdict": "fail", "deviations": WORSE}, "broken"),
        ({"verdict": "pass"}, {"verdict": "unsupported", "unsupported": "loader"}, "broken"),
        ({"verdict": "fail"}, {"verdict": "pass"}, "fixed"),
        ({"verdict": "hang"}, {"verdict": "unsupported", "unsupported": "machine"}, "fixed"),
        ({"verdict": "pass", "outcome": "a"}, {"verdict": "pass", "outcome": "b"}, "changed"),
        ({"verdict": "crash"}, {"verdict": "fail"}, "changed"),
        ({"verdict": "fail", "deviations": WORSE}, {"verdict": "fail", "deviations": WRONG}, "changed"),
        ({"verdict": "pass"}, {"verdict": "unsupported", "unsupported": "machine"}, "changed"),
        (None, {"verdict": "fail"}, "new"),
        ({"verdict": "fail"}, None, "gone"),
        ({"verdict": "fail", "deviations": WRONG}, {"verdict": "fail", "deviations": WRONG}, None),
        ({"verdict": "pass", "outcome": "a"}, {"verdict": "pass", "outcome": "a"}, None),
    ],
)
def test_kind_of_a_change(before: dict[str, Any] | None, after: dict[str, Any] | None, kind: str | None) -> None:
    """What was expected of either run makes no difference."""
    sides = [[] if about is None else [case("test_x", **about)] for about in (before, after)]
    comparison = compare(run(*sides[0]), run(*sides[1]))
    assert [change.kind for change in comparison.changes] == ([kind] if kind else [])
    assert comparison.broke == (kind == "broken")


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
    assert text[at + 1 : at + 5] == [
        "  DISC-LNX-013  pass -> fail  2 cases, first discovery/test_x.py::test_a",
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
    assert f"| [DISC-LNX-013]({url}) | pass -&gt; fail | 2 | test\\_a | assert 1 == 2 |" in text
    assert [f"#### {kind.capitalize()}" in text for kind in KINDS] == [True, True, False, False, False]


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
    said = capsys.readouterr().err
    assert says in said and said.count("\n") == 1


def test_libraries_are_run() -> None:
    """The reference loader against itself, in a few cases."""
    library = str(build().reference_loader)
    command = [sys.executable, "-m", "harness.cli", "compare", library, library, "-k", "without_final_newline"]
    done = subprocess.run([*command, "--time-limit", "30"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stderr.count("running the checks on") == 2
    assert "nothing differs in" in done.stdout and "in 0 cases" not in done.stdout


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
