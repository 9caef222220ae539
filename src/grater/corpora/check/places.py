"""Edits in a place where they should not be: twice over, or across two sentences.

Overlaps and a second tag on one span are lawful (NUCLE paper, sections 2 and 4); the same span, tag and correction
twice by one rater is not.  Half of the per-sentence study rests on edits that lie inside one sentence (section 5), so
those that do not are named.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from grater.corpora.check.finding import Finding, described
from grater.model import Edit, Essay, Span
from grater.text.sentences import sentences_of


def is_duplicate(essay: Essay) -> Iterator[Finding]:
    by_content: defaultdict[tuple[Span, str, tuple[str, ...], str], list[Edit]] = defaultdict(list)
    for edit in essay.edits:
        by_content[edit.span, edit.tag, edit.replacements, edit.rater].append(edit)
    for first, *others in by_content.values():
        for edit in others:
            where = f" at line {first.line}" if first.line is not None else ""
            message = f"the same edit by {edit.rater!r} stands already{where}: {described(edit, essay)}"
            yield Finding("duplicate", essay.essay_id, edit.line, message)


def crosses_sentences(essay: Essay) -> Iterator[Finding]:
    """An edit that has characters of two sentences."""
    if essay.tokens is not None or not essay.edits:
        return
    sentences = sentences_of(essay)
    for edit in essay.edits:
        n_touched = sum(edit.span.start < sentence.end and sentence.start < edit.span.end for sentence in sentences)
        if n_touched > 1:
            message = f"the span runs over {n_touched} sentences: {described(edit, essay)}"
            yield Finding("across-sentences", essay.essay_id, edit.line or essay.line, message)
