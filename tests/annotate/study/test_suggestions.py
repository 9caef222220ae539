"""A system's marks offered in a marking job: who sees them, what is recorded, what comes out."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from grater.annotate import content, jobs, judgments, people
from grater.annotate.archive import export
from grater.annotate.gold import gold_from_planted
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

TEXT = "In Monday we discussed about the plan. She depends of him {}."
FLAGS = (("In", "on"), ("about", DELETE), ("of", "on"))
N_ESSAYS = 12


@pytest.fixture
def study(tmp_path: Path) -> Iterator[Store]:
    """Essays about which a system has decided."""
    with new_study(tmp_path / "study.db") as store:
        with store.write() as tx:
            for n in range(N_ESSAYS):
                essay = Essay(f"e{n}", TEXT.format(n))
                places = [
                    Item(essay.essay_id, Span(at := essay.text.index(words), at + len(words)), "prep")
                    for words, _ in (*FLAGS, ("him", ""))
                ]
                content.add_essays(tx, [essay])
                content.add_items(tx, [content.study_item(place) for place in places])
                flagged = [
                    Decision(place.item_id, "lm", True, suggestion=word)
                    for place, (_, word) in zip(places, FLAGS, strict=False)
                ]
                content.add_decisions(tx, [*flagged, Decision(places[-1].item_id, "lm", False)])
        yield store


def marks_of(desk: Desk, *numbers: int) -> list[dict[str, Json]]:
    """The suggestions with these numbers, taken as they are."""
    offered = shape_of(desk).model_dump(mode="json")["suggestions"]
    text = desk.unit.unit.essay.text
    assert isinstance(offered, list)
    made = []
    for number in numbers:
        mark = offered[number]
        assert isinstance(mark, dict)
        start, end = mark["start"], mark["end"]
        made.append({**mark, "quote": text[start:end], "comment": "", "suggestion": number})
    return made


def mark_all(store: Store, job_id: str, name: str) -> list[bool]:
    """Somebody takes the first suggestion and turns the second one down wherever they are shown; gives where."""
    with store.write() as tx:
        person_id = people.add(tx, name=name, role="annotator").person_id
    shown = []
    while desk := take_desk(store, job_id=job_id, person_id=person_id):
        is_shown = bool(shape_of(desk).model_dump(mode="json")["suggestions"])
        own: dict[str, Json] = {"start": 3, "end": 9, "quote": "Monday", "tag": "Mec", "replacements": ["monday"]}
        edits = [own, *(marks_of(desk, 0) if is_shown else [])]
        form = {"edits": [json.dumps(edits)], "rejected": ["[1]"] if is_shown else []}
        hand_in(store, desk, form, seconds=10)
        shown.append(is_shown)
    return shown


def test_each_annotator_sees_the_suggestions_of_a_share_of_essays(study: Store) -> None:
    job = add_job(study, NewJob(name="half", task="marking", judgments=2, system="lm", suggested_share=0.5))
    seen = [mark_all(study, job.job_id, name) for name in ("Ann", "Bob")]
    assert all(0 < sum(shown) < N_ESSAYS for shown in seen)
    with study.read() as tx:
        stored = [answer.payload["suggestions"] for _, (answer,) in judgments.by_submission(tx, job.job_id)]
        result = study_suggestions(tx)
    with_them = {
        "system": "lm",
        "shown": True,
        "fates": ["accepted", "rejected", "left"],
        "origins": ["own", "accepted"],
    }
    assert [each for each in stored if each["shown"]] == [with_them] * sum(map(sum, seen))  # type: ignore[index,call-overload]
    assert {"system": "lm", "shown": False} in stored
    assert result.scores["suggestions marked"]["with"].value == pytest.approx(1 / 3)
    assert result.scores["suggestions marked"]["without"].value == 0
    assert result.fates["left"] == sum(map(sum, seen))
    with study.read() as tx:
        report = build(study_inputs(tx))
    [section] = [each for each in report.sections if each.name == "suggestions"]
    assert section.words[0].startswith("Annotators who saw a system’s suggestions marked .333")
    assert "those who did not .000" in section.words[0]
    assert [sheet.name for sheet in section.sheets] == ["suggestions-effect", "suggestions-fates"]


def test_a_suggestion_is_a_mark_of_the_tag_set_in_the_writers_capitals(study: Store) -> None:
    job = add_job(study, NewJob(name="all", task="marking", system="lm"))
    with study.write() as tx:
        person_id = people.add(tx, name="Ann", role="annotator").person_id
    desk = take_desk(study, job_id=job.job_id, person_id=person_id)
    assert desk is not None
    offered = shape_of(desk).model_dump(mode="json")["suggestions"]
    assert offered == [
        {"start": 0, "end": 2, "tag": "Wcip", "replacements": ["On"]},
        {"start": 23, "end": 28, "tag": "Wcip", "replacements": [""]},
        {"start": 51, "end": 53, "tag": "Wcip", "replacements": ["on"]},
    ]
    with pytest.raises(BadInput, match="expected a suggestion from 0 to 2, found 3"):
        hand_in(study, desk, {"edits": [json.dumps([{**marks_of(desk, 0)[0], "suggestion": 3}])]}, seconds=1)
    other = {**marks_of(desk, 0)[0], "replacements": ["By"]}
    hand_in(study, desk, {"edits": [json.dumps([other])]}, seconds=1)
    with study.read() as tx:
        ((_, (answer,)),) = judgments.by_submission(tx, job.job_id)
    assert answer.payload["suggestions"]["origins"] == ["changed"]  # type: ignore[index,call-overload]


def test_two_jobs_on_the_same_essays_are_compared_and_exported(study: Store, tmp_path: Path) -> None:
    with_them = add_job(study, NewJob(name="with", task="marking", system="lm"))
    without = add_job(study, NewJob(name="without", task="marking"))
    assert all(mark_all(study, with_them.job_id, "Ann"))
    assert not any(mark_all(study, without.job_id, "Bob"))
    with study.read() as tx:
        result = study_suggestions(tx, job_names=["with", "without"])
        with pytest.raises(UsageError, match="found elsewhere"):
            study_suggestions(tx, job_names=["elsewhere"])
    assert result.n_markings == {"with": N_ESSAYS, "without": N_ESSAYS}
    assert result.differences["suggestions marked"].value == pytest.approx(1 / 3)
    export(study, tmp_path / "out")
    table = pl.read_csv(tmp_path / "out" / "judgments.csv", infer_schema=False).filter(job="with")
    fates = Counter(fate for each in table["payload"] for fate in json.loads(each)["suggestions"]["fates"])
    assert fates == {"accepted": N_ESSAYS, "left": N_ESSAYS, "rejected": N_ESSAYS}


def test_a_job_that_offers_marks_takes_no_planted_gold_and_no_unknown_system(study: Store) -> None:
    job = add_job(study, NewJob(name="with", task="marking", system="lm"))
    good = Essay("good", "She depends on him.", (Edit(Span(12, 14), ("of",), "Wcip", "1"),))
    with study.write() as tx, pytest.raises(UsageError, match="none would point at planted errors"):
        gold_from_planted(tx, jobs.get(tx, job.job_id), [replace(good, annotators=("1",))])
    with pytest.raises(UsageError, match="expected one of the study's systems"):
        add_job(study, NewJob(name="other", task="marking", system="nobody"))
    with pytest.raises(UsageError, match="suggested_share: expected"):
        NewJob.checked(name="other", task="marking", system="lm", suggested_share=0)
