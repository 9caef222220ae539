"""A served study to test with: people, essays of our own, a job for each task, a browser that minds its cookies.

What is the same for every test is made once: the database of a new study is copied from the first of its kind, the
routes of the application are worked out once, and passwords are hashed as cheaply as argon2 lets us.
"""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache, partial
from pathlib import Path
from typing import Any

from argon2 import PasswordHasher
from fastapi import FastAPI
from sqlalchemy import select
from starlette.routing import BaseRoute

from grater.annotate import content, credentials, jobs, people, units
from grater.annotate.people import Person
from grater.annotate.store import Store, Tx, checks, open_store, schema
from grater.annotate.store.transaction import DAY
from grater.annotate.tasks import TASKS
from grater.annotate.tasks.construction import CONSTRUCTIONS
from grater.annotate.units import NewUnit, StudyUnit
from grater.annotate.web import Settings, create_app
from grater.model import Essay, Item, Json, Span
from tests.annotate.store.worlds import FakeClock, T, read, write
from tests.annotate.web.client import Client
from tests.folders import own_folder

BASE = "http://testserver"
PASSWORD = "a quiet evening"
CHEAP_HASHER = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
PASSWORD_HASH = CHEAP_HASHER.hash(PASSWORD)
ROLES = ("owner", "manager", "adjudicator", "annotator", "worker")

TEXTS = (
    "Last spring my cousin opened a bakery. She depends of her brother for the bread. In the morning they bake.",
    "We arrived to the village at night. Nobody waited for us. The road was full with stones.",
    "Our teacher explained us the rule. I am agree with him in most points. He insists in good manners.",
)
PREPOSITIONS = ("of", "In", "to", "at", "for", "with", "in")


@dataclass
class Study:
    """A store, its people by role, its jobs by task."""

    store: Store
    clock: FakeClock
    people: dict[str, Person]
    jobs: dict[str, str] = field(default_factory=dict)
    settings: Settings = field(default_factory=Settings)
    made: tuple[Settings, FastAPI] | None = None

    def client(self, *, follow: bool = True) -> Client:
        if self.made is None or self.made[0] is not self.settings:
            self.made = (self.settings, application(self.settings, self.store))
        return Client(self.made[1], base_url=BASE, follow_redirects=follow)

    def browser(self, who: str = "") -> Browser:
        """A browser, already logged in as a person (by role or name), or as nobody."""
        browser = Browser(self.client())
        if who:
            person = self.people.get(who) or self.read(people.named, who)
            token, session = self.write(credentials.start_session, person.person_id, hours=12)
            browser.client.cookies.set("grater-session", token)
            browser.csrf = session.csrf
        return browser

    def bearer(self, who: str) -> dict[str, str]:
        """The header of a program that has a token of this person (by role)."""
        return {"authorization": f"Bearer {self.write(credentials.make_token, self.people[who].person_id)}"}

    def units_of(self, job_id: str, **of: Any) -> list[str]:
        return self.read(units.ids_of_job, job_id, **of)

    def read(self, find: Callable[..., T], *given: Any, **more: Any) -> T:
        """What one function finds in the study."""
        return read(self.store, find, *given, **more)

    def write(self, change: Callable[..., T], *given: Any, **more: Any) -> T:
        """What comes of one change of the study."""
        return write(self.store, change, *given, **more)

    def require_promises(self) -> None:
        assert self.read(checks.violations) == []

    def unit_at(self, path: str) -> StudyUnit:
        """The unit of a page on which somebody works."""
        with self.store.read() as tx:
            lease = tx.first(select(schema.leases).where(schema.leases.c.lease_id == path.rpartition("/")[2]))
            return units.get(tx, lease.unit_id)


@dataclass
class Browser:
    """A person's browser: sends its own origin and the token of the page it last saw."""

    client: Client
    csrf: str = ""

    def get(self, path: str, **more: Any):  # type: ignore[no-untyped-def]
        reply = self.client.get(path, **more)
        found = re.search(r'name="csrf" (?:content|value)="([^"]+)"', reply.text)
        self.csrf = found.group(1) if found else self.csrf
        return reply

    def post(self, path: str, data: Mapping[str, object] | None = None, **more: Any):  # type: ignore[no-untyped-def]
        headers = {"origin": BASE, **more.pop("headers", {})}
        return self.client.post(path, data={"csrf": self.csrf, **(data or {})}, headers=headers, **more)


@contextmanager
def served(place: Path | str, *, tasks: Sequence[str] = (), judgments: int = 2, **options: object) -> Iterator[Study]:
    """A new study with one person of every role, three essays and an open job for each of the named tasks.

    `place` is a folder, or the URL of an empty database.
    """
    clock = FakeClock()
    options.setdefault("wait_seconds", 120)
    options.setdefault("request_seconds", 600.0)
    for_crowds = {"guest_requests": 1_000_000, "guest_bytes": 1_000_000_000}  # whose clock may stand still
    settings = Settings(base_url=BASE, clock=clock, **{**for_crowds, **options})  # type: ignore[arg-type]
    if isinstance(place, str):
        with open_store(place, create=True, clock=clock) as store:
            persons, jobs_by_task = _fill(store, tasks, judgments)
            yield Study(store, clock, persons, jobs_by_task, settings)
        return
    first, persons, jobs_by_task = _first_of_its_kind(tuple(tasks), judgments)
    shutil.copyfile(first, place / "study.db")
    with open_store(place / "study.db", clock=clock) as store:
        yield Study(store, clock, dict(persons), dict(jobs_by_task), settings)


