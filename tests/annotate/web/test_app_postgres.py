"""The whole server on a real PostgreSQL: work, a double click, a review, adjudication, export, the promises."""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections.abc import Iterator

import pytest

from grater.annotate.store import checks
from grater.annotate.store.transaction import DAY
from tests.annotate.store.conftest import cluster
from tests.annotate.store.postgres import new_database
from tests.annotate.web.studies import Study, served
from tests.annotate.web.test_work import FILLED, answer_all, start

__all__ = ["cluster"]

TASKS = ("usage", "choice", "construction", "marking")


@pytest.fixture
def study(cluster: str) -> Iterator[Study]:
    with served(new_database(cluster), tasks=TASKS) as found:
        yield found


def all_of(study: Study, who: str, task: str, form: dict[str, object] | None = None) -> int:
    """Everything that somebody can do in a job now; give how much it was."""
    browser = study.browser(who)
    return len(answer_all(browser, start(browser, study, task), form or FILLED[task]))


def whole(study: Study) -> bool:
    with study.store.read() as tx:
        return checks.violations(tx) == []


def test_two_raters_do_every_task_and_a_third_finds_nothing_left(study: Study) -> None:
    assert study.store.engine.dialect.name == "postgresql"
    assert [all_of(study, "worker", task) for task in TASKS] == [10, 10, 1, 3]
    assert [all_of(study, "annotator", task) for task in TASKS] == [10, 10, 1, 3]
    assert all_of(study, "adjudicator", "usage") == 0
    study.clock.now += DAY
    assert all_of(study, "worker", "construction") == 1  # the second stage, a day later
    assert whole(study)


def test_adjudication_agreement_and_export(study: Study) -> None:
    all_of(study, "worker", "usage", {"label": "2", "confidence": "high"})
    all_of(study, "annotator", "usage", {"label": "1", "better": "on", "confidence": "low"})
    adjudicator = study.browser("adjudicator")
    found = re.search(r"/adjudicate/[\w-]+(?=\")", adjudicator.get("/adjudicate").text)
    assert found
    page = adjudicator.get(found.group(0)).text
    assert "confidence" in page.lower()
    form = {"label": "2", "confidence": "high", "version": "0"}
    assert adjudicator.post(found.group(0), form).status_code == 200
    assert "1 of 10 decided" in adjudicator.get("/adjudicate").text
    manager = study.browser("manager")
    assert "agreement|grater:" in manager.get(f"/manage/jobs/{study.jobs['usage']}/agreement").text
    manager.get("/manage/export")
    one, two = (manager.post("/manage/export").content for _ in range(2))
    assert one == two
    with zipfile.ZipFile(io.BytesIO(one)) as packed:
        assert json.loads(packed.read("manifest.json"))["counts"]["adjudications"] == 1
    assert whole(study)


def test_a_nul_in_an_address_is_nobodys_fault_but_the_askers(study: Study) -> None:
    manager = study.browser("manager")
    for path in ("/mining/%00", "/adjudicate/%00", "/manage/jobs/%00"):
        assert manager.get(path).status_code in (404, 422), path
