# SPDX-License-Identifier: Apache-2.0
"""What drivers need of the machine: device nodes and the right to open them, kernel modules, GPUs at the bus."""

from __future__ import annotations

import grp
import mmap
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from harness.doctor import access
from harness.doctor.access import globbed
from harness.doctor.findings import Finding, note

_NODE = re.compile(rb"/dev/(?:dri/renderD|kfd|nvidia|mali|kgsl|accel/accel|dxg|galcore|pvr|xdma|xclmgmt)[\w%/-]*")
_MOST_SCANNED = 256 << 20  # bytes of a library that are searched for names of nodes


@dataclass(frozen=True)
class Kind:
    """A family of drivers: nodes that it opens, the PCI vendor of its devices, kernel modules that make the nodes."""

    words: str
    nodes: tuple[str, ...]
    pci: tuple[str, ...] = ()
    modules: tuple[str, ...] = ()


_RENDER = "dev/dri/renderD*"
_KINDS = {
    r"nvidia|libcuda": Kind(
        "NVIDIA", ("dev/nvidiactl", "dev/nvidia[0-9]*", "dev/nvidia-uvm"), ("0x10de",), ("nvidia",)
    ),
    r"amdocl": Kind("AMD", ("dev/kfd", _RENDER), ("0x1002",), ("amdgpu",)),
    r"igdrcl": Kind("Intel", (_RENDER,), ("0x8086",), ("i915", "xe")),
    r"[Rr]usticl|MesaOpenCL": Kind("Mesa", (_RENDER,)),
}


