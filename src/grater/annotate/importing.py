"""Files into a study: essays in every corpus format, and tables of items, decisions, judgments, gold and practice.

All files of one call come in together or not at all.  Importing the same file again changes nothing and is not an
error; an essay that is there with another text is one, and so is a system whose decisions have changed.

Essays may also be pasted into a page, several at once with a line of three hyphens or more between two.  A first line
that begins with `#` is the title of its essay and no part of it; an essay without one is called by its number and its
first words.  Files of plain text keep their names.

Judgments that were made elsewhere become a closed job: one unit per item, one submission per judgment.  Raters become
people of the study who cannot log in.  Items that the study does not have are kept by their names, with no place in
an essay.  A judgment keeps its status, seconds, time, flags, alternatives, confidence and payload; its body is its
row, every cell that says something.

A file of half a million judgments becomes a million and a half rows.  They go to the database in slices, in the order
of their units, by columns: COPY on PostgreSQL, the driver's `executemany` on SQLite.  SQLAlchemy's own insert takes
2.5 times as long on SQLite and 5 times as long on PostgreSQL.  Columns that hold JSON hold its text already
(`schema.to_text`); columns that are left out get their defaults.  All of it happens in one transaction, under the
constraints of the schema, on PostgreSQL if need be all at its end (`loading`).
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import date, time
from math import isfinite, isnan
from pathlib import Path, PurePath
from typing import Any, Literal, TypeAlias, get_args

import polars as pl
from sqlalchemy import Table as SqlTable
from sqlalchemy import func, select
from sqlalchemy import text as sql
from sqlalchemy.exc import DBAPIError

from grater.annotate import content, jobs, people
from grater.annotate.content import StudyItem
from grater.annotate.gold import add_gold
from grater.annotate.judgments import GROUP
from grater.annotate.requests import Body
from grater.annotate.store import Store, events, schema
from grater.annotate.store.events import VERBS
from grater.annotate.store.schema import to_text
from grater.annotate.store.transaction import (
    ONE,
    PORTION,
    Record,
    Tx,
    from_iso,
    hashed,
    new_id,
    new_shuffle,
    require_time,
)
from grater.annotate.systems import require_same_decisions
from grater.annotate.tasks import TASKS
from grater.annotate.terms import IMPORTED
from grater.corpora import FORMATS, format_for, read_corpus
from grater.corpora.formats import EssayIds, parse_json
from grater.corpora.source import files_of
from grater.errors import BadInput, Problem, Problems
from grater.model import ADJUDICATED, PROGRAM, Decision, Essay, Item, Json, Span, is_adjudicated
from grater.result import Data, key
from grater.tables import Judgments, Table, read_decisions, read_gold, read_items, read_judgments
from grater.tables.read import ANY
from grater.tables.schema import VALID

ESCAPES = (("\\", r"\\"), ("\t", r"\t"), ("\n", r"\n"), ("\r", r"\r"))
"""What COPY's text format asks to be escaped, the backslash first."""

LOADED = (schema.units, schema.unit_items, schema.slots, schema.submissions, schema.judgments)
"""The tables into which judgments go, many rows each."""

REFERENCES = sql("""SELECT conrelid::regclass::text AS child, confrelid::regclass::text AS parent,
    quote_ident(conname) AS name, pg_get_constraintdef(oid) AS definition
    FROM pg_constraint WHERE contype = 'f' AND conrelid::regclass::text = ANY(:names) ORDER BY oid""")
INDEXES = sql("""SELECT indexrelid::regclass::text AS name, pg_get_indexdef(indexrelid) AS definition FROM pg_index
    WHERE indrelid::regclass::text = ANY(:names)
    AND NOT EXISTS (SELECT FROM pg_constraint WHERE conindid = indexrelid) ORDER BY indexrelid""")
"""Of tables; indexes of keys are constraints, and stay."""

AT_A_TIME = 65_536
"""Rows in one piece of COPY's text."""


