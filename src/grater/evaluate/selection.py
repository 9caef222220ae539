"""Two studies of native text: which word fits (cloze), and which of two fits better (choice).

T&C 2008, section 4.  Cloze (4.1, Table 2): raters and the system fill a blank; agreement and kappa of the writer
with each rater, the writer with the system, and rater with rater.  Choice (4.2): raters choose between the writer's
word and the system's where the two differ, or call both equally good or equally bad; the share s of mismatches in
which the system's word is equal or better, per rater and for all of them together, corrects an accuracy a by exact
match to a + s (1 - a): .75 and .28 give .82.  `equally bad` says nothing of which is better: it is left out of
shares and counted (option: `worse`).

The paper gives no intervals.  Shares have Wilson's; the corrected accuracy squares and adds the distances of both to
their limits, each times its slope (Zou & Donner 2008): accuracy and share come from different items.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import hypot, isnan, nan
from statistics import fmean
from typing import Literal, TypeAlias

import numpy as np
import polars as pl

from grater.agreement.coded import coded
from grater.agreement.cohen import cohen_kappa
from grater.agreement.confusion import between, label_matrix
from grater.errors import BadInput, Problem, UnknownName, UsageError
from grater.model import Interval, Json
from grater.registry import unknown
from grater.rng import generator
from grater.statistics.proportions import wilson
from grater.tables import Judgments, Table, exploded, require_raters

WRITER = "writer"
EQUALLY_BAD = "equally bad"
AT_LEAST = ("system", "equally good")
CHOICES = ("writer", *AT_LEAST, EQUALLY_BAD)
WORD = pl.col("label").cast(pl.String).str.strip_chars().str.to_lowercase()
"""Upper case and blanks around a word do not count."""
EquallyBad: TypeAlias = Literal["drop", "worse"]


@dataclass(frozen=True, slots=True)
class ClozePair:
    """Two who filled the same blanks."""

    first: str
    second: str
    n: int
    agreement: Interval
    kappa: Interval

    def as_json(self) -> dict[str, Json]:
        numbers = {"agreement": self.agreement.as_json(), "kappa": self.kappa.as_json()}
        return {"pair": [self.first, self.second], "n": self.n, **numbers}


def cloze(
    judgments: Judgments, *, decisions: Table | None = None, writer: str = WRITER, seed: int = 0
) -> list[ClozePair]:
    """Table 2: the writer with each rater, the writer with each system, then rater with rater."""
    require_raters(judgments, "the pairs of a cloze study")
    words, systems = _filled(judgments, decisions)
    codes = coded(words)
    if writer not in codes.raters:
        raise UnknownName(f"{judgments.name}: {unknown('rater', writer, list(codes.raters))}; name the writer's rows")
    people = [rater for rater in codes.raters if rater != writer and rater not in systems]
    pairs = [*((writer, other) for other in (*people, *systems)), *combinations(people, 2)]
    matrix = label_matrix(codes)
    place = {rater: column for column, rater in enumerate(codes.raters)}
    found = []
    for pair in pairs:
        table = between(matrix[:, place[pair[0]]], matrix[:, place[pair[1]]], codes.labels, pair)
        kappa = cohen_kappa(table, rng=generator(seed, "cloze"))
        found.append(ClozePair(*pair, table.n, table.observed, kappa))
    return found


def mean_kappas(
    pairs: Sequence[ClozePair], *, writer: str = WRITER, systems: Collection[str] = ()
) -> dict[str, float]:
    """The mean kappa of each kind of pair: a system is as good as people where its mean reaches theirs."""
    kinds: dict[str, list[float]] = {"writer-rater": [], "writer-system": [], "rater-rater": []}
    for pair in pairs:
        with_writer = "writer-system" if pair.second in systems else "writer-rater"
        if not isnan(pair.kappa.value):
            kinds[with_writer if pair.first == writer else "rater-rater"].append(pair.kappa.value)
    return {kind: fmean(values) for kind, values in kinds.items() if values}


def _filled(judgments: Judgments, decisions: Table | None) -> tuple[Judgments, list[str]]:
    """The words of people and, from their suggestions, of systems."""
    frame = judgments.frame.select(pl.col("item").cast(pl.String), pl.col("rater").cast(pl.String), WORD)
    if decisions is None:
        return Judgments(frame, judgments.name), []
    filled = _suggested(decisions)
    systems = sorted(filled["rater"].unique().to_list())
    shared = set(systems) & set(frame["rater"].unique().to_list())
    if shared:
        raise UsageError(f"expected systems and raters of different names, found {', '.join(sorted(shared))} in both")
    return Judgments(pl.concat([frame, filled]), judgments.name), systems


def _suggested(decisions: Table) -> pl.DataFrame:
    """The words of systems in the shape of judgments; a blank is no word."""
    if "suggestion" not in decisions.frame.columns:
        raise UsageError(f"{decisions.name}: expected a column 'suggestion' with the system's word, found none")
    filled = decisions.frame.filter(pl.col("suggestion").is_not_null()).select(
        pl.col("item").cast(pl.String), rater=pl.col("system").cast(pl.String), label=pl.col("suggestion")
    )
    return filled.with_columns(WORD)


@dataclass(frozen=True, slots=True)
class Choice:
    """The share of mismatches in which the system's word is equal or better, for each rater and for all of them.

    `all_raters` counts an item only where every rater says so, among the items that every rater judged.
    """

    by_rater: dict[str, Interval]
    all_raters: Interval
    n_items: int
    n_equally_bad: int

    def corrected(self, accuracy: Interval) -> Interval:
        """The accuracy by exact match, corrected by what all raters accept."""
        return corrected_accuracy(accuracy, self.all_raters)

    def as_json(self) -> dict[str, Json]:
        shares = {rater: share.as_json() for rater, share in self.by_rater.items()}
        counts = {"items": self.n_items, "equally_bad": self.n_equally_bad}
        return {**counts, "by_rater": shares, "all_raters": self.all_raters.as_json()}


def exact_accuracy(decisions: Table, words: Table) -> dict[str, Interval]:
    """The share of items on which each system has one of the words that are right: the writer's, by item."""
    right = exploded(words.frame, "label").select(pl.col("item").cast(pl.String), label=WORD)
    _, systems = _filled(Judgments(right.with_columns(rater=pl.lit(WRITER)), words.name), decisions)
    filled = _suggested(decisions).join(right.select("item").unique(), on="item", how="semi")
    is_right = filled.join(right, on=["item", "label"], how="semi").group_by("rater").len("n")
    n_right, n_filled = (dict(rows.iter_rows()) for rows in (is_right, filled.group_by("rater").len("n")))
    return {system: wilson(n_right.get(system, 0), n_filled.get(system, 0)) for system in systems}


