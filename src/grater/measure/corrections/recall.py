"""Recall of correctors from marked source sentences, and the errors that remain in their output.

Two raters, blind to every system, mark the errors of sampled source sentences, and verifiers accept or reject each
mark. Raters then answer one question for each mark and system: is the error gone, still there, or replaced by
another? The unit is an error of the source, so no rule is needed for one edit that fixes several errors or several
that fix one, and the same marking serves all systems, including later ones.

**Recall.** Chapman's formula (1951) estimates the errors that neither rater saw, separately for those that the system
removed and those that it did not: with h1, h2 and h12 the removed errors that rater 1, rater 2 and both marked, H =
(h1 + 1)(h2 + 1) / (h12 + 1) - 1; M is the same for the others; recall is H / (H + M). A replaced error counts as not
removed. If several people judge the fate of a mark, their answers count as fractions. The union is also reported: the
share of removed errors among all verified marks. It does not correct for unseen errors, but varies less and is the
better estimate above .9.

**Bias.** Systems often overlook the same errors as both raters, so recall tends to be too high (benchmarks/recall.py:
by .03 if difficulty is strongly shared, else by less than .003). False marks that verifiers accept count as errors
that nobody removed, which biases recall downwards.

**Remaining errors** are errors per 100 words in sampled corrected sentences: missed (an error of the source
that is still there), half-right (changed, but not right) and introduced (by the system), each the mean over raters.

"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import polars as pl

from grater.errors import BadInput, Problem, UsageError
from grater.measure.units import Essays, essay_warnings, essays_of
from grater.model import Interval
from grater.result import FLAT, OPTIONAL, Data, Estimate, Result, key
from grater.sheet import Sheet, Signature, count, counted, digest, interval, number, p_value, with_notes
from grater.tables import Judgments, Table
from grater.tables.schema import LEFT
from grater.uncertainty import (
    BASIS,
    Basis,
    Influence,
    Numbers,
    PairTest,
    Scope,
    Units,
    density,
    grouped_rows,
    influence,
    paired_tests,
    rank_groups,
    ratio,
    share,
)

GONE, THERE, REPLACED = "gone", "still there", "replaced"
FATES = (GONE, THERE, REPLACED)
ACCEPTED = "error"
"""A verifier's label for a mark that is an error."""
SENSITIVE = 0.5
"""The share of errors that a rater sees below which recall rests on too few."""
FEW_BY_BOTH = 10
BIAS = (
    "Errors that are hard to see for raters and systems alike are in no mark, so recall is rather too high than "
    "too low; errors that nobody marked are estimated from what both raters found (Chapman)."
)
NO_MARKS = "no verified mark has an answer"


def chapman_recall(sums: Numbers) -> Numbers:
    """Recall from sums (h1, h2, h12, m1, m2, m12) in the last axis."""
    first, second, both = (sums[..., [at, at + 3]] for at in range(3))
    total = (first + 1) * (second + 1) / (both + 1) - 1
    return ratio(total[..., 0], total.sum(axis=-1))


def union_recall(sums: Numbers) -> Numbers:
    """The share of removed errors among all marks, from the same sums."""
    marked = sums[..., [0, 3]] + sums[..., [1, 4]] - sums[..., [2, 5]]
    return ratio(marked[..., 0], marked.sum(axis=-1))


def recall_rows(found: Numbers, gone: Numbers) -> Numbers:
    """One row per mark, from who of the two found it (two columns) and the share of answers that call it gone."""
    seen = np.column_stack([found, found[:, 0] * found[:, 1]])
    return np.concatenate([seen * gone[:, None], seen * (1 - gone[:, None])], axis=1)


def recalls(units: Units, basis: Basis = BASIS) -> tuple[Influence, Interval, Interval]:
    """Chapman's recall with its influence and interval, and the union's interval, from `recall_rows` by unit."""
    rows = units.rows
    marks = rows[:, [0, 1, 3, 4]].sum(axis=1) - rows[:, [2, 5]].sum(axis=1)
    n = float(units.counts @ marks)
    own, union = (influence(units, score, marks, basis) for score in (chapman_recall, union_recall))
    return own, share(own, n=n, undefined=NO_MARKS), share(union, n=n, undefined=NO_MARKS)