def insert(tx: Tx, table: SqlTable, frame: pl.DataFrame) -> None:
    """Insert the rows of a frame, whose columns are called as those of the table."""
    require_time()
    if frame.is_empty():
        return
    cursor: Any = tx.connection.connection.cursor()
    base: Any = tx.connection.dialect.loaded_dbapi.Error
    columns = ", ".join(f'"{name}"' for name in frame.columns)
    try:
        if tx.is_postgres:
            with cursor.copy(f"COPY {table.name} ({columns}) FROM STDIN") as copy:
                for piece in frame.iter_slices(AT_A_TIME):
                    copy.write(_as_text(piece))
        else:
            cells = ", ".join("?" * frame.width)
            cursor.executemany(f"INSERT INTO {table.name} ({columns}) VALUES ({cells})", frame.iter_rows())
    except base as error:  # as it would be elsewhere
        raise DBAPIError.instance(None, None, error, base, dialect=tx.connection.dialect) from error


def _as_text(frame: pl.DataFrame) -> str:
    texts = pl.selectors.string()
    for raw, escaped in ESCAPES:
        frame = frame.with_columns(texts.str.replace_all(raw, escaped, literal=True))
    return frame.write_csv(include_header=False, separator="\t", quote_style="never", null_value=r"\N")


@contextmanager
def loading(tx: Tx, *, n_rows: int, tables: Sequence[SqlTable] = LOADED) -> Iterator[None]:
    """Make room for many rows: PostgreSQL asks of all at the end what it would ask of each, which takes a third.

    A new index sorts what there is, and a new reference is checked by one join.  Where a table holds more already
    than is to come, nothing of it is set aside.  Everybody else waits for these tables until the end, so nothing is
    dropped while somebody has a unit to judge, or uses one of the tables this moment; nor where they belong to
    another user of the database.
    """
    held = select(ONE).where(schema.leases.c.state == "held", schema.leases.c.expires_at > tx.now).limit(ONE)
    names: list[str] = []
    if tx.is_postgres and not tx.value(held):
        names = [each.name for each in tables if n_rows > tx.value(select(func.count()).select_from(each))]
    set_aside = _set_aside(tx, names) if names else []
    yield
    for definition in set_aside:
        tx.connection.exec_driver_sql(definition)


def _set_aside(tx: Tx, names: Sequence[str]) -> list[str]:
    """Drop the references and indexes of tables and return their definitions."""
    references, indexes = tx.all(REFERENCES, names=list(names)), tx.all(INDEXES, names=list(names))
    locked = sorted({*names, *(each.parent for each in references)})
    try:
        with tx.connection.begin_nested():
            tx.connection.exec_driver_sql(f"LOCK TABLE {', '.join(locked)} IN ACCESS EXCLUSIVE MODE NOWAIT")
            for each in references:
                tx.connection.exec_driver_sql(f"ALTER TABLE {each.child} DROP CONSTRAINT {each.name}")
            for each in indexes:
                tx.connection.exec_driver_sql(f"DROP INDEX {each.name}")
    except DBAPIError:
        return []
    again = [f"ALTER TABLE {each.child} ADD CONSTRAINT {each.name} {each.definition}" for each in references]
    return [*(each.definition for each in indexes), *again]


def new_ids(n: int) -> pl.Series:
    """Sorted: rows that come in the order of their key are inserted faster."""
    return pl.Series(sorted(new_id() for _ in range(n)), dtype=pl.String)


