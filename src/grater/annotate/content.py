"""The content of a study: its essays, the items in them, and the decisions of systems.

Essays are stored as imported, with the annotators and edits of their files; the text is kept exactly. Errors can be
planted in a correct essay, so that marking can be graded (docs/crowd.md). Each planted edit gives the words to write
in place of its span; the positions of the errors refer to the new text, in the format of the marking task's gold:
`120-124:Wcip`. Such an essay does not belong to the corpus: systems do not decide on it, samples exclude it, and
other jobs use it only if it is named.

Items are spans of essays that can be judged. An item's id is derived from its essay, span and kind, whatever the
imported table calls it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from sqlalchemy import ColumnElement, Text, bindparam, case, exists, func, or_, select, true, type_coerce

from grater.annotate.store import events, schema
from grater.annotate.store.transaction import PORTION, Columns, Record, Tx, chunks
from grater.errors import BadInput, Conflict, NotFound, Problem, UsageError
from grater.model import Decision, Edit, Essay, Item, Json, Span, item_at, short_hash

ITEM, ESSAY, DECISION = schema.items.c, schema.essays.c, schema.decisions.c

ESSAY_COLUMNS = [ESSAY[name] for name in ("essay_id", "text", "tokens", "metadata")]


CORPUS = select(schema.meta.c.value).where(schema.meta.c.key == "key")


def hold(tx: Tx) -> None:
    """Serialise changes to the corpus: essays, items, decisions, samples and jobs.

    Raters do not wait for it. Call it before looking anything up, but after locking the people behind the change.
    SQLite has one writer at a time anyway.
    """
    if tx.is_postgres:
        tx.execute(tx.locked(CORPUS, of=schema.meta))


def known_essays(tx: Tx, essay_ids: Iterable[str]) -> set[str]:
    """The essays of these that exist."""
    ids = ESSAY.essay_id
    return {row.essay_id for some in chunks(set(essay_ids)) for row in tx.all(select(ids).where(ids.in_(some)))}


def add_essays(tx: Tx, essays: Iterable[Essay], *, import_id: str | None = None) -> tuple[int, int]:
    """Add essays; return the number of new ones and the number that already existed with exactly the same content."""
    hold(tx)
    n_new = n_old = 0
    position = int(tx.value(select(func.max(ESSAY.position))) or 0)
    for portion in chunks(essays):
        old = {essay.essay_id: essay for essay in essays_of(tx, [essay.essay_id for essay in portion])}
        rows, annotators, edits = [], [], []
        for essay in portion:
            if essay.essay_id in old:
                _require_same(old[essay.essay_id], essay)
                n_old += 1
                continue
            n_new += 1
            own = {"essay_id": essay.essay_id}
            rows.append(
                {
                    **own,
                    "position": position + n_new,
                    "text": _storable(essay),
                    "tokens": None if essay.tokens is None else [[span.start, span.end] for span in essay.tokens],
                    "metadata": essay.metadata,
                    "import_id": import_id,
                }
            )
            raters = dict.fromkeys(essay.annotators)
            annotators += [{**own, "rater": rater, "position": number} for number, rater in enumerate(raters)]
            edits += [
                {
                    **own,
                    "position": number,
                    "start": edit.span.start,
                    "end": edit.span.end,
                    **{name: getattr(edit, name) for name in ("rater", "replacements", "tag", "comment", "extra")},
                }
                for number, edit in enumerate(essay.edits)
            ]
        tx.insert(schema.essays, rows)
        for table, some in ((schema.annotators, annotators), (schema.edits, edits)):
            for few in chunks(some):
                tx.insert(table, few)
    return n_new, n_old


def find_essay(tx: Tx, essay_id: str) -> Essay | None:
    return next(iter(essays_of(tx, [essay_id])), None)


def essays_of(tx: Tx, essay_ids: Sequence[str]) -> list[Essay]:
    """These essays with their edits, in the order of the study."""
    query = select(schema.essays).order_by(ESSAY.position)
    essays: list[Essay] = []
    for portion in chunks(essay_ids):
        essays += _whole(tx, tx.all(query.where(ESSAY.essay_id.in_(portion))))
    return essays


def all_essays(tx: Tx) -> Iterator[Essay]:
    """Every essay with its edits, in the order of the study; read in chunks to bound memory."""
    query = select(schema.essays).order_by(ESSAY.position).limit(PORTION)
    last = 0
    while rows := tx.all(query.where(ESSAY.position > last)):
        yield from _whole(tx, rows)
        last = rows[-1].position


def some_essays(tx: Tx, *, start: int, most: int, words: str = "") -> list[Essay]:
    """Essays as their writers left them, in the order of the study, at most `most` from number `start` on."""
    query = select(*ESSAY_COLUMNS).where(_has_words(words)).order_by(ESSAY.position)
    return [read_bare(row) for row in tx.all(query.offset(start).limit(most))]


def n_essays(tx: Tx, *, words: str = "") -> int:
    return int(tx.value(select(func.count()).select_from(schema.essays).where(_has_words(words))))


def _has_words(words: str) -> ColumnElement[bool]:
    """Essays with these words in their text, id or name."""
    of = (ESSAY.essay_id, ESSAY.text, type_coerce(ESSAY.metadata, Text))
    return or_(*(column.icontains(words, autoescape=True) for column in of)) if words else true()


def _whole(tx: Tx, rows: Sequence[Record]) -> list[Essay]:
    ids = [row.essay_id for row in rows]
    query = select(schema.annotators).order_by(schema.annotators.c.position)
    raters: dict[str, list[str]] = defaultdict(list)
    for row in tx.all(query.where(schema.annotators.c.essay_id.in_(ids))):
        raters[row.essay_id].append(row.rater)
    query = select(schema.edits).order_by(schema.edits.c.position)
    marks: dict[str, list[Edit]] = defaultdict(list)
    for row in tx.all(query.where(schema.edits.c.essay_id.in_(ids))):
        span, words = Span(row.start, row.end), tuple(row.replacements)
        marks[row.essay_id].append(Edit(span, words, row.tag, row.rater, row.comment, row.extra))
    return [
        replace(read_bare(row), edits=tuple(marks[row.essay_id]), annotators=tuple(raters[row.essay_id]))
        for row in rows
    ]


def read_bare(row: Record) -> Essay:
    """The essay as its writer left it, from a row with `ESSAY_COLUMNS`."""
    spans = None if row.tokens is None else tuple(Span(start, end) for start, end in row.tokens)
    return Essay(row.essay_id, row.text, tokens=spans, metadata=row.metadata)


def _storable(essay: Essay) -> str:
    """The text, refused with NUL or half a surrogate pair: databases cannot store them, and offsets must hold."""
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


IS_PLANTED = "planted"
"""The metadata of an essay that says so; raters never see any."""


def own_essays(tx: Tx) -> Iterator[Essay]:
    """The essays of the study except those with planted errors."""
    return (essay for essay in all_essays(tx) if IS_PLANTED not in essay.metadata)


def plant(essay: Essay, edits: Sequence[Edit]) -> tuple[Essay, tuple[str, ...]]:
    """The essay with the errors planted, under an id that reveals nothing, and the positions of the errors."""
    text, places, shift, last = essay.text, [], 0, 0
    for edit in sorted(edits, key=lambda each: each.span):
        if edit.span.start < last or edit.span.end > len(essay.text) or not edit.replacements:
            raise UsageError(f"{essay.essay_id}: expected errors to plant side by side, each with its words")
        wrong, start = edit.replacements[0], edit.span.start + shift
        if wrong == edit.span.of(essay.text):
            raise UsageError(f"{essay.essay_id}: expected words other than {wrong[:40]!r} to plant, found the same")
        text = text[:start] + wrong + text[edit.span.end + shift :]
        places.append(f"{start}-{start + len(wrong)}:{edit.tag}")
        shift += len(wrong) - len(edit.span)
        last = edit.span.end
    metadata = {**essay.metadata, IS_PLANTED: True}
    bare = replace(
        essay, essay_id=short_hash(text), text=text, edits=(), annotators=(), tokens=None, metadata=metadata
    )
    return bare, tuple(places)


WORD = "delete"
"""The word to type before anything is deleted."""


def require_word(word: str) -> None:
    if word.strip().lower() != WORD:
        raise UsageError(f"type the word {WORD!r} to delete it permanently; found {word[:20]!r}")


def delete_essay(tx: Tx, essay_id: str, *, word: str = WORD, actor: str | None = None) -> None:
    """Delete an essay that no job or sample uses, with its items and systems' decisions on them."""
    require_word(word)
    hold(tx)
    if tx.value(select(ESSAY.essay_id).where(ESSAY.essay_id == essay_id)) is None:
        raise NotFound("there is no such essay in this study")
    of_essay = select(ITEM.item_id).where(ITEM.essay_id == essay_id)
    traces: dict[str, ColumnElement[bool]] = {
        "a job asks about it": schema.units.c.essay_id == essay_id,
        "a job asks about a place in it": schema.unit_items.c.item_id.in_(of_essay),
        "a sample holds a place in it": schema.sample_items.c.item_id.in_(of_essay),
        "a place in it is judged": schema.judgments.c.item_id.in_(of_essay),
    }
    kept = [words for words, trace in traces.items() if tx.value(select(exists().where(trace)))]
    if kept:
        raise Conflict(f"the essay stays: {kept[0]}")
    tx.execute(schema.decisions.delete().where(DECISION.item_id.in_(of_essay)))
    for table in (schema.items, schema.edits, schema.annotators, schema.essays):
        tx.execute(table.delete().where(table.c.essay_id == essay_id))
    events.write(tx, actor, "essay.deleted", essay_id)


