# SPDX-License-Identifier: Apache-2.0
"""The mistakes that are made: each operator takes a node of the syntax tree, and gives what may stand in its place.

A mutant need not compile, nor behave differently: both are found out when it is built (see builder.py).
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from harness.mutation.syntax import BLANK, Node, Source

Edit = tuple[int, int, str]  # from, to (byte offsets), and the text in their place
Operator = Callable[[Source, Node], Iterator[Edit]]
NULL = "((void *)0)"


@dataclass(frozen=True)
class Mutant:
    """One mistake in one place. `start` and `end` are the byte offsets of what `after` takes the place of."""

    file: Path
    line: int
    column: int
    operator: str
    function: str  # or variable, outside functions
    before: str
    after: str
    start: int
    end: int
    in_function: bool = True  # code of a function, which cases reach or not; else data
    switch: int = 0  # of a label: the line of its switch, which cases reach that do not come to the label

    def applied(self, text: bytes) -> bytes:
        """The file with the mistake. Lines keep their numbers: what is removed leaves its newlines."""
        after = self.after.encode()
        newlines = text.count(b"\n", self.start, self.end) - after.count(b"\n")
        return text[: self.start] + after + b"\n" * newlines + text[self.end :]

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}: {self.operator}: {shown(self.before)} → {shown(self.after)}"


def shown(text: str) -> str:
    """Text on one line, cut short."""
    flat = " ".join(text.split()) or "(nothing)"
    return flat if len(flat) <= 70 else flat[:67] + "..."


# --- where nodes stand ---

_TRANSPARENT = ("ImplicitCastExpr", "ConstantExpr", "FullExpr")


def core(node: Node) -> Node:
    """The node without conversions that nobody wrote."""
    while node.kind in _TRANSPARENT and len(node.children) == 1:
        node = node.children[0]
    return node


def _unwrapped(node: Node) -> Node:
    """The node without conversions and parentheses."""
    while node.kind in (*_TRANSPARENT, "ParenExpr", "CStyleCastExpr") and node.children:
        node = node.children[-1]
    return node


def condition(node: Node) -> Node | None:
    """What an if, a loop or a conditional expression decides on."""
    children, flags = node.children, node.json
    position = {"WhileStmt": 0, "ConditionalOperator": 0, "DoStmt": 1, "ForStmt": 2, "IfStmt": 0}.get(node.kind)
    if position is None:
        return None
    position += bool(flags.get("hasInit")) + bool(flags.get("hasVar"))
    child = children[position] if position < len(children) else None
    return child if child is not None and child.kind and child.placed else None


def is_statement(node: Node) -> bool:
    """Whether it stands as a statement of its own, so that nothing uses its value."""
    parent = node.parent
    if parent is None:
        return False
    if parent.kind in ("CompoundStmt", "LabelStmt", "DefaultStmt"):
        return True
    if parent.kind in ("WhileStmt", "ForStmt", "CaseStmt"):
        return node is parent.children[-1]
    if parent.kind == "DoStmt":
        return node is parent.children[0]
    return parent.kind == "IfStmt" and node in parent.children[-2 if parent.json.get("hasElse") else -1 :]


def _between(source: Source, first: Node, second: Node, operators: tuple[str, ...]) -> tuple[int, int, str] | None:
    """The operator that stands between two operands; None where it does not (a macro hides it)."""
    if not (0 <= first.start < first.end <= second.start):
        return None
    blank = BLANK.match(source.text, first.end)
    start = blank.end() if blank else first.end
    for operator in sorted(operators, key=len, reverse=True):
        if source.text.startswith(operator.encode(), start):
            rest = BLANK.match(source.text, start + len(operator))
            if rest and rest.end() == second.start:
                return start, start + len(operator), operator
    return None


# --- the operators ---


def negate_condition(source: Source, node: Node) -> Iterator[Edit]:
    """Does what a condition guards exactly where it does not hold."""
    if expression := condition(node):
        yield expression.start, expression.end, f"!({source.text_of(expression)})"


def condition_true(source: Source, node: Node) -> Iterator[Edit]:
    """Does what a condition guards always."""
    if expression := condition(node):
        yield expression.start, expression.end, "1"


def condition_false(source: Source, node: Node) -> Iterator[Edit]:
    """Never does what a condition guards."""
    if expression := condition(node):
        yield expression.start, expression.end, "0"


def _exchange(pairs: dict[str, str]) -> Operator:
    def exchanged(source: Source, node: Node) -> Iterator[Edit]:
        if node.kind in ("BinaryOperator", "CompoundAssignOperator") and node.json.get("opcode") in pairs:
            opcode = str(node.json["opcode"])
            if place := _between(source, node.children[0], node.children[1], (opcode,)):
                yield place[0], place[1], pairs[opcode]

    return exchanged


def _both_ways(*pairs: tuple[str, str]) -> dict[str, str]:
    return dict(pairs) | {b: a for a, b in pairs}


boundary = _exchange(_both_ways(("<", "<="), (">", ">=")))
equality = _exchange(_both_ways(("==", "!=")))
logical = _exchange(_both_ways(("&&", "||")))
_arithmetic = _exchange(_both_ways(("+", "-"), ("+=", "-="), ("*", "/"), ("<<", ">>"), ("&", "|"), ("|=", "&=")))


def arithmetic(source: Source, node: Node) -> Iterator[Edit]:
    """+ ↔ -, * ↔ /, << ↔ >>, & ↔ |, the same with =, and ++ ↔ --."""
    yield from _arithmetic(source, node)
    if node.kind == "UnaryOperator" and node.placed and node.json.get("opcode") in ("++", "--"):
        start = node.end - 2 if node.json.get("isPostfix") else node.start
        other = {b"++": "--", b"--": "++"}.get(source.text[start : start + 2])
        if other:
            yield start, start + 2, other


def drop_call(source: Source, node: Node) -> Iterator[Edit]:
    """A call, or the use of a macro, that stands as a statement."""
    if node.placed and is_statement(node):
        call = node.macro is not None or _unwrapped(node).kind == "CallExpr"
        if call and node.kind not in ("ReturnStmt", "BreakStmt", "ContinueStmt", "NullStmt"):
            yield node.start, node.end, ""


def drop_assignment(source: Source, node: Node) -> Iterator[Edit]:
    """An assignment or a step (`i++`) that is a statement; of a variable's initial value zero is left."""
    if node.placed and is_statement(node):
        assigns = node.kind == "CompoundAssignOperator" or node.json.get("opcode") in ("=", "++", "--")
        if assigns and node.kind in ("BinaryOperator", "CompoundAssignOperator", "UnaryOperator"):
            yield node.start, node.end, ""
    if node.kind == "VarDecl" and node.json.get("init") and node.children:
        value = node.children[-1]
        if (
            value.placed
            and value.kind != "InitListExpr"
            and source.text_of(value).strip() not in ("0", "NULL", "false")
        ):
            yield value.start, value.end, "0"


