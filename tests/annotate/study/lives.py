"""The life of a study, whatever happens in it: raters, staff, panels, clocks that jump and processes that die.

A machine takes random steps through the functions that pages, API and commands call.  After each step the study must
keep its promises (P1 to P14) by the invariant checker and by what the machine remembers of what people were told.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import ClassVar, TypeVar, cast

import polars as pl
import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule
from sqlalchemy import func, select

from grater.annotate import (
    content,
    credentials,
    gold,
    jobs,
    judgments,
    leases,
    marks,
    money,
    panels,
    people,
    submissions,
    trust,
    units,
    webhooks,
)
from grater.annotate.archive import export
from grater.annotate.credentials import set_state as set_person_state
from grater.annotate.jobs import move as set_job_state
from grater.annotate.protocol import set_terms
from grater.annotate.raters import change_standing
from grater.annotate.store import Store, Tx, checks, events, open_store, schema
from grater.annotate.store.transaction import MINUTE, body_hash
from grater.annotate.submissions import Receipt, desk_of, hand_in, hand_in_and_take, take_desk, undo_answer
from grater.annotate.terms import bill, terms_of
from grater.annotate.work import DraftBody, save_draft
from grater.errors import Conflict, GraterError, NotFound
from grater.model import Decision, Item, Json, Span
from tests.annotate.store.worlds import FakeClock, new_items, read, write
from tests.annotate.study.files import contents
from tests.folders import in_memory, own_folder

T = TypeVar("T")

TESTED, NAMED, MARKED = "tested", "named", "marked"
RATERS = ("worker", "other worker", "annotator", "other annotator", "seat", "panel 1", "panel 2")
TERMS: dict[str, Json] = {
    "gold": {"minimum": 0.5, "least_seen": 3, "quiz": 0},
    "page": 2,
    "limit": 6,
    "pay": {"cents": 3},
}
CODES = {"completed": "C", "failed": "F", "screened-out": "S"}
LABELS = ("error", "error", "ok")
SYSTEM, SUGGESTION, STRATUM = "zq-system", "zq-suggestion", "zq-stratum"
"""Words that no rater may meet (P10)."""

STANDINGS = ("reject", "flag", "reinstate")

who, which = st.sampled_from(RATERS), st.sampled_from((TESTED, TESTED, NAMED))


@dataclass(frozen=True)
class AcknowledgedAnswer:
    """An answer that was acknowledged: the lease, what was sent, the receipt."""

    lease_id: str
    fields: Mapping[str, list[str]]
    receipt: Receipt


class Killed(RuntimeError):
    """The process died here."""


def build(store: Store, *, flagged: int = 0) -> None:
    """People, a tested pool with a panel, a job for two named annotators, essays to mark, and a system that flagged
    every other item: the even ones, or those that are `flagged`."""
    with store.write() as tx:
        people.add(tx, name="owner", role="owner")
        people.add(tx, name="manager", role="manager")
        humans = {name: people.add(tx, name=name, role=name.split()[-1]) for name in RATERS[:4]}
        people.add_seat(tx, [humans["annotator"].name, humans["other annotator"].name], name="seat")
        places = new_items(tx, 24)
        known: dict[str, Json] = {"suggestion": SUGGESTION, "stratum": STRATUM}
        new = []
        for n, (essay_id, item_id) in enumerate(places):
            is_flagged = n % 2 == flagged
            score, word = (0.9, SUGGESTION) if is_flagged else (0.1, None)
            content.add_decisions(tx, [Decision(item_id, SYSTEM, is_flagged, score, suggestion=word)])
            new.append(units.NewUnit(((item_id, known if is_flagged else {}),), essay_id))
        pool = jobs.add(tx, name=TESTED, task="error", judgments=2, options={"crowd": TERMS}, lease_minutes=10)
        units.add_all(tx, pool.job_id, new[:8])
        for unit in new[8:18]:
            (unit_id,) = units.add_all(tx, pool.job_id, [units.NewUnit(unit.items, unit.essay_id, role="gold")])
            gold.add(tx, unit_id, unit.items[0][0], ["error"])
        named = jobs.add(tx, name=NAMED, task="error", judgments=2, access="assigned", lease_minutes=10)
        pair = [humans[name].person_id for name in RATERS[2:4]]
        unit_ids = units.add_all(tx, named.job_id, new[18:])
        jobs.assign(tx, named.job_id, [jobs.Assignment(unit_id, each) for unit_id in unit_ids for each in pair])
        marked = jobs.add(tx, name=MARKED, task="marking", judgments=2, lease_minutes=10)
        four = content.some_essays(tx, start=0, most=4)
        wholes = [Item(each.essay_id, Span(0, len(each.text)), "essay") for each in four]
        content.add_items(tx, [content.study_item(whole) for whole in wholes])
        units.add_all(tx, marked.job_id, [units.NewUnit(((each.item_id, {}),), each.essay_id) for each in wholes])
        for job in (pool, named, marked):
            jobs.set_state(tx, job.job_id, "open")
        panels.add(tx, pool.job_id, panels.NewPanel.checked(provider="prolific", codes=CODES))
        webhooks.add(tx, url="https://example.org/hook", verbs=["unit.finished"])


class Life(RuleBasedStateMachine):
    """`place` makes a new study and returns where it is."""

    place: ClassVar[Callable[[], str]]
    counts: ClassVar[Counter[str]] = Counter()

    def __init__(self) -> None:
        super().__init__()
        self.clock = FakeClock()
        self.plug = ""
        self.location = type(self).place()
        self.store = self.opened()
        self.acknowledged: dict[str, AcknowledgedAnswer] = {}
        self.typed: dict[tuple[str, str], marks.Draft] = {}
        self.n_typed = 0
        self.received: list[tuple[str, ...]] = []
        self.in_hand: dict[tuple[str, str], set[str]] = defaultdict(set)
        self.answered: dict[tuple[str, str], set[str]] = defaultdict(set)
        self.access: list[tuple[str, str, str]] = []
        self.ended: set[str] = set()
        self.ejected: set[tuple[str, str]] = set()
        self.over: dict[tuple[str, str], str] = {}
        self.heard = 0
        with self.store.read() as tx:
            self.people = {person.name: person.person_id for person in people.all(tx)}  # panels add theirs
            self.jobs = {job.name: job.job_id for job in jobs.all(tx)}
            (self.panel_id,) = (panel.panel_id for panel in panels.of_job(tx, self.jobs[TESTED]))

    def teardown(self) -> None:
        self.store.close()

    def opened(self) -> Store:
        return open_store(self.location, clock=self.clock, around_commit=self.around_commit)

    def around_commit(self, moment: str) -> None:
        if self.plug == moment:
            self.plug = ""
            raise Killed(moment)

    def do(self, change: Callable[[], T]) -> T | None:
        """A change as somebody asks for it; None where it was refused, or the process died in the middle of it."""
        type(self).counts["steps"] += 1
        try:
            return change()
        except Killed:
            type(self).counts["kills"] += 1
            self.store.close()
            self.store = self.opened()
            self.remember_all()
            return None
        except GraterError:
            return None
        finally:
            self.plug = ""

    def write(self, change: Callable[[Tx], T]) -> T | None:
        return self.do(lambda: write(self.store, change))

    def remember_all(self) -> None:
        """After a death nobody knows what was stored: look, as everybody would who comes back."""
        with self.store.read() as tx:
            held = tx.all(select(schema.leases).where(schema.leases.c.place == 0, schema.leases.c.state == "held"))
            sent = tx.all(select(schema.submissions).where(schema.submissions.c.status != "withdrawn"))
            taken_back = tx.all(select(schema.submissions).where(schema.submissions.c.status == "withdrawn"))
            for unit_id, person_id in self.typed:
                stored = marks.find_draft(tx, unit_id=unit_id, person_id=person_id)
                assert stored is not None, "P14"
                self.typed[unit_id, person_id] = stored
        for row in taken_back:
            self.answered[row.job_id, row.person_id].discard(row.unit_id)
        for row in held:
            self.in_hand[row.job_id, row.person_id].add(row.unit_id)
        for row in sent:
            self.in_hand[row.job_id, row.person_id].discard(row.unit_id)
            self.answered[row.job_id, row.person_id].add(row.unit_id)

    # Raters

    @rule(name=st.sampled_from(RATERS[5:]))
    def come_from_the_panel(self, name: str) -> None:
        place = self.write(lambda tx: panels.enter(tx, self.panel_id, name, also={}))
        if place is not None:
            self.people[name] = place.person_id

    def take(self, name: str, job: str) -> submissions.Desk | None:
        person_id, job_id = self.people.get(name), self.jobs[job]
        if person_id is None:
            return None
        desk = self.do(lambda: take_desk(self.store, job_id=job_id, person_id=person_id))
        if desk is None:
            return None
        key, unit_id = (job_id, person_id), desk.lease.unit_id
        assert unit_id not in self.answered[key], "nobody is asked twice"
        if job == TESTED and self.in_hand[key]:
            assert unit_id in self.in_hand[key], "what was let go is the next unit (P5)"
        self.in_hand[key].add(unit_id)
        shown = repr((desk.lease.kept, desk.shown))
        assert not any(word in shown for word in (SYSTEM, SUGGESTION, STRATUM)), "P10"
        self.received.append((name, job, unit_id, desk.lease.lease_id, shown))
        stranger = next(each for each in self.people.values() if each != person_id)
        with pytest.raises(NotFound):
            read(self.store, desk_of, desk.lease.lease_id, person_id=stranger)  # P9
        return desk

    @rule(name=who, job=which)
    def look_at_a_unit(self, name: str, job: str) -> None:
        self.take(name, job)

    @rule(name=who, job=which, label=st.sampled_from(LABELS))
    def answer(self, name: str, job: str, label: str) -> None:
        desk = self.take(name, job)
        if desk is not None:
            self.send(desk, label)

    @rule(name=who, label=st.sampled_from(LABELS), n=st.integers(2, 5))
    def answer_several(self, name: str, label: str, n: int) -> None:
        for _ in range(n):
            self.answer(name, TESTED, label)

    def send(self, desk: submissions.Desk, label: str) -> None:
        """By the page, which takes the next unit too, or by the API."""
        self.n_typed += 1
        fields = {"label": [label]}
        if self.n_typed % 2:
            self.heard_of(desk, fields, self.do(lambda: hand_in(self.store, desk, fields, seconds=2.0)))
            return
        both = self.do(lambda: hand_in_and_take(self.store, desk, fields, seconds=2.0))
        if both is not None:
            self.heard_of(desk, fields, both[0])
            if both[1] is not None:
                self.in_hand[desk.lease.job_id, desk.lease.person_id].add(both[1].unit_id)

    def heard_of(self, desk: submissions.Desk, fields: Mapping[str, list[str]], receipt: Receipt | None) -> None:
        if receipt is None:
            return
        type(self).counts["answers"] += 1
        key, unit_id = (desk.lease.job_id, desk.lease.person_id), desk.lease.unit_id
        self.acknowledged[receipt.submission_id] = AcknowledgedAnswer(desk.lease.lease_id, fields, receipt)
        self.in_hand[key].discard(unit_id)
        self.answered[key].add(unit_id)

    def desk_again(self, acknowledged: AcknowledgedAnswer) -> submissions.Desk:
        with self.store.read() as tx:
            row = judgments.find_submission(tx, acknowledged.receipt.submission_id)
            assert row is not None, "lost"
            return desk_of(tx, acknowledged.lease_id, person_id=row.person_id)

    @rule(data=st.data(), label=st.sampled_from(LABELS))
    def send_again(self, data: st.DataObject, label: str) -> None:
        """A double click, or an old page with another answer: P2."""
        if not self.acknowledged:
            return
        acknowledged = self.acknowledged[data.draw(st.sampled_from(sorted(self.acknowledged)))]
        desk = self.desk_again(acknowledged)
        if acknowledged.fields.get("label", [label]) == [label]:  # an essay has none
            receipt = self.do(lambda: hand_in(self.store, desk, acknowledged.fields, seconds=2.0))
            assert receipt is None or receipt.is_replay
        else:
            with pytest.raises(Conflict):
                hand_in(self.store, desk, {**acknowledged.fields, "label": [label]}, seconds=2.0)

    @rule(name=who, job=which)
    def return_a_unit(self, name: str, job: str) -> None:
        desk = self.take(name, job)
        if desk is not None:
            self.write(lambda tx: leases.give_back(tx, desk.lease.lease_id, person_id=desk.lease.person_id))

    @rule(name=who, job=which)
    def undo(self, name: str, job: str) -> None:
        person_id, job_id = self.people.get(name), self.jobs[job]
        if person_id is None:
            return
        lease_id = read(self.store, submissions.so_far, job_id, person_id).undoable_lease_id
        if not lease_id:
            return
        desk = self.do(lambda: undo_answer(self.store, lease_id, person_id=person_id))
        if desk is not None:
            type(self).counts["undone"] += 1
            self.answered[job_id, person_id].discard(desk.lease.unit_id)
            self.in_hand[job_id, person_id].add(desk.lease.unit_id)

    @rule(name=st.sampled_from(RATERS[:4]), is_stale=st.booleans(), is_finished=st.booleans())
    def mark_an_essay(self, name: str, is_stale: bool, is_finished: bool) -> None:
        """Typed marks are saved, or it is said that they are not: P14."""
        desk = self.take(name, MARKED)
        if desk is None:
            return
        lease, self.n_typed = desk.lease, self.n_typed + 1
        key = (lease.unit_id, lease.person_id)
        before = self.typed.get(key, marks.Draft(0))
        first, typed = desk.unit.unit.essay.text[0], str(self.n_typed)
        mark: dict[str, Json] = {"start": 0, "end": 1, "quote": first, "tag": "Mec", "replacements": [typed]}
        body: dict[str, Json] = {"edits": [mark | {"comment": f"mark {typed}"}], "set_aside": False}
        revision, sent = before.revision - is_stale, DraftBody.checked(**body)
        saved = self.do(
            lambda: save_draft(self.store, lease.lease_id, person_id=lease.person_id, revision=revision, body=sent)
        )
        if saved is not None:
            type(self).counts["drafts"] += 1
            assert not is_stale, "P14: typed over"
            self.typed[key] = marks.Draft(revision=cast(int, saved["revision"]), body=body)
        if is_finished and key in self.typed:
            edits = cast("list[Json]", self.typed[key].body["edits"])
            fields = {"edits": [json.dumps(edits)]}
            self.heard_of(desk, fields, self.do(lambda: hand_in(self.store, desk, fields, seconds=2.0)))

    # What nobody does

    @rule(minutes=st.sampled_from((-40_000, -3, 1, 11, 11, 600)))
    def clock_jumps(self, minutes: int) -> None:
        self.clock.advance(minutes * MINUTE)

    @rule(moment=st.sampled_from(("before", "after")))
    def next_change_is_killed(self, moment: str) -> None:
        self.plug = moment

    # Staff

    @rule(act=st.sampled_from(range(9)), name=who, job=which, is_kind=st.booleans(), n=st.integers(0, 9))
    def staff_acts(self, act: int, name: str, job: str, is_kind: bool, n: int) -> None:
        """One rule for all that staff do, so that raters do more than they."""
        acts: tuple[Callable[[], None], ...] = (
            lambda: self.manager_judges_a_rater(name, STANDINGS[n % 3] if not is_kind else "reinstate", job),
            lambda: self.owner_shuts_somebody_out_or_lets_them_in(name, is_in=is_kind),
            lambda: self.owner_changes_a_role(RATERS[2 + n % 2], ("worker", "annotator", "adjudicator")[n % 3]),
            lambda: self.manager_changes_gold(n, "active" if is_kind else ("forgiven", "suspended")[n % 2]),
            lambda: self.manager_changes_the_terms((3, 6, 0)[n % 3], (2, 4)[n % 2]),
            lambda: self.manager_changes_a_job(job, "open" if is_kind else "paused"),
            self.manager_settles_what_is_owed,
            lambda: self.somebody_logs_in(name, ("session", "token")[n % 2]),
            self.owner_exports,
        )
        acts[act]()

    def manager_judges_a_rater(self, name: str, change: str, job: str) -> None:
        person_id, actor = self.people.get(name), self.people["manager"]
        if person_id is not None:
            self.write(lambda tx: change_standing(tx, jobs.get(tx, self.jobs[job]), person_id, change, actor=actor))

    def owner_shuts_somebody_out_or_lets_them_in(self, name: str, is_in: bool) -> None:
        person_id, actor = self.people.get(name), self.people["owner"]
        if person_id is None:
            return
        state = "active" if is_in else "ended"
        if self.write(lambda tx: set_person_state(tx, person_id, state, actor=actor)) and not is_in:
            self.access_ends(person_id)

    def owner_changes_a_role(self, name: str, role: str) -> None:
        self.write(lambda tx: credentials.give_role(tx, self.people[name], role, actor=self.people["owner"]))

    def manager_changes_gold(self, n: int, state: str) -> None:
        unit_id = read(self.store, units.ids_of_job, self.jobs[TESTED], role="gold")[n]
        self.write(lambda tx: trust.set_gold_state(tx, unit_id, state))

    def manager_changes_the_terms(self, limit: int, most: int) -> None:
        redundancy: Json = {"least": 2, "most": most, "lead": 1}
        self.write(lambda tx: set_terms(tx, self.jobs[TESTED], {"limit": limit, "redundancy": redundancy}))

    def manager_changes_a_job(self, job: str, state: str) -> None:
        self.write(lambda tx: set_job_state(tx, self.jobs[job], state))

    def manager_settles_what_is_owed(self) -> None:
        def settle(tx: Tx) -> None:
            job = jobs.get(tx, self.jobs[TESTED])
            money.settle(tx, job)
            paid: Counter[str] = Counter()
            for payment in money.payments_of(tx, job.job_id):
                paid[payment.person_id] += payment.cents
            pay = terms_of(job.options).pay
            assert pay is not None
            owed = bill(pay, money.work_of(tx, job.job_id)).by_rater
            assert {name: cents for name, cents in owed.items() if cents} == +paid

        self.write(settle)

    def owner_exports(self) -> None:
        """Everything that was ever sent, and the same bytes each time: P8."""
        with tempfile.TemporaryDirectory(prefix="grater-export-", dir=in_memory()) as folder:
            export(self.store, Path(folder) / "one")
            export(self.store, Path(folder) / "other")
            one, other = (contents(Path(folder) / name) for name in ("one", "other"))
        assert one == other, "P8: another export"
        with self.store.read() as tx:
            sent = {row.submission_id for row in tx.all(select(schema.submissions.c.submission_id))}
            n_judgments = tx.value(select(func.count()).select_from(schema.judgments))
        exported = {json.loads(line)["submission_id"] for line in one["tables/submissions.jsonl"].splitlines()}
        assert exported == sent, "P8: a submission is missing"
        assert len(pl.read_csv(one["judgments.csv"])) == n_judgments, "P8: a judgment is missing"
        type(self).counts["exports"] += 1

    def somebody_logs_in(self, name: str, kind: str) -> None:
        person_id = self.people.get(name)
        if person_id is None or name == "seat":
            return

        if kind == "token":
            secret = self.write(lambda tx: credentials.make_token(tx, person_id))
        else:
            secret = self.write(lambda tx: credentials.start_session(tx, person_id, hours=10_000)[0])
        if secret is not None:
            self.access.append((kind, secret, person_id))

    def access_ends(self, person_id: str) -> None:
        self.ended |= {secret for _, secret, owner in self.access if owner == person_id}

    # Promises

    @invariant()
    def promises(self) -> None:
        with self.store.read() as tx:
            assert checks.violations(tx) == []
            self.nothing_is_lost(tx)
            self.nothing_typed_is_dropped(tx)
            self.codes_are_earned(tx)
            self.access_has_ended(tx)
            self.listeners_hear_everything(tx)

    def nothing_is_lost(self, tx: Tx) -> None:
        stored = {row.submission_id: row.body_hash for row in tx.all(select(schema.submissions))}
        expected = {sent: body_hash(dict(acknowledged.fields)) for sent, acknowledged in self.acknowledged.items()}
        assert expected.items() <= stored.items(), "P1"

    def nothing_typed_is_dropped(self, tx: Tx) -> None:
        for (unit_id, person_id), draft in self.typed.items():
            stored = marks.find_draft(tx, unit_id=unit_id, person_id=person_id)
            assert stored is not None, "P14"
            assert (stored.revision, stored.body) == (draft.revision, draft.body), "P14"

    def codes_are_earned(self, tx: Tx) -> None:
        """A place is completed when the agreed number of answers is valid, counted here by ourselves: P12."""
        limit = terms_of(jobs.get(tx, self.jobs[TESTED]).options).limit
        for place in panels.places(tx, self.panel_id):
            before = self.over.get((self.panel_id, place.external_id), "joined")
            self.over[self.panel_id, place.external_id] = place.state
            if place.state == before or place.state != "completed":
                continue
            sent = schema.submissions.c
            mine = (sent.job_id == self.jobs[TESTED], sent.person_id == place.person_id, sent.status == "valid")
            n_units = tx.value(select(func.count(sent.unit_id.distinct())).where(*mine))
            type(self).counts["codes"] += 1
            assert n_units >= max(limit, 1), "P12"

    def access_has_ended(self, tx: Tx) -> None:
        """Whom gold or a manager ejected loses every session, and nothing that ended comes back: P6, P11."""
        query = select(schema.trust).where(schema.trust.c.state == "ejected")
        ejected = {(row.job_id, row.person_id) for row in tx.all(query)}
        for _, person_id in ejected - self.ejected:
            self.ended |= {secret for kind, secret, owner in self.access if owner == person_id and kind == "session"}
        self.ejected = ejected
        for kind, secret, _ in self.access:
            if secret in self.ended:
                is_open = people.find_session if kind == "session" else people.find_token
                assert is_open(tx, secret) is None, "P11"

    def listeners_hear_everything(self, tx: Tx) -> None:
        news = [event.n for event in events.since(tx, self.heard)]
        assert not tx.is_postgres or len(set(news)) == len(news)
        if not tx.is_postgres:
            assert news == [event.n for event in events.all(tx) if event.n > self.heard]
            self.heard = news[-1] if news else self.heard


class LongLife(Life):
    """A life in which processes die in the middle of an answer too."""

    @rule(moment=st.sampled_from(("before", "after")), name=who, job=which, label=st.sampled_from(LABELS))
    def an_answer_is_killed(self, moment: str, name: str, job: str, label: str) -> None:
        """The worst change to die in: whether it is stored, nobody was told."""
        desk = self.take(name, job)
        if desk is not None:
            self.plug = moment
            self.send(desk, label)


_folder = cache(partial(own_folder, "grater-lives-"))


def new_file(*, flagged: int = 0) -> str:
    """A copy of a study that is made once."""
    folder = _folder()
    first = folder / f"first-{flagged}.db"
    if not first.exists():
        with open_store(first, create=True, clock=FakeClock()) as store:
            build(store, flagged=flagged)
    copy = folder / "study.db"
    for old in folder.glob("study.db*"):
        old.unlink()
    shutil.copyfile(first, copy)
    return str(copy)


class LifeInFile(Life):
    place = staticmethod(new_file)


class LongLifeInFile(LongLife):
    place = staticmethod(new_file)
