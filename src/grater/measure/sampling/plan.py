"""Which items to judge, how many, and the cost of a target width: strata, allocation, and a comparison of methods.

**Strata** are made from the system's decision (the "Error" and "OK" sub-corpora of T&C 2008, 6.1), its score, or its
decision and a cheap rater's label. No stratum mixes flagged and unflagged items. `score:10` makes ten strata, five on
each side. Flagged items are cut into parts of equal size; the others into halves, quarters, eighths, with the
smallest parts closest to the flags, where most missed errors are. Only the order of scores matters; items with equal
scores share a stratum; if flagged items have the lower scores, the order is reversed.

**Allocation**. `equal`: the same number from each stratum. `proportional`: by size. `paper`: the OK sample twice the
Error sample (T&C 2008, 6.3), by size within each. `neyman`: n_k in proportion to N_k |f_k - R| sqrt(p_k (1 - p_k)),
which makes the variance of recall smallest (Neyman 1934, with the linearised ratio in place of the mean). Every
stratum gets at least two items, or all it has; what a small stratum cannot supply goes to the others.

**Ways to evaluate** (T&C 2008, section 6 and Table 7): judging a whole corpus, checking only flags (verification),
and the paper's sample; also Neyman's allocation, and strata by score if there are decisions. The paper's example:
1,000 errors at 10 % need 10,000 items, which take 80 hours at 500 items per 4 hours. The width is that of the
interval of recall (of precision for verification) that `evaluate` would print (`uncertainty/sampled.py`, rule 6) if
the sample matches expectations. Missing expectations are assumed, and the plan lists them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from math import ceil, inf, isnan, nan
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt
import polars as pl

from grater.errors import BadInput, Problem, UnknownName, UsageError, unknown
from grater.model import Json
from grater.result import OPTIONAL, Data, Result, encode, key
from grater.sheet import Sheet, count, counted, digest, number
from grater.tables import Judgments, Table
from grater.uncertainty import Ints, Numbers, Population, wilson, z_value
from grater.uncertainty.sampled import Flags, Strata, own_rates, sample_scores

FLAGGED, UNFLAGGED = "flagged", "unflagged"


def decided(decisions: Table, system: str) -> pl.DataFrame:
    """The rows of one system, sorted by item: item, flagged and its other columns."""
    rows = decisions.frame.filter(pl.col("system") == system).sort("item")
    if rows.is_empty():
        raise UnknownName(f"{decisions.name}: {unknown('system', system, system_names(decisions))}")
    return rows


def system_names(decisions: Table) -> list[str]:
    return decisions.frame["system"].unique().sort().to_list()


def only_system(decisions: Table) -> str:
    """The only system of a table; with several, one must be named."""
    names = system_names(decisions)
    if len(names) > 1:
        raise UsageError(f"{decisions.name}: expected a system, one of {', '.join(names)}")
    return names[0]


def decisions_hash(decisions: Table, system: str) -> str:
    """A short hash of all that strata are built from, whatever the order of rows."""
    rows = decided(decisions, system)
    scores = rows["score"].to_list() if "score" in rows.columns else [None] * len(rows)
    return digest(map("{}|{:d}|{}".format, rows["item"].to_list(), rows["flagged"].to_list(), scores))


def assign_strata(
    decisions: Table, system: str, *, strata: str = "decision", labels: Judgments | None = None
) -> pl.DataFrame:
    """Every item of the corpus with its stratum: item, flagged, stratum."""
    rows = decided(decisions, system)
    side = pl.when("flagged").then(pl.lit(FLAGGED)).otherwise(pl.lit(UNFLAGGED))
    match strata.partition(":"):
        case ("decision", "", ""):
            named = rows.with_columns(stratum=side)
        case ("score", _, _):
            named = rows.with_columns(_score_strata(rows, _n_bands(strata, rows, decisions.name, usual=10)))
        case ("type", "", "") | ("type+score", _, _):
            n_bands = 1 if strata == "type" else _n_bands(strata, rows, decisions.name, usual=3)
            if "type" not in rows.columns or not rows["type"].count():
                raise BadInput(Problem(decisions.name, "expected types of decisions for the strata type, found none"))
            kind = pl.col("type").fill_null("")
            is_rare = pl.len().over("flagged", kind) < FEWEST_OF_TYPE
            named = rows.with_columns(stratum=side + " " + pl.when(is_rare).then(pl.lit("other")).otherwise(kind))
            if n_bands > 1:  # large types are cut into bands of about as many scores each, the lowest first
                size = pl.len().over("stratum")
                band = (pl.col("score").rank("average").over("stratum") * n_bands / (size + 1)).floor() + 1
                cut = pl.format("{} {}", "stratum", band.cast(pl.Int64))
                named = named.with_columns(
                    stratum=pl.when(size >= n_bands * FEWEST_OF_TYPE).then(cut).otherwise("stratum")
                )
        case ("label", "", ""):
            if labels is None:
                raise UsageError("expected a table with the labels of a cheap rater for the strata label, found none")
            one = labels.frame.select("item", pl.col("label").cast(pl.String))
            twice = one.filter(pl.col("item").is_duplicated())
            if not twice.is_empty():
                found = f"found several for {twice['item'][0]}; aggregate them first"
                raise BadInput(Problem(labels.name, f"expected one label for each item, {found}"))
            joined = rows.select("item", "flagged").join(one, on="item", how="left")
            named = joined.with_columns(stratum=side + " " + pl.col("label").fill_null("none"))
        case _:
            raise UsageError(f"expected the strata decision, type, score:N, type+score:N or label, found {strata!r}")
    return named.select("item", "flagged", "stratum")


@dataclass(frozen=True, slots=True, eq=False)
class Stratification:
    """The strata of a corpus: whether they are flagged, sizes, and expected error rates (nan if unknown).

    For an infinite corpus, sizes are shares.
    """

    names: tuple[str, ...]
    flagged: Flags
    sizes: Numbers
    rates: Numbers

    def with_rates(self, rates: Mapping[str, float]) -> Stratification:
        """The same strata with these rates; a rate for `flagged` or `unflagged` applies to that whole side."""
        found = []
        for name, is_flagged in zip(self.names, self.flagged, strict=True):
            rate = rates.get(name, rates.get(FLAGGED if is_flagged else UNFLAGGED))
            if rate is None:
                raise UsageError(f"expected an error rate for stratum {name!r}, found none")
            if not 0 <= rate <= 1:
                raise UsageError(f"expected a rate from 0 to 1 for stratum {name!r}, found {rate:g}")
            found.append(rate)
        return replace(self, rates=np.array(found, float))

    def side(self, is_flagged: bool) -> tuple[float, float]:
        sizes = self.sizes[self.flagged == is_flagged]
        return float(sizes.sum()), float(sizes @ self.rates[self.flagged == is_flagged] / (sizes.sum() or nan))

    def judged(self, n: npt.ArrayLike, population: Population = "wider", explained: Numbers | None = None) -> Strata:
        """The data if n items of each stratum were judged with exactly the expected errors among them."""
        judged = np.asarray(n, np.float64)[None]
        return Strata(self.sizes[None], judged, judged * self.rates, population=population, explained=explained)


def strata_of(frame: pl.DataFrame) -> Stratification:
    rows = frame.group_by("stratum", "flagged").len().sort("stratum")
    sizes = rows["len"].to_numpy().astype(np.float64)
    return Stratification(tuple(rows["stratum"]), rows["flagged"].to_numpy(), sizes, np.full(len(rows), nan))


def _n_bands(strata: str, rows: pl.DataFrame, name: str, *, usual: int) -> int:
    """The number in `score:N`; every item must have a score."""
    how, _, number = strata.partition(":")
    if number and (not number.isdecimal() or not 2 <= int(number) <= 100):
        raise UsageError(f"expected the strata {how}:N with N from 2 to 100, found {number!r}")
    n_missing = rows["score"].null_count() if "score" in rows.columns else len(rows)
    if n_missing:
        message = f"expected a score for every item, found {n_missing} without; use the strata decision"
        raise BadInput(Problem(name, message))
    return int(number or usual)


def _score_strata(rows: pl.DataFrame, n_strata: int) -> pl.Series:
    flagged, score = rows["flagged"].to_numpy(), rows["score"].to_numpy()
    if 0 < flagged.sum() < flagged.size and score[flagged].mean() < score[~flagged].mean():
        score = -score
    n_flagged_parts = n_strata // 2
    part = np.zeros(flagged.size, int)
    part[flagged] = np.minimum(_ranks(score[flagged]) * n_flagged_parts, n_flagged_parts - 1)
    part[~flagged] = np.minimum(-np.log2(1 - _ranks(score[~flagged])), n_strata - n_flagged_parts - 1)
    n_digits = len(str(n_strata))
    sides = (FLAGGED if flag else UNFLAGGED for flag in flagged)
    names = [f"{side} {number + 1:0{n_digits}}" for side, number in zip(sides, part, strict=True)]
    return pl.Series("stratum", names)


def _ranks(score: Numbers) -> Numbers:
    """The rank of each score, from 0 to 1; equal scores share the mean of their ranks."""
    ordered = np.sort(score)
    first, last = np.searchsorted(ordered, score), np.searchsorted(ordered, score, side="right")
    return (first + last) / (2 * max(1, score.size))


# How many items of each stratum

Allocation: TypeAlias = Literal["equal", "paper", "proportional", "neyman"]

FEWEST_OF_TYPE = 20
"""Decisions of one type, or of one band of its scores, below which it has no stratum of its own."""

LEAST = 2
PAPER_RATIO = 2.0


def allocate(
    strata: Stratification,
    n: int,
    *,
    method: Allocation = "paper",
    n_flagged: int | None = None,
    rates: Mapping[str, float] | None = None,
) -> dict[str, int]:
    """The number of items to draw by stratum; `n_flagged` of them from flagged strata, if given."""
    strata = strata.with_rates(rates or {}) if method == "neyman" else strata
    weights, everything = weights_of(strata, method), np.ones(len(strata.names), bool)
    parts = [(everything, n)]
    if n_flagged is not None:
        if not 0 <= n_flagged <= n:
            raise UsageError(f"expected from 0 to {n} flagged items, found {n_flagged}")
        parts = [(strata.flagged, n_flagged), (~strata.flagged, n - n_flagged)]
    sizes = np.zeros(len(strata.names), np.int64)
    for part, n_part in parts:
        most = strata.sizes[part]
        least = np.minimum(LEAST, most)
        if n_part and not least.sum() <= n_part <= most.sum():
            names = [name for name, is_in in zip(strata.names, part, strict=True) if is_in]
            where = f"{len(names)} strata" if len(names) > 3 else ", ".join(names) or "a side without items"
            raise UsageError(f"expected from {least.sum():.0f} to {most.sum():.0f} items for {where}, found {n_part}")
        share = weights[part] if weights[part].sum() > 0 else most
        sizes[part] = shared(share, least if n_part else 0 * least, most, n_part)
    return dict(zip(strata.names, sizes.tolist(), strict=True))


def weights_of(strata: Stratification, method: Allocation) -> Numbers:
    match method:
        case "equal":
            return np.ones(len(strata.names))
        case "proportional":
            return strata.sizes
        case "paper":
            flagged = strata.flagged
            of_side = np.where(flagged, strata.sizes[flagged].sum(), strata.sizes[~flagged].sum())
            return np.asarray(np.where(flagged, 1.0, PAPER_RATIO) * strata.sizes / of_side, np.float64)
        case "neyman":
            return neyman_weights(strata)


def neyman_weights(strata: Stratification) -> Numbers:
    """N_k |f_k - R| sqrt(p_k (1 - p_k)) from the strata's expected rates."""
    errors = strata.sizes * strata.rates
    recall = float(errors[strata.flagged].sum() / errors.sum()) if errors.sum() else 0.5
    spread = np.sqrt(strata.rates * (1 - strata.rates))
    weights: Numbers = strata.sizes * np.abs(strata.flagged - recall) * spread
    return weights