def constant(source: Source, node: Node) -> Iterator[Edit]:
    """Edits of a constant: a number, a character or a named constant becomes one more, and one less."""
    if not node.placed or (node.parent is not None and core(node.parent) is node and node.parent.placed):
        return
    text = source.text_of(node)
    inner = core(node)
    if inner.kind == "IntegerLiteral" and re.fullmatch(r"(0[xX][\da-fA-F]+|\d+)[uUlL]*", text):
        digits = text.rstrip("uUlL")
        value = int(digits, 16 if digits[:2].lower() == "0x" else 8 if re.fullmatch("0[0-7]+", digits) else 10)
        for other in (value + 1, value - 1):
            written = f"{other}{text[len(digits) :]}"
            if _is_null(node):
                written = f"((void *){written})"  # newer compilers refuse a number in the place of a pointer
            yield node.start, node.end, written if other >= 0 or _is_null(node) else f"({written})"
        return
    named = inner.kind == "DeclRefExpr" and inner.json.get("referencedDecl", {}).get("kind") == "EnumConstantDecl"
    from_macro = inner.macro is not None and _is_number(inner) and "(" not in text
    if inner.kind == "CharacterLiteral" or named or from_macro:
        yield node.start, node.end, f"({text} + 1)"
        yield node.start, node.end, f"({text} - 1)"