def choice(judgments: Judgments, *, equally_bad: EquallyBad = "drop") -> Choice:
    """The choice study on labels writer, system, equally good, equally bad."""
    require_raters(judgments, "shares by rater")
    codes = coded(judgments)
    names = [_plain(label) for label in codes.labels]
    strange = [label for label, name in zip(codes.labels, names, strict=True) if name not in CHOICES]
    if strange:
        message = f"expected labels {', '.join(CHOICES)}, found {', '.join(strange[:5])}; map them with --merge"
        raise BadInput(Problem(judgments.name, message))
    matrix = label_matrix(codes)
    is_bad, is_good = (
        np.isin(matrix, [place for place, name in enumerate(names) if name in wanted])
        for wanted in ((EQUALLY_BAD,), AT_LEAST)
    )
    is_used = (matrix >= 0) & ~(is_bad & (equally_bad == "drop"))
    by_rater = {
        rater: wilson(int(is_good[:, place].sum()), int(is_used[:, place].sum()))
        for place, rater in enumerate(codes.raters)
    }
    by_all = is_used.all(axis=1)
    together = wilson(int(is_good[by_all].all(axis=1).sum()), int(by_all.sum()))
    return Choice(by_rater, together, len(codes.items), int(is_bad.sum()))


def _plain(label: str) -> str:
    return label.casefold().replace("-", " ").replace("_", " ").strip()


def corrected_accuracy(accuracy: Interval, share: Interval) -> Interval:
    """a + s (1 - a), which is 1 - (1 - a)(1 - s)."""
    _require_shares([accuracy.value, share.value])
    value = accuracy.value + share.value * (1 - accuracy.value)
    numbers = (value, accuracy.low, accuracy.high, share.low, share.high)
    if any(map(isnan, numbers)):
        return Interval(
            value,
            nan,
            nan,
            accuracy.undefined_because or share.undefined_because or "a share without limits gives none",
        )
    of_accuracy, of_share = 1 - share.value, 1 - accuracy.value
    down = hypot(of_accuracy * (accuracy.value - accuracy.low), of_share * (share.value - share.low))
    up = hypot(of_accuracy * (accuracy.high - accuracy.value), of_share * (share.high - share.value))
    return Interval(value, max(0.0, value - down), min(1.0, value + up))


def _require_shares(values: Sequence[float]) -> None:
    for value in values:
        if not isnan(value) and not 0 <= value <= 1:
            raise UsageError(f"expected a share from 0 to 1, found {value:g}")
