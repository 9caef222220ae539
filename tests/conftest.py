"""What is dear and made once for all tests, and the order in which files of tests are handed out."""

from __future__ import annotations

import fcntl
import gc
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from _pytest.terminal import TerminalReporter
from hypothesis import HealthCheck, settings

LONGEST = (
    "test_docs.py",
    "cli/test_demo.py",
    "test_three_doors.py",
    "server/test_crowd_simulation.py",
    "store/test_histories.py",
    "store/test_killed.py",
    "test_library.py",
)
"""Files that take longest for one worker come first, so that none of them is left at the end, with idle workers.

All others keep the order of their folders: fixtures of a folder, a browser above all, are then made once per worker.
"""


settings.register_profile("busy", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("busy")  # on a busy machine an example may take long for reasons of its own

gc.disable()  # while ten thousand tests are imported nothing becomes garbage


def pytest_collection_finish() -> None:
    """What collecting has made stays until the end: the collector need not look through it again and again."""
    gc.freeze()
    gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    places = {Path(__file__).parent / name: place for place, name in enumerate(LONGEST)}
    items.sort(key=lambda item: places.get(item.path, len(LONGEST)))


def pytest_terminal_summary(terminalreporter: TerminalReporter) -> None:
    """What long tests measured, recorded by `record_property("figures", line)`, from every worker."""
    reports = [report for name in ("passed", "failed") for report in terminalreporter.stats.get(name, [])]
    lines = [f"{report.nodeid}\n  {line}" for report in reports for line in figures_of(report)]
    if lines:
        terminalreporter.section("figures")
        terminalreporter.write_line("\n".join(lines))


def figures_of(report: pytest.TestReport) -> list[str]:
    """Properties come with each phase of a test; they are complete after its call."""
    return [str(value) for name, value in report.user_properties if name == "figures" and report.when == "call"]


@dataclass(frozen=True, slots=True)
class Demo:
    """What `grater demo` left behind and said; read it, or copy it and change the copy."""

    folder: Path
    out: str
    err: str


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Demo:
    """One demo for all tests of a run: the first worker that needs it makes it, the others wait."""
    base = tmp_path_factory.getbasetemp()
    home = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    with (home / "demo.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (home / "demo.err").exists():
            _make_demo(home)
    return Demo(home / "demo", (home / "demo.out").read_text("utf-8"), (home / "demo.err").read_text("utf-8"))


def _make_demo(home: Path) -> None:
    program = Path(sys.executable).parent / "grater"
    shutil.rmtree(home / "demo", ignore_errors=True)
    done = subprocess.run(
        [program, "demo", "--out", home / "demo", "--resamples", "20", "--figures", "svg"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    (home / "demo.out").write_text(done.stdout, "utf-8")
    (home / "demo.err").write_text(done.stderr, "utf-8")
