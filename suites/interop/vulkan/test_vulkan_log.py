# SPDX-License-Identifier: Apache-2.0
"""What the loader says of errors: on standard error, and to messengers of an instance that is being made (VK-DSC)."""

from pathlib import Path

import pytest

from harness.check import VulkanLoader, VulkanSandbox, requirement

UTILS, REPORT = "VK_EXT_debug_utils", "VK_EXT_debug_report"
VERBOSE, INFO, WARNING, ERROR = 0x1, 0x10, 0x100, 0x1000
GENERAL, VALIDATION, PERFORMANCE = 1, 2, 4
REPORT_ERROR, REPORT_ALL = 8, 31
ERRORS, OTHERS = 0x5001, 0x5002  # the user data of who is made for errors, and of who is made for all else


def add_missing_library(sandbox: VulkanSandbox, library: Path) -> None:
    """A driver, and a manifest beside it whose library is not there."""
    sandbox.driver("good", extensions=f"{UTILS} {REPORT}")
    sandbox.driver("missing", manifest={"library_path": str(library)})


@requirement("VK-DSC-052")
@pytest.mark.parametrize("kinds", ["error", "all", "warn,error", "error,driver", "info,error,layer"])
def test_error_is_printed_where_errors_are_asked_for(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, kinds: str
) -> None:
    """The library that cannot be opened is named in what is printed, wherever in the list the word stands."""
    library = sandbox.root / "libmissing.so"
    add_missing_library(sandbox, library)
    sandbox.env["VK_LOADER_DEBUG"] = kinds

    with vulkan_loader.start(sandbox) as vk:
        assert vk.drivers() == {"good"}
    assert str(library) in vk.stderr + vk.stdout


@requirement("VK-DSC-053")
@pytest.mark.parametrize("extension", [UTILS, REPORT])
def test_error_is_told_to_messengers_of_the_creation(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, extension: str
) -> None:
    """Whoever is made for errors of a general type hears what is printed as an error; nobody else hears an error."""
    add_missing_library(sandbox, sandbox.root / "libmissing.so")
    with vulkan_loader.start(sandbox) as vk:
        if extension not in vk.extension_names():
            vulkan_loader.require(extension)
        chain = None
        for data in (OTHERS, ERRORS):
            if extension == UTILS:
                about = {
                    "messageSeverity": ERROR if data == ERRORS else VERBOSE | INFO | WARNING,
                    "messageType": GENERAL,
                    "pUserData": data,
                    "pfnUserCallback": vk.hearer(),
                }
                chain = vk.structure("VkDebugUtilsMessengerCreateInfoEXT", pNext=chain, **about)
            else:
                about = {
                    "flags": REPORT_ERROR if data == ERRORS else REPORT_ALL & ~REPORT_ERROR,
                    "pUserData": data,
                    "pfnCallback": vk.hearer(reports=True),
                }
                chain = vk.structure("VkDebugReportCallbackCreateInfoEXT", pNext=chain, **about)
        vk.instance(extensions=[extension], chain=chain)
    what, error = ("message", ERROR) if extension == UTILS else ("report", REPORT_ERROR)
    heard = [event.arguments[:2] for event in sandbox.log.happened(what, by="application")]
    assert [ERRORS, error] in [list(words) for words in heard]
    assert {data for data, severity in heard if severity & error} == {ERRORS}


@requirement("VK-DSC-027")
@pytest.mark.parametrize("length", [300, 500, 520, 1000, 2040, 3900])
def test_message_about_a_long_path_crashes_nothing(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, length: int
) -> None:
    """The driver beside a manifest whose library has a long path is used, whatever is said of the other."""
    folder = f"{sandbox.root}{'/folder' * 600}"
    add_missing_library(sandbox, Path(folder[: length - 1].rstrip("/") + "x"))
    sandbox.env["VK_LOADER_DEBUG"] = "all"

    with vulkan_loader.start(sandbox) as vk:
        assert vk.drivers() == {"good"}
