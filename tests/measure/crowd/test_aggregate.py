"""Methods by hand, on simulated crowds and real data; crowd-kit's numbers on random tables are kept in goldens/."""

from __future__ import annotations

import json
from collections.abc import Sequence
from math import isnan, log
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grater.errors import BadInput, UsageError
from grater.measure.crowd.aggregate import METHODS, Aggregation, Options, accuracy, aggregate
from grater.measure.crowd.aggregate.ballots import Numbers, ballots_of
from grater.measure.crowd.aggregate.dawid_skene import Confusions
from grater.measure.crowd.aggregate.mace import Parameters, _cells, run
from grater.measure.crowd.raters import agrees_with_others, raters
from grater.measure.crowd.simulate import Crowd, SimulatedCrowd, simulate
from grater.tables import Judgments, Table, parse_columns, read_gold, read_judgments
from grater.uncertainty import generator
from tests.examples import examples
from tests.measure.agreement.tables import judgments
from tests.measure.crowd.tables import gold, mixed_crowd
from tests.real_data import data_path

NEVER = float("-inf")
EVERY = METHODS.names()

# Ada and Bo agree on three items; Cy says the contrary of them twice.
THREE = judgments("1 Ada x", "1 Bo x", "1 Cy y", "2 Ada y", "2 Bo y", "2 Cy x", "3 Ada x", "3 Bo x", "3 Cy x")


def answers(found: Aggregation) -> dict[str, str]:
    return dict(found.to_frame().select("item", "label").iter_rows())


@pytest.mark.parametrize("method", EVERY)
def test_two_against_one_have_it(method: str) -> None:
    assert answers(aggregate(THREE, method)) == {"1": "x", "2": "y", "3": "x"}


def test_ties_are_broken_by_chance_and_reported() -> None:
    table = judgments(
        *(f"{item} {rater} {label}" for item in range(400) for rater, label in (("r", "x"), ("s", "y")))
    )
    found = aggregate(table, "majority")
    assert found.is_tied.all()
    assert 150 < list(answers(found).values()).count("x") < 250  # 400 fair coins: five standard deviations
    assert any("400 of 400 answers are ties broken at random" in text for text in found.warnings)
    again = aggregate(Judgments(table.frame.reverse(), "reversed"), "majority")
    assert answers(again) == answers(found)
    other = aggregate(table, "majority", options=Options(seed=1))
    assert answers(other) != answers(found)


def test_wawa_weighs_votes_by_agreement_with_the_majority() -> None:
    found = aggregate(THREE, "wawa")
    assert found.skill.tolist() == pytest.approx([1, 1, 1 / 3])
    # Item 1: x has 1 + 1 of 2 + 1/3
    assert found.posteriors[0].tolist() == pytest.approx([6 / 7, 1 / 7])
    assert found.fit.history == ()


def test_first_iteration_of_dawid_skene_by_hand() -> None:
    """Shares T(x) are 2/3, 1/3, 1, so p(x) = 2/3; the matrices are sums of them over each rater's judgments."""
    found = aggregate(THREE, "dawid-skene", options=Options(iterations=1))
    confusions = found.fit.details
    assert isinstance(confusions, Confusions)
    # Ada says x of items 1 and 3: T(x) adds up to 5/3 of 2, T(y) to 1/3 of 1
    assert confusions.of(0) == pytest.approx(np.array([[5 / 6, 1 / 6], [1 / 3, 2 / 3]]))
    # Cy says x of items 2 and 3: T(x) 4/3 of 2, T(y) 2/3 of 1
    assert confusions.of(2) == pytest.approx(np.array([[2 / 3, 1 / 3], [2 / 3, 1 / 3]]))
    x, y = 2 / 3 * (5 / 6) ** 2 * (1 / 3), 1 / 3 * (1 / 3) ** 2 * (1 / 3)
    assert found.posteriors[0].tolist() == pytest.approx([x / (x + y), y / (x + y)])
    second = 2 / 3 * (1 / 6) ** 2 * (2 / 3) + 1 / 3 * (2 / 3) ** 2 * (2 / 3)
    third = 2 / 3 * (5 / 6) ** 2 * (2 / 3) + 1 / 3 * (1 / 3) ** 2 * (2 / 3)
    assert found.fit.history == pytest.approx((log(x + y) + log(second) + log(third),))
    assert found.skill[0] == pytest.approx(2 / 3 * 5 / 6 + 1 / 3 * 2 / 3)


