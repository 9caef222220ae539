"""The four crowd tasks of T,C&M 2013, 5.4 on the sample, with hidden gold and without: simulated, and labelled so.

Confused prepositions, extraneous prepositions, determiners and collocations: of each task 150 places at random, as
many as in the paper, two experts, and the crowd of `sample.raters` twice.  Of prepositions the experts are the two
annotators: a preposition is confused where one would write another, extraneous where one would delete it.  Of
determiners (the places that the article detector looks at) and of collocations (pairs of words) the annotators of the
sample marked too few together, so there the experts are simulated as well.

The cloze crowd is that of 5.2: ten raters a blank, who mostly write the writer's word where the blank is clear.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from grater.corpora.judgments import judgments_from_edits
from grater.corpora.text.analysis import Sentence, analyse_all
from grater.detect.articles.phrases import ARTICLE, noun_phrases, place_of
from grater.detect.prepositions.candidates import preposition_places
from grater.model import Essay, Item, Span
from grater.demo.raters import Blank, CrowdWish, sample_crowd
from grater.uncertainty.rng import generator

N_ITEMS = 150
PREPOSITION = "Wcip"
TASKS = {
    "confused prepositions": "prep-confused",
    "extraneous prepositions": "prep-extraneous",
    "determiners": "article",
    "collocations": "collocation",
}
"""The kinds of the four tasks, by what they are called."""


@dataclass(frozen=True, slots=True, eq=False)
class CrowdSample:
    """One task: its items, what the annotators say of them, and the crowd with gold and without."""

    name: str
    items: pl.DataFrame
    experts: pl.DataFrame
    with_gold: pl.DataFrame
    without_gold: pl.DataFrame


def crowd_tasks(essays: Sequence[Essay], *, seed: int = 0) -> list[CrowdSample]:
    """The four tasks."""
    analysed = [(essay, each) for essay, of in zip(essays, analyse_all(list(essays)), strict=True) for each in of]
    prepositions = [
        Item(essay.essay_id, sentence.spans[place], "prep")
        for essay, sentence in analysed
        for place in preposition_places(sentence)
    ]
    determiners = [
        Item(essay.essay_id, place_of(phrase, ARTICLE), TASKS["determiners"])
        for essay, sentence in analysed
        for phrase in noun_phrases(sentence)
        if phrase.is_checked
    ]
    pairs = [item for essay, sentence in analysed for item in _pairs(essay, sentence)]
    usage = _judged(essays, prepositions)
    sources = {
        "confused prepositions": _as_errors(prepositions, usage, "1", TASKS["confused prepositions"]),
        "extraneous prepositions": _as_errors(prepositions, usage, "0", TASKS["extraneous prepositions"]),
        "determiners": _simulated(list(dict.fromkeys(determiners)), generator(seed, "determiners")),
        "collocations": _simulated(pairs, generator(seed, "collocations")),
    }
    return [_task(name, judged, seed) for name, judged in sources.items()]


Judged = dict[Item, dict[str, str]]
"""What each annotator says of each item."""


def _judged(essays: Sequence[Essay], items: Sequence[Item]) -> Judged:
    """What the annotators say of prepositions, in the labels of usage."""
    by_id = {item.item_id: item for item in items}
    frame = judgments_from_edits(essays, by_id, tags=[PREPOSITION], labels="usage").frame
    judged: Judged = {item: {} for item in items}
    for item_id, rater, label in frame.select("item", "rater", "label").iter_rows():
        judged[by_id[item_id]][rater] = label
    return judged


def _as_errors(items: Sequence[Item], judged: Judged, wanted: str, kind: str) -> Judged:
    """One label of usage as the error that is asked about, the items under the kind of that question."""
    verdicts = {"0": "ok", "1": "ok", "2": "ok", wanted: "error"}
    return {
        replace(item, kind=kind): {rater: verdicts[label] for rater, label in judged[item].items()} for item in items
    }


ERRORS, SURE = 0.3, 0.93
"""The share of simulated items that are errors, and how often an expert sees what an item is."""


def _pairs(essay: Essay, sentence: Sentence) -> Iterator[Item]:
    """Every fifth pair of neighbouring words."""
    for place in range(1, len(sentence.words) - 2, 5):
        if sentence.words[place].isalpha() and sentence.words[place + 1].isalpha():
            span = Span(sentence.spans[place].start, sentence.spans[place + 1].end)
            yield Item(essay.essay_id, span, TASKS["collocations"])


def _simulated(items: Sequence[Item], rng: np.random.Generator) -> Judged:
    """Each item an error or not, as two simulated experts see it."""
    judged: Judged = {}
    for item in items:
        is_error = rng.random() < ERRORS
        sees = {rater: is_error == (rng.random() < SURE) for rater in ("A", "B")}
        judged[item] = {rater: "error" if says else "ok" for rater, says in sees.items()}
    return judged


def _task(name: str, judged: Judged, seed: int) -> CrowdSample:
    chosen = _chosen(judged, generator(seed, "sample crowds", name))
    marked = {item.item_id: sum(label == "error" for label in judged[item].values()) for item in chosen}
    experts = [(item.item_id, rater, label, "expert") for item in chosen for rater, label in judged[item].items()]
    places = [(item.item_id, item.essay_id, item.span.start, item.span.end, item.kind) for item in chosen]
    crowds = [sample_crowd(marked, CrowdWish(has_gold=has_gold, seed=seed + len(name))) for has_gold in (True, False)]
    return CrowdSample(
        name=name,
        items=pl.DataFrame(places, schema=["item", "essay", "start", "end", "kind"], orient="row"),
        experts=pl.DataFrame(experts, schema=["item", "rater", "label", "group"], orient="row"),
        with_gold=crowds[0],
        without_gold=crowds[1].with_columns(rater="x" + pl.col("rater").str.slice(1)),
    )


def _chosen(judged: Judged, rng: np.random.Generator) -> list[Item]:
    """Places at random that annotators have read, in the order of the text."""
    read = [item for item, said in judged.items() if said]
    drawn = rng.permutation(len(read))[:N_ITEMS].tolist()
    return sorted((read[place] for place in drawn), key=lambda item: (item.essay_id, item.span, item.kind))


CLEAR, OWN = 0.75, {True: 0.93, False: 0.5}
"""The share of clear blanks, and how often a rater writes the writer's word in a clear one, and in another."""

