# SPDX-License-Identifier: Apache-2.0
"""The operators of clharness mutants: what each makes of a small C file, and that it compiles."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import pytest

from harness.errors import HarnessError
from harness.mutation.builder import digest
from harness.mutation.operators import OPERATORS, Mutant, mutants
from harness.mutation.syntax import SyntaxFailure, parse

pytestmark = pytest.mark.skipif(not shutil.which("clang"), reason="clang is not installed")

# Positions are known from what stands there; an operator may make more of a function than its row below names.
C = """\
#define LIMIT 30
#define REFUSE(x) if (!(x)) return -1
enum kind { PLAIN, LAYERED };
int put(const char *text, int length, int width);
void *find(void *list, const char *name);
int negate_condition(int a) { if (a) return 3; return 2; }
int loops(int a) { while (a) { if (a == 4) break; put("x", a, 2); if (a > 7) continue; a--; } return a; }
int boundary(int a, int b) { return a < b; }
int logical(int a, int b) { return a && (b /* && */ || a); }
int arithmetic(int a, int b) { a += b; ++a; return a - b; }
void calls(int a) { put("abc", a, LIMIT); }
void assigns(int a) { int b = a; b = a; put("d", b, a); }
int macro(int *p, int q) { REFUSE(p && q); return 0; }
int constants(void) { return LIMIT; }
int named(void) { return LAYERED; }
int letter(void) { return 'a'; }
int hexadecimal(void) { return 0x1Fu; }
void *pointer(void *list, int a) { return a ? find(list, "n") : 0; }
void *nothing(void) { return 0; }
int drop_not(int a) { return !a; }
int choice(int a) { if (a) { a = 2; } else { a = 5; } return a; }
int sizes(int a) { return put("e", sizeof a, 3); }
int escapes(void) { return put("\\n%d", 1, 1); }
"""
MADE = [
    ("negate_condition", "negate-condition", "if (!(a)) return 3;"),
    ("negate_condition", "condition-true", "if (1) return 3;"),
    ("negate_condition", "condition-false", "if (0) return 3;"),
    ("negate_condition", "drop-return", "if (a) ; return 2;"),
    ("negate_condition", "drop-return", "if (a) return 3; return 0;"),
    ("negate_condition", "early-return", "{ return 0; if (a) return 3;"),
    ("loops", "negate-condition", "while (!(a)) {"),
    ("loops", "equality", "a != 4"),
    ("loops", "boundary", "a >= 7"),
    ("loops", "jump", "if (a == 4) continue;"),
    ("loops", "jump", "if (a == 4) ;"),
    ("loops", "jump", "if (a > 7) break;"),
    ("loops", "arithmetic", "a++; }"),
    ("loops", "drop-assignment", "continue; ; }"),
    ("boundary", "boundary", "return a <= b;"),
    ("logical", "logical", "return a || (b /* && */ || a);"),
    ("logical", "logical", "return a && (b /* && */ && a);"),
    ("arithmetic", "arithmetic", "a -= b;"),
    ("arithmetic", "arithmetic", "--a;"),
    ("sizes", "length", "(sizeof a + 1)"),
    ("sizes", "length", "(sizeof a - 1)"),
    ("arithmetic", "arithmetic", "return a + b;"),
    ("calls", "drop-call", "{ ; }"),
    ("calls", "swap-arguments", 'put("abc", LIMIT, a);'),
    ("calls", "null-argument", "put(((void *)0), a, LIMIT);"),
    ("calls", "string", 'put("", a, LIMIT);'),
    ("calls", "string", 'put("axc", a, LIMIT);'),
    ("calls", "constant", 'put("abc", a, (LIMIT + 1));'),
    ("calls", "early-return", "{ return; put"),
    ("assigns", "drop-assignment", "int b = 0; b = a;"),
    ("assigns", "drop-assignment", "int b = a; ;"),
    ("macro", "drop-call", "{ ; return 0; }"),
    ("macro", "logical", "REFUSE(p || q);"),
    ("constants", "constant", "return (LIMIT - 1);"),
    ("named", "constant", "return (LAYERED + 1);"),
    ("letter", "constant", "return ('a' - 1);"),
    ("hexadecimal", "constant", "return 32u;"),
    ("hexadecimal", "constant", "return 30u;"),
    ("pointer", "condition-false", 'return 0 ? find(list, "n") : 0;'),
    ("pointer", "null-argument", "find(list, ((void *)0))"),
    ("pointer", "constant", 'find(list, "n") : ((void *)1);'),
    ("nothing", "constant", "return ((void *)-1);"),
    ("drop_not", "drop-not", "return (a);"),
    ("choice", "skip-else", "if (a) { a = 2; } else {} return a;"),
    ("escapes", "string", 'put("", 1, 1);'),
]


def mutants_of(folder: Path, text: str, arguments: Sequence[str] = ()) -> list[Mutant]:
    file = folder / "small.c"
    file.write_text(text)
    return mutants(parse(file, arguments, folder))


@cache
def of_the_file(folder: Path) -> list[Mutant]:
    return mutants_of(folder, C)


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> list[Mutant]:
    return of_the_file(tmp_path_factory.mktemp("mutation"))


def compiles(text: bytes, folder: Path) -> Path:
    file, object_ = folder / "mutant.c", folder / "mutant.o"
    file.write_bytes(text)
    subprocess.run(["cc", "-w", "-c", file, "-o", object_], check=True)
    return object_


@pytest.mark.parametrize(("function", "operator", "text"), MADE)
def test_an_operator_makes_its_mistake(small: list[Mutant], function: str, operator: str, text: str) -> None:
    ours = [mutant for mutant in small if (mutant.function, mutant.operator) == (function, operator)]
    mutated = [mutant.applied(C.encode()).decode() for mutant in ours]
    assert any(text in source.splitlines()[mutant.line - 1] for source, mutant in zip(mutated, ours, strict=True)), (
        mutated
    )
    assert text not in C


def test_every_operator_is_seen() -> None:
    assert {operator for _, operator, _ in MADE} == set(OPERATORS)


def test_all_compile_at_once_and_none_is_the_original(small: list[Mutant], tmp_path: Path) -> None:
    """Each function in its mutants, renamed and in one file: one run of the compiler."""
    lines = C.splitlines()
    head = "\n".join(line for line in lines if not line.endswith("}"))
    parts = ["enum kind { PLAIN, LAYERED };", head.replace("enum kind", "//"), *lines[5:]]
    for number, mutant in enumerate(small):
        changed = mutant.applied(C.encode()).decode().splitlines()
        assert changed != lines
        assert len(changed) == len(lines)
        parts.append(changed[mutant.line - 1].replace(f"{mutant.function}(", f"{mutant.function}_{number}(", 1))
    compiles("\n".join(parts).encode(), tmp_path)
    assert len({mutant.applied(C.encode()) for mutant in small}) == len(small)


def test_escapes_stay_whole(small: list[Mutant]) -> None:
    assert all(m.function != "escapes" or m.after == '""' for m in small if m.operator == "string")


def test_nothing_outside_the_file_is_touched(tmp_path: Path) -> None:
    (tmp_path / "other.h").write_text("static inline int other(int a) { return a + 1; }\n#define ADD(x) ((x) + 1)\n")
    mutants = mutants_of(tmp_path, '#include "other.h"\nint here(int a) { return ADD(a) + other(a); }\n')
    assert {mutant.function for mutant in mutants} == {"here"}
    assert {mutant.before for mutant in mutants if mutant.operator == "arithmetic"} == {"+"}


def test_values_of_static_variables_are_data(tmp_path: Path) -> None:
    """No line of code is theirs: whichever cases reach the function before them say nothing."""
    text = 'const char *f(int a)\n{\n    static const char text[] = "x";\n    return a ? text : "y";\n}\n'
    strings = {
        mutant.before: mutant.in_function for mutant in mutants_of(tmp_path, text) if mutant.operator == "string"
    }
    assert strings == {'"x"': False, '"y"': True}


def test_machine_without_clang_is_told_what_to_install(tmp_path: Path) -> None:
    (tmp_path / "small.c").write_text("int f(void);\n")
    with pytest.raises(HarnessError, match="install clang"):
        parse(tmp_path / "small.c", (), tmp_path, clang=str(tmp_path / "clang"))


def test_lines_keep_their_numbers(tmp_path: Path) -> None:
    text = "int put(int);\nvoid f(int a) {\n    put(a +\n        1);\n    put(2);\n}\n"
    (mutant,) = [m for m in mutants_of(tmp_path, text) if m.operator == "drop-call" and m.line == 3]
    assert mutant.applied(text.encode()).decode().splitlines()[4] == "    put(2);"


def test_places_are_known_where_clang_is_that_of_a_cache(tmp_path: Path) -> None:
    """ccache with a base directory gives clang relative paths, by which no node would be the file's."""
    cache = tmp_path / "clang-of-a-cache"
    cache.write_text(f'#!/bin/sh\n[ "$CCACHE_DISABLE" ] && exec {shutil.which("clang")} "$@"\nexit 7\n')
    cache.chmod(0o755)
    source = tmp_path / "small.c"
    source.write_text("int less(int a, int b) { return a < b; }\n")
    assert mutants(parse(source, (), tmp_path, clang=str(cache)))


def test_a_file_that_does_not_compile_is_said(tmp_path: Path) -> None:
    with pytest.raises(SyntaxFailure, match=r"small\.c"):
        mutants_of(tmp_path, "int f(void) { return }\n")


def test_the_digest_of_an_object_is_of_code_and_not_of_lines(tmp_path: Path) -> None:
    first = digest(compiles(b"int g(int);\nint h(int);\nint f(int a) { return g(a) + 1; }\n", tmp_path))
    assert first == digest(compiles(b"int g(int);\nint h(int);\n\n\nint f(int b) { return 1 + g(b); }\n", tmp_path))
    for other in (b"return g(a) + 2;", b"return h(a) + 1;"):
        text = b"int g(int);\nint h(int);\nint f(int a) { " + other + b" }\n"
        assert first != digest(compiles(text, tmp_path))
