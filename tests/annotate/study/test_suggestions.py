"""A system's marks offered in a marking job: who sees them, what is recorded, what comes out."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import polars as pl
import pytest

from grater.annotate import content, judgments, people
from grater.annotate.archive import export
from grater.annotate.gold import gold_from_planted, make_gold
from grater.annotate.marks import study_suggestions
from grater.annotate.plans import NewJob, add_job
from grater.annotate.reporting import study_inputs
from grater.annotate.status import new_study
from grater.annotate.store import Store
from grater.annotate.submissions import Desk, hand_in, take_desk
from grater.annotate.web.work import shape_of
from grater.errors import BadInput, UsageError
from grater.model import DELETE, Decision, Edit, Essay, Item, Json, Span
from grater.reporting.build import build
from tests.annotate.store.worlds import read, write
from tests.annotate.study.files import mark

TEXT = "In Monday we discussed about the plan. She depends of him {}."
FLAGS = (("In", "on"), ("about", DELETE), ("of", "on"))
N_ESSAYS = 12


@pytest.fixture
def study(tmp_path: Path) -> Iterator[Store]:
    """Essays about which a system has decided."""
    with new_study(tmp_path / "study.db") as store:
        with store.write() as tx:
            for essay in (Essay(f"e{n}", TEXT.format(n)) for n in range(N_ESSAYS)):
                content.add_essays(tx, [essay])
                for words, suggestion in (*FLAGS, ("him", None)):
                    start = essay.text.index(words)
                    place = Item(essay.essay_id, Span(start, start + len(words)), "prep")
                    content.add_items(tx, [content.study_item(place)])
                    decided = Decision(place.item_id, "lm", suggestion is not None, suggestion=suggestion)
                    content.add_decisions(tx, [decided])
        yield store


def offered(desk: Desk) -> list[dict[str, Json]]:
    return cast("list[dict[str, Json]]", shape_of(desk).model_dump(mode="json")["suggestions"])


def marks_of(desk: Desk, number: int) -> list[dict[str, Json]]:
    """The suggestion with this number, taken as it is."""
    found, text = offered(desk)[number], desk.unit.unit.essay.text
    return [{**found, "quote": text[found["start"] : found["end"]], "comment": "", "suggestion": number}]


def mark_all(store: Store, job_id: str, name: str) -> list[bool]:
    """Somebody takes the first suggestion and turns the second one down wherever they are shown; gives where."""
    person_id = write(store, people.add, name=name, role="annotator").person_id
    shown = []
    while desk := take_desk(store, job_id=job_id, person_id=person_id):
        is_shown = bool(offered(desk))
        edits = [mark(TEXT, "Monday", "Mec", "monday"), *(marks_of(desk, 0) if is_shown else [])]
        form = {"edits": [json.dumps(edits)], "rejected": ["[1]"] if is_shown else []}
        hand_in(store, desk, form, seconds=10)
        shown.append(is_shown)
    return shown


def test_each_annotator_sees_the_suggestions_of_a_share_of_essays(study: Store) -> None:
    job = add_job(study, NewJob(name="half", task="marking", judgments=2, system="lm", suggested_share=0.5))
    seen = [mark_all(study, job.job_id, name) for name in ("Ann", "Bob")]
    assert all(0 < sum(shown) < N_ESSAYS for shown in seen)
    n_shown = sum(map(sum, seen))
    with study.read() as tx:
        stored = [answer.payload["suggestions"] for _, (answer,) in judgments.by_submission(tx, job.job_id)]
        result, report = study_suggestions(tx), build(study_inputs(tx))
    fates, origins = ["accepted", "rejected", "left"], ["own", "accepted"]
    with_them = {"system": "lm", "shown": True, "fates": fates, "origins": origins}
    without = {"system": "lm", "shown": False}
    assert (stored.count(with_them), stored.count(without)) == (n_shown, 2 * N_ESSAYS - n_shown)
    assert result.scores["suggestions marked"]["with"].value == pytest.approx(1 / 3)
    assert result.scores["suggestions marked"]["without"].value == 0
    assert result.fates["left"] == n_shown
    [section] = [each for each in report.sections if each.name == "suggestions"]
    assert section.words[0].startswith("Annotators who saw a system’s suggestions marked .333")
    assert "those who did not .000" in section.words[0]
    assert [sheet.name for sheet in section.sheets] == ["suggestions-effect", "suggestions-fates"]


def test_a_suggestion_is_a_mark_of_the_tag_set_in_the_writers_capitals(study: Store) -> None:
    job = add_job(study, NewJob(name="all", task="marking", system="lm"))
    person_id = write(study, people.add, name="Ann", role="annotator").person_id
    desk = take_desk(study, job_id=job.job_id, person_id=person_id)
    assert offered(desk) == [
        {"start": 0, "end": 2, "tag": "Wcip", "replacements": ["On"]},
        {"start": 23, "end": 28, "tag": "Wcip", "replacements": [""]},
        {"start": 51, "end": 53, "tag": "Wcip", "replacements": ["on"]},
    ]
    (first,) = marks_of(desk, 0)
    with pytest.raises(BadInput, match="expected a suggestion from 0 to 2, found 3"):
        hand_in(study, desk, {"edits": [json.dumps([{**first, "suggestion": 3}])]}, seconds=1)
    hand_in(study, desk, {"edits": [json.dumps([{**first, "replacements": ["By"]}])]}, seconds=1)
    ((_, (answer,)),) = read(study, judgments.by_submission, job.job_id)
    assert answer.payload["suggestions"]["origins"] == ["changed"]  # type: ignore[index,call-overload]


def test_two_jobs_on_the_same_essays_are_compared_and_exported(study: Store, tmp_path: Path) -> None:
    with_them = add_job(study, NewJob(name="with", task="marking", system="lm"))
    without = add_job(study, NewJob(name="without", task="marking"))
    assert all(mark_all(study, with_them.job_id, "Ann"))
    assert not any(mark_all(study, without.job_id, "Bob"))
    result = read(study, study_suggestions, job_names=["with", "without"])
    assert result.n_markings == {"with": N_ESSAYS, "without": N_ESSAYS}
    assert result.differences["suggestions marked"].value == pytest.approx(1 / 3)
    with pytest.raises(UsageError, match="found elsewhere"):
        read(study, study_suggestions, job_names=["elsewhere"])
    export(study, tmp_path / "out")
    table = pl.read_csv(tmp_path / "out" / "judgments.csv", infer_schema=False).filter(job="with")
    fates = Counter(fate for each in table["payload"] for fate in json.loads(each)["suggestions"]["fates"])
    assert fates == {"accepted": N_ESSAYS, "left": N_ESSAYS, "rejected": N_ESSAYS}


def test_a_job_that_offers_marks_takes_no_gold_without_them_and_no_unknown_system(study: Store) -> None:
    job = add_job(study, NewJob(name="with", task="marking", system="lm"))
    good = Essay("good", "She depends on him.", (Edit(Span(12, 14), ("of",), "Wcip", "1"),), ("1",))
    with pytest.raises(UsageError, match="none would point at planted errors"):
        write(study, gold_from_planted, job, [good])
    part = Item("e0", Span(0, 9), "essay")
    write(study, content.add_items, [content.study_item(part)])
    with pytest.raises(UsageError, match="offers a system's marks"):
        write(study, make_gold, job, part.item_id, ["3-9|Mec"], reason="")
    with pytest.raises(UsageError, match="expected one of the study's systems"):
        add_job(study, NewJob(name="other", task="marking", system="nobody"))
    with pytest.raises(UsageError, match="suggested_share: expected"):
        NewJob.checked(name="other", task="marking", system="lm", suggested_share=0)
