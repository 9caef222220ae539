"""Answers as people read them: what the page said, not the label that tables keep."""

from __future__ import annotations

from grater.store.gold import Gold
from grater.store.units import StudyUnit
from grater.tasks.choice import FIRST, SECOND, SYSTEM, WRITER
from grater.tasks.marking import TASK as MARKING
from grater.tasks.marking import told
from grater.tasks.task import Shown


def in_words(shown: Shown, label: str) -> str:
    """The text of the choice that stands for a label; of a choice between two words the word itself."""
    texts = {choice.value: choice.text for field in shown.fields for choice in field.choices}
    if label in (WRITER, SYSTEM) and FIRST in shown.kept:
        return texts[FIRST if label == shown.kept[FIRST] else SECOND]
    return texts.get(label, label)


def expected(unit: StudyUnit, known: Gold, shown: Shown) -> str:
    """The accepted answers, or the words of an essay that were wrong."""
    if unit.job.task == MARKING.name:
        return told(unit.unit.essay.text, known.accepted)
    return " or ".join(in_words(shown, label) for label in sorted(known.accepted))
