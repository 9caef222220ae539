"""Every step of the walk survives SIGKILL at any point and can be run again: the study ends up the same."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from grater.annotate import content, samples
from grater.annotate.status import new_study
from grater.annotate.store import Store, checks, open_store
from grater.annotate.tables import decision_columns, study_tables
from tests.annotate.store.worlds import read
from tests.annotate.study.files import write_essays
from tests.annotate.study.killed import STEPS, run_step, step
from tests.annotate.study.systems import write_systems, write_verdicts
from tests.processes import PROCESSES


def kills(seed: int) -> dict[str, str]:
    """Where each step is killed; a step with a single commit dies before or after it."""
    rng = random.Random(seed)
    found = {name: f"{rng.choice(['before', 'after'])}:{rng.choice([1, 2])}" for name in STEPS}
    return {**found, "report": f"written:{rng.randint(1, 9)}"}


def run(location: Path, folder: Path, name: str, kill: str) -> int | None:
    process = PROCESSES.Process(target=run_step, args=(location, folder, name, kill))
    process.start()
    process.join(600)
    return process.exitcode


def state(store: Store) -> dict[str, object]:
    """What the study says, but for ids that are made anew and the time."""
    with store.read() as tx:
        tables = study_tables(tx, "study")
        judged = tables.judgments
        return {
            "essays": content.n_essays(tx),
            "decisions": decision_columns(tx).rows(),
            "systems": content.system_names(tx),
            "samples": {name: samples.named(tx, name).frame.rows() for name in samples.names(tx)},
            "judgments": judged.frame.select("item", "label").sort("item", "label").rows() if judged else [],
            "violations": checks.violations(tx),
        }


def files_of(folder: Path) -> list[str]:
    """The files of a report, whatever its raters are called; one that was cut short has a name with a dot."""
    names = (path.name for path in folder.rglob("*.*") if not path.name.startswith("."))
    return sorted(re.sub(r"rater-[0-9a-f]+", "rater", name) for name in names)


def walk(folder: Path, kills: Mapping[str, str]) -> dict[str, object]:
    """What a study is after all its steps, each of which may have been killed on the way and was begun again."""
    write_essays(folder)
    write_systems(folder)
    location, statuses = folder / "study.db", []
    new_study(location).close()
    for name in STEPS:
        with open_store(location) as store:
            if name == "judge":
                items = read(store, decision_columns, ["prep"])["item"].unique().sort().to_list()
                write_verdicts(folder / "crowd.csv", items)
        if name in kills:
            statuses.append(run(location, folder, name, kills[name]))
        with open_store(location) as store:
            assert read(store, checks.violations) == [], name
            step(store, folder, name)
    assert not kills or -9 in statuses, "no step was killed, so nothing was tried"
    with open_store(location) as store:
        return {**state(store), "files": files_of(folder / "report")}


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, object]:
    return walk(tmp_path_factory.mktemp("undisturbed"), {})


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_a_study_killed_at_every_step_ends_as_if_nothing_had_happened(
    tmp_path: Path, undisturbed: dict[str, object], seed: int
) -> None:
    assert walk(tmp_path, kills(seed)) == undisturbed
