"""The figures of `article` in README.md: `python -m figures articles [native ablation confidence learners]`.

Native text: Brown, never trained on, and the held-out passages of the training mix.  Learner text: CoNLL-2014 with
the ten annotators of Bryant & Ng 2015, its sentences in their documents.  Thresholds come from corrupted native
text; nothing was tuned here.  `ablation` trains eight models on part of the mix and takes some minutes.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np
import numpy.typing as npt
import polars as pl

from figures.data import cell, learner_essays, lines_of, table
from figures.prepositions import BASIS, at_least, decided
from grater.corpora.judgments import items_of, judgments_from_edits
from grater.detect.articles.constructions import CONSTRUCTIONS, EDGES, entropy
from grater.detect.articles.detector import TYPE, ArticleDetector, ArticleModel, Caution, article, completed
from grater.detect.articles.detector import TYPES as OF_TYPE
from grater.detect.articles.features import (
    AGREEMENT,
    COLUMN,
    CONTEXT,
    ENTROPY,
    PRIOR,
    SENTENCE,
    TEMPLATES,
    WORDS,
)
from grater.detect.articles.phrases import QUANTIFIERS
from grater.detect.linear import TAG_NUMBERS, Rows
from grater.detect.ngrams.counts import HELD_OUT, fold_of
from grater.measure.evaluation.cases import cases_of, f_score, truth_of
from grater.measure.evaluation.standard import Scored, against, each_rater
from grater.model import Essay, Interval
from grater.uncertainty import generator, wilson
from grater_train import fitting as features_of
from grater_train.articles import ENTROPY as OF_ENTROPY
from grater_train.articles import (
    MOST_PASSAGES,
    PAIRS,
    ArticleOptions,
    Trial,
    batch_of,
    fitted,
    fitted_caution,
    gathered,
    passages,
    trial_of,
)
from grater_train.events import Batch, Events, Labels
from grater_train.fitting import fit_maxent

EVERY = 3
"""The ablation learns from every third passage of what the shipped model has read."""
BAG = ("l1", "l2", "l3", "m1", "m2", "r1", "r2", "r3")
OFFICIAL = {"A7": "official annotator 0", "A3": "official annotator 1"}
TAGS = {"article": "ArtOrDet", "number": "Nn"}
LOW = 0.35
"""Strengths from here on are of low entropy: 1.5 bits or less."""


@dataclass(frozen=True, slots=True, eq=False)
class Text:
    """Noun phrases of a text: rows with the numbers of one vocabulary, and what stood there."""

    rows: Rows
    labels: Labels


def native() -> None:
    """The shipped model on Brown and on the held-out part of its own mix."""
    model = article().model
    texts = {"Brown": numbered(brown(), model), "held-out mix": numbered(held_out(), model)}
    rows = []
    for name, text in texts.items():
        counts = np.bincount(text.labels, minlength=len(CONSTRUCTIONS))
        seen, hidden = (right_of(model, text, with_agreement=each) for each in (True, False))
        majority = wilson(int(counts.max()), len(text.labels))
        rows.append([name, f"{len(text.labels):,}", cell(majority), cell(share(hidden)), cell(share(seen))])
    table(["text", "phrases", "majority class", "verb hidden", "verb seen"], rows)
    by_ease(model, texts["Brown"])
    by_entropy(model, texts["Brown"])


def by_ease(model: ArticleModel, text: Text) -> None:
    """Apart: phrases with a number or a quantifier, which the paper's study leaves out as too easy."""
    quantifiers = list(model.vocabulary.numbers(sorted(QUANTIFIERS)))
    tags = text.rows[:, [COLUMN["m1.tag"], COLUMN["m2.tag"]]]
    is_easy = (tags == TAG_NUMBERS["CD"]).any(axis=1) | np.isin(text.rows[:, COLUMN["m1"]], quantifiers)
    seen, hidden = (right_of(model, text, with_agreement=each) for each in (True, False))
    rows = [
        [name, f"{int(where.sum()):,}", cell(share(hidden[where])), cell(share(seen[where]))]
        for name, where in {"any construction is open": ~is_easy, "a number or quantifier": is_easy}.items()
    ]
    table(["Brown: phrases where", "phrases", "verb hidden", "verb seen"], rows)


