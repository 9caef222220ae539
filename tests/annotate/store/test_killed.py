"""P1, P2 when the power goes: SIGKILL while twenty raters work, at random and just before and after COMMIT."""

from __future__ import annotations

import random
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from grater.annotate import judgments
from grater.annotate.store import Store, checks, open_store
from tests.annotate.store.crowds import Crowd, make_world
from tests.annotate.store.killed import N_RATERS, work_until_killed
from tests.processes import PROCESSES


@pytest.fixture
def acks() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder) / "acks"


def kill_once(location: str, world: Crowd, acks: Path, rng: random.Random, *, seed: int) -> bool:
    """One process of raters, dead by its own hand at a COMMIT or by ours at any moment; False if it ended before."""
    moment = rng.choice(["before", "after", "never", "never"])
    at = f"{moment}:{rng.randint(1, 12)}" if moment != "never" else "never"
    enough = n_told(acks) + rng.randint(1, 40)
    process = PROCESSES.Process(target=work_until_killed, args=(location, world.job_id, acks, seed, at))
    process.start()
    if moment == "never":
        while process.is_alive() and n_told(acks) < enough:
            time.sleep(0.01)
        process.kill()
    process.join(600)
    assert process.exitcode in (-9, 0)
    return process.exitcode == -9


def n_told(acks: Path) -> int:
    """The number of receipts that raters have been given."""
    return acks.read_bytes().count(b"\n")


def assert_kept(location: str, acks: Path) -> int:
    """Everything that a rater was told is there, and the study is sound; give how many submissions there are."""
    with open_store(location) as store, store.read() as tx:
        stored = {str(row["submission"]): row["status"] for row in judgments.table(tx, None, judgments.ALL)}
        assert checks.violations(tx) == []
    whole = acks.read_text().rpartition("\n")[0]  # a line cut short was never told to anybody
    for line in whole.splitlines():
        submission_id, status = line.split()
        assert stored.get(submission_id) == status, "an acknowledged judgment is lost"
    return len(stored)


def run(location: str, acks: Path, *, n_kills: int, seed: int) -> str:
    """Figures: everything that is lost, doubled, over-issued or starved would have ended the test."""
    with open_store(location, create=True) as store:
        world = make_world(store, n_units=60 * n_kills, judgments=3, n_raters=N_RATERS)
    rng = random.Random(seed)
    acks.touch()
    n_killed, n_stored = 0, 0
    for number in range(n_kills):
        n_killed += kill_once(location, world, acks, rng, seed=seed * 1000 + number)
        n_stored = assert_kept(location, acks)
    assert n_stored > n_kills, "hardly anything was stored, so hardly anything was tried"
    assert n_killed > 0.9 * n_kills, "they ran out of work before they were killed"
    known = {line.split()[0] for line in acks.read_text().splitlines()}  # a repeated answer is told again
    return (
        f"{n_killed} kills: {n_stored:,} judgments stored, {len(known):,} of them acknowledged; "
        "0 lost, doubled, over-issued or starved"
    )


@pytest.mark.parametrize(("n_kills", "seed"), [(5, 1), pytest.param(100, 2, marks=pytest.mark.slow)])
def test_a_killed_server_has_lost_nothing_that_it_acknowledged(
    location: str, acks: Path, record_property: Callable[[str, object], None], n_kills: int, seed: int
) -> None:
    record_property("figures", run(location, acks, n_kills=n_kills, seed=seed))


def test_the_kill_test_notices_a_server_that_answers_too_early(store: Store, location: str, acks: Path) -> None:
    """Negative control: an acknowledgement before COMMIT, and then the power goes."""
    world = make_world(store)
    acks.write_text("never-committed valid\n")
    world.answer()
    with pytest.raises(AssertionError, match="lost"):
        assert_kept(location, acks)
