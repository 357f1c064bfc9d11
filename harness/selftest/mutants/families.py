# SPDX-License-Identifier: Apache-2.0
"""Mutants that exist once for every function that the reference loader forwards: its dispatch is generated, and so are
the mistakes that can be made in it.

Each is an ordinary mutant of the generated source (generate.py writes what they replace), named FUNCTION_FAMILY.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from harness.api.contract.slots import Slot, slots
from harness.reference_loader.generate import OWN, OWN_FUNCTIONS
from harness.selftest.mutants import Mutant

FILE = "clharness_dispatch.c"

CLASSES = {
    "platform": "DISP-ARG-001",
    "device": "DISP-ARG-002",
    "context": "DISP-ARG-003",
    "queue": "DISP-ARG-004",
    "memory": "DISP-ARG-005",
    "program": "DISP-ARG-006",
    "kernel": "DISP-ARG-007",
    "event": "DISP-ARG-008",
    "sampler": "DISP-ARG-009",
}
NULL = {
    "platform": "DISP-NUL-002",
    "device": "DISP-NUL-003",
    "context": "DISP-NUL-004",
    "queue": "DISP-NUL-005",
    "memory": "DISP-NUL-006",
    "program": "DISP-NUL-007",
    "kernel": "DISP-NUL-008",
    "event": "DISP-NUL-009",
    "sampler": "DISP-NUL-009",
}

# Mutants that other cases notice than those of their function.
ELSEWHERE = {
    "clGetPlatformInfo_enters_again": "test_calls_during_initialisation_reach_the_vendors",
    "clGetExtensionFunctionAddress_layer_answer_lost": "test_address_queries_are_intercepted",
}


@dataclass(frozen=True)
class Forwarded:
    """A function whose loader end is generated, as families see it."""

    name: str
    slot: Slot
    parameters: Sequence[Mapping[str, Any]]
    result_kind: str
    neighbour: int  # the slot of another function

    @property
    def handle(self) -> str:
        """The name of the parameter whose object decides which vendor is called."""
        return str(next(p["name"] for p in self.parameters if p["kind"] == "handle"))

    @property
    def entry(self) -> str:
        """The C expression that gives the vendor's function."""
        return f"vendor_entry({self.handle}, {self.slot.number})"

    @property
    def names(self) -> list[str]:
        """The names of the parameters."""
        return [p["name"] for p in self.parameters]

    def call(self, names: Sequence[str] | None = None) -> str:
        """The C call of the vendor's function, with these arguments or with its own."""
        return f"forward({', '.join(self.names if names is None else names)})"

    def with_argument(self, index: int, instead: str) -> str:
        """That call with another expression in the place of one argument."""
        return self.call([*self.names[:index], instead, *self.names[index + 1 :]])

    @property
    def reports(self) -> bool:
        """Whether the function returns its error code through errcode_ret."""
        return "errcode_ret" in self.names


# A family's change: the code that it replaces, and what stands there instead; None where a function has no such place.
Change = Callable[[Forwarded], tuple[str, str] | None]


@dataclass(frozen=True)
class Family:
    """Mutants that exist once for each forwarded function: by what, and how the generated code changes."""

    name: str
    sentence: str  # {function} is the function
    requirement: Callable[[Forwarded], str]
    change: Change


def _class(f: Forwarded) -> str:
    return CLASSES[f.slot.class_]


def _null(f: Forwarded) -> str:
    return NULL[f.slot.class_]


def _always(identifier: str) -> Callable[[Forwarded], str]:
    return lambda f: identifier


def _other_handle(f: Forwarded) -> str | None:
    return next((str(p["name"]) for p in f.parameters if p["kind"] == "handle" and p["name"] != f.handle), None)


def _second_handle(f: Forwarded) -> tuple[str, str] | None:
    other = _other_handle(f)
    return (f.entry, f"vendor_entry({other}, {f.slot.number})") if other else None


def _second_null(f: Forwarded) -> tuple[str, str] | None:
    other = _other_handle(f)
    return (f"!{f.handle}", f"!{f.handle} || !{other}") if other else None


def _swapped(f: Forwarded) -> tuple[str, str] | None:
    """Two neighbours that C lets take each other's place."""
    for i in range(len(f.names) - 1):
        kinds = {f.parameters[i]["kind"], f.parameters[i + 1]["kind"]}
        if kinds == {"integer"} or (len(kinds) == 1 and kinds < {"memory", "scalar_in", "scalar_out"}):
            # Pointers of different types take each other's place only without their types.
            cast = "" if kinds == {"integer"} else "(void *)"
            swapped = [*f.names[:i], cast + f.names[i + 1], cast + f.names[i], *f.names[i + 2 :]]
            return f.call(), f.call(swapped)
    return None


def _truncated(f: Forwarded) -> tuple[str, str] | None:
    for i, p in enumerate(f.parameters):
        if p["kind"] == "integer" and p["size"] == 8:
            return f.call(), f.with_argument(i, f"(cl_uint){p['name']}")
    return None


