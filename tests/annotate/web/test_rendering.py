"""Long lists, a page at a time: what a page holds, and the links to the others.

One style sheet for every page, kept by browsers until its words change.
"""

from __future__ import annotations

import re

import pytest

from grater.annotate import jobs
from grater.annotate.web import rendering
from grater.annotate.web.rendering import SHEETS, STATIC, Pager, pager, sheet, sheet_address
from tests.annotate.web.studies import Study


@pytest.mark.parametrize(
    ("n_rows", "page", "found"),
    [
        (0, 1, Pager(1, 1, 50)),
        (50, 1, Pager(1, 1, 50)),
        (51, 2, Pager(2, 2, 50)),
        (51, 99, Pager(2, 2, 50)),
        (51, -1, Pager(1, 2, 50)),
    ],
)
def test_a_page_that_is_not_there_is_the_nearest(n_rows: int, page: int, found: Pager) -> None:
    assert pager(n_rows, page, size=50) == found


def test_a_page_has_one_sheet_with_every_file_in_it_and_keeps_it_for_good(bare: Study) -> None:
    client = bare.client()
    (address,) = re.findall(r'<link rel="stylesheet" href="([^"]+)">', client.get("/login").text)
    reply = client.get(address)
    assert reply.headers["content-type"].startswith("text/css")
    assert "immutable" in reply.headers["cache-control"]
    assert "style-src 'self'" in reply.headers["content-security-policy"]
    places = [reply.text.index(sheet(name)) for name in SHEETS]
    assert places == sorted(places)


def test_no_sheet_lies_beside_the_others_and_reaches_no_page() -> None:
    assert {path.stem for path in STATIC.glob("*.css")} == set(SHEETS)


def test_other_words_have_another_address(monkeypatch: pytest.MonkeyPatch) -> None:
    before = sheet_address()
    monkeypatch.setattr(rendering, "SHEETS", SHEETS[:-1])
    assert sheet_address() != before


def test_the_menu_says_where_a_page_belongs(study: Study) -> None:
    browser = study.browser("owner")
    with study.store.read() as tx:
        job_id = jobs.all(tx)[0].job_id
    of_study = ("/manage", "/manage/items", "/manage/audit", "/manage/webhooks", f"/manage/jobs/{job_id}/gold")
    expected = dict.fromkeys(of_study, "Study") | {
        "/manage/people": "People",
        "/manage/import": "Import",
        "/manage/export": "Export",
        "/adjudicate": "Adjudicate",
        f"/jobs/{job_id}": "Work",
    }
    for path, words in expected.items():
        menu = re.search(r'<nav class="nav".*?</nav>', browser.get(path).text, re.DOTALL)
        assert menu is not None
        assert re.findall(r'aria-current="page">([^<]+)<', menu[0]) == [words], path
