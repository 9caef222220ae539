from collections.abc import Sequence
from math import isnan

import numpy as np
import polars as pl
import pytest
from hypothesis import given

from grater.measure.crowd.aggregate.ballots import ballots_of
from grater.measure.crowd.raters import agrees_with_others, raters
from grater.measure.crowd.simulate import Crowd, SimulatedCrowd, simulate
from grater.tables import Judgments
from grater.uncertainty import generator
from tests.examples import examples
from tests.measure.agreement.tables import judgments
from tests.measure.crowd.tables import gold, mixed_crowd
from tests.measure.crowd.test_aggregate import THREE, frame_of, tables


def test_three_raters_by_hand() -> None:
    ada, _, cy = raters(THREE, gold=gold(**{"1": "x", "2": "x|y"}))
    assert (ada.rater, ada.n, ada.n_gold, ada.on_gold.value) == ("Ada", 3, 2, 1)
    assert (cy.n_gold, cy.on_gold.value) == (2, 0.5)
    # Bo and Cy differ on items 1 and 2, which is a tie of two: half each; on item 3 both say x
    assert ada.with_others.value == pytest.approx((0.5 + 0.5 + 1) / 3)
    # Ada and Bo are one against Cy in items 1 and 2
    assert cy.with_others.value == pytest.approx(1 / 3)
    assert cy.n_compared == 3
    assert ada.top_label == "x"
    assert ada.top_share == pytest.approx(2 / 3)
    # Bo: x y x, Cy: y x x
    assert ada.others_share == pytest.approx(4 / 6)
    assert ada.skill > cy.skill
    assert ada.seconds is None
    assert ada.with_others.low < ada.with_others.value < ada.with_others.high


def test_what_was_not_counted_is_undefined_with_a_reason() -> None:
    [only] = raters(judgments("1 a x", "2 a y"))
    assert isnan(only.on_gold.value)
    assert only.on_gold.undefined_because == "no gold item was judged"
    assert only.with_others.undefined_because == "nobody else judged the same items"
    assert isnan(only.others_share)


@examples(40)
@given(rows=tables())
def test_agreement_with_others_is_what_a_loop_finds(rows: list[tuple[str, str, str]]) -> None:
    credit, has_others = agrees_with_others(ballots_of(frame_of(rows)))
    for place, (item, rater, label) in enumerate(rows):
        others = [answer for other, who, answer in rows if other == item and who != rater]
        assert has_others[place] == bool(others)
        best = [answer for answer in "xyz" if others and others.count(answer) == max(map(others.count, "xyz"))]
        if others:
            assert credit[place] == pytest.approx(1 / len(best) if label in best else 0)


def test_lazy_raters_and_spammers_stand_out() -> None:
    crowd = mixed_crowd()
    result = raters(crowd.judgments, gold=crowd.truth)
    found = {each.rater: each for each in result}
    for name, kind, favourite, skill in crowd.raters.iter_rows():
        each = found[name]
        assert each.on_gold.low - 0.1 < skill < each.on_gold.high + 0.1
        if kind == "lazy":
            assert each.top_label == favourite
            assert each.top_share > each.others_share + 0.3
    frame = result.to_frame()
    assert frame["gold_low"].is_between(0, 1).all()


def crowd_of_skills(skills: Sequence[float], n_each: Sequence[int], *, seed: int) -> Judgments:
    """Raters of known skill on two labels; the first judge every item, the others some."""
    rng = np.random.default_rng(seed)
    truth = rng.random(max(n_each)) < 0.4
    rows = []
    for rater, (skill, n) in enumerate(zip(skills, n_each, strict=True)):
        for item in rng.permutation(len(truth))[:n]:
            is_error = truth[item] == (rng.random() < skill)
            rows.append((f"i{item}", f"r{rater}", "error" if is_error else "ok"))
    return Judgments(pl.DataFrame(rows, schema=["item", "rater", "label"], orient="row"), "crowd")


