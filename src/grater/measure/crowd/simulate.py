"""Simulated raters of known skill, for planning and tests.

Every rater has a confusion matrix, and every item a true label and a difficulty d between 0 and 1: with probability d
a judgment is a blind guess, otherwise it is drawn from the rater's row for the true label. A spammer is defined as in
Raykar & Yu 2012 (J. Machine Learning Research 13, 491-518): the label is independent of the truth. The kinds:

- `skilled`: right with a probability around `skill`, wrong labels equally likely;
- `spammer`: every label equally likely, whatever the truth;
- `biased`: like skilled, but half of the right answers become a favourite label instead;
- `lazy`: nearly always their favourite label, and fast;
- `turning`: skilled for the first half of their judgments, spammers after that.

Each item is judged by the same number of distinct raters; all sets of raters are equally likely (Floyd's algorithm,
Bentley & Floyd 1987, Communications of the ACM 30, 754-757). Rows are in order of item; a rater works in that order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt
import polars as pl

from grater.errors import UsageError
from grater.result import HIDDEN, Result, in_json, key
from grater.sheet import Sheet, Signature, count, counted
from grater.tables import Judgments, Table
from grater.uncertainty import Ints, Numbers

Kind: TypeAlias = Literal["skilled", "spammer", "biased", "lazy", "turning"]

KINDS: tuple[Kind, ...] = get_args(Kind)
SECONDS = {"skilled": 20.0, "spammer": 6.0, "biased": 18.0, "lazy": 4.0, "turning": 18.0}
"""The median time for a judgment."""
FAVOURITE = 0.95
"""How often a lazy rater gives the favourite label."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Crowd:
    """The raters and their items; `kinds` are shares of raters, and all others are skilled.

    A rater's skill has mean `skill` and standard deviation `spread`; an item's difficulty is drawn from 0 to twice
    `difficulty`, and its label by `prevalence` (default: equal).
    """

    n_items: int = 100
    n_raters: int = 10
    n_each: int = 5
    labels: Sequence[str] = ("error", "ok")
    prevalence: Sequence[float] = ()
    skill: float = 0.8
    spread: float = 0.1
    spammers: float = 0.0
    biased: float = 0.0
    lazy: float = 0.0
    turning: float = 0.0
    difficulty: float = 0.0

    def __post_init__(self) -> None:
        _require(self.n_items >= 1 and self.n_each >= 1, "at least one item and one judgment of each")
        _require(self.n_raters >= self.n_each, f"at least {self.n_each} raters, one for each judgment of an item")
        _require(len(set(self.labels)) == len(self.labels) >= 2, "two labels or more, each once")
        for name in ("skill", "difficulty", "spammers", "biased", "lazy", "turning"):
            share = getattr(self, name)
            _require(0 <= share <= 1, f"{name} between 0 and 1, found {share:g}")
        _require(self.spammers + self.biased + self.lazy + self.turning <= 1 + 1e-9, "kinds of at most 1 together")
        _require(self.difficulty <= 0.5, "a mean difficulty of at most 0.5")
        _require(0 <= self.spread < float("inf"), "a spread of 0 or more")
        _require(not self.prevalence or len(self.prevalence) == len(self.labels), "a prevalence for each label")
        _require(all(0 <= share < float("inf") for share in self.prevalence), "prevalences of 0 or more")
        _require(not self.prevalence or sum(self.prevalence) > 0, "a prevalence above 0 for some label")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SimulatedCrowd(Result):
    """`judgments` as from a real crowd; `truth` has each item's label and difficulty.

    `raters` has each rater's kind, favourite label and probability of being right on an easy item.
    """

    judgments: Judgments = field(metadata=key(write=len))
    truth: Table = field(metadata=key("items", write=len))
    raters: pl.DataFrame = field(metadata=key(write=len))
    confusions: Numbers = field(metadata=HIDDEN)
    signature: Signature = field(default_factory=lambda: Signature("simulate"))

    @property
    @in_json("kinds")
    def n_by_kind(self) -> dict[str, int]:
        return {str(kind): int(n) for kind, n in self.raters.group_by("kind").len().sort("kind").iter_rows()}

    def to_frame(self) -> pl.DataFrame:
        return self.judgments.frame

    def sheets(self) -> tuple[Sheet, ...]:
        rows = tuple((kind, count(n)) for kind, n in self.n_by_kind.items())
        sizes = f"{counted(len(self.judgments), 'judgment')} of {counted(len(self.truth), 'item')}."
        return (Sheet("Simulated raters", ("kind", "raters"), rows, notes=(sizes,), name="raters"),)


