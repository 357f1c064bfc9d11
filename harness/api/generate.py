# SPDX-License-Identifier: Apache-2.0
"""Writes the C tables and `api.json` from the installed OpenCL-Headers; run by CMake at build time.

python -m harness.api.generate --out DIR [--headers INCLUDE_DIR] [--compiler CC] [--windows] [--bits 32]
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from harness.api import headers
from harness.api.headers import Api, Function, Parameter
from harness.errors import UsageError

NOTICE = "/* Generated from the installed OpenCL-Headers. Do not edit. */\n"


def _c_list(items: Iterator[str] | list[str], indent: str = "    ") -> str:
    return "".join(f"{indent}{item},\n" for item in items)


def _signature(function: Function, name: str) -> str:
    parameters = ", ".join(_declared(p) for p in function.parameters) or "void"
    return f"{function.result} CL_API_CALL {name}({parameters})"


def _declared(parameter: Parameter) -> str:
    return parameter.type.replace("(*", "(CL_CALLBACK *", 1) if parameter.kind == "callback" else parameter.type


def _widened(parameter: Parameter) -> str:
    """C expression that puts a parameter into 64 bits without losing any."""
    if parameter.kind == "integer":
        return f"(uint64_t){parameter.name}"
    return f"(uint64_t)(uintptr_t){parameter.name}"


def _narrowed(expression: str, c_type: str, pointer: bool) -> str:
    return f"({c_type})(uintptr_t){expression}" if pointer else f"({c_type}){expression}"


def _cast_type(parameter: Parameter) -> str:
    """The parameter's type without its name."""
    if parameter.kind == "callback":
        return _declared(parameter).replace(parameter.name, "", 1)
    return parameter.type[: parameter.type.rindex(parameter.name)].strip()


def functions_h(api: Api) -> str:
    """Numbers of the functions and the shape of their description."""
    numbers = _c_list([f"FUNCTION_{f.name}" for f in api.functions])
    longest = max(map(len, _parameter_names(api))) + 1
    kinds = "HANDLE HANDLES HANDLE_OUT STRING STRINGS PROPERTIES CALLBACK ERRCODE SCALAR_IN SCALAR_OUT MEMORY INTEGER"
    return f"""{NOTICE}
#ifndef CLHARNESS_FUNCTIONS_H
#define CLHARNESS_FUNCTIONS_H

#include <stdint.h>

/* The newest version that these headers know; without it they print a message in each compilation. */
#define CL_TARGET_OPENCL_VERSION {api.constants.get("CL_TARGET_OPENCL_VERSION", 300)}

enum function {{
{numbers}    FUNCTION_COUNT
}};

enum {{ TABLE_LENGTH = {len(api.slots)}, HEADER_TABLE_LENGTH = {api.header_slots}, MAX_PARAMETERS = {
        max(len(f.parameters) for f in api.functions)
    } }};

enum parameter_kind {{
{_c_list([f"PARAMETER_{k}" for k in kinds.split()])}}};

enum handle_kind {{
    HANDLE_none,
{_c_list([f"HANDLE_{h}" for h in api.handles])}    HANDLE_COUNT
}};

enum result_kind {{ RESULT_VOID, RESULT_HANDLE, RESULT_POINTER, RESULT_SIGNED, RESULT_UNSIGNED }};

/* Small, and without an address: mocks are copied for each vendor of each case, and relocated whenever they load. */
struct parameter_info {{
    enum parameter_kind kind : 8;
    enum handle_kind handle : 8;
    unsigned pointee : 16; /* bytes that a typed pointer points to, or 0 */
    unsigned name : 16;    /* see parameter_name */
}};

struct function_info {{
    const char *name;
    enum result_kind result;
    enum handle_kind result_handle;
    int slot; /* position in cl_icd_dispatch, or -1 */
    unsigned parameter_count;
    const struct parameter_info *parameters; /* there is one to look at, also where there are none */
}};

extern const struct function_info function_info[FUNCTION_COUNT];
extern const int function_of_slot[TABLE_LENGTH]; /* or -1 where the headers give no signature */
extern const char *const handle_names[HANDLE_COUNT];

extern const char parameter_names[][{longest}];

static inline const char *parameter_name(const struct parameter_info *parameter)
{{
    return parameter_names[parameter->name];
}}

/* The number of the function with this name, or -1. */
int function_by_name(const char *name);

/* Calls `address` as the given function with arguments widened to 64 bits; gives the result widened. */
uint64_t invoke(enum function function, void (*address)(void), const uint64_t *arguments);

/* Functions with the signatures of the API; each packs its arguments and calls component_call. */
extern void (*const entry_of_function[FUNCTION_COUNT])(void);

/* What each component (mock ICD, mock layer) defines: one call with its arguments widened to 64 bits. */
uint64_t component_call(enum function function, const uint64_t *arguments);

#endif
"""


def _parameter_names(api: Api) -> list[str]:
    """Every name of a parameter once, after the empty one."""
    return ["", *dict.fromkeys(p.name for f in api.functions for p in f.parameters)]


