# SPDX-License-Identifier: Apache-2.0
"""Where a Vulkan loader looks for drivers: folders, variables and their order (VK-DSC)."""

from collections.abc import Callable
from pathlib import Path

import pytest

from harness.check import NEGOTIATE, VulkanLoader, VulkanSandbox, manifest_of, requirement

NAMES = ("VK_DRIVER_FILES", "VK_ICD_FILENAMES")
PLACES = ("/etc/xdg", "/etc/vulkan", "/usr/local/share", "/usr/share")
DRIVER_FOLDER = "vulkan/icd.d"
NO_DRIVER = pytest.mark.requirement("VK-DSC-024")
VARIABLES = ("XDG_CONFIG_HOME", "XDG_CONFIG_DIRS", "XDG_DATA_HOME", "XDG_DATA_DIRS")


def negotiated(sandbox: VulkanSandbox) -> list[str]:
    """The drivers in the order in which the loader met them first."""
    return list(dict.fromkeys(event.who for event in sandbox.log.calls(NEGOTIATE)))


def install(sandbox: VulkanSandbox, name: str, folder: Path) -> None:
    """A driver whose manifest lies in a folder."""
    sandbox.manifest(f"{name}.json", sandbox.library(name), folder)


def require_names(loader: VulkanLoader, *names: str) -> None:
    for name in names:
        loader.require(name)


@requirement("VK-DSC-001")
@pytest.mark.parametrize("variable", NAMES)
def test_variable_replaces_the_search(vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, variable: str) -> None:
    """Manifests that the variable names are the only ones: folders are not searched."""
    require_names(vulkan_loader, variable)
    install(sandbox, "found", sandbox.search_folder("data"))
    sandbox.env["XDG_DATA_HOME"] = str(sandbox.root / "data")
    with vulkan_loader.start(sandbox, search=True) as vk:
        assert vk.drivers() == {"found"}

    named = sandbox.manifest("named.json", sandbox.library("named"))
    sandbox.env[variable] = str(named)
    with vulkan_loader.start(sandbox, search=True) as vk:
        assert vk.drivers() == {"named"}


@requirement("VK-DSC-002")
@pytest.mark.parametrize("variable", NAMES)
def test_list_in_a_variable_is_separated_by_colons(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, variable: str
) -> None:
    """Each element of the list is a manifest; a comma is part of a path."""
    require_names(vulkan_loader, variable)
    paths = [sandbox.manifest(name, sandbox.library(name[0])) for name in ("a.json", "b,.json", "c;d.json")]
    sandbox.env[variable] = ":".join(map(str, paths))

    with vulkan_loader.start(sandbox, search=True) as vk:
        assert vk.drivers() == {"a", "b", "c"}


@requirement("VK-DSC-014")
def test_newer_variable_is_used_where_both_are_set(vulkan_loader: VulkanLoader, sandbox: VulkanSandbox) -> None:
    """VK_ICD_FILENAMES is ignored beside VK_DRIVER_FILES, and used without it."""
    require_names(vulkan_loader, *NAMES)
    sandbox.env["VK_DRIVER_FILES"] = str(sandbox.manifest("new.json", sandbox.library("new")))
    sandbox.env["VK_ICD_FILENAMES"] = str(sandbox.manifest("old.json", sandbox.library("old")))

    with vulkan_loader.start(sandbox, search=True) as vk:
        assert vk.drivers() == {"new"}
    with vulkan_loader.start(sandbox, search=True, unset=("VK_DRIVER_FILES",)) as vk:
        assert vk.drivers() == {"old"}


