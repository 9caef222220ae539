"""The essays of a study as a manager finds them again: text, the marks that came along, the units about it."""

from __future__ import annotations

from grater.annotate import content
from grater.model import Edit, Essay, Span
from tests.annotate.web.studies import TEXTS, Study


def test_every_essay_is_listed_and_leads_to_its_text_and_units(study: Study) -> None:
    browser = study.browser("manager")
    page = browser.get("/manage/essays").text
    assert all(f"essay={name}" in page for name in ("essay-1", "essay-2", "essay-3"))
    one = browser.get("/manage/essays?essay=essay-2").text
    assert TEXTS[1] in one
    assert f"/manage/jobs/{study.jobs['marking']}" in one
    assert "/manage/units/" in one


def test_marks_that_came_with_an_essay_are_shown_whatever_it_is_called(bare: Study) -> None:
    edit = Edit(Span(3, 7), ("swims",), "SVA", "ann")
    with bare.store.write() as tx:
        content.add_essays(tx, [Essay("a/b #2?&é", "It swim.", (edit,), ("ann", "bob"))])
    browser = bare.browser("manager")
    link = browser.get("/manage/essays").text.partition("/manage/essays?essay=a")[2].partition('"')[0]
    page = browser.get(f"/manage/essays?essay=a{link}").text
    assert "<del>swim</del>" in page
    assert "<ins>swims</ins>" in page
    assert "nothing wrong" in page
    assert "No job yet." in page
    assert browser.get("/manage/essays?essay=none").status_code == 404
