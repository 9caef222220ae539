"""`grater lab mine --study`: the essays of a study mined, and the balanced corpus as one of its jobs."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from grater.annotate import jobs
from grater.annotate.adjudication import decider_of
from grater.annotate.mining import (
    NewBalanced,
    NewList,
    add_list,
    balanced_job,
    far,
    lists,
    mine_study,
    the_list,
    verdict_table,
)
from grater.annotate.store import open_store
from grater.cli.command import Done
from grater.cli.study import pasted
from grater.detect.mining.review import TrigramCounter
from grater.sheet import counted
from grater.tables import read_items, write_table


def mine_study_of(
    study: str,
    name: str,
    count: TrigramCounter,
    counting: Mapping[str, Any],
    *,
    most: int,
    given: Path | None,
    decider: str | None,
    out: Path | None,
) -> Done:
    """A list of suspects in a study, mined or given; the same step again changes nothing."""
    with open_store(study) as store:
        with store.read() as tx:
            is_there = any(job.name == name for job in lists(tx))
        if given:
            add_list(store, name, read_items(given), lambda tx: decider_of(tx, decider))
        elif not is_there:
            mine_study(store, NewList.checked(name=name, most=most), count, **counting)
        with store.read() as tx:
            job = the_list(tx, jobs.named(tx, name).job_id)
            counts = far(tx, job.job_id)
            if out:
                write_table(verdict_table(tx, job.job_id), out)
    messages = [f"{job.name}: {counted(counts.all, 'trigram')}: {counts.words}"]
    if counts.open:
        messages.append(f"  go through them with grater serve {pasted(study)}, on the page /mining/{job.job_id}")
    return Done({"list": job.name, "job_id": job.job_id, **counts.to_dict()}, messages)


def balanced_job_of(study: str, name: str, count: TrigramCounter, wanted: Mapping[str, Any]) -> Done:
    """The balanced corpus of a list as a new job."""
    sent = NewBalanced.checked(**wanted)
    with open_store(study) as store:
        with store.read() as tx:
            listed = the_list(tx, jobs.named(tx, name).job_id)
        job, made = balanced_job(store, listed.job_id, sent, count)
    opening = f"  open it: grater job open {pasted(study)} {shlex.quote(job.name)}"
    return Done({"job": job.name, **made.to_dict()}, ["\n  ".join(made.lines(job.name)), opening])
