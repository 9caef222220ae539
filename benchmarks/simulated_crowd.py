"""A crowd of known skill that works through the real API: answers follow from a seed, only their order is chance.

60 raters in the full size, a fifth spammers, a tenth that turn bad after a while, some slow (they hand in only at
their next turn, when the lease may have run out).  Sentences are our own and numbered, so that an answer is a
function of rater and sentence.
"""

from __future__ import annotations

import hashlib
import random
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from grater.annotate import content, credentials, gold, jobs, people, units
from grater.annotate.store import Store
from grater.annotate.tasks import TASKS
from grater.annotate.units import NewUnit
from grater.model import Essay, Item, Json, Span

API = "/api/v1"
LABELS = ("error", "ok")
HARD = 0.25
"""The share of sentences that are hard to judge; there everybody guesses half of the time."""
TURNS_AFTER = 30
NUMBER = re.compile(r"number (\d+)")


@dataclass(frozen=True)
class Size:
    n_raters: int = 60
    n_items: int = 1000
    n_gold: int = 75
    judgments: int = 10
    n_experts: int = 3
    expert_skill: float = 0.93
    seed: int = 0


@dataclass
class SimulatedRater:
    """`kind`: skilled, spammer, turning; `is_slow` ones keep a lease for a round."""

    name: str
    person_id: str
    token: str
    kind: str
    skill: float
    is_slow: bool
    n_done: int = 0
    held: dict[str, Any] | None = field(default=None, repr=False)

    def step(self, client: Any, job_id: str, seed: int) -> bool:
        """Take a unit, or hand in the one that is held; False when there is no more work."""
        headers = {"authorization": f"Bearer {self.token}"}
        lease = self.held or client.post(f"{API}/jobs/{job_id}/next", headers=headers).json().get("lease")
        if lease is None:
            return False
        if self.is_slow and self.held is None:
            self.held = lease
            return True
        self.held = None
        number = sentence_number(lease)
        label = answer_of(seed, self, number)
        reply = client.post(
            f"{API}/leases/{lease['lease_id']}",
            headers=headers,
            json={
                "fields": {"label": [label]},
                "seconds": 40.0 if self.is_slow else 4.0 + 16.0 * (self.kind == "skilled"),
            },
        )
        assert reply.status_code == 200, reply.text
        self.n_done += 1
        return True


def sentence_number(lease: dict[str, Any]) -> int:
    found = NUMBER.search("".join(piece["text"] for piece in lease["pieces"]))
    return int(found.group(1))


def truth(seed: int, number: int) -> str:
    return LABELS[_chance(seed, "truth", number) < 0.5]


def is_hard(seed: int, number: int) -> bool:
    return _chance(seed, "hard", number) < HARD


def answer_of(seed: int, rater: SimulatedRater, number: int) -> str:
    """What a rater says of a sentence: right with the chance of their skill, whatever they saw before."""
    is_bad = rater.kind == "spammer" or (rater.kind == "turning" and rater.n_done >= TURNS_AFTER)
    skill = 0.5 if is_bad else rater.skill
    return _answer(seed, rater.name, number, skill)


def expert_answer(seed: int, size: Size, expert: int, number: int) -> str:
    """Experts find nothing hard: two of them agree on .93^2 + .07^2 = .87, the paper's number."""
    return _right_by(seed, f"expert {expert}", number, size.expert_skill)


def _answer(seed: int, name: str, number: int, skill: float) -> str:
    is_guess = is_hard(seed, number) and _chance(seed, "guess", name, number) < 0.5
    return _right_by(seed, name, number, 0.5 if is_guess else skill)


def _right_by(seed: int, name: str, number: int, chance: float) -> str:
    right = truth(seed, number)
    return right if _chance(seed, "right", name, number) < chance else LABELS[1 - LABELS.index(right)]


def _chance(*names: object) -> float:
    digest = hashlib.sha256("|".join(map(str, names)).encode()).digest()
    return int.from_bytes(digest[:8], "big") / 2**64


def sentences(size: Size) -> list[Essay]:
    n_all = size.n_items + size.n_gold
    return [Essay(f"s{n}", f"My neighbour waited on the bus number {n} this morning.") for n in range(n_all)]


def places(size: Size) -> list[Item]:
    """The word in question, one a sentence."""
    return [Item(each.essay_id, Span(*_word(each.text)), "prep") for each in sentences(size)]


def _word(text: str) -> tuple[int, int]:
    start = text.index(" on ") + 1
    return start, start + 2


def make_items(store: Store, size: Size) -> list[Item]:
    found = places(size)
    with store.write() as tx:
        content.add_essays(tx, sentences(size))
        content.add_items(tx, [content.study_item(item) for item in found])
    return found


def make_job(
    store: Store, size: Size, found: Sequence[Item], name: str, terms: dict[str, Json], minutes: float
) -> str:
    """A job over the sentences; with a gold rule in its terms, easy sentences are gold."""
    gold_numbers = easy(size)
    known = gold_numbers if "gold" in terms else set()
    with store.write() as tx:
        job = jobs.add(
            tx, name=name, task="error", judgments=size.judgments, lease_minutes=minutes, options={"crowd": terms}
        )
        jobs.add_guidelines(tx, job.job_id, TASKS["error"].guidelines)
        work = [item for n, item in enumerate(found) if n not in gold_numbers]
        units.add_all(tx, job.job_id, [NewUnit(((item.item_id, {}),), item.essay_id) for item in work])
        for number in sorted(known):
            item = found[number]
            (unit_id,) = units.add_all(tx, job.job_id, [NewUnit(((item.item_id, {}),), item.essay_id, role="gold")])
            gold.add(tx, unit_id, item.item_id, [truth(size.seed, number)], reason="All experts say so.")
        return jobs.set_state(tx, job.job_id, "open").job_id


def easy(size: Size) -> set[int]:
    """The sentences that are gold: easy ones, since every expert agrees on them."""
    n_all = size.n_items + size.n_gold
    return set([n for n in range(n_all) if not is_hard(size.seed, n)][: size.n_gold])


def make_raters(store: Store, size: Size) -> list[SimulatedRater]:
    rng = random.Random(size.seed)
    n_spam, n_turn = round(0.2 * size.n_raters), round(0.1 * size.n_raters)
    kinds = ["spammer"] * n_spam + ["turning"] * n_turn + ["skilled"] * (size.n_raters - n_spam - n_turn)
    rng.shuffle(kinds)
    made = []
    with store.write() as tx:
        for n, kind in enumerate(kinds):
            person = people.add(tx, name=f"rater {n:02}", role="worker")
            token = credentials.make_token(tx, person.person_id)
            skill = min(0.98, max(0.75, rng.gauss(0.88, 0.05)))
            made.append(SimulatedRater(person.name, person.person_id, token, kind, skill, rng.random() < 0.1))
    return made


def let_work(client: Any, raters: Iterable[SimulatedRater], job_id: str, *, seed: int, rng: random.Random) -> int:
    """Raters come in a random order, again and again, until nobody finds work; give the number of answers.

    Whoever finds nothing looks again when the others have gone too: work of those who were put out may be free.
    """
    crowd = list(raters)
    busy, n_steps = crowd, 0
    while busy:
        rng.shuffle(busy)
        busy = [rater for rater in busy if rater.step(client, job_id, seed)]
        n_steps += len(busy)
        if not busy:
            busy = [rater for rater in crowd if rater.step(client, job_id, seed)]
            n_steps += len(busy)
    return n_steps
