"""Batch files of Amazon Mechanical Turk (`Batch_N_batch_results.csv`) as judgments.

A row is an assignment: `HITId`, `AssignmentId`, `WorkerId`,
`AssignmentStatus` (Submitted, Approved, Rejected), `SubmitTime`, `WorkTimeInSeconds`, then `Input.*` as the requester
gave it and `Answer.*` as the worker did (Requester UI guide, "Review assignments offline").  The item is the HIT
unless an `Input` column is named; the label is the only `Answer` column unless one is named.  Rejected work is
`untrusted`. Times are given with the zones PST and PDT and become ISO 8601; one in another shape stays as it is.
"""

from __future__ import annotations

import polars as pl

from grater.errors import BadInput, Problem, UnknownName, unknown
from grater.tables.schema import Raw, texts

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
