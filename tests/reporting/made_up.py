"""A small made-up study for the tests of reports: 60 items in 12 essays, three raters, two systems, two experts."""

from __future__ import annotations

import polars as pl

from grater.model import Edit, Essay, Span
from grater.reporting.build import Inputs
from grater.tables import Judgments, Table, read_decisions, read_items, read_judgments
from grater.uncertainty import generator

N_ITEMS, N_ESSAYS = 60, 12
TEXT = "We arrived <b>at</b> the station in the morning. " * 4


def judgments(raters: tuple[str, ...], *, wrong: float, seed: int) -> Judgments:
    rng = generator(seed, "made-up")
    rows = [
        {"item": f"i{place}", "rater": rater, "label": "error" if is_error != (rng.random() < wrong) else "ok"}
        for place in range(N_ITEMS)
        for rater in raters
        for is_error in [place % 4 == 0]
    ]
    return read_judgments(pl.DataFrame(rows))


def decisions() -> Table:
    rng = generator(5, "made-up")
    rows = []
    for place in range(N_ITEMS):
        for system, noise in (("careful", 0.3), ("bold_&_new", 0.8)):
            score = (place % 4 == 0) + noise * float(rng.normal())
            rows.append({"item": f"i{place}", "system": system, "flagged": score > 0.6, "score": score})
    return read_decisions(pl.DataFrame(rows))


def items() -> Table:
    places = pl.int_range(N_ITEMS, eager=True)
    ids = {"item": [f"i{place}" for place in places], "essay": [f"e{place % N_ESSAYS}" for place in places]}
    frame = pl.DataFrame({**ids, "start": 2 * places, "end": 2 * places + 2})
    return read_items(frame.with_columns(kind=pl.lit("prep"), target=pl.lit("at")))


def essays() -> list[Essay]:
    edits = tuple(
        Edit(Span(11, 20), ("in",), tag, rater) for rater, tag in (("R1", "Prep"), ("R2", "Prep"), ("R2", "Wci"))
    )
    return [Essay(f"e{n}", TEXT, () if n else edits, ("R1", "R2")) for n in range(N_ESSAYS)]


def inputs() -> Inputs:
    return Inputs(
        "A <made-up> study",
        essays(),
        judgments(("r1", "r2", "r3"), wrong=0.15, seed=1),
        judgments(("A", "B"), wrong=0.05, seed=2),
        decisions=decisions(),
        items=items(),
        hours=(0.0, 0.5, 2.0),
        cost="12.00 EUR",
        protocol=(("crowd", "gold", "75 of 1,000 items"),),
    )
