# SPDX-License-Identifier: Apache-2.0
"""Names of manifests and of the folders that they lie in: suffixes, letters of either case, slashes (VK-DSC)."""

from pathlib import Path

import pytest

from harness.check import VulkanLoader, VulkanSandbox, requirement

LISTS = ("VK_DRIVER_FILES", "VK_ICD_FILENAMES", "VK_ADD_DRIVER_FILES")
DRIVER_FOLDER = "vulkan/icd.d"
FOLDERS = ("XDG_CONFIG_HOME", "XDG_CONFIG_DIRS", "XDG_DATA_HOME", "XDG_DATA_DIRS")
# Names that do not end in ".json".
OTHERS = ["a.JSON", "a.Json", "a.jso", "ajson", "a.json.", "a.json ", "a.json.bak", "a.txt", "a"]


@requirement("VK-DSC-007")
@pytest.mark.parametrize("variable", [*LISTS, "XDG_DATA_HOME"])
def test_suffix_is_needed_however_a_manifest_is_found(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, variable: str
) -> None:
    """A manifest that a variable names, or that lies in a folder, is one where its name ends in .json."""
    if variable in LISTS:
        vulkan_loader.require(variable)
    folder = sandbox.search_folder("place")
    paths = [sandbox.manifest("with.json", sandbox.library("with"), folder)]
    for number, name in enumerate(OTHERS):
        paths.append(sandbox.manifest(name, sandbox.library(f"without{number}"), folder))
    sandbox.env[variable] = ":".join(map(str, paths)) if variable in LISTS else str(sandbox.root / "place")

    with vulkan_loader.start(sandbox, search=True) as vk:
        assert vk.drivers() == {"with"}
    assert [name for number, name in enumerate(OTHERS) if sandbox.log.of(f"without{number}")] == []


@requirement("VK-DSC-025")
@pytest.mark.parametrize("where", ["manifests", "folders"])
def test_letters_of_either_case_are_told_apart(vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, where: str) -> None:
    """Names that are alike but for the case of a letter are those of two manifests, or of two folders."""
    names = ["driver", "Driver", "driveR"]
    if where == "manifests":
        vulkan_loader.require("VK_DRIVER_FILES")
        paths = [sandbox.manifest(f"{name}.json", sandbox.library(name)) for name in names]
        sandbox.env["VK_DRIVER_FILES"] = ":".join(map(str, paths))
    else:
        for name in names:
            sandbox.manifest("any.json", sandbox.library(name), sandbox.search_folder(name))
        sandbox.env["XDG_DATA_DIRS"] = ":".join(str(sandbox.root / name) for name in names)

    with vulkan_loader.start(sandbox, search=True) as vk:
        assert vk.drivers() == set(names)


@requirement("VK-DSC-004")
@pytest.mark.parametrize("variable", [*FOLDERS, "HOME", "VK_DRIVER_FILES", "VK_ADD_DRIVER_FILES"])
@pytest.mark.parametrize("slashes", ["/", "//"])
def test_folder_may_end_with_a_slash(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, variable: str, slashes: str
) -> None:
    """A variable names the same folder with a slash after it."""
    if variable in LISTS:
        vulkan_loader.require(variable)
    below = {"HOME": "place/.config", "VK_DRIVER_FILES": "place", "VK_ADD_DRIVER_FILES": "place"}
    sandbox.manifest("found.json", sandbox.library("found"), sandbox.search_folder(below.get(variable, "place")))
    named = sandbox.root / "place"
    sandbox.env[variable] = f"{named / DRIVER_FOLDER if variable in LISTS else named}{slashes}"

    unset = ("XDG_CONFIG_HOME", "XDG_DATA_HOME") if variable == "HOME" else ()
    with vulkan_loader.start(sandbox, search=True, unset=unset) as vk:
        assert vk.drivers() == {"found"}


@requirement("VK-DSC-009")
@pytest.mark.parametrize("folder", [".config", ".local/share", "a/../b", "a b", "ä"])
def test_relative_path_begins_at_a_folder_of_any_name(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, folder: str
) -> None:
    """Dots, blanks and letters of any alphabet in the path of a manifest are part of it."""
    sandbox.folder("home/a")
    place = sandbox.search_folder(f"home/{folder}")
    for name in ("own", ".own"):  # a manifest of any name, too
        sandbox.manifest(f"{name}.json", sandbox.library(name, folder=place), place, library_path=f"./lib{name}.so")
    sandbox.env["XDG_DATA_HOME"] = str(sandbox.root / "home" / folder)

    with vulkan_loader.start(sandbox, search=True) as vk:
        assert vk.drivers() == {"own", ".own"}


@requirement("VK-DSC-004")
def test_folder_may_be_called_like_a_manifest(vulkan_loader: VulkanLoader, sandbox: VulkanSandbox) -> None:
    """A folder of a list of folders is searched, also where its name ends in .json."""
    for name in ("plain", "like.json"):
        sandbox.manifest("any.json", sandbox.library(name), sandbox.search_folder(name))
    sandbox.env["XDG_DATA_DIRS"] = f"{sandbox.root}/plain:{sandbox.root}/like.json"

    with vulkan_loader.start(sandbox, search=True) as vk:
        assert vk.drivers() == {"plain", "like.json"}


@requirement("VK-DSC-007")
@pytest.mark.parametrize("length", [200, 254, 255])
def test_name_of_a_manifest_may_be_long(vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, length: int) -> None:
    """As long as the system lets it be, in a folder that is searched and in a variable."""
    vulkan_loader.require("VK_DRIVER_FILES")
    place = sandbox.search_folder("place")
    path = sandbox.manifest("n" * (length - len(".json")) + ".json", sandbox.library("long"), place)
    for variable, value in (("XDG_DATA_HOME", place.parents[1]), ("VK_DRIVER_FILES", path)):
        sandbox.env[variable] = str(value)
        with vulkan_loader.start(sandbox, search=True) as vk:
            assert vk.drivers() == {"long"}


@requirement("VK-DSC-025")
@pytest.mark.parametrize("way", ["folder", "VK_DRIVER_FILES"])
def test_link_to_a_manifest_is_one(vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, way: str) -> None:
    """Links to manifests elsewhere, by whole and by relative paths, and to their folder, are followed."""
    vulkan_loader.require("VK_DRIVER_FILES")
    place = sandbox.search_folder("place")
    for name, target in (("whole", sandbox.manifests), ("relative", Path("../../../manifests"))):
        sandbox.manifest(f"{name}.manifest.json", sandbox.library(name))
        (place / f"{name}.json").symlink_to(target / f"{name}.manifest.json")
    (sandbox.root / "linked").symlink_to(sandbox.root / "place")
    linked = sandbox.root / "linked"
    if way == "folder":
        sandbox.env["XDG_DATA_HOME"] = str(linked)
    else:
        sandbox.env[way] = str(linked / DRIVER_FOLDER)

    with vulkan_loader.start(sandbox, search=True) as vk:
        assert vk.drivers() == {"whole", "relative"}
