"""A layer under test: a path, facts read from the file, and its own answers."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from harness.api.model import api
from harness.build import build
from harness.errors import UsageError
from harness.probe.layer_session import LayerSession
from harness.sandbox import Sandbox, Unsupported
from harness.subject.direct import start_directly
from harness.subject.library import read_library
from harness.subject.loader import DEFAULT_TIME_LIMIT

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


def read_facts(path: Path) -> LayerFacts:
    """Facts that stand in the file. Raises UsageError in one clear sentence where it is no layer."""
    library = read_library(path, "a layer", "build/libmylayer.so")
    facts = LayerFacts(str(path), str(library.real_path), library.soname, library.build_id)
    facts.functions = [name for name in FUNCTIONS if name in library.functions]
    facts.outside = sorted(library.undefined & set(api().functions))
    facts.sanitizer = library.sanitizer
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
        self.wraps_handles = False  # hands out handles of its own; found out by asking (harness.check.layer.manners)

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
        return start_directly(LayerSession, self, sandbox, counted_heap=counted_heap, preload=[str(build().exit_watch)])


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
