"""Archives of every version so far can still be imported, and say what they said."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from grater.evaluate.detectors import evaluate
from grater.store import checks, decisions, essays, jobs, samples
from grater.study.archive import import_archive
from grater.study.tables import study_tables

ARCHIVES = sorted(
    path for path in (Path(__file__).parent / "archives").iterdir() if (path / "manifest.json").exists()
)


def test_there_is_an_archive_to_import() -> None:
    assert ARCHIVES


@pytest.mark.parametrize("folder", ARCHIVES, ids=lambda folder: folder.name)
def test_an_archive_of_an_earlier_version_is_a_study_of_this_one(folder: Path, tmp_path: Path) -> None:
    counts = json.loads((folder / "manifest.json").read_text("utf-8"))["counts"]
    with import_archive(folder, tmp_path / "study.db") as store, store.read() as tx:
        assert checks.violations(tx) == []
        assert essays.count(tx) == counts["essays"] == 3
        assert decisions.names(tx) == ["careful", "eager"]
        assert [job.name for job in jobs.all(tx)] == ["crowd", "expert", "marking"]
        assert len(samples.named(tx, "sample")) == 8
        tables = study_tables(tx, "study")
    assert tables.judgments is not None
    assert tables.experts is not None
    assert tables.decisions is not None
    assert (len(tables.judgments), len(tables.experts)) == (33, 22)
    # of eleven prepositions, in the order of their ids, every third is an error: four
    [careful, _] = evaluate(tables.decisions, tables.judgments).whole.standard
    assert careful.counts.hit + careful.counts.miss == 4
