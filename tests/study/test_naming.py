"""A report calls raters by pseudonym, or by name where that was asked for."""

from __future__ import annotations

from pathlib import Path

import pytest

from grater.evaluate.draws import Chance
from grater.store import Store
from grater.study.importing import import_files
from grater.study.reporting import study_report
from tests.study.files import write_essays, write_items, write_text


@pytest.fixture
def judged(store: Store, tmp_path: Path) -> Store:
    rows = [
        f"{item},{rater},{label}" for item in ("one", "two") for rater, label in (("Ann", "error"), ("Bob", "ok"))
    ]
    table = write_text(tmp_path / "j.csv", "item,rater,label", *rows)
    import_files(store, corpora=[write_essays(tmp_path)], items=[write_items(tmp_path)], judgments=[table])
    return store


def raters(store: Store, *, names: bool) -> set[str]:
    with store.read() as tx:
        report = study_report(tx, chance=Chance(n_resamples=20), names=names)
    [table] = [sheet for sheet in report.sheets if sheet.name == "raters"]
    return {row[0] for row in table.rows}


def test_raters_go_by_pseudonyms_unless_names_were_asked_for(judged: Store) -> None:
    assert raters(judged, names=True) == {"Ann", "Bob"}
    assert raters(judged, names=False).isdisjoint({"Ann", "Bob"})
