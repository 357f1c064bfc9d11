# SPDX-License-Identifier: Apache-2.0
"""Reasons for which an ICD is skipped, each as what prepares a machine with it, and what doctor must name then."""

from __future__ import annotations

import os
import resource
import shutil
import struct
import subprocess
from collections.abc import Callable
from pathlib import Path

from harness.build import build
from tests.doctor_machine import Machine, system

Prepare = Callable[[Machine], object]


def file(content: str | bytes, name: str = "sick.icd") -> Prepare:
    """A file of a vendor with these bytes, in which {} is the path of a library that works."""

    def prepare(machine: Machine) -> None:
        path = str(machine.sandbox.icd("sick"))
        data = content.replace("{}", path) if isinstance(content, str) else content.replace(b"{}", path.encode())
        machine.sandbox.vendor_file(name, data)

    return prepare


def vendor(**settings: object) -> Prepare:
    """A mock ICD with these settings."""
    return lambda machine: machine.sandbox.vendor("sick", **settings)


def library(make: Callable[[Path], object]) -> Prepare:
    """A vendor whose library `make` spoils."""
    return lambda machine: make(machine.sandbox.vendor("sick").path)


def variable(name: str, value: str) -> Prepare:
    """A variable, in whose value {} is the sandbox."""

    def prepare(machine: Machine) -> None:
        machine.environment[name] = value.replace("{}", str(machine.sandbox.root))

    return prepare


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:20000])


def with_byte(at: int, value: bytes) -> Callable[[Path], None]:
    def change(path: Path) -> None:
        data = bytearray(path.read_bytes())
        data[at : at + len(value)] = value
        path.write_bytes(data)

    return change


def replaced_by(content: bytes) -> Callable[[Path], object]:
    return lambda path: path.write_bytes(content)


def fifo(machine: Machine) -> None:
    os.mkfifo(machine.sandbox.vendors / "sick.icd")


def folder(machine: Machine) -> None:
    (machine.sandbox.vendors / "sick.icd").mkdir()


def dangling(machine: Machine) -> None:
    (machine.sandbox.vendors / "sick.icd").symlink_to("/opt/gone/sick.icd")


def unreadable(machine: Machine) -> None:
    file("{}\n")(machine)
    (machine.sandbox.vendors / "sick.icd").chmod(0)


def closed_folder(machine: Machine) -> None:
    (machine.sandbox.vendors).chmod(0)


def empty_folder(machine: Machine) -> None:
    (machine.sandbox.vendors / "well.icd").unlink()


def no_folder(machine: Machine) -> None:
    machine.binds["/etc/OpenCL/vendors"] = machine.sandbox.root / "nothing"


def singular_folder(machine: Machine) -> None:
    no_folder(machine)
    machine.binds["/etc/OpenCL/vendor"] = machine.sandbox.vendors


def unreadable_library(path: Path) -> None:
    path.chmod(0)


def twice(machine: Machine) -> None:
    machine.sandbox.vendor_file("zwell.icd", f"{machine.sandbox.libraries}/libwell.so\n")


def names_loader(machine: Machine) -> None:
    machine.sandbox.vendor_file("sick.icd", "libOpenCL.so.1\n")


def not_an_icd(machine: Machine) -> None:
    machine.sandbox.vendor_file("sick.icd", "libz.so.1\n")


def missing_link(path: Path) -> None:
    path.rename(path.with_suffix(".so.7"))


def preload(machine: Machine) -> None:
    """A library that answers in the place of the loader, without any platform."""
    machine.environment["LD_PRELOAD"] = str(compiled(machine, "int clGetPlatformIDs(void) { return -1001; }"))


def compiled(machine: Machine, source: str, *options: str, name: str = "own.so") -> Path:
    """A library of a few lines of C."""
    path = machine.sandbox.libraries / name
    code = machine.sandbox.file("own.c", source)
    subprocess.run([build().compiler, "-shared", "-fPIC", "-w", "-o", path, code, *options], check=True)
    return path


def clash(machine: Machine) -> None:
    """Two libraries that register the same thing twice, as two copies of LLVM do."""
    source = """
    #include <stdlib.h>
    #include <stdio.h>
    __attribute__((constructor)) static void once(void) {
        if (getenv("REGISTERED")) { fprintf(stderr, "Option 'debug' registered more than once!\\n"); abort(); }
        setenv("REGISTERED", "1", 1);
    }
    """
    extra = compiled(machine, source, name="registers.so")
    again = machine.sandbox.libraries / "again.so"
    shutil.copy(extra, again)
    for name, other in (("one", extra), ("two", again)):
        mock = machine.sandbox.icd(name)
        shim = machine.sandbox.libraries / f"shim-{name}.so"
        options = ("-Wl,--no-as-needed", str(other), "-ldl")
        compiled(machine, FORWARD.replace("MOCK", str(mock)), *options, name=shim.name)
        machine.sandbox.vendor_file(f"{name}.icd", f"{shim}\n")


