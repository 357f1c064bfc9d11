# SPDX-License-Identifier: Apache-2.0
"""Devices that come, go, wait or fail while a loader asks them, and values of drivers that are not texts (DISC-WIN).

Only the configuration manager knows of the state of a device: the systems here are older ones, whose kernel lists no
adapters.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from harness.check import NEED_RESTART, Sandbox, WindowsLoader, requirement

Record = Callable[[str], None]


def listed(loader: WindowsLoader, sandbox: Sandbox) -> list[str]:
    """The platforms in the loader's order."""
    with loader.start(sandbox) as cl:
        return list(cl.used_platforms())


@requirement("DISC-WIN-010")
@pytest.mark.parametrize("place", [0, 1, 2])
def test_device_that_works_until_a_restart_is_passed_over(loader: WindowsLoader, sandbox: Sandbox, place: int) -> None:
    """A device that still works with its old driver, whose files are new already, is passed over; others are not."""
    sandbox.older_system()
    for number in range(3):
        sandbox.adapter(vendor=sandbox.icd(f"adapter{number}"), traits=["waits"] * (number == place))
    assert sorted(listed(loader, sandbox)) == [f"adapter{number}" for number in range(3) if number != place]


@requirement("DISC-WIN-021")
@pytest.mark.parametrize("guarded_heap", [False, True], ids=["usual heap", "guarded heap"])
@pytest.mark.parametrize("several", [False, True], ids=["text", "list"])
@pytest.mark.parametrize("device", ["adapter", "component"])
def test_value_that_is_removed_once_it_was_measured_is_not_used(
    loader: WindowsLoader, sandbox: Sandbox, device: str, several: bool, guarded_heap: bool
) -> None:
    """A driver's value may go between the question for its length and that for its data: others have their vendors."""
    sandbox.older_system()
    add = sandbox.adapter if device == "adapter" else sandbox.component
    removed = sandbox.icd("removed")
    add(vendor=[removed] if several else removed, traits=["measured"])
    sandbox.adapter(vendor=sandbox.icd("driver"))
    sandbox.registry_vendor(sandbox.icd("registered"))
    with loader.start(sandbox, guarded_heap=guarded_heap) as cl:
        assert set(cl.platform_names()) - {"removed"} == {"driver", "registered"}  # who asks once has it


@requirement("DISC-WIN-021")
@pytest.mark.parametrize("question", ["count-of-adapters", "list-of-adapters", "length-of-devices", "list-of-devices"])
@pytest.mark.parametrize("count", [1, 2])
def test_list_that_the_system_fails_to_give_is_not_used(
    loader: WindowsLoader, sandbox: Sandbox, count: int, question: str
) -> None:
    """Where the kernel or the configuration manager fails to list devices, what it leaves names no vendor."""
    of_kernel = question.endswith("adapters")
    if not of_kernel:
        sandbox.older_system()
    for number in range(count):
        sandbox.adapter(vendor=sandbox.icd(f"device{number}"), kernel=of_kernel, devices=not of_kernel)
    sandbox.registry_vendor(sandbox.icd("registered"))
    sandbox.failing(question)
    with loader.start(sandbox, late=True) as cl:
        before = cl.held().refused
        cl.open()
        assert cl.platform_names() == ["registered"]
        assert cl.held().refused == before  # adapters that nobody opened


@requirement("DISC-WIN-010")
@pytest.mark.parametrize("problem", [1, 10, 22, 28, 43])
def test_device_with_another_problem(loader: WindowsLoader, sandbox: Sandbox, problem: int, record: Record) -> None:
    """A device whose problem is another than a restart may be asked, or not; those beside it are."""
    sandbox.older_system()
    sandbox.adapter(vendor=sandbox.icd("first"))
    sandbox.adapter(vendor=sandbox.icd("troubled"), problem=problem)
    sandbox.adapter(vendor=sandbox.icd("last"))
    names = listed(loader, sandbox)
    assert sorted(name for name in names if name != "troubled") == ["first", "last"]
    record("asked" if "troubled" in names else "passed over")


