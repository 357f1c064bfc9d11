# SPDX-License-Identifier: Apache-2.0
"""The guarded heap of Windows: misuse is a crash, whatever the functions are called that the subject takes it from."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from harness.build import ROOT
from tests.built_for_windows import WINDOWS, require

MINGW = "x86_64-w64-mingw32-"

# A library whose first call takes 16 bytes, changes their size, and reads at a place; then it gives them back.
READER = """\
#include <stddef.h>
%s
__attribute__((dllexport)) int clGetPlatformIDs(unsigned room, void *platforms, unsigned *count)
{
    (void)room, (void)platforms;
    volatile char *block = TAKE;
    block[15] = 1;
    *count = (unsigned)(block[%d] == 77 ? 1 : 0);
    GIVE((void *)block);
    return 0;
}
int __stdcall DllMain(void *library, unsigned long reason, void *reserved)
{
    (void)library, (void)reason, (void)reserved;
    return 1;
}
"""

OF_HEAP = "__declspec(dllimport) void *__stdcall GetProcessHeap(void);"


def c_library(prefix: str = "", suffix: str = "") -> dict[str, tuple[str, str, str, str]]:
    """Functions of the C library by names that begin and end so."""
    malloc, calloc, realloc, free = (f"{prefix}{name}{suffix}" for name in ("malloc", "calloc", "realloc", "free"))
    library = "ucrtbase"
    give = f"void {free}(void *)"
    return {
        malloc: (library, f"void *{malloc}(size_t); {give}", f"{malloc}(16)", free),
        calloc: (library, f"void *{calloc}(size_t, size_t); {give}", f"{calloc}(2, 8)", free),
        realloc: (
            library,
            f"void *{malloc}(size_t); void *{realloc}(void *, size_t); {give}",
            f"{realloc}({malloc}(3), 16)",
            free,
        ),
    }


# By a name for people: the library, what is declared, what takes 16 bytes, what gives them back.
FUNCTIONS: dict[str, tuple[str, str, str, str]] = {
    **c_library(),
    **c_library("_o_"),
    **c_library("_", "_base"),
    **c_library("_o__", "_base"),
    "_recalloc": (
        "ucrtbase",
        "void *_recalloc(void *, size_t, size_t); void free(void *)",
        "_recalloc(NULL, 2, 8)",
        "free",
    ),
    **{
        f"{prefix}{name}": (
            "ucrtbase",
            f"{kind} *{prefix}{name}(const {kind} *); void free(void *)",
            f"(void *){prefix}{name}({text})",
            "free",
        )
        for prefix in ("", "_o_")
        for name, kind, text in (
            ("_strdup", "char", '"fifteen letters"'),
            ("_mbsdup", "unsigned char", '(const unsigned char *)"fifteen letters"'),
            ("_wcsdup", "wchar_t", 'L"seven l"'),
        )
        if f"{prefix}{name}" != "_o__mbsdup"  # Wine lacks it
    },
    "HeapAlloc": (
        "kernel32",
        "void *__stdcall HeapAlloc(void *, unsigned, size_t); int __stdcall HeapFree(void *, unsigned, void *)",
        "HeapAlloc(GetProcessHeap(), 0, 16)",
        "HeapFree(GetProcessHeap(), 0, ",
    ),
    "RtlAllocateHeap": (
        "ntdll",
        "void *__stdcall RtlAllocateHeap(void *, int, size_t); char __stdcall RtlFreeHeap(void *, int, void *)",
        "RtlAllocateHeap(GetProcessHeap(), 0, 16)",
        "RtlFreeHeap(GetProcessHeap(), 0, ",
    ),
    "CoTaskMemAlloc": (
        "ole32",
        "void *__stdcall CoTaskMemAlloc(size_t); void __stdcall CoTaskMemFree(void *)",
        "CoTaskMemAlloc(16)",
        "CoTaskMemFree",
    ),
}

# How a session ends in which the library is called: the name of the exception, or "".
SESSION = """\
import json, sys
from pathlib import Path
from harness.sandbox import Sandbox
from harness.subject.windows_loader import WindowsLoader
sandbox = Sandbox()
ends = []
for guarded in (False, True):
    try:
        with WindowsLoader(Path(sys.argv[1])).start(sandbox, guarded_heap=guarded) as cl:
            cl.platform_count()
        ends.append("")
    except Exception as error:
        ends.append(type(error).__name__)
sandbox.close()
print(json.dumps(ends))
"""


def import_library(folder: Path, library: str, names: list[str]) -> Path:
    """What links functions of a library by their names."""
    definition, to = folder / f"{library}.def", folder / f"lib{library}.a"
    definition.write_text(f"LIBRARY {library}.dll\nEXPORTS\n" + "".join(f"{name}\n" for name in names))
    subprocess.run([f"{MINGW}dlltool", "-d", definition, "-l", to], check=True)
    return to


def ends_of_sessions(folder: Path, function: str, place: int) -> list[str]:
    """How the library ends that reads at a place of its block: with the usual heap, and with the guarded one."""
    library, declarations, take, give = FUNCTIONS[function]
    declared = "\n".join(f"__declspec(dllimport) {one.strip()};" for one in declarations.split(";"))
    call = give if "(" in give else f"{give}("
    source, subject = folder / "reader.c", folder / "reader.dll"
    head = f"{OF_HEAP}\n{declared}\n#define TAKE {take}\n#define GIVE(block) {call}block)"
    source.write_text(READER % (head, place))
    names = [one.partition("(")[0].replace("*", " ").split()[-1] for one in declarations.split(";")]
    links = [
        import_library(folder, library, names),
        import_library(folder, "kernel32", ["GetProcessHeap", "HeapAlloc", "HeapFree"]),
    ]
    options = ["-shared", "-fno-builtin", "-nostdlib", "-Wl,--entry,DllMain"]
    subprocess.run([f"{MINGW}gcc", *options, "-o", subject, source, *links], check=True)
    environment = os.environ | {"CLHARNESS_BUILD": str(WINDOWS)}
    done = subprocess.run(
        [sys.executable, "-c", SESSION, str(subject)],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    ends: list[str] = json.loads(done.stdout)
    return ends


@pytest.mark.skipif(not shutil.which(f"{MINGW}gcc"), reason="mingw is not installed")
@pytest.mark.parametrize("function", FUNCTIONS)
def test_read_past_the_end_of_a_block_is_a_crash(tmp_path: Path, function: str) -> None:
    require()
    assert ends_of_sessions(tmp_path, function, 16) == ["", "Crashed"]
    assert ends_of_sessions(tmp_path, function, 15) == ["", ""]
