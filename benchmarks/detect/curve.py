"""Accuracy against the amount of training text: `python -m benchmarks.detect curve`.

Models that are not pruned, of a part of `native` (whole paragraphs, by their folds), on two folds held out and on
Brown.
"""

from __future__ import annotations

from benchmarks.detect.data import cell, keep, table
from benchmarks.detect.training_events import accuracy, events, test_events

from grater.detect.learning.events import HELD_OUT
from grater.detect.prepositions.candidates import NONE

SHARES = (4, 7, 12, 22, 42, 100)
"""Folds up to which is trained on, from the third."""


def main(names: list[str]) -> dict[str, object]:  # noqa: ARG001 (all parts are called alike)
    whole = events()
    tests = {"held out": whole.part(whole.folds < HELD_OUT)}
    tests["Brown"] = test_events("native-test/brown.txt.xz", whole.vocabulary)
    result: dict[str, object] = {}
    rows = []
    for share in SHARES:
        train = whole.part((whole.folds >= HELD_OUT) & (whole.folds < share))
        n = int((train.labels != NONE).sum())
        found = accuracy(train, tests)
        rows.append([f"{n:,}", *(cell(value) for value in found.values())])
        result[str(n)] = {name: value.as_json() for name, value in found.items()}
        print(rows[-1], flush=True)
    table(["prepositions", *tests], rows)
    keep("curve", result)
    return result
