"""What each group of features is worth: `python -m benchmarks.detect groups`.

Models that are not pruned, of a tenth of `native`: all 25 features, and each group left out.
"""

from __future__ import annotations

from benchmarks.detect.data import cell, keep, table
from benchmarks.detect.training_events import accuracy, events, test_events

from grater.detect.learning.events import HELD_OUT
from grater.detect.prepositions.features import ALL, TEMPLATES

SHARE = 12
"""Folds up to this one are trained on."""


def main(names: list[str]) -> dict[str, object]:  # noqa: ARG001 (all parts are called alike)
    whole = events()
    train = whole.part((whole.folds >= HELD_OUT) & (whole.folds < SHARE))
    tests = {"held out": whole.part(whole.folds < HELD_OUT)}
    tests["Brown"] = test_events("native-test/brown.txt.xz", whole.vocabulary)
    rows = []
    result: dict[str, object] = {}
    for title, templates in variants().items():
        found = accuracy(train, tests, templates=templates)
        rows.append([title, *(cell(value) for value in found.values())])
        result[title] = {name: value.as_json() for name, value in found.items()}
        print(rows[-1], flush=True)
    table(["features", *tests], rows)
    keep("groups", result)
    return result


def variants() -> dict[str, tuple[int, ...]]:
    """The templates of each variant by their places; the prior is always there."""
    places = range(len(TEMPLATES))
    prior = ALL.index(ALL[-1])
    groups = dict.fromkeys(template.group for template in TEMPLATES)
    without = {
        f"without {group}": (*(place for place in places if TEMPLATES[place].group != group), prior)
        for group in groups
    }
    return {"all": (), **without}
