# SPDX-License-Identifier: Apache-2.0
"""Files of records that a stranger wrote: every command that reads them says what is wrong in one sentence, and no text
in them acts, wherever it is shown."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from harness.cli.main import main
from harness.deviation import Deviation
from harness.errors import ClharnessError, UsageError
from harness.report import CaseResult, Header, SubjectRecord
from harness.report.records import Footer, counts_of, selection_of
from harness.report.saved import read
from harness.run import resume
from harness.run.note import NOTE, read_note

Record = dict[str, Any]
Place = tuple[str | int, ...]

GONE = object()
WRONG = [None, True, -1, 10**400, 0.5, float("nan"), "", "9" * 5000, [], [[None]], {}, {"a": {"b": [1]}}, GONE]
# Each acts somewhere: terminals, lines, quotes, tags, tables, comments, annotations, templates.
NASTY = {
    "sequences": "\x1b[31m\x1b]0;x\x07\x9b1m",
    "directions": "\u202e\u2066\u200f\u061c",
    "separators": "\u2028\u2029\x85",
    "lines": "\nforged\r\n::error::forged\r| forged |",
    "NUL": "\x00",
    "halves": "\udc9b\ud800",
    "not XML": "\ufffe\uffff",
    "end of script": "</script><script>x</script></style><!--",
    "tag": "'\"><img src=x onerror=x>",
    "Markdown": "`$(id)`|x|[a](b) <b> **x** \\",
    "annotation": "::error file=x,line=1::x %0A%25",
    "XML": "]]>&amp;&#x202e;&x;",
    "template": "{{ 7 * 7 }}{% x %}",
    "C": '*/ #error ??/ "',
    "length": "a" * 5000,
}
ACTING = set("\x1b\x07\x9b\u202e\u2066\u200f\u061c\u2028\u2029\x85\r\x00")
CHOSEN = {"record", "format", "verdict", "status", "strength", "kind", "word", "unsupported", "requirements"}


def case(number: int, verdict: str, status: str, **more: Any) -> CaseResult:
    deviations = (Deviation("clFinish", "SIGSEGV"),) if verdict == "crash" else ()
    return CaseResult(
        f"suites/discovery/test_linux_file.py::test_x[{number}]",
        ("DISC-LNX-014",),
        verdict,  # type: ignore[arg-type]
        status=status,  # type: ignore[arg-type]
        message="It answers.\nIt does not.",
        deviations=deviations,
        log=("application | clFinish",),
        log_times=(0,),
        files=("a.icd  (3 bytes)",),
        environment={"A": "b"},
        reproduce="clharness replay x",
        sandbox="/nonexistent",
        number=number,
        **more,
    )


CASES = [
    case(0, "crash", "unexpected", outcome="one", expected_outcome="other", runs=("crash", "pass")),
    case(1, "hang", "expected", reason="known", expected=("hang",)),
    case(2, "unsupported", "ok", reason="not there", unsupported="loader", capability="OPENCL_LAYERS"),
]
FACTS = {
    "path": "/lib/x",
    "real_path": "/lib/x",
    "soname": "x",
    "build_id": "ab",
    "name": "Some",
    "version": "1.0",
    "exports": 3,
    "capabilities": ["OPENCL_LAYERS"],
}


def written() -> list[Record]:
    """A whole run with something in every field: the header, the cases, the footer."""
    header = Header(
        SubjectRecord(facts=FACTS),
        (SubjectRecord("icd", "ICD", FACTS),),
        expectations="/x/some.toml",
        arguments=("clharness", "loader"),
        planned=len(CASES),
        selection=selection_of(result.case for result in CASES),
        catalogue="ab",
        shard={"index": 1, "of": 1},
        random_seed=5,
    )
    footer = Footer(counts_of(CASES), 1, True, len(CASES), len(CASES), ("deviation of nothing",))
    records = [header.to_json(), *(result.to_json() for result in CASES), footer.to_json()]
    return [json.loads(json.dumps(record)) for record in records]


class Files:
    """The file of a run beside a proper one, and what every command makes of it."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder, self.capsys = folder, capsys
        self.good, self.run = folder / "good.jsonl", folder / "run.jsonl"
        self.write(self.good, written())

    def write(self, path: Path, records: list[Record]) -> None:
        path.write_text("".join(f"{json.dumps(record)}\n" for record in records))

    def commands(self) -> Iterator[tuple[str, list[str]]]:
        run, good, out = str(self.run), str(self.good), self.folder
        files = [f"--markdown={out}/x.md", f"--badge={out}/x.svg", f"--sarif={out}/x.sarif", f"--junit={out}/x.xml"]
        yield "report", ["report", run, "--verbose", f"--html={out}/page", *files]
        yield "matrix", ["report", run, good, f"--markdown={out}/matrix.md", f"--html={out}/pages"]
        yield "compare", ["compare", good, run, "--verbose", f"--markdown={out}/changes.md", f"--html={out}/changes"]
        yield "merge", ["report", "merge", run, f"--json={out}/all.jsonl", f"--junit={out}/all.xml"]

    def output(self, command: list[str]) -> tuple[int, str]:
        """The exit code, which is one for a run or a wrong use, and all that was said."""
        code = main(command)
        out, err = self.capsys.readouterr()
        assert code in (0, 1, 2, 4, 77, 130), (command, err)
        assert (code == 2) == err.startswith("clharness: ") and err.count("\n") == (code == 2), (command, err)
        return code, out + err


