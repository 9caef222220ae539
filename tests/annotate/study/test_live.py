"""Figures that managers watch: those of the moment where they are cheap, else the last ones, and what they lack."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from grater.annotate import dashboard, jobs, progress, trust
from grater.annotate.dashboard import Live, confusion_of, figures_of, pairs_of, sizes
from grater.annotate.raters import rater_lines
from grater.annotate.store import Tx
from grater.model import Json
from tests.annotate.store.crowds import statements
from tests.annotate.web.studies import Study, served
from tests.annotate.web.test_work import FILLED, all_of, answer, start


@pytest.fixture
def study(tmp_path: Path) -> Iterator[Study]:
    """An error job that one rater has done and another has begun."""
    with served(tmp_path, tasks=("error",)) as served_study:
        all_of(served_study, "worker", "error")
        one_more(served_study)
        yield served_study


def one_more(study: Study) -> None:
    browser = study.browser("annotator")
    answer(browser, start(browser, study, "error"), FILLED["error"])


def figures(kept: Live, study: Study) -> tuple[int, int]:
    """The judgments in the figures, and those that are not in them yet."""
    seen = study.read(kept.figures, study.read(jobs.get, study.jobs["error"]))
    return seen.value.costs.judgments, seen.behind


def test_cheap_figures_are_of_the_moment_and_counted_once(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    counted: list[str] = []

    def counting(tx: Tx, job: jobs.Job) -> dashboard.Figures:
        counted.append(job.name)
        return figures_of(tx, job)

    monkeypatch.setattr(dashboard, "figures_of", counting)
    kept = Live(study.store)
    before = figures(kept, study)
    assert figures(kept, study) == before
    assert len(counted) == 1
    one_more(study)
    assert figures(kept, study) == (before[0] + 1, 0)


def test_dear_figures_are_the_last_ones_until_counted_again(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    is_counted = threading.Event()
    monkeypatch.setattr(dashboard, "MANY", 1)
    kept = Live(study.store)
    n_before, _ = figures(kept, study)
    one_more(study)
    monkeypatch.setattr(dashboard, "PAUSE", 1e9)
    assert figures(kept, study) == (n_before, 1), "too soon after the last time"
    monkeypatch.setattr(dashboard, "PAUSE", 0)
    count = Live._count

    def noted(*args: Any) -> None:
        count(*args)
        is_counted.set()

    monkeypatch.setattr(Live, "_count", noted)
    assert figures(kept, study) == (n_before, 1)
    assert is_counted.wait(60)
    assert figures(kept, study) == (n_before + 1, 0)


def test_after_a_change_of_terms_figures_are_counted_at_once(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dashboard, "MANY", 1)
    browser = study.browser("manager")
    path = f"/manage/jobs/{study.jobs['error']}"
    assert "EUR" not in browser.get(f"{path}/crowd").text
    assert browser.post(f"{path}/terms", {"cents": "12", "page": "10"}).status_code == 200
    assert "EUR" in browser.get(f"{path}/crowd").text


def test_an_ejection_is_seen_at_once_whatever_the_signals_cost(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dashboard, "MANY", 1)
    kept, job = Live(study.store), study.read(jobs.get, study.jobs["error"])
    study.read(kept.lines, job)
    study.write(trust.eject, job, study.people["worker"].person_id)
    lines, _ = study.read(kept.lines, job)
    (worker,) = [line for line in lines if line.person.name == "Worker"]
    assert worker.trust.state == "ejected"
    assert (worker.done.valid, worker.done.untrusted > 0) == (0, True)
    assert [line.done for line in lines] == [line.done for line in study.read(rater_lines, job)]


def test_the_live_page_counts_a_job_again_only_when_something_has_happened(study: Study) -> None:
    manager, path = study.browser("manager"), f"/manage/jobs/{study.jobs['error']}/crowd"
    looks = []
    for is_more in (False, False, True):
        if is_more:
            one_more(study)
        with statements(study.store) as queries:
            page = manager.get(path).text
        looks.append(sum("submissions" in query and "units" in query for query in queries))
        far = study.read(progress.counts_of, study.jobs["error"])
        assert re.findall(r"<dd>([\d,]+)<small>of", page)[:2] == [str(far.valid), str(far.done)]
    first, again, after_one = looks
    assert again == 0 < after_one <= first


SAID = {"i1": {"A": "error", "B": "error", "C": "ok"}, "i2": {"A": "ok", "B": "ok"}, "i3": {"A": "error"}}
ROWS: list[dict[str, Json]] = [
    {"item": item, "rater": rater, "label": label, "at": "1", "group": "crowd"}
    for item, answers in SAID.items()
    for rater, label in answers.items()
]


def test_confusions_count_every_ordered_pair_of_answers_to_one_item_and_raters_are_compared_on_those() -> None:
    confusion = confusion_of(ROWS)
    # i1: A and B say error twice over, C says ok against both; i2: ok twice over; i3 has one answer and no pair
    assert (confusion.labels, confusion.counts) == (("error", "ok"), ((2, 2), (2, 2)))
    pairs = {(pair.first, pair.second): (pair.agreed, pair.n) for pair in pairs_of(ROWS)}
    assert pairs == {("A", "B"): (2, 2), ("A", "C"): (0, 1), ("B", "C"): (0, 1)}


def test_history_doubles_and_ends_with_everything() -> None:
    expected = {0: [], 7: [7], 20: [20], 100: [20, 40, 80, 100]}
    assert {n: sizes(n) for n in expected} == expected
