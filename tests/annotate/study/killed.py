"""One step of a study in a process of its own, which may be killed on the way.

`kill` is `before:N` or `after:N` (SIGKILL at the N-th COMMIT), `written:N` (at the N-th file of a report) or `never`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from grater import files
from grater.annotate.importing import import_files
from grater.annotate.reporting import study_inputs
from grater.annotate.samples import NewSample, draw
from grater.annotate.store import Store, open_store
from grater.annotate.systems import decide
from grater.detect.systems import load_system
from grater.reporting import save
from grater.reporting.build import build
from tests.annotate.store.killed import dying
from tests.annotate.store.worlds import read
from tests.annotate.study.systems import FLAGS

STEPS = ("import", "decide", "sample", "judge", "report")


def step(store: Store, folder: Path, name: str) -> None:
    """What the commands of the study do."""
    if name == "import":
        import_files(store, corpora=[folder / "essays.jsonl"])
    elif name == "decide":
        decide(store, [load_system(f"{system}=edits:{folder / system}.jsonl") for system in FLAGS])
    elif name == "sample":
        draw(store, NewSample(system="eager", n=8))
    elif name == "judge":
        import_files(store, judgments=[folder / "crowd.csv"], job="crowd")
    else:
        report = build(read(store, study_inputs))
        save.save_report(report, folder / "report", file_types=("svg",))


def run_step(location: Path, folder: Path, name: str, kill: str) -> None:
    tell = dying(kill)

    @contextmanager
    def replacing(path: Path) -> Iterator[Any]:
        """Die in the middle of writing a file: when its contents are there and its name is not yet."""
        with files.replacing(path) as stream:
            yield stream
            tell("written")

    vars(save)["replacing"] = replacing
    with open_store(location, around_commit=tell) as store:
        step(store, folder, name)
