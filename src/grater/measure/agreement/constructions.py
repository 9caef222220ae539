"""The study of article-number constructions (Lee, Tetreault & Chodorow 2009, sections 4 and 5).

Raters say whether each of five constructions of a noun is acceptable, first without context, then with it. The
results: how often each rater says yes (Table 4), where two raters differ (Table 5), how often several constructions
are right, how often raters accept the original (the ceilings of section 4), and how agreement depends on the stage, a
previous mention of the noun, and the frequency of the construction.

**Data.** A *place* is a noun in its essay. Its five constructions in each of two stages are ten items, whose kinds
are `construction/STAGE/NAME`. The items table has the construction in the original text (`original`) and, where
known, whether the noun was mentioned before (`anaphoric`), whether its entropy is `high` or `low` (`entropy`) and its
most frequent construction (`dominant`). Labels are `yes`, `no`, `yes*` and `grey`; grey counts as yes (note 1).

**Several right constructions** are counted in the stage with context. Proportions count places, so the five answers
about a place are one case. The proportion of places whose original gets a yes is the ceiling for a system scored
against the original alone; the proportion whose original gets a yes* is a stricter ceiling.

**Sources of disagreement.** Every comparison has the paper's z (Cohen's simple standard error, with the two kappas
treated as independent, notes 5 to 7) and our own paired test, since both sides are answers about the same nouns.
Frequent constructions are compared for low-entropy nouns only, as in section 5.

**Systems.** Article and number systems are also scored against every construction that raters accept (section 4).
Scored against the original alone, a system is wrong for *the*-plural even if raters accept both *the* and no article;
in the paper, several constructions were right in context for many nouns, so no system can get a perfect score. Here a
system's construction is right if raters accept it: `accepted` by most of them (yes, yes* or grey, note 1), or
`starred`, among the best for most of them; `original` is the usual score.

A decision on any construction item of a noun counts for the noun. The system's construction is its `suggestion` if
that names one, else that of the flagged item (`construction/in-context/the-singular`); without a flag, it keeps the
original. Decisions on articles and number from `grater decide --system article` also count: the article (an item that
starts with the noun phrase) becomes the suggested one, and a flagged number (an item that ends with the phrase) is
switched. Only answers given in context count. If raters accept no construction of a place, every system is wrong
there, and the place is counted.

**Intervals.**  The five answers about a noun are not independent, so units are essays if there are
several, else nouns.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

import numpy as np
import polars as pl

from grater.errors import BadInput, Problem
from grater.measure.agreement.cohen import Confusion, between, cohen_kappa, kappa_influence
from grater.measure.agreement.summary import KappaTest, confusion_sheet, independent_test, influence_test
from grater.model import DELETE, Interval
from grater.result import FLAT, HIDDEN, Data, Estimate, Result, frame_of, in_json, key
from grater.sheet import Sheet, Signature, count, digest, interval, number, p_value, undefined_notes, with_notes
from grater.tables import Judgments, Table, require_raters
from grater.uncertainty import BASIS, Basis, Ints, Scope, Scoped, shares_by_unit

CONSTRUCTIONS = ("null-singular", "the-singular", "null-plural", "a-singular", "the-plural")
"""In the order of Table 1."""

NO_CONTEXT, IN_CONTEXT = "no-context", "in-context"
STAGES = (NO_CONTEXT, IN_CONTEXT)
YES, NO, STARRED, GREY = "yes", "no", "yes*", "grey"
LABELS = (YES, NO, STARRED, GREY)
KIND = "construction"
OPTIONAL = ("original", "anaphoric", "entropy", "dominant")
ESSAY, NOUN = "essay", "noun"
COLUMN_OF = {ESSAY: ESSAY, NOUN: "place"}


@dataclass(frozen=True, slots=True, eq=False)
class ConstructionMarks:
    """One row a judgment: place, stage, construction, rater, `is_yes`, `is_starred`, and what the items say."""

    frame: pl.DataFrame
    name: str

    def stage(self, stage: str) -> pl.DataFrame:
        return self.frame.filter(pl.col("stage") == stage)

    @property
    def raters(self) -> list[str]:
        return sorted(self.frame["rater"].unique().to_list())

    @property
    def n_places(self) -> int:
        return self.frame["place"].n_unique()

    @property
    def unit(self) -> str:
        """Essays if there are several, else nouns."""
        return ESSAY if self.frame[ESSAY].n_unique() > 1 else NOUN

    @property
    def scope(self) -> Scope:
        return Scope(unit=self.unit, n_units=self.frame[COLUMN_OF[self.unit]].n_unique(), is_agreement=True)

    def share(self, frame: pl.DataFrame, hits: str) -> Interval:
        by_unit = frame.group_by(COLUMN_OF[self.unit], maintain_order=True).agg(pl.col(hits).sum(), n=pl.len())
        n_hits, n = (by_unit[name].cast(pl.Float64).to_numpy() for name in (hits, "n"))
        return shares_by_unit(n_hits, n, self.unit)

    def codes(self, frame: pl.DataFrame) -> Ints:
        """The index of each row's essay or noun."""
        names = self.frame[COLUMN_OF[self.unit]].unique().sort()
        return frame[COLUMN_OF[self.unit]].replace_strict(names, np.arange(len(names))).to_numpy()


