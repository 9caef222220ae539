"""An edit as the body of an A line, all but `A ` and the annotator, with a report of what such a line cannot hold.

A field may hold neither a line end nor `|||`, nor a `|` at a rim that would make the bars of a separator ambiguous;
a correction may not hold `||`, which separates alternatives, nor be the word `-NONE-`.  What a line means is
settled by reading it: an edit that would be read back as another is left out, a comment that would be is dropped.
"""

from __future__ import annotations

from dataclasses import replace

from grater.corpora.blocks import TokenRange, edit_name
from grater.corpora.format import Loss, Report
from grater.corpora.m2.fields import (
    COMMENT_AS_READ,
    CORRECTION_AS_READ,
    NO_COMMENT,
    NOOP,
    REQUIRED,
    REQUIRED_AS_READ,
    SEPARATOR,
    UNCORRECTED,
    UNKNOWN,
    comment_field,
    comment_of,
    correction_of,
    replacements_of,
)
from grater.model import Edit

OURS = frozenset({CORRECTION_AS_READ, REQUIRED_AS_READ, COMMENT_AS_READ})


def annotation_body(
    edit: Edit, found: TokenRange, words: str, *, essay_id: str, name: str, report: Report
) -> str | None:
    """The body for an edit of `words`, or nothing where no line says it; reports call it `name`."""
    tag = edit.tag
    if not found.replacements and tag not in UNCORRECTED:
        why = f"M2 can say 'found but not corrected' only with the tag {UNKNOWN}; the tag {tag!r} is lost"
        report(Loss(essay_id, name, why, changed=True))
        tag = UNKNOWN
    correction = _correction(edit, found, words)
    required = edit.extra.get(REQUIRED_AS_READ, REQUIRED)
    fields = [f"{found.start} {found.end}", tag, correction, required if isinstance(required, str) else REQUIRED]
    if tag == NOOP or replacements_of(correction, tag=tag, words=words) != found.replacements or not _is_safe(fields):
        report(Loss(essay_id, name, "an A line that said it would be read as something else"))
        return None
    _report_extra(edit, name, essay_id, report)
    return SEPARATOR.join((*fields, _comment(edit, name, essay_id, report)))


def on_one_line(edit: Edit, essay_id: str, report: Report) -> Edit:
    """The edit with its line ends changed to spaces."""
    texts = (*edit.replacements, edit.tag, edit.comment)
    if not any("\n" in text for text in texts):
        return edit
    report(Loss(essay_id, edit_name(edit), "it holds a line end, which became a space", changed=True))
    *replacements, tag, comment = (text.replace("\n", " ") for text in texts)
    return replace(edit, replacements=tuple(replacements), tag=tag, comment=comment)


def _correction(edit: Edit, found: TokenRange, words: str) -> str:
    """The correction as it was read, if that is still what it means, else in our spelling."""
    as_read = edit.extra.get(CORRECTION_AS_READ)
    if isinstance(as_read, str) and replacements_of(as_read, tag=edit.tag, words=words) == found.replacements:
        return as_read
    return correction_of(found.replacements, words=words)


def _comment(edit: Edit, name: str, essay_id: str, report: Report) -> str:
    field = comment_field(edit.comment)
    if not edit.comment and isinstance(as_read := edit.extra.get(COMMENT_AS_READ), str) and not comment_of(as_read):
        return as_read
    if comment_of(field) == edit.comment and _is_safe([field]):
        return field
    report(Loss(essay_id, f"comment of {name}", "an A line that held it would be read as something else"))
    return NO_COMMENT


def _is_safe(fields: list[str]) -> bool:
    """Whether the fields are read back as they are, whatever fields come before and after."""
    line = SEPARATOR.join(["", *fields, ""])
    return "\n" not in line and line.split(SEPARATOR) == ["", *fields, ""]


def _report_extra(edit: Edit, name: str, essay_id: str, report: Report) -> None:
    others = sorted(edit.extra.keys() - OURS)
    if others:
        report(Loss(essay_id, f"{', '.join(others)} of {name}", "M2 has no place for it"))
