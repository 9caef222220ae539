"""Managers and owners: jobs, their progress and agreement, and units whose answers are made known."""

from __future__ import annotations

import io
import json
import re
import zipfile
from dataclasses import replace
from itertools import cycle

import pytest

from grater.annotate import content, jobs, judgments, progress, units
from grater.annotate.raters import rater_lines
from grater.annotate.tasks import TASKS, error, verify
from grater.model import Essay
from tests.annotate.web.studies import Browser, Study
from tests.annotate.web.test_work import FILLED, all_of, answer, answer_all, start
from tests.annotate.web.test_work_own import mark_all

TWO = ("annotator", "worker")


def make(browser: Browser, **form: str):  # type: ignore[no-untyped-def]
    return browser.post("/manage/jobs", {"name": "new", "task": "usage", "judgments": "2", "open": "1", **form})


def test_a_job_for_named_annotators_is_theirs(bare: Study) -> None:
    browser = bare.browser("manager")
    form = {"name": "new", "task": "marking", "judgments": "2", "open": "1", "annotators": ["Annotator", "Worker"]}
    page = browser.post("/manage/jobs", form).text
    assert page.count("not started") == 2
    assert '<td>Annotator</td><td class="number" data-label="Assigned">3</td>' in page
    assert "Mark an essay" in bare.browser("annotator").get("/jobs").text
    assert "Mark an essay" not in bare.browser("adjudicator").get("/jobs").text


def test_new_instructions_are_a_new_version_and_judgments_know_theirs(study: Study) -> None:
    job_id = study.jobs["error"]
    rater = study.browser("worker")
    answer(rater, start(rater, study, "error"), FILLED["error"])
    rater.post(f"{start(rater, study, 'error')}/return")
    manager = study.browser("manager")
    manager.post(f"/manage/jobs/{job_id}/guidelines", {"markdown": "# Look **twice**"})
    assert "<strong>twice</strong>" in rater.get(f"/jobs/{job_id}").text
    answer(rater, start(rater, study, "error"), FILLED["error"])
    with study.store.read() as tx:
        assert [each.version for each in jobs.guidelines_versions(tx, job_id)] == [1, 2]
        assert sorted(row["guidelines"] for row in judgments.table(tx, job_id)) == [1, 2]  # type: ignore[type-var]


def test_a_look_at_instructions_saves_nothing_and_earlier_versions_can_be_the_newest_again(study: Study) -> None:
    path, browser = f"/manage/jobs/{study.jobs['usage']}/guidelines", study.browser("manager")
    page = browser.post(path, {"markdown": "Read **twice**.", "look": "1"}).text
    assert "Tetreault and Chodorow 2008" in page, "the paper behind the instructions is for managers"
    assert "Not saved yet" in page
    assert "<strong>twice</strong>" in page
    assert ">Read **twice**.</textarea>" in page
    for words in ("The second.", "The third."):
        browser.post(path, {"markdown": words})
    assert ">The third.</textarea>" in browser.get(path).text
    assert ">The second.</textarea>" in browser.get(f"{path}?version=2").text
    browser.post(path, {"markdown": "The second."})
    saved = [each.markdown for each in study.read(jobs.guidelines_versions, study.jobs["usage"])][1:]
    assert saved == ["The second.", "The third.", "The second."]


def test_a_job_shows_its_progress_and_when_complete_leads_to_the_report_and_gives_no_more(study: Study) -> None:
    path = f"/manage/jobs/{study.jobs['error']}"
    all_of(study, "worker", "error", {"label": "error"})
    page = study.browser("manager").get(path).text
    assert '<svg class="chart"' in page
    assert 'value="10" aria-label="1 of 2 judgments"' in page
    assert all(words in page for words in ("Time per unit", "Worker"))
    assert "All judgments are in" not in page
    assert "nothing left for now" in study.browser("worker").get("/jobs").text
    assert "nothing left for now" not in study.browser("annotator").get("/jobs").text
    all_of(study, "annotator", "error", {"label": "ok"})
    card = study.browser("manager").get(path).text.partition("All judgments are in")[2].partition("</section>")[0]
    assert 'href="/manage/export?job=error#report">Create the report' in card
    assert f'href="/adjudicate/jobs/{study.jobs["error"]}">Adjudicate disagreements' in card
    own_page = study.browser("annotator").get(f"/jobs/{study.jobs['error']}").text
    assert own_page.count("There is nothing more for you in this job right now.") == 1
    end = study.browser("annotator").get(f"/jobs/{study.jobs['error']}/done").text
    assert "You have answered all <strong>10</strong>" in end
    assert "More may come" not in end
    assert ">Continue<" not in own_page


