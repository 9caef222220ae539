"""Agreement so far, as the tasks want their labels counted."""

from __future__ import annotations

from grater.annotate.evaluation import live_agreement
from grater.annotate.tasks import TASKS


def rows(*labels: tuple[str, str]) -> list[dict[str, object]]:
    """Two raters, one item for each pair of labels."""
    return [
        {"item": f"i{n}", "rater": rater, "label": label, "group": "crowd"}
        for n, pair in enumerate(labels)
        for rater, label in zip(("Ann", "Bob"), pair, strict=True)
    ]


def observed(task: str, *labels: tuple[str, str]) -> float:
    found = live_agreement(rows(*labels), TASKS[task], name="job")  # type: ignore[arg-type]
    assert found.labels is not None
    return found.labels.coefficients["observed"].value


def test_grey_is_merged_with_yes_in_constructions() -> None:
    assert observed("construction", ("yes", "grey"), ("grey", "grey"), ("no", "grey"), ("no", "no")) == 0.75


def test_a_task_that_merges_nothing_keeps_its_labels() -> None:
    assert observed("error", ("error", "unknown"), ("ok", "ok")) == 0.5


def test_where_asking_stopped_early_only_the_first_judgments_are_compared() -> None:
    """Two who agree were enough for one item; for the other two who differed were followed by three who agree."""
    said = {"easy": "oo", "hard": "oeeee"}
    names = {"o": "ok", "e": "error"}
    found = [
        {"item": item, "rater": f"r{n}", "label": names[letter], "group": "crowd", "at": f"2026-01-01T00:00:{n:02}Z"}
        for item, letters in said.items()
        for n, letter in enumerate(letters)
    ]
    all_of_them = live_agreement(found, TASKS["error"], name="job")
    first_two = live_agreement(found, TASKS["error"], name="job", first=2)
    assert all_of_them.labels is not None
    assert first_two.labels is not None
    assert first_two.labels.coefficients["observed"].value == 0.5
    assert all_of_them.labels.coefficients["observed"].value > 0.5
