"""Decisions of systems on a whole corpus: shard by shard, or at once for an external system."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grater.corpora import format_for, note_left_out, read_corpus, with_documents
from grater.corpora.source import ignore_progress
from grater.detect.decisions import EDITS, DecisionRows, EditAccount, on_edits, read_item_places, summary
from grater.detect.external import ExternalDetector
from grater.detect.external.chat import Chatted
from grater.detect.systems import at_precision, load_systems
from grater.errors import UsageError
from grater.model import Essay
from grater.model import Json as JsonValue
from grater.progress import NOTES, reading
from grater.scale.corpus import shards_of, temporary_folder
from grater.scale.engines import Engine
from grater.scale.jobs import run_job
from grater.scale.passes import DECISIONS, ITEMS, DecideJob, summary_of
from grater.scale.shards import is_cut, read_shards
from grater.sheet import counted
from grater.tables import write_joined, write_table


@dataclass(frozen=True, slots=True)
class Corpus:
    """A corpus on disk, perhaps cut into shards; `documents` is a file that names those of its sentences."""

    path: Path
    format_name: str | None = None
    documents: Path | None = None

    def essays(self, advance: Callable[[int], None] = ignore_progress) -> Iterable[Essay]:
        if is_cut(self.path):
            return (each.essay for shard in read_shards(self.path) for each in shard.read())
        read = read_corpus(self.path, format_name=self.format_name, advance=advance)
        return with_documents(read, self.documents) if self.documents else read


def decided_in_shards(
    job: DecideJob, corpus: Corpus, targets: Mapping[str, Path], engine: Engine
) -> list[dict[str, JsonValue]]:
    """Run our own systems shard by shard: into folders, or into files that are written as the shards are done."""
    out, title = targets[DECISIONS], f"reading {corpus.path}"
    cut = shards_of([corpus.path], title, out=out, format_name=corpus.format_name, documents=corpus.documents)
    with cut as (shards, done):
        if not out.suffix:
            return summary_of(run_job(job, shards, targets, engine, done=done)[DECISIONS])
        with temporary_folder(out) as folder:
            folders = {table: folder / table for table in targets}
            results = run_job(job, shards, folders, engine, done=done)
            for table, path in targets.items():
                write_joined(results[table].paths, job.tables[table], path)
    if not is_cut(corpus.path):
        note_left_out([corpus.path], corpus.format_name)
    return summary_of(results[DECISIONS])


def decided_at_once(
    job: DecideJob,
    corpus: Corpus,
    targets: Mapping[str, Path],
    places: Path | None,
    correcting: Mapping[str, Any],
) -> tuple[list[dict[str, JsonValue]], dict[str, EditAccount]]:
    """Run systems, some of them external, each on the whole corpus."""
    asked = read_item_places(places) if places and str(places) != EDITS else None
    by_essay = asked.by_essay if asked else None
    detectors = at_precision(load_systems(job.systems, places=by_essay, chat=correcting), job.precision)
    correctors = {each.name: each.corrector for each in detectors if isinstance(each, ExternalDetector)}
    if places and not asked:
        detectors = on_edits(detectors, corpus.essays())
    rows = DecisionRows(
        with_places=not job.items,
        names=asked.names if asked else {},
        with_answers=job.with_answers,
        with_documents=job.documents,
    )
    n_passes = format_for(corpus.path, corpus.format_name).n_passes * len(detectors)
    with reading(f"reading {corpus.path}", corpus.path, n_passes=n_passes) as advance:
        for detector in detectors:
            rows.add(corpus.essays(advance), detector)
    note_left_out([corpus.path], corpus.format_name)
    decisions = rows.decisions()
    if places and asked:
        n_missing = len(asked.names) - decisions["item"].n_unique()
        message = f"{places}: {counted(n_missing, 'item')} in essays that {corpus.path} does not have"
        if n_missing == len(asked.names):  # it is another corpus
            raise UsageError(message)
        if n_missing:
            NOTES.info(message)
    write_table(decisions, targets[DECISIONS])
    if job.items:
        write_table(rows.items(), targets[ITEMS])
    systems: list[dict[str, JsonValue]] = [dict(counts) for counts in summary(decisions)]
    for counts in systems:
        if account := rows.edits.get(str(counts["system"])):
            counts["edits"] = account.to_dict()
        if isinstance(model := correctors.get(str(counts["system"])), Chatted):
            counts["chat"] = model.used
    return systems, rows.edits
