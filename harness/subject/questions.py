# SPDX-License-Identifier: Apache-2.0
"""The questions by which a loader shows a capability; each is put to it in an empty sandbox of its own.

Where a variable is asked about, the loader must also do otherwise without it: nothing is found by accident.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from harness.api.model import api
from harness.probe import Session
from harness.sandbox import MockIcd, MockLayer, Sandbox
from harness.subject.facts import Facts
from harness.subject.places import ANDROID_VENDORS, SYSTEM_VENDORS

LOADER_INFO = "clGetICDLoaderInfoOCLICD"


class Loader(Protocol):
    """What is asked (harness.subject.loader.Loader)."""

    path: Path
    facts: Facts
    variables: dict[str, str]
    by_variable: bool
    folder_ending: str
    system_vendors: str

    def start(
        self,
        sandbox: Sandbox,
        *,
        system_binds: dict[str, Path] | None = None,
        watch: Path | None = None,
        unset: tuple[str, ...] = (),
    ) -> Session:
        """A session of the loader in the sandbox, not started yet."""
        ...


def _lists(session: Session, *names: str) -> bool:
    with session as cl:
        return bool(cl.platform_names() == set(names))


def _lists_because_of(loader: Loader, sandbox: Sandbox, variables: Mapping[str, str], *names: str) -> bool:
    """Whether the loader lists vendors with these variables, and something else without them."""
    plain = ("OCL_ICD_VENDORS",) if {"OCL_ICD_VENDORS", "OPENCL_VENDOR_PATH"} & set(variables) else ()
    if _lists(loader.start(sandbox, unset=plain), *names):
        return False
    sandbox.env.update(variables)
    unset = () if "OCL_ICD_VENDORS" in variables else plain
    return _lists(loader.start(sandbox, unset=unset), *names)


def _by_variable(loader: Loader) -> Loader:
    """The same loader, whose vendors no private root shows: nothing but a variable can lead it to them."""
    same = copy.copy(loader)
    same.by_variable = True
    return same


def directory_by_variable(loader: Loader, sandbox: Sandbox) -> bool:
    """Whether OCL_ICD_VENDORS names the vendor directory."""
    sandbox.vendor("a")
    return _lists_because_of(_by_variable(loader), sandbox, {"OCL_ICD_VENDORS": str(sandbox.vendors)}, "a")


def directory_by_variable_with_slash(loader: Loader, sandbox: Sandbox) -> bool:
    """The same, where the directory's name ends with a slash."""
    sandbox.vendor("a")
    return _lists_because_of(_by_variable(loader), sandbox, {"OCL_ICD_VENDORS": f"{sandbox.vendors}/"}, "a")


def android_directory(loader: Loader, sandbox: Sandbox) -> bool:
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


def android_directory_of_two(loader: Loader, sandbox: Sandbox) -> bool:
    """The same, where it names two vendors, of which one must be listed."""
    if ANDROID_VENDORS.encode() not in loader.path.read_bytes():
        return False
    sandbox.vendor("first")
    sandbox.vendor("second")
    with loader.start(sandbox, system_binds={ANDROID_VENDORS: sandbox.vendors}) as cl:
        if not cl.platform_names():
            return False
    loader.system_vendors = ANDROID_VENDORS
    return True


def libraries_by_variable(loader: Loader, sandbox: Sandbox) -> bool:
    """Whether OCL_ICD_FILENAMES names a library."""
    return _lists_because_of(loader, sandbox, {"OCL_ICD_FILENAMES": str(sandbox.icd("a"))}, "a")


def two_libraries_by_variable(loader: Loader, sandbox: Sandbox) -> bool:
    """Whether it names two."""
    both = f"{sandbox.icd('a')}:{sandbox.icd('b')}"
    return _lists_because_of(loader, sandbox, {"OCL_ICD_FILENAMES": both}, "a", "b")


