"""The whole of a table's agreement: JSON, warnings, pairs and labels; by essay, by group, and compared."""

from dataclasses import replace
from math import isnan
from typing import Any

import numpy as np
import polars as pl
import pytest

import grater
from grater.errors import GraterError
from grater.measure import units as coded_module
from grater.measure.agreement.summary import (
    Agreement,
    Comparison,
    agreement,
    agreement_by_group,
    by_column,
    compare_pairs,
    compare_tables,
    independent_test,
    without_flagged,
)
from grater.measure.units import (
    Coded,
    coded,
    essays_of,
    from_rows,
    in_order,
    reordered,
    spelled_alike,
    tally,
    with_essays,
)
from grater.tables import Judgments, read_items, read_judgments
from grater.uncertainty import Basis, generator
from tests.measure.agreement.tables import (
    IN_CONTEXT,
    NO_CONTEXT,
    TABLE_3,
    confusion,
    judgments,
    of_confusion,
    of_matrix,
)
from tests.measure.evaluation.worlds import width


def test_json_is_that_of_the_contract_in_any_order_of_rows() -> None:
    # interfaces.md, "JSON, by example"
    table = of_confusion(TABLE_3)
    frame = table.frame.with_columns(rater=table.frame["rater"].replace({"r0": "R1", "r1": "R2"}))
    found: Any = agreement(read_judgments(frame)).to_dict()
    shuffled = read_judgments(frame.sample(fraction=1, shuffle=True, seed=3))
    assert repr(agreement(shuffled)) == repr(agreement(read_judgments(frame)))  # but for the last bit of sums
    assert (found["items"], found["raters"]) == (1336, ["R1", "R2"])
    assert found["labels"] == ["Extraneous", "OK", "Wrong-Choice"]
    assert found["observed"] == pytest.approx(0.952096, abs=5e-7)
    [pair] = found["pairs"]
    assert (pair["raters"], pair["n"]) == (["R1", "R2"], 1336)
    assert pair["kappa"]["value"] == pytest.approx(0.629717, abs=5e-7)
    assert (pair["kappa_fce"]["low"], pair["kappa_fce"]["high"]) == pytest.approx((0.546272, 0.713161), abs=5e-7)
    assert {"fleiss", "alpha", "ac1", "s", "signature"} <= found.keys()


def test_what_cannot_be_compared_says_why() -> None:
    # Single rater has no agreement and says why.
    found = agreement(judgments("a 1 x", "b 1 y"))
    assert all(isnan(each.value) for each in found.coefficients.values())
    assert {each.undefined_because for each in found.coefficients.values()} == {"no item has two judgments"}
    assert found.no_pairs == "only one rater, 1"
    assert found.counts.n_left_out == 2
    # One label only is full agreement and no kappa.
    found = agreement(judgments("a 1 x", "a 2 x", "b 1 x", "b 2 x"))
    assert found.coefficients["observed"].value == 1
    for name in ("fleiss", "alpha", "ac1", "s"):
        assert isnan(found.coefficients[name].value)
        assert "one label" in found.coefficients[name].undefined_because
    # Rater without a shared item has pairs without kappa.
    found = agreement(judgments("a 1 x", "a 2 x", "b 1 y", "b 2 y", "c 3 x"))
    assert found.pairs[0].kappa.value == 1
    assert [pair.kappa.undefined_because for pair in found.pairs[1:]] == ["the two raters share no item"] * 2
    assert found.mean is not None
    assert found.mean.n_undefined == 2
    # Positions are not compared as people.
    table = replace(judgments("a 1 x", "a 2 y", "b 1 y", "b 2 y"), anonymous_raters=True)
    found = agreement(table)
    assert found.pairs == ()
    assert "positions" in found.no_pairs
    assert not isnan(found.coefficients["alpha"].value)
    # Many raters are not compared in pairs unless asked.
    table = judgments(*(f"a{rater // 2} {rater} {'xy'[rater % 3 == 0]}" for rater in range(50)))
    assert agreement(table).no_pairs == "50 raters, more than 40"
    assert len(agreement(table, most_raters=50).pairs) == 1225


