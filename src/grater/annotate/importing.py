"""Import of files into a study: essays in every corpus format, and tables of items, decisions, judgments, gold ...

All files of one call are imported together or not at all, and all problems in files of one kind are reported at once.
Importing the same file again changes nothing and is not an error; but an existing essay with a different text is, and
so is a system whose decisions have changed. A preview does everything except store.

*Texts* (.txt, .docx, tables with `id` and `text`) are accepted as users have them. A text is named after its file, a
row after its id. Empty texts and texts that already exist under another name are left out; bytes that are not UTF-8
are read in a guessed encoding. Each of these causes a warning. Essays can also be pasted into a page, separated by
lines of at least three hyphens. A first line that starts with `#` is the essay's title and not part of its text; an
essay without a title is named by its number and first words.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

import polars as pl
from pydantic import Field
from sqlalchemy import select

from grater.annotate import content, samples
from grater.annotate.content import StudyItem
from grater.annotate.gold import add_gold
from grater.annotate.requests import Body, require_name
from grater.annotate.store import Store, events, schema
from grater.annotate.store.transaction import Record, Tx, new_id
from grater.annotate.systems import require_same_decisions
from grater.annotate.tables import decision_columns
from grater.annotate.worksheets import add_judgments, as_json
from grater.corpora import format_for, names_apart, read_corpus
from grater.corpora.formats import Format
from grater.corpora.plain import bare_name
from grater.corpora.source import files_of, guessed_encoding, open_source
from grater.corpora.table import read_table_of_texts, texts_schema
from grater.errors import MOST_PROBLEMS, BadInput, GraterError, Problem, Problems
from grater.model import Decision, Essay, Item, item_at, short_hash
from grater.result import Data, key
from grater.sheet import counted
from grater.tables import Table, read_decisions, read_gold, read_items, read_judgments, read_sample
from grater.tables.read import ANY, items_hash
from grater.tables.schema import SCHEMAS, Schema

PLACE = ("item", "essay", "start", "end", "kind")
BETWEEN = re.compile(r"^-{3,}[ \t]*$", re.MULTILINE)
TITLE = re.compile(r"\A#+[ \t]*(?P<title>[^\n]+)\n")
HARD_TO_NAME = re.compile(r"[^\w ()+-]+")
LONGEST_TITLE = 60
FIRST_WORDS = 4
NAME = "name"
"""The metadata of an essay with the name of its file or paste."""


@dataclass(frozen=True, slots=True)
class Imported(Data):
    """The result for one file: new rows, existing rows, and notes."""

    name: str = field(metadata=key("file"))
    kind: str
    new: int
    known: int = 0
    warnings: tuple[str, ...] = ()


def all_imports(tx: Tx) -> Sequence[Record]:
    return tx.all(select(schema.imports).order_by(schema.imports.c.at, schema.imports.c.import_id))


def start_import(tx: Tx, *, kind: str, name: str, sha256: str) -> str:
    """Record a file and the hash of its bytes; return the id of the import, to which its rows can refer."""
    import_id = new_id()
    row = {"import_id": import_id, "kind": kind, "name": name, "sha256": sha256, "n_rows": 0, "at": tx.now}
    tx.insert(schema.imports, row | {"payload": {}})
    return import_id


Kind: TypeAlias = Literal["corpus", "items", "decisions", "sample", "judgments", "gold", "practice"]
KINDS: tuple[Kind, ...] = get_args(Kind)


class _Previewed(Exception):
    """Ends the transaction of a preview, which is rolled back."""


def import_files(
    store: Store,
    *,
    corpora: Sequence[Path] = (),
    items: Sequence[Path] = (),
    decisions: Sequence[Path] = (),
    samples: Sequence[Path] = (),
    judgments: Sequence[Path] = (),
    gold: Sequence[Path] = (),
    practice: Sequence[Path] = (),
    format_name: str | None = None,
    encoding: str = "",
    skip_unreadable: bool = False,
    job: str | None = None,
    task: str = "error",
    columns: Mapping[str, str] | None = None,
    rater_columns: Sequence[str] = (),
    preview: bool = False,
    actor: str | None = None,
) -> list[Imported]:
    """Import files, all or nothing; judgments, gold and practice go to the named `job`, created for judgments.

    One file can be both items and decisions. `skip_unreadable` leaves out text files that cannot be read.
    """
    paths: dict[Kind, Sequence[Path]] = {"corpus": corpora, "items": items, "decisions": decisions, "sample": samples}
    paths |= {"judgments": judgments, "gold": gold, "practice": practice}
    done: list[Imported] = []
    with suppress(_Previewed), store.write() as tx:
        content.hold(tx)
        texts = Texts(_own_columns("texts", columns), encoding, skip_unreadable, format_name)
        texts.prepare(tx, corpora)

        def bring(path: Path, kind: Kind, import_id: str) -> tuple[int, int]:
            """The number of new rows and of existing rows."""
            own = _own_columns(kind, columns)
            if kind == "corpus":
                chosen = format_for(path, format_name)
                if chosen.name in ("text", "table"):
                    return content.add_essays(tx, texts.read(path, chosen), import_id=import_id)
                essays = read_corpus(path, format_name=format_name, encoding=encoding)
                return content.add_essays(tx, essays, import_id=import_id)
            if kind == "items":
                return _add_items(tx, path, own, with_decisions=path in decisions)
            if kind == "decisions":
                return _add_decisions(tx, read_decisions(path, columns=own))
            if kind == "sample":
                return _add_sample(tx, path, own, actor)
            if kind == "judgments":
                made = read_judgments(path, columns=own, status=(ANY,), rater_columns=rater_columns)
                return add_judgments(tx, made, job=job or path.stem, task=task)
            known = read_gold(path, columns=own)
            return add_gold(tx, known, _ids_of_items(tx, known), job=job, role=kind)

        for kind, some in paths.items():
            failures: list[tuple[Path, GraterError]] = []
            for path in some:
                try:
                    sha256 = fingerprint(path)
                    earlier = _earlier(tx, kind, sha256)
                    if earlier is not None:
                        done.append(Imported(str(path), kind, 0, earlier))
                        continue
                    import_id = start_import(tx, kind=kind, name=path.name, sha256=sha256)
                    n_new, n_known = bring(path, kind, import_id)
                except GraterError as error:
                    failures.append((path, error))
                    continue
                n_rows = n_new + n_known
                own_row = schema.imports.c.import_id == import_id
                tx.execute(schema.imports.update().where(own_row).values(n_rows=n_rows))
                events.write(tx, actor, "import.done", import_id, {"n_rows": n_rows})
                done.append(Imported(str(path), kind, n_new, n_known, texts.warnings.pop(path, ())))
            _raise_all(failures)
        if preview:
            raise _Previewed
    return done


def _raise_all(failures: Sequence[tuple[Path, GraterError]]) -> None:
    """Raise a single failure unchanged, several as one with the problems of all files."""
    if len(failures) == 1:
        raise failures[0][1]
    problems: list[Problem] = []
    for path, error in failures:
        own = str(error).removeprefix(f"{path}: ")
        problems += error.problems if isinstance(error, BadInput) else [Problem(str(path), own)]
    if problems:
        raise BadInput(*_first(problems))


def _first(problems: Sequence[Problem]) -> list[Problem]:
    n_more = len(problems) - MOST_PROBLEMS
    more = [Problem("and more", f"{n_more:,} further problems")] if n_more > 0 else []
    return [*problems[:MOST_PROBLEMS], *more]


def _own_columns(kind: str, columns: Mapping[str, str] | None) -> dict[str, str]:
    """The caller's columns that this kind of table has; a column that no table has is kept, to cause an error."""
    of_kind: dict[str, Schema] = {str(name): schema for name, schema in SCHEMAS.items()}
    of_kind |= {"texts": texts_schema(), "practice": SCHEMAS["gold"]}
    others = [each for name, each in of_kind.items() if name != kind]
    return {
        name: theirs
        for name, theirs in (columns or {}).items()
        if kind not in of_kind or of_kind[kind].column(name) or not any(each.column(name) for each in others)
    }