MANY = 10_000
"""Names in one query."""


@dataclass(frozen=True, slots=True)
class StudyItem:
    """An item as stored; `item` is None if it is known only from a table of judgments."""

    item_id: str
    item: Item | None
    kind: str = ""
    outside_id: str | None = None
    payload: Mapping[str, Json] = field(default_factory=dict, hash=False)


def study_item(item: Item, *, outside_id: str | None = None, payload: Mapping[str, Json] | None = None) -> StudyItem:
    name = None if outside_id == item.item_id else outside_id
    return StudyItem(item_id=item.item_id, item=item, kind=item.kind, outside_id=name, payload=payload or {})


def add_items(tx: Tx, items: Iterable[StudyItem]) -> int:
    """Add the items that are new to the study; return their number."""
    n_new = 0
    for portion in chunks(items):
        by_id = {item.item_id: item for item in portion}
        old = {row.item_id for row in tx.all(select(ITEM.item_id).where(ITEM.item_id.in_(by_id)))}
        new = [
            {
                "item_id": each.item_id,
                "essay_id": each.item.essay_id if each.item else None,
                "start": each.item.span.start if each.item else None,
                "end": each.item.span.end if each.item else None,
                "kind": each.kind,
                "outside_id": each.outside_id,
                "payload": each.payload,
            }
            for each in by_id.values()
            if each.item_id not in old
        ]
        tx.insert(schema.items, new)
        n_new += len(new)
    return n_new


