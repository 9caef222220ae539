"""The papers' own protocol: 70 % of a mix for training, 30 % held out: `python -m benchmarks.detect protocol`.

T&C 2008, section 3.2, on Encarta and Reuters; here on `native`, deduplicated by paragraph first.  The model that is
not pruned, in memory; Brown beside it.
"""

from __future__ import annotations

from benchmarks.detect.data import cell, keep, table
from benchmarks.detect.training_events import accuracy, events, test_events

TRAINED = 70
"""Folds of a hundred."""


def main(names: list[str]) -> dict[str, object]:  # noqa: ARG001 (all parts are called alike)
    whole = events()
    tests = {"30 % held out": whole.part(whole.folds >= TRAINED)}
    tests["Brown"] = test_events("native-test/brown.txt.xz", whole.vocabulary)
    found = accuracy(whole.part(whole.folds < TRAINED), tests)
    table(["test", "accuracy"], [[name, cell(value)] for name, value in found.items()])
    result: dict[str, object] = {name: value.as_json() for name, value in found.items()}
    keep("protocol", result)
    return result
