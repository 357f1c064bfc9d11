# SPDX-License-Identifier: Apache-2.0
"""Which folders of the machine a Vulkan loader searches, and when it does so (VK-DSC)."""

from pathlib import Path

import pytest

from harness.check import NEGOTIATE, VulkanLoader, VulkanSandbox, requirement

VARIABLES = ("XDG_CONFIG_HOME", "XDG_CONFIG_DIRS", "XDG_DATA_HOME", "XDG_DATA_DIRS")
LISTS = ("VK_DRIVER_FILES", "VK_ICD_FILENAMES", "VK_ADD_DRIVER_FILES")
# Variables that stand in for folders of the machine.
STAND_FOR = {"XDG_CONFIG_DIRS": ["/etc/xdg"], "XDG_DATA_DIRS": ["/usr/local/share", "/usr/share"]}

NOT_USED = pytest.mark.requirement("VK-EXT-014")


def install_on_the_machine(sandbox: VulkanSandbox, name: str, place: str) -> None:
    """A driver in a folder of the machine, which the sandbox's own stands in for."""
    folder = sandbox.search_folder(f"machine/{name}")
    sandbox.manifest(f"{name}.json", sandbox.library(name), folder)
    sandbox.binds[place] = sandbox.root / "machine" / name


@requirement("VK-DSC-004")
@pytest.mark.parametrize("variable", STAND_FOR)
def test_list_of_folders_replaces_those_of_the_machine(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, variable: str
) -> None:
    """Where the variable is set, the folders that are searched without it are not; they are where it is not."""
    for number, place in enumerate(STAND_FOR[variable]):
        install_on_the_machine(sandbox, f"machine{number}", place)
    sandbox.manifest("listed.json", sandbox.library("listed"), sandbox.search_folder("listed"))
    sandbox.env[variable] = str(sandbox.root / "listed")

    with vulkan_loader.start(sandbox, search=True) as vk:
        assert vk.drivers() == {"listed"}
    with vulkan_loader.start(sandbox, search=True, unset=(variable,)) as vk:
        assert vk.drivers() == {f"machine{number}" for number in range(len(STAND_FOR[variable]))}


@requirement("VK-DSC-004")
@pytest.mark.parametrize("home", [None, "", "/nonexistent"], ids=["not set", "empty", "missing"])
def test_search_goes_on_without_a_home(vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, home: str | None) -> None:
    """A process without a folder of its own finds the drivers of the machine, and all others."""
    install_on_the_machine(sandbox, "machine", "/usr/share")
    sandbox.manifest("listed.json", sandbox.library("listed"), sandbox.search_folder("listed"))
    sandbox.env |= {"XDG_CONFIG_DIRS": str(sandbox.root / "listed"), "HOME": home or ""}
    unset = ["XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_DATA_DIRS", *(["HOME"] if home is None else [])]

    with vulkan_loader.start(sandbox, search=True, unset=tuple(unset)) as vk:
        assert vk.drivers() == {"listed", "machine"}


@requirement("VK-DSC-004")
@pytest.mark.parametrize("variable", VARIABLES)
def test_folder_of_a_variable_needs_no_home(vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, variable: str) -> None:
    """What a variable names is searched in a process that has no HOME, too."""
    sandbox.manifest("named.json", sandbox.library("named"), sandbox.search_folder("place"))
    sandbox.env[variable] = str(sandbox.root / "place")

    with vulkan_loader.start(sandbox, search=True, unset=("HOME",)) as vk:
        assert vk.drivers() == {"named"}


@requirement("VK-DSC-004")
@pytest.mark.parametrize("variable", LISTS)
def test_list_of_a_variable_needs_no_home(vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, variable: str) -> None:
    """Without HOME, what a list names is used as it is with it."""
    vulkan_loader.require(variable)
    sandbox.env[variable] = str(sandbox.manifest("named.json", sandbox.library("named")))

    for unset in ((), ("HOME",)):
        with vulkan_loader.start(sandbox, search=True, unset=unset) as vk:
            assert vk.drivers() == {"named"}


