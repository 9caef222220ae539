"""What may make an item hard to judge, worked out from its text: frequency, surprise, length, alternatives.

T,C&M 2013, 5.5: frequent n-grams in clean sentences were easy to judge; rare strings, garbled sentences and places
where several words are good were hard.  For each item of an essay:

- `frequency`: how often a million words of good text have the item's words between their two neighbours, by the
  n-gram model of prep-lm (log10);
- `surprise`: the mean surprisal of the sentence by the same model, in bits per word: garbled sentences have more;
- `length`: the tokens of the sentence;
- `alternatives`: for a preposition, how many there are to choose from in effect, 2 to the entropy of what prep-maxent
  finds likely there; empty for other items.

An item that lies in no sentence of the essays at hand has none of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import log

import numpy as np
import polars as pl

from grater.detect.detector import grouped
from grater.detect.ngrams.language_model import NOTHING, LanguageModel
from grater.detect.prepositions.candidates import PREP, Candidate, Engine, preposition_places
from grater.detect.prepositions.linear import prep_maxent
from grater.detect.prepositions.ngram import NgramEngine
from grater.detect.prepositions.ngram import load as prep_lm
from grater.model import Essay, Item, Span
from grater.tables import Table
from grater.text.analysis import Sentence, analyse_all

FACTORS = ("frequency", "surprise", "length", "alternatives")
PER_MILLION = 6.0
LOG2, LOG10 = log(2), log(10)
DECIMALS = 4
TYPES: dict[str, type] = {"item": str, "frequency": float, "surprise": float, "length": int}


def with_factors(items: Table, essays: Iterable[Essay]) -> Table:
    """The table of items with a column for every factor, in place of any that it had of these names."""
    asked: dict[str, list[tuple[str, Item]]] = {}
    for row in items.frame.select("item", "essay", "start", "end", "kind").iter_rows(named=True):
        item = Item(str(row["essay"]), Span(row["start"], row["end"]), str(row["kind"]))
        asked.setdefault(item.essay_id, []).append((str(row["item"]), item))
    rows = list(factor_rows(asked, essays))
    known = pl.DataFrame(rows, schema={**TYPES, "alternatives": pl.Float64}, orient="row")
    frame = items.frame.drop(FACTORS, strict=False).with_columns(pl.col("item").cast(pl.String))
    return replace(items, frame=frame.join(known, on="item", how="left"))


def factor_rows(
    asked: Mapping[str, Sequence[tuple[str, Item]]], essays: Iterable[Essay]
) -> Iterator[tuple[object, ...]]:
    """Name, frequency, surprise, length and alternatives of each item in these essays."""
    language, choice = _language_model(), prep_maxent().engine
    wanted = (essay for essay in essays if essay.essay_id in asked)
    for group in grouped(wanted):
        for essay, sentences in zip(group, analyse_all(group), strict=True):
            for sentence in sentences:
                inside = [(name, item) for name, item in asked[essay.essay_id] if _is_in(sentence, item.span)]
                if inside:
                    yield from _of_sentence(sentence, inside, language, choice)


def _language_model() -> LanguageModel:
    engine = prep_lm().engine
    assert isinstance(engine, NgramEngine)
    return engine.model


def _is_in(sentence: Sentence, span: Span) -> bool:
    return bool(sentence.spans) and sentence.spans[0].start <= span.start and span.end <= sentence.spans[-1].end


def _of_sentence(
    sentence: Sentence, inside: Sequence[tuple[str, Item]], language: LanguageModel, choice: Engine
) -> Iterator[tuple[object, ...]]:
    ids = language.vocabulary.sentence(sentence.words)
    surprise = -language.sentence_log_p(sentence.words) / (len(sentence.words) + 1) / LOG2  # the end is one more
    choices = _choices(sentence, choice) if any(item.kind == PREP for _, item in inside) else {}
    for name, item in inside:
        first, last = _tokens(sentence, item.span)
        frequency = _frequency(language, ids[first : last + 3], is_first=first == 0)
        numbers = (round(frequency, DECIMALS), round(surprise, DECIMALS), len(sentence.words))
        yield name, *numbers, choices.get(first) if item.kind == PREP else None


def _tokens(sentence: Sentence, span: Span) -> tuple[int, int]:
    """The first and the last token that a span touches; of a gap, the token after it."""
    touched = [
        place for place, token in enumerate(sentence.spans) if token.end > span.start and token.start < span.end
    ]
    if touched:
        return touched[0], touched[-1]
    after = next((place for place, token in enumerate(sentence.spans) if token.start >= span.start), None)
    place = len(sentence.spans) - 1 if after is None else after
    return place, place


def _frequency(language: LanguageModel, ids: np.ndarray[tuple[int], np.dtype[np.int64]], *, is_first: bool) -> float:
    """log10 of how often a million words have these, by the chain of their probabilities.

    `ids` begins with the token before the item; where the item comes first that is the edge of the sentence, which
    counts as certain.
    """
    padded = np.concatenate([np.full(language.order - 1, NOTHING), ids])
    rows = np.lib.stride_tricks.sliding_window_view(padded, language.order)
    return float(language.log_p(rows)[int(is_first) :].sum()) / LOG10 + PER_MILLION


def _choices(sentence: Sentence, choice: Engine) -> dict[int, float]:
    """By token, the effective number of prepositions to choose from."""
    places = list(preposition_places(sentence))
    if not places:
        return {}
    scores = choice.scores([Candidate(sentence, place, PREP) for place in places])[:, :-1]
    shares = np.exp(scores - scores.max(axis=1, keepdims=True))
    shares = shares / shares.sum(axis=1, keepdims=True)
    entropy = -(shares * np.log2(np.where(shares > 0, shares, 1))).sum(axis=1)
    return dict(zip(places, np.round(2**entropy, DECIMALS).tolist(), strict=True))
