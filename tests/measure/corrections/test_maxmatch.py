"""MaxMatch on sentences worked by hand, and next to the official scorer, step by step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grater.corpora.m2 import FORMAT, read_m2
from grater.errors import UsageError
from grater.measure.corrections.maxmatch import (
    GoldEdit,
    corrected_words,
    gold_of,
    maxmatch_counts,
    read_gold,
)
from grater.model import Essay
from tests.corpora.sources import TextSource
from tests.examples import examples


def edit(start: int, end: int, *replacements: str) -> GoldEdit:
    return GoldEdit(start, end, tuple(tuple(text.split()) for text in replacements))


def counts(source: str, hypothesis: str, *edits: GoldEdit, max_unchanged: int = 2) -> tuple[int, int, int]:
    gold = {"0": edits}
    return maxmatch_counts(source.split(), hypothesis.split(), gold, max_unchanged=max_unchanged)["0"]


def essays(*lines: str) -> list[Essay]:
    return list(read_m2([f"{line}\n" for line in lines], name="own.m2"))


def test_edits_match_by_their_place_and_words_as_the_annotator_wrote_them() -> None:
    assert counts("he sleep", "he sleep", edit(1, 2, "sleeps")) == (0, 0, 1)
    assert counts("he sleep late", "he slept late", edit(1, 2, "sleeps", "slept")) == (1, 1, 1)
    # Neighbouring changes are read as the annotator wrote them.
    source, hypothesis = "they discuss about it", "they talked of it"
    assert counts(source, hypothesis, edit(1, 3, "talked of")) == (1, 1, 1)
    assert counts(source, hypothesis, edit(1, 2, "talked"), edit(2, 3, "of")) == (2, 2, 2)
    # Changes with two words between are one edit and with three are two.
    assert counts("a b c d", "x b c y") == (0, 1, 0)
    assert counts("a b c d e", "x b c d y") == (0, 2, 0)
    # Empty sentence and empty correction are counted.
    assert counts("", "so it goes") == (0, 1, 0)
    assert counts("so it goes", "", edit(0, 3, "")) == (1, 1, 1)


def test_quirks_of_the_official_scorer_are_kept() -> None:
    # One edit counts for each of two gold edits that are the same.
    # The official scorer's quirk: its loop over gold edits goes on after a match.
    assert counts("he sleep late", "he sleeps late", edit(1, 2, "sleeps"), edit(1, 2, "sleeps")) == (2, 1, 2)
    # Gold edits out of order may be missed.
    # Also the official scorer's: a gold edit listed before the last one that matched is not looked at again.
    gold = (edit(6, 7, "days"), edit(1, 2, "likes"))
    assert counts("she like walk in rain every day", "she likes walk in rain every days", *gold) == (1, 2, 2)
    # One gold insertion rewards one of two words put in.
    assert counts("it is good", "it is very very good", edit(2, 2, "very")) == (1, 2, 1)


def test_gold_edits_come_back_in_token_numbers() -> None:
    (essay,) = essays(
        "S she like walk in rain .",
        "A 1 3|||V|||likes to walk||likes walking|||REQUIRED|||-NONE-|||1",
        "A 4 4|||D|||the|||REQUIRED|||-NONE-|||1",
        "A 6 6|||P|||!|||REQUIRED|||-NONE-|||1",
        "A 5 6|||P|||-NONE-|||REQUIRED|||-NONE-|||0",
        "A -1 -1|||noop|||-NONE-|||REQUIRED|||-NONE-|||10",
    )
    assert gold_of(essay).edits == {
        "0": (edit(5, 6, ""),),
        "1": (edit(1, 3, "likes to walk", "likes walking"), edit(4, 4, "the"), edit(6, 6, "!")),
        "10": (),
    }
    assert list(gold_of(essay).edits) == ["0", "1", "10"]
    # A correction with doubled spaces matches nothing.
    (essay,) = essays("S she like it", "A 1 2|||V|||does  like|||REQUIRED|||-NONE-|||0")
    assert counts("she like it", "she does like it", *gold_of(essay).edits["0"]) == (0, 1, 1)


def test_hypothesis_in_m2_is_corrected_by_its_first_alternatives() -> None:
    (essay,) = essays(
        "S she like walk in rain",
        "A 1 3|||V|||likes to walk||walks|||REQUIRED|||-NONE-|||0",
        "A 4 4|||D|||the|||REQUIRED|||-NONE-|||0",
        "A 3 4|||UNK|||in|||REQUIRED|||-NONE-|||0",
    )
    assert " ".join(corrected_words(gold_of(essay))) == "she likes to walk in the rain"


def test_hypotheses_that_are_not_one_text_are_refused() -> None:
    for first, second, message in (
        ("0 2|||V|||they like", "1 2|||V|||likes|||REQUIRED|||-NONE-|||0", r"do not overlap.*line 1.*token 1"),
        ("1 2|||V|||likes", "2 3|||N|||them|||REQUIRED|||-NONE-|||1", "one annotator"),
    ):
        (essay,) = essays("S she like it", f"A {first}|||REQUIRED|||-NONE-|||0", f"A {second}")
        with pytest.raises(UsageError, match=message):
            corrected_words(gold_of(essay))


def test_a_file_and_the_essays_of_it_are_the_same_gold() -> None:
    lines = (
        "S she like walk in rain",
        "A 1 2|||V|||likes|||REQUIRED|||-NONE-|||0",
        "A 1 3|||V|||walks|||REQUIRED|||-NONE-|||1",
        "",
        "S all is well",
        "",
        "S she like  it !",
        "A 1 2|||UNK|||like|||REQUIRED|||-NONE-|||1",
        "A 2 2|||R|||does  so||-NONE-|||REQUIRED|||-NONE-|||0",
        "A -1 -1|||noop|||-NONE-|||REQUIRED|||-NONE-|||10",
    )
    text = "\n".join(lines) + "\n"
    golds = read_gold(TextSource(text, "ref.m2"))
    made = [gold_of(essay) for essay in FORMAT.read(TextSource(text, "ref.m2"))]
    assert [(each.words, each.edits) for each in golds] == [(each.words, each.edits) for each in made]
    assert [list(each.edits) for each in golds] == [["0", "1"], ["0"], ["0", "1", "10"]]


@st.composite
def cases(draw: st.DrawFn) -> tuple[list[str], list[str], list[GoldEdit], int]:
    """Few different words, so that much repeats and ties abound; gold edits made of the hypothesis's words."""
    words = st.sampled_from("abcde"[: draw(st.integers(1, 5))])
    source = draw(st.lists(words, max_size=9))
    hypothesis = draw(st.lists(words, max_size=9))
    if draw(st.booleans()):  # mostly alike
        keep = draw(st.lists(st.integers(0, 9), min_size=len(source), max_size=len(source)))
        hypothesis = [word for word, number in zip(source, keep, strict=True) for word in [word] * (number != 0)]
    edits = draw(st.lists(gold(source, hypothesis), max_size=4))
    if draw(st.integers(0, 4)):
        edits.sort(key=lambda edit: (edit.start, edit.end))
    return source, hypothesis, edits, draw(st.sampled_from([2, 2, 2, 0, 1, 3]))


