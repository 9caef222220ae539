"""The correction and comment of an edit as a note that a person can read and type (grammar in the package)."""

from __future__ import annotations

import re

from grater.model import DELETE

ARROW = "=>"
UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff\ud800-\udfff]")
ESCAPE = re.compile(r"\\(?:u([0-9a-f]{4})|(.))")
SHORT = {"n": "\n", "r": "\r", "t": "\t", "s": " "}
LONG = {value: f"\\{key}" for key, value in SHORT.items() if key != "s"}
THEMSELVES = "\\|/-"


def make_note(replacements: tuple[str, ...], comment: str) -> str:
    """The note of an edit; empty where there is nothing to say."""
    if not replacements and _is_plain(comment):
        return comment
    corrections = " || ".join(_correction(text) for text in replacements)
    return " ".join([ARROW, *([corrections] if corrections else []), *(["//", _escaped(comment)] if comment else [])])


def _is_plain(comment: str) -> bool:
    return not UNSAFE.search(comment) and comment == comment.strip() and not comment.startswith(ARROW)


def _correction(text: str) -> str:
    if text in ("", DELETE):
        return DELETE if text == "" else f"\\{DELETE}"
    return _escaped(text).replace("||", "\\|\\|").replace("//", "\\/\\/")


def _escaped(text: str) -> str:
    text = UNSAFE.sub(lambda match: LONG.get(match[0], f"\\u{ord(match[0]):04x}"), text.replace("\\", "\\\\"))
    inside = text.strip(" ")
    n_left = len(text) - len(text.lstrip(" "))
    n_right = len(text) - len(inside) - n_left
    return "\\s" * n_left + inside + "\\s" * n_right


def parse_note(note: str) -> tuple[tuple[str, ...], str]:
    """The replacements and the comment of a note; a note without an arrow is all comment, as it stands."""
    if not note.startswith(ARROW):
        return (), note
    corrections, _, comment = f" {note.removeprefix(ARROW)} ".partition(" // ")
    pieces = [piece.strip(" ") for piece in corrections.split(" || ")]
    replacements = tuple("" if piece == DELETE else _unescaped(piece) for piece in pieces if piece)
    return replacements, _unescaped(comment.strip(" "))


def _unescaped(text: str) -> str:
    return ESCAPE.sub(_meaning, text)


def _meaning(match: re.Match[str]) -> str:
    code, letter = match.groups()
    if code:
        return chr(int(code, 16))
    if letter in SHORT:
        return SHORT[letter]
    return str(letter) if letter in THEMSELVES else match[0]
