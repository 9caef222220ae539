"""Seeded tables for other tools to judge: `python make_tables.py > tables.json`.

Each table is a list of items, each item a list of labels by rater, null where a rater did not judge it.  In `whole`
nothing is missing, in `gaps` every item keeps at least two judgments, in `thin` some have one or none.
"""

from __future__ import annotations

import json
import sys

import numpy as np

SEED = 2013


def table(n_items: int, n_raters: int, n_labels: int, missing: float, least: int) -> list[list[int | None]]:
    rng = np.random.default_rng([SEED, n_items, n_raters, n_labels])
    truth = rng.integers(1, n_labels + 1, size=n_items)
    near = truth[:, None] + rng.integers(-1, 2, size=(n_items, n_raters))
    labels = np.where(rng.random((n_items, n_raters)) < 0.6, truth[:, None], np.clip(near, 1, n_labels))
    gone = rng.random((n_items, n_raters)) < missing
    gone[:, :least] = False
    return [
        [None if missed else int(label) for label, missed in zip(*row, strict=True)]
        for row in zip(labels.tolist(), gone.tolist(), strict=True)
    ]


if __name__ == "__main__":
    tables = {
        "whole": table(40, 4, 3, 0.0, 4),
        "gaps": table(60, 6, 5, 0.4, 2),
        "thin": table(80, 5, 4, 0.6, 0),
        "two": table(120, 2, 4, 0.0, 2),
    }
    json.dump(tables, sys.stdout)