def construction_marks(judgments: Judgments, items: Table) -> ConstructionMarks:
    """The judgments of construction items; all other items are ignored."""
    answers = judgments.frame.select(pl.col("item", "rater", "label").cast(pl.String))
    frame = answers.join(construction_items(items).drop("start", "end"), on="item", how="inner")
    if not len(frame):
        raise BadInput(Problem(judgments.name, f"expected judgments of items of kind {KIND}/STAGE/NAME, found none"))
    if strange := sorted(set(frame["label"].unique().to_list()) - set(LABELS)):
        message = f"expected labels {', '.join(LABELS)}, found {strange[0]!r}; merge them into these"
        raise BadInput(Problem(judgments.name, message))
    is_starred = pl.col("label") == STARRED
    return ConstructionMarks(frame.with_columns(is_starred=is_starred, is_yes=pl.col("label") != NO), judgments.name)


def construction_items(items: Table) -> pl.DataFrame:
    """Every construction item: its place, its stage and construction, and the table's columns on the noun."""
    parts = pl.col("kind").cast(pl.String).str.split("/")
    place = pl.concat_str(pl.col("essay"), pl.lit("|"), pl.col("start"), pl.lit("|"), pl.col("end"))
    optional = [
        pl.col(name).cast(pl.String) if name in items.frame.columns else pl.lit(None, pl.String).alias(name)
        for name in OPTIONAL
    ]
    frame = items.frame.filter(parts.list.first() == KIND)
    return frame.select(
        pl.col("item").cast(pl.String),
        pl.col(ESSAY).cast(pl.String),
        pl.col("start", "end").cast(pl.Int64),
        place.alias("place"),
        parts.list.get(1).alias("stage"),
        parts.list.get(2).alias("construction"),
        *optional,
    )


MOST_SETS = 6


@dataclass(frozen=True, slots=True)
class SeveralRight(Data):
    """One rater, or `all` raters together; `sets` are the most frequent sets of several yes* answers."""

    rater: str
    n_places: int
    several_starred: Interval
    several_yes: Interval
    original_yes: Interval
    original_starred: Interval
    mean_starred: float
    sets: tuple[tuple[tuple[str, ...], int], ...] = field(
        metadata=key(write=lambda sets: [{"constructions": list(names), "n": n} for names, n in sets])
    )


def several_right(marks: ConstructionMarks) -> list[SeveralRight]:
    seen = marks.stage(IN_CONTEXT)
    parts = [(rater, seen.filter(pl.col("rater") == rater)) for rater in marks.raters]
    parts = [(rater, part) for rater, part in parts if len(part)]
    return [_several(marks, rater, part) for rater, part in [*parts, ("all", seen)] if len(part)]


