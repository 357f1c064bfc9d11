# SPDX-License-Identifier: Apache-2.0
"""Rarer reasons for which an ICD is skipped, and healthy machines that look odd; as tests.doctor_reasons."""

from __future__ import annotations

import os
import resource
import shutil
from pathlib import Path

from tests.doctor_machine import Machine
from tests.doctor_reasons import (
    FORWARD,
    Prepare,
    compiled,
    file,
    layer,
    library,
    replaced_by,
    variable,
    vendor,
    with_byte,
)


def own_driver(before: str = "", *options: str, after: str = "", head: str = "") -> Prepare:
    """A vendor that hands everything on to a mock: `before` runs before it does, `after` and `head` are C, too."""

    def prepare(machine: Machine) -> None:
        source = FORWARD.replace("MOCK", str(machine.sandbox.icd("sick"))).replace("return (", f"{before} return (")
        path = compiled(machine, f"{head}\n{source}\n{after}", *options)
        machine.sandbox.vendor_file("sick.icd", f"{path}\n")

    return prepare


def needs(soname: str, symbol: str = "absent", version: str = "") -> Prepare:
    """A vendor that was linked to a library of this name, with a function of this version, which is not here."""

    def prepare(machine: Machine) -> None:
        script = machine.sandbox.file("versions.map", f"{version} {{ {symbol}; }};" if version else "{ *; };")
        folder = machine.sandbox.folder("away")
        stub = compiled(
            machine,
            f"int {symbol}(void) {{ return 0; }}",
            f"-Wl,-soname,{soname}",
            f"-Wl,--version-script={script}",
            name=f"../away/{soname}",
        )
        own_driver("", str(stub), after=f"int {symbol}(void); int use(void) {{ return {symbol}(); }}")(machine)
        shutil.rmtree(folder)

    return prepare


def loop_of_links(machine: Machine) -> None:
    for name, other in (("one", "other"), ("other", "one")):
        (machine.sandbox.libraries / f"{name}.so").symlink_to(f"{other}.so")
    machine.sandbox.vendor_file("sick.icd", f"{machine.sandbox.libraries}/one.so\n")


def fifo_library(machine: Machine) -> None:
    os.mkfifo(machine.sandbox.libraries / "fifo.so")
    machine.sandbox.vendor_file("sick.icd", f"{machine.sandbox.libraries}/fifo.so\n")


def other_letters(machine: Machine) -> None:
    path = machine.sandbox.icd("sick").path
    machine.sandbox.vendor_file("sick.icd", f"{path.with_name('libSICK.so')}\n")


def folder_is_a_file(machine: Machine) -> None:
    machine.binds["/etc/OpenCL/vendors"] = machine.sandbox.file("vendors.txt", "hello\n")


def little_locked_memory(machine: Machine) -> None:
    own_driver(
        "struct rlimit limit; getrlimit(RLIMIT_MEMLOCK, &limit); if (limit.rlim_cur < 65536) return 0;",
        head="#include <sys/resource.h>",
    )(machine)
    machine.limits[resource.RLIMIT_MEMLOCK] = 1024


def bound_at_once(machine: Machine) -> None:
    vendor(variant="icd_unresolved")(machine)
    machine.environment["LD_BIND_NOW"] = "1"


def bad_layer(source: str) -> Prepare:
    def prepare(machine: Machine) -> None:
        head = "#include <stdlib.h>\n#include <unistd.h>"
        code = f"{head}\n__attribute__((constructor)) static void start(void) {{ {source} }}"
        machine.environment["OPENCL_LAYERS"] = str(compiled(machine, code, name="layer.so"))

    return prepare


def text_layer(machine: Machine) -> None:
    machine.environment["OPENCL_LAYERS"] = str(machine.sandbox.file("layer.so", "hello\n"))


_CALLS_ITSELF = """
int clGetPlatformIDs(unsigned n, void **list, unsigned *count)
{
    return ((int (*)(unsigned, void **, unsigned *))find("clIcdGetPlatformIDsKHR"))(n, list, count);
}
int clIcdGetPlatformIDsKHR(unsigned n, void **list, unsigned *count) { return clGetPlatformIDs(n, list, count); }
"""

calls_itself = own_driver(
    'if (!strcmp(name, "clIcdGetPlatformIDsKHR")) return clIcdGetPlatformIDsKHR;',
    after=_CALLS_ITSELF,
    head="#include <string.h>\nint clIcdGetPlatformIDsKHR(unsigned, void **, unsigned *);",
)
ends_badly = own_driver(after="__attribute__((destructor)) static void end(void) { abort(); }")
ends_early = own_driver(
    head="#include <unistd.h>", after="__attribute__((destructor)) static void end(void) { _exit(0); }"
)
forbidden_call = own_driver(
    after="#include <signal.h>\n__attribute__((constructor)) static void s(void) { raise(31); }"
)

