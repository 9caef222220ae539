"""Labels that are no evidence: raters who repeat a system or the gold, and cheap judges that have seen the labels.

**Copies.**  A rater whose labels equal a system's flags, or the adjudicated labels, on every shared item (20 or more,
with both labels among them) is named in a warning.

**A cheap judge everywhere, people on a sample** (statistics.md).  The difference estimator moves the rate of a cell
by what the judge says of all its items less what it says of the judged ones.  That is right for any judge, however
poor, that treats judged items like the others.  The items of a cell were drawn by lot, so the judge's answers on them
are a random draw from its answers in the cell: a judge with two answers has a hypergeometric number of errors among
them (Fisher 1935), any other is compared by the Kolmogorov-Smirnov test.  A judge trained or prompted on the labels
answers there like people and elsewhere like itself.  Cells, and the sums over the cells of each side, are tested with
Holm's correction at .01; at .05 where the judge gives the label of people on every judged item (20 or more).  A judge
that knows the labels and answers elsewhere at the same rates cannot be told from a perfect one: there is a warning.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import sqrt
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from grater.errors import UsageError
from grater.measure.evaluation.cases import Cases
from grater.sheet import counted, number
from grater.uncertainty import Ints, Numbers, holm
from grater.uncertainty.sampled import Flags

FEWEST = 20
"""Shared items below which equal labels prove nothing."""
MOST_OF = 0.9
"""A copy has nearly all items that were judged at all; a good rater is right on the few that he or she met."""
AT_ONCE = 10_000
"""Votes looked at in one go: the first few nearly always show that nobody copies."""
REFUSED = 0.01
"""The probability of refusing an honest judge."""
REFUSED_PERFECT = 0.05
"""The same where it agrees with people on every judged item."""
FEWEST_FOR_NORMAL = 5.0


def copies(cases: Cases, others: npt.NDArray[np.generic]) -> Iterator[tuple[str, int, int]]:
    """Raters who repeat a column of `others` (items x columns, 1, 0, or less where it says nothing) on n items."""
    n_raters = len(cases.raters)
    for column in range(others.shape[1]):
        says_error, says_ok = others[:, column] == 1, others[:, column] == 0
        may_copy = np.ones(n_raters, bool)
        for start in range(0, len(cases.item), AT_ONCE):
            item, own = cases.item[start : start + AT_ONCE], cases.is_error[start : start + AT_ONCE]
            differs = np.where(own, says_ok[item], says_error[item])
            may_copy[cases.rater[start : start + AT_ONCE][differs]] = False
            if not may_copy.any():
                break
        for place in np.flatnonzero(may_copy):
            item = cases.item[cases.rater == place]
            n_error, n_ok = int(says_error[item].sum()), int(says_ok[item].sum())
            n_judged = len(np.unique(cases.item[says_error[cases.item] | says_ok[cases.item]]))
            if n_error + n_ok >= max(FEWEST, MOST_OF * n_judged) and n_error and n_ok:
                yield cases.raters[place], column, n_error + n_ok


def copied_systems(cases: Cases, flagged: npt.NDArray[np.int8]) -> Iterator[str]:
    """A warning for each rater whose labels are a system's flags."""
    for rater, column, n in copies(cases, flagged):
        yield (
            f"rater {rater} gives the answer of system {cases.systems[column]} on all {n:,} shared items; "
            f"if these are its flags, leave {rater} out"
        )


def copied_gold(cases: Cases, gold: Numbers) -> Iterator[str]:
    """A warning for each rater whose labels are the adjudicated ones, by item (1, 0, nan)."""
    for rater, _, n in copies(cases, np.nan_to_num(gold, nan=-1.0)[:, None]):
        yield (
            f"rater {rater} gives the adjudicated label on all {n:,} shared items; "
            f"if {rater} is the adjudication, it is no rater: leave it out"
        )


# A cheap judge


def check_judge(name: str, values: Numbers, labels: Numbers, drawn: Flags, cell: Ints, flagged: Flags) -> str:
    """Refuses a judge that answers otherwise on drawn items than a random draw allows; else a warning, or nothing.

    By item: what the judge says, the label of people (nan where they gave none), whether it was drawn for them, its
    cell, and whether the system flags it.
    """
    is_binary, tests = len(np.unique(values)) <= 2, []
    for place in np.unique(cell):
        inside = cell == place
        if 0 < drawn[inside].sum() < inside.sum():
            p = (_draw_p if is_binary else _smirnov_p)(values[inside], drawn[inside])
            tests.append((p, inside))
    tests += [(_stratified_p(values[side], drawn[side], cell[side]), side) for side in (flagged, ~flagged)]
    adjusted = holm([p for p, _ in tests])
    known = ~np.isnan(labels)
    n = int(known.sum())
    is_perfect = n >= FEWEST and len(np.unique(labels[known])) > 1 and bool((values[known] == labels[known]).all())
    agrees = f"gives the label of people on all {n:,} judged items"
    if min(adjusted) < (REFUSED_PERFECT if is_perfect else REFUSED):
        where = tests[int(np.argmin(adjusted))][1]
        here, there = (number(float(values[where & part].mean())) for part in (drawn, ~drawn))
        side = "flagged" if flagged[where].all() else "unflagged"
        raise UsageError(
            f"judge {name} {f'{agrees} but ' if is_perfect else ''}answers otherwise on drawn items than elsewhere: "
            f"{here} on average on {counted(int(drawn[where].sum()), f'{side} item')}, {there} on the others. "
            "It may have seen the labels; use a judge that has not"
        )
    return f"judge {name} {agrees}; if it has seen them, leave it out" if is_perfect else ""


def _draw_p(values: Numbers, drawn: Flags) -> float:
    """Two-sided p of the number of high answers among n drawn of N items (hypergeometric)."""
    from scipy.special import gammaln

    is_high = values == values.max()
    size, high, n, found = (float(each) for each in (len(values), is_high.sum(), drawn.sum(), is_high[drawn].sum()))
    k = np.arange(max(0.0, n + high - size), min(n, high) + 1)
    parts = (k, high - k, n - k, size - high - n + k)
    logs = -np.sum([gammaln(part + 1) for part in parts], axis=0)
    chances = np.exp(logs - logs.max())
    chances /= chances.sum()
    return min(1.0, 2 * float(min(chances[k <= found].sum(), chances[k >= found].sum())))


def _smirnov_p(values: Numbers, drawn: Flags) -> float:
    from scipy.special import kolmogorov

    points, n, m = np.sort(values), float(drawn.sum()), float((~drawn).sum())
    here, there = (np.searchsorted(np.sort(values[part]), points, side="right") for part in (drawn, ~drawn))
    return float(kolmogorov(sqrt(n * m / (n + m)) * np.abs(here / n - there / m).max()))


def _stratified_p(values: Numbers, drawn: Flags, cell: Ints) -> float:
    """The sum of the drawn answers of several cells against what a draw by lot expects (Cochran 1977, 5.3)."""
    if not len(values):
        return 1.0
    _, code = np.unique(cell, return_inverse=True)
    size, n = np.bincount(code).astype(float), np.bincount(code, drawn)
    centred = values - (np.bincount(code, values) / size)[code]
    spread = np.bincount(code, centred**2) / np.maximum(1.0, size - 1)
    variance = float((spread * n * (1 - n / size)).sum())
    reach = float(values.max() - values.min())
    if not reach or variance < FEWEST_FOR_NORMAL * reach**2:
        return 1.0
    return 2 * NormalDist().cdf(-abs(float(centred[drawn].sum())) / sqrt(variance))
