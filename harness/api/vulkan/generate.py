# SPDX-License-Identifier: Apache-2.0
"""Writes what is built from Vulkan's registry: the API as JSON, descriptions of its functions, calls and entries in C.

    python -m harness.api.vulkan.generate --out FOLDER --registry vk.xml

An entry is a function with the signature of one of the API, which hands its arguments as words to the component that
is linked with it. A shape is what signatures have in common: "i32:pointer,u32".
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from harness.api.vulkan.registry import Registry

MARK = "/* Generated from Vulkan's registry. Do not edit. */\n"
C_TYPES = {
    "pointer": "void *", "u64": "uint64_t", "u32": "uint32_t", "i32": "int32_t", "u16": "uint16_t", "u8": "uint8_t",
    "float": "float", "double": "double", "void": "void",
}  # fmt: skip


def model(registry: Registry) -> dict[str, Any]:
    """The API as vulkan.json has it."""
    return {
        "header_version": registry.header_version(),
        "functions": registry.functions(),
        "structures": registry.structures(),
        "constants": registry.constants,
        "instance_extensions": registry.instance_extensions(),
    }


def header(functions: Sequence[dict[str, Any]]) -> str:
    """clharness_vulkan_functions.h: the functions by number, and what can be asked of each."""
    names = "".join(f"    VULKAN_{f['name']},\n" for f in functions)
    return f"""{MARK}
#ifndef CLHARNESS_VULKAN_FUNCTIONS_H
#define CLHARNESS_VULKAN_FUNCTIONS_H

#include <stdint.h>

enum vulkan_function {{
{names}    VULKAN_FUNCTION_COUNT
}};

enum {{ VULKAN_MAX_PARAMETERS = {max(len(f["parameters"]) for f in functions)} }};

/* What a function is called with first. */
enum vulkan_level {{ VULKAN_global, VULKAN_instance, VULKAN_physical_device, VULKAN_device }};

struct vulkan_function_info {{
    const char *name;
    enum vulkan_level level;
    unsigned parameter_count;
    int has_result;
    int is_result_code; /* its result is a VkResult */
    uint32_t chained;   /* the parameters that point to structures with sType and pNext, by their bits */
    const int32_t *types; /* the sType of what each parameter points to, where it is chained; else NULL */
}};

/* By `enum vulkan_function`, sorted by name. */
extern const struct vulkan_function_info vulkan_function_info[VULKAN_FUNCTION_COUNT];

/* The function with a name, or -1. */
int vulkan_function_by_name(const char *name);

/* Calls a function with the signature of one of the API; arguments and result are widened to words. */
uint64_t vulkan_invoke(enum vulkan_function function, void (*target)(void), const uint64_t *arguments);

/* Functions with the API's signatures, each of which calls vulkan_component_call. */
extern void (*const vulkan_entries[VULKAN_FUNCTION_COUNT])(void);

/* Defined by the component that uses the entries. */
uint64_t vulkan_component_call(enum vulkan_function function, const uint64_t *arguments);

#endif
"""


def _types(function: dict[str, Any], structures: dict[str, dict[str, Any]]) -> list[int | None]:
    """By parameter, the sType of the structure that it points to and others can follow; None for others."""
    pointers = [p["of"] if p["kind"] == "pointer" else "" for p in function["parameters"]]
    return [structures.get(name, {}).get("stype") for name in pointers]


def _row(function: dict[str, Any], structures: dict[str, dict[str, Any]]) -> str:
    """The description of one function in C."""
    types = _types(function, structures)
    chained = sum(1 << i for i, known in enumerate(types) if known is not None)
    words = ", ".join(str(known or 0) for known in types)
    array = f"(const int32_t[]){{{words}}}" if chained else "NULL"
    return (
        f'    {{"{function["name"]}", VULKAN_{function["level"]}, {len(types)}, {int(function["result"] != "void")}, '
        f"{int(function['result_type'] == 'VkResult')}, {chained:#x}, {array}}},\n"
    )


def descriptions(functions: Sequence[dict[str, Any]], structures: dict[str, dict[str, Any]]) -> str:
    """The C table that describes each function, in the order of its number."""
    rows = "".join(_row(f, structures) for f in functions)
    return f"""{MARK}
#include "clharness_vulkan_functions.h"

#include <stdlib.h>
#include <string.h>

const struct vulkan_function_info vulkan_function_info[VULKAN_FUNCTION_COUNT] = {{
{rows}}};

static int compare(const void *name, const void *info)
{{
    return strcmp(name, ((const struct vulkan_function_info *)info)->name);
}}

