# SPDX-License-Identifier: Apache-2.0
"""What a campaign makes of the output of its targets: keys, small inputs, folders that go on; without a fuzzer."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from harness.cli import fuzz
from harness.errors import UsageError
from harness.fuzz import builds, findings, reproducers, summary
from harness.fuzz.job import add_inputs, set_aside
from harness.fuzz.minimise import minimised
from harness.fuzz.subject import FuzzSubject, fuzz_subject, symbolizer
from harness.fuzz.target_process import read_finding

LOADER = FuzzSubject(Path("/x/libOpenCL.so.1"), "compiler", True, "")

ASAN_REPORT = """\
=================================================================
==4==ERROR: AddressSanitizer: heap-use-after-free on address 0x602000000053 at pc 0x563478a6122c bp 0x7ffe sp 0x7ffe
READ of size 1 at 0x602000000053 thread T0
    #0 | strlen | 0 | /x/fuzz_icd_file | 0xde22b
    #1 | first_line | 31 | /x/libOpenCL.so.1 | 0x119b07
    #2 | discover | 77 | /x/libOpenCL.so.1 | 0x422f3
    #3 | main | 0 | /x/fuzz_icd_file | 0x5be72

freed by thread T0 here:
    #0 | free | 0 | /x/fuzz_icd_file | 0xde22b
    #1 | give_back | 12 | /x/libOpenCL.so.1 | 0x119b07
SUMMARY: AddressSanitizer: heap-use-after-free
"""

TIMEOUT_REPORT = """\
ALARM: working on the last Unit for 5 seconds
==3010== ERROR: libFuzzer: timeout after 5 seconds
    #0 | __sanitizer_print_stack_trace | 0 | /x/fuzz_icd_file | 0xe8ce1
    #1 | <null> | 0 | /x/libOpenCL.so.1 | 0x3c04f
"""

EXIT_REPORT = """\
==3011== ERROR: libFuzzer: fuzz target exited
    #0 | __sanitizer_print_stack_trace | 0 | /x/fuzz_icd_file | 0xe8ce1
    #1 | exit | 0 | /lib/libc.so.6 | 0x3c04f
    #2 | give_up | 31 | /x/libOpenCL.so.1 | 0x119b07
"""


def test_key_of_a_sanitizer_report_is_the_innermost_place_in_the_loader() -> None:
    defect = read_finding(ASAN_REPORT, LOADER)
    assert defect and (defect.kind, defect.key) == ("crash", "heap-use-after-free@first_line:31")


def test_key_of_a_hang_without_symbols_is_an_offset() -> None:
    defect = read_finding(TIMEOUT_REPORT, LOADER)
    assert defect and (defect.kind, defect.key) == ("hang", "hang@libOpenCL.so.1+0x3c04f")


def test_exit_is_a_crash_and_named() -> None:
    defect = read_finding(EXIT_REPORT, LOADER)
    assert defect and (defect.kind, defect.key) == ("crash", "exit@give_up:31")
    assert defect.sentence == "libFuzzer reports the end of the process, by exit, in give_up:31"


@pytest.mark.skipif(not shutil.which("addr2line"), reason="addr2line is not installed")
def test_place_is_found_without_llvm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the program that comes with every compiler: a clang without the rest of LLVM is usual."""
    source, library = tmp_path / "small.c", tmp_path / "libsmall.so"
    source.write_text("int f(int a)\n{\n    return a + 1;\n}\n")
    subprocess.run(["cc", "-g", "-shared", "-fPIC", source, "-o", library], check=True)
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "addr2line").symlink_to(str(shutil.which("addr2line")))
    monkeypatch.setenv("PATH", str(tools))
    assert findings.source_of(library, "memory@f+0x0") == f"f at {source}:2"
    (tools / "addr2line").unlink()
    assert findings.source_of(library, "memory@f+0x0") == ""


def test_newest_of_versioned_symbolizers_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for version in ("9", "14", "103", "103.bak"):
        (tmp_path / f"llvm-symbolizer-{version}").touch(0o755)
    (tmp_path / "llvm-symbolizer-200").touch(0o644)
    monkeypatch.setenv("PATH", f"/nowhere::{tmp_path}")
    assert symbolizer() == f"{tmp_path}/llvm-symbolizer-103"
    (tmp_path / "llvm-symbolizer").touch(0o755)
    assert symbolizer() == f"{tmp_path}/llvm-symbolizer"


