r"""A corpus cut into numbered Parquet files, so that many workers can read it, each its own part.

Cutting is the one step that reads a corpus from front to back, with grater's own readers.  The text reader of an
engine would split lines at a bare `\r`, turn bytes that are not UTF-8 into U+FFFD without a word, and take `.xz` for
text.  Everything that depends on the whole corpus is resolved here, once: the ids of essays (`#2`, `#3` for repeats),
the documents that M2 sentences were cut from, and whether the same text has come before (`is_repeat`; training reads
a text once).

A shard holds whole essays: the next one begins when `size` characters are full.  Its rows:

    essay, text, record (annotators, edits, tokens and metadata as in our JSON Lines; null where there are none),
    line, edit_lines (where they stood in their file, for messages), is_repeat

`manifest.json` names every shard with its SHA-256.  It is written last, so a folder without one is not a corpus:
the cutting was interrupted.  A shard whose bytes have changed since is refused."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import polars as pl

from grater.corpora import read_corpus, with_documents
from grater.corpora.formats import FORMATS, EssayIds
from grater.corpora.jsonl import essay_from, essay_record
from grater.corpora.plain import read_text
from grater.corpora.source import files_of, ignore_progress, open_source
from grater.errors import BadInput, Problem, UsageError
from grater.files import complaining, place, reason, replacing
from grater.model import Essay, Json, hash_of

if TYPE_CHECKING:
    from grater.corpora.source import PathSource

MANIFEST = "manifest.json"
FORMAT = "grater-shards"
VERSION = 1
SIZE = 1_000_000
"""Characters per shard: seconds of a detector's work, tens of megabytes of its decisions."""

SCHEMA: dict[str, Any] = {
    "essay": str,
    "text": str,
    "record": str,
    "line": int,
    "edit_lines": list[int],
    "is_repeat": bool,
}

Advance = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class ShardEssay:
    """An essay of a shard; `is_repeat` where the corpus had the same text before."""

    essay: Essay
    is_repeat: bool


@dataclass(frozen=True, slots=True)
class Shard:
    """A file of a cut corpus, with its entry in the manifest."""

    folder: str
    number: int
    file: str
    n_essays: int
    n_characters: int
    sha256: str

    @property
    def path(self) -> Path:
        return place(self.folder) / self.file

    def read(self) -> list[ShardEssay]:
        """The essays; a file that is missing or is not the one that was cut is refused."""
        return [_essay_of(row) for row in verified(self.path, self.sha256, "cut").iter_rows(named=True)]


