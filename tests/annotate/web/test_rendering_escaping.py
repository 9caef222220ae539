"""Whatever people write is text on our pages, never markup (XSS)."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from grater.annotate import content, credentials, gold, invitations, jobs, marks, people, units, webhooks
from grater.annotate.importing import start_import
from grater.annotate.marks import Finding
from grater.annotate.store import Store
from grater.annotate.units import NewUnit
from grater.annotate.web.charts import Bar, bars, curve
from grater.annotate.web.rendering import as_html
from grater.model import Essay, Item, Json, Span
from tests.annotate.web.studies import PASSWORD_HASH, Browser, Study, served
from tests.annotate.web.test_work import FILLED, answer

EVIL = "<script>alert(1)</script><img src=x onerror=alert(2)>\"'><svg/onload=alert(3)>{{7**12}}"
LIVE = re.compile(r"<script>alert|<img src=x|<svg/onload|onerror=alert\(2\)>|13841287201")


def poisoned(store: Store) -> tuple[str, str]:
    """A study in which every text that a page may show is hostile; give its job and one unit."""
    text = f"One {EVIL} before. Two of {EVIL} here."
    place = text.index("of")
    item = Item(EVIL, Span(place, place + 2), "prep")
    payload: dict[str, Json] = {"suggestion": EVIL}
    with store.write() as tx:
        content.add_essays(tx, [Essay(EVIL, text)])
        content.add_items(tx, [content.study_item(item)])
        job = jobs.add(tx, name=EVIL, task="verify", title=EVIL)
        jobs.add_guidelines(tx, job.job_id, EVIL)
        unit_ids = units.add_all(tx, job.job_id, [NewUnit(((item.item_id, payload),), EVIL)])
        (practice,) = units.add_all(tx, job.job_id, [NewUnit(((item.item_id, payload),), EVIL, role="practice")])
        gold.add(tx, practice, item.item_id, [EVIL], reason=EVIL)
        jobs.set_state(tx, job.job_id, "open")
        start_import(tx, kind="corpus", name=EVIL, sha256="0")
        webhooks.add(tx, url=f"https://example.org/{EVIL}", verbs=[EVIL])
        invitations.make(tx, role="worker", name=EVIL)
        people.add_seat(tx, [people.add(tx, name=f"{EVIL}{n}", role="worker").name for n in range(2)])
    return job.job_id, unit_ids[0]


def evil_browser(study: Study) -> Browser:
    """Somebody with a hostile name, and a token of a hostile name, as owner."""
    with study.store.write() as tx:
        person = people.add(tx, name=EVIL, role="owner", password_hash=PASSWORD_HASH)
        credentials.make_token(tx, person.person_id, name=EVIL)
        people.add_seat(tx, [EVIL, "Worker"])
        marked = jobs.named(tx, EVIL)
        (unit_id,) = units.ids_of_job(tx, marked.job_id, role="work")
        marks.add_findings(tx, [Finding("", unit_id, person.person_id, EVIL, EVIL)])
        token, session = credentials.start_session(tx, person.person_id, hours=1)
    browser = study.browser()
    browser.client.cookies.set("grater-session", token)
    browser.csrf = session.csrf
    return browser


def test_hostile_text_is_shown_as_text_on_every_page(tmp_path: Path) -> None:
    with served(tmp_path) as study:
        job_id, unit_id = poisoned(study.store)
        browser = evil_browser(study)
        pages = []
        path = browser.post(f"/jobs/{job_id}/next").url.path
        pages.append(browser.get(path).text)
        pages.append(answer(browser, path, FILLED["verify"]).text)  # feedback on practice
        path = browser.post(f"/jobs/{job_id}/next").url.path
        pages.append(browser.get(path).text)
        pages.append(browser.post(path, {"label": EVIL}).text)
        pages.append(answer(browser, path, FILLED["verify"]).text)
        places = (
            *(
                "/jobs",
                f"/jobs/{job_id}",
                "/me",
                "/manage",
                f"/manage/jobs/{job_id}",
                "/manage/people",
                "/manage/import",
            ),
            *(f"/manage/jobs/{job_id}/guidelines", f"/manage/jobs/{job_id}/units", f"/manage/units/{unit_id}"),
            *(
                "/reviews",
                "/manage/essays",
                "/manage/items",
                "/manage/webhooks",
                "/manage/jobs/new",
                f"/adjudicate/{unit_id}",
                "/adjudicate",
                f"/adjudicate/jobs/{job_id}",
            ),
            *(f"/manage/jobs/{job_id}/agreement", f"/{EVIL}", f"/jobs/{EVIL}", f"/join/{EVIL}"),
        )
        pages += [browser.get(place).text for place in places]
        pages.append(browser.post("/manage/import", {"kind": EVIL}, files=[("files", (EVIL, b"x"))]).text)
        pages.append(browser.post("/manage/jobs", {"name": EVIL, "task": EVIL, "kind": EVIL}).text)
        pages.append(browser.post(f"/manage/jobs/{job_id}/state", {"state": EVIL}).text)
        pages.append(browser.post(f"/manage/jobs/{job_id}/guidelines", {"markdown": EVIL, "look": "1"}).text)
        pages.append(browser.post(f"/manage/units/{unit_id}/known", {"accepted": EVIL, "reason": EVIL}).text)
        with study.store.read() as tx:
            pages += [
                browser.get("/manage/essays", params={"essay": each.essay_id}).text for each in content.all_essays(tx)
            ]
        pages.append(study.browser().get("/login", params={"next": EVIL}).text)
        assert [(found.group(), page[:80]) for page in pages if (found := LIVE.search(page))] == []
        assert sum("&lt;script&gt;" in page for page in pages) >= 16  # and it was really there


@pytest.mark.parametrize(
    "markdown",
    [
        "<script>alert(1)</script>",
        "[x](javascript:alert(1))",
        "[x](data:text/html;base64,PHNjcmlwdD4=)",
        "![x](https://evil.example/x.png)",
        '<a href="https://evil.example" onclick="alert(1)">x</a>',
        "[x](vbscript:msgbox)",
        "<javascript:alert(1)>",
    ],
)
def test_markdown_cannot_do_harm(markdown: str) -> None:
    html = str(as_html(markdown))
    assert not re.search(r"<script|<img|onclick=\"|href=\"(javascript|data|vbscript)", html)


def test_markdown_is_still_markdown() -> None:
    html = str(as_html("**bold**\n\n- a\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n[x](https://example.org)"))
    assert all(tag in html for tag in ("<strong>", "<li>", "<table>", '<a href="https://example.org">'))


def test_charts_escape_their_labels_and_have_no_style() -> None:
    drawn = str(bars([Bar(EVIL, 1, 2, EVIL)], title=EVIL)) + str(
        curve([(0, 1), (1, 2)], title=EVIL, ends=(EVIL, EVIL), top=EVIL)
    )
    assert not LIVE.search(drawn)
    assert "style=" not in drawn


def test_bars_are_as_long_as_their_numbers() -> None:
    drawn = str(bars([Bar("a", 5, 10, "5"), Bar("b", 10, 10, "10")], title="t"))
    widths = [float(width) for width in re.findall(r'class="bar" [^>]*width="([\d.]+)"', drawn)]
    assert widths[1] == pytest.approx(2 * widths[0])


def test_a_curve_rises_to_the_top() -> None:
    points = re.search(
        r'polyline class="curve" points="([^"]+)"',
        str(curve([(0, 0), (5, 1), (10, 4)], title="t", ends=("", ""), top="")),
    )
    assert points is not None
    heights = [float(pair.split(",")[1]) for pair in points.group(1).split()]
    assert heights[0] > heights[1] > heights[2]


def test_no_template_has_script_or_style_of_its_own() -> None:
    folder = Path(__file__).parents[3] / "src" / "grater" / "annotate" / "web" / "templates"
    inline = re.compile(
        r"<script(?![^>]*(?:src=|application/json))|<style|\sstyle=|\son[a-z]+=\"|javascript:|\|\s*safe\b"
    )
    assert [path.name for path in folder.glob("*.html") if inline.search(path.read_text(encoding="utf-8"))] == []