def test_undefined_behaviour_is_named_by_its_line() -> None:
    report = "/src/icd.c:138:26: runtime error: signed integer overflow\n==4== ERROR: libFuzzer: deadly signal\n"
    defect = read_finding(report, LOADER)
    assert defect and (defect.kind, defect.key) == ("crash", "undefined@icd.c:138")


def test_engines_own_line_comes_before_any_report() -> None:
    defect = read_finding(f"clharness-fuzz: finding: leak memory@a+0x1: 3 bytes\n{ASAN_REPORT}", LOADER)
    assert defect and (defect.kind, defect.key, defect.sentence) == ("leak", "memory@a+0x1", "3 bytes")


def test_report_of_nothing_is_no_finding() -> None:
    assert read_finding("#4 DONE cov: 3\n", LOADER) is None


def test_small_input_is_found_and_made_plain() -> None:
    tried: list[bytes] = []

    def shows(data: bytes) -> bool:
        tried.append(data)
        return b"X" in data and data[2:3] != b""

    data = b"abcdefgh" * 100 + b"X" + b"z" * 300
    assert sorted(minimised(data, shows, 30.0)) == sorted(b"X\0\0")
    assert len(tried) < 400


def test_input_that_cannot_be_smaller_stays() -> None:
    assert minimised(b"abc", lambda data: data == b"abc", 30.0) == b"abc"
    assert minimised(b"", lambda data: True, 30.0) == b""


def test_inputs_are_named_by_content_and_set_aside_by_content(tmp_path: Path) -> None:
    source, corpus, aside = tmp_path / "source", tmp_path / "corpus", tmp_path / "aside"
    (source / "deeper").mkdir(parents=True)
    for name, data in {"a": b"one", "b": b"one", "deeper/c": b"two"}.items():
        (source / name).write_bytes(data)
    assert add_inputs(source, corpus) == 3
    assert sorted(path.read_bytes() for path in corpus.iterdir()) == [b"one", b"two"]
    assert set_aside(b"two", corpus, aside)
    assert not set_aside(b"three", corpus, aside)
    assert [path.read_bytes() for path in corpus.iterdir()] == [b"one"]
    assert [path.read_bytes() for path in aside.iterdir()] == [b"two"]


def test_key_as_a_file_name() -> None:
    assert findings.word("memory@libOpenCL.so.1+0x12/../x y") == "memory@libOpenCL.so.1+0x12_.._x_y"


# --- what is refused ---


def _compiled(tmp_path: Path, compiler: str, *options: str) -> Path:
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    source, library = tmp_path / "x.c", tmp_path / "libx.so"
    source.write_text("int clGetPlatformIDs(int *p) { if (p) return p[0]; return 0; }\n")
    command = [compiler, "-shared", "-fPIC", *options, "-o", str(library), str(source)]
    if subprocess.run(command, capture_output=True).returncode:
        pytest.skip(f"{compiler} cannot compile with {' '.join(options)}")
    return library


def test_gccs_sanitizer_is_refused_with_the_remedy(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"gcc's sanitizer \(libasan.*clang"):
        fuzz_subject(_compiled(tmp_path, "gcc", "-fsanitize=address"), "libfuzzer")


def test_gccs_coverage_is_refused_with_the_remedy(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"trace-pc.*clang"):
        fuzz_subject(_compiled(tmp_path, "gcc", "-fsanitize-coverage=trace-pc"), "libfuzzer")


def test_instrumented_and_stock_libraries_are_distinguished(tmp_path: Path) -> None:
    stock = fuzz_subject(_compiled(tmp_path, "gcc"), "libfuzzer")
    assert (stock.coverage, stock.sanitized) == ("breakpoints", False)
    covered = fuzz_subject(_compiled(tmp_path, "clang", "-fsanitize=address,fuzzer-no-link"), "libfuzzer")
    assert (covered.coverage, covered.sanitized) == ("compiler", True)


def test_times() -> None:
    assert [fuzz._seconds(text) for text in ("90", "90s", "10m", "1.5h", "1d")] == [90, 90, 600, 5400, 86400]


# --- targets ---


def test_targets_have_names_and_sentences() -> None:
    assert "icd_file" in builds.targets()
    assert all(builds.targets().values()), "the first sentence of a target's source says what it is"


