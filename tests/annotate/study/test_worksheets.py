"""Worksheets go out and judgments come in, raters join over time; samples are kept, extended, and judged once."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import polars as pl
import pytest

import grater
from grater.annotate import content, jobs, judgments, leases, people, samples
from grater.annotate.evaluation import evaluate_study
from grater.annotate.importing import Imported, import_files
from grater.annotate.plans import NewJob, add_job
from grater.annotate.samples import Drawn, NewSample, draw, extend, kind_of
from grater.annotate.store import Store, checks
from grater.annotate.systems import decide
from grater.annotate.tables import decision_columns
from grater.annotate.worksheets import write_worksheet
from grater.detect.systems import load_system
from grater.errors import BadInput, UsageError
from grater.tables import write_table
from tests.annotate.store.worlds import read, write
from tests.annotate.study.files import write_essays, write_items, write_text
from tests.annotate.study.systems import write_systems, write_verdicts


@pytest.fixture
def study(store: Store, tmp_path: Path) -> Store:
    """Three essays, the items `one` and `two`, and a job that asks two people about each."""
    import_files(store, corpora=[write_essays(tmp_path)], items=[write_items(tmp_path)])
    add_job(store, NewJob(name="errors", task="error", judgments=2, item_ids=("one", "two")))
    return store


def fill(sheet: Path, label: str, rater: str = "") -> Path:
    """Every row answered alike; without a rater the sheet's own name, or its file's, holds."""
    frame = pl.read_csv(sheet, infer_schema=False).filter(pl.col("item") != "#")
    names = [pl.lit(rater).alias("rater")] if rater else []
    frame.with_columns(*names, label=pl.lit(label)).write_csv(sheet)
    return sheet


def judged(store: Store, job: str) -> Counter[tuple[str, str, str]]:
    assert read(store, checks.violations) == []
    rows = read(store, judgments.table, read(store, jobs.named, job).job_id, judgments.ALL, names=True)
    items = read(store, content.items_of, [str(row["item"]) for row in rows])
    names = {item_id: each.outside_id or item_id for item_id, each in items.items()}
    return Counter((names[str(row["item"])], str(row["rater"]), str(row["label"])) for row in rows)


def bring(store: Store, sheet: Path, job: str = "errors") -> Imported:
    (done,) = import_files(store, judgments=[sheet], job=job)
    return done


def test_a_job_is_judged_in_sheets_by_raters_who_join_over_time(study: Store, tmp_path: Path) -> None:
    sheets = write_worksheet(study, tmp_path / "sheet.csv", job="errors", raters=["Ada", "Bo"])
    assert sheets == {tmp_path / "sheet-Ada.csv": 2, tmp_path / "sheet-Bo.csv": 2}
    assert bring(study, fill(tmp_path / "sheet-Ada.csv", "error")).new == 2
    expected = Counter([("one", "Ada", "error"), ("two", "Ada", "error")])
    assert judged(study, "errors") == expected
    for name in ("Bo", "Cy"):  # Cy is one more than the job asked for
        (sheet,) = write_worksheet(study, tmp_path / f"{name}.csv", job="errors", raters=[name])
        bring(study, fill(sheet, "ok"))
        expected += Counter([("one", name, "ok"), ("two", name, "ok")])
    assert judged(study, "errors") == expected
    with pytest.raises(UsageError, match="nothing is left to judge for Bo"):
        write_worksheet(study, tmp_path / "more.csv", job="errors", raters=["Bo"])


def test_a_sheet_fills_the_places_of_a_job_that_others_do_on_the_server(study: Store, tmp_path: Path) -> None:
    job_id = write(study, jobs.set_state, read(study, jobs.named, "errors").job_id, "open").job_id
    eve = write(study, people.add, name="Eve", role="worker").person_id
    assert write(study, leases.take, job_id=job_id, person_id=eve) is not None
    write_worksheet(study, tmp_path / "ada.csv", job="errors")
    bring(study, fill(tmp_path / "ada.csv", "ok"))
    assert judged(study, "errors") == Counter([("one", "ada", "ok"), ("two", "ada", "ok")])


def test_a_half_filled_sheet_comes_again_and_another_answer_is_named(study: Store, tmp_path: Path) -> None:
    header = "item,rater,label"
    bring(study, write_text(tmp_path / "half.csv", header, "one,Ada,ok"))
    done = bring(study, write_text(tmp_path / "whole.csv", header, "one,Ada,ok", "two,Ada,error"))
    assert (done.new, done.known) == (1, 1)
    with pytest.raises(BadInput, match="Ada has judged item 'one' as 'ok' already, found 'error'"):
        bring(study, write_text(tmp_path / "other.csv", header, "one,Ada,error"))
    for row, words in (("elsewhere,Bo,ok", "expected an item of the job errors"), ("one,Bo,0", "error, ok, unknown")):
        with pytest.raises(BadInput, match=words):
            bring(study, write_text(tmp_path / "bad.csv", header, row))


def test_a_second_raters_sheet_joins_an_imported_job(study: Store, tmp_path: Path) -> None:
    first = write_text(tmp_path / "ada.csv", "item,rater,label", "one,Ada,ok", "two,Ada,error")
    second = write_text(tmp_path / "bo.csv", "item,rater,label", "one,Bo,error", "elsewhere,Bo,ok")
    assert [bring(study, sheet, "experts").new for sheet in (first, second)] == [2, 2]
    of_both = [("one", "Ada", "ok"), ("two", "Ada", "error"), ("one", "Bo", "error"), ("elsewhere", "Bo", "ok")]
    assert judged(study, "experts") == Counter(of_both)
    job = read(study, jobs.named, "experts")
    assert (job.judgments, job.state) == (2, "closed")
    with pytest.raises(UsageError, match="need rater ids"):
        bring(study, write_text(tmp_path / "nobody.csv", "item,label", "one,ok"), "experts")


@pytest.fixture
def decided(store: Store, tmp_path: Path) -> Store:
    import_files(store, corpora=[write_essays(tmp_path)])
    decide(store, [load_system(name) for name in write_systems(tmp_path)])
    return store


def test_a_sample_of_the_study_is_judged_in_a_sheet(decided: Store, tmp_path: Path) -> None:
    drawn = draw(decided, NewSample(name="first", system="eager", n=4))
    assert write_worksheet(decided, tmp_path / "ada.csv", sample="first") == {tmp_path / "ada.csv": 4}
    bring(decided, fill(tmp_path / "ada.csv", "ok"), "experts")
    assert {item for item, _, _ in judged(decided, "experts")} == set(drawn.left)
    with pytest.raises(UsageError, match="nothing is left"):
        write_worksheet(decided, tmp_path / "bo.csv", sample="first")
    with pytest.raises(UsageError, match="expected a job or a sample"):
        write_worksheet(decided, tmp_path / "bo.csv")


def test_a_sample_that_was_drawn_elsewhere_is_one_of_the_study(decided: Store, tmp_path: Path) -> None:
    table = read(decided, decision_columns, ["prep"])
    drawn = grater.sample(table, system="eager", n=4, seed=3)
    write_table(drawn, tmp_path / "ours.csv")
    (done,) = import_files(decided, samples=[tmp_path / "ours.csv"])
    assert (done.kind, done.new) == ("sample", 4)
    kept = read(decided, samples.named, "ours")
    assert set(kept.frame["item"]) == set(drawn.frame["item"])
    assert kept.meta is not None
    assert samples.kind_of(kept) == "prep"
    other = grater.sample(table.filter(pl.col("system") == "eager").head(6), system="eager", n=4)
    write_table(other, tmp_path / "other.csv")
    with pytest.raises(BadInput, match="found one of other items"):
        import_files(decided, samples=[tmp_path / "other.csv"])


def test_one_file_is_both_items_and_decisions(store: Store, tmp_path: Path) -> None:
    places = ("one,e0,10,12", "two,e1,12,14")
    rows = [f"{place},prep,{system},1,B1" for system in "ST" for place in places]
    both = write_text(tmp_path / "both.csv", "item,essay,start,end,kind,system,flagged,level", *rows)
    essays = write_essays(tmp_path)
    with pytest.raises(BadInput, match="import this file as items, too"):
        import_files(store, corpora=[essays], decisions=[both])
    done = import_files(store, corpora=[essays], items=[both], decisions=[both])
    assert [(each.kind, each.new) for each in done[1:]] == [("items", 2), ("decisions", 4)]
    assert [each.payload for each in read(store, content.all_items)] == [{"level": "B1"}] * 2


def items_of(drawn: Drawn) -> set[str]:
    return set(drawn.sample.frame["item"])


def test_a_sample_is_of_one_kind_says_what_it_covers_and_is_kept_row_by_row(decided: Store) -> None:
    drawn = draw(decided, NewSample(system="eager", n=6))
    kept = read(decided, samples.named, "sample")
    columns = ["item", "stratum", "probability", "stratum_size", "random", "system"]
    assert kept.frame.select(columns).rows() == drawn.sample.frame.select(columns).rows()
    assert kept.meta == drawn.sample.meta
    assert kind_of(drawn.sample) == "prep"  # unless another is named
    gaps = draw(decided, NewSample(name="gaps", system="eager", n=1, kind="prep-missing"))
    for made, kind in ((drawn, "prep"), (gaps, "prep-missing")):
        assert items_of(made) <= set(read(decided, decision_columns, [kind])["item"])
    kind, few = drawn.notes
    assert kind.startswith("the sample covers items of kind prep; eager also decides on prep-missing (")
    assert kind.endswith("left out")
    assert few.endswith("there: below 20 precision is rough")


def test_a_system_is_added_with_no_more_items_than_the_wanted_width_needs(decided: Store, tmp_path: Path) -> None:
    left = draw(decided, NewSample(system="eager", n=6)).left
    with pytest.raises(UsageError, match="a target width needs judgments"):
        extend(decided, "sample", "wide", "careful", width=0.99)
    import_files(decided, judgments=[write_verdicts(tmp_path / "j.csv", list(left))])
    with pytest.raises(UsageError, match="between 0 and 1, found 7"):
        extend(decided, "sample", "wide", "careful", width=7)
    wide = extend(decided, "sample", "wide", "careful", width=0.99)
    narrow = extend(decided, "sample", "narrow", "careful", width=0.001)
    assert len(wide.left) < len(narrow.left)
    assert {*narrow.left}.isdisjoint(left), "what was judged is not judged again"
    assert items_of(narrow) >= {*left}


def test_essays_added_after_the_draw_belong_to_another_corpus(decided: Store, tmp_path: Path) -> None:
    draw(decided, NewSample(system="eager", n=6))
    import_files(decided, corpora=[write_text(tmp_path / "more.txt", "We sat on the bench for an hour.")])
    decide(decided, [load_system("prep-lm")])
    with pytest.raises(BadInput, match="drawn from another corpus"):
        extend(decided, "sample", "both", "prep-lm")


def test_what_was_judged_elsewhere_counts_for_the_sample(decided: Store, tmp_path: Path) -> None:
    left = draw(decided, NewSample(system="eager", n=6)).left
    import_files(decided, judgments=[write_verdicts(tmp_path / "elsewhere.csv", list(left[:4]))], job="earlier")
    import_files(decided, judgments=[write_verdicts(tmp_path / "now.csv", list(left[4:]))], job="later")
    estimates = read(decided, evaluate_study, "study", job_names=["later"], sample="sample")
    assert (estimates.sample.n_drawn, estimates.sample.n_judged) == (6, 6)
    assert "4 of the drawn items were judged elsewhere in the study; those judgments are used" in estimates.warnings
