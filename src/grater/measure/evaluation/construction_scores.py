"""Article and number systems against every construction that raters accept (Lee et al. 2009, section 4).

"Scored against the original alone" a system is called wrong for *the*-plural where raters accept both *the* and no
article; in the paper several constructions were right in context for a good part of the nouns, so that no system can
reach the top.  Here a system's construction is right where it is any that the raters accept: `accepted` by most of
them (yes, yes* or grey, note 1), or `starred`, among the best for most of them; `original` is the usual score.

A decision on any construction item of a noun speaks for the noun.  The system's construction is its `suggestion`,
where that is the name of one; else that of the flagged item (`construction/in-context/the-singular`); without a flag
it leaves the original.  Decisions on articles and on number, as `grater decide --system article` writes them, speak
for the noun too: the article before it (its item begins where the noun phrase begins) becomes the suggested one, and
a flagged number (its item ends where the phrase ends) becomes the other.  Only answers given in context count.  A
place of which raters accept nothing is wrong for every system, and counted.  Intervals draw essays where there are
two or more, with the form of `share_interval`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import polars as pl

from grater.errors import BadInput, Problem
from grater.measure.agreement.constructions import CONSTRUCTIONS, IN_CONTEXT, KIND, construction_marks
from grater.model import DELETE, Interval
from grater.result import FLAT, HIDDEN, Data, Estimate, Result
from grater.sheet import Sheet, count, interval
from grater.signature import Signature, digest
from grater.tables import Judgments, Table
from grater.uncertainty.bootstrap import Chance, resample
from grater.uncertainty.population import Scope
from grater.uncertainty.proportions import wilson
from grater.uncertainty.rng import generator
from grater.uncertainty.student_t import share_interval

ARTICLE, NUMBER = "article", "number"
CHOSEN = ("system", "place", "essay", "written", "construction")
RULES = {"original": "the original", "accepted": "every accepted one", "starred": "every best one"}


@dataclass(frozen=True, slots=True, eq=False)
class ConstructionScore(Data):
    """One system on `n` nouns: the share whose construction is right by each rule."""

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
    def warnings(self) -> tuple[str, ...]:
        none = (
            (f"raters accept no construction of {self.n_none:,} nouns: wrong for every system",)
            if self.n_none
            else ()
        )
        return (*self.scope.warnings, *none)

    def estimates(self) -> Iterator[Estimate]:
        for system in self.systems:
            for name, score in system.scores.items():
                yield {"system": system.system, "rule": name}, score

    def sheets(self) -> list[Sheet]:
        rows = [
            (system.system, count(system.n), *(interval(system.scores[name]) for name in RULES))
            for system in self.systems
        ]
        title = "Share of nouns whose construction is right, in context"
        notes = (self.scope.sentence,)
        columns = ("", "nouns", *RULES.values())
        return [Sheet(title, columns, tuple(rows), notes=notes, signature=str(self.signature), name="constructions")]


def construction_scores(
    decisions: Table, judgments: Judgments, items: Table, *, chance: Chance | None = None
) -> ConstructionScores:
    """Every system of the decisions against what raters accept."""
    drawing = chance or Chance()
    places, accepted = _places(items), _accepted(judgments, items)
    chosen = _chosen(decisions, places).join(accepted, on="place", how="inner")
    if not len(chosen):
        raise BadInput(Problem(decisions.name, f"expected decisions on judged items of kind {KIND}, found none"))
    right = chosen.with_columns(
        original=pl.col("construction") == pl.col("written"),
        **{name: pl.col(f"{name}_set").list.contains(pl.col("construction")) for name in ("accepted", "starred")},
    )
    systems = sorted(right["system"].unique().to_list())
    n_essays = right["essay"].n_unique()
    unit = "essay" if n_essays > 1 and drawing.cluster != "item" else "item"
    scope = Scope(unit=unit, n_units=n_essays if unit == "essay" else right["place"].n_unique())
    rows = chosen.select("system", "place", "construction").sort(pl.all()).iter_rows()
    return ConstructionScores(
        systems=tuple(_score(system, right.filter(pl.col("system") == system), unit, drawing) for system in systems),
        n_none=int((accepted["accepted_set"].list.len() == 0).sum()),
        scope=scope,
        signature=Signature(
            "constructions",
            {"units": unit, "resamples": str(drawing.n_resamples), "data": digest(map("|".join, rows))},
        ),
    )


def has_constructions(decisions: Table, items: Table) -> bool:
    """Whether a system decides on the construction of any of these nouns."""
    return len(_chosen(decisions, _places(items))) > 0


def _places(items: Table) -> pl.DataFrame:
    """Every construction item: where it stands, the construction it asks about, and the one that was written."""
    parts = pl.col("kind").cast(pl.String).str.split("/")
    if "original" not in items.frame.columns:
        raise BadInput(
            Problem(items.name, "expected a column 'original', the construction that was written, found none")
        )
    place = pl.concat_str(pl.col("essay"), pl.lit("|"), pl.col("start"), pl.lit("|"), pl.col("end"))
    return items.frame.filter(parts.list.first() == KIND).select(
        pl.col("item").cast(pl.String),
        pl.col("essay").cast(pl.String),
        pl.col("start", "end").cast(pl.Int64),
        place.alias("place"),
        asked=parts.list.get(2),
        written=pl.col("original").cast(pl.String),
    )


def _accepted(judgments: Judgments, items: Table) -> pl.DataFrame:
    """The constructions of each place that most of its raters accept, and those that most call the best."""
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
    """What decisions on articles and number make of each noun."""
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
    made = pl.concat_str(
        pl.coalesce("new", article), pl.when("is_other").then(other).otherwise(number), separator="-"
    )
    return both.with_columns(construction=made)


def _named(decisions: Table, places: pl.DataFrame) -> pl.DataFrame:
    """The constructions of systems that decide on construction items."""
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


def _score(system: str, right: pl.DataFrame, unit: str, chance: Chance) -> ConstructionScore:
    return ConstructionScore(
        system=system,
        n=len(right),
        scores={name: _share(right.select("essay", is_right=name), unit, chance) for name in RULES},
    )


def _share(rows: pl.DataFrame, unit: str, chance: Chance) -> Interval:
    n, n_right = len(rows), int(rows["is_right"].sum())
    if unit == "item":
        return wilson(n_right, n, level=chance.level)
    by_essay = rows.group_by("essay").agg(pl.col("is_right").sum().cast(pl.Float64), n=pl.len().cast(pl.Float64))
    counts = by_essay.sort("is_right", "n").select("is_right", "n").to_numpy()
    drawn = resample(counts, n_resamples=chance.n_resamples, rng=generator(chance.seed, "evaluate", "constructions"))
    shares = drawn.draws[:, 0] / drawn.draws[:, 1]
    return share_interval(n_right / n, shares, n=n, n_units=drawn.n_units, level=chance.level)
