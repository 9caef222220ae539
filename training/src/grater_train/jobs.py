"""Training events of preposition and article detectors, made shard by shard (`grater_train.prepositions`,
`grater_train.articles`).

An event's row is in words, not numbers, so that the rows of any shards can be put together; which gaps are events is
drawn from the seed, the line and the token's place.  The same line is used once.  Held-out lines are kept beside the
events, those with the smallest hashes first.

Events of articles come by the passage, since mentions are remembered within one: `in_passages` makes an essay of
every sixty lines before a corpus is cut, or of a corpus that was cut by the line, so that a shard has whole passages
however the lines were cut.  An essay of another format is a passage by itself.  Of the passages held out, the first
are kept: those that training on the text uses.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Protocol

import numpy as np
import polars as pl

from grater.corpora.text.tags import load_tagger
from grater.detect.articles import features as of_articles
from grater.detect.ngrams.counts import HELD_OUT, fold_of
from grater.detect.prepositions.features import FIELDS, N_WORDS
from grater.errors import BadInput, Problem
from grater.files import replacing
from grater.model import Essay, Json, hash_of
from grater.scale.counting import HELD, held_out_lines, held_out_table, keep_held_out, line_schema
from grater.scale.engines import Engine
from grater.scale.jobs import (
    HELD_OUT_FILE,
    PARTIAL,
    Done,
    Job,
    Partial,
    Parts,
    Schema,
    ignore_done,
    run_job,
)
from grater.scale.shards import ShardEssay, ShardSource
from grater_train import articles as articles
from grater_train.events import Batch, Events
from grater_train.prepositions import GAP_RATE, LINES_AT_ONCE, batch_of, gathered

EVENTS, ARTICLE_EVENTS = "events", "article-events"


def _schema(fields: Sequence[str], n_words: int) -> Schema:
    words, numbers = dict.fromkeys(fields[:n_words], pl.String), dict.fromkeys(fields[n_words:], pl.Int32)
    return {**words, **numbers, "label": pl.Int8, "fold": pl.Int8}


def event_schema() -> Schema:
    return _schema(FIELDS, N_WORDS)


def article_event_schema() -> Schema:
    return _schema(of_articles.FIELDS, len(of_articles.WORDS))


class TrainingJob(Job, Protocol):
    """A job that makes events."""

    def keep(self, held_out: Parts, path: Path) -> None:
        """Write what is held out of all shards."""
        ...


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
    def tables(self) -> Mapping[str, Schema]:
        return {EVENTS: event_schema(), HELD: line_schema()}

    def partial(self, essays: Sequence[ShardEssay]) -> Partial:
        texts = (each.essay.text.strip() for each in essays if not each.is_repeat)
        lines = [text for text in texts if text]
        batches = (batch_of(group, gap_rate=self.gap_rate, seed=self.seed) for group in _groups(lines))
        held = held_out_table(line for line in lines if fold_of(line) < HELD_OUT)
        return Partial(tables={EVENTS: _frame_of(batches, event_schema()), HELD: held}, totals={"lines": len(lines)})

    def keep(self, held_out: Parts, path: Path) -> None:
        keep_held_out(held_out, path)


@dataclass(frozen=True, slots=True)
class ArticleEventsJob:
    """Every noun phrase that an article detector looks at is an event; an essay is a passage."""

    name: str = ARTICLE_EVENTS
    version: int = 1

    @property
    def options(self) -> Mapping[str, Json]:
        return {"tagger": load_tagger().card.get("hash")}

    @property
    def tables(self) -> Mapping[str, Schema]:
        return {EVENTS: article_event_schema(), HELD: line_schema()}

    def partial(self, essays: Sequence[ShardEssay]) -> Partial:
        texts = (each.essay.text for each in essays if not each.is_repeat)
        passages = [lines for text in texts if (lines := _lines_of(text))]
        held = ("\n".join(lines) for lines in passages if fold_of(lines[0]) < HELD_OUT)
        rows = [(hash_of(passage), passage) for passage in islice(held, articles.MOST_PASSAGES)]
        tables = {
            EVENTS: _frame_of(map(articles.batch_of, passages), article_event_schema()),
            HELD: pl.DataFrame(rows, schema=line_schema(), orient="row"),
        }
        return Partial(tables=tables, totals={"lines": sum(map(len, passages))})

    def keep(self, held_out: Parts, path: Path) -> None:
        first = pl.DataFrame(schema=line_schema())
        for frame in held_out.frames():
            first = pl.concat([first, frame]).head(articles.MOST_PASSAGES)
        with replacing(path) as stream:
            first.write_parquet(stream)


def _lines_of(passage: str) -> list[str]:
    return [line.strip() for line in passage.split("\n") if line.strip()]


def in_passages(lines: Iterable[ShardEssay]) -> Iterator[ShardEssay]:
    """Essays of sixty lines that have not come before; a new file, whose lines count from one, begins a new essay."""
    passage: list[Essay] = []
    for essay in (each.essay for each in lines if not each.is_repeat):
        is_new_file = passage and (essay.line or 0) <= (passage[-1].line or 0)
        if is_new_file or len(passage) == articles.LINES:
            yield _joined(passage)
            passage = []
        passage.append(essay)
    if passage:
        yield _joined(passage)


def _joined(lines: Sequence[Essay]) -> ShardEssay:
    text = "\n".join(line.text.strip() for line in lines)
    return ShardEssay(Essay(lines[0].essay_id, text, line=lines[0].line), is_repeat=False)


def _groups(lines: Iterable[str]) -> Iterator[list[str]]:
    waiting = iter(lines)
    while group := list(islice(waiting, LINES_AT_ONCE)):
        yield group


def _frame_of(batches: Iterable[Batch], schema: Schema) -> pl.DataFrame:
    return pl.concat([pl.DataFrame(schema=schema), *(_rows_of(batch, schema) for batch in batches)])


def _rows_of(batch: Batch, schema: Schema) -> pl.DataFrame:
    words = pl.Series([None, *batch.words], dtype=pl.String)  # 0 is no word
    columns = {
        name: words.gather(numbers) if schema[name] == pl.String else numbers
        for name, numbers in zip(schema, batch.rows.T, strict=False)
    }
    return pl.DataFrame({**columns, "label": batch.labels, "fold": batch.folds}, schema=schema)


def _batch_of(frame: pl.DataFrame) -> Batch:
    rows, in_words = frame.drop("label", "fold"), frame.select(pl.col(pl.String))
    words = pl.concat([column.rename("word") for column in in_words]).drop_nulls().unique().sort()
    numbered = in_words.cast(pl.Enum(words)).select((pl.all().to_physical().cast(pl.Int32) + 1).fill_null(0))
    numbers = rows.with_columns(numbered).to_numpy().astype(np.int32)
    labels, folds = (frame[name].to_numpy() for name in ("label", "fold"))
    return Batch(rows=numbers, labels=labels, folds=folds, words=tuple(words.to_list()))


def run_events(
    job: TrainingJob, shards: ShardSource, folder: Path, engine: Engine, *, done: Done = ignore_done
) -> Parts:
    """Make the events of a corpus into a folder; what an earlier run has left there is not done again."""
    tables = run_job(job, shards, {EVENTS: folder, HELD: folder / PARTIAL}, engine, done=done)
    job.keep(tables[HELD], folder / HELD_OUT_FILE)
    return tables[EVENTS]


def read_events(parts: Parts) -> tuple[Events, list[str]]:
    """The events of prepositions in a folder, and the lines that were held out."""
    held_out = _held_out(parts)
    return gathered(map(_batch_of, parts.frames())), held_out


def read_article_events(parts: Parts) -> tuple[Events, list[list[str]]]:
    """The events of articles in a folder, and the passages that were held out."""
    held_out = _held_out(parts)
    return articles.gathered(map(_batch_of, parts.frames())), list(map(_lines_of, held_out))


def _held_out(parts: Parts) -> list[str]:
    if not (parts.folder / HELD_OUT_FILE).exists():
        raise BadInput(Problem(str(parts.folder), "the job that writes here has not finished; run it again"))
    return held_out_lines(parts.folder)
