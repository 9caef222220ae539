"""The corpus and systems' decisions on it: essays, annotators, edits, items, findings, imports, decisions, samples.

Webhooks and their deliveries, and the long work that a server does in the background, stand here too: they belong to
the whole study.
"""

from __future__ import annotations

from sqlalchemy import Boolean, CheckConstraint, Column, Float, Index, LargeBinary, PrimaryKeyConstraint, Table

from grater.annotate.store.schema.columns import (
    METADATA,
    file_json,
    json_column,
    key,
    moment,
    number,
    one_of,
    optional,
    refers,
    text,
)

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
    json_column("payload"),
)

essays = Table(
    "essays",
    METADATA,
    key("essay_id"),
    number("position", unique=True),
    text("text"),
    json_column("tokens", default=None, nullable=True),
    file_json("metadata"),
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
    json_column("replacements", default="[]"),
    text("tag"),
    text("comment", default=""),
    file_json("extra"),
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
    json_column("payload"),
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
"""What the checks of a corpus saw in an annotator's work, to be looked at again (NUCLE 2013, section 4)."""

SCORE = Float(53)


def score(name: str) -> Column[float]:
    return Column(name, SCORE, nullable=True)


systems = Table(
    "systems",
    METADATA,
    key("system"),
    text("signature", default=""),
    json_column("options"),
    moment("added_at"),
)

decisions = Table(
    "decisions",
    METADATA,
    refers("system", "systems.system"),
    refers("item_id", "items.item_id"),
    Column("flagged", Boolean, nullable=False),
    score("score"),
    text("type", default=""),
    optional("suggestion"),
    json_column("payload"),
    PrimaryKeyConstraint("system", "item_id"),
    Index("ix_decisions_item_id", "item_id"),
)

samples = Table(
    "samples",
    METADATA,
    key("sample_id"),
    text("name", unique=True),
    json_column("meta"),
    moment("at"),
)
"""`meta`: seed, design, systems and the hash of the sorted item ids, as in a sample's `.meta.json`."""

sample_items = Table(
    "sample_items",
    METADATA,
    refers("sample_id", "samples.sample_id"),
    refers("item_id", "items.item_id"),
    text("system", default=""),
    text("stratum"),
    score("probability"),
    score("stratum_size"),
    score("random"),
    PrimaryKeyConstraint("sample_id", "item_id", "system"),
)

webhooks = Table(
    "webhooks",
    METADATA,
    key("webhook_id"),
    text("url"),
    text("secret"),
    json_column("verbs", default="[]"),
    number("last_n", default="0"),
    text("state", default="active"),
    moment("added_at"),
    moment("claimed_until", optional=True),
    one_of("state", "active", "paused"),
)
"""`claimed_until`: a process tells it at this moment."""

deliveries = Table(
    "deliveries",
    METADATA,
    key("delivery_id"),
    refers("webhook_id", "webhooks.webhook_id"),
    number("n"),
    number("tries", default="0"),
    text("state", default="waiting"),
    number("http_status", nullable=True),
    moment("at"),
    text("problem", default=""),
    one_of("state", "waiting", "delivered", "failed"),
)
"""`n` is the event that was to be delivered, `problem` why it was not."""

RUN_STATES = ("waiting", "running", "done", "failed")

runs = Table(
    "runs",
    METADATA,
    key("run_id"),
    text("kind"),
    text("title"),
    json_column("options"),
    text("state", default="waiting"),
    number("done", default="0"),
    number("total", default="0"),
    text("words", default=""),
    optional("person_id", "people.person_id"),
    moment("made_at"),
    moment("started_at", optional=True),
    moment("ended_at", optional=True),
    moment("beat_at", optional=True),
    number("tries", default="0"),
    one_of("state", *RUN_STATES),
    Index("ix_runs_state", "state", "made_at"),
)
"""Long work in the background.  `done` of `total` steps; `words` say what came of it, or what went wrong.  A process
that works on it says so every few seconds in `beat_at`: one that fell silent has died, and another begins anew;
`tries` counts how often."""

run_files = Table(
    "run_files",
    METADATA,
    refers("run_id", "runs.run_id"),
    number("position"),
    text("name"),
    Column("content", LargeBinary, nullable=False),
    Column("is_result", Boolean, nullable=False),
    PrimaryKeyConstraint("run_id", "position"),
)
"""What a run reads (uploads, gone when it has ended) and what it made (a report, an export)."""
