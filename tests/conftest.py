"""What is dear and made once for all tests, and the order in which files of tests are handed out."""

from __future__ import annotations

import gc
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from _pytest.terminal import TerminalReporter
from hypothesis import settings
from hypothesis.internal.conjecture import providers

import grater.annotate.store.database
from tests.annotate.store.compiled import create_sharing_engine
from tests.examples import DEFAULT
from tests.folders import in_memory, made_once

LONGEST = (
    "test_docs.py",
    "browser/test_accessibility.py",
    "annotate/web/test_serving.py",
    "annotate/study/test_lives.py",
    "annotate/study/test_importing_killed.py",
    "browser/test_manager_keyboard.py",
    "annotate/web/test_systems.py",
    "annotate/study/test_archive_backup.py",
    "annotate/study/test_export.py",
    "test_three_doors.py",
    "annotate/web/test_work_adversary.py",
    "annotate/store/test_gold_schedule.py",
    "annotate/store/test_killed.py",
    "test_api.py",
    "cli/test_demo.py",
)
"""Files that take longest for one worker come first, so that none of them is left at the end, with idle workers.

The first makes the demo, which takes it a minute: who needs it, too, comes last of these, so as not to wait for it.
All others keep the order of their folders: fixtures of a folder, a browser above all, are then made once per worker.
"""


settings.register_profile("grater", DEFAULT)
settings.load_profile("grater")

# Hypothesis tries constants of our own modules that are imported by then: examples would depend on the tests that ran
# before, though they are to be always the same, and every worker would read a thousand files for them.
providers._get_local_constants = lambda: providers._local_constants

for name in ("OPENBLAS_NUM_THREADS", "POLARS_MAX_THREADS"):
    os.environ.setdefault(name, "1")  # before numpy and polars come: threads of several workers would only spin

MEMORY = in_memory()
if MEMORY and shutil.disk_usage(MEMORY).free > 4 * 2**30:
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", MEMORY)  # a study on a disk waits for it at every commit

vars(grater.annotate.store.database)["create_engine"] = create_sharing_engine  # a study is opened by every other test

gc.disable()  # while ten thousand tests are imported nothing becomes garbage


def pytest_collection_finish() -> None:
    """What collecting has made stays until the end: the collector need not look through it again and again."""
    gc.freeze()
    gc.enable()
    gc.set_threshold(20_000, 20, 20)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    places = {Path(__file__).parent / name: place for place, name in enumerate(LONGEST)}
    items.sort(key=lambda item: places.get(item.path, len(LONGEST)))


def pytest_terminal_summary(terminalreporter: TerminalReporter) -> None:
    """What long tests measured, recorded by `record_property("figures", line)`, from every worker."""
    lines = [
        f"{report.nodeid}\n  {line}"
        for outcome in ("passed", "failed")
        for report in terminalreporter.stats.get(outcome, [])
        for name, line in report.user_properties
        if name == "figures" and report.when == "call"  # properties come with each phase, and are complete after it
    ]
    if lines:
        terminalreporter.section("figures")
        terminalreporter.write_line("\n".join(lines))


@dataclass(frozen=True, slots=True)
class Demo:
    """What `grater demo` left behind and said; read it, or copy it and change the copy."""

    folder: Path
    out: str
    err: str

    def copy_to(self, folder: Path) -> None:
        """All but what SQLite keeps beside a study only while somebody, perhaps another test, reads it."""
        shutil.copytree(self.folder, folder, ignore=shutil.ignore_patterns("*.db-wal", "*.db-shm"))


@pytest.fixture(scope="session")
def run_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that all workers of a run share."""
    base = tmp_path_factory.getbasetemp()
    return base.parent if "PYTEST_XDIST_WORKER" in os.environ else base


@pytest.fixture(scope="session")
def demo(run_folder: Path) -> Demo:
    """One demo for all tests of a run."""
    err = made_once(run_folder / "demo.err", lambda: _make_demo(run_folder))
    return Demo(run_folder / "demo", (run_folder / "demo.out").read_text("utf-8"), err.read_text("utf-8"))


@pytest.fixture(scope="session")
def tiny_model(run_folder: Path) -> Path:
    """One small model of prepositions for all tests that need a file of one; read it and do not write it."""
    return made_once(run_folder / "tiny.model", lambda: _make_tiny_model(run_folder / "tiny.model"))


def _make_tiny_model(path: Path) -> None:
    """Training is imported where a model is made: most files of tests need none."""
    from grater.detect.prepositions.engines import save_linear
    from tests.detect.prepositions.tiny import tiny_engine

    save_linear(tiny_engine(), path)


def _make_demo(home: Path) -> None:
    program = Path(sys.executable).parent / "grater"
    shutil.rmtree(home / "demo", ignore_errors=True)
    done = subprocess.run(
        [program, "demo", "--out", home / "demo", "--figures", "svg"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    (home / "demo.out").write_text(done.stdout, "utf-8")
    (home / "demo.err").write_text(done.stderr, "utf-8")