@dataclass(frozen=True, slots=True)
class SystemRecall(Data):
    """One system: Chapman's recall, the union, the fates of the verified marks, recall by type of error."""

    system: str
    n_marks: int
    recall: Interval
    union: Interval
    fates: Mapping[str, float]
    by_type: Mapping[str, Interval] = field(default_factory=dict, metadata=OPTIONAL)
    group: str = ""


@dataclass(frozen=True, slots=True)
class Marker(Data):
    """One of the two raters: their verified marks, and the share of the other's marks that they found too."""

    rater: str
    n_marks: int
    sensitivity: Interval


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Recall(Result):
    """Every system's recall from one marking, best first."""

    systems: tuple[SystemRecall, ...]
    pairs: tuple[PairTest, ...] = field(metadata=OPTIONAL)
    raters: tuple[Marker, ...]
    n_marks: int
    n_verified: int
    n_found_by_both: int
    scope: Scope = field(metadata=key("interval"))
    signature: Signature
    warnings: tuple[str, ...] = ()

    def estimates(self) -> Iterator[Estimate]:
        for each in self.systems:
            numbers = {"recall": each.recall, "union": each.union}
            numbers |= {f"recall of {name}": value for name, value in each.by_type.items()}
            for name, value in numbers.items():
                yield {"system": each.system, "score": name}, value

    def sheets(self) -> list[Sheet]:
        rows = [
            (
                each.system,
                interval(each.recall),
                interval(each.union),
                *(count(each.fates[fate]) for fate in FATES),
                *([each.group] if self.pairs else []),
            )
            for each in self.systems
        ]
        found = f"{self.n_verified:,} of {counted(self.n_marks, 'mark')} verified, {self.n_found_by_both:,} by both"
        raters = "; ".join(f"{each.rater} finds {interval(each.sensitivity)}" for each in self.raters)
        columns = ("system", "recall", "union", *FATES, *(["group"] if self.pairs else []))
        sheets = [Sheet("Recall from marked source sentences", columns, tuple(rows), name="recall")]
        types = sorted({name for each in self.systems for name in each.by_type})
        if types:
            by_type = [
                (name, *(interval(each.by_type[name]) if name in each.by_type else "" for each in self.systems))
                for name in types
            ]
            names = [each.system for each in self.systems]
            sheets.append(Sheet("Recall by type of error", ("type", *names), tuple(by_type), name="recall-types"))
        if self.pairs:
            tests = [
                (f"{pair.first} – {pair.second}", interval(pair.difference), p_value(pair.p), p_value(pair.p_holm))
                for pair in self.pairs
            ]
            sheets.append(Sheet("Differences of recall", ("", "difference", "p", "Holm"), tuple(tests), name="pairs"))
        notes = (f"{found}. {raters}.", BIAS, *self.reasons, self.scope.sentence)
        return with_notes(sheets, notes, str(self.signature))


