# SPDX-License-Identifier: Apache-2.0
"""Text that a subject or a stranger chose, made harmless where it is shown: the one place for all of it.

Names of platforms and files, messages, paths: each may hold control sequences, characters that turn the direction of
what stands around them, line breaks, and the end of whatever it is quoted in.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

# Control characters but newline and tab, halves of characters that stand for bytes which were no text, and characters
# that are not seen but act: separators of lines, directions of text, joiners.
_ACTING = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u0600-\u0605\u061c\u06dd\u070f\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    "\ud800-\udfff\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)
# What XML 1.0 cannot hold, in whatever form.
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

_COMMAND = re.compile(r"^([^\S\n]*)::", re.MULTILINE)


def _spelt_out(match: re.Match[str]) -> str:
    code = ord(match.group())
    if 0xDC80 <= code <= 0xDCFF:  # a byte, as Python has it in names of files
        code -= 0xDC00
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def printable(text: str) -> str:
    """Several lines for a terminal; every character that acts, but newline and tab, is spelt out."""
    return _ACTING.sub(_spelt_out, text)


def one_line(text: str) -> str:
    """The same as one line: a name, a path."""
    return printable(text.replace("\n", "\\n").replace("\t", "\\t"))


def no_command(text: str, environ: Mapping[str, str] = os.environ) -> str:
    """Lines that the runner of GitHub Actions takes for no commands: those begin with ::, or have ##[ inside."""
    if environ.get("GITHUB_ACTIONS") != "true":
        return text
    return _COMMAND.sub(r"\1: :", text).replace("##[", "# #[")


def xml(text: str) -> str:
    """Text for a writer of XML, which quotes the rest."""
    return _NOT_XML.sub(_spelt_out, printable(text))


def markdown(text: str) -> str:
    """Text for a line or a cell of a table that Markdown and HTML leave as it is."""
    import html  # no other command needs its table of 2,200 names

    clean = html.escape(printable(text), quote=False).replace("\n", " ")
    for special in "\\|*_`[]":
        clean = clean.replace(special, "\\" + special)
    return clean


def markdown_code(text: str) -> str:
    """The same as code, which can be copied."""
    return f"`{one_line(text)}`" if "`" not in text else markdown(text)


def c_string(text: str) -> str:
    """A literal of C, with its quotes; any byte arrives as it is."""
    plain = set(range(0x20, 0x7F)) - set(b'"\\?')  # `?` may begin a trigraph
    data = text.encode(errors="surrogateescape")
    return '"' + "".join(chr(byte) if byte in plain else f"\\{byte:03o}" for byte in data) + '"'


def c_comment(text: str) -> str:
    """Lines within a comment of C that is open: it goes on after them, and none continues or ends it."""
    return printable(text).replace("*/", "* /").replace("/*", "/ *").replace("??/", "? ?/").replace("\\\n", "\\ \n")