def by_entropy(model: ArticleModel, text: Text) -> None:
    found = [model.habits.of(number) for number in text.rows[:, COLUMN["head"]].tolist()]
    bits = np.array([np.nan if shares is None else entropy(shares) for shares in found])
    edges = (0.0, *EDGES, 9.0)
    parts = {f"{low} to {high} bits": (bits >= low) & (bits < high) for low, high in itertools.pairwise(edges)}
    parts = {name.replace("2.0 to 9.0", "above 2.0"): where for name, where in parts.items()}
    parts["rare noun"] = np.isnan(bits)
    seen, hidden = (right_of(model, text, with_agreement=each) for each in (True, False))
    rows = [
        [name, f"{int(where.sum()):,}", cell(share(hidden[where])), cell(share(seen[where]))]
        for name, where in parts.items()
    ]
    table(["entropy of the noun", "phrases", "verb hidden", "verb seen"], rows)


def columns_of(*groups: str) -> tuple[int, ...]:
    """The templates of some groups."""
    return tuple(column for column, template in enumerate(TEMPLATES) if template.group in groups)


def ablation() -> None:
    """What context and entropy add, each by itself, on the same part of the mix; and simpler guesses."""
    events = gathered(mix())
    brown_rows = renumbered(brown(), events.vocabulary.numbers)
    print(f"trained on {int((events.folds >= HELD_OUT).sum()):,} noun phrases\n", flush=True)
    rows = []
    for name, columns in {
        "head noun alone": (
            TEMPLATES.index(next(each for each in TEMPLATES if each.name == "head")),
            *columns_of(PRIOR),
        ),
        "sentence": columns_of(SENTENCE, PRIOR),
        "sentence, entropy": columns_of(SENTENCE, ENTROPY, PRIOR),
        "sentence, context": columns_of(SENTENCE, CONTEXT, PRIOR),
        "sentence, context, entropy": columns_of(SENTENCE, CONTEXT, ENTROPY, PRIOR),
        "all, verb too": columns_of(SENTENCE, CONTEXT, ENTROPY, AGREEMENT, PRIOR),
    }.items():
        model = fitted(events, ArticleOptions(templates=columns))
        text = Text(completed(brown_rows.rows, model.habits, model.classes), brown_rows.labels)
        right = right_of(model, text, with_agreement=name.startswith("all"))
        rows.append([name, cell(share(right))])
        print(rows[-1], flush=True)
    rows.insert(1, ["bag of nearby words", cell(share(bag_right(events, brown_rows, BAG)))])
    rows.insert(2, ["the same with the noun", cell(share(bag_right(events, brown_rows, ("head", *BAG))))])
    table(["features", "Brown"], rows)


def bag_right(events: Events, text: Text, fields: Sequence[str]) -> npt.NDArray[np.bool_]:
    """Which phrases the words in some fields, in no order, get right."""
    is_used = events.folds >= HELD_OUT
    keys = np.concatenate([_bag(events.rows[is_used], fields), _bag(text.rows, fields)])
    n_used = int(is_used.sum())
    dictionary, features = features_of.numbered(keys)
    rng = generator(0, "bag")
    labels = events.labels[is_used]
    weights = fit_maxent(features[:n_used], labels, len(dictionary), len(CONSTRUCTIONS), rng=rng)
    found: npt.NDArray[np.bool_] = weights[features[n_used:]].sum(axis=1).argmax(axis=1) == text.labels
    return found


def _bag(rows: Rows, fields: Sequence[str]) -> npt.NDArray[np.uint32]:
    """One key a word, whatever its place; the last is the prior."""
    words = rows[:, [COLUMN[name] for name in fields]]
    return np.concatenate([words, np.full((len(words), 1), -1, np.int32)], axis=1).view(np.uint32).copy()


