"""The constructions of nouns in a corpus: how frequent each is, and how predictable each noun.

Lee, Tetreault & Chodorow 2009, Table 1.  Only open phrases count (`phrases`).  Shares have Wilson's interval; phrases
are taken as independent, which makes it a little too narrow.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

import polars as pl

from grater.detect.articles.constructions import CONSTRUCTIONS, Noun, nouns_of
from grater.detect.articles.phrases import noun_phrases
from grater.detect.detector import grouped
from grater.model import Essay, Json
from grater.result import Result, encode
from grater.sheet import Sheet, count, counted, interval, number
from grater.signature import Signature, digest
from grater.statistics.proportions import wilson
from grater.text.analysis import analyse_all

Row: TypeAlias = tuple[str | None, str, int, float, float | None, float | None]

MOST = 25
"""Nouns in a sheet."""

LEAST = 10
"""Phrases that a noun must have to be listed."""


@dataclass(frozen=True, slots=True, repr=False)
class NounConstructions(Result):
    """All nouns of a corpus, and those to list, most frequent first; a sheet has at most `most` of them."""

    nouns: tuple[Noun, ...]
    listed: tuple[Noun, ...]
    signature: Signature
    most: int = MOST

    @property
    def totals(self) -> list[int]:
        """Phrases in each construction, over all nouns."""
        return [sum(noun.counts[code] for noun in self.nouns) for code in range(len(CONSTRUCTIONS))]

    def to_dict(self) -> dict[str, Json]:
        totals = self.totals
        shares: list[Json] = [
            {"construction": name, "n": n, "share": encode(wilson(n, sum(totals)))}
            for name, n in zip(CONSTRUCTIONS, totals, strict=True)
        ]
        return {
            "phrases": sum(totals),
            "different_nouns": len(self.nouns),
            "constructions": shares,
            "nouns": [_noun_dict(noun) for noun in self.listed],
            "signature": str(self.signature),
        }

    def to_frame(self) -> pl.DataFrame:
        """One row per noun and construction: count and share; without a noun, over all nouns, with an interval."""
        columns = ("noun", "construction", "n", "value", "low", "high")
        return pl.DataFrame([*self._total_rows(), *self._noun_rows()], schema=columns, orient="row")

    def _total_rows(self) -> Iterator[Row]:
        for name, n in zip(CONSTRUCTIONS, self.totals, strict=True):
            share = wilson(n, sum(self.totals))
            yield None, name, n, share.value, share.low, share.high

    def _noun_rows(self) -> Iterator[Row]:
        for noun in self.listed:
            for name, n in zip(CONSTRUCTIONS, noun.counts, strict=True):
                yield noun.noun, name, n, n / noun.n, None, None

    def sheets(self) -> tuple[Sheet, ...]:
        """The constructions over all nouns, and each noun."""
        totals = self.totals
        rows = tuple(
            (name, count(n), interval(wilson(n, sum(totals)))) for name, n in zip(CONSTRUCTIONS, totals, strict=True)
        )
        words = f"95 % intervals generalise to other nouns like these {sum(totals):,}, taken as independent."
        all_nouns = Sheet("Constructions of head nouns", ("construction", "n", "share"), rows, notes=(words,))
        return all_nouns, self._noun_sheet()

    def _noun_sheet(self) -> Sheet:
        short = [name.replace("singular", "sg").replace("plural", "pl").replace("-", " ") for name in CONSTRUCTIONS]
        rows = tuple(
            (
                noun.noun,
                count(noun.n),
                *(number(n / noun.n, digits=2) for n in noun.counts),
                short[noun.dominant],
                f"{noun.entropy:.2f}",
            )
            for noun in self.listed[: self.most]
        )
        more = len(self.listed) > self.most
        return Sheet(
            "Nouns (sg singular, pl plural)",
            ("noun", "n", *short, "mostly", "entropy"),
            rows,
            notes=(f"{self.most} of {counted(len(self.listed), 'noun')}.",) if more else (),
            signature=str(self.signature),
        )


def noun_constructions(
    essays: Iterable[Essay], *, least: int = LEAST, only: Collection[str] = (), most: int = MOST
) -> NounConstructions:
    """Count the constructions of all nouns; list `only` these nouns, or those with at least `least` phrases."""
    nouns = nouns_of(_constructions(essays))
    listed = [noun for noun in nouns if (noun.noun in only if only else noun.n >= least)]
    data = digest(f"{noun.noun} {noun.counts}" for noun in nouns)
    signature = Signature("nouns", {"data": data, "least": str(least)})
    return NounConstructions(nouns=tuple(nouns), listed=tuple(listed), signature=signature, most=most)


def _constructions(essays: Iterable[Essay]) -> Iterator[tuple[str, int]]:
    """The noun and the construction of every open phrase."""
    for group in grouped(essays):
        for sentences in analyse_all(group):
            for sentence in sentences:
                for phrase in noun_phrases(sentence):
                    if phrase.is_of_study:
                        yield phrase.noun, phrase.construction


def _noun_dict(noun: Noun) -> Json:
    return {
        "noun": noun.noun,
        "n": noun.n,
        "dominant": CONSTRUCTIONS[noun.dominant],
        "entropy": noun.entropy,
        "is_count": noun.is_count,
        "counts": dict(zip(CONSTRUCTIONS, noun.counts, strict=True)),
    }
