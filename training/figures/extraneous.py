"""Extraneous prepositions on a balanced set, for README.md: `python -m figures extraneous [SYSTEM ...]`.

The set, in the manner of Madnani et al. 2011: tokens of CoNLL-2014 that at least 2 of 10 annotators delete as `Prep`,
with as many prepositions that none of the ten touched (no edit on them or at their rims), drawn with seed 0.  A token
that is deleted and is none of our 34 prepositions counts as missed.  `P, all` uses every untouched preposition,
weighted down to the number of errors.  A system's margin is what it gives to none over what it gives to the written
preposition.  Thresholds: the margins that 1, 2.2 or 3 % of the correct uses in well-formed text exceed that no model
was trained on (`onestop`), and `own`, which the system comes with, for running text, where few uses are wrong.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import islice

import numpy as np

from figures.data import cell, conll14, lines_of, table
from grater.corpora.text.analysis import analyse
from grater.detect.prepositions.candidates import (
    PREP,
    Candidate,
    Engine,
    answer_of,
    preposition_places,
)
from grater.detect.prepositions.detector import PrepositionDetector, margins
from grater.detect.systems import load_system
from grater.model import Essay, Interval
from grater.uncertainty import generator, wilson
from grater.uncertainty.sampled import mover_ratio

SYSTEMS = ("prep-lm", "prep-maxent", "prep-perceptron", "prep-both")
LEAST = 2
SHARES = (0.01, 0.022, 0.03)
N_NATIVE = 24_000
Values = np.ndarray[tuple[int], np.dtype[np.float64]]


def learners(essays: Sequence[Essay]) -> tuple[list[Candidate], list[Candidate]]:
    wrong, untouched = [], []
    for essay in essays:
        for sentence in analyse(essay):
            deleters = defaultdict(set)
            for edit in essay.edits:
                if edit.tag == "Prep" and "" in edit.replacements:
                    deleters[edit.span].add(edit.rater)
            is_touched = [
                any(span.start <= edit.span.end and edit.span.start <= span.end for edit in essay.edits)
                for span in sentence.spans
            ]
            places = range(len(sentence.words))
            wrong += [
                Candidate(sentence, place, PREP) for place in places if len(deleters[sentence.spans[place]]) >= LEAST
            ]
            untouched += [
                Candidate(sentence, place, PREP) for place in preposition_places(sentence) if not is_touched[place]
            ]
    return wrong, untouched


def native() -> list[Candidate]:
    """Correct uses."""
    sentences = (sentence for line in lines_of("native/onestop.txt.xz") for sentence in analyse(line.strip()))
    uses = (Candidate(sentence, place, PREP) for sentence in sentences for place in preposition_places(sentence))
    return list(islice(uses, N_NATIVE))


def margins_of(engine: Engine, candidates: Sequence[Candidate]) -> Values:
    """The margin of none; -inf for a word that is none of the 34."""
    written = [answer_of(candidate) for candidate in candidates]
    found: Values = margins(engine.scores(candidates), written).values[:, 1]
    return found


def main(names: Sequence[str]) -> None:
    wrong, untouched = learners(conll14())
    well_formed = native()
    drawn = generator(0, "extraneous").permutation(len(untouched))[: len(wrong)]
    print(f"{len(wrong)} deleted by {LEAST} or more, {len(untouched)} untouched, {len(well_formed)} native\n")
    rows = []
    for name in names or SYSTEMS:
        detector = load_system(name)
        assert isinstance(detector, PrepositionDetector)
        bad, good, usual = (margins_of(detector.engine, each) for each in (wrong, untouched, well_formed))
        thresholds = {f"{share:.1%}": float(np.quantile(usual, 1 - share)) for share in SHARES}
        for title, threshold in {**thresholds, "own": detector.thresholds.extraneous}.items():
            hits, alarms = int((bad > threshold).sum()), int((good[drawn] > threshold).sum())
            recall = wilson(hits, len(bad))
            odds = mover_ratio(wilson(int((good > threshold).sum()), len(good)), recall)
            balanced = Interval(1 / (1 + odds.value), 1 / (1 + odds.high), 1 / (1 + odds.low))
            scores = [wilson(hits, hits + alarms), balanced, recall]
            rows.append([name, title, f"{(usual > threshold).mean():.3f}", *map(cell, scores)])
    table(["system", "threshold", "native flagged", "P", "P, all", "R"], rows)
