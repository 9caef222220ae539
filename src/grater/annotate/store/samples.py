"""The samples that were drawn from systems' decisions.

A sample is kept under its name, with its design beside it, and is never changed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl
from sqlalchemy import select

from grater.annotate.store import events, schema
from grater.annotate.store.ids import new_id
from grater.annotate.store.transaction import Tx, chunks
from grater.errors import Conflict, NotFound
from grater.registry import unknown
from grater.tables import Sample, SampleMeta, read_sample

TYPES: dict[str, type] = {
    "item": str,
    "stratum": str,
    "probability": float,
    "stratum_size": float,
    "random": float,
    "system": str,
}
"""The columns of a sample, as `grater.tables` reads them."""


META_KEYS = ("seed", "design", "systems", "items")
"""What `SampleMeta` knows by name; the rest is its `extra`."""


def add(tx: Tx, name: str, sample: Sample, *, actor: str | None = None) -> None:
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
        tx.insert(schema.sample_items, [_row(sample_id, row) for row in portion])
    events.write(tx, actor, "sample.drawn", sample_id, {"name": name, "n": len(sample)})


def names(tx: Tx) -> list[str]:
    """The samples of the study, the oldest first."""
    query = select(schema.samples.c.name).order_by(schema.samples.c.at, tx.binary(schema.samples.c.name))
    return [row.name for row in tx.all(query)]


def named(tx: Tx, name: str) -> Sample:
    """The sample with this name, its rows in the order in which they were drawn."""
    row = tx.first(select(schema.samples).where(schema.samples.c.name == name))
    if row is None:
        raise NotFound(unknown("sample", name, names(tx)))
    columns = [schema.sample_items.c["item_id" if name == "item" else name].label(name) for name in TYPES]
    rows = tx.all(select(*columns).where(schema.sample_items.c.sample_id == row.sample_id))
    frame = pl.DataFrame([dict(drawn._mapping) for drawn in rows], schema=TYPES)
    meta = _meta(row.meta)
    return Sample(_in_order(read_sample(frame, name=name).frame, meta), name, meta)


def _in_order(frame: pl.DataFrame, meta: SampleMeta) -> pl.DataFrame:
    """System by system, each in the order in which to judge (`grater.measure.sampling.draw`)."""
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


def _row(sample_id: str, row: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "sample_id": sample_id,
        "item_id": row["item"],
        "system": row.get("system") or "",
        "stratum": row["stratum"],
        **{name: row.get(name) for name in ("probability", "stratum_size", "random")},
    }