def score_rates(
    decisions: Table, system: str, *, strata: str = "decision", labels: Judgments | None = None
) -> dict[str, float]:
    """The mean score of each stratum, for systems whose score is a probability of error."""
    rows = decided(decisions, system)
    if "score" not in rows.columns or not rows["score"].is_between(0, 1).all():
        wanted = "expected scores that are probabilities, from 0 to 1, for error rates, found others"
        way_out = "give precision and missed, or a rate for flagged and one for unflagged items"
        raise UsageError(f"{decisions.name}: {wanted}; {way_out}")
    named = assign_strata(decisions, system, strata=strata, labels=labels)
    means = named.join(rows.select("item", "score"), on="item").group_by("stratum").agg(pl.col("score").mean())
    return dict(means.iter_rows())


def shared(weights: Numbers, least: Numbers, most: Numbers, n: int) -> Ints:
    """Integers in proportion to the weights, within bounds, that sum to n."""
    low, high = 0.0, 1.0
    while np.clip(high * weights, least, most).sum() < n and high < 1e300:
        high *= 2
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if np.clip(middle * weights, least, most).sum() < n else (low, middle)
    wanted = np.clip(high * weights, least, most)
    whole = np.floor(wanted + 1e-9)
    while whole.sum() < min(n, most.sum()):
        # The largest remainder is rounded up, of equals the first; where weights are 0, the emptiest stratum gives.
        whole[np.argmax(np.where(whole < most, wanted - whole, -np.inf))] += 1
    return whole.astype(np.int64)


