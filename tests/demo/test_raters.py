"""The simulated crowd of the sample: it follows the annotators where they agree and parts where they do not.

The simulated raters of the sample: the shape of the papers' tables, the same every time.
"""

from __future__ import annotations

import polars as pl
import pytest

from grater.corpora import read_corpus
from grater.demo import sample_path
from grater.demo.raters import (
    Blank,
    gold_items,
    sample_choice,
    sample_cloze,
    sample_constructions,
    sample_crowd,
    sample_noun_items,
    suggested,
    with_writer,
)
from grater.measure.agreement.constructions import IN_CONTEXT, NO_CONTEXT, construction_study
from grater.measure.evaluation.selection import choice_study, cloze_study
from grater.model import Item, Span
from grater.tables import read_decisions, read_items, read_judgments

MARKED = {f"i{place}": (2 if place % 10 == 0 else 1 if place % 10 == 1 else 0) for place in range(300)}


@pytest.fixture(scope="module")
def crowd() -> pl.DataFrame:
    return sample_crowd(MARKED)


def shares(frame: pl.DataFrame) -> dict[int, float]:
    """The mean share of errors among valid judgments, by how many annotators marked the item."""
    valid = frame.filter(pl.col("status") == "valid")
    marks = pl.col("item").replace_strict(MARKED, return_dtype=pl.Int64)
    grouped = valid.group_by(marks.alias("marks")).agg((pl.col("label") == "error").mean().alias("share"))
    return dict(grouped.iter_rows())


def test_every_item_has_as_many_valid_judgments_as_wished_the_same_every_time(crowd: pl.DataFrame) -> None:
    counts = crowd.filter(pl.col("status") == "valid").group_by("item").len()["len"]
    assert set(counts) == {10}
    assert crowd["item"].n_unique() == len(MARKED)
    assert not crowd.select("item", "rater").is_duplicated().any()
    assert sample_crowd(MARKED).equals(crowd)


def test_the_crowd_leans_on_the_annotators_and_hidden_gold_keeps_guessers_out(crowd: pl.DataFrame) -> None:
    found = shares(crowd)
    assert found[2] > 0.8
    assert found[0] < 0.15
    assert 0.3 < found[1] < 0.7
    without = sample_crowd(MARKED, has_gold=False)
    assert set(without["status"]) == {"valid"}
    assert "untrusted" in set(crowd["status"])
    assert shares(without)[2] < shares(crowd)[2]


def test_gold_is_what_both_annotators_say_and_half_of_it_errors() -> None:
    gold = gold_items(MARKED, n=20)
    assert len(gold) == 20
    assert {MARKED[item] for item in gold} == {0, 2}
    assert sum(MARKED[item] == 2 for item in gold) == 10


WORDS = ("of", "in", "at", "on", "to", "for", "with", "by")


def blanks(n: int) -> list[Blank]:
    """The system fills every fourth blank otherwise than the writer."""
    found = []
    for place in range(n):
        written = WORDS[place % len(WORDS)]
        others = [word for word in WORDS if word != written][:4]
        item = Item("e", Span(place, place + 1), "prep")
        found.append(Blank(item.item_id, written, others, others[0] if place % 4 == 0 else written))
    return found


def test_blanks_are_filled_about_as_in_table_2() -> None:
    # T&C 2008, Table 2: writer and raters .78 and .74, the raters with each other .76; here the shape, not the number
    made = blanks(2000)
    frame = sample_cloze(made, system="S")
    people = read_judgments(with_writer(frame, made))
    pairs = {(pair.first, pair.second): pair.agreement.value for pair in cloze_study(people).pairs}
    assert pairs["writer", "R1"] == pytest.approx(0.78, abs=0.03)
    assert pairs["writer", "R2"] == pytest.approx(0.74, abs=0.03)
    assert pairs["R1", "R2"] == pytest.approx(0.76, abs=0.06)
    programs = frame.filter(pl.col("group") == "program")
    assert programs["label"].to_list() == [blank.filled for blank in made]


def test_raters_choose_only_where_system_and_writer_differ() -> None:
    made = blanks(2000)
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


def test_the_same_seed_gives_the_same_answers_and_systems_words_can_stand_as_suggestions() -> None:
    made = blanks(50)
    assert sample_cloze(made, system="S").equals(sample_cloze(made, system="S"))
    assert not sample_cloze(made, system="S").equals(sample_cloze(made, system="S", seed=1))
    table = read_decisions(suggested(sample_cloze(made, system="S")))
    assert table.frame["suggestion"].to_list() == [blank.filled for blank in made]
