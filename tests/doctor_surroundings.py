# SPDX-License-Identifier: Apache-2.0
"""Reasons that lie around a driver: its dependencies, its helpers, what it writes; as tests.doctor_reasons."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tests.doctor_machine import Machine, system
from tests.doctor_rare_reasons import own_driver
from tests.doctor_reasons import Prepare, compiled, file


def dependency(spoil: Callable[[Machine, Path], object]) -> Prepare:
    """A driver that needs a library of its own folder, of which something is wrong."""

    def prepare(machine: Machine) -> None:
        stub = compiled(machine, "int helps(void) { return 0; }", "-Wl,-soname,libhelper.so.1", name="libhelper.so.1")
        folder = machine.sandbox.libraries
        own_driver("helps();", str(stub), f"-Wl,--disable-new-dtags,-rpath,{folder}", head="int helps(void);")(machine)
        spoil(machine, stub)

    return prepare


def damaged(_machine: Machine, path: Path) -> None:
    path.write_bytes(path.read_bytes()[:3000])


def of_another_machine(_machine: Machine, path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[18:20] = b"\xb7\0"
    path.write_bytes(data)


def closed(machine: Machine, path: Path) -> None:
    path.chmod(0)
    machine.user = 65534


def shadowed(machine: Machine) -> None:
    """LD_LIBRARY_PATH leads to an older library of the same name, as an environment of conda does."""
    stub = compiled(machine, "int helps(void) { return 0; }", "-Wl,-soname,libhelper.so.1", name="libhelper.so.1")
    own_driver(
        "helps();",
        str(stub),
        f"-Wl,-z,now,--enable-new-dtags,-rpath,{machine.sandbox.libraries}",
        head="int helps(void);",
    )(machine)
    machine.sandbox.folder("conda")
    compiled(machine, "int other(void) { return 0; }", "-Wl,-soname,libhelper.so.1", name="../conda/libhelper.so.1")
    machine.environment["LD_LIBRARY_PATH"] = str(machine.sandbox.root / "conda")


def closes_descriptors(then: str) -> Prepare:
    """A driver that closes all that is open when it is loaded, as a daemon does, and goes on with `then`."""
    return own_driver(
        head=f"""
        #include <fcntl.h>
        #include <unistd.h>
        static const char taken[] = "/dev/full";
        __attribute__((constructor)) static void close_all(void)
        {{
            for (int i = 0; i < 1024; i++) close(i);
            if (!access(taken, F_OK)) {{ {then} }}
        }}
        """
    )


static_tls = own_driver(
    after='__attribute__((tls_model("initial-exec"))) __thread char much[1 << 20]; char *use(void) { return much; }'
)


def finds_no_platform(where: str, head: str = "") -> Prepare:
    """A driver that starts, and answers that it has no platform where `where` is true."""
    return own_driver(
        'if (!strcmp(name, "clIcdGetPlatformIDsKHR")) return asked;',
        head=head
        + """
        #include <dlfcn.h>
        #include <stdlib.h>
        #include <string.h>
        #include <unistd.h>
        static int asked(unsigned number, void **list, unsigned *count);
        """,
        after=f"""
        static int asked(unsigned number, void **list, unsigned *count)
        {{
            if ({where}) return -1001;
            return ((int (*)(unsigned, void **, unsigned *))find("clIcdGetPlatformIDsKHR"))(number, list, count);
        }}
        int clIcdGetPlatformIDsKHR(unsigned n, void **l, unsigned *c) {{ return asked(n, l, c); }}
        int clGetPlatformIDs(unsigned n, void **l, unsigned *c) {{ return asked(n, l, c); }}
        int clGetPlatformInfo(void *p, unsigned n, unsigned long s, void *v, unsigned long *r)
        {{
            return ((int (*)(void *, unsigned, unsigned long, void *, unsigned long *))find("clGetPlatformInfo"))(
                p, n, s, v, r);
        }}
        """,
    )


def temporary_folder(machine: Machine) -> None:
    """A driver that writes what it compiles below TMPDIR, and without that in a folder that is there."""
    usual = machine.sandbox.folder("usual")
    finds_no_platform(f'access(getenv("TMPDIR") ? getenv("TMPDIR") : "{usual}", 2)')(machine)
    machine.environment["TMPDIR"] = str(machine.sandbox.folder("temporary"))


def no_temporary_folder(machine: Machine) -> None:
    temporary_folder(machine)
    machine.environment["TMPDIR"] = "/opt/gone"


def closed_in_the_path(machine: Machine) -> None:
    """A library that is named without its folder, where the user may not read it."""
    machine.sandbox.vendor_file("sick.icd", f"{machine.sandbox.icd('sick').path.name}\n")
    machine.environment["LD_LIBRARY_PATH"] = str(machine.sandbox.libraries)
    (machine.sandbox.libraries / "libsick.so").chmod(0)
    machine.user = 65534


def below(machine: Machine) -> None:
    """A driver whose package has what it needs in a folder below its own, where the linker does not look."""
    machine.sandbox.folder("libraries/deps")
    stub = compiled(machine, "int helps(void) { return 0; }", "-Wl,-soname,libhelper.so.1", name="deps/libhelper.so.1")
    own_driver("helps();", str(stub), head="int helps(void);")(machine)


def beside_the_folder(machine: Machine) -> None:
    """A file in /etc/OpenCL, and not in its vendors."""
    content = machine.sandbox.file("sick.txt", f"{machine.sandbox.icd('sick')}\n")
    machine.binds["/etc/OpenCL/sick.icd"] = Path(content)


def environment_of_conda(machine: Machine) -> Path:
    """One that is active and has a driver of its own."""
    folder = machine.sandbox.folder("conda/etc/OpenCL/vendors")
    machine.sandbox.vendor_file("sick.icd", f"{machine.sandbox.icd('sick')}\n", folder)
    machine.environment["CONDA_PREFIX"] = str(machine.sandbox.root / "conda")
    return machine.sandbox.root / "conda"


def conda_with_a_loader(machine: Machine) -> None:
    """Its programs find its driver by that."""
    library = environment_of_conda(machine) / "lib" / "libOpenCL.so.1"
    library.parent.mkdir()
    library.write_bytes(system().read_bytes())


def says(words: str) -> Prepare:
    """A driver that has no platform, and says why."""
    return finds_no_platform(f"fprintf(stderr, {words})", "#include <stdio.h>")


def opens(*names: str) -> str:
    """C: none of these libraries can be opened."""
    return " && ".join(f'!dlopen("{name}", RTLD_NOW)' for name in names)


SURROUNDINGS: dict[str, tuple[Prepare, set[str]]] = {
    "a blank before the path": (file(" {}\n"), {"file-blanks"}),
    "a blank that takes no room": (file("{}\u200b\n"), {"file-unprintable", "library-not-found"}),
    "carriage returns alone": (file("{}\r"), {"file-carriage-return"}),
    "a semicolon at the end": (file("{};\n"), {"library-not-found"}),
    "a library that the user may not read, by its name": (closed_in_the_path, {"library-unreadable"}),
    "a dependency that is cut short": (dependency(damaged), {"dependency-damaged"}),
    "a dependency for arm64": (dependency(of_another_machine), {"dependency-wrong-machine"}),
    "a dependency that nobody may read": (dependency(lambda _, path: path.chmod(0)), {"dependency-unreadable"}),
    "a dependency that the user may not read": (dependency(closed), {"dependency-unreadable"}),
    "a dependency that a variable shadows": (shadowed, {"symbol-missing", "variable-hides"}),
    "no room for variables of threads": (static_tls, {"static-tls"}),
    "a library that the driver opens itself": (
        finds_no_platform(opens("libsick-compiler.so.5")),
        {"no-platform", "helper-missing"},
    ),
    "a library that the driver opens in two versions": (
        finds_no_platform(f"({opens('libz.so.9', 'libz.so.1')}) || 1"),
        {"no-platform"},
    ),
    "no temporary folder": (no_temporary_folder, {"no-platform", "variable-hides"}),
    "a dependency in a folder below": (below, {"dependency-missing"}),
    "keys and values": (file("[icd]\nlibrary_path={}\n"), {"file-lines"}),
    "an old path before the right one": (file("/opt/gone/libsick.so\n{}\n"), {"file-lines"}),
    "a file beside the folder": (beside_the_folder, {"other-folder"}),
    "a driver of conda under the system's loader": (environment_of_conda, {"other-folder"}),
    "a file that the driver misses": (says('"sick: no /usr/share/sick/builtins.bc\\n"'), {"no-platform"}),
    "a driver that says why": (says('"sick: firmware 3 is too old\\n"'), {"no-platform"}),
}

SURROUNDINGS_ADVICE = {
    "a blank before the path": "/libsick.so",
    "a semicolon at the end": "/libsick.so, which exists",
    "a dependency that the user may not read": "chmod a+r",
    "a library that the driver opens itself": "libsick-compiler.so.5",
    "no temporary folder": "env -u TMPDIR",
    "a dependency in a folder below": "/deps/libhelper.so.1 is in a folder that is not searched",
    "keys and values": "nothing else: /",
    "an old path before the right one": "/libsick.so",
    "a file beside the folder": "/etc/OpenCL/vendors",
    "a file that the driver misses": "there is no folder /usr/share/sick: install what brings that",
    "a driver that says why": "What it says is why",
}

WELL_SURROUNDED: dict[str, Prepare] = {
    "a dependency": dependency(lambda _machine, _path: None),
    "a library that the driver does without": finds_no_platform(f"{opens('libsick-compiler.so.5')} && 0"),
    "a temporary folder that exists": temporary_folder,
    "conda with a loader of its own": conda_with_a_loader,
    "a driver that closes all descriptors": closes_descriptors(""),
    "a driver that has all descriptors for itself": closes_descriptors("while (open(taken, O_RDWR) < 30) ;"),
}