def simulate(crowd: Crowd, *, rng: np.random.Generator) -> SimulatedCrowd:
    n_labels = len(crowd.labels)
    weights = np.array(crowd.prevalence or [1.0] * n_labels)
    prior = weights / weights.sum()
    truth = rng.choice(n_labels, crowd.n_items, p=prior)
    difficulty = rng.uniform(0, 2 * crowd.difficulty, crowd.n_items)
    kind, favourite = _kinds(crowd, rng), rng.integers(0, n_labels, crowd.n_raters)
    confusions = _confusions(crowd, kind, favourite, rng)
    item = np.repeat(np.arange(crowd.n_items), crowd.n_each)
    rater = rng.permuted(subsets(crowd.n_raters, crowd.n_each, crowd.n_items, rng=rng), axis=1).ravel()
    order = np.argsort(rater, kind="stable")
    n_each = np.bincount(rater)
    position = np.empty(len(rater), np.int64)
    position[order] = np.arange(len(rater)) - np.repeat(n_each.cumsum() - n_each, n_each)
    is_late: npt.NDArray[np.bool_] = 2 * position >= n_each[rater]
    has_turned = (kind[rater] == KINDS.index("turning")) & is_late
    is_guess = (rng.random(len(item)) < difficulty[item]) | has_turned
    drawn = _drawn(confusions[rater, truth[item]], rng)
    label = np.where(is_guess, rng.integers(0, n_labels, len(item)), drawn)
    pace = np.array([SECONDS[name] for name in KINDS])[np.where(has_turned, KINDS.index("spammer"), kind[rater])]
    seconds = np.round(pace * rng.lognormal(0, 0.4, len(item)), 1)
    rows = {"item": _named("i", crowd.n_items, item), "rater": _named("r", crowd.n_raters, rater)}
    labels = pl.Series(list(crowd.labels), dtype=pl.String)
    frame = pl.DataFrame({**rows, "label": labels.gather(label), "seconds": seconds})
    known = pl.DataFrame(
        {"item": _named("i", crowd.n_items), "label": labels.gather(truth), "difficulty": difficulty}
    )
    is_partial = np.isin(kind, [KINDS.index("biased"), KINDS.index("lazy")])
    names = pl.Series(list(crowd.labels), dtype=pl.String).gather(favourite)
    return SimulatedCrowd(
        judgments=Judgments(frame, "simulated"),
        truth=Table("gold", known, "simulated truth"),
        raters=pl.DataFrame(
            {
                "rater": _named("r", crowd.n_raters),
                "kind": pl.Series(list(KINDS)).gather(kind),
                "favourite": pl.select(pl.when(pl.Series(is_partial)).then(names)).to_series(),
                "skill": np.einsum("k,rkk->r", prior, confusions),
            }
        ),
        confusions=confusions,
    )


def subsets(n: int, k: int, times: int, *, rng: np.random.Generator) -> Ints:
    """`times` rows of k distinct numbers below n, every set equally likely; the order within a row is not random."""
    chosen = np.full((times, k), -1)
    for column, last in enumerate(range(n - k, n)):
        number = rng.integers(0, last + 1, times)
        is_taken = (chosen[:, :column] == number[:, None]).any(axis=1)
        chosen[:, column] = np.where(is_taken, last, number)
    return chosen


def _kinds(crowd: Crowd, rng: np.random.Generator) -> Ints:
    shares = {"spammer": crowd.spammers, "biased": crowd.biased, "lazy": crowd.lazy, "turning": crowd.turning}
    ends = np.round(np.cumsum(list(shares.values())) * crowd.n_raters).astype(np.int64)
    kinds = np.repeat([KINDS.index(name) for name in shares], np.diff(ends, prepend=0))
    skilled = np.full(crowd.n_raters - len(kinds), KINDS.index("skilled"))
    mixed: Ints = rng.permutation(np.concatenate([skilled, kinds]))
    return mixed


def _confusions(crowd: Crowd, kind: Ints, favourite: Ints, rng: np.random.Generator) -> Numbers:
    """Raters x true labels x given labels; for turning raters, it holds for their first half."""
    n_labels = len(crowd.labels)
    skill = np.clip(rng.normal(crowd.skill, crowd.spread, crowd.n_raters), 0, 1)
    wrong = (1 - skill) / (n_labels - 1)
    matrices = np.broadcast_to(wrong[:, None, None], (crowd.n_raters, n_labels, n_labels)).copy()
    matrices[:, np.arange(n_labels), np.arange(n_labels)] = skill[:, None]
    matrices[kind == KINDS.index("spammer")] = 1 / n_labels
    likes = np.arange(n_labels)[None, None, :] == favourite[:, None, None]
    is_biased = kind == KINDS.index("biased")
    leaning = matrices * (1 - 0.5 * np.eye(n_labels)) + likes * 0.5 * skill[:, None, None]
    matrices[is_biased] = leaning[is_biased]
    lazy = np.where(likes, FAVOURITE, (1 - FAVOURITE) / (n_labels - 1)) + np.zeros_like(matrices)
    matrices[kind == KINDS.index("lazy")] = lazy[kind == KINDS.index("lazy")]
    return matrices


def _drawn(chances: Numbers, rng: np.random.Generator) -> Ints:
    below = chances.cumsum(axis=1) <= rng.random(len(chances))[:, None]
    number: Ints = np.minimum(below.sum(axis=1), chances.shape[1] - 1)
    return number


def _named(letter: str, n: int, codes: Ints | None = None) -> pl.Series:
    """Names with leading zeros, so that they sort like the codes."""
    width = len(str(n))
    names = pl.Series([f"{letter}{number:0{width}}" for number in range(1, n + 1)])
    return names if codes is None else names.gather(codes)


def _require(is_met: bool, what: str) -> None:
    if not is_met:
        raise UsageError(f"expected {what}")
