"""The nouns of a corpus and the items of the paper's study (Lee, Tetreault & Chodorow 2009).

*Nouns* (Table 1): how frequent each construction is, and how predictable each noun.  Only open phrases count
(`phrases`).  Intervals of shares are by text: the document where it is known, else the essay.

*Items* (section 3.3): which nouns, which sentences.  Easy phrases are left out (`phrases`), and so are non-count
nouns.  Nouns are divided by their dominant construction and ranked by entropy; of each of the five sets the `nouns`
highest and the `nouns` lowest are taken.  For each noun, `sentences` phrases are drawn for each of the seven cells of
Table 3: null singular, null plural, *a* singular, and *the* singular and plural, each with the noun in the sentences
before (anaphoric) or not.  Every place is judged in two stages of five constructions, so it gives ten items.

The draw uses each place's permanent random number, so a larger study contains the smaller one. The paper does not say
how rare a noun may be; we require `least` open phrases, because with fewer its entropy is mostly chance. Shortfalls
are reported: the paper got 368 of its 420.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Literal

import numpy as np
import polars as pl

from grater.corpora.text.analysis import Sentence
from grater.detect.articles.constructions import CONSTRUCTIONS, Noun, nouns_of
from grater.detect.articles.features import N_CONTEXT
from grater.detect.articles.phrases import noun_phrases, within_reach, written_as
from grater.detect.detector import analysed
from grater.model import Essay, Interval, Item, Json, Span, document_of, short_hash
from grater.result import HIDDEN, Data, Result, in_json, key
from grater.sheet import Sheet, Signature, count, counted, digest, interval, number, undefined_notes
from grater.uncertainty import Basis, Numbers, Scope, permanent_number, shares_by_unit

MOST = 25
"""Nouns in a sheet."""

LEAST = 10
"""Phrases that a noun must have to be listed."""


@dataclass(frozen=True, slots=True, repr=False)
class NounConstructions(Result):
    """All nouns of a corpus, and those to list, most frequent first; a sheet has at most `most` of them."""

    nouns: tuple[Noun, ...] = field(metadata=HIDDEN)
    listed: tuple[Noun, ...] = field(metadata=HIDDEN)
    by_text: Numbers = field(metadata=HIDDEN, compare=False)
    """Phrases in each construction, a row for each text."""
    signature: Signature
    most: int = field(default=MOST, metadata=HIDDEN)

    @property
    def totals(self) -> list[int]:
        """Phrases in each construction, over all nouns."""
        return [sum(noun.counts[code] for noun in self.nouns) for code in range(len(CONSTRUCTIONS))]

    @property
    def shares(self) -> list[Interval]:
        """The share of each construction, over all nouns."""
        n = self.by_text.sum(axis=1)
        return [shares_by_unit(hits, n, "essay") for hits in self.by_text.T]

    @property
    @in_json()
    def scope(self) -> Scope:
        return Scope("essay", len(self.by_text))

    @property
    @in_json()
    def warnings(self) -> tuple[str, ...]:
        return self.scope.warnings

    @property
    def reasons(self) -> tuple[str, ...]:
        return tuple(undefined_notes(self.shares))

    @property
    @in_json(flat=True)
    def _numbers(self) -> dict[str, Json]:
        totals = self.totals
        return {
            "phrases": sum(totals),
            "different_nouns": len(self.nouns),
            "constructions": [
                {"construction": name, "n": n, "share": share.as_json()}
                for name, n, share in zip(CONSTRUCTIONS, totals, self.shares, strict=True)
            ],
            "nouns": [
                {
                    "noun": noun.noun,
                    "n": noun.n,
                    "dominant": CONSTRUCTIONS[noun.dominant],
                    "entropy": noun.entropy,
                    "is_count": noun.is_count,
                    "counts": dict(zip(CONSTRUCTIONS, noun.counts, strict=True)),
                }
                for noun in self.listed
            ],
        }

    def to_frame(self) -> pl.DataFrame:
        """One row per noun and construction: count and share; without a noun, over all nouns, with an interval."""
        rows: list[tuple[str | None, str, int, float, float | None, float | None]] = [
            (None, name, n, share.value, share.low, share.high)
            for name, n, share in zip(CONSTRUCTIONS, self.totals, self.shares, strict=True)
        ]
        for noun in self.listed:
            shares = zip(CONSTRUCTIONS, noun.counts, strict=True)
            rows += [(noun.noun, name, n, n / noun.n, None, None) for name, n in shares]
        columns = ("noun", "construction", "n", "value", "low", "high")
        return pl.DataFrame(rows, schema=columns, orient="row")

    def sheets(self) -> tuple[Sheet, ...]:
        """The constructions over all nouns, and each noun."""
        rows = tuple(
            (name, count(n), interval(share))
            for name, n, share in zip(CONSTRUCTIONS, self.totals, self.shares, strict=True)
        )
        short = [name.replace("singular", "sg").replace("plural", "pl").replace("-", " ") for name in CONSTRUCTIONS]
        nouns = []
        for noun in self.listed[: self.most]:
            shares = (number(n / noun.n, digits=2) for n in noun.counts)
            nouns.append((noun.noun, count(noun.n), *shares, short[noun.dominant], f"{noun.entropy:.2f}"))
        is_cut = len(self.listed) > self.most
        notes = (*([f"{self.most} of {counted(len(self.listed), 'noun')}."] if is_cut else []), self.scope.sentence)
        columns = ("noun", "n", *short, "mostly", "entropy")
        return (
            Sheet("Constructions of head nouns", ("construction", "n", "share"), rows, notes=self.reasons),
            Sheet("Nouns (sg singular, pl plural)", columns, tuple(nouns), notes, str(self.signature)),
        )


def noun_constructions(
    essays: Iterable[Essay], *, least: int = LEAST, only: Collection[str] = (), most: int = MOST
) -> NounConstructions:
    """Count the constructions of all nouns; list the nouns in `only`, or those with at least `least` phrases."""
    texts: dict[str, Numbers] = {}
    nouns = nouns_of(_constructions(essays, texts))
    listed = [noun for noun in nouns if (noun.noun in only if only else noun.n >= least)]
    data = digest(f"{noun.noun} {noun.counts}" for noun in nouns)
    signature = Signature("nouns", {"data": data, "least": str(least), **Basis().signature("essay")})
    by_text = np.array(list(texts.values())).reshape(-1, len(CONSTRUCTIONS))
    return NounConstructions(
        nouns=tuple(nouns), listed=tuple(listed), by_text=by_text, signature=signature, most=most
    )


def _constructions(essays: Iterable[Essay], texts: dict[str, Numbers]) -> Iterator[tuple[str, int]]:
    """The noun and construction of every open phrase; `texts` collects the counts of each text."""
    for essay, sentences in analysed(essays):
        counts = texts.setdefault(document_of(essay) or essay.essay_id, np.zeros(len(CONSTRUCTIONS)))
        for phrase in (phrase for sentence in sentences for phrase in noun_phrases(sentence)):
            if phrase.is_of_study:
                counts[phrase.construction] += 1
                yield phrase.noun, phrase.construction


STAGES = ("no-context", "in-context")
DEFINITE = frozenset(("the-singular", "the-plural"))
Side = Literal["high", "low"]


@dataclass(frozen=True, slots=True)
class NounPlace:
    """A noun phrase that could be judged; `words` is the phrase in each construction."""

    essay_id: str
    span: Span
    noun: str
    construction: int
    is_anaphoric: bool
    words: tuple[str, ...]

    @property
    def cell(self) -> Cell:
        """Its cell of Table 3."""
        name = CONSTRUCTIONS[self.construction]
        return Cell(name, self.is_anaphoric if name in DEFINITE else None)


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of Table 3; without *the*, previous mention does not matter (None)."""

    construction: str
    is_anaphoric: bool | None = None


