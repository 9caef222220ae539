"""The current tables of a study (docs/store.md); `migrations` upgrades older studies.

Text ids are random (`ids.new_id`) unless they come from content (essays, items); times are whole milliseconds.
Invariants are constraints of the database: one submission id is one row (P2), a rater has at most one judgment that
counts for a unit and a slot at most one valid judgment (P3), states are closed sets. Queries refer to tables as
`schema.jobs`, because a bare `jobs` is the module of queries.

JSON is stored in canonical form in text columns, so that equal values are equal bytes on both engines. Secrets are
stored only as hashes.

First come the corpus, systems' decisions on it and the tables of the whole study (samples, webhooks, runs); then jobs
and work; then people and data about raters.
"""

from __future__ import annotations

import json
from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    Float,
    ForeignKey,
    Identity,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    PrimaryKeyConstraint,
    Table,
    Text,
    UniqueConstraint,
)
from sqlalchemy import text as sql
from sqlalchemy.engine import Dialect
from sqlalchemy.schema import SchemaItem
from sqlalchemy.types import TypeDecorator

from grater.model import Json


def to_text(value: Json) -> str:
    """Canonical JSON: sorted keys, no spaces; NUL and half surrogate pairs, which no engine stores, are escaped."""
    if value == {} or value == []:  # most of them
        return "{}" if isinstance(value, dict) else "[]"
    text = ENCODER.encode(value)
    if text.isascii():
        return text
    return "".join(f"\\u{ord(c):04x}" if "\ud800" <= c <= "\udfff" else c for c in text)


def _plain(value: object) -> object:
    """Convert mappings and sequences of other types than dict and list, as `Json` allows."""
    if hasattr(value, "keys"):
        return {key: value[key] for key in value}  # type: ignore[attr-defined,index]
    return list(value)  # type: ignore[call-overload]


ENCODER = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":"), default=_plain)
"""One for all: `json.dumps` would make another for each of the many thousand cells of a study."""


class JsonText(TypeDecorator[Any]):
    impl = Text
    cache_ok = True

    def process_bind_param(self, value: Any, dialect: Dialect) -> str | None:  # noqa: ARG002
        return None if value is None else to_text(value)

    def process_result_value(self, value: Any, dialect: Dialect) -> Any:  # noqa: ARG002
        return None if value is None else json.loads(value)


NAMES = {"ix": "ix_%(column_0_N_label)s", "ck": "ck_%(table_name)s_%(constraint_name)s"}

METADATA = MetaData(naming_convention=NAMES)

ID = Integer().with_variant(BigInteger, "postgresql")
"""A number that grows; SQLite insists on INTEGER for its own row number."""


def table(name: str, *parts: SchemaItem, **more: Any) -> Table:
    return Table(name, METADATA, *parts, **more)


def text(name: str, *, default: str | None = None, **more: Any) -> Column[str]:
    """A text column that is not null; empty by default, or with the given default."""
    return Column(name, Text, nullable=False, server_default=default, **more)


def optional(name: str, refers: str | None = None) -> Column[str]:
    return Column(name, Text, *([ForeignKey(refers)] if refers else []), nullable=True)


def key(name: str, refers: str | None = None) -> Column[str]:
    """A column of the primary key."""
    return Column(name, Text, *([ForeignKey(refers)] if refers else []), primary_key=True)


def refers(name: str, to: str) -> Column[str]:
    return Column(name, Text, ForeignKey(to), nullable=False)


def number(name: str, *, default: str | None = None, **more: Any) -> Column[int]:
    more.setdefault("nullable", False)
    return Column(name, BigInteger, server_default=default, **more)


def moment(name: str, *, optional: bool = False) -> Column[int]:
    """Milliseconds since 1970, UTC."""
    return Column(name, BigInteger, nullable=optional)


def json_column(name: str, *, default: str | None = "{}", nullable: bool = False) -> Column[Any]:
    return Column(name, JsonText, nullable=nullable, server_default=default)


def one_of(column: str, *values: str) -> CheckConstraint:
    """The column is restricted to a closed set of words.

    Written with OR: for every row, SQLite builds a table of the words in `IN (...)`, a sixth of the time of an
    import.
    """
    return CheckConstraint(" OR ".join(f"{column} = '{value}'" for value in values), name=column)


def partial(name: str, where: str, *columns: str, unique: bool = False) -> Index:
    """An index of the rows for which this holds."""
    return Index(name, *columns, unique=unique, sqlite_where=sql(where), postgresql_where=sql(where))


meta = table("meta", key("key"), text("value"))
"""`version` of the schema, `study_id`, `name`, `key` (the study's secret, never exported)."""

imports = table(
    "imports",
    key("import_id"),
    text("kind"),
    text("name"),
    text("sha256"),
    number("n_rows"),
    moment("at"),
    json_column("payload"),
)

