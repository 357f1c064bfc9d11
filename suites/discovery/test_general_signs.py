# SPDX-License-Identifier: Apache-2.0
"""What a loader shows a sign of works: a broken variable or interface does not look like a missing one (DISC-GEN)."""

from __future__ import annotations

import pytest

from harness.check import CAPABILITIES, Loader, Unsupported, capability_outcomes, capability_signs, requirement

SIGNED = [name for name, capability in CAPABILITIES.items() if capability.signs]


@requirement("DISC-GEN-017")
@pytest.mark.parametrize("name", SIGNED)
def test_capability_that_the_loader_shows_a_sign_of_works(loader: Loader, name: str) -> None:
    """What a text in the loader's file names, or what it asks the environment for, works in one way, at least."""
    signs = capability_signs(loader, name)
    if not signs:
        raise Unsupported("loader", f"this loader shows no sign of {name}")
    outcomes = capability_outcomes(loader, name)
    assert "yes" in outcomes.values(), (
        f"the loader contains or asks for {', '.join(signs)}, but {name} does not work: {outcomes}"
    )