def test_rare_labels_are_warned_about_with_what_to_do() -> None:
    rows = [f"i{n} {rater} {'no' if n == rater else 'ok'}" for n in range(60) for rater in (1, 2)]
    found = agreement(judgments(*rows))
    assert any("rare: 1.0 items per rater" in text for text in found.warnings)
    assert "too few for an interval" in found.alpha.undefined_because
    assert found.coefficients["ac1"].low < found.coefficients["ac1"].value  # AC1 does not rest on the rarer label


def test_pair_is_judged_by_its_own_items_and_named_where_it_never_differs_as_others_do() -> None:
    rows = [f"i{n} {rater} {n % 2}" for n in range(200) for rater in ("Ada", "Bo")]
    rows += [f"i{n} Cy {n % 2}" for n in range(12)]
    result = agreement(judgments(*rows))
    [warning] = [text for text in result.warnings if "share fewer than 50 items" in text]
    assert warning.startswith("2 of 3 pairs (Ada – Cy 12, Bo – Cy 12)")
    assert "biased low" in warning
    assert result.pairs[0].n_minor == 100
    copies = of_matrix([[n % 3 == 0, n % 3 == (n % 7 == 0), n % 3 == 0] for n in range(60)])
    [warning] = [text for text in agreement(copies).warnings if "give the same label" in text]
    assert warning.startswith("r0 and r2 give the same label to all 60 items that they share")


def test_formula_of_the_literature_is_next_to_ours_under_its_own_name() -> None:
    table = of_confusion(TABLE_3)
    essays = Judgments(table.frame.with_columns(essay=table.frame["item"].str.slice(-1)), "essays")
    for judged, named in ((table, ""), (essays, ", items taken as independent")):
        names = [row[0] for row in agreement(judged).tables()[0].rows]
        assert names[:3] == ["Krippendorff alpha", "Cohen kappa", f"  by Fleiss, Cohen & Everitt 1969{named}"]


@pytest.mark.parametrize("how", ["named gold", "program", "adjudicated"])
def test_gold_and_programs_are_no_raters(how: str) -> None:
    rows = [[n % 3 == 0, n % 3 == (n % 7 == 0), n % 4 == 0] for n in range(60)]
    plain, frame = agreement(of_matrix(rows)), of_matrix([[*row, row[0]] for row in rows]).frame
    is_gold = pl.when(pl.col("rater").cast(pl.String) == "r3")
    if how == "named gold":
        frame = frame.with_columns(rater=is_gold.then(pl.lit("gold")).otherwise("rater"))
    else:
        frame = frame.with_columns(group=is_gold.then(pl.lit(how)).otherwise(pl.lit("expert")))
    found = agreement(Judgments(frame, "table"))
    assert (found.raters, found.alpha) == (plain.raters, plain.alpha)
    assert "60 judgments by programs or adjudicated are left out: they are not raters" in found.warnings
    assert found.to_dict()["warnings"] == list(found.warnings)
    assert "are left out: they are not raters" in repr(found)


def test_unknown_is_never_an_error() -> None:
    # B calls 20 items errors, 7 of them ok to A; of 3 more that B does not know, A accepts all
    pairs = [("ok", "error")] * 7 + [("error", "error")] * 12 + [("unknown", "error")] + [("ok", "unknown")] * 3
    [pair] = agreement(of_matrix([*pairs, *[("ok", "ok")] * 20])).pairs
    of_b = pair.disagreements[1]
    assert (of_b.rater, of_b.n_ok, of_b.n) == ("r1", 7, 20)


