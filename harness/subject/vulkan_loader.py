# SPDX-License-Identifier: Apache-2.0
"""A Vulkan loader under test: sessions that run it in a sandbox, in every way that a case may need."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar, Self

from harness.build import build
from harness.probe.vulkan_session import VulkanSession
from harness.sandbox import Unsupported
from harness.sandbox.machine import (
    at_secure_by_tracer,
    bubblewrap,
    require_private_mounts,
    require_starting_without_variables,
    set_uid_copy,
)
from harness.sandbox.vulkan import VulkanSandbox
from harness.subject import identify, vulkan_capabilities
from harness.subject.base import Option, Subject, pairs
from harness.subject.environment import environment

# The folders that Debian's loaders have compiled in, and those that the document names where variables are not set.
SYSTEM_FOLDERS = ("/etc/xdg", "/etc", "/usr/local/share", "/usr/share")
# Where a machine has drivers, layers and settings of its own, which no case sees.
OWN_FOLDERS = tuple(f"{folder}/vulkan" for folder in (*SYSTEM_FOLDERS, "/usr/local/etc"))


class VulkanLoader(Subject):
    """The Vulkan loader under test. What it can do is found out by asking it (harness.subject.vulkan_capabilities)."""

    identity = identify.VULKAN_LOADER
    word = "Vulkan loader"
    option = "--vulkan-loader"
    options: ClassVar[tuple[Option, ...]] = (Option("--vulkan-loader", "PATH", "Vulkan loader to test"),)
    example = "libvulkan.so.1"
    functions = identify.VULKAN_LOADER_FUNCTIONS
    shown = ("capabilities", "vulkan_version", "interface")
    lacks = "this Vulkan loader does not have: {}"
    expectations_folder = "vulkan"
    checks = "vulkan"
    sandbox = VulkanSandbox
    stands_alone = True

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.capabilities: set[str] = set()
        self.interface = 0  # the highest version of the interface that it offers to drivers

    def __str__(self) -> str:
        return f"{self.facts.name} {self.facts.version}".strip()

    @classmethod
    def from_options(cls, get: Callable[[str], Any], loader: Callable[[], Any]) -> Self:
        """The loader that was named. Raises UsageError."""
        named = cls(Path(get(cls.option)))
        named.variables = pairs(get("--loader-env"))
        return named

    def has(self, capability: str) -> bool:
        """Whether the loader, once asked, showed a capability (vulkan_capabilities.CAPABILITIES)."""
        return capability in self.capabilities

    def require_interface(self, version: int) -> None:
        """Makes the case `unsupported` where the loader's interface with drivers is older."""
        reason = f"this loader's interface with drivers is {self.interface}, not {version} or newer"
        self.require(f"interface {version}", reason)

    def _ask(self) -> None:
        vulkan_capabilities.detect(self)

    def open(self, sandbox: VulkanSandbox) -> VulkanSession:
        """The plain form of `start`."""
        return self.start(sandbox)

    def start(
        self,
        sandbox: VulkanSandbox,
        *,
        search: bool = False,
        unset: tuple[str, ...] = (),
        elevated: bool = False,
        late: bool = False,
        counted_heap: bool = False,
        guarded_heap: bool = False,
        time_limit: float | None = None,
    ) -> VulkanSession:
        """A session, to be entered with `with`.

        search: no variable names manifests; the loader looks for them in folders, and those of `sandbox.binds` stand
        in the places of the machine's, in a private root. elevated: AT_SECURE. unset: variables to leave out.
        late: the loader is opened only at `vk.open()`. counted_heap, guarded_heap: as for other loaders.
        """
        self.give_variables(sandbox)
        variables = environment(
            sandbox, self.path, self.facts.sanitizer, unset=unset, counted_heap=counted_heap, guarded_heap=guarded_heap
        )
        variables |= {k: v for k, v in sandbox.variables(search).items() if k not in unset}
        probe, prefix = build().probe, list[str]()
        if elevated:
            prefix, probe = self._elevated(sandbox)
        if sandbox.binds:
            require_private_mounts()
            prefix = (
                bubblewrap(
                    dict(sandbox.binds),
                    [sandbox.root, self.path.parent, build().probe.parent, build().at_secure.parent],
                    self.neighbours(),
                )
                + prefix
            )
        flags = ["--late"] * late
        hidden = [folder for folder in OWN_FOLDERS if not self.path.resolve().is_relative_to(folder)]
        session = self._session(
            *(VulkanSession, sandbox, variables),
            probe=probe,
            prefix=prefix,
            flags=flags,
            time_limit=time_limit,
            hidden=hidden,
        )
        session.own_copy = elevated and probe.is_relative_to(sandbox.root)
        return session

    def _elevated(self, sandbox: VulkanSandbox) -> tuple[list[str], Path]:
        """A private root forbids set-uid programs, but not a tracer."""
        if self.facts.sanitizer:
            raise Unsupported("machine", "an elevated process takes no LD_PRELOAD, which this loader's sanitizer needs")
        require_starting_without_variables(build().probe)
        self.require_loading_when_elevated(lambda box: self.start(box, elevated=True, late=True))
        own = None if sandbox.binds else set_uid_copy(build().probe, self.path, sandbox.new_place("elevated"))
        if own:
            return [], own
        if at_secure_by_tracer():
            return [str(build().at_secure)], build().probe
        raise Unsupported("machine", "neither a set-uid program nor a tracer can set AT_SECURE here")


__all__ = ["SYSTEM_FOLDERS", "VulkanLoader"]
