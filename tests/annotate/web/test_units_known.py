"""A unit whose answer a manager knows, made practice or gold by clicking, and what raters then read."""

from __future__ import annotations

from grater.annotate import units
from tests.annotate.web.studies import Study
from tests.annotate.web.test_work import answer, start


def known(study: Study, task: str, form: dict[str, object], place: int = 0) -> tuple[str, str]:
    """What the page of a unit says after its answer was made known, and the unit's id."""
    with study.store.read() as tx:
        unit_id = units.ids_of_job(tx, study.jobs[task])[place]
    browser = study.browser("manager")
    return browser.post(f"/manage/units/{unit_id}/known", {"role": "practice", **form}).text, unit_id


def role_of(study: Study, unit_id: str) -> str:
    with study.store.read() as tx:
        return units.get(tx, unit_id).role


def test_a_unit_becomes_practice_which_raters_meet_first_and_learn_from(study: Study) -> None:
    page, unit_id = known(study, "usage", {"accepted": ["0", "1"], "reason": "Of is never right here."})
    assert "A practice unit" in page
    assert role_of(study, unit_id) == "practice"
    assert f"/manage/units/{unit_id}" in study.browser("manager").get(f"/manage/jobs/{study.jobs['usage']}").text
    browser = study.browser("worker")
    told = answer(browser, start(browser, study, "usage"), {"label": "2", "confidence": "high"}).text
    assert "Not what we expected" in told
    assert "Of is never right here." in told
    assert "<td>Correct</td>" in told  # the words of the form, not the codes of the table
    assert "Extraneous: there should be none or Incorrect: another is needed" in told


def test_of_two_words_the_feedback_names_the_word(study: Study) -> None:
    known(study, "choice", {"accepted": ["system"]})
    browser = study.browser("worker")
    told = answer(browser, start(browser, study, "choice"), {"label": "equally bad"}).text
    assert "<td>Equally bad</td><td>zzz-suggested</td>" in told


def test_words_are_accepted_where_there_is_no_closed_set(study: Study) -> None:
    page, _ = known(study, "cloze", {"accepted": "on, upon", "role": "gold"})
    assert "A gold unit" in page
    assert "on or upon" in page


def test_what_cannot_be_known_is_told_and_the_unit_stays_work(study: Study) -> None:
    wrong = {"accepted: expected at least 1": {}, "expected answers from": {"accepted": ["nonsense"]}}
    for words, form in wrong.items():
        page, unit_id = known(study, "error", form)
        assert words in page
        assert role_of(study, unit_id) == "work"


def test_a_unit_that_somebody_has_met_stays_work(study: Study) -> None:
    browser = study.browser("worker")
    path = start(browser, study, "error")
    answer(browser, path, {"label": "ok"})
    with study.store.read() as tx:
        n_units = len(units.ids_of_job(tx, study.jobs["error"]))
    pages = [known(study, "error", {"accepted": ["error"]}, place)[0] for place in range(n_units)]
    assert sum("This unit cannot be changed" in page for page in pages) == 2  # one judged, one in the worker's hands
