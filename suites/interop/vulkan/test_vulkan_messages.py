# SPDX-License-Identifier: Apache-2.0
"""What an application says to its messengers and callbacks for reports (VK-OBJ)."""

from typing import Any

import pytest

from harness.check import Value, VulkanLoader, VulkanSandbox, VulkanSession, requirement

UTILS, REPORT = "VK_EXT_debug_utils", "VK_EXT_debug_report"
VERBOSE, INFO, WARNING, ERROR = 0x1, 0x10, 0x100, 0x1000
GENERAL, VALIDATION, PERFORMANCE = 1, 2, 4
# Messengers, by their user data: the severities and the types that they are made for.
MESSENGERS = {
    0x5001: (VERBOSE | INFO | WARNING | ERROR, GENERAL | VALIDATION | PERFORMANCE),
    0x5002: (WARNING, GENERAL | VALIDATION | PERFORMANCE),
    0x5003: (INFO | ERROR, VALIDATION),
    0x5004: (VERBOSE, GENERAL),
}
MESSAGES = [(VERBOSE, GENERAL), (INFO, VALIDATION), (WARNING, GENERAL | PERFORMANCE), (ERROR, PERFORMANCE)]
# Callbacks for reports, by their user data: the flags that they are made for.
CALLBACKS = {0x6001: 31, 0x6002: 2, 0x6003: 9}


def require_extension(loader: VulkanLoader, name: str) -> None:
    """Makes the case unsupported where the loader does not know the extension."""
    machine = VulkanSandbox(loader.path)
    try:
        machine.driver("a", extensions=name)
        with loader.start(machine) as vk:
            if name not in vk.extension_names():
                loader.require(name)
    finally:
        machine.close()


def make(vk: VulkanSession, instance: Value, extension: str, about: dict[str, Any]) -> Value:
    """A messenger or a callback for reports that writes down what it is told."""
    kind = "DebugUtilsMessenger" if extension == UTILS else "DebugReportCallback"
    hearer = vk.hearer(reports=extension == REPORT)
    function = {"pfnUserCallback" if extension == UTILS else "pfnCallback": hearer}
    info, to = vk.structure(f"Vk{kind}CreateInfoEXT", **function, **about), vk.buffer(8, 0)
    assert vk.call_found(instance, f"vkCreate{kind}EXT", instance, info, None, to) == 0
    return to.handle()


def messenger(vk: VulkanSession, instance: Value, data: int) -> Value:
    severities, types = MESSENGERS[data]
    return make(vk, instance, UTILS, {"messageSeverity": severities, "messageType": types, "pUserData": data})


def submit(vk: VulkanSession, instance: Value, severity: int, types: int) -> int:
    """Says a message; gives the address of what it is told by."""
    content = vk.structure("VkDebugUtilsMessengerCallbackDataEXT", pMessage=vk.data(b"said\0"))
    vk.call_found(instance, "vkSubmitDebugUtilsMessageEXT", instance, severity, types, content)
    return int(vk.words([content]).handle())


def own_instance(sandbox: VulkanSandbox, driver: str) -> int:
    """The driver's own handle of its instance."""
    return int(sandbox.log.happened("object", by=driver)[0].data["handle"], 16)


def heard(sandbox: VulkanSandbox, what: str) -> list[list[int]]:
    """The arguments of all calls of messengers, or of callbacks for reports, the user data first; in a fixed order."""
    return sorted(list(event.arguments) for event in sandbox.log.happened(what, by="application"))


@requirement("VK-OBJ-028")
@pytest.mark.parametrize("message", MESSAGES)
def test_message_reaches_the_messengers_for_it(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, message: tuple[int, int]
) -> None:
    """Each messenger made for its severity and one of its types is told once, with its own data; no other is."""
    require_extension(vulkan_loader, UTILS)
    for name in ("a", "b"):
        sandbox.driver(name, extensions=UTILS)

    with vulkan_loader.start(sandbox) as vk:
        instance, other = vk.instance(extensions=[UTILS]), vk.instance(extensions=[UTILS])
        for data in MESSENGERS:
            messenger(vk, instance, data)
        messenger(vk, other, 0x5001)
        severity, types = message
        content = submit(vk, instance, severity, types)
    for_it = [data for data, (severities, kinds) in MESSENGERS.items() if severities & severity and kinds & types]
    told = [words[:4] for words in heard(sandbox, "message")]
    assert told == [[data, severity, types, content] for data in for_it]


