"""What a study knows of itself: its name, its key, and what its owner decided for all of it."""

from __future__ import annotations

from sqlalchemy import select
from sqlalchemy import text as sql

from grater.annotate.store import schema
from grater.annotate.store.transaction import Tx

PUBLIC_META = ("public_check_page", "public_editors")
"""What owners opened to the public, which a copy of the study does not open."""

SECRET_META = ("key", "version", *PUBLIC_META)
SET_META = sql(
    "INSERT INTO meta (key, value) VALUES (:key, :value) ON CONFLICT (key) DO UPDATE SET value = excluded.value"
)
"""In the words that both engines know."""


def meta_values(tx: Tx) -> dict[str, str]:
    """What the study knows of itself and may reveal."""
    return {row.key: row.value for row in tx.all(select(schema.meta)) if row.key not in SECRET_META}


def meta_value(tx: Tx, name: str) -> str:
    """One thing that the study knows of itself; empty where it does not."""
    return str(tx.value(select(schema.meta.c.value).where(schema.meta.c.key == name)) or "")


def set_meta(tx: Tx, name: str, value: str) -> None:
    tx.execute(SET_META, {"key": name, "value": value})
