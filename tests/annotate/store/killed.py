"""A process of busy raters that is killed.

`kill` is `before:12` or `after:12` (SIGKILL at that COMMIT, counted over all raters) or `never` (somebody outside
does it).  Every receipt is written to the file `acks` the moment it is known; a line there is a promise to a rater.
"""

from __future__ import annotations

import os
import random
import signal
import threading
from collections.abc import Callable
from itertools import count
from pathlib import Path

from grater.annotate import jobs, people
from grater.annotate.store import open_store
from tests.annotate.store.crowds import Crowd
from tests.annotate.store.worlds import read

N_RATERS = 20


def dying(kill: str) -> Callable[[str], None]:
    """Told of each moment, it dies when the one that `kill` names has come so often."""
    moment, _, number = kill.partition(":")
    times = count(1)

    def tell(now: str) -> None:
        if now == moment and next(times) == int(number):
            os.kill(os.getpid(), signal.SIGKILL)

    return tell


def work_until_killed(location: str, job_id: str, acks: Path, seed: int, kill: str) -> None:
    log = os.open(acks, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    store = open_store(location, around_commit=dying(kill))
    world = Crowd(store, read(store, jobs.get, job_id), tuple(each.person_id for each in read(store, people.all)))
    threads = [
        threading.Thread(target=_work, args=(world, number, random.Random(f"{seed}-{number}"), log))
        for number in range(N_RATERS)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def _work(world: Crowd, number: int, rng: random.Random, log: int) -> None:
    while (lease := world.take(number)) is not None:
        receipt = world.send(lease, submission_id=f"of-{lease.lease_id}")
        os.write(log, f"{receipt.submission_id} {receipt.status}\n".encode())
        if rng.random() < 0.3:
            again = world.send(lease, submission_id=f"of-{lease.lease_id}")
            os.write(log, f"{again.submission_id} {again.status}\n".encode())
