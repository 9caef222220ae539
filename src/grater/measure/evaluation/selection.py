"""Two studies of native text: which word fits (cloze), and which of two fits better (choice).

T&C 2008, section 4. Cloze (4.1, Table 2): raters and the system fill a blank; the results are agreement and kappa of
the writer with each rater, of the writer with the system, and between raters. Choice (4.2): raters choose between the
writer's word and the system's where the two differ, or call both equally good or equally bad; the share s of
mismatches in which the system's word is equal or better, per rater and for all of them together, corrects an accuracy
a by exact match to a + s (1 - a): .75 and .28 give .82. `equally bad` does not say which is better, so it is left out
of shares and counted (option: `worse`).

Intervals are those of `grater.uncertainty`, by essay if known; the paper gives none. Accuracy and share come from
different items, so the interval of the corrected accuracy combines theirs by MOVER (Zou & Donner 2008).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from math import isnan, nan
from statistics import fmean
from typing import Literal, TypeAlias

import numpy as np
import polars as pl

from grater.errors import BadInput, Problem, UnknownName, UsageError, unknown
from grater.measure.agreement.cohen import cohen_kappa, confusions, label_matrix
from grater.measure.evaluation.cases import each_score
from grater.measure.units import Essays, coded, essays_of, known_essays, with_essays
from grater.model import Interval
from grater.result import FLAT, HIDDEN, OPTIONAL, Data, Estimate, in_json, key
from grater.sheet import Sheet, Signature, count, digest, interval, number, with_notes
from grater.tables import Judgments, Table, exploded, require_raters
from grater.uncertainty import Basis, Scope, Scoped, with_parameters

WRITER = "writer"
EQUALLY_BAD = "equally bad"
AT_LEAST = ("system", "equally good")
CHOICES = ("writer", *AT_LEAST, EQUALLY_BAD)
EquallyBad: TypeAlias = Literal["drop", "worse"]


def _word() -> pl.Expr:
    """A word in lower case without surrounding blanks."""
    return pl.col("label").cast(pl.String).str.strip_chars().str.to_lowercase()


@dataclass(frozen=True, slots=True)
class ClozePair(Data):
    first: str = field(metadata=HIDDEN)
    second: str = field(metadata=HIDDEN)
    n: int
    agreement: Interval
    kappa: Interval

    @property
    @in_json()
    def pair(self) -> tuple[str, str]:
        return self.first, self.second


@dataclass(frozen=True, slots=True, repr=False)
class ClozeStudy(Scoped):
    pairs: tuple[ClozePair, ...]
    mean_kappa: dict[str, float]
    signature: Signature
    scope: Scope = field(metadata=key("interval"))

    def estimates(self) -> Iterator[Estimate]:
        for pair in self.pairs:
            scores = {"agreement": pair.agreement, "kappa": pair.kappa}
            yield from each_score(scores, first=pair.first, second=pair.second)

    def sheets(self) -> list[Sheet]:
        rows = [
            (f"{pair.first} – {pair.second}", count(pair.n), interval(pair.agreement), interval(pair.kappa))
            for pair in self.pairs
        ]
        means = (f"mean kappa {kind}: {number(mean)}" for kind, mean in self.mean_kappa.items())
        columns = ("", "items", "agreement", "kappa")
        own = Sheet("Agreement on filled blanks", columns, tuple(rows), notes=tuple(means), name="cloze")
        return with_notes([own], [*self.reasons, self.scope.sentence], str(self.signature))


def cloze_study(
    judgments: Judgments, *, decisions: Table | None = None, writer: str = WRITER, essays: Essays | None = None
) -> ClozeStudy:
    """Table 2: the writer with each rater, the writer with each system, rater with rater, and the means of each."""
    require_raters(judgments, "the pairs of a cloze study")
    essays = essays_of(judgments) if essays is None else essays
    words, systems = _filled(judgments, decisions)
    codes = with_essays(coded(words), essays)
    if writer not in codes.raters:
        raise UnknownName(f"{judgments.name}: {unknown('rater', writer, list(codes.raters))}; name the writer's rows")
    people = [rater for rater in codes.raters if rater != writer and rater not in systems]
    tables = {frozenset(table.raters): table for table in confusions(codes)}
    pairs = [
        ClozePair(first, second, table.n, table.observed, cohen_kappa(table))
        for first, second in [*((writer, other) for other in (*people, *systems)), *combinations(people, 2)]
        for table in [tables[frozenset((first, second))]]
    ]
    data = digest(f"{pair.first}|{pair.second}|{pair.n}|{pair.agreement.value}" for pair in pairs)
    return ClozeStudy(
        pairs=tuple(pairs),
        mean_kappa=mean_kappas(pairs, writer=writer, systems=systems),
        signature=Signature("cloze", {"writer": writer, **Basis().signature(essays.unit), "data": data}),
        scope=essays.scope_of(judgments.frame["item"].cast(pl.String)),
    )


def mean_kappas(
    pairs: Sequence[ClozePair], *, writer: str = WRITER, systems: Collection[str] = ()
) -> dict[str, float]:
    """The mean kappa of each kind of pair; a system is as good as people if its mean reaches theirs."""
    kinds: dict[str, list[float]] = {"writer-rater": [], "writer-system": [], "rater-rater": []}
    for pair in pairs:
        with_writer = "writer-system" if pair.second in systems else "writer-rater"
        if not isnan(pair.kappa.value):
            kinds[with_writer if pair.first == writer else "rater-rater"].append(pair.kappa.value)
    return {kind: fmean(values) for kind, values in kinds.items() if values}


def _filled(judgments: Judgments, decisions: Table | None) -> tuple[Judgments, list[str]]:
    frame = judgments.frame.select(pl.col("item").cast(pl.String), pl.col("rater").cast(pl.String), _word())
    if decisions is None:
        return Judgments(frame, judgments.name), []
    filled = _suggested(decisions)
    systems = sorted(filled["rater"].unique().to_list())
    shared = set(systems) & set(frame["rater"].unique().to_list())
    if shared:
        raise UsageError(f"expected systems and raters of different names, found {', '.join(sorted(shared))} in both")
    return Judgments(pl.concat([frame, filled]), judgments.name), systems


def _suggested(decisions: Table) -> pl.DataFrame:
    """The words of systems in the format of judgments; blanks are not words."""
    if "suggestion" not in decisions.frame.columns:
        raise UsageError(f"{decisions.name}: expected a column 'suggestion' with the system's word, found none")
    filled = decisions.frame.filter(pl.col("suggestion").is_not_null()).select(
        pl.col("item").cast(pl.String), rater=pl.col("system").cast(pl.String), label=pl.col("suggestion")
    )
    return filled.with_columns(_word())


@dataclass(frozen=True, slots=True)
class Choice(Data):
    """The share of mismatches in which the system's word is equal or better, by rater and overall.

    `all_raters` counts the items on which every rater says so, among those that every rater judged.
    """

    by_rater: dict[str, Interval]
    all_raters: Interval
    n_items: int
    n_equally_bad: int

    @property
    def shares(self) -> dict[str, Interval]:
        return {**self.by_rater, "all raters": self.all_raters}


@dataclass(frozen=True, slots=True, repr=False)
class ChoiceStudy(Scoped):
    choice: Choice = field(metadata=FLAT)
    signature: Signature
    scope: Scope = field(metadata=key("interval"))
    accuracy: Interval | None = field(default=None, metadata=OPTIONAL)

    @property
    @in_json(
        optional=True,
        write=lambda shares: {name.replace(" ", "_"): share.as_json() for name, share in shares.items()},
    )
    def corrected(self) -> dict[str, Interval]:
        if self.accuracy is None:
            return {}
        return {name: corrected_accuracy(self.accuracy, share) for name, share in self.choice.shares.items()}

    def estimates(self) -> Iterator[Estimate]:
        corrected = self.corrected
        for name, share in self.choice.shares.items():
            scores = {"share": share, **({"accuracy": corrected[name]} if corrected else {})}
            yield from each_score(scores, rater=name)

    def sheets(self) -> list[Sheet]:
        corrected = self.corrected
        rows = [
            (name, interval(share), *([interval(corrected[name])] if corrected else []))
            for name, share in self.choice.shares.items()
        ]
        notes = [f"{self.choice.n_items:,} items; {self.choice.n_equally_bad:,} judgments are 'equally bad'."]
        if len(self.choice.by_rater) > 1:
            notes.append("all raters: every rater of an item finds the system's word equal or better")
        notes += [f"accuracy by exact match {interval(self.accuracy)}"] if self.accuracy else []
        columns = ("", "share", *(["corrected accuracy"] if corrected else []))
        own = Sheet("System's word equal or better", columns, tuple(rows), notes=tuple(notes), name="choice")
        return with_notes([own], [*self.reasons, self.scope.sentence], str(self.signature))


def choice_study(
    judgments: Judgments,
    *,
    accuracy: Interval | None = None,
    equally_bad: EquallyBad = "drop",
    essays: Essays | None = None,
) -> ChoiceStudy:
    """The shares by rater, from the labels writer, system, equally good or bad, and the corrected accuracy."""
    require_raters(judgments, "shares by rater")
    essays, codes = essays_of(judgments) if essays is None else essays, coded(judgments)
    names = [label.casefold().replace("-", " ").replace("_", " ").strip() for label in codes.labels]
    strange = [label for label, name in zip(codes.labels, names, strict=True) if name not in CHOICES]
    if strange:
        message = f"expected labels {', '.join(CHOICES)}, found {', '.join(strange[:5])}; merge them into these"
        raise BadInput(Problem(judgments.name, message))
    matrix = label_matrix(codes)
    is_bad, is_good = (
        np.isin(matrix, [code for code, name in enumerate(names) if name in wanted])
        for wanted in ((EQUALLY_BAD,), AT_LEAST)
    )
    is_used = (matrix >= 0) & ~(is_bad & (equally_bad == "drop"))
    by_rater = {
        rater: essays.share(is_good[used, column], codes.items.filter(used))
        for column, (rater, used) in enumerate(zip(codes.raters, is_used.T, strict=True))
    }
    by_all = np.asarray(is_used.all(axis=1))
    together = essays.share(np.asarray(is_good[by_all].all(axis=1)), codes.items.filter(by_all))
    rows = judgments.frame.select("item", "rater", "label").sort("item", "rater").iter_rows()
    data = digest(f"{item}|{rater}|{label}" for item, rater, label in rows)
    return ChoiceStudy(
        choice=Choice(by_rater, together, len(codes.items), int(is_bad.sum())),
        signature=Signature("choice", {"equally-bad": equally_bad, **Basis().signature(essays.unit), "data": data}),
        scope=essays.scope_of(judgments.frame["item"].cast(pl.String)),
        accuracy=accuracy,
    )


def exact_accuracy(decisions: Table, words: Table) -> dict[str, Interval]:
    """The share of items on which each system has one of the right words: the writer's, by item."""
    right = exploded(words.frame, "label").select(pl.col("item").cast(pl.String), label=_word())
    _, systems = _filled(Judgments(right.with_columns(rater=pl.lit(WRITER)), words.name), decisions)
    filled = _suggested(decisions).join(right.select("item").unique(), on="item", how="semi")
    marked = filled.join(right.unique().with_columns(is_right=True), on=["item", "label"], how="left")
    by_system = {system: marked.filter(rater=system) for system in systems}
    essays = known_essays(Judgments(filled, decisions.name), decisions)
    return {
        system: essays.share(rows["is_right"].fill_null(False).to_numpy(), rows["item"])
        for system, rows in by_system.items()
    }


def corrected_accuracy(accuracy: Interval, share: Interval) -> Interval:
    """a + s (1 - a), which is 1 - (1 - a)(1 - s)."""
    for value in (accuracy.value, share.value):
        if not isnan(value) and not 0 <= value <= 1:
            raise UsageError(f"expected a share from 0 to 1, found {value:g}")

    def corrected(accuracies: Sequence[float], of: float = share.value) -> float:
        return accuracies[0] + of * (1 - accuracies[0])

    value = corrected([accuracy.value])
    if any(map(isnan, (value, accuracy.low, share.low))):
        reason = accuracy.undefined_because or share.undefined_because or "a share without an interval gives none"
        return Interval(value, nan, nan, reason)
    low, high = (corrected([accuracy.value], of=limit) for limit in (share.low, share.high))
    return with_parameters(Interval(value, low, high), corrected, [accuracy])
