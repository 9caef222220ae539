"""What gold buys: a crowd of known skill through the real server, with and without gold.

60 raters (a fifth spammers, a tenth that turn bad later, some slow) judge 1,000 sentences 13 times each through
`grater serve` over HTTP, once without gold and once with 75 gold items: an entry quiz, then one hidden in ten, by
the rule that docs/crowd.md advises.  Shown as in Table 4 of T,C&M 2013: how many raters match simulated
experts, and beside it how many majorities are true, who was ejected and what was wasted.  Leases are short, so that
slow raters really come too late.  The second table loses no time on a server: the same raters and gold in forty
random orders, by our rule and by that of the services (minimum .7 after 8).

Some 30,000 answers wait for the disk each: a folder in memory (TMPDIR=/dev/shm) is many times quicker.
"""

from __future__ import annotations

import random
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path

import httpx
import numpy as np
import polars as pl
from benchmarks.harness import Size as Extent
from benchmarks.harness import Table
from benchmarks.load import serving
from benchmarks.simulated_crowd import (
    TURNS_AFTER,
    SimulatedRater,
    Size,
    answer_of,
    easy,
    expert_answer,
    let_work,
    make_items,
    make_job,
    make_raters,
    places,
    truth,
)

import grater
from grater.annotate import judgments, progress, standing
from grater.annotate.store import Store, checks, open_store
from grater.annotate.terms import TrustRule, is_below, is_suspect, passes_quiz
from grater.model import Interval, Json
from grater.uncertainty import wilson

PAY: dict[str, Json] = {"cents": 5, "currency": "USD"}
RULE: dict[str, Json] = {"minimum": 0.8, "sure": 0.9, "quiz": 12, "least_seen": 12}
LEASE_MINUTES = 0.05
"""Three seconds: a slow rater, who comes back a round later, is too late about as often as not."""
PATIENCE = 60.0
ORDERS, HIDDEN, GOOD_HIDDEN = 40, 38, 2
"""Random orders; hidden gold that each rater meets after the quiz; how much of it before turning bad."""
KINDS = ("skilled", "spammer", "turning")


def measure(extent: Extent) -> Iterator[Table]:
    size = Size(12, 30, 15, 5) if extent == "short" else Size(60, 1000, 75, 13)
    with tempfile.TemporaryDirectory(prefix="grater-crowd-") as folder:
        place = Path(folder) / "study.db"
        with open_store(place, create=True) as store:
            columns, broken = simulated(store, place, size)
    rows = [[name, *(column[name] for column in columns.values())] for name in columns["without gold"]]
    title = f"{size.n_raters} raters, {size.n_items} items, {size.judgments} judgments an item"
    yield Table(title, ("", *columns), rows, f"promises broken: {broken}")
    rules = {"ours": TrustRule(0.8, 12, 12, 1, 0.9), "the services'": TrustRule(0.7, 8, 8, 1)}
    rows = []
    for name, rule in rules.items():
        found = np.mean([ejected(rule, seed) for seed in range(2 if extent == "short" else ORDERS)], axis=0)
        rows.append([name, *(round(float(mean), 2) for mean in found)])
    yield Table(
        "Ejected on average", ("rule", *KINDS), rows, f"{ORDERS} orders of the same gold; 42, 12 and 6 raters"
    )


def simulated(store: Store, place: Path, size: Size) -> tuple[dict[str, dict[str, str]], int]:
    raters, found = make_raters(store, size), make_items(store, size)
    terms: dict[str, dict[str, Json]] = {
        "without gold": {"pay": PAY},
        "with gold": {"pay": PAY, "gold": RULE, "page": 10},
    }
    ids = [make_job(store, size, found, name, each, LEASE_MINUTES) for name, each in terms.items()]

    def work(number: int) -> int:
        with httpx.Client(base_url=url, timeout=PATIENCE) as client:
            rng = random.Random(size.seed + number)
            return let_work(client, [replace(each) for each in raters], ids[number], seed=size.seed, rng=rng)

    with serving(str(place), processes=1) as (url, _), ThreadPoolExecutor(len(ids)) as pool:
        list(pool.map(work, range(len(ids))))
    with store.read() as tx:
        broken = checks.violations(tx)
    return {name: arm(store, size, raters, job_id) for name, job_id in zip(terms, ids, strict=True)}, len(broken)