def test_unknown_target_is_refused() -> None:
    with pytest.raises(UsageError, match=r"no such fuzz target; the targets are .*icd_file"):
        builds.chosen_targets(["icd_fill"], False)


# --- reproducers ---


def _list(tmp_path: Path, text: str) -> Path:
    (tmp_path / "icd_file").mkdir()
    (tmp_path / "icd_file" / "short").write_bytes(b"\0")
    file = tmp_path / "findings.toml"
    file.write_text(text)
    return file


ENTRY = """\
[[reproducer]]
target = "icd_file"
file = "short"
kind = "crash"
finding = "memory@f+0x1"
subject = "Some Loader"
versions = ">=1, <2"
sentence = "What happens."
"""


def test_reproducers_are_read(tmp_path: Path) -> None:
    (one,) = reproducers.reproducers(_list(tmp_path, ENTRY))
    assert one.holds_for("Some Loader", "1.5") and not one.holds_for("Some Loader", "2.0")
    assert one.is_same("crash", "memory@f+0x1", "") and not one.is_same("leak", "memory@f+0x1", "")
    assert one.is_same("crash", "memory@g", "another file") and not one.is_same("crash", "memory@g", "")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"short"', '"missing"', "icd_file/missing, which does not exist"),
        ('target = "icd_file"', 'target = "nothing"', "unknown target 'nothing'"),
        ("kind", "kynd", "unknown key 'kynd'"),
        ('"crash"', '"boom"', "kind 'boom'"),
        ('"What happens."', '""', "needs `sentence`"),
        ('">=1, <2"', '"1..2"', "not a version clause"),
    ],
)
def test_wrong_entries_are_refused(tmp_path: Path, old: str, new: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        reproducers.reproducers(_list(tmp_path, ENTRY.replace(old, new, 1)))


def test_input_without_an_entry_is_noticed(tmp_path: Path) -> None:
    file = _list(tmp_path, ENTRY)
    assert reproducers.unlisted(file) == []
    (stray := tmp_path / "icd_file" / "stray").write_bytes(b"")
    assert reproducers.unlisted(file) == [stray]


def test_the_projects_own_list_is_whole() -> None:
    reproducers.reproducers()
    assert reproducers.unlisted() == []


def test_finding_that_is_not_stable_is_not_kept(tmp_path: Path) -> None:
    folder = tmp_path / "finding"
    folder.mkdir()
    one = findings.Finding("icd_file", "crash", "k", "s", False, 0, "")
    (folder / "finding.json").write_text(json.dumps(one.__dict__))
    with pytest.raises(UsageError, match="unstable"):
        reproducers.keep("name", folder, tmp_path)
    with pytest.raises(UsageError, match="not a name for a reproducer"):
        reproducers.keep("Two Words", folder, tmp_path)
    with pytest.raises(UsageError, match="is not a finding"):
        reproducers.keep("name", tmp_path, tmp_path)


def test_description_of_a_long_input_fits_the_terminal(tmp_path: Path) -> None:
    """A character that is repeated says nothing more after the first few."""
    one = findings.Finding("icd_file", "crash", "k@f", "It ends.", True, 4096, str(tmp_path))
    many, bytes_ = "x" * 400, r"\xff" * 90
    (tmp_path / "description.txt").write_text(f'the file has 4096 bytes: "{many}"; then "{bytes_}"; abcabc is short\n')
    few = r"\xff" * 8
    assert one.words() == [f'the file has 4096 bytes: "xxxxxxxx…"; then "{few}…"; abcabc is short']
    text = summary._finding(one, 70)
    assert text[3] == '  input: the file has 4096 bytes: "xxxxxxxx…"; then'
    assert text[4] == f'         "{few}…"; abcabc is short'


def test_summary_shows_the_last_lines_of_a_long_description(tmp_path: Path) -> None:
    """What is called last is what went wrong."""
    one = findings.Finding("vendor_icd", "crash", "k@f", "It ends.", True, 40, str(tmp_path))
    for count, shown in ((8, "01234567"), (9, "01…45678"), (20, "01…56789")):
        (tmp_path / "description.txt").write_text("".join(f"call {number}\n" for number in range(count)))
        text = [line for line in summary._finding(one, 70) if line.startswith("  input: ")]
        assert "".join("…" if "…" in line else line[-1] for line in text) == shown
    assert text[2] == "  input: … 13 more, in description.txt …"
