"""What systems decided about items, and the samples that were drawn from these decisions.

A sample is kept under its name, with its design beside it, and is never changed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import polars as pl
from sqlalchemy import bindparam, case, func, select

from grater.errors import Conflict, NotFound
from grater.model import Decision, Json
from grater.registry import unknown
from grater.store import events, schema
from grater.store.ids import new_id
from grater.store.transaction import Columns, Tx, chunks
from grater.tables import Sample, SampleMeta, read_sample

COLUMNS = Columns(Decision, schema.decisions)
SAMPLE_TYPES: dict[str, type] = {
    "item": str,
    "stratum": str,
    "probability": float,
    "stratum_size": float,
    "random": float,
    "system": str,
}
"""The columns of a sample, as `grater.tables` reads them."""

ANSWERS = "answers"
"""The key of a decision's payload that holds them."""

META_KEYS = ("seed", "design", "systems", "items")
"""What `SampleMeta` knows by name; the rest is its `extra`."""


def add_all(tx: Tx, decisions: Iterable[Decision], *, signature: str = "") -> int:
    """Add decisions with their systems and return the number added; one that is there already is left alone."""
    n_added = 0
    for portion in chunks(decisions):
        _add_systems(tx, {decision.system for decision in portion}, signature)
        old = _known(tx, portion)
        rows = [COLUMNS.row(decision) for decision in portion if (decision.system, decision.item_id) not in old]
        tx.insert(schema.decisions, rows)
        n_added += len(rows)
    events.write(tx, None, "decisions.added", "", {"n": n_added})
    return n_added


def all(tx: Tx, *, system: str | None = None) -> Iterator[Decision]:  # noqa: A001  (read as decisions.all)
    """Decisions by system and item."""
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
    """The systems of the study."""
    query = select(schema.systems.c.system).order_by(tx.binary(schema.systems.c.system))
    return [row.system for row in tx.all(query)]


def count(tx: Tx) -> int:
    return int(tx.value(select(func.count()).select_from(schema.decisions)))


def _known(tx: Tx, decisions: list[Decision]) -> set[tuple[str, str]]:
    item_ids = [decision.item_id for decision in decisions]
    query = select(schema.decisions.c.system, schema.decisions.c.item_id)
    query = query.where(schema.decisions.c.item_id.in_(item_ids))
    return {(row.system, row.item_id) for row in tx.all(query)}


def _add_systems(tx: Tx, systems: set[str], signature: str) -> None:
    new = sorted(systems - set(system_names(tx)))
    tx.insert(schema.systems, [{"system": name, "signature": signature, "added_at": tx.now} for name in new])


def flags_by_system(tx: Tx) -> dict[str, tuple[int, int]]:
    """The number of items that each system decided on, and the number that it flagged."""
    n_flagged = func.sum(case((schema.decisions.c.flagged, 1), else_=0))
    query = select(schema.decisions.c.system, func.count().label("n_decided"), n_flagged.label("n_flagged"))
    rows = tx.all(query.group_by(schema.decisions.c.system))
    return {
        row.system: (int(row.n_decided), int(row.n_flagged)) for row in sorted(rows, key=lambda row: str(row.system))
    }


def add_sample(tx: Tx, name: str, sample: Sample, *, actor: str | None = None) -> None:
    """Keep a new sample; one of the same name must be the same, and is left alone."""
    earlier = tx.first(select(schema.samples).where(schema.samples.c.name == name))
    meta = sample.meta.as_json() if sample.meta else {}
    if earlier is not None:
        if earlier.meta != meta:
            raise Conflict(f"there is another sample called {name!r} already; choose another name")
        return
    sample_id = new_id()
    tx.insert(schema.samples, {"sample_id": sample_id, "name": name, "meta": meta, "at": tx.now})
    for portion in chunks(sample.frame.iter_rows(named=True)):
        tx.insert(schema.sample_items, [_sample_row(sample_id, row) for row in portion])
    events.write(tx, actor, "sample.drawn", sample_id, {"name": name, "n": len(sample)})


def sample_names(tx: Tx) -> list[str]:
    """The samples of the study, the oldest first."""
    query = select(schema.samples.c.name).order_by(schema.samples.c.at, tx.binary(schema.samples.c.name))
    return [row.name for row in tx.all(query)]


def sample_named(tx: Tx, name: str) -> Sample:
    """The sample with this name, its rows in the order in which they were drawn."""
    row = tx.first(select(schema.samples).where(schema.samples.c.name == name))
    if row is None:
        raise NotFound(unknown("sample", name, sample_names(tx)))
    columns = [schema.sample_items.c["item_id" if name == "item" else name].label(name) for name in SAMPLE_TYPES]
    rows = tx.all(select(*columns).where(schema.sample_items.c.sample_id == row.sample_id))
    frame = pl.DataFrame([dict(drawn._mapping) for drawn in rows], schema=SAMPLE_TYPES)
    meta = _meta(row.meta)
    return Sample(_in_order(read_sample(frame, name=name).frame, meta), name, meta)


def _in_order(frame: pl.DataFrame, meta: SampleMeta) -> pl.DataFrame:
    """System by system, each in the order in which to judge (`grater.sampling.draw`)."""
    turn = pl.col("system").replace_strict({name: n for n, name in enumerate(meta.systems)}, default=-1)
    return frame.sort(turn, pl.col("random") / pl.col("probability"), "item")


def _meta(stored: Mapping[str, Any]) -> SampleMeta:
    extra = {key: value for key, value in stored.items() if key not in META_KEYS}
    return SampleMeta(
        seed=stored.get("seed"),
        design=stored.get("design", ""),
        systems=tuple(stored.get("systems", ())),
        items=stored.get("items", ""),
        extra=extra,
    )


def _sample_row(sample_id: str, row: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "sample_id": sample_id,
        "item_id": row["item"],
        "system": row.get("system") or "",
        "stratum": row["stratum"],
        **{name: row.get(name) for name in ("probability", "stratum_size", "random")},
    }