def _several(marks: ConstructionMarks, rater: str, frame: pl.DataFrame) -> SeveralRight:
    is_original = pl.col("construction") == pl.col("original")
    by_place = frame.group_by(ESSAY, "place", "rater").agg(
        n_starred=pl.col("is_starred").sum(),
        several_starred=pl.col("is_starred").sum() > 1,
        several_yes=pl.col("is_yes").sum() > 1,
        original_yes=(is_original & pl.col("is_yes")).any(),
        original_starred=(is_original & pl.col("is_starred")).any(),
        has_original=pl.col("original").is_not_null().any(),
        starred=pl.col("construction").filter(pl.col("is_starred")).sort(),
    )
    known, n = by_place.filter("has_original"), len(by_place)
    sets = Counter(tuple(names) for names in by_place["starred"].to_list() if len(names) > 1)
    return SeveralRight(
        rater=rater,
        n_places=n,
        several_starred=marks.share(by_place, "several_starred"),
        several_yes=marks.share(by_place, "several_yes"),
        original_yes=marks.share(known, "original_yes"),
        original_starred=marks.share(known, "original_starred"),
        mean_starred=float(by_place["n_starred"].sum()) / n,
        sets=tuple(sorted(sets.items(), key=lambda pair: (-pair[1], pair[0]))[:MOST_SETS]),
    )


Pair: TypeAlias = tuple[str, str]
YES_NO = (YES, NO)
FREQUENT = "low-entropy nouns: most frequent construction"


@dataclass(frozen=True, slots=True, eq=False)
class PartAgreement(Data):
    """Two raters on some of the answers: their table (Table 5), agreement and kappa."""

    name: str
    table: Confusion = field(metadata=FLAT)
    observed: Interval
    kappa: Interval


@dataclass(frozen=True, slots=True, eq=False)
class Contrast(Data):
    """Two parts compared: `paper` is the z of the notes, `ours` the paired test."""

    name: str
    first: PartAgreement
    second: PartAgreement
    paper: KappaTest
    ours: KappaTest


def _contrasts(marks: ConstructionMarks, pair: Pair) -> Iterator[Contrast]:
    """The two parts of each contrast, where both raters answered in both."""
    seen = marks.stage(IN_CONTEXT)
    definite = seen.filter(pl.col("original").str.starts_with("the-"))
    is_before = pl.col("anaphoric").str.to_lowercase().is_in(["true", "1", "yes"])
    is_frequent = pl.col("construction") == pl.col("dominant")
    contrasts: dict[str, tuple[pl.DataFrame, dict[str, pl.Expr]]] = {
        "stage": (marks.frame, {stage: pl.col("stage") == stage for stage in (IN_CONTEXT, NO_CONTEXT)}),
        "mention": (definite, {"mentioned before": is_before, "not mentioned": ~is_before}),
        "frequency": (seen.filter(pl.col("entropy") == "low"), {FREQUENT: is_frequent, "the others": ~is_frequent}),
    }
    for name, (frame, parts) in contrasts.items():
        first, second = (_part(marks, part, frame.filter(where), pair) for part, where in parts.items())
        if first.table.n and second.table.n:
            test = influence_test(kappa_influence(first.table) - kappa_influence(second.table), how="paired")
            paper = independent_test(first.table, second.table, error="simple")
            yield Contrast(name=name, first=first, second=second, paper=paper, ours=test)


def _part(marks: ConstructionMarks, name: str, frame: pl.DataFrame, pair: Pair) -> PartAgreement:
    """Whether each of the two answered yes, where both answered."""
    keys = [ESSAY, "place", "stage", "construction"]
    sides = [frame.filter(pl.col("rater") == rater).select(*keys, pl.col("is_yes").alias(rater)) for rater in pair]
    both = sides[0].join(sides[1], on=keys, how="inner").sort(keys)
    first, second = ((~both[rater]).cast(pl.Int32).to_numpy() for rater in pair)
    n_units = marks.frame[COLUMN_OF[marks.unit]].n_unique()
    table = between(first, second, YES_NO, pair, unit_of=marks.codes(both), unit=marks.unit, n_units=n_units)
    return PartAgreement(name, table, table.observed, cohen_kappa(table))


