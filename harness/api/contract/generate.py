# SPDX-License-Identifier: Apache-2.0
"""Writes the C tables of what a correct ICD refuses and answers, from the contract that the checks of ICDs use.

python -m harness.api.contract.generate --api API.JSON --out OUT.C; run by CMake at build time.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

from harness.api import model
from harness.api.commands import command_type
from harness.api.contract import calls, queries, rules, slots
from harness.api.contract.entries import NUMBER
from harness.api.contract.rules import Rule
from harness.api.model import Api
from harness.errors import UsageError

MAX_WORDS = 9
_ALL_BITS = (1 << 64) - 1


def value(word: str, api: Api) -> int | None:
    """A number or constant as 64 bits; None for any other word."""
    if NUMBER.fullmatch(word):
        return int(word, 0) & _ALL_BITS
    total = 0
    for name in word.split("|"):
        if name not in api.constants:
            return None
        total |= api.constants[name]
    return total & _ALL_BITS


def condition(index: int, size: int, word: str, api: Api) -> str:
    """What an argument has to be for the rule to hold, as a C initialiser."""
    kind, colon, rest = word.partition(":")
    number = value(word, api)
    if word == "-":
        return f"{{{index}, MUST_BE, 1, {{{{0, UINT64_MAX}}}}}}"
    if number is not None:
        mask = (1 << 8 * size) - 1
        return f"{{{index}, MUST_BE, 1, {{{{{number & mask:#x}u, {mask:#x}u}}}}}}"
    if colon and kind == "s":
        return f'{{{index}, MUST_READ, 0, {{.text = "{rest}"}}}}'
    words = [number for part in rest.split(",") if (number := value(part, api)) is not None]
    if colon and kind in "uw" and len(words) == len(rest.split(",")):
        must = "MUST_HOLD" if kind == "w" else "MUST_HOLD_NARROW"
        listed = ", ".join(f"{number:#x}u" for number in words[:MAX_WORDS])
        return f"{{{index}, {must}, {len(words)}, {{{{{listed}}}}}}}"
    return f"{{{index}, MUST_POINT, 0, {{{{0}}}}}}"


def rule_conditions(rule: Rule, usual: tuple[str, ...], api: Api) -> list[str]:
    """The conditions of a rule as C initialisers; arguments that it leaves as they are count where they are numbers or
    NULL."""
    conditions = []
    for index, (parameter, word) in enumerate(zip(api.functions[rule.function].parameters, usual, strict=True)):
        word = rule.changed.get(parameter.name, word)
        if parameter.name == "properties" and "properties" not in rule.changed and word == "-":
            continue  # a list may be there, too
        if parameter.name in rule.changed or word == "-" or value(word, api) is not None:
            conditions.append(condition(index, parameter.size, word, api))
    return conditions


def rule_lines(api: Api) -> Iterator[str]:
    """The tables of all rules: each condition once, because the mock is copied for each vendor of each case."""
    recipes = calls.load(api)
    rows: list[str] = []
    numbers: list[str] = []
    known: dict[str, int] = {}
    for rule in rules.load(api):
        needed = rule_conditions(rule, recipes[rule.function].words, api)
        code = 0 if rule.errors[0] == "NULL" else api.constants[rule.errors[0]]
        unless = f'"{rule.unless}"' if rule.unless else "NULL"
        rows.append(f"{{FUNCTION_{rule.function}, {code}, {len(needed)}, {len(numbers)}, {unless}}}")
        numbers += [str(known.setdefault(text, len(known))) for text in needed]
    yield from ["const struct condition rule_terms[] = {", *(f"    {text}," for text in known), "};"]
    yield f"const uint16_t rule_conditions[] = {{{', '.join(numbers)}}};"
    yield from ["const struct rule rules[] = {", *(f"    {row}," for row in rows), "};"]
    yield f"const int rule_count = {len(rows)};"


def query_rows(api: Api) -> list[str]:
    """Every query of every function, with the size of its answer."""
    return [f"{{FUNCTION_{q.function}, {q.number:#x}, {q.size or 1}}}" for q in queries.load(api)]


def command_cases(api: Api) -> Iterator[str]:
    """The type of the command that each enqueue function makes, by the names of both."""
    for function in api.functions:
        name = command_type(function)
        if function.startswith("clEnqueue") and name in api.constants:
            yield f"case FUNCTION_{function}: return {api.constants[name]:#x};"


def text(api: Api) -> str:
    """The C file."""
    slots.check(api)
    recipes = calls.load(api)
    rows = query_rows(api)
    lines = ["/* Generated from the data in harness/api/contract. Do not edit. */", '#include "core/rules.h"', ""]
    lines += rule_lines(api)
    lines += ["const struct known_query rule_queries[] = {", *[f"    {row}," for row in rows], "};"]
    lines += [f"const int rule_query_count = {len(rows)};"]
    lines += ["unsigned rules_command_type(enum function function) {", "    switch ((int)function) {"]
    lines += [*[f"    {case}" for case in command_cases(api)], "    default: return 0;", "    }", "}"]
    lines += ["bool rules_judge(enum function function) {", "    switch ((int)function) {"]
    lines += [*[f"    case FUNCTION_{name}:" for name in recipes]]
    lines += ["        return true;", "    default:", "        return false;", "    }", "}", ""]
    return "\n".join(lines)


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m harness.api.contract.generate", description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--api", type=Path, required=True, help="api.json of harness.api.generate")
    options = parser.parse_args(arguments)
    try:
        options.out.write_text(text(model.load(options.api)))
    except UsageError as error:
        print(f"clharness: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
