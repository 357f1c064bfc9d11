"""Prints where the modules that clharness needs lie, one file a line; exits 1 and names what is missing.

With --requirements: prints what pip is to install instead. The list itself is pyproject.toml's. The set-up
runs this with every interpreter that it tries, old ones too: up to the version check use what they know.
"""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path

MODULES = {"pytest-xdist": "xdist", "pyelftools": "elftools"}  # where the module is not named like its distribution


def requirements() -> list[str]:
    """The project's dependencies, like "pytest>=7.2"."""
    import tomllib

    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    return [str(entry) for entry in project["dependencies"]]


def numbers(version: str) -> list[int]:
    """The leading numbers of a version: "7.2.1rc1" is [7, 2, 1]."""
    return [int(part) for part in re.findall(r"\d+", re.split(r"[a-z+-]", version)[0])]


def origin(requirement: str) -> str | None:
    """The file of the module that fulfils the requirement; None where it is missing or too old."""
    from importlib import metadata

    distribution, least = requirement.split(">=")
    spec = importlib.util.find_spec(MODULES.get(distribution, distribution))
    try:
        fulfilled = numbers(metadata.version(distribution)) >= numbers(least)
    except metadata.PackageNotFoundError:
        return None
    return spec.origin if spec and fulfilled else None


def main() -> int:
    if sys.version_info < (3, 11):  # noqa: UP036 - see above
        print("Python>=3.11", file=sys.stderr)
        return 1
    wanted = requirements()
    if "--requirements" in sys.argv[1:]:
        print("\n".join(wanted))
        return 0
    files = {requirement: origin(requirement) for requirement in wanted}
    print("\n".join(file for file in files.values() if file))
    missing = [requirement for requirement, file in files.items() if not file]
    print("\n".join(missing), file=sys.stderr)
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