@dataclass(frozen=True, slots=True)
class Freedom(Data):
    """How often one rater says yes in one stage (Table 4)."""

    rater: str
    stage: str
    n: int
    yes: Interval


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ConstructionStudy(Scoped):
    """Tables 4 and 5 and the findings of sections 4 and 5; `stages` and `contrasts` concern the first two raters."""

    raters: tuple[str, ...]
    n_places: int
    freedom: tuple[Freedom, ...]
    stages: tuple[PartAgreement, ...]
    several: tuple[SeveralRight, ...]
    contrasts: tuple[Contrast, ...]
    signature: Signature
    scope: Scope = field(metadata=key("interval"))

    def to_frame(self) -> pl.DataFrame:
        """Columns part, rater, measure, n, value, low, high."""
        return frame_of(self.estimates()).fill_nan(None)

    def estimates(self) -> Iterator[Estimate]:
        rows = [(row.stage, row.rater, "yes", row.n, row.yes) for row in self.freedom]
        for part in self.stages:
            for measure, estimate in (("observed", part.observed), ("kappa", part.kappa)):
                rows.append((part.name, " – ".join(part.table.raters), measure, part.table.n, estimate))
        for several in self.several:
            rows += [
                (IN_CONTEXT, several.rater, measure, several.n_places, getattr(several, measure))
                for measure in ("several_starred", "several_yes", "original_yes", "original_starred")
            ]
        for name, rater, measure, n, estimate in rows:
            yield {"part": name, "rater": rater, "measure": measure, "n": n}, estimate

    def sheets(self) -> list[Sheet]:
        yes = tuple((row.rater, row.stage, count(row.n), interval(row.yes)) for row in self.freedom)
        title = "How readily raters accept (Table 4)"
        tables = [Sheet(title, ("rater", "stage", "n", "yes"), yes, name="freedom")]
        for part in self.stages:
            sheet = confusion_sheet(part.table, f"{part.name} (Table 5)")
            tables.append(replace(sheet, name=f"confusion-{part.name}"))
        if self.stages:
            rows = [(of.name, count(of.table.n), interval(of.observed), interval(of.kappa)) for of in self.stages]
            columns = ("stage", "n", "agree", "kappa")
            tables.append(Sheet("Agreement by stage", columns, tuple(rows), name="stages"))
        tables.append(_several_sheet(self.several))
        if self.contrasts:
            tables.append(_contrasts_sheet(self.contrasts))
        notes = [*undefined_notes(value for _, value in self.estimates()), self.scope.sentence]
        return with_notes(tables, notes, str(self.signature))


def construction_study(judgments: Judgments, items: Table) -> ConstructionStudy:
    require_raters(judgments, "studies of constructions")
    marks = construction_marks(judgments, items)
    raters = tuple(marks.raters)
    pair = (raters[0], raters[1]) if len(raters) > 1 else None
    stages = [stage for stage in STAGES if len(marks.stage(stage))]
    rows = marks.frame.select("item", "rater", "label").sort("item", "rater").iter_rows()
    data = digest("|".join(row) for row in rows)
    answers = [(who, stage, marks.stage(stage).filter(pl.col("rater") == who)) for stage in stages for who in raters]
    return ConstructionStudy(
        raters=raters,
        n_places=marks.n_places,
        freedom=tuple(Freedom(who, stage, len(of), marks.share(of, "is_yes")) for who, stage, of in answers),
        stages=tuple(_part(marks, stage, marks.stage(stage), pair) for stage in stages) if pair else (),
        several=tuple(several_right(marks)),
        contrasts=tuple(_contrasts(marks, pair)) if pair else (),
        signature=Signature("constructions", {"grey": "yes", **BASIS.signature(marks.unit), "data": data}),
        scope=marks.scope,
    )


# As people see it


def _several_sheet(several: Sequence[SeveralRight]) -> Sheet:
    rows = (
        (
            row.rater,
            count(row.n_places),
            *map(interval, (row.several_starred, row.several_yes, row.original_yes, row.original_starred)),
            number(row.mean_starred, digits=2),
        )
        for row in several
    )
    sets = several[-1].sets if several else ()
    named = "; ".join(f"{{{', '.join(names)}}} {n}" for names, n in sets)
    title = "Several right constructions, and the original (section 4)"
    columns = ("rater", "places", "several yes*", "several yes", "original yes", "original yes*", "yes* per place")
    notes = (f"Most frequent sets of yes*: {named}.",) if named else ()
    return Sheet(title, columns, tuple(rows), notes=notes, name="several")


