"""Drawing items by permanent random numbers, so that one judged sample serves all systems and versions.

**Drawing** (Ohlsson 1995, in Business Survey Methods, chapter 9). Each item keeps one number in [0, 1), a hash of its
id and the study's seed. A draw takes the n_k items with the smallest numbers in each stratum, so sizes are exact and
every item of the stratum has probability n_k / N_k. The stratum's threshold lies between the last number taken and
the next.

**Reuse.** T&C 2008, Table 7 lists "hard to re-test" as the price of sampling. With permanent random numbers, a second
draw shares most of its items with the first, and only the others must still be judged. The union of the draws
includes an item with the largest of its probabilities; within a cell of items that share all strata, it is a simple
random sample. Rows are in judging order: the first rows, however many, are a smaller sample of the same design. A
corpus with other items, or a system whose decisions have changed since the draw, is refused.

**One more system** should need as few new judgments as possible. Its strata are cut at about the old thresholds:
items that both systems leave unflagged stay in or out of the sample, and only new flags get a higher probability.
Five new flags drawn with probability 1/6 before and 3/4 now need about three labels. With a target width of recall
and judgments to estimate rates from, `least_thresholds` tries increasing thresholds for unflagged items, finds the
lowest threshold for flags that reaches the width, and keeps the pair that needs the fewest labels. Cells with few
judgments borrow the rate of their old stratum.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import inf
from typing import Any, get_args

import numpy as np
import polars as pl

from grater.errors import BadInput, Problem, UsageError
from grater.measure.sampling.plan import (
    FLAGGED,
    UNFLAGGED,
    Allocation,
    Stratification,
    allocate,
    assign_strata,
    decided,
    decisions_hash,
    recall_width,
    strata_of,
)
from grater.model import Json
from grater.result import Data, key
from grater.sheet import counted
from grater.tables import Judgments, Sample, SampleMeta, Table, items_hash, require_same_items
from grater.uncertainty import Ints, Numbers, permanent_number
from grater.uncertainty.sampled import Flags

FEW_FLAGS = 20
"""Flags below which the interval of precision is too wide."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """A stratum as drawn: n of its items, those whose number is not above the threshold."""

    size: int
    n: int
    threshold: float

    @property
    def probability(self) -> float:
        return self.n / self.size


def _sizes(strata: Mapping[str, Drawn]) -> dict[str, Json]:
    return {name: [drawn.size, drawn.n, drawn.threshold] for name, drawn in strata.items()}


@dataclass(frozen=True, slots=True)
class Draw(Data):
    """The draw for one system; `decisions` is the hash of the system's decisions at that time."""

    system: str
    strata: str
    decisions: str
    by_stratum: Mapping[str, Drawn] = field(metadata=key(write=_sizes))
    allocation: Allocation = "paper"
    n_flagged: int | None = None

    @property
    def n(self) -> int:
        return sum(drawn.n for drawn in self.by_stratum.values())

    def n_flags(self, *, drawn_only: bool) -> int:
        flagged = [drawn for name, drawn in self.by_stratum.items() if name.startswith(FLAGGED)]
        return sum(drawn.n if drawn_only else drawn.size for drawn in flagged)


def draw_of_json(value: Any, *, name: str) -> Draw:
    try:
        sizes = {
            str(stratum): Drawn(int(size), int(n), float(threshold))
            for stratum, (size, n, threshold) in value["by_stratum"].items()
        }
        n_flagged = value.get("flagged")
        return Draw(
            system=str(value["system"]),
            strata=str(value["strata"]),
            decisions=str(value["decisions"]),
            by_stratum=sizes,
            allocation=next(name for name in get_args(Allocation) if name == value["allocation"]),
            n_flagged=None if n_flagged is None else int(n_flagged),
        )
    except (AttributeError, KeyError, StopIteration, TypeError, ValueError) as error:
        message = f"expected a draw with system, strata, decisions, allocation and by_stratum, found {value!r:.80}"
        raise BadInput(Problem(name, message)) from error


def with_numbers(frame: pl.DataFrame, seed: int) -> pl.DataFrame:
    numbers = [permanent_number(seed, item) for item in frame["item"].to_list()]
    return frame.with_columns(random=pl.Series(numbers, dtype=pl.Float64))