# What a width costs


MOST_ITEMS = 10**9


@dataclass(frozen=True, slots=True)
class Work:
    """The speed and cost of judging; the default speed is the paper's, 500 items in 4 hours."""

    raters: int = 1
    items_per_hour: float = 125.0
    wage: float = 0.0


@dataclass(frozen=True, slots=True)
class PlanRow:
    method: str
    items: int
    flagged: int
    width: float
    hours: float
    cost: float
    note: str = ""


FLAG_RATE, PRECISION = 0.1, 0.8
"""Assumed by default: T&C 2008, Table 5."""
FROM_SCORES = "error rates from scores"


@dataclass(frozen=True, slots=True)
class Expected:
    """What is expected of a corpus: its size, the share flagged, and the error rates on both sides.

    `assumed` lists the numbers that nobody gave.
    """

    flagged: float
    precision: float
    missed: float
    size: float = inf
    population: Population = "wider"
    assumed: tuple[str, ...] = ()

    @staticmethod
    def of(strata: Stratification, population: Population = "wider", assumed: tuple[str, ...] = ()) -> Expected:
        (n_flagged, precision), (n_passed, missed) = strata.side(True), strata.side(False)
        if not n_flagged or not n_passed:
            raise UsageError("expected items that the system flags and others, found one kind only")
        n = n_flagged + n_passed
        return Expected(n_flagged / n, precision, missed, n, population, assumed)

    @property
    def strata(self) -> Stratification:
        """Two strata; whole items for a finite corpus, at least one in each."""
        whole, flagged = 1.0, self.flagged
        if self.size < inf:
            whole, flagged = self.size, float(min(self.size - 1, max(1, round(self.size * self.flagged))))
        sizes, rates = np.array([flagged, whole - flagged]), np.array([self.precision, self.missed])
        return Stratification((FLAGGED, UNFLAGGED), np.array([True, False]), sizes, rates)

    @property
    def error_rate(self) -> float:
        return self.flagged * self.precision + (1 - self.flagged) * self.missed

    @property
    def recall(self) -> float:
        return self.flagged * self.precision / self.error_rate if self.error_rate else nan

    @property
    def sentence(self) -> str:
        """Every number that the plan rests on, and which of them are assumed."""
        shares = {"flag rate": self.flagged, "precision": self.precision, "recall": self.recall}
        shares |= {"error rate": self.error_rate, "error rate among unflagged items": self.missed}
        words = {name: number(share) + " (assumed)" * (name in self.assumed) for name, share in shares.items()}
        return "Expected: " + ", ".join(f"{name} {share}" for name, share in words.items()) + "."

    @property
    def warnings(self) -> tuple[str, ...]:
        if not self.assumed:
            return ()
        if FROM_SCORES in self.assumed:
            return ("error rates are the system's scores, assumed to be probabilities; judge some items and compare",)
        names, are = " and ".join(self.assumed), "is" if len(self.assumed) == 1 else "are"
        return (f"{names} {are} assumed, which makes {self.error_rate:.1%} of all items errors; give your own",)