FORWARD = """
#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>
static void *find(const char *name) { return dlsym(dlopen("MOCK", RTLD_LAZY), name); }
void *clGetExtensionFunctionAddress(const char *name)
{
    return ((void *(*)(const char *))find("clGetExtensionFunctionAddress"))(name);
}
"""


def vendors_own_loader(machine: Machine) -> None:
    """LD_LIBRARY_PATH leads to a vendor's library under the name of the loader."""
    folder = machine.sandbox.folder("driver")
    machine.sandbox.icd("own", folder=folder, file="libOpenCL.so.1", platforms=0)
    machine.environment["LD_LIBRARY_PATH"] = str(folder)


def damaged_loader(machine: Machine) -> None:
    folder = machine.sandbox.folder("driver")
    (folder / "libOpenCL.so.1").write_bytes(system().read_bytes()[:3000])
    machine.environment["LD_LIBRARY_PATH"] = str(folder)


def damaged_system_loader(machine: Machine) -> None:
    """Without another one beside it."""
    machine.loader = machine.sandbox.file("damaged.so", system().read_bytes()[:3000])


def own_loader_in_the_system(machine: Machine) -> None:
    machine.loader = machine.sandbox.icd("own").path


def small_memory(machine: Machine) -> None:
    """A driver that is larger than what a process may have."""
    source = "static char much[900 << 20]; char *use(void) { return much; }" + FORWARD.replace(
        "MOCK", str(machine.sandbox.icd("sick"))
    )
    machine.sandbox.vendor_file("sick.icd", f"{compiled(machine, source)}\n")
    machine.limits[resource.RLIMIT_AS] = 800 << 20


def layer(**settings: object) -> Prepare:
    def prepare(machine: Machine) -> None:
        machine.environment["OPENCL_LAYERS"] = str(machine.sandbox.layer("layer", **settings))  # type: ignore[arg-type]

    return prepare


def not_cached(machine: Machine) -> None:
    """A library in a folder of /etc/ld.so.conf, since which ldconfig has not run."""
    machine.sandbox.vendor_file("sick.icd", f"{machine.sandbox.icd('sick').path.name}\n")
    machine.binds["/etc/ld.so.conf"] = machine.sandbox.file("ld.so.conf", f"{machine.sandbox.libraries}\n")


def subfolder(machine: Machine) -> None:
    machine.sandbox.vendor_file("sick.icd", f"{machine.sandbox.icd('sick')}\n", machine.sandbox.folder("vendors/below"))


def is_library(machine: Machine) -> None:
    (machine.sandbox.vendors / "sick.icd").symlink_to(machine.sandbox.icd("sick").path)


def library_link_to_nothing(machine: Machine) -> None:
    (machine.sandbox.libraries / "libsick.so").symlink_to("libsick.so.7")
    machine.sandbox.vendor_file("sick.icd", f"{machine.sandbox.libraries}/libsick.so\n")


def dependency_beside(machine: Machine) -> None:
    """The library that the driver needs lies in the same folder, where the linker does not look."""
    mock = machine.sandbox.icd("sick", variant="icd_needs_absent_library")
    compiled(machine, "int absent(void) { return 0; }", name="libclharness_absent.so")
    machine.sandbox.vendor_file("sick.icd", f"{mock}\n")


def unknown_variable(machine: Machine) -> None:
    """ocl-icd does not know this one."""
    machine.environment["OCL_ICD_FILENAMES"] = str(machine.sandbox.icd("sick"))


def only_nobody(machine: Machine) -> None:
    machine.user = 65534


def unreadable_for_user(machine: Machine) -> None:
    unreadable(machine)
    only_nobody(machine)


def closed_for_user(machine: Machine) -> None:
    sick = machine.sandbox.icd("sick", folder=machine.sandbox.folder("closed"))
    machine.sandbox.vendor_file("sick.icd", f"{sick}\n")
    sick.path.parent.chmod(0o700)
    only_nobody(machine)


def older_glibc(path: Path) -> None:
    data = path.read_bytes()
    assert b"GLIBC_2.34\0" in data
    path.write_bytes(data.replace(b"GLIBC_2.34\0", b"GLIBC_2.99\0"))


def for_i386(path: Path) -> None:
    """The header of a library, without anything in it."""
    ident = b"\x7fELF\1\1\1" + bytes(9)
    path.write_bytes(ident + struct.pack("<HHIIIIIHHHHHH", 3, 3, 1, 0, 0, 0, 0, 52, 32, 0, 0, 0, 0) + bytes(64))


def illegal_instruction(machine: Machine) -> None:
    source = "__attribute__((constructor)) static void start(void) { __builtin_trap(); }"
    machine.sandbox.vendor_file("sick.icd", f"{compiled(machine, source)}\n")


