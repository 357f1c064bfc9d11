# SPDX-License-Identifier: Apache-2.0
"""Reads the OpenCL-Headers and gives every function with its C signature, and the slots of the dispatch table.

The C preprocessor runs over the headers with two stand-in system headers, pycparser parses the result. No list of
functions is kept anywhere in the project: what the headers declare is what exists.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pycparser import c_ast, c_generator, c_parser

from harness.api import families
from harness.errors import UsageError

SUPPLEMENT = Path(__file__).with_name("supplement.h")

# Bytes of an address, of a size_t and of an intptr_t.
ADDRESS = {64: 8, 32: 4}


def _stand_ins(address: int) -> dict[str, str]:
    """What the OpenCL-Headers need of the system, so that the parser meets no compiler extension."""
    long, word = "long" if address == 8 else "long long", "long" if address == 8 else "int"
    return {
        "stddef.h": f"typedef unsigned {word} size_t; typedef {word} ptrdiff_t; typedef {word} intptr_t;"
        f" typedef unsigned {word} uintptr_t;\n#define NULL ((void *)0)\n",
        "stdint.h": "#include <stddef.h>\ntypedef signed char int8_t; typedef unsigned char uint8_t;"
        " typedef short int16_t;"
        f" typedef unsigned short uint16_t; typedef int int32_t; typedef unsigned int uint32_t; typedef {long} int64_t;"
        f" typedef unsigned {long} uint64_t;\n#define INT32_MAX 0x7fffffff\n"
        f"#define INTPTR_MAX {(1 << (8 * address - 1)) - 1:#x}\n",
    }


# And of Windows': types of Direct3D.
_DIRECT3D = Path(__file__).with_name("direct3d")
WINDOWS = ("-D_WIN32", "-D__stdcall=")

READ = ("cl.h", "cl_gl.h", "cl_egl.h", "cl_ext.h", "cl_icd.h")
DEPRECATED = ("1_0", "1_1", "1_2", "2_0", "2_1", "2_2", "3_0")
UNIT = (
    "".join(f"#define CL_USE_DEPRECATED_OPENCL_{v}_APIS\n" for v in DEPRECATED)
    + "#define CL_ENABLE_BETA_EXTENSIONS 1\n#define __CL_HAS_ANON_STRUCT__ 1\n#define __CL_ANON_STRUCT__\n"
    + "".join(f"#include <CL/{name}>\n" for name in READ)
)


@dataclass(frozen=True)
class Parameter:
    """One parameter of an OpenCL function.

    `kind` is one of: handle, handles (array of handles, in), handle_out (handle or array of handles, out), string,
    strings (array of strings, in), properties (zero-terminated list, in), callback, errcode (the `errcode_ret` of a
    creating function), scalar_in (pointer to values, in), scalar_out (pointer to values, out), memory (untyped
    pointer), integer.
    `pointee` is the size in bytes of what a typed pointer points to, or 0; `size` that of the parameter itself.
    """

    name: str
    type: str
    kind: str
    handle: str
    pointee: int
    signed: bool
    size: int
    callback: str = ""


@dataclass(frozen=True)
class Function:
    """One OpenCL function: name, parameters in order, result type, and its slot in `cl_icd_dispatch` or None."""

    name: str
    result: str
    result_kind: str  # "void", "handle", "pointer", "signed", "unsigned"
    result_handle: str
    parameters: tuple[Parameter, ...]
    slot: int | None


@dataclass(frozen=True)
class Api:
    """What one set of headers declares. `slots` holds every table entry's name in slot order; `families` by type."""

    include: str
    functions: tuple[Function, ...]
    slots: tuple[str, ...]
    header_slots: int
    handles: tuple[str, ...]
    constants: dict[str, int]
    families: dict[str, families.Family]
    address: int  # bytes of an address


