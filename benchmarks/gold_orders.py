"""Who is lost to a gold rule, over many orders of the same gold: `python benchmarks/gold_orders.py [--orders 40]`.

The raters of `crowd_simulation.py` (seed 0) with their own answers to its 75 gold, without the server: a quiz, then
38 hidden gold, in as many random orders as asked.  Gold that too many miss suspends itself, and whom it had put out
comes back, as in a study (`grater.store.gold_review`).  One run of the server is one such order.
"""

from __future__ import annotations

import argparse
import random
import sys
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.server.simulated_crowd import TURNS_AFTER, SimulatedRater, Size, easy, said, truth

from grater.crowd.trust import TrustRule, is_below, is_suspect, passes_quiz

SIZE = Size()
HIDDEN = 38
GOOD_HIDDEN = 2
"""Hidden gold that a rater meets before turning bad: thirty units, the quiz among them."""
KINDS = ("skilled", "spammer", "turning")
RULES = (TrustRule(0.8, 12, 12, 1, 0.9), TrustRule(0.7, 8, 8, 1))


@dataclass
class Seat:
    """One rater in one order: answers so far as (gold, right), and where they stand."""

    rater: SimulatedRater
    answers: list[tuple[int, bool]] = field(default_factory=list)
    state: str = "quiz"
    is_quiz_failed: bool = False

    def counted(self, suspended: set[int], most: int | None = None) -> list[bool]:
        return [right for number, right in self.answers[:most] if number not in suspended]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--orders", type=int, default=40)
    n_orders = parser.parse_args().orders
    for rule in RULES:
        found = np.array([put_out(rule, seed) for seed in range(n_orders)])
        told = ", ".join(
            f"{kind} {mean:.2f} (sd {sd:.2f})"
            for kind, mean, sd in zip(KINDS, found.mean(0), found.std(0), strict=True)
        )
        print(f"minimum {rule.minimum:g}, sure {rule.sure:g}, quiz {rule.quiz}: put out on average {told}")


def put_out(rule: TrustRule, seed: int) -> list[int]:
    """How many of each kind are out at the end of one order."""
    rng, gold = random.Random(seed), sorted(easy(SIZE))
    seats, suspended = [Seat(rater) for rater in raters()], set[int]()
    for turn in range(rule.quiz + HIDDEN):
        for seat in rng.sample(seats, len(seats)):
            met = {number for number, _ in seat.answers}
            left = [number for number in gold if number not in met | suspended]
            if seat.state != "out" and left:
                number = rng.choice(left)
                seat.answers.append((number, is_right(seat.rater, number, turn >= rule.quiz + GOOD_HIDDEN)))
                judge(rule, seat, suspended)
                doubt(rule, seats, number, suspended)
    return [sum(seat.state == "out" for seat in seats if seat.rater.kind == kind) for kind in KINDS]


def raters() -> list[SimulatedRater]:
    """As `make_raters` draws them."""
    rng = random.Random(SIZE.seed)
    n_spam, n_turn = round(0.2 * SIZE.n_raters), round(0.1 * SIZE.n_raters)
    kinds = ["spammer"] * n_spam + ["turning"] * n_turn + ["skilled"] * (SIZE.n_raters - n_spam - n_turn)
    rng.shuffle(kinds)
    made = []
    for n, kind in enumerate(kinds):
        skill = min(0.98, max(0.75, rng.gauss(0.88, 0.05)))
        made.append(SimulatedRater(f"rater {n:02}", "", "", kind, skill, rng.random() < 0.1))
    return made


def is_right(rater: SimulatedRater, number: int, is_late: bool) -> bool:
    known = replace(rater, n_done=TURNS_AFTER if is_late else 0)
    return said(SIZE.seed, known, number) == truth(SIZE.seed, number)


def judge(rule: TrustRule, seat: Seat, suspended: set[int]) -> None:
    if seat.state == "quiz" and len(seat.answers) >= rule.quiz:
        seat.is_quiz_failed = not passes(rule, seat, suspended)
        seat.state = "out" if seat.is_quiz_failed else "in"
    elif seat.state == "in" and falls(rule, seat, suspended):
        seat.state = "out"


def doubt(rule: TrustRule, seats: list[Seat], number: int, suspended: set[int]) -> None:
    """Suspend gold that too many missed, and take back whom it alone had put out."""
    rights = [right for seat in seats for each, right in seat.answers if each == number]
    if not is_suspect(seen=len(rights), missed=rights.count(False)):
        return
    suspended.add(number)
    for seat in seats:
        is_still_failed = seat.is_quiz_failed and not passes(rule, seat, suspended)
        if seat.state == "out" and not is_still_failed and not falls(rule, seat, suspended):
            seat.state = "in"


def passes(rule: TrustRule, seat: Seat, suspended: set[int]) -> bool:
    counted = seat.counted(suspended, rule.quiz)
    return passes_quiz(replace(rule, quiz=len(counted)), right=sum(counted))


def falls(rule: TrustRule, seat: Seat, suspended: set[int]) -> bool:
    counted = seat.counted(suspended)
    return is_below(rule, seen=len(counted), right=sum(counted))


if __name__ == "__main__":
    main()