def hidden_devices(machine: Machine) -> None:
    """A driver that shows no device where a variable of its own says so."""
    mock = machine.sandbox.icd("sick")
    source = FORWARD.replace("MOCK", str(mock)).replace(
        "return (", 'if (getenv("SICK_VISIBLE_DEVICES")) return 0; return ('
    )
    machine.sandbox.vendor_file("sick.icd", f"{compiled(machine, source)}\n")
    machine.environment["SICK_VISIBLE_DEVICES"] = "7"


def closed_home(machine: Machine) -> None:
    """A driver that keeps what it compiles in the user's home, as PoCL does."""
    mock = machine.sandbox.icd("sick")
    source = FORWARD.replace("MOCK", str(mock)).replace("return (", 'if (access(getenv("HOME"), 2)) return 0; return (')
    machine.sandbox.vendor_file("sick.icd", f"{compiled(machine, source)}\n")
    machine.environment["HOME"] = "/usr"


def needs_room(machine: Machine) -> None:
    """Several variables in the environment, of which one hides a vendor."""
    hidden_devices(machine)
    machine.environment |= {f"V{n}": str(n) for n in range(20)}


def few_files(machine: Machine) -> None:
    machine.limits[resource.RLIMIT_NOFILE] = 8


MACHINES: dict[str, tuple[Prepare, set[str]]] = {
    # the folder
    "no vendors folder": (no_folder, {"folder-missing"}),
    "a folder of another name": (singular_folder, {"folder-missing", "other-folder"}),
    "an empty folder": (empty_folder, {"folder-empty"}),
    "a closed folder": (closed_folder, {"folder-closed"}),
    # the file
    "a file without rights": (unreadable, {"file-unreadable"}),
    "a folder called .icd": (folder, {"file-not-regular"}),
    "a FIFO": (fifo, {"file-not-regular"}),
    "a dangling link": (dangling, {"file-dangling"}),
    "a disabled file": (file("{}\n", "sick.icd.disabled"), {"wrong-name"}),
    "capital letters": (file("{}\n", "SICK.ICD"), {"wrong-name"}),
    "another extension": (file("{}\n", "sick.conf"), {"wrong-name"}),
    # the line
    "an empty file": (file(""), {"file-empty"}),
    "blanks only": (file("  \n"), {"file-blank"}),
    "a byte order mark": (file("\ufeff{}\n"), {"file-bom"}),
    "UTF-16": (file("/usr/lib/libsick.so\n".encode("utf-16")), {"file-utf16", "library-not-found"}),
    "Windows line ends": (file("{}\r\n"), {"file-carriage-return"}),
    "a blank at the end": (file("{} \n"), {"file-blanks"}),
    "a line before": (file("\n{}\n"), {"file-leading-line"}),
    "a comment": (file("# the driver\n{}\n"), {"file-comment"}),
    "two lines": (file("{}\nlibother.so\n"), {"file-lines"}),
    "a NUL": (file(b"\0{}\n"), {"file-nul"}),
    "a long line": (file("/usr/" + "x" * 6000 + "\n"), {"file-long"}),
    "quotation marks": (file('"{}"\n'), {"file-quotes"}),
    "a variable in the path": (file("$HOME/libsick.so\n"), {"file-variable", "library-relative"}),
    "a manifest": (file('{"ICD": {"library_path": "libsick.so"}}\n'), {"file-json"}),
    # the library
    "a library that is gone": (file("/opt/gone/libsick.so\n"), {"library-not-found"}),
    "a name that is not found": (file("libsick-of-nowhere.so.1\n"), {"library-not-found"}),
    "a relative path": (file("lib/libsick.so\n"), {"library-relative"}),
    "another version of the library": (library(missing_link), {"library-not-found"}),
    "a library without rights": (library(unreadable_library), {"library-unreadable"}),
    "a file in a folder below": (subfolder, {"file-in-subfolder"}),
    "a library in the place of the file": (is_library, {"file-is-library"}),
    "a library that is a link to nothing": (library_link_to_nothing, {"library-not-found"}),
    "a dependency beside the library": (dependency_beside, {"dependency-missing"}),
    "a variable that the loader does not know": (unknown_variable, {"variable-unknown"}),
    "an empty library": (library(replaced_by(b"")), {"library-damaged"}),
    "a text file": (library(replaced_by(b"hello\n")), {"library-damaged"}),
    "a linker script": (library(replaced_by(b"/* GNU ld script */\nGROUP ( libpocl.so.2 )\n")), {"library-damaged"}),
    "a library that is cut short": (library(cut), {"library-damaged"}),
    "a library for arm64": (library(with_byte(18, b"\xb7\0")), {"library-wrong-machine"}),
    "a program": (file("/usr/bin/env\n"), {"library-not-shared"}),
    "a missing dependency": (vendor(variant="icd_needs_absent_library"), {"dependency-missing"}),
    "a missing symbol": (vendor(variant="icd_unresolved"), set()),  # ocl-icd binds as functions are called
    "a library for 32 bits": (library(for_i386), {"library-wrong-machine"}),
    "a library of a newer system": (library(older_glibc), {"version-missing"}),
    "a library that the linker's cache lacks": (not_cached, {"library-not-in-cache"}),
    "a file that the user may not read": (unreadable_for_user, {"file-unreadable"}),
    "a library that the user may not reach": (closed_for_user, {"library-closed"}),
    "a library for newer processors": (illegal_instruction, {"library-crashes"}),
    # what the library answers
    "a loader as a vendor": (names_loader, {"names-a-loader"}),
    "a library of another kind": (not_an_icd, {"no-query"}),
    "no query function": (vendor(variant="icd_without_get_extension_function_address"), {"no-query"}),
    "no enumeration": (
        vendor(variant="icd_without_get_platform_ids", faults=["get_platform_ids_not_returned"]),
        {"no-enumeration"},
    ),
    "an enumeration that fails": (vendor(faults=["count_call_fails"]), {"no-platform"}),
    "no platforms": (vendor(platforms=0), {"no-platform"}),
    "a platform without cl_khr_icd": (vendor(extensions="cl_khr_fp64"), {"no-cl_khr_icd"}),
    "a suffix that fails": (vendor(faults=["suffix_size_fails"]), {"info-fails"}),
    "queries that fail": (vendor(faults=["platform_info_fails"]), {"info-fails"}),
    "no dispatch table": (vendor(faults=["platform_without_dispatch"]), {"no-dispatch"}),
    "a NULL platform": (vendor(faults=["platform_is_null"]), {"null-platform"}),
    "no devices": (vendor(gpus=0), {"no-devices"}),
    "a constructor that crashes": (vendor(faults=["constructor_aborts"]), {"library-crashes"}),
    "a constructor that ends the program": (vendor(faults=["constructor_exits=3"]), {"library-crashes"}),
    "a constructor that hangs": (vendor(faults=["constructor_sleeps=60000"]), {"library-hangs"}),
    "an enumeration that hangs": (vendor(faults=["enumeration_sleeps=60000"]), {"library-hangs"}),
    "devices that a variable hides": (hidden_devices, {"no-enumeration", "variable-hides"}),
    "a home that is read-only": (closed_home, {"no-enumeration", "home-not-writable"}),
    "one variable among many": (needs_room, {"no-enumeration", "variable-hides"}),
    # several
    "a vendor named twice": (twice, {"named-twice"}),
    "two vendors that clash": (clash, {"vendors-clash"}),
    # variables, loaders, layers, limits
    "a variable that names another folder": (
        variable("OCL_ICD_VENDORS", "{}/libraries"),
        {"variable-hides", "folder-empty"},
    ),
    "a variable that names nothing": (
        variable("OCL_ICD_VENDORS", "/opt/gone/vendors"),
        {"variable-hides", "variable-names-nothing"},
    ),
    "a library in the place of the loader": (vendors_own_loader, {"not-a-loader", "variable-hides", "other-loader"}),
    "a damaged loader": (damaged_loader, {"loader-damaged", "variable-hides", "other-loader"}),
    "a damaged loader and no other": (damaged_system_loader, {"loader-damaged"}),
    "a vendor's library as the only loader": (own_loader_in_the_system, {"not-a-loader"}),
    "little memory": (small_memory, {"memory-limit", "limits"}),
    "functions that are preloaded": (preload, {"variable-hides"}),
    "a default platform that is not there": (variable("OCL_ICD_DEFAULT_PLATFORM", "7"), {"default-platform"}),
    "a layer that is not there": (variable("OPENCL_LAYERS", "/opt/gone/layer.so"), {"layer-library-not-found"}),
    "a layer that is a vendor": (variable("OPENCL_LAYERS", "{}/libraries/libwell.so"), {"layer-functions"}),
    "a layer of another version": (layer(faults=["reports_api_version=200"]), {"layer-version"}),
    "a layer that does not start": (layer(faults=["init_fails"]), {"layer-init"}),
    "few open files": (few_files, {"limits"}),
}


STRICTER: dict[str, tuple[Prepare, set[str]]] = {
    "an ICD 2 that is not whole": (vendor(icd2=True, faults=["icd2_without_set_dispatch_data"]), {"icd2-functions"}),
    "a missing symbol": (vendor(variant="icd_unresolved"), {"symbol-missing"}),
    "a loader as a vendor": (names_loader, {"names-a-loader"}),
    "no enumeration": MACHINES["no enumeration"],
    "an enumeration that hangs": MACHINES["an enumeration that hangs"],
}