def _is_null(node: Node) -> bool:
    """Whether a 0 stands for a pointer to nothing."""
    while node.parent is not None and core(node.parent) is core(node):
        node = node.parent
    return node.json.get("castKind") == "NullToPointer"


def _is_number(node: Node) -> bool:
    """Whether a macro stands for a number; NULL, and a cast to a pointer, do not."""
    if "*" in node.type:
        return False
    node = _unwrapped(node)
    if node.kind == "UnaryOperator" and node.json.get("opcode") == "-":
        node = _unwrapped(node.children[0])
    return node.kind in ("IntegerLiteral", "CharacterLiteral")


def _arguments(node: Node) -> list[Node]:
    return [child for child in node.children[1:] if child.placed] if node.kind == "CallExpr" else []


def swap_arguments(source: Source, node: Node) -> Iterator[Edit]:
    """Two arguments of the same type."""
    for first, second in itertools.combinations(_arguments(node), 2):
        a, b = source.text_of(first), source.text_of(second)
        if first.type == second.type and a != b and first.end <= second.start:
            middle = source.text[first.end : second.start].decode(errors="replace")
            yield first.start, second.end, f"{b}{middle}{a}"


def null_argument(source: Source, node: Node) -> Iterator[Edit]:
    """Hands over NULL in the place of a pointer."""
    for argument in _arguments(node):
        is_pointer = argument.type.endswith("*") or "(*)" in argument.type
        value = _unwrapped(argument)
        is_null = value.kind == "IntegerLiteral" and value.json.get("value") == "0"
        if is_pointer and not is_null:
            yield argument.start, argument.end, NULL


def early_return(source: Source, node: Node) -> Iterator[Edit]:
    """A function that returns at once."""
    if node.kind == "FunctionDecl" and node.children and node.children[-1].kind == "CompoundStmt":
        body = node.children[-1]
        if body.placed and source.text[body.start : body.start + 1] == b"{" and body.children:
            void = node.json["type"]["qualType"].startswith("void (")
            yield body.start, body.start + 1, "{ return;" if void else "{ return 0;"


def drop_return(source: Source, node: Node) -> Iterator[Edit]:
    """No return; zero in place of the value (a function's last one is not left out: nothing defines what follows)."""
    if node.kind != "ReturnStmt" or not node.placed:
        return
    if not _is_last(node):
        yield node.start, node.end, ""
    if node.children and node.children[0].placed:
        value = node.children[0]
        if source.text_of(value) not in ("0", "NULL", "false", "CL_SUCCESS"):
            yield value.start, value.end, "0"


def _is_last(node: Node) -> bool:
    """Whether it is the last statement of its function."""
    body = node.parent
    if body is None or body.kind != "CompoundStmt" or body.parent is None or body.parent.kind != "FunctionDecl":
        return False
    return node is body.children[-1]


def jump(source: Source, node: Node) -> Iterator[Edit]:
    """Edits of a jump: a `break` or `continue` is dropped, or becomes the other."""
    if node.kind in ("BreakStmt", "ContinueStmt") and node.placed and node.macro is None:
        yield node.start, node.end, ""
        yield node.start, node.end, "continue" if node.kind == "BreakStmt" else "break"


