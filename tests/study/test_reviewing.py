"""Odd marks go back to their annotator, once."""

from __future__ import annotations

from pathlib import Path

import pytest

from grater.errors import NotFound, UsageError
from grater.store import Store, findings, people
from grater.study.importing import import_files
from grater.study.planning import JobPlan, add_job
from grater.study.reviewing import review
from tests.study.files import write_essays
from tests.study.test_export import work


def test_a_correction_that_changes_nothing_comes_back_to_its_annotator(store: Store, tmp_path: Path) -> None:
    import_files(store, corpora=[write_essays(tmp_path)])
    add_job(store, JobPlan("marks", "marking", essay_ids=("e0",)))
    add_job(store, JobPlan("errors", "error"))
    with store.write() as tx:
        ann, bob = (people.add(tx, name=name, role="annotator").person_id for name in ("Ann", "Bob"))
    assert work(store, "marks", ann, edits=ODD)
    assert [review(store, "marks") for _ in range(2)] == [1, 0]
    with store.write() as tx:
        (found,) = findings.open_of(tx, ann)
        assert found.rule == "equals-text"
        assert findings.open_of(tx, bob) == []
        findings.settle(tx, found.finding_id, "kept", person_id=ann)
        assert findings.open_of(tx, ann) == []
    with pytest.raises(NotFound), store.write() as tx:
        findings.settle(tx, found.finding_id, "mended", person_id=bob)
    with pytest.raises(UsageError, match="only marked essays"):
        review(store, "errors")


ODD = '[{"start": 0, "end": 2, "quote": "We", "tag": "Pform", "replacements": ["We"], "comment": ""}]'
