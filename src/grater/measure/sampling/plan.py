"""What a wanted precision will cost: items, raters, hours and money for each way to evaluate.

**Ways to evaluate** (T&C 2008, section 6 and Table 7): judging a whole corpus, checking only what the system flags
(verification), and sampling from both sides with the OK sample twice the Error sample; ours beside them, sampling by
Neyman's allocation, and, where the system's scores are at hand, from strata of the score as well.  The paper's sum:
1,000 errors at 10 % are 10,000 items, at 500 in 4 hours 80 hours.  The width is that of the 95 % interval of recall
(of precision for verification, which knows no recall) if the sample falls out exactly as expected.  A plan holds as
far as its guesses do: judge some, estimate, plan again (`more_needed`).

**Raters per item**, so that their majority is right often enough.  Each rater sees an error for one with chance se
(sensitivity) and calls a good item good with chance sp (specificity); raters err independently, so the majority of n
is right with a binomial chance.  An even number is no better than the odd one below it (statistics.md, "How many
raters match an expert"), so n is odd.  Real raters err together on hard items: read the answer as the least that is
needed; with judgments at hand, `grater.measure.agreement.raters_needed` counts.  Where only the kappa of two raters
is known, they are taken to be right equally often, with chance a on either kind of item: then observed agreement is
a² + (1 - a)², and a is the number above one half that gives this kappa.

A corpus cut into strata, and the number of items to draw from each.

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

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from math import ceil, comb, inf, nan, sqrt
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt
import polars as pl

from grater.errors import BadInput, Problem, UnknownName, UsageError
from grater.model import Json
from grater.registry import unknown
from grater.result import HIDDEN, Result, encode, in_json, key
from grater.sheet import Sheet, count, counted, number
from grater.signature import digest
from grater.tables import Judgments, Table
from grater.uncertainty.intervals import Population, wilson
from grater.uncertainty.stratified import Stratum, pooled_rate, scores

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
    part[~flagged] = np.minimum(-np.log2(1 - _ranks(score[~flagged])), (n_strata - n_strata // 2) - 1).astype(
        np.int64
    )
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


# What a precision costs


MOST_ITEMS = 10**9


@dataclass(frozen=True, slots=True)
class Work:
    """How fast and how dear judging is; the speed is the paper's, 500 items in 4 hours."""

    raters: int = 1
    items_per_hour: float = 125.0
    wage: float = 0.0


@dataclass(frozen=True, slots=True)
class PlanRow:
    """One way to evaluate; `width` is what it would reach with `items`, nan where it gives no such number."""

    method: str
    items: int
    flagged: int
    width: float
    hours: float
    cost: float
    note: str = ""


@dataclass(frozen=True, slots=True)
class Expected:
    """What is thought of the corpus: how many items, which share is flagged, the rates of errors on both sides."""

    flagged: float
    precision: float
    missed: float
    size: float = inf
    population: Population = "wider"

    @property
    def is_finite(self) -> bool:
        """Whether intervals are to speak of exactly this corpus."""
        return self.population == "these" and self.size < inf

    @property
    def n_counted(self) -> float:
        """The items that strata are counted among, where these stand for others."""
        return inf if self.is_finite else self.size

    @staticmethod
    def of(strata: Sequence[Stratum], population: Population = "wider") -> Expected:
        """What strata of a corpus say, with their sizes and expected rates."""
        sides = [[part for part in strata if part.is_flagged == is_flagged] for is_flagged in (True, False)]
        sizes = [sum(part.size for part in side) for side in sides]
        if not all(sizes):
            raise UsageError("expected items that the system flags and others, found one kind only")
        return Expected(
            flagged=sizes[0] / sum(sizes),
            precision=pooled_rate(sides[0]),
            missed=pooled_rate(sides[1]),
            size=sum(sizes),
            population=population,
        )

    @property
    def strata(self) -> list[Stratum]:
        """Two strata; of a finite corpus whole items, at least one in each."""
        whole, flagged = 1.0, self.flagged
        if self.size < inf:
            whole, flagged = self.size, float(min(self.size - 1, max(1, round(self.size * self.flagged))))
        return [
            Stratum("flagged", True, flagged, 1.0, self.precision),
            Stratum("unflagged", False, whole - flagged, 1.0, self.missed),
        ]

    @property
    def error_rate(self) -> float:
        return self.flagged * self.precision + (1 - self.flagged) * self.missed

    @property
    def recall(self) -> float:
        return self.flagged * self.precision / self.error_rate if self.error_rate else nan