@requirement("VK-DSC-029")
def test_compiled_in_folder_of_the_configuration_is_searched_in_order(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox
) -> None:
    """A loader that is configured for /usr/local searches /usr/local/etc after XDG_CONFIG_DIRS, and /etc after that."""
    place = Path("/usr/local/etc")
    if not place.is_dir():
        vulkan_loader.require("/usr/local/etc")
    install_on_the_machine(sandbox, "local", str(place))
    with vulkan_loader.start(sandbox, search=True) as vk:
        is_compiled_in = f"{place}\0".encode() in vulkan_loader.path.read_bytes()
        if vk.CreateInstance()[0] != 0 and not is_compiled_in:
            vulkan_loader.require("/usr/local/etc")
    for variable in VARIABLES:
        sandbox.manifest("any.json", sandbox.library(variable), sandbox.search_folder(variable))
        sandbox.env[variable] = str(sandbox.root / variable)
    sandbox.manifest("etc.json", sandbox.library("etc"), sandbox.search_folder("etc"))
    sandbox.binds["/etc/vulkan"] = sandbox.root / "etc/vulkan"
    sandbox.forget_log()

    with vulkan_loader.start(sandbox, search=True) as vk:
        vk.instance()
    order = list(dict.fromkeys(event.who for event in sandbox.log.calls(NEGOTIATE)))
    assert order == ["XDG_CONFIG_HOME", "XDG_CONFIG_DIRS", "local", "etc", "XDG_DATA_HOME", "XDG_DATA_DIRS"]


@requirement("VK-DSC-039")
@pytest.mark.parametrize("variable", LISTS)
def test_manifests_are_loaded_in_the_order_of_their_list(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, variable: str
) -> None:
    """Whatever their names are and wherever they lie, drivers are negotiated with as the variable lists them."""
    vulkan_loader.require(variable)
    names = ["m", "z", "a", "k", "b", "y"]
    paths = [
        sandbox.manifest(f"{name}.json", sandbox.library(name), sandbox.search_folder(name[:1] if i % 2 else "place"))
        for i, name in enumerate(names)
    ]
    sandbox.env[variable] = ":".join(map(str, paths))

    with vulkan_loader.start(sandbox, search=True) as vk:
        vk.instance()
    assert list(dict.fromkeys(event.who for event in sandbox.log.calls(NEGOTIATE))) == names


@requirement("VK-DSC-002", "VK-DSC-004")
@pytest.mark.parametrize("variable", [*LISTS, "XDG_CONFIG_DIRS", "XDG_DATA_DIRS"])
@pytest.mark.parametrize("place", ["before", "between"])
def test_element_of_a_list_that_is_nothing_costs_only_itself(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, variable: str, place: str
) -> None:
    """Folders that are missing or empty, and files, keep nobody from what the list names as well."""
    is_folders = variable.startswith("XDG")
    if not is_folders:
        vulkan_loader.require(variable)
    text = sandbox.root / "text"
    text.write_text("text")
    nothing = [sandbox.root / "missing", sandbox.folder("empty"), text]
    elements = []
    for name in ("one", "two"):
        folder = sandbox.search_folder(name)
        path = sandbox.manifest(f"{name}.json", sandbox.library(name), folder)
        elements.append(sandbox.root / name if is_folders else path)
    at = 1 if place == "between" else 0
    elements[at:at] = nothing
    sandbox.env[variable] = ":".join(map(str, elements))

    with vulkan_loader.start(sandbox, search=True) as vk:
        assert vk.drivers() == {"one", "two"}


