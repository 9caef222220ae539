"""Write the archive of this version: `python -m tests.annotate.study.archives`, once, when a version is released.

The study is that of the walk: three essays, two systems, a sample, experts and a crowd, a job that is open.
"""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from pathlib import Path

from grater import __version__
from grater.annotate.archive import export
from grater.annotate.importing import import_files
from grater.annotate.samples import NewSample, draw, start
from grater.annotate.status import new_study
from grater.annotate.systems import decide
from grater.annotate.tables import decision_columns
from grater.detect.systems import load_system
from tests.annotate.study.files import write_essays
from tests.annotate.study.systems import write_systems, write_verdicts


def main() -> None:
    target = Path(__file__).parent / __version__
    with tempfile.TemporaryDirectory() as name, contextlib.chdir(name):
        folder = Path()  # relative, so that the archive does not say where it was made
        with new_study(folder / "study.db", name="An archive", clock=lambda: 1_767_225_600_000) as store:
            import_files(store, corpora=[write_essays(folder)])
            decide(store, [load_system(system) for system in write_systems(folder)])
            draw(store, NewSample(system="eager", n=8))
            with store.read() as tx:
                items = decision_columns(tx, ["prep"])["item"].unique().sort().to_list()
            for group, n_raters in (("crowd", 3), ("expert", 2)):
                file = write_verdicts(folder / f"{group}.csv", items, n_raters=n_raters, group=group)
                import_files(store, judgments=[file], job=group)
            start(store, "marking", annotators=["expert0", "expert1"])
            export(store, folder / "archive")
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(folder / "archive", target)


if __name__ == "__main__":
    main()