CELLS = tuple(
    Cell(name, is_anaphoric)
    for name in CONSTRUCTIONS
    for is_anaphoric in ((True, False) if name in DEFINITE else (None,))
)


def _chosen_json(noun: Noun) -> dict[str, Json]:
    return {"noun": noun.noun, "entropy": noun.entropy, "dominant": CONSTRUCTIONS[noun.dominant], "n": noun.n}


@dataclass(frozen=True, slots=True)
class ChosenNoun(Data):
    """A noun of the study, of high or low entropy among those with the same dominant construction."""

    noun: Noun = field(metadata=key(flat=True, write=_chosen_json))
    side: Side


@dataclass(frozen=True, slots=True)
class Shortfall:
    """A shortfall: missing nouns of a set, or missing phrases of a noun in a cell."""

    where: str
    wanted: int
    found: int


@dataclass(frozen=True, slots=True, repr=False)
class Design(Result):
    """The nouns, the places with their noun, and what is missing."""

    nouns: tuple[ChosenNoun, ...]
    places: tuple[tuple[NounPlace, ChosenNoun], ...] = field(metadata=key(write=len))
    shortfalls: tuple[Shortfall, ...]
    n_wanted: int

    @property
    @in_json("n_items")
    def n_items(self) -> int:
        return len(self.places) * len(STAGES) * len(CONSTRUCTIONS)

    def to_frame(self) -> pl.DataFrame:
        """The table of items: ten rows for each place."""
        return pl.DataFrame(list(item_rows(self)))

    def sheets(self) -> tuple[Sheet, ...]:
        """The nouns, and the shortfalls."""
        nouns = tuple(
            (chosen.noun.noun, chosen.side, CONSTRUCTIONS[chosen.noun.dominant], f"{chosen.noun.entropy:.2f}")
            for chosen in self.nouns
        )
        title = f"{len(self.places):,} of {self.n_wanted:,} places, {counted(self.n_items, 'item')}"
        notes = tuple(
            f"{shortfall.where}: {shortfall.found} instead of {shortfall.wanted}" for shortfall in self.shortfalls
        )
        return (Sheet(title, ("noun", "side", "mostly", "entropy"), nouns, notes=notes),)