def thresholds(frame: pl.DataFrame, sizes: Mapping[str, int]) -> dict[str, Drawn]:
    """The threshold of each stratum of a numbered corpus that selects the desired number of items."""
    cuts = {}
    for (stratum,), rows in frame.sort("random").group_by("stratum", maintain_order=True):
        numbers, n = rows["random"].to_list(), sizes[str(stratum)]
        last = numbers[n - 1] if n else -1.0
        following = numbers[n] if n < len(numbers) else 1.0
        # Two items of one number (a chance of 1 in 2**53 a pair) would be taken, or not, together.
        cuts[str(stratum)] = Drawn(size=len(numbers), n=n, threshold=(last + following) / 2)
    return dict(sorted(cuts.items()))


def drawn(frame: pl.DataFrame, by_stratum: Mapping[str, Drawn]) -> pl.DataFrame:
    """The numbered corpus, with each item's probability in a draw and whether it was drawn: probability, is_drawn."""
    schema = {"stratum": pl.String, "stratum_size": pl.Int64, "probability": pl.Float64, "threshold": pl.Float64}
    rows = [(name, each.size, each.probability, each.threshold) for name, each in by_stratum.items()]
    joined = frame.join(pl.DataFrame(rows, schema=schema, orient="row"), on="stratum", how="left")
    return joined.with_columns(is_drawn=pl.col("random") <= pl.col("threshold")).drop("threshold")


DRAWS = "draws"


def draw_sample(
    decisions: Table,
    system: str,
    n: int,
    *,
    strata: str = "decision",
    method: Allocation = "paper",
    n_flagged: int | None = None,
    rates: Mapping[str, float] | None = None,
    labels: Judgments | None = None,
    seed: int = 0,
) -> Sample:
    frame = with_numbers(assign_strata(decisions, system, strata=strata, labels=labels), seed)
    sizes = allocate(strata_of(frame), n, method=method, n_flagged=n_flagged, rates=rates)
    draw = Draw(system, strata, decisions_hash(decisions, system), thresholds(frame, sizes), method, n_flagged)
    meta = SampleMeta(seed, f"{strata} strata, {method} allocation", (system,), items_hash(frame["item"]))
    return _union(decisions, meta, [draw], labels, "sample")


def add_system(
    sample: Sample,
    decisions: Table,
    system: str,
    *,
    n: int | None = None,
    strata: str | None = None,
    method: Allocation | None = None,
    n_flagged: int | None = None,
    rates: Mapping[str, float] | None = None,
    labels: Judgments | None = None,
    width: float | None = None,
    errors: Mapping[str, float] | None = None,
) -> Sample:
    """The sample with the draw of one more system; its strata default to those of the first draw.

    With `width`, only as many more items are drawn as bring recall to it, given the `errors` shares of judged items.
    With `n` or its own allocation, the draw is like a first one.
    """
    draws, meta = draws_of(sample), _meta(sample)
    require_unchanged(sample, decisions)
    if system in meta.systems:
        raise UsageError(f"{sample.name}: system {system!r} is in this sample already; give a new version a new name")
    require_same_items(sample, decided(decisions, system)["item"])
    if meta.seed is None:
        raise BadInput(Problem(sample.name, "expected a seed in the meta data, found none; draw a new sample"))
    first = draws[0]
    strata, how = strata or first.strata, method or first.allocation
    frame = with_numbers(assign_strata(decisions, system, strata=strata, labels=labels), meta.seed)
    if n is None and method is None and n_flagged is None:
        sizes = _fewest(_crossed(decisions, meta, draws, labels), frame, draws, width=width, errors=errors)
    else:
        sizes = allocate(strata_of(frame), n or first.n, method=how, n_flagged=n_flagged, rates=rates)
    draw = Draw(system, strata, decisions_hash(decisions, system), thresholds(frame, sizes), how, n_flagged)
    return _union(decisions, replace(meta, systems=(*meta.systems, system)), [*draws, draw], labels, sample.name)


def draws_of(sample: Sample) -> list[Draw]:
    """The draws behind a sample of ours; empty if the sample came from elsewhere."""
    draws = sample.meta.extra.get(DRAWS, []) if sample.meta else []
    if not isinstance(draws, list):
        raise BadInput(Problem(sample.name, f"expected a list of draws in the meta data, found {draws!r:.80}"))
    return [draw_of_json(value, name=sample.name) for value in draws]