def _name_hash(name: str) -> int:
    """As the generated C computes it: FNV-1a."""
    value = 2166136261
    for byte in name.encode():
        value = ((value ^ byte) * 16777619) & 0xFFFFFFFF
    return value


def _by_hash(api: Api) -> list[int]:
    """A table of numbers of functions that is at most half full; -1 where it is empty."""
    table = [-1] * (2 * len(api.functions) + 1)
    for number, function in enumerate(api.functions):
        at = _name_hash(function.name) % len(table)
        while table[at] >= 0:
            at = (at + 1) % len(table)
        table[at] = number
    return table


def functions_c(api: Api) -> str:
    """The description of each function, and its typed call."""
    rows: list[str] = []
    parameters: list[str] = []
    names = _parameter_names(api)
    for f in api.functions:
        at = len(parameters)
        parameters += [
            f"{{PARAMETER_{p.kind.upper()}, HANDLE_{p.handle or 'none'}, {p.pointee}, {names.index(p.name)}}}"
            for p in f.parameters
        ] or ["{PARAMETER_INTEGER, HANDLE_none, 0, 0}"]
        rows.append(
            f'[FUNCTION_{f.name}] = {{"{f.name}", RESULT_{f.result_kind.upper()}, HANDLE_{f.result_handle or "none"}, '
            f"{-1 if f.slot is None else f.slot}, {len(f.parameters)}, parameters + {at}}}"
        )
    known = {f.name for f in api.functions}
    slots = [f"FUNCTION_{s}" if s in known else f"-1 /* {s} */" for s in api.slots]
    table = _by_hash(api)
    return f"""{NOTICE}
#include "clharness_functions.h"

#include <string.h>

const char parameter_names[][{max(map(len, names)) + 1}] = {{
{_c_list([f'"{name}"' for name in names])}}};

static const struct parameter_info parameters[] = {{
{_c_list(parameters)}}};

const struct function_info function_info[FUNCTION_COUNT] = {{
{_c_list(rows)}}};

const int function_of_slot[TABLE_LENGTH] = {{
{_c_list(slots)}}};

const char *const handle_names[HANDLE_COUNT] = {{
    "",
{_c_list([f'"{h}"' for h in api.handles])}}};

/* Numbers of functions by the hash of their name, or by what follows it where two share one; -1: nobody's. */
static const int by_hash[{len(table)}] = {{
{_c_list([str(number) for number in table])}}};

static uint32_t name_hash(const char *name)
{{
    uint32_t hash = 2166136261u;
    for (; *name; name++) {{
        hash = (hash ^ (unsigned char)*name) * 16777619u;
    }}
    return hash;
}}

int function_by_name(const char *name)
{{
    for (uint32_t at = name_hash(name) % {len(table)}; by_hash[at] >= 0; at = (at + 1) % {len(table)}) {{
        if (strcmp(function_info[by_hash[at]].name, name) == 0) {{
            return by_hash[at];
        }}
    }}
    return -1;
}}
"""


def invoke_c(api: Api) -> str:
    """Typed calls, and the compile-time proof that the slots are those of the installed `cl_icd_dispatch`."""
    cases = []
    for f in api.functions:
        arguments = ", ".join(
            _narrowed(f"a[{i}]", _cast_type(p), p.kind != "integer") for i, p in enumerate(f.parameters)
        )
        types = ", ".join(_cast_type(p) for p in f.parameters) or "void"
        call = f"(({f.result}(CL_API_CALL *)({types}))address)({arguments})"
        if f.result_kind == "void":
            body = f"{call};\n        return 0;"
        elif f.result_kind in ("handle", "pointer"):
            body = f"return (uint64_t)(uintptr_t){call};"
        else:
            body = f"return (uint64_t){call};"
        cases.append(f"    case FUNCTION_{f.name}:\n        {body}\n")
    asserts = "".join(
        f'_Static_assert(offsetof(struct _cl_icd_dispatch, {name}) == {i} * sizeof(void *), "slot of {name}");\n'
        for i, name in enumerate(api.slots[: api.header_slots])
    )
    return f"""{NOTICE}
#include "clharness_cl.h"
#include "clharness_functions.h"

#include <stddef.h>

{asserts}_Static_assert(sizeof(struct _cl_icd_dispatch) == HEADER_TABLE_LENGTH * sizeof(void *),
               "length of cl_icd_dispatch");

uint64_t invoke(enum function function, void (*address)(void), const uint64_t *a)
{{
    (void)a;
    switch (function) {{
{"".join(cases)}    default:
        return 0;
    }}
}}
"""


def _entry(f: Function, name: str, linkage: str) -> str:
    arguments = ", ".join(_widened(p) for p in f.parameters) or "0"
    call = f"component_call(FUNCTION_{f.name}, a)"
    if f.result_kind == "void":
        body = f"{call};"
    else:
        body = f"return {_narrowed(call, f.result, f.result_kind in ('handle', 'pointer'))};"
    return f"{linkage}{_signature(f, name)}\n{{\n    const uint64_t a[] = {{{arguments}}};\n    {body}\n}}\n\n"