def library_beside_directory(loader: Loader, sandbox: Sandbox) -> bool:
    """Whether a library in it is listed beside vendors of the directory."""
    sandbox.vendor("a")
    return _lists_because_of(loader, sandbox, {"OCL_ICD_FILENAMES": str(sandbox.icd("b"))}, "a", "b")


def vendor_path_alias(loader: Loader, sandbox: Sandbox) -> bool:
    """Whether OPENCL_VENDOR_PATH names the vendor directory."""
    aliased = sandbox.folder("aliased")
    sandbox.vendor_file("a.icd", f"{sandbox.icd('a')}\n", aliased)
    return _lists_because_of(_by_variable(loader), sandbox, {"OPENCL_VENDOR_PATH": str(aliased)}, "a")


def vendor_path_alias_with_slash(loader: Loader, sandbox: Sandbox) -> bool:
    """The same, where the directory's name ends with a slash."""
    aliased = sandbox.folder("aliased")
    sandbox.vendor_file("a.icd", f"{sandbox.icd('a')}\n", aliased)
    return _lists_because_of(_by_variable(loader), sandbox, {"OPENCL_VENDOR_PATH": f"{aliased}/"}, "a")


def library_as_vendors(loader: Loader, sandbox: Sandbox) -> bool:
    """Whether OCL_ICD_VENDORS may name a library in the place of a directory (ocl-icd)."""
    return _lists_because_of(_by_variable(loader), sandbox, {"OCL_ICD_VENDORS": str(sandbox.icd("a"))}, "a")


def library_as_vendors_by_name(loader: Loader, sandbox: Sandbox) -> bool:
    """The same, where the library is named as the dynamic linker looks for it, without a folder."""
    library = sandbox.icd("a").path
    sandbox.env["LD_LIBRARY_PATH"] = str(library.parent)
    return _lists_because_of(_by_variable(loader), sandbox, {"OCL_ICD_VENDORS": library.name}, "a")


def deduplicates(loader: Loader, sandbox: Sandbox) -> bool:
    """Whether a library that two files name is listed once."""
    mock = sandbox.vendor("a")
    sandbox.vendor_file("again.icd", f"{mock}\n")
    return _lists(loader.start(sandbox), "a")


def deduplicates_the_last(loader: Loader, sandbox: Sandbox) -> bool:
    """The same beside another library, where it is the last that two files name."""
    first, last = sandbox.icd("first"), sandbox.icd("last")
    sandbox.vendors_in_order([f"{mock}\n" for mock in (first, last, last)])
    with loader.start(sandbox) as cl:
        return sorted(cl.platform_names()) == ["first", "last"]


def _goes_through(loader: Loader, sandbox: Sandbox, layer: str) -> bool:
    sandbox.vendor("a")
    return _lists(loader.start(sandbox), "a") and bool(sandbox.log.calls("clGetPlatformIDs", by=layer))


def one_layer(loader: Loader, sandbox: Sandbox) -> bool:
    """Whether calls go through the layer that OPENCL_LAYERS names."""
    sandbox.env["OPENCL_LAYERS"] = str(sandbox.layer("layer"))
    return _goes_through(loader, sandbox, "layer")


def one_layer_by_former_name(loader: Loader, sandbox: Sandbox) -> bool:
    """Whether calls go through the layer that OCL_ICD_LAYERS names: so the variable was called in the drafts."""
    sandbox.env["OCL_ICD_LAYERS"] = str(sandbox.layer("layer"))
    return _goes_through(loader, sandbox, "layer")


def first_of_two_layers(loader: Loader, sandbox: Sandbox) -> bool:
    """Whether they go through the first of two."""
    sandbox.env["OPENCL_LAYERS"] = f"{sandbox.layer('first')}:{sandbox.layer('second')}"
    return _goes_through(loader, sandbox, "first")


def second_of_two_layers(loader: Loader, sandbox: Sandbox) -> bool:
    """Whether they go through the second of two."""
    sandbox.env["OPENCL_LAYERS"] = f"{sandbox.layer('first')}:{sandbox.layer('second')}"
    return _goes_through(loader, sandbox, "second")