def missed_of(*, flagged: float, precision: float, recall: float) -> float:
    """The rate of errors among what is not flagged that goes with a recall."""
    return flagged * precision * (1 - recall) / (recall * (1 - flagged))


def _expected_json(expected: Expected) -> dict[str, Json]:
    guesses = {name: getattr(expected, name) for name in ("flagged", "precision", "missed", "recall")}
    return {"population": expected.population, "expected": encode({**guesses, "items": expected.size})}


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Plan(Result):
    """The ways to evaluate side by side, and what the raters of an item reach together."""

    width: float
    expected: Expected = field(metadata=key(flat=True, write=_expected_json))
    work: Work
    rows: tuple[PlanRow, ...] = field(metadata=key("plans"))
    panel: Panel | None = field(default=None, metadata=HIDDEN)
    right: float = field(default=nan, metadata=HIDDEN)

    @property
    @in_json(optional=True)
    def raters(self) -> dict[str, Json]:
        return {**encode(self.panel), "wanted": self.right} if self.panel else {}

    def to_frame(self) -> pl.DataFrame:
        """One row per way to evaluate."""
        return pl.DataFrame([asdict(row) for row in self.rows])

    def sheets(self) -> list[Sheet]:
        has_cost = any(row.cost for row in self.rows)  # without a wage there is nothing to show
        rows = []
        for row in self.rows:
            cells = (row.method, count(row.items), count(row.flagged), number(row.width), f"{row.hours:,.1f}")
            rows.append((*cells, *([f"{row.cost:,.0f}"] if has_cost else []), row.note))
        columns = ("method", "items", "flagged", "width", "hours", *(["cost"] if has_cost else []), "note")
        recall, rate = number(self.expected.recall, digits=2), f"{self.expected.error_rate:.1%}"
        title = f"To know recall {recall} within a width of {self.width:g}, at {rate} errors"
        notes = (_population_words(self.expected), *([_panel_words(self.panel, self.expected)] if self.panel else []))
        return [Sheet(title, columns, tuple(rows), notes=notes, name="plan")]


def _population_words(expected: Expected) -> str:
    if expected.is_finite:
        return f"Widths are for exactly these {expected.size:,.0f} items, not for others."
    return "Widths are for other items like these, taken as independent; by essay they are wider (design effect)."


def _panel_words(panel: Panel, expected: Expected) -> str:
    one, majority = panel.one, panel.majority
    judged = (majority.judged(expected.precision), majority.judged(expected.missed))
    judged_recall = expected.flagged * judged[0] / (expected.flagged * judged[0] + (1 - expected.flagged) * judged[1])
    return (
        f"{counted(panel.n, 'rater')} per item: one is right on {number(one.sensitivity)} of errors and "
        f"{number(one.specificity)} of good items, their majority on {number(majority.sensitivity)} and "
        f"{number(majority.specificity)}. Uncorrected, recall {number(expected.recall)} would be judged to be "
        f"{number(judged_recall)}; gold items correct for it."
    )


def plan(
    expected: Expected,
    width: float,
    *,
    work: Work | None = None,
    errors: int | None = None,
    strata: Sequence[Stratum] = (),
    panel: Panel | None = None,
    right: float = nan,
    assist: Skill | None = None,
) -> Plan:
    """The ways side by side; `errors` fixes the number of errors that a fully judged corpus is to hold.

    With `strata` of the corpus, with their expected rates, ours from these strata is a row of its own.  `panel` are
    the raters of each item, chosen so that their majority is `right` that often.  `assist` is a cheap judge of every
    item, whose verdicts explain a part of what people will say (`measure/evaluation/sampled/estimates.py`).
    """
    _require_shares(expected, width)
    work = work or Work()
    rows = [
        _exhaustive(expected, width, work, errors),
        _verification(expected, width, work),
        _sampling(expected, expected.strata, width, work, "paper", "sampling"),
        _sampling(expected, expected.strata, width, work, "neyman", "ours"),
        *([_sampling(expected, strata, width, work, "neyman", f"ours, {len(strata)} strata")] if strata else []),
        *([_assisted(expected, strata or expected.strata, width, work, assist)] if assist else []),
    ]
    return Plan(width=width, expected=expected, work=work, rows=tuple(rows), panel=panel, right=right)


def _require_shares(expected: Expected, width: float) -> None:
    shares = {
        "share of flagged items": expected.flagged,
        "precision": expected.precision,
        "rate of missed errors": expected.missed,
        "width": width,
    }
    for name, share in shares.items():
        if not 0 < share < 1:
            raise UsageError(f"expected a {name} between 0 and 1, found {share:g}")