def confidence() -> None:
    """The corrections: fitted to half of the held-out passages with errors put in, tried on the rest."""
    detector = article()
    fitting, testing = (trial_of(detector.model, each, seed=1) for each in halves())
    cautions = {
        "margin alone": fitted_caution(fitting, corrections=()),
        "with entropy": fitted_caution(fitting, corrections=(OF_ENTROPY,)),
        "with pairs": fitted_caution(fitting, corrections=(PAIRS,)),
        "with both": fitted_caution(fitting),
    }
    rows = []
    for name, caution in cautions.items():
        hit, false_alarm, miss = testing.outcomes(caution)
        precision, recall = wilson(hit, hit + false_alarm), wilson(hit, hit + miss)
        at = [precision_at(testing, caution, recall_wanted) for recall_wanted in (0.3, 0.4, 0.5)]
        f_half = f_score(np.array([hit, false_alarm, miss, 0.0]), 0.5)
        rows.append([name, cell(precision), cell(recall), f"{f_half:.3f}", *map(cell, at)])
    table(["confidence", "P", "R", "F0.5", "P at R .3", "P at R .4", "P at R .5"], rows)
    by_habit(testing, cautions["with both"])
    systems = [replace(detector, name=name, caution=caution) for name, caution in cautions.items()]
    essays = learner_essays()
    shown = []
    for kind in TAGS:
        for judge, scores in learner_scores(essays, systems, kind, judges=("majority", "any")).items():
            shown += [[f"{kind}, {judge}", each.system, f"{_n_flags(each):.0f}", *_cells(each)] for each in scores]
    table(["CoNLL-2014", "confidence", "flags", "P", "R", "F0.5"], shown)


def precision_at(trial: Trial, caution: Caution, recall: float) -> Interval:
    """The precision where thresholds of all types are moved together until so many errors are found."""
    thresholds = np.array([*(min(getattr(caution, name), 99.0) for name in OF_TYPE), np.inf])
    excess = (trial.confidence(caution) - thresholds[TYPE[trial.written]]).max(axis=1)
    hits = np.cumsum(trial.is_error[np.argsort(-excess, kind="stable")])
    place = int(np.searchsorted(hits, recall * hits[-1]))
    return wilson(int(hits[place]), place + 1)


def by_habit(trial: Trial, caution: Caution) -> None:
    """Flags for nouns of low and high entropy, towards their dominant construction and towards others."""
    thresholds = np.array([*(getattr(caution, name) for name in OF_TYPE), np.inf])
    excess = trial.confidence(caution) - thresholds[TYPE[trial.written]]
    best = excess.argmax(axis=1)
    places = np.arange(len(best))
    is_flagged = excess[places, best] > 0
    strength = trial.strength[places, best]
    parts = {"low": np.abs(strength) >= LOW, "high": (np.abs(strength) < LOW) & (strength != 0)}
    rows = []
    for name, where in parts.items():
        for to, which in {"dominant": strength > 0, "another": strength < 0}.items():
            here = where & which
            flagged = here & is_flagged
            precision = wilson(int((flagged & trial.is_error).sum()), int(flagged.sum()))
            flag_rate = wilson(int(flagged.sum()), int(here.sum()))
            rows.append([name, to, f"{int(flagged.sum())}", cell(flag_rate), cell(precision)])
    table(["entropy of the noun", "suggestion", "flags", "flagged, of such phrases", "P"], rows)


def learners() -> None:
    """Precision and recall against each official annotator, the majority of ten, and any of ten."""
    detector = article()
    essays = learner_essays()
    systems = [detector, replace(detector, name="verb seen", with_agreement=True)]
    systems += [
        replace(detector, name=f"{by} lower", caution=lowered(detector.caution, by)) for by in (0.5, 1.0, 2.0)
    ]
    result = []
    for kind, tag in TAGS.items():
        print(f"\n### {kind} ({tag})\n")
        rows = [
            [judge, f"{each.counts.hit + each.counts.miss:.0f}", each.system, f"{_n_flags(each):.0f}", *_cells(each)]
            for judge, scores in learner_scores(essays, systems, kind).items()
            for each in scores
        ]
        table(["judge", "errors", "system", "flags", "P", "R", "F0.5"], rows)
        result.append(rows)


