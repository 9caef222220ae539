"""The tables of a study: labels become verdicts, programs stay apart, nothing is mixed that was not asked for."""

from __future__ import annotations

from pathlib import Path

import pytest

from grater.annotate import leases, people, submissions, units
from grater.annotate.importing import import_files
from grater.annotate.plans import NewJob, add_job
from grater.annotate.protocol import set_terms
from grater.annotate.store import Store
from grater.annotate.tables import StudyTables, judged_items, labels_of, study_tables
from grater.annotate.tasks.task import Answer
from grater.errors import UsageError
from grater.reporting.raters import raters_section
from tests.annotate.study.files import write_decisions, write_essays, write_items, write_text


@pytest.fixture
def filled(store: Store, tmp_path: Path) -> Store:
    """Two placed items with decisions; `one` is judged in three jobs, by people and a program."""
    import_files(
        store,
        corpora=[write_essays(tmp_path)],
        items=[write_items(tmp_path)],
        decisions=[write_decisions(tmp_path)],
    )
    bring(store, tmp_path, "usage", "one,Zoe,0,crowd,2026-01-01T00:00:00Z", "one,Yan,e,crowd,2026-01-01T01:00:00Z")
    bring(store, tmp_path, "error", "one,Zoe,ok,crowd,2026-01-02T00:00:00Z", "one,bot,error,program,")
    bring(store, tmp_path, "cloze", "one,Zoe,at,crowd,", "one,bot,on,program,")
    return store


def bring(store: Store, folder: Path, task: str, *rows: str) -> None:
    file = write_text(folder / f"{task}.csv", "item,rater,label,group,at", *rows)
    import_files(store, judgments=[file], job=task, task=task)


def tables(store: Store, *names: str, **wishes: object) -> StudyTables:
    with store.read() as tx:
        return study_tables(tx, "study", job_names=names, **wishes)  # type: ignore[arg-type]


def labels(found: StudyTables) -> list[str]:
    assert found.judgments is not None
    return sorted(found.judgments.frame["label"].cast(str).to_list())


def test_labels_become_verdicts_the_latest_of_a_rater_counts_and_programs_vote_when_asked_for(filled: Store) -> None:
    assert labels(tables(filled, "usage")) == ["error", "ok"]
    assert tables(filled, "usage").hours == (0.0, 1.0), "from the first judgment"
    assert labels(tables(filled)) == ["ok", "ok"], "Zoe said 0 first and ok a day later"
    assert labels(tables(filled, "error")) == ["ok"]
    assert labels(tables(filled, "error", with_programs=True)) == ["error", "ok"]
    # tasks without verdicts keep their labels
    with pytest.raises(UsageError, match="expected a job whose task has verdicts, found cloze"):
        tables(filled, "cloze")
    with filled.read() as tx:
        words, programs = labels_of(tx, "cloze"), labels_of(tx, "cloze", groups=("program",))
    assert words.frame["label"].to_list() == ["at"]
    assert programs.frame.select("rater", "label").rows() == [("bot", "on")]


def test_experts_stand_apart_where_there_is_a_crowd_too(filled: Store, tmp_path: Path) -> None:
    assert tables(filled).experts is None
    file = write_text(tmp_path / "e.csv", "item,rater,label,group", "one,Ann,error,expert")
    import_files(filled, judgments=[file], job="experts")
    found = tables(filled)
    assert labels(found) == ["ok", "ok"]
    assert found.experts is not None
    assert found.experts.frame["label"].to_list() == ["error"]


def test_preferences_are_left_out_where_raters_were_asked_for_errors(filled: Store, tmp_path: Path) -> None:
    bring(filled, tmp_path, "choice", "one,Mia,system,crowd,2026-01-03T00:00:00Z")
    assert labels(tables(filled)) == ["ok", "ok"]
    assert labels(tables(filled, "choice")) == ["error"]  # alone they are verdicts


def test_items_that_nobody_judged_are_still_decided_on(filled: Store) -> None:
    found = tables(filled)
    assert found.decisions is not None
    assert found.items is not None
    assert len(found.decisions) == 2
    assert sorted(found.items.frame["target"].to_list()) == ["in", "on"]
    with filled.read() as tx:
        assert len(judged_items(tx)) == 1
    # of another kind there is nothing
    found = tables(filled, kind="article")
    assert (found.judgments, found.decisions, found.items) == (None, None, None)


def test_gold_is_given_in_verdicts_like_judgments(filled: Store, tmp_path: Path) -> None:
    file = write_text(tmp_path / "gold.csv", "item,label", "two,0|1")
    import_files(filled, gold=[file], job="usage")
    found = tables(filled, "usage")
    assert found.gold is not None
    assert found.gold.frame["label"].to_list() == ["error"]


def test_answers_to_gold_count_for_raters_only(filled: Store, tmp_path: Path) -> None:
    job = add_job(filled, NewJob(name="live", task="usage"))
    known = write_text(tmp_path / "gold.csv", "item,label", "two,0|1")
    import_files(filled, gold=[known], job="live")
    with filled.write() as tx:
        set_terms(tx, job.job_id, {"gold": {"quiz": 1}})
        zoe = people.named(tx, "Zoe").person_id
        lease = leases.take(tx, job_id=job.job_id, person_id=zoe)
        [asked] = units.get(tx, lease.unit_id).unit.items
        answers = [Answer(asked.item.item_id, "1")]
        submissions.submit(
            tx, submission_id="first", lease_id=lease.lease_id, person_id=zoe, body={}, answers=answers
        )
    found = tables(filled, "usage", "live")
    assert labels(found) == ["error", "ok"]  # what was said of item one
    assert found.judgments is not None
    assert found.on_gold is not None
    assert len(found.on_gold) == 1
    [sheet] = raters_section(found.judgments, gold=found.gold, on_gold=found.on_gold).sheets
    assert sorted(row[2] for row in sheet.rows) == ["1.00 [.21, 1.00]", "–"]  # Wilson's interval of 1 of 1
