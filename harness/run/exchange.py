# SPDX-License-Identifier: Apache-2.0
"""The recorded exchange of a session as steps in C, with names for its objects and its memory."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from harness.api import wording
from harness.api.model import Function, Parameter, api
from harness.escaping import c_string

IN_ORDER = "the exchange does not show it: the same calls, made again, are in order"  # why there is no program
LEFT = "what is left behind shows in the process, and in no answer"
ROUNDS = 8  # times that calls are made again, at least, to count as rounds
OF_EVENTS = "clSetEventCallback.pfn_notify"  # which is told an event, a status and data
OF_OBJECTS = (
    "clBuildProgram.pfn_notify",
    "clCompileProgram.pfn_notify",
    "clLinkProgram.pfn_notify",
    "clSetContextDestructorCallback.pfn_notify",
    "clSetMemObjectDestructorCallback.pfn_notify",
    "clSetProgramReleaseCallback.pfn_notify",
)  # which are told an object and data
LARGEST = 1 << 16  # bytes of one memory's content that a program spells out
_IGNORED = (
    "hello",
    "get",
    "value",
    "read",
    "module",
    "callbacks",
    "symbol",
    "free",
    "quit",
    "exports",
    "state",
    "heap",
)
OF_ITSELF = ("clGetPlatformInfo", "clGetDeviceInfo")  # what a vendor says of its platforms and devices
_GETTERS = re.compile(r"cl(Icd)?Get(?!.*Extension.*Semaphore)\w+$")
_IDENTIFIER = re.compile(r"\b[br]\d+\b")
_WORD_OF_MEMORY = re.compile(r"^\*b\d+$")  # the first one, which may be named without its offset
_SUFFIXED = re.compile(r"\bCL_\w+_(?:KHR|EXT|APPLE|INTEL|ARM|QCOM|NV|AMD|IMG|POCL)\b")


class NotReproducible(Exception):
    """The exchange uses what a small program cannot show: threads, forks, calls in callbacks."""


@dataclass
class Step:
    """A command of the probe (harness/probe/commands.c) with its reply, "" where none came."""

    kind: str
    words: list[str]
    reply: str
    content: bytes | None = None  # of memory, as it is filled at once
    tokens: dict[int, str] = field(default_factory=dict)  # words in it that are not numbers, by their offset
    callback: str = ""  # in which it is done

    @property
    def function(self) -> Function:
        """Of a call."""
        return api().functions[self.words[1] if self.kind == "call" else self.words[2]]

    @property
    def given(self) -> list[str]:
        """The arguments of a call."""
        return self.words[2:] if self.kind == "call" else self.words[3:]

    @property
    def is_call(self) -> bool:
        """Whether the step calls a function of the subject."""
        return self.kind in ("call", "address")

    @property
    def number(self) -> int:
        """What the reply says, where that is a number."""
        return int(self.reply, 16) if self.reply.startswith("0x") else 0

    def uses(self) -> set[str]:
        """The memory and the results that it needs."""
        texts = [*self.words, *self.tokens.values()]
        return {token for text in texts for token in _IDENTIFIER.findall(text)}

    def defines(self) -> str:
        """The result or the memory that it makes."""
        if self.kind == "buffer":
            return f"b{self.words[0]}"
        return f"r{self.words[0]}" if self.is_call or self.kind in ("peek",) else ""


def steps_of(exchange: Sequence[str], replies: Sequence[str], counted: bool = False) -> list[Step]:
    """The commands; what fills memory directly after it was made is part of that, and calls that the probe refused are
    left out: they were not made. Where callbacks are `counted`, so are questions that they only ask to be counted.
    Raises NotReproducible.
    """
    steps: list[Step] = []
    for number, command in enumerate(exchange):
        kind, *words = (_WORD_OF_MEMORY.sub(r"\g<0>+0", word) for word in command.split(" "))
        reply = replies[number].removeprefix("ok").strip() if number < len(replies) else ""
        if kind == "when" and counted and (words[1] == "peek" or any(word.startswith("clGet") for word in words[3:5])):
            continue
        if kind == "when":
            steps.append(_release(words))
            continue
        if kind not in _KNOWN:
            raise NotReproducible(f"it needs {_NEEDS.get(kind, kind)}")
        if reply.startswith(("error call: ", "error address: ")):
            continue
        last = steps[-1] if steps else None
        if last and last.kind == "buffer" and kind in ("put", "word") and words[0] == last.words[0]:
            _fill(last, kind, words)
        else:
            steps.append(Step(kind, words, reply))
    return steps


def _release(words: list[str]) -> Step:
    """A release that is made each time that a callback is called, as a step: its words are those of the call, and the
    callback stands before them. Raises NotReproducible for whatever else is made there.
    """
    callback, kind, *call = words
    if kind != "address" or len(call) != 4 or not call[2].startswith("clRelease"):
        raise NotReproducible(f"it needs {_NEEDS['when']}")
    return Step("release", call, "", callback=callback)


_KNOWN = (
    *_IGNORED,
    "buffer",
    "put",
    "word",
    "store",
    "protect",
    "peek",
    "call",
    "address",
    "open",
    "close",
    "setenv",
    "load",
)
_NEEDS = {"thread": "threads", "go": "threads", "fork": "a child", "when": "calls in a callback",
          "descriptor": "file descriptors", "vulkan": "memory of Vulkan"}  # fmt: skip


def _fill(memory: Step, kind: str, words: list[str]) -> None:
    if memory.content is None:
        memory.content = bytes([int(memory.words[2])]) * int(memory.words[1])
    at = int(words[1])
    if kind == "word":
        memory.tokens[at] = words[2]
    else:
        new = bytes.fromhex(words[2])
        memory.content = memory.content[:at] + new + memory.content[at + len(new) :]


def needed(steps: Sequence[Step], judged: set[str], ends: bool, asks_little: bool = False) -> list[Step]:
    """The steps without those that neither the judged values nor the calls that change anything need.

    With `ends` the last call is what matters: the process did not come back from it. With `asks_little` queries go
    whose answer nobody reads.
    """
    kept: list[Step] = []
    needs = set(judged)
    last = next((s for s in reversed(steps) if s.is_call), None)
    for step in reversed(steps):
        if step.kind in _IGNORED:
            continue
        own, uses = step.defines(), step.uses()
        if step.callback or (ends and step is last) or own in needs or _changes(step, needs, asks_little):
            kept.append(step)
            needs |= uses if not _through_a_table(step, steps) else uses - {_address(step)} | {_owner(step, steps)}
    return kept[::-1]


def rounds_of(steps: Sequence[Step]) -> tuple[list[Step], list[Step]]:
    """What is done once, and one of the rounds that are made again and again after that. Raises NotReproducible."""
    own = [step for step in steps if step.kind not in _IGNORED]
    does = [(step.kind, step.function.name if step.is_call else step.words[1:] if step.kind == "buffer" else "")
            for step in own]  # fmt: skip
    for period in range(1, len(own) // ROUNDS + 1):
        same = 0
        while same + period < len(own) and does[-1 - same] == does[-1 - same - period]:
            same += 1
        if same >= (ROUNDS - 1) * period:
            return own[: len(own) - same // period * period - period], own[-period:]
    raise NotReproducible(LEFT)


def essential(steps: Sequence[Step]) -> list[Step]:
    """The steps without looks at tables that only lead to a call, and without what a vendor says of its platforms and
    devices on the way to a call of another kind: with its next release that may be something else."""
    last = next((step.function.name for step in reversed(steps) if step.is_call), "")
    kept: list[Step] = []
    needs: set[str] = set()
    for step in reversed(steps):
        own, uses = step.defines(), step.uses()
        passes = step.is_call and step.function.name in OF_ITSELF and last not in OF_ITSELF
        passes = passes and not any(word in needs for word in step.given)
        leads = own not in needs and (passes or step.kind in ("buffer", "peek"))
        if leads or step.kind in ("get", "read"):
            continue
        kept.append(step)
        needs |= uses if not _through_a_table(step, steps) else uses - {_address(step)} | {_owner(step, steps)}
    written = {id(step) for step in kept}
    return [step for step in steps if id(step) in written or (step.kind in ("get", "read") and _read(step) in needs)]


def _read(step: Step) -> str:
    """The memory, or the result, that is read."""
    return f"b{step.words[0]}" if step.kind == "get" else next(iter(_IDENTIFIER.findall(step.words[0])), "")


def _changes(step: Step, needs: set[str], asks_little: bool) -> bool:
    """Whether a step does anything but give an answer that nobody wants."""
    if step.kind in ("buffer", "peek"):
        return False
    if not step.is_call:
        return not step.words or not step.words[0].isdigit() or f"b{step.words[0]}" in needs
    name = step.function.name
    if _GETTERS.match(name):
        return any(word in needs for word in step.given if word.startswith("b") or not asks_little)
    creates = name.startswith("clCreate") and "Kernels" not in name
    return not creates or any(word in needs for word in step.given if word.startswith("b"))


def _address(step: Step) -> str:
    return step.words[1] if step.kind in ("address", "release") else ""


def _peek(steps: Iterable[Step], token: str) -> Step | None:
    return next((s for s in steps if s.kind == "peek" and s.defines() == token), None)


def _through_a_table(step: Step, steps: Sequence[Step]) -> str:
    """The object whose dispatch table a call goes through, as a token; "" where it goes another way."""
    if step.kind not in ("address", "release") or step.function.slot is None:
        return ""
    entry = _peek(steps, step.words[1])
    if entry is None or int(entry.words[2]) != 8 * step.function.slot:
        return ""
    table = _peek(steps, entry.words[1])
    return table.words[1] if table and table.words[2] == "0" else ""


def _owner(step: Step, steps: Sequence[Step]) -> str:
    return next(iter(_IDENTIFIER.findall(_through_a_table(step, steps))), "")


class Words:
    """C for steps and tokens, with names that say what they are. `all_steps` are those of the whole session."""

    def __init__(
        self, all_steps: Sequence[Step], shown: Sequence[Step], judged: set[str], counts_callbacks: bool = False
    ) -> None:
        self.all_steps = all_steps
        self.counts_callbacks = counts_callbacks
        self.names: dict[str, str] = {}
        self.types: dict[str, str] = {}
        self.as_argument: dict[str, tuple[Function, Parameter]] = {}
        self.functions: set[str] = set()
        self.constants: set[str] = set()
        self.callbacks = {step.callback for step in shown if step.callback}
        if len(self.callbacks) > 1:
            raise NotReproducible("it needs calls in several callbacks")
        used = Counter(token for step in shown for token in self._tokens(step))
        for step in shown:
            self._name(step)
        self.inline = {
            step.defines(): step
            for step in shown
            if step.kind == "buffer" and step.content is not None
            and used[step.defines()] == 1 and step.defines() not in judged and step.defines() in self.as_argument
        }  # fmt: skip

    def _tokens(self, step: Step) -> list[str]:
        own = step.words[1:] if step.kind in ("buffer", "peek", "call", "address", "release") else step.words
        result = [f for text in [*own, *step.tokens.values()] for f in _IDENTIFIER.findall(text)]
        if step.kind in ("get", "put", "word", "protect"):
            result += [f"b{step.words[0]}"] * 2
        return result

    def _name(self, step: Step) -> None:
        own = step.defines()
        if step.kind == "buffer":
            self.names[own] = f"memory_{step.words[0]}"
        elif step.kind == "peek":
            self.names[own], self.types[own] = f"word_{step.words[0]}", "void *"
        elif step.is_call:
            function = step.function
            kind = function.result_kind
            handle = function.result_handle
            base = {"signed": "error", "pointer": "address", "unsigned": "number"}.get(kind, handle.removeprefix("cl_"))
            self.names[own] = f"{base.removesuffix('_id')}_{step.words[0]}"
            self.types[own] = {"signed": "cl_int ", "pointer": "void *", "unsigned": "uint64_t "}.get(
                kind, f"{handle} "
            )
            for parameter, token in zip(function.parameters, step.given, strict=True):
                if re.fullmatch(r"b\d+", token) and token in self.names and token not in self.as_argument:
                    self.as_argument[token] = (function, parameter)
                    self.names[token] = f"{parameter.name}_{token[1:]}"

    # --- values ---

    def pointer(self, token: str) -> str:
        """A token as a pointer."""
        if re.fullmatch(r"-?\d+", token):
            number = int(token) & 0xFFFFFFFFFFFFFFFF
            return f"(void *){number:#x}" if number else "NULL"
        if self.counts_callbacks and token[1:] in (OF_EVENTS, *OF_OBJECTS):
            return "(void *)called_with_status" if token[1:] == OF_EVENTS else "(void *)called_with_data"
        if token.startswith("^"):
            return "(void *)release" if token[1:] in self.callbacks else "(void *)notify"
        if match := re.fullmatch(r"\*(b\d+)\+(\d+)", token):
            return f"HANDLE({self._known(match[1])}, {match[2]})"
        if match := re.fullmatch(r"([br]\d+)\+(\d+)", token):
            return f"(void *)at({self._known(match[1])}, {match[2]})"
        if token in self.inline:
            return self.content(self.inline[token])
        if re.fullmatch(r"[br]\d+", token):
            return self._known(token)
        raise NotReproducible(token)

    def _known(self, identifier: str) -> str:
        if identifier not in self.names:
            raise NotReproducible(f"{identifier} comes from another process")
        return self.names[identifier]

    def expression(self, text: str) -> str:
        """C for an expression of an answer (harness/probe/answers.py)."""
        text = re.sub(r"\*(b\d+)\+(\d+)", r"u64(\1, \2)", text)

        def named(match: re.Match[str]) -> str:
            name = self._known(match[0])
            plain = match[0].startswith("b") or self.types.get(match[0]) in ("cl_int ", "uint64_t ")
            return name if plain else f"V({name})"

        return _IDENTIFIER.sub(named, text)

    def argument(self, parameter: Parameter, token: str) -> str:
        """An argument as C: by the name of a constant, of a buffer or of an earlier result."""
        if parameter.kind != "integer":
            text = self.pointer(token)
            own = self.types.get(token, "")
            return f"(void *){text}" if own not in ("", "void *") and own.strip() != parameter.handle else text
        if not re.fullmatch(r"-?\d+", token):
            return f"V({self.pointer(token)})"
        return self.constant(wording.argument(parameter, int(token)))

    def constant(self, text: str) -> str:
        """The same text; names in it that headers may lack are noted."""
        self.constants |= set(_SUFFIXED.findall(text))
        return text

    # --- memory ---

    def content(self, step: Step) -> str:
        """Memory that is filled at once, as an expression."""
        content, name = step.content, step.defines()
        size, fill = int(step.words[1]), int(step.words[2])
        if content is None or (not step.tokens and content == content[:1] * size):
            return f"memory({size}, {content[0] if content else fill})"
        if not step.tokens and content[-1] == 0 and re.fullmatch(rb"[\t\n\x20-\x7e]*", content[:-1]):
            lines = [c_string(line) for line in content[:-1].decode().splitlines(keepends=True)]
            return f"TEXT({' '.join(lines) or chr(34) * 2})"
        small = size <= 8 or not any(content[i + 7] for i in range(0, size - 7, 8)) or size <= 24
        if size % 8 == 0 and (step.tokens or (small and size <= 512)):
            return f"WORDS({', '.join(self._words(step, name, content))})"
        if size > LARGEST:
            raise NotReproducible(f"it needs {size} bytes of content")
        return f"copy({literal(content)}, {size})"

    def _words(self, step: Step, name: str, content: bytes) -> list[str]:
        numbers = [int.from_bytes(content[i : i + 8], "little") for i in range(0, len(content), 8)]
        texts = [f"{n:#x}" if n > 0xFFFF else str(n) for n in numbers]
        if name in self.as_argument:
            function, parameter = self.as_argument[name]
            words = wording.properties(function.name, parameter.name, [f"{n:#x}" for n in numbers])
            texts = [self.constant(w) if w.startswith("CL_") else t for w, t in zip(words, texts, strict=True)]
        for at, token in step.tokens.items():
            texts[at // 8] = f"V({self.pointer(token)})"
        return texts

    # --- calls ---

    def callee(self, step: Step) -> str:
        """The function that a call calls, as a loader finds it."""
        name = step.function.name
        if step.kind == "call":
            self.functions.add(name)
            return f"EXPORTED({name})"
        owner = _through_a_table(step, self.all_steps)
        if owner:
            place = f"OF({self.pointer(owner)})->{name}"
            if re.search(r"(KHR|EXT|D3D\d+\w*|DX9\w*|APPLE|INTEL)$|^clCreateFrom(GL|D3D|DX)|GL|D3D", name):
                self.functions.add(name)
                return f"AT({place}, {name})"
            return place
        self.functions.add(name)
        return f"AT({self.pointer(step.words[1])}, {name})"

    def call(self, step: Step) -> str:
        """A call as C."""
        pairs = zip(step.function.parameters, step.given, strict=True)
        return f"{self.callee(step)}({', '.join(self.argument(p, t) for p, t in pairs)})"


def literal(content: bytes) -> str:
    """Bytes as C strings, 32 in each line."""
    lines = [content[i : i + 32] for i in range(0, len(content), 32)] or [b""]
    return "\n        ".join('"' + "".join(f"\\x{byte:02x}" for byte in line) + '"' for line in lines)
