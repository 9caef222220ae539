"""A corpus cut into strata, and the number of items to draw from each.

**Strata**: by the system's decision, by its score, or by its decision and a cheap rater's label.  T&C 2008, 6.1 has
two, the "Error" and the "OK" sub-corpus.  Strata never cross a decision, so a system is right or wrong about whole
strata.  `score:10` makes ten, five on each side of the decision.  Flagged items are cut into parts of equal size;
the others into halves, quarters, eighths, with the small parts nearest to the flags, where most of the missed errors
are.  Only the order of scores counts; items of one score share a stratum.  Where flagged items have the lower
scores, scores are read downwards.  `label` crosses the decision with a cheap rater's label (an LLM, a crowd of one).

**Allocation**.  `equal`: the same number from each.  `proportional`: by size.  `paper`: the OK sample twice the
Error sample (T&C 2008, 6.3), by size within each.  `neyman`: n_k in proportion to N_k |f_k - R| sqrt(p_k (1 - p_k)),
which makes the variance of recall smallest (Neyman 1934, with the linearised ratio in place of the mean); it needs a
guess of the rate of errors in each stratum.  Every stratum gets two items, or all it has, so that none goes unseen;
what a small stratum cannot give is shared out among the others.  Sizes add up to n exactly.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import sqrt
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt
import polars as pl

from grater.errors import BadInput, Problem, UnknownName, UsageError
from grater.registry import unknown
from grater.signature import digest
from grater.tables import Judgments, Table
from grater.uncertainty.stratified import Stratum

FLAGGED, UNFLAGGED = "flagged", "unflagged"


def decided(decisions: Table, system: str) -> pl.DataFrame:
    """The rows of one system, sorted by item: item, flagged and what else it said."""
    rows = decisions.frame.filter(pl.col("system") == system).sort("item")
    if rows.is_empty():
        raise UnknownName(f"{decisions.name}: {unknown('system', system, system_names(decisions))}")
    return rows


def system_names(decisions: Table) -> list[str]:
    return decisions.frame["system"].unique().sort().to_list()


def decisions_hash(decisions: Table, system: str) -> str:
    """One short name for all that strata are made from, whatever the order of rows."""
    rows = decided(decisions, system)
    scores = rows["score"] if "score" in rows.columns else [None] * len(rows)
    return digest(
        f"{item}|{flag:d}|{score}" for item, flag, score in zip(rows["item"], rows["flagged"], scores, strict=True)
    )


def assign_strata(
    decisions: Table, system: str, *, strata: str = "decision", labels: Judgments | None = None
) -> pl.DataFrame:
    """Every item of the corpus with the stratum it belongs to: item, flagged, stratum."""
    rows = decided(decisions, system)
    side = pl.when("flagged").then(pl.lit(FLAGGED)).otherwise(pl.lit(UNFLAGGED))
    match strata.partition(":"):
        case ("decision", "", ""):
            named = rows.with_columns(stratum=side)
        case ("score", _, number):
            named = rows.with_columns(_score_strata(rows, _n_strata(number or "10"), decisions.name))
        case ("label", "", ""):
            named = _labelled(rows, labels).with_columns(stratum=side + " " + pl.col("label"))
        case _:
            raise UsageError(f"expected the strata decision, score:N or label, found {strata!r}")
    return named.select("item", "flagged", "stratum")


def strata_of(frame: pl.DataFrame) -> list[Stratum]:
    """The strata of a stratified corpus by name, nothing judged yet."""
    sizes = frame.group_by("stratum", "flagged").len().sort("stratum")
    return [Stratum(name, is_flagged, size) for name, is_flagged, size in sizes.iter_rows()]


def _n_strata(number: str) -> int:
    if not number.isdecimal() or not 2 <= int(number) <= 100:
        raise UsageError(f"expected the strata score:N with N from 2 to 100, found {number!r}")
    return int(number)


def _score_strata(rows: pl.DataFrame, n_strata: int, name: str) -> pl.Series:
    n_missing = rows["score"].null_count() if "score" in rows.columns else len(rows)
    if n_missing:
        message = f"expected a score for every item, found {n_missing} without; use the strata decision"
        raise BadInput(Problem(name, message))
    flagged, score = rows["flagged"].to_numpy(), rows["score"].to_numpy()
    if 0 < flagged.sum() < flagged.size and score[flagged].mean() < score[~flagged].mean():
        score = -score
    part = np.zeros(flagged.size, int)
    part[flagged] = _equal_parts(_ranks(score[flagged]), n_strata // 2)
    part[~flagged] = _halves(_ranks(score[~flagged]), n_strata - n_strata // 2)
    n_digits = len(str(n_strata))
    sides = (FLAGGED if flag else UNFLAGGED for flag in flagged)
    return pl.Series(
        "stratum", [f"{side} {number + 1:0{n_digits}}" for side, number in zip(sides, part, strict=True)]
    )


def _ranks(score: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Where each score stands among all, from 0 to 1; equal scores stand together, at the middle of their places."""
    ordered = np.sort(score)
    first, last = np.searchsorted(ordered, score), np.searchsorted(ordered, score, side="right")
    return (first + last) / (2 * max(1, score.size))


