"""What each filter does on learner text: `python -m benchmarks.detect filters`.

CoNLL-2014, prepositions only, all types together, against at least two of the ten annotators and weighted: with
all filters, with each left out, with none.
"""

from __future__ import annotations

from dataclasses import replace

from benchmarks.detect.data import cell, conll14, keep, table
from benchmarks.detect.learners import CHANCE, at_least, decided

from grater.corpora.judgments import items_of, judgments_from_edits
from grater.detect.prepositions.detector import NAMES, PrepositionDetector
from grater.detect.systems import load_system
from grater.evaluate.cases import cases_of
from grater.evaluate.standard import against, weighted
from grater.evaluate.truth import Truth


def main(names: list[str]) -> dict[str, object]:
    essays = conll14()
    result: dict[str, object] = {}
    for name in names:
        detector = load_system(name)
        if not isinstance(detector, PrepositionDetector):
            continue
        decisions = decided(essays, [replace(each, kinds=("prep",)) for each in variants(detector)])
        judged = judgments_from_edits(essays, items_of(decisions), tags={"Prep"}, name="CoNLL-2014")
        cases = cases_of(decisions, judged)
        hard = {each.system: each for each in against(cases, at_least(cases, 2), chance=CHANCE)}
        share = Truth("share", cases.share, is_graded=True, is_of_votes=True)
        soft = {each.system: each for each in weighted(cases, share, chance=CHANCE)}
        print(f"\n### Filters of {name}\n")
        rows = []
        for system in cases.systems:
            one, other = hard[system], soft[system]
            flags = f"{one.counts.hit + one.counts.false_alarm:.0f}"
            scores = [one["precision"], one["recall"], other["precision"], other["recall"]]
            rows.append([system, flags, *map(cell, scores)])
        table(["filters", "flags", "P (2 of 10)", "R (2 of 10)", "P weighted", "R weighted"], rows)
        result[name] = rows
    keep("filters", result)
    return result


def variants(detector: PrepositionDetector) -> list[PrepositionDetector]:
    """All filters, each left out in turn, none; named after what they are."""
    kept = {
        "all": NAMES,
        **{f"without {name}": [each for each in NAMES if each != name] for name in NAMES},
        "none": [],
    }
    return [replace(detector.with_filters(names), name=title) for title, names in kept.items()]
