"""Colluders (P15): 1, 3, 9 or 30 identities of one mind among 60 raters gain nothing from gold.

They come by a panel or have accounts, and use pages or API.  They answer all alike, fail on purpose to read answers,
share what they saw, pass the quiz and stop caring, return, let lapse and reload, and come back when reinstated.  No
gold is suspended, none of them is trusted or gets a code, newcomers work on, and gold cannot be told from work before
the answer.  Each attack succeeds once its rule is switched off, which is played on one database.
`python -m benchmarks.colluders` plays every number of colluders by every door.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from grater.annotate import credentials, gold, jobs, panels, people, standing, trust, units
from grater.annotate.jobs import Job
from grater.annotate.messages import missed_by
from grater.annotate.store import Store, Tx, checks, open_store, schema, transaction
from grater.annotate.store.transaction import HOUR
from grater.annotate.submissions import Desk, desk_of, hand_in, submission_id_of, take_desk
from grater.errors import Conflict
from grater.model import Json
from tests.annotate.store.postgres import new_database
from tests.annotate.store.worlds import FakeClock, SeededSecrets, new_items
from tests.annotate.web.client import Client
from tests.annotate.web.studies import BASE, Browser, Study, served

N_RATERS, N_NEWCOMERS, N_UNITS = 60, 2, 10
RULE: dict[str, Json] = {"minimum": 0.8, "least_seen": 6, "quiz": 6}
REASON = "as the guidelines say"
CODE = "DONE-1"


def fill(
    store: Store, *, n_work: int, n_gold: int, judgments: int, terms: dict[str, Json]
) -> tuple[Job, dict[str, str]]:
    """An open job, and the right answer to each of its units."""
    truth = {}
    with store.write() as tx:
        job = jobs.add(tx, name="job", task="error", judgments=judgments, options={"crowd": terms})
        for n, (essay_id, item_id) in enumerate(new_items(tx, n_work + n_gold, name="bus")):
            is_gold, label = n < n_gold, ("error", "ok")[n % 2]
            new = units.NewUnit(((item_id, {}),), essay_id, role="gold" if is_gold else "work")
            (unit_id,) = units.add_all(tx, job.job_id, [new])
            truth[unit_id] = label
            if is_gold:
                gold.add(tx, unit_id, item_id, [label], reason=REASON)
        return jobs.set_state(tx, job.job_id, "open"), truth


@dataclass
class Rater:
    """Somebody who works through pages or the API; `pages` is all that they were shown."""

    study: Study
    job: Job
    truth: Mapping[str, str]
    door: str
    person_id: str
    browser: Browser | None = None
    key: str = ""
    next_path: str = ""
    pages: list[str] = field(default_factory=list)

    def ask(self, path: str, sent: dict[str, Any] | None = None) -> Any:
        """Read a page or call, or send something to it; who was sent away logs in again where they may."""
        if self.door == "api":
            self.key = self.key or self.study.write(credentials.make_token, self.person_id)
            headers, path = {"authorization": f"Bearer {self.key}"}, f"/api/v1{path}"
            client = self.study.client()
            reply = (
                client.get(path, headers=headers) if sent is None else client.post(path, json=sent, headers=headers)
            )
        else:
            self.browser = self.browser or self.study.browser(self.study.read(people.get, self.person_id).name)
            reply = self.browser.get(path) if sent is None else self.browser.post(path, sent)
        self.pages.append(reply.text)
        return reply

    def log_in(self) -> None:
        self.browser, self.key = None, ""

    def take(self) -> Desk | None:
        if self.door == "api":
            reply = self.ask(f"/jobs/{self.job.job_id}/next", {})
            lease_id = (reply.json().get("lease") or {}).get("lease_id", "") if reply.status_code == 200 else ""
        else:
            path = self.next_path or self.ask(f"/jobs/{self.job.job_id}/next", {}).url.path
            self.next_path, lease_id = "", path.removeprefix("/leases/") if path.startswith("/leases/") else ""
        return self.study.read(desk_of, lease_id, person_id=self.person_id) if lease_id else None

    def send(self, desk: Desk, label: str) -> None:
        sent = {"fields": {"label": [label]}} if self.door == "api" else {"label": label}
        reply = self.ask(f"/leases/{desk.lease.lease_id}", sent)
        assert reply.status_code == 200
        self.next_path = reply.url.path if self.door == "pages" else ""

    def give_back(self, desk: Desk) -> None:
        self.ask(f"/leases/{desk.lease.lease_id}/return", {})

    def work(self, n: int, label: Callable[[Desk], str] | None = None) -> int:
        """Answer up to `n` units, honestly unless told otherwise; return how many there were."""
        for done in range(n):
            desk = self.take()
            if desk is None:
                return done
            self.send(desk, label(desk) if label else self.right(desk))
        return n

    def right(self, desk: Desk) -> str:
        return self.truth[desk.unit.unit_id]

    def wrong(self, desk: Desk) -> str:
        return {"error": "ok", "ok": "error"}[self.right(desk)]

    @property
    def trust(self) -> str:
        return self.study.read(standing.find, self.job.job_id, self.person_id).state


Shared = dict[str, str]
"""The answers that colluders have found out, by unit."""


def restless(rater: Rater, _: Shared) -> None:
    """Take, reload, give back, let lapse, ask for the code; then answer that one does not know."""
    while (desk := rater.take()) is not None:
        rater.give_back(desk)
        rater.take()
        rater.study.clock.now += 3 * HOUR // 2
        again = rater.take()
        assert again.unit.unit_id == desk.unit.unit_id
        rater.ask(f"/jobs/{rater.job.job_id}" + ("/done" if rater.door == "pages" else ""))
        rater.send(again, "unknown")


def share_missed(rater: Rater, shared: Shared) -> None:
    job = rater.study.read(jobs.get, rater.job.job_id)
    for missed in rater.study.read(missed_by, job, rater.person_id):
        shared[missed.unit.unit_id] = min(missed.known[0].accepted)


def read_answers(rater: Rater, shared: Shared) -> None:
    """Fail on purpose, and look wherever an expected answer might be shown."""
    asked: list[Desk] = []

    def fail(desk: Desk) -> str:
        asked.append(desk)
        return rater.wrong(desk)

    rater.work(5, fail)
    for desk in asked:
        sent = {"submission_id": submission_id_of(desk.lease.lease_id), "text": "Is it gold?"}
        assert rater.ask(f"/jobs/{rater.job.job_id}/disputes", sent).status_code == 404
    rater.ask(f"/jobs/{rater.job.job_id}/" + ("missed" if rater.door == "api" else "talk"))
    rater.work(5, fail)
    share_missed(rater, shared)


def come_back(rater: Rater, _: Shared) -> None:
    """Fail, be reinstated by a kind manager as often as possible, and fail again."""
    for _attempt in range(3):
        rater.work(10, rater.wrong)
        try:
            rater.study.write(trust.reinstate, rater.job, rater.person_id)
        except Conflict:
            return
        rater.log_in()


def sleep_after_the_quiz(rater: Rater, _: Shared) -> None:
    rater.work(6)
    rater.work(60, lambda _: "error")


STRATEGIES: dict[str, Callable[[Rater, Shared], object]] = {
    "all unknown": lambda rater, _: rater.work(60, lambda _: "unknown"),
    "all error": lambda rater, _: rater.work(60, lambda _: "error"),
    "read the answers": read_answers,
    "share them": lambda rater, shared: rater.work(60, lambda desk: shared.get(desk.unit.unit_id, "error")),
    "restless": restless,
    "come back": come_back,
    "sleep after the quiz": sleep_after_the_quiz,
}


@dataclass
class Attack:
    """What became of a job after `k` colluders, each in one of the ways, and honest raters in any order."""

    study: Study
    job: Job
    colluders: list[Rater]
    newcomers: list[Rater]
    shared: Shared

    @property
    def figures(self) -> dict[str, int]:
        study, job_id = self.study, self.job.job_id
        with study.store.read() as tx:
            n_suspended = sum(row.state != "active" for row in tx.all(gold.OF_JOB, job=job_id))
        in_panels = [study.read(panels.places, panel.panel_id) for panel in study.read(panels.of_job, job_id)]
        n_sent = [study.read(standing.n_sent, job_id, colluder.person_id) for colluder in self.colluders]
        n_violations = len(study.read(checks.violations))
        shown = [page for colluder in self.colluders for page in colluder.pages]
        n_codes = sum(place.state == "completed" for places in in_panels for place in places)
        return {
            "colluders without an answer": n_sent.count(0),
            "gold suspended": n_suspended,
            "colluders trusted": sum(colluder.trust == "trusted" for colluder in self.colluders),
            "answers shown": len(self.shared) + sum(REASON in page for page in shown),
            "codes": n_codes + sum(CODE in page for page in shown),
            "newcomers stopped": sum(newcomer.work(N_UNITS) < N_UNITS for newcomer in self.newcomers),
            "newcomers not trusted": sum(newcomer.trust != "trusted" for newcomer in self.newcomers),
            "promises broken": n_violations,
        }


def come_by_panel(rater: Rater, panel: panels.Panel, n: int) -> None:
    """With an id that is made up, from one of as many addresses as it takes."""
    link, path = {"id": f"made-up-{n}"}, f"/p/{panel.panel_id}"
    address = f"192.0.2.{n // panel.per_address}"
    rater.browser = Browser(Client(rater.study.client().app, base_url=BASE, address=address))
    rater.browser.get(path, params=link)
    rater.browser.post(path, link)
    rater.browser.get(f"/jobs/{rater.job.job_id}")  # whose token of forms the next change needs
    rater.person_id = rater.study.read(panels.place_of, panel.panel_id, link["id"]).person_id


def attack(study: Study, door: str, *, k: int, n_honest: int, strategies: Iterator[str], seed: int = 1) -> Attack:
    """Colluders at the pages come by a panel whose links are not signed."""
    rng = random.Random(seed)
    job, truth = fill(study.store, n_work=60, n_gold=40, judgments=12, terms={"gold": RULE, "page": 2})
    with study.store.write() as tx:
        names = [f"rater {n}" for n in range(N_RATERS + N_NEWCOMERS)]
        person_ids = [people.add(tx, name=name, role="worker").person_id for name in names]
        codes: dict[str, str] = {"completed": CODE, "failed": "FAIL-1", "screened-out": "OUT-1"}
        panel = panels.add(tx, job.job_id, panels.NewPanel(provider="generic", unsigned=True, codes=codes))  # type: ignore[arg-type]
    raters = [Rater(study, job, truth, door, person_id) for person_id in person_ids]
    colluders, honest = raters[:k], raters[k : k + n_honest]
    shared: Shared = {}
    order = colluders + honest
    rng.shuffle(order)
    for rater in order:
        if rater in colluders:
            if door == "pages":
                come_by_panel(rater, panel, colluders.index(rater))
            STRATEGIES[next(strategies)](rater, shared)
        else:
            answers = {False: rater.right, True: rater.wrong}
            rater.work(N_UNITS, lambda desk, answers=answers: answers[rng.random() < 0.05](desk))  # type: ignore[misc]
    return Attack(study, job, colluders, raters[N_RATERS:], shared)


@pytest.mark.parametrize(
    ("database", "door", "k"),
    [("sqlite", "pages", 9), ("sqlite", "api", 30), ("postgresql", "pages", 3), ("postgresql", "api", 9)],
)
def test_colluders_suspend_no_gold_become_trusted_nowhere_get_no_code_and_stop_nobody(
    request: pytest.FixtureRequest, tmp_path: Path, database: str, door: str, k: int
) -> None:
    place = tmp_path if database == "sqlite" else new_database(request.getfixturevalue("cluster"))
    with served(place) as study:
        attacked = attack(study, door, k=k, n_honest=3, strategies=cycle(STRATEGIES))
        assert attacked.figures == dict.fromkeys(attacked.figures, 0)


def old_review(store: Store, _job: Job, unit_id: str) -> None:
    """As 0.2 had it: gold that most of any five who answered missed is suspended."""
    with store.write() as tx:
        sent = tx.all(select(schema.submissions.c.is_right).where(schema.submissions.c.unit_id == unit_id))
        if len(sent) >= 5 and 2 * sum(row.is_right is False for row in sent) > len(sent):
            trust.set_gold_state(tx, unit_id, "suspended")


def test_without_reliable_raters_nine_who_know_nothing_suspend_gold(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trust, "review_gold", old_review)
    with served(tmp_path) as study:
        attacked = attack(study, "api", k=9, n_honest=0, strategies=cycle(["all unknown"]))
        assert attacked.figures["gold suspended"] > 0


def raters_of(study: Study, n: int) -> list[Rater]:
    """Raters of a job with a quiz."""
    job, truth = fill(study.store, n_work=60, n_gold=40, judgments=12, terms={"gold": RULE, "page": 2})
    names = [f"rater {number}" for number in range(n)]
    person_ids = [study.write(people.add, name=name, role="worker").person_id for name in names]
    return [Rater(study, job, truth, "api", person_id) for person_id in person_ids]


def test_with_answers_shown_to_those_who_fail_others_pass_the_quiz_and_hidden_gold_still_finds_them(
    tmp_path: Path,
) -> None:
    """The answers are shown because the job is closed for a moment; they are of the quiz alone."""
    with served(tmp_path) as study:
        *failing, last = raters_of(study, 7)
        job_id, shared = last.job.job_id, Shared()
        for rater in failing:
            rater.work(6, rater.wrong)
        study.write(jobs.set_state, job_id, "closed")
        for rater in failing:
            share_missed(rater, shared)
        study.write(jobs.set_state, job_id, "open")
        last.work(6, lambda desk: shared.get(desk.unit.unit_id, "unknown"))
        assert last.trust == "trusted"
        STRATEGIES["share them"](last, shared)
        assert last.trust == "ejected"


def restore_as_trusted(
    restore: Callable[..., object], tx: Tx, job: Job, person_id: str, _state: str, **_more: object
) -> object:
    """As 0.2 had it."""
    return restore(tx, job, person_id, "trusted", actor=None)


@pytest.mark.parametrize("is_back_at_once", [False, True])
def test_reinstated_after_the_quiz_is_trusted_only_without_the_rule(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_back_at_once: bool
) -> None:
    if is_back_at_once:
        monkeypatch.setattr(trust, "_restore", partial(restore_as_trusted, trust._restore))
    with served(tmp_path) as study:
        (rater,) = raters_of(study, 1)
        rater.work(6, rater.wrong)
        study.write(trust.reinstate, rater.job, rater.person_id)
        assert rater.trust == ("trusted" if is_back_at_once else "quiz")


def oracle(place: Path | str, *, n_gold: int, seed: int = 7) -> tuple[float, Counter[bool], list[str]]:
    """How well 30 skilled colluders of 60 raters tell gold from work by the best of their rules, before they answer.

    They share every sentence that they saw, and what they answered when one of them was ejected.  A rule takes a unit
    for gold that so many of the others have met, or the contrary; the best is chosen afterwards.  Return its balanced
    accuracy, the turns on gold and work, and what grater said of the gold when the job was opened.
    """
    rng = random.Random(seed)
    guesses: dict[int, Counter[tuple[bool, bool]]] = defaultdict(Counter)
    turns, seen_by, known_gold = Counter[bool](), defaultdict[str, set[str]](set), set[str]()
    terms: dict[str, Json] = {"gold": {**RULE, "quiz": 2}, "page": 5}
    with pytest.MonkeyPatch.context() as patched, open_store(place, create=True, clock=FakeClock()) as store:
        patched.setattr(transaction, "secrets", SeededSecrets(seed))
        job, truth = fill(store, n_work=46, n_gold=n_gold, judgments=18, terms=terms)
        with store.write() as tx:
            warnings = trust.gold_warnings(tx, job)
            raters = [people.add(tx, name=f"rater {n}", role="worker").person_id for n in range(N_RATERS)]
        order = [who for who in raters for _ in range(15)]
        rng.shuffle(order)
        colluders, burning = set(raters[:30]), set(raters[:6])
        for who in order:
            desk = take_desk(store, job_id=job.job_id, person_id=who)
            if desk is None:
                continue
            unit_id, label = desk.unit.unit_id, truth[desk.unit.unit_id]
            with store.read() as tx:
                is_hidden = who in colluders and standing.find(tx, job.job_id, who).state == "trusted"
            if is_hidden:
                is_gold = desk.unit.role == "gold"
                turns[is_gold] += 1
                n_others = len(seen_by[unit_id] - {who})
                for least in range(1, 16):
                    guesses[least][is_gold, n_others >= least or unit_id in known_gold] += 1
                seen_by[unit_id].add(who)
            burns = is_hidden and who in burning
            hand_in(store, desk, {"label": [{"error": "ok", "ok": "error"}[label] if burns else label]}, seconds=2.0)
            with store.read() as tx:
                if burns and standing.find(tx, job.job_id, who).state == "ejected":
                    known_gold.add(unit_id)
        with store.read() as tx:
            assert checks.violations(tx) == []
    rates = [sum(n[kind, kind] / turns[kind] for kind in (True, False)) / 2 for n in guesses.values()]
    return max(max(rate, 1 - rate) for rate in rates), turns, warnings


def test_whatever_colluders_share_gold_is_not_distinguished_from_work(tmp_path: Path) -> None:
    accuracy, turns, warnings = oracle(tmp_path / "study.db", n_gold=16)
    assert turns.total() >= 300
    assert turns[True] >= 60
    assert accuracy <= 0.60
    assert warnings == []


def test_too_little_gold_is_known_by_how_many_have_met_it_and_grater_says_so(tmp_path: Path) -> None:
    accuracy, _, warnings = oracle(tmp_path / "study.db", n_gold=8)
    assert accuracy > 0.60
    assert any("of hidden gold more" in words for words in warnings)
