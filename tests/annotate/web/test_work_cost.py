"""What a rater's request costs the database does not grow with the job, nor with the work of others.

Nothing is timed: on PostgreSQL every query of a request is explained and the rows that its plan touches are summed;
on SQLite the steps of its virtual machine are counted.  What PostgreSQL explains is the plan that a connection keeps:
made for any parameters, and for tables as small as they were when the query first came.
"""

from __future__ import annotations

import json
import re
import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import inf
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event

from grater.annotate import content, jobs, raters, units
from grater.annotate.store import Store
from grater.annotate.submissions import desk_of, hand_in_and_take, take_desk
from grater.model import Essay, Item, Span
from tests.annotate.web.studies import Browser, Study, served

SMALL, LARGE = 150, 1200  # of four slots each, both more than are counted to the end
N_STATEMENTS = {"postgresql": 23, "sqlite": 29}
"""A page (3, and 1 for what was earned) and the form that it sends, with the next unit (19); SQLite counts BEGIN."""

N_OTHERS = 40
"""Answers of each of two others."""

PARAMETER = re.compile(r"%\((\w+)\)s")

STEPS = 100
"""Of SQLite's machine, counted at once."""


@dataclass
class Cost:
    """Statements of a request, and the rows or steps behind each of its queries."""

    n_statements: int = 0
    steps: list[int] = field(default_factory=list)
    rows: Counter[str] = field(default_factory=Counter)


@contextmanager
def counted(store: Store) -> Iterator[Cost]:
    cost = Cost()
    engines = {store.engine, store.glancing}

    def before(_connection: Any, cursor: Any, statement: str, parameters: Any, *_: Any) -> None:
        cost.n_statements += 1
        if store.is_postgres and statement.startswith(("SELECT", "WITH")):
            cost.rows[statement] += _explained(cursor.connection, statement, parameters)
        elif not store.is_postgres:
            cost.steps.clear()
            cursor.connection.set_progress_handler(lambda: cost.steps.append(1), STEPS)

    def after(_connection: Any, cursor: Any, statement: str, *_: Any) -> None:
        if not store.is_postgres:
            cursor.connection.set_progress_handler(None, 0)
            cost.rows[statement] += STEPS * len(cost.steps)

    for engine in engines:
        event.listen(engine, "before_cursor_execute", before)
        event.listen(engine, "after_cursor_execute", after)
    yield cost
    for engine in engines:
        event.remove(engine, "before_cursor_execute", before)
        event.remove(engine, "after_cursor_execute", after)


def _explained(connection: Any, statement: str, parameters: dict[str, Any]) -> int:
    from psycopg import ClientCursor

    names = list(dict.fromkeys(PARAMETER.findall(statement)))
    name = f"kept_{zlib.crc32(statement.encode())}"
    with ClientCursor(connection) as cursor:  # EXECUTE takes values, not parameters
        cursor.execute("SELECT 1 FROM pg_prepared_statements WHERE name = %s", [name])
        if cursor.fetchone() is None:
            numbered = PARAMETER.sub(lambda match: f"${1 + names.index(match[1])}", statement)
            cursor.execute(f"PREPARE {name} AS {numbered}")
        values = ", ".join(f"%({each})s" for each in names)
        cursor.execute(f"EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) EXECUTE {name} ({values})", parameters)
        (plans,) = cursor.fetchone() or ("[]",)
    plans = json.loads(plans) if isinstance(plans, str) else plans
    return _rows(plans[0]["Plan"])


def _rows(plan: dict[str, Any]) -> int:
    touched = plan["Actual Rows"] + plan.get("Rows Removed by Filter", 0) + plan.get("Rows Removed by Join Filter", 0)
    return int(touched * plan["Actual Loops"]) + sum(map(_rows, plan.get("Plans", ())))


def job_of(store: Store, n_units: int) -> str:
    """A paid pool of so many units, four judgments each."""
    with store.write() as tx:
        content.add_essays(tx, [Essay(f"long-{n_units}", "a " * n_units)])
        places = [Item(f"long-{n_units}", Span(2 * at, 2 * at + 1), "article") for at in range(n_units)]
        content.add_items(tx, [content.study_item(place) for place in places])
        job = jobs.add(tx, name=f"of {n_units}", task="error", judgments=4)
        jobs.set_options(tx, job.job_id, {"crowd": {"pay": {"cents": 5}}})
        units.add_all(tx, job.job_id, [units.NewUnit(((place.item_id, {}),), place.essay_id) for place in places])
        jobs.set_state(tx, job.job_id, "open")
    return job.job_id


def cost_of_a_turn(study: Study, job_id: str) -> Cost:
    """A page and the answer to it, when a few have been given."""
    browser = study.browser("worker")
    path = browser.post(f"/jobs/{job_id}/next").url.path
    for _ in range(3):
        path = browser.post(path, {"label": "ok"}).url.path
    if study.store.is_postgres:
        with study.store.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            connection.exec_driver_sql("ANALYZE")
    return cost_of_one_more(study, browser, path)[0]


def cost_of_one_more(study: Study, browser: Browser, path: str) -> tuple[Cost, str]:
    """The same from the page of a unit on, and the page that comes next."""
    browser.client.follow_redirects = False
    with counted(study.store) as cost:
        assert re.search("\\d (of \\d+ )?done", browser.get(path).text)
        sent = browser.post(path, {"label": "ok"})
    assert sent.status_code == 303
    return cost, sent.headers["location"]


def answer_as_others(study: Study, job_id: str, *, n: int) -> None:
    """Two others give `n` answers each."""
    for role in ("annotator", "manager"):
        desk = take_desk(study.store, job_id=job_id, person_id=study.people[role].person_id)
        for _ in range(n):
            assert desk is not None
            _, lease = hand_in_and_take(study.store, desk, {"label": ["ok"]}, seconds=None)
            with study.store.glance() as tx:
                desk = desk_of(tx, lease.lease_id, person_id=lease.person_id)


@pytest.fixture
def empty(place: Path | str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Study]:
    monkeypatch.setattr(raters, "LARGE_SECONDS", inf)
    with served(place) as study:
        yield study


def test_a_turn_costs_as_much_in_a_job_eight_times_as_large(empty: Study) -> None:
    small = cost_of_a_turn(empty, job_of(empty.store, SMALL))
    large = cost_of_a_turn(empty, job_of(empty.store, LARGE))
    assert large.n_statements <= small.n_statements <= N_STATEMENTS[empty.store.engine.dialect.name]
    assert large.rows.total() <= 1.5 * small.rows.total(), large.rows.most_common(1)


@pytest.mark.parametrize("place", ["postgresql"], indirect=True)
def test_plans_made_in_an_empty_study_do_not_read_the_answers_of_others_later(empty: Study) -> None:
    job_id = job_of(empty.store, SMALL)
    browser = empty.browser("worker")
    path = browser.post(f"/jobs/{job_id}/next").url.path
    for _ in range(2):
        early, path = cost_of_one_more(empty, browser, path)
    answer_as_others(empty, job_id, n=N_OTHERS)
    late, _ = cost_of_one_more(empty, browser, path)
    [(query, grown)] = (late.rows - early.rows).most_common(1) or [("", 0)]
    assert grown < N_OTHERS, query
