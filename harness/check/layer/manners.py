"""What a layer does that checks must know: found out by asking it through a loader, never by its name."""

from __future__ import annotations

from harness.check.layer.chain import start
from harness.probe import SubjectFailure
from harness.probe.session import CommandError
from harness.sandbox import Sandbox, Unsupported
from harness.subject.layer import Layer
from harness.subject.loader import Loader


def find_out(layer: Layer, loader: Loader) -> None:
    """Fills in whether the layer hands out handles of its own: the application's platform is not the vendor's."""
    sandbox = Sandbox(loader.path)
    try:
        sandbox.vendor("a")
        with start(loader, sandbox, [layer]) as cl:
            platforms = cl.GetPlatformIDs()
        answers = sandbox.log.returns("clIcdGetPlatformIDsKHR", by="a")
        real = {int(e.data["out"]["platforms"], 16) for e in answers if "platforms" in e.data.get("out", {})}
        layer.wraps_handles = bool(platforms and real) and not real & {int(p) for p in platforms}
    except (SubjectFailure, CommandError, AssertionError, Unsupported):
        pass  # the checks will say so
    finally:
        sandbox.close()
