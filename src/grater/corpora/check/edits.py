"""Rules on one edit: whether it changes what it should, stands where it should, and holds only visible characters.

`Rloc` that removes nothing is the NUCLE annotators' own review rule (Dahlmeier, Ng and Wu 2013, section 4:
"redundancy errors that did not remove the annotated word").  A correction that puts a space between two words,
or takes it away, changes something: only runs of whitespace and Unicode composition are levelled before two strings
are taken to be the same.

Annotators may mark the space beside a word, and a deletion that takes it along is right; so whitespace is judged by
what the edit makes of the text.  Suspicious is an edit that glues two words together, doubles a space, or has a line
end, tab or double space inside its correction.  In tokenised text (M2) a correction has no spaces at its ends.

Overlaps and a second tag on one span are allowed (sections 2 and 4); the same span, tag and correction twice by one
rater is not.  Half of the per-sentence study rests on edits that lie inside one sentence (section 5), so those that
do not are reported.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator

from grater.corpora.check.findings import Finding, described
from grater.corpora.text.sentences import sentences_of
from grater.model import Edit, Essay, Span

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
    before, after = _beside(edit.span, essay.text)
    level = _level(before + words + after)
    if not any(_level(before + replacement + after) == level for replacement in edit.replacements):
        return None
    return f"the correction changes only runs of spaces or the encoding of letters: {described(edit, essay)}"


def _beside(span: Span, text: str) -> tuple[str, str]:
    """The characters before and behind a span, empty at the ends of the text."""
    return text[max(0, span.start - 1) : span.start], text[span.end : span.end + 1]


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
    "\ufffd": "replacement character, a sign of wrong decoding",
}


def has_odd_characters(essay: Essay) -> Iterator[Finding]:
    """One finding for an essay, however many there are."""
    counted = Counter(ODD.findall(essay.text))
    if counted:
        names = ", ".join(f"{_named(character)} ({n} times)" for character, n in counted.items())
        yield Finding("odd-characters", essay.essay_id, essay.line, f"the text contains {names}")


def has_odd_correction(edit: Edit, essay: Essay) -> str | None:
    characters = dict.fromkeys(character for words in edit.replacements for character in ODD.findall(words))
    if not characters:
        return None
    return f"the correction contains {', '.join(map(_named, characters))}: {described(edit, essay)}"


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
        return "the correction contains a line end"
    return "the correction contains a double space" if "  " in replacement.strip() else ""


def _at_ends(replacement: str, edit: Edit, essay: Essay) -> str:
    if essay.tokens is not None:
        return "the correction begins or ends with a space" if replacement != replacement.strip() else ""
    words = edit.span.of(essay.text)
    before, after = _beside(edit.span, essay.text)
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


def is_duplicate(essay: Essay) -> Iterator[Finding]:
    by_content: defaultdict[tuple[Span, str, tuple[str, ...], str], list[Edit]] = defaultdict(list)
    for edit in essay.edits:
        by_content[edit.span, edit.tag, edit.replacements, edit.rater].append(edit)
    for first, *others in by_content.values():
        for edit in others:
            where = f" at line {first.line}" if first.line is not None else ""
            message = f"the same edit by {edit.rater!r} is already there{where}: {described(edit, essay)}"
            yield Finding("duplicate", essay.essay_id, edit.line, message)


def crosses_sentences(essay: Essay) -> Iterator[Finding]:
    """An edit that has characters of two sentences."""
    if essay.tokens is not None or not essay.edits:
        return
    sentences = sentences_of(essay)
    starts, ends = [sentence.start for sentence in sentences], [sentence.end for sentence in sentences]
    for edit in essay.edits:
        n_touched = bisect_left(starts, edit.span.end) - bisect_right(ends, edit.span.start)
        if n_touched > 1:
            message = f"the span covers {n_touched} sentences: {described(edit, essay)}"
            yield Finding("across-sentences", essay.essay_id, edit.line or essay.line, message)
