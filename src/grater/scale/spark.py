"""The tasks of a job on Apache Spark: the same tasks, the same files, on many machines.

Spark only hands out tasks and starts them again where an executor is lost; what a task reads and writes are our own
files, which must lie on storage that every machine sees under the same path, and so must grater and its Python unless
`PYSPARK_PYTHON` names another.  An error of the input is the same on every machine: it is brought home as a value, so
that Spark does not try it three times more.

PySpark 4 (extra `[spark]`) and a Java runtime of version 17 or newer, such as Debian's.  No other module of grater
imports pyspark.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, TypeVar

from grater.errors import GraterError, MissingExtra
from grater.scale.engines import THREADS, Task, ignore_message

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class _Refused:
    """What was wrong with the input, on its way home."""

    message: str


@dataclass(frozen=True, slots=True)
class SparkEngine:
    """A Spark master by its URL; `settings` are those of Spark, by name.  `tell` hears how many tasks there are."""

    master: str
    tell: Callable[[str], None] = ignore_message
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
        for outcome in outcomes:
            if isinstance(outcome, _Refused):
                raise GraterError(outcome.message)
            yield outcome

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


def _outcome(task: Task[Any]) -> Any:
    try:
        return task.run()
    except GraterError as error:
        return _Refused(str(error))


def _reason(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    told = [line for line in lines if "Exception" in line or "Error" in line]
    return (told or lines or [type(error).__name__])[-1][:300]
