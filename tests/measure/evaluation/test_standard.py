from __future__ import annotations

from functools import partial
from math import isnan

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grater.corpora import read_corpus
from grater.corpora.judgments import judgments_from_edits
from grater.corpora.merge import Reread, merge_annotators
from grater.corpora.text.prepositions import canonical
from grater.corpora.text.tokens import tokens_of
from grater.errors import UsageError
from grater.measure.evaluation.cases import cases_of, truth_of
from grater.measure.evaluation.comparison import compare_systems
from grater.measure.evaluation.evaluation import WITH_UNKNOWN, WITHOUT_UNKNOWN, EvaluationOptions, evaluate
from grater.measure.evaluation.standard import against, each_rater, effective_number, spread
from grater.model import Interval, Item
from grater.tables import Judgments, read_decisions, read_items, read_judgments
from grater.uncertainty import wilson
from grater.uncertainty.bootstrap import Chance, Cluster, UnitCounts, distinct
from tests.examples import examples
from tests.measure.agreement.tables import TABLE_3, judgments, of_confusion
from tests.measure.evaluation.worlds import QUICK, decisions, items, votes
from tests.real_data import data_path


def test_against_the_majority_with_wilson_limits_of_items() -> None:
    # two hits, one false alarm, one miss; the fifth item is a tie and flagged: half a hit, half a false alarm
    cases = cases_of(decisions({"S": [1, 1, 1, 0, 1]}), votes([4, 3, 0, 4, 2], 4))
    [found] = against(cases, truth_of(cases), chance=QUICK)
    assert found.counts.row().tolist() == [2.5, 1.5, 1, 0]
    assert found["precision"] == wilson(2.5, 4)
    assert found["recall"] == wilson(2.5, 3.5)


def test_f_of_a_system_that_is_always_right_or_always_wrong_has_the_width_of_its_few_flags() -> None:
    cases = cases_of(decisions({"S": [1] * 10 + [0] * 30, "N": [0] * 10 + [1] * 30}), votes([1] * 10 + [0] * 30, 1))
    scored = {each.system: each for each in against(cases, truth_of(cases), chance=QUICK)}
    # S: ten flags and ten errors, (10 + 10 / 4) / 1.25 = 10 cases; N: (30 + 10 / 4) / 1.25 = 26, none a hit
    assert scored["S"]["f0.5"] == wilson(10, 10)
    assert scored["N"]["f0.5"] == wilson(0, 26)
    one_rater = each_rater(cases, chance=QUICK)["r0"]
    assert {each.system: each["f0.5"] for each in one_rater} == {"S": wilson(10, 10), "N": wilson(0, 26)}


def test_each_rater_in_turn_moves_precision() -> None:
    """T&C 2008, Table 3: a system that says what rater 1 says, held against either rater."""
    table = of_confusion(TABLE_3.merged(["Extraneous", "Wrong-Choice"], ["OK"], names=["error", "ok"]))
    first = table.frame.filter(pl.col("rater") == "r0")
    flags = read_decisions(first.select("item", system=pl.lit("R1"), flagged=pl.col("label") == "error"))
    found = each_rater(cases_of(flags, table), chance=QUICK)
    assert found["r0"][0]["precision"].value == 1
    # 60 of the 86 errors of R1 are errors to R2; R2 has 97
    assert found["r1"][0]["precision"].value == pytest.approx(60 / 86)
    assert found["r1"][0]["recall"].value == pytest.approx(60 / 97)
    apart = spread([scored[0]["precision"] for scored in found.values()])
    assert (apart.low, apart.high) == pytest.approx((60 / 86, 1))


def test_kappa_of_each_of_many_raters_has_no_interval_for_thousands_would_take_minutes() -> None:
    flags = decisions({"S": [1, 1, 0, 0]})
    few, many = (each_rater(cases_of(flags, votes([n, 0, n, 0], n)), chance=QUICK)["r0"][0] for n in (40, 41))
    assert few["kappa"].value == many["kappa"].value == 0
    assert [isnan(scored["kappa"].low) for scored in (few, many)] == [False, True]


def test_raters_for_whom_a_score_is_undefined_take_no_part_in_the_spread() -> None:
    undefined = Interval(float("nan"), float("nan"), float("nan"), "none")
    found = spread([Interval(0.4, 0, 1), undefined, Interval(0.6, 0, 1)])
    assert (found.n_raters, found.low, found.high, found.mean) == (2, 0.4, 0.6, 0.5)
    assert isnan(spread([undefined]).mean)


