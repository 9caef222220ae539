"""Small crowds for the tests."""

from __future__ import annotations

import polars as pl

from grater.measure.crowd.simulate import Crowd, SimulatedCrowd, simulate
from grater.tables import Table
from grater.uncertainty import generator


def gold(**labels: str) -> Table:
    """Accepted labels of items, with | between."""
    return Table("gold", pl.DataFrame({"item": list(labels), "label": list(labels.values())}), "gold")


def mixed_crowd(seed: int = 1, *, labels: tuple[str, ...] = ("a", "b", "c")) -> SimulatedCrowd:
    """Three hundred items, thirty raters of every kind, seven judgments each."""
    crowd = Crowd(
        n_items=300, n_raters=30, n_each=7, labels=labels, spammers=0.2, biased=0.1, lazy=0.1, difficulty=0.05
    )
    return simulate(crowd, rng=generator(seed, "tests"))
