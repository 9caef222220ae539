"""Suspicious whitespace, and characters that nobody sees.

Annotators may mark the space beside a word, and a deletion that takes it along is right; so an edit is judged by what
it makes of the text.  Suspicious is one that glues two words together, doubles a space, or has a line end, tab or
double space inside its correction.  In tokenised text (M2) a correction has no spaces at its ends.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator

from grater.corpora.check.finding import Finding, described
from grater.model import Edit, Essay

ODD = re.compile(
    "[\\x00-\\x09\\x0b-\\x1f\\x7f-\\xa0\\xad\\u200b\\u200e\\u200f\\u2028\\u2029\\u202a-\\u202e\\u2060\\ufeff\\ufffd]"
)
"""Controls but for the line feed, no-break and zero-width space, soft hyphen, marks of direction, the replacement
character.  Joiners stay: emoji need them."""

NAMES = {
    "\t": "tab",
    "\r": "carriage return",
    "\x85": "next line",
    "\xa0": "no-break space",
    "\xad": "soft hyphen",
    "\u200b": "zero-width space",
    "\ufeff": "byte-order mark",
    "\ufffd": "replacement character: the text was decoded wrongly once",
}


def has_odd_characters(essay: Essay) -> Iterator[Finding]:
    """One finding for an essay, however many there are."""
    counted = Counter(ODD.findall(essay.text))
    if counted:
        found = ", ".join(f"{_named(character)} ({n} times)" for character, n in counted.items())
        yield Finding("odd-characters", essay.essay_id, essay.line, f"the text holds {found}")


def has_odd_correction(edit: Edit, essay: Essay) -> str | None:
    found = dict.fromkeys(character for words in edit.replacements for character in ODD.findall(words))
    if not found:
        return None
    return f"the correction holds {', '.join(map(_named, found))}: {described(edit, essay)}"


def _named(character: str) -> str:
    name = NAMES.get(character) or unicodedata.name(character, "control character").lower()
    return f"U+{ord(character):04X} {name}"


def has_odd_whitespace(edit: Edit, essay: Essay) -> str | None:
    for replacement in edit.replacements:
        trouble = _inside(replacement) or _at_ends(replacement, edit, essay)
        if trouble:
            return f"{trouble}: {described(edit, essay)}"
    return None


def _inside(replacement: str) -> str:
    if "\n" in replacement:
        return "the correction runs over a line end"
    return "the correction holds a double space" if "  " in replacement.strip() else ""


def _at_ends(replacement: str, edit: Edit, essay: Essay) -> str:
    if essay.tokens is not None:
        return "the correction begins or ends with a space" if replacement != replacement.strip() else ""
    words = edit.span.of(essay.text)
    before, after = essay.text[: edit.span.start][-1:], essay.text[edit.span.end :][:1]
    if not replacement:
        return _of_deletion(words, before, after)
    return _of_seam(before, words[:1], replacement[0]) or _of_seam(after, words[-1:], replacement[-1])


def _of_deletion(words: str, before: str, after: str) -> str:
    """A space alone may be deleted: the two words were one."""
    is_gluing = words.strip() not in ("", words) and before.isalnum() and after.isalnum()
    return "the deletion glues two words together" if is_gluing else ""


def _of_seam(outer: str, old: str, new: str) -> str:
    """What happens where the edit meets the text: the character outside, and the outermost of span and correction."""
    if outer.isalnum() and old.isspace() and new.isalnum():
        return "the correction glues two words together"
    is_doubling = outer.isspace() and new.isspace() and not old.isspace()
    return "the correction doubles a space" if is_doubling else ""
