"""What is the same on every page: sheet, menu, charts, words for stored values, and hostile text as text (XSS).

Every hostile text must be met somewhere, as text; and a new page is looked at without anybody remembering to.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from itertools import product
from math import nan
from pathlib import Path

import pytest

from grater.annotate import archive, jobs, panels, people, units
from grater.annotate.dashboard import Confusion, PairShare
from grater.annotate.gold import make_gold
from grater.annotate.protocol import set_terms
from grater.annotate.store.schema import GOLD_STATES, JOB_STATES, LEASE_STATES, STATUSES, TRUST_STATES
from grater.annotate.terms import POLICIES
from grater.annotate.trust import eject
from grater.annotate.web import rendering
from grater.annotate.web.app import ROLES_OF
from grater.annotate.web.charts import Series, agreeing, confused, narrowing, time_chart
from grater.annotate.web.rendering import SHEETS, Pager, as_html, pager, sheet, sheet_address, shown
from grater.annotate.web.security import PUBLIC, WITHOUT_COOKIES
from grater.model import Interval
from tests.annotate.web.poisoned import EVIL, LIVE, MARK, poisoned
from tests.annotate.web.studies import Study, served
from tests.annotate.web.test_crowd_numbers import plain


def test_a_page_that_is_not_there_is_the_nearest() -> None:
    for n_rows, page, found in ((0, 1, (1, 1)), (50, 1, (1, 1)), (51, 2, (2, 2)), (51, 99, (2, 2)), (51, -1, (1, 2))):
        assert pager(n_rows, page, size=50) == Pager(*found, 50)


def test_a_page_has_one_sheet_of_all_files_kept_for_good(bare: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    client = bare.client()
    (address,) = re.findall(r'<link rel="stylesheet" href="([^"]+)">', client.get("/login").text)
    reply = client.get(address)
    assert reply.headers["content-type"].startswith("text/css")
    assert "immutable" in reply.headers["cache-control"]
    assert "style-src 'self'" in reply.headers["content-security-policy"]
    places = [reply.text.index(sheet(name)) for name in SHEETS]
    assert places == sorted(places)
    monkeypatch.setattr(rendering, "SHEETS", SHEETS[:-1])
    assert sheet_address() != address, "other words have another address"


def test_the_menu_says_where_a_page_belongs(study: Study) -> None:
    browser = study.browser("owner")
    job_id = study.read(jobs.all)[0].job_id
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
        assert re.findall(r'aria-current="page">([^<]+)<', menu[0]) == [words], path


def test_what_a_refused_form_or_address_says_comes_back_as_text(study: Study) -> None:
    browser, job_id = study.browser("owner"), study.jobs["error"]
    unit_id = study.units_of(job_id)[0]
    job = f"/manage/jobs/{job_id}"
    forms = {
        browser.post(f"/jobs/{job_id}/next").url.path: {"label": EVIL},
        "/manage/jobs": {"name": EVIL, "task": EVIL, "kind": EVIL},
        f"{job}/state": {"state": EVIL},
        f"{job}/guidelines": {"markdown": EVIL, "look": "1"},
        f"{job}/hand-over": {"giver": EVIL, "taker": EVIL},
        f"/manage/units/{unit_id}/known": {"role": "gold", "accepted": EVIL, "reason": EVIL},
    }
    pages = [browser.post(path, form).text for path, form in forms.items()]
    pages.append(browser.post("/manage/import", {"kind": EVIL}, files=[("files", (EVIL, b"x"))]).text)
    pages += [browser.get(path).text for path in (f"/{EVIL}", f"/jobs/{EVIL}", f"/join/{EVIL}")]
    pages.append(study.browser().get("/login", params={"next": EVIL}).text)
    assert [(found.group(), page[:80]) for page in pages if (found := LIVE.search(page))] == []
    assert sum("&lt;script&gt;" in page for page in pages) >= 5  # and it was really there


HARMFUL = (
    *("<script>alert(1)</script>", "[x](javascript:alert(1))", "[x](data:text/html;base64,PHNjcmlwdD4=)"),
    *("![x](https://evil.example/x.png)", '<a href="https://evil.example" onclick="alert(1)">x</a>'),
    *("[x](vbscript:msgbox)", "<javascript:alert(1)>"),
)


def test_markdown_cannot_do_harm() -> None:
    for markdown in HARMFUL:
        shown_as = str(as_html(markdown))
        assert not re.search(r"<script|<img|onclick=\"|href=\"(javascript|data|vbscript)", shown_as), markdown


def test_charts_escape_their_labels_and_have_no_style() -> None:
    drawn = str(narrowing([Series(EVIL, ((20, Interval(0.5, 0.25, 0.75)),))], title=EVIL))
    assert not LIVE.search(drawn)
    assert "style=" not in drawn


def test_a_curve_rises_to_the_top() -> None:
    points = re.search(r'polyline class="curve" points="([^"]+)"', time_chart([0, 5, 10]))
    heights = [float(pair.split(",")[1]) for pair in points.group(1).split()]
    assert heights[0] > heights[1] > heights[2]


def test_no_template_has_script_or_style_of_its_own() -> None:
    folder = Path(__file__).parents[3] / "src" / "grater" / "annotate" / "web" / "templates"
    inline = re.compile(
        r"<script(?![^>]*(?:src=|application/json))|<style|\sstyle=|\son[a-z]+=\"|javascript:|\|\s*safe\b"
    )
    assert [path.name for path in folder.glob("*.html") if inline.search(path.read_text(encoding="utf-8"))] == []


STORED = (*JOB_STATES, *LEASE_STATES, *STATUSES, *GOLD_STATES, *TRUST_STATES, *panels.ENDINGS, *panels.GIVEN_BACK)
CROWD_PAGES = ("panels", "gold", "terms", "money", "raters", "crowd")
RAW = re.compile(r"\b(not-untrusted|screened-out|timed-out|ejected|forgiven|null-singular)\b")


def test_every_stored_state_policy_and_ending_reads_as_words() -> None:
    assert [value for value in STORED if not re.fullmatch(r"[a-z]+( [a-z]+)*", shown(value))] == []
    for vocabulary, values in (("policy", POLICIES), ("ending", panels.ENDINGS)):
        assert [value for value in values if re.search(r"[-_]", shown(value, vocabulary))] == []


def test_pages_of_a_crowd_job_show_no_raw_values(tmp_path: Path) -> None:
    """Pay by a policy with a hyphen, a place that was screened out, gold that no longer counts, a rater removed."""
    with served(tmp_path, tasks=("error",)) as study:
        job_id = study.jobs["error"]
        with study.store.write() as tx:
            job, item = jobs.get(tx, job_id), units.get(tx, units.ids_of_job(tx, job_id)[0]).unit.items[0].item
            assert make_gold(tx, job, item.item_id, ["error"], reason="So it is.")
            set_terms(tx, job_id, {"pay": {"cents": 7, "policy": "not-untrusted"}})
            place = panels.enter(tx, panels.add(tx, job_id, panels.NewPanel(provider="prolific")).panel_id, "p-1")
            panels.set_state(tx, place, "screened-out", actor=None)
            eject(tx, job, place.person_id)
            (unit_id,) = units.ids_of_job(tx, job_id, role="gold")
        owner = study.browser("owner")
        owner.post(f"/manage/gold/{unit_id}/state", {"state": "forgiven"})
        pages = [plain(owner.get(f"/manage/jobs/{job_id}/{name}").text) for name in CROWD_PAGES]
    assert "screened out" in pages[0]
    assert "not counted" in pages[1]
    assert [RAW.findall(page) for page in pages] == [[] for _ in CROWD_PAGES]


def test_squares_are_the_same_both_ways_and_darker_the_larger_the_share() -> None:
    pairs = [PairShare(first="a", second="b", agreed=3, n=4), PairShare(first="c", second="a", agreed=4, n=4)]
    squares = agreeing(pairs, {"a": "Zoe Tran", "b": "Ann Bo"})
    assert squares.labels == ["Ann Bo", "Zoe Tran", "c"]
    rows = [[(square.words, square.shade) for square in row] for row in squares.rows]
    assert rows == [[("", 0), ("75", 4), ("", 0)], [("75", 4), ("", 0), ("100", 5)], [("", 0), ("100", 5), ("", 0)]]
    counts = confused(Confusion(("error", "ok"), ((0, 2), (2, 1200))))
    assert [[square.words for square in row] for row in counts.rows] == [["0", "2"], ["2", "1,200"]]


def test_a_value_without_an_interval_closes_its_band() -> None:
    points = ((20, Interval(0.5, nan, nan)), (40, Interval(0.5, 0.25, 0.75)))
    chart = narrowing([Series("recall", points)], title="Recall")
    [band] = re.findall(r'<polygon class="band[^>]* points="([^"]+)"', chart)
    [line] = re.findall(r'<polyline class="line[^>]* points="([^"]+)"', chart)
    first, *inner, last = band.split()
    assert first == last == line.split()[0]
    assert len(set(inner)) == 2


SHOWN = set(re.findall(r"evil\(['\"]([a-z]+)", Path(__file__).with_name("poisoned.py").read_text("utf-8")))
"""The mark of every text that is poisoned there."""


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
        guest = study.read(people.get, found.guest_id)
        who = (("owner", found.owner.name), ("worker", found.rater.name), ("worker", guest.name))
        before = everything(study)
        browsers = [(PUBLIC, study.browser()), *((role, study.browser(name)) for role, name in who)]
        pages = [path for method, path in ROLES_OF if method == "GET" and not path.startswith(WITHOUT_COOKIES)]
        for route in sorted(pages):
            let_in = [browser for role, browser in browsers if role in ROLES_OF["GET", route]]
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