@requirement("DISC-WIN-020")
@pytest.mark.parametrize("problem", [NEED_RESTART, 43])
@pytest.mark.parametrize("device", ["adapter", "component"])
def test_number_without_a_problem_means_nothing(
    loader: WindowsLoader, sandbox: Sandbox, device: str, problem: int
) -> None:
    """The number of a problem counts only where the status says that there is one (DN_HAS_PROBLEM)."""
    sandbox.older_system()
    sandbox.class_numbers()
    if device == "adapter":
        sandbox.adapter(vendor=sandbox.icd("works"), problem=problem, traits=["solved"])
    else:
        sandbox.component(vendor=sandbox.icd("works"), problem=problem, traits=["solved"])
    sandbox.adapter(vendor=sandbox.icd("other"))
    assert sorted(listed(loader, sandbox)) == ["other", "works"]


@requirement("DISC-WIN-005")
@pytest.mark.parametrize("trait", ["gone", "silent", "absent", "late"])
@pytest.mark.parametrize("place", [0, 1, 2])
def test_device_in_a_moment_of_change_costs_only_itself(
    loader: WindowsLoader, sandbox: Sandbox, place: int, trait: str, record: Record
) -> None:
    """A device that is removed, silent, not plugged in, or added while devices are listed: others are there."""
    sandbox.older_system()
    names = [f"adapter{number}" for number in range(3)]
    for number, name in enumerate(names):
        sandbox.adapter(vendor=sandbox.icd(name), traits=[trait] * (number == place))
    answer = listed(loader, sandbox)
    assert sorted(set(answer) | {names[place]}) == names
    assert len(set(answer)) == len(answer)
    assert trait != "gone" or names[place] not in answer
    record("asked" if names[place] in answer else "passed over")


@requirement("DISC-WIN-005")
@pytest.mark.parametrize("bare", [True, False], ids=["no key", "other values"])
@pytest.mark.parametrize("place", [0, 1, 2])
def test_device_without_a_vendor_costs_only_itself(
    loader: WindowsLoader, sandbox: Sandbox, place: int, bare: bool
) -> None:
    """A device without a key, or with one of a driver without OpenCL, wherever it is listed: the others are there."""
    sandbox.older_system()
    for number in range(3):
        if number == place:
            sandbox.adapter(bare=bare)
        else:
            sandbox.adapter(vendor=sandbox.icd(f"adapter{number}"))
    assert sorted(listed(loader, sandbox)) == [f"adapter{number}" for number in range(3) if number != place]


@requirement("DISC-WIN-009")
@pytest.mark.parametrize("count", [1, 2, 3, 9])
def test_first_text_of_a_list_is_read_from_a_device(loader: WindowsLoader, sandbox: Sandbox, count: int) -> None:
    """The first text of a list names the vendor, too, where only the configuration manager has the value."""
    sandbox.older_system()
    sandbox.adapter(vendor=[sandbox.icd(f"text{number}") for number in range(count)])
    sandbox.adapter(vendor=sandbox.icd("plain"))
    assert sorted(listed(loader, sandbox)) == ["plain", "text0"]


# --- components, where their class is told as a number ---


@requirement("DISC-WIN-006")
@pytest.mark.parametrize("before", ["nothing", "another class", "a waiting one", "one without a vendor"])
def test_component_of_each_adapter_is_found(loader: WindowsLoader, sandbox: Sandbox, before: str) -> None:
    """The component of each adapter is asked, whichever device of the same adapter is listed before it."""
    sandbox.older_system()
    sandbox.class_numbers()
    for number in range(2):
        parent = sandbox.adapter()
        if before == "another class":
            sandbox.component(vendor=sandbox.icd(f"other{number}"), parent=parent, kind="other")
        elif before == "a waiting one":
            sandbox.component(vendor=sandbox.icd(f"other{number}"), parent=parent, problem=NEED_RESTART)
        elif before == "one without a vendor":
            sandbox.component(parent=parent)
        sandbox.component(vendor=sandbox.icd(f"component{number}"), parent=parent)
    names = listed(loader, sandbox)
    assert [names.count(name) for name in ("component0", "component1")] == [1, 1]


