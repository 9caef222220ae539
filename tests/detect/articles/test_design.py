"""Constructions of nouns, and the study's items, on made-up counts and on our own sentences."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from grater.detect.articles.constructions import CONSTRUCTIONS, Noun
from grater.detect.articles.design import NounPlace, item_rows, noun_constructions, places_in, select
from grater.measure.agreement.constructions import CONSTRUCTIONS as OF_THE_STUDY
from grater.model import Essay, Span
from tests.examples import examples


def made(noun: str, counts: tuple[int, ...]) -> list[NounPlace]:
    """Places of a noun with the given constructions; every other definite one is anaphoric."""
    words = tuple(f"{name} {noun}" for name in CONSTRUCTIONS)
    return [
        NounPlace(f"essay-{noun}", Span(start, start + 1), noun, construction, number % 2 == 0, words)
        for construction, n in enumerate(counts)
        for number, start in enumerate(range(100 * construction, 100 * construction + n))
    ]


def corpus() -> list[NounPlace]:
    """For each construction four nouns that it dominates, from open to nearly fixed."""
    found: list[NounPlace] = []
    for place, name in enumerate(CONSTRUCTIONS):
        for step, rest in enumerate((9, 7, 5, 4)):
            counts = [rest] * 5
            counts[place] = 12 + 10 * step
            found += made(f"{name}-{step}", tuple(counts))
    return found


def test_a_full_study_has_fourteen_places_a_noun_and_ten_items_a_place() -> None:
    design = select(corpus(), nouns=2, sentences=2, least=20)
    assert len(design.nouns) == 20
    assert (len(design.places), design.n_wanted, design.shortfalls) == (280, 280, ())
    rows = list(item_rows(design))
    assert len(rows) == 2800
    assert len({row["item"] for row in rows}) == 2800
    assert set(Counter(row["group"] for row in rows).values()) == {5}


def test_nouns_are_the_highest_and_lowest_of_each_dominant_construction() -> None:
    design = select(corpus(), nouns=1, sentences=1, least=20)
    assert {(each.noun.noun, each.side) for each in design.nouns} == {
        (f"{name}-{step}", side) for name in CONSTRUCTIONS for step, side in ((0, "high"), (3, "low"))
    }


def test_what_could_not_be_filled_is_reported_and_rare_and_mass_nouns_are_left_out() -> None:
    places = [
        each for each in corpus() if CONSTRUCTIONS[each.construction] != "null-plural" or each.noun != "a-singular-0"
    ]
    shortfalls = select(places, nouns=2, sentences=2, least=20).shortfalls
    assert [(each.where, each.wanted, each.found) for each in shortfalls] == [("a-singular-0: null-plural", 2, 0)]
    design = select([*made("luck", (50, 50, 0, 0, 0)), *made("gnu", (2, 2, 2, 2, 2))], nouns=1, sentences=1, least=20)
    assert (design.nouns, len(design.shortfalls)) == ((), 10)
    assert not Noun("luck", (60, 40, 0, 0, 0)).is_count
    assert not Noun("information", (50, 30, 10, 5, 5)).is_count  # in the list of mass nouns
    assert Noun("stone", (20, 20, 20, 20, 20)).is_count


@examples(30)
@given(st.randoms(use_true_random=False))
def test_the_order_of_places_does_not_matter(random: object) -> None:
    places = corpus()
    shuffled = list(places)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert select(places, nouns=1, least=20) == select(shuffled, nouns=1, least=20)


def test_pronouns_numbers_and_quantifiers_are_no_nouns_of_the_study() -> None:
    # Lee et al. 2009, 3.3 leaves them out: their article or number can be predicted
    text = (
        "The others saw a lot. A bit helps. A third was late. Nobody came. The other came. A couple stayed. "
        "The dog saw a bird. A half is enough. Somebody called. The majority waited."
    )
    assert {place.noun for place in places_in([Essay("e", text)])} == {"dog", "bird"}
    listed = {noun.noun for noun in noun_constructions([Essay("e", text)], least=1).listed}
    assert listed == {"dog", "bird"}


def test_the_room_and_the_study_name_the_same_constructions() -> None:
    assert CONSTRUCTIONS == OF_THE_STUDY
