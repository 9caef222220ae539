from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest
from grater.measure.evaluation.sampled import Sampled, chance_of, sampled

from grater.errors import BadInput, UnknownName, UsageError
from grater.measure.sampling.draw import add_system, draw_sample
from grater.tables import Judgments, Sample, Table, read_gold, read_items, read_judgments, read_sample
from grater.uncertainty import generator
from grater.uncertainty.bootstrap import Chance, Cluster
from tests.measure.sampling.corpora import decisions_of, item_ids

N, N_ESSAYS, N_RATERS = 2000, 40, 6
ESSAY = [place % N_ESSAYS for place in range(N)]


@pytest.fixture(scope="module")
def study() -> tuple[Table, Sample, Judgments, Table]:
    """Errors come in some essays, not in others; six raters of different strictness judge every item."""
    rng = generator(0, "test")
    bad = rng.random(N_ESSAYS) < 0.3
    truth = rng.random(N) < np.where(bad[ESSAY], 0.5, 0.05)
    flags = truth & (rng.random(N) < 0.7) | (rng.random(N) < 0.05)
    other = flags ^ (rng.random(N) < 0.02)
    decisions = decisions_of({"A": flags.tolist(), "B": other.tolist()})
    sample = add_system(draw_sample(decisions, "A", 600), decisions, "B")
    strict = np.linspace(0.6, 0.98, N_RATERS)
    said = rng.random((N, N_RATERS)) < np.where(truth[:, None], strict, 0.03)
    rows = {"item": np.repeat(item_ids(N), N_RATERS), "rater": [f"r{place}" for place in range(N_RATERS)] * N}
    frame = pl.DataFrame({**rows, "label": np.where(said.ravel(), "error", "ok")})
    drawn = frame.join(sample.frame.select("item").unique(), on="item", how="semi")
    return decisions, sample, read_judgments(drawn), places()


def places() -> Table:
    numbers = {"start": [0] * N, "end": [1] * N, "kind": ["prep"] * N}
    essays = {"essay": [f"e{each:02}" for each in ESSAY], "document": [f"d{each % 10}" for each in ESSAY]}
    level = {"level": ["low" if each < 20 else "high" for each in ESSAY]}
    return read_items(pl.DataFrame({"item": item_ids(N), **essays, **numbers, **level}))


def run(study: tuple[Table, Sample, Judgments, Table], cluster: Cluster = "item", **options: object) -> Sampled:
    decisions, sample, judgments, items = study
    chance = Chance(cluster, n_resamples=200)
    return sampled(decisions, sample, judgments, items=items, chance=chance, **options)  # type: ignore[arg-type]


def width(found: Sampled, score: str = "recall") -> float:
    interval = getattr(found.systems[0].scores, score)
    return float(interval.high - interval.low)


def test_drawing_essays_or_raters_changes_limits_and_no_value(study: tuple[Table, Sample, Judgments, Table]) -> None:
    plain = run(study, truth="share")
    clusters: tuple[Cluster, ...] = ("essay", "document", "rater", "item+rater", "essay+rater")
    for cluster in clusters:
        found = run(study, cluster, truth="share")
        for own, other in zip(plain.systems, found.systems, strict=True):
            assert own.scores.recall.value == other.scores.recall.value
            assert other.scores.recall.low < other.scores.recall.value < other.scores.recall.high
            assert other.scores.method == f"bootstrap-{cluster}"
        assert f"units:{cluster}" in str(found.signature)
        assert "fpc:no" in str(found.signature)


def test_errors_that_come_together_widen_the_limits_by_essay(study: tuple[Table, Sample, Judgments, Table]) -> None:
    by_item, by_essay = run(study, population="wider"), run(study, "essay")
    assert width(by_essay, "precision") > 1.1 * width(by_item, "precision")
    for name in ("precision", "recall", "hit", "miss"):
        assert width(by_essay, name) >= width(by_item, name)


def test_items_and_raters_together_are_in_more_doubt_than_raters(
    study: tuple[Table, Sample, Judgments, Table],
) -> None:
    raters, both = (run(study, cluster, truth="share") for cluster in ("rater", "item+rater"))
    assert width(both) > width(raters)


def test_differences_are_drawn_together(study: tuple[Table, Sample, Judgments, Table]) -> None:
    found = run(study, "essay")
    (pair,) = found.differences
    first, second = (each.scores.recall for each in found.systems)
    assert pair.recall.value == pytest.approx(first.value - second.value)
    assert pair.recall.high - pair.recall.low < first.high - first.low


def test_order_of_rows_and_names_of_raters_change_no_limit(study: tuple[Table, Sample, Judgments, Table]) -> None:
    decisions, sample, judgments, items = study
    mixed = judgments.frame.sample(fraction=1, shuffle=True, seed=1)
    renamed = mixed.with_columns(rater=pl.col("rater").replace({f"r{place}": f"x{9 - place}" for place in range(9)}))
    clusters: tuple[Cluster, ...] = ("essay", "rater", "item+rater")
    for cluster in clusters:
        own = run(study, cluster, truth="share").systems
        other = run((decisions, sample, replace(judgments, frame=renamed), items), cluster, truth="share").systems
        for one, two in zip(own, other, strict=True):
            assert one.scores.recall.low == pytest.approx(two.scores.recall.low)
            assert one.scores.recall.high == pytest.approx(two.scores.recall.high)