@requirement("DISC-WIN-023")
@pytest.mark.parametrize("device", ["adapter", "component"])
def test_device_of_the_manager_beside_one_of_the_kernel(
    loader: WindowsLoader, sandbox: Sandbox, device: str, record: Record
) -> None:
    """What the kernel lists is there; a loader may ask for the devices that only the configuration manager has, too."""
    sandbox.class_numbers()
    sandbox.adapter(vendor=sandbox.icd("kernel"), devices=False)
    if device == "adapter":
        sandbox.adapter(vendor=sandbox.icd("device"), kernel=False)
    else:
        sandbox.component(vendor=sandbox.icd("device"))
    names = listed(loader, sandbox)
    assert [name for name in names if name != "device"] == ["kernel"]
    record("asked" if "device" in names else "left to the kernel")


@requirement("DISC-WIN-022")
@pytest.mark.parametrize("parent", ["an adapter", "nothing"])
def test_device_of_another_class_is_not_asked(loader: WindowsLoader, sandbox: Sandbox, parent: str) -> None:
    """A device that is neither an adapter nor a component is not asked, wherever it stands; those beside it are."""
    sandbox.older_system()
    sandbox.class_numbers()
    sandbox.device_of_another_class(sandbox.icd("other"), parent=sandbox.adapter() if parent == "an adapter" else -1)
    sandbox.component(vendor=sandbox.icd("component"))
    sandbox.adapter(vendor=sandbox.icd("adapter"))
    assert sorted(listed(loader, sandbox)) == ["adapter", "component"]


# --- values that are not texts, though their bytes are a path ---

KINDS = ["REG_NONE", "REG_BINARY", "REG_DWORD", "REG_DWORD_BIG_ENDIAN", "REG_LINK", "REG_QWORD"]


@requirement("DISC-WIN-005")
@pytest.mark.parametrize("letters", ["ascii", "utf-16-le"])
@pytest.mark.parametrize("kind", KINDS)
def test_path_that_is_not_a_text_is_not_a_vendor(
    loader: WindowsLoader, sandbox: Sandbox, kind: str, letters: str
) -> None:
    """Drivers name vendors by values that are texts: bytes or numbers that read like a path name nothing."""
    sandbox.older_system()
    path = f"Z:{sandbox.icd('bytes')}\0".replace("/", "\\")
    sandbox.adapter(raw=path.encode(letters), type=kind)
    sandbox.adapter(vendor=sandbox.icd("text"))
    assert listed(loader, sandbox) == ["text"]


@requirement("DISC-WIN-005")
@pytest.mark.parametrize("variables", [False, True], ids=["no variable", "a variable"])
def test_text_with_variables_of_a_driver(
    loader: WindowsLoader, sandbox: Sandbox, variables: bool, record: Record
) -> None:
    """A text whose variables are to be replaced (REG_EXPAND_SZ) is not a string of the text: it may be used, or not."""
    sandbox.older_system()
    path = f"Z:{sandbox.icd('expanded')}".replace("/", "\\")
    sandbox.env["CLHARNESS_DRIVE"] = "Z:"
    sandbox.adapter(vendor=path.replace("Z:", "%CLHARNESS_DRIVE%") if variables else path, type="REG_EXPAND_SZ")
    sandbox.adapter(vendor=sandbox.icd("text"))
    names = listed(loader, sandbox)
    assert sorted(name for name in names if name != "expanded") == ["text"]
    record("used" if "expanded" in names else "passed over")
