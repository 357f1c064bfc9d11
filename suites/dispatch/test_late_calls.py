# SPDX-License-Identifier: Apache-2.0
"""Every function while the process ends, and after the loader's own end (DISP-DEI)."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from harness.check import (
    LATE_POINTS,
    LATE_VENDOR,
    Loader,
    Objects,
    Sandbox,
    Unsupported,
    keep_late_calls,
    late_outcomes,
    late_summary,
    open_before,
    requirement,
    use_layers,
)


@requirement("DISP-DEI-006")
@pytest.mark.parametrize("layers", [0, 3], ids=["no-layer", "3-layers"])
@pytest.mark.parametrize("kind", ["ICD 1", "ICD 2"])
@pytest.mark.parametrize("point", LATE_POINTS)
def test_every_function_is_forwarded_or_refused_at_the_end(
    loader: Loader, sandbox: Sandbox, point: str, kind: str, layers: int, record: Callable[[str], None]
) -> None:
    """Whenever it is called while the process ends, a function reaches its vendor or is refused; none crashes."""
    sandbox.require_linux("calls while the process ends")
    if loader.facts.sanitizer:
        raise Unsupported("machine", "a sanitizer's library does not bear to be asked for again after its end")
    if kind == "ICD 2":
        loader.require("ICD 2")
    sandbox.vendor(LATE_VENDOR, icd2=kind == "ICD 2")
    if layers:
        loader.require("OPENCL_LAYERS")
        use_layers(sandbox, [sandbox.layer(f"layer{number}") for number in range(layers)])

    with loader.start(sandbox, late=True, guarded_heap=True) as cl:
        open_before(cl, point)
        functions = keep_late_calls(cl, Objects(cl, cl.GetPlatformIDs()[0]), point)
        if point == "handle closed":
            cl.load(loader.path)  # another part of the application holds the loader as well
            cl.close()
            cl.late_calls()
        assert not sandbox.log.happened("late line") or point == "handle closed"
        assert cl.quit() == 0
    record(late_summary(late_outcomes(sandbox, functions)))
