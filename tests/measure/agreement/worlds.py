"""Raters of essays that differ: a world for tests, made by nothing that is tested."""

from __future__ import annotations

import numpy as np
import polars as pl


def clustered(*, n_essays: int, n_items: int, n_raters: int, seed: int, spread: float = 1.2) -> pl.DataFrame:
    """Essays of more or fewer errors, easier or harder to judge; columns item, rater, label, essay."""
    rng = np.random.default_rng(seed)
    rows = []
    for essay in range(n_essays):
        error_rate, skill = 1 / (1 + np.exp(-rng.normal([-1.4, 2.0], spread)))
        for item in range(n_items):
            is_error = rng.random() < error_rate
            for rater in range(n_raters):
                says_error = is_error == (rng.random() < skill)
                rows.append((f"e{essay}-{item}", f"R{rater + 1}", "error" if says_error else "ok", f"e{essay}"))
    return pl.DataFrame(rows, schema=["item", "rater", "label", "essay"], orient="row")