def _folder(include: Path | None) -> Path:
    """The folder that holds CL/cl.h."""
    for path in [include] if include else [Path("/usr/include"), Path("/usr/local/include")]:
        if (path / "CL" / "cl.h").is_file():
            return path
    where = include or "/usr/include or /usr/local/include"
    raise UsageError(
        f"no OpenCL-Headers (CL/cl.h) in {where}: install them (Debian: opencl-c-headers) or name their folder"
    )


def _preprocess(include: Path | None, compiler: str, address: int, *flags: str) -> str:
    if shutil.which(compiler) is None:
        raise UsageError(f"no C compiler '{compiler}': install gcc or clang, or set CC")
    with tempfile.TemporaryDirectory(prefix="clharness-api-") as folder:
        stand_ins = _stand_ins(address) | {path.name: path.read_text() for path in _DIRECT3D.glob("*.h")}
        for name, text in stand_ins.items():
            (Path(folder) / name).write_text(text)
        unit = Path(folder) / "unit.c"
        unit.write_text(UNIT)
        command = [
            compiler,
            "-E",
            "-P",
            "-nostdinc",
            "-U__SSE__",
            "-U__SSE2__",
            "-U__MMX__",
            "-U__AVX__",
            "-U__GNUC__",
        ]
        # -I, not -isystem: a compiler may have folders of the latter kind of its own, and those would come first.
        command += ["-D__attribute__(x)=", "-D__extension__=", "-D_Pragma(x)=", "-I", folder, *flags]
        # Only the CL folder: the rest of the system's headers must not be seen.
        (Path(folder) / "CL").symlink_to((_folder(include) / "CL").resolve())
        done = subprocess.run([*command, str(unit)], capture_output=True, text=True)
    if done.returncode:
        raise UsageError(f"the OpenCL-Headers do not preprocess:\n{done.stderr.strip()}")
    return done.stdout


class _Types:
    """Resolves typedef names of one translation unit."""

    SIZES = {"char": 1, "short": 2, "int": 4, "long": 8, "float": 4, "double": 8}  # of 64-bit types: long, or long long

    def __init__(self, unit: c_ast.FileAST, address: int) -> None:
        self.address = address
        self.typedefs = {node.name: node.type for node in unit.ext if isinstance(node, c_ast.Typedef)}
        self.generator = c_generator.CGenerator()

    def resolve(self, node: c_ast.Node) -> c_ast.Node:
        """The type that typedef names stand for; qualifiers of the outermost level are kept by the caller."""
        while isinstance(node, c_ast.TypeDecl) and isinstance(node.type, c_ast.IdentifierType):
            name = node.type.names[-1]
            if name not in self.typedefs:
                return node
            node = self.typedefs[name]
        return node

    def name(self, node: c_ast.Node) -> str:
        """The identifier that a type was written with, or an empty string."""
        if isinstance(node, c_ast.TypeDecl) and isinstance(node.type, c_ast.IdentifierType):
            return str(node.type.names[-1])
        return ""

    def is_handle(self, node: c_ast.Node) -> bool:
        """A typedef of a pointer to an opaque struct `_cl_…`: the objects of OpenCL."""
        target = self.resolve(node)
        return (
            self.name(node).startswith("cl_")
            and isinstance(target, c_ast.PtrDecl)
            and isinstance(target.type, c_ast.TypeDecl)
            and isinstance(target.type.type, c_ast.Struct)
            and target.type.type.decls is None
        )

    def size(self, node: c_ast.Node) -> int:
        target = self.resolve(node)
        if isinstance(target, c_ast.PtrDecl):
            return self.address
        if isinstance(target, c_ast.TypeDecl) and isinstance(target.type, c_ast.IdentifierType):
            names = target.type.names
            return next((self.SIZES[n] for n in names if n in self.SIZES), 4 if "unsigned" in names else 0)
        return 4 if isinstance(target, c_ast.TypeDecl) and isinstance(target.type, c_ast.Enum) else 0

    def signed(self, node: c_ast.Node) -> bool:
        target = self.resolve(node)
        return (
            isinstance(target, c_ast.TypeDecl)
            and isinstance(target.type, c_ast.IdentifierType)
            and "unsigned" not in target.type.names
        )

    def text(self, node: c_ast.Node, name: str = "") -> str:
        """C text of a declaration of `name` with this type."""
        declared = c_ast.Decl(name, [], [], [], [], _renamed(node, name), None, None)
        return str(self.generator.visit(declared))


