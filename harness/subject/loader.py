"""A loader under test: a path, facts read from the file, and sessions that run it in a sandbox."""

from __future__ import annotations

import os
import struct
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from elftools.common.exceptions import ELFError  # type: ignore[import-untyped]
from elftools.elf.dynamic import DynamicSection  # type: ignore[import-untyped]
from elftools.elf.elffile import ELFFile  # type: ignore[import-untyped]
from elftools.elf.sections import NoteSection  # type: ignore[import-untyped]

from harness.build import build
from harness.errors import UsageError
from harness.probe.session import Session
from harness.sandbox import Sandbox, Unsupported
from harness.sandbox.machine import (
    NOBODY,
    at_secure_by_tracer,
    bubblewrap,
    is_root,
    require_private_mounts,
    set_uid_copy,
)
from harness.sandbox.sandbox import LOADER_VARIABLES, PASSED_ON

SYSTEM_VENDORS = "/etc/OpenCL/vendors"
SYSTEM_LAYERS = "/etc/OpenCL/layers"
ANDROID_VENDORS = "/system/vendor/Khronos/OpenCL/vendors"
DEFAULT_TIME_LIMIT = 5.0


@dataclass
class Facts:
    """What is known of a loader; `name` and `version` are what it answers about itself, or "unknown"."""

    path: str
    real_path: str
    soname: str = ""
    build_id: str = ""
    exports: int = 0
    symbol_versions: list[str] = field(default_factory=list)
    sanitizer: str = ""  # runtime that must be preloaded because the loader was built with a sanitizer
    name: str = "unknown"
    version: str = ""
    opencl_version: str = ""
    capabilities: list[str] = field(default_factory=list)

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def _read_elf(path: Path, facts: Facts) -> None:
    with path.open("rb") as file:
        elf = ELFFile(file)
        machine = "EM_X86_64" if struct.calcsize("P") == 8 and os.uname().machine == "x86_64" else elf["e_machine"]
        if elf.elfclass != 8 * struct.calcsize("P") or elf["e_machine"] != machine:
            raise UsageError(
                f"{path} is a {elf.elfclass}-bit library for {elf['e_machine'].removeprefix('EM_')}; "
                f"this harness was built for {8 * struct.calcsize('P')} bit {os.uname().machine}"
            )
        if elf["e_type"] != "ET_DYN":
            raise UsageError(f"{path} is an ELF file but no shared library")
        for section in elf.iter_sections():
            if isinstance(section, DynamicSection):
                facts.soname = next((t.soname for t in section.iter_tags("DT_SONAME")), "")
                needed = [t.needed for t in section.iter_tags("DT_NEEDED")]
                facts.sanitizer = next((n for n in needed if n.startswith(("libasan", "libtsan", "libclang_rt"))), "")
            elif isinstance(section, NoteSection):
                for note in section.iter_notes():
                    if note["n_type"] == "NT_GNU_BUILD_ID":
                        facts.build_id = note["n_desc"]
        symbols = elf.get_section_by_name(".dynsym")
        names = {s.name for s in symbols.iter_symbols() if s["st_shndx"] != "SHN_UNDEF"} if symbols else set()
        facts.exports = sum(name.startswith("cl") for name in names)
        versions = elf.get_section_by_name(".gnu.version_d")
        if versions:
            found = [next(aux).name for _, aux in versions.iter_versions()]
            facts.symbol_versions = [name for name in found if name.startswith("OPENCL")]
        if "clGetPlatformIDs" not in names:
            raise UsageError(f"{path} is no OpenCL loader: it does not export clGetPlatformIDs")


def read_facts(path: Path) -> Facts:
    """Facts that stand in the file. Raises UsageError in one clear sentence when it is no loader for this machine."""
    real = Path(os.path.realpath(path))
    if not real.exists():
        raise UsageError(f"{path} does not exist: give the path of an OpenCL loader, for example libOpenCL.so.1")
    if not real.is_file():
        raise UsageError(f"{path} is no file: give the path of an OpenCL loader, for example libOpenCL.so.1")
    facts = Facts(str(path), str(real))
    try:
        _read_elf(real, facts)
    except PermissionError:
        raise UsageError(f"{path} cannot be read: permission denied") from None
    except ELFError as error:
        raise UsageError(f"{path} is no shared library ({error})") from None
    except (OSError, ValueError, KeyError, struct.error) as error:
        raise UsageError(f"{path} is a damaged library ({error})") from None
    return facts


