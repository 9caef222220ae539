"""Programs and language models beside people: how far each agrees with their majority, by kind of item.

A program is measured as a rater, never taken as the truth: its verdicts are compared with the majority of people on
the items that both judged, ties left out.  Beside it stands what a person reaches in the same comparison, each person
against the majority of the others: a program that is as near to people as they are to each other could be one of
them.  Agreement on errors and on ok apart show a program that says ok to everything; a high agreement does not, where
errors are rare.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from grater.measure.agreement.coded import Essays, known_essays
from grater.measure.agreement.cohen import Confusion, between, cohen_kappa
from grater.measure.agreement.summary import kappa_cells
from grater.reporting.document import Section, interval
from grater.sheet import Sheet, count
from grater.tables import Judgments, Table
from grater.uncertainty.intervals import generator

ERROR, OK = "error", "ok"
ALL = "all"
PERSON = "a person, against the other people"
FEW = 30


@dataclass(frozen=True, slots=True, eq=False)
class Compared:
    """One rater against the majority of people, on items of one kind."""

    rater: str
    kind: str
    table: Confusion

    def row(self, seed: int) -> tuple[str, ...]:
        kappa = cohen_kappa(self.table, rng=generator(seed, "programs", self.rater, self.kind))
        cells = self.table.cells
        on_errors, on_ok = (self.table.share(*_diagonal(cells.shape, row)) for row in (0, 1))
        agreement = (interval(self.table.observed), *kappa_cells(kappa))
        return (self.rater, self.kind, count(self.table.n), *agreement, interval(on_errors), interval(on_ok))


def _diagonal(shape: tuple[int, ...], row: int) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    """The cell of a row in which the two agree, and the whole row."""
    part, whole = np.zeros(shape, bool), np.zeros(shape, bool)
    part[row, row], whole[row] = True, True
    return part, whole


def programs_section(
    people: Judgments, programs: Judgments, *, items: Table | None = None, places: Table | None = None, seed: int = 0
) -> Section | None:
    """Every program on all items and on those of each kind; None where no item was judged by both."""
    essays = known_essays(people, places)
    said = _votes(people)
    kinds = dict(items.frame.select(pl.col("item", "kind").cast(pl.String)).iter_rows()) if items is not None else {}
    # The majority of people on each item; a tie is none.
    n_error = (pl.col("label") == ERROR).sum()
    counts = said.group_by("item").agg(n_error=n_error, n=pl.len()).filter(2 * pl.col("n_error") != pl.col("n"))
    most = pl.when(2 * pl.col("n_error") > pl.col("n")).then(pl.lit(ERROR)).otherwise(pl.lit(OK))
    majority = counts.select("item", most=most)
    own = _votes(programs)
    compared = [
        each
        for rater in sorted(own["rater"].unique().to_list())
        for each in _compared(rater, own.filter(rater=rater), majority, kinds, essays)
    ]
    if not compared:
        return None
    compared += _compared(PERSON, _against_others(said), None, kinds, essays)
    columns = ("program", "items", "n", "agreement", "kappa", "band", "on errors", "on ok")
    rows = tuple(each.row(seed) for each in compared)
    sheet = Sheet(name="programs", title="Programs against the majority of people", columns=columns, rows=rows)
    words = (*_words(compared), essays.scope_of(own["item"]).sentence)
    return Section(name="programs", title="Programs as raters", words=words, sheets=(sheet,))


def _votes(judgments: Judgments) -> pl.DataFrame:
    frame = judgments.frame.select(pl.col("item", "rater", "label").cast(pl.String))
    return frame.filter(pl.col("label").is_in([ERROR, OK]))


def _against_others(said: pl.DataFrame) -> pl.DataFrame:
    """Each judgment of a person beside the majority of the other people on the item."""
    is_error = pl.col("label") == ERROR
    others = is_error.sum().over("item") - is_error.cast(pl.UInt32)
    n_others = pl.len().over("item") - 1
    most = pl.when(2 * others > n_others).then(pl.lit(ERROR)).otherwise(pl.lit(OK))
    return said.with_columns(most=most, others=others, n=n_others).filter(2 * pl.col("others") != pl.col("n"))


def _compared(
    rater: str, own: pl.DataFrame, majority: pl.DataFrame | None, kinds: Mapping[str, str], essays: Essays
) -> Iterator[Compared]:
    both = own if majority is None else own.join(majority, on="item")
    if not len(both):
        return
    yield Compared(rater, ALL, _table(both, rater, essays))
    named = both.with_columns(kind=pl.col("item").replace_strict(kinds, default="", return_dtype=pl.String))
    for kind in sorted(name for name in named["kind"].unique().to_list() if name):
        yield Compared(rater, kind, _table(named.filter(kind=kind), rater, essays))


def _table(both: pl.DataFrame, rater: str, essays: Essays) -> Confusion:
    """Rows are the majority's verdicts, columns the rater's; a person may stand in it with one item several times."""
    most, label = ((both[column] == OK).cast(pl.Int32).to_numpy() for column in ("most", "label"))
    return between(most, label, (ERROR, OK), ("people", rater), unit_of=essays.codes(both["item"]))


def _words(compared: Sequence[Compared]) -> Iterator[str]:
    people = next((each for each in compared if each.rater == PERSON and each.kind == ALL), None)
    for each in compared:
        if each.kind == ALL and each.rater != PERSON:
            beside = f"; a person agrees with the other people on {interval(people.table.observed)}" if people else ""
            few = f" With only {each.table.n} items, little can be concluded." if each.table.n < FEW else ""
            agrees = f"{each.rater} agrees with the majority of people on {interval(each.table.observed)}"
            yield f"{agrees} of {each.table.n:,} items{beside}.{few}"
    yield "Programs are compared as raters: unless requested, their judgments do not count in the scores of systems."