def places_in(essays: Iterable[Essay], *, n_context: int = N_CONTEXT) -> list[NounPlace]:
    """The places of all essays."""
    read = analysed(essays)
    return [place for essay, own in read for place in places_of(essay.essay_id, own, n_context=n_context)]


def places_of(essay_id: str, sentences: Iterable[Sentence], *, n_context: int = N_CONTEXT) -> Iterator[NounPlace]:
    """The phrases of an essay that fit all five constructions; anaphoric if the noun was mentioned shortly before."""
    before: deque[Counter[str]] = deque(maxlen=n_context)
    for sentence in sentences:
        phrases = list(noun_phrases(sentence))
        for phrase in phrases:
            if phrase.is_of_study and len(within_reach(phrase)) == len(CONSTRUCTIONS):
                spans = sentence.spans
                yield NounPlace(
                    essay_id=essay_id,
                    span=Span(spans[phrase.left].start, spans[phrase.head].end),
                    noun=phrase.noun,
                    construction=phrase.construction,
                    is_anaphoric=any(phrase.noun in nouns for nouns in before),
                    words=tuple(written_as(phrase, target) for target in range(len(CONSTRUCTIONS))),
                )
        before.append(Counter(phrase.noun for phrase in phrases))


def select(
    places: Sequence[NounPlace], *, nouns: int = 3, sentences: int = 2, least: int = 30, seed: int = 0
) -> Design:
    """The study: `nouns` on each side of each construction, `sentences` in each cell."""
    candidates = [
        noun
        for noun in nouns_of((place.noun, place.construction) for place in places)
        if noun.n >= least and noun.is_count
    ]
    chosen: list[ChosenNoun] = []
    shortfalls: list[Shortfall] = []
    for code, name in enumerate(CONSTRUCTIONS):
        of_set = [noun for noun in candidates if noun.dominant == code]
        ranked = sorted(of_set, key=lambda noun: (-noun.entropy, noun.noun))
        high = ranked[: min(nouns, (len(ranked) + 1) // 2)]  # where a set is small, no noun is both
        sides: tuple[tuple[Side, list[Noun]], ...] = (("high", high), ("low", ranked[len(high) :][-nouns:][::-1]))
        for side, of in sides:
            chosen += [ChosenNoun(noun, side) for noun in of]
            if len(of) < nouns:
                shortfalls.append(Shortfall(f"nouns mostly {name}, {side} entropy", nouns, len(of)))
    by_cell: defaultdict[tuple[str, Cell], list[NounPlace]] = defaultdict(list)
    wanted = {chosen_noun.noun.noun for chosen_noun in chosen}
    for place in places:
        if place.noun in wanted:
            by_cell[place.noun, place.cell].append(place)
    chosen_places: list[tuple[NounPlace, ChosenNoun]] = []
    for chosen_noun, cell in product(chosen, CELLS):
        drawn = _drawn(by_cell[chosen_noun.noun.noun, cell], sentences, seed)
        chosen_places += [(place, chosen_noun) for place in drawn]
        if len(drawn) < sentences:
            shortfalls.append(Shortfall(f"{chosen_noun.noun.noun}: {_named(cell)}", sentences, len(drawn)))
    n_wanted = 2 * nouns * len(CONSTRUCTIONS) * sentences * len(CELLS)
    return Design(nouns=tuple(chosen), places=tuple(chosen_places), shortfalls=tuple(shortfalls), n_wanted=n_wanted)


def item_rows(design: Design) -> Iterator[dict[str, object]]:
    """The rows of the items table: ten for each place."""
    for place, chosen in design.places:
        about = {
            "noun": place.noun,
            "original": CONSTRUCTIONS[place.construction],
            "anaphoric": place.is_anaphoric,
            "entropy": chosen.side,
            "dominant": CONSTRUCTIONS[chosen.noun.dominant],
        }
        span = place.span
        for stage in STAGES:
            group = short_hash(f"{place.essay_id}|{span.start}|{span.end}|{stage}")
            for name, words in zip(CONSTRUCTIONS, place.words, strict=True):
                item = Item(place.essay_id, span, f"construction/{stage}/{name}")
                where = {"item": item.item_id, "essay": place.essay_id, "start": span.start, "end": span.end}
                yield {**where, "kind": item.kind, "group": group, **about, "words": words}


def _drawn(places: list[NounPlace], n: int, seed: int) -> list[NounPlace]:
    def number(place: NounPlace) -> float:
        return permanent_number(seed, f"{place.essay_id}|{place.span.start}|{place.span.end}")

    return sorted(sorted(places, key=number)[:n], key=lambda place: (place.essay_id, place.span))


def _named(cell: Cell) -> str:
    if cell.is_anaphoric is None:
        return cell.construction
    return f"{cell.construction}, {'mentioned before' if cell.is_anaphoric else 'not mentioned before'}"
