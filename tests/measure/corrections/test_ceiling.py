"""The human ceiling: by hand, against single scores, and sets of references against the official walks."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import isnan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grater.errors import UsageError
from grater.measure.corrections.ceiling import Ceiling, CeilingRow, ceiling, subsets_of
from grater.measure.corrections.maxmatch import maxmatch_keys
from grater.measure.corrections.scores import (
    METRICS,
    Hypothesis,
    References,
    choose_annotators,
    rewritten,
    score_systems,
)
from tests.examples import examples
from tests.measure.corrections.essays import REFERENCE, TEXT, essays, m2_system, references, text_system

THREE = [["A b c d .", "A b x d .", "A c d ."], ["E f g h .", "E f h .", "E f h ."], ["K l m n ."] * 3]
PLAIN = ["A b c e .", "E e f g h .", "K l m n ."]


def row(found: Ceiling, name: str, size: int) -> CeilingRow:
    [one] = [each for each in found.rows if (each.name, each.n_references) == (name, size)]
    return one


def test_two_annotators_are_scored_against_each_other_by_hand() -> None:
    found = ceiling(METRICS["m2"], references(), [text_system("s")])
    # Annotator 0 against 1: tp 3, fp 1, fn 0; 1 against 0: tp 3, fp 0, fn 1.
    assert row(found, "0", 1).scores["f0.5"].value == pytest.approx(0.9375 / 1.1875)
    assert row(found, "1", 1).scores["f0.5"].value == pytest.approx(0.9375)
    human = (0.9375 / 1.1875 + 0.9375) / 2
    assert row(found, "human", 1).scores["f0.5"].value == pytest.approx(human)
    # The system against 0: tp 2, fp 1, fn 2, F = .625; against 1: tp 2, fp 1, fn 1, F = 2/3.
    system = row(found, "s", 1)
    assert system.scores["f0.5"].value == pytest.approx((0.625 + 2 / 3) / 2)
    people = row(found, "human", 1).of_human
    assert (people.value, isnan(people.low)) == (1, True), "by definition"
    assert system.of_human.value == pytest.approx((0.625 + 2 / 3) / 2 / human)
    assert (system.n_subsets, row(found, "0", 1).n_subsets, row(found, "human", 1).n_subsets) == (2, 1, 2)


def of_references(names: Sequence[int]) -> References:
    texts = {f"r{n}": [of_sentence[n] for of_sentence in THREE] for n in names}
    return References("refs", rewritten(PLAIN, texts, source_name="src"))


def test_sets_of_references_score_like_as_many_references_alone() -> None:
    found = ceiling(METRICS["gleu"], of_references(range(3)), [text_system("s", PLAIN)])

    def alone(names: Sequence[int], lines: list[str]) -> float:
        [system] = score_systems(METRICS["gleu"], of_references(names), [text_system("s", lines)]).systems
        return system.overall.scores["gleu"].value

    # Against all the others an annotator has the score of a system.
    assert row(found, "r0", 2).scores["gleu"].value == alone([1, 2], [of_sentence[0] for of_sentence in THREE])
    # A system on two of three references has the mean of three scores.
    mean = np.mean([alone(pair, PLAIN) for pair in combinations(range(3), 2)])
    assert row(found, "s", 2).scores["gleu"].value == pytest.approx(mean)


def test_on_one_reference_people_are_as_precise_as_they_recall() -> None:
    # What one of two annotators has and the other lacks is a false positive one way and a miss the other.
    found = ceiling(METRICS["errant"], references(), [m2_system("s")])
    human = row(found, "human", 1).scores
    first, second = row(found, "0", 1).scores, row(found, "1", 1).scores
    assert first["precision"].value == second["recall"].value
    assert human["precision"].value == human["recall"].value
    both = Hypothesis("s", "s.m2", sentences=essays())
    with pytest.raises(UsageError, match=r"s\.m2: expected the edits of one annotator"):
        ceiling(METRICS["errant"], references(), [both])


def test_sentences_that_someone_did_not_read_are_left_out_for_all() -> None:
    text = REFERENCE + "S You is here .\nA 1 2|||R:VERB:SVA|||are|||REQUIRED|||-NONE-|||0\n\n"
    longer = References("ref.m2", essays(text))
    system = text_system("s", [*TEXT, "You are here ."])
    found = ceiling(METRICS["m2"], longer, [system])
    assert (found.n_sentences, found.n_left_out) == (4, 1)
    shorter = ceiling(METRICS["m2"], references(), [text_system("s")])
    assert [each.scores for each in found.rows] == [each.scores for each in shorter.rows]


def test_a_sample_of_sets_is_seeded_and_has_no_repeats() -> None:
    rows = subsets_of(9, 4, most=20, rng=np.random.default_rng(0))
    assert rows.shape == (20, 9)
    assert (rows.sum(axis=1) == 4).all()
    assert len({tuple(each) for each in rows.tolist()}) == 20
    assert (rows == subsets_of(9, 4, most=20, rng=np.random.default_rng(0))).all()
    assert len(subsets_of(4, 2, most=6, rng=np.random.default_rng(0))) == 6


cells = st.lists(st.lists(st.tuples(*[st.integers(0, 3)] * 3), min_size=3, max_size=3), min_size=1, max_size=12)


@given(cells, st.sampled_from([0.5, 1.0, 2.0]))
@examples(80)
def test_all_sets_walk_as_the_m2_scorer_walks(rows: list[list[tuple[int, int, int]]], beta: float) -> None:
    counts = np.array(rows, np.int64)
    subsets = np.array([[True, False, True], [True, True, True], [False, True, False]])

    def wanted(sums: np.ndarray) -> tuple[float, float, float]:
        tp, fp, fn = map(int, sums)
        below = beta * beta * (tp + fn) + (tp + fp)
        f = (1 + beta * beta) * float(tp) / below if below else 1.0
        return f, tp, -(tp + fp + beta * beta * (tp + fn))

    walked = counts[np.arange(len(counts)), choose_annotators(counts, subsets, maxmatch_keys(beta))]
    for subset, found in zip(subsets, walked, strict=True):
        # As the official scorer does it: sentence by sentence, in its order of operations.
        so_far = np.zeros(3, np.int64)
        for here, chosen in zip(counts, found, strict=True):
            best = max((so_far + each for each, is_in in zip(here, subset, strict=True) if is_in), key=wanted)
            assert (chosen == best - so_far).all()
            so_far = best