N_EACH = 10


def cloze_crowd(blanks: Sequence[Blank], *, n_raters: int = 40, seed: int = 0) -> pl.DataFrame:
    """Ten of a pool of raters for every blank (T,C&M 2013, 5.2)."""
    rng = generator(seed, "sample cloze crowd")
    rows = []
    for blank in blanks:
        own = OWN[bool(rng.random() < CLEAR)]
        others = list(blank.others) or [blank.written]
        for rater in sorted(rng.choice(n_raters, size=N_EACH, replace=False).tolist()):
            word = blank.written if rng.random() < own else str(rng.choice(others))
            rows.append((blank.item_id, f"w{rater + 1:02d}", word, "crowd"))
    return pl.DataFrame(rows, schema=["item", "rater", "label", "group"], orient="row")


def job_names(task: str) -> Mapping[str, str]:
    """What the jobs of a task are called: of the experts, and of the crowd with gold and without."""
    return {
        "experts": f"{task}, annotators",
        "with_gold": f"{task}, crowd with gold (simulated)",
        "without_gold": f"{task}, crowd without gold (simulated)",
    }


def tables_of(task: CrowdSample) -> Iterator[tuple[str, pl.DataFrame]]:
    """The names of its jobs and their judgments."""
    names = job_names(task.name)
    yield names["experts"], task.experts
    yield names["with_gold"], task.with_gold
    yield names["without_gold"], task.without_gold
