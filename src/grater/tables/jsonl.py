"""JSON Lines: one object a line, its keys the columns.

Lines may lack keys; a key that a line lacks, and null, are missing cells.  Blank lines are skipped.  A value that
is no single value (a list, an object) is kept for the checks to judge: a list is right in `flags`, an object in
`payload`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import chain, islice

import polars as pl

from grater.errors import BadInput, Problem, Problems
from grater.tables.raw import Raw, joined, series_of

N_TOGETHER = 10_000


def read_jsonl(text: str, *, name: str) -> Raw:
    """The table that the lines hold."""
    if not text.strip():
        raise BadInput(Problem(name, "expected a JSON object a line, found an empty file"))
    problems = Problems(name)
    lines: list[int] = []
    parts: dict[str, list[pl.Series]] = {}
    filled = ((number, line) for number, line in enumerate(text.split("\n"), 1) if line and not line.isspace())
    while together := list(islice(filled, N_TOGETHER)):
        rows = _decoded_at_once(together) or list(_decoded(together, problems))
        _add(parts, [row for _, row in rows], n_before=len(lines))
        lines += [number for number, _ in rows]
    problems.done()
    columns = {key: joined(key, series) for key, series in parts.items()}
    return Raw(name, columns, pl.Series("number", lines, dtype=pl.Int64))


def _add(parts: dict[str, list[pl.Series]], rows: list[dict[str, object]], *, n_before: int) -> None:
    """Puts rows under their columns; a column that they are the first to have was empty before."""
    for key in dict.fromkeys(chain.from_iterable(rows)):
        if key not in parts:
            parts[key] = [pl.repeat(None, n_before, dtype=pl.Null, eager=True)]
    for key, series in parts.items():
        series.append(series_of(key, [row.get(key) for row in rows]))


def _decoded_at_once(together: list[tuple[int, str]]) -> list[tuple[int, dict[str, object]]] | None:
    """The lines as one JSON list, which takes half the time; None where anything about them is odd."""
    text = ",".join(line for _, line in together)
    if "\\u" in text:
        return None
    try:
        rows = json.loads(f"[{text}]")
    except (ValueError, RecursionError):
        return None
    if len(rows) != len(together) or set(map(type, rows)) != {dict}:
        return None
    return [(number, row) for (number, _), row in zip(together, rows, strict=True)]


def _decoded(together: list[tuple[int, str]], problems: Problems) -> Iterator[tuple[int, dict[str, object]]]:
    for number, line in together:
        try:
            row = json.loads(line)
            # Half a surrogate pair can be written in JSON and nowhere else.
            json.dumps(row, ensure_ascii=False).encode()
        except (ValueError, RecursionError) as error:
            problems.add(f"expected a JSON object, found {_shown(line)}: {error}", line=number)
            continue
        if isinstance(row, dict):
            yield number, row
        else:
            problems.add(f"expected a JSON object, found {_shown(line)}", line=number)


def _shown(line: str) -> str:
    line = line.strip()
    return repr(line if len(line) <= 40 else f"{line[:40]}...")
