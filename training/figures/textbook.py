"""Errors that every language course warns of: `python -m figures textbook [SYSTEM ...]`.

`textbook.tsv` has 200 sentences of our own, a hundred pairs: one with a textbook error, one without.  They were
written before the first neural model was trained and are never learnt from.  A row has the sentence, the kind and the
type of error that its pair is about, the span of the wrong words (an empty span is a gap; nothing, a right sentence)
and the corrections that are accepted (`-NONE-` for deletion), separated by `|`.

An error is found where a flag lies on its span, and corrected where the suggestion is accepted as well.  A right
sentence is falsely flagged by any flag at all, of whatever kind.
"""

from __future__ import annotations

import csv
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

from figures.data import table
from grater.detect.detector import Detector, Finding
from grater.detect.systems import load_systems
from grater.model import Essay, Span

SYSTEMS = ("context", "prep-maxent", "prep-both", "article")


def main(names: Sequence[str]) -> None:
    with Path(__file__).with_suffix(".tsv").open(encoding="utf-8", newline="") as stream:
        cases = list(csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE))
    for detector in load_systems(names or SYSTEMS):
        rows = [
            [name, f"{n['found']} of {n['wrong']}", f"{n['corrected']}", f"{n['flagged']} of {n['right']}"]
            for name, n in tallied(detector, cases).items()
        ]
        table([detector.name, "found", "corrected", "falsely flagged"], rows)


def tallied(detector: Detector, cases: Sequence[dict[str, str]]) -> dict[str, Counter[str]]:
    """The counts by name of error, and of all."""
    flags = defaultdict(list)
    for finding in detector.find(Essay(str(number), case["sentence"]) for number, case in enumerate(cases)):
        if finding.decision.flagged:
            flags[finding.item.essay_id].append(finding)
    tallies: dict[str, Counter[str]] = defaultdict(Counter)
    for number, case in enumerate(cases):
        name = case["kind"] if case["type"] == "number" else f"{case['kind']} ({case['type']})"
        counted = list(counts(case, flags[str(number)]))
        for each in (name, "all"):
            tallies[each].update(counted)
    return tallies


def counts(case: dict[str, str], flags: Sequence[Finding]) -> Iterator[str]:
    """What one sentence adds to the counts."""
    if not case["wrong"]:
        yield from ["right", "flagged"] if flags else ["right"]
        return
    wrong = Span(*map(int, case["wrong"].split("-")))
    here = [flag for flag in flags if is_on(flag.item.span, wrong)]
    yield from ["wrong", "found"] if here else ["wrong"]
    if any((flag.decision.suggestion or "") in case["corrections"].split("|") for flag in here):
        yield "corrected"


def is_on(flag: Span, wrong: Span) -> bool:
    """Whether a flag overlaps the wrong words; a gap is hit by an insertion there."""
    if flag.start == flag.end or wrong.start == wrong.end:
        return flag.start == wrong.start
    return flag.start < wrong.end and wrong.start < flag.end