def _contrasts_sheet(contrasts: Sequence[Contrast]) -> Sheet:
    rows = (
        (
            f"{contrast.first.name} against {contrast.second.name}",
            interval(contrast.first.kappa),
            interval(contrast.second.kappa),
            f"{number(contrast.paper.z, digits=2)}, {p_value(contrast.paper.p)}",
            f"{contrast.ours.method}, {p_value(contrast.ours.p)}",
        )
        for contrast in contrasts
    )
    columns = ("", "kappa", "other kappa", "paper's z, p", "ours, p")
    return Sheet("What agreement depends on (section 5)", columns, tuple(rows), name="contrasts")


# Systems scored against every construction that raters accept


ARTICLE, NUMBER = "article", "number"
CHOSEN = ("system", "place", "essay", "written", "construction")
RULES = {"original": "the original", "accepted": "every accepted one", "starred": "every best one"}


@dataclass(frozen=True, slots=True, eq=False)
class ConstructionScore(Data):
    system: str
    n: int
    scores: dict[str, Interval] = field(metadata=FLAT)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ConstructionScores(Result):
    """Every system; `n_none` nouns have no construction that most raters accept."""

    systems: tuple[ConstructionScore, ...]
    n_none: int = field(metadata=HIDDEN)
    scope: Scope
    signature: Signature

    @property
    @in_json()
    def warnings(self) -> tuple[str, ...]:
        none = f"raters accept no construction of {self.n_none:,} nouns: wrong for every system"
        return (*self.scope.warnings, *([none] if self.n_none else []))

    def estimates(self) -> Iterator[Estimate]:
        for system in self.systems:
            for name, score in system.scores.items():
                yield {"system": system.system, "rule": name}, score

    def sheets(self) -> list[Sheet]:
        rows = [(of.system, count(of.n), *(interval(of.scores[name]) for name in RULES)) for of in self.systems]
        title, columns = "Share of nouns whose construction is right, in context", ("", "nouns", *RULES.values())
        own = Sheet(title, columns, tuple(rows), name="constructions")
        return with_notes([own], [*self.reasons, self.scope.sentence], str(self.signature))


def construction_scores(
    decisions: Table, judgments: Judgments, items: Table, *, basis: Basis = BASIS
) -> ConstructionScores:
    places, accepted = _places(items), _accepted(judgments, items)
    chosen = _chosen(decisions, places).join(accepted, on="place", how="inner")
    if not len(chosen):
        raise BadInput(Problem(decisions.name, f"expected decisions on judged items of kind {KIND}, found none"))
    right = chosen.with_columns(
        original=pl.col("construction") == pl.col("written"),
        **{name: pl.col(f"{name}_set").list.contains(pl.col("construction")) for name in ("accepted", "starred")},
    )
    unit, column = ("item", "place") if basis.units == "item" else ("essay", "essay")
    note = "nouns taken as independent, as asked" if unit == "item" else ""
    rows, systems = chosen.select("system", "place", "construction").sort(pl.all()).iter_rows(), []
    for system in sorted(right["system"].unique().to_list()):
        own = right.filter(system=system)
        by_unit = own.group_by(column, maintain_order=True).agg(pl.col(*RULES).sum(), n=pl.len())
        counts = {name: by_unit[name].cast(pl.Float64).to_numpy() for name in (*RULES, "n")}
        shares = {name: shares_by_unit(counts[name], counts["n"], unit) for name in RULES}
        systems.append(ConstructionScore(system, len(own), shares))
    return ConstructionScores(
        systems=tuple(systems),
        n_none=int((accepted["accepted_set"].list.len() == 0).sum()),
        scope=Scope(unit, right[column].n_unique(), note=note),
        signature=Signature("constructions", {**basis.signature(unit), "data": digest(map("|".join, rows))}),
    )


