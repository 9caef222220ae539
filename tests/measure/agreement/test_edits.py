"""The agreement of the annotators of CoNLL-2014; the numbers are in docs/raters-needed.md."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grater.corpora import read_corpus
from grater.corpora.merge import attach_documents, merge_annotators
from grater.errors import GraterError
from grater.measure.agreement.edits import Criterion, edit_agreement, edit_marks
from grater.measure.agreement.summary import agreement
from grater.model import Edit, Essay, Span
from grater.uncertainty import Basis, from_left_out, mean_influence
from tests.examples import examples
from tests.measure.agreement.tables import judgments
from tests.real_data import data_path

TEXT = "My sister enjoys the swim ."


def edit(word: str, correction: str | None, tag: str, rater: str, text: str = TEXT) -> Edit:
    """A word of the text replaced; None where it is marked but not corrected."""
    start = text.index(word)
    return Edit(Span(start, start + len(word)), () if correction is None else (correction,), tag, rater)


def essay(*edits: Edit, name: str = "e1", text: str = TEXT, annotators: tuple[str, ...] = ("A", "B")) -> Essay:
    return Essay(name, text, tuple(edits), annotators)


def two(criterion: Criterion, *essays: Essay, **options: Any) -> tuple[float, float, int]:
    """Observed agreement, kappa and units of the first pair."""
    [pair, *_] = edit_agreement(essays, **options).criteria[criterion].pairs
    return pair.observed.value, pair.kappa.value, pair.n


TABLE_2 = essay(
    edit("the ", "", "ArtOrDet", "A"), edit("swim", "swimming", "Wform", "A"), edit("swim", "swimming", "Wform", "B")
)


def test_the_sentence_of_nucle_table_2() -> None:
    # NUCLE, section 3 and Table 2, with a sentence of our own: A and B agree on a word form, A alone drops an article
    assert two("identification", TABLE_2)[0] == pytest.approx(5 / 6)
    assert two("classification", TABLE_2)[::2] == (1, 1)
    assert two("exact", TABLE_2)[::2] == (1, 1)
    # A marks 2 of 6 tokens, B 1: po 5/6, pe (2/6)(1/6) + (4/6)(5/6) = 22/36, kappa (30 - 22) / (36 - 22)
    assert two("identification", TABLE_2)[1] == pytest.approx(8 / 14)


@pytest.mark.parametrize(
    ("kappas", "mean"),
    [((0.4775, 0.3627, 0.3230), 0.3877), ((0.6206, 0.5352, 0.4894), 0.5484), ((0.5313, 0.4956, 0.4246), 0.4838)],
)
def test_the_means_of_nucle_table_3(kappas: tuple[float, ...], mean: float) -> None:
    # NUCLE, Table 3
    found = mean_influence([from_left_out(kappa, [kappa, kappa], "document") for kappa in kappas])
    assert found.value == pytest.approx(mean, abs=5e-5)


def test_marks_of_a_token_by_hand() -> None:
    # The same correction by another selection agrees.
    ours = edit("enjoys", "enjoys having", "Vform", "A")
    theirs = edit("the", "having the", "Vform", "B")
    for criterion in ("identification", "exact"):
        assert two(criterion, essay(ours, theirs))[0] == 1
    # An insertion marks the token after it or a gap.
    inserted = edit("the", "having the", "V0", "A")
    replaced = edit("the", "his", "Pref", "B")
    assert two("classification", essay(inserted, replaced)) == (0, 0, 1)
    observed, _, n_units = two("identification", essay(inserted, replaced), gaps=True)
    assert n_units == 13  # six tokens and seven gaps
    assert observed == pytest.approx(11 / 13)
    assert two("classification", essay(inserted, replaced), gaps=True)[2] == 0
    # Several marks of a token are one label of their own.
    twice = (edit("swim", "swims", "Nn", "A"), edit("swim", "Swim", "Mec", "A"))
    once = edit("swim", "swims", "Nn", "B")
    assert two("identification", essay(*twice, once))[0] == 1
    assert two("classification", essay(*twice, once))[0] == 0
    marks = edit_marks([essay(*twice, once)])
    assert marks.tags == ("Mec+Nn", "Nn")
    # The first alternative speaks for an edit.
    choice = Edit(Span(21, 25), ("swim", "swimming", "swims"), "Wform", "A")
    assert choice.span.of(TEXT) == "swim"
    assert two("exact", essay(choice, edit("swim", "swimming", "Wform", "B")))[0] == 1
    assert two("exact", essay(choice, edit("swim", "swims", "Wform", "B")))[0] == 0
    # Exact agreement needs tag and correction.
    ours = edit("swim", "swimming", "Wform", "A")
    assert two("exact", essay(ours, edit("swim", "swims", "Wform", "B")))[0] == 0
    assert two("exact", essay(ours, edit("swim", "swimming", "Vform", "B")))[0] == 0
    assert two("exact", essay(ours, edit("swim", None, "Wform", "B")))[0] == 0
    # Only essays that both read count.
    alone = essay(edit("swim", "swims", "Nn", "A"), name="e2", annotators=("A",))
    assert two("identification", TABLE_2, alone) == two("identification", TABLE_2)


def test_pairs_need_a_common_essay_that_comes_once() -> None:
    third = essay(edit("swim", "swims", "Nn", "C"), name="e2", annotators=("B", "C"))
    found = edit_agreement([TABLE_2, third]).criteria["identification"]
    by_raters = {pair.raters: pair for pair in found.pairs}
    assert by_raters["A", "C"].kappa.undefined_because == "the two annotators share no essay"
    assert found.n_undefined == 1
    assert found.mean_kappa.value == pytest.approx((8 / 14 + by_raters["B", "C"].kappa.value) / 2)
    with pytest.raises(GraterError, match="expected essays that two annotators read"):
        edit_agreement([essay(annotators=("A",))])
    with pytest.raises(GraterError, match="merge its annotators first"):
        edit_agreement([TABLE_2, TABLE_2])


def many(seed: int, n_essays: int = 40, alike: float = 0.0) -> list[Essay]:
    """Essays of twelve words in which two annotators mark words at random, some essays much worse than others."""
    rng = np.random.default_rng(seed)
    essays = []
    for number in range(n_essays):
        text = " ".join(f"w{place}" for place in range(12))
        share = 0.9 if rng.random() < alike else 0.1
        edits = [
            edit(f"w{place} ", f"x{place} ", "Nn", rater, text=text + " ")
            for rater in "AB"
            for place in range(12)
            if rng.random() < share
        ]
        essays.append(essay(*edits, name=f"e{number}", text=text + " "))
    return essays


def test_nothing_is_drawn_unless_it_is_asked_for() -> None:
    first, again, drawn = (
        edit_agreement(many(seed=4), basis=basis).criteria["identification"].mean_kappa
        for basis in (Basis(seed=1), Basis(seed=2), Basis(interval="bootstrap"))
    )
    assert first == again
    assert drawn.value == first.value
    assert drawn.low == pytest.approx(first.low, abs=0.05)


@pytest.mark.parametrize("name", ["gold", "adjudicated", "Gold"])
def test_adjudicated_annotations_are_no_annotators(name: str) -> None:
    essays = many(seed=4)
    copied = []
    for each in essays:
        copies = [replace(edit, rater=name) for edit in each.edits if edit.rater == "A"]
        copied.append(replace(each, edits=(*each.edits, *copies), annotators=(*each.annotators, name)))
    plain, found = edit_agreement(essays), edit_agreement(copied)
    assert found.raters == ("A", "B")
    assert found.criteria["identification"].mean_kappa == plain.criteria["identification"].mean_kappa
    assert f"{name}: left out, for adjudicated annotations are not an annotator's" in found.warnings


TOKENS = st.lists(
    st.lists(st.sampled_from(["", "Nn", "SVA", "Mec"]), min_size=3, max_size=3), min_size=2, max_size=20
)


@examples(40)
@given(TOKENS)
def test_all_coefficients_are_those_of_the_same_judgments(tokens: list[list[str]]) -> None:
    """Tokens by three annotators, as a corpus and as a table of judgments."""
    edits, marks, types = [], [], []
    for place, tags in enumerate(tokens):
        word = Span(4 * place, 4 * place + 3)
        for rater, tag in zip("ABC", tags, strict=True):
            marks.append(f"{place} {rater} {'error' if tag else 'ok'}")
            if tag:
                edits.append(Edit(word, ("x",), tag, rater))
                types.append(f"{place} {rater} {tag}")
    corpus = edit_agreement([Essay("e", " ".join(["abc"] * len(tokens)), tuple(edits), ("A", "B", "C"))])
    by_criterion: dict[Criterion, list[str]] = {"identification": marks, "classification": types}
    for criterion, rows in by_criterion.items():
        found = corpus.criteria[criterion]
        if not rows or len({row.split()[2] for row in rows}) < 2:
            continue
        expected = agreement(judgments(*rows))
        for name, interval in expected.coefficients.items():
            assert found.coefficients[name].value == pytest.approx(interval.value, nan_ok=True), (criterion, name)
        pairs = {pair.table.raters: pair for pair in expected.pairs}
        for pair in found.pairs:
            if pair.raters in pairs:
                same = pairs[pair.raters]
                assert pair.kappa.value == pytest.approx(same.kappa.value, nan_ok=True, abs=1e-9)
                assert pair.fce.low == pytest.approx(same.fce.low, nan_ok=True, abs=1e-9)


def merged(*names: str) -> Iterator[Essay]:
    paths = [data_path(f"conll14/{name}") for name in names]
    return merge_annotators({path.stem: read_corpus(path) for path in paths})


@pytest.mark.data
def test_the_two_official_annotators_of_conll_2014() -> None:
    essays = merged("official/official-2014.0.m2", "official/official-2014.1.m2")
    documents = read_corpus(data_path("conll14/official/official-2014.0.sgml"))
    found = edit_agreement(attach_documents(essays, documents))
    assert (found.n_units, found.n_essays, found.scope.n_units) == (30_144, 1_312, 50)
    kappas = [each.mean_kappa.value for each in found.criteria.values()]
    assert kappas == pytest.approx([0.4372, 0.5302, 0.4474], abs=5e-5)
    assert found.criteria["classification"].n_units == 1_753
    assert found.warnings == ()


@pytest.mark.data
@pytest.mark.slow
def test_all_ten_annotators_of_conll_2014() -> None:
    found = edit_agreement(merged(*(f"ten-annotators/A{n}.m2" for n in range(1, 11))))
    assert [len(each.pairs) for each in found.criteria.values()] == [45, 45, 45]
    means = [each.mean_kappa.value for each in found.criteria.values()]
    assert means == pytest.approx([0.4599, 0.5532, 0.4761], abs=5e-5)
    alphas = [each.coefficients["alpha"].value for each in found.criteria.values()]
    assert alphas == pytest.approx([0.4600, 0.5306, 0.4483], abs=5e-5)