def _dropped(f: Forwarded) -> tuple[str, str] | None:
    """The last pointer that is not errcode_ret."""
    for i in reversed(range(len(f.parameters))):
        if f.parameters[i]["kind"] not in ("integer", "handle", "errcode"):
            return f.call(), f.with_argument(i, "NULL")
    return None


def _emptied(parameters: Sequence[Mapping[str, Any]]) -> tuple[str, str] | None:
    """The last list, or other memory, that has an integer before it; NULL where that is 0."""
    for i in reversed(range(1, len(parameters))):
        name, before = parameters[i]["name"], parameters[i - 1]
        if parameters[i]["kind"] not in ("integer", "handle", "errcode") and before["kind"] == "integer":
            return name, f"({before['name']} ? {name} : NULL)"
    return None


def _empty_dropped(f: Forwarded) -> tuple[str, str] | None:
    emptied = _emptied(f.parameters)
    return (f.call(), f.with_argument(f.names.index(emptied[0]), emptied[1])) if emptied else None


def _zero_after(call: str) -> str:
    """The call, whose answer is then a zero of the same type."""
    return f"({call}, (__typeof__({call}))0)"


def _answer(f: Forwarded) -> tuple[str, str] | None:
    if f.result_kind == "void":
        return None
    return f.call(), _zero_after(f.call())


def _enters_again(f: Forwarded) -> tuple[str, str] | None:
    """Once in a process, as for ever would be a crash without layers, too."""
    if f.slot.reached != "export" or f.result_kind != "signed":
        return None
    again = f"{f.name}({', '.join(f.names)})"
    return f.call(), f"({{ static int again; first_layer_table && !again++ ? {again} : {f.call()}; }})"


def _locked(f: Forwarded) -> tuple[str, str] | None:
    """Each one hangs a case, which costs seconds: functions with callbacks have it, and some of the others."""
    if f.slot.number % 12 and not any(p["kind"] == "callback" for p in f.parameters):
        return None
    kept = f"flockfile(stdout); __auto_type result = {f.call()}; funlockfile(stdout); return result;"
    return f"return {f.call()};", kept


def _if_reports(make: Change) -> Change:
    return lambda f: make(f) if f.reports else None


def _null_code(f: Forwarded) -> tuple[str, str] | None:
    return (str(f.slot.null), "CL_INVALID_VALUE") if f.slot.null else None


FAMILIES = (
    Family(
        "wrong_slot",
        "call another slot for {function}",
        _class,
        lambda f: (f.entry, f"vendor_entry({f.handle}, {f.neighbour})"),
    ),
    Family(
        "first_vendor",
        "send every {function} to the first vendor",
        _class,
        lambda f: (f.entry, f"vendor_entry(first_platform->id, {f.slot.number})"),
    ),
    Family("second_handle", "infer the vendor of {function} from the second handle", _class, _second_handle),
    Family(
        "twice", "forward {function} twice", _always("DISP-ARG-020"), lambda f: (f.call(), f"({f.call()}, {f.call()})")
    ),
    Family("swapped", "exchange two arguments of {function}", _always("DISP-ARG-017"), _swapped),
    Family("truncated", "cut a 64-bit argument of {function} to 32 bits", _always("DISP-ARG-017"), _truncated),
    Family("dropped", "pass NULL for a pointer of {function}", _always("DISP-ARG-017"), _dropped),
    Family(
        "empty_dropped",
        "pass NULL for memory of {function} where the number before it is 0",
        _always("DISP-ARG-017"),
        _empty_dropped,
    ),
    Family("answer_lost", "answer 0 to {function} whatever the vendor answers", _always("DISP-ARG-018"), _answer),
    Family(
        "errcode_kept",
        "pass NULL as errcode_ret of {function}",
        _always("DISP-ARG-019"),
        _if_reports(lambda f: (f.call(), f.with_argument(f.names.index("errcode_ret"), "NULL"))),
    ),
    Family(
        "errcode_cleared",
        "set errcode_ret to CL_SUCCESS before it forwards {function}",
        _always("DISP-ARG-019"),
        _if_reports(
            lambda f: (f"return {f.call()};", f"if (errcode_ret) {{ *errcode_ret = CL_SUCCESS; }} return {f.call()};")
        ),
    ),
    Family(
        "second_null_refused",
        "refuse NULL in {function} for an object that does not tell the vendor",
        _always("DISP-ARG-021"),
        _second_null,
    ),
    Family("enters_again", "enter the layers again at the end of {function}", _always("LAY-CHN-003"), _enters_again),
    Family(
        "locked",
        "hold a lock while a vendor is in {function}",
        lambda f: "DISP-ARG-024" if any(p["kind"] == "callback" for p in f.parameters) else "DISP-ARG-023",
        _locked,
    ),
    Family("null_followed", "follow NULL in {function}", _always("DISP-NUL-001"), lambda f: (f"!{f.handle}", "0")),
    Family("null_error", "answer NULL in {function} with CL_INVALID_VALUE", _null, _null_code),
    Family(
        "null_unreported",
        "leave errcode_ret alone when {function} gets NULL",
        _always("DISP-NUL-010"),
        _if_reports(lambda f: (f"*errcode_ret = {f.slot.null}", "(void)errcode_ret")),
    ),
)