def has_constructions(decisions: Table, items: Table) -> bool:
    return len(_chosen(decisions, _places(items))) > 0


def _places(items: Table) -> pl.DataFrame:
    """Every construction item: its place, the construction it asks about, and the original one."""
    if "original" not in items.frame.columns:
        message = "expected a column 'original', the construction that was written, found none"
        raise BadInput(Problem(items.name, message))
    return construction_items(items).rename({"construction": "asked", "original": "written"})


def _accepted(judgments: Judgments, items: Table) -> pl.DataFrame:
    """The constructions of each place that most of its raters accept, and those that most rate best."""
    seen = construction_marks(judgments, items).stage(IN_CONTEXT)
    shares = seen.group_by("place", "construction").agg(
        is_accepted=pl.col("is_yes").mean() > 0.5, is_starred=pl.col("is_starred").mean() > 0.5
    )
    return shares.group_by("place").agg(
        accepted_set=pl.col("construction").filter("is_accepted"),
        starred_set=pl.col("construction").filter("is_starred"),
    )


def _chosen(decisions: Table, places: pl.DataFrame) -> pl.DataFrame:
    """One construction per system and place: system, place, essay, written, construction."""
    named = _named(decisions, places).select(CHOSEN)
    parts = _of_parts(decisions.frame, places).select(CHOSEN)
    return pl.concat([named, parts.join(named, on=["system", "place"], how="anti")])


def _of_parts(frame: pl.DataFrame, places: pl.DataFrame) -> pl.DataFrame:
    """The construction of each noun after decisions on articles and number."""
    nouns = places.select("place", "essay", "start", "end", "written").unique()
    if not {"essay", "start", "end", "kind", "suggestion"} <= set(frame.columns):
        return nouns.clear().with_columns(system=pl.lit(""), construction=pl.lit(""))
    rows = frame.with_columns(
        pl.col("item", "system", "essay", "kind", "suggestion").cast(pl.String),
        pl.col("start", "end").cast(pl.Int64, strict=False),
    )
    flagged = pl.col("flagged").cast(pl.Boolean)
    word = pl.col("suggestion").str.to_lowercase().replace({"an": "a", DELETE.lower(): "null"})
    articles = rows.filter(kind=ARTICLE).select("system", "essay", "start", new=pl.when(flagged).then(word))
    numbers = rows.filter(kind=NUMBER).select("system", "essay", "end", is_other=flagged)
    both = nouns.join(articles, on=["essay", "start"]).join(numbers, on=["system", "essay", "end"])
    article, number = (pl.col("written").str.split("-").list.get(place) for place in (0, 1))
    other = pl.when(number == "singular").then(pl.lit("plural")).otherwise(pl.lit("singular"))
    parts = (pl.coalesce("new", article), pl.when("is_other").then(other).otherwise(number))
    return both.with_columns(construction=pl.concat_str(*parts, separator="-"))


def _named(decisions: Table, places: pl.DataFrame) -> pl.DataFrame:
    """The constructions chosen by systems that decide on construction items."""
    frame = decisions.frame
    word = pl.col("suggestion").cast(pl.String) if "suggestion" in frame.columns else pl.lit(None, pl.String)
    rows = frame.select(
        pl.col("item").cast(pl.String),
        pl.col("system").cast(pl.String),
        pl.col("flagged").cast(pl.Boolean),
        word=word,
    ).join(places, on="item", how="inner")
    named = pl.when(pl.col("word").is_in(list(CONSTRUCTIONS))).then("word").otherwise("asked")
    flags = rows.with_columns(named=pl.when("flagged").then(named))
    chosen = flags.group_by("system", "place").agg(
        pl.col("essay", "written").first(), names=pl.col("named").drop_nulls().unique().sort()
    )
    double = chosen.filter(pl.col("names").list.len() > 1)
    if len(double):
        system, names = double["system"][0], ", ".join(double["names"][0])
        raise BadInput(Problem(decisions.name, f"expected one construction of a noun from {system}, found {names}"))
    return chosen.with_columns(construction=pl.coalesce(pl.col("names").list.first(), pl.col("written")))
