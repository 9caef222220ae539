from __future__ import annotations

from math import log2, nan

import polars as pl
import pytest

from grater.errors import GraterError
from grater.measure.agreement.difficulty import column_groups, difficulty, ranked, spread_of
from grater.tables import Table, read_items
from tests.measure.agreement.tables import judgments
from tests.measure.agreement.test_raters_needed import crowd_of, experts_of


def items_table(**columns: list[object]) -> Table:
    n_items = len(next(iter(columns.values())))
    places = {"item": [f"i{n}" for n in range(n_items)], "essay": [f"e{n // 2}" for n in range(n_items)]}
    return read_items(pl.DataFrame({**places, "start": [0] * n_items, "end": 1, "kind": "prep", **columns}))


def test_share_pairs_and_entropy_by_hand_and_a_share_of_its_own_for_unknown() -> None:
    spread = spread_of(crowd_of("aaab", "aabb", "abcd", "aaaa"))
    assert spread["majority_share"].to_list() == [0.75, 0.5, 0.25, 1]
    assert spread["pair_agreement"].to_list() == pytest.approx([3 / 6, 2 / 6, 0, 1])
    assert spread["entropy"].to_list() == pytest.approx([-(0.75 * log2(0.75) + 0.25 * log2(0.25)), 1, 2, 0])
    assert spread["majority"].to_list()[:3] == ["a", "a / b", "a / b / c / d"]
    table = judgments("i a ok", "i b unknown", "i c ok", "i d error", "j a unknown")
    spread = spread_of(table)
    assert spread["unknown_share"].to_list() == [0.25, 1]
    assert spread["majority_share"].to_list() == pytest.approx([2 / 3, nan], nan_ok=True)
    assert difficulty(table).groups[0].n_ranked == 1


def test_items_are_ranked_by_majority_then_entropy_then_number_of_judgments() -> None:
    spread = spread_of(crowd_of("aaabb", "aabbb", "aaabc", "aaaaa", "bb", "a"))
    # i3 and i4 are unanimous, i3 with more judgments; i2 has the same majority as i0 and i1, and more entropy
    assert ranked(spread)["item"].to_list() == ["i3", "i4", "i0", "i1", "i2"]
    assert ranked(spread, hardest=True)["item"].to_list() == ["i2", "i0", "i1", "i3", "i4"]


def test_a_lone_expert_is_not_unanimous_and_the_writer_is_no_expert() -> None:
    crowd = crowd_of("aabb", "aaab")
    assert difficulty(crowd, experts_of(E="aa")).split == ()
    assert difficulty(crowd, experts_of(E="aa", writer="aa")).split == ()
    with pytest.raises(GraterError, match="writer only"):
        difficulty(crowd, experts_of(writer="aa"))


def test_agreement_by_a_column() -> None:
    table = items_table(garbled=["no", "yes", "no", "yes", None], note=["p", "q", "r", "s", "t"])
    crowd = crowd_of("aaaa", "aabb", "aaab", "abab", "aabb")
    found = difficulty(crowd, items=table, by=["garbled"])
    parts = {part.value: part for part in found.groups[0].columns}
    assert list(parts) == ["no", "yes", "(none)"]
    assert parts["no"].means["majority_share"].value == pytest.approx((1 + 0.75) / 2)
    assert parts["yes"].means["majority_share"].value == pytest.approx(0.5)
    assert parts["no"].means["pair_agreement"].value == pytest.approx((1 + 0.5) / 2)
    assert [parts[name].n_items for name in parts] == [2, 2, 1]


def test_numbers_are_cut_into_quantiles_of_whole_values() -> None:
    found = column_groups(pl.Series([str(n) for n in (5, 1, 100, 3, 8, 40, 2, 70, 9, 60, 7, 50)]), 4)
    sizes = {name: len(rows) for name, rows in found.items()}
    assert sizes == {"1 to 3": 3, "5 to 8": 3, "9 to 50": 3, "60 to 100": 3}
    many_equal = column_groups(pl.Series(["1"] * 10 + [str(n) for n in range(2, 12)]), 4)
    assert len(many_equal["1 to 1"]) == 10
    few = column_groups(pl.Series(["10", "9", "9", None]), 4)
    assert list(few) == ["9", "10", "(none)"]


def test_telling_columns_are_chosen_where_none_is_named() -> None:
    table = items_table(
        frequency=[1, 2, 3, 4], same=["x"] * 4, target=["on", "in", "at", "by"], context=["a", "b", "c", "d"]
    )
    found = difficulty(crowd_of("aab", "aaa", "abb", "bbb"), items=table)
    assert {part.column for part in found.groups[0].columns} == {"frequency"}


def test_essays_are_resampled_together() -> None:
    # the two items of an essay are equal: with essays as units limits are wider than with items
    crowd = crowd_of(*(["aaaa", "aaaa", "aabb", "aabb"] * 6))
    by_essay = difficulty(crowd, items=items_table(use=["t", "p"] * 12))
    by_item = difficulty(crowd)
    shares = [found.groups[0].means["majority_share"] for found in (by_essay, by_item)]
    widths = [share.high - share.low for share in shares]
    assert widths[0] > 1.2 * widths[1]
    assert "units:essay" in str(by_essay.signature)


def test_items_stand_with_their_text_and_target() -> None:
    table = items_table(target=["on", "in"], context=["we met on the train", "in time and in tune"])
    found = difficulty(crowd_of("aab", "aaa"), items=table)
    assert [item.text for item in found.groups[0].hardest] == ["we met [on] the train", "[in] in time and in tune"]
    [sheet] = [sheet for sheet in found.sheets() if sheet.title == "Hardest for the crowd"]
    assert sheet.columns[1] == "text"
    assert sheet.rows[0][1] == "we met [on] the train"
    without = difficulty(crowd_of("aab", "aaa"))
    assert all("text" not in sheet.columns for sheet in without.sheets())
