"""Big jobs over the shards of a corpus, and the folder of their results.

A job turns the essays of a shard into tables (`partial`), which follow each other in the order of the corpus.
`name`, `version` and `options` say what was done; a result is used again only where all three and the shard are the
same.

Results do not depend on how the corpus was cut: a job sees whole essays, uses nothing that it remembers of others,
and draws by chance from the text alone.

*Results.*  A folder has one Parquet file per part, and a manifest that says which of them count.  A part's file is
named for its number and for what it was made from (the job, its options, the shard), and appears under that name only
when it is whole.  So a second run knows a part that is done by its name, and never takes one of another job for its
own.  While a job is under way the folder holds `unfinished.json`; the manifest is written last, after which files
that it does not name are removed.  Readers take only what the manifest names and refuse a folder that is unfinished
(`grater.tables` does so too).
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from io import BytesIO
from pathlib import Path
from typing import Any, Protocol, TypeAlias

import polars as pl

from grater.errors import BadInput, Problem
from grater.files import place, replacing
from grater.model import Json
from grater.scale.engines import Engine
from grater.scale.shards import Shard, ShardEssay, emptying, reading_manifest, verified
from grater.tables.files import MANIFEST, PARTS_FORMAT, UNFINISHED

VERSION = 1
ROW_GROUP = 1 << 15
"""Rows that are read or skipped together."""


@dataclass(frozen=True, slots=True)
class Part:
    """A file of results; `totals` are numbers that add up over parts."""

    file: str
    n_rows: int
    sha256: str
    totals: Mapping[str, int] = field(default_factory=dict, hash=False)


def identity(*facts: Json) -> str:
    """A short name for what a part is made from."""
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()[:12]


def part_name(number: int, made_from: str) -> str:
    return f"part-{number:06}-{made_from}.parquet"


def write_part(frame: pl.DataFrame, path: Path, totals: Mapping[str, int]) -> Part:
    """Write a part so that it survives a power cut once it has its name; its totals go into the file."""
    content = BytesIO()
    frame.write_parquet(content, row_group_size=ROW_GROUP, metadata={"totals": json.dumps(dict(totals))})
    with replacing(path, durable=True) as stream:
        stream.write(content.getbuffer())
    digest = hashlib.sha256(content.getbuffer()).hexdigest()
    return Part(file=path.name, n_rows=len(frame), sha256=digest, totals=dict(totals))


def existing_part(path: Path) -> Part | None:
    """A part that an earlier run has written; none where there is no whole file."""
    try:
        content = path.read_bytes()
        stored = pl.read_parquet_metadata(BytesIO(content)).get("totals", "{}")
        n_rows = pl.scan_parquet(BytesIO(content)).select(pl.len()).collect().item()
    except (OSError, pl.exceptions.PolarsError):
        return None
    digest = hashlib.sha256(content).hexdigest()
    return Part(file=path.name, n_rows=n_rows, sha256=digest, totals=json.loads(stored))


@dataclass(frozen=True, slots=True)
class PartFolder:
    """Where the parts of one table of a job go; `about` names the job, for the manifest."""

    path: Path
    about: Mapping[str, Json] = field(hash=False)

    def begin(self) -> None:
        """Make the folder; it counts as unfinished until `finish`."""
        with emptying(self.path, _is_ours, "results"):
            with replacing(self.path / UNFINISHED) as stream:
                stream.write((json.dumps(dict(self.about), indent=1) + "\n").encode())
            (self.path / MANIFEST).unlink(missing_ok=True)

    def finish(self, parts: Sequence[Part]) -> Parts:
        """Name the parts that count, in order, and remove all others."""
        entries: list[Json] = [asdict(part) for part in parts]
        manifest = {"format": PARTS_FORMAT, "version": VERSION, **self.about, "parts": entries}
        with replacing(self.path / MANIFEST) as stream:
            stream.write((json.dumps(manifest, indent=1) + "\n").encode())
        (self.path / UNFINISHED).unlink(missing_ok=True)
        named = {part.file for part in parts}
        for file in self.path.glob("part-*.parquet"):
            if file.name not in named:
                file.unlink(missing_ok=True)
        return Parts(self.path, self.about, tuple(parts))


def _is_ours(file: Path) -> bool:
    return file.name in (MANIFEST, UNFINISHED, PARTIAL, HELD_OUT_FILE) or file.name.startswith(("part-", "."))


PARTIAL = "partial"
"""The folder of what is not yet summed, inside that of the results."""

HELD_OUT_FILE = "held-out.parquet"


@dataclass(frozen=True, slots=True)
class Parts:
    """The finished results of a job."""

    folder: Path
    about: Mapping[str, Json] = field(hash=False)
    parts: tuple[Part, ...]

    @property
    def paths(self) -> list[Path]:
        return [self.folder / part.file for part in self.parts]

    @property
    def n_rows(self) -> int:
        return sum(part.n_rows for part in self.parts)

    @property
    def totals(self) -> dict[str, int]:
        summed: Counter[str] = Counter()
        for part in self.parts:
            summed.update(part.totals)
        return dict(sorted(summed.items()))

    def frames(self) -> Iterator[pl.DataFrame]:
        """The parts in order, one at a time; one that is not as it was written is refused."""
        for part in self.parts:
            yield verified(self.folder / part.file, part.sha256, "written")


def holds_results(path: Path, job: str) -> bool:
    """Whether a path is a folder of finished results of a job."""
    manifest = path / MANIFEST
    if not path.is_dir() or not manifest.is_file():
        return False
    about = json.loads(manifest.read_bytes())
    return isinstance(about, dict) and about.get("format") == PARTS_FORMAT and about.get("job") == job


def read_parts(folder: Path, *, job: str) -> Parts:
    """The results of a job, read by its manifest."""
    path = folder / MANIFEST
    if not path.exists() and (folder / UNFINISHED).exists():
        raise BadInput(Problem(str(folder), "the job that writes here has not finished; run it again to complete it"))
    with reading_manifest(path, f"results of the job {job}"):
        manifest = json.loads(path.read_bytes())
        if manifest["format"] != PARTS_FORMAT or manifest["version"] != VERSION or manifest["job"] != job:
            raise ValueError(f"{manifest.get('job', manifest['format'])} of version {manifest['version']}")
        parts = tuple(Part(**entry) for entry in manifest.pop("parts"))
        return Parts(folder=folder, about=manifest, parts=parts)


# Jobs

Schema: TypeAlias = Mapping[str, Any]
"""Types of polars, or those of Python that stand for them, by column."""
COUNT = "n"
"""The column that sums add up; 64 bits."""


@dataclass(frozen=True, slots=True)
class Partial:
    """The result of a job for one shard; `totals` are numbers that add up, for the manifest."""

    tables: Mapping[str, pl.DataFrame] = field(hash=False)
    totals: Mapping[str, int] = field(default_factory=dict, hash=False)


class Job(Protocol):
    """A job; it is sent to workers, so it holds names and paths, and loads models where it runs."""

    @property
    def name(self) -> str: ...

    @property
    def version(self) -> int: ...

    @property
    def options(self) -> Mapping[str, Json]: ...

    @property
    def tables(self) -> Mapping[str, Schema]: ...

    def partial(self, essays: Sequence[ShardEssay]) -> Partial: ...


def about(job: Job, table: str) -> dict[str, Json]:
    """The lines of a manifest that describe the job."""
    return {"job": job.name, "job_version": job.version, "options": dict(job.options), "table": table}


@dataclass(frozen=True, slots=True)
class ShardTask:
    """One job on one shard; `paths` are where its tables go."""

    job: Job
    shard: Shard
    paths: Mapping[str, Path] = field(hash=False)

    @property
    def name(self) -> str:
        return f"{self.job.name} of {self.shard.file}"

    def run(self) -> tuple[int, dict[str, Part]]:
        """The number of the shard, and its part of each table."""
        partial = self.job.partial(self.shard.read())
        return self.shard.number, {
            table: write_part(partial.tables[table], path, partial.totals) for table, path in self.paths.items()
        }

    def earlier(self) -> dict[str, Part] | None:
        """The parts that an earlier run has written, if all are there."""
        parts = {table: part for table, path in self.paths.items() if (part := existing_part(path))}
        return parts if len(parts) == len(self.paths) else None


Done: TypeAlias = Callable[[int], None]


def ignore_done(number: int) -> None:
    """For callers who do not follow the shards."""


def run_job(
    job: Job, shards: Iterable[Shard], folders: Mapping[str, Path], engine: Engine, *, done: Done = ignore_done
) -> dict[str, Parts]:
    """Run a job over shards into one folder per table; only what is missing there is done.

    Shards are taken as workers become free; `done` gets the number of each that is ready.
    """
    targets = {table: PartFolder(place(folder), about(job, table)) for table, folder in folders.items()}
    for target in targets.values():
        target.begin()
    results: dict[int, dict[str, Part]] = {}

    def missing() -> Iterator[ShardTask]:
        for shard in shards:
            made_from = identity(job.name, job.version, dict(job.options), shard.sha256)
            name = part_name(shard.number, made_from)
            task = ShardTask(job, shard, {table: target.path / name for table, target in targets.items()})
            if earlier := task.earlier():
                results[shard.number] = earlier
                done(shard.number)
            else:
                yield task

    for number, parts in engine.run(missing()):
        results[number] = parts
        done(number)
    in_order = [results[number] for number in sorted(results)]
    return {table: target.finish([parts[table] for parts in in_order]) for table, target in targets.items()}


LEAST_WAITING = 1 << 16
"""Rows that wait to be added up together, and half as many as there are in the sum where that is more: a row is then
added up a few times, however many tables there are."""


def summed_frames(frames: Iterable[pl.DataFrame], schema: Schema) -> pl.DataFrame:
    """Tables as one with equal rows added up, in any order; half as large again as the sum at most."""
    keys = [name for name in schema if name != COUNT]
    waiting, n_waiting = [pl.DataFrame(schema=schema)], 0
    for frame in frames:
        waiting.append(frame)
        n_waiting += len(frame)
        if n_waiting > max(LEAST_WAITING, len(waiting[0]) // 2):
            waiting, n_waiting = [_summed(waiting, keys)], 0
    return _summed(waiting, keys).select(*schema)


def _summed(frames: Sequence[pl.DataFrame], keys: Sequence[str]) -> pl.DataFrame:
    return pl.concat(frames, how="diagonal").group_by(keys).agg(pl.col(COUNT).sum())
