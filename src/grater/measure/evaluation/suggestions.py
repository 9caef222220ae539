"""Are the system's corrections right?  Its suggestions against those of raters, or against adjudicated ones.

A suggestion is held against the `alternatives` of everyone who calls the item an error.  `any_rater` is the share of
suggestions that at least one rater gave, `graded` the mean share of the item's raters who gave it (the spirit of
Madnani et al. 2011: a rater who calls the item right gives nobody's suggestion), `recall` the share of items that
most raters call an error whose suggestion at least one rater gave.  `adjudicated` holds it against a table of gold
whose labels are the accepted corrections, `adjudicated_recall` is the share of that table's items that the system
corrects so.  `-NONE-` is deletion; case and runs of blanks do not count.  Flags
without a suggestion are counted, and so are suggestions for items that nobody judged.

Scores by type of error: a wrong choice, an extraneous word, a missing one; apart, beside all of them together.

T&C 2008 tell extraneous prepositions from wrong ones, and a detector is often good at one of the two.  A flag has
the type that its system gave it (`type` of the decisions); an error has the type that most of the raters who call
it one gave it: the `type` of their judgments (labels that name a type keep it when they are merged into error),
else what their `alternatives` say (`-NONE-` is extraneous, another word a choice).  An item that is a gap (of a
kind that ends in `missing`, or as long as nothing) can only miss something.

Precision is of the flags of a type, whatever the error's own; recall of the errors of a type, however flagged: a
system that flags an extraneous word as a wrong choice has found it.  F0.5 is made of the two.  Errors of which
nobody said the type are a row of their own, and so are flags without one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from math import nan

import numpy as np
import polars as pl

from grater.errors import UsageError
from grater.measure.evaluation.cases import ERROR, REASONS, Cases, Truth, Votes, places_of, whole
from grater.measure.evaluation.standard import Scored, known_items
from grater.measure.units import Essays
from grater.model import Interval
from grater.result import FLAT, Data
from grater.sheet import Sheet, count, interval, undefined_notes
from grater.tables import Judgments, Table, exploded
from grater.uncertainty import Basis, Ints, Numbers, Units, grouped_rows, influence, ratio, share

SCORES = ("any_rater", "graded", "recall", "adjudicated", "adjudicated_recall")
NO_WORDS = Interval(nan, nan, nan, "raters gave no alternatives")


@dataclass(frozen=True, slots=True)
class Suggested(Data):
    """One system's suggestions: how many were scored, and how many are right by each rule."""

    system: str
    n: int
    n_blank: int
    n_unjudged: int
    any_rater: Interval
    graded: Interval
    recall: Interval
    adjudicated: Interval
    adjudicated_recall: Interval


def suggestions(
    decisions: Table,
    judgments: Judgments,
    *,
    essays: Essays | None = None,
    corrections: Table | None = None,
) -> list[Suggested]:
    """The suggestions of every system."""
    _require(decisions.frame, "suggestion", decisions.name)
    if corrections is None:
        _require(judgments.frame, "alternatives", judgments.name)
    votes, given = _votes(judgments), _given(judgments)
    wanted = None if corrections is None else _accepted(corrections)
    flagged = decisions.frame.filter(pl.col("flagged").cast(pl.Boolean)).select(
        pl.col("item").cast(pl.String), pl.col("system").cast(pl.String), word=_plain("suggestion")
    )
    flagged = flagged.join(votes, on="item", how="left")
    if given is not None:
        flagged = flagged.join(given, on=["item", "word"], how="left").with_columns(pl.col("n_given").fill_null(0))
    errors = votes.filter(pl.col("n_error") * 2 > pl.col("n_votes")).select("item")
    systems = sorted(decisions.frame["system"].cast(pl.String).unique().to_list())
    own = {system: flagged.filter(pl.col("system") == system) for system in systems}
    return [_suggested(system, own[system], errors, wanted, essays or Essays()) for system in systems]


def _require(frame: pl.DataFrame, column: str, name: str) -> None:
    if column not in frame.columns:
        raise UsageError(f"{name}: expected a column {column!r}, found none")