@st.composite
def gold(draw: st.DrawFn, source: Sequence[str], hypothesis: Sequence[str]) -> GoldEdit:
    start = draw(st.integers(0, len(source)))
    end = min(len(source), start + draw(st.sampled_from([0, 0, 1, 1, 2, 3])))
    begins = draw(st.lists(st.integers(0, len(hypothesis)), min_size=1, max_size=2))
    return GoldEdit(start, end, tuple(tuple(hypothesis[at : at + draw(st.integers(0, 3))]) for at in begins))


@examples(300)
@given(cases())
def test_counts_are_those_of_the_slow_scorer(case: tuple[list[str], list[str], list[GoldEdit], int]) -> None:
    source, hypothesis, edits, max_unchanged = case
    fast = maxmatch_counts(source, hypothesis, {"0": edits, "1": []}, max_unchanged=max_unchanged)
    assert fast == slow_counts(source, hypothesis, {"0": edits, "1": []}, max_unchanged=max_unchanged)


# What the official scorer's functions gave under Python 2.7.18: ties, then gold edits that change nothing.  In the
# third, an arc over two unchanged words is met by such an edit, and is there only because the removal jumped over it;
# in the fourth the order of steps decides.
@pytest.mark.parametrize(
    ("source", "hypothesis", "edits", "expected"),
    [
        ("a a b", "b b b b b a", [], (0, 2, 0)),
        ("a f a", "b g h b b a c", [], (0, 1, 0)),
        ("b b b a", "a b b b", [edit(1, 3, "b b")], (0, 2, 1)),
        ("a b b", "b a", [edit(2, 2, "a"), edit(2, 3, "b")], (1, 3, 2)),
    ],
)
def test_ties_and_empty_gold_edits_go_the_way_of_the_official_scorer(
    source: str, hypothesis: str, edits: list[GoldEdit], expected: tuple[int, int, int]
) -> None:
    assert counts(source, hypothesis, *edits) == expected


