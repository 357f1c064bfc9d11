# SPDX-License-Identifier: Apache-2.0
"""A process that uses OpenCL as an application or as a loader would, and reports each step before and after it.

Started by harness.doctor.ask as a script of its own: `python -I host.py MODE DESCRIPTOR READER NAME…`, where READER is
the other end of the pipe in the process that asks. It may crash or hang in the library that it uses: what was reported
until then says where. The modes are the methods of Host that main names.
"""

from __future__ import annotations

import ctypes
import errno
import json
import os
import struct
import sys
from collections.abc import Callable
from typing import Any

_ALL_DEVICES = 0xFFFFFFFF
_ICD2_TAG = 0x4F50454E434C3331
_PLATFORM = {"profile": 0x900, "version": 0x901, "name": 0x902, "vendor": 0x903, "extensions": 0x904, "suffix": 0x920}
_DEVICE_TYPE, _DEVICE_AVAILABLE, _DEVICE_NAME = 0x1000, 0x1027, 0x102B
_MOST = 64  # platforms or devices
_ENTRIES = 150  # of a dispatch table
_KILL = {"x86_64": (0xC000003E, 62), "aarch64": (0xC00000B7, 129)}  # architectures, as filters know them and the call
_P = ctypes.c_void_p
_U = ctypes.c_uint32


