"""Factors that may make an item hard to judge, computed from its text.

T,C&M 2013, 5.5: frequent n-grams in clean sentences and prepositions of time and place were easy to judge; rare
strings, garbled sentences, another error next to the target, and places where several words are good were hard. For
each item of an essay:

- `frequency`: the frequency per million words of the item's words between their two neighbours, by the n-gram model
  of prep-lm (log10);
- `surprise`: the mean surprisal of the sentence by the same model, in bits per word: garbled sentences have more;
- `length`: the tokens of the sentence;
- `alternatives`: for a preposition, the effective number of choices, 2 to the entropy of prep-maxent's distribution;
  empty for other items;
- `error_nearby`: whether an annotator corrected something else within three tokens of the item, yes or no; empty for
  unannotated essays;
- `use`: for a preposition `time`, `place` or `other`, by the noun that it governs (a list of common nouns);
- `sentence`: the text, with the item in brackets.

An item in no sentence of the given essays has none of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import log

import numpy as np
import polars as pl

from grater.corpora.text.analysis import Sentence, analyse_all
from grater.detect.detector import grouped
from grater.detect.linear import softmax
from grater.detect.ngrams.language_model import NOTHING, LanguageModel
from grater.detect.prepositions.candidates import PREP, Candidate, Engine, preposition_places
from grater.detect.prepositions.engines import NgramEngine, prep_lm, prep_maxent
from grater.model import Essay, Item, Span
from grater.tables import Table

FACTORS = ("frequency", "surprise", "length", "alternatives", "error_nearby", "use", "sentence")
NEARBY = 3
TIME_NOUNS = (
    "afternoon age april august autumn beginning birthday century christmas date day decade december end evening "
    "february friday future hour january july june lunch march may midnight minute moment monday month morning night "
    "noon november o'clock october past period saturday second september spring start summer sunday thursday time "
    "today tomorrow tuesday wednesday week weekend while winter year yesterday"
)
PLACE_NOUNS = (
    "africa airport america apartment area asia bank beach bed bedroom bridge building bus cafe campus car centre "
    "center church cinema city class classroom company corner country countryside desk europe factory farm field "
    "floor forest garden ground home hospital hotel house island kitchen lake library market mountain museum office "
    "park place plane region restaurant river road room school sea shop side sky square station store street "
    "supermarket table theatre top town train university village wall world zoo"
)
LOCATIVE = "above across along around at behind between by from in inside into near on over through to under within"
"""Prepositions of place, and common nouns of uses that are easy to judge."""
TIME, PLACE, OF_PLACE = (frozenset(words.split()) for words in (TIME_NOUNS, PLACE_NOUNS, LOCATIVE))
PER_MILLION = 6.0
LOG2, LOG10 = log(2), log(10)
DECIMALS = 4
TYPES = {
    "item": pl.String,
    "frequency": pl.Float64,
    "surprise": pl.Float64,
    "length": pl.Int64,
    "alternatives": pl.Float64,
    "error_nearby": pl.String,
    "use": pl.String,
    "sentence": pl.String,
}


def with_factors(items: Table, essays: Iterable[Essay]) -> Table:
    """The table of items with a column for every factor, replacing columns of these names."""
    asked: dict[str, list[tuple[str, Item]]] = {}
    for row in items.frame.select("item", "essay", "start", "end", "kind").iter_rows(named=True):
        item = Item(str(row["essay"]), Span(row["start"], row["end"]), str(row["kind"]))
        asked.setdefault(item.essay_id, []).append((str(row["item"]), item))
    known = pl.DataFrame(list(factor_rows(asked, essays)), schema=TYPES, orient="row")
    frame = items.frame.drop(FACTORS, strict=False).with_columns(pl.col("item").cast(pl.String))
    return replace(items, frame=frame.join(known, on="item", how="left"))


def factor_rows(
    asked: Mapping[str, Sequence[tuple[str, Item]]], essays: Iterable[Essay]
) -> Iterator[tuple[object, ...]]:
    """The name and the factors of each item in these essays."""
    engine = prep_lm().engine
    assert isinstance(engine, NgramEngine)
    language, choice = engine.model, prep_maxent().engine
    for group in grouped(essay for essay in essays if essay.essay_id in asked):
        held = [
            (sentence, essay, inside)
            for essay, sentences in zip(group, analyse_all(group), strict=True)
            for sentence in sentences
            if (inside := [named for named in asked[essay.essay_id] if _is_in(sentence, named[1].span)])
        ]
        if held:
            places = [
                _Place(n, *named, *_tokens(each, named[1].span), essay)
                for n, (each, essay, own) in enumerate(held)
                for named in own
            ]
            yield from _rows([sentence for sentence, _, _ in held], places, language, choice)


@dataclass(frozen=True, slots=True)
class _Place:
    """An item: the index of its sentence, its name, and the first and last token that it touches."""

    sentence: int
    name: str
    item: Item
    first: int
    last: int
    essay: Essay


def _is_in(sentence: Sentence, span: Span) -> bool:
    return bool(sentence.spans) and sentence.spans[0].start <= span.start and span.end <= sentence.spans[-1].end


def _tokens(sentence: Sentence, span: Span) -> tuple[int, int]:
    """The first and the last token that a span touches; of a gap, the token after it."""
    spans = list(enumerate(sentence.spans))
    touched = [place for place, token in spans if token.end > span.start and token.start < span.end]
    after = next((place for place, token in spans if token.start >= span.start), len(spans) - 1)
    return (touched[0], touched[-1]) if touched else (after, after)


def _rows(
    sentences: Sequence[Sentence], places: Sequence[_Place], language: LanguageModel, choice: Engine
) -> Iterator[tuple[object, ...]]:
    """The rows of items in some sentences, whose words are looked up together."""
    ids = [language.vocabulary.sentence(sentence.words).tolist() for sentence in sentences]
    # Bits per word of each sentence, its end one more word.
    chains = [_windows(language, each)[1:] for each in ids]
    surprises = [-log_p / len(chain) / LOG2 for log_p, chain in zip(_log_p(language, chains), chains, strict=True)]
    frequencies = _frequencies(language, ids, places)
    with_prepositions = sorted({place.sentence for place in places if place.item.kind == PREP})
    choices = _choices({number: sentences[number] for number in with_prepositions}, choice)
    for place, frequency in zip(places, frequencies, strict=True):
        alternatives = choices.get((place.sentence, place.first)) if place.item.kind == PREP else None
        numbers = (round(frequency, DECIMALS), round(surprises[place.sentence], DECIMALS))
        sentence = sentences[place.sentence]
        yield place.name, *numbers, len(sentence.words), alternatives, *_texts(place, sentence)


def _texts(place: _Place, sentence: Sentence) -> tuple[str | None, str | None, str]:
    """Whether another error is near, the use of a preposition, and the sentence with the item in brackets."""
    essay, span = place.essay, place.item.span
    nearby = None
    if essay.annotators or essay.edits:
        low = sentence.spans[max(0, place.first - NEARBY)].start
        high = sentence.spans[min(len(sentence.spans) - 1, place.last + NEARBY)].end
        others = (edit.span for edit in essay.edits if edit.span.end <= span.start or edit.span.start >= span.end)
        is_near = any(other.start <= high and other.end >= low for other in others if other != span)
        nearby = "yes" if is_near else "no"
    start, end = sentence.spans[0].start, sentence.spans[-1].end
    text = f"{essay.text[start : span.start]}[{span.of(essay.text)}]{essay.text[span.end : end]}"
    return nearby, _use(sentence, place.last) if place.item.kind == PREP else None, " ".join(text.split())


def _use(sentence: Sentence, at: int) -> str:
    """Time or place, by the noun that the preposition governs."""
    head = ""
    for word, tag in zip(sentence.words[at + 1 :], sentence.tags[at + 1 :], strict=True):
        if tag.startswith("NN") or tag == "CD" or word.casefold() in TIME:
            head = word.casefold()
        elif head or not tag.startswith(("DT", "JJ", "PRP$", "PDT")):
            break
    is_year = head.isdigit() and len(head) == 4
    if is_year or {head, head.removesuffix("s")} & TIME:
        return "time"
    is_place = {head, head.removesuffix("s"), head.removesuffix("es")} & PLACE
    return "place" if is_place and sentence.words[at].casefold() in OF_PLACE else "other"


def _frequencies(
    language: LanguageModel, sentences: Sequence[Sequence[int]], places: Sequence[_Place]
) -> list[float]:
    """log10 of the frequency per million of each item's words between its neighbours.

    It comes from the chain of conditional probabilities, starting at the token before the item; at the start of a
    sentence, the sentence edge counts as certain.
    """
    chains = [
        _windows(language, sentences[place.sentence][place.first : place.last + 3])[int(place.first == 0) :]
        for place in places
    ]
    return [log_p / LOG10 + PER_MILLION for log_p in _log_p(language, chains)]


def _windows(language: LanguageModel, ids: Sequence[int]) -> list[tuple[int, ...]]:
    """Each word after those before it: like `LanguageModel.rows` with the first word, but faster for a few words."""
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
    scores = choice.scores([Candidate(sentences[number], token, PREP) for number, token in tokens])
    shares = softmax(scores[:, :-1])
    entropy = -(shares * np.log2(np.where(shares > 0, shares, 1))).sum(axis=1)
    return dict(zip(tokens, np.round(2**entropy, DECIMALS).tolist(), strict=True))