# The official scorer, slow and obvious, written only to hold the fast one to account
#
# It does what the scorer of Dahlmeier and Ng does (nusnlp/m2scorer, commit d12eea2), in the same order and with the
# same floating-point sums, quirks included: an alignment step found by both Levenshtein tables stands twice in the
# list of arcs; an arc that is found again by a shorter way stands there once more; every standing costs an epsilon of
# its own; every second of neighbouring unchanged arcs outlives their removal; one edit may be counted for two gold
# edits that are the same.


Vertex = tuple[int, int]
Arc = tuple[Vertex, Vertex]
EPSILON = 0.001


@dataclass(frozen=True)
class Way:
    """How an arc came about: its steps, and how many of them leave the word as it is."""

    n_steps: int
    n_unchanged: int

    @property
    def is_unchanged(self) -> bool:
        return self.n_steps == self.n_unchanged


def slow_counts(
    source: Sequence[str],
    hypothesis: Sequence[str],
    gold: Mapping[str, Sequence[GoldEdit]],
    *,
    max_unchanged: int = 2,
) -> dict[str, tuple[int, int, int]]:
    # All steps of all best alignments, for substitutions that cost 1 and then for those that cost 2.
    arcs = sorted(best_steps(source, hypothesis, 1) + best_steps(source, hypothesis, 2))
    ways = {arc: Way(1, int(is_same(arc, source, hypothesis))) for arc in arcs}
    add_longer_arcs(arcs, ways, max_unchanged)
    remove_unchanged_arcs(arcs, ways)
    counts = {}
    for annotator, edits in gold.items():
        weights = weigh(arcs, ways, edits, hypothesis)
        path = shortest_path(arcs, weights, (len(source), len(hypothesis)))
        proposed = [arc for arc in path if not ways[arc].is_unchanged]
        counts[annotator] = (n_correct(proposed, edits, hypothesis), len(proposed), len(edits))
    return counts


def is_same(arc: Arc, source: Sequence[str], hypothesis: Sequence[str]) -> bool:
    (i, j), (k, m) = arc
    return k == i + 1 and m == j + 1 and source[i] == hypothesis[j]


def best_steps(source: Sequence[str], hypothesis: Sequence[str], substitution: int) -> list[Arc]:
    distance: dict[Vertex, int] = {(0, 0): 0}
    steps_to: dict[Vertex, list[Arc]] = {(0, 0): []}
    for i in range(len(source) + 1):
        for j in range(len(hypothesis) + 1):
            options: dict[Vertex, int] = {}
            if i and j:
                same = source[i - 1] == hypothesis[j - 1]
                options[i - 1, j - 1] = distance[i - 1, j - 1] + (0 if same else substitution)
            if i:
                options[i - 1, j] = distance[i - 1, j] + 1
            if j:
                options[i, j - 1] = distance[i, j - 1] + 1
            if options:
                distance[i, j] = min(options.values())
                steps_to[i, j] = [(before, (i, j)) for before, cost in options.items() if cost == distance[i, j]]
    found: set[Arc] = set()
    waiting = [(len(source), len(hypothesis))]
    while waiting:
        new = set(steps_to[waiting.pop()]) - found
        found |= new
        waiting += [before for before, _ in new]
    return list(found)


def add_longer_arcs(arcs: list[Arc], ways: dict[Arc, Way], max_unchanged: int) -> None:
    """Over every vertex in order, join what comes in with what goes out, if that is shorter than what there was."""
    vertices = sorted({vertex for arc in arcs for vertex in arc})
    for middle in vertices:
        incoming = [first for first in vertices if (first, middle) in ways]
        outgoing = [last for last in vertices if (middle, last) in ways]
        for first in incoming:
            for last in outgoing:
                one, two = ways[first, middle], ways[middle, last]
                joined = Way(one.n_steps + two.n_steps, one.n_unchanged + two.n_unchanged)
                before = ways.get((first, last))
                if (before is None or joined.n_steps < before.n_steps) and joined.n_unchanged <= max_unchanged:
                    arcs.append((first, last))
                    ways[first, last] = joined


