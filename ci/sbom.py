# SPDX-License-Identifier: Apache-2.0
"""Prints the bill of materials of a release, CycloneDX 1.5: what it is made of, and what it needs to run.

The same for the same commit: $SOURCE_DATE_EPOCH, where it is set, is its date.
"""

from __future__ import annotations

import datetime
import json
import os
import re
import sys
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
from harness import __version__  # noqa: E402 - found by the line above

# Licences of what is needed, by the names of the packages; a new dependency needs an entry.
LICENCES = {
    "jinja2": "BSD-3-Clause",
    "jsonschema": "MIT",
    "pycparser": "BSD-3-Clause",
    "pyelftools": "Unlicense",
    "pytest": "MIT",
    "pytest-xdist": "MIT",
    "rich": "MIT",
    "tomlkit": "MIT",
}


def component(requirement: str) -> dict[str, Any]:
    """A Python package that is needed, like "rich>=13.3": which releases of it is in a property, as none is shipped."""
    name, least = re.split(r">=", requirement)
    return {
        "type": "library",
        "bom-ref": f"pkg:pypi/{name.lower()}",
        "name": name,
        "scope": "required",
        "licenses": [{"expression": LICENCES[name.lower()]}],
        "purl": f"pkg:pypi/{name.lower()}",
        "properties": [{"name": "clharness:versions", "value": f">={least}"}],
    }


def headers() -> dict[str, Any]:
    """The one thing from elsewhere that is compiled in: declarations of the API."""
    return {
        "type": "library",
        "bom-ref": "pkg:github/KhronosGroup/OpenCL-Headers",
        "name": "OpenCL-Headers",
        "scope": "excluded",
        "licenses": [{"expression": "Apache-2.0"}],
        "purl": "pkg:github/KhronosGroup/OpenCL-Headers",
        "properties": [{"name": "clharness:use", "value": "read and included when building"}],
    }


def bill() -> dict[str, Any]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    components = [*map(component, project["dependencies"]), headers()]
    own = f"pkg:pypi/clharness@{__version__}"
    moment = datetime.datetime.fromtimestamp(int(os.environ.get("SOURCE_DATE_EPOCH", "0")), datetime.UTC)
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {
            "timestamp": moment.isoformat(),
            "component": {
                "type": "application",
                "bom-ref": own,
                "name": "clharness",
                "version": __version__,
                "licenses": [{"license": {"id": "Apache-2.0"}}],
                "purl": own,
            },
        },
        "components": components,
        "dependencies": [{"ref": own, "dependsOn": [entry["bom-ref"] for entry in components]}],
    }


if __name__ == "__main__":
    json.dump(bill(), sys.stdout, indent=2)
    print()
