"""Errors planted in a good essay, so that marking can be graded by errors found (docs/crowd-jobs.md).

Each planted edit says what to write instead of the words in its span; the places of the errors are told in the new
text, as the gold of the marking task wants them: `120-124:Wcip`.  The essay stays out of all that is said about the
study's own essays: systems do not decide on it, no sample has it, and no other job asks about it unless it is named.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from grater.errors import UsageError
from grater.model import Edit, Essay, short_hash
from grater.store import Tx, essays

IS_PLANTED = "planted"
"""The metadata of an essay that says so; raters never see any."""


def own_essays(tx: Tx) -> Iterator[Essay]:
    """The essays of the study, but for those with planted errors."""
    return (essay for essay in essays.all(tx) if IS_PLANTED not in essay.metadata)


def plant(essay: Essay, edits: Sequence[Edit]) -> tuple[Essay, tuple[str, ...]]:
    """The essay with the errors in it, under an id that tells nothing, and where they stand."""
    text, places, shift, last = essay.text, [], 0, 0
    for edit in sorted(edits, key=lambda each: each.span):
        if edit.span.start < last or edit.span.end > len(essay.text) or not edit.replacements:
            raise UsageError(f"{essay.essay_id}: expected errors to plant side by side, each with its words")
        wrong, start = edit.replacements[0], edit.span.start + shift
        if wrong == edit.span.of(essay.text):
            raise UsageError(f"{essay.essay_id}: expected other words than {wrong[:40]!r} to plant, found the same")
        text = text[:start] + wrong + text[edit.span.end + shift :]
        places.append(f"{start}-{start + len(wrong)}:{edit.tag}")
        shift += len(wrong) - len(edit.span)
        last = edit.span.end
    told = {**essay.metadata, IS_PLANTED: True}
    bare = replace(essay, essay_id=short_hash(text), text=text, edits=(), annotators=(), tokens=None, metadata=told)
    return bare, tuple(places)