def items_by_name(tx: Tx, names: Sequence[str]) -> dict[str, str]:
    """Item ids by the names used in a table: their ids, or their names in the table they were imported from."""
    return {name: item_id for name, (item_id, _) in item_places(tx, names).items()}


def item_places(tx: Tx, names: Sequence[str]) -> dict[str, tuple[str, str | None]]:
    """Ids and essays of items by the names used in a table, in the order of the names."""
    of_name: dict[str, tuple[str, str | None]] = {}
    for portion in chunks(dict.fromkeys(names), MANY):
        for column in (ITEM.outside_id, ITEM.item_id):  # ids go before what others call an item
            query = select(column.label("name"), ITEM.item_id, ITEM.essay_id)
            for row in tx.execute(query.where(column.in_(portion))):
                of_name[row.name] = (row.item_id, row.essay_id)
    return {name: of_name[name] for name in names if name in of_name}


def items_of(tx: Tx, item_ids: Sequence[str]) -> dict[str, StudyItem]:
    by_id = {}
    for portion in chunks(item_ids):
        for row in tx.all(select(schema.items).where(ITEM.item_id.in_(portion))):
            by_id[row.item_id] = _read_item(row)
    return by_id


def all_items(tx: Tx, *, kind: str | None = None) -> Iterator[StudyItem]:
    query = select(schema.items).order_by(tx.binary(ITEM.item_id))
    if kind is not None:
        query = query.where(ITEM.kind == kind)
    for row in tx.all(query):
        yield _read_item(row)


def some_items(tx: Tx, *, kind: str | None = None, start: int, most: int, words: str = "") -> list[StudyItem]:
    """Items by essay and span, at most `most` from number `start` on."""
    order = (tx.binary(ITEM.essay_id), ITEM.start, ITEM.end, tx.binary(ITEM.item_id))
    query = select(schema.items).where(_is_named(words)).order_by(*order).offset(start).limit(most)
    return [_read_item(row) for row in tx.all(query if kind is None else query.where(ITEM.kind == kind))]


def _is_named(words: str) -> ColumnElement[bool]:
    """Items whose id or essay contains these words."""
    of = schema.items.c
    written = of.essay_id.in_(select(ESSAY.essay_id).where(_has_words(words)))
    return or_(of.item_id.startswith(words), of.outside_id == words, written) if words else true()


