"""Simulated raters of the sample have the shape of the papers' tables; `tests/test_exhibits.py` holds the rest."""

from __future__ import annotations

import polars as pl
import pytest

from grater.corpora import read_corpus
from grater.demo import sample_path
from grater.demo.raters import Blank, gold_items, sample_choice, sample_constructions, sample_noun_items
from grater.measure.agreement.constructions import IN_CONTEXT, NO_CONTEXT, construction_study
from grater.measure.evaluation.selection import choice_study
from grater.model import Item, Span
from grater.tables import read_items, read_judgments


def test_gold_is_what_both_annotators_say_and_half_of_it_errors() -> None:
    marked = {f"i{place}": (2 if place % 10 == 0 else 1 if place % 10 == 1 else 0) for place in range(300)}
    gold = gold_items(marked, n=20)
    assert sorted(marked[item] for item in gold) == [0] * 10 + [2] * 10


def test_raters_choose_only_where_system_and_writer_differ() -> None:
    places = [Item("e", Span(place, place + 1), "prep").item_id for place in range(2000)]
    made = [Blank(item, "of", ("in", "at"), "in" if n % 4 == 0 else "of") for n, item in enumerate(places)]
    frame = sample_choice(made)
    assert set(frame["item"]) == {blank.item_id for blank in made if blank.filled != blank.written}
    # T&C 2008, 4.2: in .28 of the mismatches both raters find the system's word at least as good
    assert choice_study(read_judgments(frame)).choice.all_raters.value == pytest.approx(0.28, abs=0.06)


def test_constructions_have_the_shape_of_the_paper() -> None:
    items = sample_noun_items(list(read_corpus(sample_path())))
    assert len(items) >= 1000
    found = construction_study(read_judgments(sample_constructions(items)), read_items(pl.DataFrame(items)))
    kappas = {part.name: part.kappa.value for part in found.stages}
    # Lee et al. 2009, section 5: .55 without context, .60 in context
    assert 0.4 < kappas[NO_CONTEXT] < 0.7
    assert 0.45 < kappas[IN_CONTEXT] < 0.75
    freedom = {(each.rater, each.stage): each.yes.value for each in found.freedom}
    assert freedom["R1", NO_CONTEXT] > freedom["R2", NO_CONTEXT]  # Table 4
    assert freedom["R1", IN_CONTEXT] < freedom["R2", IN_CONTEXT]
    everybody = found.several[-1]
    assert 0.75 < everybody.original_yes.value < 0.97
