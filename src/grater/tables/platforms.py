"""Results of crowd platforms as judgments and gold.

*Amazon Mechanical Turk* (`Batch_N_batch_results.csv`).  A row is an assignment: `HITId`, `AssignmentId`, `WorkerId`,
`AssignmentStatus` (Submitted, Approved, Rejected), `SubmitTime`, `WorkTimeInSeconds`, then `Input.*` as the requester
gave it and `Answer.*` as the worker did (Requester UI guide, "Review assignments offline").  The item is the HIT
unless an `Input` column is named; the label is the only `Answer` column unless one is named.  Rejected work is
`untrusted`. Times are given with the zones PST and PDT and become ISO 8601; one in another shape stays as it is.

*CrowdFlower* (later Figure Eight, then Appen), full reports.  A row is a judgment: `_unit_id`, `_worker_id`,
`_started_at`, `_created_at`, `_tainted` (the worker fell below the accuracy asked for), `_trust`, `_golden`,
`_country`, `_channel`, then the job's questions and data; `QUESTION_gold` holds the accepted answers of a test
question, one per line, and `QUESTION_gold_reason` why.  The label is the only question that has a gold column unless
one is named.  Tainted judgments are `untrusted`.  Times have the month first and no zone.  An aggregated report has
no workers and is refused.
"""

from __future__ import annotations

import polars as pl

from grater.errors import BadInput, Problem, UnknownName, unknown
from grater.tables.schema import LIST_SEPARATOR, Raw, texts

AMT_COLUMNS = ("HITId", "AssignmentId", "WorkerId")
ANSWER = "Answer."
STATUSES = {"Approved": "valid", "Submitted": "valid", "Rejected": "untrusted"}
ZONES = {"PST": "-0800", "PDT": "-0700", "UTC": "+0000", "GMT": "+0000"}
OPTIONAL = {"AssignmentStatus": "status", "WorkTimeInSeconds": "seconds", "SubmitTime": "at"}


def batch_judgments(raw: Raw, *, item: str | None = None, label: str | None = None) -> Raw:
    """The batch under the names of the judgments table; `Answer.usage` may be named `usage`, inputs likewise."""
    sources = {
        "item": _named(raw, item, "Input.") if item else "HITId",
        "rater": "WorkerId",
        "label": _named(raw, label, ANSWER) if label else _only_answer(raw),
    }
    sources |= {name: column for column, name in OPTIONAL.items() if column in raw.columns}
    columns = {name: raw.columns[column].alias(name) for name, column in sources.items()}
    if "status" in columns:
        columns["status"] = texts(columns["status"]).replace(STATUSES)
    if "at" in columns:
        columns["at"] = iso_times(texts(columns["at"]))
    rest = {name: cells for name, cells in raw.columns.items() if name not in sources.values()}
    return raw.with_columns(columns | rest)


def _named(raw: Raw, name: str, prefix: str) -> str:
    for column in (name, prefix + name):
        if column in raw.columns:
            return column
    known = [column for column in raw.columns if column.startswith(prefix)]
    raise UnknownName(f"{raw.name}: {unknown('column', name, known)}")


def _only_answer(raw: Raw) -> str:
    answers = [name for name in raw.columns if name.startswith(ANSWER)]
    if len(answers) != 1:
        names = ", ".join(answers) or "none"
        wish = f'choose with `columns={{"label": "{answers[0] if answers else "COLUMN"}"}}`'
        raise BadInput(Problem(raw.name, f"expected one column {ANSWER}*, found {names}; {wish}", 1))
    return answers[0]


def iso_times(times: pl.Series) -> pl.Series:
    """`Mon Nov 09 20:17:09 PST 2020` as `2020-11-10T04:17:09Z`."""
    zoned = times
    for zone, offset in ZONES.items():
        zoned = zoned.str.replace(f" {zone} ", f" {offset} ", literal=True)
    parsed = zoned.str.to_datetime("%a %b %d %H:%M:%S %z %Y", strict=False, time_zone="UTC")
    return pl.select(pl.coalesce(parsed.dt.strftime("%Y-%m-%dT%H:%M:%SZ"), times)).to_series().alias(times.name)


CROWDFLOWER_COLUMNS = ("_unit_id", "_worker_id")
AGGREGATED = ("_unit_id", "_trusted_judgments")
GOLD = "_gold"
REASON = "_gold_reason"
TRUE = ("true", "1")
TIME_SHAPES = ("%m/%d/%Y %H:%M:%S", "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S")


