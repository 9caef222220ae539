"""The balanced corpus of Madnani et al. 2011, section 2.1: as many extraneous prepositions as correct ones.

From each accepted trigram one sentence is taken, its first use whose sentence is not taken yet, in the order of the
list; up to 500.  As many correct uses are drawn by chance from the uses whose trigram is attested and was neither
suspicious nor accepted, no two from one sentence.  A sentence that is there already, in letters and digits, is a
duplicate: it is left out and counted (the paper found 2 in 1,000).  Then 75 of all are set aside as gold, half of
them errors, and the rows are put in an order of chance, so that nothing tells errors from the others.

The label is what the miner believes, `error` or `ok`; raters have the last word.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from grater.detect.mining.uses import Trigram, Use
from grater.detect.mining.verdicts import PLACE_SCHEMA, place_columns
from grater.errors import UsageError
from grater.model import Json

N_EACH = 500
N_GOLD = 75
ERROR, OK = "error", "ok"
_NOT_LETTERS = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True)
class Balanced:
    """The corpus as items, with label and gold; and what fell short or was left out on the way."""

    items: pl.DataFrame
    n_errors: int
    n_correct: int
    n_duplicates: int
    n_each: int = N_EACH

    def gold(self) -> pl.DataFrame:
        """The items set aside, as a gold table."""
        return self.items.filter(pl.col("gold") == 1).select("item", "label", reason="trigram")

    @property
    def shortfalls(self) -> list[str]:
        """Where the corpus is smaller than asked, or not balanced, a line each."""
        found = []
        if self.n_errors < self.n_each:
            found.append(f"wanted {self.n_each:,} errors, found {self.n_errors:,}: accept more trigrams")
        if self.n_correct < self.n_errors:
            found.append(f"wanted {self.n_errors:,} correct uses, found {self.n_correct:,}: bring more essays")
        return found

    def lines(self, name: str) -> list[str]:
        """What was built under this name, and where it falls short."""
        built = f"errors: {self.n_errors:,}, correct uses: {self.n_correct:,}, gold among them: {len(self.gold()):,}"
        return [f"{name}: {built}, duplicates left out: {self.n_duplicates:,}", *self.shortfalls]

    def as_json(self) -> dict[str, Json]:
        counts: dict[str, Json] = {"errors": self.n_errors, "correct": self.n_correct, "gold": len(self.gold())}
        return {**counts, "duplicates": self.n_duplicates, "shortfalls": list[Json](self.shortfalls)}


def balance(
    errors: Iterable[Sequence[Use]],
    correct: Sequence[Use],
    *,
    rng: np.random.Generator,
    n_each: int = N_EACH,
    n_gold: int = N_GOLD,
) -> Balanced:
    """`errors` has the uses of each accepted trigram, worst first; `correct` every use that is beyond suspicion."""
    taken: set[str] = set()
    duplicates: list[Use] = []
    wrong = list(_firsts(errors, taken, duplicates, n_each))
    if not wrong:
        raise UsageError("expected accepted trigrams to build from, found none; put y beside the errors first")
    shuffled = ([correct[place]] for place in rng.permutation(len(correct)).tolist())
    right = list(_firsts(shuffled, taken, duplicates, len(wrong)))
    if n_gold > len(wrong) + len(right):
        raise UsageError(f"expected at most {len(wrong) + len(right)} gold items, found {n_gold}; ask for fewer")
    gold = {
        *_drawn(len(wrong), (n_gold + 1) // 2, rng),
        *(len(wrong) + k for k in _drawn(len(right), n_gold // 2, rng)),
    }
    rows = [
        {
            **place_columns(use),
            "label": ERROR if k < len(wrong) else OK,
            "trigram": use.words,
            "gold": int(k in gold),
        }
        for k, use in enumerate([*wrong, *right])
    ]
    schema = {**PLACE_SCHEMA, "label": pl.String, "trigram": pl.String, "gold": pl.Int64}
    frame = pl.DataFrame([rows[place] for place in rng.permutation(len(rows)).tolist()], schema=schema, orient="row")
    return Balanced(frame, len(wrong), len(right), len(duplicates), n_each)


def beyond_suspicion(
    uses: Iterable[Use], attested: Collection[Trigram], suspicious: Collection[Trigram]
) -> list[Use]:
    """The uses that may stand for correct ones."""
    return [use for use in uses if use.trigram in attested and use.trigram not in suspicious]


def _firsts(groups: Iterable[Sequence[Use]], taken: set[str], duplicates: list[Use], most: int) -> Iterator[Use]:
    """The first use of each group whose sentence is not taken; a group without one is a duplicate."""
    n_found = 0
    for uses in groups:
        if n_found == most:
            return
        use = next((use for use in uses if _letters(use) not in taken), None)
        if use is None:
            duplicates.append(uses[0])
        else:
            taken.add(_letters(use))
            n_found += 1
            yield use


def _letters(use: Use) -> str:
    return _NOT_LETTERS.sub(" ", use.context.lower()).strip()


def _drawn(n: int, n_wanted: int, rng: np.random.Generator) -> list[int]:
    if n_wanted > n:
        raise UsageError(f"expected at most {n} gold items of a kind, found {n_wanted}; ask for fewer")
    drawn: list[int] = rng.choice(n, n_wanted, replace=False).tolist()
    return drawn