def string(source: Source, node: Node) -> Iterator[Edit]:
    """A string with another character in its middle, or with none."""
    if node.kind != "StringLiteral" or not node.placed or node.macro is not None:
        return
    text = source.text_of(node)
    if '"' not in text or text == '""':
        return
    yield node.start, node.end, '""'
    letters = [n for n in range(1, len(text) - 1) if text[n].isalnum() and text[n - 1] not in "\\%"]
    if letters and text.startswith('"'):
        place = letters[len(letters) // 2]
        other = "x" if text[place] != "x" else "y"
        yield node.start, node.end, text[:place] + other + text[place + 1 :]


def length(source: Source, node: Node) -> Iterator[Edit]:
    """A size or the length of a string, one more and one less."""
    sized = node.kind == "UnaryExprOrTypeTraitExpr"
    if node.kind == "CallExpr" and node.children:
        called = _unwrapped(node.children[0]).json.get("referencedDecl", {}).get("name", "")
        sized = called in ("strlen", "strnlen")
    if sized and node.placed:
        text = source.text_of(node)
        yield node.start, node.end, f"({text} + 1)"
        yield node.start, node.end, f"({text} - 1)"


def drop_not(source: Source, node: Node) -> Iterator[Edit]:
    """Leaves out a `!`."""
    if node.kind == "UnaryOperator" and node.json.get("opcode") == "!" and node.placed:
        operand = node.children[0]
        if operand.placed and node.start < operand.start:
            yield node.start, node.end, f"({source.text_of(operand)})"


def skip_else(source: Source, node: Node) -> Iterator[Edit]:
    """Empties the branch after `else`."""
    if node.kind == "IfStmt" and node.json.get("hasElse") and node.children[-1].placed:
        branch = node.children[-1]
        # The semicolon after a statement without braces is not part of it, and stays.
        yield branch.start, branch.end, "{}" if branch.kind == "CompoundStmt" else _empty(source, branch)


def _empty(source: Source, branch: Node) -> str:
    return "" if source.text[branch.end - 1 : branch.end] != b"}" else "{}"


OPERATORS: dict[str, Operator] = {
    "negate-condition": negate_condition,
    "condition-true": condition_true,
    "condition-false": condition_false,
    "boundary": boundary,
    "equality": equality,
    "logical": logical,
    "arithmetic": arithmetic,
    "drop-call": drop_call,
    "drop-assignment": drop_assignment,
    "constant": constant,
    "length": length,
    "swap-arguments": swap_arguments,
    "null-argument": null_argument,
    "early-return": early_return,
    "drop-return": drop_return,
    "jump": jump,
    "string": string,
    "drop-not": drop_not,
    "skip-else": skip_else,
}


def _initialises_data(node: Node) -> bool:
    """Whether it belongs to a static variable of a function: a value in the library's data, and no code."""
    above: Node | None = node
    while above is not None and above.kind != "VarDecl":
        above = above.parent
    return above is not None and above.json.get("storageClass") == "static"


def _line_of_switch(source: Source, node: Node) -> int:
    """The line of the switch whose label a node is part of; 0 where it is part of none."""
    in_label = False
    above = node
    while above.parent is not None and not (in_label and above.kind == "SwitchStmt"):
        in_label = in_label or (above.parent.kind == "CaseStmt" and above is not above.parent.children[-1])
        above = above.parent
    return source.line(above.start) if in_label and above.placed else 0


def mutants(source: Source) -> list[Mutant]:
    """All of a file, in the order of its text; each text once, whichever operator makes it first."""
    by_edit: dict[Edit, Mutant] = {}
    for declaration in source.declarations:
        name = str(declaration.json.get("name", ""))
        for node in declaration.walk():
            code = declaration.kind == "FunctionDecl" and not _initialises_data(node)
            for operator, edits in OPERATORS.items():
                for edit in edits(source, node):
                    start, end, after = edit
                    before = source.text[start:end].decode(errors="replace")
                    if before != after and edit not in by_edit:
                        line, column = source.line(start), source.column(start)
                        by_edit[edit] = Mutant(
                            source.path, line, column, operator, name, before, after, start, end, code,
                            _line_of_switch(source, node),
                        )  # fmt: skip
    return sorted(by_edit.values(), key=lambda mutant: (mutant.start, mutant.end))