def test_specific_agreement_is_that_of_each_label() -> None:
    # by hand: two raters, 3 items error-error, 2 split, 5 ok-ok: 2 * 3 / (2 * 3 + 2) = .75 and 10 / 12
    table = of_matrix([["error", "error"]] * 3 + [["error", "ok"]] * 2 + [["ok", "ok"]] * 5)
    result = agreement(table)
    assert result.specific["error"].value == pytest.approx(0.75)
    assert result.specific["ok"].value == pytest.approx(10 / 12)
    assert result.specific["error"].low < 0.75 < result.specific["error"].high
    # three raters: an item with labels e, e, o has pairs ee, eo, eo; sum n(n - 1) = 2, sum n(m - 1) = 4
    three = agreement(of_matrix([["error", "error", "ok"], ["ok", "ok", "ok"]]))
    assert three.specific["error"].value == pytest.approx(0.5)
    assert three.specific["ok"].value == pytest.approx(6 / 8)


def test_congers_kappa_takes_chance_from_each_raters_own_labels() -> None:
    # by hand: shares of x are 1/2, 1/4 and 1; chance of the three pairs 1/2, 1/2 and 1/4, mean 5/12.  Agreeing pairs
    # per item 1, 1/3, 1/3, 1/3, mean 1/2.  (1/2 - 5/12) / (1 - 5/12) = 1/7
    table = of_matrix([["x", "x", "x"], ["x", "y", "x"], ["y", "y", "x"], ["y", "y", "x"]])
    conger = agreement(table).conger
    assert conger is not None
    assert conger.value == pytest.approx(1 / 7)


def test_sparse_pairs_are_warned_about_and_nothing_depends_on_a_seed_but_the_bootstrap() -> None:
    # Ten raters, two on each of 200 items; everyone is right in 85 of 100 cases, kappa .447 in truth.
    rng = np.random.default_rng(1)
    table = judgments(
        *(
            f"i{item} r{rater} {'error' if is_error == (rng.random() < 0.85) else 'ok'}"
            for item, is_error in enumerate(rng.random(200) < 0.3)
            for rater in rng.permutation(10)[:2]
        )
    )
    first, second, drawn, other = (
        agreement(table, basis=basis)
        for basis in (Basis(seed=1), Basis(seed=2), Basis(interval="bootstrap"), Basis(interval="bootstrap", seed=1))
    )
    assert any("read alpha instead" in text for text in first.warnings)
    assert first.tables()[0].rows[0][0] == "Krippendorff alpha"
    assert first.to_dict() == second.to_dict()
    assert "seed" not in str(first.signature)
    assert "interval:jackknife-t" in str(first.signature)
    assert (drawn.alpha.value, drawn.alpha != other.alpha) == (first.alpha.value, True)
    assert "resamples:1000" in str(drawn.signature)


# Essays are drawn where they are known, and the result says in words what its intervals speak of


def clustered(*, n_essays: int, n_items: int, n_raters: int, seed: int, spread: float = 1.2) -> pl.DataFrame:
    """Essays of more or fewer errors, easier or harder to judge; columns item, rater, label, essay."""
    rng = np.random.default_rng(seed)
    rows = []
    for essay in range(n_essays):
        error_rate, skill = 1 / (1 + np.exp(-rng.normal([-1.4, 2.0], spread)))
        for item in range(n_items):
            is_error = rng.random() < error_rate
            for rater in range(n_raters):
                says_error = is_error == (rng.random() < skill)
                rows.append((f"e{essay}-{item}", f"R{rater + 1}", "error" if says_error else "ok", f"e{essay}"))
    return pl.DataFrame(rows, schema=["item", "rater", "label", "essay"], orient="row")


@pytest.fixture(scope="module")
def frame() -> pl.DataFrame:
    return clustered(n_essays=20, n_items=25, n_raters=3, seed=1)


def result(frame: pl.DataFrame, **options: object) -> Agreement:
    return grater.agreement(frame, **options)  # type: ignore[arg-type]


