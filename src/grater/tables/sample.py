"""A sample of items: which were drawn, from which stratum, with what probability, and from what corpus.

`NAME.meta.json` beside `NAME.csv` holds the seed, the design, the systems, and the hash of the sorted ids of all
items that could have been drawn.  With it a sample is only ever used with its own corpus; without it every drawn
item must at least be there.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from grater.errors import BadInput, Problem
from grater.model import Json, short_hash
from grater.tables.files import FilePath, beside, read_text

META = ".meta.json"


@dataclass(frozen=True, slots=True)
class SampleMeta:
    """How a sample was drawn; `items` is the hash of the ids it was drawn from, `extra` what else the file says."""

    seed: int | None = None
    design: str = ""
    systems: tuple[str, ...] = ()
    items: str = ""
    extra: Mapping[str, Json] = field(default_factory=dict, hash=False)

    def as_json(self) -> dict[str, Json]:
        return {
            "seed": self.seed,
            "design": self.design,
            "systems": list(self.systems),
            "items": self.items,
            **self.extra,
        }


@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """Drawn items in the columns of the sample table, and how they were drawn where that is known."""

    frame: pl.DataFrame
    name: str
    meta: SampleMeta | None = None
    dropped: Mapping[str, int] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.frame)


def items_hash(item_ids: Iterable[str]) -> str:
    """One short name for a set of items, whatever their order and however often each is named."""
    return short_hash("\n".join(sorted(set(item_ids))))


def require_same_items(sample: Sample, item_ids: Iterable[str]) -> None:
    """Refuses a sample that was drawn from other items than these."""
    known = set(item_ids)
    strangers = [item for item in sample.frame["item"].unique(maintain_order=True) if item not in known]
    if strangers:
        shown = ", ".join(strangers[:3]) + (", ..." if len(strangers) > 3 else "")
        message = f"was drawn from another corpus: {len(strangers)} of its items are not in this one ({shown})"
        raise BadInput(Problem(sample.name, f"{message}; draw a new sample or give the decisions it was drawn from"))
    actual = items_hash(known)
    if sample.meta is not None and sample.meta.items not in ("", actual):
        message = f"was drawn from another corpus: expected items with hash {sample.meta.items}, found {actual}"
        wish = "some items were added or taken away since; draw a new sample"
        raise BadInput(Problem(sample.name, f"{message} ({len(known)} items); {wish}"))


def with_stratum_size(sample: Sample) -> pl.DataFrame:
    """The drawn items with the size of their stratum: as given, else n / probability.

    Where probabilities differ within a stratum that is the sum of 1 / probability (Horvitz and Thompson 1952),
    which is the same thing where they do not.
    """
    estimate = (1 / pl.col("probability")).sum().over("stratum")
    if "stratum_size" not in sample.frame.columns:
        return sample.frame.with_columns(stratum_size=estimate)
    return sample.frame.with_columns(pl.col("stratum_size").fill_null(estimate))


def read_meta(path: FilePath) -> SampleMeta | None:
    """The meta data beside a sample's file, where there is any."""
    meta = beside(path, META)
    return parsed_meta(read_text(meta), name=str(meta)) if meta.exists() else None


def parsed_meta(text: str, *, name: str) -> SampleMeta:
    try:
        meta = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadInput(Problem(name, f"expected JSON, found {error}")) from error
    if not isinstance(meta, dict):
        raise BadInput(Problem(name, f"expected a JSON object, found {type(meta).__name__}"))
    fields: dict[str, Any] = {"seed": None, "design": "", "systems": [], "items": ""} | meta
    shapes = {"seed": int | None, "design": str, "systems": list, "items": str}
    for key, shape in shapes.items():
        if not isinstance(fields[key], shape):
            raise BadInput(Problem(name, f"expected {key!r} to be {_words(key)}, found {fields[key]!r}"))
    extra = {key: value for key, value in meta.items() if key not in shapes}
    systems = tuple(str(system) for system in fields["systems"])
    return SampleMeta(fields["seed"], fields["design"], systems, fields["items"], extra)


def _words(key: str) -> str:
    return {"seed": "a whole number", "systems": "a list of names"}.get(key, "text")
