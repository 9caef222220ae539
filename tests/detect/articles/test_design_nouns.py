from __future__ import annotations

from grater.detect.articles.constructions import CONSTRUCTIONS
from grater.detect.articles.design import noun_constructions
from grater.model import Essay

ESSAYS = (
    Essay("a", "The farmer bought a cow and a dog. The dog barked at the cow."),
    Essay("b", "Dogs like bones. A farmer needs dogs."),
)


def test_constructions_are_counted_over_all_essays() -> None:
    result = noun_constructions(ESSAYS, least=4)
    assert [(noun.noun, noun.n) for noun in result.listed] == [("dog", 4)]
    assert sum(result.totals) == sum(noun.n for noun in result.nouns) == 9
    totals, nouns = result.sheets()
    assert [row[0] for row in totals.rows] == list(CONSTRUCTIONS)
    assert [row[0] for row in nouns.rows] == ["dog"]


def test_the_frame_has_a_row_for_each_noun_and_construction() -> None:
    frame = noun_constructions(ESSAYS, only=["cow"]).to_frame()
    assert frame.filter(frame["noun"] == "cow")["n"].to_list() == [0, 1, 0, 1, 0]
    assert frame.filter(frame["noun"].is_null())["n"].sum() == 9


def test_a_sheet_says_how_many_nouns_it_leaves_out() -> None:
    _, nouns = noun_constructions(ESSAYS, least=1, most=2).sheets()
    assert len(nouns.rows) == 2
    assert nouns.notes == ("2 of 4 nouns.", "95 % intervals generalise to other essays like these 2.")
