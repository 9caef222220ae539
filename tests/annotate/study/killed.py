"""One step of a study in a process of its own, which may be killed on the way.

`kill` is `before:N` or `after:N` (SIGKILL at the N-th COMMIT), `written:N` (at the N-th file that a report leaves) or
`never`.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

from grater import files
from grater.annotate.importing import import_files
from grater.annotate.reporting import study_inputs
from grater.annotate.samples import NewSample, draw
from grater.annotate.store import Store, open_store
from grater.annotate.store.database import Moment
from grater.annotate.systems import decide
from grater.detect.systems import load_system
from grater.reporting import save
from grater.reporting.build import build

STEPS = ("import", "decide", "sample", "judge", "report")


def step(store: Store, folder: Path, name: str) -> None:
    """What the commands of the study do."""
    if name == "import":
        import_files(store, corpora=[folder / "essays.jsonl"])
    elif name == "decide":
        systems = [f"{name}=edits:{folder / name}.jsonl" for name in ("careful", "eager")]
        decide(store, [load_system(system) for system in systems])
    elif name == "sample":
        draw(store, NewSample(system="eager", n=8))
    elif name == "judge":
        import_files(store, judgments=[folder / "crowd.csv"], job="crowd")
    else:
        _report(store, folder / "report")


def _report(store: Store, folder: Path) -> None:
    with store.read() as tx:
        report = build(study_inputs(tx))
    save.save_report(report, folder, file_types=("svg",))


def die_at(number: int) -> Callable[[], None]:
    counter = count(1)

    def tick() -> None:
        if next(counter) == number:
            os.kill(os.getpid(), signal.SIGKILL)

    return tick


def run_step(location: Path, folder: Path, name: str, kill: str) -> None:
    moment, _, number = kill.partition(":")
    tick = die_at(int(number or 0))

    def plug(now: Moment) -> None:
        if now == moment:
            tick()

    if moment == "written":
        _watch_writing(tick)
    with open_store(location, around_commit=plug) as store:
        step(store, folder, name)


def _watch_writing(tick: Callable[[], None]) -> None:
    """Die in the middle of writing a file: when its contents are there and its name is not yet."""
    real = files.replacing

    @contextmanager
    def replacing(path: Path) -> Iterator[Any]:
        with real(path) as stream:
            yield stream
            tick()

    vars(save)["replacing"] = replacing
