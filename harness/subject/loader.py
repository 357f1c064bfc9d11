# SPDX-License-Identifier: Apache-2.0
"""A loader under test: sessions that run it in a sandbox, in every way that a case may need."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar, Self, cast

from harness.build import build
from harness.errors import UsageError
from harness.probe.session import Session
from harness.probe.torture import Torture
from harness.sandbox import Sandbox, Unsupported
from harness.sandbox.faults import nearest
from harness.sandbox.machine import (
    NOBODY,
    at_secure_by_tracer,
    bubblewrap,
    is_root,
    require_ordinary_user,
    require_private_mounts,
    require_starting_without_variables,
    set_uid_copy,
)
from harness.subject import capabilities, identify, neighbours, search
from harness.subject.base import NO_ANSWER, Option, Subject, pairs
from harness.subject.environment import environment
from harness.subject.places import ANDROID_VENDORS, SYSTEM_LAYERS, SYSTEM_VENDORS

DEFAULT_TIME_LIMIT = 5.0


class Loader(Subject):
    """The loader under test. What it can do is found out by asking it (harness.subject.capabilities)."""

    identity = identify.LOADER
    word = "loader"
    option = "--loader"
    options: ClassVar[tuple[Option, ...]] = (
        Option("--loader", "PATH", "OpenCL loader to test (default: the system's libOpenCL.so.1)"),
        Option("--loader-env", "NAME=VALUE", "a variable that the loader needs", repeated=True),
    )
    example = "libOpenCL.so.1"
    functions = (identify.LOADER_FUNCTION,)
    shown = ("exports", "symbol_versions", "opencl_version", "capabilities", "left_out")
    lacks = "this loader does not have: {}"
    expectations_folder = ""
    checks = ""
    default_time_limit = DEFAULT_TIME_LIMIT
    for_windows: ClassVar[type[Loader] | None] = None  # in the place of this class where Windows' libraries are built

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.capabilities: set[str] = set()
        self.by_variable = True  # vendors are shown as OCL_ICD_VENDORS, not as the compiled-in directory
        self.folder_ending = ""  # what the loader needs after a folder's name in a variable
        self.system_vendors = SYSTEM_VENDORS  # the compiled-in directory

    def __str__(self) -> str:
        return f"{self.facts.name} {self.facts.version}".strip()

    @classmethod
    def from_options(cls, get: Callable[[str], Any], loader: Callable[[], Any]) -> Self:
        """The loader that was named, else the system's, else the reference loader. Raises UsageError."""
        path = get(cls.option)
        own = Path(path) if path else None if build().windows else search.system_loader()
        named = cls.of(own or build().reference_loader)
        named.variables = pairs(get("--loader-env"))
        return named

    @classmethod
    def of(cls, path: Path) -> Self:
        """The loader in a file, of the system that this build is for."""
        kind: Any = cls.for_windows if build().windows else cls
        return cast(Self, kind(path))

    def has(self, capability: str) -> bool:
        """Whether the loader, once asked, showed a capability (capabilities.CAPABILITIES).

        Raises UsageError where there is none of that name: what requires it would be unsupported by every loader.
        """
        if capability not in capabilities.NAMES:
            raise UsageError(f"loaders have no capability {capability!r}; {nearest(capability, capabilities.NAMES)}")
        return capability in self.capabilities

    def _ask(self) -> None:
        """Raises UsageError where the library cannot be loaded at all."""
        sandbox = Sandbox()
        try:
            with self.start(sandbox, late=True) as session:
                self._load(session)
        except NO_ANSWER:
            pass  # the checks will say so
        finally:
            sandbox.close()
        self.capabilities = capabilities.detect(self)
        self.facts.capabilities = sorted(self.capabilities)
        self.facts.left_out = capabilities.left_out(self)

    @functools.cached_property
    def works(self) -> bool:
        """Whether it lists a correct vendor, without which nothing that is used through it can be judged."""
        return capabilities.lists_a_vendor(self)

    def open(self, sandbox: Sandbox) -> Session:
        """The plain form of `start`."""
        return self.start(sandbox)

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
        guarded_front: bool = False,
        failing_allocation: int = 0,
        torture: Torture | None = None,
        watch: Path | None = None,
        unset: tuple[str, ...] = (),
        time_limit: float | None = None,
        wrapper: tuple[str, ...] = (),
    ) -> Session:
        """A session, to be entered with `with`.

        linked: the program is linked to the loader; else it opens it with dlopen (bind_global: RTLD_GLOBAL, bind_now:
        RTLD_NOW; late: only at `cl.open()`). system: the vendor directory stands at the compiled-in path, in a private
        root, and no variable names it; system_binds: more such places. ordinary_user: not root. elevated: AT_SECURE.
        counted_heap: `cl.heap()` counts exactly. guarded_heap: the same, and misuse of the heap is a crash;
        guarded_front: the same, where reads before a block are found in place of those past it;
        failing_allocation: the n-th allocation of the loader fails, from 1. torture: its calls for resources are
        counted, and one of them may fail (harness.probe.torture). watch: a file; the variables that the process asks
        for are noted there (harness/probe/variables_watch.c).
        unset: variables to leave out, also OCL_ICD_VENDORS.
        wrapper: a command in front of the probe (valgrind, strace, …).
        """
        if self.variables:
            self.give_variables(sandbox)
        system = system or system_binds is not None or not self.by_variable
        variables = environment(
            sandbox,
            self.path,
            self.facts.sanitizer,
            vendors=None if system else f"{sandbox.vendors}{self.folder_ending}",
            unset=unset,
            counted_heap=counted_heap,
            guarded_heap=guarded_heap,
            guarded_front=guarded_front,
            failing_allocation=failing_allocation,
            torture=torture,
            watch=watch,
        )
        probe = build().linked_probe if linked else build().probe
        popen: dict[str, Any] = {}
        if ordinary_user and is_root():
            require_ordinary_user(probe, self.path)
            popen |= {"user": NOBODY}
        if linked:
            given = variables.get(neighbours.FOLDERS, ())
            variables[neighbours.FOLDERS] = neighbours.joined(self._library_folders(sandbox), given)
        prefix = list(wrapper)
        if elevated:
            prefix, probe = self._elevated(sandbox, probe, system)
        elif system:
            binds = {self.system_vendors: sandbox.vendors} if system_binds is None else system_binds
            require_private_mounts()
            prefix = bubblewrap(binds, [sandbox.root, self.path.parent, probe.parent], self.neighbours()) + prefix
        flags = ["--late"] * late + ["--global"] * bind_global + ["--now"] * bind_now
        session = self._session(
            Session, sandbox, variables, probe=probe, prefix=prefix, flags=flags, time_limit=time_limit, **popen
        )
        session.own_copy = elevated and probe.is_relative_to(sandbox.root)
        return session

    def _library_folders(self, sandbox: Sandbox) -> list[str]:
        """A folder in which the loader under test has the name that a linked program asks for, and those that it names
        by its own place, which the linker takes for that one.
        """
        folder = sandbox.root / "linked"
        if not folder.exists():
            folder.mkdir()
            (folder / "libOpenCL.so.1").symlink_to(self.path)
        own = neighbours.own_folders(self.path, self.facts.search_paths)
        return [str(folder)] + [neighbours.in_one_word(name, folder / f"own-{i}") for i, name in enumerate(own)]

    def _elevated(self, sandbox: Sandbox, probe: Path, system: bool) -> tuple[list[str], Path]:
        if build().emulator:
            raise Unsupported("machine", "an emulator elevates no process")
        if self.facts.sanitizer:
            raise Unsupported("machine", "an elevated process takes no LD_PRELOAD, which this loader's sanitizer needs")
        if system:
            raise Unsupported("machine", "a private root forbids elevated privileges (no_new_privs)")
        require_starting_without_variables(build().probe)
        self.require_loading_when_elevated(lambda box: self.start(box, elevated=True, late=True))
        if copy := set_uid_copy(probe, self.path, sandbox.new_place("elevated")):
            return [], copy
        if at_secure_by_tracer():
            return [str(build().at_secure)], probe
        raise Unsupported("machine", "neither a set-uid program nor a tracer can set AT_SECURE here")


__all__ = ["ANDROID_VENDORS", "DEFAULT_TIME_LIMIT", "SYSTEM_LAYERS", "SYSTEM_VENDORS", "Loader"]