def few_flags(sample: Sample) -> dict[str, str]:
    """A warning for each system with few flags to judge, counting those from other draws."""
    draws = draws_of(sample)
    n_flags = {draw.system: draw.n_flags(drawn_only=len(draws) == 1) for draw in draws}
    return {
        system: f"{system} has {counted(n, 'flag')} there: below {FEW_FLAGS} precision is rough"
        for system, n in n_flags.items()
        if n < FEW_FLAGS
    }


def require_unchanged(sample: Sample, decisions: Table) -> None:
    """Refuse another corpus, or a system whose decisions changed after its items were drawn."""
    require_same_items(sample, decisions.frame["item"].unique())
    for draw in draws_of(sample):
        if decisions_hash(decisions, draw.system) != draw.decisions:
            message = f"expected the decisions of {draw.system!r} as they were when the sample was drawn"
            wish = f"give the new version a new name and add it next to {draw.system!r}"
            raise BadInput(Problem(sample.name, f"{message}, found others; {wish}"))


def to_judge(sample: Sample, judged: Collection[str]) -> list[str]:
    """The unjudged items of a sample, in judging order."""
    known = set(judged)
    return [item for item in sample.frame["item"].unique(maintain_order=True) if item not in known]


def crossed(decisions: Table, sample: Sample, *, labels: Judgments | None = None) -> pl.DataFrame:
    """Every item with its stratum in each draw (`stratum 0`, ...), its probability, and whether it is in."""
    return _crossed(decisions, _meta(sample), draws_of(sample), labels)


def _crossed(decisions: Table, meta: SampleMeta, draws: list[Draw], labels: Judgments | None) -> pl.DataFrame:
    whole = with_numbers(decided(decisions, draws[0].system).select("item"), meta.seed or 0)
    for place, draw in enumerate(draws):
        rows = assign_strata(decisions, draw.system, strata=draw.strata, labels=labels)
        one = drawn(rows.join(whole.select("item", "random"), on="item"), draw.by_stratum)
        columns = ["stratum", "stratum_size", "probability", "is_drawn"]
        whole = whole.join(one.select("item", *(pl.col(of).alias(f"{of} {place}") for of in columns)), on="item")
    places = range(len(draws))
    return whole.with_columns(
        probability=pl.max_horizontal([f"probability {place}" for place in places]),
        is_drawn=pl.any_horizontal([f"is_drawn {place}" for place in places]),
    )


def _union(decisions: Table, meta: SampleMeta, draws: list[Draw], labels: Judgments | None, name: str) -> Sample:
    whole = _crossed(decisions, meta, draws, labels).filter("is_drawn")
    whole = whole.sort(pl.col("random") / pl.col("probability"), "item")
    parts = [
        whole.select(
            "item",
            pl.col(f"stratum {place}").alias("stratum"),
            "probability",
            pl.col(f"stratum_size {place}").cast(pl.Float64).alias("stratum_size"),
            "random",
            system=pl.lit(draw.system),
        )
        for place, draw in enumerate(draws)
    ]
    extra = {**meta.extra, DRAWS: [draw.to_dict() for draw in draws]}
    return Sample(pl.concat(parts), name, replace(meta, extra=extra))


def _meta(sample: Sample) -> SampleMeta:
    if sample.meta is None or not draws_of(sample):
        wanted = "expected the meta data of a sample that grater drew, found none"
        raise BadInput(Problem(sample.name, f"{wanted}; keep NAME.meta.json next to the file"))
    return sample.meta


# How far to draw for one more system


STEPS = 12
"""Thresholds tried for what the system leaves alone, and halvings of the interval for its flags."""


