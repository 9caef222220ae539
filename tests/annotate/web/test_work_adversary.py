"""An adversary who tries to tell hidden gold from work before the answer (P5), or to get the code for less (P12).

The automaton takes, returns, lets lapse, reloads, opens a second tab and uses pages and API as it likes, while others
work.  From all that it saw it guesses by several rules whether the unit in its hands is gold, then answers, at times
wrongly so as to be told of gold, and learns for the next turn.  A rule that knows nothing guesses half of the gold
and half of the work right; the study's secrets come from a seed, so that a run can be repeated.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import sqrt
from pathlib import Path

import pytest
from sqlalchemy import func, select

from grater.annotate import content, credentials, gold, jobs, leases, panels, people, standing, trust, units
from grater.annotate.jobs import Access, Assignment
from grater.annotate.store import Tx, schema, transaction
from grater.annotate.store.transaction import HOUR
from grater.annotate.submissions import hand_in, take_desk
from grater.annotate.units import NewUnit
from grater.model import Essay, Item, Json, Span
from tests.annotate.store.worlds import SeededSecrets
from tests.annotate.web.studies import Browser, Study, served
from tests.annotate.web.test_crowd import enter, panel_of

N_WORK, N_GOLD, PAGE = 14, 40, 2
TERMS: dict[str, Json] = {"gold": {"least_seen": 900}, "page": PAGE}


@contextmanager
def seeded(folder: Path, seed: int, monkeypatch: pytest.MonkeyPatch) -> Iterator[Study]:
    monkeypatch.setattr(transaction, "secrets", SeededSecrets(seed))
    monkeypatch.setattr(standing, "multiplier", transaction.multiplier)  # not the even turns of other tests
    with served(str(folder / f"study-{seed}.db")) as study:
        yield study


def sentences(tx: Tx) -> list[NewUnit]:
    """Units about sentences of our own, each with a word that no other has."""
    made = [Essay(f"bus-{n}", f"Friend {n} waited on the bus stop.") for n in range(N_WORK + N_GOLD)]
    if content.find_essay(tx, made[0].essay_id) is None:
        content.add_essays(tx, made)
    places = [Item(essay.essay_id, Span(a := essay.text.index("on the"), a + 2), "prep") for essay in made]
    content.add_items(tx, [content.study_item(place) for place in places])
    return [NewUnit(((place.item_id, {}),), place.essay_id) for place in places]


def job_with_gold(tx: Tx, name: str, person_ids: tuple[str, ...] = (), terms: Mapping[str, Json] = TERMS) -> str:
    """Work and gold about our sentences, which of them is which drawn anew; assigned to these people, or a pool."""
    access: Access = "assigned" if person_ids else "pool"
    job = jobs.add(tx, name=name, task="error", judgments=2, access=access, options={"crowd": terms})
    new = sentences(tx)
    random.Random(name).shuffle(new)
    batched = [NewUnit(unit.items, unit.essay_id, batch=n % 3) for n, unit in enumerate(new[:N_WORK])]
    work_ids = units.add_all(tx, job.job_id, batched)
    if person_ids:
        jobs.assign(tx, job.job_id, [Assignment(unit_id, who) for unit_id in work_ids for who in person_ids])
    for unit in new[N_WORK:]:
        (unit_id,) = units.add_all(tx, job.job_id, [NewUnit(unit.items, unit.essay_id, role="gold")])
        gold.add(tx, unit_id, unit.items[0][0], ["error"], reason="People wait at a stop.")
    jobs.set_state(tx, job.job_id, "open")
    return job.job_id


@dataclass(frozen=True)
class View:
    """What a unit shows: its lease, its sentence, and everything else that came with it, random names aside."""

    lease_id: str
    sentence: str
    rest: str = ""


@dataclass
class Turn:
    """What the adversary saw until it answers; `again`: whether the same came back after each time it was let go."""

    views: list[View] = field(default_factory=list)
    again: list[bool] = field(default_factory=list)
    was_seen_before: bool = False
    n_units: int = 0
    n_known_gold: int = 0
    since_gold: int = 0

    @property
    def last(self) -> View:
        return self.views[-1]


RULES: dict[str, Callable[[Turn], bool]] = {
    "repeats": lambda turn: not turn.was_seen_before and len({view.sentence for view in turn.views}) > 1,
    "comes again": lambda turn: all(turn.again),
    "seen before": lambda turn: turn.was_seen_before,
    "position": lambda turn: turn.since_gold >= PAGE - 1,
    "just had one": lambda turn: turn.since_gold == 0,
    "counts": lambda turn: turn.n_known_gold * PAGE < turn.n_units,
    "ids": lambda turn: ord(turn.last.lease_id[0]) % 2 == 0,
    "order of ids": lambda turn: turn.last.lease_id > turn.views[0].lease_id,
    "shape": lambda turn: any(view.rest != turn.views[0].rest for view in turn.views),
}
"""Each says whether it takes the unit for gold."""


@dataclass
class Adversary:
    study: Study
    job_id: str
    name: str
    headers: Mapping[str, str]
    rng: random.Random
    met: set[str] = field(default_factory=set)
    n_units: int = 0
    n_known_gold: int = 0
    since_gold: int = 0
    browser: Browser = field(init=False)

    def take(self, *, by: str = "") -> View | None:
        """The next unit, by a page or by the API."""
        if (by or self.rng.choice(("page", "api"))) == "api":
            reply = self.study.client().post(f"/api/v1/jobs/{self.job_id}/next", headers=self.headers).json()
            return None if reply["lease"] is None else _told(reply["lease"])
        path = self.browser.post(f"/jobs/{self.job_id}/next").url.path
        return self.look(path.rpartition("/")[2]) if path.startswith("/leases/") else None

    def look(self, lease_id: str) -> View:
        return _told(self.study.client().get(f"/api/v1/leases/{lease_id}", headers=self.headers).json())

    def let_go(self, view: View) -> None:
        """Give it back, by page or API, or let it run out while somebody else asks for work."""
        if self.rng.random() < 0.5:
            self.study.clock.now += 2 * HOUR
        elif self.rng.random() < 0.5:
            self.browser.post(f"/leases/{view.lease_id}/return")
        else:
            self.study.client().post(f"/api/v1/leases/{view.lease_id}/return", headers=self.headers)

    def turn(self, others: Callable[[], None]) -> Turn | None:
        self.browser = self.study.browser(self.name)  # a new session: the old one ends while units run out
        first = self.take()
        if first is None:
            return None
        turn = Turn([first], n_units=self.n_units, n_known_gold=self.n_known_gold, since_gold=self.since_gold)
        for _ in range(self.rng.randint(2, 5)):
            action = self.rng.choice(("reload", "tab", "let go", "let go", "let go"))
            if action == "reload":
                turn.views.append(self.look(turn.last.lease_id))
                continue
            if action == "let go":
                self.let_go(turn.last)
                others()
            view = self.take()
            if view is None:
                return None
            turn.again += [view.sentence == turn.last.sentence] if action == "let go" else []
            turn.views.append(view)
        earlier = {view.sentence for view in turn.views[:-1]} | self.met if len(turn.views) > 1 else self.met
        turn.was_seen_before = turn.last.sentence in earlier
        self.met |= {view.sentence for view in turn.views}
        return turn

    def answer(self, turn: Turn) -> None:
        """At times wrongly; and see from the feedback and the count of right answers what it was."""
        label = self.rng.choice(("error", "ok"))
        path = f"/api/v1/leases/{turn.last.lease_id}"
        answered = self.study.client().post(path, headers=self.headers, json={"fields": {"label": [label]}}).json()
        page = self.browser.get(f"/jobs/{self.job_id}/talk").text
        page += self.study.client().get(f"/api/v1/jobs/{self.job_id}/missed", headers=self.headers).text
        n_known = page.count("People wait at a stop.")
        is_known = answered["has_feedback"] or n_known > self.n_known_gold
        self.n_units, self.n_known_gold = self.n_units + 1, max(n_known, self.n_known_gold)
        self.since_gold = 0 if is_known else self.since_gold + 1


def _told(lease: Mapping[str, Json]) -> View:
    sentence = "".join(str(piece["text"]) for piece in lease["pieces"])  # type: ignore[union-attr,index,call-overload]
    random_names = ("lease_id", "submission_id", "pieces", "expires_at")
    return View(
        lease_id=str(lease["lease_id"]),
        sentence=sentence,
        rest=str([(name, value) for name, value in lease.items() if name not in random_names]),
    )


@dataclass
class Tally:
    """How often a rule was right on gold and on work."""

    right: dict[bool, int] = field(default_factory=lambda: {True: 0, False: 0})
    n: dict[bool, int] = field(default_factory=lambda: {True: 0, False: 0})

    def add(self, *, is_gold: bool, guess: bool) -> None:
        self.n[is_gold] += 1
        self.right[is_gold] += guess == is_gold

    @property
    def interval(self) -> tuple[float, float, float]:
        """The mean of the two shares that were guessed right, with a 95 % interval (as Agresti and Caffo)."""
        shares = {kind: (self.right[kind] + 1) / (self.n[kind] + 2) for kind in self.n}
        spread = sqrt(sum(share * (1 - share) / (self.n[kind] + 2) for kind, share in shares.items())) / 2
        middle = sum(self.right[kind] / self.n[kind] for kind in self.n) / 2
        return middle, middle - 1.96 * spread, middle + 1.96 * spread

    def __str__(self) -> str:
        value, low, high = self.interval
        return f"{value:.3f} [{low:.3f}, {high:.3f}] of {self.n[True]} gold and {self.n[False]} work"


def attack(study: Study, *, n_jobs: int, seed: int, access: Access = "pool") -> dict[str, Tally]:
    """The adversary goes through a number of jobs, each time as somebody new; how each rule did."""
    tallies = {name: Tally() for name in RULES}
    for number in range(n_jobs):
        with study.store.write() as tx:
            mine, other = (people.add(tx, name=f"{who} {number}", role="worker") for who in ("adversary", "other"))
            assigned = (mine.person_id, other.person_id) if access == "assigned" else ()
            job_id = job_with_gold(tx, f"job {number}", assigned)
            headers = {"authorization": f"Bearer {credentials.make_token(tx, mine.person_id)}"}
        rng = random.Random(f"{seed} {number}")
        adversary = Adversary(study, job_id, mine.name, headers, rng)

        def others(job_id: str = job_id, person_id: str = other.person_id, rng: random.Random = rng) -> None:
            """Somebody else asks for work, which frees what has run out, and answers at times."""
            desk = take_desk(study.store, job_id=job_id, person_id=person_id)
            if desk is not None and rng.random() < 0.1:
                hand_in(study.store, desk, {"label": ["error"]}, seconds=2.0)

        while (turn := adversary.turn(others)) is not None:
            with study.store.read() as tx:
                lease = leases.find(tx, turn.last.lease_id, person_id=mine.person_id)
                is_gold = units.get(tx, lease.unit_id).role == "gold"
            for name, rule in RULES.items():
                tallies[name].add(is_gold=is_gold, guess=rule(turn))
            adversary.answer(turn)
    study.require_promises()
    return tallies


def require_chance(tallies: Mapping[str, Tally], *, most: float) -> None:
    """No rule, nor its contrary, is better than chance by more than an accident of this size."""
    report = told_apart(tallies)
    for tally in tallies.values():
        value, low, _ = tally.interval
        spread = (value - low) / 1.96
        assert abs(value - 0.5) < max(3.3 * spread, 0.01), report
        assert abs(value - 0.5) < most, report


def told_apart(tallies: Mapping[str, Tally]) -> str:
    return "\n  ".join(f"told apart by {name!r}: {tally}" for name, tally in tallies.items())


@pytest.mark.parametrize("access", ["pool", "assigned"])
def test_nobody_tells_gold_before_the_answer(tmp_path: Path, access: Access, monkeypatch: pytest.MonkeyPatch) -> None:
    with seeded(tmp_path, 1, monkeypatch) as study:
        require_chance(attack(study, n_jobs=2, seed=1, access=access), most=0.25)


@pytest.mark.slow
@pytest.mark.parametrize("access", ["pool", "assigned"])
def test_nobody_tells_gold_from_work_in_many_jobs(
    tmp_path: Path, access: Access, monkeypatch: pytest.MonkeyPatch, record_property: Callable[[str, object], None]
) -> None:
    with seeded(tmp_path, 2, monkeypatch) as study:
        tallies = attack(study, n_jobs=60, seed=2, access=access)
    record_property("figures", told_apart(tallies))
    require_chance(tallies, most=0.05)


def test_a_late_answer_says_the_same_of_gold_as_of_work(bare: Study) -> None:
    with bare.store.write() as tx:
        job = jobs.get(tx, job_with_gold(tx, "late"))
        held = {}
        for who, role in (("worker", "gold"), ("annotator", "work")):
            slot = leases.UnitSlot(units.ids_of_job(tx, job.job_id, role=role)[0], 1 if role == "work" else None)
            person_id = bare.people[who].person_id
            headers = {"authorization": f"Bearer {credentials.make_token(tx, person_id)}"}
            held[role] = leases.issue(tx, job, slot, person_id=person_id).lease_id, headers
    bare.clock.now += 2 * HOUR
    for who in ("manager", "owner"):
        person_id = bare.people[who].person_id
        while desk := take_desk(bare.store, job_id=job.job_id, person_id=person_id):
            hand_in(bare.store, desk, {"label": ["error"]}, seconds=2.0)
    outcomes = []
    for lease_id, headers in [*held.values(), *held.values()]:
        sent = {"fields": {"label": ["error"]}}
        outcomes.append(bare.client().post(f"/api/v1/leases/{lease_id}", headers=headers, json=sent).json()["status"])
    assert outcomes == ["valid"] * 4, "and so when it is sent again"
    with bare.store.read() as tx:
        assert tx.value(select(func.count()).where(schema.submissions.c.status == "surplus")) == 1


def panel_job(study: Study, terms: Mapping[str, Json], *, n_gold: int) -> tuple[str, Browser, str, dict[str, str]]:
    """A rater who came by a panel's link: the job, their browser, the panel, what the API asks for."""
    with study.store.write() as tx:
        job_id = job_with_gold(tx, "for a panel", terms=terms)
        for unit_id in units.ids_of_job(tx, job_id, role="gold")[n_gold:]:
            trust.set_gold_state(tx, unit_id, "forgiven")
    panel_id = panel_of(study, job_id)
    browser, _ = enter(study, panel_id, "abc")
    browser.get(f"/jobs/{job_id}")
    with study.store.write() as tx:
        person_id = panels.places(tx, panel_id)[0].person_id
        tx.execute(schema.people.update().where(schema.people.c.person_id == person_id).values(payload={}))
        headers = {"authorization": f"Bearer {credentials.make_token(tx, person_id)}"}  # as if one could be had
    return job_id, browser, panel_id, headers