def expected_of(
    *,
    flag_rate: float | None = None,
    precision: float | None = None,
    missed: float | None = None,
    recall: float | None = None,
    size: float = inf,
    population: Population = "wider",
) -> Expected:
    flagged, right = FLAG_RATE if flag_rate is None else flag_rate, PRECISION if precision is None else precision
    given = {"flag rate": flag_rate, "precision": precision}
    assumed = tuple(name for name, share in given.items() if share is None)
    return Expected(flagged, right, _missed(flagged, right, missed, recall), size, population, assumed)


def expected_strata(
    decisions: Table,
    system: str,
    *,
    strata: str = "score:10",
    rates: Mapping[str, float] | None = None,
    precision: float | None = None,
    missed: float | None = None,
    recall: float | None = None,
    population: Population = "wider",
) -> tuple[Stratification, Expected]:
    """The strata of a corpus that a system has decided on, and the expectations for it.

    Error rates come from `rates`, from precision and missed or recall, or else from the scores.
    """
    if sum(each is not None for each in (rates, missed, recall)) > 1:
        raise UsageError("expected one of rates, missed and recall, found several")
    parts = strata_of(assign_strata(decisions, system, strata=strata))
    assumed: tuple[str, ...] = ()
    if rates is None and missed is None and recall is None:
        rates, assumed = score_rates(decisions, system, strata=strata), (FROM_SCORES,)
    elif rates is None:
        right = PRECISION if precision is None else precision
        assumed = ("precision",) if precision is None else ()
        share = float(parts.sizes[parts.flagged].sum() / parts.sizes.sum())
        rates = {FLAGGED: right, UNFLAGGED: _missed(share, right, missed, recall)}
    parts = parts.with_rates(rates)
    return parts, Expected.of(parts, population, assumed)