@pytest.mark.parametrize("method", EVERY)
def test_simulated_truth_and_skills_are_recovered(method: str) -> None:
    crowd = mixed_crowd()
    found = aggregate(crowd.judgments, method)
    plain = accuracy(aggregate(crowd.judgments, "majority"), crowd.truth)
    checked = accuracy(found, crowd.truth)
    assert checked.n_items == 300
    assert checked.share.value >= plain.share.value
    assert checked.share.low < checked.share.value < checked.share.high
    kinds = dict(zip(crowd.raters["rater"], crowd.raters["kind"], strict=True))
    skill = dict(zip(found.raters, found.skill.tolist(), strict=True))
    good = [skill[name] for name, kind in kinds.items() if kind == "skilled"]
    assert np.mean(good) > max(skill[name] for name, kind in kinds.items() if kind == "spammer")


@pytest.mark.parametrize("method", ["dawid-skene", "one-coin", "glad"])
def test_likelihood_never_falls(method: str) -> None:
    options = Options(iterations=8 if method == "glad" else 60, tolerance=NEVER)
    found = aggregate(mixed_crowd().judgments, method, options=options)
    history = np.array(found.fit.history)
    assert len(history) == options.iterations
    assert not found.fit.has_converged
    assert (np.diff(history) > -1e-7 * abs(history[0])).all()
    assert history[-1] > history[0]


@pytest.mark.parametrize("method", ["dawid-skene", "one-coin", "glad", "mace"])
def test_a_run_stops_once_nothing_is_gained(method: str) -> None:
    table = mixed_crowd().judgments
    found = aggregate(table, method, options=Options(tolerance=1e-3, restarts=2))
    *_, before, last = found.fit.history
    assert found.fit.has_converged
    assert last - before < 1e-3 * len(table)


@st.composite
def tables(draw: st.DrawFn) -> list[tuple[str, str, str]]:
    pairs = st.tuples(st.integers(0, 5), st.integers(0, 4))
    chosen = draw(st.lists(pairs, min_size=1, max_size=25, unique=True))
    return [(f"i{item}", f"r{rater}", draw(st.sampled_from("xyz"))) for item, rater in chosen]


def chances(found: Aggregation) -> dict[str, list[float]]:
    return dict(zip(found.items.to_list(), found.posteriors.tolist(), strict=True))


QUICK = Options(iterations=5, tolerance=NEVER, restarts=2)


@pytest.mark.parametrize("method", EVERY)
@examples(15)
@given(rows=tables(), chance=st.randoms(use_true_random=False))
def test_order_of_rows_changes_nothing(method: str, rows: list[tuple[str, str, str]], chance: object) -> None:
    mixed = list(rows)
    chance.shuffle(mixed)  # type: ignore[attr-defined]
    first, second = (aggregate(judgments(*map(" ".join, table)), method, options=QUICK) for table in (rows, mixed))
    close = 1e-3 if method == "glad" else 1e-8  # conjugate gradients stop at a slope of 0.01
    for item, chance_of in chances(first).items():
        assert chance_of == pytest.approx(chances(second)[item], abs=close)
        assert sum(chance_of) == pytest.approx(1)


@pytest.mark.parametrize("method", ["majority", "wawa", "dawid-skene", "one-coin"])
@examples(15)
@given(rows=tables())
def test_names_change_nothing(method: str, rows: list[tuple[str, str, str]]) -> None:
    """Other names, in another order: raters and labels count from the end, items too."""
    swap = {"x": "c", "y": "b", "z": "a"}
    renamed = [(f"j{9 - int(item[1])}", f"s{9 - int(rater[1])}", swap[label]) for item, rater, label in rows]
    if method == "wawa" and aggregate(judgments(*map(" ".join, rows)), "majority").is_tied.any():
        return  # the number that breaks a tie belongs to the item's name
    first, second = (aggregate(judgments(*map(" ".join, table)), method, options=QUICK) for table in (rows, renamed))
    for item, chance_of in chances(first).items():
        assert chance_of[::-1] == pytest.approx(chances(second)[f"j{9 - int(item[1])}"], abs=1e-8)


