"""The precision of a study: how many items bring a system's recall to a target width, drawn as a sample.

For a corrector, only edits are items, so the width is that of its precision, and the sample is stratified by type of
edit.

Before any judgments, the numbers are those of `measure.sampling.plan` for the corpus and the share that the system
flags, assuming `PRECISION` and `RECALL`; later they use the estimate so far, and count the items still to be judged.
Every sample of a system is drawn with the same rates and random numbers, so a larger sample contains the smaller ones
and no judgment is lost.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count
from math import inf

from grater.annotate import jobs, samples
from grater.annotate.evaluation import ScoresSoFar
from grater.annotate.plans import AN_HOUR, seconds_each
from grater.annotate.samples import NewSample, decided_kind, decisions_on
from grater.annotate.store import Store, Tx
from grater.annotate.tables import judged_items
from grater.annotate.terms import Pay, money, terms_of
from grater.errors import UsageError
from grater.measure.sampling.plan import (
    FLAGGED,
    PRECISION,
    UNFLAGGED,
    Expected,
    decided,
    expected_of,
    more_needed,
    plan,
    precision_needed,
)
from grater.model import EDIT

RECALL = 1 / 3
"""Assumed before anybody has judged: a detector that is right four times of five finds about one error in three."""

MOST_MISSED = 0.5
"""The largest share of the places without a flag that is assumed to be errors."""

WIDTHS = (0.2, 0.1, 0.05)
USUAL = 0.1


@dataclass(frozen=True, slots=True)
class Goal:
    """Recall, or precision of edits, within plus or minus half of `width`.

    `items` must be judged in total, and `more` of them still have to be. `reached` is the width that they should
    give; it is larger if the corpus has no more items.
    """

    width: float
    items: int
    more: int
    reached: float
    hours: float
    cost: str

    @property
    def is_reached(self) -> bool:
        return self.reached <= self.width + 1e-9


@dataclass(frozen=True, slots=True)
class Goals:
    """The goals for a system on `n_items` places, `n_flagged` of them flagged; `kind` is that of the places."""

    system: str
    kind: str
    n_items: int
    n_flagged: int
    rows: tuple[Goal, ...]

    @property
    def is_of_edits(self) -> bool:
        return self.kind == EDIT

    @property
    def usual(self) -> Goal:
        """The default goal: plus or minus .05, or the nearest available."""
        return next((row for row in self.rows if row.width <= USUAL), self.rows[-1])


def goals(tx: Tx, system: str, scores: ScoresSoFar, *, judgments: int = 2, cents: int = 0) -> Goals:
    """The cost of each of the `WIDTHS`, at this number of judgments per item and pay per judgment.

    The currency is that of the study's latest job with pay; otherwise that of new terms.
    """
    paid = [pay.currency for job in jobs.all(tx) if (pay := terms_of(job.options).pay)]
    currency = paid[-1] if paid else Pay(cents).currency
    kind = decided_kind(tx, system)
    rows = decided(decisions_on(tx, kind), system)
    n_items, n_flagged = len(rows), int(rows["flagged"].sum())
    if not n_flagged or (n_flagged == n_items and kind != EDIT):
        return Goals(system, kind, n_items, n_flagged, ())
    seconds, _ = seconds_each(tx, task_of(kind))
    known = set(rows["item"].cast(str)) & judged_items(tx)
    so_far = next((each for each in scores.systems if each.system == system and each.estimated), None)
    estimated = so_far.estimated if so_far and kind != EDIT else None
    share = so_far.precision.value if so_far and 0 < so_far.precision.value < 1 else PRECISION
    found: dict[int, Goal] = {}
    for width in WIDTHS:
        if kind == EDIT:
            items, reached = precision_needed(share, width, size=n_items)
        else:
            expected = _expected(n_flagged / n_items, size=n_items)
            ours = plan(expected, width).row("ours")
            items, reached = ours.items, ours.width
        if estimated:
            more = more_needed(estimated.strata, estimated.flagged, width)
            items, reached = (n_items, inf) if more is None else (min(n_items, len(known) + more), width)
        left = max(0, items - len(known))
        n_judgments = left * judgments
        cost = money(n_judgments * cents, currency) if cents else ""
        goal = Goal(width, items, left, reached, n_judgments * seconds / AN_HOUR, cost)
        found.setdefault(items, goal)  # a corpus that is too small for two widths is judged once
    return Goals(system, kind, n_items, n_flagged, tuple(found.values()))


def _expected(flag_rate: float, *, size: float = inf) -> Expected:
    """The assumptions about a system; one that flags a lot is not assumed to miss twice what it finds."""
    n_right = flag_rate * PRECISION
    recall = max(RECALL, n_right / (n_right + MOST_MISSED * (1 - flag_rate)))
    return expected_of(flag_rate=flag_rate, precision=PRECISION, recall=recall, size=size)


def task_of(kind: str) -> str:
    """The question to raters about items of a kind."""
    return "verify" if kind == EDIT else "error"


def draw_for(store: Store, system: str, n: int, *, actor: str | None = None) -> str:
    """Draw `n` items for a system, including those drawn before; return the name of the sample."""
    with store.read() as tx:
        taken, kind = samples.names(tx), decided_kind(tx, system)
        rows = decided(decisions_on(tx, kind), system)
    share = float(rows["flagged"].mean() or 0)  # type: ignore[arg-type]
    if not 0 < share < 1 and not (share and kind == EDIT):
        raise UsageError(f"{system} flags {'every' if share else 'no'} item of the study: there is nothing to draw")
    rates, how = {}, {"strata": "type", "allocation": "proportional"}
    if kind != EDIT:
        expected = _expected(share)
        rates, how = {FLAGGED: expected.precision, UNFLAGGED: expected.missed}, {"allocation": "neyman"}
    numbered = (f"sample of {system}"[:70] + (f" {number}" if number > 1 else "") for number in count(1))
    name = next(each for each in numbered if each not in taken)
    sent = NewSample.checked(name=name, system=system, n=min(n, len(rows)), kind=kind, **how)
    samples.draw(store, sent, rates=rates, actor=actor)
    return name
