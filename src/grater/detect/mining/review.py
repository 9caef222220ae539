"""Essays mined for extraneous prepositions: suspects, a person's verdicts, and the balanced corpus built from them.

`mine` ranks suspicious trigrams (`ranking`), a person accepts or rejects them, and `balanced_from` builds the corpus
of Madnani et al. 2011, section 2.1, with as many extraneous prepositions as correct ones.

The list of suspects has one row per suspicious trigram, worst first, at the place of its first use: the columns of an
items table, then

    verdict                     y (an error: the preposition is extraneous), n (it is not), or blank (undecided)
    trigram, bigram             what was counted
    n_trigram, n_bigram         their counts
    expected, score             see `ranking`
    n_uses                      how often the essays have the trigram

The file can be edited in any spreadsheet. Writing a new list keeps the old verdicts.

From each accepted trigram one sentence is taken, its first use whose sentence is not taken yet, in the order of the
list; up to 500. As many correct uses are drawn at random from the uses whose trigram is attested and was neither
suspicious nor accepted, no two from one sentence. A sentence whose letters and digits equal an earlier one's is a
duplicate: it is left out and counted (the paper found 2 in 1,000). Then 75 of all are set aside as gold, half of them
errors, and the rows are shuffled, so that their order does not reveal the errors. The label is the miner's
assumption, `error` or `ok`; raters decide.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
import polars as pl

from grater.detect.decisions import ITEM
from grater.detect.mining.ranking import RATIO, Counts, Suspect, Use, by_trigram, rank, wanted_ngrams, without
from grater.errors import BadInput, Problem, UsageError
from grater.result import HIDDEN, Data, in_json
from grater.tables import Table

N_EACH = 500
N_GOLD = 75
ERROR, OK = "error", "ok"
_NOT_LETTERS = re.compile(r"[\W_]+")

TrigramCounter: TypeAlias = Callable[[set[tuple[str, ...]]], Counts]
"""Looks up the counts of n-grams."""

YES, NO, OPEN = "y", "n", ""
SPOKEN = {"y": YES, "yes": YES, "n": NO, "no": NO, "": OPEN}
SCHEMA: dict[str, type] = {
    "verdict": str,
    "trigram": str,
    "bigram": str,
    "n_trigram": float,
    "n_bigram": float,
    "expected": float,
    "score": float,
    "n_uses": int,
}


def place_columns(use: Use) -> dict[str, object]:
    """The place of a use: the columns of an items table."""
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


def suspects_table(suspects: Sequence[Suspect], verdicts: Mapping[str, str]) -> pl.DataFrame:
    """The list, with the verdicts that are known by trigram."""
    rows = [
        {
            **place_columns(suspect.uses[0]),
            "verdict": verdicts.get(suspect.words, OPEN),
            "trigram": suspect.words,
            "bigram": " ".join(without(suspect.trigram)),
            "n_trigram": round(suspect.n_trigram, 3),
            "n_bigram": round(suspect.n_bigram, 3),
            "expected": round(suspect.expected, 3),
            "score": round(suspect.score, 6),
            "n_uses": len(suspect.uses),
        }
        for suspect in suspects
    ]
    return pl.DataFrame(rows, schema={**ITEM, **SCHEMA}, orient="row")


def verdicts_of(table: Table) -> dict[str, str]:
    """The verdict on each trigram of a reviewed list."""
    for column in ("verdict", "trigram"):
        if column not in table.frame.columns:
            raise BadInput(Problem(table.name, f"expected a column {column!r}, as in a list of suspects"))
    verdicts: dict[str, str] = {}
    cells = table.frame.select(pl.col("verdict", "trigram").cast(pl.String).fill_null(""))
    for number, (verdict, trigram) in enumerate(cells.iter_rows(), 1):
        known = SPOKEN.get(verdict.strip().lower())
        if known is None:
            message = f"row {number}: expected y, n or nothing as the verdict on {trigram!r}, found {verdict!r}"
            raise BadInput(Problem(table.name, message))
        verdicts[" ".join(trigram.split())] = known  # people add blanks when they edit
    return verdicts


@dataclass(frozen=True, slots=True)
class Balanced(Data):
    """The corpus as items, with label and gold, and the numbers found and left out."""

    items: pl.DataFrame = field(metadata=HIDDEN)
    n_errors: int
    n_correct: int
    n_duplicates: int
    n_each: int = field(default=N_EACH, metadata=HIDDEN)

    def gold(self) -> pl.DataFrame:
        """The items set aside, as a gold table, with a reason for raters who miss one."""
        known = self.items.filter(pl.col("gold") == 1).select("item", "label", "trigram")
        rows = [(item, label, _reason(trigram, label)) for item, label, trigram in known.iter_rows()]
        return pl.DataFrame(rows, schema=["item", "label", "reason"], orient="row")

    @property
    @in_json()
    def shortfalls(self) -> list[str]:
        """Where the corpus is smaller than requested, or not balanced, one line each."""
        shortfalls = []
        if self.n_errors < self.n_each:
            shortfalls.append(f"errors: {self.n_errors:,} instead of {self.n_each:,}; accept more trigrams")
        if self.n_correct < self.n_errors:
            shortfalls.append(f"correct uses: {self.n_correct:,} instead of {self.n_errors:,}; add essays")
        return shortfalls

    def lines(self, name: str) -> list[str]:
        """The summary of a balanced list with this name, and its shortfalls."""
        built = f"errors: {self.n_errors:,}, correct uses: {self.n_correct:,}, gold among them: {len(self.gold()):,}"
        return [f"{name}: {built}, duplicates left out: {self.n_duplicates:,}", *self.shortfalls]

    @property
    @in_json("gold")
    def n_gold(self) -> int:
        return len(self.gold())


def _reason(trigram: str, label: str) -> str:
    first, middle, last = trigram.split(" ")
    if label == ERROR:
        return f"People say “{first} {last}”: “{middle}” is extraneous."
    return f"“{trigram}” is common usage."


def balance(
    errors: Iterable[Sequence[Use]],
    correct: Sequence[Use],
    *,
    rng: np.random.Generator,
    n_each: int = N_EACH,
    n_gold: int = N_GOLD,
) -> Balanced:
    """`errors` has the uses of each accepted trigram, worst first; `correct` has all unsuspicious uses."""
    taken: set[str] = set()
    duplicates: list[Use] = []
    wrong = list(_firsts(errors, taken, duplicates, n_each))
    if not wrong:
        raise UsageError("expected accepted trigrams to build from, found none; put y in the column verdict first")
    shuffled = ([correct[index]] for index in rng.permutation(len(correct)).tolist())
    right = list(_firsts(shuffled, taken, duplicates, len(wrong)))
    if n_gold > len(wrong) + len(right):
        raise UsageError(f"expected at most {len(wrong) + len(right)} gold items, found {n_gold}; request fewer")
    gold = {
        *_drawn(len(wrong), (n_gold + 1) // 2, rng),
        *(len(wrong) + k for k in _drawn(len(right), n_gold // 2, rng)),
    }
    rows = [
        {**place_columns(use), "label": ERROR if k < len(wrong) else OK, "trigram": use.words, "gold": int(k in gold)}
        for k, use in enumerate([*wrong, *right])
    ]
    schema = {**ITEM, "label": str, "trigram": str, "gold": int}
    frame = pl.DataFrame([rows[index] for index in rng.permutation(len(rows)).tolist()], schema=schema, orient="row")
    return Balanced(
        items=frame, n_errors=len(wrong), n_correct=len(right), n_duplicates=len(duplicates), n_each=n_each
    )


def _firsts(groups: Iterable[Sequence[Use]], taken: set[str], duplicates: list[Use], most: int) -> Iterator[Use]:
    """The first use of each group whose sentence is not taken; a group without one is a duplicate."""
    n_taken = 0
    for uses in groups:
        if n_taken == most:
            return
        letters = [_NOT_LETTERS.sub(" ", use.context.lower()).strip() for use in uses]
        place = next((place for place, text in enumerate(letters) if text not in taken), None)
        if place is None:
            duplicates.append(uses[0])
        else:
            taken.add(letters[place])
            n_taken += 1
            yield uses[place]


def _drawn(n: int, n_wanted: int, rng: np.random.Generator) -> list[int]:
    if n_wanted > n:
        raise UsageError(f"expected at most {n} gold items of a kind, found {n_wanted}; request fewer")
    drawn: list[int] = rng.choice(n, n_wanted, replace=False).tolist()
    return drawn


@dataclass(frozen=True, slots=True)
class Mined:
    """The uses of prepositions in the essays, their counts, and the suspects among them, worst first."""

    uses: list[Use]
    counts: Counts
    suspects: list[Suspect]


def mine(uses: Sequence[Use], count: TrigramCounter, *, least_bigram: float = 1, ratio: float = RATIO) -> Mined:
    """The suspects among the uses of prepositions."""
    if not (least_bigram >= 0 and ratio >= 0):  # nan is neither
        raise UsageError(f"expected a minimum count and a ratio of 0 or more, found {least_bigram} and {ratio}")
    counts = count(wanted_ngrams(uses))
    suspects = rank(uses, counts, least_bigram=least_bigram, ratio=ratio)
    return Mined(uses=list(uses), counts=counts, suspects=suspects)


def balanced_from(
    mined: Mined, verdicts: Mapping[str, str], *, rng: np.random.Generator, n_each: int = N_EACH, n_gold: int = N_GOLD
) -> Balanced:
    """The balanced corpus of the accepted trigrams, worst first; correct uses are neither suspects nor on a list."""
    by_words = by_trigram(mined.uses)
    rank_of = {suspect.words: rank for rank, suspect in enumerate(mined.suspects)}
    accepted = [trigram for trigram, verdict in verdicts.items() if verdict == YES]
    missing = [trigram for trigram in accepted if trigram not in by_words]
    if missing:
        raise UsageError(f"{missing[0]!r} is accepted but not in these essays; give the essays of the list")
    accepted.sort(key=lambda trigram: rank_of.get(trigram, len(rank_of)))
    listed = {by_words[trigram][0].trigram for trigram in verdicts if trigram in by_words}
    suspicious = listed | {suspect.trigram for suspect in mined.suspects}
    correct = [use for use in mined.uses if mined.counts.get(use.trigram, 0) > 0 and use.trigram not in suspicious]
    return balance([by_words[trigram] for trigram in accepted], correct, rng=rng, n_each=n_each, n_gold=n_gold)
