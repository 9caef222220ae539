"""From operations on words to edits: which neighbours belong together.

Felice, Bryant and Briscoe 2016, section 4: operations between two matches are one run, and rules decide where a run
is one edit and where it is several.  In a run the widest stretch to which a rule applies is taken first, and what is
left of it and right of it is a run of its own:

- joined: a genitive with its noun (*friends* to *friend 's*); punctuation with a change of case after it (*, we* to
  *. We*); words that differ in spaces, hyphens and apostrophes alone (*sub way* to *subway*); words of one part of
  speech of which some are new or gone, and verbs with their *to* or particle (*to eat* to *eating*);
- apart, of two neighbours: two substitutions side by side; a substitution of words that look alike (more than three
  quarters of their characters) beside anything; a determiner at the end of the run.

What no rule decides is one edit if it holds a content word, else each operation is an edit.  Words in another order
are an edit by themselves, and so are runs of deletions alone or of insertions alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from grater.text.edits.align import Step, character_ratio
from grater.text.edits.tokens import CONTENT, Words

ALIKE = 0.75
TOGETHER = (frozenset({"PART", "VERB"}),)
IGNORED = str.maketrans("", "", "-'’")


def merge(steps: Sequence[Step], source: Words, target: Words) -> list[Step]:
    """The edits of an alignment: steps that each span all of their words."""
    edits: list[Step] = []
    for kind, run in groupby(steps, key=lambda step: step.operation if step.operation in "MT" else ""):
        if kind == "T":
            edits += run
        elif not kind:
            edits += _Run(source, target).edits(list(run))
    return edits


class _Run:
    """The rules, over the words of one pair."""

    def __init__(self, source: Words, target: Words) -> None:
        self.source, self.target = source, target

    def edits(self, run: list[Step]) -> list[Step]:
        operations = {step.operation for step in run}
        if len(run) < 2:
            return run
        if operations in ({"D"}, {"I"}):
            return [_joined(run)]
        has_content = False
        for start, end in _stretches(len(run)):
            part = run[start:end]
            if self._is_genitive(part):
                return [*self.edits(run[: end - 2]), _joined(run[end - 2 : end]), *self.edits(run[end:])]
            if self._is_one(part):
                return [*self.edits(run[:start]), _joined(part), *self.edits(run[end:])]
            if len(part) == 2 and (cut := self._cut(part, start, is_last=end == len(run))):
                return self.edits(run[:cut]) + self.edits(run[cut:])
            has_content = has_content or bool(self._categories(part) & CONTENT)
        return [_joined(run)] if has_content else run

    def _is_genitive(self, part: list[Step]) -> bool:
        last = part[-1]
        return "POS" in self.source.tags[last.start : last.end] + self.target.tags[last.new_start : last.new_end]

    def _is_one(self, part: list[Step]) -> bool:
        return self._is_change_of_case(part) or self._is_spacing(part) or self._is_one_phrase(part)

    def _is_change_of_case(self, part: list[Step]) -> bool:
        if part[-1].operation != "S" or not self._differ_in_case(part[-1]):
            return False
        whole = _joined(part)
        marks = self.source.categories[whole.start], self.target.categories[whole.new_start]
        return "PUNCT" in marks or self.target.texts[whole.new_start][:1].isupper()

    def _differ_in_case(self, step: Step) -> bool:
        return self.source.lower[step.start] == self.target.lower[step.new_start]

    def _is_spacing(self, part: list[Step]) -> bool:
        whole = _joined(part)
        old, new = self.source.lower[whole.start : whole.end], self.target.lower[whole.new_start : whole.new_end]
        return "".join(old).translate(IGNORED) == "".join(new).translate(IGNORED)

    def _is_one_phrase(self, part: list[Step]) -> bool:
        kinds = self._categories(part)
        return (len(kinds) == 1 or kinds in TOGETHER) and len({step.operation for step in part}) > 1

    def _cut(self, part: list[Step], start: int, *, is_last: bool) -> int:
        """Where two neighbours come apart, as an index into the run; 0 if they do not."""
        first, second = part
        if first.operation == second.operation == "S":
            return start + 1
        if any(step.operation == "S" and self._look_alike(step) for step in part):
            return start + 1
        if is_last and self._ends_with_determiner(second):
            return start + 1
        return 0

    def _look_alike(self, step: Step) -> bool:
        return character_ratio(self.source.texts[step.start], self.target.texts[step.new_start]) > ALIKE

    def _ends_with_determiner(self, step: Step) -> bool:
        old, new = self.source.tags[step.start : step.end], self.target.tags[step.new_start : step.new_end]
        return "DT" in old + new

    def _categories(self, part: list[Step]) -> set[str]:
        whole = _joined(part)
        old = self.source.phrasal[whole.start : whole.end]
        return {*old, *self.target.phrasal[whole.new_start : whole.new_end]}


def _stretches(n: int) -> Iterator[tuple[int, int]]:
    """All stretches of two or more, the widest first, from left to right."""
    for length in range(n, 1, -1):
        for start in range(n - length + 1):
            yield start, start + length


def _joined(part: Sequence[Step]) -> Step:
    first, last = part[0], part[-1]
    operation = part[0].operation if len(part) == 1 else "E"
    return Step(operation, first.start, last.end, first.new_start, last.new_end)