essays = table(
    "essays",
    key("essay_id"),
    number("position", unique=True),
    text("text"),
    json_column("tokens", default=None, nullable=True),
    json_column("metadata"),
    optional("import_id", "imports.import_id"),
)

annotators = table(
    "annotators",
    refers("essay_id", "essays.essay_id"),
    text("rater"),
    number("position"),
    PrimaryKeyConstraint("essay_id", "rater"),
)
"""The people who read a whole essay before it was imported; one may have marked nothing."""

edits = table(
    "edits",
    refers("essay_id", "essays.essay_id"),
    number("position"),
    text("rater"),
    number("start"),
    number("end"),
    json_column("replacements", default="[]"),
    text("tag"),
    text("comment", default=""),
    json_column("extra"),
    PrimaryKeyConstraint("essay_id", "position"),
    CheckConstraint('start >= 0 AND start <= "end"', name="span"),
)

items = table(
    "items",
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

findings = table(
    "findings",
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
"""Findings of the corpus checks in an annotator's work, to be reviewed (NUCLE 2013, section 4)."""


def score(name: str) -> Column[float]:
    return Column(name, Float(53), nullable=True)


systems = table(
    "systems",
    key("system"),
    text("signature", default=""),
    json_column("options"),
    moment("added_at"),
)

decisions = table(
    "decisions",
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

samples = table(
    "samples",
    key("sample_id"),
    text("name", unique=True),
    json_column("meta"),
    moment("at"),
)
"""`meta`: seed, design, systems and the hash of the sorted item ids, as in a sample's `.meta.json`."""

sample_items = table(
    "sample_items",
    refers("sample_id", "samples.sample_id"),
    refers("item_id", "items.item_id"),
    text("system", default=""),
    text("stratum"),
    score("probability"),
    score("stratum_size"),
    score("random"),
    PrimaryKeyConstraint("sample_id", "item_id", "system"),
)

webhooks = table(
    "webhooks",
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

deliveries = table(
    "deliveries",
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

runs = table(
    "runs",
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
    one_of("state", "waiting", "running", "done", "failed"),
    Index("ix_runs_state", "state", "made_at"),
)
"""Long work in the background.  `done` of `total` steps; `words` are its result, or the error.  The process that
works on it updates `beat_at` every few seconds: a silent one has died, and another starts over; `tries` counts how
often."""

run_files = table(
    "run_files",
    refers("run_id", "runs.run_id"),
    number("position"),
    text("name"),
    Column("content", LargeBinary, nullable=False),
    Column("is_result", Boolean, nullable=False),
    PrimaryKeyConstraint("run_id", "position"),
)
"""The files that a run reads (uploads, deleted when it has ended) and makes (a report, an export)."""


JOB_STATES = ("draft", "open", "paused", "closed")
LEASE_STATES = ("held", "done", "expired", "returned", "revoked")
STATUSES = ("valid", "untrusted", "surplus", "withdrawn")
GIVEN_UP = "state IN ('returned', 'expired', 'revoked')"

jobs = table(
    "jobs",
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

guidelines = table(
    "guidelines",
    refers("job_id", "jobs.job_id"),
    number("version"),
    text("markdown"),
    moment("at"),
    optional("person_id", "people.person_id"),
    PrimaryKeyConstraint("job_id", "version"),
)

units = table(
    "units",
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

unit_items = table(
    "unit_items",
    refers("unit_id", "units.unit_id"),
    number("position"),
    refers("item_id", "items.item_id"),
    json_column("payload"),
    PrimaryKeyConstraint("unit_id", "position"),
    UniqueConstraint("unit_id", "item_id"),
    Index("ix_unit_items_item_id", "item_id"),
)

slots = table(
    "slots",
    refers("unit_id", "units.unit_id"),
    number("n"),
    refers("job_id", "jobs.job_id"),
    number("batch"),
    number("shuffle"),
    text("state", default="free"),
    PrimaryKeyConstraint("unit_id", "n"),
    one_of("state", "free", "leased", "filled", "closed"),
    Index("ix_slots_state", "job_id", "state"),
    partial("ix_slots_free", "state = 'free'", "job_id", "batch", "shuffle", "unit_id", "n"),
)
"""`batch` and `shuffle` are the unit's own and never change: with them one index answers "what comes next"."""

leases = table(
    "leases",
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
    partial("one_lease_a_place", "state = 'held'", "job_id", "person_id", "place", unique=True),
    partial("one_lease_a_slot", "state = 'held'", "unit_id", "n", unique=True),
    partial("ix_leases_held", "state = 'held'", "job_id", "expires_at"),
    partial("ix_leases_given_up", GIVEN_UP, "job_id", "person_id", "issued_at", "lease_id"),
)
"""`kept` is stored with the lease and never sent (the sides of `choice`).  `place` is 0, or the place on a page that
shows several units.  `n` is empty for gold and practice."""

submissions = table(
    "submissions",
    key("submission_id"),
    refers("job_id", "jobs.job_id"),
    refers("unit_id", "units.unit_id"),
    number("n", nullable=True),
    refers("person_id", "people.person_id"),
    optional("lease_id", "leases.lease_id"),
    json_column("body"),
    text("body_hash"),
    score("seconds"),
    moment("at"),
    number("guidelines_version", default="0"),
    Column("is_late", Boolean, nullable=False, server_default=sql("false")),
    Column("is_right", Boolean, nullable=True),
    text("status"),
    one_of("status", *STATUSES),
    Index("ix_submissions_job_person", "job_id", "person_id", "status", "at", "unit_id"),
    Index("ix_submissions_lease_id", "lease_id"),
    Index("ix_submissions_unit_person", "unit_id", "person_id"),
    partial("one_judgment_a_rater", "status IN ('valid', 'untrusted')", "unit_id", "person_id", unique=True),
    partial("one_judgment_a_slot", "status = 'valid'", "unit_id", "n", unique=True),
)
"""`n` is the slot that it fills while it is valid.  `is_right`: how it did on gold, as graded when it came."""

judgments = table(
    "judgments",
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

drafts = table(
    "drafts",
    refers("unit_id", "units.unit_id"),
    refers("person_id", "people.person_id"),
    number("revision"),
    json_column("body"),
    moment("at"),
    PrimaryKeyConstraint("unit_id", "person_id"),
)

last_answers = table(
    "last_answers",
    refers("job_id", "jobs.job_id"),
    refers("person_id", "people.person_id"),
    optional("submission_id", "submissions.submission_id"),
    PrimaryKeyConstraint("job_id", "person_id"),
)
"""The answer that a rater may undo (`submissions`); empty if they may not."""

assignments = table(
    "assignments",
    refers("unit_id", "units.unit_id"),
    refers("person_id", "people.person_id"),
    refers("job_id", "jobs.job_id"),
    number("batch", default="0"),
    PrimaryKeyConstraint("unit_id", "person_id"),
    Index("ix_assignments_job_person", "job_id", "person_id"),
)
"""`batch` is the person's own: they meet their batches in this order."""

adjudications = table(
    "adjudications",
    refers("unit_id", "units.unit_id"),
    number("version"),
    refers("person_id", "people.person_id"),
    json_column("answers", default="[]"),
    text("comment", default=""),
    moment("at"),
    PrimaryKeyConstraint("unit_id", "version"),
)
"""The newest version counts; exports call its annotator `gold`."""

events = table(
    "events",
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


ROLES = ("owner", "manager", "adjudicator", "annotator", "worker")
KINDS = ("human", "program", "joint")
SCOPES = ("read", "work", "manage")

people = table(
    "people",
    key("person_id"),
    text("name", unique=True),
    text("pseudonym", unique=True),
    text("email", default=""),
    text("role"),
    text("kind", default="human"),
    text("state", default="active"),
    text("password_hash", default=""),
    json_column("payload"),
    moment("added_at"),
    one_of("role", *ROLES),
    one_of("kind", *KINDS),
    one_of("state", "active", "ended"),
)
"""`payload`: country, languages and whatever else a qualification may ask.  No password: no login."""

joint_members = table(
    "joint_members",
    refers("person_id", "people.person_id"),
    refers("member_id", "people.person_id"),
    PrimaryKeyConstraint("person_id", "member_id"),
)
"""The two people behind a joint seat (T&C 2008, 6.2)."""

sessions = table(
    "sessions",
    key("token_hash"),
    refers("person_id", "people.person_id"),
    text("csrf"),
    moment("started_at"),
    moment("expires_at"),
    moment("ended_at", optional=True),
    optional("member_id", "people.person_id"),
    text("address", default=""),
    Index("ix_sessions_person_id", "person_id"),
    Index("ix_sessions_member_id", "member_id"),
)
"""`member_id`: who sits on a joint seat; `address`: a keyed hash of where the login came from."""

tokens = table(
    "tokens",
    key("token_id"),
    text("token_hash", unique=True),
    refers("person_id", "people.person_id"),
    text("name", default=""),
    text("scope", default="manage"),
    text("role", default="worker"),
    moment("made_at"),
    optional("made_by", "people.person_id"),
    moment("expires_at", optional=True),
    moment("ended_at", optional=True),
    moment("used_at", optional=True),
    one_of("scope", *SCOPES),
    one_of("role", *ROLES),
)
"""`role`: that of its person when it was made; `made_by`: the human who made it."""

second_factors = table(
    "second_factors",
    key("person_id", "people.person_id"),
    text("secret"),
    number("last_step", default="0"),
    moment("made_at"),
    moment("confirmed_at", optional=True),
)
"""`secret` in base 32; `last_step` is the newest time step whose code was used."""

recovery_codes = table(
    "recovery_codes",
    key("code_hash"),
    refers("person_id", "people.person_id"),
    moment("made_at"),
    moment("used_at", optional=True),
    Index("ix_recovery_codes_person_id", "person_id"),
)

invitations = table(
    "invitations",
    key("invitation_id"),
    text("token_hash", unique=True),
    text("role"),
    optional("job_id", "jobs.job_id"),
    text("name", default=""),
    moment("made_at"),
    moment("expires_at"),
    moment("used_at", optional=True),
    moment("ended_at", optional=True),
    optional("person_id", "people.person_id"),
    one_of("role", *ROLES),
)


GOLD_STATES = ("active", "suspended", "forgiven")
GOLD_POOLS = ("hidden", "quiz", "shown")
TRUST_STATES = ("new", "quiz", "trusted", "flagged", "ejected")

gold = table(
    "gold",
    refers("unit_id", "units.unit_id"),
    refers("item_id", "items.item_id"),
    json_column("accepted", default="[]"),
    text("reason", default=""),
    text("state", default="active"),
    text("pool", default="hidden"),
    number("revealed", default="0"),
    PrimaryKeyConstraint("unit_id", "item_id"),
    one_of("state", *GOLD_STATES),
    one_of("pool", *GOLD_POOLS),
)
"""`accepted` is the set of answers that are right.  Only active gold counts for trust.  `pool`: asked in the entry
quiz, hidden among the work, or given to nobody any more, since a rater was shown what is right.  `revealed`: how many
raters it ejected, who know by that that it is gold."""

trust = table(
    "trust",
    refers("job_id", "jobs.job_id"),
    refers("person_id", "people.person_id"),
    number("seen", default="0"),
    number("right", default="0"),
    text("state", default="new"),
    number("attempts", default="0"),
    text("why", default=""),
    number("returns", default="0"),
    PrimaryKeyConstraint("job_id", "person_id"),
    one_of("state", *TRUST_STATES),
    CheckConstraint('"right" >= 0 AND "right" <= seen', name="right"),
)
"""`attempts` at the quiz that failed; `returns` of units, unanswered, by the rater.
`why` a rater is in this state: `quiz`, `gold`, `manager`, `reinstated`."""

messages = table(
    "messages",
    key("message_id"),
    optional("job_id", "jobs.job_id"),
    refers("from_id", "people.person_id"),
    optional("to_id", "people.person_id"),
    text("text"),
    moment("at"),
    moment("read_at", optional=True),
)

disputes = table(
    "disputes",
    key("dispute_id"),
    refers("submission_id", "submissions.submission_id"),
    refers("person_id", "people.person_id"),
    text("text"),
    text("state", default="open"),
    text("answer", default=""),
    optional("decided_by", "people.person_id"),
    moment("at"),
    moment("decided_at", optional=True),
    one_of("state", "open", "granted", "refused"),
)

reviews = table(
    "reviews",
    key("review_id"),
    refers("job_id", "jobs.job_id"),
    refers("person_id", "people.person_id"),
    number("stars", nullable=True),
    text("text", default=""),
    json_column("payload"),
    moment("at"),
    CheckConstraint("stars IS NULL OR stars BETWEEN 1 AND 5", name="stars"),
)
"""Raters' reviews of a job: how clear, how fair (T,C&M 2013, 7.1)."""

payments = table(
    "payments",
    key("payment_id"),
    refers("job_id", "jobs.job_id"),
    refers("person_id", "people.person_id"),
    optional("submission_id", "submissions.submission_id"),
    text("kind"),
    number("cents"),
    text("currency"),
    text("state", default="owed"),
    text("note", default=""),
    moment("at"),
    one_of("kind", "work", "bonus", "correction"),
    one_of("state", "owed", "paid", "refused"),
    CheckConstraint("kind = 'correction' OR cents >= 0", name="cents"),
    Index("ix_payments_job_person", "job_id", "person_id"),
)
"""Money is whole cents of one currency; a mistake is set right by another row, never by changing one."""

panels = table(
    "panels",
    key("panel_id"),
    refers("job_id", "jobs.job_id"),
    text("provider"),
    json_column("options"),
    text("state", default="open"),
    moment("added_at"),
    one_of("state", "open", "closed"),
)

panel_places = table(
    "panel_places",
    refers("panel_id", "panels.panel_id"),
    text("external_id"),
    optional("person_id", "people.person_id"),
    text("state", default="joined"),
    text("code", default=""),
    moment("joined_at"),
    moment("ended_at", optional=True),
    PrimaryKeyConstraint("panel_id", "external_id"),
    one_of("state", "joined", "completed", "screened-out", "failed", "returned", "timed-out"),
)
