"""The same results on a real Spark with two executors, one of which is killed on the way.

`make test-spark` runs these: they need Java and pyspark, and fail without.  `make test` leaves them out.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from grater.errors import GraterError
from grater.scale.engines import InProcess
from tests.scale.corpora import cut_into
from tests.scale.test_jobs import CORPORA, JOBS, TEXT_JOBS, folder

if TYPE_CHECKING:
    from grater.scale.engines import SparkEngine

__all__ = ["folder"]

pytestmark = [
    pytest.mark.skipif("GRATER_SPARK" not in os.environ, reason="Spark: run by make test-spark"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),  # PySpark leaves its own sockets to the collector
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

ROOT = Path(__file__).parents[2]
CLUSTER = "local-cluster[2,1,1024]"
"""Two executors, processes of their own, with a core and a gigabyte each."""


@pytest.fixture(scope="module")
def spark() -> Iterator[SparkEngine]:
    from pyspark import SparkContext

    from grater.scale.engines import SparkEngine

    here = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])  # executors import the tasks of this file
    yield SparkEngine(CLUSTER, settings={"spark.executorEnv.PYTHONPATH": here})
    context = SparkContext._active_spark_context
    if context is not None:
        context.stop()


@pytest.mark.parametrize("name", JOBS)
def test_a_job_on_spark_gives_what_it_gives_here(name: str, folder: Path, tmp_path: Path, spark: SparkEngine) -> None:
    is_text = name in TEXT_JOBS
    path = folder / CORPORA.get(name, "essays.jsonl")
    here = JOBS[name](folder, cut_into(path, 1, tmp_path / "cut1", lines=is_text), tmp_path / "here", InProcess())
    there = JOBS[name](folder, cut_into(path, 7, tmp_path / "cut7", lines=is_text), tmp_path / "there", spark)
    assert there == here


def ended_by_kernel(mark: Path) -> None:
    """Kill this executor, the Java process that started this worker, the first time only."""
    if not mark.exists():
        mark.touch()
        pid = os.getpid()
        while "java" not in Path(f"/proc/{pid}/comm").read_text(encoding="utf-8"):
            pid = int(Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()[1])
        os.kill(pid, signal.SIGKILL)


@dataclass(frozen=True)
class Squared:
    number: int
    mark: Path | None = None
    name: str = "square"

    def run(self) -> int:
        if self.mark:
            with self.mark.with_suffix(".log").open("a", encoding="utf-8") as stream:
                stream.write("tried\n")
            ended_by_kernel(self.mark)
        return self.number**2


def test_a_killed_executor_costs_a_second_try_and_nothing_else(tmp_path: Path, spark: SparkEngine) -> None:
    mark = tmp_path / "mark"
    tasks = [Squared(number, mark if number == 3 else None) for number in range(12)]
    assert sorted(spark.run(tasks)) == [number**2 for number in range(12)]
    assert mark.with_suffix(".log").read_text(encoding="utf-8") == "tried\n" * 2


@dataclass(frozen=True)
class Refused:
    log: Path
    name: str = "refused"

    def run(self) -> int:
        with self.log.open("a", encoding="utf-8") as stream:
            stream.write("tried\n")
        raise GraterError("essays.txt:2: expected something else")


def test_an_error_of_the_input_is_told_once_and_as_it_is(tmp_path: Path, spark: SparkEngine) -> None:
    with pytest.raises(GraterError, match=r"^essays\.txt:2: expected something else$"):
        list(spark.run([Refused(tmp_path / "log")]))
    assert (tmp_path / "log").read_text(encoding="utf-8") == "tried\n"
