"""The crowd of the sample study: simulated, and said so wherever it is shown.

The essays and what two annotators marked in them are our own writing; a crowd for each of 1,350 prepositions we could
not write.  So raters are drawn: each has a skill, some are spammers, and what a rater says
of a preposition leans on the annotators.  Where both marked it a skilled rater nearly always calls it an error, where
neither did hardly ever, and where the two disagree the item gets a leaning of its own between the two: there the
crowd is split, as the crowds of the papers were.

With hidden gold (Madnani et al. 2011, section 3), raters below 70 % on the gold they met are put out, their judgments
untrusted, and others judge in their place.  Without, everybody's judgments count (T,C&M 2013, 5.3).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from grater.crowd.trust import TrustRule, is_below
from grater.rng import generator

ERROR, OK = "error", "ok"
LEANINGS = {2: (0.93, 40.0), 1: (0.5, 3.0), 0: (0.03, 40.0)}
"""How sure a perfect rater would call an item an error, by how many annotators marked it: mean, and how firm."""

RULE = TrustRule(minimum=0.7, least_seen=4)
GOLD_EVERY = 12
MINUTE = 60_000


@dataclass(frozen=True, slots=True)
class CrowdWish:
    """So many judgments for each item, by a pool of so many raters, of whom a share are spammers."""

    n_each: int = 10
    n_raters: int = 60
    spammers: float = 0.2
    has_gold: bool = True
    seed: int = 0


def sample_crowd(marked: Mapping[str, int], wish: CrowdWish | None = None) -> pl.DataFrame:
    """Judgments of items, by how many of the two annotators marked each; the columns of the judgments table."""
    wish = wish or CrowdWish()
    rng = generator(wish.seed, "sample crowd", str(wish.has_gold))
    leanings = np.array(
        [rng.beta(mean * firm, (1 - mean) * firm) for mean, firm in map(LEANINGS.__getitem__, marked.values())]
    )
    skills = np.where(rng.random(wish.n_raters) < wish.spammers, np.nan, rng.uniform(0.86, 1.0, wish.n_raters))
    gold = _gold(list(marked.values()), rng)
    rows = list(_judged(list(marked), leanings, skills, gold, wish, rng))
    return pl.DataFrame(rows, schema=list(COLUMNS), orient="row")


COLUMNS = ("item", "rater", "label", "status", "seconds", "at", "group")


def gold_items(marked: Mapping[str, int], *, n: int = 75, seed: int = 0) -> list[str]:
    """Items fit for gold: both annotators say the same; half of them errors where there are enough."""
    rng = generator(seed, "sample gold")
    sides = [[item for item, n_marks in marked.items() if n_marks == wanted] for wanted in (2, 0)]
    chosen = [list(rng.permutation(side)[: n // 2 + n % 2]) for side in sides]
    return sorted(str(item) for side in chosen for item in side)[:n]


def _gold(marks: Sequence[int], rng: np.random.Generator) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """What gold says: errors and correct uses alike."""
    return rng.random(max(len(marks) // GOLD_EVERY, 1)) < 0.5


def _judged(
    items: Sequence[str],
    leanings: np.ndarray[tuple[int], np.dtype[np.float64]],
    skills: np.ndarray[tuple[int], np.dtype[np.float64]],
    gold: np.ndarray[tuple[int], np.dtype[np.bool_]],
    wish: CrowdWish,
    rng: np.random.Generator,
) -> Iterator[tuple[str, str, str, str, float, str, str]]:
    trusted = _trusted(skills, gold, wish, rng)
    start = np.datetime64("2026-03-02T09:00:00.000")
    clock = 0
    for place, item in enumerate(items):
        valid = 0
        for rater in rng.permutation(len(skills)).tolist():
            if valid == wish.n_each:
                break
            skill = skills[rater]
            is_spam = bool(np.isnan(skill))
            says_error = _says_error(leanings[place], skill, rng)
            status = "valid" if trusted[rater] else "untrusted"
            if status == "untrusted" and rng.random() < 0.7:
                continue  # put out early: most of their places are taken by others
            valid += status == "valid"
            clock += int(rng.integers(1, 6)) * MINUTE // 40
            seconds = round(float(rng.gamma(3.0, 2.0 if is_spam else 6.0)) + 2, 1)
            at = str(start + np.timedelta64(clock, "ms")) + "Z"
            yield item, f"w{rater + 1:02d}", ERROR if says_error else OK, status, seconds, at, "crowd"


def _says_error(leaning: float, skill: float, rng: np.random.Generator) -> bool:
    if np.isnan(skill):
        return bool(rng.random() < 0.5)
    view = rng.random() < leaning
    return bool(view if rng.random() < skill else not view)


def _trusted(
    skills: np.ndarray[tuple[int], np.dtype[np.float64]],
    gold: np.ndarray[tuple[int], np.dtype[np.bool_]],
    wish: CrowdWish,
    rng: np.random.Generator,
) -> list[bool]:
    """Who stays: everybody without gold, else whoever is right often enough on the gold they met."""
    if not wish.has_gold:
        return [True] * len(skills)
    seen = min(len(gold), 20)
    rights = [
        sum(_says_error(0.97 if is_error else 0.03, skill, rng) == is_error for is_error in gold[:seen])
        for skill in skills
    ]
    return [not is_below(RULE, seen=seen, right=int(right)) for right in rights]