@requirement("VK-DSC-040")
@pytest.mark.parametrize("variable", ["XDG_DATA_HOME", "VK_DRIVER_FILES"])
def test_folders_below_a_folder_of_manifests_are_not_searched(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, variable: str
) -> None:
    """Manifests in a folder are used, and those in folders in it are not."""
    if variable in LISTS:
        vulkan_loader.require(variable)
    folder = sandbox.search_folder("place")
    sandbox.manifest("a.json", sandbox.library("a"), folder)
    for below in ("below", "below/icd.d", "b.d"):
        (folder / below).mkdir()
        sandbox.manifest("deeper.json", sandbox.library("deeper"), folder / below)
    sandbox.env[variable] = str(folder if variable in LISTS else sandbox.root / "place")

    with vulkan_loader.start(sandbox, search=True) as vk:
        assert vk.drivers() == {"a"}
    assert not sandbox.log.of("deeper")


@requirement("VK-DSC-041")
def test_drivers_are_looked_for_with_each_instance(vulkan_loader: VulkanLoader, sandbox: VulkanSandbox) -> None:
    """What is installed while a process runs is found by its next instance; what is removed is not."""
    folder = sandbox.search_folder("place")
    sandbox.env["XDG_DATA_HOME"] = str(sandbox.root / "place")
    first = sandbox.manifest("first.json", sandbox.library("first"), folder)

    with vulkan_loader.start(sandbox, search=True) as vk:
        instance = vk.instance()
        assert vk.drivers(instance) == {"first"}
        vk.vkDestroyInstance(instance, None)
        second = sandbox.manifest("second.json", sandbox.library("second"), folder)
        instance = vk.instance()
        assert vk.drivers(instance) == {"first", "second"}
        vk.vkDestroyInstance(instance, None)
        first.unlink()
        instance = vk.instance()
        assert vk.drivers(instance) == {"second"}
        vk.vkDestroyInstance(instance, None)
        second.unlink()
        assert str(vk.CreateInstance()[0]) == "VK_ERROR_INCOMPATIBLE_DRIVER"


@requirement("VK-EXT-015")
def test_extension_of_a_portability_driver_is_listed_before_it_is_asked_for(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox
) -> None:
    """Before there is an instance nobody can have asked for such drivers: their extensions are listed with the rest."""
    vulkan_loader.require("hides portability drivers")
    portability, extension = "VK_KHR_portability_enumeration", "VK_KHR_device_group_creation"
    vulkan_loader.require(portability)
    sandbox.driver("plain")
    with vulkan_loader.start(sandbox) as vk:
        assert extension not in vk.extension_names()
    fields = {"is_portability_driver": True, "file_format_version": "1.0.1"}
    sandbox.driver("port", extensions=extension, manifest=fields)

    with vulkan_loader.start(sandbox) as vk:
        assert extension in vk.extension_names()
        assert vk.drivers(extensions=[portability, extension], flags=1) == {"plain", "port"}


@pytest.mark.parametrize(
    "how",
    [
        *(pytest.param(how, marks=NOT_USED) for how in ("disabled", "not selected", "not named")),
        pytest.param("of another architecture", marks=pytest.mark.requirement("VK-DSC-022")),
    ],
)
def test_extension_of_a_driver_that_is_not_used_is_not_listed(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, how: str
) -> None:
    """Extensions of instances are those of the drivers that an instance would have, before there is one."""
    extension, other = "VK_KHR_device_group_creation", "VK_KHR_external_memory_capabilities"
    fields = {"library_arch": "32", "file_format_version": "1.0.1"} if how == "of another architecture" else {}
    sandbox.driver("used", extensions=other)
    with vulkan_loader.start(sandbox) as vk:
        assert other in vk.extension_names() and extension not in vk.extension_names()

    sandbox.driver("unused", extensions=extension, manifest=fields)
    if how == "not named":
        sandbox.shown.pop()
    elif how == "of another architecture":
        vulkan_loader.require("library_arch")
    else:
        vulkan_loader.require("driver filters")
        variable = "VK_LOADER_DRIVERS_DISABLE" if how == "disabled" else "VK_LOADER_DRIVERS_SELECT"
        sandbox.env[variable] = "unused.json" if how == "disabled" else "used.json"
    with vulkan_loader.start(sandbox) as vk:
        assert other in vk.extension_names() and extension not in vk.extension_names()
