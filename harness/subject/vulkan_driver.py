# SPDX-License-Identifier: Apache-2.0
"""A Vulkan driver under test, named by its manifest or its library: its own answers, and sessions with it."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Self

from harness.api.vulkan.model import version_text, vulkan
from harness.probe.vulkan_driver_session import (
    GET_INSTANCE,
    GET_PHYSICAL_DEVICE,
    NEGOTIATE,
    NEWEST,
    OFFICIAL,
    VulkanDriverSession,
)
from harness.sandbox import Sandbox, Unsupported
from harness.sandbox.vulkan import VulkanSandbox
from harness.subject import identify
from harness.subject.base import NO_ANSWER, Option, Subject, pairs
from harness.subject.compiled import Compiled
from harness.subject.icd import ICD_TIME_LIMIT
from harness.subject.vulkan_manifest import Manifest, is_manifest, read_manifest

CHECK = "test_driver_negotiates_and_makes_an_instance"  # says what all others wait for
FUNCTIONS = (NEGOTIATE, GET_INSTANCE, GET_PHYSICAL_DEVICE, *OFFICIAL)


class VulkanDriver(Subject):
    """The Vulkan driver under test. Its capabilities are its extensions of instances.

    `manifest` is the one that named it, or None; `variables` are what it needs in its environment, besides a home.
    """

    identity = identify.VULKAN_DRIVER
    word = "Vulkan driver"
    option = "--vulkan-driver"
    options: ClassVar[tuple[Option, ...]] = (
        Option("--vulkan-driver", "PATH", "Vulkan driver to test: its manifest, or its library"),
        Option("--vulkan-driver-env", "NAME=VALUE", "a variable that the driver needs", repeated=True),
    )
    example = "libvulkan_lvp.so, or its manifest"
    functions = FUNCTIONS
    shown = ("vulkan_version", "interface", "functions", "exported", "leaked", "leaked_names", "outside", "by_name")
    lacks = "this Vulkan driver does not have {}"
    expectations_folder = "vulkan_drivers"
    checks = "vulkan_driver"
    default_time_limit = ICD_TIME_LIMIT
    sandbox = VulkanSandbox
    stands_alone = True

    def __init__(self, path: Path, variables: Mapping[str, str] | None = None) -> None:
        self.manifest: Manifest | None = read_manifest(path) if is_manifest(path) else None
        super().__init__(self.manifest.library if self.manifest else path)
        self.facts.path = str(self.named)
        self.variables = dict(variables or {})
        self.extensions: set[str] = set()
        self.gate = ""  # why no instance can be had, which nearly all checks need
        self._compiled: Compiled | None = None

    @classmethod
    def from_options(cls, get: Callable[[str], Any], loader: Callable[[], Any]) -> Self:
        """The driver that was named; its cases have in common what it compiles. Raises UsageError."""
        driver = cls(Path(get(cls.option)), pairs(get("--vulkan-driver-env")))
        driver._compiled = Compiled()
        return driver

    @classmethod
    def api_functions(cls) -> list[str]:
        """The functions of Vulkan, and those of the interface with the loader."""
        return [*vulkan().functions, *FUNCTIONS]

    @property
    def named(self) -> Path:
        """The manifest where one was named, else the library."""
        return self.manifest.path.absolute() if self.manifest else self.path

    def require_manifest(self) -> Manifest:
        """The manifest. The case is `unsupported` where the library was named."""
        if self.manifest is None:
            raise Unsupported("loader", "the library was given, and not a manifest: give the driver's .json file")
        return self.manifest

    # --- what it can do ---

    def has(self, capability: str) -> bool:
        """Whether it advertises an extension of instances."""
        return capability in self.extensions

    def _ask(self) -> None:
        """Raises UsageError where the library cannot be loaded at all: no loader would have it either."""
        sandbox = VulkanSandbox()
        try:
            with self.open(sandbox, late=True) as vk:
                self._load(vk)
                self._identify(vk)
        except NO_ANSWER:
            pass  # the checks will say so
        finally:
            sandbox.close()
        self.gate = self.missing()

    def choose(self, cases: Collection[str]) -> None:
        """Without the check of what all others need nobody would say that it is missing: then each says it itself."""
        if not any(case.endswith(f"::{CHECK}") for case in cases):
            self.gate = ""

    def missing(self) -> str:
        """Why the driver cannot be negotiated with or makes no instance of Vulkan 1.0; "" where it does both."""
        sandbox = VulkanSandbox()
        try:
            with self.open(sandbox) as vk:
                vk.gate = ""
                vk.begin()
                vk.vkDestroyInstance(vk.instance(api_version="1.0.0"), None)
        except Unsupported:
            pass  # the machine's, not the driver's
        except NO_ANSWER as error:
            return str(error).partition("\n")[0]
        finally:
            sandbox.close()
        return ""

    def _identify(self, vk: VulkanDriverSession) -> None:
        """Without its hardware a driver has no other name than that of its library."""
        self.facts.name = self.path.name.split(".so")[0]
        self.facts.interface = vk.begin(NEWEST)
        version = version_text(vk.instance_version()) if vk.find(None, "vkEnumerateInstanceVersion") else "1.0.0"
        self.facts.vulkan_version = version
        self.extensions = set(vk.extension_names())
        instance = vk.instance(api_version=version)
        devices = vk.physical_devices(instance)
        if devices:
            name, self.facts.version = vk.name_and_version(devices[0])
            self.facts.name = name or self.facts.name
        vk.vkDestroyInstance(instance, None)

    # --- sessions ---

    def open(
        self, sandbox: Sandbox, *, preload: Sequence[str | Path] = (), late: bool = False, now: bool = False
    ) -> VulkanDriverSession:
        """A session in which the probe is in the place of the loader; nothing has been negotiated yet."""
        sandbox.env["HOME"] = str(sandbox.root)
        if self._compiled:
            sandbox.env["XDG_CACHE_HOME"] = self._compiled.folder
        if path := os.environ.get("LD_LIBRARY_PATH"):
            sandbox.env["LD_LIBRARY_PATH"] = path
        sandbox.env.update(self.variables)
        session = self._open_directly(VulkanDriverSession, sandbox, preload=preload, late=late, now=now)
        session.gate = self.gate
        return session


__all__ = ["FUNCTIONS", "VulkanDriver"]
