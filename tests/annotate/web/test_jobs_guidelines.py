"""The instructions of a job: looked at before they are saved, and every version readable."""

from __future__ import annotations

from grater.annotate import jobs
from tests.annotate.web.studies import Study


def test_a_look_saves_nothing_and_keeps_what_was_written(study: Study) -> None:
    path, browser = f"/manage/jobs/{study.jobs['usage']}/guidelines", study.browser("manager")
    page = browser.post(path, {"markdown": "Read **twice**.", "look": "1"}).text
    assert "Not saved yet" in page
    assert "<strong>twice</strong>" in page
    assert ">Read **twice**.</textarea>" in page
    with study.store.read() as tx:
        assert len(jobs.guidelines_versions(tx, study.jobs["usage"])) == 1


def test_an_earlier_version_is_shown_and_can_be_the_newest_again(study: Study) -> None:
    path, browser = f"/manage/jobs/{study.jobs['usage']}/guidelines", study.browser("manager")
    for words in ("The second.", "The third."):
        browser.post(path, {"markdown": words})
    assert ">The third.</textarea>" in browser.get(path).text
    assert ">The second.</textarea>" in browser.get(f"{path}?version=2").text
    browser.post(path, {"markdown": "The second."})
    with study.store.read() as tx:
        assert [each.markdown for each in jobs.guidelines_versions(tx, study.jobs["usage"])][1:] == [
            "The second.",
            "The third.",
            "The second.",
        ]


def test_the_paper_behind_the_instructions_is_for_managers(study: Study) -> None:
    job = study.jobs["usage"]
    assert "Tetreault and Chodorow 2008" in study.browser("manager").get(f"/manage/jobs/{job}/guidelines").text
    page = study.browser("worker").get(f"/jobs/{job}").text
    assert "<h2" in page
    assert "Tetreault" not in page
