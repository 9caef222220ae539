"""Seeded tables for the comparison with crowd-kit: `python -m tests.measure.crowd.goldens.make_tables`, from the
root.

Raters and labels are renamed so that they first appear in the order of their names: in any other order crowd-kit
1.4.2 mixes up raters in MACE.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl

from grater.measure.crowd.simulate import Crowd, simulate
from grater.uncertainty import generator

CROWDS = {
    "two": Crowd(n_items=40, n_raters=9, n_each=4, spammers=0.25, lazy=0.15),
    "three": Crowd(n_items=50, n_raters=8, n_each=5, labels=("a", "b", "c"), spammers=0.15, biased=0.3),
}


def main() -> None:
    tables = {name: rows(crowd, name) for name, crowd in CROWDS.items()}
    text = ",\n".join(f' "{name}": {json.dumps(table)}' for name, table in tables.items())
    (Path(__file__).parent / "tables.json").write_text("{\n" + text + "\n}\n", encoding="utf-8")


def rows(crowd: Crowd, name: str) -> list[list[str]]:
    rng = generator(7, "goldens", name)
    frame = simulate(crowd, rng=rng).judgments.frame
    kept = frame.filter(pl.Series(rng.random(len(frame)) > 0.15))  # gaps: items with unequal numbers of judgments
    columns = [renamed(kept[column], letter) for column, letter in (("item", "i"), ("rater", "r"), ("label", "l"))]
    return [list(row) for row in zip(*columns, strict=True)]


def renamed(column: pl.Series, letter: str) -> list[str]:
    known = {name: f"{letter}{place:02}" for place, name in enumerate(column.unique(maintain_order=True), 1)}
    return [known[name] for name in column]


if __name__ == "__main__":
    np.seterr(all="raise")
    main()