RARE: dict[str, tuple[Prepare, set[str]]] = {
    "a file in the place of the folder": (folder_is_a_file, {"folder-not-a-folder"}),
    "a slash at the end": (file("{}/\n"), {"library-not-found"}),
    "a setting in the place of a path": (file("library={}\n"), {"library-relative"}),
    "a path of Windows": (file("C:\\Program Files\\Sick\\sick.dll\n"), {"file-windows-path"}),
    "typographic quotation marks": (file("\u201c{}\u201d\n"), {"file-quotes"}),
    "a path in the user's home": (file("~/libsick.so\n"), {"file-variable", "library-relative"}),
    "a URL": (file("file://{}\n"), {"library-relative"}),
    "several libraries in one line": (file("{}:/usr/lib/libother.so\n"), {"library-not-found"}),
    "a folder in the place of the library": (file("/usr/lib\n"), {"library-not-a-file"}),
    "a FIFO in the place of the library": (fifo_library, {"library-not-a-file"}),
    "a library in other letters": (other_letters, {"library-not-found"}),
    "a library that is a loop of links": (loop_of_links, {"library-not-found"}),
    "a Windows library": (library(replaced_by(b"MZ" + bytes(200))), {"library-damaged"}),
    "an object file": (library(with_byte(16, b"\1\0")), {"library-not-shared"}),
    "a library of another operating system": (library(with_byte(7, b"\x09")), {"library-wrong-system"}),
    "a library for another C library": (needs("libc.musl-x86_64.so.1"), {"dependency-missing"}),
    "a library of a newer C++": (needs("libstdc++.so.6", "newer", "CXXABI_9.9"), {"version-missing"}),
    "a constructor that ends the program well": (vendor(faults=["constructor_exits=0"]), {"library-crashes"}),
    "a call that a filter forbids": (forbidden_call, {"library-crashes"}),
    "a library that crashes at the end": (ends_badly, {"library-ends-badly"}),
    "a library that ends the program with 0 at its end": (ends_early, {"library-ends-badly"}),
    "functions that the loader replaces": (calls_itself, {"functions-replaced"}),
    "little locked memory": (little_locked_memory, {"no-enumeration", "limits"}),
    "symbols that are bound at once": (bound_at_once, {"symbol-missing", "variable-hides"}),
    "two folders in one variable": (
        variable("OCL_ICD_VENDORS", "/etc/OpenCL/vendors:/tmp"),
        {"variable-names-nothing", "variable-hides"},
    ),
    "a layer that crashes": (bad_layer("abort();"), {"layer-crashes", "variable-hides"}),
    "a layer that hangs": (bad_layer("for (;;) pause();"), {"layer-crashes", "variable-hides"}),
    "a layer that is a text": (text_layer, {"layer-library-damaged"}),
}

# What the advice must say, where it is not enough that the reason is named.
ADVICE = {
    "a slash at the end": "/libsick.so, which exists",
    "a path in the user's home": "nothing else: /nonexistent/libsick.so",
    "a setting in the place of a path": "/libsick.so, which exists",
    "several libraries in one line": "/libsick.so, which exists",
    "a library in other letters": "/libsick.so, which exists",
    "a library that is a loop of links": "Install the driver again",
    "a library for another C library": "glibc",
    "a layer that is a text": "package of the layer",
    "little locked memory": "ulimit -l",
}


def old_file_beside(machine: Machine) -> None:
    shutil.copy(machine.sandbox.vendors / "well.icd", machine.sandbox.vendors / "well.icd.dpkg-old")


def same_files_elsewhere(machine: Machine) -> None:
    machine.binds["/etc/OpenCL/Vendors"] = machine.sandbox.vendors


def many_vendors(machine: Machine) -> None:
    for number in range(12):
        machine.sandbox.vendor(f"vendor{number:02}", suffix=f"V{number}")


def linked_file(machine: Machine) -> None:
    path = machine.sandbox.icd("linked").path
    target = Path(machine.sandbox.file("alternative.icd", f"{path}\n"))
    (machine.sandbox.vendors / "linked.icd").symlink_to(target)


def preloaded_library(machine: Machine) -> None:
    machine.environment["LD_PRELOAD"] = str(compiled(machine, "int nothing(void) { return 1; }"))


def without_proc(machine: Machine) -> None:
    machine.binds["/proc"] = machine.sandbox.folder("proc")


HEALTHY: dict[str, Prepare] = {
    "an old file beside the one that is read": old_file_beside,
    "the same files in another folder": same_files_elsewhere,
    "a variable of another loader that names the same library": variable(
        "OCL_ICD_FILENAMES", "{}/libraries/libwell.so"
    ),
    "a variable that names the usual folder": variable("OCL_ICD_VENDORS", "/etc/OpenCL/vendors/"),
    "an empty variable": variable("OCL_ICD_VENDORS", ""),
    "the first platform as default": variable("OCL_ICD_DEFAULT_PLATFORM", "0"),
    "an order that nobody knows": variable("OCL_ICD_PLATFORM_SORT", "none"),
    "many vendors": many_vendors,
    "two vendors of the same suffix": lambda machine: machine.sandbox.vendor("second", suffix="well"),
    "a link to a file": linked_file,
    "a library that is preloaded": preloaded_library,
    "no home": variable("HOME", ""),
    "no /proc": without_proc,
    "a layer": layer(),
}
