"""Essays with their annotators and edits, the items in them, and where they came from."""

from __future__ import annotations

from sqlalchemy import CheckConstraint, Column, Float, Index, PrimaryKeyConstraint, Table

from grater.store.schema.base import METADATA, json, key, moment, number, one_of, optional, refers, text

meta = Table("meta", METADATA, key("key"), text("value"))
"""`version` of the schema, `study_id`, `name`, `key` (the study's secret, never exported)."""

imports = Table(
    "imports",
    METADATA,
    key("import_id"),
    text("kind"),
    text("name"),
    text("sha256"),
    number("n_rows"),
    moment("at"),
    json("payload"),
)

essays = Table(
    "essays",
    METADATA,
    key("essay_id"),
    number("position", unique=True),
    text("text"),
    json("tokens", default=None, nullable=True),
    json("metadata"),
    optional("import_id", "imports.import_id"),
)

annotators = Table(
    "annotators",
    METADATA,
    refers("essay_id", "essays.essay_id"),
    text("rater"),
    number("position"),
    PrimaryKeyConstraint("essay_id", "rater"),
)
"""Who read a whole essay before it came into the study; one may have marked nothing."""

edits = Table(
    "edits",
    METADATA,
    refers("essay_id", "essays.essay_id"),
    number("position"),
    text("rater"),
    number("start"),
    number("end"),
    json("replacements", default="[]"),
    text("tag"),
    text("comment", default=""),
    json("extra"),
    PrimaryKeyConstraint("essay_id", "position"),
    CheckConstraint('start >= 0 AND start <= "end"', name="span"),
)

items = Table(
    "items",
    METADATA,
    key("item_id"),
    optional("essay_id", "essays.essay_id"),
    number("start", nullable=True),
    number("end", nullable=True),
    text("kind", default=""),
    optional("outside_id"),
    json("payload"),
    CheckConstraint('start IS NULL OR (start >= 0 AND start <= "end")', name="span"),
    Index("ix_items_essay_id", "essay_id"),
    Index("one_item_an_outside_id", "outside_id", unique=True),
)
"""`essay_id` and span are empty for items known only from a table of judgments.  `outside_id`: what the table that
brought the item called it, where that is not its id.  `payload`: any further column."""

findings = Table(
    "findings",
    METADATA,
    key("finding_id"),
    refers("unit_id", "units.unit_id"),
    optional("person_id", "people.person_id"),
    text("rule"),
    text("message"),
    number("start", nullable=True),
    number("end", nullable=True),
    text("state", default="open"),
    moment("at"),
    one_of("state", "open", "mended", "kept"),
)
"""What `corpus check` found in an annotator's work, to be looked at again (NUCLE 2013, section 4)."""

SCORE = Float(53)


def score(name: str) -> Column[float]:
    return Column(name, SCORE, nullable=True)