def test_essays_in_the_judgments_are_drawn_and_named(frame: pl.DataFrame) -> None:
    known, unknown = result(frame), result(frame.drop("essay"))
    assert known.alpha.value == unknown.alpha.value
    assert width(known.alpha) > 1.3 * width(unknown.alpha)
    assert width(known.pairs[0].kappa) > 1.2 * width(unknown.pairs[0].kappa)
    assert width(known.pairs[0].table.observed) > 1.1 * width(unknown.pairs[0].table.observed)
    assert known.scope.design_effect > 1.5
    assert "to other essays like these 20, with these raters (design effect" in known.scope.sentence
    assert "items taken as independent: their essays are not known" in unknown.scope.sentence
    assert known.scope.sentence in known.sheets()[-1].notes
    assert known.to_dict()["interval"]["unit"] == "essay"  # type: ignore[index,call-overload]


def test_essays_of_an_items_table_documents_or_any_column_may_be_the_unit(frame: pl.DataFrame) -> None:
    known = result(frame).alpha
    items = frame.select("item", "essay").unique().with_columns(start=0, end=1, kind=pl.lit("prep"))
    assert result(frame.drop("essay"), items=items).alpha == known
    alone = result(frame, units="item")
    assert alone.alpha == result(frame.drop("essay")).alpha
    assert "as asked" in alone.scope.sentence
    learners = frame.with_columns(learner=pl.col("essay").str.slice(0, 2)).drop("essay")
    assert "other learners like these" in result(learners, units="learner").scope.sentence
    with pytest.raises(GraterError, match=r"unknown column 'lerner'. Did you mean 'learner'"):
        result(learners, units="lerner")
    sentences = frame.with_columns(document=pl.col("essay"), essay=pl.col("item"))
    assert result(sentences).alpha == known
    assert result(sentences.with_columns(document=pl.lit("file"))).scope.unit == "essay"


def test_few_essays_have_a_warning_and_very_few_no_interval() -> None:
    twelve = result(clustered(n_essays=12, n_items=40, n_raters=2, seed=2))
    assert not any("rough below 10" in text for text in twelve.warnings)
    six = result(clustered(n_essays=6, n_items=40, n_raters=2, seed=2))
    assert "only 6 essays: intervals by essay are rough below 10" in six.warnings
    assert any("hold in 80 to 93 % of cases" in text for text in six.warnings)
    assert width(six.alpha) > width(twelve.alpha)
    one = result(clustered(n_essays=1, n_items=40, n_raters=3, seed=2))
    assert one.alpha.value == one.alpha.value
    assert one.alpha.low != one.alpha.low
    assert "its cases come from 1 essay" in one.alpha.undefined_because
    assert any("item takes items as independent" in text for text in one.warnings)


def test_parts_and_comparisons_draw_essays_too(frame: pl.DataFrame) -> None:
    halves = frame.with_columns(half=pl.col("essay").is_in([f"e{n}" for n in range(10)]).cast(pl.String))
    table = read_judgments(halves)
    groups = agreement_by_group(by_column(table, "half"), agreement, by="half")
    assert all("to other essays" in part.scope.sentence for part in groups.parts.values())
    assert groups.tests[0].test.method == "two samples by essay"
    codes = with_essays(coded(table), essays_of(table))
    by_essay = compare_pairs(codes, ("R1", "R2"), ("R1", "R3")).test
    by_item = compare_pairs(coded(table), ("R1", "R2"), ("R1", "R3")).test
    assert by_essay.method == "paired by essay"
    assert by_essay.difference.value == by_item.difference.value
    few = read_judgments(frame.filter(pl.col("essay").is_in([f"e{n}" for n in range(8)])))
    test = compare_tables(few, few).test
    assert test.difference.value == 0