def work_through(browser: Browser, job_id: str) -> tuple[int, str]:
    """Answer until there is no more; return how many were answered, and the last page."""
    n_answered = 0
    while True:
        reply = browser.post(f"/jobs/{job_id}/next")
        if not reply.url.path.startswith("/leases/"):
            return n_answered, str(reply.text)
        assert "DONE-1" not in reply.text
        browser.post(reply.url.path, {"label": "error"})
        n_answered += 1


def test_no_code_for_returned_work_and_returns_come_to_an_end(bare: Study) -> None:
    job_id, browser, _, headers = panel_job(bare, TERMS, n_gold=3)
    api, statuses, shown = bare.client(), [], set()
    n_refused = 5
    for n in range(leases.MOST_RETURNS + n_refused):
        lease = api.post(f"/api/v1/jobs/{job_id}/next", headers=headers).json()["lease"]
        shown.add(lease["lease_id"])
        if n % 2:
            statuses.append(browser.post(f"/leases/{lease['lease_id']}/return").status_code)
        else:
            statuses.append(api.post(f"/api/v1/leases/{lease['lease_id']}/return", headers=headers).status_code)
    assert len(shown) == 1
    assert statuses == [200] * leases.MOST_RETURNS + [409] * n_refused
    assert "cannot give back any more units" in browser.get(f"/leases/{lease['lease_id']}").text
    assert "DONE-1" not in browser.get(f"/jobs/{job_id}/done").text
    answered = api.get(f"/api/v1/jobs/{job_id}", headers=headers).json()["standing"]
    assert (answered["code"], answered["no_work"]) == ("", "")


def test_gold_used_up_stops_nobody_before_the_agreed_number(bare: Study) -> None:
    job_id, browser, _, _ = panel_job(bare, {**TERMS, "limit": 12}, n_gold=3)
    n_answered, page = work_through(browser, job_id)
    assert n_answered == 12
    assert "DONE-1" in page


def test_a_quiz_without_questions_gives_no_code_and_the_page_says_so(bare: Study) -> None:
    job_id, browser, _, headers = panel_job(bare, {**TERMS, "gold": {"quiz": N_GOLD}}, n_gold=3)
    n_answered, page = work_through(browser, job_id)
    assert n_answered == 3
    assert "The quiz of this job has no questions for you" in page
    assert "DONE-1" not in page
    answered = bare.client().get(f"/api/v1/jobs/{job_id}", headers=headers).json()["standing"]
    assert (answered["code"], answered["no_work"]) == ("", "gold")
    pages = [bare.browser("manager").get(f"/manage/jobs/{job_id}{page}").text for page in ("", "/crowd", "/gold")]
    assert all("and has 3, so nobody can pass it" in page for page in pages)
