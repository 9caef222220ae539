"""What a page can do, a program can: every page names its call in pages_and_calls.md, or why there is none.

The rows are held to the routes of the application, so a page that somebody adds is red here until it has its call.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from grater.annotate.web.security import API, EVERYBODY, roles_of
from tests.annotate.web.studies import Study, served
from tests.annotate.web.test_roles import routes_of
from tests.each import for_each

PAGE = Path(__file__).with_name("pages_and_calls.md").read_text("utf-8")
ROWS = dict(re.findall(r"^\| `((?:GET|POST|PUT) /\S*)` \| (.+) \|$", PAGE, re.M))
NONE = "none: "


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Study]:
    with served(tmp_path_factory.mktemp("twins")) as found:
        yield found


def split(call: str) -> tuple[str, str]:
    method, _, path = call.partition(" ")
    return method, path


def calls_of(words: str) -> list[tuple[str, str]]:
    return [split(call) for call in re.findall(r"`((?:GET|POST|PUT) /\S+)`", words)]


def test_every_page_names_its_call_or_why_there_is_none(shared: Study) -> None:
    pages = {(method, path) for method, path in routes_of(shared.client().app) if not path.startswith(API)}
    assert {split(page) for page in ROWS} == pages


@for_each(ROWS)
def test_the_call_is_there_for_everybody_who_may_open_the_page(page: str) -> None:
    if ROWS[page].startswith(NONE):
        assert len(ROWS[page]) > len(NONE) + 10  # a reason, not a shrug
        return
    found = calls_of(ROWS[page])
    assert found
    for method, path in found:
        allowed = roles_of(method, API + path)
        assert allowed, f"there is no call {method} {path}"
        assert roles_of(*split(page)) & EVERYBODY <= allowed, f"{method} {path} is closed to some who may open {page}"


def test_what_changes_something_on_a_page_changes_something_by_its_call() -> None:
    reading = {page for page, words in ROWS.items() for method, _ in calls_of(words) if method == "GET"}
    assert {page for page in reading if not page.startswith("GET")} == {"POST /manage/export", "POST /manage/report"}