def test_agreement_is_that_of_the_command(study: Study) -> None:
    all_of(study, "worker", "usage", {"label": "2", "confidence": "high"})
    job_id = study.jobs["usage"]
    manager = study.browser("manager")
    assert "No item has two judgments yet" in manager.get(f"/manage/jobs/{job_id}/agreement").text
    browser = study.browser("annotator")
    labels = cycle("02")
    answer_all(browser, start(browser, study, "usage"), lambda _: {"label": next(labels), "confidence": "high"})
    page = manager.get(f"/manage/jobs/{job_id}/agreement").text
    assert '<td><span class="when">.500 [' in page  # five of ten alike
    assert "agreement|grater:" in page
    assert "Error or OK" in page
    assert "95 % intervals generalise to other essays like these" in page


def test_items_are_listed_by_kind_with_their_words(study: Study) -> None:
    manager = study.browser("manager")
    page = manager.get("/manage/items", params={"kind": "prep"}).text
    assert '<mark class="target">of</mark> her brother for the bread.' in page  # in its sentence
    assert 'data-label="Essay"><a href="/manage/essays?essay=essay-1">essay-1</a></td>' in page
    assert "prep (10)" in page
    assert "construction/" not in page.partition("<tbody>")[2]
    assert ">essay-1</a></td>" in manager.get("/manage/items?page=99").text  # the last page there is
    assert "essay-1" not in manager.get("/manage/items?q=road+was").text
    assert "essay-2" in manager.get("/manage/items?q=road+was").text
    assert "essay-1" not in manager.get("/manage/essays?q=TEACHER").text
    assert "essay-3" in manager.get("/manage/essays?q=TEACHER").text
    assert "No essay has these words" in manager.get("/manage/essays?q=50%25").text


FORMAL = replace(error.TASK, name="formal", kind="register", title="Formal or casual", summary="Is it formal?")
BETTER = replace(verify.TASK, name="better")


