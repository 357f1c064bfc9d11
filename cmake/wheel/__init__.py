# SPDX-License-Identifier: Apache-2.0
"""clharness as a wheel: the command. What it runs lies in this folder; it is not a package to import from."""

from __future__ import annotations

import os
import sys


def main() -> None:
    """Becomes the command line, with this folder's package `harness` and the Python that runs now."""
    here = os.path.dirname(os.path.abspath(__file__))
    os.environ["CLHARNESS_COMMAND"] = "clharness"
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [here, os.environ.get("PYTHONPATH")]))
    os.execv(sys.executable, [sys.executable, "-P", "-m", "harness.cli", *sys.argv[1:]])