def _equal_parts(ranks: npt.NDArray[np.float64], n_parts: int) -> npt.NDArray[np.int64]:
    return np.minimum(ranks * n_parts, n_parts - 1).astype(np.int64)


def _halves(ranks: npt.NDArray[np.float64], n_parts: int) -> npt.NDArray[np.int64]:
    # Half of all items below 1/2, half of the rest below 3/4 ...; the last two parts are equal.
    return np.minimum(-np.log2(1 - ranks), n_parts - 1).astype(np.int64)


def _labelled(rows: pl.DataFrame, labels: Judgments | None) -> pl.DataFrame:
    """The rows with the cheap rater's label; an item that it did not judge has the label `none`."""
    if labels is None:
        raise UsageError("expected a table with the labels of a cheap rater for the strata label, found none")
    one = labels.frame.select("item", pl.col("label").cast(pl.String))
    twice = one.filter(pl.col("item").is_duplicated())
    if not twice.is_empty():
        message = f"expected one label for each item, found several for {twice['item'][0]}; aggregate them first"
        raise BadInput(Problem(labels.name, message))
    return (
        rows.select("item", "flagged")
        .join(one, on="item", how="left")
        .with_columns(pl.col("label").fill_null("none"))
    )


Allocation: TypeAlias = Literal["equal", "paper", "proportional", "neyman"]
Numbers: TypeAlias = npt.NDArray[np.float64]

LEAST = 2
PAPER_RATIO = 2.0


def allocate(
    strata: Sequence[Stratum],
    n: int,
    *,
    method: Allocation = "paper",
    n_flagged: int | None = None,
    rates: Mapping[str, float] | None = None,
) -> dict[str, int]:
    """The number of items to draw by name of stratum; `n_flagged` of them from what the system flags, if given."""
    weights = weights_of(strata, method, rates or {})
    if n_flagged is None:
        return _shared(strata, weights, n)
    if not 0 <= n_flagged <= n:
        raise UsageError(f"expected from 0 to {n} flagged items, found {n_flagged}")
    sizes: dict[str, int] = {}
    for is_flagged, n_part in [(True, n_flagged), (False, n - n_flagged)]:
        indices = [index for index, stratum in enumerate(strata) if stratum.is_flagged == is_flagged]
        if n_part and not indices:
            raise UsageError(f"expected a stratum for {n_part} items, found none {_word(is_flagged)}")
        sizes |= _shared([strata[index] for index in indices], weights[indices], n_part)
    return sizes


def weights_of(strata: Sequence[Stratum], method: Allocation, rates: Mapping[str, float]) -> Numbers:
    """What each stratum's number should be in proportion to."""
    sizes = np.array([stratum.size for stratum in strata], float)
    flagged = np.array([stratum.is_flagged for stratum in strata], bool)
    match method:
        case "equal":
            return np.ones(len(strata))
        case "proportional":
            return sizes
        case "paper":
            within = [sizes[flagged].sum() if flag else sizes[~flagged].sum() for flag in flagged]
            ratio = np.where(flagged, 1.0, PAPER_RATIO)
            return np.asarray(ratio * sizes / np.array(within, float), float)
        case "neyman":
            return neyman_weights(with_rates(strata, rates))


