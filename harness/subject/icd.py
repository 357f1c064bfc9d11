# SPDX-License-Identifier: Apache-2.0
"""A vendor's ICD under test: how one is named, its own answers, and sessions with it."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Self

from harness.errors import HarnessError, UsageError
from harness.probe.extensions import extensions
from harness.probe.icd_attempts import Attempts
from harness.probe.icd_session import ENUMERATE, ICD_FILE_LIMIT, QUERY, IcdSession, version_number
from harness.probe.nest import LARGE, Nest, can_be, mapped
from harness.probe.session import Session
from harness.sandbox import Sandbox, guard
from harness.subject import identify, neighbours
from harness.subject.base import NO_ANSWER, Option, Subject, pairs
from harness.subject.compiled import Compiled
from harness.subject.gate import CHECK, devices, missing
from harness.subject.loader import Loader
from harness.subject.places import SYSTEM_VENDORS, linker_folders

ICD_TIME_LIMIT = 20.0  # a driver may have to compile first
FUNCTIONS = (QUERY, "clGetPlatformInfo", ENUMERATE)


def find_library(name: str) -> Path:
    """The library that is meant: a library, an .icd file, or the name of an installed one.

    A name without folder in an .icd file stays as it is where the dynamic linker would have to find it: the file says
    what a loader opens, so that is asked of the linker's own folders.
    """
    path = Path(name)
    if not path.exists() and "/" not in name:
        installed = Path(SYSTEM_VENDORS) / (name if name.endswith(".icd") else f"{name}.icd")
        if not installed.exists():
            raise UsageError(f"there is neither a file {name} nor {installed}: give a library or an .icd file")
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
    folders = linker_folders()
    library = next((Path(folder) / name for folder in folders if (Path(folder) / name).exists()), None)
    if library is None:
        raise UsageError(f"{file} names {name}, which is in none of {', '.join(folders)}")
    return library


class Icd(Subject):
    """The ICD under test. Its capabilities are the extensions that it advertises.

    `variables` are what it needs in its environment, besides a home.
    """

    identity = identify.ICD
    word = "ICD"
    option = "--icd"
    options: ClassVar[tuple[Option, ...]] = (
        Option("--icd", "PATH", "library of a vendor's ICD to test, in the place of a loader"),
        Option("--icd-env", "NAME=VALUE", "a variable that the ICD needs", repeated=True),
        Option("--icd-platform", "WHICH", "use platforms of this number (from 0) or part of a name only"),
        Option("--icd-device", "WHICH", "make objects for the device of this number (from 0) or part of a name"),
    )
    example = "libpocl.so.2, or an .icd file"
    functions = FUNCTIONS
    shown = (
        "functions",
        "exported",
        "leaked",
        "leaked_names",
        "outside",
        "by_name",
        "needed",
        "text_relocations",
        "executable_stack",
        "search_paths",
        "devices",
    )
    lacks = "this ICD does not advertise {}"
    expectations_folder = "icds"
    checks = "icd"
    default_time_limit = ICD_TIME_LIMIT

    def __init__(self, path: Path, variables: Mapping[str, str] | None = None) -> None:
        super().__init__(path)
        self.variables = dict(variables or {})
        self.gate: dict[str, str] = {}  # what all checks need and cannot be had (harness/subject/gate.py)
        self.only_platform = self.only_device = ""
        self._compiled: Compiled | None = None
        self._is_large = False  # it takes long to load
        self._nest: Nest | None = None  # of one process, the one that made it

    @classmethod
    def from_options(cls, get: Callable[[str], Any], loader: Callable[[], Any]) -> Self:
        """The ICD that was named; its cases have in common what it compiles. Raises UsageError."""
        icd = cls(Path(get(cls.option)), pairs(get("--icd-env")))
        icd.share_compiled()
        icd.only_platform, icd.only_device = get("--icd-platform") or "", get("--icd-device") or ""
        return icd

    # --- what it can do ---

    @functools.cached_property
    def advertised(self) -> frozenset[str] | None:
        """The extensions of all its platforms and devices, asked once: a case about one that nobody has needs no
        process of its own. None where it does not say: its cases find out why.
        """
        sandbox = Sandbox()
        names: set[str] = set()
        try:
            with self.open(sandbox) as session:
                for platform in session.platforms():
                    session.platform = platform
                    names |= extensions(session, platform, "Platform")
                    for device in session.GetDeviceIDs(platform):
                        names |= extensions(session, device)
                    session.platform = None
        except NO_ANSWER:
            return None
        finally:
            sandbox.close()
        return frozenset(names)

    def has(self, capability: str) -> bool:
        """Whether it advertises an extension anywhere; True where it does not say."""
        return self.advertised is None or capability in self.advertised

    def _ask(self) -> None:
        """Raises UsageError where the library cannot be loaded at all: no loader would have it either."""
        sandbox = Sandbox()
        try:
            with self.open(sandbox, late=True) as session:
                self._load(session)
                self._is_large = mapped(session.pid) >= LARGE
                name, self.facts.version = session.name_and_version()
                self.facts.name = name or "unknown"
                self.facts.devices = devices(session)
                if not self.facts.version:  # as rusticl, whose platform gives that of OpenCL alone
                    of_drivers = (version_number(device["driver"]) for device in self.facts.devices)
                    self.facts.version = next(filter(None, of_drivers), "")
        except NO_ANSWER:
            pass  # the checks will say so
        finally:
            sandbox.close()
        self.gate = self.missing()

    def choose(self, cases: Collection[str]) -> None:
        """Without the check of what all others need nobody would say that it is missing: then each says it itself."""
        if not any(case.endswith(f"::{CHECK}") for case in cases):
            self.gate = {}

    def missing(self) -> dict[str, str]:
        """What all checks need and this ICD does not give, by class of object."""
        sandbox = Sandbox()
        try:
            return missing(lambda: self.open(sandbox))
        finally:
            sandbox.close()

    # --- sessions ---

    def share_compiled(self) -> None:
        """From now on cases have in common what the driver compiled: each would compile the same kernels again."""
        self._compiled = Compiled()

    def prepare(self, sandbox: Sandbox) -> None:
        """The environment that a vendor may rely on: a home that can be written, and the user's own libraries."""
        sandbox.env["HOME"] = str(sandbox.root)
        if self._compiled:
            sandbox.env["XDG_CACHE_HOME"] = self._compiled.folder
        if path := os.environ.get("LD_LIBRARY_PATH"):
            sandbox.env["LD_LIBRARY_PATH"] = path
        sandbox.env.update(self.variables)

    def open(
        self,
        sandbox: Sandbox,
        *,
        preload: Sequence[str] = (),
        late: bool = False,
        now: bool = False,
        counted_heap: bool = False,
    ) -> IcdSession:
        """A session in which the probe is in the place of the loader; counted_heap: `heap()` counts exactly."""
        self.prepare(sandbox)
        session = self._open_directly(
            IcdSession, sandbox, preload=preload, late=late, now=now, counted_heap=counted_heap
        )
        if not (preload or late or now or counted_heap):
            session.nest = self._nest_for(session)
        session.gate, session.only_platform, session.only_device = self.gate, self.only_platform, self.only_device
        return session

    def _nest_for(self, session: IcdSession) -> Nest | None:
        """From where the process of a session comes which finds the library loaded; None where each loads it itself.

        Where nothing can come from it, as with a library that starts threads when it is loaded, there is no other try.
        """
        if not self._is_large or not can_be(guard.isolation()):
            return None
        if guard.sandboxes_above(self.path):  # of another case: its guard alone knows
            return None
        if self._nest is None or self._nest.owner != os.getpid():
            if self._nest:
                self._nest.forget()
            place = Sandbox()  # what the library makes while it is loaded is none of a case's
            try:
                self._nest = Nest(self.path, session.environment, session.file_limit, place.root)
            except (OSError, HarnessError):
                self._is_large = False
                return None
            finally:
                place.close()
        return self._nest if self._nest.serves(session.environment) else None

    def attempts(self, sandbox: Sandbox, *, until_hung: bool = False, each_ends_a_command: bool = False) -> Attempts:
        """Many calls, each judged by itself; until one of them hangs, where the others would for the same reason.

        each_ends_a_command: with an error, which may leave nothing that can be used after it.
        """
        return Attempts(lambda: self.open(sandbox), until_hung, each_ends_a_command)

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
        if preload := neighbours.preload(self.facts.sanitizer, self.path):
            sandbox.env["LD_PRELOAD"] = preload
        session = loader.start(sandbox, time_limit=self.time_limit)
        session.expected_hangs = self.expected_hangs
        session.file_limit = ICD_FILE_LIMIT
        return session
