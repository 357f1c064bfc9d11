# SPDX-License-Identifier: Apache-2.0
"""The steps of an exchange as a programmer would write them: typed variables in the place of guarded memory."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from harness.api import wording
from harness.api.model import Parameter, api
from harness.escaping import c_string
from harness.run.exchange import NotReproducible, Step, Words, literal

_LARGE = 4096  # bytes that are too many for the stack
_SINGULAR = {"platforms": "platform", "devices": "device", "out_devices": "device", "errcode_ret": "error"}
_TAKEN = (
    "at",
    "copy",
    "kept",
    "library",
    "load",
    "memory",
    "notify",
    "part",
    "path",
    "release",
    "run",
)  # names that programs use
_STRUCTURES = {
    "cl_image_format": (
        ("image_channel_order", 4, "cl_channel_order"),
        ("image_channel_data_type", 4, "cl_channel_type"),
    ),
    "cl_buffer_region": (("origin", 8, ""), ("size", 8, "")),
    "cl_image_desc": (
        ("image_type", 8, "cl_mem_object_type"),
        ("image_width", 8, ""),
        ("image_height", 8, ""),
        ("image_depth", 8, ""),
        ("image_array_size", 8, ""),
        ("image_row_pitch", 8, ""),
        ("image_slice_pitch", 8, ""),
        ("num_mip_levels", 4, ""),
        ("num_samples", 4, ""),
        ("mem_object", 8, ""),
    ),
}  # fmt: skip


class PlainWords(Words):
    """Words for variables, arrays and strings; nothing lies where an unreadable page begins."""

    def __init__(
        self,
        all_steps: Sequence[Step],
        shown: Sequence[Step],
        judged: set[str],
        texts: Iterable[str],
        counts_callbacks: bool = False,
    ) -> None:
        self.scalars: dict[str, str] = {}  # memory that is one variable, and its type
        self.shared: set[str] = set()  # error codes that one variable takes, one after the other
        super().__init__(all_steps, shown, judged, counts_callbacks)
        self._find_scalars(shown, list(texts))
        self._share_errors(shown, judged)
        self._rename(shown)

    def _find_scalars(self, shown: Sequence[Step], texts: list[str]) -> None:
        """Memory that only ever holds one answer, which is read as a whole."""
        uses: dict[str, list[str]] = {}
        written = {f"b{s.words[0]}" for s in shown if s.kind in ("put", "word", "protect", "get")}
        written |= {token for s in shown if s.kind in ("store", "read", "peek") for token in s.uses()}
        given = [t for s in shown if s.is_call for t in s.given]
        held = [t for s in shown for t in s.tokens.values()]
        for text in (*given, *held, *texts):
            for token in re.findall(r"\bb\d+\b", text):
                uses.setdefault(token, []).append(text)
        for step in shown:
            own = step.defines()
            if step.kind != "buffer" or own in written or own not in self.as_argument or step.content is not None:
                continue
            size = int(step.words[1])
            whole = rf"(\*{own}\+0|u{8 * size}\({own}, 0\)|i{8 * size}\({own}, 0\))"
            parameter = self.as_argument[own][1]
            if size not in (1, 4, 8) or parameter.pointee not in (0, size) or parameter.name == "ptr":
                continue
            rest = [re.sub(whole, "", text) for text in uses.get(own, []) if text != own or text not in given]
            if not any(re.search(rf"\b{own}\b", text) for text in rest):
                self.scalars[own] = self._type(parameter, size, any(f"*{own}+0" in text for text in uses.get(own, [])))

    @staticmethod
    def _type(parameter: Parameter, size: int, is_handle: bool) -> str:
        if parameter.pointee:
            return re.sub(r"\*(\**)\w+$", r"\1", parameter.type.replace("const ", "")).strip()
        return "void *" if is_handle else {1: "cl_uchar", 4: "cl_uint", 8: "cl_ulong"}[size]

    def _share_errors(self, shown: Sequence[Step], judged: set[str]) -> None:
        """Error codes that nobody judges, and the judged one where it is the last."""
        codes = [
            t
            for s in shown
            if s.is_call
            for t in (*s.given, s.defines() if _is_code(s) else "")
            if self._holds_code(t, s)
        ]
        wanted = [token for token in codes if token in judged]
        self.shared = {token for token in codes if token not in judged}
        if len(set(wanted)) == 1 and codes[-1] == wanted[0] and codes.count(wanted[0]) == 1:
            self.shared.add(wanted[0])

    def _holds_code(self, token: str, step: Step) -> bool:
        if token == step.defines():
            return bool(token)
        return token in self.scalars and self.as_argument[token][1].kind == "errcode"

    def _rename(self, shown: Sequence[Step]) -> None:
        """Names without the numbers of the exchange where they are unique."""
        taken = {*_TAKEN}
        if self.shared:
            taken.add("error")
        for step in shown:
            own = step.defines()
            if own not in self.names or own in self.inline:
                continue
            base = re.sub(r"_\d+$", "", self.names[own])
            base = "text" if base == "memory" and step.content and _is_text(step) else base
            base = _SINGULAR.get(base, base).removeprefix("command_").removesuffix("_ret").removesuffix("_khr")
            name, number = base, 2
            while name in taken and own not in self.shared:
                name, number = f"{base}_{number}", number + 1
            self.names[own] = "error" if own in self.shared else name
            taken.add(self.names[own])

    # --- values ---

    def pointer(self, token: str) -> str:
        if token in self.scalars:
            return f"&{self.names[token]}"
        if (match := re.fullmatch(r"\*(b\d+)\+0", token)) and match[1] in self.scalars:
            return self.names[match[1]]
        return super().pointer(token)

    def expression(self, text: str) -> str:
        for own in self.scalars:
            name = self.names[own]
            is_handle = "*" in self.scalars[own] or self.scalars[own] in api_handles()
            text = re.sub(rf"\*{own}\+0|u64\({own}, 0\)", f"V({name})" if is_handle else name, text)
            text = re.sub(rf"[ui]\d+\({own}, 0\)", name, text)
        return super().expression(text)

    def argument(self, parameter: Parameter, token: str) -> str:
        if parameter.kind == "integer" and (match := re.fullmatch(r"\*(b\d+)\+0", token)) and match[1] in self.scalars:
            return f"({parameter.type.rpartition(' ')[0]}){self.names[match[1]]}"
        if parameter.kind != "integer" and (match := re.fullmatch(r"\*(b\d+)\+0", token)) and match[1] in self.scalars:
            return self.names[match[1]]
        return super().argument(parameter, token)

    # --- memory ---

    def declaration(self, step: Step) -> list[str]:
        """Lines that make a memory: nothing where it is written in the call."""
        own = step.defines()
        if own in self.inline or own in self.shared:
            return []
        name, size, fill = self.names[own], int(step.words[1]), int(step.words[2])
        if own in self.scalars:
            return [_declared(self.scalars[own], name, fill)]
        if step.content is not None:
            if size > _LARGE:
                return [f"void *{name} = memcpy(malloc({size}), {self._bytes(step)}, {size});"]
            kind, content = self._array(step)
            return [f"{kind} {name}[] = {content};"]
        if size > _LARGE:
            return [f"void *{name} = memset(malloc({size}), {fill}, {size});"]
        start = " = {0}" if not fill else ""
        lines = [f"unsigned char {name}[{size or 1}] __attribute__((aligned(128))){start};"]
        return lines if not fill else [*lines, f"memset({name}, {fill}, {size});"]

    def content(self, step: Step) -> str:
        function, parameter = self.as_argument[step.defines()]
        size = int(step.words[1])
        if size > _LARGE:
            raise NotReproducible("it needs much memory")
        if len(step.content or b"") == 8 and re.fullmatch(r"r\d+|\*b\d+\+0", step.tokens.get(0, "")):
            name = self.pointer(step.tokens[0])
            if re.fullmatch(r"\w+", name):
                return f"&{name}"
        structure = self._structure(step, parameter, function.name)
        if structure:
            return structure
        kind, content = self._array(step)
        return content if content.startswith('"') else f"({kind}[]){content}"

    def _bytes(self, step: Step) -> str:
        if step.tokens or step.content is None:
            raise NotReproducible("it has addresses in a long content")
        return literal(step.content)

    def _array(self, step: Step) -> tuple[str, str]:
        """The type of an element, and what follows the equals sign."""
        content, own = step.content or b"", step.defines()
        if _is_text(step):
            lines = [c_string(line) for line in content[:-1].decode().splitlines(keepends=True)]
            return "char", "\n        ".join(lines) or '""'
        parameter = self.as_argument[own][1] if own in self.as_argument else None
        words = bool(step.tokens) or (parameter is not None and parameter.pointee == 8)
        if len(content) % 8 or not (words or not any(content[i + 7] for i in range(0, len(content) - 7, 8))):
            return "unsigned char", self._bytes(step)
        kind = self._type(parameter, 8, False) if parameter and parameter.pointee == 8 else "uint64_t"
        texts = self._words(step, own, content)
        is_of_pointers = parameter is not None and parameter.kind in ("handles", "handle_out", "strings")
        if parameter and parameter.pointee == 8 and (is_of_pointers or kind.endswith("*")):
            kind = "const char *" if parameter.kind == "strings" else kind
            texts = [re.sub(r"^V\((.*)\)$", r"\1", text) for text in texts]
            texts = ["NULL" if text == "0" else f"(void *){text}" if text[0].isdigit() else text for text in texts]
        elif kind != "uint64_t":
            texts = [re.sub(r"^V\((.*)\)$", rf"({kind})\1", text) for text in texts]
        return kind, f"{{{', '.join(texts)}}}"

    def _structure(self, step: Step, parameter: Parameter, function: str) -> str:
        """A structure by the names of its members."""
        name = next((own for own in _STRUCTURES if own in parameter.type), "")
        name = (
            "cl_buffer_region" if function == "clCreateSubBuffer" and parameter.name == "buffer_create_info" else name
        )
        members = _STRUCTURES.get(name, ())
        if not members or sum(size for _, size, _ in members) != len(step.content or b""):
            return ""
        texts, place = [], 0
        for member, size, family in members:
            number = int.from_bytes((step.content or b"")[place : place + size], "little")
            token = step.tokens.get(place)
            value = self.pointer(token) if token else wording.in_family(family, number) if family else ""
            if value or number or name != "cl_image_desc":
                value = value or str(number)
                texts.append(value if name == "cl_image_format" else f".{member} = {self.constant(value)}")
            place += size
        return f"&({name}){{{', '.join(texts) or '0'}}}"


def api_handles() -> set[str]:
    """The classes of all objects."""
    return {p.handle for f in api().functions.values() for p in f.parameters if p.handle}


def _is_text(step: Step) -> bool:
    content = step.content or b""
    return not step.tokens and content[-1:] == b"\0" and bool(re.fullmatch(rb"[\t\n\x20-\x7e]*", content[:-1]))


def _is_code(step: Step) -> bool:
    return step.function.result_kind == "signed"


def _declared(kind: str, name: str, fill: int) -> str:
    """A variable, as the memory that it stands for was filled."""
    gap = "" if kind.endswith("*") else " "
    if "*" in kind or kind in api_handles():
        return f"{kind}{gap}{name} = NULL;"
    size = {"cl_uchar": 1, "cl_uint": 4, "cl_int": 4, "cl_bool": 4}.get(kind, 8)
    return (
        f"{kind} {name} = {fill * int.from_bytes(bytes([1]) * size, 'little'):#x};" if fill else f"{kind} {name} = 0;"
    )
