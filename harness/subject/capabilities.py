# SPDX-License-Identifier: Apache-2.0
"""What a loader can do beyond the specification's core: found out by asking it, never by its name.

A capability that is missing makes checks of it `unsupported`; where the loader's expectation file is known, a
capability that vanished is a deviation.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from harness.api.model import api
from harness.build import build
from harness.probe import Session, SubjectFailure
from harness.probe.session import CommandError
from harness.sandbox import Sandbox, Unsupported
from harness.subject.facts import Facts
from harness.subject.places import ANDROID_VENDORS, SYSTEM_VENDORS

LOADER_INFO = "clGetICDLoaderInfoOCLICD"


class Loader(Protocol):
    """What is asked (harness.subject.loader.Loader)."""

    path: Path
    facts: Facts
    capabilities: set[str]
    by_variable: bool
    system_vendors: str

    def start(
        self, sandbox: Sandbox, *, system_binds: dict[str, Path] | None = None, unset: tuple[str, ...] = ()
    ) -> Session:
        """A session of the loader in the sandbox, not started yet."""
        ...


def _lists(session: Session, *names: str) -> bool:
    with session as cl:
        return bool(cl.platform_names() == set(names))


def _directory_by_variable(loader: Loader, sandbox: Sandbox) -> bool:
    sandbox.vendor("a")
    return _lists(loader.start(sandbox), "a")


def _android_directory(loader: Loader, sandbox: Sandbox) -> bool:
    """Whether the compiled-in directory is Android's; a loader that does not even contain its name is not asked."""
    if ANDROID_VENDORS.encode() not in loader.path.read_bytes():
        return False
    sandbox.vendor("android")
    system = sandbox.folder("system")
    sandbox.vendor_file("linux.icd", f"{sandbox.icd('linux')}\n", system)
    binds = {ANDROID_VENDORS: sandbox.vendors, SYSTEM_VENDORS: system}
    if not _lists(loader.start(sandbox, system_binds=binds), "android"):
        return False
    loader.system_vendors = ANDROID_VENDORS
    return True


def _libraries_by_variable(loader: Loader, sandbox: Sandbox) -> bool:
    sandbox.env["OCL_ICD_FILENAMES"] = str(sandbox.icd("a"))
    return _lists(loader.start(sandbox), "a")


def _vendor_path_alias(loader: Loader, sandbox: Sandbox) -> bool:
    sandbox.vendor("a")
    sandbox.env["OPENCL_VENDOR_PATH"] = str(sandbox.vendors)
    return _lists(loader.start(sandbox, unset=("OCL_ICD_VENDORS",)), "a")


def _library_as_vendors(loader: Loader, sandbox: Sandbox) -> bool:
    sandbox.env["OCL_ICD_VENDORS"] = str(sandbox.icd("a"))
    return _lists(loader.start(sandbox), "a")


def _deduplicates(loader: Loader, sandbox: Sandbox) -> bool:
    mock = sandbox.vendor("a")
    sandbox.vendor_file("again.icd", f"{mock}\n")
    return _lists(loader.start(sandbox), "a")


def _layers(loader: Loader, sandbox: Sandbox) -> bool:
    sandbox.vendor("a")
    sandbox.env["OPENCL_LAYERS"] = str(sandbox.layer("layer"))
    return _lists(loader.start(sandbox), "a") and bool(sandbox.log.calls("clGetPlatformIDs", by="layer"))


def _layer_directory(loader: Loader, sandbox: Sandbox) -> bool:
    sandbox.vendor("a")
    folder = sandbox.folder("layers")
    sandbox.vendor_file("layer.lay", f"{sandbox.layer('layer')}\n", folder)
    sandbox.env["OPENCL_LAYER_PATH"] = str(folder)
    return _lists(loader.start(sandbox), "a") and bool(sandbox.log.calls("clGetPlatformIDs", by="layer"))


def _trace(loader: Loader, sandbox: Sandbox) -> bool:
    sandbox.vendor("a")
    sandbox.env["OCL_ICD_ENABLE_TRACE"] = "True"
    session = loader.start(sandbox)
    return _lists(session, "a") and bool(session.stderr)


def _unloads(loader: Loader, sandbox: Sandbox) -> bool:
    mock = sandbox.vendor("a", extensions="cl_khr_icd cl_khr_icd_unloadable", unloadable=True)
    with loader.start(sandbox) as cl:
        cl.GetPlatformIDs()
        cl.close()
        return not cl.maps(mock)


def _layers_with_properties(loader: Loader, sandbox: Sandbox) -> bool:
    sandbox.vendor("a")
    sandbox.env["OPENCL_LAYERS"] = str(sandbox.layer("layer"))
    with loader.start(sandbox) as cl:
        cl.GetPlatformIDs()
    return bool(sandbox.log.calls("clInitLayerWithProperties", by="layer"))


