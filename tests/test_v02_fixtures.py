"""Studies that version 0.2 wrote (a SQLite file, a PostgreSQL dump, an archive) still open and say the same.

Each has a sample, suspended gold, a panel and open jobs: what 0.2's `tests/server/test_calls_walk.py` leaves behind,
where programs use every call of the API.  Whoever changes the tables of a study opens these here, by the commands
that a person would type.
"""

from __future__ import annotations

import gzip
import json
import lzma
import os
import subprocess
import zipfile
from pathlib import Path
from typing import Any

import pytest

from tests.annotate.store.conftest import cluster
from tests.annotate.store.postgres import FOLDER, new_database
from tests.cli.running import Capture, grater

__all__ = ["cluster"]

V02 = Path(__file__).parent / "fixtures" / "v02"
FACTS: dict[str, Any] = json.loads((V02 / "facts.json").read_text("utf-8"))


@pytest.fixture(params=["sqlite", "archive", "postgresql"])
def study(request: pytest.FixtureRequest, tmp_path: Path, capsys: Capture) -> tuple[str, dict[str, Any]]:
    """Where the study is now, and what 0.2 said of it."""
    path = tmp_path / "study.db"
    if request.param == "sqlite":
        path.write_bytes(lzma.decompress((V02 / "study.db.xz").read_bytes()))
        return str(path), FACTS["sqlite"]
    if request.param == "archive":
        assert grater(capsys, "study", "restore", V02 / "archive.zip", path).status == 0
        facts = FACTS["sqlite"]
        return str(path), {**facts, "status": {**facts["status"], "invited": 0}}  # invitations do not travel
    url = new_database(request.getfixturevalue("cluster"))
    psql = sorted(FOLDER.glob("*/bin/psql"))[-1]
    dump = gzip.decompress((V02 / "study.sql.gz").read_bytes())
    loading = [str(psql), "--quiet", "--set", "ON_ERROR_STOP=1", url]
    subprocess.run(loading, input=dump, stdout=subprocess.DEVNULL, env={**os.environ, "PGOPTIONS": ""}, check=True)
    return url, FACTS["postgresql"]


def test_a_study_of_0_2_says_the_same(study: tuple[str, dict[str, Any]], tmp_path: Path, capsys: Capture) -> None:
    place, facts = study
    for command in ("check", "status", "evaluate"):
        now = "verify" if command == "check" else command  # 0.2 called it check
        ran = grater(capsys, "study", now, place, "--json")
        assert ran.status == 0, ran.err
        result = json.loads(ran.out)
        if command == "evaluate":
            assert scores(result) == scores(facts[command])
        else:
            assert without_place(result) == without_place(facts[command]), command
    assert grater(capsys, "study", "export", place, tmp_path / "export").status == 0
    manifest = json.loads((tmp_path / "export" / "manifest.json").read_text("utf-8"))
    assert manifest["counts"] == facts["manifest"]["counts"]
    changed = [name for name, each in facts["manifest"]["files"].items() if manifest["files"].get(name) != each]
    # columns `group` of adjudications and `document` of items; intervals; costs as pages show them; new keys of
    # protocols; the pools of gold
    texts = ["adjudications.csv", "agreement.json", "costs.json", "items.csv", "protocol.json"]
    assert changed == [*texts, "tables/gold.jsonl"]


def test_the_archive_has_a_sample_suspended_gold_a_panel_and_an_open_job() -> None:
    with zipfile.ZipFile(V02 / "archive.zip") as pack:
        rows = {
            name: [json.loads(line) for line in pack.read(f"tables/{name}.jsonl").decode("utf-8").splitlines()]
            for name in ("samples", "sample_items", "gold", "panels", "panel_places", "jobs")
        }
    assert all(rows.values())
    assert "suspended" in {row["state"] for row in rows["gold"]}
    assert "open" in {row["state"] for row in rows["jobs"]}


def scores(result: Any) -> Any:
    """The scores themselves; their intervals are by the engine of 0.3."""
    names = ("precision", "recall", "f0.5", "f1", "kappa", "error_rate")
    return [{name: each[name]["value"] for name in names} | each["counts"] for each in result["systems"]]


def without_place(result: Any) -> Any:
    """Without the next step, which names the file or database itself, and what jobs lack in gold, new in 0.3."""
    if isinstance(result, dict) and "jobs" in result:
        jobs = [{key: value for key, value in job.items() if key != "warnings"} for job in result["jobs"]]
        return {key: value for key, value in result.items() if key != "next"} | {"jobs": jobs}
    return result