@pytest.fixture(name="files")
def two_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Files:
    return Files(tmp_path, capsys)


def places(value: Any, at: Place = ()) -> Iterator[Place]:
    """Where something stands in a record."""
    if at:
        yield at
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inside in items:
        yield from places(inside, (*at, key))


def changed(records: list[Record], at: Place, value: Any) -> list[Record]:
    """The records with another value there, or without it."""
    new = copy.deepcopy(records)
    table: Any = new
    for key in at[:-1]:
        table = table[key]
    if value is GONE:
        del table[at[-1]]
    else:
        table[at[-1]] = value
    return new


def wrong_runs() -> Iterator[tuple[Place, list[Record]]]:
    """A proper run in which one thing is not what it should be, for each that there is."""
    records = written()
    for number in (0, 1, len(records) - 1):
        for at in places(records[number]):
            if at[:2] == ("used_with", 0) and len(at) > 3:
                continue  # as the subject's
            for value in WRONG:
                yield (number, *at), changed(records, (number, *at), value)


def test_proper_run_is_read_by_every_command(files: Files) -> None:
    files.write(files.run, written())
    codes = {name: files.output(command)[0] for name, command in files.commands()}
    assert codes == {"report": 1, "matrix": 1, "compare": 0, "merge": 1}


def test_wrong_value_in_any_field_costs_one_sentence_at_most(files: Files) -> None:
    """Each field has each wrong value once; the commands take turns where the reader lets it pass."""
    commands = list(files.commands())
    selected = [result.case for result in CASES]
    refused = passed = 0
    for number, (at, records) in enumerate(wrong_runs()):
        files.write(files.run, records)
        try:
            saved = read(files.run)
        except UsageError as error:
            assert str(files.run) in str(error)
            refused += 1
            continue
        passed += 1
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("WRONG", repr(at))  # which one it was, in what pytest shows of a failure
            files.output(commands[number % len(commands)][1])
            try:
                resume.kept(saved, read(files.good).header, selected)
                resume.is_of_same_subject(saved, read(files.good).header)
                resume.failed(saved)
            except ClharnessError:
                continue
    assert refused > 300 and passed > 300


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\n",
        b"\x7fELF\x02\x01\x01" + bytes(200) + b"\n",
        bytes(range(256)) * 20 + b"\n",
        b"\xff\xfe{\x00}\x00\n\x00",
        b"{" * 100_000 + b"\n",
        b'{"record": ' + b"[" * 100_000 + b"]" * 100_000 + b"}\n",
        b'{"record": "header", "format": ' + b"9" * 10_000 + b"}\n",
        b'{"record": "header", "format": 1e999}\n',
        b"3\n",
        b'"header"\n',
        b"[[1, 2], [3, 4]]\n",
        b'{"record": "header", "format": 3',
        b'{"record": "footer"}\n',
        b'{"record": "case"}\n{"record": "header"}\n',
    ],
    ids=lambda content: repr(content[:16]),
)
def test_file_that_is_no_run_is_refused(files: Files, content: bytes) -> None:
    files.run.write_bytes(content)
    for name, command in files.commands():
        code, output = files.output(command)
        assert code == 2 and str(files.run) in output, name