def verified(path: Path, sha256: str, made: str) -> pl.DataFrame:
    """A table of Parquet; one that is not as it was made is refused."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise BadInput(Problem(str(path), f"cannot be read: {reason(error)}")) from error
    if hashlib.sha256(content).hexdigest() != sha256:
        raise BadInput(Problem(str(path), f"is not as it was {made}: its hash is not that of the manifest"))
    return pl.read_parquet(BytesIO(content))


@contextmanager
def reading_manifest(path: Path, what: str) -> Iterator[None]:
    """Report anything wrong with a manifest in one line."""
    try:
        yield
    except OSError as error:
        raise BadInput(Problem(str(path), f"expected {what}: {reason(error)}")) from error
    except (ValueError, KeyError, TypeError) as error:
        raise BadInput(Problem(str(path), f"expected {what}, found {error}")) from error


@contextmanager
def emptying(folder: Path, is_ours: Callable[[Path], bool], what: str) -> Iterator[None]:
    """Make a folder that is new, empty, or has only files of ours, which may be removed inside."""
    with complaining(folder):
        folder.mkdir(parents=True, exist_ok=True)
        if others := [file.name for file in folder.iterdir() if not is_ours(file)]:
            raise UsageError(f"{folder}: expected a new folder or one of {what}, found {others[0]} in it")
        yield


@dataclass(frozen=True, slots=True)
class Shards:
    """A corpus that has been cut: its shards in order, and the hash of all its essays, however they were cut."""

    shards: tuple[Shard, ...]
    sha256: str
    lines: bool

    def __iter__(self) -> Iterator[Shard]:
        return iter(self.shards)

    @property
    def n_essays(self) -> int:
        return sum(shard.n_essays for shard in self.shards)

    @property
    def n_characters(self) -> int:
        return sum(shard.n_characters for shard in self.shards)

    def manifest(self) -> dict[str, Json]:
        """The contents of `manifest.json`."""
        return {
            "format": FORMAT,
            "version": VERSION,
            "lines": self.lines,
            "n_essays": self.n_essays,
            "n_characters": self.n_characters,
            "sha256": self.sha256,
            "shards": [
                {name: value for name, value in asdict(shard).items() if name not in ("folder", "number")}
                for shard in self.shards
            ],
        }


class ShardSource(Protocol):
    """Shards in order, perhaps made as they are taken; the hash of the corpus is known once all are."""

    def __iter__(self) -> Iterator[Shard]: ...

    @property
    def sha256(self) -> str: ...


def corpus_of(
    paths: Sequence[Path],
    *,
    format_name: str | None = None,
    lines: bool = False,
    documents: Path | None = None,
    advance: Advance = ignore_progress,
) -> Iterator[ShardEssay]:
    """The essays of several corpora as of one, each with a separate id; `lines` reads text by the paragraph."""
    essays = (essay for path in paths for essay in _read(path, format_name, lines=lines, advance=advance))
    ids, texts = EssayIds(), set[int]()
    for essay in with_documents(essays, documents) if documents else essays:
        essay_id = ids.of_document(essay.essay_id)
        text = hash_of(essay.text.strip())
        yield ShardEssay(
            essay if essay_id == essay.essay_id else replace(essay, essay_id=essay_id), is_repeat=text in texts
        )
        texts.add(text)


def _read(path: Path, format_name: str | None, *, lines: bool, advance: Advance) -> Iterator[Essay]:
    if not lines:
        yield from read_corpus(path, format_name=format_name, advance=advance)
        return
    sources: Iterable[PathSource] = (open_source(file, advance=advance) for file in files_of(path, FORMATS["text"]))
    for source in sources:
        yield from read_text(source.lines(), name=source.name, one_per_line=True)


def chunks_of(essays: Iterable[ShardEssay], *, size: int = SIZE) -> Iterator[list[ShardEssay]]:
    """Essays in groups of about `size` characters."""
    chunk: list[ShardEssay] = []
    n_characters = 0
    for each in essays:
        chunk.append(each)
        n_characters += len(each.essay.text)
        if n_characters >= size:
            yield chunk
            chunk, n_characters = [], 0
    if chunk:
        yield chunk


class LazyCut:
    """A corpus that is cut as its shards are taken, so that work begins with the first; a manifest makes them one."""

    def __init__(self, essays: Iterable[ShardEssay], folder: Path, *, size: int = SIZE, lines: bool = False) -> None:
        self._essays, self._folder, self._size, self._lines = essays, place(folder), size, lines
        self._done: Shards | None = None
        with emptying(self._folder, _is_ours, "shards"):
            (self._folder / MANIFEST).unlink(missing_ok=True)
            for file in self._folder.iterdir():
                file.unlink()

    def __iter__(self) -> Iterator[Shard]:
        shards, corpus_hash = [], hashlib.sha256()
        for number, chunk in enumerate(chunks_of(self._essays, size=self._size)):
            rows = [_row_of(each) for each in chunk]
            for row in rows:
                corpus_hash.update(json.dumps(row[:3], ensure_ascii=False).encode("utf-8", "surrogatepass"))
            content = BytesIO()
            pl.DataFrame(rows, schema=SCHEMA, orient="row").write_parquet(content)
            file = f"shard-{number:06}.parquet"
            with replacing(self._folder / file) as stream:
                stream.write(content.getbuffer())
            n_characters = sum(len(each.essay.text) for each in chunk)
            digest = hashlib.sha256(content.getbuffer()).hexdigest()
            shards.append(
                Shard(str(self._folder), number, file, len(chunk), n_characters=n_characters, sha256=digest)
            )
            yield shards[-1]
        self._done = Shards(shards=tuple(shards), sha256=corpus_hash.hexdigest(), lines=self._lines)
        with replacing(self._folder / MANIFEST) as stream:
            stream.write((json.dumps(self._done.manifest(), indent=1) + "\n").encode())

    @property
    def done(self) -> Shards:
        assert self._done, "the corpus has not been cut to its end"
        return self._done

    @property
    def sha256(self) -> str:
        return self.done.sha256


def cut(essays: Iterable[ShardEssay], folder: Path, *, size: int = SIZE, lines: bool = False) -> Shards:
    """Write a corpus as shards in a folder, which is a corpus only once the last is written."""
    lazy = LazyCut(essays, folder, size=size, lines=lines)
    for _ in lazy:
        pass
    return lazy.done


def _is_ours(file: Path) -> bool:
    if file.name == MANIFEST:
        return is_cut(file.parent)
    return file.name.startswith(("shard-", ".shard-", f".{MANIFEST}"))


def is_cut(path: Path) -> bool:
    """Whether a path is a folder of shards with its manifest."""
    try:
        manifest = json.loads((place(path) / MANIFEST).read_bytes())
    except (OSError, ValueError):
        return False
    return isinstance(manifest, dict) and manifest.get("format") == FORMAT


def read_shards(folder: Path) -> Shards:
    """The shards that the manifest names, whatever else is in the folder."""
    folder = place(folder)
    with reading_manifest(folder / MANIFEST, "the manifest of a cut corpus"):
        manifest = json.loads((folder / MANIFEST).read_bytes())
        version = manifest["version"]
        if manifest["format"] != FORMAT or version != VERSION:
            raise ValueError(f"{manifest['format']} of version {version}")
        shards = tuple(
            Shard(folder=str(folder), number=number, **entry) for number, entry in enumerate(manifest["shards"])
        )
        return Shards(shards=shards, sha256=manifest["sha256"], lines=manifest["lines"])


def _row_of(each: ShardEssay) -> tuple[object, ...]:
    essay = each.essay
    record = {key: value for key, value in essay_record(essay).items() if key not in ("id", "text")}
    packed = json.dumps(record, ensure_ascii=False, allow_nan=False, separators=(",", ":")) if record else None
    edit_lines = [edit.line for edit in essay.edits]
    return essay.essay_id, essay.text, packed, essay.line, edit_lines, each.is_repeat


def _essay_of(row: dict[str, object]) -> ShardEssay:
    essay_id, text, line = str(row["essay"]), str(row["text"]), row["line"]
    is_repeat = bool(row["is_repeat"])
    if row["record"] is None:
        return ShardEssay(Essay(essay_id, text, line=line), is_repeat)  # type: ignore[arg-type]
    record = {"id": essay_id, "text": text, **json.loads(str(row["record"]))}
    essay = essay_from(record, line)  # type: ignore[arg-type]
    lines: list[int | None] = row["edit_lines"]  # type: ignore[assignment]
    edits = tuple(replace(edit, line=number) for edit, number in zip(essay.edits, lines, strict=True))
    return ShardEssay(replace(essay, edits=edits), is_repeat)
