"""Large tables are matched by numbers and counted in pieces; results are those of small ones."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from grater.measure.evaluation import cases
from grater.measure.evaluation.evaluation import EvaluationOptions, evaluate
from grater.measure.evaluation.truth import truth_of
from grater.model import Json
from grater.tables import large, read_decisions, read_items, read_judgments
from grater.uncertainty import bootstrap
from grater.uncertainty.bootstrap import Chance, distinct

N_ITEMS, N_ROWS = 40, 300
OPTIONS = EvaluationOptions(unknown="apart", chance=Chance(n_resamples=50))


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, Path]:
    """Judgments, decisions and items in different orders; some items are only in one of the first two."""
    folder, rng = tmp_path_factory.mktemp("large"), np.random.default_rng(21)
    pairs = pl.DataFrame({"pair": rng.choice(N_ITEMS * 12, N_ROWS, replace=False)})
    judgments = pairs.select(
        item=pl.format("i{}", pl.col("pair") // 12),
        rater=pl.format("r{}", pl.col("pair") % 12),
        label=pl.Series(rng.choice(["error", "ok", "unknown"], N_ROWS, p=[0.4, 0.5, 0.1])),
    )
    items = [f"i{number}" for number in rng.permutation(np.arange(5, N_ITEMS + 5))]
    flagged = {"first": rng.random(N_ITEMS) < 0.4, "second": rng.random(N_ITEMS) < 0.4}
    systems = [pl.DataFrame({"item": items, "flagged": flags, "system": name}) for name, flags in flagged.items()]
    decisions = pl.concat(systems)
    essays = pl.DataFrame({"item": items, "essay": [f"e{number % 9}" for number in range(N_ITEMS)]})
    essays = essays.with_columns(start=0, end=1, kind=pl.lit("prep"))
    paths = folder / "judgments.parquet", folder / "decisions.parquet", folder / "items.parquet"
    for frame, path in zip((judgments, decisions, essays), paths, strict=True):
        frame.write_parquet(path)
    return paths


def evaluated(files: tuple[Path, Path, Path], *, one_system: bool, by_essay: bool) -> dict[str, Json]:
    judgments, decisions, items = files
    frame = pl.read_parquet(decisions)
    chosen = decisions.with_name("chosen.parquet")
    (frame.filter(pl.col("system") == "first") if one_system else frame).write_parquet(chosen)
    essays = read_items(items) if by_essay else None
    judged = read_judgments(judgments)
    return evaluate(read_decisions(chosen, judgments=judged), judged, items=essays, options=OPTIONS).to_dict()


@pytest.mark.parametrize(("one_system", "by_essay"), [(True, False), (False, True)])
def test_a_large_table_is_evaluated_as_a_small_one(
    files: tuple[Path, Path, Path], monkeypatch: pytest.MonkeyPatch, one_system: bool, by_essay: bool
) -> None:
    small = evaluated(files, one_system=one_system, by_essay=by_essay)
    monkeypatch.setattr(large, "LARGE", 1)
    for module in (cases, bootstrap):
        monkeypatch.setattr(module, "ROWS_AT_ONCE", 7)
    assert evaluated(files, one_system=one_system, by_essay=by_essay) == small
    assert any("judgments say unknown" in str(warning) for warning in small["warnings"])  # type: ignore[union-attr]


def test_many_decisions_share_the_categories_of_the_judgments(
    files: tuple[Path, Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    judgments, decisions, _ = files
    small = read_decisions(decisions).frame
    assert small.schema["item"] == pl.String
    monkeypatch.setattr(large, "LARGE", 1)
    judged = read_judgments(judgments)
    shared = read_decisions(decisions, judgments=judged).frame
    assert shared.schema["item"] == judged.frame.schema["item"]
    assert shared.with_columns(pl.col("item", "system").cast(pl.String)).equals(small)


@pytest.mark.parametrize("truth", ["share", "rater:r3", "dawid-skene"])
def test_a_large_table_has_the_truths_of_a_small_one(
    files: tuple[Path, Path, Path], monkeypatch: pytest.MonkeyPatch, truth: str
) -> None:
    judged, decided = read_judgments(files[0]), read_decisions(files[1])
    small = truth_of(cases.cases_of(decided, judged), truth)
    monkeypatch.setattr(large, "LARGE", 1)
    monkeypatch.setattr(cases, "ROWS_AT_ONCE", 7)
    judged = read_judgments(files[0])
    found = truth_of(cases.cases_of(read_decisions(files[1], judgments=judged), judged), truth)
    np.testing.assert_array_equal(found.values, small.values)


def test_codes_are_counted_whether_they_stand_together_or_not() -> None:
    pieces = [np.array([3, 3, 4], np.int32), np.array([0, 999], np.int32), np.zeros(0, np.int32)]
    counts = cases.tallied(pieces, 1000)
    assert counts.dtype == np.int8
    assert {place: int(counts[place]) for place in np.flatnonzero(counts)} == {0: 1, 3: 2, 4: 1, 999: 1}


def test_judgments_that_say_unknown_count_where_items_have_unequal_numbers() -> None:
    rows = [("a", "1", "error"), ("a", "2", "ok"), ("b", "1", "error"), ("b", "2", "unknown"), ("stray", "1", "ok")]
    judgments = read_judgments(pl.DataFrame(rows, ["item", "rater", "label"], orient="row"))
    decisions = read_decisions(pl.DataFrame({"item": ["b", "a", "nobody"], "system": "s", "flagged": [1, 0, 0]}))
    assert not any("too sure" in warning for warning in evaluate(decisions, judgments).warnings)
    more = read_judgments(pl.DataFrame([*rows, ("b", "3", "unknown")], ["item", "rater", "label"], orient="row"))
    assert any("items have 2 to 3 judgments" in warning for warning in evaluate(decisions, more).warnings)


def test_patterns_are_numbered_in_the_order_of_their_values() -> None:
    one, other = np.array([1, 0, 1, 0, 1], np.int8), np.array([0.5, np.nan, 0.25, np.nan, 0.5])
    first, pattern = distinct([one, other])
    assert pattern.tolist() == [2, 0, 1, 0, 2]
    assert pattern[first].tolist() == [0, 1, 2]


def test_patterns_of_pieces_are_those_of_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = np.array([1, 0, 1, 0, 1], np.int8), np.array([0.5, np.nan, 0.25, np.nan, 0.5])
    monkeypatch.setattr(bootstrap, "ROWS_AT_ONCE", 2)
    rows, times = bootstrap.patterns([one, other])
    np.testing.assert_array_equal(rows, [[0, np.nan], [1, 0.25], [1, 0.5]])
    assert times.tolist() == [2, 1, 2]
    assert bootstrap.patterns([one, other], np.array([0, 2]))[1].tolist() == [1, 1]
