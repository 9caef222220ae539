"""Which column of a file is which of the table: by name, by synonym, or as the caller says.

The table's own name wins over a synonym; two synonyms side by side are an error, never a guess.  Names match
whatever their case.  A column that the caller's mapping pushes aside is kept as `NAME.file`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches

from grater.errors import BadInput, Problem, UnknownName, UsageError
from grater.registry import unknown
from grater.tables.raw import Raw
from grater.tables.schema import Column, Schema

LIKENESS = 0.75
"""How much alike two names must be for one to be taken for a slip of the other; `other` and `rater` are 0.6."""

NONE = ""
"""What `columns` gives for a column that is to be taken as missing: `--columns rater=`."""


def parse_columns(settings: Iterable[str]) -> dict[str, str]:
    """`["item=orig_id,rater=who"]` as `{"item": "orig_id", "rater": "who"}`."""
    columns: dict[str, str] = {}
    for setting in (part for text in settings for part in text.split(",")):
        name, equals, found = setting.partition("=")
        if not equals or not name.strip():
            raise UsageError(f"expected --columns NAME=COLUMN, found {setting!r}; as in item=orig_id,rater=who")
        columns[name.strip()] = found.strip()
    return columns


def matched(schema: Schema, raw: Raw, columns: Mapping[str, str] | None = None, *, but: str | None = None) -> Raw:
    """The same table under the schema's names: its columns first and in its order, then the further ones.

    An error for every column that must be there and is not; `but` is one that may be missing.
    """
    sources = _sources(schema, raw, columns or {})
    wanted = [column for column in schema.columns if column.required and column.name not in (but, *sources)]
    if wanted:
        raise BadInput(*(_missing(schema, column, raw) for column in wanted))
    taken = {found: name for name, found in sources.items()}
    ordered = {name: raw.columns[found].alias(name) for name, found in sources.items()}
    for found, series in raw.columns.items():
        if found not in taken:
            ordered[_free_name(found, ordered)] = series
    return raw.with_columns(ordered)


def _free_name(name: str, taken: Mapping[str, object]) -> str:
    while name in taken:
        name = f"{name}.file"
    return name


def _sources(schema: Schema, raw: Raw, columns: Mapping[str, str]) -> dict[str, str]:
    asked = canonical(schema, columns)
    for name, found in asked.items():
        if found != NONE and found not in raw.columns:
            raise UnknownName(f"{raw.name}: {unknown('column', found, list(raw.columns))} (asked for as {name})")
    free = [found for found in raw.columns if found not in asked.values()]
    sources = {}
    for column in schema.columns:
        source = asked.get(column.name) if column.name in asked else _found(column, free, raw.name)
        if source is not None and source != NONE:
            sources[column.name] = source
    return sources


def canonical(schema: Schema, columns: Mapping[str, str]) -> dict[str, str]:
    """The caller's mapping under the schema's own names; a name that it does not know is an error."""
    asked = {}
    for name, found in columns.items():
        column = schema.column(name)
        if column is None:
            raise UnknownName(unknown(f"column of {schema.kind}", name, [known.name for known in schema.columns]))
        asked[column.name] = found
    return asked


def _found(column: Column, free: list[str], name: str) -> str | None:
    """The file's column that bears the name, else the one that bears a synonym."""
    own = [found for found in free if found.lower() == column.name]
    others = [found for found in free if found.lower() in column.synonyms]
    if column.name in own:
        return column.name
    for candidates in (own, others):
        if len(candidates) > 1:
            names = " and ".join(repr(found) for found in candidates)
            wish = f"--columns {column.name}={candidates[0]}"
            raise BadInput(
                Problem(name, f"expected one column for {column.name!r}, found {names}; choose with {wish}")
            )
        if candidates:
            return candidates[0]
    return None


def near(schema: Schema, column: Column, raw: Raw) -> str | None:
    """A further column whose name is nearly that of the wanted one, or holds it (`worker_id`)."""
    free = {found.lower(): found for found in raw.columns if schema.column(found) is None}
    holding = [found for lower, found in free.items() if any(name in lower for name in column.names)]
    close = (get_close_matches(name, list(free), n=1, cutoff=LIKENESS) for name in column.names)
    return next(iter(holding), None) or next((free[match[0]] for match in close if match), None)


def _missing(schema: Schema, column: Column, raw: Raw) -> Problem:
    guess = near(schema, column, raw)
    hint = f" Did you mean {guess!r}?" if guess else ""
    names = " or ".join(repr(name) for name in column.names)
    found = ", ".join(raw.columns) or "none"
    wish = f"Name it with --columns {column.name}={guess or 'COLUMN'}"
    return Problem(raw.name, f"expected a column {names}, found {found}.{hint} {wish}")