def _exhaustive(expected: Expected, width: float, work: Work, errors: int | None) -> PlanRow:
    """Every item of a corpus large enough to hold the errors that recall needs."""
    n_errors = errors or _smallest(lambda n: _wilson_width(expected.recall, n) <= width)
    items = ceil(n_errors / expected.error_rate - 1e-9)
    note = f"{n_errors:,} errors at {expected.error_rate:.3g}"
    if items > expected.size:
        note += "; more than the corpus has"
    return _row(
        "exhaustive", items, round(items * expected.flagged), _wilson_width(expected.recall, n_errors), work, note
    )


def _verification(expected: Expected, width: float, work: Work) -> PlanRow:
    def reached(n: int) -> float:
        judged = _as_judged(expected.strata, [n, 1], expected.size)
        precision = scores(judged, fpc=expected.is_finite).precision
        return precision.high - precision.low

    most = _most(expected.strata[0].size, expected.size)
    items = _smallest(lambda n: reached(n) <= width, most=most)
    note = "precision only, not recall" + _too_small(reached(items), width)
    return _row("verification", items, items, reached(items), work, note)


def _too_small(reached: float, width: float) -> str:
    return "; the corpus is too small for this width" if reached > width + 1e-9 else ""


def _sampling(
    expected: Expected, strata: Sequence[Stratum], width: float, work: Work, method: Allocation, name: str
) -> PlanRow:
    weights = weights_of(strata, method, {stratum.name: stratum.rate for stratum in strata})
    most = np.array([_most(stratum.size, expected.size) for stratum in strata], float)
    least = np.minimum(LEAST, most) if len(strata) > 2 else 0 * most

    def numbers(n: int) -> Numbers:
        return between(weights, least, most, n)

    def reached(n: int) -> float:
        judged = _as_judged(strata, numbers(n), expected.size)
        return recall_width(judged, fpc=expected.is_finite, n_items=expected.n_counted)

    items = _smallest(lambda n: reached(n) <= width, most=int(most.sum()), least=max(1, int(least.sum())))
    note = "OK sample twice the Error sample" if method == "paper" else "Neyman's allocation"
    note += _too_small(reached(items), width)
    flags = np.array([stratum.is_flagged for stratum in strata], bool)
    return _row(name, items, round(float(numbers(items)[flags].sum())), reached(items), work, note)


def _assisted(expected: Expected, strata: Sequence[Stratum], width: float, work: Work, judge: Skill) -> PlanRow:
    """Ours with a cheap judge, and how many judgments that saves."""
    plain = _sampling(expected, strata, width, work, "neyman", "")
    helped = [replace(stratum, explained=judge.explained(stratum.rate)) for stratum in strata]
    row = _sampling(expected, helped, width, work, "neyman", "ours, with a cheap judge")
    return replace(row, note=f"{row.note}; {plain.items - row.items:,} fewer than without it")


def more_needed(strata: Sequence[Stratum], width: float, *, fpc: bool = True, n_items: float = inf) -> int | None:
    """The further judgments that bring recall to this width, if rates stay as they are; None where none can.

    The next ones go where Neyman would have them.  Where the corpus stands for a wider one, strata were counted among
    its `n_items`, and it can give no more than it has.
    """
    weights = neyman_weights([replace(stratum, errors=_drawn_in(stratum), n_judged=1.0) for stratum in strata])
    is_endless = not fpc and n_items == inf
    left = np.array([MOST_ITEMS if is_endless else part.size - part.n_judged for part in strata], float)

    def reached(n: int) -> float:
        return recall_width(_with_more(strata, between(weights, 0 * left, left, n)), fpc=fpc, n_items=n_items)

    n_more = _smallest(lambda n: reached(n) <= width, most=int(left.sum()), least=0)
    return n_more if reached(n_more) <= width else None


def _drawn_in(stratum: Stratum) -> float:
    """A rate that is never quite 0 or 1, so that a stratum without errors is still looked at."""
    return (stratum.errors + 0.5) / (stratum.n_judged + 1)


def _with_more(strata: Sequence[Stratum], more: Numbers) -> list[Stratum]:
    judged = []
    for stratum, extra in zip(strata, more, strict=True):
        n = stratum.n_judged + float(extra)
        rate = stratum.rate if stratum.n_judged else _drawn_in(stratum)
        judged.append(replace(stratum, n_judged=n, errors=n * rate))
    return judged


