# SPDX-License-Identifier: Apache-2.0
"""clharness mutants on a library of a few lines: what counts as a mutant, which are found, what a lost worker costs."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from elftools.elf.elffile import ELFFile  # type: ignore[import-untyped]

from harness.cli.main import main
from harness.errors import UsageError
from harness.mutation import cases, report
from harness.mutation.builder import Builder, Subject, chosen, units
from harness.mutation.campaign import Campaign
from harness.mutation.cases import Job, Lost, Pool
from harness.mutation.link import cmake_link, link_like, loaders_target, source_names, version_script, with_output
from harness.mutation.operators import Mutant
from harness.mutation.page import page
from harness.mutation.results import RECORDS, Results
from harness.mutation.subjects import all_mutants
from harness.subject.library import read_library

pytestmark = pytest.mark.skipif(not shutil.which("clang"), reason="clang is not installed")

LOADER = """\
static int answers = -1001;
int clGetPlatformIDs(unsigned count, void **platforms, unsigned *found)
{
    if (count == 0 && platforms) {
        return -30;
    }
    if (found) {
        *found = 0;
    }
    return answers;
}
"""
SUITE = '''\
"""A small suite."""
from harness.check import requirement


@requirement("DISC-GEN-001")
def test_answer(loader, sandbox):
    """Without a vendor there is no platform."""
    with loader.start(sandbox) as cl:
        assert int(cl.clGetPlatformIDs(0, None, None)) == -1001
'''


def subject(folder: Path) -> Subject:
    (folder / "loader.c").write_text(LOADER)
    return rebuilt(folder)


def rebuilt(folder: Path) -> Subject:
    """The subject that the folder's loader.c makes."""
    command = "cc -fPIC -O1 -c loader.c -o loader.o"
    entry = {"directory": str(folder), "file": "loader.c", "command": command}
    (folder / "compile_commands.json").write_text(json.dumps([entry]))
    all_units = units(folder, "")
    return Subject(
        all_units, with_output(["cc", "-shared", "{objects}", "-o", "x"]), folder, chosen(all_units, ["*.c"])
    )


def edit(folder: Path, before: str, after: str) -> Mutant:
    start = LOADER.index(before)
    return Mutant(folder / "loader.c", 1, 1, "any", "any", before, after, start, start + len(before))


def test_what_is_no_mutant(tmp_path: Path) -> None:
    builder = Builder(subject(tmp_path), tmp_path)
    output = tmp_path / "made" / "library.so"
    assert builder.build(edit(tmp_path, "return -30", "return }"), output) == "no compile"
    assert builder.build(edit(tmp_path, "return -30", "return -30 - 0"), output) == "equivalent"
    assert not output.exists()
    assert builder.build(edit(tmp_path, "return -30", "return -31"), output) == ""
    assert output.exists()
    assert builder.build(edit(tmp_path, "return -30", "return -30 - 1"), output) == "duplicate"


def small_suite(folder: Path, text: str = SUITE) -> Path:
    suite = folder / "suites" / "discovery"
    suite.mkdir(parents=True)
    name = re.sub(r"\W", "_", folder.name)  # pytest collects several of them in this process
    (suite / f"test_{name}.py").write_text(text)
    return suite


def test_a_run_distinguishes_found_from_survived(tmp_path: Path) -> None:
    """The suite asks for the answer alone: what is changed of anything else survives."""
    suite = small_suite(tmp_path)
    tested = subject(tmp_path)
    mutants = [m for m in all_mutants(tested) if m.operator in ("constant", "equality")]
    assert len(mutants) == 9
    campaign = Campaign(tested, mutants, [suite], jobs=1)
    campaign.run()
    states = {(fate.mutant.before, fate.mutant.after): fate.state for fate in campaign.fates}
    assert states["1001", "1002"] == states["1001", "1000"] == "found"
    assert states["30", "31"] == states["0", "1"] == "survived"
    (found,) = (fate for fate in campaign.fates if fate.mutant.after == "1002")
    assert found.case.endswith("::test_answer")
    assert "-1002" in found.message
    assert found.own
    counted = [fate for fate in campaign.fates if fate.counts]
    assert report.share(campaign.fates) == 2 / len(counted)
    text = "\n".join(report.lines(campaign, 1.0))
    narrow = report.lines(campaign, 1.0, width=60)
    assert [line for line in narrow if len(line) > 60 and line.startswith("    ")] == []
    assert "      test_answer" in narrow
    assert "30 → 31" in text
    assert "1001 → 1002" not in text
    html = page(campaign.fates, "in short", {unit.source: unit.text for unit in tested.units})
    assert "return -<del>30</del><ins>31</ins>;" in html
    assert "<ins>1002</ins>" not in html


