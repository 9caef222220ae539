"""Which items were judged, and why: samples, judged flags, systems that list only flags, cheap judges, copies."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import product
from math import isnan
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import grater
from grater.errors import BadInput, GraterError, UnknownName, UsageError
from grater.measure.evaluation.cases import Counts
from grater.measure.evaluation.design import check_judge
from grater.measure.evaluation.evaluation import Evaluation
from grater.measure.sampling.draw import add_system, draw_sample
from grater.model import Interval
from grater.tables import Judgments, Sample, read_decisions, read_items, read_judgments, read_sample
from grater.uncertainty import Ints, Numbers, generator, wilson
from grater.uncertainty.sampled import Flags
from tests.measure.evaluation.worlds import decisions, limits, votes, width
from tests.measure.sampling.corpora import decisions_of, figure_1, item_ids, oracle

N = 3000
TRUTH = [place < 240 or 300 <= place < 360 or place % 20 == 0 for place in range(N)]
OLD = [place < 300 for place in range(N)]
NEW = [100 <= place < 400 for place in range(N)]


def known(flags: list[bool], truth: list[bool] = TRUTH) -> tuple[float, float]:
    hits = sum(flag and error for flag, error in zip(flags, truth, strict=True))
    return hits / sum(flags), hits / sum(truth)


def only(judgments: Judgments, sample: Sample) -> Judgments:
    return replace(judgments, frame=judgments.frame.join(sample.frame.select("item").unique(), on="item", how="semi"))


# From a sample


def from_table(judged: tuple[int, int], errors: tuple[int, int]) -> Evaluation:
    """So many of an endless corpus judged, a tenth of it flagged, and so many errors on either side."""
    n, names = sum(judged), item_ids(sum(judged))
    is_flagged = [place < judged[0] for place in range(n)]
    sizes = [1e12 if flag else 9e12 for flag in is_flagged]
    strata = {"stratum": ["flagged" if flag else "ok" for flag in is_flagged], "stratum_size": sizes}
    sample = read_sample(pl.DataFrame({"item": names, **strata, "probability": [1e-9] * n}))
    truth = [place < errors[0] or judged[0] <= place < judged[0] + errors[1] for place in range(n)]
    return grater.evaluate(decisions_of({"S": is_flagged}), oracle(truth), sample=sample)


def test_table_5_of_the_paper() -> None:
    # T&C 2008, Table 5, golden in statistics.md: 600 of 750 flagged items, 450 of 1,500 others
    evaluation = from_table((750, 1500), (600, 450))
    [found] = evaluation.systems
    assert found.counts.row()[:3] / 1e13 == pytest.approx([0.08, 0.02, 0.27], abs=1e-12)
    assert limits(found["precision"]) == pytest.approx(limits(wilson(600, 750)), abs=1e-12)
    assert limits(found["recall"]) == pytest.approx((0.228571, 0.213896, 0.243938), abs=5e-7)
    assert found["f0.5"].value == pytest.approx(0.533333, abs=5e-7)
    assert evaluation.sample is not None
    [estimated] = evaluation.sample.systems
    paper = estimated.paper
    assert limits(paper.precision)[1:] == pytest.approx((0.771373, 0.828627), abs=5e-7)
    assert (paper.hit.low / 1e13, paper.hit.high / 1e13) == pytest.approx((0.077137, 0.082863), abs=5e-7)
    assert (paper.miss.low / 1e13, paper.miss.high / 1e13) == pytest.approx((0.249128, 0.290872), abs=5e-7)
    assert "design:stratified" in str(evaluation.signature)


@pytest.mark.parametrize(
    ("misses", "low", "high"), [(10, 0.708860, 0.890874), (1, 0.887607, 0.996044), (0, 0.920923, 1.0)]
)
def test_rare_misses_have_the_limits_of_mover_and_wilson(misses: int, low: float, high: float) -> None:
    # statistics.md, golden: 400 of 500 flagged items are errors, and so many of 500 others
    [found] = from_table((500, 500), (400, misses)).systems
    assert limits(found["recall"])[1:] == pytest.approx((low, high), abs=5e-7)


def test_a_corpus_judged_whole_gives_the_standard_scores() -> None:
    # T&C 2008, Table 6 in the limit: sampling everything is exhaustive annotation
    table = decisions_of({"A": OLD})
    whole = draw_sample(table, "A", N)
    [plain] = grater.evaluate(table, oracle(TRUTH)).systems
    [drawn] = grater.evaluate(table, oracle(TRUTH), sample=whole).systems
    [these] = grater.evaluate(table, oracle(TRUTH), sample=whole, population="these").systems
    for name, score in plain.scores.items():
        assert drawn[name].value == pytest.approx(score.value, abs=1e-12)
        assert these[name].value == pytest.approx(score.value, abs=1e-12)
    assert (drawn["recall"].low, drawn["recall"].high) == pytest.approx(
        (plain["recall"].low, plain["recall"].high), abs=0.004
    )
    assert limits(these["recall"]) == pytest.approx((known(OLD)[1],) * 3)
    half, these_half = (
        grater.evaluate(table, oracle(TRUTH), sample=draw_sample(table, "A", 1500), population=population)
        for population in ("wider", "these")
    )
    assert width(these_half.systems[0]["recall"]) < width(half.systems[0]["recall"])
    assert "exactly these 3,000 items" in these_half.scope.sentence


def test_every_system_is_estimated_from_the_union_and_compared_in_pairs() -> None:
    table = decisions_of({"A": OLD, "B": NEW})
    sample = add_system(draw_sample(table, "A", 900, n_flagged=225), table, "B")
    found = grater.evaluate(table, oracle(TRUTH), sample=sample)
    for scored, flags in zip(found.systems, (OLD, NEW), strict=True):
        for name, true in zip(("precision", "recall"), known(flags), strict=True):
            assert scored[name].low <= true <= scored[name].high
    [pair] = grater.compare(table, oracle(TRUTH), sample=sample, score="recall").pairs
    first, second = (scored["recall"] for scored in found.systems)
    assert abs(pair.test.difference.value) == pytest.approx(abs(first.value - second.value), abs=1e-12)
    true = abs(known(OLD)[1] - known(NEW)[1])
    assert pair.test.difference.low <= true <= pair.test.difference.high
    assert width(pair.test.difference) < np.hypot(width(first), width(second))
    assert not grater.compare(table, oracle(TRUTH), sample=sample).warnings
    for_one = draw_sample(table, "A", 900)
    compared = grater.compare(table, only(oracle(TRUTH), for_one), sample=for_one)
    assert "drawn for A, not for B" in compared.warnings[0]
    not_drawn_for = grater.evaluate(table, oracle(TRUTH), sample=for_one).systems[1]["recall"]
    assert not_drawn_for.low <= known(NEW)[1] <= not_drawn_for.high


def test_strata_of_scores_and_of_a_cheap_rater_are_estimated() -> None:
    rng = np.random.default_rng(5)
    scores = np.clip(np.array(TRUTH) * 0.3 + np.array(OLD) * 0.5 + rng.random(N) * 0.2, 0, 1).tolist()
    table, cheap = decisions_of({"A": OLD}, scores), oracle([place % 11 == 0 for place in range(N)], "llm")
    for strata in ("score:10", "label"):
        labels = cheap if strata == "label" else None
        sample = draw_sample(table, "A", 900, strata=strata, method="proportional", labels=labels)
        [scored] = grater.evaluate(table, oracle(TRUTH), sample=sample, stratum_labels=labels).systems
        assert scored["recall"].low <= known(OLD)[1] <= scored["recall"].high


def test_every_number_is_weighted_by_what_an_item_stands_for() -> None:
    # S flags 40 of 100 items; of these 20 were drawn, of the others 20; three raters who differ, types of errors.
    rng, names = np.random.default_rng(8), item_ids(100)
    flagged, kinds = [place < 40 for place in range(100)], np.where(rng.random(100) < 0.5, "choice", "extraneous")
    table = pl.DataFrame({"item": names, "system": ["S"] * 100, "flagged": flagged, "type": kinds})
    sample = draw_sample(read_decisions(table), "S", 40, n_flagged=20)
    answers = rng.random((100, 3)) < np.where(flagged, 0.7, 0.2)[:, None]
    rows = [
        (item, f"r{rater}", "error" if answers[place, rater] else "ok", str(rng.choice(["choice", "extraneous"])))
        for place, item in enumerate(names)
        for rater in range(3)
    ]
    frames = table, pl.DataFrame(rows, ["item", "rater", "label", "type"], orient="row")
    drawn, judged = (frame.join(sample.frame.select("item"), on="item", how="semi") for frame in frames)
    # Each judged flag stands for 2 items and each other judged item for 3: the same as judging so many copies.
    times = drawn.select("item", copy=pl.int_ranges(pl.when("flagged").then(2).otherwise(3))).explode("copy")
    copied = [
        frame.join(times, on="item").with_columns(item=pl.concat_str("item", "copy", separator="-")).drop("copy")
        for frame in (drawn, judged)
    ]
    ours, theirs = grater.evaluate(table, judged, sample=sample), grater.evaluate(*copied)
    assert ours.systems[0].counts.n == 100

    def numbers(found: Evaluation) -> dict[str, float]:
        values = {f"{row.type} {name}": score.value for row in found.types for name, score in row.scores.items()}
        rows = found.to_frame().filter(pl.col("kind") != "paper")
        return values | {
            f"{kind} {name}": value for kind, name, value in rows.select("kind", "score", "value").rows()
        }

    assert len(numbers(ours)) > 50
    assert numbers(ours) == pytest.approx(numbers(theirs), abs=1e-12, nan_ok=True)
    assert limits(ours.systems[0]["kappa"]) != limits(theirs.systems[0]["kappa"])


def test_what_has_no_part_in_the_estimates_is_reported() -> None:
    table, judged = figure_1()
    sample = draw_sample(table, "S", 2250, seed=1)
    drawn = sample.frame["item"].to_list()
    label = pl.when(pl.col("item").is_in(drawn[:7])).then(pl.lit("unknown")).otherwise("label")
    found = grater.evaluate(table, judged.frame.with_columns(label=label), sample=sample)
    assert found.sample is not None
    assert (found.sample.n_drawn, found.sample.n_judged) == (2250, 2243)
    assert found.warnings == (
        "7 drawn items without a usable judgment, taken to be like the rest of a stratum",
        "7,750 judged items are not in the sample and are left out",
        "7 judgments are 'unknown' and do not count as votes",
    )
    flags_only = judged.frame.filter(pl.col("item") < "item-01000")
    one_side = grater.evaluate(table, flags_only, sample=sample)
    assert "no unflagged item was judged" in one_side.systems[0]["recall"].undefined_because
    assert one_side.systems[0]["precision"].value == pytest.approx(0.8, abs=0.03)


def test_samples_from_elsewhere_need_strata_that_are_flagged_as_a_whole() -> None:
    table, judged = figure_1()
    sample = draw_sample(table, "S", 2250)
    judged = only(judged, sample)
    bare = read_sample(sample.frame.select("item", "stratum", "probability"))
    theirs, ours = (grater.evaluate(table, judged, sample=each).systems[0]["recall"] for each in (bare, sample))
    assert limits(theirs) == pytest.approx(limits(ours))
    places = table.frame.select("item", level=pl.lit("low"))
    with pytest.raises(BadInput, match=r"keep NAME\.meta\.json"):
        grater.evaluate(table.frame.join(places, on="item"), judged, sample=bare, by="level")
    four = decisions_of({"A": [True, False, False, True]})
    mixed = read_sample(pl.DataFrame({"item": item_ids(2), "stratum": ["x"] * 2, "probability": [0.5] * 2}))
    with pytest.raises(BadInput, match="flags as a whole or not at all, found 'x'"):
        grater.evaluate(four, oracle([True, False]), sample=mixed)
    with pytest.raises(BadInput, match="drawn from another corpus"):
        grater.evaluate(table.frame.head(9999), judged, sample=sample)


N_ESSAYS, N_RATERS = 40, 6


@pytest.fixture(scope="module")
def study() -> dict[str, Any]:
    """Errors come in some essays, not in others; six raters of different strictness judge a sample for A and B."""
    rng, n = generator(0, "test"), 2000
    essay = [place % N_ESSAYS for place in range(n)]
    bad = rng.random(N_ESSAYS) < 0.3
    truth = rng.random(n) < np.where(bad[essay], 0.5, 0.05)
    flags = truth & (rng.random(n) < 0.7) | (rng.random(n) < 0.05)
    other = flags ^ (rng.random(n) < 0.02)
    table = decisions_of({"A": flags.tolist(), "B": other.tolist()})
    sample = add_system(draw_sample(table, "A", 600), table, "B")
    answers = rng.random((n, N_RATERS)) < np.where(truth[:, None], np.linspace(0.6, 0.98, N_RATERS), 0.03)
    rows = {"item": np.repeat(item_ids(n), N_RATERS), "rater": [f"r{place}" for place in range(N_RATERS)] * n}
    frame = pl.DataFrame({**rows, "label": np.where(answers.ravel(), "error", "ok")})
    essays = {"essay": [f"e{each:02}" for each in essay], "level": ["low" if each < 20 else "high" for each in essay]}
    places = pl.DataFrame({"item": item_ids(n), **essays}).with_columns(start=0, end=1, kind=pl.lit("prep"))
    judged = only(read_judgments(frame), sample)
    return {"decisions": table, "judgments": judged, "sample": sample, "items": read_items(places)}


def test_errors_that_come_together_widen_the_limits_by_essay(study: dict[str, Any]) -> None:
    by_item, by_essay = grater.evaluate(**study, units="item"), grater.evaluate(**study)
    assert (by_essay.scope.unit, by_essay.scope.n_units) == ("essay", N_ESSAYS)
    for one, other in zip(by_item.systems, by_essay.systems, strict=True):
        assert one["recall"].value == other["recall"].value
        assert other.design_effect["precision"] > 1
    assert width(by_essay.systems[0]["precision"]) > 1.1 * width(by_item.systems[0]["precision"])
    [pair] = grater.compare(**study, score="recall").pairs
    assert width(pair.test.difference) < width(by_essay.systems[0]["recall"])
    essays = study["items"].frame.select("item", "essay")
    known_by_sample = replace(study["sample"], frame=study["sample"].frame.join(essays, on="item"))
    unlisted = {name: table for name, table in study.items() if name != "items"}
    assert grater.evaluate(**{**unlisted, "sample": known_by_sample}).scope.unit == "essay"


def test_other_raters_widen_the_limits_of_a_sample_and_its_parts_add_up(study: dict[str, Any]) -> None:
    these, others = (grater.evaluate(**study, truth="share", raters=raters) for raters in ("these", "random"))
    for name in ("precision", "recall", "f0.5"):
        before, after = these.systems[0][name], others.systems[0][name]
        assert after.value == before.value
        assert width(after) > width(before)
    found = grater.evaluate(**study, by="level")
    assert list(found.parts) == ["level high", "level low"]
    counts = [part.standard[0].counts for part in found.parts.values()]
    assert sum(each.hit for each in counts) == pytest.approx(found.systems[0].counts.hit, rel=0.05)
    assert sum(each.n for each in counts) == pytest.approx(2000)


# Without a sample


def chosen(n_flags: int, n_rest: int, *, scores: list[float] | None = None, best: bool = False) -> Evaluation:
    """S flags 100 of 1,000 items; so many of its flags and of the rest were judged, or of the best of the rest."""
    columns: dict[str, list[Any]] = {"type": ["choice"] * 1000}
    columns |= {"score": scores} if scores else {}
    rest = sorted(range(100, 1000), key=lambda place: -scores[place] if scores and best else place)
    rows = [(f"i{n}", "r", "error" if n % 3 == 0 else "ok") for n in (*range(n_flags), *rest[:n_rest])]
    flags = decisions({"S": [int(place < 100) for place in range(1000)]}, **columns)
    return grater.evaluate(flags, pl.DataFrame(rows, ["item", "rater", "label"], orient="row"))


def test_recall_is_withheld_where_judged_shares_differ_and_nowhere_else() -> None:
    found = chosen(100, 300)
    whole, by_type = found.whole, [row.scores for row in found.types]
    rows = [whole.standard, whole.weighted, *whole.by_rater.values(), *(within.systems for within in whole.bins)]
    for withheld in [*(row[0].scores for row in rows), *by_type]:
        for name in {"recall", "f0.5", "f1", "kappa", "error_rate"} & withheld.keys():
            assert isnan(withheld[name].value)
    reason = "100 % of what S flags was judged and 33 % of the rest"
    assert reason in found.systems[0]["recall"].undefined_because
    assert reason in found.warnings[0]
    assert found.warnings[0].endswith("pass `sample` if they were drawn, or judge items at random")
    assert found.systems[0]["precision"].value == pytest.approx(0.34)
    alike = chosen(30, 270)
    assert alike.systems[0]["recall"].value > 0
    assert not any("withheld" in warning for warning in alike.warnings)
    scores = [1.0] * 100 + [(place * 37 % 900) / 1000 for place in range(900)]
    assert chosen(30, 270, scores=scores).systems[0]["recall"].value > 0
    by_score = chosen(30, 270, scores=scores, best=True)
    assert "have other scores of S than those that were not" in by_score.systems[0]["recall"].undefined_because


def test_a_system_that_lists_only_its_flags_has_precision_alone_and_is_not_ranked() -> None:
    truth = [place % 4 == 0 for place in range(120)]
    one, two = ([int(error != (place % n == 0)) for place, error in enumerate(truth)] for n in (7, 5))
    full, judged = decisions({"one": one, "two": two}).frame, votes([3 * error for error in truth], 3)
    flags = full.filter("flagged")
    whole, bare = grater.evaluate(full, judged), grater.evaluate(flags, judged)
    completed = grater.evaluate(flags, judged, missing="not-flagged")
    assert "missing:not-flagged" in str(completed.signature)
    for known_, shown, same in zip(whole.systems, bare.systems, completed.systems, strict=True):
        assert (same.counts, same.scores) == (known_.counts, known_.scores)
        assert shown["precision"].value == known_["precision"].value
        reason = f"{shown.system} lists only what it flags; pass `missing`"
        for name in ("recall", "f0.5", "f1", "kappa"):
            assert isnan(shown[name].value)
            assert shown[name].undefined_because.startswith(reason)
    [alone] = grater.evaluate(flags.filter(pl.col("system") == "one"), judged).systems
    assert isnan(alone["recall"].value)
    ranked, unranked = grater.compare(full, judged), grater.compare(flags, judged)
    assert (unranked.groups, unranked.pairs) == ({}, ())
    assert any(warning.startswith("not ranked by f0.5: one lists only") for warning in unranked.warnings)
    again = grater.compare(flags, judged, missing="not-flagged")
    assert again.groups == ranked.groups
    assert [pair.to_dict() for pair in again.pairs] == [pair.to_dict() for pair in ranked.pairs]


# A cheap judge

RNG = generator(0, "assist")
PLACE = RNG.normal(-1.2, 1.5, N)
ERRORS = (PLACE > 0).tolist()
FLAGS = (PLACE + RNG.normal(0, 1, N) > 1).tolist()


@pytest.fixture(scope="module")
def drawn() -> dict[str, Any]:
    table = decisions_of({"S": FLAGS})
    sample = draw_sample(table, "S", 300, seed=1)
    return {"decisions": table, "judgments": only(oracle(ERRORS), sample), "sample": sample}


def assisted(drawn: dict[str, Any], values: Any, **options: Any) -> tuple[Evaluation, Interval]:
    """The evaluation with a judge whose numbers stand in a column of the items, and its recall."""
    places = {"essay": item_ids(N), "start": [0] * N, "end": [1] * N, "kind": ["prep"] * N}
    table = pl.DataFrame({"item": item_ids(N), **places, "llm": values})
    found = grater.evaluate(**drawn, items=table, assist="llm", **{"units": "item", **options})
    return found, found.systems[0]["recall"]


def saved(found: Evaluation) -> int:
    made: Any = found.to_dict()
    n_saved: int = made["sample"]["assist"]["judgments_saved"]["S"]
    return n_saved


def test_a_good_judge_narrows_intervals_and_a_worthless_one_costs_nothing(drawn: dict[str, Any]) -> None:
    plain = grater.evaluate(**drawn).systems[0]["recall"]
    helped, recall = assisted(drawn, PLACE + RNG.normal(0, 0.5, N))
    assert width(recall) < 0.85 * width(plain)
    assert recall.low < known(FLAGS, ERRORS)[1] < recall.high
    assert 50 < saved(helped) <= N - 300
    assert "for recall it is worth this number of additional human judgments: S: " in str(helped.sheets()[-1])
    assert "assist:llm" in str(helped.signature)
    _, of_constant = assisted(drawn, np.ones(N))
    assert limits(of_constant) == pytest.approx(limits(plain), abs=1e-12)
    _, of_noise = assisted(drawn, generator(3, "noise").random(N))
    assert width(of_noise) == pytest.approx(width(plain), rel=0.05)


def test_a_judge_that_knows_everything_is_worth_the_corpus_and_is_doubted(drawn: dict[str, Any]) -> None:
    helped, recall = assisted(drawn, np.array(ERRORS, float), population="these")
    assert recall.value == pytest.approx(known(FLAGS, ERRORS)[1])
    assert width(recall) < 0.02
    assert saved(helped) <= N - 300
    assert "judge llm gives the label of people on all 300 judged items; if it has seen them" in helped.warnings[0]


def test_a_judge_that_has_seen_the_labels_is_refused_by_name(drawn: dict[str, Any]) -> None:
    seen = np.isin(item_ids(N), drawn["sample"].frame["item"].to_list())
    memory = np.where(seen, np.array(ERRORS, float), 0.0)  # right where people judged, "ok" elsewhere
    with pytest.raises(UsageError, match=r"judge llm .*answers otherwise on drawn items.*use a judge that has not"):
        assisted(drawn, memory)
    biased = PLACE + RNG.normal(0, 0.5, N) + seen  # not perfect, but surer where it saw the label
    with pytest.raises(UsageError, match="judge llm answers otherwise on drawn items"):
        assisted(drawn, biased)


def test_two_labels_are_post_stratification_on_the_label(drawn: dict[str, Any]) -> None:
    # With a binary judge the best weight gives the rate of each label, weighted by how often it is given.
    answers = PLACE + RNG.normal(0, 0.7, N) > 0
    found = assisted(drawn, answers.astype(float))[0].systems[0].counts
    rows = pl.DataFrame({"item": item_ids(N), "error": ERRORS, "flagged": FLAGS, "said": answers})
    judged = rows.join(drawn["sample"].frame, on="item", how="semi")
    for is_flagged, total in ((True, found.hit), (False, found.miss)):
        shares = dict(rows.filter(flagged=is_flagged).group_by("said").len().iter_rows())
        rates = dict(judged.filter(flagged=is_flagged).group_by("said").agg(pl.col("error").mean()).iter_rows())
        assert total == pytest.approx(sum(shares[label] * rates[label] for label in shares))


def test_a_judge_is_a_table_of_judgments_or_a_column(drawn: dict[str, Any], tmp_path: Path) -> None:
    labels = oracle((PLACE + RNG.normal(0, 0.5, N) > 0).tolist())
    path = tmp_path / "llm.csv"
    labels.frame.write_csv(path)
    found = {grater.evaluate(**drawn, assist=source).systems[0]["recall"] for source in (path, str(path), labels)}
    assert len(found) == 1
    with pytest.raises(BadInput, match="expected a value for every item, found none for 7"):
        grater.evaluate(**drawn, assist=labels.frame.head(N - 7))
    with pytest.raises(UnknownName, match="unknown column 'scor'"):
        grater.evaluate(**drawn, assist="scor")
    with pytest.raises(UsageError, match="pass the sample"):
        grater.evaluate(drawn["decisions"], drawn["judgments"], assist=labels)


# Copies


def test_raters_who_repeat_a_system_or_the_gold_are_named() -> None:
    truth = [place % 4 == 0 for place in range(80)]
    flags = [int(error != (place % 7 == 0)) for place, error in enumerate(truth)]
    honest = votes([2 * error + (place % 11 == 0) * (1 - error) for place, error in enumerate(truth)], 2).frame
    names, labels = [f"i{place}" for place in range(80)], ["error" if mark else "ok" for mark in (*flags, *truth)]
    raters = ["machine"] * 80 + ["gold"] * 80
    judged = pl.concat([honest, pl.DataFrame({"item": names * 2, "rater": raters, "label": labels})])
    gold = pl.DataFrame({"item": names, "label": labels[80:]})
    table = decisions({"S": flags})
    found = grater.evaluate(table, judged, gold=gold, truth="adjudicated")
    assert [warning for warning in found.warnings if "shared items" in warning] == [
        "rater machine gives the answer of system S on all 80 shared items; "
        "if these are its flags, leave machine out",
        "rater gold gives the adjudicated label on all 80 shared items; "
        "if gold is the adjudication, it is not a rater: leave it out",
    ]
    two = decisions({"S": flags, "T": [1 - flag for flag in flags]})
    compared = grater.compare(two, judged, gold=gold, truth="adjudicated")
    assert sum("shared items" in warning for warning in compared.warnings) == 2
    clean = grater.evaluate(table, honest, gold=gold, truth="adjudicated")
    assert not any("shared items" in warning for warning in clean.warnings)
    assert clean.systems[0].counts == Counts(17, 9, 3, 51)
    for few in ([0, 1] * 9, [0] * 40):  # fewer than twenty items, or one label
        unsure = grater.evaluate(decisions({"S": few}), votes([2 * flag for flag in few], 2))
        assert not any("shared items" in warning for warning in unsure.warnings)


def test_a_rater_who_judged_one_side_only_has_no_counts_of_the_other() -> None:
    table = decisions_of({"S": [place < 20 for place in range(200)]})
    sample = draw_sample(table, "S", 60, n_flagged=10)
    drawn = sample.frame["item"].to_list()
    flagged = [item for item in drawn if item in set(item_ids(20))]
    rows = [(item, rater) for rater, items in (("A", drawn), ("B", flagged)) for item in items]
    judged = pl.DataFrame(rows, ["item", "rater"], orient="row").with_columns(label=pl.lit("error"))
    found = grater.evaluate(table, judged, sample=sample)
    [_, alone] = found.to_dict()["systems"][0]["by_rater"]
    assert (alone["rater"], alone["counts"]["miss"], alone["recall"]["value"]) == ("B", None, None)


# Models that judge their own work, judges that saw the labels (issue 34)


N_ITEMS, N_SHEET, N_WORLDS = 3000, 300, 100
World = tuple[Numbers, Flags, Flags, Ints]
"""Truth, drawn items, flags and cells."""


def world(rng: np.random.Generator, n_cells: int) -> World:
    """3,000 items, a tenth flagged at .7 errors, few misses; a sheet of 300, a third of it flagged."""
    score = rng.random(N_ITEMS)
    flagged = score > 0.9
    truth = (rng.random(N_ITEMS) < np.where(flagged, 0.7, 0.02 + 0.15 * score**3)).astype(float)
    half = n_cells // 2
    below = np.minimum(half - 1, score / 0.9 * half).astype(np.int64)
    cell = np.where(flagged, half + np.minimum(half - 1, (score - 0.9) * 10 * half).astype(np.int64), below)
    drawn = np.zeros(N_ITEMS, bool)
    for place in np.unique(cell):
        items = np.flatnonzero(cell == place)
        n = round(N_SHEET * (1 if flagged[items[0]] else 2) / 3 / half)
        drawn[rng.choice(items, min(n, len(items)), replace=False)] = True
    return truth, drawn, flagged, cell


JUDGES: dict[str, Callable[[np.random.Generator, Numbers, Flags], Numbers]] = {
    "poor": lambda rng, truth, _: (rng.random(N_ITEMS) < np.where(truth, 0.6, 0.3)).astype(float),
    "guessing": lambda rng, _, __: (rng.random(N_ITEMS) < 0.15).astype(float),
    "flagging": lambda _, __, flagged: flagged.astype(float),
    "probabilities": lambda rng, truth, _: np.clip(0.1 + 0.5 * truth + 0.2 * rng.standard_normal(N_ITEMS), 0, 1),
    "three votes": lambda rng, truth, _: rng.binomial(3, np.where(truth, 0.75, 0.1)) / 3,
}


def is_refused(values: Numbers, made: World) -> bool:
    truth, drawn, flagged, cell = made
    try:
        check_judge("llm", values, np.where(drawn, truth, np.nan), drawn, cell, flagged)
    except GraterError:
        return True
    return False


def test_honest_judges_pass_and_those_that_saw_the_labels_are_refused() -> None:
    # 100 worlds cannot tell 1 % from 2 %, so honest judges are counted over all ten designs; over 2,000 worlds each
    # design refuses .0000 to .0085 of them
    n_honest, leaking = 0, {}
    for kind, n_cells in product(JUDGES, (2, 10)):
        rng, refused = np.random.default_rng(len(kind) + n_cells), 0
        for _ in range(N_WORLDS):
            made = world(rng, n_cells)
            truth, drawn, flagged, _ = made
            values = JUDGES[kind](rng, truth, flagged)
            n_honest += is_refused(values, made)
            refused += is_refused(np.where(drawn, truth, values), made)
        leaking[kind, n_cells] = refused / N_WORLDS
    assert n_honest <= 0.01 * N_WORLDS * len(leaking)
    assert min(leaking.values()) >= 0.95


@pytest.mark.parametrize(
    ("rater", "of_judge", "of_system", "is_own"),
    [
        ("gpt", {}, {}, True),
        ("judge", {"model": "tiny"}, {"model": "tiny"}, True),
        ("judge", {"model": "tiny"}, {"model": "large"}, False),
        ("judge", {}, {"model": "tiny"}, False),
        ("gpt", {"group": "annotator"}, {}, False),
    ],
)
def test_a_judge_is_its_own_by_its_model_or_its_name(
    rater: str, of_judge: dict[str, str], of_system: dict[str, str], is_own: bool
) -> None:
    # What Ann says, and next to it a rater who calls everything an error.
    items, people = list("abcd"), {"rater": ["Ann"] * 4, "label": ["error", "ok", "ok", "ok"]}
    judge = {"rater": [rater] * 4, "label": ["error"] * 4} | {name: [of] * 4 for name, of in of_judge.items()}
    judged = pl.concat([pl.DataFrame({"item": items, **each}) for each in (people, judge)], how="diagonal")
    flags = pl.DataFrame({"item": items, "system": "gpt", "flagged": [True] * 3 + [False]})
    decisions = flags.with_columns(pl.lit(value).alias(name) for name, value in of_system.items())
    result = grater.evaluate(decisions, judged, missing="not-flagged")
    named = [line for line in result.warnings if "judged its own corrections" in line]
    assert bool(named) == is_own
    if is_own:
        assert "it calls 3 of 3 right, people 1 of 3" in named[0]
        assert result.systems[0]["precision"].value == pytest.approx(1 / 3)