def with_rates(strata: Sequence[Stratum], rates: Mapping[str, float]) -> list[Stratum]:
    """The strata as if judged, with these rates; a rate for `flagged` or `unflagged` holds for all of that side."""
    judged = []
    for stratum in strata:
        rate = rates.get(stratum.name, rates.get(_word(stratum.is_flagged)))
        if rate is None:
            raise UsageError(f"expected an error rate for stratum {stratum.name!r}, found none")
        if not 0 <= rate <= 1:
            raise UsageError(f"expected a rate from 0 to 1 for stratum {stratum.name!r}, found {rate:g}")
        judged.append(replace(stratum, n_judged=1.0, errors=rate))
    return judged


def score_rates(
    decisions: Table, system: str, *, strata: str = "decision", labels: Judgments | None = None
) -> dict[str, float]:
    """The mean score of each stratum, for systems whose score is a probability of error."""
    rows = decided(decisions, system)
    if "score" not in rows.columns or not rows["score"].is_between(0, 1).all():
        wanted = "expected scores that are probabilities, from 0 to 1, for error rates, found others"
        raise UsageError(f"{decisions.name}: {wanted}; name a rate for flagged items and one for unflagged items")
    named = assign_strata(decisions, system, strata=strata, labels=labels)
    means = named.join(rows.select("item", "score"), on="item").group_by("stratum").agg(pl.col("score").mean())
    return dict(means.iter_rows())


def neyman_weights(strata: Sequence[Stratum]) -> Numbers:
    """N_k |f_k - R| sqrt(p_k (1 - p_k)) from the strata's own rates."""
    errors = [stratum.size * stratum.rate for stratum in strata]
    hits = sum(n for n, stratum in zip(errors, strata, strict=True) if stratum.is_flagged)
    recall = hits / sum(errors) if sum(errors) else 0.5
    return np.array(
        [part.size * abs(part.is_flagged - recall) * sqrt(part.rate * (1 - part.rate)) for part in strata], float
    )


def _shared(strata: Sequence[Stratum], weights: Numbers, n: int) -> dict[str, int]:
    most = np.array([stratum.size for stratum in strata], float)
    least = np.minimum(LEAST, most)
    if n and not least.sum() <= n <= most.sum():
        raise UsageError(f"expected from {least.sum():.0f} to {most.sum():.0f} items for {_names(strata)}, found {n}")
    wanted = between(weights if weights.sum() > 0 else most, least if n else 0 * least, most, n)
    return dict(zip((stratum.name for stratum in strata), _whole(wanted, most, n), strict=True))


def between(weights: Numbers, least: Numbers, most: Numbers, n: float) -> Numbers:
    """Numbers in proportion to the weights that keep their bounds and add up to n."""
    low, high = 0.0, 1.0
    while np.clip(high * weights, least, most).sum() < n and high < 1e300:
        high *= 2
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if np.clip(middle * weights, least, most).sum() < n else (low, middle)
    return np.clip(high * weights, least, most)


def _whole(wanted: Numbers, most: Numbers, n: int) -> list[int]:
    """Whole numbers next to those wanted: the largest remainders are rounded up; of equals, the first."""
    whole = np.floor(wanted + 1e-9)
    while whole.sum() < n:
        # A stratum that is full takes no more; where weights are 0 the emptiest one gives what is still asked for.
        whole[np.argmax(np.where(whole < most, wanted - whole, -np.inf))] += 1
    return [int(n) for n in whole]


def _word(is_flagged: bool) -> str:
    return "flagged" if is_flagged else "unflagged"


def _names(strata: Sequence[Stratum]) -> str:
    return f"{len(strata)} strata" if len(strata) > 3 else ", ".join(stratum.name for stratum in strata)