def test_random_raters_speak_of_others_like_them(frame: pl.DataFrame) -> None:
    these, others = result(frame), result(frame, raters="random")
    assert others.alpha.value == these.alpha.value
    assert width(others.alpha) > width(these.alpha)
    assert width(others.specific["error"]) > width(these.specific["error"])
    assert "and other raters like these 3" in others.scope.sentence
    assert others.pairs[0].kappa == these.pairs[0].kappa
    with pytest.raises(GraterError, match="at least 3 raters"):
        result(frame.filter(pl.col("rater") != "R3"), raters="random")


def test_agreement_of_two_essays_by_hand_has_kish_design_effect() -> None:
    """Two essays of n items that are all alike inside: the design effect is close to the size of an essay."""
    rows = [
        (f"e{e}-{i}", f"R{r}", "ok" if r == 1 or e % 2 else "error", f"e{e}")
        for e in range(30)
        for i in range(8)
        for r in (1, 2)
    ]
    table = pl.DataFrame(rows, schema=["item", "rater", "label", "essay"], orient="row")
    assert agreement(read_judgments(table)).scope.design_effect == pytest.approx(8, rel=0.05)


# Parts and comparisons


ROWS = ("a 1 x", "a 2 x", "b 1 x", "b 2 y", "c 1 y", "c 2 y", "d 1 y", "d 2 x")


def test_parts_by_a_column_of_judgments_or_items_are_in_the_order_of_its_values() -> None:
    places = judgments(*ROWS, place=[10, 10, 9, 9, 9, 9, None, 10])
    assert {name: len(part) for name, part in by_column(places, "place").items()} == {"(none)": 1, "10": 3, "9": 4}
    assert list(by_column(judgments(*ROWS, place=[10, 9] * 4), "place")) == ["9", "10"]
    where = {"essay": "e", "start": 0, "end": 1, "kind": "prep"}
    items = read_items(pl.DataFrame({"item": list("abc"), **where, "mention": ["first", "new", "first"]}))
    parts = by_column(judgments(*ROWS), "mention", items=items)
    assert {name: len(part) for name, part in parts.items()} == {"(none)": 2, "first": 4, "new": 2}


def test_flagged_by_any_takes_out_more_than_flagged_by_all() -> None:
    flags = ["spelling", None, "spelling|style", "grammar", "style", None, None, None]
    table = judgments(*ROWS, flags=flags)
    named = ("spelling", "grammar")
    assert set(without_flagged(table, named, by="any").frame["item"]) == {"c", "d"}
    assert set(without_flagged(table, named, by="all").frame["item"]) == {"a", "c", "d"}
    assert without_flagged(table, named, by="any").dropped == {"item flagged spelling or grammar by any rater": 4}


def test_range_and_tests_over_parts() -> None:
    table = judgments(*(row.replace(" ", f"{copy} ", 1) for copy in range(8) for row in ROWS))
    half = table.frame["item"].str.slice(1).cast(pl.Int64) < 4
    table = Judgments(table.frame.with_columns(half=half), "table")
    found = agreement_by_group(by_column(table, "half"), agreement, by="half")
    assert found.range == (0.0, 0.0)
    [test] = found.tests
    assert test.groups == ("false", "true")
    assert test.test.p == pytest.approx(1)


def raters(n_items: int, *skills: float, seed: int = 0, first: int = 0) -> Judgments:
    """Raters who see the truth as often as their skill says."""
    rng = generator(seed, "raters")
    truth = rng.integers(0, 2, size=n_items)
    rows = [[int(label) if rng.random() < skill else 1 - int(label) for skill in skills] for label in truth]
    table = of_matrix(rows)
    return Judgments(table.frame.with_columns(item="x" + str(first) + table.frame["item"]), "table")


def test_tables_without_a_common_item_are_compared_as_two_samples() -> None:
    first, second = of_confusion(IN_CONTEXT), of_confusion(NO_CONTEXT)
    renamed = Judgments(second.frame.with_columns(item="other " + second.frame["item"]), "other")
    comparison = compare_tables(first, renamed)
    assert comparison.test.method == "two samples"
    assert comparison.test.difference.value == pytest.approx(0.597853 - 0.550228, abs=1e-6)
    by_fce = independent_test(IN_CONTEXT, NO_CONTEXT)
    assert by_fce.z == pytest.approx(1.758089, abs=5e-7)  # statistics.md, golden
    assert comparison.test.p == pytest.approx(by_fce.p, abs=0.002)
    assert comparison.n_items == 3680


