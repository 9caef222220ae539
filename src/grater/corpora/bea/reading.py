"""Essays from BEA-2019 JSON; what the format is stands in the package."""

from __future__ import annotations

from collections.abc import Iterator

from grater.corpora.bea.objects import json_objects
from grater.corpora.format import Source
from grater.corpora.identity import EssayIds
from grater.errors import Problems
from grater.model import Edit, Essay, Json, Span


class WrongEssay(ValueError):
    """What is wrong with an essay; it becomes a problem of the input."""


def read_bea(source: Source) -> Iterator[Essay]:
    problems = Problems(source.name)
    ids = EssayIds()
    for number, record in json_objects(source.lines(), problems):
        try:
            essay = _essay(record, ids, number)
        except WrongEssay as wrong:
            problems.add(str(wrong), line=number)
        else:
            yield essay
    problems.done()


def _essay(record: dict[str, Json], ids: EssayIds, line: int) -> Essay:
    text = record.get("text")
    if not isinstance(text, str):
        raise WrongEssay(f"expected an essay with a 'text', found {_shown(text if 'text' in record else [*record])}")
    by_rater = _by_rater(record.get("edits", []))
    edits = [_edit(value, rater, text, line) for rater, values in by_rater.items() for value in values]
    document_id = document_id_of(record)
    return Essay(
        essay_id=ids.of_text(text) if document_id is None else ids.of_document(document_id),
        text=text,
        edits=tuple(edits),
        annotators=tuple(by_rater),
        metadata={key: value for key, value in record.items() if key not in _kept_elsewhere(record)},
        line=line,
    )


def _kept_elsewhere(record: dict[str, Json]) -> set[str]:
    """The keys that the essay needs no metadata for; an id that says more than the essay's own is not among them."""
    is_plain_id = isinstance(record.get("id"), str) and "_id" not in record
    return {"text", "edits", "id"} if is_plain_id else {"text", "edits"}


def document_id_of(record: dict[str, Json]) -> str | None:
    """The id that an object gives itself: its `id`, else its `_id`, as a string."""
    for key in ("id", "_id"):
        value = record.get(key)
        if isinstance(value, str | int) and not isinstance(value, bool):
            return str(value)
        if value is not None:
            raise WrongEssay(f"expected {key!r} to be a string or a whole number, found {_shown(value)}")
    return None


def _by_rater(value: Json) -> dict[str, list[Json]]:
    by_rater: dict[str, list[Json]] = {}
    for pair in value if isinstance(value, list) else [value]:
        rater, edits = _rater_and_edits(pair)
        if rater in by_rater:
            raise WrongEssay(f"expected each annotator once, found {rater!r} again; put the edits in one list")
        by_rater[rater] = edits
    return by_rater


def _rater_and_edits(pair: Json) -> tuple[str, list[Json]]:
    match pair:
        case [int() | str() as rater, list(edits)] if not isinstance(rater, bool):
            return str(rater), edits
    raise WrongEssay(f"expected 'edits' to have pairs [annotator, [edit, ...]], found {_shown(pair)}")


def _edit(value: Json, rater: str, text: str, line: int) -> Edit:
    match value:
        case [int(start), int(end), str() | None as correction, *rest] if type(start) is type(end) is int:
            if not 0 <= start <= end <= len(text):
                raise WrongEssay(f"expected an edit inside the text (0 to {len(text)}), found {start} to {end}")
            tag, extra = _tag(rest)
            replacements = () if correction is None else (correction,)
            return Edit(Span(start, end), replacements, tag, rater, extra=extra, line=line)
    raise WrongEssay(f"expected an edit [start, end, correction or null, type], found {_shown(value)}")


def _tag(rest: list[Json]) -> tuple[str, dict[str, Json]]:
    """The type, and what else stands after the correction; an empty type is not the same file as none."""
    match rest:
        case []:
            return "", {}
        case [str(tag), *more]:
            return tag, {"more": more} if more or not tag else {}
    raise WrongEssay(f"expected the type of an edit to be a string, found {_shown(rest[0])}")


def _shown(value: Json) -> str:
    shown = repr(value)
    return shown if len(shown) <= 60 else f"{shown[:60]}..."
