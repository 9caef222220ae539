"""Ways to run many tasks: one after the other here, in several processes, or on Apache Spark.

A task is a value that can be sent to another process and run there; it returns a value that can be sent back.  Tasks
are taken as workers become free, so a long list of them is never held, and results come as they are ready.

An error of the task itself is the same everywhere, so it ends the job at once: it is returned as a value, so that it
is not retried.

*Processes* (`concurrent.futures`).  A worker that dies (killed, out of memory) takes the pool with it: a new one
takes its place, and what was under way is tried again, one task after the other, three times at most.  Workers are
kept from one run to the next, with the modules and models that they have loaded, until their engine is closed; they
end with the process that started them, however that ends.

*Spark* only hands out tasks and starts them again where an executor is lost; what a task reads and writes are our own
files, on storage that every machine sees under the same path or URL.  Executors need grater, too: installed under the
same path, or packed and shipped (docs/howto/big-corpora.md).  PySpark 4 (extra `[spark]`) and Java 17 or newer.
"""

from __future__ import annotations

import os
import signal
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, ThreadPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from itertools import islice
from multiprocessing import get_context, parent_process
from threading import Thread
from typing import Any, Protocol, TypeVar

from grater.errors import GraterError, MissingExtra

MOST_ATTEMPTS = 3
BIG = 2_000_000
"""Bytes of input above which starting several processes pays off."""

THREADS = dict.fromkeys(("POLARS_MAX_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")
"""Every worker has one core."""

Outcome = TypeVar("Outcome", covariant=True)
Tell = Callable[[str], None]


class Task(Protocol[Outcome]):
    """A piece of work for a worker, perhaps on another machine."""

    @property
    def name(self) -> str:
        """What the task is about, for messages."""
        ...

    def run(self) -> Outcome: ...


T = TypeVar("T")


class Engine(Protocol):
    """Runs tasks and gives their results as they are ready, in any order."""

    def run(self, tasks: Iterable[Task[T]]) -> Iterator[T]: ...

    def close(self) -> None:
        """End the workers."""
        ...


def n_workers(n_jobs: int | None, n_bytes: int) -> int:
    """The number asked for; else one per core for big input, and one for small."""
    return n_jobs or (len(os.sched_getaffinity(0)) if n_bytes >= BIG else 1)


def ignore_message(message: str) -> None:
    """For callers who do not follow what happens to workers."""


@dataclass(frozen=True, slots=True)
class InProcess:
    """One task after the other, in this process."""

    def run(self, tasks: Iterable[Task[T]]) -> Iterator[T]:
        for task in tasks:
            yield task.run()

    def close(self) -> None:
        pass


@dataclass(frozen=True, slots=True)
class _Refused:
    """A problem of the input, on its way back from a worker."""

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
    """Several processes on this machine; `tell` is called when workers die."""

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
        """The result of a task that was running when a worker died; it is not blamed for another's death."""
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

    def close(self) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)
            self._pool = None


def _begin() -> None:
    """Let a worker end silently when it is interrupted or its parent is gone."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def engine_of(n: int, tell: Tell = ignore_message) -> Engine:
    return InProcess() if n == 1 else Processes(n, tell)


WAVES = 3
"""Jobs of Spark under way at a time: one runs, one is queued behind its last tasks, one is being made."""


@dataclass(frozen=True, slots=True)
class SparkEngine:
    """Apache Spark; the master is the one given, else Spark's own choice: spark-submit's, its settings', local[*].

    Tasks go out in waves of one for every core, so that work begins while a
    corpus is still being cut, and results come back wave by wave.
    """

    master: str | None = None
    tell: Tell = ignore_message

    def run(self, tasks: Iterable[Task[T]]) -> Iterator[T]:
        context = self._context()
        waiting, waves = iter(tasks), deque[Future[list[Any]]]()
        with ThreadPoolExecutor(WAVES) as pool:
            try:
                while wave := list(islice(waiting, context.defaultParallelism)):
                    waves.append(pool.submit(_collected, context, wave))
                    if len(waves) == WAVES:
                        yield from map(_result, waves.popleft().result())
                while waves:
                    yield from map(_result, waves.popleft().result())
            except BaseException:
                context.cancelAllJobs()
                raise

    def close(self) -> None:
        """Leave the context to the next job."""

    def _context(self) -> Any:
        """The one context of this process; a second job uses it again."""
        try:
            from pyspark import SparkConf, SparkContext
        except ImportError as error:
            raise MissingExtra("Apache Spark needs another package: pip install 'grater[spark]'") from error
        conf = SparkConf().setAppName("grater")
        conf.setIfMissing("spark.ui.enabled", "false").setIfMissing("spark.ui.showConsoleProgress", "false")
        for name, value in THREADS.items():
            conf.setExecutorEnv(name, value)
        if self.master is not None:
            conf.setMaster(self.master)
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # else the first python3 on the PATH, without grater
        is_new = SparkContext._active_spark_context is None
        try:
            context = SparkContext.getOrCreate(conf)
        except Exception as error:
            where = f" on {self.master}" if self.master else ""
            raise GraterError(f"Spark does not start{where}: {_reason(error)}; is there a Java?") from error
        if is_new:
            context.setLogLevel("WARN")
            self.tell(f"Spark {context.version} on {context.master}, {context.defaultParallelism} tasks at a time")
        return context


def _collected(context: Any, tasks: list[Any]) -> list[Any]:
    try:
        outcomes: list[Any] = context.parallelize(tasks, len(tasks)).map(_outcome).collect()
    except Exception as error:
        if type(error).__module__.startswith(("py4j", "pyspark")):
            raise GraterError(f"Spark gave up: {_reason(error)}") from error
        raise
    return outcomes


def _reason(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    named = [line for line in lines if "Exception" in line or "Error" in line]
    return (named or lines or [type(error).__name__])[-1][:300]