class Importing(Body):
    """Files of one kind."""

    kind: Kind
    format: str = Field("", description="Of a corpus; guessed from the names if empty.")
    encoding: str = Field("", description="Of texts that are not UTF-8; guessed if empty.")
    skip_unreadable: bool = Field(False, description="Leave out texts that cannot be read.")
    job: str = Field("", description="Its name: judgments, gold and practice go there.")
    task: str = Field("error", description="Of a job that judgments make.")
    preview: bool = Field(False, description="Check everything and store nothing.")


def import_kind(store: Store, sent: Importing, paths: Sequence[Path], *, actor: str | None) -> list[Imported]:
    """Import the files of a form or an API call."""
    renamed: dict[str, str] = {"corpus": "corpora", "sample": "samples"}
    by_kind: dict[str, Any] = {renamed.get(sent.kind, sent.kind): paths}
    options = sent.model_dump(include={"encoding", "skip_unreadable", "task", "preview"})
    job, format_name = sent.job or None, sent.format or None
    return import_files(store, **by_kind, **options, format_name=format_name, job=job, actor=actor)


def _earlier(tx: Tx, kind: Kind, sha256: str) -> int | None:
    """The number of rows of the same file if it was imported before."""
    same = select(schema.imports.c.n_rows).where(schema.imports.c.kind == kind, schema.imports.c.sha256 == sha256)
    row = tx.first(same.order_by(schema.imports.c.at))
    return None if row is None else int(row.n_rows)


