# SPDX-License-Identifier: Apache-2.0
"""A failed exchange with a vendor's library as a small C program that needs the OpenCL-Headers and nothing else.

cc reproducer.c -ldl -o reproducer && ./reproducer [LIBRARY]
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from harness.api import wording
from harness.api.model import Parameter, api
from harness.escaping import c_comment, c_string, one_line

HEAD = """\
/* {title}
 *
{message}
 *
 * cc {name} -ldl -o reproducer && ./reproducer [LIBRARY]
 */
#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_0_APIS
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#define CL_USE_DEPRECATED_OPENCL_2_0_APIS
#define CL_USE_DEPRECATED_OPENCL_2_1_APIS
#define CL_USE_DEPRECATED_OPENCL_2_2_APIS
#include <CL/cl_egl.h>
#include <CL/opencl.h>
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Of cl_khr_icd 2.0, for older headers. */
void *CL_API_CALL clIcdGetFunctionAddressForPlatformKHR(cl_platform_id platform, const char *name);
cl_int CL_API_CALL clIcdSetPlatformDispatchDataKHR(cl_platform_id platform, void *data);

/* Memory that ends where an unreadable page begins. */
static char *memory(size_t size, int fill)
{{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), room = (size / page + 1) * page;
    char *start = mmap(NULL, room + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mprotect(start + room, page, PROT_NONE);
    return memset(start + room - size, fill, size);
}}

static uint64_t word(uint64_t address)
{{
    return *(uint64_t *)address;
}}

static uint64_t shown(uint64_t result)
{{
    printf(" = %lld (0x%llx)\\n", (long long)(int)result, (unsigned long long)result);
    return result;
}}

static void notify(void)
{{
    puts("callback");
}}

#define CALL(address, function, ...) \\
    (printf("%s", #function), fflush(stdout), shown((uint64_t)((__typeof__(&function))(address))(__VA_ARGS__)))
#define CALL_VOID(address, function, ...) (puts(#function), ((__typeof__(&function))(address))(__VA_ARGS__))

int main(int count, char **arguments)
{{
{variables}    const char *path = count > 1 ? arguments[1] : {library};
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) {{
        puts(dlerror());
        return 1;
    }}
    (void)notify;
"""

_IGNORED = ("hello", "get", "value", "read", "module", "callbacks", "symbol")


class NotReproducible(Exception):
    """The exchange uses what a small program cannot show: threads, forks, calls in callbacks."""


def source(title: str, message: str, library: Path, variables: Mapping[str, str], exchange: Iterable[str]) -> str:
    """The program. Raises NotReproducible."""
    lines = "\n".join(message.split("\n")[:40])
    comment = "\n".join(f" * {line}".rstrip() for line in c_comment(lines).split("\n"))
    settings = "".join(f"    setenv({c_string(name)}, {c_string(value)}, 1);\n" for name, value in variables.items())
    text = HEAD.format(
        title=c_comment(one_line(title)),
        message=comment,
        name="reproducer.c",
        variables=settings,
        library=c_string(str(library)),
    )
    return (
        text + "".join(f"    {line}\n" for command in exchange for line in _statement(command)) + "    return 0;\n}\n"
    )


def _statement(command: str) -> list[str]:
    """C for one command of the probe (harness/probe/commands.c)."""
    kind, *words = command.split(" ")
    if kind in _IGNORED:
        return []
    if kind == "buffer":
        return [f"char *b{words[0]} = memory({words[1]}, {words[2]});"]
    if kind == "put":
        content = "".join(rf"\x{words[2][i : i + 2]}" for i in range(0, len(words[2]), 2))
        return [f'memcpy(b{words[0]} + {words[1]}, "{content}", {len(words[2]) // 2});']
    if kind == "store":
        content = "".join(rf"\x{words[2][i : i + 2]}" for i in range(0, len(words[2]), 2))
        return [f'memcpy((char *){_value(words[0])} + {words[1]}, "{content}", {len(words[2]) // 2});']
    if kind == "word":
        return [f"*(uint64_t *)(b{words[0]} + {words[1]}) = {_value(words[2])};"]
    if kind == "peek":
        return [f"uint64_t r{words[0]} = word({_value(words[1])} + {words[2]});"]
    if kind == "call":
        return [_call(words[0], f'dlsym(library, "{words[1]}")', words[1], words[2:])]
    if kind == "address":
        return [_call(words[0], f"(void *){_value(words[1])}", words[2], words[3:])]
    if kind == "close":
        return ["dlclose(library);"]
    if kind == "open":
        return ["library = dlopen(path, RTLD_NOW | RTLD_LOCAL);"]
    if kind == "quit":
        return ['puts("the end of the process");']
    raise NotReproducible(kind)


def _call(number: str, address: str, function: str, words: list[str]) -> str:
    about = api().functions[function]
    given = [_argument(p, word) for p, word in zip(about.parameters, words, strict=True)]
    listed = ", ".join([address, function, *given])
    if about.result_kind == "void":
        return f"CALL_VOID({listed});"
    return f"uint64_t r{number} = CALL({listed});\n    (void)r{number};"


def _argument(parameter: Parameter, word: str) -> str:
    value = _value(word)
    if parameter.kind == "integer":
        name = wording.argument(parameter, int(word)) if re.fullmatch(r"-?\d+", word) else ""
        return f"{value} /* {name} */" if name.startswith("CL_") else value
    return f"(void *){value}" if value != "0" else "NULL"


def _value(token: str) -> str:
    """A token of the probe (harness/probe/values.c) as a C expression."""
    if re.fullmatch(r"-?\d+", token):
        number = int(token)
        return f"{number}" if abs(number) < 1 << 31 else f"{number & 0xFFFFFFFFFFFFFFFF:#x}u"
    if token.startswith("^"):
        return "(uint64_t)notify"
    if match := re.fullmatch(r"\*b(\d+)\+(\d+)", token):
        return f"word((uint64_t)b{match[1]} + {match[2]})"
    if match := re.fullmatch(r"b(\d+)\+(\d+)", token):
        return f"((uint64_t)b{match[1]} + {match[2]})"
    if re.fullmatch(r"b\d+", token):
        return f"(uint64_t){token}"
    if re.fullmatch(r"r\d+", token):
        return token
    if match := re.fullmatch(r"(r\d+)\+(\d+)", token):
        return f"({match[1]} + {match[2]})"
    raise NotReproducible(token)