def _default_platform(loader: Loader, sandbox: Sandbox) -> bool:
    sandbox.vendor("a", platforms=2)
    answers = []
    for number in ("0", "1"):
        sandbox.env["OCL_ICD_DEFAULT_PLATFORM"] = number
        with loader.start(sandbox) as cl:
            names = cl.platform_names()
            text = cl.buffer(64, 0)
            result = cl.clGetPlatformInfo(None, api().constant("CL_PLATFORM_NAME"), 64, text, None)
            answers.append(text.text() if result == 0 else "")
    return answers == names


def _sorts_by_devices(loader: Loader, sandbox: Sandbox) -> bool:
    mocks = [sandbox.icd("one", gpus=1), sandbox.icd("three", gpus=3), sandbox.icd("two", gpus=2)]
    sandbox.vendors_in_order([f"{mock}\n" for mock in mocks])
    with loader.start(sandbox) as cl:
        return bool(cl.platform_names() == ["three", "two", "one"])


def _assumes_icd_extension(loader: Loader, sandbox: Sandbox) -> bool:
    sandbox.vendor("a", extensions="cl_khr_other")
    plain = loader.start(sandbox)
    if _lists(plain, "a"):
        return False
    sandbox.env["OCL_ICD_ASSUME_ICD_EXTENSION"] = "1"
    return _lists(loader.start(sandbox), "a")


def _icd2(loader: Loader, sandbox: Sandbox) -> bool:
    sandbox.vendor("a", icd2=True)
    return _lists(loader.start(sandbox), "a") and bool(sandbox.log.calls("clIcdSetPlatformDispatchDataKHR", by="a"))


def _loader_info(loader: Loader, sandbox: Sandbox) -> bool:
    """Fills in the loader's name and versions where it reports them."""
    sandbox.vendor("a")
    with loader.start(sandbox) as cl:
        address = cl.GetExtensionFunctionAddress(LOADER_INFO)
        if not address:
            return False
        answers = []
        for query in (1, 2, 3):
            text = cl.buffer(256, 0)
            if cl.call_at(address, LOADER_INFO, query, 256, text, None):
                return False
            answers.append(text.text())
    facts = loader.facts
    facts.opencl_version, facts.version, facts.name = answers
    return True


CAPABILITIES: dict[str, Callable[[Loader, Sandbox], bool]] = {
    "OCL_ICD_VENDORS": _directory_by_variable,
    LOADER_INFO: _loader_info,
    "Android vendor directory": _android_directory,
    "OCL_ICD_VENDORS as a library": _library_as_vendors,
    "OCL_ICD_FILENAMES": _libraries_by_variable,
    "OPENCL_VENDOR_PATH": _vendor_path_alias,
    "OCL_ICD_ENABLE_TRACE": _trace,
    "OCL_ICD_ASSUME_ICD_EXTENSION": _assumes_icd_extension,
    "OPENCL_LAYERS": _layers,
    "OPENCL_LAYER_PATH": _layer_directory,
    "OCL_ICD_DEFAULT_PLATFORM": _default_platform,
    "initialises layers with properties": _layers_with_properties,
    "deduplicates libraries": _deduplicates,
    "sorts platforms by devices": _sorts_by_devices,
    "unloads vendors": _unloads,
    "ICD 2": _icd2,
}


# What Windows has no counterpart of: vendors are in the registry.
_OF_LINUX = (
    "OCL_ICD_VENDORS",
    "Android vendor directory",
    "OCL_ICD_VENDORS as a library",
    "OPENCL_VENDOR_PATH",
    "OPENCL_LAYER_PATH",
)


def _questions() -> dict[str, Callable[[Loader, Sandbox], bool]]:
    if not build().windows:
        return CAPABILITIES
    return {name: ask for name, ask in CAPABILITIES.items() if name not in _OF_LINUX}


def detect(loader: Loader) -> None:
    """Fills in `loader.capabilities`, `loader.by_variable` and the name and version that it answers.

    Starts some twenty processes, each in a sandbox of its own that is removed; raises nothing: what the loader does
    wrong there, its checks report.
    """
    loader.by_variable = loader.by_variable or build().windows
    for name, ask in _questions().items():
        sandbox = Sandbox(loader.path)
        try:
            if ask(loader, sandbox):
                loader.capabilities.add(name)
        except SubjectFailure:
            if name == "OCL_ICD_VENDORS":
                break  # it cannot even list one vendor: the checks will say so
        except (CommandError, AssertionError, Unsupported):
            pass
        finally:
            sandbox.close()
        if name == "OCL_ICD_VENDORS":
            loader.by_variable = name in loader.capabilities
    loader.facts.capabilities = sorted(loader.capabilities)


def tell_name(loader: Loader) -> None:
    """Fills in the name and the version that it answers, and nothing else: one process. Raises nothing."""
    sandbox = Sandbox(loader.path)
    with contextlib.suppress(SubjectFailure, CommandError, AssertionError, Unsupported):
        _loader_info(loader, sandbox)
    sandbox.close()
