"""Ways to run many tasks: one after the other here, or in several processes.

A task is a value that can be sent to another process and run there; it returns a value that can be sent back.  Tasks
are taken as workers become free, so a long list of them is never held, and results come as they are ready.

A worker that dies (killed, out of memory) costs only the task that it was running: another worker takes its place and
the task is tried again, three times at most.  An error of the task itself is the same everywhere, so it ends the job
at once.  Workers are kept from one run to the next, with the modules and models that they have loaded, until their
engine is closed; they end with the process that started them, however that ends: their pipe closes.
"""

from __future__ import annotations

import os
import traceback
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any, Protocol, TypeVar

from grater.errors import GraterError

MOST_ATTEMPTS = 3
BIG = 2_000_000
"""Bytes of input from which on several processes are worth their start."""

THREADS = dict.fromkeys(("POLARS_MAX_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")
"""Every worker has one core."""

Outcome = TypeVar("Outcome", covariant=True)
Tell = Callable[[str], None]


class Task(Protocol[Outcome]):
    """Something to be done by some worker, perhaps on another machine."""

    @property
    def name(self) -> str:
        """For messages: what the task is about."""
        ...

    def run(self) -> Outcome: ...


T = TypeVar("T")


class Engine(Protocol):
    """Runs tasks and gives their results as they are ready, in any order."""

    def run(self, tasks: Iterable[Task[T]]) -> Iterator[T]: ...

    def prepare(self, task: Task[T]) -> T:
        """Run a task that loads what later ones need, where these will run; its result is the same everywhere."""
        ...

    def close(self) -> None:
        """End the workers."""
        ...


def n_workers(n_jobs: int | None, n_bytes: int) -> int:
    """As many as were asked for, else one for every core where the input is big, else one."""
    return n_jobs or (len(os.sched_getaffinity(0)) if n_bytes >= BIG else 1)


def ignore_message(message: str) -> None:
    """For callers who do not follow what happens to workers."""


@dataclass(frozen=True, slots=True)
class InProcess:
    """One task after the other, in this process."""

    def run(self, tasks: Iterable[Task[T]]) -> Iterator[T]:
        for task in tasks:
            yield task.run()

    def prepare(self, task: Task[T]) -> T:
        return task.run()

    def close(self) -> None:
        pass


class Processes:
    """Several processes on this machine; `tell` hears of workers that died."""

    def __init__(self, n_workers: int, tell: Tell = ignore_message) -> None:
        self.n_workers = n_workers
        self._pool = _Pool(n_workers, tell)

    def run(self, tasks: Iterable[Task[T]]) -> Iterator[T]:
        try:
            yield from self._pool.run(tasks)
        except BaseException:
            self.close()  # some are still busy, and their results are for nobody
            raise

    def prepare(self, task: Task[T]) -> T:
        """All workers at once; this process loads nothing itself."""
        first, *_ = self.run([task] * self.n_workers)
        return first

    def close(self) -> None:
        self._pool.close()


def engine_of(n: int, tell: Tell = ignore_message) -> Engine:
    return InProcess() if n == 1 else Processes(n, tell)


@dataclass(slots=True)
class _Worker:
    process: BaseProcess
    pipe: Connection
    task: Task[Any] | None = None
    attempt: int = 1


class _Pool:
    """Workers, started as tasks ask for them."""

    def __init__(self, size: int, tell: Tell) -> None:
        self._size, self._tell = size, tell
        self._workers: list[_Worker] = []
        self._again: deque[tuple[Task[Any], int]] = deque()

    def run(self, tasks: Iterable[Task[T]]) -> Iterator[T]:
        waiting = iter(tasks)
        while True:
            self._hand_out(waiting)
            busy = [worker for worker in self._workers if worker.task is not None]
            if not busy:
                return
            wait([worker.pipe for worker in busy])
            for worker in busy:
                if worker.pipe.poll():
                    yield from self._received(worker)

    def _hand_out(self, waiting: Iterator[Task[Any]]) -> None:
        while True:
            idle = next((worker for worker in self._workers if worker.task is None), None)
            if idle is None and len(self._workers) == self._size:
                return
            task, attempt = self._again.popleft() if self._again else (next(waiting, None), 1)
            if task is None:
                return
            worker = idle or self._started()
            worker.task, worker.attempt = task, attempt
            try:
                worker.pipe.send(task)
            except OSError:
                self._died(worker)

    def _received(self, worker: _Worker) -> Iterator[Any]:
        try:
            kind, value = worker.pipe.recv()
        except (EOFError, OSError):
            self._died(worker)
            return
        worker.task = None
        if kind == "refused":
            raise GraterError(value)
        if kind == "failed":
            raise RuntimeError(f"a worker failed:\n{value}")
        yield value

    def _died(self, worker: _Worker) -> None:
        task = worker.task
        assert task is not None
        worker.process.join()
        self._workers.remove(worker)
        why = f"a worker ended by itself (exit status {worker.process.exitcode}) at {task.name}"
        if worker.attempt == MOST_ATTEMPTS:
            raise GraterError(f"{why}, {MOST_ATTEMPTS} times; is there enough memory for it?")
        self._tell(f"{why}; trying again")
        self._again.append((task, worker.attempt + 1))

    def _started(self) -> _Worker:
        context = get_context("spawn")
        ours, theirs = context.Pipe()
        process = context.Process(target=_work, args=(theirs,), daemon=True)
        with _environment(THREADS):
            process.start()
        theirs.close()
        worker = _Worker(process, ours)
        self._workers.append(worker)
        return worker

    def close(self) -> None:
        workers, self._workers = self._workers, []
        self._again.clear()
        for worker in workers:
            worker.pipe.close()
            if worker.task is not None:
                worker.process.terminate()
        for worker in workers:
            worker.process.join()


@contextmanager
def _environment(settings: Mapping[str, str]) -> Iterator[None]:
    """Variables for processes that start now; those that are set already stay."""
    new = {name: value for name, value in settings.items() if name not in os.environ}
    os.environ.update(new)
    try:
        yield
    finally:
        for name in new:
            del os.environ[name]


def _work(pipe: Connection) -> None:
    """A worker's life: tasks in, results out, until the pipe closes."""
    while True:
        try:
            task = pipe.recv()
        except (EOFError, KeyboardInterrupt):
            return
        try:
            answer = ("done", task.run())
        except GraterError as error:
            answer = ("refused", str(error))
        except KeyboardInterrupt:
            return
        except BaseException:
            answer = ("failed", traceback.format_exc())
        try:
            pipe.send(answer)
        except OSError:
            return