def test_only_cases_that_reach_an_edit_meet_it(tmp_path: Path) -> None:
    """The suite never asks for a list, so that no case runs on a change of what that answers."""
    suite = small_suite(tmp_path)
    tested = subject(tmp_path)
    unreached = [m for m in all_mutants(tested) if m.operator == "constant" and m.before == "30"]
    reached = [m for m in all_mutants(tested) if m.operator == "equality"]
    assert unreached
    assert reached
    campaign = Campaign(tested, [*unreached, *reached], [suite], jobs=1)
    campaign.run()
    fates = {fate.mutant: fate for fate in campaign.fates}
    assert [(fates[mutant].reached_by, fates[mutant].ran) for mutant in unreached] == [(0, 0)] * len(unreached)
    (near,) = fates[reached[0]].near
    assert near.endswith("::test_answer")
    assert campaign.suites is not None
    assert campaign.suites.reach is not None
    lines, with_cases = campaign.suites.reach.reached(tmp_path / "loader.c")
    assert 0 < with_cases < lines


NEIGHBOURS = """\
int clGetDeviceIDs(void *platform, unsigned long type)
{
    return platform ? 0 : -(int)type;
}

int clGetPlatformIDs(unsigned count, void **platforms,
                     unsigned *found)
{
    return count || platforms || found ? 0 : -1001;
}
"""


def test_a_function_begins_where_the_one_before_it_ends(tmp_path: Path) -> None:
    """What a compiler does before a function's first block is reached by that function's cases alone."""
    suite = small_suite(tmp_path)
    (tmp_path / "loader.c").write_text(NEIGHBOURS)
    tested = rebuilt(tmp_path)
    mutants = [m for m in all_mutants(tested) if m.operator == "early-return"]
    campaign = Campaign(tested, mutants, [suite], jobs=1)
    campaign.run()
    states = {fate.mutant.function: (fate.state, fate.reached_by) for fate in campaign.fates}
    assert states == {"clGetDeviceIDs": ("survived", 0), "clGetPlatformIDs": ("found", None)}


SWITCH = """\
int clGetPlatformIDs(unsigned count, void **platforms, unsigned *found)
{
    switch (count) {
    case 2:
        return platforms && !found ? 0 : -40;
    case 1:
        return platforms && found ? 0 : -30;
    default:
        break;
    }
    return -1001;
}
"""


def test_a_label_is_reached_by_what_reaches_its_switch(tmp_path: Path) -> None:
    """What the unchanged library does elsewhere, the mistake leads to the label."""
    suite = small_suite(tmp_path)
    (tmp_path / "loader.c").write_text(SWITCH)
    tested = rebuilt(tmp_path)
    mutants = [m for m in all_mutants(tested) if m.operator == "constant" and m.before in ("1", "30")]
    campaign = Campaign(tested, mutants, [suite], jobs=1)
    campaign.run()
    states = {(fate.mutant.before, fate.mutant.after): fate.state for fate in campaign.fates}
    assert states["1", "0"] == "found"
    assert states["30", "31"] == "survived"


RECORDS_ITS_ANSWER = '''\
"""A suite whose one check accepts every answer, and records which it was."""
from harness.check import requirement


@requirement("DISC-GEN-001")
def test_any_answer(loader, sandbox, record):
    """Without a vendor there is an answer."""
    with loader.start(sandbox) as cl:
        record(str(int(cl.clGetPlatformIDs(0, None, None))))
'''
OF_A_SHOULD = SUITE.replace("DISC-GEN-001", "DISC-ACC-019")