def add_units(tx: Tx, job_id: str, new: pl.DataFrame) -> pl.Series:
    """Add work units of one item each, every slot of them filled; return their ids in order.

    Columns of `new`: `item_id, essay_id, stage, wanted`.  Rows, slots and events are those of `units.add_all`.
    """
    last = int(tx.value(select(func.max(schema.units.c.position)).where(schema.units.c.job_id == job_id)) or 0)
    added = new.with_columns(
        new_ids(new.height).alias("unit_id"),
        pl.int_range(last + 1, last + 1 + new.height).alias("position"),
        pl.Series("shuffle", [new_shuffle() for _ in range(new.height)], dtype=pl.Int64),
        job_id=pl.lit(job_id),
        batch=pl.lit(0),
    )
    insert(tx, schema.units, added.drop("item_id"))
    insert(tx, schema.unit_items, added.select("unit_id", pl.lit(0).alias("position"), "item_id"))
    numbered = added.with_columns(n=pl.int_ranges(1, pl.col("wanted") + 1)).filter(pl.col("wanted") > 0).explode("n")
    slots = numbered.select("unit_id", "n", "job_id", "batch", "shuffle", state=pl.lit("filled"))
    insert(tx, schema.slots, slots)
    _log(tx, "units.added", job_id, added.select(wanted=pl.format('"{}":{}', "unit_id", "wanted")))
    return added["unit_id"]


def add_submissions(tx: Tx, job_id: str, sent: pl.DataFrame) -> None:
    """Store submissions of one judgment each, as `submissions.store_all` does, with an event for each portion.

    Columns of `sent`: those of `submissions` but for its id, job and lease, and those of `judgments`.
    """
    sent = sent.with_columns(new_ids(sent.height).alias("submission_id"), job_id=pl.lit(job_id), position=pl.lit(0))
    own = [column.name for column in schema.submissions.columns if column.name in sent.columns]
    insert(tx, schema.submissions, sent.select(own))
    insert(tx, schema.judgments, sent.select(column.name for column in schema.judgments.columns))
    n = pl.col("n").cast(pl.String).fill_null("null")
    names = ("submission_id", "unit_id", "person_id", "status", n, "body_hash")
    _log(tx, "submissions.imported", job_id, sent.select(stored=pl.format('"{}":["{}","{}","{}",{},"{}"]', *names)))


def add_decisions(tx: Tx, new: pl.DataFrame) -> int:
    """Add decisions of systems that have none yet, with an event, as `decisions.add_all` does; return the count.

    Columns of `new`: those of `decisions` but for the payload.
    """
    content.add_systems(tx, new["system"].unique().to_list())
    with loading(tx, n_rows=new.height, tables=(schema.decisions,)):
        insert(tx, schema.decisions, new.sort("system", "item_id"))
    events.write(tx, None, "decisions.added", "", {"n": new.height})
    return new.height


def _log(tx: Tx, verb: str, job_id: str, members: pl.DataFrame) -> None:
    """Log what was added to a job: an event for each portion of one column, whose cells are members of an object.

    Keys of JSON are sorted, and so are new ids.
    """
    if verb not in VERBS:
        raise ValueError(f"no such verb in grater.annotate.store.events: {verb}")
    (name,) = members.columns
    portion = pl.int_range(pl.len()) // PORTION
    portions = members.group_by(portion.alias("portion"), maintain_order=True).agg(pl.col(name).str.join(","))
    payload = pl.concat_str(pl.lit(f'{{"{name}":{{'), name, pl.lit("}}"))
    rows = portions.select(payload=payload, at=pl.lit(tx.now), verb=pl.lit(verb), noun=pl.lit(job_id))
    if tx.is_postgres:
        number = tx.value(sql("SELECT pg_current_xact_id()::text::bigint"))
        rows = rows.with_columns(transaction_id=pl.lit(number))
    insert(tx, schema.events, rows)


PLACE = ("item", "essay", "start", "end", "kind")
BETWEEN = re.compile(r"^-{3,}[ \t]*$", re.MULTILINE)
TITLE = re.compile(r"\A#+[ \t]*(?P<title>[^\n]+)\n")
HARD_TO_NAME = re.compile(r"[^\w ()+-]+")
LONGEST_TITLE = 60
FIRST_WORDS = 4
NAME = "name"
"""The metadata of an essay that says what its file or its paste was called."""


