"""A table of texts (`.csv`, `.tsv`, `.xlsx`): one essay per row, with columns `id` and `text`.

Every other column is metadata of the essay, as text; empty cells are skipped. Spreadsheet conventions (semicolons,
byte-order marks, guarded formulas) are handled as in every other table (`grater.tables.files`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from grater.corpora.formats import FileFormat, Loss, Report, Source, unmarked_losses, whole_text
from grater.errors import BadInput, Problem, Problems
from grater.model import Essay

if TYPE_CHECKING:
    from grater.tables.schema import Raw, Schema

CELLS = "a table of texts holds ids, texts and words about them"


def texts_schema() -> Schema:
    from grater.tables.schema import Column, Schema

    essay_id = Column("id", required=True, synonyms=("essay", "essay_id", "name", "file"))
    text = Column("text", required=True, synonyms=("essay_text", "content"))
    return Schema("texts", (essay_id, text), key=("id",))


def read_table_of_texts(source: Source, columns: Mapping[str, str] | None = None) -> Iterator[Essay]:
    """The essays of a table; `columns` says what it calls `id` and `text`."""
    from grater.tables.files import read_delimited  # polars, which other formats need not wait for
    from grater.tables.read import matched

    raw = read_delimited("".join(source.lines()), name=source.name, separator="\t" if ".tsv" in source.name else ",")
    _refuse_other_tables(raw)
    named = matched(texts_schema(), raw, columns).columns
    problems, seen = Problems(source.name), dict[str, int]()
    lines = raw.lines.to_list() if raw.lines is not None else []
    for line, essay_id, text, *rest in zip(lines, *(series.to_list() for series in named.values()), strict=True):
        if not essay_id:
            problems.add("expected an id in column 'id', found an empty cell", line=line)
        elif essay_id in seen:
            problems.add(f"expected each id once, found {essay_id!r} in line {seen[essay_id]} too", line=line)
        else:
            seen[essay_id] = line
            metadata = {name: cell for name, cell in zip(list(named)[2:], rest, strict=True) if cell}
            yield Essay(essay_id, text or "", metadata=metadata, line=line)
    problems.done()


def _refuse_other_tables(raw: Raw) -> None:
    """Refuse decisions or judgments given as texts."""
    from grater.tables.schema import kind_of

    kind = kind_of(raw.columns)
    if kind and "text" not in raw.columns:
        message = f"expected texts (columns id and text), found a table of {kind}"
        raise BadInput(Problem(raw.name, f"{message}; import it as `{kind}`", 1))


def write_table_of_texts(essays: Iterable[Essay], report: Report) -> Iterator[str]:
    import polars as pl

    from grater.tables.files import guarded_frame

    rows: list[dict[str, str]] = []
    for essay in essays:
        row = {"id": essay.essay_id, "text": essay.text.replace("\0", "")}
        for name, value in essay.metadata.items():
            if isinstance(value, str) and value and name == name.strip() and name not in ("", "id", "text"):
                row[name] = value
            else:
                report(Loss(essay.essay_id, f"metadata {name}", CELLS))
        for loss in unmarked_losses(essay, CELLS):
            report(loss)
        whole_text("".join(row.values()), essay.essay_id)
        rows.append(row)
    names = dict.fromkeys(["id", "text", *(name for row in rows for name in row)])
    frame = pl.DataFrame({name: pl.Series([row.get(name) for row in rows], dtype=pl.String) for name in names})
    yield guarded_frame(frame).write_csv()


FORMAT = FileFormat("table", (".csv", ".tsv", ".xlsx"), read_table_of_texts, write_table_of_texts)