def fingerprint(path: Path) -> str:
    """A hash of a file, or of a folder's files and their names."""
    total = hashlib.sha256()
    for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
        if file.is_file():
            total.update(f"{file.relative_to(path) if path.is_dir() else ''}\0".encode())
            with file.open("rb") as stream:
                total.update(hashlib.file_digest(stream, "sha256").digest())
    return total.hexdigest()


LONGEST_ESSAY = 2_000_000
"""Characters: a longer file is a corpus that somebody keeps in one file."""

LOOKS_LIKE = {
    "m2": re.compile(r"S .*\n(?:A \d+ \d+\|\|\|)"),
    "nucle": re.compile(r"\s*<DOC"),
    "fce": re.compile(r"\s*<\?xml"),
    "jsonl": re.compile(r'\{"format": "grater'),
}
"""The beginnings of corpora that somebody named `.txt`."""


@dataclass(slots=True)
class Texts:
    """Reads texts without duplicates or empty ones; `hashes` are those of the study and of this call, by essay."""

    columns: Mapping[str, str]
    encoding: str
    skip_unreadable: bool
    format_name: str | None
    names: dict[Path, str] = field(default_factory=dict)
    hashes: dict[str, str] = field(default_factory=dict)
    by_hash: dict[str, str] = field(default_factory=dict)
    warnings: dict[Path, tuple[str, ...]] = field(default_factory=dict)

    def prepare(self, tx: Tx, paths: Sequence[Path]) -> None:
        """Name the text files of all paths, and load the hashes of the study's texts."""
        files: list[Path] = []
        for path in paths:
            with suppress(GraterError):  # raised again when the path is read
                chosen = format_for(path, self.format_name)
                files += files_of(path, chosen) if chosen.name == "text" else []
        self.names = dict(zip(files, names_apart(files), strict=True))
        for row in tx.all(select(schema.essays.c.essay_id, schema.essays.c.text)) if paths else ():
            self.hashes[row.essay_id] = text = short_hash(row.text)
            self.by_hash[text] = row.essay_id

    def read(self, path: Path, chosen: Format) -> list[Essay]:
        essays: list[Essay] = []
        problems: list[Problem] = []
        empty, twice, guessed, apart = (list[str]() for _ in range(4))
        for file in files_of(path, chosen):
            encoding = self.encoding or guessed_encoding(file)
            try:
                found = self._essays(file, chosen, encoding)
            except BadInput as error:
                problems += error.problems
                continue
            if encoding != self.encoding:
                guessed.append(f"{file.name} ({encoding})")
            if "/" in self.names.get(file, ""):
                apart.append(self.names[file])
            for essay in found:
                name, text = essay.essay_id, short_hash(essay.text)
                same = self.by_hash.get(text)
                if not essay.text.strip():
                    empty.append(name)
                elif self.hashes.get(name, text) != text:
                    message = f"expected a new text, found {name!r} with another text already; rename one of them"
                    problems.append(Problem(str(file), message, essay.line))
                elif same not in (None, name):
                    twice.append(f"{name} (the same as {same})")
                else:
                    essays.append(essay)
                    self.hashes[name], self.by_hash[text] = text, name
        if problems and not self.skip_unreadable:
            raise BadInput(*_first(problems))
        if empty and not (essays or twice):
            raise BadInput(Problem(str(path), "expected texts, found nothing but empty ones"))
        notices = {
            f"left out {counted(len(problems), 'text')} that cannot be read": [str(each) for each in problems],
            f"left out {counted(len(empty), 'empty text')}": empty,
            f"left out {counted(len(twice), 'duplicate text')}": twice,
            "not UTF-8, so the encoding is a guess; check the accents or name it": guessed,
            "called after their folders, since others have the same file name": apart,
        }
        self.warnings[path] = tuple(
            f"{words}: {', '.join(names[:MOST_NAMED])}{', ...' if len(names) > MOST_NAMED else ''}"
            for words, names in notices.items()
            if names
        )
        return essays

    def _essays(self, file: Path, chosen: Format, encoding: str) -> list[Essay]:
        source = open_source(file, encoding=encoding)
        if chosen.name == "table":
            return list(read_table_of_texts(source, self.columns))
        text = "".join(source.lines())
        if "\0" in text:
            raise BadInput(Problem(str(file), "expected text, found NUL characters; is it text at all?"))
        if len(text) > LONGEST_ESSAY:
            message = f"expected one essay, found {len(text):,} characters; split it into files or rows of a table"
            raise BadInput(Problem(str(file), message))
        format_name = next((name for name, start in LOOKS_LIKE.items() if start.match(text)), "")
        if format_name and not self.format_name:
            message = f"expected plain text, found what looks like {format_name}; pass `format_name` {format_name}"
            raise BadInput(Problem(str(file), message, 1))
        return [Essay(self.names[file], text, line=1)]


