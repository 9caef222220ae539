"""Corpus statistics and checks, shard by shard.

The statistics of a shard are rows that add up (`grater.corpora.statistics`): a document that goes on in the next
shard is added up by its name, and intervals come from the same blocks of documents, so every number is the same as in
one pass.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, field
from pathlib import Path

import polars as pl

from grater.corpora.statistics.counts import Counting, TallyRow
from grater.corpora.statistics.study import CorpusTally
from grater.model import Json
from grater.scale.engines import Engine
from grater.scale.jobs import Done, JobTable, Partial, added_up, ignore_done, run_job
from grater.scale.shards import ShardEssay, ShardSource

TALLY = "tally"
ROW: dict[str, type[pl.DataType]] = {
    "what": pl.String,
    "n": pl.Int64,
    "part": pl.String,
    "value": pl.String,
    "number": pl.Int64,
    "key": pl.String,
    "reader": pl.String,
}


@dataclass(frozen=True, slots=True)
class StatisticsJob:
    """The counts of the corpus study, by the values of a metadata field where one is named."""

    by: str | None = None
    counting: Counting = field(default_factory=Counting)
    name: str = "statistics"
    version: int = 1

    @property
    def options(self) -> Mapping[str, Json]:
        merge, split = self.counting.merge_alternatives, self.counting.split_tags
        return {"by": self.by, "merge_alternatives": merge, "split_tags": split}

    @property
    def tables(self) -> Mapping[str, JobTable]:
        return {TALLY: JobTable(ROW, "sum")}

    def partial(self, essays: Sequence[ShardEssay]) -> Partial:
        tally = CorpusTally.of("", (each.essay for each in essays), self.by, self.counting)
        rows = pl.DataFrame([astuple(row) for row in tally.rows()], schema=ROW, orient="row")
        return Partial(tables={TALLY: added_up([rows], ROW)})


def counted_corpus(
    job: StatisticsJob, name: str, shards: ShardSource, folder: Path, engine: Engine, *, done: Done = ignore_done
) -> CorpusTally:
    """The tally of a corpus; what a shard gives is kept in a folder until all are there."""
    parts = run_job(job, shards, {TALLY: folder}, engine, done=done)[TALLY]
    return CorpusTally.from_rows(name, job.by, _rows(added_up(parts.frames(), ROW)))


def _rows(frame: pl.DataFrame) -> Iterator[TallyRow]:
    return (TallyRow(**row) for row in frame.iter_rows(named=True))
