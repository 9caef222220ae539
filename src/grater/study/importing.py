"""Files into a study: essays in every corpus format, and tables of items, decisions, judgments, gold and practice.

All files of one call come in together or not at all.  Importing the same file again changes nothing and is not an
error; an essay that is there with another text is one, and so is a system whose decisions have changed.

Essays may also be pasted into a page, several at once with a line of three hyphens or more between two.  A first line
that begins with `#` is the title of its essay and no part of it; an essay without one is called by its number and its
first words.  Files of plain text keep their names.

Judgments that were made elsewhere become a closed job (`study.judgments`).
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from grater.corpora import FORMATS, format_for, read_corpus
from grater.corpora.identity import EssayIds
from grater.corpora.source import files_of
from grater.errors import Problems
from grater.model import Decision, Essay, Item, Json, Span
from grater.store import Store, Tx, decisions, dump, essays, items
from grater.store.items import StudyItem
from grater.study.gold import add_gold
from grater.study.judgments import add_judgments, as_json
from grater.study.systems import require_same_decisions
from grater.tables import Table, read_decisions, read_gold, read_items, read_judgments
from grater.tables.judgments import ANY

PLACE = ("item", "essay", "start", "end", "kind")
BETWEEN = re.compile(r"^-{3,}[ \t]*$", re.MULTILINE)
TITLE = re.compile(r"\A#+[ \t]*(?P<title>[^\n]+)\n")
HARD_TO_NAME = re.compile(r"[^\w ()+-]+")
LONGEST_TITLE = 60
FIRST_WORDS = 4
NAME = "name"
"""The metadata of an essay that says what its file or its paste was called."""


@dataclass(frozen=True, slots=True)
class Imported:
    """What came of one file: rows that are new, rows that were there."""

    name: str
    kind: str
    new: int
    known: int = 0

    def to_dict(self) -> dict[str, Json]:
        return {"file": self.name, "kind": self.kind, "new": self.new, "known": self.known}


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
    asked = [
        *((path, "corpus", lambda tx, path, key: _corpus(tx, path, key, format_name)) for path in corpora),
        *((path, "items", lambda tx, path, _: _items(tx, path, columns)) for path in items),
        *((path, "decisions", lambda tx, path, _: _decisions(tx, path, columns)) for path in decisions),
        *((path, "judgments", lambda tx, path, _: _judgments(tx, path, columns, job, task)) for path in judgments),
        *((path, "gold", lambda tx, path, _: _gold(tx, path, columns, job, "gold")) for path in gold),
        *((path, "practice", lambda tx, path, _: _gold(tx, path, columns, job, "practice")) for path in practice),
    ]
    with store.write() as tx:
        essays.hold(tx)
        return [_one(tx, path, kind, bring, actor) for path, kind, bring in asked]


def _one(
    tx: Tx, path: Path, kind: str, bring: Callable[[Tx, Path, str], tuple[int, int]], actor: str | None
) -> Imported:
    sha256 = fingerprint(path)
    earlier = dump.find_import(tx, kind=kind, sha256=sha256)
    if earlier is not None:
        return Imported(str(path), kind, 0, earlier.n_rows)
    import_id = dump.start_import(tx, kind=kind, name=path.name, sha256=sha256)
    n_new, n_known = bring(tx, path, import_id)
    dump.finish_import(tx, import_id, n_rows=n_new + n_known, actor=actor)
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


def _corpus(tx: Tx, path: Path, import_id: str, format_name: str | None) -> tuple[int, int]:
    return essays.add_all(tx, named_essays(path, format_name), import_id=import_id)


def _items(tx: Tx, path: Path, columns: Mapping[str, str] | None) -> tuple[int, int]:
    table = read_items(path, columns=columns)
    texts = {essay.essay_id: essay for essay in essays.of_ids(tx, _column(table, "essay"))}
    n_new = items.add_all(tx, _placed(table, texts))
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
        yield items.of(item, outside_id=str(row["item"]), payload=payload)
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


def _decisions(tx: Tx, path: Path, columns: Mapping[str, str] | None) -> tuple[int, int]:
    table = read_decisions(path, columns=columns)
    ids = items.by_name(tx, _column(table, "item"))
    _require_known(table.name, _column(table, "item"), ids)
    require_same_decisions(tx, _decided(table, ids))
    n_new = decisions.add_all(tx, _decided(table, ids))
    return n_new, len(table) - n_new


def _decided(table: Table, ids: Mapping[str, str]) -> Iterator[Decision]:
    for row in table.frame.iter_rows(named=True):
        yield Decision(
            item_id=ids[str(row["item"])],
            system=row["system"],
            flagged=row["flagged"],
            score=row.get("score"),
            type=row.get("type") or "",
            suggestion=row.get("suggestion"),
        )


def _judgments(tx: Tx, path: Path, columns: Mapping[str, str] | None, job: str | None, task: str) -> tuple[int, int]:
    table = read_judgments(path, columns=columns, status=(ANY,))
    return add_judgments(tx, table, job=job or path.stem, task=task), 0


def _gold(
    tx: Tx, path: Path, columns: Mapping[str, str] | None, job: str | None, role: Literal["gold", "practice"]
) -> tuple[int, int]:
    table = read_gold(path, columns=columns)
    ids = items.by_name(tx, _column(table, "item"))
    _require_known(table.name, _column(table, "item"), ids)
    return add_gold(tx, table, ids, job=job, role=role)


def _column(table: Table, name: str) -> list[str]:
    return [str(value) for value in table.frame[name].to_list()]


def _require_known(name: str, wanted: Sequence[str], known: Mapping[str, str]) -> None:
    problems = Problems(name)
    for number, each in enumerate(wanted, 2):
        if each not in known:
            problems.add(f"expected an item of the study, found {each!r}; import its items first", line=number)
    problems.done()


KINDS = ("corpus", "items", "decisions", "judgments", "gold", "practice")


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
