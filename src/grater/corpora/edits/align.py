"""Aligns the words of a sentence with those of its correction, by linguistically informed costs.

Felice, Bryant and Briscoe 2016, "Automatic extraction of learner errors in ESL sentences using linguistically
enhanced alignments", section 3: Damerau-Levenshtein distance over words. An insertion or a deletion costs 1; words
that differ only in case cost nothing; n reordered words cost n - 1; a substitution costs the sum of

- lemma: 0 if the two share a lemma or a stem, else .499,
- part of speech: 0 if the same, .25 if both are content words, else .5,
- characters: the share that the two words do not have in common, in [0, 1].

A substitution therefore costs less than a deletion plus an insertion, except for words that have nothing in common.

Common beginnings and ends are removed first. The cheapest path through the rest is found by A* search (Hart, Nilsson
and Raphael 1968); a cell's estimate is its own cost plus one deletion or insertion for each word by which the
remaining sides differ in length. Only cells whose estimate is at most the cost of the best path are visited, and the
result equals that of the whole table. Among equally cheap operations, a substitution is taken before a move, a move
before a deletion, a deletion before an insertion.

Runs of eight words that occur once on each side are assumed to match (as in patience diff), and the search runs
between them, so the time is linear in the length of a sentence.

A word's *category* is the part of speech of Universal Dependencies as Bryant, Felice and Briscoe 2017 use it (their
table 2), mapped from our tagger's Penn Treebank tag: adpositions are `PREP`; the infinitive's *to*, the particles of
phrasal verbs and the genitive's *'s* are `PART`; modals are `VERB`. ERRANT asks a parser which verbs are auxiliaries.
Here a modal is one, and a form of *be*, *have* or *do* that another verb follows in its verb chunk (adverbs and *not*
may come between, and the subject of a question).

**Merging** turns operations on words into edits.

Felice, Bryant and Briscoe 2016, section 4: operations between two matches form a run, and rules decide whether a run
is one edit or several. The widest stretch to which a rule applies is taken first; the parts to its left and right are
treated as separate runs:

- joined: a genitive with its noun (*friends* to *friend 's*); punctuation with a change of case after it (*, we* to
  *. We*); words that differ only in spaces, hyphens and apostrophes (*sub way* to *subway*); words of one part of
  speech, some of which are inserted or deleted, and verbs with their *to* or particle (*to eat* to *eating*);
- separated, of two neighbours: two adjacent substitutions; a substitution of words that look alike (more than three
  quarters of their characters) next to anything; a determiner at the end of the run.

If no rule applies, a run with a content word is one edit, and otherwise each operation is an edit. Reordered words
are a separate edit, and so are runs of only deletions or only insertions.

Not all stretches are tried: for each joining rule, possible beginnings and ends are computed once for the whole run,
and rules of two neighbours are tried only when no wider stretch is left. Apart from the number of wide stretches, the
time is linear in the length of a run.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from heapq import heappop, heappush
from itertools import accumulate, pairwise
from math import inf
from typing import NamedTuple, TypeAlias

from grater.corpora.text.lemmas import lemma, lemmas_of, stem

CATEGORIES = {
    **dict.fromkeys(("JJ", "JJR", "JJS", "AFX"), "ADJ"),
    **dict.fromkeys(("RB", "RBR", "RBS", "WRB", "EX"), "ADV"),
    **dict.fromkeys(("NN", "NNS", "NNP", "NNPS", "GW", "ADD"), "NOUN"),
    **dict.fromkeys(("VB", "VBD", "VBG", "VBN", "VBP", "VBZ", "MD"), "VERB"),
    **dict.fromkeys(("DT", "PDT", "PRP$", "WDT", "WP$"), "DET"),
    **dict.fromkeys(("PRP", "WP"), "PRON"),
    **dict.fromkeys(("TO", "RP", "POS"), "PART"),
    **dict.fromkeys((".", ",", ":", "``", "''", "-LRB-", "-RRB-", "HYPH", "NFP", "LS"), "PUNCT"),
    **dict.fromkeys(("$", "SYM"), "SYM"),
    "IN": "PREP",
    "CC": "CONJ",
    "CD": "NUM",
    "UH": "INTJ",
}
PHRASAL = {**dict.fromkeys(("PDT", "WDT", "WP$"), "ADJ"), "WP": "NOUN"}
CONTENT = frozenset({"ADJ", "ADV", "NOUN", "VERB"})
HELPERS = frozenset({"be", "have", "do"})
BETWEEN = frozenset({"RB", "RBR", "RBS", "PRP", "DT"})
MARKS = frozenset("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~–—‘’“”…·•«»") | {"''", "``", "...", "--", "---"}


@dataclass(frozen=True)
class Words:
    """One side of a pair: its words with their tags."""

    texts: tuple[str, ...]
    tags: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.texts)

    @cached_property
    def lower(self) -> tuple[str, ...]:
        return tuple(text.lower() for text in self.texts)

    def lemmas(self, start: int, end: int) -> tuple[str, ...]:
        return tuple(map(lemma, self.texts[start:end], self.tags[start:end]))

    def categories(self, start: int, end: int) -> tuple[str, ...]:
        return tuple(map(category, self.texts[start:end], self.tags[start:end]))

    def phrasal(self, start: int, end: int) -> tuple[str, ...]:
        """Categories for merging: *which* and *whose* count as adjectives, *who* and *what* as nouns."""
        return tuple(map(phrasal, self.texts[start:end], self.tags[start:end]))

    def is_auxiliary(self, index: int) -> bool:
        """Whether a verb helps another one that follows."""
        if self.tags[index] == "MD":
            return True
        helper = lemma(self.texts[index], self.tags[index])
        if helper not in HELPERS or category(self.texts[index], self.tags[index]) != "VERB":
            return False
        wanted = FOLLOWS[helper]
        for after in range(index + 1, min(index + 5, len(self.tags))):
            tag = self.tags[after]
            if tag in wanted:
                return True
            if tag not in BETWEEN and category(self.texts[after], tag) not in ("ADV", "PRON"):
                return False
        return False


FOLLOWS = {"be": frozenset({"VBG", "VBN", "VBD"}), "have": frozenset({"VBN", "VBD"}), "do": frozenset({"VB", "VBP"})}


def category(text: str, tag: str) -> str:
    if text in MARKS:
        return "CONJ" if text == "&" else "PUNCT"
    return CATEGORIES.get(tag, "X")


def phrasal(text: str, tag: str) -> str:
    return PHRASAL.get(tag) or category(text, tag)


LEMMA_COST = 0.499
CONTENT_COST = 0.25
TAG_COST = 0.5
REPEATED = 4
LONGEST_MOVE = 12
"""Words of a run in another order; a longer one is rewriting, and looking for it would cost the square."""

ANCHOR = 8
"""Words of a run that is taken to match if it occurs only once on each side.  No move has one in it: moving so
many words costs more than deleting and inserting the others."""

LONGEST_PART = 128
"""Words between anchors that are searched at once; more of them are rewriting, and are cut into equal parts."""

LETTERS = "MSTDI"
MATCHED, SUBSTITUTED, MOVED, DELETED, INSERTED = range(len(LETTERS))
"""Among equally cheap operations, the smallest is taken."""

ROUNDING = 1e-9
"""By how much sums of the same costs may differ."""

Operation: TypeAlias = tuple[int, int]
"""A kind and the number of words."""

MATCH, SUBSTITUTION, DELETION, INSERTION = (MATCHED, 1), (SUBSTITUTED, 1), (DELETED, 1), (INSERTED, 1)


class Step(NamedTuple):
    """One operation: `M` match, `S` substitution, `D` deletion, `I` insertion, `T` reordered words."""

    operation: str
    start: int
    end: int
    new_start: int
    new_end: int


def align(source: Words, target: Words) -> list[Step]:
    """The cheapest operations, in order."""
    start, end, new_end = _differing(source.lower, target.lower)
    steps = [_same(source, target, i, i) for i in range(start)]
    if end - start == new_end - start == 1:
        steps.append(Step("S", start, end, start, new_end))
    elif end > start and new_end > start:
        steps += _middle(source, target, start, end, new_end)
    else:
        steps += [Step("D", i, i + 1, start, start) for i in range(start, end)]
        steps += [Step("I", start, start, j, j + 1) for j in range(start, new_end)]
    shift = new_end - end
    return steps + [_same(source, target, i, i + shift) for i in range(end, len(source))]


def _same(source: Words, target: Words, i: int, j: int) -> Step:
    """A match, or a substitution if the case differs."""
    return Step("M" if source.texts[i] == target.texts[j] else "S", i, i + 1, j, j + 1)


def _differing(old: Sequence[str], new: Sequence[str]) -> tuple[int, int, int]:
    """The start and the ends of the table; a word repeated right after the common beginning is included."""
    start, end, new_end = _unlike(old, new)
    while start and (old[start - 1] in old[start:end][:REPEATED] or old[start - 1] in new[start:new_end][:REPEATED]):
        start -= 1
    return start, end, new_end


def _unlike(old: Sequence[str], new: Sequence[str]) -> tuple[int, int, int]:
    """The start of the difference, and where the common end begins on each side.

    The common end is removed first: of a word written twice, the first is redundant.
    """
    end, new_end = len(old), len(new)
    while end and new_end and old[end - 1] == new[new_end - 1]:
        end, new_end = end - 1, new_end - 1
    start, shorter = 0, min(end, new_end)
    while start < shorter and old[start] == new[start]:
        start += 1
    return start, end, new_end


def _middle(source: Words, target: Words, start: int, end: int, new_end: int) -> list[Step]:
    """The steps of a part that differs, searched between the anchors."""
    steps: list[Step] = []
    cost = 0.0
    anchors = _anchors(source.lower[start:end], target.lower[start:new_end])
    stops = [(start, start), *((start + at, start + new_at) for at, new_at in anchors), (end, new_end)]
    for first, last in pairwise(_close(stops)):
        search = _Search(source, target, first, last, cost)
        steps += search.steps()
        cost = search.cost
    return steps


def _close(stops: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """The stops, with additional ones where they are more than `LONGEST_PART` apart."""
    yield stops[0]
    for (i, j), (end, new_end) in pairwise(stops):
        n_parts = -(-max(end - i, new_end - j) // LONGEST_PART)
        for part in range(1, n_parts + 1):
            yield i + (end - i) * part // n_parts, j + (new_end - j) * part // n_parts


def _anchors(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]]:
    """Assumed points of the path: the middles of runs that occur once on each side, in the same order.

    Of adjacent ones, only the first and the last.
    """
    if min(len(old), len(new)) < ANCHOR:
        return []
    runs, new_runs = _once(old), _once(new)
    pairs = [(at, new_runs[run]) for run, at in runs.items() if run in new_runs]
    highest = [-1, *accumulate((new_at for _, new_at in pairs), max)]
    lowest = [*accumulate((new_at for _, new_at in reversed(pairs)), min)][::-1]
    kept = [
        (at + ANCHOR // 2, new_at + ANCHOR // 2)
        for (at, new_at), before, after in zip(pairs, highest, lowest, strict=False)
        if before < new_at <= after
    ]
    around = zip([None, *kept], kept, [*kept[1:], None], strict=False)
    return [(i, j) for before, (i, j), after in around if before != (i - 1, j - 1) or after != (i + 1, j + 1)]


def _once(words: Sequence[str]) -> dict[tuple[str, ...], int]:
    """Runs of words that occur only once, and their positions."""
    places: dict[tuple[str, ...], int] = {}
    for at, run in enumerate(zip(*(words[away:] for away in range(ANCHOR)), strict=False)):
        places[run] = -1 if run in places else at
    return {run: at for run, at in places.items() if at >= 0}


class _Search:
    """The cheapest path through the table of prefixes of the two sides.

    Cell `i * width + j` stands for the first i words of one and the first j of the other. A cell whose last words are
    equal is reached only by their match.
    """

    def __init__(
        self, source: Words, target: Words, start: tuple[int, int], end: tuple[int, int], cost: float
    ) -> None:
        self.source, self.target, self.end = source, target, end
        old, new = slice(start[0], end[0]), slice(start[1], end[1])
        self.old, self.new = source.lower[old], target.lower[new]
        self.tags, self.new_tags = source.tags[old], target.tags[new]
        self.old_sums, self.new_sums = _sums(self.old), _sums(self.new)
        self.n, self.m, self.width = len(self.old), len(self.new), len(self.new) + 1
        self.goal = self.n * self.width + self.m
        self.costs = {0: cost}
        self.last: dict[int, Operation] = {}
        self.queue: list[tuple[float, int]] = []
        self._follow(0)
        while self.queue and self.queue[0][0] <= self.cost + ROUNDING:
            self._follow(-heappop(self.queue)[1])

    @property
    def cost(self) -> float:
        """The cost of the best path found so far."""
        return self.costs.get(self.goal, inf)

    def steps(self) -> list[Step]:
        (i, j), cell, steps = self.end, self.goal, list[Step]()
        while cell:
            kind, length = self.last[cell]
            before, new_before = i - length * (kind != INSERTED), j - length * (kind != DELETED)
            is_match = kind == MATCHED
            step = Step(LETTERS[kind], before, i, new_before, j)
            steps.append(_same(self.source, self.target, before, new_before) if is_match else step)
            cell -= (i - before) * self.width + j - new_before
            i, j = before, new_before
        return steps[::-1]

    def _follow(self, cell: int) -> None:
        """Continue from a cell along all matching words."""
        old, new, n, m, width = self.old, self.new, self.n, self.m, self.width
        i, j = divmod(cell, width)
        cost, ahead = self.costs[cell], n - i - m + j
        while True:
            if i < n and not (j and old[i] == new[j - 1]):
                self._reach(cell + width, cost + 1, DELETION, abs(ahead - 1))
            if j < m and not (i and old[i - 1] == new[j]):
                self._reach(cell + 1, cost + 1, INSERTION, abs(ahead + 1))
            if i == n or j == m:
                return
            if old[i] != new[j]:
                replaced = cost + _substitution(old[i], self.tags[i], new[j], self.new_tags[j])
                self._reach(cell + width + 1, replaced, SUBSTITUTION, abs(ahead))
                if length := self._moved(i, j):
                    self._reach(cell + length * (width + 1), cost + length - 1, (MOVED, length), abs(ahead))
                return
            i, j, cell = i + 1, j + 1, cell + width + 1
            if self.costs.get(cell, inf) <= cost:
                return
            self.costs[cell], self.last[cell] = cost, MATCH

    def _reach(self, cell: int, cost: float, operation: Operation, ahead: int) -> None:
        known = self.costs.get(cell, inf)
        if cost < known:
            self.costs[cell], self.last[cell] = cost, operation
            heappush(self.queue, (cost + ahead, -cell))
        elif cost == known:
            self.last[cell] = min(operation, self.last[cell])

    def _moved(self, i: int, j: int) -> int:
        """The length of the shortest run starting here that has the same words in another order; 0 if none."""
        old, new = self.old[i : i + LONGEST_MOVE], self.new[j : j + LONGEST_MOVE]
        if old[0] not in new or new[0] not in old:
            return 0
        here = self.old_sums[i] - self.new_sums[j]
        for length in range(2, min(len(old), len(new)) + 1):
            if self.old_sums[i + length] - self.new_sums[j + length] == here:
                return length if sorted(old[:length]) == sorted(new[:length]) else 0
        return 0


def _sums(words: Sequence[str]) -> list[int]:
    """Prefix sums; runs with the same words in any order have equal differences."""
    return [0, *accumulate(map(hash, words))]


@lru_cache(maxsize=65_536)
def _substitution(word: str, tag: str, other: str, other_tag: str) -> float:
    kinds = {category(word, tag), category(other, other_tag)}
    tag_cost = 0.0 if len(kinds) == 1 else CONTENT_COST if kinds <= CONTENT else TAG_COST
    is_related = lemma(word, tag) == lemma(other, other_tag) or are_related(word, other)
    return tag_cost + ((0.0 if is_related else LEMMA_COST) + 1 - character_ratio(word, other))


def are_related(word: str, other: str) -> bool:
    """Whether two words may be forms of, or derived from, the same word."""
    if lemmas_of(word) & lemmas_of(other):
        return True
    return min(len(word), len(other)) > 3 and stem(word) == stem(other)


@lru_cache(maxsize=65_536)
def character_ratio(word: str, other: str) -> float:
    """The share of both words' characters in a longest common subsequence.

    Its length is computed on whole table rows as bits of an integer (Hyyrö 2004, "Bit-parallel LCS-length computation
    revisited").
    """
    if not word or not other:
        return float(word == other)
    places: dict[str, int] = {}
    for at, character in enumerate(word):
        places[character] = places.get(character, 0) | 1 << at
    everywhere = (1 << len(word)) - 1
    row = everywhere
    for character in other:
        met = row & places.get(character, 0)
        row = (row + met) | (row - met)
    return 2 * (~row & everywhere).bit_count() / (len(word) + len(other))


ALIKE = 0.75
TOGETHER = frozenset({"PART", "VERB"})
IGNORED = str.maketrans("", "", "-'’")


def merge(steps: Sequence[Step], source: Words, target: Words) -> list[Step]:
    """The edits of an alignment, as steps that each span all their words."""
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
    """The rules for one run of operations, which stretches [start, end) index."""

    def __init__(self, steps: Sequence[Step], source: Words, target: Words) -> None:
        self.steps, self.source, self.target = steps, source, target
        self.n = len(steps)
        self.other = _next_other([step.operation for step in steps])

    def edits(self, start: int, end: int) -> list[Step]:
        """The edits of a stretch; the widest part that a rule joins is taken first."""
        if self._is_one_operation(start, end):
            return [self._joined(start, end)]
        widest = max((wide for wide in self._wide(start, end) if wide[0] > 2), default=None)
        if widest is None:
            return self._of_pairs(start, end)
        first, last = widest[-2:]
        return [*self.edits(start, first), self._joined(first, last), *self.edits(last, end)]

    def _wide(self, start: int, end: int) -> Iterator[tuple[int, int, bool, int, int]]:
        """For each rule, its widest stretch: length, position (greater to the left), and what it joins."""
        last = max((at for at in self.genitives if at < end), default=start)
        yield last + 1 - start, -start, True, last - 1, last + 1
        for first, last in self._joining(start, end):
            yield last - first, -first, False, first, last

    def _joining(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        """Stretches ending with a change of case, of words that differ in spaces, and of one phrase."""
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
        is_one = self._is_one_operation(start, end) or any(kinds & CONTENT for kinds in self.kinds[start:end])
        return edits + ([self._joined(start, end)] if is_one and start < end else list(self.steps[start:end]))

    def _joined(self, start: int, end: int) -> Step:
        first, last = self.steps[start], self.steps[end - 1]
        return first if end - start == 1 else Step("E", first.start, last.end, first.new_start, last.new_end)

    def _is_one_operation(self, start: int, end: int) -> bool:
        """Whether all is deleted, or all inserted."""
        return start < end <= self.other[start] and self.steps[start].operation != "S"

    @cached_property
    def kinds(self) -> list[set[str]]:
        phrasal, new_phrasal = self.source.phrasal, self.target.phrasal
        return [{*phrasal(step.start, step.end), *new_phrasal(step.new_start, step.new_end)} for step in self.steps]

    @cached_property
    def genitives(self) -> list[int]:
        """Operations after the first that involve a genitive."""
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
        """Whether an operation may start a stretch that ends with a change of case: punctuation, or a capital."""
        start, new_start = self.steps[at].start, self.steps[at].new_start
        marks = self.source.categories(start, start + 1) + self.target.categories(new_start, new_start + 1)
        return "PUNCT" in marks or self.target.texts[new_start][:1].isupper()

    @cached_property
    def spacings(self) -> list[tuple[int, int]]:
        """Stretches that have the same letters on both sides."""
        old = ["".join(self.source.lower[step.start : step.end]).translate(IGNORED) for step in self.steps]
        new = ["".join(self.target.lower[step.new_start : step.new_end]).translate(IGNORED) for step in self.steps]
        return [pair for start in range(self.n - 1) for pair in _alike(old, new, start)]

    @cached_property
    def phrases(self) -> list[int]:
        """Where the stretch of one category, or of verbs and particles, that starts at each operation ends."""
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
        """Whether an operation is separated from the next."""
        first, second = pair = self.steps[at : at + 2]
        if first.operation == second.operation == "S":
            return True
        for start, new_start in [(step.start, step.new_start) for step in pair if step.operation == "S"]:
            if character_ratio(self.source.texts[start], self.target.texts[new_start]) > ALIKE:
                return True
        return is_last and "DT" in self._tags(at + 1)


def _next_other(operations: Sequence[str]) -> list[int]:
    """For each operation, the place of the next one of another kind."""
    places = [len(operations)] * len(operations)
    for at in range(len(operations) - 2, -1, -1):
        places[at] = places[at + 1] if operations[at] == operations[at + 1] else at + 1
    return places


def _alike(old: Sequence[str], new: Sequence[str], start: int) -> Iterator[tuple[int, int]]:
    """Stretches of at least two operations from `start` with the same letters on both sides."""
    letters = new_letters = ""
    for at in range(start, len(old)):
        letters, new_letters = letters + old[at], new_letters + new[at]
        if not (letters.startswith(new_letters) or new_letters.startswith(letters)):
            return
        if at > start and letters == new_letters:
            yield start, at + 1
