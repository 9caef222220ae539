"""People and what concerns raters: seats, sessions, tokens, invitations; gold, trust, messages, money and panels.

Secrets are kept as hashes only.
"""

from __future__ import annotations

from sqlalchemy import CheckConstraint, Index, PrimaryKeyConstraint, Table

from grater.annotate.store.schema.columns import (
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

ROLES = ("owner", "manager", "adjudicator", "annotator", "worker")
KINDS = ("human", "program", "joint")
SCOPES = ("read", "work", "manage")

people = Table(
    "people",
    METADATA,
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

joint_members = Table(
    "joint_members",
    METADATA,
    refers("person_id", "people.person_id"),
    refers("member_id", "people.person_id"),
    PrimaryKeyConstraint("person_id", "member_id"),
)
"""The two people behind a joint seat (T&C 2008, 6.2)."""

sessions = Table(
    "sessions",
    METADATA,
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

tokens = Table(
    "tokens",
    METADATA,
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

second_factors = Table(
    "second_factors",
    METADATA,
    key("person_id", "people.person_id"),
    text("secret"),
    number("last_step", default="0"),
    moment("made_at"),
    moment("confirmed_at", optional=True),
)
"""`secret` in base 32; `last_step` is the newest time step whose code was used."""

recovery_codes = Table(
    "recovery_codes",
    METADATA,
    key("code_hash"),
    refers("person_id", "people.person_id"),
    moment("made_at"),
    moment("used_at", optional=True),
    Index("ix_recovery_codes_person_id", "person_id"),
)

invitations = Table(
    "invitations",
    METADATA,
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
TRUST_STATES = ("new", "quiz", "trusted", "flagged", "ejected")

gold = Table(
    "gold",
    METADATA,
    refers("unit_id", "units.unit_id"),
    refers("item_id", "items.item_id"),
    json_column("accepted", default="[]"),
    text("reason", default=""),
    text("state", default="active"),
    PrimaryKeyConstraint("unit_id", "item_id"),
    one_of("state", *GOLD_STATES),
)
"""`accepted` is the set of answers that are right.  Only active gold counts for trust."""

trust = Table(
    "trust",
    METADATA,
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

messages = Table(
    "messages",
    METADATA,
    key("message_id"),
    optional("job_id", "jobs.job_id"),
    refers("from_id", "people.person_id"),
    optional("to_id", "people.person_id"),
    text("text"),
    moment("at"),
    moment("read_at", optional=True),
)

disputes = Table(
    "disputes",
    METADATA,
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

reviews = Table(
    "reviews",
    METADATA,
    key("review_id"),
    refers("job_id", "jobs.job_id"),
    refers("person_id", "people.person_id"),
    number("stars", nullable=True),
    text("text", default=""),
    json_column("payload"),
    moment("at"),
    CheckConstraint("stars IS NULL OR stars BETWEEN 1 AND 5", name="stars"),
)
"""What raters say of a job: how clear, how fair (T,C&M 2013, 7.1)."""

payments = Table(
    "payments",
    METADATA,
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

panels = Table(
    "panels",
    METADATA,
    key("panel_id"),
    refers("job_id", "jobs.job_id"),
    text("provider"),
    json_column("options"),
    text("state", default="open"),
    moment("added_at"),
    one_of("state", "open", "closed"),
)

panel_places = Table(
    "panel_places",
    METADATA,
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