def lowered(caution: Caution, by: float) -> Caution:
    """All thresholds lower: more is flagged, and more of it wrongly."""
    return replace(caution, **{name: getattr(caution, name) - by for name in OF_TYPE})


def learner_scores(
    essays: list[Essay], systems: Sequence[ArticleDetector], kind: str, *, judges: Sequence[str] = ()
) -> dict[str, list[Scored]]:
    """Every system by judge, on the items of one kind."""
    decisions = decided(essays, list(systems))
    decisions = replace(decisions, frame=decisions.frame.filter(pl.col("kind") == kind))
    judgments = judgments_from_edits(essays, items_of(decisions), tags={TAGS[kind]}, name="CoNLL-2014")
    cases = cases_of(decisions, judgments)
    found: dict[str, list[Scored]] = {}
    if not judges:
        by_rater = each_rater(cases, basis=BASIS)
        found |= {name: by_rater[rater] for rater, name in OFFICIAL.items()}
    found["majority of ten"] = against(cases, truth_of(cases, "majority"), basis=BASIS)
    found["any of ten"] = against(cases, at_least(cases, 1), basis=BASIS)
    return found


def _cells(scored: Scored) -> list[str]:
    return [cell(scored[name]) for name in ("precision", "recall", "f0.5")]


def _n_flags(scored: Scored) -> float:
    return scored.counts.hit + scored.counts.false_alarm


def brown() -> Iterator[Batch]:
    yield from map(batch_of, passages(lines_of("native-test/brown.txt.xz")))


def mix() -> Iterator[Batch]:
    for name, of in _shares().items():
        yield from map(batch_of, islice(passages(lines_of(f"native/{name}.txt.xz"), share=of), 0, None, EVERY))


def held_out_passages() -> Iterator[list[str]]:
    """Passages that the shipped model has not seen, of every source."""
    for name, of in _shares().items():
        for passage in passages(lines_of(f"native/{name}.txt.xz"), share=of):
            if fold_of(passage[0]) < HELD_OUT:
                yield passage


def _shares() -> dict[str, float]:
    """The share of each source that the model's card says it has read."""
    named = article().card["shares"]
    return {str(name): float(value) for name, value in named.items()}  # type: ignore[union-attr,arg-type]


def held_out() -> Iterator[Batch]:
    yield from map(batch_of, held_out_passages())


def halves() -> tuple[list[list[str]], list[list[str]]]:
    """Held-out passages in two parts."""
    found = list(held_out_passages())
    return found[::2][:MOST_PASSAGES], found[1::2][:MOST_PASSAGES]


def numbered(batches: Iterable[Batch], model: ArticleModel) -> Text:
    text = renumbered(batches, model.vocabulary.numbers)
    return Text(completed(text.rows, model.habits, model.classes), text.labels)


def renumbered(batches: Iterable[Batch], numbers: Callable[[Iterable[str]], Iterator[int]]) -> Text:
    """Batches with the numbers of a vocabulary."""
    rows, labels = [], []
    for batch in batches:
        new = np.array([0, *numbers(batch.words)], np.int32)
        own = batch.rows.copy()
        own[:, : len(WORDS)] = new[own[:, : len(WORDS)]]
        rows.append(own)
        labels.append(batch.labels)
    return Text(np.concatenate(rows), np.concatenate(labels))


def right_of(model: ArticleModel, text: Text, *, with_agreement: bool) -> npt.NDArray[np.bool_]:
    found: npt.NDArray[np.bool_] = (
        model.scores(text.rows, with_agreement=with_agreement).argmax(axis=1) == text.labels
    )
    return found


def share(right: npt.NDArray[np.bool_]) -> Interval:
    return wilson(int(right.sum()), len(right))


PARTS: dict[str, Callable[[], None]] = {
    "native": native,
    "ablation": ablation,
    "confidence": confidence,
    "learners": learners,
}


def main(names: Sequence[str]) -> None:
    for part in names or PARTS:
        print(f"\n## {part}\n", flush=True)
        PARTS[part]()