def _renamed(node: c_ast.Node, name: str) -> c_ast.Node:
    """A copy of a declarator chain that declares `name`."""
    if isinstance(node, c_ast.TypeDecl):
        return c_ast.TypeDecl(name or None, node.quals, node.align, node.type)
    copy = {key: getattr(node, key) for key in node.__slots__ if key not in ("coord", "__weakref__")}
    copy["type"] = _renamed(node.type, name)
    return type(node)(**copy)


def _parameter(types: _Types, node: c_ast.Decl | c_ast.Typename, position: int) -> Parameter:
    name = node.name or f"arg{position}"
    declared = node.type
    if isinstance(declared, c_ast.ArrayDecl):  # `const size_t origin[3]` is a pointer
        declared = c_ast.PtrDecl([], declared.type)
    target = types.resolve(declared)
    # `const cl_x *` hides its const in the declared type; after resolve of `cl_x` it would be lost.
    kind, handle, pointee, callback = "integer", "", 0, ""
    if types.is_handle(declared):
        kind, handle = "handle", types.name(declared)
    elif isinstance(target, c_ast.PtrDecl):
        inner = target.type
        const = isinstance(inner, c_ast.TypeDecl) and "const" in inner.quals
        pointed = types.resolve(inner)
        pointee = types.size(inner)
        base = pointed.type.names if isinstance(pointed, c_ast.TypeDecl) and hasattr(pointed.type, "names") else []
        if isinstance(pointed, c_ast.FuncDecl):
            kind, pointee = "callback", 0
            callback = types.text(c_ast.PtrDecl([], pointed), "callback")
        elif types.is_handle(inner):
            kind, handle = ("handles" if const else "handle_out"), types.name(inner)
        elif base == ["char"] and types.name(inner) == "char":
            kind = "string" if const else "scalar_out"
        elif isinstance(pointed, c_ast.PtrDecl) and types.name(pointed.type) == "char":
            kind = "strings"
        elif name == "errcode_ret":
            kind = "errcode"
        elif const and "propert" in types.name(inner):
            kind = "properties"
        elif base == ["void"] or not pointee:
            kind, pointee = "memory", 0
        else:
            kind = "scalar_in" if const else "scalar_out"
    size, signed = types.size(declared), types.signed(declared)
    return Parameter(name, types.text(declared, name), kind, handle, pointee, signed, size, callback)


def _function(types: _Types, name: str, node: c_ast.FuncDecl, slot: int | None) -> Function:
    nodes = node.args.params if node.args else []
    nodes = [n for n in nodes if not (isinstance(n, c_ast.Typename) and types.text(n.type).strip() == "void")]
    result = node.type
    resolved = types.resolve(result)
    if isinstance(resolved, c_ast.PtrDecl):
        kind = "handle" if types.is_handle(result) else "pointer"
    elif types.text(result).strip() == "void":
        kind = "void"
    else:
        kind = "signed" if types.signed(result) else "unsigned"
    return Function(
        name=name,
        result=types.text(result).strip(),
        result_kind=kind,
        result_handle=types.name(result) if kind == "handle" else "",
        parameters=tuple(_parameter(types, n, i) for i, n in enumerate(nodes)),
        slot=slot,
    )


def _members(node: c_ast.Struct) -> Iterator[tuple[str, c_ast.Node]]:
    """Name and type of each table entry; of an anonymous union (entry or ICD 2 tag) the first member."""
    for member in node.decls:
        if isinstance(member.type, c_ast.Union):
            first = member.type.decls[0]
            yield first.name, first.type
        else:
            yield member.name, member.type


