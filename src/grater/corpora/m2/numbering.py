"""Numbers for annotators: the last field of an A line is a whole number to every other tool.

An annotator whose id is a number keeps it, unless an earlier one was given it; any other gets the lowest number
that is free, in the order of appearance, and the report says which.
"""

from __future__ import annotations

from itertools import count

from grater.corpora.format import Loss, Report


class AnnotatorNumbers:
    """Gives out the numbers of one file."""

    def __init__(self, report: Report) -> None:
        self._report = report
        self._numbers: dict[str, int] = {}

    @property
    def annotators(self) -> tuple[str, ...]:
        """Those who have a number."""
        return tuple(self._numbers)

    def of(self, annotator: str, essay_id: str) -> int:
        """The annotator's number; `essay_id` is where a new one was met."""
        if annotator not in self._numbers:
            self._numbers[annotator] = self._free(annotator)
            if str(self._numbers[annotator]) != annotator:
                why = f"M2 numbers its annotators; this one is {self._numbers[annotator]}"
                self._report(Loss(essay_id, f"annotator {annotator!r}", why, changed=True))
        return self._numbers[annotator]

    def _free(self, annotator: str) -> int:
        taken = set(self._numbers.values())
        is_number = annotator.isascii() and annotator.isdigit() and len(annotator) < 10
        if is_number and str(int(annotator)) == annotator and int(annotator) not in taken:
            return int(annotator)
        return next(number for number in count() if number not in taken)
