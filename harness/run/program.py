# SPDX-License-Identifier: Apache-2.0
"""One failed exchange with a vendor's library as a function in C that shows the defect; programs of such functions.

A function judges in one of these forms:

compared   makes the comparison with which the check failed; only the calls that matter
whole      the same, with every call of the exchange
answers    every call but those that ask a vendor for itself, and compares each answer with that of the run that failed
every      the same, with every call and every look at a dispatch table
ended      the process must come back from its last call
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Self

from harness.api.codes import Code, Constant
from harness.api.model import api
from harness.escaping import c_comment, c_string, one_line
from harness.probe.answers import Compared
from harness.probe.connection import KEPT_REPLY
from harness.run.exchange import NotReproducible, Step, Words, essential, literal, needed, steps_of
from harness.run.program_head import ANSWERS, HEAD, TAIL

FORMS = ("compared", "whole", "answers", "every")
_OF_ANSWERS = FORMS[2:]
_INVERSE = {"==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}
_ICD2 = {
    "clIcdGetFunctionAddressForPlatformKHR": (
        "void *CL_API_CALL clIcdGetFunctionAddressForPlatformKHR(cl_platform_id platform, const char *name);"
    ),
    "clIcdSetPlatformDispatchDataKHR": (
        "cl_int CL_API_CALL clIcdSetPlatformDispatchDataKHR(cl_platform_id platform, void *data);"
    ),
}


@dataclass(frozen=True)
class Failure:
    """What a session of a failed case did. `ended` says that it did not come back from its last call."""

    label: str
    exchange: Sequence[str]
    replies: Sequence[str]
    comparisons: Sequence[Compared]
    ended: bool

    def forms(self) -> tuple[str, ...]:
        """How it can be judged, the form that reads best first."""
        if self.ended:
            return ("ended", "ended whole")
        return FORMS if self.comparisons else FORMS[2:]


@dataclass(frozen=True)
class Part:
    """A function of a program: its body, and what the head must have for it."""

    label: str
    body: str
    form: str
    functions: Sequence[str] = ()
    constants: Mapping[str, int] = field(default_factory=dict)
    codes: Sequence[int] = ()

    def to_json(self) -> dict[str, Any]:
        """The form in which it is kept beside the case."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """What to_json() made."""
        return cls(**dict(data))


def part(failure: Failure, form: str) -> Part:
    """The function that shows a failure in one form. Raises NotReproducible."""
    steps = steps_of(failure.exchange, failure.replies)
    group = _group(failure.comparisons) if form in ("compared", "whole") else []
    texts = [text for c in group for text in (c.answer, c.other if c.is_expression else "") if isinstance(text, str)]
    judged = {result for text in texts for result in re.findall(r"\b[br]\d+\b", text)}
    shown = needed(steps, judged, failure.ended) if form in ("compared", "ended") else steps
    shown = essential(steps) if form == "answers" else shown
    words = Words(steps, shown, judged)
    writer = _Writer(words, judged, form)
    lines = [line for step in shown for line in writer.lines(step)]
    lines += writer.judgement(group) if group else []
    if form in _OF_ANSWERS:
        lines.append('judge(differs, "another answer than in the run that failed");')
    body = "".join(f"    {line}\n" for line in lines)
    constants = {name: int(api().constants[name]) for name in sorted(words.constants) if name in api().constants}
    return Part(failure.label, body, form, sorted(words.functions & set(_ICD2)), constants, sorted(writer.codes))


def _group(comparisons: Sequence[Compared]) -> list[Compared]:
    """The comparison that failed: the last one, with those before it that ask the same answer for another value."""
    group = list(comparisons[-1:])
    for before in reversed(comparisons[:-1]):
        last = group[-1]
        if (before.answer, before.relation, before.holds) != (last.answer, "==", False) or before in group:
            break
        group.append(before)
    return group[::-1]


def _relation(compared: Compared) -> str:
    """The relation that holds where the library is right."""
    return _INVERSE[compared.relation] if compared.holds else compared.relation


class _Writer:
    """Lines of C for the steps of one part."""

    def __init__(self, words: Words, judged: set[str], form: str) -> None:
        self.words = words
        self.judged = judged
        self.form = form
        self.codes: set[int] = set()
        self._addresses: dict[int, int] = {}
        self._said: set[str] = set()  # what is compared since the last call

    def lines(self, step: Step) -> list[str]:
        words, kind = self.words, step.kind
        if step.is_call:
            return self._call(step)
        if kind == "buffer":
            own = step.defines()
            return [] if own in words.inline else [f"void *{words.names[own]} = {words.content(step)};"]
        if kind in ("get", "read") and self.form in _OF_ANSWERS:
            return self._once(self._answer(step))
        if kind == "put":
            return [f"memcpy(at({words.pointer('b' + step.words[0])}, {step.words[1]}), {_hex(step.words[2])});"]
        if kind == "store":
            return [f"memcpy(at({words.pointer(step.words[0])}, {step.words[1]}), {_hex(step.words[2])});"]
        if kind == "word":
            place = f"at({words.pointer('b' + step.words[0])}, {step.words[1]})"
            return [f"*(uint64_t *){place} = V({words.pointer(step.words[2])});"]
        if kind == "peek":
            name = words.names[step.defines()]
            line = f"void *{name} = HANDLE({words.pointer(step.words[1])}, {step.words[2]});"
            return [line, *(self._word_answer(step, name) if self.form in _OF_ANSWERS else [])]
        if kind == "protect":
            return [f"mprotect((void *)(V({words.pointer('b' + step.words[0])}) & ~4095ull), 4096, PROT_READ);"]
        if kind == "setenv":
            return [f"setenv({', '.join(c_string(bytes.fromhex(w).decode(errors='replace')) for w in step.words)}, 1);"]
        if kind == "load":
            if len(step.words) > 1:
                raise NotReproducible("it needs another library")
            return [f"dlopen({c_string(bytes.fromhex(step.words[0]).decode(errors='replace'))}, RTLD_NOW);"]
        return {"close": ["dlclose(library);"], "open": ["library = dlopen(path, RTLD_NOW | RTLD_LOCAL);"]}.get(
            kind, []
        )

    def _call(self, step: Step) -> list[str]:
        words, own, function = self.words, step.defines(), step.function
        text, name = words.call(step), words.names[own]
        if function.result_kind == "void":
            return [f"{text};"]
        line = f"{words.types[own]}{name} = {text};"
        if self.form in _OF_ANSWERS:
            self._said.clear()
            return [line, *self._answer_of(step, name)]
        touches = {own, *(token for token in step.given)} & self.judged
        if touches or not step.reply:
            return [line]
        if function.result_kind == "signed":
            if step.number & 0xFFFFFFFF:
                return [f"{text};"]
            return [f'prepared({text} == CL_SUCCESS, "{function.name}");']
        if function.result_kind == "handle" and step.number:
            return [line, f'prepared({name} != NULL, "{function.name}");']
        return [line]

    # --- every answer ---

    def _once(self, lines: list[str]) -> list[str]:
        """The lines that were not written since the last call."""
        new = [line for line in lines if line not in self._said]
        self._said.update(new)
        return new

    def _numbered(self, content: bytes) -> bytes:
        """The content with numbers in the place of addresses, as `number_addresses` of the program has it."""
        result = bytearray(content)
        for at in range(0, len(content) - 7, 8):
            word = int.from_bytes(content[at : at + 8], "little")
            if word >> 40 >= 0x10 and word >> 47 == 0:
                place = self._addresses.setdefault(word, len(self._addresses))
                result[at : at + 8] = (0xADD << 48 | place).to_bytes(8, "little")
        return bytes(result)

    def _answer(self, step: Step) -> list[str]:
        if not step.reply or len(step.reply) >= KEPT_REPLY - 3:
            return []
        content = self._numbered(bytes.fromhex(step.reply))
        token, offset = (f"b{step.words[0]}", step.words[1]) if step.kind == "get" else (step.words[0], "0")
        name = self.words.pointer(token)
        return [f'answer("{name}", at({name}, {offset}), {len(content)}, {literal(content)});']

    def _answer_of(self, step: Step, name: str) -> list[str]:
        if not step.reply:
            return []
        if step.function.result_kind == "signed":
            code = (step.number & 0xFFFFFFFF).to_bytes(4, "little")
            return [f'answer("{step.function.name}", &{name}, 4, {literal(code)});']
        return self._word_answer(step, name)

    def _word_answer(self, step: Step, name: str) -> list[str]:
        word = self._numbered(step.number.to_bytes(8, "little"))
        what = step.function.name if step.is_call else name
        return [f'answer_word("{what}", V({name}), {literal(word)});'] if step.reply else []

    # --- one comparison ---

    def judgement(self, group: Sequence[Compared]) -> list[str]:
        if len(group) == 1 and group[0].kind == "bytes" and _relation(group[0]) == "==":
            return [self._same(group[0])]
        lines = []
        for one in dict.fromkeys((c.answer, c.kind) for c in group):
            lines.append(self._got(*one))
        expected = [self._wanted(compared) for compared in group]
        text = " or ".join(text_of_test for _, text_of_test in expected)
        return [*lines, f"judge({' || '.join(test for test, _ in expected)}, {c_string(text)});"]

    def _same(self, compared: Compared) -> str:
        """Contents that must be the same, which the program shows where they are not."""
        place, _, own = self.words.expression(compared.answer).rpartition(", ")
        if isinstance(compared.other, bytes):
            two, size = literal(compared.other), len(compared.other)
        else:
            two, _, text = self.words.expression(str(compared.other)).rpartition(", ")
            size = int(text)
        if int(own) != size or not size:
            raise NotReproducible("it compares contents of two sizes")
        return f"judge_bytes({c_string(place)}, {place}, {two}, {size});"

    def _got(self, answer: str, kind: str) -> str:
        c = self.words.expression(answer)
        shown = c_string(c.replace("%", "%%"))
        if kind == "code":
            return f'printf("  got: %s = %s\\n", {shown}, code({c}));'
        if kind == "bytes":
            place = c.rpartition(", ")
            return f"got_bytes({c_string(place[0])}, {c});"
        if kind == "text":
            return f'printf("  got: %s = %s\\n", {shown}, (const char *){c});'
        return f'printf("  got: %s = %llu (%#llx)\\n", {shown}, (unsigned long long)({c}), (unsigned long long)({c}));'

    def _wanted(self, compared: Compared) -> tuple[str, str]:
        """C that holds where the answer is as the check wants it, and the same for who reads it."""
        relation = _relation(compared)
        one, other = self.words.expression(compared.answer), compared.other
        if compared.is_expression:
            two = self.words.expression(str(other))
            if compared.kind == "bytes":
                return self._bytes(one, two.rpartition(", ")[0], int(two.rpartition(", ")[2]), relation, two)
            if compared.kind == "text":
                return f"strcmp((char *){one}, (char *){two}) {relation} 0", f"{one} {relation} {two}"
            return f"{one} {relation} {two}", f"{one} {relation} {two}"
        if isinstance(other, bytes):
            return self._bytes(one, literal(other), len(other), relation, other[:32].hex(" "))
        if isinstance(other, str):
            return f"strcmp((char *){one}, {c_string(other)}) {relation} 0", f"{one} {relation} {other[:200]!r}"
        if compared.kind == "code":
            self.codes.add(int(other))
        name = str(Code(int(other))) if compared.kind == "code" else str(other)
        is_named = isinstance(other, Constant) and other.name.startswith("CL_")
        number = name if is_named or compared.kind == "code" else f"{int(other)}ull" if other >= 0 else str(int(other))
        return f"{one} {relation} {self.words.constant(number)}", f"{one} {relation} {name}"

    def _bytes(self, one: str, two: str, size: int, relation: str, sentence: str) -> tuple[str, str]:
        place, _, own = one.rpartition(", ")
        if int(own) != size:
            raise NotReproducible("it compares contents of two sizes")
        return f"memcmp({place}, {two}, {size}) {relation} 0", f"{place} {relation} {sentence}"


def _hex(text: str) -> str:
    content = bytes.fromhex(text)
    return f"{literal(content)}, {len(content)}"


def program(
    title: str, message: str, name: str, library: Path, variables: Mapping[str, str], parts: Sequence[Part]
) -> str:
    """The text of a program."""
    lines = "\n".join(message.split("\n")[:30])
    comment = "\n".join(f" * {line}".rstrip() for line in c_comment(lines).split("\n"))
    functions = sorted({name for part in parts for name in part.functions})
    constants = {name: value for part in parts for name, value in part.constants.items()}
    declared = "".join(f"{_ICD2[name]} /* of cl_khr_icd 2.0 */\n" for name in functions)
    declared += "".join(
        f"#ifndef {name} /* for older headers */\n#define {name} {value:#x}\n#endif\n"
        for name, value in constants.items()
    )
    codes = sorted({0, *(code for part in parts for code in part.codes)}, reverse=True)
    named = "".join(
        f'    if (error == {code}) {{\n        return "{Code(code)}";\n    }}\n'
        for code in codes
        if str(Code(code)).startswith("CL_")
    )
    answers = ANSWERS if any(part.form in _OF_ANSWERS for part in parts) else ""
    head = HEAD.format(
        title=c_comment(one_line(title)), message=comment, name=name, declared=declared, codes=named, answers=answers
    )
    bodies = "".join(
        f"/* {c_comment(one_line(part.label))} */\nstatic void part_{n}(void)\n{{\n{part.body}}}\n\n"
        for n, part in enumerate(parts, 1)
    )
    table = "".join(f"        {{part_{n}, {c_string(one_line(part.label))}}},\n" for n, part in enumerate(parts, 1))
    settings = "".join(f"    setenv({c_string(k)}, {c_string(v)}, 1);\n" for k, v in variables.items())
    tail = TAIL.replace("PARTS", table).replace("LIBRARY", c_string(str(library))).replace("VARIABLES", settings)
    return head + bodies + tail.lstrip("\n")