def _suggested(
    system: str, rows: pl.DataFrame, errors: pl.DataFrame, wanted: pl.DataFrame | None, essays: Essays
) -> Suggested:
    filled = rows.filter(pl.col("word").is_not_null())
    judged = filled.filter(pl.col("n_votes").is_not_null())
    counts = (len(judged), len(rows) - len(filled), len(filled) - len(judged))
    if "n_given" not in rows.columns:
        return Suggested(system, *counts, NO_WORDS, NO_WORDS, NO_WORDS, *_against(filled, wanted, essays))
    given = judged.filter(pl.col("n_given") > 0).select("item")
    return Suggested(
        system,
        *counts,
        _share(judged, judged["n_given"] > 0, essays, "no suggestion was judged"),
        _share(judged, judged["n_given"] / judged["n_votes"], essays, "no suggestion was judged"),
        _share(errors, _is_in(errors, given), essays, REASONS["recall"]),
        *_against(filled, wanted, essays),
    )


def _share(rows: pl.DataFrame, hits: pl.Series, essays: Essays, undefined: str) -> Interval:
    """The mean of hits, one per item, with essays as units where they are known."""
    if not len(rows):
        return Interval(nan, nan, nan, undefined)
    return essays.mean(hits.cast(pl.Float64).to_numpy(), np.ones(len(rows)), rows["item"])


def _is_in(rows: pl.DataFrame, items: pl.DataFrame) -> pl.Series:
    return rows["item"].is_in(items["item"].implode())


def _against(filled: pl.DataFrame, wanted: pl.DataFrame | None, essays: Essays) -> tuple[Interval, Interval]:
    """Of suggestions with a known answer, the share that is right; of known answers, the share suggested."""
    if wanted is None:
        none = Interval(nan, nan, nan, "no adjudicated corrections were given")
        return none, none
    answers = wanted.select("item").unique(maintain_order=True)
    known = filled.join(answers, on="item", how="semi")
    right = known.join(wanted, on=["item", "word"], how="semi")
    undefined = "no suggestion has an adjudicated answer"
    return _share(known, _is_in(known, right), essays, undefined), _share(
        answers, _is_in(answers, right), essays, undefined
    )


def _plain(column: str) -> pl.Expr:
    text = pl.col(column).cast(pl.String).str.to_lowercase().str.replace_all(r"\s+", " ").str.strip_chars()
    return pl.when(text == "").then(None).otherwise(text)


def _votes(judgments: Judgments) -> pl.DataFrame:
    label = pl.col("label").cast(pl.String).str.to_lowercase()
    usable = judgments.frame.filter(label.is_in([ERROR, "ok"]))
    return usable.group_by(pl.col("item").cast(pl.String)).agg(
        n_votes=pl.len().cast(pl.Int64), n_error=(label == ERROR).sum().cast(pl.Int64)
    )


def _given(judgments: Judgments) -> pl.DataFrame | None:
    """How many raters gave each correction of an item; none where the table has no alternatives."""
    if "alternatives" not in judgments.frame.columns:
        return None
    label = pl.col("label").cast(pl.String).str.to_lowercase()
    rows = exploded(judgments.frame.filter(label == ERROR), "alternatives")
    rows = rows.select(pl.col("item").cast(pl.String), "rater", word=_plain("alternatives")).unique()
    return rows.group_by("item", "word").agg(n_given=pl.len().cast(pl.Int64))


def _accepted(corrections: Table) -> pl.DataFrame:
    rows = exploded(corrections.frame, "label")
    return rows.select(pl.col("item").cast(pl.String), word=_plain("label")).unique()


# Types of error


TYPES = ("choice", "extraneous", "missing")
NOT_SAID, NOT_STATED = "not said", "not stated"
DELETE = "-NONE-"
UNTYPED = "raters did not state the types of errors"
TYPE_SCORES = ("precision", "recall", "f0.5")


@dataclass(frozen=True, slots=True, eq=False)
class TypeScore(Data):
    """One system and one type: its flags of the type, the errors of the type, and the scores."""

    system: str
    type: str
    n_flags: float
    n_errors: float
    scores: dict[str, Interval] = field(metadata=FLAT)


