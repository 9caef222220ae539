"""Workers are real processes here, and really killed."""

from __future__ import annotations

import os
import signal
import sys
import time
from contextlib import closing
from dataclasses import dataclass
from multiprocessing import active_children
from pathlib import Path
from subprocess import PIPE, Popen

import pytest

from grater.errors import GraterError
from grater.scale.engines import BIG, InProcess, Processes, Task, n_workers


@dataclass(frozen=True)
class Square:
    number: int
    name: str = "square"

    def run(self) -> int:
        return self.number**2


@dataclass(frozen=True)
class KilledOnce:
    """The first worker that takes it is killed, as by the kernel when memory runs out."""

    mark: Path
    name: str = "killed once"

    def run(self) -> int:
        if not self.mark.exists():
            self.mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return -1


@dataclass(frozen=True)
class KilledAlways:
    name: str = "killed always"

    def run(self) -> int:
        os.kill(os.getpid(), signal.SIGKILL)
        return 0


@dataclass(frozen=True)
class Refused:
    name: str = "refused"

    def run(self) -> int:
        raise GraterError("essays.txt:2: expected something else")


@dataclass(frozen=True)
class WhoAmI:
    name: str = "who am I"

    def run(self) -> int:
        return os.getpid()


def test_workers_are_kept_until_an_error_or_the_end() -> None:
    of_others = set(active_children())
    with closing(Processes(1)) as engine:
        [worker] = engine.run([WhoAmI()])
        assert worker != os.getpid()
        assert list(engine.run([WhoAmI(), WhoAmI()])) == [worker, worker]
        with pytest.raises(GraterError):
            list(engine.run([Refused()]))
        assert list(engine.run([WhoAmI()])) != [worker]
    assert set(active_children()) <= of_others


def test_a_killed_worker_costs_a_second_try_and_nothing_else(tmp_path: Path) -> None:
    messages: list[str] = []
    tasks: list[Task[int]] = [*map(Square, range(5)), KilledOnce(tmp_path / "mark"), *map(Square, range(5, 9))]
    with closing(Processes(2, messages.append)) as engine:
        results = sorted(engine.run(tasks))
    assert results == [-1, *(number**2 for number in range(9))]
    (message,) = messages
    assert message.startswith("a worker ended by itself at ")
    assert "killed once" in message
    assert message.endswith("; trying again")


def test_a_task_that_kills_every_worker_ends_the_job_and_is_named() -> None:
    tasks: list[Task[int]] = [Square(1), KilledAlways(), Square(2)]
    with pytest.raises(GraterError, match=r"^a worker ended by itself at killed always, 3 times; is there"):
        list(Processes(2).run(tasks))


def test_a_worker_that_dies_idle_is_replaced() -> None:
    with closing(Processes(1)) as engine:
        [worker] = engine.run([WhoAmI()])
        os.kill(worker, signal.SIGKILL)
        assert list(engine.run([WhoAmI()])) != [worker]


def test_workers_end_with_the_process_that_started_them() -> None:
    script = (
        "from tests.scale.test_engines import *; engine = Processes(1); print(*engine.run([WhoAmI()]), flush=True)"
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
    tasks: list[Task[int]] = [Square(1), Refused()]
    with pytest.raises(GraterError, match=r"^essays\.txt:2: expected something else$"):
        list(engine.run(tasks))


def test_small_input_is_not_worth_a_second_process() -> None:
    assert n_workers(None, 1000) == 1
    assert n_workers(None, BIG) == len(os.sched_getaffinity(0))
    assert n_workers(3, 1000) == 3