class Host:
    """The process that loads what the doctor asks about, and reports lines of JSON to a pipe."""

    def __init__(self, descriptor: int, reader: int) -> None:
        self.descriptor = descriptor
        self.pipe = self._identity()
        self.other_end = f"/proc/{os.getppid()}/fd/{reader}"
        self.dispatch_data = (_P * _ENTRIES)()  # of vendors of cl_khr_icd 2.0, as long as this process

    def report(self, **fields: Any) -> None:
        """Sends one line of JSON to the process that asks; whole, also where the kernel takes it in pieces."""
        data = (json.dumps(fields) + "\n").encode()
        if self._identity() != self.pipe:  # a library closes all descriptors, and may have taken the number for itself
            self.descriptor = os.open(self.other_end, os.O_WRONLY | os.O_CLOEXEC)
        while data:
            data = data[os.write(self.descriptor, data) :]

    def _identity(self) -> tuple[int, int] | None:
        try:
            status = os.fstat(self.descriptor)
        except OSError:
            return None
        return status.st_dev, status.st_ino

    def step(self, name: str, action: Callable[[], Any]) -> Any:
        """Does one thing; what is reported says that it began and how it ended."""
        self.report(begins=name)
        result = action()
        self.report(ends=name)
        return result

    # --- libraries ---

    def open(self, name: str, mode: int = os.RTLD_NOW) -> ctypes.CDLL | None:
        """The library; None where it cannot be opened, which is reported with the linker's words."""

        def load() -> ctypes.CDLL | None:
            try:
                return ctypes.CDLL(name, mode=mode | os.RTLD_LOCAL)
            except OSError as error:
                self.report(error=str(error), bound="now" if mode & os.RTLD_NOW else "lazy")
                return None

        library: ctypes.CDLL | None = self.step("dlopen", load)
        return library

    def path_of(self, address: int) -> str:
        """The file that an address lies in."""
        for line in _maps():
            first, _, last = line.split()[0].partition("-")
            if int(first, 16) <= address < int(last, 16) and "/" in line:
                return line[line.index("/") :].rstrip("\n")
        return ""

    # --- platforms and devices ---

    def platform(self, handle: int, info: Any) -> dict[str, Any]:
        """What a platform says about itself, as text; codes of what it refuses."""
        about: dict[str, Any] = {"refused": {}}
        for name, query in _PLATFORM.items():
            code, text = _text(info, handle, query)
            if code == 0:
                about[name] = text
            else:
                about["refused"][name] = code
        return about

    def devices(self, handle: int, list_devices: Any, info: Any) -> dict[str, Any]:
        """The devices of a platform: error code, count, and what each says of itself."""
        number = _U(0)
        code = list_devices(_P(handle), ctypes.c_uint64(_ALL_DEVICES), 0, None, ctypes.byref(number))
        result: list[dict[str, Any]] = []
        if code == 0 and 0 < number.value <= _MOST:
            array = (_P * number.value)()
            code = list_devices(_P(handle), ctypes.c_uint64(_ALL_DEVICES), number, array, None)
            result = [self._device(device, info) for device in array if device and code == 0]
        return {"code": code, "count": number.value if code == 0 else 0, "devices": result}

    def _device(self, device: int, info: Any) -> dict[str, Any]:
        if not info:
            return {}
        available = _U(1)
        info(_P(device), _U(_DEVICE_AVAILABLE), ctypes.c_size_t(4), ctypes.byref(available), None)
        return {"name": _text(info, device, _DEVICE_NAME)[1], "available": bool(available.value)}

    # --- modes ---

    def linked(self, name: str) -> None:
        """As an application that is linked to the loader, whose functions come before those of all vendors."""
        self.loader(name, os.RTLD_NOW | os.RTLD_GLOBAL)

    def linked_vendor(self, loader: str, name: str) -> None:
        """One vendor in such an application."""
        if self.open(loader, os.RTLD_NOW | os.RTLD_GLOBAL):
            self.vendor(name)

    def loader(self, name: str, mode: int = os.RTLD_NOW) -> None:
        """As an application that opens the loader: everything that it lists."""
        library = self.open(name, mode)
        if library is None:
            return
        everything = ctypes.CDLL(None)
        if _address(everything, "clGetPlatformIDs"):  # preloaded: what a program that is linked to a loader gets
            library = everything
        address = _address(library, "clGetPlatformIDs")
        self.report(path=self.path_of(address), platforms_function=bool(address))
        if not address:
            return
        self.step("clGetICDLoaderInfoOCLICD", lambda: self._about_loader(library))
        number = _U(0)
        code = self.step("clGetPlatformIDs", lambda: library.clGetPlatformIDs(0, None, ctypes.byref(number)))
        self.report(code=code, count=number.value if code == 0 else 0)
        handles: list[int] = []
        if code == 0 and 0 < number.value <= _MOST:
            array = (_P * number.value)()
            self.step("clGetPlatformIDs", lambda: library.clGetPlatformIDs(number, array, None))
            handles = [handle for handle in array if handle]
        for index, handle in enumerate(handles):
            self._listed_platform(library, index, handle)
        self.report(maps=sorted({line[line.index("/") :].rstrip() for line in _maps() if "/" in line}))

    def _listed_platform(self, library: ctypes.CDLL, index: int, handle: int) -> None:
        info, list_devices = library.clGetPlatformInfo, library.clGetDeviceIDs
        about = self.step(f"clGetPlatformInfo of platform {index}", lambda: self.platform(handle, info))
        self.report(platform=about)
        place = f"clGetDeviceIDs of {about.get('name') or index}"
        self.report(devices=self.step(place, lambda: self.devices(handle, list_devices, library.clGetDeviceInfo)))

    def _about_loader(self, library: ctypes.CDLL) -> None:
        address = _address(library, "clGetExtensionFunctionAddress")
        if not address:
            return
        function = library.clGetExtensionFunctionAddress
        function.restype = _P
        result = function(b"clGetICDLoaderInfoOCLICD")
        if result:
            info = ctypes.CFUNCTYPE(ctypes.c_int32, _U, ctypes.c_size_t, _P, _P)(result)
            texts = []
            for query in (3, 2):
                room = ctypes.create_string_buffer(256)
                texts.append(room.value.decode(errors="replace") if info(query, 256, room, None) == 0 else "")
            self.report(loader_name=texts[0], loader_version=texts[1])

    def vendor(self, name: str) -> None:
        """As a loader: every step of the acceptance of one library."""
        library = self.open(name)
        if library is None:
            library = self.open(name, os.RTLD_LAZY)
        if library is None:
            return
        query = _address(library, "clGetExtensionFunctionAddress")
        enumerate_ = _address(library, "clIcdGetPlatformIDsKHR")
        self.report(
            path=self.path_of(query or enumerate_ or _address(library, "_init")),
            exports=[
                n
                for n in (
                    "clGetExtensionFunctionAddress",
                    "clIcdGetPlatformIDsKHR",
                    "clGetPlatformInfo",
                    "clGetPlatformIDs",
                )
                if _address(library, n)
            ],
        )
        if not query:
            return
        ask = ctypes.CFUNCTYPE(_P, ctypes.c_char_p)(query)

        def extension(function: str) -> int:
            return ask(function.encode()) or 0

        enumerate_ = (
            self.step("clGetExtensionFunctionAddress", lambda: extension("clIcdGetPlatformIDsKHR")) or enumerate_
        )
        self.report(enumerates=bool(enumerate_))
        if not enumerate_:
            return
        handles = self._enumerate(enumerate_)
        info = _address(library, "clGetPlatformInfo") or extension("clGetPlatformInfo")
        for handle in handles:
            self._vendor_platform(handle, info, extension)

    def _enumerate(self, function: int) -> list[int]:
        call = ctypes.CFUNCTYPE(ctypes.c_int32, _U, _P, _P)(function)
        number = _U(0)
        code = self.step("clIcdGetPlatformIDsKHR", lambda: call(0, None, ctypes.addressof(number)))
        self.report(code=code, count=number.value if code == 0 else 0)
        if code or not 0 < number.value <= _MOST:
            return []
        array = (_P * number.value)()
        code = self.step("clIcdGetPlatformIDsKHR", lambda: call(number, ctypes.addressof(array), None))
        self.report(list_code=code, null_handles=sum(not handle for handle in array))
        return [handle for handle in array if handle] if code == 0 else []

    def _vendor_platform(self, handle: int, info: int, extension: Callable[[str], int]) -> None:
        table = _P.from_address(handle).value or 0
        icd2 = bool(table) and ctypes.c_uint64.from_address(table).value == _ICD2_TAG
        if icd2:
            by_platform = extension("clIcdGetFunctionAddressForPlatformKHR")
            find = ctypes.CFUNCTYPE(_P, _P, ctypes.c_char_p)(by_platform) if by_platform else None
            slots = {n: (find(handle, n.encode()) or 0) if find else 0 for n in _SLOTS}
            self._take_dispatch_data(handle, bool(find), extension("clIcdSetPlatformDispatchDataKHR"))
        else:
            slots = {n: _slot(table, i) for i, n in enumerate(_SLOTS)}
        self.report(dispatch=bool(table), icd2=icd2)
        address = info or (slots["clGetPlatformInfo"] if table else 0)
        if not address:
            self.report(platform={"refused": {}, "without_info": True})
            return
        call = _function(address, _P, _U, ctypes.c_size_t, _P, _P)
        self.report(platform=self.step("clGetPlatformInfo", lambda: self.platform(handle, call)))
        if table and slots["clGetDeviceIDs"]:
            ids = _function(slots["clGetDeviceIDs"], _P, ctypes.c_uint64, _U, _P, _P)
            about = _function(slots["clGetDeviceInfo"], _P, _U, ctypes.c_size_t, _P, _P)
            self.report(devices=self.step("clGetDeviceIDs", lambda: self.devices(handle, ids, about)))

    def _take_dispatch_data(self, handle: int, finds: bool, address: int) -> None:
        """As a loader does with an ICD of cl_khr_icd 2.0."""
        name = "clIcdSetPlatformDispatchDataKHR"
        setter = ctypes.CFUNCTYPE(ctypes.c_int32, _P, _P)(address) if address else None
        code = self.step(name, lambda: setter(handle, ctypes.addressof(self.dispatch_data))) if setter else None
        self.report(icd2_functions={"get": finds, "set": bool(setter), "code": code})

    def together(self, *names: str) -> None:
        """Opens several vendors in one process, as every loader does, and reports each step of each of them."""
        for name in names:
            self.report(vendor=name)
            library = self.open(name, os.RTLD_LAZY)
            query = _address(library, "clGetExtensionFunctionAddress") if library else 0
            platforms = ctypes.CFUNCTYPE(_P, ctypes.c_char_p)(query)(b"clIcdGetPlatformIDsKHR") if query else 0
            self._enumerate(platforms) if platforms else []

    def layer(self, name: str, loader: str) -> None:
        """As a loader: every step of the acceptance of a layer; `loader` lends the functions that a layer may call."""
        library = self.open(name)
        if library is None:
            return
        names = ("clGetLayerInfo", "clInitLayer", "clInitLayerWithProperties", "clDeinitLayer")
        addresses = {function: _address(library, function) for function in names}
        self.report(
            path=self.path_of(next((a for a in addresses.values() if a), 0)),
            exports=[n for n, a in addresses.items() if a],
        )
        if addresses["clGetLayerInfo"]:
            version = _U(0)
            info = _function(addresses["clGetLayerInfo"], _U, ctypes.c_size_t, _P, _P)
            code = self.step("clGetLayerInfo", lambda: info(0x4240, 4, ctypes.addressof(version), None))
            self.report(info_code=code, api_version=version.value)
        if addresses["clInitLayer"]:
            refuse = ctypes.CFUNCTYPE(ctypes.c_int32)(lambda: -59)
            own_functions = ctypes.CDLL(loader)
            slots = [_address(own_functions, function) for function in _SLOTS]
            table = (_P * _ENTRIES)(*slots, *[ctypes.cast(refuse, _P).value] * (_ENTRIES - len(slots)))
            entries, own = _U(0), _P(0)
            init = _function(addresses["clInitLayer"], _U, _P, _P, _P)
            code = self.step(
                "clInitLayer",
                lambda: init(_ENTRIES, ctypes.addressof(table), ctypes.addressof(entries), ctypes.addressof(own)),
            )
            self.report(init_code=code, entries=entries.value, table=bool(own.value))


