"""The fast MaxMatch against the slow one, which does what the official scorer does step by step.

The slow one and the fast one were both held to the functions of the official scorer (nusnlp/m2scorer, commit
d12eea2) under Python 2.7.18: equal counts and choices on 6,000 random cases of the kind below, and on every
sentence of the five CoNLL-2014 outputs with both reference files.  Whoever has it can do so again:
`benchmarks/corrections.py` says how.
"""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grater.corpora.source import open_source
from grater.measure.corrections import maxmatch
from grater.measure.corrections.maxmatch import (
    GoldEdit,
    GoldSentence,
    align,
    choose_references,
    count_systems,
    maxmatch_counts,
    read_gold,
    search,
)
from tests.examples import examples
from tests.measure.corrections.slow_maxmatch import best_steps, slow_counts
from tests.real_data import data_path

# F0.5 against the annotators of CoNLL-2014 with the alternatives that teams proposed, as the official scorer's
# functions gave it in our run under Python 2.7.18.
WITH_ALTERNATIVES = {"CAMB": 43.55, "CUUI": 45.57, "AMU": 38.58, "IITB": 6.94, "UFC": 8.60}


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


@examples(150)
@given(cases())
def test_lattice_has_the_steps_of_all_best_alignments(case: tuple[list[str], list[str], list[GoldEdit], int]) -> None:
    source, hypothesis, _, _ = case
    lattice = align(source, hypothesis)
    places = list(zip(lattice.rows, lattice.columns, strict=True))
    found = [
        (places[before], place)
        for place, steps in zip(places, lattice.steps, strict=True)
        for before, _, n_lattices in steps
        for _ in range(n_lattices)
    ]
    assert sorted(found) == sorted(best_steps(source, hypothesis, 1) + best_steps(source, hypothesis, 2))


# What the official scorer's functions gave under Python 2.7.18.
@pytest.mark.parametrize(
    ("source", "hypothesis", "proposed"), [("a a b", "b b b b b a", 2), ("a f a", "b g h b b a c", 1)]
)
def test_tie_goes_the_way_of_the_official_order(source: str, hypothesis: str, proposed: int) -> None:
    lattice = align(source.split(), hypothesis.split())
    best = search(lattice.steps, {}, max_unchanged=2)
    assert (best.fewest_edits, best.most_edits) == (1, 2)
    assert maxmatch_counts(source.split(), hypothesis.split(), {"0": []}) == {"0": (0, proposed, 0)}


# Also from the official scorer's functions.  In the first, an arc over two unchanged words is met by a gold edit that
# changes nothing, and is there only because the removal jumped over it; in the second the order of steps decides.
@pytest.mark.parametrize(
    ("source", "hypothesis", "edits", "expected"),
    [
        ("b b b a", "a b b b", [GoldEdit(1, 3, (("b", "b"),))], (0, 2, 1)),
        ("a b b", "b a", [GoldEdit(2, 2, (("a",),)), GoldEdit(2, 3, (("b",),))], (1, 3, 2)),
    ],
)
def test_gold_edits_that_change_nothing_are_replayed_as_the_official_scorer_does(
    source: str, hypothesis: str, edits: list[GoldEdit], expected: tuple[int, int, int]
) -> None:
    assert maxmatch_counts(source.split(), hypothesis.split(), {"0": edits}) == {"0": expected}


def test_search_and_replay_agree_where_there_is_no_tie(monkeypatch: pytest.MonkeyPatch) -> None:
    source, hypothesis = (
        ["the", "old", "men", "was", "walk", "slow", "home"],
        ["old", "man", "were", "walking", "slowly", "to", "home"],
    )
    edits = [GoldEdit(0, 1, ((),)), GoldEdit(3, 5, (("were", "walking"),))]
    searched = maxmatch_counts(source, hypothesis, {"0": edits})["0"]
    assert maxmatch.replay(align(source, hypothesis), hypothesis, edits, max_unchanged=2) == searched[:2]
    monkeypatch.setattr(maxmatch, "replay", None)  # not needed here, or this would fail
    assert maxmatch_counts(source, hypothesis, {"0": edits})["0"] == searched


def test_sentence_with_too_many_arcs_to_replay_is_counted_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    # Gold edits out of order send the sentence to the replay, which refuses it: then both rewards count.
    edits = [GoldEdit(6, 7, (("days",),)), GoldEdit(1, 2, (("likes",),))]
    source, hypothesis = (
        ["she", "like", "walk", "in", "rain", "every", "day"],
        ["she", "likes", "walk", "in", "rain", "every", "days"],
    )
    assert maxmatch_counts(source, hypothesis, {"0": edits})["0"] == (1, 2, 2)
    monkeypatch.setattr(maxmatch, "MOST_ARCS", 3)
    assert maxmatch_counts(source, hypothesis, {"0": edits})["0"] == (2, 2, 2)


def test_long_rewritten_sentence_is_counted() -> None:
    # No word in common: one edit, or three around the one that is gold. All arcs would be some 700,000.
    source, hypothesis = [f"a{i}" for i in range(40)], [f"b{i}" for i in range(40)]
    gold = {"0": [], "1": [GoldEdit(20, 21, (("b20",),))]}
    assert maxmatch_counts(source, hypothesis, gold) == {"0": (0, 1, 0), "1": (1, 3, 1)}


def references(name: str) -> list[GoldSentence]:
    return read_gold(open_source(data_path(f"conll14/official/official-2014.{name}.m2")))


def outputs() -> dict[str, list[list[str]]]:
    return {
        system: [line.split() for line in data_path(f"conll14/systems/{system}.txt").read_text("utf-8").splitlines()]
        for system in WITH_ALTERNATIVES
    }


def percentages(counts: Sequence[Sequence[int]]) -> tuple[float, float, float]:
    tp, fp, fn = (sum(column) for column in zip(*counts, strict=True))
    precision, recall = tp / (tp + fp), tp / (tp + fn)
    f = 1.25 * precision * recall / (0.25 * precision + recall)
    return round(100 * precision, 2), round(100 * recall, 2), round(100 * f, 2)


@pytest.mark.data
def test_conll14_systems_have_the_official_scores_with_alternatives() -> None:
    counted = count_systems(references("combined-withalt"), list(outputs().values()))
    f = [percentages(choose_references(counts).counts.tolist())[2] for counts in counted]
    found = dict(zip(outputs(), f, strict=True))
    assert found == WITH_ALTERNATIVES


@pytest.mark.data
@pytest.mark.slow
@pytest.mark.parametrize("system", WITH_ALTERNATIVES)
@pytest.mark.parametrize("name", ["combined", "combined-withalt"])
def test_every_conll14_sentence_has_the_counts_of_the_slow_scorer(system: str, name: str) -> None:
    sentences, hypotheses = references(name), outputs()[system]
    [fast] = count_systems(sentences, [hypotheses])
    slow = [
        slow_counts(gold.words, hypothesis, gold.edits)
        for gold, hypothesis in zip(sentences, hypotheses, strict=True)
    ]
    assert fast == slow