@requirement("VK-DSC-038")
def test_empty_variable_of_manifests_is_set_or_not(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, record: Callable[[str], None]
) -> None:
    """An empty VK_DRIVER_FILES names no driver, or counts as not there; with a name it is used."""
    require_names(vulkan_loader, *NAMES)
    sandbox.env["VK_ICD_FILENAMES"] = str(sandbox.manifest("old.json", sandbox.library("old")))
    sandbox.env["VK_DRIVER_FILES"] = str(sandbox.manifest("new.json", sandbox.library("new")))
    with vulkan_loader.start(sandbox, search=True) as vk:
        assert vk.drivers() == {"new"}

    sandbox.env["VK_DRIVER_FILES"] = ""
    with vulkan_loader.start(sandbox, search=True) as vk:
        names = list(vk.drivers())
    assert names in ([], ["old"])
    record("not set" if names else "names no driver")


@requirement("VK-DSC-015")
def test_variable_names_a_folder_of_manifests(vulkan_loader: VulkanLoader, sandbox: VulkanSandbox) -> None:
    """A folder in the list stands for the manifests in it; other files in it are passed over."""
    vulkan_loader.require("VK_DRIVER_FILES")
    folder = sandbox.folder("several")
    install(sandbox, "a", folder)
    install(sandbox, "b", folder)
    sandbox.manifest("c.text", sandbox.library("c"), folder)
    sandbox.env["VK_DRIVER_FILES"] = f"{folder}:{sandbox.manifest('d.json', sandbox.library('d'))}"

    with vulkan_loader.start(sandbox, search=True) as vk:
        assert vk.drivers() == {"a", "b", "d"}


@requirement("VK-DSC-016")
@pytest.mark.parametrize("variable", VARIABLES)
def test_added_drivers_come_before_those_of_the_search(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, variable: str
) -> None:
    """VK_ADD_DRIVER_FILES adds to the search, at its front; each folder is searched as before."""
    vulkan_loader.require("VK_ADD_DRIVER_FILES")
    install(sandbox, "found", sandbox.search_folder("place"))
    sandbox.env[variable] = str(sandbox.root / "place")
    sandbox.env["VK_ADD_DRIVER_FILES"] = str(sandbox.manifest("added.json", sandbox.library("added")))

    with vulkan_loader.start(sandbox, search=True) as vk:
        assert vk.drivers() == {"added", "found"}
    assert negotiated(sandbox) == ["added", "found"]


@requirement("VK-DSC-016")
def test_folder_of_added_drivers_is_searched(vulkan_loader: VulkanLoader, sandbox: VulkanSandbox) -> None:
    """VK_ADD_DRIVER_FILES takes folders and files alike, with colons between them."""
    vulkan_loader.require("VK_ADD_DRIVER_FILES")
    folder = sandbox.folder("several")
    install(sandbox, "a", folder)
    sandbox.env["VK_ADD_DRIVER_FILES"] = f"{folder}:{sandbox.manifest('b.json', sandbox.library('b'))}"

    with vulkan_loader.start(sandbox, search=True) as vk:
        assert vk.drivers() == {"a", "b"}


@requirement("VK-DSC-017")
@pytest.mark.parametrize("variable", NAMES)
def test_nothing_is_added_to_an_override(vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, variable: str) -> None:
    """VK_ADD_DRIVER_FILES is ignored where a variable replaces the search."""
    require_names(vulkan_loader, "VK_ADD_DRIVER_FILES", variable)
    sandbox.env["VK_ADD_DRIVER_FILES"] = str(sandbox.manifest("added.json", sandbox.library("added")))
    with vulkan_loader.start(sandbox, search=True) as vk:
        assert vk.drivers() == {"added"}

    sandbox.env[variable] = str(sandbox.manifest("named.json", sandbox.library("named")))
    with vulkan_loader.start(sandbox, search=True) as vk:
        assert vk.drivers() == {"named"}


@requirement("VK-DSC-004")
@pytest.mark.parametrize("variable", VARIABLES)
def test_folder_of_a_variable_is_searched(vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, variable: str) -> None:
    """Manifests lie in vulkan/icd.d below the folder that the variable names, and not in the folder itself."""
    install(sandbox, "below", sandbox.search_folder("place"))
    sandbox.manifest("beside.json", sandbox.library("beside"), sandbox.root / "place")
    with vulkan_loader.start(sandbox, search=True) as vk:
        assert vk.CreateInstance()[0] != 0

    sandbox.env[variable] = str(sandbox.root / "place")
    with vulkan_loader.start(sandbox, search=True) as vk:
        assert vk.drivers() == {"below"}


