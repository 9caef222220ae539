"""Workers are real processes here, and really killed."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from multiprocessing import active_children
from pathlib import Path
from subprocess import PIPE, Popen

import pytest

from grater.errors import GraterError
from grater.scale.engines import BIG, InProcess, Processes, n_workers


@dataclass(frozen=True)
class Call:
    """A task that a worker can be sent."""

    function: Callable[..., int]
    arguments: tuple[object, ...] = ()

    @property
    def name(self) -> str:
        return self.function.__name__

    def run(self) -> int:
        return self.function(*self.arguments)


def square(number: int) -> int:
    return number**2


def killed(mark: Path | None = None) -> int:
    """Kill the worker, as the kernel does when memory runs out; with a mark the first one alone."""
    if mark is None or not mark.exists():
        if mark:
            mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return -1


def refused() -> int:
    raise GraterError("essays.txt:2: expected something else")


def squares(*numbers: int) -> list[Call]:
    return [Call(square, (number,)) for number in numbers]


WHO_AM_I = Call(os.getpid)


def test_workers_are_kept_until_an_error_or_their_death_or_the_end() -> None:
    of_others = set(active_children())
    with closing(Processes(1)) as engine:
        [worker] = engine.run([WHO_AM_I])
        assert worker != os.getpid()
        assert list(engine.run([WHO_AM_I, WHO_AM_I])) == [worker, worker]
        with pytest.raises(GraterError):
            list(engine.run([Call(refused)]))
        [other] = engine.run([WHO_AM_I])
        assert other != worker
        os.kill(other, signal.SIGKILL)
        assert list(engine.run([WHO_AM_I])) != [other]
    assert set(active_children()) <= of_others


def test_a_killed_worker_costs_a_second_try_and_nothing_else(tmp_path: Path) -> None:
    messages: list[str] = []
    tasks = [*squares(*range(5)), Call(killed, (tmp_path / "mark",)), *squares(*range(5, 9))]
    with closing(Processes(2, messages.append)) as engine:
        results = sorted(engine.run(tasks))
    assert results == [-1, *(number**2 for number in range(9))]
    (message,) = messages
    assert message.startswith("a worker ended by itself at ")
    assert "killed" in message
    assert message.endswith("; trying again")


def test_a_task_that_kills_every_worker_ends_the_job_and_is_named() -> None:
    with pytest.raises(GraterError, match=r"^a worker ended by itself at killed, 3 times; is there"):
        list(Processes(2).run([*squares(1), Call(killed), *squares(2)]))


def test_workers_end_with_the_process_that_started_them() -> None:
    script = (
        "from tests.scale.test_engines import *; engine = Processes(1); print(*engine.run([WHO_AM_I]), flush=True)"
    )
    with Popen([sys.executable, "-c", f"{script}; input()"], stdin=PIPE, stdout=PIPE, text=True) as parent:
        assert parent.stdout
        worker = Path(f"/proc/{int(parent.stdout.readline())}")
        assert worker.exists()
        parent.kill()
        parent.wait()
        deadline = time.monotonic() + 30
        while worker.exists() and time.monotonic() < deadline:
            time.sleep(0.05)
    assert not worker.exists()


@pytest.mark.parametrize("engine", [InProcess(), Processes(2)], ids=["here", "processes"])
def test_an_error_of_the_input_is_the_same_in_every_engine(engine: InProcess | Processes) -> None:
    with pytest.raises(GraterError, match=r"^essays\.txt:2: expected something else$"):
        list(engine.run([*squares(1), Call(refused)]))


def test_small_input_is_not_worth_a_second_process() -> None:
    assert n_workers(None, 1000) == 1
    assert n_workers(None, BIG) == len(os.sched_getaffinity(0))
    assert n_workers(3, 1000) == 3
