"""A manager's life in a real browser, from the essays to the report, all by clicking; raters answer over HTTP."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from grater.annotate import credentials, people
from grater.annotate.store import checks
from tests.browser.chromium import watched
from tests.browser.site import Site, live_site

ESSAYS = {
    "market.txt": "On Saturday I go to the market with my uncle. We arrive to the square at six and look for a place "
    "near of the fountain. He depends of the weather for his flowers. In winter we stay at home.",
    "school.txt": "In my school we learn about the sea. Our teacher comes from an island and she talks with passion "
    "about boats. I am interested on ships. We wait of the summer to travel by boat to her island.",
    "garden.txt": "Behind of our house there is a garden with a wall. My sister works in the garden for many hours. "
    "She is good in flowers and she takes care of the trees during the spring.",
}
SYSTEM = "prep-lm"


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    """A study of its own: what other tests left in the shared one would be in the report."""
    with live_site(tmp_path) as running:
        yield running


def test_from_the_upload_to_the_report(chromium: Browser, site: Site, tmp_path: Path) -> None:
    context = site.context(chromium, site.person("manager"))
    with watched(context) as (page, _):
        upload(page, tmp_path)
        decide_and_sample(page)
        experts = make_job(page, "experts", judgments=2, sample="first")
        let_answer(site, experts, role="annotator", n_raters=2)
        crowd = make_job(page, "crowd", judgments=3)
        gold_terms_and_opening(page)
        let_answer(site, crowd, role="worker", n_raters=3)
        look_at_the_live_page(page)
        pay(page, tmp_path)
        take_home(page, tmp_path)
    context.close()
    with site.store.read() as tx:
        assert checks.violations(tx) == []


def upload(page: Page, folder: Path) -> None:
    for name, text in ESSAYS.items():
        (folder / name).write_text(text, encoding="utf-8")
    page.goto("/manage")
    menu(page, "Import")
    page.get_by_label("Files").set_input_files([folder / name for name in ESSAYS])
    page.get_by_label("Corpus format").select_option("text")
    page.get_by_role("button", name="Import").click()
    expect(page.get_by_role("status")).to_contain_text("garden.txt: 1 new.")


def decide_and_sample(page: Page) -> None:
    menu(page, "Study")
    page.get_by_role("link", name="Systems and samples").click()
    page.get_by_label("System", exact=True).select_option(SYSTEM)
    page.get_by_role("button", name="Run", exact=True).click()
    expect(page.get_by_role("status")).to_contain_text(f"{SYSTEM}: ")
    page.get_by_label("Number of items").fill("12")
    page.get_by_label("Name").fill("first")
    page.get_by_role("button", name="Draw").click()
    expect(page.get_by_text(f"first: 12 items for {SYSTEM}")).to_be_visible()


def make_job(page: Page, name: str, *, judgments: int, sample: str = "") -> str:
    """A job by the form, opened at once for experts only; gives its id."""
    menu(page, "Study")
    page.get_by_role("link", name="New job").click()
    page.get_by_label("Error or OK").check()
    page.get_by_text("More: name").click()
    page.get_by_label("Short name").fill(name)
    page.get_by_label("Judgments per unit").fill(str(judgments))
    page.get_by_label("Items from a sample").select_option(sample)
    page.get_by_role("button", name="open it now" if sample else "Create the job").click()
    expect(page.locator(".lead")).to_contain_text("judgments per unit")
    return page.url.rsplit("/", 1)[1]


def gold_terms_and_opening(page: Page) -> None:
    page.get_by_role("link", name="Dashboard", exact=True).click()
    page.get_by_role("link", name="Gold", exact=True).click()
    page.get_by_label("Explanation, shown to those who missed it").fill("Both experts say so.")
    page.get_by_role("button", name="Make gold from expert agreement").click()
    expect(page.get_by_text("12 gold units made")).to_be_visible()
    page.get_by_role("link", name="Terms", exact=True).click()
    page.get_by_label("Minimum share of gold").fill("0.6")
    page.get_by_label("Questions in the entry quiz").fill("3")
    page.get_by_label("Cents per unit").fill("6")
    page.get_by_role("button", name="Save terms").click()
    expect(row(page, "guessing")).to_contain_text("50 %")  # two of three are right every other time
    page.locator(".trail a").last.click()
    page.get_by_role("button", name="Open").click()
    expect(page.get_by_role("button", name="Pause")).to_be_visible()


def menu(page: Page, words: str) -> None:
    page.get_by_role("navigation", name="Main").get_by_role("link", name=words, exact=True).click()


def row(page: Page, words: str) -> Locator:
    return page.get_by_role("row").filter(has_text=words)


def let_answer(site: Site, job_id: str, *, role: str, n_raters: int, most: int = 10**6) -> None:
    """Raters who all know the same rule, so that experts agree and nobody is put out."""
    for number in range(n_raters):
        with site.store.write() as tx:
            person = people.add(tx, name=f"{role} {number}", role=role)
            token = credentials.make_token(tx, person.person_id)
        headers = {"authorization": f"Bearer {token}"}
        with httpx.Client(base_url=f"{site.url}/api/v1", headers=headers, timeout=60) as client:
            for _ in range(most):
                if (lease := client.post(f"/jobs/{job_id}/next").json()["lease"]) is None:
                    break
                marked = next(piece["text"] for piece in lease["pieces"] if piece["mark"])
                label = "error" if marked.casefold() in ("of", "to", "on") else "ok"
                client.post(f"/leases/{lease['lease_id']}", json={"fields": {"label": [label]}, "seconds": 9.0})


def look_at_the_live_page(page: Page) -> None:
    page.get_by_role("link", name="Dashboard", exact=True).click()
    systems = page.locator("section", has=page.get_by_role("heading", name="Systems so far"))
    expect(systems.get_by_role("row").filter(has_text=SYSTEM)).to_be_visible()
    expect(page.get_by_text("per valid judgment").first).to_be_visible()
    expect(row(page, "Removal rule")).to_contain_text("0 raters removed")


def pay(page: Page, folder: Path) -> None:
    page.get_by_role("link", name="Money", exact=True).click()
    page.get_by_role("button", name="Record amounts owed").click()
    expect(row(page, "worker 0")).to_contain_text("owed")
    with page.expect_download() as download:
        page.get_by_role("link", name="Download payments").click()
    download.value.save_as(folder / "payments.csv")
    lines = (folder / "payments.csv").read_text("utf-8").splitlines()
    assert lines[0] == "panel,id,amount,currency"
    assert sorted(line.split(",")[1] for line in lines[1:]) == [f"worker {n}" for n in range(3)]
    page.get_by_role("button", name="Mark everything as paid").click()
    expect(row(page, "worker 0")).to_contain_text("paid")


def take_home(page: Page, folder: Path) -> None:
    menu(page, "Export")
    page.get_by_label("Title").fill("Markets and boats")
    page.get_by_label("Judgments of").select_option("crowd")
    with page.expect_download() as download:
        page.get_by_role("button", name="Create the report").click()
    download.value.save_as(folder / "report.html")
    report = (folder / "report.html").read_text("utf-8")
    assert "Markets and boats" in report
    assert f"{SYSTEM} flags errors with precision" in report
    assert "entry quiz of 3 questions (1 attempt)" in report  # the protocol sheet
    with page.expect_download() as download:
        page.get_by_role("button", name="Download", exact=True).click()
    download.value.save_as(folder / "study.zip")
    with zipfile.ZipFile(folder / "study.zip") as packed:
        assert "entry quiz of 3" in packed.read("protocol.json").decode()
        assert b"worker 0" not in packed.read("judgments.csv")  # pseudonyms
