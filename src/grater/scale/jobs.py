"""What a big job is, and how one is run over the shards of a corpus.

A job turns the essays of a shard into tables (`partial`), and every table says how those of many shards become one:
by putting them one after the other in the order of the corpus, or by adding up the column `n` of equal rows.
`name`, `version` and `options` say what was done; a result is used again only where all three and the shard are the
same.

Results do not depend on how the corpus was cut: a job sees whole essays, uses nothing that it remembers of others,
and draws by chance from the text alone.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol, TypeAlias

import polars as pl

from grater.model import Json
from grater.scale.engines import Engine
from grater.scale.parts import Part, PartFolder, Parts, existing_part, identity, part_name, write_part
from grater.scale.shards import Shard, ShardEssay

Schema: TypeAlias = Mapping[str, Any]
"""Types of polars, or those of Python that stand for them, by column."""
Options: TypeAlias = Mapping[str, Json]
Merge: TypeAlias = Literal["concatenate", "sum"]
COUNT = "n"
"""The column that sums add up; 64 bits."""


@dataclass(frozen=True, slots=True)
class JobTable:
    """A table that a job makes."""

    schema: Schema = field(hash=False)
    merge: Merge = "concatenate"


@dataclass(frozen=True, slots=True)
class Partial:
    """What a job makes of one shard; `totals` are numbers that add up, for the manifest."""

    tables: Mapping[str, pl.DataFrame] = field(hash=False)
    totals: Mapping[str, int] = field(default_factory=dict, hash=False)


class Job(Protocol):
    """A job; it is sent to workers, so it holds names and paths, and loads models where it runs."""

    @property
    def name(self) -> str: ...

    @property
    def version(self) -> int: ...

    @property
    def options(self) -> Options: ...

    @property
    def tables(self) -> Mapping[str, JobTable]: ...

    def partial(self, essays: Sequence[ShardEssay]) -> Partial: ...


@dataclass(frozen=True, slots=True)
class OptionsTask:
    """The options of a job, asked of those who will do it: the hash of a model is known where the model is loaded."""

    job: Job

    @property
    def name(self) -> str:
        return f"the options of {self.job.name}"

    def run(self) -> Options:
        return dict(self.job.options)


def about(job: Job, options: Options, table: str) -> dict[str, Json]:
    """The lines of a manifest that say what was done."""
    return {"job": job.name, "job_version": job.version, "options": dict(options), "table": table}


@contextmanager
def without_collector() -> Iterator[None]:
    """Memory is freed by counting references alone: analyses have no cycles, and the collector would search them all.

    A fifth of the CPU time of a detector.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


@dataclass(frozen=True, slots=True)
class ShardTask:
    """One job on one shard; `paths` are where its tables go."""

    job: Job
    shard: Shard
    paths: Mapping[str, Path] = field(hash=False)

    @property
    def name(self) -> str:
        return f"{self.job.name} of {self.shard.file}"

    def run(self) -> ShardResult:
        with without_collector():
            partial = self.job.partial(self.shard.read())
        parts = {table: write_part(partial.tables[table], path, partial.totals) for table, path in self.paths.items()}
        return ShardResult(number=self.shard.number, parts=parts)

    def earlier(self) -> ShardResult | None:
        """What another run left here already."""
        parts = {table: existing_part(path) for table, path in self.paths.items()}
        known = {table: part for table, part in parts.items() if part is not None}
        return ShardResult(number=self.shard.number, parts=known) if len(known) == len(parts) else None


@dataclass(frozen=True, slots=True)
class ShardResult:
    number: int
    parts: Mapping[str, Part] = field(hash=False)


def _task(job: Job, options: Options, shard: Shard, folders: Mapping[str, Path]) -> ShardTask:
    made_from = identity(job.name, job.version, dict(options), shard.sha256)
    paths = {table: folder / part_name(shard.number, made_from) for table, folder in folders.items()}
    return ShardTask(job=job, shard=shard, paths=paths)


Done: TypeAlias = Callable[[int], None]


def ignore_done(number: int) -> None:
    """For callers who do not follow the shards."""


def run_job(
    job: Job, shards: Iterable[Shard], folders: Mapping[str, Path], engine: Engine, *, done: Done = ignore_done
) -> dict[str, Parts]:
    """Run a job over shards into one folder per table; only what is missing there is done.

    Shards are taken as workers become free; `done` hears the number of each that is ready.
    """
    options = engine.prepare(OptionsTask(job))
    targets = {table: PartFolder(path=folder, about=about(job, options, table)) for table, folder in folders.items()}
    for target in targets.values():
        target.begin()
    results: dict[int, Mapping[str, Part]] = {}

    def missing() -> Iterator[ShardTask]:
        for shard in shards:
            task = _task(job, options, shard, folders)
            if earlier := task.earlier():
                results[shard.number] = earlier.parts
                done(shard.number)
            else:
                yield task

    for result in engine.run(missing()):
        results[result.number] = result.parts
        done(result.number)
    finished = {}
    for table, target in targets.items():
        parts = tuple(results[number][table] for number in sorted(results))
        target.finish(parts)
        finished[table] = Parts(folder=target.path, about=target.about, parts=parts)
    return finished


LEAST_WAITING = 1 << 16
"""Rows that wait to be added up together, and half as many as there are in the sum where that is more: a row is then
added up a few times, however many tables there are."""


def added_up(frames: Iterable[pl.DataFrame], schema: Schema, *, in_order: bool = True) -> pl.DataFrame:
    """Tables as one with equal rows added up, in the order of the rows; half as large again as the sum at most."""
    keys = [name for name in schema if name != COUNT]
    waiting, n_waiting = [pl.DataFrame(schema=schema)], 0
    for frame in frames:
        waiting.append(frame)
        n_waiting += len(frame)
        if n_waiting > max(LEAST_WAITING, len(waiting[0]) // 2):
            waiting, n_waiting = [_summed(waiting, keys)], 0
    summed = _summed(waiting, keys).select(*schema)
    return summed.sort(keys, nulls_last=True) if in_order else summed


def _summed(frames: Sequence[pl.DataFrame], keys: Sequence[str]) -> pl.DataFrame:
    return pl.concat(frames, how="diagonal").group_by(keys).agg(pl.col(COUNT).sum())
