"""Corrected sentences out of annotated ones, for GLEU, which compares texts and not edits.

Every annotator of a sentence gives one text: each edit's first alternative in place of its words, words joined by
single spaces.  An edit without a correction changes nothing.  Of edits that overlap, the first in the text counts (of
those that begin together, the first in the file); insertions at one place all count, in the order of the file.
"""

from __future__ import annotations

from collections.abc import Iterable

from grater.model import Edit, Essay


def corrected_texts(essay: Essay) -> dict[str, str]:
    """The sentence as each annotator wants it; as it stands where nobody is known to have read it."""
    if not essay.annotators:
        return {"0": " ".join(essay.text.split())}
    return {
        annotator: _corrected(essay.text, [edit for edit in essay.edits if edit.rater == annotator])
        for annotator in essay.annotators
    }


def _corrected(text: str, edits: Iterable[Edit]) -> str:
    parts, at = list[str](), 0
    for edit in sorted(edits, key=lambda edit: (edit.span.start, len(edit.span) > 0)):
        if edit.span.start < at or not edit.replacements:
            continue
        parts += [text[at : edit.span.start], f" {edit.replacements[0]} "]
        at = edit.span.end
    return " ".join("".join([*parts, text[at:]]).split())
