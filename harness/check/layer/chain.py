# SPDX-License-Identifier: Apache-2.0
"""The layer under test in a chain of layers, in front of a loader's vendors."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

from harness.calllog.reader import CallLog
from harness.check.layer_schemes import use_layers
from harness.probe import Session
from harness.probe.calls import CallFailed
from harness.sandbox import MockLayer, Sandbox, Unsupported
from harness.subject.layer import INIT, INIT_WITH_PROPERTIES, LEGACY, Layer
from harness.subject.loader import Loader


def use_layer(loader: Loader, sandbox: Sandbox, layers: Sequence[Layer | MockLayer]) -> str:
    """Sets the sandbox up so that calls go through `layers` in this order; gives the init function that is called."""
    loader.require("OPENCL_LAYERS")
    tested = next((layer for layer in layers if isinstance(layer, Layer)), None)
    init = INIT_WITH_PROPERTIES if loader.has("initialises layers with properties") else INIT
    if tested is not None:
        init = tested.use_scheme(loader, sandbox)
    use_layers(sandbox, [str(layer) for layer in layers])
    return init


def start(loader: Loader, sandbox: Sandbox, layers: Sequence[Layer | MockLayer], **more: Any) -> Session:
    """A session of the loader with these layers, the first one in front."""
    for name in ("OPENCL_LAYERS", LEGACY):
        sandbox.env.pop(name, None)
    if layers:
        use_layer(loader, sandbox, layers)
    if (sanitizer := next((x.facts.sanitizer for x in layers if isinstance(x, Layer)), "")) and not more:
        sandbox.env["LD_PRELOAD"] = sanitizer
    return loader.start(sandbox, **more)


def without(log: CallLog, *names: str) -> CallLog:
    """A log without the events of the layers of these names, before or after which the call is the same."""
    return CallLog([event for event in log if event.who not in names], log.dropped, log.torn)


@contextlib.contextmanager
def preparing() -> Iterator[None]:
    """Makes a case `unsupported` that cannot make its objects: the function that fails has a case of its own."""
    try:
        yield
    except CallFailed as error:
        function = str(error).partition(" ")[0].partition("(")[0]
        raise Unsupported("loader", f"its objects cannot be made through the layer: see {function}") from None


def require_kept(layer: Layer, cl: Session) -> None:
    """Makes the case `unsupported` where the loader does not keep the layer: its table may be too short for it."""
    if not cl.maps(layer.path):
        raise Unsupported("loader", "the layer refuses this loader's table, or the loader refuses the layer")
