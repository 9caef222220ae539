"""A crowd of known skill through the real server: `python benchmarks/crowd_simulation.py [--items 1000]`.

60 raters (a fifth spammers, a tenth that turn bad later, some slow) judge 1,000 sentences through `grater serve` over
HTTP, once without gold and once with 75 gold: an entry quiz, then one hidden in ten.  Shown as Table 4 of T,C&M 2013:
how far simulated experts agree, how many raters match them with and without gold (and their kappa), and beside it the
share of the majorities that are true, who was put out, and what was wasted.  The gold rule is the one that
docs/crowd-jobs.md advises; `--minimum .7 --sure 0 --quiz 8` is that of the services.  Leases are short, so that slow
raters really come too late.

It fails (exit status 1) where the study breaks a promise, an item ends with fewer valid judgments than wanted, a
spammer is still in when all is done, or gold makes the majority worse.  Below ten judgments an item spammers meet too
little gold for that, and a tenth of them may stay.  Thirteen judgments an item are some 30,000 answers; each waits
for the disk, so a folder in memory (TMPDIR=/dev/shm) is many times quicker.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from math import isnan
from pathlib import Path

import httpx
import polars as pl

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.ports import free_port
from tests.server.simulated_crowd import (
    SimulatedRater,
    Size,
    easy,
    expert_said,
    let_work,
    make_items,
    make_job,
    make_raters,
    places,
    truth,
)

from grater.agreement.raters_needed import NeedOptions, RatersNeeded, raters_needed
from grater.model import Interval, Json
from grater.statistics.proportions import wilson
from grater.store import Store, checks, judgments, open_store, progress, trust
from grater.tables import Judgments

PAY: dict[str, Json] = {"cents": 5, "currency": "USD"}
LEASE_MINUTES = 0.05
"""Three seconds: a slow rater, who comes back a round later, is too late about as often as not."""
PATIENCE = 60.0
STRICT_FROM = 10
"""Judgments an item from which every spammer must be out in the end."""


@dataclass(frozen=True)
class Arm:
    """What came of one job."""

    name: str
    needed: RatersNeeded
    accuracy: Interval
    n_answers: int
    n_valid: int
    n_late: int
    n_wasted: int
    out: Counter[str]
    is_whole: bool


def main() -> int:
    parser = argparse.ArgumentParser()
    for name, default in (
        ("raters", 60),
        ("items", 1000),
        ("gold", 75),
        ("judgments", 13),
        ("quiz", 12),
        ("seed", 0),
    ):
        parser.add_argument(f"--{name}", type=int, default=default)
    for name, default in (("minimum", 0.8), ("sure", 0.9)):
        parser.add_argument(f"--{name}", type=float, default=default)
    asked = parser.parse_args()
    size = Size(asked.raters, asked.items, asked.gold, asked.judgments, seed=asked.seed)
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="grater-crowd-") as folder:
        place = Path(folder) / "study.db"
        with open_store(place, create=True) as store:
            arms, broken = _run(store, place, size, _rule(asked))
    _show(size, arms)
    print(
        f"{sum(arm.n_answers for arm in arms)} answers in {time.monotonic() - began:.0f} s; promises broken: {broken}"
    )
    plain, tested = arms
    may_stay = 0.0 if size.judgments >= STRICT_FROM else 0.1
    is_good = not broken and plain.is_whole and tested.is_whole and _share_in(tested) <= may_stay
    return 0 if is_good and tested.accuracy.value >= plain.accuracy.value else 1


def _rule(asked: argparse.Namespace) -> dict[str, Json]:
    return {"minimum": asked.minimum, "sure": asked.sure, "quiz": asked.quiz, "least_seen": asked.quiz}


def _share_in(arm: Arm) -> float:
    n_in, n_out = arm.out["spammer still in"], arm.out["spammer out"]
    return n_in / max(1, n_in + n_out)


def _run(store: Store, place: Path, size: Size, rule: dict[str, Json]) -> tuple[list[Arm], int]:
    raters = make_raters(store, size)
    found = make_items(store, size)
    terms: dict[str, dict[str, Json]] = {
        "without gold": {"pay": PAY},
        "with gold": {"pay": PAY, "gold": rule, "page": 10},
    }
    ids = [make_job(store, size, found, name, each, LEASE_MINUTES) for name, each in terms.items()]
    with _served(place) as url, ThreadPoolExecutor(len(ids)) as pool:
        done = [
            pool.submit(_work, url, [replace(each) for each in raters], job_id, size, number)
            for number, job_id in enumerate(ids)
        ]
        for each in done:
            each.result()
    with store.read() as tx:
        broken = checks.violations(tx)
    for violation in broken[:5]:
        print(violation)
    return [_arm(store, size, raters, name, job_id) for name, job_id in zip(terms, ids, strict=True)], len(broken)


def _work(url: str, raters: list[SimulatedRater], job_id: str, size: Size, number: int) -> int:
    with httpx.Client(base_url=url, timeout=PATIENCE) as client:
        return let_work(client, raters, job_id, seed=size.seed, rng=random.Random(size.seed + number))


@contextmanager
def _served(place: Path) -> Iterator[str]:
    """`grater serve` as anybody would start it."""
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    command = [sys.executable, "-m", "grater", "serve", str(place), "--port", str(port)]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as process:
        try:
            _wait(url)
            yield url
        finally:
            process.terminate()


def _wait(url: str) -> None:
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        try:
            httpx.get(f"{url}/healthz")
            return
        except httpx.TransportError:
            time.sleep(0.2)
    raise SystemExit("the server did not start")


def _arm(store: Store, size: Size, raters: list[SimulatedRater], name: str, job_id: str) -> Arm:
    numbers = {item.item_id: number for number, item in enumerate(places(size))}
    with store.read() as tx:
        rows = judgments.table(tx, job_id, payload=False)
        every = list(judgments.by_submission(tx, job_id, judgments.ALL))
        states = {each.person_id: each.state for each in trust.of_job(tx, job_id)}
        far = progress.of_job(tx, job_id)
    said = pl.DataFrame({key: [str(row[key]) for row in rows] for key in ("item", "rater", "label")})
    out = Counter(
        f"{each.kind} {'out' if states.get(each.person_id) == 'ejected' else 'still in'}" for each in raters
    )
    return Arm(
        name,
        raters_needed(Judgments(said, name), _experts(size, numbers, rows), NeedOptions(n_resamples=200)),
        _accuracy(size, numbers, said),
        len(every),
        len(rows),
        sum(bool(row.is_late) for row, _ in every),
        sum(row.status != "valid" for row, _ in every),
        out,
        {unit.valid for unit in far.by_unit} == {size.judgments},
    )


def _experts(size: Size, numbers: Mapping[str, int], rows: list[dict[str, Json]]) -> Judgments:
    found = sorted({str(row["item"]) for row in rows})
    cells = [
        (item, f"expert {n}", expert_said(size.seed, size, n, numbers[item]))
        for item in found
        for n in range(size.n_experts)
    ]
    return Judgments(pl.DataFrame(cells, ["item", "rater", "label"], orient="row"), "experts")


def _accuracy(size: Size, numbers: Mapping[str, int], said: pl.DataFrame) -> Interval:
    votes: dict[str, Counter[str]] = defaultdict(Counter)
    for item, _, label in said.iter_rows():
        votes[item][label] += 1
    right = sum(_credit(counts, truth(size.seed, numbers[item])) for item, counts in votes.items())
    return wilson(round(right), len(votes))


def _credit(counts: Counter[str], label: str) -> float:
    most = max(counts.values())
    tied = [each for each, n in counts.items() if n == most]
    return (label in tied) / len(tied)


def _show(size: Size, arms: list[Arm]) -> None:
    print(f"{size.n_raters} raters, {size.n_items} items, {len(easy(size))} gold, {size.judgments} judgments an item")
    print(f"{'':14} raters needed    kappa there   majority is true       answers  valid   late wasted")
    print(f"{'experts':14} {'':16} {_words(arms[0].needed.target.kappa)}")
    for arm in arms:
        counts = f"{arm.n_answers:8} {arm.n_valid:6} {arm.n_late:6} {arm.n_wasted:6}"
        needed = f"{_words(arm.needed.smallest, 0):16} {_reached(arm):13}"
        print(f"{arm.name:14} {needed} {_words(arm.accuracy)}  {counts}")
    for arm in arms:
        print(f"{arm.name}: {', '.join(f'{n} {kind}' for kind, n in sorted(arm.out.items()))}")
        points = "  ".join(f"{point.n_raters}: {point.kappa.value:.3f}" for point in arm.needed.curves[-1].points)
        print(f"{arm.name}: kappa with {arm.needed.curves[-1].against} by number of raters  {points}")


def _reached(arm: Arm) -> str:
    """The kappa of as many raters as are needed, or of all that there are."""
    points = arm.needed.curves[-1].points
    n_raters = arm.needed.smallest.value
    return f"{points[-1 if isnan(n_raters) else int(n_raters) - 1].kappa.value:.3f}"


def _words(each: Interval, digits: int = 3) -> str:
    return f"{each.value:.{digits}f} [{each.low:.{digits}f}, {each.high:.{digits}f}]"


if __name__ == "__main__":
    sys.exit(main())