@pytest.mark.parametrize("method", EVERY)
@pytest.mark.parametrize(
    "rows",
    [
        ["1 a x"],
        ["1 a x", "1 b y"],
        ["1 a x", "2 a y", "3 a x"],
        ["1 a x", "1 b x", "2 a x", "2 b x"],
        ["1 a x", "1 b x", "2 a y", "2 b y"],
        ["1 a x", "2 b y", "3 c z"],
    ],
    ids=["one judgment", "one item", "one rater", "one label", "all agree", "nobody shares an item"],
)
def test_degenerate_tables_have_an_answer(method: str, rows: list[str]) -> None:
    found = aggregate(judgments(*rows), method)
    for numbers in (found.posteriors, found.skill, found.fit.history):
        assert np.isfinite(numbers).all()
    assert found.posteriors.sum(axis=1).tolist() == pytest.approx([1] * len(found.items))
    expected = {row.split()[0]: row.split()[2] for row in rows}
    if len(set(expected.values())) < 3 and len(rows) != 2:
        assert answers(found) == expected


def test_raters_who_are_positions_have_a_majority_and_nothing_more() -> None:
    table = Judgments(THREE.frame, "table", anonymous_raters=True)
    found = aggregate(table, "majority")
    assert answers(found)["2"] == "y"
    with pytest.raises(UsageError, match="skills need rater ids"):
        _ = found.skill
    with pytest.raises(UsageError, match="answers by dawid-skene need rater ids"):
        aggregate(table, "dawid-skene")


def test_methods_that_differ_on_many_items_are_warned_about() -> None:
    # Three good raters among six who guess: Dawid and Skene find out who is good, a majority cannot.
    crowd = Crowd(n_items=200, n_raters=9, n_each=9, skill=0.97, spread=0, spammers=2 / 3)
    result = aggregate(simulate(crowd, rng=generator(0)).judgments, "dawid-skene")
    assert result.rival is not None
    assert result.rival.method == "majority"
    assert result.rival.n_different > 20
    assert any("dawid-skene and majority differ on" in text for text in result.warnings)


@pytest.mark.parametrize("method", ["dawid-skene", "one-coin"])
def test_dawid_and_skene_run_until_no_posterior_moves(method: str) -> None:
    # Weak raters: the likelihood is nearly flat long before the posteriors stand still.
    crowd = simulate(Crowd(n_items=150, n_raters=12, n_each=4, skill=0.65, spread=0.1), rng=generator(5))
    table = crowd.judgments
    by_default = aggregate(table, method)
    to_the_end = aggregate(table, method, options=Options(iterations=4_000, tolerance=NEVER))
    early = aggregate(table, method, options=Options(iterations=10, tolerance=NEVER))
    assert by_default.fit.has_converged
    assert np.abs(early.posteriors - to_the_end.posteriors).max() > 0.01
    assert np.abs(by_default.posteriors - to_the_end.posteriors).max() < 1e-3


@pytest.mark.parametrize("method", EVERY)
def test_gold_is_held_fast_against_everybody_and_may_accept_several_labels(method: str) -> None:
    found = aggregate(THREE, method, gold=gold(**{"1": "y"}), options=QUICK)
    assert found.posteriors[0].tolist() == [0, 1]
    assert found.to_frame()["label"][0] == "y"

    # Gold may accept several labels.
    table = judgments("1 a x", "1 b y", "1 c z", "1 d z", "2 a x", "2 b x", "2 c x", "2 d z")
    found = aggregate(table, method, gold=gold(**{"1": "x|y"}), options=QUICK)
    x, y, z = found.posteriors[0]
    assert z == 0
    assert x + y == pytest.approx(1)
    assert min(x, y) > 0


def test_items_given_as_gold_are_counted_and_do_not_count_as_found() -> None:
    with pytest.raises(BadInput, match="expected gold for some of the judged items, found 1 others"):
        aggregate(THREE, "majority", gold=gold(n7="x"))
    of_gold = aggregate(THREE, "majority", gold=gold(**{"1": "x", "n7": "x"})).ballots.gold
    assert of_gold is not None
    assert (len(of_gold), of_gold.n_unjudged) == (1, 1)
    truth = gold(**{"1": "y", "2": "y", "3": "x|y"})
    assert accuracy(aggregate(THREE, "majority"), truth).share.value == pytest.approx(2 / 3)
    checked = accuracy(aggregate(THREE, "majority", gold=gold(**{"1": "y"})), truth)
    assert (checked.n_items, checked.share.value) == (2, 1)
    all_given = accuracy(aggregate(THREE, "majority", gold=truth), truth)
    assert (all_given.n_items, all_given.share.undefined_because) == (0, "no case was counted")