@pytest.mark.parametrize(
    ("suite", "own", "state"),
    [
        (RECORDS_ITS_ANSWER, False, "found"),
        (RECORDS_ITS_ANSWER, True, "only with a file"),
        (OF_A_SHOULD, False, "found"),
        (OF_A_SHOULD, True, "only with --strict"),
        (SUITE, True, "found"),
    ],
    ids=["outcome", "outcome alone", "should", "should alone", "must alone"],
)
def test_without_expectations_only_red_counts(tmp_path: Path, suite: str, own: bool, state: str) -> None:
    """A must is red for everybody, a should for who is strict, an outcome for who knows the loader; each is said."""
    tested = subject(tmp_path)
    mutants = [m for m in all_mutants(tested) if m.after == "1002"]
    campaign = Campaign(tested, mutants, [small_suite(tmp_path, suite)], jobs=1, own=own)
    campaign.run()
    (fate,) = campaign.fates
    assert fate.state == state
    assert fate.own == (suite == SUITE)
    assert fate.case.endswith("answer")
    figures = report.figures(campaign.fates)
    assert figures["red"] == (suite == SUITE or not own)
    assert figures["red with --strict"] == (suite != RECORDS_ITS_ANSWER or not own)
    assert figures["red with an expectation file"] == 1
    text = "\n".join(report.lines(campaign, 1.0, width=1000))
    html = page(campaign.fates, report.summary(campaign, 1.0), {unit.source: unit.text for unit in tested.units})
    for shown in (text, html):
        assert (fate.case.rpartition("::")[2] in shown) == (state != "found")
        assert ("with --strict 1 (100.0%)" in shown) == (own and suite != RECORDS_ITS_ANSWER)
        assert ("with a file 1 (100.0%)" in shown) == own


SHOULD_AND_MUST = OF_A_SHOULD + SUITE.partition("\n\n\n")[2].replace("test_answer", "test_binding_answer")


def test_a_should_does_not_end_the_search_for_a_must(tmp_path: Path) -> None:
    """The check of what is weaker is met first."""
    tested = subject(tmp_path)
    mutants = [m for m in all_mutants(tested) if m.after == "1002"]
    suite = small_suite(tmp_path, SHOULD_AND_MUST.replace("test_answer", "test_a"))
    campaign = Campaign(tested, mutants, [suite], jobs=1, own=True)
    campaign.run()
    (fate,) = campaign.fates
    assert (fate.state, fate.case.rpartition("::")[2]) == ("found", "test_binding_answer")


SLOW_ANSWER = SUITE.replace("    with loader", "    import time\n    time.sleep(2.5 if {when} else 0)\n    with loader")


def test_what_is_out_of_time_is_tried_again_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the time that it computes: a machine that is busy with other things says nothing of a mutant."""
    monkeypatch.setattr(cases, "STARVED", 100)
    tested = subject(tmp_path)
    mutants = [m for m in all_mutants(tested) if m.after in ("1002", "1000")]
    suite = small_suite(tmp_path, SLOW_ANSWER.format(when="'/mutants/' in str(loader.path)"))
    ticks: list[str] = []
    campaign = Campaign(tested, mutants, [suite], jobs=2, limit=2.0, own=True, tick=ticks.append)
    campaign.run()
    assert [fate.state for fate in campaign.fates] == ["found", "found"]
    assert any("2 out of time" in tick for tick in ticks)


def test_what_computes_too_long_is_lost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where it does so in processes that it starts."""
    monkeypatch.setattr(cases, "STARVED", 100)
    tested = subject(tmp_path)
    mutants = [m for m in all_mutants(tested) if m.after == "1002"]
    circles = "__import__('subprocess').run(['sh', '-c', 'while kill -0 $PPID; do :; done']) and '{when}'"
    suite = small_suite(tmp_path, SLOW_ANSWER.format(when=f"'/mutants/' in str(loader.path) and {circles}"))
    campaign = Campaign(tested, mutants, [suite], jobs=1, limit=1.0, own=True)
    campaign.run()
    (fate,) = campaign.fates
    assert (fate.state, fate.message) == ("lost", "not done after 1 s of processor time")