def entries_c(api: Api) -> str:
    """Functions with the API's signatures that pack their arguments for `component_call`."""
    bodies = "".join(_entry(f, f"entry_{f.name}", "static ") for f in api.functions)
    rows = [f"(void (*)(void))entry_{f.name}" for f in api.functions]
    return f"""{NOTICE}
#include "clharness_cl.h"
#include "clharness_functions.h"

{bodies}void (*const entry_of_function[FUNCTION_COUNT])(void) = {{
{_c_list(rows)}}};
"""


def exports_c(api: Api) -> str:
    """The same under their public names: for a mock that exports everything, and for the loader stub to link with."""
    bodies = "".join(_entry(f, f.name, "EXPORTED ") for f in api.functions if f.slot is not None)
    return f"""{NOTICE}
#include "clharness_cl.h"
#include "clharness_functions.h"
#include "exported.h"

#ifdef __GNUC__
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#endif

{bodies}"""


def link_c(api: Api) -> str:
    """Addresses that the dynamic linker gives a linked application; weak, so that an older loader can be run."""
    names = [f.name for f in api.functions if f.slot is not None]
    weak = "".join(f"#pragma weak {n}\n" for n in names)
    rows = [f"[FUNCTION_{n}] = (void (*)(void)){n}" for n in names]
    # Functions without a prototype in the headers (Windows-only or newer than the headers) are declared here.
    declared = "".join(
        f"extern {_signature(f, f.name)};\n" for f in api.functions if f.slot is not None and f.slot >= api.header_slots
    )
    return f"""{NOTICE}
#include "clharness_cl.h"
#include "clharness_functions.h"

#ifdef __GNUC__
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#pragma GCC diagnostic ignored "-Wpragmas"
#endif

{declared}{weak}
extern void (*const linked_function[FUNCTION_COUNT])(void);
void (*const linked_function[FUNCTION_COUNT])(void) = {{
{_c_list(rows)}}};
"""


def callbacks_c(api: Api) -> str:
    """One function for each callback parameter of the API; each reports its arguments to `callback_called`."""
    bodies, rows = [], []
    for f in api.functions:
        for p in f.parameters:
            if p.kind != "callback":
                continue
            result, _, inner = p.callback.partition("(*callback)")
            fields = [x.strip() for x in inner.strip()[1:-1].split(",")]
            fields = [x for x in fields if x and x != "void"]
            named, values = [], []
            for i, field in enumerate(fields):
                words = field.replace("*", "* ").replace("[]", "").split()
                pointer = "*" in field or "[]" in field
                has_name = len(words) > 1 and words[-1].isidentifier() and words[-1] not in ("char", "int", "void")
                c_type = field[: field.rindex(words[-1])] if has_name else field
                if "[]" in field:
                    c_type = c_type.replace("[]", "") + "*"
                named.append(f"{c_type} p{i}")
                handle = any(w in api.handles for w in words)
                values.append(f"(uint64_t)(uintptr_t)p{i}" if pointer or handle else f"(uint64_t)p{i}")
            arguments = ", ".join(values) or "0"
            bodies.append(
                f"static {result.strip()} CL_CALLBACK callback_{f.name}_{p.name}({', '.join(named) or 'void'})\n{{\n"
                f"    const uint64_t a[] = {{{arguments}}};\n"
                f'    callback_called("{f.name}.{p.name}", {len(fields)}, a);\n}}\n\n'
            )
            rows.append(f'{{"{f.name}.{p.name}", (void (*)(void))callback_{f.name}_{p.name}}}')
    return f"""{NOTICE}
#include "clharness_cl.h"
#include "clharness_callbacks.h"

{"".join(bodies)}const struct callback callbacks[] = {{
{_c_list(rows)}    {{0, 0}},
}};
"""


def api_json(api: Api) -> str:
    """The model as the text of api.json, which harness.api.model reads."""
    return json.dumps(asdict(api), indent=1)


FILES = {
    "clharness_functions.h": functions_h,
    "clharness_functions.c": functions_c,
    "clharness_invoke.c": invoke_c,
    "clharness_entries.c": entries_c,
    "clharness_exports.c": exports_c,
    "clharness_link.c": link_c,
    "clharness_callbacks.c": callbacks_c,
    "api.json": api_json,
}


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m harness.api.generate", description=__doc__)
    parser.add_argument("--out", type=Path, required=True, help="folder for the generated files")
    parser.add_argument("--headers", type=Path, help="folder that holds CL/cl.h (default: the system's)")
    parser.add_argument("--compiler", default="cc", help="C compiler whose preprocessor is used (default: cc)")
    parser.add_argument("--windows", action="store_true", help="what the headers declare on Windows")
    parser.add_argument("--bits", type=int, choices=headers.ADDRESS, default=64, help="of an address; default: 64")
    options = parser.parse_args(arguments)
    try:
        api = headers.read(options.headers, options.compiler, options.windows, options.bits)
    except UsageError as error:
        print(f"clharness: {error}", file=sys.stderr)
        return 2
    options.out.mkdir(parents=True, exist_ok=True)
    for name, write in FILES.items():
        unfinished = options.out / f".{name}"
        unfinished.write_text(write(api))
        unfinished.replace(options.out / name)  # nobody ever reads half a file
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
