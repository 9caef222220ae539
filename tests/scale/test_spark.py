"""The same results on a standalone cluster of a master and two workers, one of which loses its executor on the way.

`make test-spark` runs these: they need Java and pyspark, and fail without.  `make test` leaves them out.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from subprocess import Popen, run
from typing import TYPE_CHECKING

import pytest

from grater.errors import GraterError
from grater.scale.engines import InProcess
from tests.ports import free_port
from tests.scale.corpora import cut_into, write_lines
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


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A master and two workers, each with a core and a gigabyte and a folder of its own to run in."""
    import pyspark

    folder = tmp_path_factory.mktemp("cluster")
    home = Path(pyspark.__file__).parent
    port = free_port()
    master = f"spark://127.0.0.1:{port}"
    own = "org.apache.spark.deploy"
    parts = [[f"{own}.master.Master", "--port", str(port)]]
    parts += [
        [f"{own}.worker.Worker", "--cores", "1", "--memory", "1g", "--work-dir", str(folder / name), master]
        for name in "ab"
    ]
    with ExitStack() as stack, (folder / "log").open("wb") as log:
        for part in parts:
            command = [home / "bin" / "spark-class", part[0], "--host", "127.0.0.1", "--webui-port", "0", *part[1:]]
            running = stack.enter_context(Popen(command, cwd=folder, stdout=log, stderr=log, start_new_session=True))
            stack.callback(os.killpg, running.pid, signal.SIGKILL)
        while (folder / "log").read_bytes().count(b"Successfully registered with master") < 2:
            time.sleep(0.1)
        yield master


@pytest.fixture(scope="module")
def spark(cluster: str) -> Iterator[SparkEngine]:
    from pyspark import SparkContext

    from grater.scale.engines import SparkEngine

    here = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])  # executors import the tasks of this file
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYSPARK_SUBMIT_ARGS", f"--conf spark.executorEnv.PYTHONPATH={here} pyspark-shell")
        yield SparkEngine(cluster)
    context = SparkContext._active_spark_context
    if context is not None:
        context.stop()


def test_spark_submit_chooses_the_cluster_and_relative_paths_and_urls_reach_it(cluster: str, tmp_path: Path) -> None:
    """As in docs/howto/big-corpora.md, from a folder that is not the executors'."""
    import pyspark

    write_lines(tmp_path / "lines.txt")
    (tmp_path / "submit.py").write_text("from grater.cli import main\n\nmain()\n", encoding="utf-8")
    submit = [Path(pyspark.__file__).parent / "bin" / "spark-submit", "--master", cluster, "submit.py"]
    words = ["lab", "count", "lines.txt", "--out"]
    environment = {**os.environ, "PYSPARK_PYTHON": sys.executable, "PYSPARK_DRIVER_PYTHON": sys.executable}
    for out in ("counts", f"file://{tmp_path}/at-a-url"):
        done = run(
            [*submit, *words, out, "--engine", "spark"], cwd=tmp_path, env=environment, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        assert f"on {cluster}, " in done.stdout  # where spark-submit sends both streams of a program
    here = run([sys.executable, "-m", "grater", *words, "here"], cwd=tmp_path, env=environment)
    assert here.returncode == 0
    expected = {path.name: path.read_bytes() for path in (tmp_path / "here").iterdir()}
    for out in ("counts", "at-a-url"):
        assert {path.name: path.read_bytes() for path in (tmp_path / out).iterdir()} == expected


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


def test_an_error_of_the_input_is_reported_once_and_as_it_is(tmp_path: Path, spark: SparkEngine) -> None:
    with pytest.raises(GraterError, match=r"^essays\.txt:2: expected something else$"):
        list(spark.run([Refused(tmp_path / "log")]))
    assert (tmp_path / "log").read_text(encoding="utf-8") == "tried\n"