def remove_unchanged_arcs(arcs: list[Arc], ways: dict[Arc, Way]) -> None:
    """The official loop removes from the list that it walks along, and so jumps over the arc after a removed one."""
    at = 0
    while at < len(arcs):
        way = ways[arcs[at]]
        if way.is_unchanged and way.n_steps > 1:
            del ways[arcs.pop(at)]
        at += 1


def span_of(arc: Arc) -> tuple[int, int]:
    return arc[0][0], arc[1][0]


def matches(arc: Arc, edit: GoldEdit, hypothesis: Sequence[str]) -> bool:
    return span_of(arc) == (edit.start, edit.end) and tuple(hypothesis[arc[0][1] : arc[1][1]]) in edit.replacements


def weigh(
    arcs: list[Arc], ways: Mapping[Arc, Way], edits: Sequence[GoldEdit], hypothesis: Sequence[str]
) -> dict[Arc, float]:
    weights: dict[Arc, float] = {arc: way.n_steps for arc, way in ways.items()}
    for span in sorted({span_of(arc) for arc in arcs}):
        there = sorted(arc for arc in arcs if span_of(arc) == span)
        wanted = [edit for edit in edits if (edit.start, edit.end) == span]
        if span[0] == span[1]:
            weigh_insertions(there, wanted, hypothesis, weights, -len(arcs))
            continue
        for arc in there:
            if any(matches(arc, edit, hypothesis) for edit in wanted):
                weights[arc] = -len(arcs)
            elif not ways[arc].is_unchanged:
                weights[arc] += EPSILON
    return weights


def weigh_insertions(
    there: list[Arc], wanted: list[GoldEdit], hypothesis: Sequence[str], weights: dict[Arc, float], reward: int
) -> None:
    """Insertions at one point are tried from left and right in turn, and use gold edits up as they match."""
    left, right, current = 0, len(there) - 1, 0
    low, high = 0, len(wanted) - 1
    while left <= right:
        from_left = current == left
        arc = there[current]
        places = range(low, high + 1) if from_left else range(high, low - 1, -1)
        place = next((place for place in places if matches(arc, wanted[place], hypothesis)), None)
        if place is None:
            weights[arc] += EPSILON
            left, right = (left + 1, right) if from_left else (left, right - 1)
            current = right if from_left else left
        elif from_left:
            weights[arc] = reward
            low = place + 1
            left += 1
            while left < len(there) and there[left][0] != arc[1]:
                weights[there[left]] += EPSILON
                left += 1
            current = left
        else:
            weights[arc] = reward
            high = place - 1
            right -= 1
            while right >= 0 and there[right][1] != arc[0]:
                weights[there[right]] += EPSILON
                right -= 1
            current = right


def shortest_path(arcs: list[Arc], weights: Mapping[Arc, float], end: Vertex) -> list[Arc]:
    """Bellman and Ford: the first of equal ways stays."""
    vertices = {(0, 0), end} | {vertex for arc in arcs for vertex in arc}
    distance = dict.fromkeys(vertices, float("inf"))
    distance[0, 0] = 0
    came_from: dict[Vertex, Vertex] = {}
    for _ in range(len(vertices) - 1):
        changed = False
        for first, last in arcs:
            if distance[first] + weights[first, last] < distance[last]:
                distance[last] = distance[first] + weights[first, last]
                came_from[last] = first
                changed = True
        if not changed:  # nor would any later round
            break
    path = [end]
    while path[-1] in came_from:
        path.append(came_from[path[-1]])
    return list(pairwise(reversed(path)))


def n_correct(proposed: Sequence[Arc], edits: Sequence[GoldEdit], hypothesis: Sequence[str]) -> int:
    n, next_place = 0, 0
    for arc in proposed:
        for place in range(next_place, len(edits)):
            if matches(arc, edits[place], hypothesis):
                n += 1
                next_place = place + 1
    return n