def estimate_recall(
    marks: Judgments,
    fates: Table,
    *,
    verified: Judgments | None = None,
    items: Table | None = None,
    basis: Basis = BASIS,
) -> Recall:
    """Recall of every system in `fates` (item, system, rater, label) from the marks of two raters (label: the type).

    If marks were `verified` (label error or another), only those that all verifiers call an error count.
    """
    frame = marks.frame.select(pl.col("item", "rater", "label").cast(pl.String))
    raters = sorted(frame["rater"].unique().to_list())
    if len(raters) != 2:
        raise UsageError(
            f"{marks.name}: expected the marks of two raters, found {len(raters)}: {', '.join(raters[:5])}; "
            "call the first and the second rater of every sentence by one name each"
        )
    table = frame.group_by("item").agg(
        *((pl.col("rater") == rater).any().cast(pl.Float64).alias(str(at)) for at, rater in enumerate(raters)),
        pl.col("label").sort_by("rater").first(),
    )
    n_marks, warnings = len(table), list[str]()
    if verified is not None:
        own = verified.frame.select(pl.col("item", "label").cast(pl.String))
        accepted = own.group_by("item").agg((pl.col("label").str.to_lowercase() == ACCEPTED).all())
        n_open = len(table.join(accepted, on="item", how="anti"))
        if n_open:
            warnings.append(f"{counted(n_open, 'mark')} of {n_marks:,} left out: nobody verified them")
        table = table.join(accepted.filter("label"), on="item", how="semi")
    table = table.sort("item")
    answers = _answers(fates)
    strange = answers.join(frame, on="item", how="anti")
    if len(strange):
        raise BadInput(Problem(fates.name, f"expected items of {marks.name}, found {strange['item'][0]!r}"))
    essays = essays_of(
        Judgments(table, marks.name), *(each for each in (items, marks, fates) if each is not None), units=basis.units
    )
    codes = essays.codes(table["item"])
    n_units = len(table) if codes is None else int(codes.max(initial=-1)) + 1
    systems, own_influences = [], dict[str, Influence]()
    for system in answers["system"].unique().sort().to_list():
        mine = answers.filter(pl.col("system") == system)
        judged = table.join(mine, on="item", how="left", maintain_order="left")
        is_known = judged[GONE].is_not_null().to_numpy()
        found = judged.select("0", "1").to_numpy()
        rows = recall_rows(found, judged[GONE].fill_null(0.0).to_numpy()) * is_known[:, None]

        def of(wanted: Numbers, rows: Numbers = rows) -> tuple[Influence, Interval, Interval]:
            kept = rows * wanted[:, None]
            grouped = kept if codes is None else grouped_rows(kept, codes, n_units)
            return recalls(Units(grouped, essays.unit), basis)

        own_influences[system], recall, union = of(np.ones(len(table)))
        types = judged.filter(pl.Series(is_known))["label"].unique().sort().to_list()
        by_type = {name: of((judged["label"] == name).to_numpy().astype(np.float64))[1] for name in types}
        n_open = int((~is_known).sum())
        if n_open:
            warnings.append(f"{system}: {counted(n_open, 'verified mark')} without an answer, left out")
        sums = judged.filter(pl.Series(is_known))
        systems.append(
            SystemRecall(
                system=system,
                n_marks=int(is_known.sum()),
                recall=recall,
                union=union,
                fates={fate: float(sums[fate].sum()) for fate in FATES},
                by_type=by_type if len(by_type) > 1 else {},
            )
        )
    both = table.filter((pl.col("0") > 0) & (pl.col("1") > 0))
    markers = tuple(_marker(table, essays, raters, at) for at in range(2))
    warnings += [
        f"{each.rater} finds {number(each.sensitivity.value)} of what the other marked: recall rests on few errors"
        for each in markers
        if each.sensitivity.value < SENSITIVE
    ]
    if len(both) < FEW_BY_BOTH:
        warnings.append(f"only {counted(len(both), 'verified mark')} found by both raters: too few to rely on")
    scope = essays.scope_of(table["item"], basis=basis)
    systems.sort(key=lambda each: (-each.recall.value, each.system))
    pairs = paired_tests({each.system: own_influences[each.system] for each in systems})
    groups = rank_groups([each.system for each in systems], [pair.systems for pair in pairs if pair.is_apart()])
    data = digest("|".join(map(str, row)) for part in (table, answers) for row in part.iter_rows())
    return Recall(
        systems=tuple(replace(each, group=groups[each.system]) for each in systems),
        pairs=tuple(pairs),
        raters=markers,
        n_marks=n_marks,
        n_verified=len(table),
        n_found_by_both=len(both),
        scope=scope,
        signature=Signature("recall", {"estimator": "chapman", **basis.signature(essays.unit), "data": data}),
        warnings=(*warnings, *essay_warnings(essays, table["item"], scope)),
    )


def _marker(table: pl.DataFrame, essays: Essays, raters: list[str], at: int) -> Marker:
    others = table.filter(pl.col(str(1 - at)) > 0)
    is_found = (others[str(at)] > 0).to_numpy()
    return Marker(raters[at], int(table[str(at)].sum()), essays.share(is_found, others["item"]))


