"""What a good design of a sample saves, by simulation.

*Score strata*: labels that two strata need for the deviation of recall that 1,000 labels in ten score strata with
Neyman's allocation give; a tenth of an endless corpus is flagged.  The deviation is that of simulated estimates,
not of the linearised formula.  *Reuse*: labels for a second version that shares 65 % of its flags with the first,
and the standard deviation of the difference in recall from one union and from two samples drawn apart (T&C 2008,
Table 7: "hard to re-test").
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt
import polars as pl
from benchmarks.harness import Size, Table

import grater
from grater.measure.sampling.plan import Allocation, Stratification, allocate

Numbers = npt.NDArray[np.float64]
N_ITEMS, N_FLAGS, N_SHARED, N_JUDGED = 10_000, 1_000, 650, 2_250
N_SIMULATED, SEEDS, N_LABELS = 40_000, 120, 1_000
SHARES = [0.02] * 5 + [0.45, 0.225, 0.1125, 0.05625, 0.05625]
"""Of the corpus in each stratum as `grater sample` cuts them: five flagged, then five others, lowest score first."""
CORPORA = {
    "few misses, a sharp score": (0.55, 0.7, 0.85, 0.93, 0.97, 0.002, 0.004, 0.01, 0.03, 0.12),
    "more misses, a sharp score": (0.55, 0.7, 0.85, 0.93, 0.97, 0.005, 0.02, 0.06, 0.15, 0.35),
    "more misses, a blunt score": (0.65, 0.75, 0.82, 0.87, 0.91, 0.02, 0.03, 0.05, 0.08, 0.15),
}
"""Rates of errors in these strata."""


def measure(size: Size) -> Iterator[Table]:
    columns = ("corpus", "recall", "deviation", "two strata, Neyman's", "two strata, the paper's", "saved")
    rows = [saved(name, rates) for name, rates in CORPORA.items()]
    yield Table("Labels for the same deviation of recall", columns, rows, f"as {N_LABELS:,} in ten score strata")
    yield reuse(2 if size == "short" else SEEDS)


def saved(name: str, rates: Sequence[float]) -> list[str | int | float]:
    names = tuple(f"{at:02}" for at in range(len(SHARES)))
    strata = Stratification(names, np.arange(len(SHARES)) < 5, 1e6 * np.array(SHARES), np.array(rates))
    found = recalls(strata, N_LABELS, "neyman")
    sizes, of_side = np.array([strata.side(True), strata.side(False)]).T
    two = Stratification(("flagged", "unflagged"), np.array([True, False]), sizes, of_side)
    others = [needed(two, float(found.std()), how) for how in ("neyman", "paper")]
    shown = " and ".join(f"{100 * (1 - N_LABELS / each):.0f} %" for each in others)
    return [name, round(float(found.mean()), 3), round(float(found.std()), 4), *others, shown]


def recalls(strata: Stratification, n: int, method: Allocation) -> Numbers:
    """Estimates of recall from many samples of n items; the same stream of chance for every n."""
    rates = dict(zip(strata.names, strata.rates.tolist(), strict=True))
    sizes = np.array(list(allocate(strata, n, method=method, rates=rates).values()))
    rng = np.random.default_rng(0)
    columns = zip(sizes, strata.rates, strict=True)
    drawn = np.stack([rng.binomial(size, rate, N_SIMULATED) for size, rate in columns], axis=1)
    errors = strata.sizes * drawn / sizes
    return np.asarray(errors[:, strata.flagged].sum(axis=1) / errors.sum(axis=1))


def needed(strata: Stratification, deviation: float, method: Allocation) -> int:
    """The smallest number of labels at which the simulated deviation of recall is no larger than this."""
    low, high = 50, 50_000
    while high - low > max(1, low // 500):
        middle = (low + high) // 2
        is_enough = recalls(strata, middle, method).std() <= deviation
        low, high = (low, middle) if is_enough else (middle, high)
    return high


def reuse(n_seeds: int) -> Table:
    place = np.arange(N_ITEMS)
    first, second = place < N_FLAGS, (place >= N_FLAGS - N_SHARED) & (place < 2 * N_FLAGS - N_SHARED)
    rate = np.select([first & second, first, second], [0.85, 0.6, 0.7], 0.03)
    is_error = np.random.default_rng(0).random(N_ITEMS) < rate
    items = [f"item-{number:05}" for number in place]
    decided = {"item": items * 2, "system": ["first"] * N_ITEMS + ["second"] * N_ITEMS}
    decisions = pl.DataFrame(decided | {"flagged": np.concatenate([first, second])})
    judged = pl.DataFrame({"item": items, "rater": "oracle", "label": np.where(is_error, "error", "ok")})
    truth = [float((flags & is_error).sum() / is_error.sum()) for flags in (first, second)]
    labels, together, apart, held = [], [], [], []
    for seed in range(n_seeds):
        one = grater.sample(decisions, system="first", n=N_JUDGED, seed=seed)
        union = grater.sample(decisions, system="second", add_to=one, seed=seed)
        labels.append(union.frame["item"].n_unique() - one.frame["item"].n_unique())
        here = judged.join(union.frame, on="item", how="semi")
        [pair] = grater.compare(decisions, here, sample=union, score="recall").pairs
        sign, found = 1 if pair.test.first == "first" else -1, pair.test.difference
        together.append(sign * found.value)
        held.append(found.low <= sign * (truth[0] - truth[1]) <= found.high)
        other = grater.sample(decisions, system="second", n=N_JUDGED, seed=seed + n_seeds)
        values = []
        for system, sample in (("first", one), ("second", other)):
            known = judged.join(sample.frame, on="item", how="semi")
            own = decisions.filter(pl.col("system") == system)
            values.append(grater.evaluate(own, known, sample=sample).systems[0]["recall"].value)
        apart.append(values[0] - values[1])
    rows = [
        ["labels for the second version", round(float(np.mean(labels)))],
        ["recall of the first and the second version", f"{truth[0]:.3f} and {truth[1]:.3f}"],
        ["standard deviation of the difference in recall, one union", round(float(np.std(together)), 4)],
        ["the same, two samples drawn apart", round(float(np.std(apart)), 4)],
        ["intervals for the difference held the truth", round(float(np.mean(held)), 3)],
    ]
    note = f"{N_ITEMS:,} items, {N_FLAGS:,} flags each, {N_SHARED} shared, {N_JUDGED:,} judged; {n_seeds} seeds"
    return Table("Two versions on one sample", ("", "value"), rows, note)