kept = cache(partial(own_folder, "grater-tests-"))


@cache
def _first_of_its_kind(tasks: tuple[str, ...], judgments: int) -> tuple[Path, dict[str, Person], dict[str, str]]:
    """A study that nobody works in, to be copied."""
    path = Path(tempfile.mkdtemp(dir=kept())) / "study.db"
    with open_store(path, create=True, clock=FakeClock()) as store:
        persons, jobs_by_task = _fill(store, tasks, judgments)
    return path, persons, jobs_by_task


def _fill(store: Store, tasks: Sequence[str], judgments: int) -> tuple[dict[str, Person], dict[str, str]]:
    with store.write() as tx:
        persons = {role: people.add(tx, name=role.title(), role=role, password_hash=PASSWORD_HASH) for role in ROLES}
        content.add_essays(tx, corpus())
        return persons, {task: add_job(tx, task, judgments=judgments) for task in tasks}


ROUTES: list[BaseRoute] = []


def application(settings: Settings, store: Store) -> FastAPI:
    """An application of its own that shares its routes, which FastAPI takes long to work out, with all others."""
    app = create_app(settings, store)
    if not ROUTES:
        ROUTES.extend(app.router.routes)
    app.router.routes = list(ROUTES)  # a test may add one
    return app


def corpus() -> list[Essay]:
    return [Essay(f"essay-{number}", text) for number, text in enumerate(TEXTS, 1)]


def places() -> list[Item]:
    """Every preposition of the essays."""
    return [
        Item(essay.essay_id, Span(*found.span()), "prep")
        for essay in corpus()
        for found in re.finditer(rf"\b({'|'.join(PREPOSITIONS)})\b", essay.text)
    ]


def add_job(tx: Tx, task: str, *, judgments: int = 2, name: str = "", state: str = "open") -> str:
    """An open job with units for a task; give its id."""
    job = jobs.add(tx, name=name or task, task=task, judgments=judgments, title=f"Job {task}")
    jobs.add_guidelines(tx, job.job_id, TASKS[task].guidelines)
    units.add_all(tx, job.job_id, new_units(tx, task))
    jobs.set_state(tx, job.job_id, state)  # type: ignore[arg-type]
    return job.job_id


def new_units(tx: Tx, task: str) -> list[NewUnit]:
    if task == "marking":
        whole = [Item(essay.essay_id, Span(0, len(essay.text)), "essay") for essay in corpus()]
        content.add_items(tx, [content.study_item(item) for item in whole])
        return [NewUnit(((item.item_id, {}),), item.essay_id) for item in whole]
    if task == "construction":
        return [noun(tx, "no-context"), noun(tx, "in-context")]
    found = places()
    content.add_items(tx, [content.study_item(item) for item in found])
    if task in CORRECTED:
        return [corrected(tx, task, item) for item in found]
    payload: dict[str, Json] = {"suggestion": "zzz-suggested"}
    return [NewUnit(((item.item_id, payload),), item.essay_id) for item in found]


CORRECTED = ("rank", "fate", "remaining")


def corrected(tx: Tx, task: str, place: Item) -> NewUnit:
    """A sentence as three systems corrected it, two of them alike; one correction where errors are counted."""
    first = "A first way to write this sentence."
    texts = {"A": first, "C": first} if task == "remaining" else {"A": first, "B": "Another way.", "C": first}
    made = [(Item(place.essay_id, place.span, f"{task}/{system}"), {"words": text}) for system, text in texts.items()]
    content.add_items(tx, [content.study_item(item, payload=payload) for item, payload in made])
    return NewUnit(tuple((item.item_id, payload) for item, payload in made), place.essay_id)


def noun(tx: Tx, stage: str) -> NewUnit:
    start = TEXTS[0].index("a bakery")
    words = ("bakery", "a bakery", "the bakery", "bakeries", "the bakeries")
    five = [
        (Item("essay-1", Span(start, start + 8), f"construction/{stage}/{name}"), {"words": form})
        for name, form in zip(CONSTRUCTIONS, words, strict=True)
    ]
    content.add_items(tx, [content.study_item(item) for item, _ in five])
    ids = tuple((item.item_id, payload) for item, payload in five)
    unit = NewUnit(ids, "essay-1", stage=stage, name=stage)
    return replace(unit, follows="no-context", delay_ms=DAY) if stage == "in-context" else unit


def hidden(page: str, name: str) -> str:
    """The value of a hidden field of a page."""
    found = re.search(rf'name="{name}" value="([^"]*)"', page)
    assert found, f"no hidden field {name}"
    return found.group(1)