def test_a_run_goes_on_where_it_was_cut_short(tmp_path: Path) -> None:
    suite = small_suite(tmp_path)
    tested = subject(tmp_path)
    mutants = [m for m in all_mutants(tested) if m.operator == "constant"]
    out = tmp_path / "out"
    first = Campaign(tested, mutants[:2], [suite], jobs=1, results=Results(out, {"subject": tested.digest}))
    first.run()
    with (out / RECORDS).open("a") as file:
        file.write('{"mutant": {"fi')  # killed in the middle of a line
    second = Campaign(tested, mutants, [suite], jobs=1, results=Results(out, {"subject": tested.digest}))
    assert second.fates == first.fates
    second.run()
    assert {fate.mutant for fate in second.fates} == set(mutants)
    assert len((out / RECORDS).read_text().splitlines()) == 1 + len(mutants)
    with pytest.raises(UsageError, match="of another run"):
        Results(out, {"subject": "another"})


def test_a_library_is_linked_like_a_built_one(tmp_path: Path) -> None:
    """With its name, its exports and their versions, and of the files that its symbol table names."""
    (tmp_path / "loader.c").write_text(LOADER + "int helper(void) { return 1; }\n")
    (tmp_path / "other.c").write_text("int main(void) { return 0; }\n")
    script = tmp_path / "script"
    script.write_text("OPENCL_1.0 { global: clGetPlatformIDs; local: *; };\n")
    built = tmp_path / "libOpenCL.so.1"
    run = subprocess.run(
        [
            "cc",
            "-shared",
            "-fPIC",
            "-Wl,-soname,libOpenCL.so.1",
            f"-Wl,--version-script={script}",
            "loader.c",
            "-o",
            built,
        ],
        cwd=tmp_path,
    )
    assert run.returncode == 0
    rows = [
        {"directory": str(tmp_path), "file": f"{name}.c", "command": f"ccache cc -fPIC -c {name}.c -o {name}.o"}
        for name in ("loader", "other")
    ]
    (tmp_path / "compile_commands.json").write_text(json.dumps(rows))
    all_units = units(tmp_path, "", source_names(built))
    assert [(unit.source.name, unit.command[0]) for unit in all_units] == [("loader.c", "cc")]
    command = link_like(built, "cc")
    builder = Builder(Subject(all_units, command, tmp_path, (), version_script(built)), tmp_path)
    again, first = (read_library(path, "loader", "") for path in (builder.original, built))
    assert again.exported == first.exported
    assert "clGetPlatformIDs" in again.exported
    assert "helper" not in again.exported
    assert again.symbol_versions == first.symbol_versions
    assert again.soname == "libOpenCL.so.1"


def _inherited(library: Path) -> list[list[str]]:
    """Each version of a library with those that it inherits from, in their order."""
    with library.open("rb") as file:
        section = ELFFile(file).get_section_by_name(".gnu.version_d")
        return [[auxiliary.name for auxiliary in names] for _, names in section.iter_versions()][1:]


def test_versions_inherit_as_those_of_the_built_library(tmp_path: Path) -> None:
    """Whatever the order of its symbols, and also where a version has none of its own."""
    (tmp_path / "loader.c").write_text(
        "int z(void) { return 0; }\nint a(void) { return 1; }\nint m(void) { return 2; }\n"
    )
    script, built = tmp_path / "script", tmp_path / "libOpenCL.so.1"
    script.write_text("V1 { global: m; local: *; };\nV2 { global: a; } V1;\nV3 { } V2;\nV4 { global: z; } V3;\n")
    like = ["cc", "-shared", "-fPIC", "-Wl,-soname,libOpenCL.so.1", "loader.c"]
    for text, output in ((script, built), (tmp_path / "again", tmp_path / "copy")):
        (tmp_path / "again").write_text(version_script(built) if built.exists() else "")
        subprocess.run([*like, f"-Wl,--version-script={text}", "-o", output], cwd=tmp_path, check=True)
    assert _inherited(built) == [["V1"], ["V2", "V1"], ["V3", "V2"], ["V4", "V3"]]
    assert _inherited(tmp_path / "copy") == _inherited(built)