@dataclass(frozen=True)
class Exported:
    """A function as applications call it: into the first layer, or to the loader's own end."""

    name: str
    slot: Slot
    neighbour: int
    answers: bool
    parameters: Sequence[Mapping[str, Any]]
    handle: str  # the name of the argument that the vendor is inferred from, where it is an object

    @property
    def call(self) -> str:
        """The C call of the first layer's function."""
        arguments = ", ".join(p["name"] for p in self.parameters)
        return f"((type_of_{self.name} *)first_layer_table->slot[{self.slot.number}])({arguments})"

    @property
    def requirement(self) -> str:
        """The requirement that the way of the function through layers belongs to."""
        if self.name.startswith("clGetExtensionFunctionAddress"):
            return "LAY-CHN-006"
        if self.slot.class_ in ("loader", "none"):
            return "LAY-CHN-007"
        return "LAY-CHN-001" if self.slot.reached == "export" else "LAY-CHN-004"

    def fault(self, family: str, sentence: str, code: str, instead: str, requirement: str = "") -> Mutant:
        """A mutant of this function: `instead` in the place of `code`."""
        function = self.name if self.slot.reached == "export" else f"queried_{self.name}"
        name = f"{self.name}_{family}"
        cases = ELSEWHERE.get(name, f"[{self.name}")
        requirements = (requirement or self.requirement,)
        return Mutant(name, requirements, f"{sentence}.", FILE, function, code, instead, family=family, cases=cases)

    def faults(self) -> Iterator[Mutant]:
        """The mutants that each exported function has."""
        yield self.fault("layers_skipped", f"leave the layers out of {self.name}", "(first_layer_table)", "(0)")
        slot, wrong = (f"first_layer_table->slot[{number}]" for number in (self.slot.number, self.neighbour))
        yield self.fault("layer_slot", f"call another slot of the first layer for {self.name}", slot, wrong)
        if self.answers:
            sentence = f"answer 0 to {self.name} whatever the first layer answers"
            yield self.fault("layer_answer_lost", sentence, self.call, _zero_after(self.call), "LAY-CHN-009")
        if self.handle:
            sentence = f"look into the object of {self.name} before it calls the first layer"
            looks = f"({{ (void)*(void *const volatile *){self.handle}; first_layer_table; }})"
            yield self.fault("looked_into", sentence, "(first_layer_table)", looks, "LAY-CHN-008")
            yield from self.faults_of_arguments()

    def faults_of_arguments(self) -> Iterator[Mutant]:
        """What becomes of arguments on the way into the first layer."""
        if emptied := _emptied(self.parameters):
            sentence = f"hand NULL to the layers for memory of {self.name} where the number before it is 0"
            given = ", ".join(emptied[1] if p["name"] == emptied[0] else p["name"] for p in self.parameters)
            changed = f"{self.call.rpartition(')(')[0]})({given})"
            yield self.fault("layer_empty_dropped", sentence, self.call, changed, "DISP-ARG-017")
        if any(p["kind"] == "errcode" for p in self.parameters):
            sentence = f"set errcode_ret to CL_SUCCESS before {self.name} enters the layers"
            clears = "({ if (first_layer_table && errcode_ret) { *errcode_ret = CL_SUCCESS; } first_layer_table; })"
            yield self.fault("layer_errcode_cleared", sentence, "(first_layer_table)", clears, "DISP-ARG-019")


def families(api: Mapping[str, Any]) -> Iterator[Mutant]:
    """The faults for the functions of an API model (api.json)."""
    functions = {f["name"]: f for f in api["functions"]}
    numbers = {slots()[name].number for name in api["slots"] if name in functions}
    for name in api["slots"]:
        slot, function = slots()[name], functions.get(name)
        if function is None or slot.reached == "windows-query":
            continue
        neighbour = slot.number + 1 if slot.number + 1 in numbers else slot.number - 1
        forwarded = slot.class_ not in OWN and name not in OWN_FUNCTIONS
        handle = next((p["name"] for p in function["parameters"] if p["kind"] == "handle"), "") if forwarded else ""
        answers = function["result_kind"] != "void"
        yield from Exported(name, slot, neighbour, answers, function["parameters"], handle).faults()
        if forwarded:
            yield from _forwarded(Forwarded(name, slot, function["parameters"], function["result_kind"], neighbour))


def _forwarded(function: Forwarded) -> Iterator[Mutant]:
    for family in FAMILIES:
        change = family.change(function)
        if change:
            name = f"{function.name}_{family.name}"
            yield Mutant(
                name,
                (family.requirement(function),),
                f"{family.sentence.format(function=function.name)}.",
                FILE,
                f"loader_{function.name}",
                *change,
                family=family.name,
                cases=ELSEWHERE.get(name, f"[{function.name}"),
            )
