import polars as pl
import pytest

from grater.errors import GraterError
from grater.sampling.strata import decided, decisions_hash, strata_of, stratified
from grater.tables import read_decisions
from tests.sampling.corpora import decisions_of, oracle

FLAGS = [True] * 10 + [False] * 80
SCORES = [0.9 + place / 1000 for place in range(10)] + [place / 200 for place in range(80)]


def sizes(frame: pl.DataFrame) -> dict[str, float]:
    return {stratum.name: stratum.size for stratum in strata_of(frame)}


def test_decisions_make_two_strata() -> None:
    found = stratified(decisions_of({"S": FLAGS}), "S")
    assert [(each.name, each.is_flagged, each.size) for each in strata_of(found)] == [
        ("flagged", True, 10),
        ("unflagged", False, 80),
    ]


def test_scores_cut_flags_evenly_and_the_rest_by_halves() -> None:
    found = stratified(decisions_of({"S": FLAGS}, SCORES), "S", strata="score:5")
    assert sizes(found) == {"flagged 1": 5, "flagged 2": 5, "unflagged 1": 40, "unflagged 2": 20, "unflagged 3": 20}


def test_the_small_parts_are_nearest_to_the_flags_in_whatever_direction_scores_run() -> None:
    upward = stratified(decisions_of({"S": FLAGS}, SCORES), "S", strata="score:5")
    downward = stratified(decisions_of({"S": FLAGS}, [-score for score in SCORES]), "S", strata="score:5")
    assert upward.filter(pl.col("stratum") == "unflagged 3")["item"].to_list()[-1] == "item-00089"
    assert upward.equals(downward)


def test_items_of_one_score_share_a_stratum() -> None:
    found = stratified(decisions_of({"S": FLAGS}, [0.5] * 90), "S", strata="score:10")
    assert len(sizes(found)) == 2


def test_the_order_of_rows_changes_no_stratum() -> None:
    table = decisions_of({"S": FLAGS}, SCORES)
    shuffled = read_decisions(table.frame.sample(fraction=1, shuffle=True, seed=1))
    for strata in ("decision", "score:7"):
        assert stratified(table, "S", strata=strata).equals(stratified(shuffled, "S", strata=strata))
    assert decisions_hash(table, "S") == decisions_hash(shuffled, "S")


def test_decisions_are_crossed_with_a_cheap_label() -> None:
    labels = oracle([place % 4 == 0 for place in range(90)])
    found = stratified(decisions_of({"S": FLAGS}), "S", strata="label", labels=labels)
    # of items 0 to 9 the cheap rater calls 0, 4 and 8 errors; of 10 to 89, 12, 16, ... 88
    assert sizes(found) == {"flagged error": 3, "flagged ok": 7, "unflagged error": 20, "unflagged ok": 60}


@pytest.mark.parametrize(
    ("strata", "message"),
    [
        ("score:1", "N from 2 to 100"),
        ("score:many", "N from 2 to 100"),
        ("length", "expected --strata decision, score:N or label"),
        ("label", "expected the labels of a cheap rater"),
        ("score:4", "expected a score for every item, found 90 without"),
    ],
)
def test_wrong_strata_are_answered_in_one_line(strata: str, message: str) -> None:
    with pytest.raises(GraterError, match=message):
        stratified(decisions_of({"S": FLAGS}), "S", strata=strata)


def test_an_unknown_system_is_answered_with_a_guess() -> None:
    with pytest.raises(GraterError, match="Did you mean 'prep-lm'"):
        decided(decisions_of({"prep-lm": FLAGS}), "prep-ln")
