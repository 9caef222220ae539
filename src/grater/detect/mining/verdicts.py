"""The list of suspects that a person goes through: an items table with a verdict for each.

One row for each suspicious trigram, worst first, at the place of its first use: the columns of an items table, then

    verdict                     y (an error: the preposition is one too many), n (it is not), or blank (not looked at)
    trigram, bigram             what was counted
    n_trigram, n_bigram         their counts
    expected, score             see `ranking`
    n_uses                      how often the essays have the trigram

The file may be edited by hand, in any spreadsheet.  Writing a new list keeps the verdicts of the old.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from grater.detect.mining.ranking import Suspect
from grater.detect.mining.uses import Use, without
from grater.errors import BadInput, Problem
from grater.tables import Table

YES, NO, OPEN = "y", "n", ""
SPOKEN = {"y": YES, "yes": YES, "n": NO, "no": NO, "": OPEN}
SCHEMA = {
    "verdict": pl.String,
    "trigram": pl.String,
    "bigram": pl.String,
    "n_trigram": pl.Float64,
    "n_bigram": pl.Float64,
    "expected": pl.Float64,
    "score": pl.Float64,
    "n_uses": pl.Int64,
}


@dataclass(frozen=True, slots=True)
class Far:
    """How far a list is."""

    accepted: int
    rejected: int
    open: int

    @property
    def decided(self) -> int:
        return self.accepted + self.rejected

    @property
    def all(self) -> int:
        return self.decided + self.open

    @property
    def words(self) -> str:
        return f"{self.accepted:,} accepted, {self.rejected:,} rejected, {self.open:,} to look at"

    def as_json(self) -> dict[str, int]:
        return {"accepted": self.accepted, "rejected": self.rejected, "open": self.open}


def far_of(verdicts: Iterable[str]) -> Far:
    said = Counter(verdicts)
    return Far(said[YES], said[NO], said[OPEN])


def place_columns(use: Use) -> dict[str, object]:
    """Where a use stands: the columns of an items table."""
    item = use.item
    return {
        "item": item.item_id,
        "essay": item.essay_id,
        "start": item.span.start,
        "end": item.span.end,
        "kind": item.kind,
        "document": use.document,
        "target": use.target,
        "context": use.context,
    }


PLACE_SCHEMA = {
    "item": pl.String,
    "essay": pl.String,
    "start": pl.Int64,
    "end": pl.Int64,
    "kind": pl.String,
    "document": pl.String,
    "target": pl.String,
    "context": pl.String,
}


def suspects_table(suspects: Sequence[Suspect], verdicts: Mapping[str, str]) -> pl.DataFrame:
    """The list, with the verdicts that are known by trigram."""
    rows = [_row(suspect, verdicts.get(suspect.words, OPEN)) for suspect in suspects]
    return pl.DataFrame(rows, schema={**PLACE_SCHEMA, **SCHEMA}, orient="row")


def _row(suspect: Suspect, verdict: str) -> dict[str, object]:
    return {
        **place_columns(suspect.uses[0]),
        "verdict": verdict,
        "trigram": suspect.words,
        "bigram": " ".join(without(suspect.trigram)),
        "n_trigram": round(suspect.n_trigram, 3),
        "n_bigram": round(suspect.n_bigram, 3),
        "expected": round(suspect.expected, 3),
        "score": round(suspect.score, 6),
        "n_uses": len(suspect.uses),
    }


def verdicts_of(table: Table) -> dict[str, str]:
    """The verdict on each trigram of a list that a person has been through."""
    for column in ("verdict", "trigram"):
        if column not in table.frame.columns:
            raise BadInput(
                Problem(table.name, f"expected a column {column!r}, as 'grater mine extraneous' writes it")
            )
    verdicts: dict[str, str] = {}
    for number, (verdict, trigram) in enumerate(_cells(table), 1):
        spoken = SPOKEN.get(verdict.strip().lower())
        if spoken is None:
            message = f"row {number}: expected y, n or nothing as the verdict on {trigram!r}, found {verdict!r}"
            raise BadInput(Problem(table.name, message))
        verdicts[" ".join(trigram.split())] = spoken  # a hand may have put more blanks
    return verdicts


def _cells(table: Table) -> Iterable[tuple[str, str]]:
    columns = table.frame.select(pl.col("verdict", "trigram").cast(pl.String).fill_null(""))
    return columns.iter_rows()
