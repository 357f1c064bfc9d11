# SPDX-License-Identifier: Apache-2.0
"""What vendors do to whole programs although each step went well: to those linked to the loader, and at their end."""

from __future__ import annotations

import re
from collections.abc import Iterator

from harness.doctor.ask import Asker
from harness.doctor.findings import Finding, listed
from harness.doctor.loaders import Listing, LoaderFile, ask_loader
from harness.doctor.vendors import Vendor


def in_words(end: str) -> str:
    """How a process ended, as a verb: hangs, ends with SIGSEGV."""
    return "hangs" if end == "hang" else f"ends with {end}"


def when_linked(loader: LoaderFile, name: str, vendors: list[Vendor], asker: Asker) -> Iterator[Finding]:
    """Vendors whose own functions are replaced by the loader's in a program that is linked to it.

    `name` is the loader as programs name it. A program that opens the loader itself, as most that were asked until
    now, does not meet this.
    """
    assert loader.listing is not None
    able = [vendor for vendor in vendors if vendor.works and vendor.entry.in_use and _exported(vendor)]
    if not able or loader.listing.answer.end:
        return
    linked = ask_loader(name, asker, "linked")
    lost = loader.listing.more_than(linked)
    if not linked.answer.end and not lost:
        return
    happens = in_words(linked.answer.end) if linked.answer.end else f"does not see {listed(lost)}"
    guilty = [vendor for vendor in able if _suffers(vendor, name, asker)] or able
    names = listed(str(vendor.path) for vendor in guilty)
    yield Finding(
        "functions-replaced",
        f"A program that is linked to {loader.path} {happens}: there the loader's functions take the place of "
        f"{listed(sorted(_exported(guilty[0]) & loader.exported))} in {names}.",
        guilty[0].where,
        "Report it to the vendor, who must hide them or link with -Bsymbolic; until then move its file away.",
    )


def _exported(vendor: Vendor) -> set[str]:
    """Functions of OpenCL that its library exports under the names that a loader's have."""
    file = vendor.library.elf if vendor.library else None
    return {name for name in file.exported if re.fullmatch(r"cl[A-Z]\w*", name)} if file else set()


def _suffers(vendor: Vendor, loader: str, asker: Asker) -> bool:
    """Whether it ends otherwise after a loader whose functions come first than by itself."""
    answer = asker.ask("linked_vendor", loader, vendor.entry.meant)
    return bool(answer.end) or answer.every("platform") != (vendor.answer.every("platform") if vendor.answer else [])


def at_the_end(listing: Listing, vendors: list[Vendor]) -> Iterator[Finding]:
    """Vendors with which a program that has listed everything does not end well."""
    if not listing.answer.after:
        return
    for vendor in vendors:
        if vendor.entry.in_use and vendor.answer and vendor.answer.after:
            yield Finding(
                "library-ends-badly",
                f"With {vendor.path}, every program that lists platforms {in_words(vendor.answer.after)} when it is "
                "done, in what the library does at the end of a process.",
                vendor.where,
                "Report it to the vendor, and install another version of the driver.",
            )