@pytest.mark.parametrize("outputs", [True, False], ids=["CMake", "plain"])
def test_file_of_a_test_driver_is_none_of_the_library(tmp_path: Path, outputs: bool) -> None:
    """It has the name of one of the loader's, and is compiled before and after it."""
    rows = []
    for folder, name in (("stub", "icd"), ("loader", "icd"), ("loader", "os"), ("late", "icd")):
        source = tmp_path / folder / f"{name}.c"
        source.parent.mkdir(exist_ok=True)
        source.write_text("int i;\n")
        output = f" -o {folder}.dir/{name}.o" if outputs else ""
        rows.append({"directory": str(tmp_path), "file": str(source), "command": f"cc -fPIC -c {source}{output}"})
    (tmp_path / "compile_commands.json").write_text(json.dumps(rows))
    units_of = units(tmp_path, "", {"icd.c", "os.c"})
    assert [unit.source for unit in units_of] == [tmp_path / "loader" / "icd.c", tmp_path / "loader" / "os.c"]


def test_a_source_is_no_argument_however_its_build_and_bear_name_it(tmp_path: Path) -> None:
    """libtool and `bear -- make`: the file by its whole path, in the arguments as the build named it."""
    (tmp_path / "src").mkdir()
    for name in ("src/loader.c", "near.c"):
        (tmp_path / name).write_text("int i;\n")
    rows = [
        {
            "directory": str(tmp_path),
            "file": str(tmp_path / name),
            "arguments": ["/usr/bin/gcc", "-DX", "-c", "-fPIC", "-o", f".libs/{number}.o", said],
        }
        for number, (name, said) in enumerate([("near.c", "near.c"), ("src/loader.c", "./src/../src/loader.c")])
    ]
    (tmp_path / "compile_commands.json").write_text(json.dumps(rows))
    assert {unit.arguments for unit in units(tmp_path, "")} == {("-DX", "-fPIC")}


def test_a_lost_worker_costs_one_job(tmp_path: Path) -> None:
    def answer(job: Job) -> int:
        if job.key == 1:
            os._exit(5)
        while job.key == 2:
            time.monotonic()
        return job.key

    answers: dict[int, Any] = {}
    jobs: Iterator[Job] = (Job(key, tmp_path, ()) for key in range(5))
    Pool(answer, 2, limit=1).run(jobs, lambda job, given: answers.update({job.key: given}))
    assert answers == {0: 0, 1: Lost("the worker died"), 2: Lost("not done after 1 s", by_clock=True), 3: 3, 4: 4}


def test_what_neither_computes_nor_ends_is_given_up_by_the_clock(tmp_path: Path) -> None:
    answers: list[Any] = []
    pool = Pool(lambda _: time.sleep(600), 1, limit=0.5, by_processor=True)
    pool.run(iter([Job(0, tmp_path, ())]), lambda _, given: answers.append(given))
    (lost,) = answers
    assert re.fullmatch(r"not done after \d+ s, in which it computed for 0 s", lost.reason)


def test_the_link_of_a_target_is_found_below_a_build(tmp_path: Path) -> None:
    script = tmp_path / "sub" / "CMakeFiles" / "OpenCL.dir" / "link.txt"
    script.parent.mkdir(parents=True)
    script.write_text("/usr/bin/cc -shared -o libOpenCL.so CMakeFiles/OpenCL.dir/icd.c.o\n")
    folder, link = cmake_link(tmp_path, "OpenCL")
    assert folder == tmp_path / "sub"
    assert link == ("/usr/bin/cc", "-shared", "-o", "{output}", "CMakeFiles/OpenCL.dir/icd.c.o")
    with pytest.raises(UsageError, match="--link"):
        cmake_link(tmp_path, "other")


def linked(folder: Path, target: str, output: str) -> None:
    """What CMake leaves of a target that make links."""
    script = folder / "CMakeFiles" / f"{target}.dir" / "link.txt"
    script.parent.mkdir(parents=True)
    script.write_text(f"/usr/bin/cc -shared -o {output} CMakeFiles/{target}.dir/icd.c.o\n")