def scores_by_type(cases: Cases, decisions: Table, truth: Truth, *, basis: Basis) -> list[TypeScore]:
    """Every system by every type that occurs; nothing where no decision has a type."""
    flagged = _types_of_flags(cases, decisions)
    if flagged is None:
        return []
    errors, known = _types_of_errors(cases), known_items(cases, truth)
    names = [*TYPES, *sorted((set(np.unique(flagged)) | set(np.unique(errors))) - {*TYPES, ""}), ""]
    scores = []
    for column, system in enumerate(cases.systems):
        is_flagged, is_decided = cases.flagged[:, column] == 1, (cases.flagged[:, column] >= 0) & known
        for name in names:
            own = is_flagged & known & (flagged[:, column] == name)
            real = np.where(is_decided & (errors == name), truth.values, 0.0)
            if not own.any() and not real.any():
                continue
            values = np.nan_to_num(truth.values)
            parts = np.stack([own * values, own.astype(np.float64), is_flagged * real, real], axis=1)
            weights = cases.design.weights(column, known) if cases.design else np.ones(len(cases))
            found = _scored(
                parts[is_decided], weights[is_decided], cases.unit_of[is_decided], cases.essays.unit, basis
            )
            if system in cases.withheld:
                none = Interval(nan, nan, nan, cases.withheld[system])
                found |= {"recall": none, "f0.5": none}
            n_flags, n_errors = float((parts[:, 1] * weights).sum()), float((parts[:, 3] * weights).sum())
            scores.append(TypeScore(system, name or NOT_SAID, whole(n_flags), n_errors, found))
    return scores


def _types_of_flags(cases: Cases, decisions: Table) -> np.ndarray[tuple[int, int], np.dtype[np.str_]] | None:
    """Items x systems: the type of each flag, empty where it has none; None where no decision has one."""
    if "type" not in decisions.frame.columns or not decisions.frame["type"].count():
        return None
    rows = decisions.frame.select(pl.col("item", "system", "type").cast(pl.String)).filter(pl.col("type") != "")
    types = np.full((len(cases), len(cases.systems)), "", dtype=object)
    systems = pl.Series(cases.systems, dtype=pl.String)
    types[places_of(rows["item"], cases.items), places_of(rows["system"], systems)] = rows["type"].to_list()
    return types.astype(str)


def _types_of_errors(cases: Cases) -> np.ndarray[tuple[int], np.dtype[np.str_]]:
    """The type of every error; gaps can only miss something."""
    types = stated_types(cases)
    types[_gaps(cases.columns)] = "missing"
    return types.astype(str)


def stated_types(votes: Votes) -> np.ndarray[tuple[int], np.dtype[np.object_]]:
    """What most of those who call an item an error take it for; empty where they do not say, or are divided."""
    types = np.full(len(votes), "", dtype=object)
    said = _said(votes.judgments.frame)
    if said is not None:
        counts = said.group_by("item", "type").len().sort("item", "len", descending=[False, True])
        first = counts.group_by("item", maintain_order=True).agg(
            pl.col("type").first(), is_tie=(pl.col("len") == pl.col("len").max()).sum() > 1
        )
        place = places_of(first["item"], votes.items)
        clear = (place >= 0) & ~first["is_tie"].to_numpy()
        types[place[clear]] = first.filter(clear)["type"].to_list()
    return types


def _said(frame: pl.DataFrame) -> pl.DataFrame | None:
    """The type that each judgment of error names: item, type; None where judgments name none."""
    sources = []
    if "type" in frame.columns:
        sources.append(pl.col("type").cast(pl.String))
    if "alternatives" in frame.columns:
        given = pl.col("alternatives").cast(pl.String)
        is_deleted = given.str.contains(DELETE, literal=True)
        word = pl.when(is_deleted).then(pl.lit("extraneous")).otherwise(pl.lit("choice"))
        sources.append(pl.when(given != "").then(word))
    if not sources:
        return None
    errors = frame.filter(pl.col("label").cast(pl.String).str.to_lowercase() == ERROR)
    named = errors.select(pl.col("item").cast(pl.String), type=pl.coalesce(sources))
    return named.filter(pl.col("type").is_not_null() & (pl.col("type") != ""))


