"""Writes the C tables of what a correct ICD refuses and answers, from the data that the checks of ICDs use.

python -m harness.api.contract.generate API.JSON DATA_FOLDER OUT.C; run by CMake at build time.
"""

from __future__ import annotations

import json
import re
import sys
import tomllib
from pathlib import Path
from typing import Any

from harness.api.commands import command_type

NUMBER = re.compile(r"-?(0x[0-9a-fA-F]+|\d+)")
MAX_WORDS = 9


def value(word: str, constants: dict[str, int]) -> int | None:
    """A number or constant; None for any other word."""
    if NUMBER.fullmatch(word):
        return int(word, 0) & 0xFFFFFFFFFFFFFFFF
    total = 0
    for name in word.split("|"):
        if name not in constants:
            return None
        total |= constants[name]
    return total & 0xFFFFFFFFFFFFFFFF


def condition(index: int, size: int, word: str, constants: dict[str, int]) -> str:
    """What an argument has to be for the rule to hold, as a C initialiser."""
    kind, colon, rest = word.partition(":")
    number = value(word, constants)
    if word == "-":
        return f"{{{index}, MUST_BE, 1, {{0, UINT64_MAX}}, NULL}}"
    if number is not None:
        mask = (1 << 8 * size) - 1
        return f"{{{index}, MUST_BE, 1, {{{number & mask:#x}u, {mask:#x}u}}, NULL}}"
    if colon and kind == "s":
        return f'{{{index}, MUST_READ, 0, {{0}}, "{rest}"}}'
    words = [value(part, constants) for part in rest.split(",")]
    if colon and kind in "uw" and None not in words:
        must = "MUST_HOLD" if kind == "w" else "MUST_HOLD_NARROW"
        listed = ", ".join(f"{number:#x}u" for number in words[:MAX_WORDS])
        return f"{{{index}, {must}, {len(words)}, {{{listed}}}, NULL}}"
    return f"{{{index}, MUST_POINT, 0, {{0}}, NULL}}"


def rule(text: str, functions: dict[str, Any], calls: dict[str, str], constants: dict[str, int]) -> str | None:
    """One rule as a C initialiser; arguments that it leaves as they are count where they are numbers or NULL."""
    call, _, errors = text.partition(" -> ")
    function, *changes = call.split(" ")
    if function not in functions:
        return None
    changed = dict(change.split("=", 1) for change in changes)
    made = []
    for index, (parameter, usual) in enumerate(zip(functions[function], calls[function].split(), strict=True)):
        word = changed.get(parameter["name"], usual)
        if parameter["name"] == "properties" and "properties" not in changed and word == "-":
            continue  # a list may be there, too
        if parameter["name"] in changed or word == "-" or value(word, constants) is not None:
            made.append(condition(index, parameter["size"], word, constants))
    error = errors.split("|")[0]
    code = {"NULL": 0, "CL_SUCCESS": 0}.get(error, constants.get(error, 0))
    return f"{{FUNCTION_{function}, {code}, {len(made)}, {{{', '.join(made)}}}}}"


def queries(data: dict[str, Any], functions: dict[str, Any]) -> list[str]:
    """Every query of every function, with the size of its answer."""
    made = []
    for function, parameters in functions.items():
        group = next((p["type"].split()[0] for p in parameters if p["name"] == "param_name"), "")
        for number, _, _, size in data.get(group, {}).values():
            made.append(f"{{FUNCTION_{function}, {number:#x}, {1 if size == 'text' else int(size.rstrip('*'))}}}")
    return made


def commands(functions: dict[str, Any], constants: dict[str, int]) -> list[str]:
    """The type of the command that each enqueue function makes, by the names of both."""
    made = []
    for function in functions:
        name = command_type(function)
        if function.startswith("clEnqueue") and name in constants:
            made.append(f"case FUNCTION_{function}: return {constants[name]:#x};")
    return made


def main() -> None:
    api_file, folder, out = map(Path, sys.argv[1:])
    api = json.loads(api_file.read_text())
    functions = {f["name"]: f["parameters"] for f in api["functions"]}
    read = {name: tomllib.loads((folder / f"{name}.toml").read_text()) for name in ("rules", "calls", "queries")}
    texts = [text for section in read["rules"].values() for text in section["rules"]]
    rules = [r for t in texts if (r := rule(t, functions, read["calls"]["call"], api["constants"]))]
    asked = queries(read["queries"], functions)
    lines = ["/* Generated from the data in harness/api/contract. Do not edit. */", '#include "core/rules.h"', ""]
    lines += [
        "const struct rule rules[] = {",
        *[f"    {r}," for r in rules],
        "};",
        f"const int rule_count = {len(rules)};",
    ]
    lines += ["const struct known_query rule_queries[] = {", *[f"    {q}," for q in asked], "};"]
    lines += ["unsigned rules_command_type(enum function function) {", "    switch ((int)function) {"]
    lines += [f"    {c}" for c in commands(functions, api["constants"])] + ["    default: return 0;", "    }", "}"]
    lines += ["bool rules_judge(enum function function) {", "    switch ((int)function) {"]
    lines += [f"    case FUNCTION_{name}:" for name in read["calls"]["call"] if name in functions]
    lines += ["        return true;", "    default:", "        return false;", "    }", "}"]
    lines += [f"const int rule_query_count = {len(asked)};", ""]
    out.write_text("\n".join(lines))


if __name__ == "__main__":
    main()
