"""Jobs, units, slots, leases, submissions, judgments and the event log: where the promises are kept."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    Float,
    ForeignKey,
    Identity,
    Index,
    PrimaryKeyConstraint,
    Table,
    UniqueConstraint,
)
from sqlalchemy import text as sql

from grater.annotate.store.schema.columns import (
    ID,
    METADATA,
    json_column,
    key,
    moment,
    number,
    one_of,
    optional,
    refers,
    text,
)

JOB_STATES = ("draft", "open", "paused", "closed")
LEASE_STATES = ("held", "done", "expired", "returned", "revoked")
SLOT_STATES = ("free", "leased", "filled", "closed")
STATUSES = ("valid", "untrusted", "surplus", "withdrawn")

jobs = Table(
    "jobs",
    METADATA,
    key("job_id"),
    text("name", unique=True),
    text("task"),
    text("title", default=""),
    number("judgments"),
    text("access", default="pool"),
    text("state", default="draft"),
    number("lease_ms"),
    json_column("options"),
    moment("added_at"),
    moment("archived_at", optional=True),
    one_of("state", *JOB_STATES),
    one_of("access", "pool", "assigned"),
    CheckConstraint("judgments >= 1", name="judgments"),
)
"""`judgments`: N, wanted for each unit.  `options`: what the task and the terms need to know (pay, gold, hours).
A job with `archived_at` is out of sight; its judgments count as before."""

guidelines = Table(
    "guidelines",
    METADATA,
    refers("job_id", "jobs.job_id"),
    number("version"),
    text("markdown"),
    moment("at"),
    optional("person_id", "people.person_id"),
    PrimaryKeyConstraint("job_id", "version"),
)

units = Table(
    "units",
    METADATA,
    key("unit_id"),
    refers("job_id", "jobs.job_id"),
    optional("essay_id", "essays.essay_id"),
    text("role", default="work"),
    text("stage", default=""),
    optional("follows", "units.unit_id"),
    number("delay_ms", default="0"),
    number("batch", default="0"),
    Column("overlap", Boolean, nullable=False, server_default=sql("false")),
    number("position"),
    number("shuffle"),
    number("wanted"),
    json_column("payload"),
    one_of("role", "work", "practice", "gold"),
    UniqueConstraint("job_id", "position"),
    Index("ix_units_follows", "follows"),
    Index("ix_units_role", "job_id", "role", "position"),
)
"""`wanted` is N here and now (dynamic redundancy may change it).  `follows`: the unit that the same rater must have
done `delay_ms` ago.  Gold and practice units have no slots: each rater sees each of them once."""

unit_items = Table(
    "unit_items",
    METADATA,
    refers("unit_id", "units.unit_id"),
    number("position"),
    refers("item_id", "items.item_id"),
    json_column("payload"),
    PrimaryKeyConstraint("unit_id", "position"),
    UniqueConstraint("unit_id", "item_id"),
    Index("ix_unit_items_item_id", "item_id"),
)

slots = Table(
    "slots",
    METADATA,
    refers("unit_id", "units.unit_id"),
    number("n"),
    refers("job_id", "jobs.job_id"),
    number("batch"),
    number("shuffle"),
    text("state", default="free"),
    PrimaryKeyConstraint("unit_id", "n"),
    one_of("state", *SLOT_STATES),
    Index("ix_slots_state", "job_id", "state"),
)
"""`batch` and `shuffle` are the unit's own and never change: with them one index answers "what comes next"."""

FREE = sql("state = 'free'")
Index(
    "ix_slots_free",
    slots.c.job_id,
    slots.c.batch,
    slots.c.shuffle,
    slots.c.unit_id,
    slots.c.n,
    sqlite_where=FREE,
    postgresql_where=FREE,
)

leases = Table(
    "leases",
    METADATA,
    key("lease_id"),
    refers("job_id", "jobs.job_id"),
    refers("unit_id", "units.unit_id"),
    number("n", nullable=True),
    refers("person_id", "people.person_id"),
    number("place", default="0"),
    moment("issued_at"),
    moment("expires_at"),
    text("state", default="held"),
    number("guidelines_version", default="0"),
    json_column("kept"),
    one_of("state", *LEASE_STATES),
    Index("ix_leases_unit_id", "unit_id"),
)
"""`kept` is stored with the lease and never sent (the sides of `choice`).  `place` is 0, or the place on a page that
shows several units.  `n` is empty for gold and practice."""