@requirement("VK-OBJ-028")
@pytest.mark.parametrize("flags", [1, 2, 8])
def test_report_reaches_the_callbacks_for_it(vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, flags: int) -> None:
    """Each callback made for its flags is told once, with its own data and all that was said; no other is."""
    require_extension(vulkan_loader, REPORT)
    for name in ("a", "b"):
        sandbox.driver(name, extensions=REPORT)

    with vulkan_loader.start(sandbox) as vk:
        instance = vk.instance(extensions=[REPORT])
        for data, flags_of_callback in CALLBACKS.items():
            make(vk, instance, REPORT, {"flags": flags_of_callback, "pUserData": data})
        prefix, text = vk.data(b"prefix\0"), vk.data(b"text\0")
        name, arguments = "vkDebugReportMessageEXT", (flags, 3, 0x1122334455667788, 77, 99, prefix, text)
        vk.call_found(instance, name, instance, *arguments)
        texts = [int(word) for word in vk.words([prefix, text]).handles()]
    for_it = [data for data, flags_of_callback in CALLBACKS.items() if flags_of_callback & flags]
    assert heard(sandbox, "report") == [[data, *arguments[:5], *texts] for data in for_it]
    told = [event.who for event in sandbox.log.calls(name) if event.who != "application"]
    assert sorted(told) in ([], ["a", "b"])  # a loader may tell drivers, too: then all of them
    for driver in told:
        event = sandbox.log.calls(name, by=driver).only
        assert list(event.arguments) == [own_instance(sandbox, driver), *arguments[:5], *texts]


@requirement("VK-OBJ-028")
@pytest.mark.parametrize("extension", [UTILS, REPORT])
def test_application_hears_itself_without_the_drivers(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, extension: str
) -> None:
    """Where a loader lists an extension for messages with drivers that do not have it, what is said is heard."""
    vulkan_loader.require(extension)
    kinds = ["CreateDebugUtilsMessenger", "DestroyDebugUtilsMessenger", "SubmitDebugUtilsMessage",
             "CreateDebugReportCallback", "DestroyDebugReportCallback", "DebugReportMessage"]  # fmt: skip
    sandbox.driver("a", functions={"lacks": [f"vk{kind}EXT" for kind in kinds]})

    with vulkan_loader.start(sandbox) as vk:
        instance = vk.instance(extensions=[extension])
        if extension == UTILS:
            messenger(vk, instance, 0x5001)
            submit(vk, instance, ERROR, GENERAL)
        else:
            make(vk, instance, REPORT, {"flags": 31, "pUserData": 0x6001})
            said = (8, 3, 0x1122334455667788, 77, 99, vk.data(b"prefix\0"), vk.data(b"text\0"))
            vk.call_found(instance, "vkDebugReportMessageEXT", instance, *said)
        assert vk.drivers(instance) == {"a"}
    assert len(heard(sandbox, "message" if extension == UTILS else "report")) == 1


@requirement("VK-OBJ-028")
@pytest.mark.parametrize("ended", MESSENGERS)
def test_messenger_that_was_ended_is_told_nothing(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, ended: int
) -> None:
    """Whichever of several is ended, the others are told what is said after that."""
    require_extension(vulkan_loader, UTILS)
    sandbox.driver("a", extensions=UTILS)

    with vulkan_loader.start(sandbox) as vk:
        instance = vk.instance(extensions=[UTILS])
        messengers = {data: messenger(vk, instance, data) for data in MESSENGERS}
        vk.call_found(instance, "vkDestroyDebugUtilsMessengerEXT", instance, messengers[ended], None)
        for severity, types in MESSAGES:
            submit(vk, instance, severity, types)
    expected = sorted(
        (data, severity, types)
        for severity, types in MESSAGES
        for data, (severities, kinds) in MESSENGERS.items()
        if data != ended and severities & severity and kinds & types
    )
    assert [(data, severity, types) for data, severity, types, *_ in heard(sandbox, "message")] == expected


@requirement("VK-OBJ-028")
@pytest.mark.parametrize("extension", [UTILS, REPORT])
def test_messengers_of_the_creation_hear_alike_and_only_then(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, extension: str
) -> None:
    """Two in the chain of an instance hear the same, whatever is said there, and nothing while the instance lives."""
    for name in (UTILS, extension):
        require_extension(vulkan_loader, name)
    sandbox.driver("a", extensions=f"{UTILS} {REPORT}")
    what = "message" if extension == UTILS else "report"

    with vulkan_loader.start(sandbox) as vk:
        chain = None
        for data in (0x5002, 0x5001):
            if extension == UTILS:
                about = {"messageSeverity": 0x1111, "messageType": 7, "pUserData": data, "pfnUserCallback": vk.hearer()}
                chain = vk.structure("VkDebugUtilsMessengerCreateInfoEXT", pNext=chain, **about)
            else:
                about = {"flags": 31, "pUserData": data, "pfnCallback": vk.hearer(reports=True)}
                chain = vk.structure("VkDebugReportCallbackCreateInfoEXT", pNext=chain, **about)
        instance = vk.instance(extensions=list({UTILS, extension}), chain=chain)
        first = heard(sandbox, what)
        submit(vk, instance, ERROR, GENERAL)
        assert heard(sandbox, what) == first
        vk.vkDestroyInstance(instance, None)
    messages = [data for data, *_ in heard(sandbox, what)]
    assert messages.count(0x5001) == messages.count(0x5002)
    assert set(messages) <= {0x5001, 0x5002}


# What a callback for reports is told of a message: the flags, by severity and types.
AS_REPORTS = {
    (VERBOSE, GENERAL): 16,
    (INFO, VALIDATION): 1,
    (WARNING, VALIDATION): 2,
    (WARNING, PERFORMANCE): 4,
    (ERROR, GENERAL): 8,
    (ERROR, PERFORMANCE): 8,
}
# What a messenger is told of a report: the severity, by flags.
AS_MESSAGES = {1: INFO, 2: WARNING, 4: WARNING, 8: ERROR, 16: VERBOSE}
PERFORMANCE_FLAG = 4