def report_judgments(raw: Raw, *, item: str | None = None, label: str | None = None) -> Raw:
    """The report under the names of the judgments table; all that it knows besides is kept."""
    sources = {"item": item or "_unit_id", "rater": "_worker_id", "label": label or _only_question(raw)}
    _require(raw, sources)
    columns = {name: raw.columns[column].alias(name) for name, column in sources.items()}
    if "_tainted" in raw.columns:
        is_tainted = pl.when(_is_true(raw.columns["_tainted"]))
        columns["status"] = pl.select(is_tainted.then(pl.lit("untrusted")).otherwise(pl.lit("valid"))).to_series()
    columns |= _times(raw)
    rest = {name: cells for name, cells in raw.columns.items() if name not in sources.values()}
    return raw.with_columns(columns | rest)


def report_gold(raw: Raw, *, item: str | None = None, label: str | None = None) -> Raw:
    """The report's test questions under the names of the gold table, each once."""
    question = label.removesuffix(GOLD) if label else _only_question(raw)
    sources = {"item": item or "_unit_id", "label": question + GOLD}
    if question + REASON in raw.columns:
        sources["reason"] = question + REASON
    _require(raw, sources)
    frame = _gold_rows(raw, sources)
    if frame.is_empty():
        raise BadInput(
            Problem(raw.name, f"expected test questions with an answer in {question + GOLD!r}, found none")
        )
    gold = {name: frame[name] for name in sources}
    return Raw(raw.name, gold, None if raw.lines is None else frame["line"])


def _gold_rows(raw: Raw, sources: dict[str, str]) -> pl.DataFrame:
    """The test questions that have an answer, each once, with its first line."""
    columns = {name: texts(raw.columns[column]) for name, column in sources.items()}
    lines = raw.lines if raw.lines is not None else pl.int_range(raw.n_rows, eager=True)
    accepted = pl.col("label").str.strip_chars().str.replace_all(r"\s*\n\s*", LIST_SEPARATOR)
    frame = pl.DataFrame(columns | {"line": lines}).with_columns(accepted)
    is_gold = (frame["label"] != "").fill_null(False)
    if "_golden" in raw.columns:
        is_gold &= _is_true(raw.columns["_golden"])
    return frame.filter(is_gold).unique(list(sources), keep="first", maintain_order=True)


def _only_question(raw: Raw) -> str:
    questions = [name for name in raw.columns if not name.startswith("_") and name + GOLD in raw.columns]
    if len(questions) != 1:
        others = questions or [name for name in raw.columns if not name.startswith("_")]
        message = f"expected one question with a column QUESTION{GOLD}, found {len(questions)}"
        wish = f'choose with `columns={{"label": "QUESTION"}}` among {", ".join(others) or "none"}'
        raise BadInput(Problem(raw.name, f"{message}; {wish}", 1))
    return questions[0]


def _require(raw: Raw, sources: dict[str, str]) -> None:
    for column in sources.values():
        if column not in raw.columns:
            raise BadInput(Problem(raw.name, f"expected a column {column!r}, found {', '.join(raw.columns)}", 1))


def _is_true(cells: pl.Series) -> pl.Series:
    return texts(cells).str.to_lowercase().is_in(TRUE).fill_null(False)


def _times(raw: Raw) -> dict[str, pl.Series]:
    """When a judgment was given, and the seconds it took."""
    if "_created_at" not in raw.columns:
        return {}
    created = _parsed(raw, "_created_at")
    times = {"at": created.dt.strftime("%Y-%m-%dT%H:%M:%S").alias("at")}
    if "_started_at" in raw.columns:
        took = created - _parsed(raw, "_started_at")
        times["seconds"] = took.dt.total_seconds().cast(pl.Float64).alias("seconds")
    return times


def _parsed(raw: Raw, column: str) -> pl.Series:
    cells = texts(raw.columns[column])
    shapes = [cells.str.to_datetime(shape, strict=False) for shape in TIME_SHAPES]
    times = pl.select(pl.coalesce(shapes)).to_series()
    wrong = (times.is_null() & cells.is_not_null()).arg_true()
    if len(wrong):
        cell = cells[int(wrong[0])]
        line = None if raw.lines is None else int(raw.lines[int(wrong[0])])
        message = f"expected a time like 11/25/2013 16:27:04 in {column!r}, found {cell!r}"
        raise BadInput(Problem(raw.name, message, line))
    return times
