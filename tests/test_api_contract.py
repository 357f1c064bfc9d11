# SPDX-License-Identifier: Apache-2.0
"""The contract of the API: each row names its source, and a table that names what is unknown is refused."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from harness.api.contract import calls, entries, generate, queries, rules, slots
from harness.api.model import Api, api
from harness.build import ROOT, build
from harness.errors import UsageError
from harness.probe import icd_objects as objects

Load = Callable[[Api], object]


def test_every_row_names_a_document_and_a_section() -> None:
    rows: list[rules.Rule | calls.Recipe | queries.Query] = [*rules.rules(), *calls.recipes().values()]
    rows += queries.queries()
    assert {type(row).__name__ for row in rows} == {"Rule", "Recipe", "Query"}
    assert [row for row in rows if row.source.split(" ", 1)[0] not in entries.documents()] == []
    assert all(row.source.split(" ", 1)[1] for row in rows)


def test_the_generator_writes_every_rule_and_query(tmp_path: Path) -> None:
    out = tmp_path / "rules.c"
    command = [sys.executable, "-m", "harness.api.contract.generate", "--api", str(build().api), "--out", str(out)]
    subprocess.run(command, check=True, cwd=ROOT)
    lines = out.read_text().splitlines()
    assert f"const int rule_count = {len(rules.rules())};" in lines
    assert f"const int rule_query_count = {len(queries.queries())};" in lines
    first = rules.rules()[0]
    conditions = generate.rule_conditions(first, calls.recipes()[first.function].words, api())
    assert [line[4:-1] for line in lines[lines.index("const struct condition rule_terms[] = {") + 1 :]][
        : len(conditions)
    ] == conditions
    assert f"    {{FUNCTION_{first.function}, -31, {len(conditions)}, 0, NULL}}," in lines


def test_every_object_that_a_call_names_can_be_made() -> None:
    assert set(calls.OBJECTS) == {*objects._NAMED, *objects._CLASSES}


# What is changed in a table, and what the reader says.
WRONG: dict[str, tuple[ModuleType, str, str, str]] = {
    "rule of an unknown function": (
        rules,
        "[clCreateBuffer]",
        "[clCreateBufer]",
        "'clCreateBufer'; did you mean clCreateBuffer?",
    ),
    "rule of an unknown parameter": (rules, '"size=0 -> CL', '"sise=0 -> CL', "parameter 'sise'; did you mean size?"),
    "rule with an unknown error": (
        rules,
        "-> CL_INVALID_PIPE_SIZE",
        "-> CL_INVALID_PIP_SIZE",
        "did you mean CL_INVALID_PIPE_SIZE?",
    ),
    "rule with a constant for an error": (rules, "-> CL_INVALID_PIPE_SIZE", "-> CL_PIPE_PACKET_SIZE", "unknown error"),
    "rule with an unknown flag": (
        rules,
        "flags=CL_MEM_USE_HOST_PTR ",
        "flags=CL_MEM_USE_HOST_PRT ",
        "did you mean CL_MEM_USE_HOST_PTR?",
    ),
    "rule with an unknown object": (rules, "w:device ->", "w:devise ->", "'devise'; did you mean device?"),
    "rule without an arrow": (rules, '"size=0 -> ', '"size=0 = ', "is not a rule"),
    "rule without a source": (
        rules,
        'source = "RT Creating Pipe Objects: errors of clCreatePipe"\n',
        "",
        "[clCreatePipe] needs `source`",
    ),
    "rule of an unknown document": (
        rules,
        'source = "PLAT Contexts',
        'source = "PLATT Contexts',
        "document 'PLATT'; did you mean PLAT?",
    ),
    "rule without a section": (
        rules,
        'source = "RT Creating Pipe Objects: errors of clCreatePipe"',
        'source = "RT"',
        "names no section",
    ),
    "call of an unknown function": (calls, "clFinish =", "clFinnish =", "'clFinnish'; did you mean clFinish?"),
    "call with an unknown constant": (
        calls,
        "CL_PLATFORM_NAME 0",
        "CL_PLATFORM_NAMES 0",
        "did you mean CL_PLATFORM_NAME?",
    ),
    "call with an unknown object": (
        calls,
        'clFinish = "queue"',
        'clFinish = "queues"',
        "'queues'; did you mean queue?",
    ),
    "call with too few arguments": (calls, 'clFinish = "queue"', 'clFinish = ""', "takes 1 arguments, not 0"),
    "call without a source": (calls, 'source = "RT Flush and Finish"\n', "", "needs `source`"),
    "unknown query": (
        queries,
        "CL_PLATFORM_NAME =",
        "CL_PLATFORM_NAMES =",
        "'CL_PLATFORM_NAMES'; did you mean CL_PLATFORM_NAME?",
    ),
    "query with a wrong number": (
        queries,
        "CL_PLATFORM_NAME = [0x0902",
        "CL_PLATFORM_NAME = [0x0903",
        "0x903, but the OpenCL-Headers say 0x902",
    ),
    "unknown type of queries": (
        queries,
        "[cl_pipe_info]",
        "[cl_pip_info]",
        "'cl_pip_info'; did you mean cl_pipe_info?",
    ),
    "query without a source": (
        queries,
        'source = "RT Pipe Object Queries: table of clGetPipeInfo"\n',
        "",
        "needs `source`",
    ),
    "query with a wrong size": (queries, '"cl_uint", "4"', '"cl_uint", "four"', "size 'four'"),
}


@pytest.mark.parametrize("what", WRONG)
def test_what_a_table_cannot_mean_is_refused(what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module, old, new, expected = WRONG[what]
    load: Load = module.load
    text = module.FILE.read_text()
    assert old in text
    table = tmp_path / module.FILE.name
    table.write_text(text.replace(old, new))
    monkeypatch.setattr(module, "FILE", table)
    with pytest.raises(UsageError) as refused:
        load(api())
    assert str(refused.value).startswith(f"{table}: ")
    assert expected in str(refused.value)


@pytest.mark.parametrize(
    "old, new, expected",
    [
        ("clFlush = {", "clFlusch = {", "did you mean clFlush?"),
        ("null = -36\n", "null = -31337\n", "not an error code"),
        ('class = "queue" }', 'clas = "queue" }', "unknown key 'clas'"),
    ],
)
def test_slots_are_checked_against_the_headers(
    old: str, new: str, expected: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = slots.FILE.read_text()
    assert old in text
    table = tmp_path / "slots.toml"
    table.write_text(text.replace(old, new))
    slots.check(api())
    monkeypatch.setattr(slots, "FILE", table)
    slots.slots.cache_clear()
    try:
        with pytest.raises(UsageError, match=r"slots\.toml: ") as refused:
            slots.check(api())
    finally:
        slots.slots.cache_clear()
    assert expected in str(refused.value)