def _missed(flagged: float, precision: float, missed: float | None, recall: float | None) -> float:
    """The error rate among unflagged items, as given or as implied by a recall."""
    if (missed is None) == (recall is None):
        raise UsageError("expected either recall or missed, the error rate among unflagged items")
    if recall is None:
        return missed or 0.0
    for name, share in {"recall": recall, "flag rate": flagged}.items():
        if not 0 < share < 1:
            raise UsageError(f"expected a {name} between 0 and 1, found {share:g}")
    return flagged * precision * (1 - recall) / (recall * (1 - flagged))


def _expected_json(expected: Expected) -> dict[str, Json]:
    names = ("flagged", "precision", "missed", "recall", "error_rate", "assumed")
    guesses = {name: getattr(expected, name) for name in names}
    return {"population": expected.population, "expected": encode({**guesses, "items": expected.size})}


CLUSTERED = 1.5
"""The design effect of marks in one essay that a plan takes, as simulated (benchmarks/recall.py)."""


@dataclass(frozen=True, slots=True)
class Marking(Data):
    """The cost of measuring a corrector's recall: verified marks, and source sentences to find them in."""

    n_marks: int
    n_sentences: int

    @property
    def sentence(self) -> str:
        sentences = counted(self.n_sentences, "source sentence")
        return (
            f"For a corrector: two raters mark {sentences}, for about {counted(self.n_marks, 'verified mark')}; "
            "then one question for each mark and system (grater lab recall)."
        )


def plan_marking(recall: float, width: float, *, errors_per_sentence: float, sensitivity: float) -> Marking:
    """Marks are 1.5 z² R (1 - R) / (width / 2)², where 1.5 allows for errors that share an essay."""
    for name, each in {"recall": recall, "width": width, "sensitivity": sensitivity}.items():
        if not 0 < each < 1:
            raise UsageError(f"expected a {name} between 0 and 1, found {each:g}")
    if errors_per_sentence <= 0:
        raise UsageError(f"expected errors per sentence above 0, found {errors_per_sentence:g}")
    marks = ceil(CLUSTERED * recall * (1 - recall) * (2 * z_value() / width) ** 2)
    return Marking(marks, ceil(marks / (errors_per_sentence * (1 - (1 - sensitivity) ** 2))))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Plan(Result):
    """The methods compared, and what the recall of a corrector would take."""

    width: float
    expected: Expected = field(metadata=key(flat=True, write=_expected_json))
    work: Work
    rows: tuple[PlanRow, ...] = field(metadata=key("plans"))
    marking: Marking | None = field(default=None, metadata=OPTIONAL)
    warnings: tuple[str, ...] = ()

    def row(self, method: str) -> PlanRow:
        return next(row for row in self.rows if row.method == method)

    def to_frame(self) -> pl.DataFrame:
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
        population = "Widths are for other items like these, taken as independent; by essay they are wider."
        if self.expected.population == "these" and self.expected.size < inf:
            population = f"Widths are for exactly these {self.expected.size:,.0f} items, not for others."
        marking = [self.marking.sentence] if self.marking else []
        return [Sheet(title, columns, tuple(rows), notes=(self.expected.sentence, population, *marking), name="plan")]