class Loader:
    """The loader under test. `capabilities` are found out by asking it (see harness.subject.capabilities)."""

    def __init__(self, path: Path, time_limit: float = DEFAULT_TIME_LIMIT) -> None:
        self.facts = read_facts(path)
        self.path = Path(self.facts.real_path)
        self.time_limit = time_limit
        self.capabilities: set[str] = set()
        self.by_variable = True  # vendors are shown as OCL_ICD_VENDORS, not as the compiled-in directory
        self.system_vendors = SYSTEM_VENDORS  # the compiled-in directory

    def __str__(self) -> str:
        return f"{self.facts.name} {self.facts.version}".strip()

    def has(self, capability: str) -> bool:
        return capability in self.capabilities

    def require(self, capability: str, reason: str = "") -> None:
        """Makes the case `unsupported` where the loader lacks a capability."""
        if capability not in self.capabilities:
            raise Unsupported("loader", reason or f"this loader does not have: {capability}", capability)

    def environment(self, sandbox: Sandbox, system: bool) -> dict[str, str]:
        """The application's environment: an allow-list, the vendor directory, and what the case set."""
        environment = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
        environment |= {"PATH": "/usr/bin:/bin", "HOME": "/nonexistent", "LC_ALL": "C"}
        environment.setdefault("ASAN_OPTIONS", "detect_leaks=0")  # leaks have checks of their own
        assert not set(environment) & set(LOADER_VARIABLES)
        if not system:
            environment["OCL_ICD_VENDORS"] = str(sandbox.vendors)
        return environment | sandbox.env

    def start(
        self,
        sandbox: Sandbox,
        *,
        linked: bool = False,
        late: bool = False,
        bind_global: bool = False,
        bind_now: bool = False,
        system: bool = False,
        system_binds: dict[str, Path] | None = None,
        ordinary_user: bool = False,
        elevated: bool = False,
        counted_heap: bool = False,
        guarded_heap: bool = False,
        failing_allocation: int = 0,
        unset: tuple[str, ...] = (),
        time_limit: float | None = None,
        wrapper: tuple[str, ...] = (),
    ) -> Session:
        """A session, to be entered with `with`.

        linked: the program is linked to the loader; else it opens it with dlopen (bind_global: RTLD_GLOBAL, bind_now:
        RTLD_NOW; late: only at `cl.open()`). system: the vendor directory stands at the compiled-in path, in a private
        root, and no variable names it; system_binds: more such places. ordinary_user: not root. elevated: AT_SECURE.
        counted_heap: `cl.heap()` counts exactly. guarded_heap: the same, and misuse of the heap is a crash;
        failing_allocation: the n-th allocation of the loader fails, from 1.
        unset: variables to leave out, also OCL_ICD_VENDORS.
        wrapper: a command in front of the probe (valgrind, strace, …).
        """
        system = system or system_binds is not None or not self.by_variable
        environment = self.environment(sandbox, system)
        for name in unset:
            environment.pop(name, None)
        environment |= self._heap(counted_heap, guarded_heap, failing_allocation)
        probe = build().linked_probe if linked else build().probe
        popen: dict[str, Any] = {"cwd": sandbox.root}
        if ordinary_user and is_root():
            popen |= {"user": NOBODY, "group": NOBODY, "extra_groups": []}
        if linked:
            environment["LD_LIBRARY_PATH"] = str(self._library_folder(sandbox))
        prefix = list(wrapper)
        if elevated:
            prefix, probe = self._elevated(sandbox, probe, system)
        elif system:
            binds = {self.system_vendors: sandbox.vendors} if system_binds is None else system_binds
            require_private_mounts()
            prefix = bubblewrap(binds, [sandbox.root, self.path.parent, probe.parent]) + prefix
        command = [
            *prefix,
            str(probe),
            "--loader",
            str(self.path),
            "--socket",
            "{socket}",
            "--log",
            str(sandbox.log_path),
        ]
        command += ["--late"] * late + ["--global"] * bind_global + ["--now"] * bind_now
        session = Session(command, environment, sandbox.root, time_limit or self.time_limit, **popen)
        session.own_copy = elevated and probe.is_relative_to(sandbox.root)
        sandbox.runs.append(session)
        return session

    def _heap(self, counted: bool, guarded: bool, failing_allocation: int) -> dict[str, str]:
        """What of the environment decides the heap. A sanitizer brings a heap of its own, which guards as well."""
        if self.facts.sanitizer or build().sanitize:
            if counted or failing_allocation:
                raise Unsupported("machine", "a sanitizer's heap can neither be counted nor be made to fail")
            return {"LD_PRELOAD": self.facts.sanitizer} if self.facts.sanitizer and not build().sanitize else {}
        environment = {}
        if counted:
            environment["GLIBC_TUNABLES"] = "glibc.malloc.tcache_count=0:glibc.malloc.mxfast=0"
        if guarded or failing_allocation:
            environment["LD_PRELOAD"] = str(build().guarded_heap)
        if failing_allocation:
            environment |= {"CLHARNESS_FAIL_ALLOCATION": str(failing_allocation), "CLHARNESS_FAIL_IN": str(self.path)}
        return environment

    def _library_folder(self, sandbox: Sandbox) -> Path:
        """A folder in which the loader under test has the name that a linked program asks for."""
        folder = sandbox.root / "linked"
        if not folder.exists():
            folder.mkdir()
            (folder / "libOpenCL.so.1").symlink_to(self.path)
        return folder

    def _elevated(self, sandbox: Sandbox, probe: Path, system: bool) -> tuple[list[str], Path]:
        if self.facts.sanitizer:
            raise Unsupported("machine", "an elevated process takes no LD_PRELOAD, which this loader's sanitizer needs")
        if system:
            raise Unsupported("machine", "a private root forbids elevated privileges (no_new_privs)")
        if is_root() and (copy := set_uid_copy(probe, sandbox.new_place("elevated"))):
            return [], copy
        if at_secure_by_tracer():
            return [str(build().at_secure)], probe
        raise Unsupported("machine", "neither a set-uid program nor a tracer can set AT_SECURE here")