@requirement("VK-DSC-058")
@pytest.mark.parametrize(("variable", "folder"), [("XDG_CONFIG_HOME", ".config"), ("XDG_DATA_HOME", ".local/share")])
def test_empty_variable_is_not_set(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, variable: str, folder: str
) -> None:
    """A variable without a value changes nothing: the folder in $HOME stands in for it."""
    install(sandbox, "home", sandbox.search_folder(f"home/{folder}"))
    sandbox.env["HOME"] = str(sandbox.root / "home")
    with vulkan_loader.start(sandbox, search=True, unset=(variable,)) as vk:
        assert vk.drivers() == {"home"}

    sandbox.env[variable] = ""
    with vulkan_loader.start(sandbox, search=True) as vk:
        assert vk.drivers() == {"home"}


@requirement("VK-DSC-004")
@pytest.mark.parametrize("variable", ["XDG_CONFIG_DIRS", "XDG_DATA_DIRS"])
def test_variable_of_several_folders_is_a_list(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, variable: str
) -> None:
    """The folders stand with colons between them, and are searched in order."""
    for name in ("one", "two", "three"):
        install(sandbox, name, sandbox.search_folder(name))
    sandbox.env[variable] = ":".join(str(sandbox.root / name) for name in ("two", "three", "one"))

    with vulkan_loader.start(sandbox, search=True) as vk:
        assert vk.drivers() == {"one", "two", "three"}
    assert negotiated(sandbox) == ["two", "three", "one"]


@requirement("VK-DSC-058")
@pytest.mark.parametrize("variable", ["XDG_CONFIG_DIRS", "XDG_DATA_DIRS", "VK_ADD_DRIVER_FILES", *NAMES])
def test_empty_elements_of_a_list_name_nothing(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, variable: str
) -> None:
    """What the list names is used, wherever colons stand without anything between them."""
    is_folders = variable.startswith("XDG")
    if not is_folders:
        vulkan_loader.require(variable)
    named = []
    for name in ("one", "two"):
        install(sandbox, name, sandbox.search_folder(name))
        named.append(str(sandbox.root / name if is_folders else sandbox.root / name / DRIVER_FOLDER / f"{name}.json"))
    sandbox.env[variable] = f":{named[0]}::{named[1]}:"

    with vulkan_loader.start(sandbox, search=True) as vk:
        assert vk.drivers() == {"one", "two"}


