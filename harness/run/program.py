# SPDX-License-Identifier: Apache-2.0
"""One failed exchange with a vendor's library as a function in C that shows the defect; programs of such functions.

A function judges in one of these forms:

plain      makes the comparison with which the check failed; only the calls that matter, with variables of C
compared   the same, with memory that ends where an unreadable page begins
whole      the same, with every call of the exchange
answers    every call but those that ask a vendor for itself, and compares each answer with that of the run that failed;
           not with what a vendor has and says of itself, which differs between correct vendors as well
every      the same, with every call and every place of a dispatch table that was empty
called     callbacks must be called otherwise than in the run that failed: how often, and with which status and data
ended      the process must come back from its last call
rounds     calls that are made again and again must leave nothing behind in the process
last       the last call must give another answer than in the run that failed
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Self

from harness.api.codes import Code, Constant
from harness.api.model import api
from harness.escaping import c_comment, c_string, one_line
from harness.probe.answers import Compared
from harness.probe.connection import KEPT_REPLY
from harness.run.exchange import (
    IN_ORDER,
    OF_EVENTS,
    OF_ITSELF,
    OF_OBJECTS,
    NotReproducible,
    Step,
    Words,
    essential,
    literal,
    needed,
    rounds_of,
    steps_of,
)
from harness.run.plain import PlainWords
from harness.run.program_head import HEAD, beginning, tail

LEAVES = ("descriptors", "threads", "bytes of the heap", "bytes of memory")
FORMS = ("plain", "compared", "whole", "last plain", "last", "called", "answers", "every")
_OF_COMPARISONS = FORMS[:3]
_OF_ANSWERS = FORMS[-2:]
_WIDTH = 120
_FRAME = re.compile(
    r"thread \d+: |    (0x[0-9a-f]+|[\w.]+\+0x[0-9a-f]+)( \(|$)"
)  # of a stack, which another run has not
_OWN = ("clGetPlatformIDs", "clIcdGetPlatformIDsKHR", "clGetDeviceIDs", *OF_ITSELF)  # what a vendor has, and says of it
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
    called: Sequence[tuple[str, int, int]] | None = None  # callbacks, with status (of events) and data
    leaves: str = ""  # what is left behind with each round, one of LEAVES

    def forms(self) -> tuple[str, ...]:
        """How it can be judged, the form that reads best first."""
        if self.leaves:
            return ("rounds",)
        if self.ended:
            return ("ended plain", "ended", "ended whole")
        forms = FORMS if self.comparisons else FORMS[3:]
        sets = self.called is not None and any(" ^" in command for command in self.exchange)
        return forms if sets else tuple(form for form in forms if form != "called")

    def is_guess(self, form: str) -> bool:
        """Whether a form takes a comparison for the failed one that held, or calls of callbacks that may be right: an
        ICD that is right has to show that."""
        return form == "called" or (form in _OF_COMPARISONS and self.comparisons[-1].holds)


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
    counts = form == "called"
    steps = steps_of(failure.exchange, failure.replies, counts)
    if form == "rounds":
        return _rounds(failure.label, failure.leaves, *rounds_of(steps))
    group = _group(failure.comparisons) if form in _OF_COMPARISONS else []
    group = _of_last(steps) if form.startswith("last") else group
    texts = [text for c in group for text in (c.answer, c.other if c.is_expression else "") if isinstance(text, str)]
    judged = {result for text in texts for result in re.findall(r"\b[br]\d+\b", text)}
    shortened = form in ("plain", "compared", "ended", "ended plain", "last", "last plain", "called")
    plain = form.endswith("plain") or counts
    shown = needed(steps, judged, failure.ended or form.startswith("last"), plain) if shortened else steps
    shown = essential(steps) if form == "answers" else shown
    words = PlainWords(steps, shown, judged, texts, counts) if plain else Words(steps, shown, judged, counts)
    writer = _Writer(words, judged, form)
    lines = writer.body(shown) + (writer.judgement(group) if group else [])
    if form in _OF_ANSWERS:
        lines.append("EXPECT(differs);")
    elif counts:
        lines += _called(failure.called or ())
    elif not group:
        lines.append("return GONE;")
    return _finished(failure.label, form, lines, words, writer.codes)


def _finished(label: str, form: str, lines: Sequence[str], words: Words, codes: Collection[int] = ()) -> Part:
    body = "".join(f"    {line}\n" if line else "\n" for line in map(_folded, lines))
    constants = {name: int(api().constants[name]) for name in sorted(words.constants) if name in api().constants}
    return Part(label, body, form, sorted(words.functions & set(_ICD2)), constants, sorted(codes))


def _rounds(label: str, leaves: str, once: Sequence[Step], again: Sequence[Step]) -> Part:
    """What is done once, and a loop of the rest, after which the process must have no more than before."""
    shown = needed([*once, *again], set(), False, True)
    words = PlainWords([*once, *again], shown, set(), [])
    writer, of_round = _Writer(words, set(), "rounds"), {id(step) for step in again}
    lines = ["cl_int error;"] if words.shared else []
    lines += [line for step in shown if id(step) not in of_round for line in writer.lines(step)]
    lines += ["", "while (another_round()) {"]
    lines += [f"    {line}" for step in shown if id(step) in of_round for line in writer.lines(step)]
    return _finished(label, "rounds", [*lines, "}", f'return left_behind("{leaves}");'], words)


def _of_last(steps: Sequence[Step]) -> list[Compared]:
    """That the last call gave what it gave, which the check did not accept."""
    last = next((step for step in reversed(steps) if step.is_call), None)
    if last is None or not last.reply:
        raise NotReproducible(IN_ORDER)
    own, kind = last.defines(), last.function.result_kind
    if kind == "signed":
        code = last.number & 0xFFFFFFFF
        return [Compared(own, "==", code - (1 << 32 if code >> 31 else 0), True, kind="code")]
    if kind == "handle":
        return [Compared(own, "!=" if last.number else "==", 0, True)]
    raise NotReproducible(IN_ORDER)


def _called(called: Sequence[tuple[str, int, int]]) -> list[str]:
    """Compares the calls of callbacks with those of the run that failed: those of events, which come in any order, and
    then all others."""
    of_events = sorted((status, data) for name, status, data in called if name == OF_EVENTS)
    rows = [*of_events, *((0, data) for name, _, data in called if name in OF_OBJECTS)]
    listed = ", ".join(f"{{{status}, {data:#x}}}" for status, data in rows) or "0"
    return [f"return called_as((const struct called[]){{{listed}}}, {len(of_events)}, {len(rows) - len(of_events)});"]


def _folded(line: str) -> str:
    """A line in several where it is too long: broken at commas outside of strings."""
    if len(line) + 4 <= _WIDTH or "\n" in line:
        return line
    pieces = re.findall(r'(?:"(?:\\.|[^"\\])*"|[^",])+(?:, ?|$)|, ?', line)
    lines = [""]
    for piece in pieces:
        if len(lines[-1]) + len(piece.rstrip()) + (4 if len(lines) == 1 else 8) > _WIDTH and lines[-1]:
            lines.append("")
        lines[-1] += piece
    return "\n        ".join(own.rstrip() for own in lines)


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
        self._own: set[str] = set()  # memory in which the vendor says what it has
        self._asks_own: Sequence[str] = _OWN
        self._said: set[str] = set()  # what is compared since the last call

    def body(self, shown: Sequence[Step]) -> list[str]:
        """All steps; in the plain form with an empty line before the call that matters."""
        words, lines = self.words, []
        last = max((i for i, step in enumerate(shown) if step.is_call), default=0)
        about = shown[last].function.name if shown and shown[last].is_call else ""
        self._asks_own = [name for name in _OWN if name != about]  # else the check was about that
        for number, step in enumerate(shown):
            if isinstance(words, PlainWords) and number == last and number:
                lines.append("")
            lines += self.lines(step)
        if isinstance(words, PlainWords) and words.shared:
            lines.insert(0, "cl_int error;")
        return lines

    def lines(self, step: Step) -> list[str]:
        words, kind = self.words, step.kind
        if step.is_call:
            return self._call(step)
        if kind == "release":
            return [f"in_callback((void *){words.callee(step)}, {words.pointer(step.given[0])});"]
        if kind == "buffer" and isinstance(words, PlainWords):
            return words.declaration(step)
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
            is_lack = self.form in _OF_ANSWERS and step.words[2] != "0" and not step.number
            return [line, *(self._word_answer(step, name) if is_lack else [])]
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
        is_shared = isinstance(words, PlainWords) and own in words.shared
        line = f"{'' if is_shared else words.types[own]}{name} = {text};"
        if self.form in _OF_ANSWERS:
            self._said.clear()
            if function.name in self._asks_own:
                self._own |= set(step.given)
                return [line]
            return [line, *self._answer_of(step, name)]
        touches = {own, *(token for token in step.given)} & self.judged
        if touches or not step.reply:
            return [line]
        if function.result_kind == "signed":
            if step.number & 0xFFFFFFFF:
                return [f"{text};"]
            return [f"MUST({text} == CL_SUCCESS);"]
        if function.result_kind == "handle" and step.number:
            return [line, f"MUST({name});"]
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
        token, offset = (f"b{step.words[0]}", step.words[1]) if step.kind == "get" else (step.words[0], "0")
        if not step.reply or len(step.reply) >= KEPT_REPLY - 3 or token in self._own:
            return []
        content = self._numbered(bytes.fromhex(step.reply))
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
        return [*lines, f"EXPECT({' || '.join(expected)});"]

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
        return f"return compare({place}, {two}, {size});"

    def _got(self, answer: str, kind: str) -> str:
        c = self.words.expression(answer)
        if kind == "code":
            return f'printf("  got: %s\\n", name_of({c}));'
        if kind == "bytes":
            place, _, size = c.rpartition(", ")
            return f'show_bytes("got", {place}, 0, {size});'
        if kind == "text":
            return f'printf("  got: %s\\n", (const char *){c});'
        c = re.sub(r"^V\((\w+)\)$", r"\1", c)
        return f'printf("  got: %#llx\\n", (unsigned long long){c});'

    def _wanted(self, compared: Compared) -> str:
        """C that holds where the answer is as the check wants it."""
        relation = _relation(compared)
        one, other = self.words.expression(compared.answer), compared.other
        if compared.is_expression:
            two = self.words.expression(str(other))
            if compared.kind == "bytes":
                return self._bytes(one, two.rpartition(", ")[0], int(two.rpartition(", ")[2]), relation)
            if compared.kind == "text":
                return f"strcmp((char *){one}, (char *){two}) {relation} 0"
            return f"{one} {relation} {two}"
        if isinstance(other, bytes):
            return self._bytes(one, literal(other), len(other), relation)
        if isinstance(other, str):
            return f"strcmp((char *){one}, {c_string(other)}) {relation} 0"
        if compared.kind == "code":
            self.codes.add(int(other))
            return f"{one} {relation} {self.words.constant(str(Code(int(other))))}"
        if match := re.fullmatch(r"V\((\w+)\)", one):
            one = match[1] if relation in ("==", "!=") and not int(other) else one
            if one == match[1]:
                return f"{one} {relation} NULL"
        is_named = isinstance(other, Constant) and other.name.startswith("CL_")
        number = str(other) if is_named else f"{int(other)}ull" if other >= 0 else str(int(other))
        return f"{one} {relation} {self.words.constant(number)}"

    def _bytes(self, one: str, two: str, size: int, relation: str) -> str:
        place, _, own = one.rpartition(", ")
        if int(own) != size:
            raise NotReproducible("it compares contents of two sizes")
        return f"memcmp({place}, {two}, {size}) {relation} 0"


def _hex(text: str) -> str:
    content = bytes.fromhex(text)
    return f"{literal(content)}, {len(content)}"


def program(
    title: str,
    message: str,
    name: str,
    library: Path,
    variables: Mapping[str, str],
    parts: Sequence[Part],
    seconds: int = 30,
) -> str:
    """The text of a program, in which a part counts as hung after some seconds."""
    lines = "\n".join([line for line in message.split("\n") if not _FRAME.match(line)][:30])
    comment = "\n".join(f" * {line}".rstrip() for line in c_comment(lines).split("\n"))
    functions = sorted({name for part in parts for name in part.functions})
    constants = {name: value for part in parts for name, value in part.constants.items()}
    declared = "".join(f"{_ICD2[name]} /* of cl_khr_icd 2.0 */\n" for name in functions)
    declared += "".join(
        f"#ifndef {name} /* for older headers */\n#define {name} {value:#x}\n#endif\n"
        for name, value in constants.items()
    )
    codes = sorted({0, *(code for part in parts for code in part.codes)})
    named = [(code, str(Code(code))) for code in codes if str(Code(code)).startswith("CL_")]
    head = HEAD.format(title=c_comment(one_line(title)), message=comment, name=name)
    shared, bodies = _set_up([part.body for part in parts])
    functions_of_parts = "".join(
        f"\nstatic int part_{n}(void)\n{{\n{_label(part, len(parts))}{body}}}\n"
        for n, (part, body) in enumerate(zip(parts, bodies, strict=True), 1)
    )
    settings = "".join(f"    setenv({c_string(k)}, {c_string(v)}, 1);\n" for k, v in variables.items())
    end = tail(len(parts), c_string(str(library)), settings, seconds)
    if shared:
        end = end.replace("library ? part() : (puts", "library ? set_up() ?: part() : (puts")
    text = shared + functions_of_parts + end
    return head + beginning(text, declared, named) + text


def _label(part: Part, count: int) -> str:
    return f"    puts({c_string(one_line(part.label))});\n" if count > 1 else ""


_STATEMENT = re.compile(r"    (?! )[^\n]+\n(?:        [^\n]*\n)*|\n")
_DECLARATION = re.compile(r"    ((?:const )?\w+ \**)(\w+)(\[\d*\])?([^=;]*?)(?: = (.*))?;\n", re.S)


def _set_up(bodies: Sequence[str]) -> tuple[str, list[str]]:
    """What all parts begin with, as a function of its own with variables that all see, and the rest of each part."""
    statements = [_STATEMENT.findall(body) for body in bodies]
    count = 0
    for same in zip(*(own[:-1] for own in statements), strict=False):
        if len(set(same)) > 1 or not _can_be_shared(same[0]):
            break
        count += 1
    if len(bodies) < 2 or count < 3 or any("".join(own) != body for own, body in zip(statements, bodies, strict=True)):
        return "", list(bodies)
    declared, lines = "", ""
    for statement in statements[0][:count]:
        match = _DECLARATION.fullmatch(statement)
        if match is None or statement.startswith("    return"):
            lines += statement
            continue
        kind, name, _, _, value = match.groups()
        declared += f"static {kind}{name};\n"
        lines += f"    {name} = {value};\n" if value not in (None, "0", "NULL") else ""
    text = f"\n{declared}\nstatic int set_up(void)\n{{\n{lines}    return GONE;\n}}\n"
    return text, ["".join(own[count:]).lstrip("\n") for own in statements]


def _can_be_shared(statement: str) -> bool:
    """Whether it can stand in another function than what follows: no arrays."""
    return not re.match(r"    (?:(?:const )?[\w ]+ \**\w+\[|while \()", statement)
