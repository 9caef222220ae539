"""One `.ann` file: the edits in it, what grater noted, and the lines that are neither."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from grater.corpora.brat.notes import parse_note
from grater.corpora.brat.spans import cover, joined, narrowed, quoted, shown
from grater.corpora.json_text import NotJson, parse_json
from grater.errors import Problems
from grater.model import Edit, Json, Span

DOCUMENT = "document"
"""What a Grater note speaks of when it speaks of the whole essay."""

TEXT_BOUND = re.compile(r"(T[0-9]\S*)\t(\S+) ([0-9]{1,9} [0-9]{1,9}(?:;[0-9]{1,9} [0-9]{1,9})*)\t(.*)", re.DOTALL)
NOTE = re.compile(r"#\S*\t(AnnotatorNotes|Grater) (\S+)\t(.*)", re.DOTALL)
OTHER = re.compile(r"(?:[A-Z#]\S*|\*)\t.+", re.DOTALL)
MARK_ID = re.compile(r"\bT[0-9]\w*")


@dataclass(frozen=True, slots=True)
class Annotations:
    """What a file says; the edits have no rater yet."""

    edits: tuple[Edit, ...] = ()
    about: Mapping[str, Json] | None = None
    others: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Mark:
    mark_id: str
    type: str
    fragments: list[Span]
    line: int


def brat_type(tag: str) -> str:
    """The type that a tag is shown as: letters, digits, `-` and `_` are all that brat takes."""
    return re.sub(r"[^A-Za-z0-9_-]", "_", tag) or "Edit"


def read_annotations(lines: Iterable[str], text: str, problems: Problems) -> Annotations:
    reader = _Reader(text, problems)
    for number, line in enumerate(lines, 1):
        reader.take(line.removesuffix("\n").removesuffix("\r"), number)
    return reader.annotations()


class _Reader:
    """The lines of one file, sorted by kind; notes may come before what they speak of."""

    def __init__(self, text: str, problems: Problems) -> None:
        self._text = text
        self._problems = problems
        self._marks: dict[str, _Mark] = {}
        self._notes: dict[str, re.Match[str]] = {}
        self._kept: dict[str, Mapping[str, Json]] = {}
        self._others: list[str] = []

    def take(self, line: str, number: int) -> None:
        note = NOTE.fullmatch(line)
        if line.startswith("T"):
            self._take_mark(line, number)
        elif note and note[1] == "Grater":
            self._take_grater_note(note[2], note[3], number)
        elif note and note[2].startswith("T") and note[2] not in self._notes:
            self._notes[note[2]] = note
        elif OTHER.fullmatch(line):
            self._others.append(line)
        elif line.strip("\ufeff \t"):
            expected = "expected a line of brat such as 'T1<tab>Type 0 5<tab>words'"
            self._problems.add(f"{expected}, found {line[:40]!r}", line=number)

    def _take_mark(self, line: str, number: int) -> None:
        try:
            mark = _mark(line, number, self._text)
            if mark.mark_id in self._marks:
                raise ValueError(f"expected each id once, found {mark.mark_id} again")
        except ValueError as wrong:
            self._problems.add(str(wrong), line=number)
        else:
            self._marks[mark.mark_id] = mark

    def _take_grater_note(self, target: str, note: str, number: int) -> None:
        try:
            kept = parse_json(note)
            if not _is_grater_note(kept, target, len(self._text)):
                raise NotJson(f"expected a note as grater writes it, found {note[:40]!r}; take the line out")
        except NotJson as wrong:
            self._problems.add(str(wrong), line=number)
        else:
            self._kept[target] = kept if isinstance(kept, dict) else {}

    def annotations(self) -> Annotations:
        others = self._others + [note[0] for target, note in self._notes.items() if target not in self._marks]
        spoken_of = {mark_id for line in others for mark_id in MARK_ID.findall(line)}
        edits = [self._edit(mark, is_spoken_of=mark.mark_id in spoken_of) for mark in self._marks.values()]
        return Annotations(tuple(edits), self._kept.get(DOCUMENT), tuple(others))

    def _edit(self, mark: _Mark, *, is_spoken_of: bool) -> Edit:
        note, kept = self._notes.get(mark.mark_id), self._kept.get(mark.mark_id, {})
        replacements, comment = parse_note(note[3] if note else "")
        fragments = joined(self._text, mark.fragments)
        tag = str(kept.get("tag", mark.type))
        edit = Edit(
            span=cover(fragments),
            replacements=replacements,
            tag=tag if brat_type(tag) == mark.type else mark.type,
            rater="",
            comment=comment,
            extra=_extra(kept.get("extra"), mark.mark_id if is_spoken_of else None, fragments),
            line=mark.line,
        )
        return _put_back(edit, kept.get("span"), self._text) if len(fragments) == 1 else edit


def _mark(line: str, number: int, text: str) -> _Mark:
    match = TEXT_BOUND.fullmatch(line)
    if match is None:
        raise ValueError(f"expected 'T1<tab>Type 0 5<tab>words', found {line[:40]!r}")
    pairs = [pair.split(" ") for pair in match[3].split(";")]
    fragments = [Span(int(start), int(end)) for start, end in pairs]
    edges = [edge for fragment in fragments for edge in (fragment.start, fragment.end)]
    if edges != sorted(edges) or edges[-1] > len(text):
        raise ValueError(f"expected fragments in order inside the text (0 to {len(text)}), found {match[3]}")
    expected = quoted(text, fragments)
    if quoted(match[4], [Span(0, len(match[4]))]) != expected:
        raise ValueError(f"expected the words at {match[3]}, {expected[:40]!r}, found {match[4][:40]!r}")
    return _Mark(match[1], match[2], fragments, number)


def _extra(kept: Json, mark_id: str | None, fragments: list[Span]) -> dict[str, Json]:
    brat: dict[str, Json] = {} if mark_id is None else {"id": mark_id}
    if len(fragments) > 1:
        brat["fragments"] = [[fragment.start, fragment.end] for fragment in fragments]
    extra = dict(kept) if isinstance(kept, dict) else {}
    return {**extra, "brat": brat} if brat else extra


def _put_back(edit: Edit, place: Json, text: str) -> Edit:
    """The edit on the span it was written for, unless somebody has changed its mark or its note since."""
    match place:
        case [int(start), int(end)]:
            span = Span(start, end)
        case _:
            return edit
    fragments = shown(text, span)
    if not fragments or cover(fragments) != edit.span:
        return edit
    if not edit.span.covers(span):
        return replace(edit, span=span)
    replacements = [narrowed(text, span, edit.span, replacement) for replacement in edit.replacements]
    whole = tuple(replacement for replacement in replacements if replacement is not None)
    return replace(edit, span=span, replacements=whole) if len(whole) == len(replacements) else edit


def _is_grater_note(kept: Json, target: str, length: int) -> bool:
    if not isinstance(kept, dict):
        return False
    if target != DOCUMENT:
        shapes = {"tag": str, "span": list, "extra": dict}
        spans: list[Json] = [kept["span"]] if "span" in kept else []
    else:
        shapes = {"essay": str, "annotator": str, "annotators": list, "metadata": dict, "tokens": list}
        tokens = kept.get("tokens")
        spans = tokens if isinstance(tokens, list) else []
    annotators = kept.get("annotators")
    return (
        all(isinstance(value, shapes.get(key, ())) for key, value in kept.items())
        and all(_is_span(span, length) for span in spans)
        and all(isinstance(name, str) for name in (annotators if isinstance(annotators, list) else []))
    )


def _is_span(value: Json, length: int) -> bool:
    match value:
        case [int(start), int(end)] if type(start) is type(end) is int:
            return 0 <= start <= end <= length
    return False