def recall_width(strata: Sequence[Stratum], *, fpc: bool = True, n_items: float = inf) -> float:
    recall = scores(strata, fpc=fpc, n_items=n_items).recall
    return max(0.0, recall.high - recall.low) if recall.value == recall.value else inf


def _as_judged(strata: Sequence[Stratum], numbers: Sequence[float] | Numbers, size: float) -> list[Stratum]:
    """The strata with these numbers of items judged and exactly the expected errors among them."""
    judged = []
    for stratum, wanted in zip(strata, numbers, strict=True):
        n = float(wanted)
        if size < inf and n > stratum.size - 1e-6:  # shares of a whole number come near to it
            n = stratum.size
        judged.append(replace(stratum, n_judged=n, errors=n * stratum.rate))
    return judged


def _most(part: float, size: float) -> int:
    return ceil(part) if size < inf else MOST_ITEMS


def _smallest(is_enough: Callable[[int], bool], *, most: int = MOST_ITEMS, least: int = 1) -> int:
    """The first number that is enough, by halving; `most` where none is."""
    low, high = least, least + 1
    while high < most and not is_enough(high):
        low, high = high, high * 2
    high = min(high, most)
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if is_enough(middle) else (middle + 1, high)
    return low


def _wilson_width(share: float, n: float) -> float:
    interval = wilson(share * n, n)
    return interval.high - interval.low


def _row(method: str, items: int, flagged: int, width: float, work: Work, note: str) -> PlanRow:
    hours = items * work.raters / work.items_per_hour
    return PlanRow(
        method=method, items=items, flagged=flagged, width=width, hours=hours, cost=hours * work.wage, note=note
    )


MOST_RATERS = 99


@dataclass(frozen=True, slots=True)
class Skill:
    """How often a rater, or a majority, is right: on errors, and on good items."""

    sensitivity: float
    specificity: float

    @property
    def least(self) -> float:
        return min(self.sensitivity, self.specificity)

    def explained(self, rate: float) -> float:
        """The share of the variance of verdicts that its own explain, where errors have this rate."""
        called = self.judged(rate)
        spread = called * (1 - called)
        informed = self.sensitivity + self.specificity - 1
        return min(0.999, rate * (1 - rate) * informed**2 / spread) if spread > 0 else 0.0

    def judged(self, rate: float) -> float:
        """The rate of errors that is found where the true one is `rate`."""
        return self.sensitivity * rate + (1 - self.specificity) * (1 - rate)


@dataclass(frozen=True, slots=True)
class Panel:
    """The number of raters for each item, what one of them is like, and what their majority is."""

    n: int
    one: Skill
    majority: Skill


def majority_of(n: int, skill: Skill) -> Skill:
    """What the majority of n raters is like; half of all ties are right."""
    return Skill(_right(n, skill.sensitivity), _right(n, skill.specificity))


def _right(n: int, accuracy: float) -> float:
    def exactly(k: int) -> float:
        return comb(n, k) * accuracy**k * (1 - accuracy) ** (n - k)

    return sum(exactly(k) for k in range(n // 2 + 1, n + 1)) + (exactly(n // 2) / 2 if n % 2 == 0 else 0.0)


def panel(skill: Skill, wanted: float) -> Panel:
    """The smallest odd number of raters whose majority is right that often, on errors and on good items alike."""
    if not 0.5 < wanted < 1:
        raise UsageError(f"expected a majority that is right between 0.5 and 1 of the time, found {wanted:g}")
    if skill.least <= 0.5:
        raise UsageError(f"expected raters who are right more often than not, found {skill.least:.2f} on one kind")
    for n in range(1, MOST_RATERS + 1, 2):
        majority = majority_of(n, skill)
        if majority.least >= wanted:
            return Panel(n, skill, majority)
    raise UsageError(
        f"expected at most {MOST_RATERS} raters per item to be right {wanted:g} of the time, found more needed"
    )


def skill_of_kappa(kappa: float, error_rate: float) -> Skill:
    """Two raters who agree this far beyond chance, right equally often on errors and on good items."""
    if not 0 < kappa <= 1:
        raise UsageError(f"expected a kappa above 0 and at most 1, found {kappa:g}")
    low, high = 0.5, 1.0
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if _kappa(middle, error_rate) < kappa else (low, middle)
    return Skill(high, high)


def _kappa(accuracy: float, error_rate: float) -> float:
    called = Skill(accuracy, accuracy).judged(error_rate)
    observed, expected = accuracy**2 + (1 - accuracy) ** 2, called**2 + (1 - called) ** 2
    return (observed - expected) / (1 - expected)
