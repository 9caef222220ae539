"""Which of 34 prepositions the writer used, in Brown: `python -m benchmarks.detect selection`.

T&C 2008, Table 1, on text that nothing was trained or tuned on.
"""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.detect.data import brown_essays, cell, keep, table

from grater.detect.detector import grouped
from grater.detect.prepositions.detector import PrepositionDetector
from grater.detect.prepositions.selection import Selection, selections, tally_of
from grater.detect.systems import load_system
from grater.text.analysis import Sentence, analyse_all

TC2008 = {
    "in": 0.845,
    "for": 0.698,
    "of": 0.906,
    "on": 0.751,
    "to": 0.775,
    "with": 0.675,
    "at": 0.685,
    "by": 0.747,
    "as": 0.711,
    "from": 0.591,
    "about": 0.654,
}
"""F of Table 1, on Encarta and Reuters."""


def main(names: list[str]) -> dict[str, object]:
    found = {}
    for name in names:
        detector = load_system(name)
        if isinstance(detector, PrepositionDetector):
            found[name] = selections(tally_of(detector.engine, brown_sentences()))
    shown(found)
    result: dict[str, object] = {name: [each.as_json() for each in setups] for name, setups in found.items()}
    keep("selection", result)
    return result


def brown_sentences() -> Iterator[Sentence]:
    for group in grouped(brown_essays()):
        for sentences in analyse_all(group):
            yield from sentences


def shown(found: dict[str, list[Selection]]) -> None:
    rows = [
        [name, f"{each.n:,}", *(cell(setup.accuracy) for setup in setups), cell(each.majority)]
        for name, setups in found.items()
        for each in setups[:1]
    ]
    table(["system", "n", "34", "13 + Other", "five, one against the rest", "majority"], rows)
    of_each = {name: {row.preposition: row for row in setups[0].by_preposition} for name, setups in found.items()}
    table(
        ["preposition", *found, "T&C 2008"],
        [
            [word, *(cell(of_each[name][word].f1) for name in found), f"{figure:.3f}".removeprefix("0")]
            for word, figure in TC2008.items()
        ],
    )
