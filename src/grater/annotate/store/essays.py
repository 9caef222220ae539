"""Essays as they came in, with the annotators and edits of their files; the text is kept code point by code point."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace

from sqlalchemy import bindparam, func, select

from grater.annotate.store import schema
from grater.annotate.store.transaction import PORTION, Record, Tx, chunks, locking
from grater.errors import BadInput, Conflict, Problem
from grater.model import Edit, Essay, Span

COLUMNS = [schema.essays.c[name] for name in ("essay_id", "text", "tokens", "metadata")]
BY_ID = select(*COLUMNS).where(schema.essays.c.essay_id == bindparam("essay"))


CORPUS = locking(select(schema.meta.c.value).where(schema.meta.c.key == "key"), of=schema.meta)


def hold(tx: Tx) -> None:
    """One at a time for whoever adds to or deletes from the corpus: essays, items, decisions, samples and jobs.

    Raters do not wait for it.  To be called before anything is looked up, after the people behind the change are
    locked.  SQLite has one writer at a time anyway.
    """
    if tx.is_postgres:
        tx.execute(CORPUS)


def require_all(tx: Tx, essay_ids: Collection[str]) -> None:
    """Refuse where essays that were read some time ago are no longer there."""
    if len(known(tx, essay_ids)) < len(set(essay_ids)):
        raise Conflict("an essay was deleted meanwhile, and nothing was stored; try again")


def known(tx: Tx, essay_ids: Iterable[str]) -> set[str]:
    """Those of the essays that are there."""
    ids = schema.essays.c.essay_id
    return {row.essay_id for some in chunks(set(essay_ids)) for row in tx.all(select(ids).where(ids.in_(some)))}


def add_all(tx: Tx, essays: Iterable[Essay], *, import_id: str | None = None) -> tuple[int, int]:
    """Add essays; return the number of new ones and of those that were there already, the same in every letter."""
    hold(tx)
    n_new = n_old = 0
    position = int(tx.value(select(func.max(schema.essays.c.position))) or 0)
    for portion in chunks(essays):
        old = {essay.essay_id: essay for essay in of_ids(tx, [essay.essay_id for essay in portion])}
        new = [essay for essay in portion if essay.essay_id not in old]
        for essay in portion:
            if essay.essay_id in old:
                _require_same(old[essay.essay_id], essay)
        _insert(tx, new, position=position, import_id=import_id)
        position += len(new)
        n_new, n_old = n_new + len(new), n_old + len(portion) - len(new)
    return n_new, n_old


def find(tx: Tx, essay_id: str) -> Essay | None:
    return next(iter(of_ids(tx, [essay_id])), None)


def bare(tx: Tx, essay_id: str) -> Essay | None:
    """The essay as its writer left it: no annotators, no edits."""
    row = tx.first(BY_ID, essay=essay_id)
    return None if row is None else read_bare(row)


def of_ids(tx: Tx, essay_ids: Sequence[str]) -> list[Essay]:
    """These essays, whole, in the order of the study."""
    query = select(schema.essays).order_by(schema.essays.c.position)
    essays: list[Essay] = []
    for portion in chunks(essay_ids):
        essays += _whole(tx, tx.all(query.where(schema.essays.c.essay_id.in_(portion))))
    return essays


def all(tx: Tx) -> Iterator[Essay]:  # noqa: A001  (read as essays.all)
    """Every essay, whole, in the order of the study; read in portions, so that memory stays flat."""
    query = select(schema.essays).order_by(schema.essays.c.position).limit(PORTION)
    last = 0
    while rows := tx.all(query.where(schema.essays.c.position > last)):
        yield from _whole(tx, rows)
        last = rows[-1].position


def some(tx: Tx, *, start: int, most: int) -> list[Essay]:
    """Essays as their writers left them, in the order of the study, `most` of them from number `start` on."""
    query = select(*COLUMNS).order_by(schema.essays.c.position).offset(start).limit(most)
    return [read_bare(row) for row in tx.all(query)]


def count(tx: Tx) -> int:
    return int(tx.value(select(func.count()).select_from(schema.essays)))


def _whole(tx: Tx, rows: Sequence[Record]) -> list[Essay]:
    ids = [row.essay_id for row in rows]
    query = select(schema.annotators).order_by(schema.annotators.c.position)
    raters: dict[str, list[str]] = defaultdict(list)
    for row in tx.all(query.where(schema.annotators.c.essay_id.in_(ids))):
        raters[row.essay_id].append(row.rater)
    query = select(schema.edits).order_by(schema.edits.c.position)
    marks: dict[str, list[Edit]] = defaultdict(list)
    for row in tx.all(query.where(schema.edits.c.essay_id.in_(ids))):
        marks[row.essay_id].append(
            Edit(
                span=Span(row.start, row.end),
                replacements=tuple(row.replacements),
                tag=row.tag,
                rater=row.rater,
                comment=row.comment,
                extra=row.extra,
            )
        )
    return [
        replace(read_bare(row), edits=tuple(marks[row.essay_id]), annotators=tuple(raters[row.essay_id]))
        for row in rows
    ]


def read_bare(row: Record) -> Essay:
    """The essay of a row with `COLUMNS`, as its writer left it."""
    spans = None if row.tokens is None else tuple(Span(start, end) for start, end in row.tokens)
    return Essay(row.essay_id, row.text, tokens=spans, metadata=row.metadata)


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
        raters = enumerate(dict.fromkeys(essay.annotators))
        annotator_rows = [
            {"essay_id": essay.essay_id, "rater": rater, "position": number} for number, rater in raters
        ]
        tx.insert(schema.annotators, annotator_rows)
        tx.insert(
            schema.edits,
            [
                {
                    "essay_id": essay.essay_id,
                    "position": number,
                    "rater": edit.rater,
                    "start": edit.span.start,
                    "end": edit.span.end,
                    "replacements": edit.replacements,
                    "tag": edit.tag,
                    "comment": edit.comment,
                    "extra": edit.extra,
                }
                for number, edit in enumerate(essay.edits)
            ],
        )


def _storable(essay: Essay) -> str:
    """The text; a database holds neither NUL nor half a surrogate pair, and changing one would move offsets."""
    bad = next((c for c in essay.text if c == "\0" or "\ud800" <= c <= "\udfff"), None)
    if bad is not None:
        message = f"expected text, found U+{ord(bad):04X}, which no database can hold; remove it"
        raise BadInput(Problem(f"essay {essay.essay_id}", message))
    return essay.text


def _require_same(old: Essay, new: Essay) -> None:
    if (old.text, old.edits, old.annotators) != (new.text, new.edits, tuple(dict.fromkeys(new.annotators))):
        what = "text" if old.text != new.text else "annotation"
        message = f"is in the study already with another {what}; give the new one another id, or leave it out"
        raise BadInput(Problem(f"essay {new.essay_id}", message, new.line))
