# SPDX-License-Identifier: Apache-2.0
"""Names that a subject or a stranger chose are harmless wherever they are shown or written."""

from __future__ import annotations

import io
import json
import subprocess
from pathlib import Path
from xml.etree import ElementTree

import pytest

from harness import escaping, tomlfile
from harness.build import build
from harness.errors import UsageError
from harness.report import CaseResult, Header, SubjectRecord
from harness.report.ending import Ending
from harness.report.markdown import summary
from harness.report.reporter import Reporter
from harness.run import resume
from harness.run.program import Failure, part, program
from harness.run.reproducers import Reproducers

ACTING = "\x1b]0;x\x07 \x9b31m \x00 \u202e\u2066\u2028\u2029\u200f\u061c \ufeff \U000e0041 \udc9b \ud800"
HOSTILE = f"lib {ACTING} */ \"'`$(id) ??/ ]]> <b>&amp;</b> |x| [a](b) % {{}} \\"
ACTS = [c for c in ACTING if c != " " and (not c.isprintable() or c == "\u061c")]


@pytest.fixture(name="result")
def hostile_result() -> CaseResult:
    return CaseResult(
        case=f"suites/discovery/test_x.py::test_y[{HOSTILE}\n| forged |]",
        requirements=("DISC-LNX-014",),
        verdict="fail",
        message=f"It answers.\n{HOSTILE}",
        log=(f"application | {HOSTILE}\nforged",),
        files=(f"vendors/{HOSTILE}\nforged  (3 bytes)",),
        environment={"A": f"{HOSTILE}\nforged"},
        reproduce=f"replay '{HOSTILE}'",
        sandbox=f"/tmp/{HOSTILE}",
        status="unexpected",
        number=0,
    )


@pytest.fixture(name="header")
def hostile_header() -> Header:
    facts = {"path": f"/{HOSTILE}\nforged", "name": f"{HOSTILE}\nforged", "version": HOSTILE, "build_id": HOSTILE}
    return Header(SubjectRecord(facts=facts), expectations=f"{HOSTILE}\nforged", planned=1)


def reported(tmp_path: Path, header: Header, result: CaseResult) -> str:
    stream = io.StringIO()
    reporter = Reporter(stream, tmp_path / "run.jsonl", tmp_path / "run.xml")
    reporter.start(header)
    reporter.case(result)
    reporter.finish(False, False, None)
    return stream.getvalue()


def test_nothing_acts_in_a_terminal(tmp_path: Path, header: Header, result: CaseResult) -> None:
    text = reported(tmp_path, header, result)
    assert "\\x9b31m" in text and "\\u202e\\u2066\\u2028" in text, "it is shown"
    assert not [hex(ord(c)) for c in ACTS if c in text]
    assert not [line for line in text.splitlines() if line.lstrip().startswith(("forged", "| forged"))]


def test_junit_is_xml_that_says_the_same(tmp_path: Path, header: Header, result: CaseResult) -> None:
    reported(tmp_path, header, result)
    text = (tmp_path / "run.xml").read_text()
    case = next(ElementTree.fromstring(text).iter("testcase"))
    assert "\\x9b31m" in case.attrib["name"] and "*/ \"'`$(id) ??/ ]]> <b>&amp;</b>" in case.attrib["name"]
    assert not [hex(ord(c)) for c in ACTS if c in text]


def test_records_are_lines_that_come_back(tmp_path: Path, header: Header, result: CaseResult) -> None:
    reported(tmp_path, header, result)
    lines = (tmp_path / "run.jsonl").read_bytes().splitlines()
    assert len(lines) == 3 and all(line.isascii() for line in lines)
    assert CaseResult.from_json(json.loads(lines[1])).case == result.case


def test_markdown_has_no_marks_but_its_own(header: Header, result: CaseResult) -> None:
    text = summary(Ending(header, [result], 1))
    assert "<b>" not in text and "](b)" not in text.replace("\\](b)", "")
    assert not [hex(ord(c)) for c in ACTS if c in text]
    assert all(
        line.count("|") - line.count("\\|") in (0, 5, 6, 9, 10) for line in text.splitlines() if "forged" in line
    )