def layer_of_the_registry(loader: Loader, sandbox: Sandbox) -> bool:
    """Whether calls go through the layer that a value of the Layers key names; of Windows alone."""
    sandbox.registry_layer(sandbox.layer("layer"))
    return _goes_through(loader, sandbox, "layer")


def second_layer_of_the_registry(loader: Loader, sandbox: Sandbox) -> bool:
    """Whether they go through the second of two."""
    for priority, name in enumerate(("first", "second"), start=1):
        sandbox.registry_layer(sandbox.layer(name), priority)
    return _goes_through(loader, sandbox, "second")


def _layer_folder(sandbox: Sandbox) -> Path:
    folder = sandbox.folder("layers")
    sandbox.vendor_file("layer.lay", f"{sandbox.layer('layer')}\n", folder)
    return folder


def layer_directory(loader: Loader, sandbox: Sandbox) -> bool:
    """Whether OPENCL_LAYER_PATH names a directory of layers."""
    sandbox.env["OPENCL_LAYER_PATH"] = str(_layer_folder(sandbox))
    return _goes_through(loader, sandbox, "layer")


def layer_directory_with_slash(loader: Loader, sandbox: Sandbox) -> bool:
    """The same, where the directory's name ends with a slash."""
    sandbox.env["OPENCL_LAYER_PATH"] = f"{_layer_folder(sandbox)}/"
    return _goes_through(loader, sandbox, "layer")


def trace(loader: Loader, sandbox: Sandbox) -> bool:
    """Whether OCL_ICD_ENABLE_TRACE makes the loader say something."""
    sandbox.vendor("a")
    sandbox.env["OCL_ICD_ENABLE_TRACE"] = "True"
    session = loader.start(sandbox)
    return _lists(session, "a") and bool(session.stderr)


def trace_beside_no_vendor(loader: Loader, sandbox: Sandbox) -> bool:
    """The same, where there is no vendor."""
    sandbox.env["OCL_ICD_ENABLE_TRACE"] = "True"
    session = loader.start(sandbox)
    return _lists(session) and bool(session.stderr)


def unloads(loader: Loader, sandbox: Sandbox) -> bool:
    """Whether a vendor that can be unloaded is, with the loader."""
    mock = sandbox.vendor("a", extensions="cl_khr_icd cl_khr_icd_unloadable", unloadable=True)
    with loader.start(sandbox) as cl:
        cl.GetPlatformIDs()
        cl.close()
        return not cl.maps(mock)


def unloads_one_of_two(loader: Loader, sandbox: Sandbox) -> bool:
    """The same of two vendors, of which one must be unloaded."""
    mocks = [sandbox.vendor(n, extensions="cl_khr_icd cl_khr_icd_unloadable", unloadable=True) for n in ("a", "b")]
    with loader.start(sandbox) as cl:
        cl.GetPlatformIDs()
        cl.close()
        return not all(cl.maps(mock) for mock in mocks)


def keeps_vendors_loaded(loader: Loader, sandbox: Sandbox) -> bool:
    """Whether OCL_ICD_DISABLE_DYNAMIC_LIBRARY_UNLOADING keeps a vendor that else is unloaded with the loader."""
    mock = sandbox.vendor("a", extensions="cl_khr_icd cl_khr_icd_unloadable", unloadable=True)
    return _stays_because_it_is_told_to(loader, sandbox, mock)


def keeps_layers_loaded(loader: Loader, sandbox: Sandbox) -> bool:
    """The same of a layer."""
    sandbox.vendor("a")
    layer = sandbox.layer("layer")
    sandbox.env["OPENCL_LAYERS"] = str(layer)
    return _stays_because_it_is_told_to(loader, sandbox, layer)


