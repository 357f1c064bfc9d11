# SPDX-License-Identifier: Apache-2.0
"""The generator of seeded sources: where a fault goes, and what it refuses."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from harness.errors import UsageError
from harness.selftest import seed
from harness.selftest.mutants import Mutant
from harness.selftest.mutants.icd import icd_mutants
from harness.selftest.mutants.layer import layer_mutants
from harness.selftest.mutants.loader import load, mutants

LISTS = Path(seed.__file__).parent / "mutants"

SOURCE = """\
static int length(const char *text)
{
    return text ? strlen(text) : 0;
}

static void both(char *one, char *other)
{
    free(one);
    if (other) {
        free(one);
        free(other);
    }
}
"""


def fault(name: str, code: str, instead: str = "", function: str = "") -> Mutant:
    return Mutant(name, ("DISC-LNX-001",), "fail.", "a.c", function, code, instead)


def seeded(*faults: Mutant) -> str:
    return seed.seeded("a.c", SOURCE, faults)


def test_an_expression_becomes_a_choice() -> None:
    assert "return (SEEDED(no_length) ? (0) : (text ? strlen(text) : 0));" in seeded(
        fault("no_length", "text ? strlen(text) : 0", "0")
    )


def test_a_statement_becomes_a_choice() -> None:
    assert "if (SEEDED(leak)) {  } else { free(other); }" in seeded(fault("leak", "free(other);"))


def test_white_space_may_differ_and_lines_keep_their_numbers() -> None:
    text = seeded(fault("stop", "if (other) {\n free(one); free(other); }", "free(other);\nfree(one);"))
    assert text.count("\n") == SOURCE.count("\n")
    assert "if (SEEDED(stop)) { free(other); free(one); } else { if (other) {" in text


def test_faults_of_one_place_and_of_a_place_inside_it() -> None:
    outer = fault("outer", "text ? strlen(text) : 0", "1")
    same = fault("same", "text ? strlen(text) : 0", "2")
    inner = fault("inner", "strlen(text)", "3")
    assert (
        "return (SEEDED(outer) ? (1) : ((SEEDED(same) ? (2) : (text ? (SEEDED(inner) ? (3) : (strlen(text))) : 0))));"
        in seeded(inner, outer, same)
    )


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (fault("gone", "free(nobody);"), "fault gone: its code does not occur in a.c; correct its code"),
        (fault("two", "free(one);"), "fault two: its code occurs 2 times in a.c; give more of it, or its function"),
        (fault("in_both", "free(one);", "", "both"), "occurs 2 times in a.c, function both"),
        (fault("elsewhere", "free(other);", "", "length"), "does not occur in a.c, function length"),
        (fault("nowhere", "free(other);", "", "neither"), "its function neither is not in a.c"),
    ],
    ids=lambda value: value.name if isinstance(value, Mutant) else "",
)
def test_code_that_is_not_there_once_is_refused(wrong: Mutant, message: str) -> None:
    with pytest.raises(UsageError) as error:
        seeded(wrong)
    assert message in str(error.value)


def test_a_function_narrows_the_place() -> None:
    assert "SEEDED(short)" in seeded(fault("short", "strlen(text)", "0", "length"))


def test_faults_that_overlap_in_part_are_refused() -> None:
    with pytest.raises(UsageError, match="one_way and other_way overlap in part"):
        seeded(fault("one_way", "text ? strlen(text)", "0"), fault("other_way", "strlen(text) : 0", "0"))


ENTRY = 'name = "a"\nrequirement = "DISC-LNX-001"\nsentence = "fail."\nfile = "a.c"\ncode = "x();"\n'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f"[[mutant]]\n{ENTRY}\n[[mutant]]\n{ENTRY}", "mutant a is listed twice"),
        (f"[[mutant]]\n{ENTRY}".replace("LNX-001", "LNX-999"), "mutant a names the unknown requirement DISC-LNX-999"),
        (f"[[mutant]]\n{ENTRY}".replace("x();", "x()"), "needs `instead`"),
        (f'[[mutant]]\n{ENTRY}instead = "y"\n', "does not replace the statement by one"),
        (f'[[mutant]]\n{ENTRY}insted = "y"\n', "unknown key 'insted'"),
        (f'[[mutant]]\n{ENTRY}at_load = "y();"\n', "both `code` and `at_load`"),
        (f'[[mutant]]\n{ENTRY}\n[no_mutant]\nDISC-LNX-001 = "Why."\n', "DISC-LNX-001 has a mutant, a"),
    ],
)
def test_a_wrong_entry_is_refused(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "list.toml"
    path.write_text(text)
    with pytest.raises(UsageError) as error:
        load(path)
    assert message in str(error.value)
    assert str(path) in str(error.value)


def test_the_command_says_what_is_wrong(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.c").write_text(SOURCE)
    (tmp_path / "list.toml").write_text(f"[[mutant]]\n{ENTRY}")
    status = seed.main([str(tmp_path / "a.c"), "--out", str(tmp_path), "--faults", str(tmp_path / "list.toml")])
    assert status == 2
    assert "fault a: its code does not occur in a.c" in capsys.readouterr().err


def test_the_projects_own_list_says_one_thing_each() -> None:
    known = mutants().by_name.values()
    assert len(known) > 300
    assert all(f.sentence.endswith(".") and f.sentence[0].islower() for f in known)
    changes = [(f.file, f.function, f.code, f.instead) for f in known if f.code]
    assert len(set(changes)) == len(changes), "two faults make the same change"


def test_lists_of_mutants_are_short_enough_to_read() -> None:
    lines = {path.name: len(path.read_text().splitlines()) for path in sorted(LISTS.rglob("*.toml"))}
    assert len(lines) > 50
    assert not {name: count for name, count in lines.items() if count >= 500}


@pytest.mark.parametrize("lists", (icd_mutants, layer_mutants), ids=("icd", "layer"))
def test_a_mutant_of_a_mock_that_is_listed_twice_is_refused(lists: Callable[[Path], object], tmp_path: Path) -> None:
    entry = '[[mutant]]\nname = "a"\nrequirement = "DISC-ACC-023"\nsentence = "fail"\n'
    (tmp_path / "one.toml").write_text(entry)
    assert lists(tmp_path)
    (tmp_path / "two.toml").write_text(entry)
    with pytest.raises(UsageError, match=r"two\.toml: a is listed twice"):
        lists.__wrapped__(tmp_path)  # type: ignore[attr-defined] # past the cache