def test_raters_cannot_be_drawn_for_a_truth_that_is_not_of_votes(
    study: tuple[Table, Sample, Judgments, Table],
) -> None:
    with pytest.raises(UsageError, match="raters can be drawn for the share or the majority"):
        run(study, "rater", truth="dawid-skene")
    with pytest.raises(UsageError, match="give it here as the judgments of one rater"):
        run(study, truth="adjudicated")


def test_a_skilled_model_of_raters_may_be_the_truth(study: tuple[Table, Sample, Judgments, Table]) -> None:
    found = run(study, truth="dawid-skene")
    assert found.systems[0].scores.recall.low < found.systems[0].scores.recall.high
    assert "truth:dawid-skene" in str(found.signature)


def test_parts_have_cells_of_their_own_that_add_up(study: tuple[Table, Sample, Judgments, Table]) -> None:
    found = run(study, by="level")
    assert list(found.parts) == ["level high", "level low"]
    assert sum(part.n_items for part in found.parts.values()) == found.n_items == N
    assert sum(part.n_judged for part in found.parts.values()) == found.n_judged
    hits = sum(part.systems[0].scores.hit.value for part in found.parts.values())
    assert hits == pytest.approx(found.systems[0].scores.hit.value, rel=0.05)
    with pytest.raises(UnknownName, match="unknown column 'levl'"):
        run(study, by="levl")


def test_a_sample_without_its_design_has_no_parts(study: tuple[Table, Sample, Judgments, Table]) -> None:
    decisions, _, judgments, items = study
    bare = read_sample(draw_sample(decisions, "A", 600).frame.select("item", "stratum", "probability"))
    with pytest.raises(BadInput, match=r"keep NAME\.meta\.json"):
        sampled(decisions, bare, judgments, systems=["A"], items=items, by="level")
    found = sampled(decisions, bare, judgments, systems=["A"], items=items, chance=Chance("essay", 100))
    assert found.systems[0].scores.recall.low < found.systems[0].scores.recall.high


def test_the_unknown_is_no_vote_or_ok_or_its_items_are_set_aside(
    study: tuple[Table, Sample, Judgments, Table],
) -> None:
    decisions, sample, judgments, items = study
    errors = judgments.frame.filter((pl.col("rater") == "r5") & (pl.col("label") == "error"))["item"].to_list()
    is_hard = pl.col("item").is_in(errors[:40]) & pl.col("rater").is_in(["r3", "r4", "r5"])
    frame = judgments.frame.with_columns(label=pl.when(is_hard).then(pl.lit("unknown")).otherwise(pl.col("label")))
    hard = (decisions, sample, replace(judgments, frame=frame), items)
    dropped, ok, apart = (run(hard, truth="share", unknown=how) for how in ("drop", "ok", "apart"))
    assert ok.systems[0].scores.hit.value < dropped.systems[0].scores.hit.value
    assert apart.systems == dropped.systems
    assert apart.parts["without unknown"].n_judged == dropped.n_judged - 40
    assert any("120 judgments say unknown" in each for each in dropped.warnings)
    assert not any("unknown" in each for each in ok.warnings)


def test_gold_items_are_no_strangers(study: tuple[Table, Sample, Judgments, Table]) -> None:
    decisions, sample, judgments, items = study
    extra = pl.DataFrame({"item": ["g1", "g2", "stray"], "rater": ["r1"] * 3, "label": ["error"] * 3})
    more = (decisions, sample, read_judgments(pl.concat([judgments.frame, extra])), items)
    gold = read_gold(pl.DataFrame({"item": ["g1", "g2"], "label": ["error", "ok"]}))
    assert "1 judged items are not in the sample and are left out" in run(more, gold=gold).warnings
    assert "3 judged items are not in the sample and are left out" in run(more).warnings


def test_essays_are_drawn_where_they_are_known(study: tuple[Table, Sample, Judgments, Table]) -> None:
    decisions, sample, judgments, items = study
    found = sampled(decisions, sample, judgments, items=items)
    assert "units:essay" in str(found.signature)
    assert (found.scope.unit, found.scope.n_units) == ("essay", N_ESSAYS)
    assert found.scope.design_effect > 1.2
    assert "to other essays like these 40 (resampled by essay, design effect" in found.scope.sentence
    made: dict[str, Any] = dict(found.to_dict())
    assert made["systems"][0]["design_effect"]["precision"] > 1
    of_sample = sample.frame.join(items.frame.select("item", "essay"), on="item")
    from_sample = sampled(decisions, replace(sample, frame=of_sample), judgments)
    assert from_sample.scope.unit == "essay"
    unknown = sampled(decisions, sample, judgments)
    assert "taken as independent (their essays are not known)" in unknown.scope.sentence


def test_few_essays_are_warned_of_and_have_students_t(study: tuple[Table, Sample, Judgments, Table]) -> None:
    decisions, sample, judgments, items = study
    few = replace(items, frame=items.frame.with_columns(essay=pl.col("document").str.replace("d9", "d8")))
    found = sampled(decisions, sample, judgments, items=few)
    assert "only 9 essays: intervals by essay are rough below 10" in found.warnings
    assert "Student's t" in found.scope.sentence


def test_exactly_these_items_have_no_other_essays(study: tuple[Table, Sample, Judgments, Table]) -> None:
    decisions, sample, judgments, items = study
    assert sampled(decisions, sample, judgments, items=items, population="these").scope.unit == "item"
    with pytest.raises(UsageError, match="no other essay to draw"):
        chance_of(decisions, sample, items=items, cluster="essay", population="these")