def plan(
    expected: Expected,
    width: float,
    *,
    work: Work | None = None,
    errors: int | None = None,
    strata: Stratification | None = None,
    assist: Skill | None = None,
    marking: Marking | None = None,
) -> Plan:
    """The methods compared; `errors` fixes the number of errors that a fully judged corpus must contain.

    With the corpus's `strata`, our method on these is a separate row. `assist` is a cheap judge of every item.
    """
    shares = {"share of flagged items": expected.flagged, "precision": expected.precision}
    shares |= {"rate of missed errors": expected.missed, "width": width}
    for name, share in shares.items():
        if not 0 < share < 1:
            raise UsageError(f"expected a {name} between 0 and 1, found {share:g}")
    two, work = expected.strata, work or Work()
    rows = [
        _exhaustive(expected, width, work, errors),
        _verification(expected, width, work),
        _sampling(expected, two, width, work, "paper", "sampling"),
        ours := _sampling(expected, two, width, work, "neyman", "ours"),
    ]
    if strata is not None:
        ours = _sampling(expected, strata, width, work, "neyman", f"ours, {len(strata.names)} strata")
        rows.append(ours)
    if assist is not None:
        row = _sampling(expected, strata or two, width, work, "neyman", "ours, with a cheap judge", assist)
        rows.append(replace(row, note=f"{row.note}; {ours.items - row.items:,} fewer than without it"))
    return Plan(width, expected, work, tuple(rows), marking, expected.warnings)


def _exhaustive(expected: Expected, width: float, work: Work, errors: int | None) -> PlanRow:
    """Every item of a corpus large enough to contain the errors that recall needs."""
    n_errors = errors or _smallest(lambda n: _width_of(expected.recall, n) <= width)
    items = ceil(n_errors / expected.error_rate - 1e-9)
    note = f"{n_errors:,} errors at {expected.error_rate:.3g}"
    if items > expected.size:
        note += "; more than the corpus has"
    reached = _width_of(expected.recall, n_errors)
    return _row("exhaustive", items, round(items * expected.flagged), reached, work, note)


def _width_of(share: float, n: int) -> float:
    """The width of the interval of a share of n independent cases."""
    found = wilson(share * n, n)
    return found.high - found.low


def _verification(expected: Expected, width: float, work: Work) -> PlanRow:
    strata = expected.strata

    def reached(n: int) -> float:
        judged = strata.judged([n, 1], expected.population)
        precision = sample_scores(judged, strata.flagged).precision
        return precision.high - precision.low

    most = int(strata.sizes[0]) if expected.size < inf else MOST_ITEMS
    items = _smallest(lambda n: reached(n) <= width, most=most)
    note = "precision only, not recall" + _too_small(reached(items), width)
    return _row("verification", items, items, reached(items), work, note)


def precision_needed(precision: float, width: float, *, size: int) -> tuple[int, float]:
    """How many of `size` flags to judge for an interval of precision of this width, and the width they give."""
    n = _smallest(lambda n: _width_of(precision, n) <= width, most=size)
    return n, _width_of(precision, n)


def _too_small(reached: float, width: float) -> str:
    return "; the corpus is too small for this width" if reached > width + 1e-9 else ""


