"""Essays mined for extraneous prepositions: their uses, the counts and the suspects, and what is built from verdicts.

The same for command and study: `mine` looks, a person accepts or rejects (`verdicts`), `balanced_from` builds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from grater.detect.mining.balanced import N_EACH, N_GOLD, Balanced, balance, beyond_suspicion
from grater.detect.mining.ranking import RATIO, Suspect, rank, wanted_ngrams
from grater.detect.mining.sources import Counts
from grater.detect.mining.uses import Use, by_trigram
from grater.detect.mining.verdicts import YES
from grater.errors import UsageError

Counter: TypeAlias = Callable[[set[tuple[str, ...]]], Counts]
"""Looks up wanted n-grams."""


@dataclass(frozen=True, slots=True)
class Mined:
    """The uses of prepositions in the essays, their counts, and the suspects among them, worst first."""

    uses: list[Use]
    counts: Counts
    suspects: list[Suspect]


def mine(uses: Sequence[Use], count: Counter, *, least_bigram: float = 1, ratio: float = RATIO) -> Mined:
    """The suspects among the uses of prepositions."""
    if not (least_bigram >= 0 and ratio >= 0):  # nan is neither, and would compare with nothing
        raise UsageError(f"expected a least count and a ratio of 0 or more, found {least_bigram} and {ratio}")
    counts = count(wanted_ngrams(uses))
    return Mined(list(uses), counts, rank(uses, counts, least_bigram=least_bigram, ratio=ratio))


def balanced_from(
    mined: Mined,
    verdicts: Mapping[str, str],
    *,
    rng: np.random.Generator,
    n_each: int = N_EACH,
    n_gold: int = N_GOLD,
) -> Balanced:
    """The balanced corpus of the accepted trigrams, worst first; correct uses are no suspects and on no list."""
    places = by_trigram(mined.uses)
    rank_of = {suspect.words: place for place, suspect in enumerate(mined.suspects)}
    accepted = [trigram for trigram, verdict in verdicts.items() if verdict == YES]
    missing = [trigram for trigram in accepted if trigram not in places]
    if missing:
        raise UsageError(f"{missing[0]!r} is accepted but not in these essays; name the same ones")
    accepted.sort(key=lambda trigram: rank_of.get(trigram, len(rank_of)))
    attested = {use.trigram for use in mined.uses if mined.counts.get(use.trigram, 0) > 0}
    listed = {places[trigram][0].trigram for trigram in verdicts if trigram in places}
    correct = beyond_suspicion(mined.uses, attested, listed | {suspect.trigram for suspect in mined.suspects})
    return balance([places[trigram] for trigram in accepted], correct, rng=rng, n_each=n_each, n_gold=n_gold)