def test_rater_of_few_judgments_is_not_perfect() -> None:
    # Version 0.1 gave a rater who was right twenty times of twenty the skill 1.0000, without an interval.
    table = crowd_of_skills([0.85] * 7 + [1.0], [300] * 7 + [20], seed=3)
    newcomer = raters(table).rows[-1]
    assert newcomer.n == 20
    assert newcomer.skill < 0.99
    assert newcomer.skill_interval.low < 0.9
    assert newcomer.skill_interval.low < newcomer.skill < newcomer.skill_interval.high <= 1
    assert newcomer.to_dict()["skill_interval"]["low"] == newcomer.skill_interval.low  # type: ignore[index,call-overload]


def test_intervals_of_skill_hold_the_skills_that_were_simulated() -> None:
    held = []
    for seed in range(12):
        skills = np.random.default_rng(seed).uniform(0.65, 0.95, 10)
        table = crowd_of_skills(list(skills), [150] * 5 + [30] * 5, seed=seed)
        rows = {row.rater: row.skill_interval for row in raters(table)}
        held += [rows[f"r{code}"].low <= skill <= rows[f"r{code}"].high for code, skill in enumerate(skills)]
    assert np.mean(held) > 0.88  # 120 intervals of 95 %: two standard errors are .04


def by_truth(made: SimulatedCrowd) -> pl.DataFrame:
    """Who was right, judgment by judgment."""
    known = made.judgments.frame.join(made.truth.frame.rename({"label": "truth"}), on="item", maintain_order="left")
    return known.select("rater", right=pl.col("label") == pl.col("truth"))


def test_raters_are_as_good_as_their_skill_spammers_guess_and_lazy_raters_say_one_thing() -> None:
    good = simulate(Crowd(n_items=2000, n_raters=6, n_each=6, spread=0.15, prevalence=(1, 3)), rng=generator(5))
    right = by_truth(good).group_by("rater").agg(pl.col("right").mean()).join(good.raters, on="rater")
    # 2,000 judgments: five standard deviations
    assert right["right"].to_list() == pytest.approx(right["skill"].to_list(), abs=0.06)
    crowd = Crowd(n_items=1000, n_raters=9, n_each=9, labels=("a", "b", "c"), spammers=1 / 3, lazy=1 / 3)
    made = simulate(crowd, rng=generator(6))
    assert sorted(made.raters["kind"]) == ["lazy"] * 3 + ["skilled"] * 3 + ["spammer"] * 3
    counts = made.judgments.frame.group_by("rater", "label").len()
    share = {name: n / 1000 for name, n in counts.group_by("rater").agg(pl.col("len").max()).iter_rows()}
    for name, kind, favourite, _ in made.raters.iter_rows():
        assert (favourite is not None) == (kind == "lazy")
        assert share[name] == pytest.approx(0.95 if kind == "lazy" else 1 / 3, abs=0.08)


def test_biased_raters_lean_to_a_label() -> None:
    made = simulate(Crowd(n_items=10, n_raters=5, n_each=5, biased=1, skill=0.8, spread=0), rng=generator(7))
    # Right 0.8, of which half goes to the favourite: 0.4 and 0.2 wrong + 0.4; for the favourite itself 0.8 + 0.
    for matrix, favourite in zip(made.confusions, made.raters["favourite"], strict=True):
        code = ("error", "ok").index(favourite)
        assert matrix[code, code] == pytest.approx(0.8)
        assert matrix[1 - code, 1 - code] == pytest.approx(0.4)
        assert matrix.sum(axis=1).tolist() == pytest.approx([1, 1])


def test_turning_raters_are_good_first_and_spam_later() -> None:
    made = simulate(Crowd(n_items=2000, n_raters=4, n_each=4, turning=1, skill=0.9, spread=0), rng=generator(8))
    for _, rows in by_truth(made).group_by("rater", maintain_order=True):
        assert rows["right"][:1000].mean() == pytest.approx(0.9, abs=0.05)
        assert rows["right"][1000:].mean() == pytest.approx(0.5, abs=0.08)
