"""The gold rule of most tasks: every item with a known answer got an accepted label."""

from __future__ import annotations

from collections.abc import Sequence

from grater.tasks.task import Accepted, Answer


def all_accepted(answers: Sequence[Answer], accepted: Accepted) -> bool:
    """Whether each gold item has an accepted answer; items without gold are free."""
    labels = {answer.item_id: answer.label for answer in answers}
    return all(labels.get(item_id) in of for item_id, of in accepted.items())
