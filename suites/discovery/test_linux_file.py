"""Configuration files of the vendor directory on Linux: what a line may look like (DISC-LNX)."""

from __future__ import annotations

from harness.loader import Loader
from harness.marks import requirement
from harness.sandbox import Sandbox


@requirement("DISC-LNX-013")
def test_library_path_without_final_newline(loader: Loader, sandbox: Sandbox) -> None:
    """A .icd file that ends without a newline names its library all the same."""
    with_newline = sandbox.icd("with")
    without = sandbox.icd("without")
    sandbox.vendor_file("a.icd", f"{with_newline.path}\n")
    sandbox.vendor_file("b.icd", f"{without.path}")

    with loader.start(sandbox) as cl:
        assert cl.platform_names() == {"with", "without"}