def item_kinds(tx: Tx) -> list[tuple[str, int]]:
    query = select(ITEM.kind, func.count().label("n_items")).group_by(ITEM.kind).order_by(tx.binary(ITEM.kind))
    return [(row.kind, row.n_items) for row in tx.all(query)]


def n_items(tx: Tx, *, kind: str | None = None, words: str = "") -> int:
    query = select(func.count()).select_from(schema.items).where(_is_named(words))
    return int(tx.value(query if kind is None else query.where(ITEM.kind == kind)))


def _read_item(row: Record) -> StudyItem:
    item = None if row.essay_id is None else item_at(row.essay_id, row.start, row.end, row.kind, row.item_id)
    return StudyItem(item_id=row.item_id, item=item, kind=row.kind, outside_id=row.outside_id, payload=row.payload)


DECISION_COLUMNS = Columns(Decision, schema.decisions)
ANSWERS = "answers"
"""The key of a decision's payload that holds them."""


def add_decisions(tx: Tx, decisions: Iterable[Decision]) -> int:
    """Add decisions with their systems and return the number added; existing ones are left unchanged."""
    n_added = 0
    for portion in chunks(decisions):
        new = sorted({decision.system for decision in portion} - set(system_names(tx)))
        tx.insert(schema.systems, [{"system": name, "added_at": tx.now} for name in new])
        item_ids = [decision.item_id for decision in portion]
        query = select(DECISION.system, DECISION.item_id)
        query = query.where(DECISION.item_id.in_(item_ids))
        old = {(row.system, row.item_id) for row in tx.all(query)}
        rows = [
            DECISION_COLUMNS.row(decision) for decision in portion if (decision.system, decision.item_id) not in old
        ]
        tx.insert(schema.decisions, rows)
        n_added += len(rows)
    events.write(tx, None, "decisions.added", "", {"n": n_added})
    return n_added


def all_decisions(tx: Tx, *, system: str | None = None) -> Iterator[Decision]:
    order = (tx.binary(DECISION.system), tx.binary(DECISION.item_id))
    query = select(*DECISION_COLUMNS).order_by(*order)
    for row in tx.all(query if system is None else query.where(DECISION.system == system)):
        yield DECISION_COLUMNS.read(row)


def keep_answers(tx: Tx, system: str, answers: Mapping[str, Json]) -> None:
    """Store, by item, the words that a system would write there and their probabilities, most probable first."""
    of_row = (DECISION.system == system) & (DECISION.item_id == bindparam("of_item"))
    statement = schema.decisions.update().where(of_row).values(payload=bindparam("kept"))
    for portion in chunks(answers.items()):
        tx.execute(statement, [{"of_item": item_id, "kept": {ANSWERS: words}} for item_id, words in portion])


def best_words(tx: Tx, system: str) -> dict[str, str]:
    """By item, the word that a system would write there, if known, including items that it does not flag."""
    query = select(DECISION.item_id, DECISION.payload).where(DECISION.system == system)
    answers = {row.item_id: row.payload.get(ANSWERS) for row in tx.all(query)}
    return {item_id: str(words[0][0]) for item_id, words in answers.items() if words}


def system_names(tx: Tx) -> list[str]:
    query = select(schema.systems.c.system).order_by(tx.binary(schema.systems.c.system))
    return [row.system for row in tx.all(query)]


def n_decisions(tx: Tx) -> int:
    return int(tx.value(select(func.count()).select_from(schema.decisions)))


MODEL = "model"


def models(tx: Tx) -> dict[str, str]:
    """The language model behind each system; a system without one has its own name."""
    rows = tx.all(select(schema.systems.c.system, schema.systems.c.options))
    return {row.system: str(row.options.get(MODEL) or row.system) for row in rows}


def flags_by_system(tx: Tx) -> dict[str, tuple[int, int]]:
    """The number of items that each system decided on, and the number that it flagged."""
    n_flagged = func.sum(case((DECISION.flagged, 1), else_=0))
    query = select(DECISION.system, func.count().label("n_decided"), n_flagged.label("n_flagged"))
    rows = tx.all(query.group_by(DECISION.system))
    return {
        row.system: (int(row.n_decided), int(row.n_flagged)) for row in sorted(rows, key=lambda row: str(row.system))
    }


def shown(each: StudyItem) -> dict[str, Json]:
    """The additional columns of an item that a page may need: the words of a construction, a suggestion."""
    return {name: each.payload[name] for name in ("words", "suggestion") if name in each.payload}
