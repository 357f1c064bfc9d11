"""Functions that make an object with a property list, and what a check asks of them."""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from harness.api.model import api
from harness.probe.convenience import CallFailed
from harness.probe.icd_objects import IcdObjects
from harness.probe.icd_session import IcdSession
from harness.probe.values import Buffer, Value
from harness.sandbox import Unsupported


class Code(int):
    """An error code, which failures show by its name, together with what it was the answer to."""

    to: str

    def __new__(cls, number: int, to: str = "") -> Code:
        code = super().__new__(cls, number)
        code.to = to
        return code

    def __repr__(self) -> str:
        return _codes().get(int(self), str(int(self))) + (f" to {self.to}" if self.to else "")


class Outcome(tuple[Code, Value]):
    """An error code and an object (or NULL), which failures show in words."""

    def __repr__(self) -> str:
        return f"({self[0]!r}, {'an object' if self[1] else 'no object'})"


@functools.cache
def _codes() -> dict[int, str]:
    """Names of error codes; where there are several, the shortest, which is the core's."""
    found = {0: "CL_SUCCESS"}
    for name, number in sorted(api().constants.items(), key=lambda item: -len(item[0])):
        if number < 0 and re.match(r"CL_(INVALID_|DEVICE_(PARTITION|NOT)_|OUT_OF_|MEM_|IMAGE_|PLATFORM_NOT)", name):
            found[number] = name
    return found


INVALID_PLATFORM, INVALID_VALUE, INVALID_QUEUE_PROPERTIES, INVALID_PROPERTY = map(Code, (-32, -30, -35, -64))

PLATFORM, USER_SYNC = api().constant("CL_CONTEXT_PLATFORM"), api().constant("CL_CONTEXT_INTEROP_USER_SYNC")
TERMINATE, INITIALIZE = 0x2032, 0x2030  # CL_CONTEXT_TERMINATE_KHR, CL_CONTEXT_MEMORY_INITIALIZE_KHR
QUEUE_PROPERTIES, QUEUE_SIZE = api().constant("CL_QUEUE_PROPERTIES"), api().constant("CL_QUEUE_SIZE")
PRIORITY, THROTTLE = 0x1096, 0x1097  # CL_QUEUE_PRIORITY_KHR, CL_QUEUE_THROTTLE_KHR
HIGH, MED, LOW = 1, 2, 4  # of both hints
OUT_OF_ORDER, PROFILING, ON_DEVICE, ON_DEVICE_DEFAULT = 1, 2, 4, 8  # bits of CL_QUEUE_PROPERTIES
NORMALIZED, ADDRESSING, FILTER = (
    api().constant(f"CL_SAMPLER_{name}") for name in ("NORMALIZED_COORDS", "ADDRESSING_MODE", "FILTER_MODE")
)
CLAMP, CLAMP_TO_EDGE, ADDRESS_NONE = (
    api().constant(f"CL_ADDRESS_{name}") for name in ("CLAMP", "CLAMP_TO_EDGE", "NONE")
)
NEAREST, LINEAR = api().constant("CL_FILTER_NEAREST"), api().constant("CL_FILTER_LINEAR")
MIP_FILTER, LOD_MIN, LOD_MAX = 0x1155, 0x1156, 0x1157  # CL_SAMPLER_MIP_FILTER_MODE_KHR, CL_SAMPLER_LOD_…_KHR
PRIVATE_ADDRESS = 0x5000  # CL_MEM_DEVICE_PRIVATE_ADDRESS_EXT

