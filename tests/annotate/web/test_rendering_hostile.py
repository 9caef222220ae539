"""Every page of the table of routes, on a study in which every text is hostile (XSS); looking changes nothing.

All texts must be met somewhere, as text, so nothing is thought to be shown that is not; and a new page is looked at
without anybody remembering to.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from itertools import product
from pathlib import Path

from grater.annotate import archive, credentials
from grater.annotate.web.security import PAGES, PUBLIC, roles_of
from tests.annotate.web.poisoned import LIVE, MARK, poisoned
from tests.annotate.web.studies import Browser, Study, served

SHOWN = set(re.findall(r"evil\(['\"]([a-z]+)", Path(__file__).with_name("poisoned.py").read_text("utf-8")))
"""The mark of every text that is poisoned there."""


def browser_of(study: Study, person_id: str) -> Browser:
    with study.store.write() as tx:
        token, _ = credentials.start_session(tx, person_id, hours=1)
    browser = study.browser()
    browser.client.cookies.set("grater-session", token)
    return browser


def addresses(route: str, ids: dict[str, list[str]]) -> Iterator[str]:
    """The addresses of a route, with all ids that fit; a kind of id that the study does not have is an error."""
    names = re.findall(r"{(\w+)}", route)
    for values in product(*(ids[name] for name in names)):
        yield route.format(**dict(zip(names, values, strict=True)))


def everything(study: Study) -> dict[str, list[dict[str, object]]]:
    """Every row of every table, sessions and the like aside."""
    with study.store.read() as tx:
        return {name: list(archive.rows(tx, name, names=True)) for name in archive.table_names()}


def test_every_page_shows_hostile_text_as_text(tmp_path: Path) -> None:
    met: set[str] = set()
    unseen: list[str] = []
    with served(tmp_path, check_page=True) as study:
        found = poisoned(study.store)
        who = (("owner", found.owner.person_id), ("worker", found.rater.person_id), ("worker", found.guest_id))
        before = everything(study)
        browsers = [(PUBLIC, study.browser()), *((role, browser_of(study, person_id)) for role, person_id in who)]
        for route in sorted(path for method, path in PAGES if method == "GET"):
            let_in = [browser for role, browser in browsers if role in roles_of("GET", route)]
            replies = [browser.get(place) for place in addresses(route, found.ids) for browser in let_in]
            unseen += [route] if all(reply.status_code != 200 for reply in replies) else []
            for reply in replies:
                assert reply.status_code < 500, f"{route}: {reply.url}"
                is_page = reply.headers["content-type"].startswith("text/html")
                assert not (is_page and LIVE.search(reply.text)), f"{route}: {LIVE.findall(reply.text)}"
                met |= set(MARK.findall(html.unescape(reply.text)))
        assert everything(study) == before
    assert unseen == []
    assert SHOWN - met == set()