HELD = sql("state = 'held'")
Index(
    "one_lease_a_place",
    leases.c.job_id,
    leases.c.person_id,
    leases.c.place,
    unique=True,
    sqlite_where=HELD,
    postgresql_where=HELD,
)
Index("one_lease_a_slot", leases.c.unit_id, leases.c.n, unique=True, sqlite_where=HELD, postgresql_where=HELD)
Index("ix_leases_held", leases.c.job_id, leases.c.expires_at, sqlite_where=HELD, postgresql_where=HELD)

GIVEN_UP = sql("state IN ('returned', 'expired', 'revoked')")
Index(
    "ix_leases_given_up",
    leases.c.job_id,
    leases.c.person_id,
    leases.c.issued_at,
    leases.c.lease_id,
    sqlite_where=GIVEN_UP,
    postgresql_where=GIVEN_UP,
)

submissions = Table(
    "submissions",
    METADATA,
    key("submission_id"),
    refers("job_id", "jobs.job_id"),
    refers("unit_id", "units.unit_id"),
    number("n", nullable=True),
    refers("person_id", "people.person_id"),
    optional("lease_id", "leases.lease_id"),
    json_column("body"),
    text("body_hash"),
    Column("seconds", Float(53), nullable=True),
    moment("at"),
    number("guidelines_version", default="0"),
    Column("is_late", Boolean, nullable=False, server_default=sql("false")),
    Column("is_right", Boolean, nullable=True),
    text("status"),
    one_of("status", *STATUSES),
    Index("ix_submissions_job_person", "job_id", "person_id", "status", "at", "unit_id"),
    Index("ix_submissions_lease_id", "lease_id"),
    Index("ix_submissions_unit_person", "unit_id", "person_id"),
)
"""`n` is the slot that it fills while it is valid.  `is_right`: how it did on gold, as graded when it came."""

COUNTING = sql("status IN ('valid', 'untrusted')")
VALID = sql("status = 'valid'")
Index(
    "one_judgment_a_rater",
    submissions.c.unit_id,
    submissions.c.person_id,
    unique=True,
    sqlite_where=COUNTING,
    postgresql_where=COUNTING,
)
Index(
    "one_judgment_a_slot",
    submissions.c.unit_id,
    submissions.c.n,
    unique=True,
    sqlite_where=VALID,
    postgresql_where=VALID,
)

judgments = Table(
    "judgments",
    METADATA,
    refers("submission_id", "submissions.submission_id"),
    text("item_id"),
    number("position"),
    text("label"),
    text("confidence", default=""),
    json_column("flags", default="[]"),
    json_column("alternatives", default="[]"),
    json_column("payload"),
    PrimaryKeyConstraint("submission_id", "item_id"),
    Index("ix_judgments_item_id", "item_id"),
)

drafts = Table(
    "drafts",
    METADATA,
    refers("unit_id", "units.unit_id"),
    refers("person_id", "people.person_id"),
    number("revision"),
    json_column("body"),
    moment("at"),
    PrimaryKeyConstraint("unit_id", "person_id"),
)

last_answers = Table(
    "last_answers",
    METADATA,
    refers("job_id", "jobs.job_id"),
    refers("person_id", "people.person_id"),
    optional("submission_id", "submissions.submission_id"),
    PrimaryKeyConstraint("job_id", "person_id"),
)
"""What a rater may take back (`store.intake`); empty where they may not."""

assignments = Table(
    "assignments",
    METADATA,
    refers("unit_id", "units.unit_id"),
    refers("person_id", "people.person_id"),
    refers("job_id", "jobs.job_id"),
    number("batch", default="0"),
    PrimaryKeyConstraint("unit_id", "person_id"),
    Index("ix_assignments_job_person", "job_id", "person_id"),
)
"""`batch` is the person's own: they meet their batches in this order."""

adjudications = Table(
    "adjudications",
    METADATA,
    refers("unit_id", "units.unit_id"),
    number("version"),
    refers("person_id", "people.person_id"),
    json_column("answers", default="[]"),
    text("comment", default=""),
    moment("at"),
    PrimaryKeyConstraint("unit_id", "version"),
)
"""The newest version counts; exports call its annotator `gold`."""

events = Table(
    "events",
    METADATA,
    Column("n", ID, Identity(always=False), primary_key=True, autoincrement=True),
    moment("at"),
    Column("actor", ForeignKey("people.person_id"), nullable=True),
    text("verb"),
    text("noun"),
    json_column("payload"),
    Column("transaction_id", BigInteger, nullable=False, server_default="0"),
    sqlite_autoincrement=True,
)
"""`actor` is empty where grater itself acted.  `transaction_id` lets readers on PostgreSQL wait for earlier ones."""
Index("ix_events_transaction", events.c.transaction_id, events.c.n).ddl_if(dialect="postgresql")
