# SPDX-License-Identifier: Apache-2.0
"""Which version of their interface a Vulkan loader and its drivers agree on, and what a wrong answer costs (VK-VER)."""

import pytest

from harness.check import NEGOTIATE, VulkanLoader, VulkanSandbox, requirement

# VkResult codes that a driver may answer instead of VK_SUCCESS.
REFUSALS = {"VK_ERROR_INCOMPATIBLE_DRIVER": -9}
ERRORS = {"VK_ERROR_OUT_OF_HOST_MEMORY": -1, "VK_ERROR_INITIALIZATION_FAILED": -3, "VK_ERROR_UNKNOWN": -13}
CODES = REFUSALS | ERRORS | {"positive": 1, "unknown": -123456}


@requirement("VK-VER-001")
@pytest.mark.parametrize("version", range(2, 8))
def test_negotiation_is_the_first_call(vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, version: int) -> None:
    """A driver that exports the negotiation sees no other call before it, and one offer that is not 0."""
    sandbox.driver("a", interface=version)

    with vulkan_loader.start(sandbox) as vk:
        assert vk.drivers() == {"a"}
    calls = sandbox.log.of("a").calls()
    assert calls[0].name == NEGOTIATE
    assert int(calls[0].data["in"]["version"], 16) >= 2


@requirement("VK-VER-010")
@pytest.mark.parametrize("version", [*range(2, 9), 50, 99])
def test_driver_of_every_version_is_used(vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, version: int) -> None:
    """Whatever the highest version of a driver is, loader and driver agree, and its devices are listed."""
    sandbox.driver("a", interface=5)
    sandbox.driver("b", interface=version)

    with vulkan_loader.start(sandbox) as vk:
        assert vk.drivers() == {"a", "b"}
    answer = sandbox.log.returns(NEGOTIATE, by="b")[0]
    assert int(answer.data["out"]["version"], 16) == min(version, vulkan_loader.interface)


@requirement("VK-VER-004")
@pytest.mark.parametrize("code", REFUSALS)
@pytest.mark.parametrize("position", ["first", "last", "only"])
def test_driver_that_refuses_the_loader_is_left_out(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, code: str, position: str
) -> None:
    """A driver that finds the loader too old is not used; the others are, wherever they stand."""
    names = {"first": ("refuses", "good"), "last": ("good", "refuses"), "only": ("refuses",)}[position]
    for name in names:
        sandbox.driver(name, faults=[f"negotiation_fails={REFUSALS[code]}"] if name == "refuses" else [])

    with vulkan_loader.start(sandbox) as vk:
        if position == "only":
            assert str(vk.CreateInstance()[0]) == "VK_ERROR_INCOMPATIBLE_DRIVER"
        else:
            assert vk.drivers() == {"good"}
    assert not sandbox.log.calls("vkCreateInstance", by="refuses")


@requirement("VK-VER-004")
def test_version_of_a_driver_that_refuses_does_not_count(vulkan_loader: VulkanLoader, sandbox: VulkanSandbox) -> None:
    """A refusal is a refusal, also where a good version was written before it."""
    sandbox.driver("refuses", faults=["negotiation_writes_and_fails=5"])
    sandbox.driver("good")

    with vulkan_loader.start(sandbox) as vk:
        assert vk.drivers() == {"good"}


@requirement("VK-VER-011")
@pytest.mark.parametrize("code", ERRORS)
def test_driver_whose_negotiation_fails_is_left_out(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, code: str
) -> None:
    """A driver that answers another error has negotiated nothing, and is not used."""
    sandbox.driver("fails", faults=[f"negotiation_fails={ERRORS[code]}"])
    sandbox.driver("good")

    with vulkan_loader.start(sandbox) as vk:
        assert vk.drivers() == {"good"}


@requirement("VK-VER-011")
@pytest.mark.parametrize("version", [8, 99, 0x7FFFFFFF, 0xFFFFFFFF])
def test_driver_that_answers_more_than_it_was_offered_is_left_out(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, version: int
) -> None:
    """A version above the loader's own is none that both support."""
    if version <= vulkan_loader.interface:
        version = vulkan_loader.interface + 1
    sandbox.driver("above", faults=[f"negotiation_answers={version}"])
    sandbox.driver("good")

    with vulkan_loader.start(sandbox) as vk:
        assert vk.drivers() == {"good"}


@requirement("VK-VER-012")
@pytest.mark.parametrize("answer", [*range(9), 99, 0xFFFFFFFF])
def test_any_answer_costs_no_other_driver(vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, answer: int) -> None:
    """Whatever version a driver answers, the drivers before and after it are used as usual."""
    sandbox.driver("before")
    sandbox.driver("answers", faults=[f"negotiation_answers={answer}"])
    sandbox.driver("after")

    with vulkan_loader.start(sandbox) as vk:
        names = vk.drivers(api_version="1.0.0")
        assert [name for name in names if name != "answers"] in (["before", "after"], ["after", "before"])


@requirement("VK-VER-012")
@pytest.mark.parametrize("code", CODES)
def test_any_result_costs_no_other_driver(vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, code: str) -> None:
    """Whatever result a driver answers, the drivers before and after it are used as usual."""
    number = CODES[code]
    sandbox.driver("before")
    sandbox.driver("answers", faults=[f"negotiation_fails={number}"])
    sandbox.driver("after")

    with vulkan_loader.start(sandbox) as vk:
        assert {"before", "after"} <= set(vk.drivers())


@requirement("VK-VER-017")
def test_loader_offers_the_same_version_to_every_driver(vulkan_loader: VulkanLoader, sandbox: VulkanSandbox) -> None:
    """What one driver answers is not offered to the next."""
    sandbox.driver("old", interface=2)
    sandbox.driver("new", interface=7)
    sandbox.driver("last", interface=3)

    with vulkan_loader.start(sandbox) as vk:
        vk.instance()
    calls = sandbox.log.calls(NEGOTIATE)
    assert {event.who for event in calls} == {"old", "new", "last"}
    offers = {event.data["in"]["version"] for event in calls}
    assert len(offers) == 1 and int(offers.pop(), 16) == vulkan_loader.interface


@requirement("VK-DSC-025")
def test_slow_driver_is_waited_for(vulkan_loader: VulkanLoader, sandbox: VulkanSandbox) -> None:
    """A driver that takes its time is used like any other."""
    sandbox.driver("slow", faults=["negotiation_sleeps=50", "constructor_sleeps=50"])
    sandbox.driver("good")

    with vulkan_loader.start(sandbox) as vk:
        assert vk.drivers() == {"slow", "good"}
