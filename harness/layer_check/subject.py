"""A layer under test: a path, facts read from the file, and its own answers."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from elftools.common.exceptions import ELFError  # type: ignore[import-untyped]
from elftools.elf.dynamic import DynamicSection  # type: ignore[import-untyped]
from elftools.elf.elffile import ELFFile  # type: ignore[import-untyped]
from elftools.elf.sections import NoteSection  # type: ignore[import-untyped]

from harness.api.model import api
from harness.build import build
from harness.errors import UsageError
from harness.layer_check.direct import LayerSession
from harness.loader import DEFAULT_TIME_LIMIT
from harness.sandbox import Sandbox, Unsupported
from harness.sandbox.sandbox import PASSED_ON

INFO, INIT, INIT_WITH_PROPERTIES, DEINIT = (
    "clGetLayerInfo",
    "clInitLayer",
    "clInitLayerWithProperties",
    "clDeinitLayer",
)
FUNCTIONS = (INFO, INIT, INIT_WITH_PROPERTIES, DEINIT)


@dataclass
class LayerFacts:
    """What is known of a layer; `name` is what it answers about itself, or "unknown"."""

    path: str
    real_path: str
    soname: str = ""
    build_id: str = ""
    functions: list[str] = field(default_factory=list)  # of a layer's four, those that it exports
    outside: list[str] = field(default_factory=list)  # functions of OpenCL that it takes from another library
    sanitizer: str = ""
    name: str = "unknown"
    version: str = ""

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def _read_symbols(elf: ELFFile, facts: LayerFacts) -> None:
    section = elf.get_section_by_name(".dynsym")
    symbols = [s for s in section.iter_symbols() if s.name] if section else []
    defined = {s.name for s in symbols if s["st_shndx"] != "SHN_UNDEF"}
    code = {s.name for s in symbols if s.name in defined and s["st_info"]["type"] in ("STT_FUNC", "STT_GNU_IFUNC")}
    facts.functions = [name for name in FUNCTIONS if name in code]
    facts.outside = sorted(s.name for s in symbols if s.name in api().functions and s.name not in defined)


def read_facts(path: Path) -> LayerFacts:
    """Facts that stand in the file. Raises UsageError in one clear sentence where it is no layer."""
    real = Path(os.path.realpath(path))
    if not real.is_file():
        what = "is no file" if real.exists() else "does not exist"
        raise UsageError(f"{path} {what}: give the path of a layer, for example build/libmylayer.so")
    facts = LayerFacts(str(path), str(real))
    try:
        with real.open("rb") as file:
            elf = ELFFile(file)
            if elf["e_type"] != "ET_DYN":
                raise UsageError(f"{path} is an ELF file but no shared library")
            for section in elf.iter_sections():
                if isinstance(section, DynamicSection):
                    facts.soname = next((t.soname for t in section.iter_tags("DT_SONAME")), "")
                    needed = [t.needed for t in section.iter_tags("DT_NEEDED")]
                    wanted = ("libasan", "libtsan", "libclang_rt")
                    facts.sanitizer = next((n for n in needed if n.startswith(wanted)), "")
                elif isinstance(section, NoteSection):
                    notes = [n["n_desc"] for n in section.iter_notes() if n["n_type"] == "NT_GNU_BUILD_ID"]
                    facts.build_id = next(iter(notes), facts.build_id)
            _read_symbols(elf, facts)
    except ELFError as error:
        raise UsageError(f"{path} is no shared library ({error})") from None
    except (OSError, ValueError, KeyError) as error:
        raise UsageError(f"{path} is a damaged library ({error})") from None
    if not facts.functions:
        raise UsageError(f"{path} is no OpenCL layer: it exports none of {', '.join(FUNCTIONS)}")
    return facts


class Layer:
    """The layer under test. `changes` are what it declares to change: names of functions, `all`, or `invalid` calls."""

    def __init__(self, path: Path, changes: frozenset[str] = frozenset()) -> None:
        self.facts = read_facts(path)
        self.path = Path(self.facts.real_path)
        self.time_limit = DEFAULT_TIME_LIMIT
        self.changes = changes
        self.wraps_handles = False  # hands out handles of its own; found out by asking (harness.layer_check.manners)

    def __str__(self) -> str:
        return str(self.path)

    def has(self, function: str) -> bool:
        return function in self.facts.functions

    def require(self, function: str) -> None:
        """Makes the case `unsupported` where the layer does not export one of a layer's functions."""
        if not self.has(function):
            raise Unsupported("loader", f"this layer does not export {function}", function)

    def may_change(self, function: str) -> bool:
        """Whether a call that means nothing may be answered otherwise than without the layer."""
        return function in self.changes or bool(self.changes & {"all", "invalid"})

    @property
    def validates(self) -> bool:
        """It declares to answer invalid calls by itself; valid ones are not changed."""
        return "invalid" in self.changes

    def require_unchanged(self, function: str) -> None:
        """Makes the case `unsupported` where the layer declares to change a function."""
        if self.may_change(function):
            raise Unsupported("loader", "this layer declares to change these calls (--changes)", "--changes")

    def require_platforms(self) -> None:
        """Makes the case `unsupported` where the layer declares to change which platforms there are."""
        if self.changes & {"all", "clGetPlatformIDs"}:
            raise Unsupported("loader", "this layer declares to change these calls (--changes)", "--changes")

    def require_plain_handles(self) -> None:
        """Makes the case `unsupported` where the layer would take the case's handles for its own."""
        if self.wraps_handles:
            raise Unsupported("loader", "this layer has handles of its own: only a loader's objects can be used")

    @property
    def init(self) -> str:
        """The init function that a loader of today would call."""
        return INIT_WITH_PROPERTIES if self.has(INIT_WITH_PROPERTIES) else INIT

    def open(self, sandbox: Sandbox, *, counted_heap: bool = False) -> LayerSession:
        """A session in which the probe is in the place of the loader."""
        environment = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
        environment |= {"PATH": "/usr/bin:/bin", "HOME": "/nonexistent", "LC_ALL": "C"}
        environment.setdefault("ASAN_OPTIONS", "detect_leaks=0")
        preload = [p for p in (self.facts.sanitizer, str(build().exit_watch)) if p]
        environment["LD_PRELOAD"] = ":".join(preload)
        if counted_heap:
            if self.facts.sanitizer or build().sanitize:
                raise Unsupported("machine", "a sanitizer's heap cannot be counted")
            environment["GLIBC_TUNABLES"] = "glibc.malloc.tcache_count=0:glibc.malloc.mxfast=0"
        command = [str(build().probe), "--loader", str(self.path), "--socket", "{socket}"]
        command += ["--log", str(sandbox.log_path)]
        session = LayerSession(command, environment | sandbox.env, sandbox.root, self.time_limit, cwd=sandbox.root)
        sandbox.runs.append(session)
        return session


def ask(layer: Layer) -> None:
    """Fills in the name that the layer answers; leaves it unknown where that goes wrong: the checks will say so."""
    from harness.probe import SubjectFailure
    from harness.probe.session import CommandError

    sandbox = Sandbox()
    try:
        with layer.open(sandbox) as session:
            layer.facts.name = session.name() or "unknown"
    except (SubjectFailure, CommandError):
        pass
    finally:
        sandbox.close()
