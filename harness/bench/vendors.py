# SPDX-License-Identifier: Apache-2.0
"""What a vendor costs in discovery, with 10, 100 and 1,000 of them: the cost of each must not grow."""

from __future__ import annotations

import statistics
import time
from pathlib import Path
from typing import Any

from harness.errors import HarnessError
from harness.sandbox import Sandbox
from harness.subject.loader import Loader

COUNTS = (10, 100, 1000)
_ROUNDS = 3


def measure_vendors(path: Path) -> dict[str, Any]:
    """Milliseconds of the first clGetPlatformIDs by number of vendors (medians), and how the cost of one compares.

    Raises UsageError where it is not a loader, HarnessError where it does not list all of them.
    """
    loader = Loader(path)
    first_call = {count: _first_call(loader, count) for count in COUNTS}
    each = {count: milliseconds / count for count, milliseconds in first_call.items()}
    return {
        "loader": loader.facts.real_path,
        "first_call_ms": {str(count): round(value, 3) for count, value in first_call.items()},
        "vendor_ms": {str(count): round(value, 4) for count, value in each.items()},
        "ratio_of_a_vendor": round(each[COUNTS[-1]] / each[COUNTS[1]], 2),
    }


def vendor_lines(numbers: dict[str, Any]) -> list[str]:
    """A table for the terminal of what measure_vendors gave; times in milliseconds."""
    lines = [f"{'vendors':>8}{'first call ms':>15}{'ms a vendor':>13}"]
    lines += [
        f"{count:>8}{milliseconds:15.2f}{numbers['vendor_ms'][count]:13.4f}"
        for count, milliseconds in numbers["first_call_ms"].items()
    ]
    ratio = f"{numbers['ratio_of_a_vendor']:.2f} of what one of {COUNTS[1]} costs"
    return [*lines, f"  one vendor of {COUNTS[-1]} costs {ratio}; {numbers['loader']}"]


def _first_call(loader: Loader, vendors: int) -> float:
    sandbox = Sandbox(loader.path)
    try:
        for number in range(vendors):
            sandbox.vendor(f"v{number}")
        times = []
        for _ in range(_ROUNDS):
            sandbox.forget_log()
            with loader.start(sandbox, time_limit=60) as cl:
                count = cl.buffer(4, 0)
                cl.command("hello")  # all that was prepared is done
                started = time.perf_counter()
                cl.clGetPlatformIDs(0, None, count)
                times.append((time.perf_counter() - started) * 1e3)
                if count.u32() != vendors:
                    raise HarnessError(f"{loader.path} lists {count.u32()} platforms of {vendors} vendors")
        return statistics.median(times)
    finally:
        sandbox.close()