def test_generated_program_compiles_and_gets_every_byte(tmp_path: Path) -> None:
    """What stands in comments ends none, and strings arrive as they are, also where trigraphs are on."""
    library = Path("/nonsense") / HOSTILE.replace("\0", "").replace("\ud800", "")
    value = HOSTILE.replace("\0", "").replace("\ud800", "") + "\nabort();"
    failure = Failure(f"z\n*/ #error {HOSTILE}", ["quit"], [], (), True)
    title, message = f"x\n*/ #error {HOSTILE}", f"y *??/\n/ #error\n{HOSTILE}*/"
    text = program(title, message, "reproducer", library, {"VALUE": value}, [part(failure, failure.forms()[0])])
    file = tmp_path / "reproducer.c"
    begins = "    return run(part_1);"
    assert begins in text
    file.write_text(text.replace(begins, f'    puts(getenv("VALUE")); puts(path); return 0;\n{begins}'))
    built = tmp_path / "reproducer"
    for options in (["-std=c11", "-trigraphs", "-D_DEFAULT_SOURCE", "-D_GNU_SOURCE"], ["-w"]):
        command = [build().compiler, "-w", *options, str(file), "-ldl", "-o", str(built)]
        done = subprocess.run(command, capture_output=True, text=True)
        if "CL/" in done.stderr:
            pytest.skip("the OpenCL-Headers are not where the compiler looks")
        assert done.returncode == 0, done.stderr
        output = subprocess.run([str(built)], capture_output=True).stdout
        assert output == value.encode(errors="surrogateescape") + b"\n" + bytes(library) + b"\n"


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("a = " + "[" * 100_000, "nested deeper"),
        ("a = " + "{a=" * 50_000, "nested deeper"),
        (".".join("a" * 50_000) + " = 1", "line 1 has more than 400 dots"),
        ("\n[" + ".".join("a" * 50_000) + "]", "line 2 has more than 400 dots"),
        ("a = " + "9" * 5_000, "not valid TOML"),
        ("a = 1\n" * 1_000_000, "larger than 4 MiB"),
        ("a = '\x00'", "not valid TOML"),
    ],
    ids=["brackets", "braces", "dots", "dots of a table", "digits", "size", "NUL"],
)
def test_toml_that_no_person_wrote_is_refused_at_once(tmp_path: Path, content: str, says: str) -> None:
    file = tmp_path / "x.toml"
    file.write_text(content)
    with pytest.raises(UsageError, match=f"x.toml: .*{says}"):
        tomlfile.read(file)


@pytest.mark.parametrize(
    "change",
    [
        {"verdict": "green"},
        {"status": None},
        {"message": 3},
        {"log": "text"},
        {"log": [1]},
        {"environment": {"A": 1}},
        {"environment": []},
        {"deviations": [{"what": 1, "how": "x"}]},
        {"deviations": [{}]},
        {"deviations": [3]},
        {"duration": float("inf")},
        {"duration": "1"},
        {"requirements": None},
        {"sandbox": ["/"]},
        {"number": "1"},
    ],
    ids=str,
)
def test_record_that_no_run_wrote_is_refused(tmp_path: Path, result: CaseResult, change: dict[str, object]) -> None:
    file = tmp_path / "run.jsonl"
    header = json.dumps(Header(SubjectRecord(facts={"name": "x"})).to_json())
    file.write_text(f"{header}\n{json.dumps(result.to_json())}\n")
    assert len(resume.earlier(file).results) == 1, "the control"
    file.write_text(f"{header}\n{json.dumps(result.to_json() | change)}\n")
    with pytest.raises(UsageError, match=r"--resume .*whose record is not complete"):
        resume.earlier(file)


def test_a_strangers_record_takes_no_file_from_elsewhere(tmp_path: Path, result: CaseResult) -> None:
    (tmp_path / "stolen").mkdir()
    (tmp_path / "stolen" / "reproducer.c").write_text("secret")
    (tmp_path / "out").mkdir()
    facts = {"name": HOSTILE, "version": "1", "build_id": "", "real_path": f"/{HOSTILE}\n# forged"}
    collected = Reproducers(tmp_path / "out", facts)
    collected.add(CaseResult(**{**vars(result), "sandbox": str(tmp_path / "stolen")}))
    collected.finish()
    readme = (tmp_path / "out" / "README.md").read_text()
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["README.md"]
    assert "\n# forged" not in readme and not [hex(ord(c)) for c in ACTS if c in readme]


def test_text_without_danger_stays_as_it_is() -> None:
    for text in ("Grüße, 東京 😀 line", "a\tb\nc"):
        assert escaping.printable(text) == text


def test_line_of_a_subject_is_no_command_to_the_runner_of_github() -> None:
    text = "it says\n::error::x\n \t::add-mask::x ##[group]x\na::b"
    assert escaping.no_command(text, {}) == text
    assert escaping.no_command(text, {"GITHUB_ACTIONS": "true"}) == (
        "it says\n: :error::x\n \t: :add-mask::x # #[group]x\na::b"
    )