def test_items_without_a_usable_judgment_are_counted_apart() -> None:
    table = judgments("i0 a error", "i1 a unknown", "zz a ok")
    found = evaluate(decisions({"S": [1, 1, 0]}), table, options=EvaluationOptions(chance=QUICK))
    assert (found.whole.n_items, found.whole.n_unjudged, found.whole.flagged_unjudged) == (3, 2, {"S": 1})
    assert found.whole.standard[0].n == 1
    assert any("no system decided" in warning for warning in found.warnings)


def test_unknown_can_be_a_vote_for_ok_or_shown_apart() -> None:
    table = judgments("i0 a error", "i0 b unknown", "i0 c unknown", "i1 a error", "i1 b error")
    flags = decisions({"S": [1, 1]})
    as_ok = evaluate(flags, table, options=EvaluationOptions(chance=QUICK, unknown="ok"))
    assert as_ok.whole.standard[0]["precision"].value == 0.5
    apart = evaluate(flags, table, options=EvaluationOptions(chance=QUICK, unknown="apart"))
    assert {name: part.n_items for name, part in apart.parts.items()} == {WITHOUT_UNKNOWN: 1, WITH_UNKNOWN: 1}


def test_parts_by_a_column_add_up_to_the_whole() -> None:
    flags = decisions({"S": [1, 0, 1, 1]}, target=["in", "on", "in", "on"])
    found = evaluate(flags, votes([3, 3, 0, 2], 3), options=EvaluationOptions(chance=QUICK, by="target"))
    parts = [part.standard[0].counts for part in found.parts.values()]
    assert list(found.parts) == ["target in", "target on"]
    assert parts[0] + parts[1] == found.whole.standard[0].counts