@requirement("VK-OBJ-032")
@pytest.mark.parametrize("message", AS_REPORTS)
def test_callbacks_for_reports_hear_messages(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, message: tuple[int, int]
) -> None:
    """A message reaches the callback that is made for flags like its severity, with object, number, name and text."""
    for extension in (UTILS, REPORT):
        require_extension(vulkan_loader, extension)
    sandbox.driver("a", extensions=f"{UTILS} {REPORT}")
    severity, types = message

    with vulkan_loader.start(sandbox) as vk:
        instance = vk.instance(extensions=[UTILS, REPORT])
        for data in (1, 2, 4, 8, 16):
            make(vk, instance, REPORT, {"flags": data, "pUserData": 0x7000 + data})
        name, text = vk.data(b"name\0"), vk.data(b"text\0")
        about = vk.structure("VkDebugUtilsObjectNameInfoEXT", objectType=3, objectHandle=0x1122334455667788)
        content = vk.structure(
            "VkDebugUtilsMessengerCallbackDataEXT",
            pMessageIdName=name, messageIdNumber=99, pMessage=text, objectCount=1, pObjects=about,
        )  # fmt: skip
        vk.call_found(instance, "vkSubmitDebugUtilsMessageEXT", instance, severity, types, content)
        texts = [int(word) for word in vk.words([name, text]).handles()]
    flags, device = AS_REPORTS[message], 3
    assert heard(sandbox, "report") == [[0x7000 + flags, flags, device, 0x1122334455667788, 0, 99, *texts]]


def report(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, flags: int, messengers: dict[int, tuple[int, int]]
) -> list[list[int]]:
    """What messengers hear of a report: by their data, the severities and the types that each is made for."""
    for extension in (UTILS, REPORT):
        require_extension(vulkan_loader, extension)
    sandbox.driver("a", extensions=f"{UTILS} {REPORT}")

    with vulkan_loader.start(sandbox) as vk:
        instance = vk.instance(extensions=[UTILS, REPORT])
        for data, (severity, types) in messengers.items():
            make(vk, instance, UTILS, {"messageSeverity": severity, "messageType": types, "pUserData": data})
        arguments = (flags, 3, 0x1122334455667788, 77, 99, vk.data(b"prefix\0"), vk.data(b"text\0"))
        vk.call_found(instance, "vkDebugReportMessageEXT", instance, *arguments)
    return heard(sandbox, "message")


@requirement("VK-OBJ-032")
@pytest.mark.parametrize("flags", AS_MESSAGES)
def test_messengers_hear_reports(vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, flags: int) -> None:
    """A report reaches the messenger that is made for a severity like its flags, once, and no other."""
    types = GENERAL | VALIDATION | PERFORMANCE
    messengers = {0x7000 + severity: (severity, types) for severity in (VERBOSE, INFO, WARNING, ERROR)}
    heard_of = report(vulkan_loader, sandbox, flags, messengers)
    assert [reports[:2] for reports in heard_of] == [[0x7000 + AS_MESSAGES[flags], AS_MESSAGES[flags]]]


@requirement("VK-OBJ-032")
@pytest.mark.parametrize("flags", AS_MESSAGES)
def test_messengers_of_one_type_hear_reports(vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, flags: int) -> None:
    """Of three messengers, each made for one type of messages, one hears a report: for performance, or for all else."""
    severity = VERBOSE | INFO | WARNING | ERROR
    messengers = {0x7000 + types: (severity, types) for types in (GENERAL, VALIDATION, PERFORMANCE)}
    expected = PERFORMANCE if flags == PERFORMANCE_FLAG else GENERAL
    heard_of = report(vulkan_loader, sandbox, flags, messengers)
    assert [reports[:3:2] for reports in heard_of] == [[0x7000 + expected, expected]]


@requirement("VK-OBJ-032")
def test_messengers_hear_all_that_a_report_says(vulkan_loader: VulkanLoader, sandbox: VulkanSandbox) -> None:
    """Its code is the number of the message, its prefix the name; text and object are as they were."""
    for extension in (UTILS, REPORT):
        require_extension(vulkan_loader, extension)
    sandbox.driver("a", extensions=f"{UTILS} {REPORT}")

    with vulkan_loader.start(sandbox) as vk:
        instance = vk.instance(extensions=[UTILS, REPORT])
        messenger(vk, instance, 0x5001)
        prefix, text = vk.data(b"prefix\0"), vk.data(b"text\0")
        arguments = (2, 3, 0x1122334455667788, 77, 99, prefix, text)
        vk.call_found(instance, "vkDebugReportMessageEXT", instance, *arguments)
        texts = [int(word) for word in vk.words([prefix, text]).handles()]
    device = 3  # in both extensions
    assert [words[4:] for words in heard(sandbox, "message")] == [[99, *texts, device, 0x1122334455667788]]
