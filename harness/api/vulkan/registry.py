# SPDX-License-Identifier: Apache-2.0
"""Reads vk.xml: functions with their levels and parameters, structures with their layouts, values of constants.

Layouts are those of 64-bit systems. What needs a window system or an operating system that Linux does not have is left
out.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path
from typing import Any

PLATFORMS = {"", "provisional", "xlib", "xlib_xrandr", "xcb", "wayland", "directfb"}

# Kinds of parameters and members: how many bytes one takes, and how it is passed.
SIZES = {"pointer": 8, "u64": 8, "u32": 4, "i32": 4, "u16": 2, "u8": 1, "float": 4, "double": 8}
_BASE = {
    "void": "u8", "char": "u8", "uint8_t": "u8", "uint16_t": "u16", "uint32_t": "u32", "uint64_t": "u64",
    "int8_t": "u8", "int16_t": "u16", "int32_t": "i32", "int64_t": "u64", "int": "i32", "size_t": "u64",
    "float": "float", "double": "double", "VkBool32": "u32", "VkFlags": "u32", "VkFlags64": "u64",
    "VkDeviceSize": "u64", "VkDeviceAddress": "u64", "VkSampleMask": "u32", "Window": "u64", "VisualID": "u64",
    "RROutput": "u64", "xcb_window_t": "u32", "xcb_visualid_t": "u32",
}  # fmt: skip
_DISPATCHABLE = {"VkInstance": "instance", "VkPhysicalDevice": "physical_device"}
_OF_DEVICES = {"VkDevice", "VkQueue", "VkCommandBuffer"}


def _texts(node: ET.Element) -> str:
    """The text of a declaration, without comments."""
    parts = [node.text or ""]
    for child in node:
        parts += ["" if child.tag == "comment" else _texts(child), child.tail or ""]
    return " ".join("".join(parts).split())


def _is_for_vulkan(node: ET.Element, attribute: str = "api") -> bool:
    return "vulkan" in node.get(attribute, "vulkan").split(",")


class Registry:
    """What one file says."""

    def __init__(self, path: Path) -> None:
        self._root = ET.parse(path).getroot()
        self.constants = self._read_constants()
        self._kinds = self._read_kinds()
        self._nodes = {
            name: node
            for node in self._root.iterfind("types/type")
            if node.get("category") in ("struct", "union") and _is_for_vulkan(node) and (name := node.get("name"))
        }
        self._layouts: dict[str, dict[str, Any]] = {}

    # --- constants ---

    def _read_constants(self) -> dict[str, int]:
        result: dict[str, int] = {}
        for node in self._root.iterfind("enums/enum"):
            self._take_constant(result, node, 0)
        for extension in (*self._root.iterfind("feature"), *self._root.iterfind("extensions/extension")):
            for node in extension.iterfind("require/enum"):
                self._take_constant(result, node, int(extension.get("number", "0").partition(".")[0]))
        for node in (*self._root.iterfind("enums/enum"), *self._root.iter("enum")):
            if (alias := node.get("alias")) in result and (name := node.get("name")):
                result.setdefault(name, result[alias])
        return result

    @staticmethod
    def _take_constant(constants: dict[str, int], node: ET.Element, number: int) -> None:
        name = node.get("name", "")
        if (offset := node.get("offset")) is not None:
            value = 1000000000 + (int(node.get("extnumber") or number) - 1) * 1000 + int(offset)
            constants[name] = -value if node.get("dir") else value
        elif (bit := node.get("bitpos")) is not None:
            constants[name] = 1 << int(bit)
        elif re.fullmatch(r"-?\d+|0x[0-9a-fA-F]+", text := node.get("value", "")):
            constants[name] = int(text, 0)

    # --- types ---

    def _read_kinds(self) -> dict[str, str]:
        """How each named type that is not a structure is passed."""
        kinds = dict(_BASE)
        wide = {node.get("name") for node in self._root.iterfind("enums") if node.get("bitwidth") == "64"}
        aliases: dict[str, str] = {}
        for node in self._root.iterfind("types/type"):
            name = node.get("name") or node.findtext("name") or node.findtext("proto/name") or ""
            category = node.get("category")
            if (alias := node.get("alias")) is not None:
                aliases[name] = alias
            elif category == "enum":
                kinds[name] = "u64" if name in wide else "i32"
            elif category == "bitmask":
                kinds[name] = "u64" if node.findtext("type") == "VkFlags64" else "u32"
            elif category == "handle":
                kinds[name] = "pointer" if "NON_DISPATCHABLE" not in _texts(node) else "u64"
            elif category == "funcpointer":
                kinds[name] = "pointer"
        for name, alias in aliases.items():
            if alias in kinds:
                kinds[name] = kinds[alias]
        return kinds

    def _kind(self, node: ET.Element) -> str:
        """How a parameter is passed: arrays are passed as pointers."""
        text = _texts(node)
        if "*" in text or "[" in text:
            return "pointer"
        return self._kinds[node.findtext("type") or ""]

    # --- structures ---

    def structure(self, name: str) -> dict[str, Any] | None:
        """The layout of a structure: size, alignment, the value of sType, and its members; None where it has bit fields
        or types of other systems."""
        node = self._nodes.get(name)
        if node is None:
            return None
        if (alias := node.get("alias")) is not None:
            return self.structure(alias)
        if name not in self._layouts:
            try:
                self._layouts[name] = self._lay_out(node)
            except KeyError:
                return None
        return self._layouts[name]

    def _lay_out(self, node: ET.Element) -> dict[str, Any]:
        end, alignment, stype = 0, 1, None
        members = []
        for member in filter(_is_for_vulkan, node.iterfind("member")):
            if member.get("values", "").startswith("VK_STRUCTURE_TYPE"):
                stype = self.constants[member.get("values", "")]
            size, align, kind = self._size_of(member)
            offset = 0 if node.get("category") == "union" else -(-end // align) * align
            end = max(end, offset + size)
            alignment = max(alignment, align)
            members.append({"name": member.findtext("name"), "kind": kind, "offset": offset, "size": size})
        size = -(-end // alignment) * alignment
        return {"size": size, "align": alignment, "stype": stype, "members": members}

    def _size_of(self, member: ET.Element) -> tuple[int, int, str]:
        """Size and alignment of a member, and its kind; "" for structures and arrays."""
        text = _texts(member)
        if ":" in text:
            raise KeyError("bit field")
        if "*" in text:
            return 8, 8, "pointer"
        type_ = member.findtext("type") or ""
        if type_ in self._kinds:
            size = align = SIZES[self._kinds[type_]]
            kind = self._kinds[type_]
        else:
            layout = self.structure(type_)
            if layout is None:
                raise KeyError(type_)
            size, align, kind = layout["size"], layout["align"], ""
        count = 1
        for length in re.findall(r"\[\s*(\w+)\s*\]", text):
            count *= int(length) if length.isdecimal() else self.constants[length]
            kind = ""
        return size * count, align, kind

    def structures(self) -> dict[str, dict[str, Any]]:
        """The layouts of all structures that have one, by name."""
        return {name: layout for name in self._nodes if (layout := self.structure(name)) is not None}

    # --- functions ---

    def functions(self) -> list[dict[str, Any]]:
        """All functions that a Linux program can know, sorted by name."""
        nodes: dict[str, ET.Element] = {}
        aliases: dict[str, str] = {}
        for node in filter(_is_for_vulkan, self._root.iterfind("commands/command")):
            if (alias := node.get("alias")) is not None:
                aliases[node.get("name", "")] = alias
            else:
                nodes[node.findtext("proto/name") or ""] = node
        origins = dict(self._origins())
        names = [name for name in sorted({*nodes, *aliases}) if name in origins]
        described = []
        for name in names:
            node = nodes[aliases.get(name, name)]
            described.append(
                {"name": name, "same_as": aliases.get(name, name), **origins[name], **self._signature(node)}
            )
        return described

    def _signature(self, node: ET.Element) -> dict[str, Any]:
        parameters = [
            {"name": p.findtext("name"), "type": _texts(p), "of": p.findtext("type"), "kind": self._kind(p)}
            for p in filter(_is_for_vulkan, node.iterfind("param"))
        ]
        first = parameters[0]["of"] if parameters else ""
        result = node.findtext("proto/type") or "void"
        level = _DISPATCHABLE.get(str(first), "device" if first in _OF_DEVICES else "global")
        return {
            "level": level,
            "handle": first if level != "global" else "",
            "result": "void" if result == "void" else "pointer" if result.startswith("PFN_") else self._kinds[result],
            "result_type": result,
            "parameters": parameters,
        }

    def _origins(self) -> Iterator[tuple[str, dict[str, str]]]:
        """Where each function comes from: a version, or an extension, which may be of instances or of devices."""
        for extension in self._root.iterfind("extensions/extension"):
            if _is_for_vulkan(extension, "supported") and extension.get("platform", "") in PLATFORMS:
                for command in extension.iterfind("require/command"):
                    name = extension.get("name", "")
                    yield (
                        command.get("name", ""),
                        {"version": "", "extension": name, "extends": extension.get("type", "device")},
                    )
        for feature in self._root.iterfind("feature"):
            if _is_for_vulkan(feature) or "vulkanbase" in feature.get("api", ""):
                for command in feature.iterfind("require/command"):
                    version = feature.get("number", "")
                    yield command.get("name", ""), {"version": version, "extension": "", "extends": ""}

    def instance_extensions(self) -> dict[str, str]:
        """The extensions of instances, and the window system that each is for: "" for most."""
        return {
            extension.get("name", ""): extension.get("platform", "")
            for extension in self._root.iterfind("extensions/extension")
            if _is_for_vulkan(extension, "supported") and extension.get("type") == "instance"
            and extension.get("platform", "") in PLATFORMS
        }  # fmt: skip

    def header_version(self) -> int:
        """VK_HEADER_VERSION."""
        for node in self._root.iterfind("types/type"):
            if node.findtext("name") == "VK_HEADER_VERSION" and _is_for_vulkan(node):
                return int(_texts(node).rpartition(" ")[2])
        return 0
