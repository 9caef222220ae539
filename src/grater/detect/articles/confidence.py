"""When to speak up: how sure it is that another construction is better, given the noun and the pair.

The margin of a construction over the written one is the difference of their log-probabilities.  Lee et al. 2009 ask
for two corrections (sections 4 and 5), which make the margin a *confidence*:

- within a pair that raters often call right together, a system should be less sure: `confusable` is added, below 0;
- confidence should know the noun's entropy.  With strength = 1 - entropy / log2 5, `own` times strength is added for
  the noun's dominant construction, and `other` times strength for any other.

The model's probabilities already lean towards the dominant construction of a noun of low entropy, as the paper wants;
`own` and `other` correct by how much.  All three are fitted to text with errors put in (`fitted_caution`): a logistic
regression of *is this an error?* on margin, type, pair and strength, divided by the weight of the margin.

A confidence must be above the threshold of its type: an article missing, extraneous or chosen wrongly, the number
wrong, or both the article and the number.  Where the noun's habits are not known, its strength is 0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from math import inf

import numpy as np

from grater.detect.articles.constructions import (
    ARTICLE_OF,
    CONSTRUCTIONS,
    NONE_OF_THEM,
    NUMBER_OF,
    is_confusable,
)
from grater.detect.articles.nouns import HIGHEST, share_entropy
from grater.detect.learning.scores import Scores
from grater.errors import UsageError
from grater.model import Json

TYPES = ("missing", "extraneous", "choice", "number", "both")
N = len(CONSTRUCTIONS)
FLOOR = -7.0
"""The log-probability of *a* with a plural, which no model of good text can give."""


@dataclass(frozen=True, slots=True)
class Caution:
    """What a confidence must exceed, by type, and the corrections that make it one."""

    missing: float = inf
    extraneous: float = inf
    choice: float = inf
    number: float = inf
    both: float = inf
    confusable: float = 0.0
    own: float = 0.0
    other: float = 0.0

    @staticmethod
    def of(numbers: object) -> Caution:
        """As a model's card has them."""
        names = {each.name for each in fields(Caution)}
        if not isinstance(numbers, Mapping) or not set(numbers) <= names:
            raise UsageError(f"expected thresholds for {', '.join(TYPES)}, found {numbers!r}")
        return Caution(**{name: inf if value is None else float(value) for name, value in numbers.items()})

    def as_json(self) -> dict[str, Json]:
        """A threshold that nothing exceeds is null."""
        return {name: None if value == inf else value for name, value in asdict(self).items()}


def type_of(written: int, target: int) -> str:
    """What kind of error a change mends; *a* with a plural can be mended by its article or its number."""
    if written == NONE_OF_THEM:
        return {"null-plural": "extraneous", "the-plural": "choice", "a-singular": "number"}.get(
            CONSTRUCTIONS[target], "both"
        )
    if NUMBER_OF[written] != NUMBER_OF[target]:
        return "number" if ARTICLE_OF[written] == ARTICLE_OF[target] else "both"
    if ARTICLE_OF[written] == "null":
        return "missing"
    return "extraneous" if ARTICLE_OF[target] == "null" else "choice"


TYPE = np.array(
    [[TYPES.index(type_of(own, target)) if own != target else -1 for target in range(N)] for own in range(N + 1)]
)
IS_CONFUSABLE = np.array([[is_confusable(own, target) for target in range(N)] for own in range(N + 1)], np.float64)


def strengths(shares: Sequence[tuple[float, ...] | None]) -> Scores:
    """(phrases, 5): 1 - entropy / log2 5 of the noun, above 0 for its dominant construction, below for the others."""
    found = np.zeros((len(shares), N))
    for place, of in enumerate(shares):
        if of is not None:
            strength = 1 - share_entropy(of) / HIGHEST
            found[place] = -strength
            found[place, int(np.argmax(of))] = strength
    return found


def confidences(scores: Scores, written: Sequence[int], strength: Scores, caution: Caution) -> Scores:
    """(phrases, 5): the confidence in changing to each construction; -inf for the written one."""
    own = np.array(written, np.int64)
    rows = np.arange(len(scores))
    padded = np.concatenate([scores, np.full((len(scores), 1), FLOOR)], axis=1)
    found: Scores = scores - padded[rows, own][:, None]
    found = found + caution.confusable * IS_CONFUSABLE[own]
    found = found + caution.own * np.maximum(strength, 0) + caution.other * np.maximum(-strength, 0)
    is_written = own < NONE_OF_THEM
    found[rows[is_written], own[is_written]] = -inf
    return found


def excesses(confidence: Scores, written: Sequence[int], caution: Caution) -> Scores:
    """By how much each confidence exceeds the threshold of its type."""
    thresholds = np.array([*(getattr(caution, name) for name in TYPES), inf])
    return np.where(np.isneginf(confidence), -inf, confidence - thresholds[TYPE[np.array(written, np.int64)]])
