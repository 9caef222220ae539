"""A task for raters: are these words too casual for an essay?"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from grater.extend import (
    ERROR,
    LABEL,
    OK,
    Accepted,
    Answer,
    Choice,
    Field,
    Form,
    Json,
    Rng,
    Shown,
    Unit,
    all_accepted,
    only_item,
    pieces_around,
    read_fields,
    the_one,
)

FIELDS = (
    Field(
        LABEL,
        "one",
        "How formal are these words?",
        (Choice("formal", "Formal", "1"), Choice("casual", "Casual", "2")),
    ),
)


@dataclass(frozen=True, slots=True)
class Register:
    """Say whether words are too casual for an essay."""

    name: str = "register"
    title: str = "Formal or casual"
    kind: str = "register"
    labels: tuple[str, ...] = ("formal", "casual")
    verdict: Mapping[str, str] | None = None
    guidelines: str = "Judge the highlighted words as you would in a school essay."
    summary: str = "Are the highlighted words formal enough for an essay?"

    def show(self, unit: Unit, *, rng: Rng) -> Shown:
        pieces = pieces_around(unit.essay, only_item(unit).item.span)
        return Shown(before="", pieces=pieces, after="", fields=FIELDS)

    def read(self, unit: Unit, form: Form, *, kept: Mapping[str, Json]) -> tuple[Answer, ...]:
        item = only_item(unit).item
        return (Answer(item_id=item.item_id, label=the_one(read_fields(FIELDS, form), LABEL)),)

    def right(self, answers: Sequence[Answer], accepted: Accepted) -> bool:
        return all_accepted(answers, accepted)


TASK = Register(verdict={"casual": ERROR, "formal": OK})