def test_many_parts_with_different_error_rates_are_named_up_to_five_pairs() -> None:
    flagged, errors = [1] * 180, [3 * (place // 10 % 2) for place in range(180)]
    table = items([str(place // 10) for place in range(180)])
    found = evaluate(decisions({"S": flagged}), votes(errors, 3), items=table, options=EvaluationOptions(by="essay"))
    said = [warning for warning in found.warnings if "error rates differ" in warning]
    assert len(said) == 6  # 9 clean parts against 9 of errors: 81 pairs
    assert said[-1] == "error rates differ between parts in 76 more cases: compare kappa, not precision"


def test_essays_as_units_widen_limits_where_errors_come_together() -> None:
    essays = [str(place // 10) for place in range(200)]
    n_error = [3 if (place // 10) % 2 else 0 for place in range(200)]
    cases = cases_of(decisions({"S": [1] * 200}), votes(n_error, 3), items=items(essays))
    clusters: tuple[Cluster, ...] = ("item", "essay")
    by_item, by_essay = (
        against(cases, truth_of(cases), chance=Chance(cluster, 400))[0]["precision"] for cluster in clusters
    )
    assert by_essay.high - by_essay.low > 2 * (by_item.high - by_item.low)


def test_essays_of_very_unequal_lengths_are_worth_fewer() -> None:
    # (30 * 30 + 9 * 30)² / (30 * 30² + 9 * 30²) by hand is 39 for equal lengths; one of 100 and nine of 1 are worth
    # 109² / (10,000 + 9) = 1.19, taken as 2; essays of 2 and 4 are worth 9 / 10 of their number, and count whole.
    equal, long, mixed = (
        UnitCounts(np.array([[n, 0, 0, 0] for n in lengths], float), np.array(times))
        for lengths, times in (((30,), (39,)), ((1, 100), (9, 1)), ((2, 4), (5, 5)))
    )
    assert [effective_number(units, 1) for units in (equal, long, mixed)] == [39, 2, 10]
    four = UnitCounts(np.array([[1, 0, 0, 0], [20, 0, 0, 0]], float), np.array([16, 4]))
    assert effective_number(four, 1) == pytest.approx(96**2 / 1616)  # 5.7 of twenty


def test_clusters_need_a_name_for_every_item() -> None:
    table = read_items(items(["0", "0", "1", "1"]).frame.with_columns(document=pl.Series(["a", "a", None, None])))
    cases = cases_of(decisions({"S": [1, 0, 1, 0]}), votes([3, 0, 3, 0], 3), items=table)
    with pytest.raises(UsageError, match="expected the document of every judged item, found none for 2"):
        against(cases, truth_of(cases), chance=Chance("document", 20))


def test_raters_cannot_be_drawn_where_one_rater_is_the_truth() -> None:
    cases = cases_of(decisions({"S": [1, 0]}), votes([2, 1], 3))
    with pytest.raises(UsageError, match="share or the majority"):
        against(cases, truth_of(cases, "rater:r0"), chance=Chance("rater", 10))


@pytest.mark.parametrize("cluster", ["item+rater", "essay+rater"])
def test_items_and_raters_drawn_together_are_in_more_doubt_than_either(cluster: Cluster) -> None:
    n_error = [item * 7 % 6 for item in range(60)]
    flagged = [int(n >= 3 or item % 5 == 0) for item, n in enumerate(n_error)]
    essays = [f"e{item % 12}" for item in range(60)]
    cases = cases_of(decisions({"S": flagged}), votes(n_error, 5), items=items(essays))
    share = truth_of(cases, "share")

    def width(drawn: Cluster) -> float:
        (found,) = against(cases, share, chance=Chance(drawn, 400))
        return found["recall"].high - found["recall"].low

    unit: Cluster = "item" if cluster == "item+rater" else "essay"
    assert width(cluster) > max(width(unit), width("rater"))


def test_items_and_raters_are_drawn_alike_whatever_the_order_of_rows() -> None:
    n_error = [item * 7 % 6 for item in range(40)]
    flags, table = decisions({"S": [item % 2 for item in range(40)]}), votes(n_error, 5)
    mixed = [
        (read_decisions(flags.frame.sample(fraction=1, shuffle=True, seed=seed)), table.frame.reverse())
        for seed in (1, 2)
    ]
    found = []
    for decided, frame in [(flags, table.frame), *mixed]:
        cases = cases_of(decided, Judgments(frame, "mixed"))
        (scored,) = against(cases, truth_of(cases, "share"), chance=Chance("item+rater", 50))
        found.append(
            [number for name in ("precision", "recall", "f0.5") for number in (scored[name].low, scored[name].high)]
        )
    assert found[0] == pytest.approx(found[1])
    assert found[0] == pytest.approx(found[2])


def test_limits_by_rater_do_not_know_the_names_of_raters() -> None:
    says = {
        (item, rater): "error" if item * (rater + 2) % 7 <= rater else "ok"
        for item in range(31)
        for rater in range(5)
    }
    table = judgments(*(f"i{item} r{rater} {label}" for (item, rater), label in says.items()))
    flags = decisions({"S": [int(place % 3 == 0) for place in range(31)]})
    names = {"r0": "zoe", "r1": "adam", "r2": "mia", "r3": "bo", "r4": "yan"}
    renamed = Judgments(table.frame.with_columns(pl.col("rater").replace(names)), "renamed")
    before, after = (
        against(cases, truth_of(cases, "share"), chance=Chance("rater", 50))[0].scores
        for cases in (cases_of(flags, table), cases_of(flags, renamed))
    )
    assert before == after
    assert before["precision"].low < before["precision"].value


def test_limits_by_rater_need_raters_with_names() -> None:
    table = read_judgments(pl.DataFrame({"item": ["i0", "i0"], "label": ["error", "ok"]}))
    cases = cases_of(decisions({"S": [1]}), table)
    with pytest.raises(UsageError, match="rater ids"):
        against(cases, truth_of(cases), chance=Chance("rater", 10))


@pytest.mark.parametrize("cluster", ["item", "rater"])
def test_no_usable_judgment_leaves_every_number_undefined_with_a_reason(cluster: Cluster) -> None:
    found = evaluate(
        decisions({"S": [1, 0]}), judgments("i0 a unknown"), options=EvaluationOptions(chance=Chance(cluster, 10))
    )
    for score in found.whole.standard[0].scores.values():
        assert isnan(score.value)
        assert score.undefined_because


def test_distinct_rows_are_found_in_the_order_of_values() -> None:
    first, pattern = distinct([np.array([2, 1, 2, 1]), np.array([0.5, 0.1, 0.5, 0.2])])
    assert pattern.tolist() == [2, 0, 2, 1]
    assert [[2, 1, 2, 1][place] for place in first] == [1, 1, 2]


def test_compare_ranks_systems_and_tells_far_ones_apart() -> None:
    truth = [place % 2 for place in range(200)]
    good = [1 - mark if place % 20 == 0 else mark for place, mark in enumerate(truth)]
    near = [1 - mark if place % 19 == 0 else mark for place, mark in enumerate(truth)]
    bad = [(place // 2) % 2 for place in range(200)]
    cases = cases_of(decisions({"good": good, "near": near, "bad": bad}), votes([3 * mark for mark in truth], 3))
    found = compare_systems(cases, truth_of(cases), chance=Chance(n_resamples=500), score="f1")
    assert found.systems[-1].system == "bad"
    assert found.groups["bad"] == "B"
    assert found.groups["good"] == found.groups["near"] == "A"
    pair = found.pairs[-1]
    assert pair.test.holm["randomisation"] < 0.05
    assert pair.mcnemar.mid_p < 0.001


def test_compare_needs_two_systems() -> None:
    cases = cases_of(decisions({"S": [1]}), votes([1], 2))
    with pytest.raises(UsageError, match="two systems"):
        compare_systems(cases, truth_of(cases), chance=QUICK)


worlds = st.integers(1, 12).flatmap(
    lambda n: st.tuples(
        st.lists(st.sampled_from([0, 1, None]), min_size=n, max_size=n),
        st.lists(st.sampled_from([0, 1]), min_size=n, max_size=n),
        st.lists(
            st.lists(st.sampled_from(["error", "ok", "unknown", ""]), min_size=3, max_size=3), min_size=n, max_size=n
        ),
        st.randoms(use_true_random=False),
    )
)


@pytest.mark.parametrize("cluster", ["item", "essay", "rater"])
@examples(12)
@given(world=worlds)
def test_neither_order_nor_names_of_raters_change_a_number(cluster: Cluster, world: tuple) -> None:  # type: ignore[type-arg]
    first, second, labels, random = world
    rows = [
        (f"i{item}", rater, label)
        for item, given_labels in enumerate(labels)
        for rater, label in enumerate(given_labels)
        if label
    ]
    if not rows:
        return
    flags = decisions({"A": first, "B": second}, essay=[str(place // 2) for place in range(len(first))])
    options = EvaluationOptions(chance=Chance(cluster, 20))
    before = evaluate(flags, _table(rows, ["r0", "r1", "r2"]), options=options)
    random.shuffle(rows)
    shuffled = flags.frame.sample(fraction=1, shuffle=True, seed=random.randrange(1000))
    after = evaluate(read_decisions(shuffled), _table(rows, ["zoe", "adam", "mia"]), options=options)
    _same(before.to_dict(), after.to_dict())


def _table(rows: list[tuple[str, int, str]], names: list[str]) -> Judgments:
    named = [(item, names[rater], label) for item, rater, label in rows]
    return read_judgments(pl.DataFrame(named, schema=["item", "rater", "label"], orient="row"))


def _same(one: object, other: object) -> None:
    """Equal but for what is listed by rater, which goes by their names."""
    if isinstance(one, dict) and isinstance(other, dict):
        assert one.keys() == other.keys()
        for key in one.keys() - {"by_rater", "raters"}:
            _same(one[key], other[key])
    elif isinstance(one, list) and isinstance(other, list):
        assert len(one) == len(other)
        for left, right in zip(one, other, strict=True):
            _same(left, right)
    elif isinstance(one, float):
        assert one == pytest.approx(other, abs=1e-12)
    else:
        assert one == other


@pytest.mark.data
@pytest.mark.slow
def test_ten_annotators_of_conll_2014_move_the_precision_of_one_of_them() -> None:
    """Bryant & Ng 2015: annotator A1 as the system, the nine others as raters, on every preposition.

    The numbers are our own (docs/evaluating.md); what must hold is that they follow from the files.
    """
    files = [data_path(f"conll14/ten-annotators/A{number}.m2") for number in range(1, 11)]
    essays = list(merge_annotators({file.stem: Reread(partial(read_corpus, file)) for file in files}))
    places = {
        item.item_id: item
        for essay in essays
        for item in (
            Item(essay.essay_id, span, "prep") for span in tokens_of(essay) if canonical(span.of(essay.text))
        )
    }
    table = judgments_from_edits(essays, places, tags=["Prep"])
    own = table.frame.filter(pl.col("rater") == "A1")
    flags = read_decisions(own.select("item", system=pl.lit("A1"), flagged=pl.col("label") == "error"))
    others = Judgments(table.frame.filter(pl.col("rater") != "A1"), table.name)
    found = evaluate(flags, others, options=EvaluationOptions(chance=QUICK)).whole
    assert found.n_items == 3878
    assert found.standard[0].counts.row().tolist() == [200, 360, 45, 3273]
    precisions = spread([scored[0]["precision"] for scored in found.by_rater.values()])
    assert (round(precisions.low, 3), round(precisions.high, 3)) == (0.211, 0.438)
    assert found.weighted[0]["recall"].value == pytest.approx(0.651, abs=5e-4)
    assert [each.n for each in found.bins] == [271, 596, 3011]