MOST_NAMED = 10


def _add_items(tx: Tx, path: Path, columns: Mapping[str, str], *, with_decisions: bool) -> tuple[int, int]:
    """Add the items of a table; one that also has decisions lists an item once for each system."""
    table = read_items(path, columns=columns, duplicates="first" if with_decisions else "error")
    if with_decisions:
        own = [column.name for column in SCHEMAS["decisions"].columns if column.name != "item"]
        table = replace(table, frame=table.frame.drop(own, strict=False))
    texts = {essay.essay_id: essay for essay in content.essays_of(tx, _column(table, "essay"))}
    n_new = content.add_items(tx, _placed(table, texts))
    return n_new, len(table) - n_new


def _placed(table: Table, by_id: Mapping[str, Essay]) -> Iterator[StudyItem]:
    """The items of a table, each checked against its essay: inside the text, with the words of the table."""
    problems = Problems(table.name)
    for number, row in enumerate(table.frame.iter_rows(named=True), 2):
        item = item_at(str(row["essay"]), row["start"], row["end"], str(row["kind"]), str(row["item"]))
        complaint = _complaint(item, row, by_id.get(item.essay_id))
        if complaint:
            problems.add(complaint, line=number)
            continue
        payload = as_json({name: value for name, value in row.items() if name not in PLACE})
        yield content.study_item(item, outside_id=str(row["item"]), payload=payload)
    problems.done()


