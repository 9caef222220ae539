"""The folder of a job's results: one Parquet file per part, and a manifest that says which of them count.

A part's file is named for its number and for what it was made from (the job, its options, the shard), and appears
under that name only when it is whole.  So a second run knows a part that is done by its name, and never takes one
of another job for its own.  While a job is under way the folder holds `unfinished.json`; the manifest is written
last, after which files that it does not name are removed.  Readers take only what the manifest names and refuse a
folder that is unfinished (`grater.tables` does so too)."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from io import BytesIO
from pathlib import Path

import polars as pl

from grater.errors import BadInput, GraterError, Problem, UsageError
from grater.files import reason, replacing
from grater.model import Json
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
    with replacing(path) as stream:
        stream.write(content.getbuffer())
        stream.flush()
        os.fsync(stream.fileno())
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
    """Where the parts of one table of a job go; `about` says which job, for the manifest."""

    path: Path
    about: Mapping[str, Json] = field(hash=False)

    def begin(self) -> None:
        """Make the folder; from here to `finish` nobody reads it."""
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            strangers = [file.name for file in self.path.iterdir() if not _is_ours(file)]
            if strangers:
                raise UsageError(f"{self.path}: expected a new folder or one of results, found {strangers[0]} in it")
            with replacing(self.path / UNFINISHED) as stream:
                stream.write((json.dumps(dict(self.about), indent=1) + "\n").encode())
            (self.path / MANIFEST).unlink(missing_ok=True)
        except OSError as error:
            raise GraterError(f"{self.path}: cannot be written: {reason(error)}") from error

    def finish(self, parts: Sequence[Part]) -> None:
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
        return summed_totals(part.totals for part in self.parts)

    def frames(self) -> Iterator[pl.DataFrame]:
        """The parts in order, one at a time; one that is not as it was written is refused."""
        for part in self.parts:
            path = self.folder / part.file
            try:
                content = path.read_bytes()
            except OSError as error:
                raise BadInput(Problem(str(path), f"cannot be read: {reason(error)}")) from error
            if hashlib.sha256(content).hexdigest() != part.sha256:
                raise BadInput(Problem(str(path), "is not as it was written: its hash is not that of the manifest"))
            yield pl.read_parquet(BytesIO(content))


def summed_totals(totals: Iterable[Mapping[str, int]]) -> dict[str, int]:
    summed: dict[str, int] = {}
    for each in totals:
        for name, n in each.items():
            summed[name] = summed.get(name, 0) + n
    return dict(sorted(summed.items()))


def holds_results(path: Path, job: str) -> bool:
    """Whether a path is a folder of finished results of a job."""
    manifest = path / MANIFEST
    if not path.is_dir() or not manifest.is_file():
        return False
    about = json.loads(manifest.read_bytes())
    return isinstance(about, dict) and about.get("format") == PARTS_FORMAT and about.get("job") == job


def read_parts(folder: Path, *, job: str) -> Parts:
    """The results of a job, by their manifest."""
    path = folder / MANIFEST
    if not path.exists() and (folder / UNFINISHED).exists():
        raise BadInput(Problem(str(folder), "the job that writes here has not finished; run it again to complete it"))
    try:
        manifest = json.loads(path.read_bytes())
        if manifest["format"] != PARTS_FORMAT or manifest["version"] != VERSION or manifest["job"] != job:
            raise ValueError(f"{manifest.get('job', manifest['format'])} of version {manifest['version']}")
        parts = tuple(Part(**entry) for entry in manifest.pop("parts"))
        return Parts(folder=folder, about=manifest, parts=parts)
    except OSError as error:
        raise BadInput(Problem(str(path), f"expected results of the job {job}: {reason(error)}")) from error
    except (ValueError, KeyError, TypeError) as error:
        raise BadInput(Problem(str(path), f"expected results of the job {job}, found {error}")) from error