def _stays_because_it_is_told_to(loader: Loader, sandbox: Sandbox, mock: MockIcd | MockLayer) -> bool:
    stays = []
    for value in ("False", "True"):
        sandbox.env["OCL_ICD_DISABLE_DYNAMIC_LIBRARY_UNLOADING"] = value
        with loader.start(sandbox) as cl:
            cl.GetPlatformIDs()
            cl.close()
            stays.append(bool(cl.maps(mock)))
    return stays == [False, True]


def layers_with_properties(loader: Loader, sandbox: Sandbox) -> bool:
    """Whether a layer that has both functions is initialised by clInitLayerWithProperties."""
    sandbox.vendor("a")
    sandbox.env["OPENCL_LAYERS"] = str(sandbox.layer("layer"))
    with loader.start(sandbox) as cl:
        cl.GetPlatformIDs()
    return bool(sandbox.log.calls("clInitLayerWithProperties", by="layer"))


def one_of_two_layers_with_properties(loader: Loader, sandbox: Sandbox) -> bool:
    """The same of two layers, of which one must be initialised so."""
    sandbox.vendor("a")
    sandbox.env["OPENCL_LAYERS"] = f"{sandbox.layer('first')}:{sandbox.layer('second')}"
    with loader.start(sandbox) as cl:
        cl.GetPlatformIDs()
    return any(sandbox.log.calls("clInitLayerWithProperties", by=layer) for layer in ("first", "second"))


def default_platform(loader: Loader, sandbox: Sandbox) -> bool:
    """Whether OCL_ICD_DEFAULT_PLATFORM says by number which platform NULL stands for."""
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


def default_platform_of_two_vendors(loader: Loader, sandbox: Sandbox) -> bool:
    """The same, where the platforms are two vendors', and asked for their devices."""
    sandbox.vendor("a")
    sandbox.vendor("b")
    sandbox.env["OCL_ICD_DEFAULT_PLATFORM"] = "1"
    with loader.start(sandbox) as cl:
        names = cl.platform_names()
        before = [len(sandbox.log.calls("clGetDeviceIDs", by=name)) for name in names]
        cl.clGetDeviceIDs(None, api().constant("CL_DEVICE_TYPE_ALL"), 0, None, cl.buffer(4, 0))
        after = [len(sandbox.log.calls("clGetDeviceIDs", by=name)) for name in names]
    return [late - early for late, early in zip(after, before, strict=True)] == [0, 1]


def sorts_by_devices(loader: Loader, sandbox: Sandbox) -> bool:
    """Whether platforms with more GPUs are listed first."""
    mocks = [sandbox.icd("one", gpus=1), sandbox.icd("three", gpus=3), sandbox.icd("two", gpus=2)]
    sandbox.vendors_in_order([f"{mock}\n" for mock in mocks])
    with loader.start(sandbox) as cl:
        return bool(cl.platform_names() == ["three", "two", "one"])


def sorts_by_cpus(loader: Loader, sandbox: Sandbox) -> bool:
    """Whether platforms with more CPUs are listed first."""
    mocks = [sandbox.icd("one", cpus=1), sandbox.icd("three", cpus=3), sandbox.icd("two", cpus=2)]
    sandbox.vendors_in_order([f"{mock}\n" for mock in mocks])
    with loader.start(sandbox) as cl:
        return bool(cl.platform_names() == ["three", "two", "one"])


def assumes_icd_extension(loader: Loader, sandbox: Sandbox) -> bool:
    """Whether OCL_ICD_ASSUME_ICD_EXTENSION lists a vendor that does not advertise cl_khr_icd."""
    return _lists_by_assumption(loader, sandbox, "1")


def assumes_icd_extension_to_debug(loader: Loader, sandbox: Sandbox) -> bool:
    """The same with the value that makes ocl-icd report what it does."""
    return _lists_by_assumption(loader, sandbox, "debug")


def _lists_by_assumption(loader: Loader, sandbox: Sandbox, value: str) -> bool:
    sandbox.vendor("a", extensions="cl_khr_other")
    return _lists_because_of(loader, sandbox, {"OCL_ICD_ASSUME_ICD_EXTENSION": value}, "a")


