"""What systems decided about items, as the decisions table has it.

Samples that were drawn from the study's decisions, each under its name, with the design beside it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import polars as pl
from sqlalchemy import case, func, select

from grater.errors import Conflict, NotFound
from grater.model import Decision
from grater.registry import unknown
from grater.store import events, schema
from grater.store.ids import new_id
from grater.store.transaction import Tx, chunks
from grater.tables import Sample, SampleMeta, read_sample


def add_all(tx: Tx, found: Iterable[Decision], *, signature: str = "") -> int:
    """Add decisions with their systems; one that is there already must say the same, and is left alone."""
    n_added = 0
    for some in chunks(found):
        _add_systems(tx, {decision.system for decision in some}, signature)
        old = _known(tx, some)
        rows = [_row(decision) for decision in some if (decision.system, decision.item_id) not in old]
        tx.insert(schema.decisions, rows)
        n_added += len(rows)
    events.write(tx, None, "decisions.added", "", {"n": n_added})
    return n_added


def all(tx: Tx, *, system: str | None = None) -> Iterator[Decision]:  # noqa: A001  (read as decisions.all)
    """Decisions by system and item."""
    order = (tx.binary(schema.decisions.c.system), tx.binary(schema.decisions.c.item_id))
    query = select(schema.decisions).order_by(*order)
    for row in tx.all(query if system is None else query.where(schema.decisions.c.system == system)):
        yield Decision(row.item_id, row.system, row.flagged, row.score, row.type, row.suggestion)


def system_names(tx: Tx) -> list[str]:
    """The systems of the study."""
    return [
        row.system for row in tx.all(select(schema.systems.c.system).order_by(tx.binary(schema.systems.c.system)))
    ]


def count(tx: Tx) -> int:
    return int(tx.value(select(func.count()).select_from(schema.decisions)))


def _known(tx: Tx, some: list[Decision]) -> set[tuple[str, str]]:
    items = [decision.item_id for decision in some]
    query = select(schema.decisions.c.system, schema.decisions.c.item_id).where(schema.decisions.c.item_id.in_(items))
    return {(row.system, row.item_id) for row in tx.all(query)}


def _add_systems(tx: Tx, found: set[str], signature: str) -> None:
    new = sorted(found - set(system_names(tx)))
    tx.insert(schema.systems, [{"system": name, "signature": signature, "added_at": tx.now} for name in new])


def _row(decision: Decision) -> dict[str, Any]:
    return {
        "system": decision.system,
        "item_id": decision.item_id,
        "flagged": decision.flagged,
        "score": decision.score,
        "type": decision.type,
        "suggestion": decision.suggestion,
    }


def flags_by_system(tx: Tx) -> dict[str, tuple[int, int]]:
    """The places that each system decided on, and how many of them it flagged."""
    flagged = func.sum(case((schema.decisions.c.flagged, 1), else_=0))
    query = select(schema.decisions.c.system, func.count(), flagged).group_by(schema.decisions.c.system)
    return {row[0]: (int(row[1]), int(row[2])) for row in sorted(tuple(row) for row in tx.all(query))}


SAMPLE_COLUMNS = ("item", "stratum", "probability", "stratum_size", "random", "system")
KNOWN = ("seed", "design", "systems", "items")


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
    for some in chunks(sample.frame.iter_rows(named=True)):
        tx.insert(schema.sample_items, [_samples_row(sample_id, row) for row in some])
    events.write(tx, actor, "sample.drawn", sample_id, {"name": name, "n": len(sample)})


def sample_names(tx: Tx) -> list[str]:
    """The samples of the study, the oldest first."""
    return [
        row.name
        for row in tx.all(
            select(schema.samples.c.name).order_by(schema.samples.c.at, tx.binary(schema.samples.c.name))
        )
    ]


def sample_named(tx: Tx, name: str) -> Sample:
    """The sample called so, its rows in the order in which they were drawn."""
    row = tx.first(select(schema.samples).where(schema.samples.c.name == name))
    if row is None:
        raise NotFound(unknown("sample", name, sample_names(tx)))
    found = tx.all(select(schema.sample_items).where(schema.sample_items.c.sample_id == row.sample_id))
    frame = pl.DataFrame(
        [
            (each.item_id, each.stratum, each.probability, each.stratum_size, each.random, each.system)
            for each in found
        ],
        schema=dict(
            zip(SAMPLE_COLUMNS, (pl.String, pl.String, pl.Float64, pl.Float64, pl.Float64, pl.String), strict=True)
        ),
        orient="row",
    )
    meta = _meta(row.meta)
    return Sample(_in_order(read_sample(frame, name=name).frame, meta), name, meta)


def _in_order(frame: pl.DataFrame, meta: SampleMeta) -> pl.DataFrame:
    """System by system, each in the order in which to judge (`grater.sampling.draw`)."""
    turn = pl.col("system").replace_strict({name: n for n, name in enumerate(meta.systems)}, default=-1)
    return frame.sort(turn, pl.col("random") / pl.col("probability"), "item")


def _meta(stored: Mapping[str, Any]) -> SampleMeta:
    extra = {key: value for key, value in stored.items() if key not in KNOWN}
    return SampleMeta(
        stored.get("seed"), stored.get("design", ""), tuple(stored.get("systems", ())), stored.get("items", ""), extra
    )


def _samples_row(sample_id: str, row: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "sample_id": sample_id,
        "item_id": row["item"],
        "system": row.get("system") or "",
        "stratum": row["stratum"],
        **{name: row.get(name) for name in ("probability", "stratum_size", "random")},
    }