def _sampling(
    expected: Expected,
    strata: Stratification,
    width: float,
    work: Work,
    method: Allocation,
    name: str,
    judge: Skill | None = None,
) -> PlanRow:
    weights = weights_of(strata, method)
    most = strata.sizes if expected.size < inf else np.full(len(weights), float(MOST_ITEMS))
    least = np.minimum(LEAST, most)
    explained = None if judge is None else np.array([judge.explained(rate) for rate in strata.rates])

    def numbers(n: int) -> Ints:
        return shared(weights, least, most, n)

    def reached(n: int) -> float:
        return recall_width(strata.judged(numbers(n), expected.population, explained), strata.flagged)

    items = _smallest(lambda n: reached(n) <= width, most=int(most.sum()), least=int(least.sum()))
    note = "OK sample twice the Error sample" if method == "paper" else "Neyman's allocation"
    note += _too_small(reached(items), width)
    return _row(name, items, int(numbers(items)[strata.flagged].sum()), reached(items), work, note)


def _row(method: str, items: int, flagged: int, width: float, work: Work, note: str) -> PlanRow:
    hours = items * work.raters / work.items_per_hour
    return PlanRow(method, items, flagged, width, hours, hours * work.wage, note)


def _smallest(is_enough: Callable[[int], bool], *, most: int = MOST_ITEMS, least: int = 1) -> int:
    """The first number that is enough, by bisection; `most` if none is."""
    low, high = least, least + 1
    while high < most and not is_enough(high):
        low, high = high, high * 2
    high = min(high, most)
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if is_enough(middle) else (middle + 1, high)
    return low


# How many more


WIDEST = 0.5
"""The width of recall's interval beyond which a sample is reported not to measure it."""


def recall_width(strata: Strata, flagged: Flags) -> float:
    recall = sample_scores(strata, flagged).recall
    return inf if isnan(recall.low) else recall.high - recall.low


def recall_warning(strata: Strata, flagged: Flags) -> str:
    """Advice if a sample cannot measure recall; empty if it can, or if recall has no interval."""
    if not WIDEST < recall_width(strata, flagged) < inf:
        return ""
    n = more_needed(strata, flagged, WIDEST, ~flagged)
    way_out = f"judge about {n:,} more unflagged items" if n else "this corpus has too few unflagged items"
    return f"this sample cannot measure recall; {way_out}"


def more_needed(strata: Strata, flagged: Flags, width: float, cells: Flags | None = None) -> int | None:
    """The further judgments that bring recall to this width at the present rates; None if none can.

    They are allocated by Neyman's rule, to `cells` if given. The calculation is by items, for a width reduced by the
    design effect of essays.
    """
    shown = recall_width(strata, flagged)
    if shown <= width:
        return 0
    cells = np.ones(len(flagged), bool) if cells is None else cells
    sizes, n, x = (each.sum(axis=0) for each in (strata.sizes, strata.judged, strata.errors))
    offsets = None if strata.offsets is None else strata.offsets.sum(axis=0, keepdims=True)
    # Never quite 0 or 1: a stratum without errors is still looked at.
    rates = (np.nan_to_num(own_rates(strata)) * n + 0.5) / (n + 1)
    weights = neyman_weights(Stratification(("",) * len(n), flagged, sizes, rates)) * cells
    left = cells * (np.full(len(n), float(MOST_ITEMS)) if (sizes < n).any() else np.floor(sizes - n))

    def reached(more: int) -> float:
        judged = n + shared(weights, 0 * left, left, more)
        errors = np.where(n > 0, x * judged / np.where(n > 0, n, 1.0), judged * rates)
        by_item = replace(strata, sizes=sizes[None], judged=judged[None], errors=errors[None], unit="item")
        return recall_width(replace(by_item, offsets=offsets), flagged)

    target = width * min(1.0, reached(0) / shown) if shown < inf else width
    found = _smallest(lambda more: reached(more) <= target, most=int(left.sum()), least=0)
    return found if reached(found) <= target else None


# A cheap judge of every item


@dataclass(frozen=True, slots=True)
class Skill:
    """How often a judge is right on errors and on good items."""

    sensitivity: float
    specificity: float

    def explained(self, rate: float) -> float:
        """The share of the variance of the truth that verdicts explain at this error rate."""
        called = self.sensitivity * rate + (1 - self.specificity) * (1 - rate)
        spread = called * (1 - called)
        informed = self.sensitivity + self.specificity - 1
        return min(0.999, rate * (1 - rate) * informed**2 / spread) if spread > 0 else 0.0
