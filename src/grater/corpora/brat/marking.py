"""The lines of an `.ann` file from the edits of one annotator."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import count

from grater.corpora.brat.annotations import DOCUMENT, MARK_ID, brat_type
from grater.corpora.brat.notes import make_note
from grater.corpora.brat.spans import cover, fragments_in, joined, quoted, shown, widened
from grater.corpora.format import Loss, Report
from grater.errors import GraterError
from grater.model import Edit, Essay, Json, Span

# JSON escapes every other character that some tool takes for the end of a line.
LINE_ENDS = {0x85: "\\u0085", 0x2028: "\\u2028", 0x2029: "\\u2029"}


def annotation_lines(
    essay: Essay, edits: Sequence[Edit], about: Mapping[str, Json], others: Sequence[str], report: Report
) -> Iterator[str]:
    """The note about the document, the marks with their notes, and other lines whose marks are there."""
    note_ids = _ids("#", {line.split("\t")[0] for line in others})
    if about:
        yield f"{next(note_ids)}\tGrater {DOCUMENT}\t{_as_json(essay, about)}\n"
    written: set[str] = set()
    for mark_id, edit in _with_ids(edits):
        fragments = _fragments(essay, edit, report)
        if fragments:
            written.add(mark_id)
            yield _mark(mark_id, edit, fragments, essay.text)
            yield from _notes(mark_id, edit, cover(fragments), essay, note_ids, report)
    for line in others:
        if set(MARK_ID.findall(line.split("\t")[1])) <= written:
            yield f"{line}\n"
        else:
            report(Loss(essay.essay_id, f"brat line {line!r}", "it speaks of a mark that is no longer there"))


def _ids(letter: str, taken: Collection[str]) -> Iterator[str]:
    return (name for name in (f"{letter}{number}" for number in count(1)) if name not in taken)


def _with_ids(edits: Sequence[Edit]) -> Iterator[tuple[str, Edit]]:
    """The id that an edit came with, as long as it is lawful and its own; else a free one."""
    own = [_own_id(edit) for edit in edits]
    free = _ids("T", {mark_id for mark_id in own if mark_id})
    for number, edit in enumerate(edits):
        mark_id = own[number]
        yield (mark_id if mark_id and mark_id not in own[:number] else next(free)), edit


def _own_id(edit: Edit) -> str | None:
    match edit.extra.get("brat"):
        case {"id": str(mark_id)} if re.fullmatch(r"T[0-9]\w*", mark_id, re.ASCII):
            return mark_id
    return None


def _fragments(essay: Essay, edit: Edit, report: Report) -> list[Span]:
    own = _own_fragments(edit, essay.text)
    if own:
        return own
    match edit.extra.get("brat"):
        case {"fragments": _}:
            report(Loss(essay.essay_id, f"fragments of {_name(edit)}", "they do not make up its span"))
    fragments = shown(essay.text, edit.span)
    if not fragments:
        report(Loss(essay.essay_id, _name(edit), "brat marks words, and the text has none"))
    return fragments


def _own_fragments(edit: Edit, text: str) -> list[Span]:
    """The pieces of a discontinuous mark, where they still make up the span."""
    match edit.extra.get("brat"):
        case {"fragments": [*pairs]}:
            spans = [span for pair in pairs for span in _as_span(pair)]
            pieces = [piece for span in spans for piece in fragments_in(text, span)]
            if len(pieces) > 1 and cover(pieces) == edit.span and joined(text, pieces) == spans:
                return pieces
    return []


def _as_span(pair: Json) -> Iterator[Span]:
    match pair:
        case [int(start), int(end)]:
            yield Span(start, end)


def _mark(mark_id: str, edit: Edit, fragments: Sequence[Span], text: str) -> str:
    places = ";".join(f"{fragment.start} {fragment.end}" for fragment in fragments)
    return f"{mark_id}\t{brat_type(edit.tag)} {places}\t{quoted(text, fragments)}\n"


def _notes(
    mark_id: str, edit: Edit, wide: Span, essay: Essay, note_ids: Iterator[str], report: Report
) -> Iterator[str]:
    replacements = edit.replacements
    if wide != edit.span:
        why = "brat marks at least a word, and no line end: shown beside it, with its own place in a note"
        report(Loss(essay.essay_id, _name(edit), why, changed=True))
    if wide.covers(edit.span):
        replacements = tuple(widened(essay.text, edit.span, wide, text) for text in replacements)
    note = make_note(replacements, edit.comment)
    if note:
        yield f"{next(note_ids)}\tAnnotatorNotes {mark_id}\t{note}\n"
    kept = _kept(edit, wide, essay, report)
    if kept:
        yield f"{next(note_ids)}\tGrater {mark_id}\t{_as_json(essay, kept)}\n"


def _kept(edit: Edit, wide: Span, essay: Essay, report: Report) -> dict[str, Json]:
    """What brat has no place for."""
    kept: dict[str, Json] = {}
    if brat_type(edit.tag) != edit.tag:
        kept["tag"] = edit.tag
    if wide != edit.span:
        kept["span"] = [edit.span.start, edit.span.end]
    extra = {key: value for key, value in edit.extra.items() if key != "brat"}
    if extra:
        kept["extra"] = extra
    brat = edit.extra.get("brat", {})
    if not isinstance(brat, dict) or brat.keys() - {"id", "fragments"}:
        report(Loss(essay.essay_id, f"brat of {_name(edit)}", "it holds more than an id and fragments"))
    return kept


def _name(edit: Edit) -> str:
    return f"edit {edit.span.start}-{edit.span.end} {edit.tag}"


def _as_json(essay: Essay, value: Mapping[str, Json]) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False).translate(LINE_ENDS)
    except (TypeError, ValueError, RecursionError) as error:
        raise GraterError(f"essay {essay.essay_id}: cannot be written as JSON: {error}") from error
