"""Whatever people send in forms and addresses is text on our pages, never markup (XSS)."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from grater.annotate import units
from grater.annotate.web.charts import Bar, bars, curve
from grater.annotate.web.rendering import as_html
from tests.annotate.web.poisoned import EVIL, LIVE
from tests.annotate.web.studies import Study


def test_what_a_refused_form_or_address_says_comes_back_as_text(study: Study) -> None:
    browser, job_id = study.browser("owner"), study.jobs["error"]
    with study.store.read() as tx:
        unit_id = units.ids_of_job(tx, job_id)[0]
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
