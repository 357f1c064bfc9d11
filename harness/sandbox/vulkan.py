# SPDX-License-Identifier: Apache-2.0
"""A sandbox for Vulkan loaders: mock drivers, manifests of any bytes, and the folders that loaders look for them in."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.sandbox.faults import check_faults
from harness.sandbox.sandbox import Sandbox, _mock
from harness.sandbox.settings import Value, function_lines, lines

# Variables that choose drivers, layers or behaviour of a Vulkan loader: none of them reaches a case by accident.
VULKAN_VARIABLES = [
    *("VK_DRIVER_FILES", "VK_ICD_FILENAMES", "VK_ADD_DRIVER_FILES"),
    *("VK_LOADER_DRIVERS_SELECT", "VK_LOADER_DRIVERS_DISABLE"),
    *("VK_LAYER_PATH", "VK_ADD_LAYER_PATH", "VK_IMPLICIT_LAYER_PATH", "VK_ADD_IMPLICIT_LAYER_PATH"),
    *("VK_INSTANCE_LAYERS", "VK_LOADER_LAYERS_ENABLE", "VK_LOADER_LAYERS_DISABLE", "VK_LOADER_LAYERS_ALLOW"),
    *("VK_LOADER_DEBUG", "VK_LOADER_DEVICE_SELECT", "VK_LOADER_DISABLE_SELECT", "VK_LOADER_DISABLE_INST_EXT_FILTER"),
    *("VK_LOADER_DEVICE_ID_FILTER", "VK_LOADER_VENDOR_ID_FILTER", "VK_LOADER_DRIVER_ID_FILTER"),
    "VK_LOADER_DISABLE_DYNAMIC_LIBRARY_UNLOADING",
    *("XDG_CONFIG_HOME", "XDG_CONFIG_DIRS", "XDG_DATA_HOME", "XDG_DATA_DIRS"),
]
# Where a loader looks for manifests below each of its folders.
DRIVER_FOLDER = "vulkan/icd.d"


@dataclass(frozen=True)
class MockDriver:
    """A copy of the mock Vulkan driver. `name` is its component in the call log; its devices are "NAME.0", "NAME.1"."""

    name: str
    path: Path
    api_version: str

    def __str__(self) -> str:
        return str(self.path)


class VulkanSandbox(Sandbox):
    """The machine of one case for a Vulkan loader.

    `driver` adds drivers that the loader is shown by VK_DRIVER_FILES and VK_ICD_FILENAMES, in the order in which they
    were added. `library` and `manifest` make single pieces; `search_folder` a folder that the loader finds itself.
    """

    def __init__(self, loader_path: Path | None = None, *, stays: bool = False) -> None:
        super().__init__(loader_path, stays=stays)
        self.manifests = self.folder("manifests")
        self.shown: list[Path] = []  # manifests that the variables name
        self.binds: dict[str, Path] = {}  # places of the machine that this sandbox's folders stand in for

    def library(
        self,
        name: str,
        *,
        faults: Iterable[str] = (),
        variant: str = "driver",
        file: str | None = None,
        folder: Path | None = None,
        functions: Mapping[str, Iterable[str]] | None = None,
        **settings: Value,
    ) -> MockDriver:
        """A copy of the mock driver, without a manifest.

        Settings are those of mock_icds/vulkan/settings.h, `functions` those of single functions, each with the
        functions that it is for: {"lacks": ["vkCreateDevice"]}. `faults` are entries of mock_icds/vulkan/faults.h,
        `variant` is a build of the mock (which symbols it exports), `file` the copy's file name.
        """
        path = (folder or self.libraries) / (file or f"lib{name}.so")
        configuration = [*lines("vulkan", "mock", settings), *function_lines("vulkan", functions or {})]
        configuration += [f"fault = {fault}" for fault in check_faults("vulkan", faults)]
        self._copy_configured(_mock("vulkan", variant), path, name, configuration)
        return MockDriver(name, path, str(settings.get("api_version", "1.1.0")))

    def manifest(
        self,
        name: str,
        content: MockDriver | str | bytes | Mapping[str, Any],
        folder: Path | None = None,
        **fields: Any,
    ) -> Path:
        """A manifest file NAME: that of a driver, where `fields` stand in the place of those of "ICD" or beside them
        (None leaves one out), a table that is written as JSON, or exactly these bytes.
        """
        path = (folder or self.manifests) / name
        if isinstance(content, MockDriver):
            content = manifest_of(content.path, **({"api_version": content.api_version} | fields))
        if isinstance(content, Mapping):
            content = json.dumps(content, indent=4)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    def driver(self, name: str, *, manifest: Mapping[str, Any] | None = None, **settings: Any) -> MockDriver:
        """A mock driver with a manifest that the loader is shown; `manifest` has fields of "ICD" as `manifest` takes
        them, the rest are settings of `library`.
        """
        driver = self.library(name, **settings)
        self.shown.append(self.manifest(f"{name}.json", driver, **(manifest or {})))
        return driver

    def search_folder(self, name: str) -> Path:
        """A folder `NAME/vulkan/icd.d` in the sandbox, for manifests that the loader finds; NAME is what goes into the
        variables and `binds`.
        """
        path = self.root / name / DRIVER_FOLDER
        path.mkdir(parents=True, exist_ok=True)
        return path

    def variables(self, search: bool) -> dict[str, str]:
        """What shows the drivers to a loader, and keeps the machine's own drivers and layers away.

        `search`: no manifests are named; the folders are those that the case sets in `env`, else empty ones.
        """
        nowhere = str(self.root / "nowhere")
        variables = dict.fromkeys(("XDG_CONFIG_HOME", "XDG_CONFIG_DIRS", "XDG_DATA_HOME", "XDG_DATA_DIRS"), nowhere)
        variables |= {"VK_LOADER_LAYERS_DISABLE": "~all~", "VK_IMPLICIT_LAYER_PATH": nowhere}
        if not search:
            listed = os.pathsep.join(map(str, self.shown))
            variables |= {"VK_DRIVER_FILES": listed, "VK_ICD_FILENAMES": listed}
        return variables | self.env


def manifest_of(library: object, **fields: Any) -> dict[str, Any]:
    """The content of a manifest; `fields` as in VulkanSandbox.manifest, `file_format_version` among them."""
    icd = {"library_path": str(library), "api_version": "1.1.0"} | fields
    version = icd.pop("file_format_version", "1.0.0")
    content = {"file_format_version": version, "ICD": {k: v for k, v in icd.items() if v is not None}}
    return {key: value for key, value in content.items() if value is not None}


__all__ = ["DRIVER_FOLDER", "VULKAN_VARIABLES", "MockDriver", "VulkanSandbox", "manifest_of"]
