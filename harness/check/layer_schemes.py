# SPDX-License-Identifier: Apache-2.0
"""The two ways in which loaders initialise layers, and chains of layers in a sandbox.

default: what the loader does of itself; legacy: with OCL_ICD_FORCE_LEGACY_TERMINATION, where the loader has both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from harness.sandbox import MockLayer, Sandbox
from harness.subject.loader import Loader

SCHEMES = ("default", "legacy")
LEGACY = "OCL_ICD_FORCE_LEGACY_TERMINATION"
INIT, INIT_WITH_PROPERTIES, DEINIT = "clInitLayer", "clInitLayerWithProperties", "clDeinitLayer"


@dataclass(frozen=True)
class Scheme:
    """init: the function that the loader calls; deinitialises: whether it calls clDeinitLayer at the end."""

    init: str
    deinitialises: bool


def use_scheme(loader: Loader, sandbox: Sandbox, name: str) -> Scheme:
    """Sets the sandbox up for a scheme; the case is `unsupported` where the loader does not have it."""
    loader.require("OPENCL_LAYERS")
    both = loader.has("initialises layers with properties")
    if name == "legacy":
        loader.require("initialises layers with properties", "this loader has one way to initialise layers")
        sandbox.env[LEGACY] = "1"
    return Scheme(INIT_WITH_PROPERTIES, True) if both and name == "default" else Scheme(INIT, False)


def use_layers(sandbox: Sandbox, layers: Sequence[MockLayer | str]) -> None:
    """Sets OPENCL_LAYERS so that calls go through `layers` in this order: the last one listed is in front."""
    sandbox.env["OPENCL_LAYERS"] = ":".join(str(layer) for layer in reversed(layers))
