"""Characters that mean something to SGML: resolved on reading, and hidden on writing where they would be misread.

The five named references of XML and numeric references are known; a `&` that begins none of them is itself.
"""

from __future__ import annotations

import re
from collections.abc import Collection

NAME = r"[A-Za-z][A-Za-z0-9_.-]*"
REFERENCE = re.compile(r"&(?:(lt|gt|amp|quot|apos)|#([0-9]{1,7})|#[xX]([0-9A-Fa-f]{1,6}));")
NAMED = {"lt": "<", "gt": ">", "amp": "&", "quot": '"', "apos": "'"}
LIKE_A_TAG = re.compile(rf"<(?=/?(?P<name>{NAME})[ \t\r/>])")
END_OF_LINE = re.compile(r"\r(?=\n|\Z)")
IN_QUOTES = str.maketrans({'"': "&quot;", "<": "&lt;", ">": "&gt;", "\n": "&#10;", "\r": "&#13;"})
FIRST_SURROGATE, PAST_SURROGATES, PAST_UNICODE = 0xD800, 0xE000, 0x110000


def decoded(words: str) -> str:
    """The words with their references resolved; one to no character (a surrogate, 0) is left as it is."""
    return REFERENCE.sub(_character, words) if "&" in words else words


def _character(match: re.Match[str]) -> str:
    named, decimal, hexadecimal = match.groups()
    if named:
        return NAMED[named]
    code = int(decimal) if decimal else int(hexadecimal, 16)
    is_character = 0 < code < FIRST_SURROGATE or PAST_SURROGATES <= code < PAST_UNICODE
    return chr(code) if is_character else match[0]


def escaped(text: str, *, tags: Collection[str]) -> str:
    """Text as it may stand between two tags, where these tags (in capitals) would end it."""
    if "&" in text:
        text = REFERENCE.sub(_literal, text)
    if "<" in text:
        text = LIKE_A_TAG.sub(lambda match: "&lt;" if match["name"].upper() in tags else "<", text)
    # A line may end in `\r\n`: a `\r` of the text before a line end would be taken for part of it.
    return END_OF_LINE.sub("&#13;", text) if "\r" in text else text


def _literal(match: re.Match[str]) -> str:
    return match[0] if _character(match) == match[0] else "&amp;" + match[0][1:]


def quoted(value: str) -> str:
    """The value of an attribute, in its quotes."""
    return f'"{REFERENCE.sub(_literal, value).translate(IN_QUOTES)}"'
