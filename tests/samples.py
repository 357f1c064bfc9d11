# SPDX-License-Identifier: Apache-2.0
"""Samples of what ci/nightly tests whole."""

from __future__ import annotations

import os
import random
from collections.abc import Sequence

WHOLE = bool(os.environ.get("CLHARNESS_WHOLE_TESTS"))


def sample(names: Sequence[str], count: int) -> list[str]:
    """So many by chance, others in each run, and the same ones in all its workers; all with CLHARNESS_WHOLE_TESTS."""
    if WHOLE:
        return list(names)
    run = os.environ.get("PYTEST_XDIST_TESTRUNUID")  # that of xdist's workers
    chosen = set(random.Random(run).sample(names, count))
    return [name for name in names if name in chosen]