def _fewest(
    whole: pl.DataFrame,
    frame: pl.DataFrame,
    draws: list[Draw],
    *,
    width: float | None,
    errors: Mapping[str, float] | None,
) -> dict[str, int]:
    """The sizes of a draw that adds the fewest items: by the old probabilities, or for a width of recall."""
    first, by_side = draws[0].by_stratum, {}
    for side, word in ((True, FLAGGED), (False, UNFLAGGED)):
        parts = [drawn for name, drawn in first.items() if name.startswith(word)]
        by_side[side] = sum(part.n for part in parts) / sum(part.size for part in parts) if parts else 1.0
    strata = frame.group_by("stratum", "flagged").agg("random").sort("stratum")
    names, flags = strata["stratum"].to_list(), strata["flagged"].to_numpy()
    start = np.array(
        [first[name].threshold if name in first else by_side[side] for name, side in zip(names, flags, strict=True)]
    )
    if width is not None:
        if not errors:
            raise UsageError("expected judgments with a target width, for error rates, found none")
        olds = [f"stratum {place}" for place in range(len(draws))]
        both = whole.select("item", "is_drawn", *olds).join(frame, on="item")
        start = least_thresholds(growing(both, olds, errors), start, flags, width)
    sizes = {}
    for name, is_flagged, numbers, threshold in zip(names, flags, strata["random"], start, strict=True):
        below = int((numbers <= threshold).sum())
        if width is None:  # unflagged items are never cut above the old threshold: all below it were judged
            wanted = round(len(numbers) * (first[name].probability if name in first else by_side[is_flagged]))
            below = wanted if is_flagged else min(wanted, below)
        sizes[name] = max(1, below)
    return sizes


@dataclass(frozen=True, slots=True, eq=False)
class Growing:
    """A growing sample: each item's random number, stratum and cell, and whether it is already in."""

    random: Numbers
    is_drawn: Flags
    stratum: Ints
    cell: Ints
    cells: Stratification

    def drawn(self, thresholds: Numbers) -> Flags:
        return self.is_drawn | (self.random <= thresholds[self.stratum])

    def n_new(self, thresholds: Numbers) -> int:
        return int((self.drawn(thresholds) & ~self.is_drawn).sum())

    def width(self, thresholds: Numbers) -> float:
        """The width of the interval of recall, if new judgments have the same error rates as the old ones."""
        judged = np.bincount(self.cell, weights=self.drawn(thresholds), minlength=len(self.cells.sizes))
        return recall_width(self.cells.judged(judged), self.cells.flagged)


def growing(whole: pl.DataFrame, old_strata: Sequence[str], errors: Mapping[str, float]) -> Growing:
    """From the corpus with its old strata, new stratum and numbers, and the judged error shares by item.

    The rate of a cell includes one pseudo-judgment at the rate of its old stratum.
    """
    keys = whole.select(cell=pl.concat_str([*old_strata, "stratum"], separator="\n"), old=pl.concat_str(old_strata))
    names, places, cell = np.unique(keys["cell"].to_numpy(), return_index=True, return_inverse=True)
    old, stratum = (np.unique(each.to_numpy(), return_inverse=True)[1] for each in (keys["old"], whole["stratum"]))
    error = np.array([errors.get(item, np.nan) for item in whole["item"]])
    known, wrong = ~np.isnan(error), np.nan_to_num(error)
    base = (np.bincount(old, wrong) + 0.5) / (np.bincount(old, known) + 1)
    rates = (np.bincount(cell, wrong) + base[old[places]]) / (np.bincount(cell, known) + 1)
    flags, sizes = whole["flagged"].to_numpy()[places], np.bincount(cell).astype(np.float64)
    return Growing(
        random=whole["random"].to_numpy(),
        is_drawn=whole["is_drawn"].to_numpy(),
        stratum=stratum,
        cell=cell,
        cells=Stratification(tuple(names), flags, sizes, rates),
    )


def least_thresholds(sample: Growing, start: Numbers, is_flagged: Flags, width: float) -> Numbers:
    """The thresholds by stratum that reach the width with the fewest new items; all items if none does."""
    best, fewest = np.ones(len(start)), inf
    lowest = np.where(is_flagged, start[~is_flagged].min(initial=1.0), start)
    for step in range(STEPS + 1):
        passed = np.where(is_flagged, lowest, lowest + (step / STEPS) ** 2 * (1 - lowest))
        low, high = 0.0, 1.0
        if sample.width(np.where(is_flagged, 1.0, passed)) > width:
            continue
        for _ in range(STEPS):
            middle = (low + high) / 2
            is_enough = sample.width(np.where(is_flagged, np.maximum(passed, middle), passed)) <= width
            low, high = (low, middle) if is_enough else (middle, high)
        chosen = np.where(is_flagged, np.maximum(passed, high), passed)
        if sample.n_new(chosen) < fewest:
            best, fewest = chosen, sample.n_new(chosen)
    return best