def _struct(unit: c_ast.FileAST, tag: str) -> c_ast.Struct:
    for node in unit.ext:
        kind = node.type
        while isinstance(kind, c_ast.TypeDecl):
            kind = kind.type
        if isinstance(kind, c_ast.Struct) and kind.name == tag and kind.decls:
            return kind
    raise UsageError(f"the OpenCL-Headers declare no 'struct {tag}' (CL/cl_icd.h): they are older than 2020")


def _constants(text: str) -> dict[str, int]:
    """Integer constants among the `#define CL_…` lines; names that refer to other names are resolved."""
    constants: dict[str, int] = {}
    pending = dict(re.findall(r"^#define (CL_\w+) (.+)$", text, re.M))
    token = re.compile(r"\b0[xX][0-9a-fA-F]+\b|\b\d+\b|<<|[-|~+() ]")
    for _ in range(4):
        for name, value in list(pending.items()):
            value = re.sub(r"\b(CL_\w+)\b", lambda m: str(constants.get(m[1], m[1])), value)
            value = re.sub(r"\b(0[xX][0-9a-fA-F]+|\d+)[uUlL]+\b", r"\1", value)
            value = re.sub(r"\((cl_\w+|size_t|intptr_t)\)", "", value)
            if not token.sub("", value):
                try:
                    constants[name] = int(eval(value, {"__builtins__": {}}))
                except (SyntaxError, TypeError):
                    continue
                del pending[name]
    return constants


def read(include: Path | None = None, compiler: str = "cc", windows: bool = False, bits: int = 64) -> Api:
    """Reads the headers below `include` (default: the system's), as they are for Windows where that is wanted, and for
    addresses of so many bits; raises UsageError that says what is missing."""
    flags, address = WINDOWS if windows else (), ADDRESS[bits]
    text = _preprocess(include, compiler, address, *flags) + SUPPLEMENT.read_text()
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    text = "\n".join(line for line in text.splitlines() if not line.startswith("#"))
    unit = c_parser.CParser().parse(text, "OpenCL-Headers")
    types = _Types(unit, address)

    table = list(_members(_struct(unit, "_cl_icd_dispatch")))
    header_slots = len(table)
    named = {name for name, _ in table}
    table += [m for m in _members(_struct(unit, "clharness_table_tail")) if m[0] not in named]
    slots = {name: i for i, (name, _) in enumerate(table)}

    functions: dict[str, Function] = {}
    for node in unit.ext:
        if isinstance(node, c_ast.Decl) and isinstance(node.type, c_ast.FuncDecl) and re.match(r"cl[A-Z]", node.name):
            functions.setdefault(node.name, _function(types, node.name, node.type, slots.get(node.name)))
    for name, node in table:  # entries without a prototype of their own
        if name not in functions:
            target = types.resolve(node)
            target = types.resolve(target.type) if isinstance(target, c_ast.PtrDecl) else target
            if isinstance(target, c_ast.FuncDecl):
                functions[name] = _function(types, name, target, slots[name])
    handles = sorted(
        {n for n in types.typedefs if types.is_handle(c_ast.TypeDecl(n, [], None, c_ast.IdentifierType([n])))}
    )
    ordered = sorted(functions.values(), key=lambda f: (f.slot is None, f.slot or 0, f.name))
    supplement = SUPPLEMENT.read_text()
    constants = _constants(supplement) | _constants(_preprocess(include, compiler, address, *flags, "-dM"))
    texts = [(_folder(include) / "CL" / name).read_text(errors="replace") for name in READ]
    known = families.read([*texts, supplement], constants)
    read_from = str(include or "system")
    return Api(read_from, tuple(ordered), tuple(slots), header_slots, tuple(handles), constants, known, address)
