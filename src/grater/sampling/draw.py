"""Drawing items by permanent random numbers (Ohlsson 1995, in Business Survey Methods, chapter 9).

Each item keeps one number in [0, 1), a hash of its id and the study's seed.  A draw takes the n_k items of smallest
number in each stratum, so sizes are exact and every item of the stratum has the same chance n_k / N_k.  The stratum's
threshold lies between the last number taken and the next: with it anyone can tell, without the sample, whether an
item was drawn.  What is drawn for one system is drawn for the next as far as their strata allow.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, get_args

import polars as pl

from grater.errors import BadInput, Problem
from grater.model import Json
from grater.rng import permanent_number
from grater.sampling.allocate import Allocation


@dataclass(frozen=True, slots=True)
class Drawn:
    """A stratum as it was drawn from: n of its items, those whose number is not above the threshold."""

    size: int
    n: int
    threshold: float

    @property
    def probability(self) -> float:
        return self.n / self.size


@dataclass(frozen=True, slots=True)
class Draw:
    """What was drawn for one system; `decisions` is the hash of what the system said at that time."""

    system: str
    strata: str
    decisions: str
    by_stratum: Mapping[str, Drawn]
    allocation: Allocation = "paper"
    n_flagged: int | None = None

    @property
    def n(self) -> int:
        return sum(drawn.n for drawn in self.by_stratum.values())

    def as_json(self) -> dict[str, Json]:
        sizes = {name: [drawn.size, drawn.n, drawn.threshold] for name, drawn in self.by_stratum.items()}
        return {
            "system": self.system,
            "strata": self.strata,
            "decisions": self.decisions,
            "allocation": self.allocation,
            "flagged": self.n_flagged,
            "by_stratum": sizes,
        }


def draw_of_json(value: Any, *, name: str) -> Draw:
    """A draw as `NAME.meta.json` has it."""
    try:
        sizes = {
            str(stratum): Drawn(int(size), int(n), float(threshold))
            for stratum, (size, n, threshold) in value["by_stratum"].items()
        }
        n_flagged = value.get("flagged")
        return Draw(
            str(value["system"]),
            str(value["strata"]),
            str(value["decisions"]),
            sizes,
            next(name for name in get_args(Allocation) if name == value["allocation"]),
            None if n_flagged is None else int(n_flagged),
        )
    except (AttributeError, KeyError, StopIteration, TypeError, ValueError) as error:
        message = f"expected a draw with system, strata, decisions, allocation and by_stratum, found {value!r:.80}"
        raise BadInput(Problem(name, message)) from error


def with_numbers(frame: pl.DataFrame, seed: int) -> pl.DataFrame:
    """The items with their permanent random numbers in the column `random`."""
    numbers = [permanent_number(seed, item) for item in frame["item"]]
    return frame.with_columns(random=pl.Series(numbers, dtype=pl.Float64))


def thresholds(frame: pl.DataFrame, sizes: Mapping[str, int]) -> dict[str, Drawn]:
    """Where to cut each stratum of a numbered corpus so that its wanted number of items lies below."""
    found = {}
    for (stratum,), rows in frame.sort("random").group_by("stratum", maintain_order=True):
        numbers, n = rows["random"].to_list(), sizes[str(stratum)]
        last = numbers[n - 1] if n else -1.0
        following = numbers[n] if n < len(numbers) else 1.0
        # Two items of one number (a chance of 1 in 2**53 a pair) would be taken, or not, together.
        found[str(stratum)] = Drawn(len(numbers), n, (last + following) / 2)
    return dict(sorted(found.items()))


def drawn(frame: pl.DataFrame, by_stratum: Mapping[str, Drawn]) -> pl.DataFrame:
    """The numbered corpus with each item's chance under a draw, and whether it was taken: probability, is_drawn."""
    table = pl.DataFrame(
        {
            "stratum": list(by_stratum),
            "stratum_size": [each.size for each in by_stratum.values()],
            "probability": [each.probability for each in by_stratum.values()],
            "threshold": [each.threshold for each in by_stratum.values()],
        },
        schema={"stratum": pl.String, "stratum_size": pl.Int64, "probability": pl.Float64, "threshold": pl.Float64},
    )
    joined = frame.join(table, on="stratum", how="left")
    return joined.with_columns(is_drawn=pl.col("random") <= pl.col("threshold")).drop("threshold")
