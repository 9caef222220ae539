"""Raters from panels: an id in a link is no password."""

from __future__ import annotations

import re

import pytest

from grater.annotate import people
from grater.annotate.credentials import make_token
from grater.errors import Forbidden
from tests.annotate.web.studies import Study
from tests.annotate.web.test_crowd import crowd, enter, panel_of

__all__ = ["crowd"]


def test_a_second_browser_with_the_same_id_is_asked_for_what_only_the_first_knows(crowd: Study) -> None:
    job_id = crowd.jobs["crowd"]
    panel_id = panel_of(crowd, job_id)
    first, page = enter(crowd, panel_id, "abc")
    code = re.search(r"return code: <code>([A-Z2-7]{4}-[A-Z2-7]{4})</code>", page.text)
    assert code
    thief, reply = enter(crowd, panel_id, "abc")
    assert (reply.status_code, thief.get("/jobs").url.path) == (403, "/login")
    form = {"PROLIFIC_PID": "abc", "STUDY_ID": "s1"}
    assert thief.post(f"/p/{panel_id}", {**form, "return_code": "AAAA-AAAA"}).status_code == 403
    other = panel_of(crowd, job_id)
    assert thief.post(f"/p/{other}", form).status_code == 403  # nor by another panel of the same provider
    first.post("/logout")
    first.get(f"/p/{panel_id}?PROLIFIC_PID=abc")
    assert first.post(f"/p/{panel_id}", form).url.path == f"/jobs/{job_id}"  # the first browser is known again
    own, _ = enter(crowd, panel_id, "abc")
    typed = code.group(1).lower().replace("-", " ")
    assert own.post(f"/p/{panel_id}", {**form, "return_code": typed}).url.path == f"/jobs/{job_id}"
    assert code.group(1) in crowd.browser("manager").get(f"/manage/jobs/{job_id}/panels").text  # for who lost it


def test_guesses_of_a_return_code_are_few(crowd: Study) -> None:
    panel_id = panel_of(crowd, crowd.jobs["crowd"])
    enter(crowd, panel_id, "abc")
    thief, _ = enter(crowd, panel_id, "abc")
    form = {"PROLIFIC_PID": "abc", "return_code": "AAAA-AAAA"}
    statuses = [thief.post(f"/p/{panel_id}", form).status_code for _ in range(12)]
    assert statuses == [403] * 8 + [429] * 4


def test_a_rater_from_a_panel_makes_no_tokens(crowd: Study) -> None:
    rater, _ = enter(crowd, panel_of(crowd, crowd.jobs["crowd"]), "abc")
    assert "Create a token" not in rater.get("/me").text
    assert rater.post("/me/tokens", {"name": "mine"}).status_code == 403
    with crowd.store.write() as tx, pytest.raises(Forbidden):
        make_token(tx, people.named(tx, "prolific abc").person_id)