def _complaint(item: Item, row: Mapping[str, Any], essay: Essay | None) -> str:
    if essay is None:
        return f"expected an essay of the study, found {item.essay_id!r}; import its corpus first"
    place = f"{item.span.start}-{item.span.end}"
    if not item.span.start <= item.span.end <= len(essay.text):
        return f"expected a span inside the essay ({len(essay.text)} characters), found {place}"
    target = row.get("target")
    if target is not None and target != item.span.of(essay.text):
        return f"expected {target!r} at {place}, found {item.span.of(essay.text)!r}"
    return ""


def _add_decisions(tx: Tx, table: Table) -> tuple[int, int]:
    ids = _ids_of_items(tx, table)
    decided = [
        Decision(
            item_id=ids[str(row["item"])],
            system=row["system"],
            flagged=row["flagged"],
            score=row.get("score"),
            type=row.get("type") or "",
            suggestion=row.get("suggestion"),
        )
        for row in table.frame.iter_rows(named=True)
    ]
    require_same_decisions(tx, decided)
    n_new = content.add_decisions(tx, decided)
    return n_new, len(table) - n_new


def _column(table: Table, name: str) -> list[str]:
    return [str(value) for value in table.frame[name].to_list()]


def _ids_of_items(tx: Tx, table: Table) -> dict[str, str]:
    """Item ids by the names used in a table; items that the study does not have are refused."""
    wanted = _column(table, "item")
    known, problems = content.items_by_name(tx, wanted), Problems(table.name)
    has_places = set(PLACE) <= set(table.frame.columns)
    wish = "import this file as items, too" if has_places else "import its items first"
    for number, each in enumerate(wanted, 2):
        if each not in known:
            problems.add(f"expected an item of the study, found {each!r}; {wish}", line=number)
    problems.done()
    return known


def pasted_essays(pasted: str) -> list[tuple[str, str]]:
    """The title and the text of each pasted essay, with unique titles."""
    parts = [part.strip("\n") for part in BETWEEN.split(pasted.replace("\r\n", "\n"))]
    essays: dict[str, str] = {}
    for number, part in enumerate((part for part in parts if part.strip()), 1):
        headed = TITLE.match(part)
        text = part[headed.end() :].lstrip("\n") if headed else part
        title = _plain(headed["title"]) if headed else ""
        title = title or _plain(f"{number} {' '.join(text.split()[:FIRST_WORDS])}")
        essays[title if title not in essays else f"{title} ({number})"] = f"{text}\n"
    return [(title, text) for title, text in essays.items() if text.strip()]


def _plain(words: str) -> str:
    return HARD_TO_NAME.sub(" ", words).strip()[:LONGEST_TITLE].strip()


def _add_sample(tx: Tx, path: Path, columns: Mapping[str, str], actor: str | None) -> tuple[int, int]:
    """Import a sample that was drawn elsewhere, from the items that systems of the study have decided on."""
    sample = read_sample(path, columns=columns)
    ids = _ids_of_items(tx, Table("sample", sample.frame, sample.name))
    drawn = pl.col("item").cast(pl.String).replace_strict(ids, return_dtype=pl.String)
    sample = replace(sample, frame=sample.frame.with_columns(drawn))
    if sample.meta is not None and sample.meta.items:
        kinds = {each.kind for each in content.items_of(tx, list(ids.values())).values()}
        for some in (kinds, set[str]()):
            decided = decision_columns(tx, some)["item"].unique().to_list()
            named = content.items_of(tx, decided)
            if items_hash(each.outside_id or name for name, each in named.items()) == sample.meta.items:
                extra = {**sample.meta.extra, **({samples.OF_KIND: min(some)} if len(some) == 1 else {})}
                sample = replace(sample, meta=replace(sample.meta, items=items_hash(decided), extra=extra))
                break
        else:
            message = "expected a sample of the items that the study has decisions on, found one of other items"
            raise BadInput(Problem(str(path), f"{message}; import the decisions it was drawn from"))
    n_new = samples.add(tx, require_name(bare_name(path.name)), sample, actor=actor)
    return n_new, len(sample) - n_new


def name_of(essay: Essay) -> str:
    """The name of an essay for people: its imported name, else its id."""
    return str(essay.metadata.get(NAME) or essay.essay_id)