int vulkan_function_by_name(const char *name)
{{
    const struct vulkan_function_info *found =
        bsearch(name, vulkan_function_info, VULKAN_FUNCTION_COUNT, sizeof *vulkan_function_info, compare);
    return found ? (int)(found - vulkan_function_info) : -1;
}}
"""


def _shape(function: dict[str, Any]) -> tuple[str, ...]:
    return (function["result"], *(p["kind"] for p in function["parameters"]))


def _from_word(kind: str, word: str) -> str:
    """An argument out of a word."""
    if kind == "pointer":
        return f"(void *)(uintptr_t){word}"
    if kind in ("float", "double"):
        return f"{kind}_of({word})"
    return f"({C_TYPES[kind]}){word}"


def _to_word(kind: str, value: str) -> str:
    if kind == "pointer":
        return f"(uint64_t)(uintptr_t){value}"
    if kind in ("float", "double"):
        return f"word_of_{kind}({value})"
    return f"(uint64_t){value}"


_WORD_OF_FLOAT = """static inline uint64_t word_of_float(float value)
{
    uint32_t word;
    memcpy(&word, &value, sizeof word);
    return word;
}
"""
_FLOAT_OF = """static inline float float_of(uint64_t word)
{
    uint32_t bits = (uint32_t)word;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}
"""


def invokers(functions: Sequence[dict[str, Any]]) -> str:
    """The C file with vulkan_invoke: one function for each shape."""
    shapes = sorted({_shape(f) for f in functions})
    text = [MARK, '#include "clharness_vulkan_functions.h"\n\n#include <string.h>\n\n', _FLOAT_OF]
    for number, (result, *kinds) in enumerate(shapes):
        types = ", ".join(C_TYPES[kind] for kind in kinds) or "void"
        arguments = ", ".join(_from_word(kind, f"words[{i}]") for i, kind in enumerate(kinds))
        call = f"(({C_TYPES[result]} (*)({types}))target)({arguments})"
        body = f"    {call};\n    return 0;" if result == "void" else f"    return {_to_word(result, call)};"
        unused = "" if kinds else "    (void)words;\n"
        text.append(
            f"\nstatic uint64_t call_{number}(void (*target)(void), const uint64_t *words)\n{{\n{unused}{body}\n}}\n"
        )
    rows = "".join(f"    call_{shapes.index(_shape(f))},\n" for f in functions)
    text.append(
        f"\nstatic uint64_t (*const calls[VULKAN_FUNCTION_COUNT])(void (*)(void), const uint64_t *) = {{\n{rows}}};\n"
        "\nuint64_t vulkan_invoke(enum vulkan_function function, void (*target)(void), const uint64_t *arguments)\n"
        "{\n    return calls[function](target, arguments);\n}\n"
    )
    return "".join(text)


def entries(functions: Sequence[dict[str, Any]]) -> str:
    """The C file with vulkan_entries."""
    text = [MARK, '#include "clharness_vulkan_functions.h"\n\n#include <string.h>\n\n', _WORD_OF_FLOAT]
    for f in functions:
        kinds = [p["kind"] for p in f["parameters"]]
        parameters = ", ".join(f"{C_TYPES[kind]} a{i}" for i, kind in enumerate(kinds)) or "void"
        words = ", ".join(_to_word(kind, f"a{i}") for i, kind in enumerate(kinds)) or "0"
        call = f"vulkan_component_call(VULKAN_{f['name']}, words)"
        body = f"    {call};" if f["result"] == "void" else f"    return {_from_word(f['result'], call)};"
        text.append(
            f"\nstatic {C_TYPES[f['result']]} entry_{f['name']}({parameters})\n"
            f"{{\n    const uint64_t words[] = {{{words}}};\n{body}\n}}\n"
        )
    rows = "".join(f"    (void (*)(void))entry_{f['name']},\n" for f in functions)
    text.append(f"\nvoid (*const vulkan_entries[VULKAN_FUNCTION_COUNT])(void) = {{\n{rows}}};\n")
    return "".join(text)


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m harness.api.vulkan.generate", description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--registry", type=Path, required=True)
    options = parser.parse_args(arguments)
    api = model(Registry(options.registry))
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "vulkan.json").write_text(json.dumps(api))
    functions = api["functions"]
    for name, text in (
        ("clharness_vulkan_functions.h", header(functions)),
        ("clharness_vulkan_functions.c", descriptions(functions, api["structures"])),
        ("clharness_vulkan_invoke.c", invokers(functions)),
        ("clharness_vulkan_entries.c", entries(functions)),
    ):
        (options.out / name).write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
