"""Edits that do not change what they should.

`Rloc` that removes nothing is the NUCLE annotators' own review rule (Dahlmeier, Ng and Wu 2013, section 4:
"redundancy errors that did not remove the annotated word").  A correction that puts a space between two words,
or takes it away, changes something: only runs of whitespace and Unicode composition are levelled before two strings
are held to be the same.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Collection

from grater.corpora.check.finding import described
from grater.model import Edit, Essay

REDUNDANCY = ("Rloc", "Rloc-")
PIECE = re.compile(r"\w+|[^\w\s]")


def equals_text(edit: Edit, essay: Essay) -> str | None:
    if edit.span.of(essay.text) not in edit.replacements:
        return None
    if not len(edit.span):
        return f"inserts nothing: {described(edit, essay)}"
    return f"the correction equals the text: {described(edit, essay)}"


def changes_nothing(edit: Edit, essay: Essay) -> str | None:
    """Leaves to `equals_text` what is the same to the letter."""
    words = edit.span.of(essay.text)
    if words in edit.replacements:
        return None
    before, after = essay.text[: edit.span.start][-1:], essay.text[edit.span.end :][:1]
    level = _level(before + words + after)
    if not any(_level(before + replacement + after) == level for replacement in edit.replacements):
        return None
    return f"the correction changes nothing but runs of spaces or the coding of letters: {described(edit, essay)}"


def _level(words: str) -> str:
    return " ".join(unicodedata.normalize("NFC", words).split())


def keeps_redundancy(edit: Edit, essay: Essay) -> str | None:
    """A redundancy of which every word and mark is still there after the correction."""
    if edit.tag not in REDUNDANCY or not edit.replacements:
        return None
    pieces = _pieces(edit.span.of(essay.text))
    if all(pieces <= _pieces(replacement) for replacement in edit.replacements):
        return f"a redundancy that removes nothing: {described(edit, essay)}"
    return None


def _pieces(text: str) -> Counter[str]:
    return Counter(PIECE.findall(text.lower()))


def lacks_correction(edit: Edit, essay: Essay, *, exempt: Collection[str]) -> str | None:
    """No correction where the tag owes one; `exempt` are the tags that owe none."""
    if edit.replacements or edit.tag in exempt:
        return None
    return f"expected a correction, found none: {described(edit, essay)}"
