"""A live server over a study of our own: uvicorn in a thread, people who are logged in, jobs of one task each."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import Any

import uvicorn
from playwright.sync_api import Browser, BrowserContext, Page

from grater.annotate import content, credentials, jobs, judgments, people, units
from grater.annotate.people import Person
from grater.annotate.store import Store, open_store
from grater.annotate.submissions import Desk, desk_of, hand_in, take_next
from grater.annotate.tasks import TASKS
from grater.annotate.tasks.marking import TASK as MARKING
from grater.annotate.tasks.marking import payload_of
from grater.annotate.tasks.task import Answer
from grater.annotate.units import NewUnit, StudyUnit
from grater.annotate.web import Settings, create_app
from grater.annotate.web.context import SESSION
from grater.annotate.web.serving import listening
from grater.model import Essay, Item, Json, Span, Suggestion
from tests.annotate.web import studies
from tests.browser.chromium import WAIT, Complaints, watched

START_SECONDS = 300
NUMBER = count(1)
NAMES = ("Amina", "Bruno", "Chloe", "Daniel", "Elif", "Farid", "Grace", "Hiro")
SURNAMES = re.findall(r"\w+", "Bello Costa Duval Engel Fofana Garcia Haddad Ito Jansen Kaya Lund Moreau")


def name_of(number: int) -> str:
    """A name that looks like one; after 88 people they have a middle initial or two."""
    turn, place = divmod(number, len(NAMES) * len(SURNAMES))
    middle = "".join(f" {'ABCDEFGHIJKLMNOPRSTVW'[int(digit) + 1]}." for digit in str(turn)) if turn else ""
    return f"{NAMES[place % len(NAMES)]}{middle} {SURNAMES[place // len(NAMES)]}"


@dataclass(frozen=True)
class Site:
    """The address of a running server, and the study behind it."""

    url: str
    store: Store

    def person(self, role: str = "annotator", surname: str = "") -> Person:
        """Somebody who can log in, with the password of the server's own tests.

        An owner cannot: the study would have no link for its first one any more.
        """
        number, password_hash = next(NUMBER), "" if role == "owner" else studies.PASSWORD_HASH
        name = f"{NAMES[number % len(NAMES)]}{surname} {number}" if surname else name_of(number)
        with self.store.write() as tx:
            return people.add(tx, name=name, role=role, password_hash=password_hash)

    def context(self, browser: Browser, person: Person | None, **options: Any) -> BrowserContext:
        """A browser of its own in which the person is logged in, or nobody."""
        context = browser.new_context(base_url=self.url, **options)
        context.set_default_timeout(WAIT)
        if person is not None:
            self.log_in(context, person)
        return context

    def log_in(self, context: BrowserContext, person: Person) -> None:
        with self.store.write() as tx:
            token, _ = credentials.start_session(tx, person.person_id, hours=1)
        context.add_cookies([{"name": SESSION, "value": token, "url": self.url, "httpOnly": True}])

    @contextmanager
    def visit(self, browser: Browser, person: Person | None, **options: Any) -> Iterator[tuple[Page, Complaints]]:
        """A page on which nothing may go wrong, of a person or of a stranger."""
        context = self.context(browser, person, **options)
        with watched(context) as found:
            yield found
        context.close()

    def marking_job(self, *texts: str, judgments: int = 1, offered: Sequence[tuple[str, str, str]] = ()) -> str:
        """A job of whole essays; gives its id.  `offered` are words, correction and tag of suggestions to all."""
        found = [Essay(f"page-{next(NUMBER)}", text) for text in texts]
        whole = [Item(essay.essay_id, Span(0, len(essay.text)), MARKING.kind) for essay in found]
        with self.store.write() as tx:
            content.add_essays(tx, found)
            content.add_items(tx, [content.study_item(item) for item in whole])
            job = jobs.add(tx, name=f"Term papers {next(NUMBER)}", task="marking", judgments=judgments)
            payloads = [_offering(text, offered) for text in texts]
            new = [
                NewUnit(((item.item_id, {}),), item.essay_id, payload=payload)
                for item, payload in zip(whole, payloads, strict=True)
            ]
            units.add_all(tx, job.job_id, new)
            return jobs.set_state(tx, job.job_id, "open").job_id

    def rating_job(self, task: str, *, n_units: int = 2, **shown: Json) -> str:
        """A job of one of the form tasks on the essays of the server's own tests, `shown` in a way of its own."""
        with self.store.write() as tx:
            content.add_essays(tx, studies.corpus())
            job = jobs.add(tx, name=f"{task} {next(NUMBER)}", task=task, judgments=2, title=TASKS[task].title)
            new = [_suggesting(unit) for unit in studies.new_units(tx, task)[:n_units]]
            units.add_all(tx, job.job_id, [replace(unit, payload={**unit.payload, **shown}) for unit in new])
            return jobs.set_state(tx, job.job_id, "open").job_id

    def lease(self, job_id: str, person: Person) -> str:
        """The address of the person's next piece of work."""
        lease = take_next(self.store, job_id=job_id, person_id=person.person_id)
        assert lease is not None
        return f"/leases/{lease.lease_id}"

    def desk(self, address: str, person: Person) -> Desk:
        """What the person has before them at the address of a lease."""
        with self.store.read() as tx:
            return desk_of(tx, address.rpartition("/")[2], person_id=person.person_id)

    def answer(self, job_id: str, person: Person, fields: dict[str, list[str]]) -> tuple[str, StudyUnit]:
        """The person's next piece of work, handed in; its address and the unit."""
        address = self.lease(job_id, person)
        desk = self.desk(address, person)
        hand_in(self.store, desk, fields, seconds=4)
        return address, desk.unit

    def handed_in(self, job_id: str) -> list[Answer]:
        """Every answer of a job, in the order in which they came."""
        with self.store.read() as tx:
            return [answer for _, answers in judgments.by_submission(tx, job_id) for answer in answers]


def _offering(text: str, offered: Sequence[tuple[str, str, str]]) -> dict[str, Json]:
    if not offered:
        return {}
    starts = [text.index(words) for words, _, _ in offered]
    marks = [
        Suggestion(Span(start, start + len(words)), tag, (correction,))
        for start, (words, correction, tag) in zip(starts, offered, strict=True)
    ]
    return payload_of("a system", 1.0, marks)


def _suggesting(unit: NewUnit) -> NewUnit:
    """The unit with a suggestion that a system could make."""
    items_of = [(item_id, {**payload, "suggestion": "on"}) for item_id, payload in unit.items]
    return replace(unit, items=tuple(items_of))


@contextmanager
def live_site(folder: Path, **options: Any) -> Iterator[Site]:
    """Serve the study in the folder, a new one where there is none, until the end of the `with`."""
    path = folder / "study.db"
    with listening("127.0.0.1", 0) as line, open_store(path, create=not path.exists()) as store:
        url = f"http://127.0.0.1:{line.getsockname()[1]}"
        settings = Settings(
            base_url=url, wait_seconds=170, request_seconds=600, check_page=True, guest_requests=10**6, **options
        )
        config = uvicorn.Config(create_app(settings, store), log_level="warning", ws="none", loop="asyncio")
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, args=([line],), daemon=True)
        thread.start()
        try:
            _wait_for(server, thread)
            yield Site(url, store)
        finally:
            server.should_exit = True
            thread.join(START_SECONDS)


def _wait_for(server: uvicorn.Server, thread: threading.Thread) -> None:
    end = time.monotonic() + START_SECONDS
    while not server.started:
        if not thread.is_alive() or time.monotonic() > end:
            raise RuntimeError("the test server did not start")
        time.sleep(0.02)
