"""Ways to run many tasks: one after the other here, in several processes, or on Apache Spark.

A task is a value that can be sent to another process and run there; it returns a value that can be sent back.  Tasks
are taken as workers become free, so a long list of them is never held, and results come as they are ready.

An error of the task itself is the same everywhere, so it ends the job at once: it is brought home as a value, so that
nobody tries it again.

*Processes* (`concurrent.futures`).  A worker that dies (killed, out of memory) takes the pool with it: a new one
takes its place, and what was under way is tried again, one task after the other, three times at most.  Workers are
kept from one run to the next, with the modules and models that they have loaded, until their engine is closed; they
end with the process that started them, however that ends.

*Spark* only hands out tasks and starts them again where an executor is lost; what a task reads and writes are our own
files, which must lie on storage that every machine sees under the same path, and so must grater and its Python unless
`PYSPARK_PYTHON` names another.  PySpark 4 (extra `[spark]`) and a Java runtime of version 17 or newer, such as
Debian's.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from multiprocessing import get_context, parent_process
from threading import Thread
from typing import Any, Protocol, TypeVar

from grater.errors import GraterError, MissingExtra

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


@dataclass(frozen=True, slots=True)
class _Refused:
    """What was wrong with the input, on its way home."""

    message: str


def _outcome(task: Task[Any]) -> Any:
    try:
        return task.run()
    except GraterError as error:
        return _Refused(str(error))


def _result(outcome: Any) -> Any:
    if isinstance(outcome, _Refused):
        raise GraterError(outcome.message)
    return outcome


class Processes:
    """Several processes on this machine; `tell` hears of workers that died."""

    def __init__(self, n_workers: int, tell: Tell = ignore_message) -> None:
        self.n_workers, self._tell = n_workers, tell
        self._pool: ProcessPoolExecutor | None = None

    def run(self, tasks: Iterable[Task[T]]) -> Iterator[T]:
        try:
            yield from self._run(iter(tasks))
        except BaseException:
            self.close()
            raise

    def _run(self, waiting: Iterator[Task[T]]) -> Iterator[T]:
        busy: dict[Future[T], Task[T]] = {}
        while True:
            while len(busy) < self.n_workers and (task := next(waiting, None)) is not None:
                busy[self._submitted(task)] = task
            if not busy:
                return
            ready, _ = wait(busy, return_when=FIRST_COMPLETED)
            if any(isinstance(future.exception(), BrokenProcessPool) for future in ready):
                self.close()  # then all that were under way are ready, most of them lost
                ready = set(busy)
            lost = []
            for future in ready:
                task = busy.pop(future)
                if isinstance(future.exception(), BrokenProcessPool):
                    lost.append(task)
                else:
                    yield _result(future.result())
            if lost:
                self._tell(f"a worker ended by itself at {' or '.join(task.name for task in lost)}; trying again")
                yield from map(self._alone, lost)

    def _alone(self, task: Task[T]) -> T:
        """The result of a task that was under way when a worker died; nobody else's death is laid to it."""
        for _ in range(MOST_ATTEMPTS - 1):
            try:
                done: T = _result(self._submitted(task).result())
                return done
            except BrokenProcessPool:
                self.close()
        why = f"a worker ended by itself at {task.name}, {MOST_ATTEMPTS} times"
        raise GraterError(f"{why}; is there enough memory for it?")

    def _submitted(self, task: Task[T]) -> Future[T]:
        new = {name: value for name, value in THREADS.items() if name not in os.environ}
        os.environ.update(new)  # for the worker that this may start
        try:
            if self._pool is None:
                self._pool = ProcessPoolExecutor(self.n_workers, get_context("spawn"), initializer=_begin)
            return self._pool.submit(_outcome, task)
        except BrokenProcessPool as error:  # died while it was idle
            failed: Future[T] = Future()
            failed.set_exception(error)
            return failed
        finally:
            for name in new:
                del os.environ[name]

    def prepare(self, task: Task[T]) -> T:
        """In a worker; this process loads nothing itself."""
        (prepared,) = self.run([task])
        return prepared

    def close(self) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)
            self._pool = None


def _begin() -> None:
    """A worker dies without a word when it is interrupted, and when its parent is gone."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def engine_of(n: int, tell: Tell = ignore_message) -> Engine:
    return InProcess() if n == 1 else Processes(n, tell)


@dataclass(frozen=True, slots=True)
class SparkEngine:
    """A Spark master by its URL; `settings` are those of Spark, by name.  `tell` hears how many tasks there are."""

    master: str
    tell: Tell = ignore_message
    settings: dict[str, str] = field(default_factory=dict, hash=False)

    def run(self, tasks: Iterable[Task[T]]) -> Iterator[T]:
        context = self._context()
        waiting = list(tasks)
        if not waiting:
            return
        self.tell(f"{len(waiting):,} tasks on {self.master}")
        try:
            outcomes = context.parallelize(waiting, len(waiting)).map(_outcome).collect()
        except Exception as error:
            if type(error).__module__.startswith(("py4j", "pyspark")):
                raise GraterError(f"Spark gave up: {_reason(error)}") from error
            raise
        yield from map(_result, outcomes)

    def prepare(self, task: Task[T]) -> T:
        """Here: every machine has the same models."""
        return task.run()

    def close(self) -> None:
        """Leave the context to the next job."""

    def _context(self) -> Any:
        """The one context of this process; a second job uses it again."""
        try:
            from pyspark import SparkConf, SparkContext
        except ImportError as error:
            raise MissingExtra("Apache Spark needs another package: pip install 'grater[spark]'") from error
        conf = SparkConf().setMaster(self.master).setAppName("grater")
        conf.set("spark.ui.enabled", "false").set("spark.ui.showConsoleProgress", "false")
        for name, value in THREADS.items():
            conf.setExecutorEnv(name, value)
        for name, value in self.settings.items():
            conf.set(name, value)
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # else the first python3 on the PATH, without grater
        try:
            context = SparkContext.getOrCreate(conf)
        except Exception as error:
            raise GraterError(f"Spark does not start on {self.master}: {_reason(error)}; is there a Java?") from error
        context.setLogLevel("WARN")
        return context


def _reason(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    told = [line for line in lines if "Exception" in line or "Error" in line]
    return (told or lines or [type(error).__name__])[-1][:300]
