"""The tables of a study: labels become verdicts, programs stay apart, and every door prints the same numbers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from grater.annotate import content, jobs, people
from grater.annotate.dashboard import figures_of
from grater.annotate.evaluation import evaluate_study, live_agreement
from grater.annotate.importing import import_files
from grater.annotate.plans import NewJob, add_job
from grater.annotate.protocol import set_terms
from grater.annotate.reporting import study_inputs
from grater.annotate.store import Store
from grater.annotate.submissions import hand_in, take_desk
from grater.annotate.tables import StudyTables, judged_items, labels_of, place_columns, study_tables
from grater.annotate.tasks import TASKS
from grater.corpora import write_corpus
from grater.errors import UsageError
from grater.model import Essay, Item, Span
from grater.reporting.build import build
from grater.reporting.raters import raters_section
from grater.sheet import interval
from grater.tables import read_gold, read_judgments
from tests.annotate.store.worlds import read, write
from tests.annotate.study.conftest import ON_BOTH
from tests.annotate.study.files import write_decisions, write_essays, write_items, write_text


@pytest.fixture
def filled(store: Store, tmp_path: Path) -> Store:
    """Two placed items with decisions; `one` is judged in three jobs, by people and a program."""
    items, decisions = [write_items(tmp_path)], [write_decisions(tmp_path)]
    import_files(store, corpora=[write_essays(tmp_path)], items=items, decisions=decisions)
    bring(store, tmp_path, "usage", "one,Zoe,0,crowd,2026-01-01T00:00:00Z", "one,Yan,e,crowd,2026-01-01T01:00:00Z")
    bring(store, tmp_path, "error", "one,Zoe,ok,crowd,2026-01-02T00:00:00Z", "one,bot,error,program,")
    bring(store, tmp_path, "cloze", "one,Zoe,at,crowd,", "one,bot,on,program,")
    return store


def bring(store: Store, folder: Path, task: str, *rows: str, job: str = "") -> None:
    file = write_text(folder / f"{job or task}.csv", "item,rater,label,group,at", *rows)
    import_files(store, judgments=[file], job=job or task, task=task)


def tables(store: Store, *names: str, **wishes: Any) -> StudyTables:
    return read(store, study_tables, "study", job_names=names, **wishes)


def labels(found: StudyTables) -> list[str]:
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
    words, programs = read(filled, labels_of, "cloze"), read(filled, labels_of, "cloze", groups=("program",))
    assert words.frame["label"].to_list() == ["at"]
    assert programs.frame.select("rater", "label").rows() == [("bot", "on")]


def test_experts_stand_apart_from_a_crowd_and_preferences_from_verdicts(filled: Store, tmp_path: Path) -> None:
    assert tables(filled).experts is None
    bring(filled, tmp_path, "error", "one,Ann,error,expert,", job="experts")
    bring(filled, tmp_path, "choice", "one,Mia,system,crowd,2026-01-03T00:00:00Z")
    found = tables(filled)
    assert labels(found) == ["ok", "ok"]
    assert found.experts.frame["label"].to_list() == ["error"]
    assert labels(tables(filled, "choice")) == ["error"]  # alone they are verdicts


def test_items_that_nobody_judged_are_still_decided_on(filled: Store) -> None:
    found = tables(filled)
    assert len(found.decisions) == 2
    assert sorted(found.items.frame["target"].to_list()) == ["in", "on"]
    assert len(read(filled, judged_items)) == 1
    # of another kind there is nothing
    found = tables(filled, kind="article")
    assert (found.judgments, found.decisions, found.items) == (None, None, None)


def test_gold_is_given_in_verdicts_and_answers_to_it_count_for_raters_only(filled: Store, tmp_path: Path) -> None:
    job_id = add_job(filled, NewJob(name="live", task="usage")).job_id
    known = write_text(tmp_path / "gold.csv", "item,label", "two,0|1")
    import_files(filled, gold=[known], job="live")
    write(filled, set_terms, job_id, {"gold": {"quiz": 1}})
    zoe = read(filled, people.named, "Zoe").person_id
    desk = take_desk(filled, job_id=job_id, person_id=zoe)
    hand_in(filled, desk, {"label": ["1"], "better": ["at"], "confidence": ["high"]}, seconds=1)
    found = tables(filled, "usage", "live")
    assert found.gold.frame["label"].to_list() == ["error"]
    assert labels(found) == ["error", "ok"]  # what was said of item one
    assert len(found.on_gold) == 1
    [sheet] = raters_section(found.judgments, gold=found.gold, on_gold=found.on_gold).sheets
    assert sorted(row[2] for row in sheet.rows) == ["1.00 [.21, 1.00]", "–"]  # Wilson's interval of 1 of 1


N_ESSAYS, N_ITEMS = 12, 5


@pytest.fixture
def judged(store: Store, tmp_path: Path) -> Store:
    """Twelve essays of five items; a system that flags everything but the last; every second essay is all errors."""
    items, decided, verdicts = [], [], []
    for essay in range(N_ESSAYS):
        for place in range(N_ITEMS):
            name = f"e{essay}-{place}"
            items.append(f"{name},e{essay},{3 * place},{3 * place + 2},prep")
            decided.append(f"{name},eager,{int(place < N_ITEMS - 1)}")
            verdicts += [f"{name},{rater},{'error' if essay % 2 else 'ok'}" for rater in ("A", "B", "C")]
    write_corpus([Essay(f"e{essay}", "in on at by of") for essay in range(N_ESSAYS)], tmp_path / "e.jsonl", print)
    places = write_text(tmp_path / "i.csv", "item,essay,start,end,kind", *items)
    decisions = write_text(tmp_path / "d.csv", "item,system,flagged", *decided)
    import_files(store, corpora=[tmp_path / "e.jsonl"], items=[places], decisions=[decisions])
    import_files(store, judgments=[write_text(tmp_path / "j.csv", "item,rater,label", *verdicts)], job="work")
    return store


def test_the_dashboard_and_the_report_print_the_same_intervals(judged: Store, tmp_path: Path) -> None:
    """Of a job whose judgments came in another order than that of its items, and whose raters differ."""
    places = [(essay, place) for place in range(N_ITEMS) for essay in reversed(range(N_ESSAYS))]
    verdicts = [
        f"e{essay}-{place},{rater},{'error' if (essay * place + shift) % 3 else 'ok'},2026-01-0{place + 1}T00:00:00Z"
        for essay, place in places
        for shift, rater in enumerate(("A", "B", "C"))
        if shift < 2 or essay % 4
    ]
    import_files(judged, judgments=[write_text(tmp_path / "n.csv", "item,rater,label,at", *verdicts)], job="noisy")
    with judged.read() as tx:
        board, report = figures_of(tx, jobs.named(tx, "noisy")), build(study_inputs(tx, job_names=["noisy"]))
    [line], [answered] = board.scores.systems, report.answer.sheets[0].rows
    assert {interval(line.precision), interval(line.recall)} <= set(answered)
    [coefficients] = [section.sheets[0] for section in report.sections if section.name == "agreement"]
    assert ("Krippendorff alpha", interval(board.agreement.alpha)) in {row[:2] for row in coefficients.rows}


def test_scores_are_corrected_by_the_hidden_gold_of_the_study(judged: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    with judged.read() as tx:
        with pytest.raises(UsageError, match="nobody has answered hidden gold yet"):
            evaluate_study(tx, "study", corrected=True)
        plain = study_tables(tx, "study")
        # Of ten errors and ten good items, all flagged, raters call fifteen errors: sensitivity 1, specificity .5.
        names = [f"e{essay}-{place}" for essay in range(5) for place in range(4)]
        gold = read_gold(pl.DataFrame({"item": names, "label": ["error"] * 10 + ["ok"] * 10}), name="gold")
        labels = zip(names, ["error"] * 15 + ["ok"] * 5, strict=True)
        verdicts = [(item, rater, label) for item, label in labels for rater in ("A", "B", "C")]
        on_gold = read_judgments(pl.DataFrame(verdicts, ["item", "rater", "label"], orient="row"))
        tables = replace(plain, gold=gold, on_gold=on_gold)
        monkeypatch.setattr("grater.annotate.tables.study_tables", lambda *_, **__: tables)
        result = evaluate_study(tx, "study", corrected=True)
    # 24 of 48 flags are errors as judged: (24 - .5 * 48) / .5 = 0 of them in truth
    assert result.whole.standard[0]["precision"].value == 0.5
    assert result.corrected["eager"].precision.value == 0


def test_grey_is_merged_with_yes_in_constructions() -> None:
    rows = [
        {"item": f"i{n}", "rater": rater, "label": label, "group": "crowd"}
        for n, pair in enumerate((("yes", "grey"), ("grey", "grey"), ("no", "grey"), ("no", "no")))
        for rater, label in zip(("Ann", "Bob"), pair, strict=True)
    ]
    found = live_agreement(rows, TASKS["construction"], name="job")
    assert found.labels.coefficients["observed"].value == 0.75


def test_where_asking_stopped_early_only_the_first_judgments_are_compared() -> None:
    """Two who agree were enough for one item; for the other two who differed were followed by three who agree."""
    verdicts = {"easy": ["ok"] * 2, "hard": ["ok"] + ["error"] * 4}
    found = [
        {"item": item, "rater": f"r{n}", "label": label, "group": "crowd", "at": f"2026-01-01T00:00:{n:02}Z"}
        for item, labels in verdicts.items()
        for n, label in enumerate(labels)
    ]
    all_of_them, first_two = (live_agreement(found, TASKS["error"], name="job", first=n) for n in (0, 2))
    assert first_two.labels.coefficients["observed"].value == 0.5
    assert all_of_them.labels.coefficients["observed"].value > 0.5


@ON_BOTH
def test_places_have_their_words_by_code_points(store: Store) -> None:
    """Offsets count code points in what the database cuts out of a text, on both engines (P7)."""
    text = "😀 We met in the café at noon."
    write(store, content.add_essays, [Essay("e", text, metadata={"document": "d1"}), Essay("long", "x" * 300)])
    place, gap = Item("e", Span(9, 11), "prep"), Item("e", Span(9, 9), "prep-missing")
    whole = Item("long", Span(0, 300), "essay")
    items = [content.study_item(place, payload={"level": "B1"}), content.study_item(gap), content.study_item(whole)]
    write(store, content.add_items, items)
    rows = {row["item"]: row for row in read(store, place_columns).iter_rows(named=True)}
    where = {"item": place.item_id, "essay": "e", "start": 9, "end": 11, "kind": "prep"}
    assert rows[place.item_id] == {**where, "target": "in", "document": "d1", "level": "B1"}
    assert (rows[gap.item_id]["target"], rows[gap.item_id]["level"]) == ("", None)
    whole_row = rows[whole.item_id]
    assert (whole_row["target"], whole_row["document"]) == (None, "long")  # a document of its own
