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
from dataclasses import dataclass, replace
from math import log

import numpy as np
import polars as pl

from grater.corpora.text.analysis import Sentence, analyse_all
from grater.detect.detector import grouped
from grater.detect.ngrams.language_model import NOTHING, LanguageModel
from grater.detect.prepositions.candidates import PREP, Candidate, Engine, preposition_places
from grater.detect.prepositions.engines import NgramEngine, prep_lm, prep_maxent
from grater.model import Essay, Item, Span
from grater.tables import Table

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
    engine = prep_lm().engine
    assert isinstance(engine, NgramEngine)
    language, choice = engine.model, prep_maxent().engine
    wanted = (essay for essay in essays if essay.essay_id in asked)
    for group in grouped(wanted):
        held = [
            (sentence, inside)
            for essay, sentences in zip(group, analyse_all(group), strict=True)
            for sentence in sentences
            if (inside := [named for named in asked[essay.essay_id] if _is_in(sentence, named[1].span)])
        ]
        if held:
            places = [
                _Place(n, *named, *_tokens(each, named[1].span))
                for n, (each, own) in enumerate(held)
                for named in own
            ]
            yield from _rows([sentence for sentence, _ in held], places, language, choice)


@dataclass(frozen=True, slots=True)
class _Place:
    """An item: the number of its sentence, its name, and the first and the last token that it touches."""

    sentence: int
    name: str
    item: Item
    first: int
    last: int


def _is_in(sentence: Sentence, span: Span) -> bool:
    return bool(sentence.spans) and sentence.spans[0].start <= span.start and span.end <= sentence.spans[-1].end


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


def _rows(
    sentences: Sequence[Sentence], places: Sequence[_Place], language: LanguageModel, choice: Engine
) -> Iterator[tuple[object, ...]]:
    """The rows of items in some sentences, whose words are looked up together."""
    ids = [language.vocabulary.sentence(sentence.words).tolist() for sentence in sentences]
    surprises, frequencies = _surprises(language, ids), _frequencies(language, ids, places)
    with_prepositions = sorted({place.sentence for place in places if place.item.kind == PREP})
    choices = _choices({number: sentences[number] for number in with_prepositions}, choice)
    for place, frequency in zip(places, frequencies, strict=True):
        alternatives = choices.get((place.sentence, place.first)) if place.item.kind == PREP else None
        numbers = (round(frequency, DECIMALS), round(surprises[place.sentence], DECIMALS))
        yield place.name, *numbers, len(sentences[place.sentence].words), alternatives


def _surprises(language: LanguageModel, sentences: Sequence[Sequence[int]]) -> list[float]:
    """Bits per word of each sentence, its end one more word."""
    chains = [_windows(language, ids)[1:] for ids in sentences]
    return [-log_p / len(chain) / LOG2 for log_p, chain in zip(_log_p(language, chains), chains, strict=True)]


def _frequencies(
    language: LanguageModel, sentences: Sequence[Sequence[int]], places: Sequence[_Place]
) -> list[float]:
    """log10 of how often a million words have each item's words between its neighbours.

    By the chain of their probabilities, from the token before the item on; where the item comes first that is the
    edge of the sentence, which counts as certain.
    """
    chains = [
        _windows(language, sentences[place.sentence][place.first : place.last + 3])[int(place.first == 0) :]
        for place in places
    ]
    return [log_p / LOG10 + PER_MILLION for log_p in _log_p(language, chains)]


def _windows(language: LanguageModel, ids: Sequence[int]) -> list[tuple[int, ...]]:
    """Each word after those before it: `LanguageModel.rows` with the first word, and faster for a few words."""
    padded = (*[NOTHING] * (language.order - 1), *ids)
    return [padded[start : start + language.order] for start in range(len(ids))]


def _log_p(language: LanguageModel, chains: Sequence[Sequence[tuple[int, ...]]]) -> list[float]:
    """The log-probability of each chain of words."""
    log_p = language.log_p(np.array([row for chain in chains for row in chain], np.int64))
    ends = np.cumsum([len(chain) for chain in chains])
    return [float(part.sum()) for part in np.split(log_p, ends[:-1])]


def _choices(sentences: Mapping[int, Sentence], choice: Engine) -> dict[tuple[int, int], float]:
    """By sentence and token, the effective number of prepositions to choose from."""
    tokens = [(number, token) for number, each in sentences.items() for token in preposition_places(each)]
    if not tokens:
        return {}
    scores = choice.scores([Candidate(sentences[number], token, PREP) for number, token in tokens])[:, :-1]
    shares = np.exp(scores - scores.max(axis=1, keepdims=True))
    shares = shares / shares.sum(axis=1, keepdims=True)
    entropy = -(shares * np.log2(np.where(shares > 0, shares, 1))).sum(axis=1)
    return dict(zip(tokens, np.round(2**entropy, DECIMALS).tolist(), strict=True))
