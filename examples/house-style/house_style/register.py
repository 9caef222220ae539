"""A task for raters: are these words too casual for an essay?"""

from grater.extend import ERROR, LABEL, OK, Choice, Field, OneItem, Unit

CHOICES = (Choice("formal", "Formal", "1"), Choice("casual", "Casual", "2"))


def questions(unit: Unit) -> tuple[Field, ...]:
    return (Field(LABEL, "one", "How formal are these words?", CHOICES),)


TASK = OneItem(
    name="register",
    title="Formal or casual",
    kind="register",
    labels=("formal", "casual"),
    verdict={"casual": ERROR, "formal": OK},
    guidelines="Judge the highlighted words as you would in a school essay.",
    summary="Are the highlighted words formal enough for an essay?",
    questions=questions,
)
"""Say whether words are too casual for an essay."""