@requirement("VK-DSC-004")
@pytest.mark.parametrize("length", [250, 1500])
def test_folder_may_have_a_long_path(vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, length: int) -> None:
    """A manifest is found and its library loaded, however long the path of their folder is."""
    place = sandbox.root.joinpath("long", *["d" * 99] * (length // 100))
    folder = place / DRIVER_FOLDER
    folder.mkdir(parents=True)
    sandbox.manifest("a.json", sandbox.library("a", folder=folder), folder, library_path="./liba.so")
    sandbox.env["XDG_DATA_HOME"] = str(place)

    with vulkan_loader.start(sandbox, search=True) as vk:
        assert vk.drivers() == {"a"}


@requirement("VK-DSC-004")
@pytest.mark.parametrize(("variable", "folder"), [("XDG_CONFIG_HOME", ".config"), ("XDG_DATA_HOME", ".local/share")])
def test_folder_of_the_user_lies_in_the_home(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, variable: str, folder: str
) -> None:
    """Where the variable is not set, the folder in $HOME stands in; where it is set, that is not looked at."""
    install(sandbox, "home", sandbox.search_folder(f"home/{folder}"))
    sandbox.env["HOME"] = str(sandbox.root / "home")
    with vulkan_loader.start(sandbox, search=True, unset=(variable,)) as vk:
        assert vk.drivers() == {"home"}

    install(sandbox, "set", sandbox.search_folder("set"))
    sandbox.env[variable] = str(sandbox.root / "set")
    with vulkan_loader.start(sandbox, search=True) as vk:
        assert vk.drivers() == {"set"}


def fill_places(sandbox: VulkanSandbox) -> dict[str, str]:
    """A driver in each folder of the machine that is searched without variables; gives the folder of each driver."""
    drivers = {}
    for number, place in enumerate(PLACES):
        name = f"place{number}"
        below = "vulkan/icd.d" if place != "/etc/vulkan" else "icd.d"
        folder = sandbox.root / "machine" / name / below
        folder.mkdir(parents=True)
        install(sandbox, name, folder)
        sandbox.binds[place] = sandbox.root / "machine" / name
        drivers[name] = place
    return drivers


@requirement("VK-DSC-004")
def test_folders_of_the_machine_are_searched_without_variables(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox
) -> None:
    """/etc/xdg, the configuration of the system, /usr/local/share and /usr/share, in this order."""
    drivers = fill_places(sandbox)

    with vulkan_loader.start(sandbox, search=True, unset=VARIABLES) as vk:
        assert vk.drivers() == set(drivers)
    assert negotiated(sandbox) == list(drivers)


@requirement("VK-DSC-058")
def test_empty_lists_of_folders_are_not_set(vulkan_loader: VulkanLoader, sandbox: VulkanSandbox) -> None:
    """Without a value XDG_CONFIG_DIRS and XDG_DATA_DIRS change nothing: the machine's folders are searched."""
    drivers = fill_places(sandbox)
    sandbox.env |= {"XDG_CONFIG_DIRS": "", "XDG_DATA_DIRS": ""}

    with vulkan_loader.start(sandbox, search=True, unset=("XDG_CONFIG_HOME", "XDG_DATA_HOME")) as vk:
        assert vk.drivers() == set(drivers)
    assert negotiated(sandbox) == list(drivers)


@requirement("VK-DSC-029")
def test_folders_are_searched_in_the_documented_order(vulkan_loader: VulkanLoader, sandbox: VulkanSandbox) -> None:
    """XDG_CONFIG_HOME, XDG_CONFIG_DIRS, the system's configuration, XDG_DATA_HOME, XDG_DATA_DIRS."""
    for variable in VARIABLES:
        install(sandbox, variable, sandbox.search_folder(variable))
        sandbox.env[variable] = str(sandbox.root / variable)
    etc = sandbox.root / "machine/icd.d"
    etc.mkdir(parents=True)
    install(sandbox, "etc", etc)
    sandbox.binds["/etc/vulkan"] = etc.parent

    with vulkan_loader.start(sandbox, search=True) as vk:
        assert vk.drivers() == {*VARIABLES, "etc"}
    assert negotiated(sandbox) == ["XDG_CONFIG_HOME", "XDG_CONFIG_DIRS", "etc", "XDG_DATA_HOME", "XDG_DATA_DIRS"]


@requirement("VK-DSC-006")
@pytest.mark.parametrize("others", [0, 40, 500])
def test_all_manifests_of_a_folder_are_read(vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, others: int) -> None:
    """Twenty manifests in one folder, beside others that name no library: each driver is there, in whatever order."""
    folder = sandbox.search_folder("data")
    names = {f"d{number}" for number in range(20)}
    ordered = sorted(names)
    for name in ordered[:10]:
        install(sandbox, name, folder)
    for number in range(others):
        sandbox.manifest(f"other{number}.json", manifest_of(sandbox.root / "missing.so"), folder)
    for name in ordered[10:]:
        install(sandbox, name, folder)
    sandbox.env["XDG_DATA_HOME"] = str(sandbox.root / "data")

    with vulkan_loader.start(sandbox, search=True) as vk:
        assert vk.drivers() == names


@requirement("VK-DSC-007")
@pytest.mark.parametrize("name", ["a.json.bak", "a.jsonx", "a", "json", "a.txt", "a.json~", "a.jsom"])
def test_file_without_the_suffix_is_passed_over(vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, name: str) -> None:
    """The suffix .json makes a manifest; the same content beside it under another name is none."""
    folder = sandbox.search_folder("data")
    sandbox.manifest("any name at all.json", sandbox.library("with"), folder)
    sandbox.manifest(name, sandbox.library("without"), folder)
    sandbox.env["XDG_DATA_HOME"] = str(sandbox.root / "data")

    with vulkan_loader.start(sandbox, search=True) as vk:
        assert vk.drivers() == {"with"}
    assert not sandbox.log.of("without")


@pytest.mark.parametrize(
    "how",
    [
        *(pytest.param(how, marks=NO_DRIVER) for how in ("no manifest", "missing file", "no library", "refuses")),
        pytest.param("lacks a function", marks=pytest.mark.requirement("VK-EP-011")),
    ],
)
def test_no_driver_is_an_error(vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, how: str) -> None:
    """Where no driver is found or none can be loaded, vkCreateInstance answers VK_ERROR_INCOMPATIBLE_DRIVER."""
    if how == "missing file":
        sandbox.shown.append(sandbox.manifests / "missing.json")
    elif how == "no library":
        missing = sandbox.library("a")
        missing.path.unlink()
        sandbox.shown.append(sandbox.manifest("a.json", missing))
    elif how == "lacks a function":  # of instances: that is found out when there is one
        sandbox.driver("a", functions={"lacks": ["vkEnumeratePhysicalDevices"]})
    elif how == "refuses":
        sandbox.driver("a", faults=["negotiation_fails=-9"])

    with vulkan_loader.start(sandbox, search=not sandbox.shown) as vk:
        rc, _ = vk.CreateInstance()
        assert str(rc) == "VK_ERROR_INCOMPATIBLE_DRIVER"

    sandbox.driver("good")
    with vulkan_loader.start(sandbox) as vk:
        assert vk.drivers() == {"good"}


@requirement("VK-DSC-030")
def test_same_driver_listed_twice_is_one_file_twice(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, record: Callable[[str], None]
) -> None:
    """A manifest that is named twice neither crashes the loader nor loses the driver."""
    sandbox.driver("a")
    sandbox.driver("b")
    sandbox.shown += sandbox.shown[:1]

    with vulkan_loader.start(sandbox) as vk:
        names = list(vk.device_names())
    assert set(names) == {"a.0", "b.0"}
    record("twice" if len(names) == 3 else "once")


@requirement("VK-DSC-036")
@pytest.mark.parametrize("variable", ["XDG_CONFIG_DIRS", "XDG_DATA_DIRS", "two"])
def test_folder_that_is_named_twice_is_searched_once(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, variable: str
) -> None:
    """A driver there has its devices once, whether one list names the folder again or another variable does."""
    for name in ("one", "two"):
        install(sandbox, name, sandbox.search_folder(name))
    one, two = sandbox.root / "one", sandbox.root / "two"
    if variable == "two":
        sandbox.env |= {"XDG_CONFIG_HOME": str(one), "XDG_DATA_HOME": str(two), "XDG_DATA_DIRS": f"{one}:{two}"}
    else:
        sandbox.env[variable] = f"{one}:{two}:{one}"

    with vulkan_loader.start(sandbox, search=True) as vk:
        assert sorted(vk.device_names()) == ["one.0", "two.0"]


@requirement("VK-DSC-007")
@pytest.mark.parametrize("name", ["a.json", "a.b.json", "a.json.json", "ä ü.json", "-.json"])
def test_file_with_the_suffix_is_a_manifest(vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, name: str) -> None:
    """Whatever stands before the suffix."""
    folder = sandbox.search_folder("data")
    sandbox.manifest(name, sandbox.library("a"), folder)
    sandbox.env["XDG_DATA_HOME"] = str(sandbox.root / "data")

    with vulkan_loader.start(sandbox, search=True) as vk:
        assert vk.drivers() == {"a"}