def test_shared_items_make_the_test_sharper() -> None:
    # Two pairs who see the same hard items: their kappas rise and fall together.
    rng = generator(8)
    hard = rng.random(300) < 0.5
    rows = [[0, int(is_hard), 0, int(is_hard) if rng.random() < 0.95 else 0] for is_hard in hard]
    rows = [[1 - cell for cell in row] if rng.random() < 0.5 else row for row in rows]
    codes = coded(of_matrix(rows))
    paired = compare_pairs(codes, ("r0", "r1"), ("r2", "r3")).test
    first, second = (np.zeros((2, 2), np.int64) for _ in range(2))
    for a, b, c, d in rows:
        first[a, b] += 1
        second[c, d] += 1
    apart = independent_test(confusion(first, "01"), confusion(second, "01"))
    assert paired.difference.value == pytest.approx(apart.difference.value)
    assert paired.p < apart.p / 5


@pytest.mark.parametrize(("n_tests", "least", "most"), [(40, 0, 7), pytest.param(150, 1, 17, marks=pytest.mark.slow)])
def test_dependent_test_holds_its_level(n_tests: int, least: int, most: int) -> None:
    # Four raters of equal skill: a test at .05 should be significant about one time in twenty.  Of 40 such tests none
    # is with probability .13, more than seven with .0007; of 150 none with .0005.
    n_significant = 0
    for seed in range(n_tests):
        codes = coded(raters(60, 0.85, 0.85, 0.85, 0.85, seed=seed))
        test = compare_pairs(codes, ("r0", "r1"), ("r2", "r3")).test
        n_significant += test.p < 0.05
    assert least <= n_significant <= most


def test_more_raters_are_compared_by_alpha() -> None:
    good, poor = raters(150, 0.95, 0.95, 0.95), raters(150, 0.7, 0.7, 0.7, seed=1)
    comparison = compare_tables(good, poor)
    assert comparison.coefficient == "alpha"
    assert comparison.test.difference.low > 0
    other = compare_tables(good, raters(150, 0.7, 0.7, 0.7, first=1))
    assert (other.test.method, other.n_items) == ("two samples", 300)
    assert other.test.p < 0.001


def test_undefined_kappa_gives_no_p() -> None:
    test = independent_test(confusion([[5, 0], [0, 0]], ("a", "b")), IN_CONTEXT)
    assert test.difference.undefined_because == "one of the two is undefined"
    assert Comparison("kappa", 5, test).to_dict()["p"] is None


# Labels in two spellings, and orders by the alphabet


def named(codes: Coded) -> list[tuple[str, str, str]]:
    triples = zip(codes.item.tolist(), codes.rater.tolist(), codes.label.tolist(), strict=True)
    return [(codes.items[item], codes.raters[rater], codes.labels[label]) for item, rater, label in triples]


def test_numbers_count_by_size_and_an_order_must_name_every_label() -> None:
    # Numbers are in the order of their size.
    codes = coded(judgments("a 10 2", "a 9 10", "b 9 -1"))
    assert codes.raters == ("9", "10")
    assert codes.labels == ("-1", "2", "10")
    # Given order holds and must name every label.
    codes = reordered(coded(judgments("a r low", "b r high")), ["low", "mid", "high"])
    assert named(codes) == [("a", "r", "low"), ("b", "r", "high")]
    with pytest.raises(GraterError, match="no place for low"):
        reordered(coded(judgments("a r low", "b r high")), ["high"])
    # Empty cell is refused.
    frame = pl.DataFrame({"item": ["a", None], "rater": ["r", "s"], "label": ["x", "y"]})
    with pytest.raises(GraterError, match="'item', found 1 empty"):
        coded(Judgments(frame, "frame"))


