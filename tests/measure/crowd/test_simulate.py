import numpy as np
import polars as pl
import pytest

from grater.errors import UsageError
from grater.measure.crowd.simulate import Crowd, simulate, subsets
from grater.uncertainty import generator


def test_every_item_has_its_number_of_different_raters() -> None:
    made = simulate(Crowd(n_items=50, n_raters=6, n_each=4), rng=generator(0))
    per_item = made.judgments.frame.group_by("item").agg(pl.col("rater").n_unique(), pl.len())
    assert per_item.select("rater", "len").unique().rows() == [(4, 4)]
    assert made.judgments.frame["rater"].n_unique() == 6


def test_every_set_of_raters_is_equally_likely() -> None:
    drawn = np.sort(subsets(4, 2, 6000, rng=generator(1)), axis=1)
    _, counts = np.unique(drawn, axis=0, return_counts=True)
    assert counts.tolist() == pytest.approx([1000] * 6, abs=145)  # five standard deviations


def test_the_same_seed_gives_the_same_crowd() -> None:
    first, second, other = (simulate(Crowd(), rng=generator(seed)).judgments.frame for seed in (3, 3, 4))
    assert first.equals(second)
    assert not first.equals(other)


def shares_right(crowd: Crowd) -> pl.DataFrame:
    made = simulate(crowd, rng=generator(5))
    known = made.judgments.frame.join(made.truth.frame.rename({"label": "truth"}), on="item")
    right = known.group_by("rater").agg((pl.col("label") == pl.col("truth")).mean().alias("right"))
    return right.join(made.raters, on="rater")


def test_raters_are_as_good_as_their_skill() -> None:
    found = shares_right(Crowd(n_items=2000, n_raters=6, n_each=6, spread=0.15, prevalence=(1, 3)))
    # 2,000 judgments: five standard deviations
    assert found["right"].to_list() == pytest.approx(found["skill"].to_list(), abs=0.06)


def test_spammers_guess_and_lazy_raters_say_one_thing() -> None:
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
    known = made.judgments.frame.join(made.truth.frame.rename({"label": "truth"}), on="item", maintain_order="left")
    is_right = known.select(pl.col("rater"), right=pl.col("label") == pl.col("truth"))
    for _, rows in is_right.group_by("rater"):
        assert rows["right"][:1000].mean() == pytest.approx(0.9, abs=0.05)
        assert rows["right"][1000:].mean() == pytest.approx(0.5, abs=0.08)


def test_difficult_items_are_guessed() -> None:
    found = shares_right(Crowd(n_items=4000, n_raters=4, n_each=4, skill=1, spread=0, difficulty=0.3))
    # Guesses in 0.3 of the cases, half of them right
    assert found["right"].to_list() == pytest.approx([0.85] * 4, abs=0.03)


def test_prevalence_is_that_of_the_labels() -> None:
    truth = simulate(Crowd(n_items=5000, prevalence=(1, 4)), rng=generator(9)).truth.frame["label"]
    assert (truth == "error").mean() == pytest.approx(0.2, abs=0.03)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_items": 0}, "at least one item"),
        ({"n_each": 11}, "at least 11 raters"),
        ({"labels": ("a",)}, "two labels or more"),
        ({"labels": ("a", "a")}, "each once"),
        ({"skill": 1.5}, "between 0 and 1"),
        ({"spammers": 0.6, "lazy": 0.6}, "at most 1 together"),
        ({"prevalence": (1.0,)}, "a prevalence for each label"),
        ({"prevalence": (0.0, 0.0)}, "above 0"),
        ({"prevalence": (float("inf"), 1.0)}, "prevalences of 0 or more"),
        ({"difficulty": 0.7}, "at most 0.5"),
        ({"spread": float("nan")}, "spread"),
    ],
)
def test_impossible_crowds_are_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        Crowd(**options)  # type: ignore[arg-type]