def test_a_task_of_somebody_else_asks_for_its_kind_and_system(bare: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("formal", "better"):
        monkeypatch.setitem(TASKS._places, name, f"{__name__}:{name.upper()}")
    browser = bare.browser("manager")
    page = browser.get("/manage/jobs/new").text
    assert 'value="formal" data-subject="item"' in page
    assert "Is it formal?" in page
    browser.post("/manage/systems", {"system": "prep-lm"})
    forms = {"formal": {"kind": "prep"}, "better": {"system": "prep-lm"}, "construction": {"grey": "1"}}
    for name, form in forms.items():
        assert make(browser, name=name, task=name, **form).status_code == 200
        assert bare.read(progress.n_units, bare.read(jobs.named, name).job_id) > 0


def test_a_second_job_takes_only_the_essays_that_came_since(bare: Study) -> None:
    browser = bare.browser("manager")
    make(browser, task="marking", name="first")
    reply = make(browser, task="marking", name="again", fresh="1")
    assert "every essay is already in a job with the task" in reply.text
    bare.write(content.add_essays, [Essay("late", "She came late. I waited of her.")])
    make(browser, task="marking", name="second", fresh="1")
    (unit_id,) = bare.units_of(bare.read(jobs.named, "second").job_id)
    assert bare.read(units.get, unit_id).unit.essay.essay_id == "late"


def test_agreement_on_marked_essays_is_that_on_marks_and_their_units_show_every_mark(study: Study) -> None:
    path = f"/manage/jobs/{study.jobs['marking']}/agreement"
    manager = study.browser("manager")
    mark_all(study, "worker", "So", tag="Vt")
    assert "No essay has been marked by two annotators yet." in manager.get(path).text
    mark_all(study, "annotator", "So", tag="Mec")
    page = manager.get(path).text
    assert "3 essays with two annotators or more" in page
    identified, _, classified = page.partition("<h2>Classification</h2>")
    assert '<td>Observed agreement</td><td><span class="when">1.000' in identified
    assert '<td>Observed agreement</td><td><span class="when">.000' in classified
    headers = study.bearer("manager")
    told = study.client().get(f"/api/v1/jobs/{study.jobs['marking']}/agreement", headers=headers).json()
    assert told["labels"] is None
    assert [told["marks"][name]["observed"] for name in ("identification", "classification")] == [1, 0]
    with zipfile.ZipFile(io.BytesIO(manager.post("/manage/export").content)) as archive:
        agreed = json.loads(archive.read("agreement.json"))["marking"]
    assert (agreed["identification"]["observed"], agreed["classification"]["observed"]) == (1, 0)
    with study.store.read() as tx:
        unit_id = units.ids_of_job(tx, study.jobs["marking"])[0]
        # Their labels are `marked` alone: raters are not said to agree because all essays have marks.
        assert [line.signals for line in rater_lines(tx, jobs.get(tx, study.jobs["marking"]))] == [None, None]
    page = manager.get(f"/manage/units/{unit_id}").text
    assert page.count("<summary>1 mark</summary>") == 2
    assert all(f'<strong class="edit-code">{tag}</strong>' in page for tag in ("Vt", "Mec"))
    for where in ("raters", f"raters/{study.people['worker'].person_id}", "crowd"):
        page = manager.get(path.replace("agreement", where)).text
        assert f'href="{path}">' in page, where
        assert not re.search("Most frequent answer|marked 100", page), where


def known(study: Study, task: str, form: dict[str, object], place: int = 0) -> tuple[str, str]:
    """What the page of a unit says after its answer was made known, and the unit's id."""
    unit_id = study.read(units.ids_of_job, study.jobs[task])[place]
    browser = study.browser("manager")
    return browser.post(f"/manage/units/{unit_id}/known", {"role": "practice", **form}).text, unit_id


def role_of(study: Study, unit_id: str) -> str:
    return study.read(units.get, unit_id).role


def test_a_unit_becomes_practice_which_raters_meet_first_and_learn_from(study: Study) -> None:
    page, unit_id = known(study, "usage", {"accepted": ["0", "1"], "reason": "Of is never right here."})
    assert "A practice unit" in page
    assert role_of(study, unit_id) == "practice"
    assert f"/manage/units/{unit_id}" in study.browser("manager").get(f"/manage/jobs/{study.jobs['usage']}").text
    browser = study.browser("worker")
    path = start(browser, study, "usage")
    assert "practice" in browser.get(path).text
    assert "Of is never right here." not in browser.get(path).text
    assert browser.get(f"{path}/feedback").status_code == 404, "not before the answer"
    told = answer(browser, path, {"label": "2", "confidence": "high"}).text
    assert "Not what we expected" in told
    assert "Of is never right here." in told
    assert "<td>Correct</td>" in told  # the words of the form, not the codes of the table
    assert "Extraneous: there should be none or Incorrect: another is needed" in told


def test_of_two_words_the_feedback_names_the_word(study: Study) -> None:
    known(study, "choice", {"accepted": ["system", "equally bad"]})
    browser = study.browser("worker")
    told = answer(browser, start(browser, study, "choice"), {"label": "equally bad"}).text
    assert "Right." in told
    assert re.search("<td>Equally bad</td><td>.*zzz-suggested.*</td>", told)


def test_words_are_accepted_where_there_is_no_closed_set_and_what_cannot_be_known_stays_work(study: Study) -> None:
    page, _ = known(study, "cloze", {"accepted": "on, upon", "role": "gold"})
    assert all(words in page for words in ("A gold unit", "on or upon"))
    for words, wrong in (("accepted: expected at least 1", []), ("expected answers from", ["nonsense"])):
        page, unit_id = known(study, "error", {"accepted": wrong})
        assert (words in page, role_of(study, unit_id)) == (True, "work")