_NAMES = {
    PLATFORM: "CL_CONTEXT_PLATFORM",
    USER_SYNC: "CL_CONTEXT_INTEROP_USER_SYNC",
    TERMINATE: "CL_CONTEXT_TERMINATE_KHR",
    INITIALIZE: "CL_CONTEXT_MEMORY_INITIALIZE_KHR",
    QUEUE_PROPERTIES: "CL_QUEUE_PROPERTIES",
    QUEUE_SIZE: "CL_QUEUE_SIZE",
    PRIORITY: "CL_QUEUE_PRIORITY_KHR",
    THROTTLE: "CL_QUEUE_THROTTLE_KHR",
    NORMALIZED: "CL_SAMPLER_NORMALIZED_COORDS",
    ADDRESSING: "CL_SAMPLER_ADDRESSING_MODE",
    FILTER: "CL_SAMPLER_FILTER_MODE",
    MIP_FILTER: "CL_SAMPLER_MIP_FILTER_MODE_KHR",
    LOD_MIN: "CL_SAMPLER_LOD_MIN_KHR",
    LOD_MAX: "CL_SAMPLER_LOD_MAX_KHR",
    PRIVATE_ADDRESS: "CL_MEM_DEVICE_PRIVATE_ADDRESS_EXT",
    0x1086: "CL_DEVICE_PARTITION_EQUALLY",
    0x1087: "CL_DEVICE_PARTITION_BY_COUNTS",
    0x1088: "CL_DEVICE_PARTITION_BY_AFFINITY_DOMAIN",
}
Words = Sequence[int]
Pairs = Sequence[tuple[int, int]]


def orders(pairs: Pairs) -> list[Pairs]:
    """The pairs in every order; of many pairs, in those that begin with each of them, forwards and backwards."""
    if len(pairs) < 4:
        return list(itertools.permutations(pairs))
    turned = [[*pairs[i:], *pairs[:i]] for i in range(len(pairs))]
    return [*turned, *(order[::-1] for order in turned)]


def listed(*pairs: tuple[int, int]) -> list[int]:
    """A property list of these names and values, with its end marker."""
    return [word for pair in pairs for word in pair] + [0]


def shown(words: Buffer | Words | None) -> str:
    """A list as a failure shows it: {CL_QUEUE_PROPERTIES, 0x2, 0}."""
    if words is None or isinstance(words, Buffer):
        return "NULL" if words is None else "a list in memory"
    texts = [_NAMES.get(w, f"{w:#x}") if i % 2 == 0 else f"{w:#x}" for i, w in enumerate(words[:-1])]
    return "{" + ", ".join([*texts, "0"]) + "}"


@dataclass(frozen=True)
class Creator:
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
    image_format = o.session.words([0x10B5 | 0x10D2 << 32])
    return (o.context, words, 1, image_format, o.session.words([0x10F1, 4, 4, 0, 0, 0, 0, 0, 0]), None)


def _queue(o: IcdObjects, words: Any) -> Sequence[Any]:
    return (o.context, o.device, words)


_CONTEXT = ("cl_context", "clGetContextInfo", 0x1082, (1, 0))
_QUEUE = ("cl_command_queue", "clGetCommandQueueInfo", 0x1098, (3, 0))
_MEM = ("cl_mem", "clGetMemObjectInfo", 0x110A, (3, 0))

