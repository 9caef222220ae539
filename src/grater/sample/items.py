"""Blanks for the sample's cloze test: one preposition at random in a sentence, among those that nobody marked.

The nouns of the sample's study of constructions: the paper's design on a corpus a thousand times smaller.

So few essays have few nouns that come often: three phrases are enough here to say how a noun is mostly used.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from grater.detect.articles.design import item_rows, places_of, select
from grater.detect.detector import Detector, Finding
from grater.detect.prepositions.candidates import PREP
from grater.model import DELETE, Essay
from grater.rng import generator
from grater.sample.raters import Blank
from grater.text.analysis import analyse_all
from grater.text.prepositions import canonical
from grater.text.sentences import sentences_of

N_BLANKS = 200
"""As many as in the paper (T&C 2008, section 4.1)."""


def sample_blanks(essays: Sequence[Essay], detector: Detector, *, n: int = N_BLANKS, seed: int = 0) -> list[Blank]:
    """So many blanks, each with what the detector would fill in and what else it thinks of."""
    rng = generator(seed, "sample blanks")
    by_essay: dict[str, list[Finding]] = {}
    for finding in detector.find(essays):
        if finding.item.kind == PREP:
            by_essay.setdefault(finding.item.essay_id, []).append(finding)
    chosen = [
        _blank(inside[int(rng.integers(len(inside)))])
        for essay in essays
        for inside in _by_sentence(essay, by_essay.get(essay.essay_id, []))
    ]
    picked = sorted(rng.choice(len(chosen), size=min(n, len(chosen)), replace=False).tolist())
    return [chosen[place] for place in picked]


def _by_sentence(essay: Essay, findings: Sequence[Finding]) -> Iterator[list[Finding]]:
    fine = [each for each in findings if not any(edit.span.touches(each.item.span) for edit in essay.edits)]
    for sentence in sentences_of(essay):
        inside = [each for each in fine if sentence.covers(each.item.span)]
        if inside:
            yield inside


def _blank(finding: Finding) -> Blank:
    written = canonical(finding.target) or finding.target
    likely = [word for word, _ in finding.probabilities if word != DELETE]
    return Blank(finding.item.item_id, written, [word for word in likely if word != written], likely[0])


LEAST = 3


def sample_noun_items(essays: Sequence[Essay], *, seed: int = 0) -> list[dict[str, Any]]:
    """The rows of the table of items, ten for each noun phrase."""
    analysed = zip(essays, analyse_all(essays), strict=True)
    places = [place for essay, sentences in analysed for place in places_of(essay.essay_id, sentences)]
    return [dict(row) for row in item_rows(select(places, least=LEAST, seed=seed))]