def _with_info_function_in_the_table_only(sandbox: Sandbox) -> None:
    sandbox.vendor("a", variant="icd_without_get_platform_info", faults=["get_platform_info_not_returned"])


def info_function_of_the_table(loader: Loader, sandbox: Sandbox) -> bool:
    """Whether a vendor is listed of which nothing but the dispatch table has clGetPlatformInfo."""
    _with_info_function_in_the_table_only(sandbox)
    return _lists(loader.start(sandbox), "a")


def info_function_of_the_table_first(loader: Loader, sandbox: Sandbox) -> bool:
    """Whether the table's clGetPlatformInfo is called where the library exports another one."""
    sandbox.vendor("a", faults=["exported_info_differs", "get_platform_info_not_returned"])
    return _lists(loader.start(sandbox), "a") and not sandbox.log.happened("exported clGetPlatformInfo", by="a")


def info_function_of_the_table_by_assumption(loader: Loader, sandbox: Sandbox) -> bool:
    """The same with OCL_ICD_ASSUME_ICD_EXTENSION; a loader that lists it without the variable does so, too."""
    sandbox.env["OCL_ICD_ASSUME_ICD_EXTENSION"] = "1"
    return info_function_of_the_table(loader, sandbox)


def icd2(loader: Loader, sandbox: Sandbox) -> bool:
    """Whether a vendor of cl_khr_icd 2.0 gets dispatch data from the loader."""
    sandbox.vendor("a", icd2=True)
    return _lists(loader.start(sandbox), "a") and bool(sandbox.log.calls("clIcdSetPlatformDispatchDataKHR", by="a"))


def icd2_beside_icd1(loader: Loader, sandbox: Sandbox) -> bool:
    """The same beside a vendor of version 1."""
    sandbox.vendor("a", icd2=True)
    sandbox.vendor("b")
    listed = _lists(loader.start(sandbox), "a", "b")
    return listed and bool(sandbox.log.calls("clIcdSetPlatformDispatchDataKHR", by="a"))


def one_vendor(loader: Loader, sandbox: Sandbox) -> bool:
    """Whether a vendor with nothing unusual is listed."""
    sandbox.vendor("a")
    return _lists(loader.start(sandbox), "a")


def loader_info(loader: Loader, sandbox: Sandbox) -> bool:
    """Whether there is the function; fills in the loader's name and versions where it reports them.

    What it answers is its checks' business: a query that fails is not one that is missing.
    """
    sandbox.vendor("a")
    with loader.start(sandbox) as cl:
        address = cl.GetExtensionFunctionAddress(LOADER_INFO)
        if not address:
            return False
        answers = []
        for query in (1, 2, 3):
            text = cl.buffer(256, 0)
            failed = cl.call_at(address, LOADER_INFO, query, 256, text, None)
            answers.append("" if failed else text.text())
    facts = loader.facts
    facts.opencl_version, facts.version = answers[:2]
    facts.name = answers[2] or facts.name
    return True


def loader_info_has_an_address(loader: Loader, sandbox: Sandbox) -> bool:
    """Whether there is the function; asks it nothing."""
    sandbox.vendor("a")
    with loader.start(sandbox) as cl:
        return bool(cl.GetExtensionFunctionAddress(LOADER_INFO))


def ask_for_variables(loader: Loader, sandbox: Sandbox, watch: Path) -> None:
    """Has the loader ask for its variables, whose names go into the file `watch`."""
    sandbox.vendor("a")
    sandbox.vendor("b")
    with loader.start(sandbox, watch=watch) as cl:
        cl.GetPlatformIDs()
        # Some look for a default platform only where one is needed; others need not survive it.
        cl.clGetPlatformInfo(None, api().constant("CL_PLATFORM_NAME"), 64, cl.buffer(64, 0), None)