def test_file_that_never_ends_is_refused(files: Files) -> None:
    files.run.symlink_to("/dev/zero")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("harness.report.saved.LONGEST_LINE", 1 << 16)
        for name, command in files.commands():
            code, output = files.output(command)
            assert code == 2 and f"{files.run}: " in output, name


def test_folder_is_refused(files: Files) -> None:
    files.run.mkdir()
    assert [files.output(command)[0] for _, command in files.commands()] == [2] * 4


def filled(value: Any, nasty: str, key: str = "") -> Any:
    """The same, with the text at the end of each string that is free."""
    if isinstance(value, str):
        return value if key in CHOSEN else value + nasty
    if isinstance(value, list):
        return [item if key in CHOSEN else filled(item, nasty) for item in value]
    if isinstance(value, dict):
        return {name + nasty * (name == "A"): filled(item, nasty, name) for name, item in value.items()}
    return value


class Tags(HTMLParser):
    """The elements of a page, each with the names of its attributes."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.all: list[tuple[str, tuple[str, ...]]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.all.append((tag, tuple(name for name, _ in attributes)))


def shape(text: str, path: Path | None) -> Any:
    """What must be the same whatever texts say."""
    if path is None:  # of a terminal
        return sum(line.lstrip().startswith(("::", "| forged")) for line in text.splitlines())
    if path.suffix == ".html":
        return Tags(text).all
    if path.suffix in (".xml", ".svg"):
        return [(element.tag, sorted(element.attrib)) for element in ElementTree.fromstring(text.encode()).iter()]
    if path.suffix == ".md":
        return [
            (line.count("|") - line.count("\\|"), line.count("](b)") - line.count("\\](b)"), "<b>" in line)
            for line in text.splitlines()
        ]
    documents = text.splitlines() if path.suffix == ".jsonl" else [text]
    return [sorted(json.loads(document)) for document in documents]


def outputs(files: Files, nasty: str) -> Iterator[tuple[str, str, Any]]:
    """Everything that commands say and write of a run whose texts all end so: what, its text, its shape."""
    records = [filled(record, nasty) for record in written()]
    records[0]["selection"] = selection_of(record["case"] for record in records if record["record"] == "case")
    files.write(files.run, records)
    for name, command in files.commands():
        code, output = files.output(command)
        assert code in (1, 4)
        yield name, output, shape(output, None)
    for path in sorted(files.folder.rglob("*")):
        if path.is_file() and path not in (files.run, files.good):
            text = path.read_text()
            yield str(path.relative_to(files.folder)), text, shape(text, path)


@pytest.mark.parametrize("nasty", NASTY.values(), ids=NASTY)
def test_texts_of_a_stranger_do_nothing_in_any_output(
    files: Files, monkeypatch: pytest.MonkeyPatch, nasty: str
) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    plain = {what: its_shape for what, _, its_shape in outputs(files, " plain")}
    assert len(plain) == 15 and plain["merge"] == 1
    for what, text, its_shape in outputs(files, nasty):
        assert not [hex(ord(character)) for character in ACTING & set(text)], what
        assert its_shape == plain[what], what


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"[]",
        b"3",
        b"[" * 100_000,
        b'{"a": ' * 50_000,
        b"\xff\xfe",
        b'{"result": 3, "root": "/", "options": [], "build": ""}',
        b'{"result": [], "root": "/", "options": [], "build": ""}',
        b'{"result": {}, "root": "/", "options": [], "build": ""}',
        b'{"result": {"deviations": 3}, "root": "/", "options": [], "build": ""}',
        b'{"result": {"deviations": [3]}, "root": "/", "options": [], "build": ""}',
    ],
    ids=lambda content: repr(content[:20]),
)
def test_note_of_a_kept_case_that_no_run_wrote_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / NOTE).write_bytes(content)
    with pytest.raises(UsageError, match=r"case.json cannot be read .*run the checks again"):
        read_note(tmp_path)


def test_wrong_value_anywhere_in_a_note_is_refused_or_read(tmp_path: Path) -> None:
    note = {"result": written()[1], "root": "/", "options": ["-q"], "build": ""}
    (tmp_path / NOTE).write_text(json.dumps(note))
    assert read_note(tmp_path).options == ("-q",), "the control"
    for at in places(note):
        for value in WRONG:
            (tmp_path / NOTE).write_text(json.dumps(changed([note], (0, *at), value)[0]))
            try:
                read_note(tmp_path)
            except UsageError as error:
                assert "case.json cannot be read" in str(error)
