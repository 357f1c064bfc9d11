# SPDX-License-Identifier: Apache-2.0
"""Exits 0 where this Python is new enough and has the modules that clharness needs; else 1, and names what is missing.

    python_parts.py [--tests] [--requirements | --folders]

--tests: with those that the project's own tests need. --requirements: prints what pip is to install instead. --folders:
prints the folders in which they are, with colons between them, which change where one of them comes, goes or changes.
The list itself is pyproject.toml's. The set-up and CMake run this with every interpreter that they try, old ones too:
up to the version check use what they know.
"""

from __future__ import annotations

import importlib.util
import os
import re
import sys
from pathlib import Path

MODULES = {"pytest-xdist": "xdist", "pyelftools": "elftools"}  # where the module is not named like its distribution


def requirements(tests: bool) -> list[str]:
    """The project's dependencies, like "pytest>=7.2"."""
    import tomllib

    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    entries = project["dependencies"] + (project["optional-dependencies"]["tests"] if tests else [])
    return [str(entry) for entry in entries]


def numbers(version: str) -> list[int]:
    """The leading numbers of a version: "7.2.1rc1" is [7, 2, 1]."""
    return [int(part) for part in re.findall(r"\d+", re.split(r"[a-z+-]", version)[0])]


def fulfilled(requirement: str) -> bool:
    """Whether the module of the requirement can be imported, and is new enough."""
    from importlib import metadata

    distribution, least = requirement.split(">=")
    try:
        enough = numbers(metadata.version(distribution)) >= numbers(least)
    except metadata.PackageNotFoundError:
        return False
    return enough and importlib.util.find_spec(MODULES.get(distribution, distribution)) is not None


def folders(requirements_: list[str]) -> list[str]:
    """The folders that modules are found in, and those of the modules and of what says their versions."""
    from importlib import metadata

    existing = {folder for folder in sys.path[1:] if os.path.isdir(folder)}
    for requirement in requirements_:
        distribution = requirement.split(">=")[0]
        spec = importlib.util.find_spec(MODULES.get(distribution, distribution))
        existing |= {os.path.dirname(spec.origin)} if spec and spec.origin else set()
        path = getattr(metadata.distribution(distribution), "_path", None)
        existing |= {str(path)} if path else set()
    return sorted(existing)


def main() -> int:
    if sys.version_info < (3, 11):  # noqa: UP036 - see above
        print("Python>=3.11", file=sys.stderr)
        return 1
    modules = requirements("--tests" in sys.argv[1:])
    if "--requirements" in sys.argv[1:]:
        print("\n".join(modules))
        return 0
    if "--folders" in sys.argv[1:]:
        print(":".join(folders(modules)))
        return 0
    missing = [requirement for requirement in modules if not fulfilled(requirement)]
    print("\n".join(missing), file=sys.stderr)
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