@dataclass(frozen=True, slots=True)
class Imported(Data):
    """What came of one file: rows that are new, rows that were there."""

    name: str = field(metadata=key("file"))
    kind: str
    new: int
    known: int = 0


def all_imports(tx: Tx) -> Sequence[Record]:
    return tx.all(select(schema.imports).order_by(schema.imports.c.at, schema.imports.c.import_id))


def start_import(tx: Tx, *, kind: str, name: str, sha256: str) -> str:
    """Note a file with the hash of its bytes and return the id of its import, to which its rows can then refer."""
    import_id = new_id()
    row = {"import_id": import_id, "kind": kind, "name": name, "sha256": sha256, "n_rows": 0, "at": tx.now}
    tx.insert(schema.imports, row | {"payload": {}})
    return import_id


Kind: TypeAlias = Literal["corpus", "items", "decisions", "judgments", "gold", "practice"]
KINDS: tuple[Kind, ...] = get_args(Kind)


def import_files(
    store: Store,
    *,
    corpora: Sequence[Path] = (),
    items: Sequence[Path] = (),
    decisions: Sequence[Path] = (),
    judgments: Sequence[Path] = (),
    gold: Sequence[Path] = (),
    practice: Sequence[Path] = (),
    format_name: str | None = None,
    job: str | None = None,
    task: str = "error",
    columns: Mapping[str, str] | None = None,
    actor: str | None = None,
) -> list[Imported]:
    """Bring files in, all or nothing; judgments, gold and practice go to the named `job`, made for judgments."""
    paths: dict[Kind, Sequence[Path]] = {"corpus": corpora, "items": items, "decisions": decisions}
    paths |= {"judgments": judgments, "gold": gold, "practice": practice}

    def bring(tx: Tx, path: Path, kind: Kind, import_id: str) -> tuple[int, int]:
        """The number of rows that are new, and of those that were there."""
        if kind == "corpus":
            return content.add_essays(tx, named_essays(path, format_name), import_id=import_id)
        if kind == "items":
            return _add_items(tx, read_items(path, columns=columns))
        if kind == "decisions":
            return _add_decisions(tx, read_decisions(path, columns=columns))
        if kind == "judgments":
            made = read_judgments(path, columns=columns, status=(ANY,))
            return add_judgments(tx, made, job=job or path.stem, task=task), 0
        known = read_gold(path, columns=columns)
        return add_gold(tx, known, _ids_of_items(tx, known), job=job, role=kind)

    with store.write() as tx:
        content.hold(tx)
        return [_import_one(tx, path, kind, bring, actor) for kind, some in paths.items() for path in some]


class Importing(Body):
    """Files of one kind; a `format` is that of a corpus, guessed from the names if empty."""

    kind: Kind
    format: str = ""
    job: str = ""
    task: str = "error"


def import_kind(store: Store, sent: Importing, paths: Sequence[Path], *, actor: str | None) -> list[Imported]:
    """What a form or a call sends."""
    by_kind: dict[str, Any] = {"corpora" if sent.kind == "corpus" else sent.kind: paths}
    job, format_name = sent.job or None, sent.format or None
    return import_files(store, **by_kind, format_name=format_name, job=job, task=sent.task, actor=actor)


def _import_one(
    tx: Tx, path: Path, kind: Kind, bring: Callable[[Tx, Path, Kind, str], tuple[int, int]], actor: str | None
) -> Imported:
    sha256 = fingerprint(path)
    same = select(schema.imports.c.n_rows).where(schema.imports.c.kind == kind, schema.imports.c.sha256 == sha256)
    earlier = tx.first(same.order_by(schema.imports.c.at))
    if earlier is not None:
        return Imported(str(path), kind, 0, earlier.n_rows)
    import_id = start_import(tx, kind=kind, name=path.name, sha256=sha256)
    n_new, n_known = bring(tx, path, kind, import_id)
    n_rows = n_new + n_known
    tx.execute(schema.imports.update().where(schema.imports.c.import_id == import_id).values(n_rows=n_rows))
    events.write(tx, actor, "import.done", import_id, {"n_rows": n_rows})
    return Imported(str(path), kind, n_new, n_known)


