"""A vendor's ICD under test: a library, facts read from the file, and its own answers."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from harness.api.model import api
from harness.check.icd.attempts import Attempts
from harness.errors import UsageError
from harness.probe.icd_session import ENUMERATE, ICD_FILE_LIMIT, QUERY, IcdSession
from harness.probe.session import Session
from harness.sandbox import Sandbox
from harness.subject.direct import start_directly
from harness.subject.library import read_library, require_this_machine
from harness.subject.loader import SYSTEM_VENDORS, Loader

ICD_TIME_LIMIT = 20.0  # a driver may have to compile first
_OF_THE_LINKER = {"_init", "_fini", "_edata", "_end", "__bss_start", "__bss_start__", "__bss_end__", "__end__"}
# Names of C++'s standard library are the same everywhere.
_OF_CXX = ("_ZSt", "_ZZSt", "_ZZNSt", "_ZNSt", "_ZNKSt", "_ZTVSt", "_ZTISt", "_ZTSSt")
_SHOWN = 12
FUNCTIONS = (QUERY, "clGetPlatformInfo", ENUMERATE)


@dataclass
class IcdFacts:
    """What is known of an ICD; `name` and `version` are what its first platform answers, or "unknown" and ""."""

    path: str
    real_path: str
    soname: str = ""
    build_id: str = ""
    functions: list[str] = field(default_factory=list)  # of the three that loaders look for, those that it exports
    exported: list[str] = field(default_factory=list)  # other functions of OpenCL that it exports
    leaked: int = 0  # exported symbols that are none of OpenCL's
    leaked_names: list[str] = field(default_factory=list)  # the first of them
    outside: list[str] = field(default_factory=list)  # functions of OpenCL that it takes from another library
    by_name: list[str] = field(default_factory=list)  # own ones that another library of these names may replace
    needed: list[str] = field(default_factory=list)
    text_relocations: bool = False
    executable_stack: bool = False
    search_paths: list[str] = field(default_factory=list)
    sanitizer: str = ""
    name: str = "unknown"
    version: str = ""

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def find_library(asked: str) -> Path:
    """The library that is meant: a library, an .icd file, or the name of an installed one.

    A name without folder in an .icd file stays as it is where the dynamic linker would have to find it: the file says
    what a loader opens, so that is asked of the linker's own folders.
    """
    path = Path(asked)
    if not path.exists() and "/" not in asked:
        installed = Path(SYSTEM_VENDORS) / (asked if asked.endswith(".icd") else f"{asked}.icd")
        if not installed.exists():
            raise UsageError(f"there is neither a file {asked} nor {installed}: give a library or an .icd file")
        path = installed
    return _named_in(path) if path.suffix == ".icd" else path


def _named_in(file: Path) -> Path:
    try:
        name = file.read_text(errors="surrogateescape").split("\n", 1)[0].strip()
    except OSError as error:
        raise UsageError(f"{file}: cannot be read: {error.strerror}") from None
    if not name:
        raise UsageError(f"{file} names no library: its first line is empty")
    if "/" in name:
        return Path(name)
    folders = [*os.environ.get("LD_LIBRARY_PATH", "").split(":"), *_LINKER_FOLDERS]
    found = next((Path(folder) / name for folder in folders if folder and (Path(folder) / name).exists()), None)
    if found is None:
        raise UsageError(f"{file} names {name}, which is in none of {', '.join(f for f in folders if f)}")
    return found


_LINKER_FOLDERS = (
    f"/usr/lib/{os.uname().machine}-linux-gnu",
    f"/lib/{os.uname().machine}-linux-gnu",
    "/usr/local/lib",
    "/usr/lib64",
    "/lib64",
    "/usr/lib",
    "/lib",
)


def read_facts(path: Path) -> IcdFacts:
    """Facts that stand in the file. Raises UsageError in one clear sentence where it is no ICD for this machine."""
    library = read_library(path, "an ICD", "libpocl.so.2, or an .icd file")
    require_this_machine(path, library)
    known = set(api().functions)
    facts = IcdFacts(str(path), str(library.real_path), library.soname, library.build_id)
    facts.functions = [name for name in FUNCTIONS if name in library.functions]
    facts.exported = sorted((library.functions & known) - set(FUNCTIONS))
    others = library.exported - library.vague - known - _OF_THE_LINKER
    leaked = sorted(name for name in others if not name.startswith(_OF_CXX))
    facts.leaked, facts.leaked_names = len(leaked), leaked[:_SHOWN]
    facts.outside = sorted(library.undefined & known)
    facts.by_name = sorted(library.by_name & known)
    facts.needed = library.needed
    facts.text_relocations = library.text_relocations
    facts.executable_stack = library.executable_stack
    facts.search_paths = library.search_paths
    facts.sanitizer = library.sanitizer
    if not facts.functions:
        raise UsageError(f"{path} is no OpenCL ICD: it exports none of {', '.join(FUNCTIONS)}")
    return facts


class Icd:
    """The ICD under test. `variables` are what it needs in its environment, besides a home."""

    def __init__(self, path: Path, variables: Mapping[str, str] | None = None) -> None:
        self.facts = read_facts(path)
        self.path = Path(self.facts.real_path)
        self.time_limit = ICD_TIME_LIMIT
        self.variables = dict(variables or {})
        self._cache: tempfile.TemporaryDirectory[str] | None = None

    def __str__(self) -> str:
        return str(self.path)

    def share_compiled(self) -> None:
        """From now on cases have in common what the driver compiled: each would compile the same kernels again."""
        self._cache = tempfile.TemporaryDirectory(prefix="clharness-cache-")

    def prepare(self, sandbox: Sandbox) -> None:
        """The environment that a vendor may rely on: a home that can be written, and the user's own libraries."""
        sandbox.env["HOME"] = str(sandbox.root)
        if self._cache:
            sandbox.env["XDG_CACHE_HOME"] = self._cache.name
        if path := os.environ.get("LD_LIBRARY_PATH"):
            sandbox.env["LD_LIBRARY_PATH"] = path
        sandbox.env.update(self.variables)

    def open(
        self, sandbox: Sandbox, *, preload: Sequence[str] = (), late: bool = False, now: bool = False
    ) -> IcdSession:
        """A session in which the probe is in the place of the loader."""
        self.prepare(sandbox)
        return start_directly(IcdSession, self, sandbox, preload=preload, late=late, now=now)

    def attempts(self, sandbox: Sandbox) -> Attempts:
        """Many calls, each judged by itself."""
        return Attempts(self, sandbox)

    def start(
        self, loader: Loader, sandbox: Sandbox, *, before: Path | None = None, after: Path | None = None
    ) -> Session:
        """A session of a loader that has this vendor, alone or with others listed before it and after it."""
        self.prepare(sandbox)
        vendors = [f"{path}\n" for path in (before, self.path, after) if path]
        if len(vendors) == 1:
            sandbox.vendor_file("subject.icd", vendors[0])
        else:
            sandbox.vendors_in_order(vendors)
            sandbox.env["OCL_ICD_PLATFORM_SORT"] = "none"
        if self.facts.sanitizer:
            sandbox.env["LD_PRELOAD"] = self.facts.sanitizer
        session = loader.start(sandbox, time_limit=self.time_limit)
        session.file_limit = ICD_FILE_LIMIT
        return session


def ask(icd: Icd) -> None:
    """Fills in the name that the ICD answers; the checks say so where that goes wrong.

    Raises UsageError where the library cannot be loaded at all: no loader would have it either.
    """
    from harness.probe import SubjectFailure
    from harness.probe.convenience import CallFailed
    from harness.probe.session import CommandError
    from harness.sandbox import Unsupported

    sandbox = Sandbox()
    try:
        with icd.open(sandbox, late=True) as session:
            try:
                session.open()
            except CommandError as error:
                reason = str(error).rpartition("open: ")[2]
                raise UsageError(f"{icd.facts.path} cannot be loaded: {reason}") from None
            name, icd.facts.version = session.name_and_version()
            icd.facts.name = name or "unknown"
    except (SubjectFailure, CommandError, CallFailed, Unsupported):
        pass
    finally:
        sandbox.close()