CREATORS = {
    creator.function: creator
    for creator in (
        Creator("clCreateContext", *_CONTEXT, lambda o, words: (words, 1, [o.device], None, None), (INVALID_PROPERTY,)),
        Creator(
            "clCreateContextFromType",
            *_CONTEXT,
            lambda o, words: (words, api().constant("CL_DEVICE_TYPE_ALL"), None, None),
            (INVALID_PROPERTY,),
        ),
        Creator("clCreateCommandQueueWithProperties", *_QUEUE, _queue, (INVALID_VALUE, INVALID_QUEUE_PROPERTIES)),
        Creator(
            "clCreateCommandQueueWithPropertiesKHR",
            *_QUEUE,
            _queue,
            (INVALID_VALUE, INVALID_QUEUE_PROPERTIES),
            extension="cl_khr_create_command_queue",
        ),
        Creator(
            "clCreateBufferWithProperties",
            *_MEM,
            lambda o, words: (o.context, words, 1, 64, None),
            (INVALID_PROPERTY,),
        ),
        Creator("clCreateImageWithProperties", *_MEM, _image, (INVALID_PROPERTY,), needs_images=True),
        Creator(
            "clCreateSamplerWithProperties",
            "cl_sampler",
            "clGetSamplerInfo",
            0x1158,
            (3, 0),
            lambda o, words: (o.context, words),
            (INVALID_VALUE,),
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
    "clCreateSampler": (SAMPLER, lambda o: (o.context, 1, CLAMP, NEAREST)),
}


class Lists:
    """A creator of one platform. Raises Unsupported where the platform does not have it."""

    def __init__(self, session: IcdSession, platform: Value, function: str) -> None:
        self.session = session
        self.creator = CREATORS[function]
        self.version = session.version(platform)
        self.objects = session.objects(platform)
        self.platform = platform
        self.extensions = self.device_text("CL_DEVICE_EXTENSIONS").split()
        self.address: Value | None = None
        if self.creator.extension:
            self.require_extension(self.creator.extension)
            self.address = session.query(function)
            if not self.address:
                raise CallFailed(f"{self.creator.extension} is advertised, and {function} is not found")
        else:
            self.objects.require_function(function, self.version)
        if self.creator.needs_images and not self.device_number("CL_DEVICE_IMAGE_SUPPORT", 4):
            raise Unsupported("loader", "this device has no images", "images")

    # --- what the device can do ---

    def device_text(self, query: str) -> str:
        size = self.session.buffer(8, 0)
        call = self.session.call
        error = call("clGetDeviceInfo", self.objects.device, api().constant(query), 0, None, size)
        text = self.session.buffer(max(size.u64(), 1), 0)
        if error or call("clGetDeviceInfo", self.objects.device, api().constant(query), size.u64(), text, None):
            raise CallFailed(f"clGetDeviceInfo({query}) failed")
        return text.text()

    def device_number(self, query: str | int, size: int) -> int:
        """What the device answers, or 0 where it does not know the query."""
        value = self.session.buffer(8, 0)
        constant = api().constant(query) if isinstance(query, str) else query
        error = self.session.call("clGetDeviceInfo", self.objects.device, constant, size, value, None)
        return 0 if error else value.u64()

    def require_extension(self, name: str) -> None:
        if name not in self.extensions:
            raise Unsupported("loader", f"this device does not have {name}", name)

    def require_query(self) -> None:
        """Makes the case `unsupported` where the platform is older than the query for the list."""
        if self.version < self.creator.since:
            major, minor = self.creator.since
            raise Unsupported("loader", f"the list can be queried from OpenCL {major}.{minor} on", f"OpenCL {major}")

    # --- calls ---

    def create(self, words: Buffer | Words | None) -> Outcome:
        """The error and the object. The list ends where an unreadable page begins."""
        code = self.session.buffer(4)
        arguments = (*self.creator.arguments(self.objects, words), code)
        if self.address is not None:
            made = self.session.call_at(self.address, self.creator.function, *arguments)
        else:
            made = self.session.call(self.creator.function, *arguments)
        assert isinstance(made, Value)
        return Outcome((Code(code.i32(), shown(words)), made))

    def made(self, words: Buffer | Words | None) -> Value:
        """The object. Raises CallFailed where there is none."""
        error, made = self.create(words)
        if error or not made:
            raise CallFailed(f"{self.creator} answered {made:#x} and the error {error!r}, which is a valid list")
        return made

    def number(self, made: Value, query: int, size: int) -> int | str:
        """What a query of the object answers."""
        value = self.session.buffer(size, 0)
        error = self.session.call(self.creator.query, made, query, size, value, None)
        return f"error {Code(error)!r}" if error else int.from_bytes(value.bytes(), "little")

    def given_back(self, made: Value, query: int | None = None) -> list[int] | str:
        """The property list that the query answers, element by element; or what is wrong with the answer."""
        query = self.creator.listed if query is None else query
        size = self.session.buffer(8)
        error = self.session.call(self.creator.query, made, query, 0, None, size)
        if error:
            return f"{Code(error)!r} to the size query"
        if size.u64() % 8 or size.u64() > 1 << 16:
            return f"a size of {size.u64()} bytes"
        room = self.session.buffer(size.u64() + 16)
        error = self.session.call(self.creator.query, made, query, size.u64(), room, size)
        if error or size.u64() != room.size - 16:
            return f"{Code(error)!r}, size {size.u64()} to the query with {room.size - 16} bytes"
        if room[size.u64() :] != b"\xa5" * 16:
            return "more bytes written than its size says"
        return [int.from_bytes(room[i : i + 8], "little") for i in range(0, size.u64(), 8)]

    # --- what lists mean ---

    def pairs(self) -> list[tuple[int, int]]:
        """Valid properties that are not the defaults, each of another name."""
        function = self.creator.function
        if function in CONTEXTS:
            found: list[tuple[int, int]] = [(PLATFORM, self.platform)]
            found += [(USER_SYNC, 1)] if self.version >= (1, 2) else []
            found += [(INITIALIZE, 1)] if "cl_khr_initialize_memory" in self.extensions else []
            found += [(TERMINATE, 0)] if "cl_khr_terminate_context" in self.extensions else []
            return found
        if function in QUEUES:
            found = [(QUEUE_PROPERTIES, PROFILING)]
            found += [(PRIORITY, LOW)] if "cl_khr_priority_hints" in self.extensions else []
            found += [(THROTTLE, HIGH)] if "cl_khr_throttle_hints" in self.extensions else []
            return found
        if function == BUFFER:
            return [(PRIVATE_ADDRESS, 1)] if "cl_ext_buffer_device_address" in self.extensions else []
        if function == SAMPLER:
            found = [(NORMALIZED, 1), (ADDRESSING, CLAMP_TO_EDGE), (FILTER, LINEAR)]
            mipmaps = [(MIP_FILTER, LINEAR), (LOD_MIN, 0), (LOD_MAX, 0x4000_0000)]  # the last two: 0 and 2 as floats
            return found + (mipmaps if "cl_khr_mipmap_image" in self.extensions else [])
        return []

    def zero_pairs(self) -> list[tuple[int, int]]:
        """The properties whose value may be 0, with that."""
        if self.creator.function in CONTEXTS:
            return [(USER_SYNC, 0)] if self.version >= (1, 2) else []
        zero = {QUEUE: QUEUE_PROPERTIES, QUEUE_KHR: QUEUE_PROPERTIES, SAMPLER: NORMALIZED}
        if self.creator.function == BUFFER:
            return [(PRIVATE_ADDRESS, 0)] if "cl_ext_buffer_device_address" in self.extensions else []
        return [(zero[self.creator.function], 0)] if self.creator.function in zero else []

    def wanted(self, pairs: Pairs) -> dict[int, int]:
        """What queries answer for an object of these properties."""
        told = dict(pairs)
        if self.creator.function in QUEUES:
            return {QUEUE_PROPERTIES: told.get(QUEUE_PROPERTIES, 0)}
        if self.creator.function == SAMPLER:
            defaults = {NORMALIZED: 1, ADDRESSING: CLAMP, FILTER: NEAREST}
            return {name: told.get(name, default) for name, default in defaults.items()}
        if self.creator.function in MEMORY:
            return {api().constant("CL_MEM_FLAGS"): 1}
        return {}

    def answered(self, made: Value, pairs: Pairs) -> dict[int, int | str]:
        """What queries do answer."""
        size = 8 if self.creator.function in (*QUEUES, *MEMORY) else 4
        return {query: self.number(made, query, size) for query in self.wanted(pairs)}

    def without_platform(self, error: int) -> bool:
        """Whether an error is one that a context without CL_CONTEXT_PLATFORM may have: no platform could be chosen."""
        return self.creator.function in CONTEXTS and error == INVALID_PLATFORM


def lists_of(
    session: IcdSession, function: str, needs: Callable[[Lists], None] | None = None, names: int = 0
) -> list[Lists]:
    """The creator of each platform that has it and what is needed; unsupported where none has.

    `needs` raises Unsupported; `names` is how many properties the platform has to know.
    """
    found = []
    lacks = None
    for platform in session.some_platforms():
        try:
            one = Lists(session, platform, function)
            if needs:
                needs(one)
            if len(one.pairs()) < names:
                raise Unsupported("loader", f"this platform has fewer than {names} properties for {function}", function)
        except Unsupported as reason:
            lacks = reason
        else:
            found.append(one)
    if not found:
        assert lacks is not None
        raise lacks
    return found
