"""Training events of preposition detectors, made shard by shard (`grater.detect.prepositions.training`).

An event's row is in words, not numbers, so that the rows of any shards can be put together; which gaps are events is
drawn from the seed, the line and the token's place.  The same line is used once.  Held-out lines are kept beside the
events, those with the smallest hashes first.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np
import polars as pl

from grater.detect.learning.events import HELD_OUT, Batch, Events, fold_of
from grater.detect.prepositions.features import FIELDS, N_WORDS
from grater.detect.prepositions.training import GAP_RATE, LINES_AT_ONCE, batch_of, gathered
from grater.errors import BadInput, Problem
from grater.model import Json
from grater.scale.counting import HELD, LINES, held_out_lines, held_out_table, keep_held_out
from grater.scale.engines import Engine
from grater.scale.jobs import Done, JobTable, Partial, ignore_done, run_job
from grater.scale.parts import HELD_OUT_FILE, PARTIAL, Parts
from grater.scale.shards import ShardEssay, ShardSource
from grater.text.tags import load_tagger

EVENTS = "events"
EVENT: dict[str, type[pl.DataType]] = {
    **dict.fromkeys(FIELDS[:N_WORDS], pl.String),
    **dict.fromkeys(FIELDS[N_WORDS:], pl.Int32),
    "label": pl.Int8,
    "fold": pl.Int8,
}


@dataclass(frozen=True, slots=True)
class EventsJob:
    """Every preposition is an event, and of the gaps a share."""

    gap_rate: float = GAP_RATE
    seed: int = 0
    name: str = EVENTS
    version: int = 1

    @property
    def options(self) -> Mapping[str, Json]:
        return {"gap_rate": self.gap_rate, "seed": self.seed, "tagger": load_tagger().card.get("hash")}

    @property
    def tables(self) -> Mapping[str, JobTable]:
        return {EVENTS: JobTable(EVENT), HELD: JobTable(LINES)}

    def partial(self, essays: Sequence[ShardEssay]) -> Partial:
        texts = (each.essay.text.strip() for each in essays if not each.is_repeat)
        lines = [text for text in texts if text]
        batches = (batch_of(group, gap_rate=self.gap_rate, seed=self.seed) for group in _groups(lines))
        frames = [pl.DataFrame(schema=EVENT), *map(_frame_of, batches)]
        held = held_out_table(line for line in lines if fold_of(line) < HELD_OUT)
        return Partial(tables={EVENTS: pl.concat(frames), HELD: held}, totals={"lines": len(lines)})


def _groups(lines: Iterable[str]) -> Iterator[list[str]]:
    waiting = iter(lines)
    while group := list(islice(waiting, LINES_AT_ONCE)):
        yield group


def _frame_of(batch: Batch) -> pl.DataFrame:
    words = pl.Series([None, *batch.words], dtype=pl.String)  # 0 is no word
    columns = {name: words.gather(batch.rows[:, column]) for column, name in enumerate(FIELDS[:N_WORDS])}
    numbers = {name: batch.rows[:, column] for column, name in enumerate(FIELDS) if column >= N_WORDS}
    return pl.DataFrame({**columns, **numbers, "label": batch.labels, "fold": batch.folds}, schema=EVENT)


def _batch_of(frame: pl.DataFrame) -> Batch:
    in_words = frame.select(FIELDS[:N_WORDS])
    words = pl.concat([column.rename("word") for column in in_words]).drop_nulls().unique().sort()
    numbered = in_words.cast(pl.Enum(words)).select((pl.all().to_physical().cast(pl.Int32) + 1).fill_null(0))
    rows = pl.concat([numbered, frame.select(FIELDS[N_WORDS:])], how="horizontal").to_numpy().astype(np.int32)
    labels, folds = (frame[name].to_numpy() for name in ("label", "fold"))
    return Batch(rows=rows, labels=labels, folds=folds, words=tuple(words.to_list()))


def run_events(
    job: EventsJob, shards: ShardSource, folder: Path, engine: Engine, *, done: Done = ignore_done
) -> Parts:
    """Make the events of a corpus into a folder; what an earlier run has left there is not done again."""
    tables = run_job(job, shards, {EVENTS: folder, HELD: folder / PARTIAL}, engine, done=done)
    keep_held_out(tables[HELD], folder / HELD_OUT_FILE)
    return tables[EVENTS]


def read_events(parts: Parts) -> tuple[Events, list[str]]:
    """The events of a folder, and the lines that were held out."""
    if not (parts.folder / HELD_OUT_FILE).exists():
        raise BadInput(Problem(str(parts.folder), "the job that writes here has not finished; run it again"))
    return gathered(map(_batch_of, parts.frames())), held_out_lines(parts.folder)
