# SPDX-License-Identifier: Apache-2.0
"""The manifest of a Vulkan driver: a JSON file that says which library a loader opens."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from harness.errors import UsageError
from harness.subject.places import linker_folders

EXAMPLE = '{"file_format_version": "1.0.0", "ICD": {"library_path": "./libdriver.so", "api_version": "1.3.0"}}'


@dataclass(frozen=True)
class Manifest:
    """What a manifest says: all of it, and the library that it names. Values are as they stand, of any type."""

    path: Path
    content: Mapping[str, Any]
    library: Path

    @property
    def icd(self) -> Mapping[str, Any]:
        """The fields of "ICD"."""
        fields: Mapping[str, Any] = self.content["ICD"]
        return fields


def read_manifest(path: Path) -> Manifest:
    """Reads a manifest as far as a loader needs it to find the library; its checks judge the rest.

    Raises UsageError: what is wrong, where, and what to do.
    """
    content = _parse(path)
    if not isinstance(content, dict):
        _refuse(path, f"holds {_type_of(content)}, not an object")
    if "layer" in content or "layers" in content:
        raise UsageError(f"{path} is the manifest of a Vulkan layer, not of a driver: not supported yet")
    fields = content.get("ICD")
    if not isinstance(fields, dict):
        _refuse(path, 'has no "ICD"' if fields is None else f'has {_type_of(fields)} as "ICD", not an object')
    name = fields.get("library_path")
    if not isinstance(name, str):
        missing = name is None
        _refuse(path, 'has no "library_path" in "ICD"' if missing else f'has {_type_of(name)} as "library_path"')
    if not name or "\0" in name:
        _refuse(path, f'has the "library_path" {json.dumps(name)}, which cannot be one')
    return Manifest(path, content, _find(path, name))


def _parse(path: Path) -> object:
    try:
        return json.loads(path.read_bytes())
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {(error.strerror or str(error)).lower()}") from None
    except json.JSONDecodeError as error:
        _refuse(path, f"is not JSON: line {error.lineno}, column {error.colno}: {error.msg}")
    except (ValueError, RecursionError) as error:
        _refuse(path, f"is not JSON: {error}")


def _find(path: Path, name: str) -> Path:
    """The library that `library_path` stands for, as the document of the interface has it."""
    if "/" in name:
        library = path.absolute().parent / name
        if not library.exists():
            raise UsageError(
                f'{path} names {name} as "library_path": there is no file {library}; '
                "build or install the driver, or correct the path, which is relative to the manifest"
            )
        return library
    folders = linker_folders()
    library_or_none = next((Path(folder) / name for folder in folders if (Path(folder) / name).exists()), None)
    if library_or_none is None:
        raise UsageError(
            f'{path} names {name} as "library_path", a name that the dynamic linker looks for, which is in none of '
            f"{', '.join(folders)}; write ./{name} if it lies beside the manifest, or set LD_LIBRARY_PATH"
        )
    return library_or_none


def _type_of(value: object) -> str:
    names = {dict: "an object", list: "an array", str: "a string", bool: "a boolean", type(None): "null"}
    return names.get(type(value), "a number")


def _refuse(path: Path, problem: str) -> NoReturn:
    raise UsageError(f"{path} {problem}; a manifest of a Vulkan driver reads {EXAMPLE}")


def is_manifest(path: Path) -> bool:
    """Whether a path can only be meant as that of a manifest."""
    return path.suffix.lower() == ".json" and not path.is_dir()


__all__ = ["EXAMPLE", "Manifest", "is_manifest", "read_manifest"]