def test_the_only_loader_of_a_build_needs_no_name(tmp_path: Path) -> None:
    linked(tmp_path, "Tool", "tool")
    linked(tmp_path, "Loader", "sub/libOpenCL.so.1.0.0")
    assert loaders_target(tmp_path) == "Loader"
    linked(tmp_path, "Other", "libOpenCL.so.1")
    with pytest.raises(UsageError, match=r"its targets Loader, Other link a libOpenCL\.so; .* --target NAME"):
        loaders_target(tmp_path)


def test_a_build_without_a_loader_is_said(tmp_path: Path) -> None:
    linked(tmp_path, "Tool", "tool")
    with pytest.raises(UsageError, match=r"none of its targets links a libOpenCL\.so; .* --loader PATH"):
        loaders_target(tmp_path)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "is not JSON: Expecting value"),
        (b"\xff", "is not JSON: "),
        ("[" * 100_000, "is not JSON: "),
        ("{}", "holds no list of commands"),
        ("[3]", "entry 1 is not a command"),
        ('[{"directory": "/x", "command": "cc"}]', "entry 1 is not a command"),
        ('[{"directory": "/x", "file": "a.c", "command": ""}]', "entry 1 is not a command"),
        ('[{"directory": "/x", "file": "a.c", "command": "cc \\"a"}]', "entry 1 is not a command"),
        ('[{"directory": "/x", "file": "a.c", "command": "cc -o"}]', "entry 1 is not a command"),
        ('[{"directory": 3, "file": "a.c", "arguments": [1]}]', "entry 1 is not a command"),
        ('[{"directory": "/x", "file": "a\\u0000.c", "command": "cc"}]', "entry 1 is not a command"),
        ('[{"directory": "/x", "file": "a.c", "command": "cc a.c"}]', "/x/a.c cannot be read: .*; build it first"),
    ],
)
def test_damaged_list_of_commands_is_refused_in_a_sentence(tmp_path: Path, content: str | bytes, words: str) -> None:
    (tmp_path / "compile_commands.json").write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(UsageError, match=rf"compile_commands\.json:? {words}"):
        units(tmp_path, "")


def test_list_of_commands_that_cannot_be_read_is_refused_in_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "compile_commands.json").mkdir()
    with pytest.raises(UsageError, match=r"compile_commands\.json cannot be read: Is a directory"):
        units(tmp_path, "")


@pytest.mark.skipif(not shutil.which("ninja"), reason="ninja is not installed")
def test_the_only_loader_of_a_build_by_ninja_needs_no_name(tmp_path: Path) -> None:
    (tmp_path / "build.ninja").write_text(
        "rule C_SHARED_LIBRARY_LINKER__The_Loader_Release\n  command = true\n"
        "build sub/libOpenCL.so.1: C_SHARED_LIBRARY_LINKER__The_Loader_Release\n"
    )
    assert loaders_target(tmp_path) == "The_Loader"


def test_wrong_usage_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["mutants", "--compile-commands", str(tmp_path), "--list"]) == 2
    assert "CMAKE_EXPORT_COMPILE_COMMANDS" in capsys.readouterr().err
    assert main(["mutants", "--target", "OpenCL"]) == 2
    assert "--compile-commands" in capsys.readouterr().err


def test_mutants_of_the_reference_loader_end_with_a_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """From its compile_commands.json, its own suites, a check of them: the newline at the end of a file."""
    out = tmp_path / "out"
    words = ["--file", "os_linux.c", "--function", "folder_each", "--sample", "3", "--seed", "1"]
    words += ["--suite", "discovery", "-k", "test_library_path_without_final_newline"]
    assert main(["mutants", *words, "-j", "1", "--out", str(out)]) == 0
    shown = capsys.readouterr().out
    assert " mutants found" in shown
    assert "Lines that cases reach" in shown
    assert "os_linux.c" in (out / "index.html").read_text()
    assert len((out / RECORDS).read_text().splitlines()) == 4
    summary = json.loads((out / "summary.json").read_text())
    assert summary["mutants"] >= summary["red with an expectation file"] == summary["red"]
    assert summary["summary"] in re.sub(r"\s+", " ", shown)
