"""One living study: whatever number several pages show, they show the same."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape

import pytest

from grater.annotate import jobs, units
from grater.annotate.gold import make_gold
from grater.annotate.protocol import set_terms
from tests.annotate.web.studies import Browser, Study, served
from tests.annotate.web.test_work import FILLED, all_of, answer, start


@pytest.fixture(scope="module")
def living(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Study]:
    """Work with gold and dynamic redundancy, a two-stage job of several items per unit; two raters did some."""
    with served(tmp_path_factory.mktemp("living"), tasks=("error", "construction")) as study:
        with study.store.write() as tx:
            job = jobs.get(tx, study.jobs["error"])
            item = units.get(tx, units.ids_of_job(tx, job.job_id)[0]).unit.items[0].item
            make_gold(tx, job, item.item_id, ["error"], reason="So it is.")
            set_terms(tx, job.job_id, {"redundancy": {"least": 2, "most": 4, "lead": 2}, "pay": {"cents": 7}})
        for who, task in (("worker", "error"), ("annotator", "error"), ("worker", "construction")):
            all_of(study, who, task)
        adjudicator = study.browser("adjudicator")
        answer(adjudicator, start(adjudicator, study, "construction"), FILLED["construction"])
        yield study


def plain(page: str) -> str:
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", page)).split())


def numbers(pattern: str, words: str) -> set[tuple[int, ...]]:
    return {tuple(int(n.replace(",", "")) for n in match.groups()) for match in re.finditer(pattern, words)}


def shown(browser: Browser, path: str) -> str:
    reply = browser.get(path)
    assert reply.status_code == 200
    return plain(reply.text)


@pytest.mark.parametrize("task", ["error", "construction"])
def test_judgments_units_and_raters_are_the_same_on_every_page(living: Study, task: str) -> None:
    manager, job_id = living.browser("manager"), living.jobs[task]
    study_page = next(
        plain(card)
        for card in manager.get("/manage").text.split('<section class="card">')
        if f'">Job {task}</a>' in card
    )
    job_page = shown(manager, f"/manage/jobs/{job_id}")
    board = shown(manager, f"/manage/jobs/{job_id}/crowd")
    raters = shown(manager, f"/manage/jobs/{job_id}/raters")
    n_work = len(living.units_of(job_id, role="work"))
    (judged,) = numbers(r"([\d,]+) of ([\d,]+) judgments", study_page)
    assert numbers(r"Judgments ([\d,]+) of ([\d,]+) wanted", job_page) == {judged}
    assert numbers(r"Judgments ([\d,]+) of ([\d,]+) wanted", board) == {judged}
    assert numbers(r"Judgments [\d,]+, ([\d,]+) valid", board) == {(judged[0],)}
    (done,) = numbers(r"Units finished ([\d,]+) of ([\d,]+)", job_page)
    assert numbers(r"Units finished ([\d,]+) of ([\d,]+)", board) == {done}
    assert {(done[1],)} == numbers(r"([\d,]+) units? ·", study_page) == {(n_work,)}
    # the curve ends where the count stands, and the parts of the raters add up to it
    html = manager.get(f"/manage/jobs/{job_id}").text
    (over_time,) = re.findall(r'<svg class="chart"[^>]*aria-label="([^"]*)"', html)
    assert over_time.endswith(f": {judged[0]} judgments")
    parts = [int(n.replace(",", "")) for n in re.findall(r'data-label="Valid">([\d,]+)<', html)]
    assert sum(parts) == judged[0]
    n_raters = len(parts)
    assert numbers(r"Raters (\d+)", job_page.partition("In progress")[2]) >= {(n_raters,)}
    assert numbers(r"of (\d+) raters?", board) == {(n_raters,)} == numbers(r"(\d+) raters?", study_page)
    everybody = raters.partition("All raters")[2].partition("These signals")[0]
    assert sum(name in everybody for name in ("Worker", "Annotator", "Adjudicator")) == n_raters
    # what a unit gets, times the units, is what is wanted
    each = re.search(r"([\d.]+) judgments? per unit", job_page)
    assert abs(float(each[1]) * done[1] - judged[1]) <= 0.05 * done[1] + 1e-9
    assert f"{each[1]} judgment" in study_page


def test_nothing_done_is_no_full_bar(living: Study) -> None:
    manager = living.browser("manager")
    made = manager.post("/manage/jobs", {"task": "marking", "judgments": "2"})
    assert re.search(r'value="0" aria-label="1 of 2 judgments"', made.text)
    bars = manager.get("/manage").text.split("<progress")[1:]
    assert ['value="0"' in bar for bar in bars if "Judgments of Mark an essay" in bar] == [True]
