# SPDX-License-Identifier: Apache-2.0
"""A layer under test: its own answers, and sessions with it, without a loader and in front of one's vendors."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar, Self

from harness.api.model import api
from harness.build import build
from harness.errors import UsageError
from harness.probe import Session, SubjectFailure
from harness.probe.layer_session import LayerSession
from harness.probe.session import CommandError
from harness.sandbox import Sandbox, Unsupported
from harness.subject import identify, neighbours
from harness.subject.base import NO_ANSWER, Option, Subject, pairs
from harness.subject.loader import Loader

INFO, INIT, INIT_WITH_PROPERTIES, DEINIT = identify.LAYER_FUNCTIONS
LEGACY = "OCL_ICD_FORCE_LEGACY_TERMINATION"  # makes a loader that has both schemes use the older one


class Layer(Subject):
    """The layer under test. Its capabilities are the functions of a layer that it exports.

    `changes` are what it declares to change: names of functions, `all`, or `invalid` calls. `loader` gives one that the
    layer may be asked through; without it, what can only be seen there stays unknown.
    """

    identity = identify.LAYER
    word = "layer"
    option = "--layer"
    options: ClassVar[tuple[Option, ...]] = (
        Option("--layer", "PATH", "OpenCL layer to test, in the place of a loader"),
        Option("--layer-env", "NAME=VALUE", "a variable that the layer needs", repeated=True),
        Option("--changes", "FUNCTION", "what the layer changes on purpose, or all", repeated=True),
    )
    example = "build/libmylayer.so"
    functions = identify.LAYER_FUNCTIONS
    shown = ("functions", "outside")
    lacks = "this layer does not export {}"
    expectations_folder = "layers"
    checks = "layer"

    def __init__(
        self, path: Path, changes: frozenset[str] = frozenset(), loader: Callable[[], Loader] | None = None
    ) -> None:
        super().__init__(path)
        self.changes = changes
        self.loader = loader
        self._wraps_handles: bool | None = None

    @classmethod
    def from_options(cls, get: Callable[[str], Any], loader: Callable[[], Any]) -> Self:
        """The layer that was named, with the changes that it declares. Raises UsageError."""
        changes = [name for text in get("--changes") or () for name in text.split(",")]
        unknown = [name for name in changes if name not in api().functions and name not in ("all", "invalid")]
        if unknown:
            raise UsageError(f"--changes {unknown[0]}: is not a function of OpenCL; give its name, `all` or `invalid`")
        layer = cls(Path(get(cls.option)), frozenset(changes), loader)
        layer.variables = pairs(get("--layer-env"))
        return layer

    def has(self, capability: str) -> bool:
        """Whether it exports one of a layer's functions."""
        return capability in self.facts.functions

    def may_change(self, function: str) -> bool:
        """Whether an invalid call may be answered otherwise than without the layer."""
        return function in self.changes or bool(self.changes & {"all", "invalid"})

    @property
    def validates(self) -> bool:
        """It declares to answer invalid calls by itself; valid ones are not changed."""
        return "invalid" in self.changes

    def require_unchanged(self, function: str) -> None:
        """Makes the case `unsupported` where the layer declares to change a function."""
        self._decline(self.may_change(function))

    def require_proper(self, function: str) -> None:
        """Makes the case `unsupported` where the layer declares to change proper calls of a function."""
        self._decline(bool(self.changes & {"all", function}))

    def require_platforms(self) -> None:
        """Makes the case `unsupported` where the layer declares to change which platforms there are."""
        self.require_proper("clGetPlatformIDs")

    def _decline(self, changed: bool) -> None:
        if changed:
            raise Unsupported("loader", "this layer declares to change these calls (--changes)", "--changes")

    def require_plain_handles(self) -> None:
        """Makes the case `unsupported` where the layer would take the case's handles for its own."""
        if self.wraps_handles:
            raise Unsupported("loader", "this layer has handles of its own: only a loader's objects can be used")

    @property
    def init(self) -> str:
        """The init function that a loader of today would call."""
        return INIT_WITH_PROPERTIES if self.has(INIT_WITH_PROPERTIES) else INIT

    # --- sessions ---

    def open(self, sandbox: Sandbox, *, counted_heap: bool = False, late: bool = False) -> LayerSession:
        """A session in which the probe is in the place of the loader; late: the layer is not loaded yet."""
        self.give_variables(sandbox)
        return self._open_directly(
            LayerSession, sandbox, counted_heap=counted_heap, preload=[build().exit_watch], late=late
        )

    def use_scheme(self, loader: Loader, sandbox: Sandbox) -> str:
        """Sets the sandbox up so that the loader calls an init function that the layer has; gives its name.

        The layer gets its variables. One that has the older init function only is used in the older scheme. Raises
        Unsupported where the loader has no layers, or calls a function that this one does not export.
        """
        loader.require("OPENCL_LAYERS")
        self.give_variables(sandbox)
        init = INIT_WITH_PROPERTIES if loader.has("initialises layers with properties") else INIT
        if init == INIT_WITH_PROPERTIES and not self.has(init):
            sandbox.env[LEGACY] = "1"
            init = INIT
        if not self.has(init):
            raise Unsupported("loader", f"this layer does not export {init}, which the loader {loader} calls", init)
        return init

    def start(self, loader: Loader, sandbox: Sandbox) -> Session:
        """A session of a loader that has this layer, and no other, in front of the sandbox's vendors."""
        self.use_scheme(loader, sandbox)
        sandbox.env["OPENCL_LAYERS"] = str(self.path)
        if preload := neighbours.preload(self.facts.sanitizer, self.path):
            sandbox.env["LD_PRELOAD"] = preload
        return loader.start(sandbox)

    # --- what it is asked ---

    def _ask(self) -> None:
        sandbox = Sandbox()
        try:
            with self.open(sandbox) as session:
                self.facts.name = session.name() or "unknown"
        except (SubjectFailure, CommandError):
            pass  # the checks will say so
        finally:
            sandbox.close()

    @property
    def wraps_handles(self) -> bool:
        """Whether it hands out handles of its own: an application's platform is not the vendor's. Asked once."""
        if self._wraps_handles is None:
            self._wraps_handles = False
            with contextlib.suppress(*NO_ANSWER):  # the checks will say so
                self._wraps_handles = self.loader is not None and self._answers_with_own_handles(self.loader())
        return self._wraps_handles

    def _answers_with_own_handles(self, loader: Loader) -> bool:
        sandbox = Sandbox(loader.path)
        try:
            sandbox.vendor("a")
            with self.start(loader, sandbox) as cl:
                platforms = cl.GetPlatformIDs()
            answers = sandbox.log.returns("clIcdGetPlatformIDsKHR", by="a")
            real = {int(e.data["out"]["platforms"], 16) for e in answers if "platforms" in e.data.get("out", {})}
            return bool(platforms and real) and not real & {int(p) for p in platforms}
        finally:
            sandbox.close()