def fingerprint(path: Path) -> str:
    """A hash of a file, or of a folder's files with their names."""
    total = hashlib.sha256()
    for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
        if file.is_file():
            total.update(f"{file.relative_to(path) if path.is_dir() else ''}\0".encode())
            with file.open("rb") as stream:
                total.update(hashlib.file_digest(stream, "sha256").digest())
    return total.hexdigest()


def _add_items(tx: Tx, table: Table) -> tuple[int, int]:
    texts = {essay.essay_id: essay for essay in content.essays_of(tx, _column(table, "essay"))}
    n_new = content.add_items(tx, _placed(table, texts))
    return n_new, len(table) - n_new


def _placed(table: Table, by_id: Mapping[str, Essay]) -> Iterator[StudyItem]:
    """The items of a table, each held against its essay: inside the text, and on the words that it names."""
    problems = Problems(table.name)
    for number, row in enumerate(table.frame.iter_rows(named=True), 2):
        item = Item(str(row["essay"]), Span(row["start"], row["end"]), str(row["kind"]))
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
    if not item.span.start <= item.span.end <= len(essay.text):
        return f"expected a span inside the essay ({len(essay.text)} characters), found {item.span}"
    target = row.get("target")
    if target is not None and target != item.span.of(essay.text):
        return f"expected {target!r} at {item.span.start}-{item.span.end}, found {item.span.of(essay.text)!r}"
    return ""


def _add_decisions(tx: Tx, table: Table) -> tuple[int, int]:
    ids = _ids_of_items(tx, table)
    # The decisions of a table as the study keeps them.
    left_out = [
        pl.lit(None).alias(name) for name in ("score", "type", "suggestion") if name not in table.frame.columns
    ]
    item = pl.col("item").cast(pl.String).replace_strict(list(ids), list(ids.values()), return_dtype=pl.String)
    frame = table.frame.with_columns(*left_out).select(
        pl.col("system").cast(pl.String),
        item.alias("item_id"),
        "flagged",
        pl.col("score").cast(pl.Float64),
        pl.col("type").cast(pl.String).fill_null(""),
        pl.col("suggestion").cast(pl.String),
    )
    is_known = pl.col("system").is_in(content.system_names(tx))
    known, new = frame.filter(is_known), frame.filter(~is_known)
    n_new = add_decisions(tx, new) if len(new) else 0
    if len(known):
        decided = [Decision(**row) for row in known.iter_rows(named=True)]
        require_same_decisions(tx, decided)
        n_new += content.add_decisions(tx, decided)
    return n_new, len(table) - n_new


def _column(table: Table, name: str) -> list[str]:
    return [str(value) for value in table.frame[name].to_list()]


def _ids_of_items(tx: Tx, table: Table) -> dict[str, str]:
    """Item ids by the names that a table uses; items that the study does not have are refused."""
    wanted = _column(table, "item")
    known, problems = content.items_by_name(tx, wanted), Problems(table.name)
    for number, each in enumerate(wanted, 2):
        if each not in known:
            problems.add(f"expected an item of the study, found {each!r}; import its items first", line=number)
    problems.done()
    return known


def pasted_essays(pasted: str) -> list[tuple[str, str]]:
    """The title and the text of each essay that was pasted, all titles different."""
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


def named_essays(path: Path, format_name: str | None) -> Iterator[Essay]:
    """The essays of a file or folder; where they are plain text, each knows the name of its file."""
    chosen = format_for(path, format_name)
    if chosen is not FORMATS["text"]:
        yield from read_corpus(path, format_name=format_name)
        return
    ids = EssayIds()
    for file in files_of(path, chosen):
        for essay in read_corpus(file, format_name="text"):
            yield replace(essay, essay_id=ids.of_document(essay.essay_id), metadata={NAME: file.stem})


