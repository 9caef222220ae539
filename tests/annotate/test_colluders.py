"""Colluders (P15): 1, 3, 9 or 30 identities of one mind among 60 raters gain nothing from gold.

They answer all alike, fail on purpose to read answers, share what they saw, return, let lapse and reload, and come
back when a manager reinstates them.  No gold is suspended, none of them is trusted, newcomers work on, and whatever
they tell each other, gold cannot be told from work before the answer.  Each attack succeeds once its rule is switched
off, which is played on one database.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import pytest
from sqlalchemy import select

from grater.annotate import gold, jobs, leases, people, standing, trust, units
from grater.annotate.jobs import Job
from grater.annotate.messages import missed_by
from grater.annotate.store import Store, Tx, checks, open_store, schema, transaction
from grater.annotate.store.transaction import HOUR
from grater.annotate.submissions import Desk, hand_in, shows_feedback, take_desk
from grater.annotate.units import NewUnit
from grater.errors import Conflict, NotFound
from grater.model import Json
from tests.annotate.store.conftest import clock, cluster, location, store
from tests.annotate.store.worlds import FakeClock, SeededSecrets, new_items

__all__ = ["clock", "cluster", "location", "store"]

N_RATERS, N_NEWCOMERS = 60, 3
RULE: dict[str, Json] = {"minimum": 0.8, "least_seen": 6, "quiz": 6}


@dataclass
class Plot:
    """An open job, its raters, and what the colluders among them have told each other."""

    store: Store
    clock: FakeClock
    job: Job
    raters: list[str]
    truth: dict[str, str]
    shared: dict[str, str] = field(default_factory=dict)
    seen_by: defaultdict[str, set[str]] = field(default_factory=lambda: defaultdict(set))

    def take(self, person_id: str) -> Desk | None:
        return take_desk(self.store, job_id=self.job.job_id, person_id=person_id)

    def send(self, desk: Desk, label: str) -> None:
        assert not shows_feedback(desk)
        hand_in(self.store, desk, {"label": [label]}, seconds=2.0)

    def work(self, person_id: str, n: int, label: Callable[[Desk], str] | None = None) -> int:
        """Answer up to `n` units, honestly unless told otherwise; return how many there were."""
        for done in range(n):
            desk = self.take(person_id)
            if desk is None:
                return done
            self.send(desk, label(desk) if label else self.right(desk))
        return n

    def right(self, desk: Desk) -> str:
        return self.truth[desk.unit.unit_id]

    def wrong(self, desk: Desk) -> str:
        return {"error": "ok", "ok": "error"}[self.right(desk)]

    def trust(self, person_id: str) -> str:
        with self.store.read() as tx:
            return standing.find(tx, self.job.job_id, person_id).state

    def suspended(self) -> int:
        with self.store.read() as tx:
            return sum(row.state != "active" for row in tx.all(gold.OF_JOB, job=self.job.job_id))


def plot(store: Store, clock: FakeClock, *, n_work: int, n_gold: int, judgments: int, terms: dict[str, Json]) -> Plot:
    with store.write() as tx:
        raters = [people.add(tx, name=f"rater {n}", role="worker").person_id for n in range(N_RATERS + N_NEWCOMERS)]
        job = jobs.add(tx, name="job", task="error", judgments=judgments, options={"crowd": terms})
        found, truth = new_items(tx, n_work + n_gold), {}
        for n, (essay_id, item_id) in enumerate(found):
            role, label = ("gold" if n < n_gold else "work"), ("error", "ok")[n % 2]
            new = NewUnit(((item_id, {}),), essay_id, role="gold" if role == "gold" else "work")
            (unit_id,) = units.add_all(tx, job.job_id, [new])
            truth[unit_id] = label
            if role == "gold":
                gold.add(tx, unit_id, item_id, [label], reason="as the guidelines say")
        job = jobs.set_state(tx, job.job_id, "open")
    return Plot(store, clock, job, raters, truth)


def restless(plot: Plot, person_id: str) -> None:
    """Take, reload, give back, let lapse; then answer that one does not know."""
    for _ in range(8):
        desk = plot.take(person_id)
        if desk is None:
            return
        with plot.store.write() as tx:
            leases.give_back(tx, desk.lease.lease_id, person_id=person_id)
        plot.take(person_id)
        plot.clock.advance(2 * HOUR)
        again = plot.take(person_id)
        assert again is not None
        assert again.unit.unit_id == desk.unit.unit_id
        plot.send(again, "unknown")


def share_missed(tx: Tx, plot: Plot, person_id: str) -> None:
    for missed in missed_by(tx, jobs.get(tx, plot.job.job_id), person_id):
        plot.shared[missed.unit.unit_id] = min(missed.known[0].accepted)


def read_answers(plot: Plot, person_id: str) -> None:
    """Fail on purpose, and look wherever an expected answer might be shown."""
    asked: list[Desk] = []

    def fail(desk: Desk) -> str:
        asked.append(desk)
        return plot.wrong(desk)

    plot.work(person_id, 10, fail)
    with plot.store.write() as tx:
        share_missed(tx, plot, person_id)
        for desk in asked:
            with pytest.raises(NotFound):
                trust.open_dispute(tx, desk.submission_id, person_id=person_id, text="Is it gold?")


def come_back(plot: Plot, person_id: str) -> None:
    """Fail, be reinstated by a kind manager as often as possible, and fail again."""
    for _ in range(3):
        plot.work(person_id, 10, plot.wrong)
        try:
            with plot.store.write() as tx:
                trust.reinstate(tx, plot.job, person_id, actor=plot.raters[-1])
        except Conflict:
            return


STRATEGIES: dict[str, Callable[[Plot, str], object]] = {
    "all unknown": lambda plot, who: plot.work(who, 60, lambda _: "unknown"),
    "all error": lambda plot, who: plot.work(who, 60, lambda _: "error"),
    "read the answers": read_answers,
    "share them": lambda plot, who: plot.work(who, 60, lambda desk: plot.shared.get(desk.unit.unit_id, "unknown")),
    "restless": restless,
    "come back": come_back,
}


def attacked(store: Store, clock: FakeClock, k: int, strategies: Iterator[str]) -> Plot:
    """Some honest raters work, then `k` colluders attack, each in one of the ways, then newcomers come."""
    made = plot(store, clock, n_work=60, n_gold=40, judgments=12, terms={"gold": RULE, "page": 2})
    for honest in made.raters[k : k + 6]:
        made.work(honest, 16)
    for colluder in made.raters[:k]:
        STRATEGIES[next(strategies)](made, colluder)
    return made


def require_sqlite(store: Store) -> None:
    if store.is_postgres:
        pytest.skip("played on one database")


def in_turn() -> Iterator[str]:
    while True:
        yield from STRATEGIES


@pytest.mark.parametrize("k", [1, 3, 9, 30])
def test_colluders_suspend_no_gold_become_trusted_nowhere_and_stop_nobody(
    store: Store, clock: FakeClock, k: int
) -> None:
    if k == 30:
        require_sqlite(store)
    made = attacked(store, clock, k, in_turn())
    assert made.suspended() == 0
    assert "trusted" not in {made.trust(colluder) for colluder in made.raters[:k]}
    assert made.shared == {}
    for newcomer in made.raters[N_RATERS:]:
        assert made.work(newcomer, 12) == 12
        assert made.trust(newcomer) == "trusted"
    with store.read() as tx:
        assert checks.violations(tx) == []


def old_doubt(tx: Tx, _job: Job, unit_id: str) -> bool:
    """As 0.2 had it: any five who answered, whoever they are."""
    sent = tx.all(select(schema.submissions.c.is_right).where(schema.submissions.c.unit_id == unit_id))
    return len(sent) >= 5 and 2 * sum(row.is_right is False for row in sent) > len(sent)


def test_without_reliable_raters_nine_who_know_nothing_suspend_gold(
    store: Store, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    require_sqlite(store)
    monkeypatch.setattr(trust, "_is_suspect", old_doubt)
    assert attacked(store, clock, 9, iter(["all unknown"] * 9)).suspended() > 0


def test_with_answers_shown_to_those_who_fail_others_pass_the_quiz_and_hidden_gold_still_finds_them(
    store: Store, clock: FakeClock
) -> None:
    """The answers are shown because the job is closed for a moment; they are of the quiz alone."""
    require_sqlite(store)
    made = plot(store, clock, n_work=60, n_gold=40, judgments=12, terms={"gold": RULE, "page": 2})
    for colluder in made.raters[:6]:
        made.work(colluder, 6, made.wrong)
    with store.write() as tx:
        jobs.set_state(tx, made.job.job_id, "closed")
    for colluder in made.raters[:6]:
        with store.read() as tx:
            share_missed(tx, made, colluder)
    with store.write() as tx:
        jobs.set_state(tx, made.job.job_id, "open")
    last = made.raters[7]
    made.work(last, 6, lambda desk: made.shared.get(desk.unit.unit_id, "unknown"))
    assert made.trust(last) == "trusted"
    STRATEGIES["share them"](made, last)
    assert made.trust(last) == "ejected"


def restore_as_trusted(
    restore: Callable[..., object], tx: Tx, job: Job, person_id: str, _state: str, **_more: object
) -> object:
    """As 0.2 had it."""
    return restore(tx, job, person_id, "trusted", actor=None)


@pytest.mark.parametrize("is_back_at_once", [False, True])
def test_reinstated_after_the_quiz_is_trusted_only_without_the_rule(
    store: Store, clock: FakeClock, monkeypatch: pytest.MonkeyPatch, is_back_at_once: bool
) -> None:
    require_sqlite(store)
    if is_back_at_once:
        monkeypatch.setattr(trust, "_restore", partial(restore_as_trusted, trust._restore))
    made = plot(store, clock, n_work=60, n_gold=40, judgments=12, terms={"gold": RULE, "page": 2})
    made.work(made.raters[0], 6, made.wrong)
    with store.write() as tx:
        trust.reinstate(tx, made.job, made.raters[0])
    assert made.trust(made.raters[0]) == ("trusted" if is_back_at_once else "quiz")


def oracle(folder: Path, monkeypatch: pytest.MonkeyPatch, *, n_gold: int) -> tuple[float, Counter[bool], list[str]]:
    """How well 30 skilled colluders of 60 raters tell gold from work by the best of their rules, before they answer.

    They share every sentence that they saw, and what they answered when one of them was ejected.  A rule takes a unit
    for gold that so many of the others have met, or the contrary; the best is chosen afterwards.  Return its balanced
    accuracy, the turns on gold and work, and what grater said of the gold when the job was opened.
    """
    monkeypatch.setattr(transaction, "secrets", SeededSecrets(7))
    rng, clock = random.Random(7), FakeClock()
    guesses: dict[int, Counter[tuple[bool, bool]]] = defaultdict(Counter)
    turns = Counter[bool]()
    terms: dict[str, Json] = {"gold": {**RULE, "quiz": 2}, "page": 5}
    with open_store(folder / "study.db", create=True, clock=clock) as store:
        made = plot(store, clock, n_work=46, n_gold=n_gold, judgments=18, terms=terms)
        with store.read() as tx:
            warnings = trust.gold_warnings(tx, made.job)
        order = [who for who in made.raters[:N_RATERS] for _ in range(15)]
        rng.shuffle(order)
        known_gold: set[str] = set()
        for who in order:
            desk = made.take(who)
            if desk is None:
                continue
            unit_id, is_colluder = desk.unit.unit_id, who in made.raters[:30]
            is_hidden = is_colluder and made.trust(who) == "trusted"
            if is_hidden:
                is_gold = desk.unit.role == "gold"
                turns[is_gold] += 1
                n_others = len(made.seen_by[unit_id] - {who})
                for least in range(1, 16):
                    guesses[least][is_gold, n_others >= least or unit_id in known_gold] += 1
                made.seen_by[unit_id].add(who)
            burns = is_hidden and who in made.raters[:6]
            made.send(desk, made.wrong(desk) if burns else made.right(desk))
            if burns and made.trust(who) == "ejected":
                known_gold.add(unit_id)
        with store.read() as tx:
            assert checks.violations(tx) == []
    rates = [sum(n[kind, kind] / turns[kind] for kind in (True, False)) / 2 for n in guesses.values()]
    return max(max(rate, 1 - rate) for rate in rates), turns, warnings


def test_whatever_colluders_share_gold_is_not_told_from_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    accuracy, turns, warnings = oracle(tmp_path, monkeypatch, n_gold=16)
    assert turns.total() >= 300
    assert turns[True] >= 60
    assert accuracy <= 0.60
    assert warnings == []


def test_too_little_gold_is_known_by_how_many_have_met_it_and_grater_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    accuracy, _, warnings = oracle(tmp_path, monkeypatch, n_gold=8)
    assert accuracy > 0.60
    assert any("of hidden gold more" in words for words in warnings)