class Hardware:
    """The machine below `root`, as this user sees it."""

    def __init__(self, environment: Mapping[str, str], root: Path = Path("/")) -> None:
        self.environment = environment
        self.root = root

    # --- GPUs ---

    def gpus(self) -> dict[str, tuple[str, str]]:
        """PCI displays and accelerators: vendor and driver ("" for none) by address."""
        drivers = {}
        for device in globbed(self.root / "sys/bus/pci/devices", "*"):
            kind, vendor = _word(device / "class"), _word(device / "vendor")
            if kind.startswith(("0x03", "0x12")) and vendor not in ("0x1234", "0x1013", "0x1b36", "0x1af4"):  # emulated
                driver = device / "driver"
                drivers[device.name] = (vendor, os.path.basename(os.readlink(driver)) if driver.is_symlink() else "")
        return drivers

    def has_any(self, library: Path) -> bool:
        """Whether anything here could be a device of this driver: unknown drivers may have any."""
        kind = _kind(library)
        if kind is None:
            return True
        nodes = any(globbed(self.root, pattern) for pattern in kind.nodes)
        pci = any(not kind.pci or vendor in kind.pci for vendor, _ in self.gpus().values())
        return nodes or pci

    # --- why a driver has no device ---

    def hints(self, library: Path, others: list[Path]) -> list[Finding]:
        """Reasons for which a driver may have no device; `others` are the libraries that it loads."""
        kind = _kind(library)
        if kind:
            findings = [*self._of_nodes(kind, library), *self._of_rusticl(library)]
            findings += self._of_nvidia(library) if kind.words == "NVIDIA" else []
        else:
            named = Kind(
                "this driver", tuple(sorted({pattern for path in [library, *others] for pattern in _named(path)}))
            )
            findings = [*self._of_nodes(named, library), *self._of_system()]
        if any(one.name.startswith("node") for one in findings) and (words := self.confinement()):
            findings.append(
                note(
                    "confined",
                    f"This runs in {words}, which decides what devices programs see.",
                    "here",
                    "Start it with its devices: docker run --device /dev/dri, or --gpus all for NVIDIA.",
                )
            )
        return findings

    def _of_nodes(self, kind: Kind, library: Path) -> Iterator[Finding]:
        for pattern in kind.nodes:
            nodes = globbed(self.root, pattern)
            if not nodes:
                yield self._no_node(kind, "/" + pattern, library)
            for node in nodes:
                if not os.access(node, os.R_OK | os.W_OK):
                    yield self._closed_node(node)
                elif problem := _problem(node):
                    shown = "/" + str(node.relative_to(self.root))
                    what = f"{shown} cannot be opened ({problem}), although its mode lets this user."
                    do = "In a container, hand the device in (docker run --device); else see dmesg for its driver."
                    yield Finding("node-refused", what, shown, do)

    def _no_node(self, kind: Kind, pattern: str, library: Path) -> Finding:
        what = f"There is no {pattern}, which {library.name} opens"
        unbound = [a for a, (vendor, driver) in self.gpus().items() if vendor in kind.pci and not driver]
        if unbound:
            module = " or ".join(kind.modules)
            return Finding(
                "kernel-module",
                f"{what}: no kernel driver has taken the GPU at {unbound[0]}.",
                pattern,
                f"Load the kernel module {module} (sudo modprobe {kind.modules[0]}), and see dmesg if that fails.",
            )
        if kind.pci and not any(vendor in kind.pci for vendor, _ in self.gpus().values()):
            return Finding(
                "node-missing",
                f"{what}: this machine shows no {kind.words} GPU.",
                pattern,
                "Nothing, if there is none; in a virtual machine or a container, hand the device in.",
            )
        module = f" ({' or '.join(kind.modules)})" if kind.modules else ""
        return Finding(
            "node-missing",
            f"{what}.",
            pattern,
            f"Load the kernel's driver{module}, or hand the device into this container.",
        )

    def _closed_node(self, node: Path) -> Finding:
        state = node.stat()
        group = _group(state.st_gid)
        shown = "/" + str(node.relative_to(self.root))
        what = f"This user may not open {shown} (group {group})."
        user = self.environment.get("USER") or access.owner(os.geteuid())
        try:
            member = user in grp.getgrgid(state.st_gid).gr_mem
        except KeyError:
            member = False
        if not state.st_mode & 0o060:
            do = f"Let the group use it: sudo chmod g+rw {shown}; udev rules decide what it is after a restart."
        elif member:
            do = f"Log out and in again: {user} is in the group {group}, but was not when this session began."
        else:
            do = f"Add the user to the group, and log in again: sudo usermod -aG {group} {user}."
        return Finding("node-permission", what, shown, do)

    def _of_nvidia(self, library: Path) -> Iterator[Finding]:
        kernel = re.search(
            r"Kernel Module(?: for \S+)?\s+(\d+\.\d+(?:\.\d+)?)", _word(self.root / "proc/driver/nvidia/version")
        )
        own = re.search(r"\.so\.(\d+\.\d+(?:\.\d+)?)$", os.path.realpath(library))
        if kernel and own and kernel[1] != own[1]:
            yield Finding(
                "driver-mismatch",
                f"The kernel runs NVIDIA's driver {kernel[1]}, and the library is of {own[1]}.",
                str(library),
                "Restart the machine, or reload the kernel modules: the driver was updated under them.",
            )

    def _of_system(self) -> Iterator[Finding]:
        if not os.path.exists(self.root / "proc/self"):
            what = "There is no /proc here, where drivers look for the machine's memory and processors."
            yield Finding("no-proc", what, "/proc", "Mount it: a container or chroot needs mount -t proc proc /proc.")
        if not os.path.exists(self.root / "sys"):
            what = "There is no /sys here, where drivers such as PoCL look for processors and devices."
            yield Finding("no-sys", what, "/sys", "Mount it: a container or chroot needs mount -t sysfs sysfs /sys.")

    def _of_rusticl(self, library: Path) -> Iterator[Finding]:
        if re.search("[Rr]usticl", str(library)) and not self.environment.get("RUSTICL_ENABLE"):
            yield Finding(
                "rusticl-not-enabled",
                "Mesa's rusticl shows no device unless a variable names its drivers.",
                str(library),
                "Set RUSTICL_ENABLE, for example to radeonsi, iris, nouveau, or llvmpipe for the CPU.",
            )

    # --- where this runs ---

    def confinement(self) -> str:
        """The container or sandbox that this process runs in, with its article; "" for none."""
        if self.environment.get("SNAP"):
            return f"the snap {self.environment.get('SNAP_NAME', '')}".strip()
        if os.path.exists(self.root / ".flatpak-info"):
            return "a Flatpak sandbox"
        if os.path.exists(self.root / ".dockerenv"):
            return "a Docker container"
        if os.path.exists(self.root / "run/.containerenv"):
            return "a Podman container"
        if self.environment.get("container") or os.path.exists(self.root / "run/systemd/container"):
            return "a container"
        return ""


def _problem(node: Path) -> str:
    """Why a node cannot be opened, as for a container's devices; "" where it can."""
    try:
        os.close(os.open(node, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC))
    except OSError as error:
        return (error.strerror or str(error)).lower()
    return ""


def _kind(library: Path) -> Kind | None:
    names = f"{library.name} {os.path.basename(os.path.realpath(library))}"
    return next((kind for pattern, kind in _KINDS.items() if re.search(pattern, names)), None)


def _named(library: Path) -> set[str]:
    """Device nodes whose names stand in a library, as patterns below the root."""
    try:
        with library.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            names = {match.group().decode() for match in _NODE.finditer(data, 0, min(len(data), _MOST_SCANNED))}
    except (OSError, ValueError):
        return set()
    patterns = {re.sub(r"%\w*", "[0-9]*", name).lstrip("/") for name in names}
    return {p + "*" if p.endswith("renderD") else p for p in patterns if not p.endswith("/")}


def _word(path: Path) -> str:
    try:
        return path.read_text(errors="replace").strip()
    except OSError:
        return ""


def _group(gid: int) -> str:
    try:
        return grp.getgrgid(gid).gr_name
    except KeyError:
        return str(gid)