_SLOTS = ("clGetPlatformIDs", "clGetPlatformInfo", "clGetDeviceIDs", "clGetDeviceInfo")


def _function(address: int, *arguments: Any) -> Any:
    return ctypes.CFUNCTYPE(ctypes.c_int32, *arguments)(address) if address else None


def _slot(table: int, index: int) -> int:
    return (_P.from_address(table + ctypes.sizeof(_P) * index).value or 0) if table else 0


def _maps() -> list[str]:
    """What lies where in this process; nothing in a root without /proc."""
    try:
        with open("/proc/self/maps", errors="surrogateescape") as file:
            return file.readlines()
    except OSError:
        return []


def _address(library: ctypes.CDLL, name: str) -> int:
    try:
        return ctypes.cast(getattr(library, name), _P).value or 0
    except AttributeError:
        return 0


def _text(info: Any, handle: int, query: int) -> tuple[int, str]:
    """A string that an info function answers, and its code."""
    size = ctypes.c_size_t(0)
    code = info(_P(handle), _U(query), ctypes.c_size_t(0), None, ctypes.byref(size))
    if code or not 0 < size.value < 1 << 20:
        return code, ""
    room = ctypes.create_string_buffer(size.value)
    code = info(_P(handle), _U(query), size, ctypes.byref(room), None)
    return code, room.value.decode(errors="replace") if code == 0 else ""