def test_names_stand_in_the_order_in_which_people_count() -> None:
    for ordered in (
        ["r1", "r2", "r10"],
        ["a1b9", "a1b10", "a1b11"],
        ["-1", "9", "10"],
        ["r1", "r02", "r2"],
        ["r", "r1", "s2"],
        [],
    ):
        names = sorted(ordered)[::-1]
        assert [names[place] for place in in_order(names)] == ordered


def test_patterns_of_many_labels_do_not_overflow() -> None:
    rows = np.zeros((4, 70), np.int64)
    rows[:, 0], rows[1:3, 69] = 2, 9
    counts = from_rows(rows, tuple(map(str, range(70))))
    assert counts.n_items.tolist() == [2, 2]
    assert counts.patterns[1, 69] == 9


def test_too_many_labels_for_memory_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coded_module, "MOST_CELLS", 5)
    with pytest.raises(GraterError, match="at most 2 different labels for 2 items, found 3"):
        tally(coded(judgments("a 1 x", "a 2 y", "b 1 z")))


def test_order_by_the_alphabet_is_refused_and_a_given_order_or_numbers_are_fine() -> None:
    words = judgments("a 1 bad", "a 2 bad", "b 1 good", "b 2 excellent", "c 1 poor", "c 2 good")
    for options in ({"scale": "ordinal"}, {"weights": "linear"}, {"weights": "quadratic"}):
        with pytest.raises(
            GraterError, match=r"needs the order of labels that are not numbers \(bad, excellent, good"
        ):
            agreement(words, **options)  # type: ignore[arg-type]
    assert agreement(words, scale="ordinal", order=("bad", "poor", "good", "excellent")).alpha.value > 0
    numbers = judgments("a 1 1", "a 2 2", "b 1 3", "b 2 3", "c 1 1", "c 2 10")
    assert agreement(numbers, scale="ordinal").labels == ("1", "2", "3", "10")


def test_labels_in_two_spellings_are_one_or_named() -> None:
    # Verdicts are one label however they are spelled.
    rows = ["a 1 Error", "a 2 error", "b 1 ok", "b 2 OK", "c 1 ok", "c 2 error"]
    result = agreement(judgments(*rows))
    assert result.labels == ("error", "ok")
    assert result.observed.value == pytest.approx(2 / 3)
    assert "labels that differ only in spelling were taken as one: 'Error' / 'error', 'OK' / 'ok'" in result.warnings
    # Other labels in two spellings are warned about.
    result = agreement(judgments("a 1 1", "a 2 1.0", "b 1 2", "b 2 2"))
    assert result.observed.value == 0.5
    [warning] = [text for text in result.warnings if "number format" in text]
    assert "'1' / '1.0'" in warning
    assert "merge them" in warning
    # One spelling keeps its capitals.
    assert agreement(judgments("a 1 OK", "a 2 Error")).labels == ("Error", "OK")
    # Spellings of one label are found.
    labels = ["Error", "error", "ok", "1", "1.0", "a  b", "a b", "2", "x"]
    assert spelled_alike(labels) == [("1", "1.0"), ("a  b", "a b"), ("Error", "error")]


def test_label_that_one_rater_alone_uses_in_place_of_another_is_named() -> None:
    rows = [f"i{n} {rater} {'error' if n % 3 else 'ok'}" for n in range(30) for rater in ("A", "B")]
    rows += [f"i{n} C {'Err' if n % 3 else 'ok'}" for n in range(30)]
    [warning] = [text for text in agreement(judgments(*rows)).warnings if "'Err'" in text]
    assert warning.startswith("only C answers 'Err', and never 'error'")
    same = [row.replace("Err", "error") for row in rows]
    assert not any("only C" in text for text in agreement(judgments(*same)).warnings)