def name_of(essay: Essay) -> str:
    """What people call an essay: the name that it came with, else its id."""
    return str(essay.metadata.get(NAME) or essay.essay_id)


# Judgments that were made elsewhere


GROUP_ROLES = {"expert": "annotator", "annotator": "annotator"}
"""What people of a group become in a study; those of any other group are workers."""

UNITS_AT_A_TIME = 20_000

UNIT, STATUS, SLOT = "_unit", "_status", "_n"
"""Columns that are added to those of the table: the number of the unit, the status, the slot that it fills."""


def add_judgments(tx: Tx, table: Judgments, *, job: str, task: str) -> int:
    """Add every judgment of a table under a new job; return the count."""
    rows = _in_units(table.frame)
    stage = pl.col("stage").first().cast(pl.String).fill_null("") if "stage" in rows.columns else pl.lit("")
    units = rows.group_by(UNIT, maintain_order=True).agg(
        pl.col("item").first().cast(pl.String),
        n_rows=pl.len(),
        wanted=(pl.col(STATUS) == VALID).sum().cast(pl.Int64),
        stage=stage,
    )
    most = max(units["n_rows"])
    options = {IMPORTED: PurePath(table.name).name}
    made = jobs.add(tx, name=job, task=TASKS[task].name, judgments=most, options=options)
    units = units.with_columns(_places(tx, units["item"].to_list()))
    # People by the names of raters; somebody who is in the study already is the same person.
    first = rows.unique("rater", keep="first", maintain_order=True)
    names = [str(name) for name in first["rater"].to_list()]
    groups = first["group"].to_list() if "group" in rows.columns else [None] * len(names)
    by_name, systems = people.ids_by_name(tx), set(content.system_names(tx))
    new = [
        _rater(name, str(group or (ADJUDICATED if is_adjudicated(name) else PROGRAM if name in systems else "")))
        for name, group in zip(names, groups, strict=True)
        if name not in by_name
    ]
    raters = by_name | people.add_raters(tx, new)
    with loading(tx, n_rows=rows.height):
        for of_units, judged in _slices(units, rows):
            unit_ids = add_units(tx, made.job_id, of_units.select("item_id", "essay_id", "stage", "wanted"))
            placed = of_units.select(UNIT, "item_id", unit_ids.alias("unit_id"))
            sent = judged.select(UNIT, n=SLOT, status=STATUS).join(placed, on=UNIT, how="left", maintain_order="left")
            own = judged.drop(UNIT, STATUS, SLOT)
            add_submissions(tx, made.job_id, sent.drop(UNIT).hstack(_cells(own, raters, tx.now)))
    jobs.set_state(tx, made.job_id, "closed")
    return rows.height


def _rater(name: str, group: str) -> tuple[str, str, str, dict[str, Json]]:
    """Name, role, kind and payload of a new rater; the payload has a group that role and kind do not say."""
    kind = PROGRAM if group == PROGRAM else "human"
    return name, GROUP_ROLES.get(group, "worker"), kind, {GROUP: group} if group in (ADJUDICATED, "writer") else {}


def _in_units(frame: pl.DataFrame) -> pl.DataFrame:
    """The rows of each item together, items in the order of their first rows; only valid judgments have a slot."""
    units = frame.select(pl.col("item").unique(maintain_order=True)).with_row_index(UNIT)
    rows = frame.join(units, on="item", how="left", maintain_order="left").sort(UNIT, maintain_order=True)
    is_valid = pl.col(STATUS) == VALID
    n = pl.when(is_valid).then(is_valid.cast(pl.Int64).cum_sum().over(UNIT))
    return rows.with_columns(_status(frame).alias(STATUS)).with_columns(n.alias(SLOT))