def _gaps(columns: pl.DataFrame) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    is_gap = np.zeros(len(columns), bool)
    if "kind" in columns.columns:
        is_gap |= columns["kind"].cast(pl.String).fill_null("").str.ends_with("missing").to_numpy()
    if {"start", "end"} <= set(columns.columns):
        is_gap |= (columns["start"] == columns["end"]).fill_null(value=False).to_numpy()
    return is_gap


def _scored(parts: Numbers, weights: Numbers, unit_of: Ints, unit: str, basis: Basis) -> dict[str, Interval]:
    """Precision, recall and F0.5 of one type, from what each item adds (`_values`)."""
    rows = parts * weights[:, None]
    if unit != "item":
        held, places = np.unique(unit_of, return_inverse=True)
        rows = grouped_rows(rows, places, len(held))
    cases = {"precision": (1,), "recall": (3,), "f0.5": (1, 3)}
    found = {}
    for at, (name, columns) in enumerate(cases.items()):
        own = parts[:, columns].sum(axis=1)
        it = influence(Units(rows, unit), partial(_value, at), rows[:, columns].sum(axis=1))
        n_design = float(weights @ own) ** 2 / float(weights**2 @ own) if own.any() else None
        undefined = REASONS["precision"] if name == "precision" else UNTYPED
        found[name] = share(it, n=float(own.sum()), n_design=n_design, level=basis.level, undefined=undefined)
    return found


def _value(at: int, sums: Numbers) -> Numbers:
    return np.asarray(_values(sums)[..., at], np.float64)


def _values(sums: Numbers) -> Numbers:
    """Precision, recall and F0.5 from hits among flags, flags, flagged among errors, errors."""
    hits, flags, caught, errors = np.moveaxis(sums, -1, 0)
    precision, recall = ratio(hits, flags), ratio(caught, errors)
    return np.stack([precision, recall, ratio(1.25 * precision * recall, 0.25 * precision + recall)], axis=-1)


def types_sheet(scores: Sequence[TypeScore], together: Sequence[Scored]) -> Sheet:
    """Every system by type, and all types together; precision alone where raters stated no types."""
    if not any(each.n_errors for each in scores if each.type != NOT_SAID):
        return _flags_sheet(scores, together)
    rows = []
    for of in together:
        own = [each for each in scores if each.system == of.system]
        rows += [
            (
                each.system,
                (NOT_STATED if each.type == NOT_SAID else each.type),
                *_cells(each.n_flags, each.n_errors, each.scores),
            )
            for each in own
        ]
        flags, errors = (
            of.counts.hit + of.counts.false_alarm,
            of.counts.hit + of.counts.miss,
        )
        rows.append((of.system, "all types", *_cells(flags, errors, of.scores)))
    columns = ("system", "type", "flags", "precision", "errors", "recall", "F0.5")
    notes = undefined_notes(score for each in scores for score in each.scores.values())
    return Sheet("By type of error", columns, tuple(rows), notes=tuple(notes), name="by-type")


def _flags_sheet(scores: Sequence[TypeScore], together: Sequence[Scored]) -> Sheet:
    rows = []
    for of in together:
        own = [each for each in scores if each.system == of.system and each.type != NOT_SAID]
        rows += [(each.system, each.type, count(each.n_flags), interval(each.scores["precision"])) for each in own]
        n_flags = of.counts.hit + of.counts.false_alarm
        rows.append((of.system, "all types", count(n_flags), interval(of.scores["precision"])))
    notes = undefined_notes(each.scores["precision"] for each in scores if each.type != NOT_SAID)
    note = "Raters did not state the types of errors, so there is no recall by type."
    columns = ("system", "type", "flags", "precision")
    return Sheet("By type of flag", columns, tuple(rows), notes=(*notes, note), name="by-type")


def _cells(n_flags: float, n_errors: float, scores: Mapping[str, Interval]) -> tuple[str, ...]:
    precision, recall, f = (interval(scores[name]) for name in TYPE_SCORES)
    return count(n_flags), precision, count(n_errors), recall, f