def arm(store: Store, size: Size, raters: list[SimulatedRater], job_id: str) -> dict[str, str]:
    """What came of one job."""
    numbers = {item.item_id: number for number, item in enumerate(places(size))}
    with store.read() as tx:
        rows = judgments.table(tx, job_id, payload=False)
        every = list(judgments.by_submission(tx, job_id, judgments.ALL))
        states = {each.person_id: each.state for each in standing.of_job(tx, job_id)}
        is_whole = {unit.valid for unit in progress.some_units(tx, job_id)} == {size.judgments}
    frame = pl.DataFrame({key: [str(row[key]) for row in rows] for key in ("item", "rater", "label")})
    cells = [
        (item, f"expert {n}", expert_answer(size.seed, size, n, numbers[item]))
        for item in frame["item"].unique(maintain_order=True)
        for n in range(size.n_experts)
    ]
    experts = pl.DataFrame(cells, ["item", "rater", "label"], orient="row")
    needed = grater.raters_needed(frame, experts, resamples=200)
    out = Counter(each.kind for each in raters if states.get(each.person_id) == "ejected")
    points = [f"{point.n_raters}: {point.kappa.value:.3f}" for point in needed.curves[-1].points]
    return {
        "kappa of experts": words(needed.target.kappa),
        "raters needed": words(needed.smallest, 0),
        "kappa with an expert by number of raters": ", ".join(points[::2]),
        "majority is true": words(accuracy(size, numbers, frame)),
        "answers, valid, late": f"{len(every):,}, {len(rows):,}, {sum(bool(row.is_late) for row, _ in every):,}",
        "ejected": ", ".join(f"{out[kind]} of {sum(each.kind == kind for each in raters)} {kind}" for kind in KINDS),
        "every item has its judgments": "yes" if is_whole else "no",
    }


def accuracy(size: Size, numbers: Mapping[str, int], frame: pl.DataFrame) -> Interval:
    votes: dict[str, Counter[str]] = defaultdict(Counter)
    for item, _, label in frame.iter_rows():
        votes[item][label] += 1
    right = 0.0
    for item, counts in votes.items():
        tied = [label for label, n in counts.items() if n == max(counts.values())]
        right += (truth(size.seed, numbers[item]) in tied) / len(tied)
    return wilson(round(right), len(votes))


def words(each: Interval, digits: int = 3) -> str:
    return f"{each.value:.{digits}f} [{each.low:.{digits}f}, {each.high:.{digits}f}]"


@dataclass
class Seat:
    """One rater in one order: answers so far as (gold, right), and where they stand."""

    rater: SimulatedRater
    answers: list[tuple[int, bool]] = field(default_factory=list)
    state: str = "quiz"
    is_quiz_failed: bool = False

    def right(self, suspended: set[int], most: int | None = None) -> list[bool]:
        return [right for number, right in self.answers[:most] if number not in suspended]

    def passes(self, rule: TrustRule, suspended: set[int]) -> bool:
        counted = self.right(suspended, rule.quiz)
        return passes_quiz(replace(rule, quiz=len(counted)), right=sum(counted))

    def falls(self, rule: TrustRule, suspended: set[int]) -> bool:
        counted = self.right(suspended)
        return is_below(rule, seen=len(counted), right=sum(counted))


def ejected(rule: TrustRule, seed: int, size: Size = Size()) -> list[int]:  # noqa: B008 (frozen)
    """How many of each kind are out at the end of one order; gold that too many miss is suspended, as in a study."""
    rng, gold, suspended = random.Random(seed), sorted(easy(size)), set[int]()
    seats = [Seat(rater) for rater in drawn_raters(size)]
    for turn in range(rule.quiz + HIDDEN):
        for seat in rng.sample(seats, len(seats)):
            left = [number for number in gold if number not in {n for n, _ in seat.answers} | suspended]
            if seat.state == "out" or not left:
                continue
            number = rng.choice(left)
            n_done = TURNS_AFTER if turn >= rule.quiz + GOOD_HIDDEN else 0
            is_right = answer_of(size.seed, replace(seat.rater, n_done=n_done), number) == truth(size.seed, number)
            seat.answers.append((number, is_right))
            if seat.state == "quiz" and len(seat.answers) >= rule.quiz:
                seat.is_quiz_failed = not seat.passes(rule, suspended)
                seat.state = "out" if seat.is_quiz_failed else "in"
            elif seat.state == "in" and seat.falls(rule, suspended):
                seat.state = "out"
            rights = [right for each in seats for met, right in each.answers if met == number]
            if is_suspect(seen=len(rights), missed=rights.count(False)):
                suspended.add(number)
                for each in seats:  # whom it alone had ejected come back
                    is_still_failed = each.is_quiz_failed and not each.passes(rule, suspended)
                    if each.state == "out" and not is_still_failed and not each.falls(rule, suspended):
                        each.state = "in"
    return [sum(seat.state == "out" for seat in seats if seat.rater.kind == kind) for kind in KINDS]


def drawn_raters(size: Size) -> Iterator[SimulatedRater]:
    """As `make_raters` draws them."""
    rng = random.Random(size.seed)
    n_spam, n_turn = round(0.2 * size.n_raters), round(0.1 * size.n_raters)
    kinds = ["spammer"] * n_spam + ["turning"] * n_turn + ["skilled"] * (size.n_raters - n_spam - n_turn)
    rng.shuffle(kinds)
    for n, kind in enumerate(kinds):
        skill = min(0.98, max(0.75, rng.gauss(0.88, 0.05)))
        yield SimulatedRater(f"rater {n:02}", "", "", kind, skill, rng.random() < 0.1)