def _status(frame: pl.DataFrame) -> pl.Expr:
    """A status that the study does not know is that of a judgment which does not count."""
    if "status" not in frame.columns:
        return pl.lit(VALID)
    given = pl.col("status").cast(pl.String)
    is_known = given.is_in(schema.STATUSES)
    is_blank = given.is_null() | (given == "")
    return pl.when(is_blank).then(pl.lit(VALID)).when(is_known).then(given).otherwise(pl.lit("withdrawn"))


def _places(tx: Tx, names: Sequence[str]) -> list[pl.Series]:
    """Ids and essays of items; those that the study does not have are added."""
    known = content.item_places(tx, names)
    new = [name for name in names if name not in known]
    insert(tx, schema.items, pl.DataFrame({"item_id": new}, schema={"item_id": pl.String}))
    places = [known.get(name, (name, None)) for name in names]
    return [
        pl.Series("item_id", [item_id for item_id, _ in places], dtype=pl.String),
        pl.Series("essay_id", [essay_id for _, essay_id in places], dtype=pl.String),
    ]


def _slices(units: pl.DataFrame, rows: pl.DataFrame) -> Iterator[tuple[pl.DataFrame, pl.DataFrame]]:
    start = 0
    for some in units.iter_slices(UNITS_AT_A_TIME):
        n_rows = int(some["n_rows"].sum())
        yield some, rows.slice(start, n_rows)
        start += n_rows


CELLS = {
    **dict.fromkeys(("person_id", "body", "body_hash"), pl.String),
    "seconds": pl.Float64,
    "at": pl.Int64,
    **dict.fromkeys(("label", "confidence", "flags", "alternatives", "payload"), pl.String),
}


def _cells(rows: pl.DataFrame, raters: Mapping[str, str], now: int) -> pl.DataFrame:
    """The columns of submissions and judgments that the rows of the table fill; a body is its row."""
    filled = []
    for row in rows.iter_rows(named=True):
        body, confidence = to_text(as_json(row)), row.get("confidence")
        filled.append(
            (
                *(raters[str(row["rater"])], body, hashed(body)),
                *(row.get("seconds"), _time(row.get("at"), now)),
                *(str(row["label"]), "" if confidence is None else f"{confidence:g}"),
                *(_entries(row.get("flags")), _entries(row.get("alternatives")), _payload(row)),
            )
        )
    return pl.DataFrame(filled, CELLS, orient="row")


def _entries(cell: str | None) -> str:
    return to_text([part.strip() for part in cell.split("|") if part.strip()]) if cell else "[]"


def _payload(row: Mapping[str, Any]) -> str:
    """As the study spells it."""
    text = row.get("payload") or "{}"
    try:
        payload = parse_json(text) if text != "{}" else {}
    except ValueError:
        payload = None
    if not isinstance(payload, dict):
        message = f"payload of item {row['item']!r}: expected a JSON object, found {text[:60]!r}"
        raise BadInput(Problem("judgments", message))
    return to_text(payload)


def as_json(row: Mapping[str, Any]) -> dict[str, Json]:
    """The cells of a row that say something, as JSON; dates and other kinds of a table become their words."""
    return {name: _cell(value) for name, value in row.items() if not _is_blank(value)}


def _is_blank(value: object) -> bool:
    return value is None or (isinstance(value, float) and isnan(value))


def _cell(value: Any) -> Json:
    if isinstance(value, bool | int | str) or (isinstance(value, float) and isfinite(value)):
        return value
    if isinstance(value, Mapping):
        return as_json(value)
    if isinstance(value, list):
        return [None if _is_blank(each) else _cell(each) for each in value]
    return value.isoformat() if isinstance(value, date | time) else str(value)


def _time(text: object, now: int) -> int:
    """When it was judged, where the table says so in a form that we can read."""
    try:
        return from_iso(str(text)) if text else now
    except ValueError:
        return now
