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

The widest stretch is not looked for among all: for each rule that joins, what may begin or end one is worked out once
for the whole run, and rules of two neighbours are tried only where no wider stretch is left.  The time is linear in
the length of a run but for the number of wide stretches in it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

from grater.corpora.edits.align import CONTENT, Step, Words, character_ratio

ALIKE = 0.75
TOGETHER = frozenset({"PART", "VERB"})
IGNORED = str.maketrans("", "", "-'’")


def merge(steps: Sequence[Step], source: Words, target: Words) -> list[Step]:
    """The edits of an alignment: steps that each span all of their words."""
    edits: list[Step] = []
    run: list[Step] = []
    for step in steps:
        if step.operation in "SDI":
            run.append(step)
            continue
        edits += _merged(run, source, target)
        run = []
        if step.operation == "T":
            edits.append(step)
    return edits + _merged(run, source, target)


def _merged(run: list[Step], source: Words, target: Words) -> list[Step]:
    return run if len(run) < 2 else _Run(run, source, target).edits(0, len(run))


class _Run:
    """The rules, over one run of operations; a stretch [start, end) counts these."""

    def __init__(self, steps: Sequence[Step], source: Words, target: Words) -> None:
        self.steps, self.source, self.target = steps, source, target
        self.n = len(steps)
        self.other = _next_other([step.operation for step in steps])

    def edits(self, start: int, end: int) -> list[Step]:
        """The edits of a stretch: the widest that a rule joins is taken out first."""
        if self._is_one_operation(start, end):
            return [self._joined(start, end)]
        widest = max((wide for wide in self._wide(start, end) if wide[0] > 2), default=None)
        if widest is None:
            return self._of_pairs(start, end)
        first, last = widest[-2:]
        return [*self.edits(start, first), self._joined(first, last), *self.edits(last, end)]

    def _wide(self, start: int, end: int) -> Iterator[tuple[int, int, bool, int, int]]:
        """For each rule its widest stretch: length, place (greater to the left), and what is joined in it."""
        last = max((at for at in self.genitives if at < end), default=start)
        yield last + 1 - start, -start, True, last - 1, last + 1
        for first, last in self._joining(start, end):
            yield last - first, -first, False, first, last

    def _joining(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        """Stretches with a change of case at their end, of words that differ in spaces, and of one phrase."""
        if self.case_changes:
            last = max((at for at in self.case_changes if at < end), default=start)
            first = next((at for at in range(start, last) if self._may_begin_with_case(at)), last)
            yield first, last + 1
        yield from (pair for pair in self.spacings if start <= pair[0] and pair[1] <= end)
        for first in range(start, end):
            last = min(self.phrases[first], end)
            if self.other[first] < last:
                yield first, last

    def _of_pairs(self, start: int, end: int) -> list[Step]:
        """The edits of a stretch in which no rule joins more than two."""
        edits: list[Step] = []
        at = start
        while at + 1 < end and not self._is_one_operation(start, end):
            if at in self.joined_pairs:
                edits += [*self._of_pairs(start, at), self._joined(at, at + 2)]
                start = at = at + 2
            elif self._is_cut(at, is_last=at + 2 == end):
                edits += self._of_pairs(start, at + 1)
                start = at = at + 1
            else:
                at += 1
        return edits + self._undecided(start, end)

    def _undecided(self, start: int, end: int) -> list[Step]:
        is_one = self._is_one_operation(start, end) or any(kinds & CONTENT for kinds in self.kinds[start:end])
        return [self._joined(start, end)] if is_one and start < end else list(self.steps[start:end])

    def _joined(self, start: int, end: int) -> Step:
        first, last = self.steps[start], self.steps[end - 1]
        return first if end - start == 1 else Step("E", first.start, last.end, first.new_start, last.new_end)

    def _is_one_operation(self, start: int, end: int) -> bool:
        """Whether all is deleted, or all inserted."""
        return start < end <= self.other[start] and self.steps[start].operation != "S"

    @cached_property
    def kinds(self) -> list[set[str]]:
        """The categories of each operation."""
        phrasal, new_phrasal = self.source.phrasal, self.target.phrasal
        return [{*phrasal(step.start, step.end), *new_phrasal(step.new_start, step.new_end)} for step in self.steps]

    @cached_property
    def genitives(self) -> list[int]:
        """Operations after the first that have a genitive."""
        return [at for at in range(1, self.n) if "POS" in self._tags(at)]

    def _tags(self, at: int) -> tuple[str, ...]:
        step = self.steps[at]
        return self.source.tags[step.start : step.end] + self.target.tags[step.new_start : step.new_end]

    @cached_property
    def case_changes(self) -> list[int]:
        return [
            at
            for at, step in enumerate(self.steps)
            if step.operation == "S" and self.source.lower[step.start] == self.target.lower[step.new_start]
        ]

    def _may_begin_with_case(self, at: int) -> bool:
        """Whether an operation may begin what ends with a change of case: with punctuation, or a capital."""
        start, new_start = self.steps[at].start, self.steps[at].new_start
        marks = self.source.categories(start, start + 1) + self.target.categories(new_start, new_start + 1)
        return "PUNCT" in marks or self.target.texts[new_start][:1].isupper()

    @cached_property
    def spacings(self) -> list[tuple[int, int]]:
        """Stretches that have the same letters on both sides."""
        old = [self._letters(self.source.lower[step.start : step.end]) for step in self.steps]
        new = [self._letters(self.target.lower[step.new_start : step.new_end]) for step in self.steps]
        return [pair for start in range(self.n - 1) for pair in _alike(old, new, start)]

    def _letters(self, words: Sequence[str]) -> str:
        return "".join(words).translate(IGNORED)

    @cached_property
    def phrases(self) -> list[int]:
        """For each operation the end of the stretch of one category, or of verbs and particles, that begins there."""
        ends = [0] * self.n
        of_one = together = self.n
        for at in range(self.n - 1, -1, -1):
            kinds = self.kinds[at]
            following = self.kinds[at + 1] if at + 1 < self.n else set()
            of_one = (of_one if kinds == following else at + 1) if len(kinds) == 1 else at
            together = (together if following and following <= TOGETHER else at + 1) if kinds <= TOGETHER else at
            ends[at] = max(of_one, together)
        return ends

    @cached_property
    def joined_pairs(self) -> set[int]:
        """Operations that a rule joins with the next."""
        spaced = {start for start, end in self.spacings if end == start + 2}
        cased = {at - 1 for at in self.case_changes if at and self._may_begin_with_case(at - 1)}
        phrases = {at for at in range(self.n - 1) if self.other[at] == at + 1 and self.phrases[at] >= at + 2}
        return spaced | cased | phrases | {at - 1 for at in self.genitives}

    def _is_cut(self, at: int, *, is_last: bool) -> bool:
        """Whether an operation and the next come apart."""
        first, second = pair = self.steps[at : at + 2]
        if first.operation == second.operation == "S":
            return True
        if any(step.operation == "S" and self._look_alike(step) for step in pair):
            return True
        return is_last and "DT" in self._tags(at + 1)

    def _look_alike(self, step: Step) -> bool:
        return character_ratio(self.source.texts[step.start], self.target.texts[step.new_start]) > ALIKE


def _next_other(operations: Sequence[str]) -> list[int]:
    """For each operation, where the next one of another kind stands."""
    places = [len(operations)] * len(operations)
    for at in range(len(operations) - 2, -1, -1):
        places[at] = places[at + 1] if operations[at] == operations[at + 1] else at + 1
    return places


def _alike(old: Sequence[str], new: Sequence[str], start: int) -> Iterator[tuple[int, int]]:
    """Stretches of two or more from `start` on that have the same letters on both sides."""
    letters = new_letters = ""
    for at in range(start, len(old)):
        letters, new_letters = letters + old[at], new_letters + new[at]
        if not (letters.startswith(new_letters) or new_letters.startswith(letters)):
            return
        if at > start and letters == new_letters:
            yield start, at + 1
