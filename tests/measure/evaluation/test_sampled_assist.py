"""A cheap judge of every item: narrower intervals where it is good, none of its business where it is not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from grater.measure.evaluation.sampled import Sampled, sampled
from grater.measure.evaluation.sampled.estimates import CheapJudge, judge_of_column, judge_of_labels

import grater
from grater.errors import BadInput, UnknownName
from grater.measure.sampling.draw import draw_sample
from grater.tables import Judgments, Sample, Table, read_items, read_judgments
from grater.uncertainty import generator
from tests.measure.sampling.corpora import decisions_of, item_ids, oracle

N = 3000
RNG = generator(0, "assist")
PLACE = RNG.normal(-1.2, 1.5, N)
TRUTH = (PLACE > 0).tolist()
FLAGS = (PLACE + RNG.normal(0, 1, N) > 1).tolist()


@pytest.fixture(scope="module")
def study() -> tuple[Table, Sample, Judgments]:
    decisions = decisions_of({"S": FLAGS})
    return decisions, draw_sample(decisions, "S", 300, seed=1), oracle(TRUTH)


def judge(values: object) -> CheapJudge:
    return CheapJudge("llm", pl.DataFrame({"item": item_ids(N), "value": values}))


def width(found: Sampled) -> float:
    recall = found.systems[0].scores.recall
    return recall.high - recall.low


def test_a_good_judge_narrows_intervals_and_says_what_it_saved(study: tuple[Table, Sample, Judgments]) -> None:
    plain, helped = sampled(*study), sampled(*study, assist=judge(PLACE + RNG.normal(0, 0.5, N)))
    assert width(helped) < 0.85 * width(plain)
    assert helped.assist is not None
    assert helped.assist.saved["S"] > 100
    assert "for recall it is worth this number of additional human judgments: S: " in helped.sheets()[-1].notes[-1]
    made: dict[str, Any] = dict(helped.to_dict())
    assert made["assist"]["judgments_saved"]["S"] > 100
    hits = sum(flag and error for flag, error in zip(FLAGS, TRUTH, strict=True))
    recall = helped.systems[0].scores.recall
    assert recall.low < hits / sum(TRUTH) < recall.high
    assert helped.systems[0].paper == plain.systems[0].paper


def test_a_worthless_judge_costs_nothing(study: tuple[Table, Sample, Judgments]) -> None:
    plain, helped = sampled(*study), sampled(*study, assist=judge(np.ones(N)))
    assert helped.systems[0].scores == plain.systems[0].scores
    noise = sampled(*study, assist=judge(generator(3, "noise").random(N)))
    assert width(noise) <= width(plain)
    assert width(noise) == pytest.approx(width(plain), rel=0.03)


def test_a_judge_that_knows_everything_leaves_the_doubt_of_the_corpus(study: tuple[Table, Sample, Judgments]) -> None:
    helped = sampled(*study, assist=judge(np.array(TRUTH, float)), population="these")
    hits = sum(flag and error for flag, error in zip(FLAGS, TRUTH, strict=True))
    assert helped.systems[0].scores.recall.value == pytest.approx(hits / sum(TRUTH))
    assert width(helped) < 0.02


def test_two_labels_are_post_stratification_on_the_label(study: tuple[Table, Sample, Judgments]) -> None:
    # With a binary judge the best weight gives the rate of each label, weighted by how often it is given.
    decisions, sample, judgments = study
    said = PLACE + RNG.normal(0, 0.7, N) > 0
    (system,) = sampled(decisions, sample, judgments, assist=judge(said.astype(float))).systems
    drawn = set(sample.frame["item"])
    rows = pl.DataFrame({"item": item_ids(N), "error": TRUTH, "flagged": FLAGS, "said": said})
    judged = rows.filter(pl.col("item").is_in(drawn))
    for stratum in system.strata:
        inside = rows.filter(pl.col("flagged") == stratum.is_flagged)
        shares = dict(inside.group_by("said").len().iter_rows())
        rates = dict(
            judged.filter(pl.col("flagged") == stratum.is_flagged)
            .group_by("said")
            .agg(pl.col("error").mean())
            .iter_rows()
        )
        expected = sum(shares[label] * rates[label] for label in shares) / len(inside)
        assert stratum.rate == pytest.approx(expected)


def test_essays_are_drawn_with_a_judge_too(study: tuple[Table, Sample, Judgments]) -> None:
    places = {
        "essay": [f"e{place % 40}" for place in range(N)],
        "start": [0] * N,
        "end": [1] * N,
        "kind": ["prep"] * N,
    }
    items = read_items(pl.DataFrame({"item": item_ids(N), **places, "llm": PLACE + RNG.normal(0, 0.5, N)}))
    plain = sampled(*study, items=items)
    helped = sampled(*study, items=items, assist=judge_of_column("llm", items, study[0]))
    assert helped.scope.unit == "essay"
    assert width(helped) < 0.9 * width(plain)


def test_a_judge_must_have_seen_every_item(study: tuple[Table, Sample, Judgments]) -> None:
    labels = read_judgments(oracle(TRUTH).frame.head(N - 7), name="llm.csv")
    with pytest.raises(BadInput, match="expected a value for every item, found none for 7"):
        sampled(*study, assist=judge_of_labels(labels))
    with pytest.raises(UnknownName, match="unknown column 'scor'"):
        judge_of_column("scor", study[0])


def test_from_python_a_judge_is_a_table_or_a_column(study: tuple[Table, Sample, Judgments], tmp_path: Path) -> None:
    decisions, sample, judgments = study
    path = tmp_path / "llm.csv"
    oracle((PLACE + RNG.normal(0, 0.5, N) > 0).tolist()).frame.write_csv(path)
    for source in (path, str(path), pl.read_csv(path)):
        found = grater.estimate(decisions, sample, judgments, assist=source)
        assert found.assist is not None
        assert found.assist.saved["S"] > 50
