"""Rank the corrections of a sentence, not knowing whose they are; ties are allowed.

Grundkiewicz, Junczys-Dowmunt and Gillian 2015, section 3: annotators rank up to five outputs of a sentence, 1 the
best. A unit has one item for each system, of kind `rank/SYSTEM`, with the corrected sentence in its payload
(`"words"`). Systems with the same output share a row and its rank; rows are in random order, which the server stores.
Ranks are stored without gaps: 1, 3, 3 becomes 1, 2, 2.

A job may ask in pairs: each unit then has two different corrections and one question.

Gold can be ranks, too: an answer is right if every two gold items with different ranks are in the right order. A
deliberately spoilt sentence that must come last thus does not constrain the others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import combinations
from typing import cast

from grater.annotate.tasks.task import (
    TARGET,
    Accepted,
    Answer,
    Choice,
    Field,
    Form,
    Piece,
    Rng,
    Shown,
    Subject,
    Unit,
    UnitItem,
    pieces_around,
    read_fields,
    the_one,
    words_before,
)
from grater.errors import UsageError
from grater.model import Json

MOST = 5
WORDS, ORDER, PAIRS = "words", "order", "pairs"
FIRST, SECOND, EQUAL = "first", "second", "equal"
RANKS_OF_PAIR = {FIRST: ("1", "2"), SECOND: ("2", "1"), EQUAL: ("1", "1")}
N_BEFORE = 2

GUIDELINES = """\
You see a learner's sentence and **several corrections** of it. **Rank them: 1 is the best.**

- A good correction repairs the errors, keeps the meaning, and changes nothing that was right.
- An error that is left is bad; a new error, or a change of what the writer meant, is worse.
- **Equally good ones get the same rank.** Do not look for differences that do not matter to a reader.
- Words that a correction changes are underlined. One may leave the sentence as it was.
- Judge each sentence in its context. The order of the rows means nothing.
"""


def candidates(unit: Unit) -> list[tuple[str, tuple[UnitItem, ...]]]:
    """Each distinct corrected sentence with the items of the systems that wrote it."""
    by_text: dict[str, list[UnitItem]] = {}
    for each in unit.items:
        text = each.payload.get(WORDS)
        if not isinstance(text, str):
            raise UsageError(f"item {each.item.item_id}: expected a corrected sentence, found none")
        by_text.setdefault(text, []).append(each)
    return [(text, tuple(items)) for text, items in sorted(by_text.items())]


def in_order(unit: Unit, kept: Mapping[str, Json]) -> list[tuple[str, tuple[UnitItem, ...]]]:
    """The candidates in the order of the page."""
    found = candidates(unit)
    order = cast("list[int]", kept.get(ORDER))
    if not isinstance(order, list) or sorted(order) != list(range(len(found))):
        raise UsageError(f"unit {unit.unit_id}: expected to know the order of its rows, found {order!r}")
    return [found[number] for number in order]


def changed_words(source: str, corrected: str) -> tuple[Piece, ...]:
    """A corrected sentence with its changes marked."""
    old, new = source.split(), corrected.split()
    pieces = []
    for what, _, _, start, end in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if end > start:
            space = " " if end < len(new) else ""
            pieces.append(Piece(" ".join(new[start:end]) + space, "" if what == "equal" else TARGET))
    return tuple(pieces)


def rows_of(unit: Unit, order: Sequence[int], choices: tuple[Choice, ...]) -> tuple[Field, ...]:
    """One question per candidate, in this order."""
    found, source = candidates(unit), _source(unit)
    return tuple(
        Field(f"row-{number}", "one", found[at][0], choices, reading=changed_words(source, found[at][0]))
        for number, at in enumerate(order, 1)
    )


def _source(unit: Unit) -> str:
    """The learner's sentence; the units' items have its span, or lie in it."""
    return "".join(piece.text for piece in pieces_around(unit.essay, unit.items[0].item.span))


def shuffled(unit: Unit, rng: Rng) -> list[Json]:
    return [int(number) for number in rng.permutation(len(candidates(unit)))]


def answered(unit: Unit, form: Form, kept: Mapping[str, Json], choices: tuple[Choice, ...]) -> list[str]:
    """The answer of each row."""
    fields = rows_of(unit, cast("list[int]", kept[ORDER]), choices)
    values = read_fields(fields, form)
    return [the_one(values, field.name) for field in fields]


@dataclass(frozen=True, slots=True)
class Rank:
    """Rank corrections of a sentence."""

    name: str = "rank"
    title: str = "Rank corrections"
    kind: str = "rank"
    labels: tuple[str, ...] = tuple(map(str, range(1, MOST + 1)))
    verdict: Mapping[str, str] | None = None
    guidelines: str = GUIDELINES
    summary: str = "Up to five systems’ corrections of a sentence, blind: which is best? Ties are allowed."
    subject: Subject = "ranking"
    source: str = "Grundkiewicz, Junczys-Dowmunt and Gillian 2015, section 3"

    def show(self, unit: Unit, *, rng: Rng) -> Shown:
        order = shuffled(unit, rng)
        span = unit.items[0].item.span
        rows = rows_of(unit, cast("list[int]", order), _ranks(unit))
        is_pair = bool(unit.payload.get(PAIRS))
        return Shown(
            before=words_before(unit.essay, span, n_sentences=N_BEFORE),
            pieces=(Piece(_source(unit)),),
            after="",
            fields=(_pair(rows),) if is_pair else rows,
            kept={ORDER: order},
            question="" if is_pair else "Rank the corrections: 1 is the best. Equally good ones get the same rank.",
        )

    def read(self, unit: Unit, form: Form, *, kept: Mapping[str, Json]) -> tuple[Answer, ...]:
        rows = in_order(unit, kept)
        if unit.payload.get(PAIRS):
            asked = _pair(rows_of(unit, cast("list[int]", kept[ORDER]), _ranks(unit)))
            given = list(RANKS_OF_PAIR[the_one(read_fields((asked,), form), asked.name)])
        else:
            given = answered(unit, form, kept, _ranks(unit))
        dense = {rank: str(number) for number, rank in enumerate(sorted(set(given)), 1)}
        return tuple(
            Answer(each.item.item_id, dense[rank], payload={"row": number})
            for number, ((_, items), rank) in enumerate(zip(rows, given, strict=True), 1)
            for each in items
        )

    def right(self, answers: Sequence[Answer], accepted: Accepted) -> bool:
        """Whether gold items are in the right order; a single gold item must have its rank."""
        ranks = {answer.item_id: int(answer.label) for answer in answers}
        if len(accepted) == 1:
            return all(str(ranks.get(item_id, "")) in of for item_id, of in accepted.items())
        known = {item_id: sorted(map(int, of)) for item_id, of in accepted.items()}
        return known.keys() <= ranks.keys() and all(
            ranks[one] < ranks[other]
            for pair in combinations(known, 2)
            for one, other in (pair, pair[::-1])
            if known[one][-1] < known[other][0]
        )


def _pair(rows: Sequence[Field]) -> Field:
    """One question about two corrections."""
    first, second = rows
    choices = (
        Choice(FIRST, "The first is better", "1", first.reading),
        Choice(SECOND, "The second is better", "2", second.reading),
        Choice(EQUAL, "Equally good", "3"),
    )
    return Field("better", "one", "Which correction is better?", choices)


def _ranks(unit: Unit) -> tuple[Choice, ...]:
    return tuple(Choice(str(rank), str(rank), str(rank)) for rank in range(1, len(candidates(unit)) + 1))


TASK = Rank()
