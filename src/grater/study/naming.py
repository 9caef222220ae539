"""Raters of a report by their names, for readers who may know them; everywhere else they go by pseudonyms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

import polars as pl

from grater.report.inputs import Inputs
from grater.store import Tx, people
from grater.tables import Judgments


def names_of(tx: Tx) -> dict[str, str]:
    """Names by pseudonym; no two people of a study have the same."""
    return {person.pseudonym: person.name for person in people.all(tx)}


def with_names(inputs: Inputs, names: Mapping[str, str]) -> Inputs:
    """The same inputs, every rater called by name."""
    tables = {each.name: getattr(inputs, each.name) for each in fields(inputs)}
    named: dict[str, Any] = {
        key: _named(table, names) for key, table in tables.items() if isinstance(table, Judgments)
    }
    return replace(inputs, **named)


def _named(table: Judgments, names: Mapping[str, str]) -> Judgments:
    rater = pl.col("rater").cast(pl.String).replace(dict(names))
    is_coded = table.frame.schema["rater"] == pl.Categorical
    return replace(table, frame=table.frame.with_columns(rater.cast(pl.Categorical) if is_coded else rater))