GOLDENS = Path(__file__).parent / "goldens"
RANDOM, CROWDKIT = (json.loads((GOLDENS / name).read_text("utf-8")) for name in ("tables.json", "crowdkit.json"))
TABLES = ("two", "three")
GOLD = {"i01": "l02", "i02": "l02", "i03": "l01"}


def table(name: str) -> Judgments:
    return judgments(*map(" ".join, RANDOM[name]))


def theirs(name: str, key: str) -> Numbers:
    return np.array(CROWDKIT[name][key])


def ours(name: str, method: str, n: int, gold: Table | None = None) -> Aggregation:
    return aggregate(table(name), method, gold=gold, options=Options(iterations=n, tolerance=NEVER))


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("n", [1, 30])
@pytest.mark.parametrize("method", ["dawid-skene", "one-coin"])
def test_posteriors_equal_crowd_kits_after_equal_iterations(name: str, method: str, n: int) -> None:
    found = ours(name, method, n)
    assert np.abs(found.posteriors - theirs(name, f"{method} {n}")).max() < 1e-6
    assert len(found.fit.history) == n


@pytest.mark.parametrize("name", TABLES)
def test_shares_answers_with_gold_and_glad_equal_crowd_kits(name: str) -> None:
    gold = Table("gold", pl.DataFrame({"item": list(GOLD), "label": list(GOLD.values())}), "gold")
    assert np.abs(ours(name, "dawid-skene", 10, gold).posteriors - theirs(name, "dawid-skene gold")).max() < 1e-6
    assert np.abs(ours(name, "majority", 1).posteriors - theirs(name, "majority")).max() < 1e-8
    # One iteration later; both climb by conjugate gradients until the slope is below 0.01, not to the very top.
    assert np.abs(ours(name, "glad", 3).posteriors - theirs(name, "glad")).max() < 1e-3


@pytest.mark.parametrize("name", TABLES)
def test_mace_from_the_same_start_equals_crowd_kits(name: str) -> None:
    # Ten iterations; crowd-kit draws both starts from RandomState(0): scipy's uniform(1, 1.5).
    ballots = ballots_of(table(name))
    cells = _cells(ballots)
    spam, strategy = (
        1 + 1.5 * np.random.RandomState(0).random_sample(size) for size in ((cells.shape[0], 2), cells.shape)
    )
    spam /= spam.sum(axis=1, keepdims=True)
    start = Parameters(spam[:, 0], spam[:, 1], strategy / strategy.sum(axis=1, keepdims=True))
    found = run(ballots, cells, start, Options(iterations=10, tolerance=NEVER)).state
    assert np.abs(found.posteriors - theirs(name, "mace")).max() < 1e-6
    assert np.abs(found.parameters.knows - theirs(name, "mace knows")).max() < 1e-6


def snow(name: str) -> tuple[Judgments, Table]:
    path = data_path(f"crowd/snow2008-{name}.tsv")
    named = parse_columns(["item=orig_id,rater=!amt_worker_ids,label=response"])
    truth = read_gold(path, columns={"item": "orig_id", "label": "gold"}, duplicates="first")
    return read_judgments(path, columns=named), truth


@pytest.mark.data
def test_ten_votes_on_rte_reach_what_snow_found() -> None:
    # Snow et al. 2008, figure 4: ten plain votes reach .897, ties broken at random
    judgments, truth = snow("rte")
    checked = accuracy(aggregate(judgments, "majority"), truth)
    assert checked.n_items == 800
    assert checked.share.value == pytest.approx(0.897, abs=0.008)


@pytest.mark.data
@pytest.mark.parametrize(("name", "least"), [("rte", 0.92), ("temp", 0.93)])
def test_dawid_skene_beats_the_majority_on_snows_data(name: str, least: float) -> None:
    judgments, truth = snow(name)
    assert accuracy(aggregate(judgments, "dawid-skene"), truth).share.value >= least


# Raters, and the simulated crowds in which all this is tried


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
    credit, has_others = agrees_with_others(ballots_of(judgments(*map(" ".join, rows))))
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
            rows.append(f"i{item} r{rater} {'error' if is_error else 'ok'}")
    return judgments(*rows)


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
