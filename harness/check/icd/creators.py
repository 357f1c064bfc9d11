# SPDX-License-Identifier: Apache-2.0
"""Functions that make an object with a property list, and what a check asks of them."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, cast

from harness.api.codes import CL, Code
from harness.api.model import api
from harness.check.icd.platform import revision_in
from harness.probe.answers import number_of, numbers_of
from harness.probe.calls import Buffer, CallFailed
from harness.probe.icd_objects import IcdObjects
from harness.probe.icd_session import IcdSession
from harness.probe.values import Value
from harness.sandbox import Unsupported


class Answer(Code):
    """An error code together with the list that it was the answer to."""

    def __new__(cls, number: int, to: str) -> Answer:
        name = Code(number).name
        return super().__new__(cls, number, f"{name} to {to}" if to else name)


class Outcome(tuple[Answer, Value]):
    """An error code and an object (or NULL), which failures show in words."""

    def __repr__(self) -> str:
        return f"({self[0]!r}, {'an object' if self[1] else 'no object'})"


HIGH, MED, LOW = CL.QUEUE_PRIORITY_HIGH_KHR, CL.QUEUE_PRIORITY_MED_KHR, CL.QUEUE_PRIORITY_LOW_KHR  # of throttling, too

_PROPERTIES = (
    CL.CONTEXT_PLATFORM,
    CL.CONTEXT_INTEROP_USER_SYNC,
    CL.CONTEXT_TERMINATE_KHR,
    CL.CONTEXT_MEMORY_INITIALIZE_KHR,
    CL.QUEUE_PROPERTIES,
    CL.QUEUE_SIZE,
    CL.QUEUE_PRIORITY_KHR,
    CL.QUEUE_THROTTLE_KHR,
    CL.SAMPLER_NORMALIZED_COORDS,
    CL.SAMPLER_ADDRESSING_MODE,
    CL.SAMPLER_FILTER_MODE,
    CL.SAMPLER_MIP_FILTER_MODE_KHR,
    CL.SAMPLER_LOD_MIN_KHR,
    CL.SAMPLER_LOD_MAX_KHR,
    CL.MEM_DEVICE_PRIVATE_ADDRESS_EXT,
    CL.DEVICE_PARTITION_EQUALLY,
    CL.DEVICE_PARTITION_BY_COUNTS,
    CL.DEVICE_PARTITION_BY_AFFINITY_DOMAIN,
)
_NAMES = {int(name): name for name in _PROPERTIES}
Words = Sequence[int]
Pairs = Sequence[tuple[int, int]]
Properties = Buffer | Words | Pairs | None


def orders(pairs: Pairs) -> list[Pairs]:
    """The pairs in every order; of many pairs, in those that begin with each of them, forwards and backwards."""
    if len(pairs) < 4:
        return list(itertools.permutations(pairs))
    turned = [[*pairs[i:], *pairs[:i]] for i in range(len(pairs))]
    return [*turned, *(order[::-1] for order in turned)]


def list_of(*pairs: tuple[int, int]) -> list[int]:
    """A property list of these names and values, with its end marker."""
    return [word for pair in pairs for word in pair] + [0]


def in_words(properties: Properties) -> Buffer | Words | None:
    """Properties as a function takes them: pairs with an end marker, everything else as it is."""
    if properties is None or isinstance(properties, Buffer):
        return properties
    pairs = [item for item in properties if isinstance(item, tuple)]
    return list_of(*pairs) if len(pairs) == len(properties) else cast(Words, properties)


def shown(properties: Properties) -> str:
    """A list as a failure shows it: {CL_QUEUE_PROPERTIES, 0x2, 0}."""
    words = in_words(properties)
    if words is None or isinstance(words, Buffer):
        return "NULL" if words is None else "a list in memory"
    return "{" + ", ".join([*(_shown(word, i) for i, word in enumerate(words[:-1])), "0"]) + "}"


def _shown(word: int, place: int) -> str:
    if isinstance(word, Value) and word.token.startswith("b"):
        return "an address"  # of the probe's own memory, which nobody else knows
    return str(_NAMES.get(word, f"{word:#x}")) if place % 2 == 0 else f"{word:#x}"


def _number(answer: int | str) -> str:
    return answer if isinstance(answer, str) else f"{answer:#x}"


@dataclass(frozen=True)
class CreateFunction:
    """A function whose last argument is errcode_ret, and the query that gives its property list back."""

    function: str
    kind: str
    query: str
    listed: int
    since: tuple[int, int]  # version of OpenCL whose platforms have to know the query
    arguments: Callable[[IcdObjects, Any], Sequence[Any]]  # with the list, without errcode_ret
    refuses: tuple[int, ...]  # errors for a bad list
    extension: str = ""
    needs_images: bool = False

    def __str__(self) -> str:
        return self.function


def _image(o: IcdObjects, words: Any) -> Sequence[Any]:
    """A 2D image of 4 by 4: CL_RGBA and CL_UNORM_INT8, and a description that is 0 but for type, width and height."""
    image_format = o.session.words([CL.RGBA | CL.UNORM_INT8 << 32])
    return (o.context, words, 1, image_format, o.session.words([CL.MEM_OBJECT_IMAGE2D, 4, 4, 0, 0, 0, 0, 0, 0]), None)


def _queue(o: IcdObjects, words: Any) -> Sequence[Any]:
    return (o.context, o.device, words)


_CONTEXT = ("cl_context", "clGetContextInfo", CL.CONTEXT_PROPERTIES, (1, 0))
_QUEUE = ("cl_command_queue", "clGetCommandQueueInfo", CL.QUEUE_PROPERTIES_ARRAY, (3, 0))
_MEM = ("cl_mem", "clGetMemObjectInfo", CL.MEM_PROPERTIES, (3, 0))

CREATORS = {
    creator.function: creator
    for creator in (
        CreateFunction(
            "clCreateContext", *_CONTEXT, lambda o, words: (words, 1, [o.device], None, None), (CL.INVALID_PROPERTY,)
        ),
        CreateFunction(
            "clCreateContextFromType",
            *_CONTEXT,
            lambda o, words: (words, api().constant("CL_DEVICE_TYPE_ALL"), None, None),
            (CL.INVALID_PROPERTY,),
        ),
        CreateFunction(
            "clCreateCommandQueueWithProperties",
            *_QUEUE,
            _queue,
            (CL.INVALID_VALUE, CL.INVALID_QUEUE_PROPERTIES),
        ),
        CreateFunction(
            "clCreateCommandQueueWithPropertiesKHR",
            *_QUEUE,
            _queue,
            (CL.INVALID_VALUE, CL.INVALID_QUEUE_PROPERTIES),
            extension="cl_khr_create_command_queue",
        ),
        CreateFunction(
            "clCreateBufferWithProperties",
            *_MEM,
            lambda o, words: (o.context, words, 1, 64, None),
            (CL.INVALID_PROPERTY,),
        ),
        CreateFunction("clCreateImageWithProperties", *_MEM, _image, (CL.INVALID_PROPERTY,), needs_images=True),
        CreateFunction(
            "clCreateSamplerWithProperties",
            "cl_sampler",
            "clGetSamplerInfo",
            CL.SAMPLER_PROPERTIES,
            (3, 0),
            lambda o, words: (o.context, words),
            (CL.INVALID_VALUE,),
            needs_images=True,
        ),
    )
}
CONTEXT, FROM_TYPE, QUEUE, QUEUE_KHR, BUFFER, IMAGE, SAMPLER = CREATORS
CONTEXTS, QUEUES, MEMORY = (CONTEXT, FROM_TYPE), (QUEUE, QUEUE_KHR), (BUFFER, IMAGE)

# The same objects without a property list: the function, and its arguments but for errcode_ret.
OLDER: dict[str, tuple[str, Callable[[IcdObjects], Sequence[Any]]]] = {
    "clCreateCommandQueue": (QUEUE, lambda o: (o.context, o.device, 0)),
    "clCreateBuffer": (BUFFER, lambda o: (o.context, 1, 64, None)),
    "clCreateImage": (IMAGE, lambda o: [a for i, a in enumerate(_image(o, None)) if i != 1]),
    "clCreateSampler": (SAMPLER, lambda o: (o.context, 1, CL.ADDRESS_CLAMP, CL.FILTER_NEAREST)),
}


class Creator:
    """Such a function of one platform. Raises Unsupported where the platform does not have it.

    Properties are pairs of name and value, the words of a list, a list in memory, or None for NULL.
    """

    def __init__(self, session: IcdSession, platform: Value, function: str) -> None:
        self.session = session
        self.about = CREATORS[function]
        self.version = session.version(platform)
        self.objects = session.objects(platform)
        self.platform = platform
        self.extensions = self.device_text("CL_DEVICE_EXTENSIONS").split()
        self.address: Value | None = None
        self._heeded: dict[tuple[int, int], bool] = {}
        if self.about.extension:
            self.require_extension(self.about.extension)
            self.address = session.query(function)
            if not self.address:
                raise CallFailed(f"{self.about.extension} is advertised, and {function} is not found")
        else:
            self.objects.require_function(function, self.version)
        if self.about.needs_images and not self.device_number("CL_DEVICE_IMAGE_SUPPORT", 4):
            raise Unsupported("loader", "this device has no images", "images")

    # --- what the device can do ---

    def device_text(self, query: str) -> str:
        """The device's answer to a query that returns a string. Raises CallFailed where it returns an error."""
        room = self.session.read_with_call(self.session.buffer(8, 0))
        call, number = self.session.call, api().constant(query)
        error, size = call("clGetDeviceInfo", self.objects.device, number, 0, None, room), room.u64()
        text = self.session.read_with_call(self.session.buffer(max(size, 1), 0))
        if error or call("clGetDeviceInfo", self.objects.device, number, size, text, None):
            raise CallFailed(f"clGetDeviceInfo({query}) failed")
        return text.text()

    def device_number(self, query: str | int, size: int) -> int:
        """What the device answers, or 0 where it does not know the query."""
        value = self.session.read_with_call(self.session.buffer(8, 0))
        constant = api().constant(query) if isinstance(query, str) else query
        error = self.session.call("clGetDeviceInfo", self.objects.device, constant, size, value, None)
        return 0 if error else value.u64()

    def require_extension(self, name: str) -> None:
        """Makes the case `unsupported` where the device does not report the extension."""
        if name not in self.extensions:
            raise Unsupported("loader", f"this device does not have {name}", name)

    def has_private_addresses(self) -> bool:
        """Whether buffers have the property of cl_ext_buffer_device_address: drafts before 1.0 had a flag instead."""
        name = "cl_ext_buffer_device_address"
        if name not in self.extensions:
            return False
        revision = self._revision(name)
        return revision is None or revision >= (1, 0, 0)

    def _revision(self, extension: str) -> tuple[int, int, int] | None:
        """What the device tells of an extension's revision; None where it does not."""
        room, call = self.session.read_with_call(self.session.buffer(8, 0)), self.session.call
        if call("clGetDeviceInfo", self.objects.device, CL.DEVICE_EXTENSIONS_WITH_VERSION, 0, None, room):
            return None
        listed = self.session.read_with_call(self.session.buffer(max(size := room.u64(), 1), 0))
        call("clGetDeviceInfo", self.objects.device, CL.DEVICE_EXTENSIONS_WITH_VERSION, size, listed, None)
        return revision_in(listed[:size], extension)

    def require_query(self) -> None:
        """Makes the case `unsupported` where the platform is older than the query for the list."""
        if self.version < self.about.since:
            major, minor = self.about.since
            raise Unsupported("loader", f"the list can be queried from OpenCL {major}.{minor} on", f"OpenCL {major}")

    def require_names(self, count: int) -> None:
        """Makes the case `unsupported` where the platform has fewer properties, or the driver heeds fewer of them."""
        if len(self.valid_pairs()) < count:
            raise Unsupported(
                "loader", f"this platform has fewer than {count} properties for {self.function}", self.function
            )
        if len(self.pairs()) < count:
            self.require_heeded(*self.valid_pairs())

    def require_zero(self) -> None:
        """The same for a property whose value may be 0."""
        if not self.valid_zero_pairs():
            raise Unsupported("loader", "no property of this platform may have the value 0", self.function)
        self.require_heeded(*self.valid_zero_pairs())

    # --- calls ---

    def create(self, properties: Properties) -> Outcome:
        """The error and the object. The list ends where an unreadable page begins."""
        words = in_words(properties)
        code = self.session.buffer(4)
        arguments = (*self.about.arguments(self.objects, words), code)
        if self.address is not None:
            handle = self.session.call_at(self.address, self.about.function, *arguments)
        else:
            handle = self.session.call(self.about.function, *arguments)
        assert isinstance(handle, Value)
        return Outcome((Answer(code.i32(), shown(words)), handle))

    def make(self, properties: Properties) -> Value:
        """The object. Raises CallFailed where there is none."""
        error, value = self.create(properties)
        if error or not value:
            raise CallFailed(f"{self.about} answered {value:#x} and the error {error!r}, which is a valid list")
        return value

    # --- what is expected of it ---

    def expect_created(self, properties: Properties) -> Value:
        """An object is made. A context whose properties name no platform may be refused with CL_INVALID_PLATFORM, as
        none could be chosen: then NULL."""
        outcome = self.create(properties)
        error, value = outcome
        if bool(value) != (error == 0) or (error and not self._lacks_platform(properties, error)):
            raise AssertionError(f"{self.about} answered {outcome!r}, expected an object and CL_SUCCESS")
        return value

    def expect_heeded(self, pairs: Pairs | None) -> Value:
        """`expect_created`, and the object's queries answer what the properties say, else the defaults."""
        value = self.expect_created(pairs)
        answers, expected = self.answers(value, pairs or ()) if value else {}, self.expected_answers(pairs or ())
        wrong = {query: answer for query, answer in answers.items() if answer != expected[query]}
        if wrong:
            texts = [
                f"{query} answers {_number(answer)}, expected {expected[query]:#x}" for query, answer in wrong.items()
            ]
            raise AssertionError(f"{self.about} with {shown(pairs)}: {'; '.join(texts)}")
        return value

    def _lacks_platform(self, properties: Properties, error: int) -> bool:
        """Whether the error is that no platform is named for a context, and none could be chosen."""
        words = in_words(properties)
        named = isinstance(words, Buffer) or CL.CONTEXT_PLATFORM in (words or ())[::2]
        return self.function in CONTEXTS and not named and error == CL.INVALID_PLATFORM

    def expect_refused(self, properties: Properties, *errors: int) -> None:
        """One of the errors, and no object. A context whose properties name no platform may lack that instead."""
        outcome = self.create(properties)
        error, value = outcome
        if (error not in errors and not self._lacks_platform(properties, error)) or value:
            names = " or ".join(repr(Code(one)) for one in errors)
            raise AssertionError(f"{self.about} answered {outcome!r}, expected {names} and no object")

    @property
    def function(self) -> str:
        """The name of the function that creates."""
        return self.about.function

    @property
    def refusal(self) -> int:
        """The error that the text names for a bad list; OpenCL 1.0 had CL_INVALID_VALUE for contexts."""
        older = self.function in CONTEXTS and self.version < (1, 1)
        return CL.INVALID_VALUE if older else self.about.refuses[0]

    def number(self, handle: Value, query: int, size: int) -> int | str:
        """What a query of the object answers."""
        value = self.session.read_with_call(self.session.buffer(size, 0))
        error = self.session.call(self.about.query, handle, query, size, value, None)
        return f"error {error}" if error else number_of(value.bytes())

    def queried_list(self, handle: Value, query: int | None = None) -> list[int] | str:
        """The property list that the query answers, element by element; or what is wrong with the answer."""
        query = self.about.listed if query is None else query
        size = self.session.buffer(8)
        error = self.session.call(self.about.query, handle, query, 0, None, size)
        if error:
            return f"{error} to the size query"
        if size.u64() % 8 or size.u64() > 1 << 16:
            return f"a size of {size.u64()} bytes"
        room = self.session.buffer(size.u64() + 16)
        error = self.session.call(self.about.query, handle, query, size.u64(), room, size)
        if error or size.u64() != room.size - 16:
            return f"{error}, size {size.u64()} to the query with {room.size - 16} bytes"
        if room[size.u64() :] != b"\xa5" * 16:
            return "more bytes written than its size says"
        return numbers_of(room[: size.u64()], 8)

    # --- what lists mean ---

    def alone(self, pair: tuple[int, int]) -> Pairs:
        """The shortest list that a property can be tried in: contexts need a platform beside it."""
        needs_platform = self.function in CONTEXTS and pair[0] != CL.CONTEXT_PLATFORM
        return [(CL.CONTEXT_PLATFORM, self.platform), pair] if needs_platform else [pair]

    def heeds(self, pair: tuple[int, int]) -> bool:
        """Whether the driver accepts and heeds a valid property alone. It is asked once; where it does not, the
        property's own check says so, and no other check can use it."""
        if pair not in self._heeded:
            try:
                self._heeded[pair] = bool(self.expect_heeded(self.alone(pair)))
            except AssertionError:
                self._heeded[pair] = False
        return self._heeded[pair]

    def require_heeded(self, *pairs: tuple[int, int]) -> None:
        """Makes the case `unsupported` where the driver does not accept and heed each of these valid properties."""
        for pair in pairs:
            if not self.heeds(pair):
                what = f"{self.function} does not accept and heed {shown(self.alone(pair))}"
                raise Unsupported("loader", f"precondition failed: {what}", "precondition")

    def require_bits(self) -> None:
        """The same for the bits of a queue: every device has queues with profiling."""
        self.require_heeded((CL.QUEUE_PROPERTIES, CL.QUEUE_PROFILING_ENABLE))

    def pairs(self) -> list[tuple[int, int]]:
        """Those of `valid_pairs` that the driver accepts and heeds."""
        return [pair for pair in self.valid_pairs() if self.heeds(pair)]

    def zero_pairs(self) -> list[tuple[int, int]]:
        """Those of `valid_zero_pairs` that the driver accepts and heeds."""
        return [pair for pair in self.valid_zero_pairs() if self.heeds(pair)]

    def valid_pairs(self) -> list[tuple[int, int]]:
        """Valid properties that are not the defaults, each of another name."""
        function = self.about.function
        if function in CONTEXTS:
            result: list[tuple[int, int]] = [(CL.CONTEXT_PLATFORM, self.platform)]
            result += [(CL.CONTEXT_INTEROP_USER_SYNC, 1)] if self.version >= (1, 2) else []
            result += [(CL.CONTEXT_MEMORY_INITIALIZE_KHR, 1)] if "cl_khr_initialize_memory" in self.extensions else []
            result += [(CL.CONTEXT_TERMINATE_KHR, 0)] if "cl_khr_terminate_context" in self.extensions else []
            return result
        if function in QUEUES:
            result = [(CL.QUEUE_PROPERTIES, CL.QUEUE_PROFILING_ENABLE)]
            result += [(CL.QUEUE_PRIORITY_KHR, LOW)] if "cl_khr_priority_hints" in self.extensions else []
            result += [(CL.QUEUE_THROTTLE_KHR, HIGH)] if "cl_khr_throttle_hints" in self.extensions else []
            return result
        if function == BUFFER:
            return [(CL.MEM_DEVICE_PRIVATE_ADDRESS_EXT, 1)] if self.has_private_addresses() else []
        if function == SAMPLER:
            result = [
                (CL.SAMPLER_NORMALIZED_COORDS, 1),
                (CL.SAMPLER_ADDRESSING_MODE, CL.ADDRESS_CLAMP_TO_EDGE),
                (CL.SAMPLER_FILTER_MODE, CL.FILTER_LINEAR),
            ]
            mipmaps = [
                (CL.SAMPLER_MIP_FILTER_MODE_KHR, CL.FILTER_LINEAR),
                (CL.SAMPLER_LOD_MIN_KHR, 0),
                (CL.SAMPLER_LOD_MAX_KHR, 0x4000_0000),
            ]  # the last two: 0 and 2 as floats
            return result + (mipmaps if "cl_khr_mipmap_image" in self.extensions else [])
        return []

    def valid_zero_pairs(self) -> list[tuple[int, int]]:
        """The properties whose value may be 0, with that."""
        if self.about.function in CONTEXTS:
            return [(CL.CONTEXT_INTEROP_USER_SYNC, 0)] if self.version >= (1, 2) else []
        zero = {QUEUE: CL.QUEUE_PROPERTIES, QUEUE_KHR: CL.QUEUE_PROPERTIES, SAMPLER: CL.SAMPLER_NORMALIZED_COORDS}
        if self.about.function == BUFFER:
            return [(CL.MEM_DEVICE_PRIVATE_ADDRESS_EXT, 0)] if self.has_private_addresses() else []
        return [(zero[self.about.function], 0)] if self.about.function in zero else []

    def expected_answers(self, pairs: Pairs) -> dict[int, int]:
        """What queries answer for an object of these properties."""
        given = dict(pairs)
        if self.about.function in QUEUES:
            return {CL.QUEUE_PROPERTIES: given.get(CL.QUEUE_PROPERTIES, 0)}
        if self.about.function == SAMPLER:
            defaults = {
                CL.SAMPLER_NORMALIZED_COORDS: 1,
                CL.SAMPLER_ADDRESSING_MODE: CL.ADDRESS_CLAMP,
                CL.SAMPLER_FILTER_MODE: CL.FILTER_NEAREST,
            }
            return {name: given.get(name, default) for name, default in defaults.items()}
        if self.about.function in MEMORY:
            return {CL.MEM_FLAGS: 1}
        return {}

    def answers(self, handle: Value, pairs: Pairs) -> dict[int, int | str]:
        """What queries answer for an object."""
        size = 8 if self.about.function in (*QUEUES, *MEMORY) else 4
        return {query: self.number(handle, query, size) for query in self.expected_answers(pairs)}


def creators_of(
    session: IcdSession, function: str, needs: Callable[[Creator], None] | None = None, names: int = 0
) -> list[Creator]:
    """The creator of each platform that has it and what is needed; unsupported where none has.

    `needs` raises Unsupported; `names` is how many properties the platform has to know. Where several platforms lack
    something, a failed precondition is told before everything else.
    """
    result = []
    lacks: Unsupported | None = None
    for platform in session.some_platforms():
        try:
            one = Creator(session, platform, function)
            if needs:
                needs(one)
            one.require_names(names)
        except Unsupported as reason:
            if lacks is None or lacks.capability != "precondition":
                lacks = reason
        else:
            result.append(one)
    if not result:
        assert lacks is not None
        raise lacks
    return result
