"""What jobs and samples may be called."""

from __future__ import annotations

from pathlib import Path

import pytest

from grater.annotate import content
from grater.annotate.plans import NewJob, add_job
from grater.annotate.requests import require_name
from grater.annotate.store import open_store
from grater.errors import UsageError
from grater.model import Essay


@pytest.mark.parametrize("name", ["a", "Käthe's first <job>", "😀", "x" * 80])
def test_names_that_people_give(name: str) -> None:
    assert NewJob.checked(name=name, task="marking").name == name


@pytest.mark.parametrize("name", [" ", "a\nb", "a\0b", "\u202eevil", "x" * 81])
def test_a_job_cannot_be_called_what_nobody_can_see(name: str) -> None:
    with pytest.raises(UsageError, match="expected"):
        NewJob.checked(name=name, task="marking")


def test_a_job_without_a_name_is_called_by_its_task(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="name: expected 1 to 80 printable characters, found ''"):
        require_name("")
    with open_store(tmp_path / "study.db", create=True) as store:
        with store.write() as tx:
            content.add_essays(tx, [Essay("one", "We waited.")])
        assert [add_job(store, NewJob(name="", task="marking")).name for _ in range(2)] == ["marking", "marking-2"]