def _refuse_signals_to_all() -> None:
    """kill(-1, …), by which a driver would end all processes of the machine, is refused: for root alone. Other users
    would have to give up programs that are set-uid, which drivers start."""
    if os.uname().machine not in _KILL:
        return
    architecture, number = _KILL[os.uname().machine]
    load, compare, end = 0x20, 0x15, 0x06
    allow, refuse = 0x7FFF0000, 0x50000 | errno.EPERM
    lines = [
        *((load, 0, 0, 4), (compare, 0, 5, architecture)),
        *((load, 0, 0, 0), (compare, 0, 3, number)),
        *((load, 0, 0, 16), (compare, 0, 1, 0xFFFFFFFF)),
        *((end, 0, 0, refuse), (end, 0, 0, allow)),
    ]  # instructions: code, lines to go on where it is so and where not, operand (struct sock_filter)
    program = ctypes.create_string_buffer(b"".join(struct.pack("=HBBI", *line) for line in lines))
    about = struct.pack("@HP", len(lines), ctypes.addressof(program))
    set_seccomp, filter_mode = 22, 2
    ctypes.CDLL(None).prctl(set_seccomp, filter_mode, about, 0, 0)


def main() -> None:
    mode, descriptor, reader, end_code, *names = sys.argv[1:]
    _refuse_signals_to_all()
    host = Host(int(descriptor), int(reader))
    modes: dict[str, Callable[..., None]] = {
        "loader": host.loader,
        "linked": host.linked,
        "linked_vendor": host.linked_vendor,
        "vendor": host.vendor,
        "together": host.together,
        "layer": host.layer,
    }
    modes[mode](*names)
    host.report(done=True)
    sys.exit(int(end_code))


if __name__ == "__main__":
    main()
