"""What systems decided about items."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

from sqlalchemy import bindparam, case, func, select

from grater.annotate.store import events, schema
from grater.annotate.store.transaction import Columns, Tx, chunks
from grater.model import Decision, Json

COLUMNS = Columns(Decision, schema.decisions)
ANSWERS = "answers"
"""The key of a decision's payload that holds them."""


def add_all(tx: Tx, decisions: Iterable[Decision], *, signature: str = "") -> int:
    """Add decisions with their systems and return the number added; one that is there already is left alone."""
    n_added = 0
    for portion in chunks(decisions):
        add_systems(tx, {decision.system for decision in portion}, signature)
        item_ids = [decision.item_id for decision in portion]
        query = select(schema.decisions.c.system, schema.decisions.c.item_id)
        query = query.where(schema.decisions.c.item_id.in_(item_ids))
        old = {(row.system, row.item_id) for row in tx.all(query)}
        rows = [COLUMNS.row(decision) for decision in portion if (decision.system, decision.item_id) not in old]
        tx.insert(schema.decisions, rows)
        n_added += len(rows)
    events.write(tx, None, "decisions.added", "", {"n": n_added})
    return n_added


def all(tx: Tx, *, system: str | None = None) -> Iterator[Decision]:  # noqa: A001  (read as decisions.all)
    order = (tx.binary(schema.decisions.c.system), tx.binary(schema.decisions.c.item_id))
    query = select(*COLUMNS).order_by(*order)
    for row in tx.all(query if system is None else query.where(schema.decisions.c.system == system)):
        yield COLUMNS.read(row)


def keep_answers(tx: Tx, system: str, answers: Mapping[str, Json]) -> None:
    """Keep, by item, the words that a system would write there with their probabilities, the likeliest first."""
    of_row = (schema.decisions.c.system == system) & (schema.decisions.c.item_id == bindparam("of_item"))
    statement = schema.decisions.update().where(of_row).values(payload=bindparam("kept"))
    for portion in chunks(answers.items()):
        tx.execute(statement, [{"of_item": item_id, "kept": {ANSWERS: words}} for item_id, words in portion])


def best_words(tx: Tx, system: str) -> dict[str, str]:
    """By item, the word that a system would write there, where the study knows it: also where nothing is flagged."""
    query = select(schema.decisions.c.item_id, schema.decisions.c.payload).where(schema.decisions.c.system == system)
    answers = {row.item_id: row.payload.get(ANSWERS) for row in tx.all(query)}
    return {item_id: str(words[0][0]) for item_id, words in answers.items() if words}


def system_names(tx: Tx) -> list[str]:
    query = select(schema.systems.c.system).order_by(tx.binary(schema.systems.c.system))
    return [row.system for row in tx.all(query)]


def count(tx: Tx) -> int:
    return int(tx.value(select(func.count()).select_from(schema.decisions)))


def add_systems(tx: Tx, systems: Collection[str], signature: str = "") -> None:
    new = sorted(set(systems) - set(system_names(tx)))
    tx.insert(schema.systems, [{"system": name, "signature": signature, "added_at": tx.now} for name in new])


def flags_by_system(tx: Tx) -> dict[str, tuple[int, int]]:
    """The number of items that each system decided on, and the number that it flagged."""
    n_flagged = func.sum(case((schema.decisions.c.flagged, 1), else_=0))
    query = select(schema.decisions.c.system, func.count().label("n_decided"), n_flagged.label("n_flagged"))
    rows = tx.all(query.group_by(schema.decisions.c.system))
    return {
        row.system: (int(row.n_decided), int(row.n_flagged)) for row in sorted(rows, key=lambda row: str(row.system))
    }
