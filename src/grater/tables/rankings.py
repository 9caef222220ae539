"""Rankings of several corrections of one sentence: our table, pairwise tables, and Appraise XML.

The table has one row for each ranked output: `item, rater, system, rank`, 1 the best, equal ranks for ties.  Systems
that wrote the same words share a row (`A|B`), or have the same `output`; in either case they are one candidate, which
stands for all of them.  A rater who ranks a sentence twice does so in two rankings, distinguished by the column
`ranking`.  A pairwise table has one row per comparison: `item, rater, first, second, better`, the last being the name
of one of the two, `first`, `second` or `tie`.

Appraise XML is that of Grundkiewicz, Junczys-Dowmunt & Gillian (2015): a `ranking-item` has the sentence's number,
from 0 (`src-id`), and the judge (`user`); each `translation` has a rank, and the systems that wrote it with blanks
between their names.  `doc-id` there is a page of the tool, not a document.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from xml.parsers import expat

import polars as pl

from grater.errors import BadInput, Problem, Problems, UsageError
from grater.tables.files import Source, as_path, extension, load, read_text
from grater.tables.read import matched
from grater.tables.schema import PLACE, SCHEMAS, Duplicates, Raw, add, checked, entries, kind_of, without_duplicates

CANDIDATE, RANKING = "candidate", "ranking"
TIES = ("tie", "equal", "both", "0", "=")
"""The words of a pairwise table for a tie; case does not matter."""


@dataclass(frozen=True, slots=True, eq=False)
class Rankings:
    """A row for each system of each candidate: `ranking`, `item`, `rater`, `system`, `candidate`, `rank` and others.

    A ranking of nothing has a row without a system.  `first_item` is the number of the first sentence where items are
    numbers.
    """

    frame: pl.DataFrame
    name: str
    first_item: int = 1
    dropped: Mapping[str, int] = field(default_factory=dict)

    def __len__(self) -> int:
        return self.frame[RANKING].n_unique()


def read_rankings(
    source: Source,
    *,
    columns: Mapping[str, str] | None = None,
    duplicates: Duplicates = "error",
    name: str | None = None,
) -> Rankings:
    """Rankings from a table of any type, a table of pairs, a frame, or Appraise XML."""
    path = as_path(source)
    if path is not None and extension(path) == ".xml":
        return _of_xml(read_text(path), name=name or str(path))
    raw = load(source, name=name or "rankings frame")
    is_pairs = kind_of(raw.columns) == "preferences" or bool({"first", "second", "better"} & set(columns or ()))
    if is_pairs and "rank" not in (columns or ()):
        return _of_pairs(raw, columns)
    schema = SCHEMAS["rankings"]
    raw = matched(schema, raw, columns)
    frame, dropped = without_duplicates(schema, checked(schema, raw), raw, duplicates)
    of_one = ["item", "rater", *([RANKING] if RANKING in frame.columns else [])]
    frame = frame.with_row_index(CANDIDATE).with_columns(
        pl.struct(of_one).rank("dense").alias(RANKING), entries("system").list.unique()
    )
    if "output" in frame.columns:  # the same words at the same rank are one candidate
        words = pl.col("output").str.replace_all(r"\s+", " ").str.strip_chars()
        shared = pl.col(CANDIDATE).first().over(RANKING, words, "rank")
        own = pl.when(pl.col("output").is_null()).then(CANDIDATE).otherwise(shared)
        frame = frame.with_columns(own.alias(CANDIDATE))
    frame = frame.explode("system")
    _require_once(frame, raw.name)
    return Rankings(frame, raw.name, dropped=dropped)


def _require_once(frame: pl.DataFrame, name: str) -> None:
    twice = frame.filter(pl.struct(RANKING, "system").is_duplicated())
    if len(twice):
        item, rater, system = twice.select("item", "rater", "system").row(0)
        where = f"item {item!r}, rater {rater!r}, system {system!r}"
        wish = "number the rankings in a column 'ranking' if the rater ranked the sentence more than once"
        raise BadInput(Problem(name, f"expected {where} once, found it in several rows; {wish}"))


def _of_pairs(raw: Raw, columns: Mapping[str, str] | None) -> Rankings:
    """Every row is a ranking of two."""
    schema = SCHEMAS["preferences"]
    raw = matched(schema, raw, columns)
    frame = checked(schema, raw).with_row_index(RANKING)
    better, problems = pl.col("better").str.strip_chars(), Problems(raw.name)
    is_first = (better == pl.col("first")) | (better.str.to_lowercase() == "first")
    is_second = (better == pl.col("second")) | (better.str.to_lowercase() == "second")
    is_known = is_first | is_second | better.str.to_lowercase().is_in(TIES)
    for place, found in frame.filter(~is_known).select(PLACE, "better").iter_rows():
        expected = "one of the two systems, first, second or tie"
        add(problems, raw, place, f"expected {expected} in 'better', found {found!r}")
    for place, found in frame.filter(pl.col("first") == pl.col("second")).select(PLACE, "first").iter_rows():
        add(problems, raw, place, f"expected two systems, found {found!r} twice")
    problems.done()
    parts = [
        frame.with_columns(
            pl.lit(at, pl.UInt32).alias(CANDIDATE),
            system=pl.col(side),
            rank=pl.when(is_worse).then(2.0).otherwise(1.0),
        )
        for at, (side, is_worse) in enumerate({"first": is_second, "second": is_first}.items())
    ]
    long = pl.concat(parts).drop("first", "second", "better", PLACE).sort(RANKING, CANDIDATE)
    return Rankings(long, raw.name)


def _of_xml(text: str, *, name: str) -> Rankings:
    problems = Problems(name)
    parser = expat.ParserCreate("utf-8")
    rows: list[tuple[int, str, str, int, str | None, float | None]] = []
    item, rater, n, n_candidates = "", "", 0, 0

    def start(element: str, attributes: dict[str, str]) -> None:
        nonlocal item, rater, n, n_candidates
        wanted = {"ranking-item": ("src-id", "user"), "translation": ("rank", "system")}.get(element, ())
        if missing := [each for each in wanted if each not in attributes]:
            message = f"expected <{element}> with {' and '.join(wanted)}, found none of {', '.join(missing)}"
            problems.add(message, line=parser.CurrentLineNumber)
        elif element == "ranking-item":
            item, rater, n = attributes["src-id"], attributes["user"], n + 1
            rows.append((n, item, rater, 0, None, None))
        elif element == "translation":
            if not attributes["rank"].isdecimal():
                message = f"expected a whole number as rank, found {attributes['rank']!r}"
                problems.add(message, line=parser.CurrentLineNumber)
                return
            rank, n_candidates = float(attributes["rank"]), n_candidates + 1
            systems = dict.fromkeys(attributes["system"].split())
            rows.extend((n, item, rater, n_candidates, system, rank) for system in systems)

    def refuse(*_: object) -> None:
        problems.add("expected no DTD, found one; remove the DOCTYPE", line=parser.CurrentLineNumber)
        problems.done()

    parser.StartElementHandler, parser.StartDoctypeDeclHandler = start, refuse
    try:
        parser.Parse(text.encode("utf-8", "surrogatepass"), True)
    except expat.ExpatError as error:
        problems.add(f"expected well-formed XML, found: {expat.ErrorString(error.code)}", line=error.lineno)
    problems.done()
    if not n_candidates:
        raise BadInput(Problem(name, "expected Appraise XML with <ranking-item> and <translation>, found none"))
    names = [RANKING, "item", "rater", CANDIDATE, "system", "rank"]
    frame = pl.DataFrame(rows, schema=names, orient="row")
    _require_once(frame, name)
    return Rankings(frame, name, first_item=0)


def with_documents(rankings: Rankings, documents: Source) -> Rankings:
    """The rankings with the document of each item.

    `documents` is a table `item, document`, or has one row, line or entry per sentence, where items are the numbers
    of sentences: from 0 in Appraise XML, else from 1.
    """
    path = as_path(documents)
    if isinstance(documents, list | tuple):
        names = [str(each) for each in documents]
    elif path is not None and extension(path) == ".txt":
        names = [line.strip() for line in read_text(path).splitlines()]
    else:
        raw = load(documents, name="documents")
        if "document" not in raw.columns:
            found = ", ".join(raw.columns)
            raise BadInput(Problem(raw.name, f"expected a column 'document', and 'item', found {found}"))
        names = raw.columns["document"].cast(pl.String).to_list()
        if "item" in raw.columns:
            return _placed(rankings, dict(zip(raw.columns["item"].cast(pl.String), names, strict=True)))
    places = {str(number): name for number, name in enumerate(names, rankings.first_item)}
    strange = next((item for item in rankings.frame["item"] if item not in places), None)
    if strange is not None:
        numbers = f"{rankings.first_item} to {rankings.first_item + len(names) - 1}"
        raise UsageError(
            f"{rankings.name}: expected items that are numbers of sentences, {numbers}, found {strange!r}; "
            "pass a table with columns item and document"
        )
    return _placed(rankings, places)


def _placed(rankings: Rankings, places: Mapping[str, str | None]) -> Rankings:
    document = pl.col("item").replace_strict(places, default=None, return_dtype=pl.String)
    return replace(rankings, frame=rankings.frame.with_columns(document=document))
