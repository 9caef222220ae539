"""Essays as they came in, with the annotators and edits of their files; the text is kept code point by code point."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import bindparam, func, select

from grater.errors import BadInput, Problem
from grater.model import Edit, Essay, Span
from grater.store import schema
from grater.store.transaction import Record, Tx, chunks

BARE = [schema.essays.c[name] for name in ("essay_id", "text", "tokens", "metadata")]
BY_ID = select(*BARE).where(schema.essays.c.essay_id == bindparam("essay"))


def add_all(tx: Tx, found: Iterable[Essay], *, import_id: str | None = None) -> tuple[int, int]:
    """Add essays; give how many were new and how many were there already, the same in every letter."""
    n_new = n_old = 0
    position = int(tx.value(select(func.max(schema.essays.c.position))) or 0)
    for batch in chunks(found):
        old = {essay.essay_id: essay for essay in of_ids(tx, [essay.essay_id for essay in batch])}
        new = [essay for essay in batch if essay.essay_id not in old]
        for essay in batch:
            if essay.essay_id in old:
                _require_same(old[essay.essay_id], essay)
        _insert(tx, new, position=position, import_id=import_id)
        position += len(new)
        n_new, n_old = n_new + len(new), n_old + len(batch) - len(new)
    return n_new, n_old


def find(tx: Tx, essay_id: str) -> Essay | None:
    return next(iter(of_ids(tx, [essay_id])), None)


def bare(tx: Tx, essay_id: str) -> Essay | None:
    """The essay as its writer left it: no annotators, no edits."""
    row = tx.first(BY_ID, essay=essay_id)
    return None if row is None else bare_of(*row)


def of_ids(tx: Tx, essay_ids: Sequence[str]) -> list[Essay]:
    """These essays, whole, in the order of the study."""
    found: list[Essay] = []
    for some in chunks(essay_ids):
        rows = tx.all(
            select(schema.essays).where(schema.essays.c.essay_id.in_(some)).order_by(schema.essays.c.position)
        )
        found += _whole(tx, rows)
    return found


def all(tx: Tx) -> Iterator[Essay]:  # noqa: A001  (read as essays.all)
    """Every essay, whole, in the order of the study; read in portions, so that memory stays flat."""
    last = 0
    while True:
        rows = tx.all(
            select(schema.essays).where(schema.essays.c.position > last).order_by(schema.essays.c.position).limit(500)
        )
        if not rows:
            return
        yield from _whole(tx, rows)
        last = rows[-1].position


def some(tx: Tx, *, start: int, most: int) -> list[Essay]:
    """Essays as their writers left them, in the order of the study, `most` of them from number `start` on."""
    return [
        bare_of(*row) for row in tx.all(select(*BARE).order_by(schema.essays.c.position).offset(start).limit(most))
    ]


def count(tx: Tx) -> int:
    return int(tx.value(select(func.count()).select_from(schema.essays)))


def _whole(tx: Tx, rows: Sequence[Record]) -> list[Essay]:
    ids = [row.essay_id for row in rows]
    raters: dict[str, list[str]] = defaultdict(list)
    for row in tx.all(
        select(schema.annotators).where(schema.annotators.c.essay_id.in_(ids)).order_by(schema.annotators.c.position)
    ):
        raters[row.essay_id].append(row.rater)
    marks: dict[str, list[Edit]] = defaultdict(list)
    for row in tx.all(select(schema.edits).where(schema.edits.c.essay_id.in_(ids)).order_by(schema.edits.c.position)):
        marks[row.essay_id].append(_edit(row))
    return [
        replace(_bare(row), edits=tuple(marks[row.essay_id]), annotators=tuple(raters[row.essay_id])) for row in rows
    ]


def bare_of(essay_id: str, text: str, tokens: Sequence[Sequence[int]] | None, metadata: Mapping[str, str]) -> Essay:
    """An essay from the columns `BARE`."""
    spans = None if tokens is None else tuple(Span(*pair) for pair in tokens)
    return Essay(essay_id, text, tokens=spans, metadata=metadata)


def _bare(row: Record) -> Essay:
    return bare_of(row.essay_id, row.text, row.tokens, row.metadata)


def _edit(row: Record) -> Edit:
    span = Span(row.start, row.end)
    return Edit(span, tuple(row.replacements), row.tag, row.rater, row.comment, row.extra)


def _insert(tx: Tx, new: Sequence[Essay], *, position: int, import_id: str | None) -> None:
    tx.insert(
        schema.essays,
        [
            {
                "essay_id": essay.essay_id,
                "position": position + number,
                "text": _storable(essay),
                "tokens": None if essay.tokens is None else [[span.start, span.end] for span in essay.tokens],
                "metadata": essay.metadata,
                "import_id": import_id,
            }
            for number, essay in enumerate(new, 1)
        ],
    )
    for essay in new:
        tx.insert(schema.annotators, _annotator_rows(essay))
        tx.insert(schema.edits, [_edit_row(essay.essay_id, number, edit) for number, edit in enumerate(essay.edits)])


def _annotator_rows(essay: Essay) -> list[dict[str, Any]]:
    raters = enumerate(dict.fromkeys(essay.annotators))
    return [{"essay_id": essay.essay_id, "rater": rater, "position": number} for number, rater in raters]


def _edit_row(essay_id: str, number: int, edit: Edit) -> dict[str, Any]:
    return {
        "essay_id": essay_id,
        "position": number,
        "rater": edit.rater,
        "start": edit.span.start,
        "end": edit.span.end,
        "replacements": edit.replacements,
        "tag": edit.tag,
        "comment": edit.comment,
        "extra": edit.extra,
    }


def _storable(essay: Essay) -> str:
    """The text; a database holds neither NUL nor half a surrogate pair, and changing one would move offsets."""
    bad = next((c for c in essay.text if c == "\0" or "\ud800" <= c <= "\udfff"), None)
    if bad is not None:
        place = f"essay {essay.essay_id}"
        raise BadInput(
            Problem(place, f"expected text, found U+{ord(bad):04X}, which no database can hold; remove it")
        )
    return essay.text


def _require_same(old: Essay, new: Essay) -> None:
    if (old.text, old.edits, old.annotators) != (new.text, new.edits, tuple(dict.fromkeys(new.annotators))):
        what = "text" if old.text != new.text else "annotation"
        message = f"is in the study already with another {what}; give the new one another id, or leave it out"
        raise BadInput(Problem(f"essay {new.essay_id}", message, new.line))