def _answers(fates: Table) -> pl.DataFrame:
    """The share of each answer by item and system."""
    label = pl.col("label").str.to_lowercase().str.replace_all("[-_]", " ")
    frame = fates.frame.select(
        pl.col("item", "system").cast(pl.String), pl.col("label").cast(pl.String)
    ).with_columns(label)
    strange = frame.filter(~pl.col("label").is_in(FATES))
    if len(strange):
        raise BadInput(Problem(fates.name, f"expected labels {', '.join(FATES)}, found {strange['label'][0]!r}"))
    shares = [(pl.col("label") == fate).mean().alias(fate) for fate in FATES]
    return frame.group_by("item", "system").agg(*shares).sort("item", "system")


# Remaining errors


@dataclass(frozen=True, slots=True)
class SystemRemaining(Data):
    """One system: errors left per 100 words of its output, in total and by kind."""

    system: str
    n_sentences: int
    n_words: int
    errors: Interval
    kinds: Mapping[str, Interval] = field(metadata=FLAT)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Remaining(Result):
    """The errors that remain in corrected sentences, best system first."""

    systems: tuple[SystemRemaining, ...]
    scope: Scope = field(metadata=key("interval"))
    signature: Signature
    warnings: tuple[str, ...] = ()

    def estimates(self) -> Iterator[Estimate]:
        for each in self.systems:
            for name, value in {"errors": each.errors, **each.kinds}.items():
                yield {"system": each.system, "score": name}, value

    def sheets(self) -> list[Sheet]:
        rows = [
            (each.system, count(each.n_sentences), *(interval(value, digits=2) for value in values))
            for each in self.systems
            for values in [(each.errors, *each.kinds.values())]
        ]
        columns = ("system", "sentences", "errors", *(name.replace("_", "-") for name in LEFT))
        notes = (*self.reasons, self.scope.sentence)
        title = "Errors left per 100 words"
        return [Sheet(title, columns, tuple(rows), notes=notes, signature=str(self.signature), name="remaining")]


def estimate_remaining(counts: Table, *, basis: Basis = BASIS) -> Remaining:
    """Errors left per 100 words, from counts by sentence, system and rater."""
    counted_rows = counts.frame.with_columns(pl.col("item", "system").cast(pl.String))
    others = [name for name in ("essay", "document") if name in counted_rows.columns]
    sentences = counted_rows.group_by("item", "system").agg(
        *(pl.col(name).mean() for name in (*LEFT, "words")), *(pl.col(name).first() for name in others)
    )
    sentences = sentences.sort("system", "item")
    judged = Judgments(sentences, counts.name)
    essays = essays_of(judged, units=basis.units)
    systems = []
    for [system], own in sentences.group_by("system", maintain_order=True):
        rows = own.select(*LEFT, "words").to_numpy().astype(np.float64)
        codes = essays.codes(own["item"])
        if codes is not None:
            rows = grouped_rows(rows, codes, int(codes.max(initial=-1)) + 1)

        def rate(columns: list[int], rows: Numbers = rows) -> Interval:
            units = Units(rows, essays.unit)
            per_hundred = lambda sums: 100 * ratio(sums[..., columns].sum(axis=-1), sums[..., -1])  # noqa: E731
            return density(influence(units, per_hundred, rows[:, -1], basis), undefined="no words were judged")

        kinds = {name: rate([at]) for at, name in enumerate(LEFT)}
        n_words = int(own["words"].sum())
        systems.append(SystemRemaining(str(system), len(own), n_words, rate([0, 1, 2]), kinds))
    systems.sort(key=lambda each: (each.errors.value, each.system))
    scope = essays.scope_of(sentences["item"], basis=basis)
    data = digest("|".join(map(str, row)) for row in sentences.iter_rows())
    return Remaining(
        systems=tuple(systems),
        scope=scope,
        signature=Signature("remaining", {**basis.signature(essays.unit), "data": data}),
        warnings=tuple(essay_warnings(essays, sentences["item"], scope)),
    )
