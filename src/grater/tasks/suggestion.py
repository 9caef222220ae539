"""The writer's word beside a system's, for the two tasks that may show a suggestion.

The suggestion takes the writer's capital: otherwise, at the start of a sentence, the lower-case word would be the
system's, and the rater would know.  `-NONE-` (delete) and a gap are shown as "(no word)".
"""

from __future__ import annotations

from grater.errors import UsageError
from grater.model import DELETE
from grater.tasks.task import Unit, UnitItem

NO_WORD = "(no word)"
SUGGESTION = "suggestion"


def writers_word(unit: Unit, unit_item: UnitItem) -> str:
    return unit_item.item.span.of(unit.essay.text) or NO_WORD


def suggested_word(unit: Unit, unit_item: UnitItem) -> str:
    """The system's word in the writer's capitals; a unit without one cannot be shown."""
    suggestion = unit_item.payload.get(SUGGESTION)
    if not isinstance(suggestion, str) or not suggestion:
        raise UsageError(
            f"item {unit_item.item.item_id}: expected a suggestion to compare with, found none; "
            "import decisions with a suggestion for every item of this job"
        )
    if suggestion == DELETE:
        return NO_WORD
    written = unit_item.item.span.of(unit.essay.text)
    return suggestion[0].upper() + suggestion[1:] if written[:1].isupper() else suggestion
