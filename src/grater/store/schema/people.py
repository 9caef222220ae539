"""Who may do what: people, joint seats, sessions, API tokens, invitations.  Secrets are kept as hashes only."""

from __future__ import annotations

from sqlalchemy import Index, PrimaryKeyConstraint, Table

from grater.store.schema.base import METADATA, json, key, moment, one_of, optional, refers, text

ROLES = ("owner", "manager", "adjudicator", "annotator", "worker")
KINDS = ("human", "program", "joint")

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
    json("payload"),
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
    Index("ix_sessions_person_id", "person_id"),
)

tokens = Table(
    "tokens",
    METADATA,
    key("token_id"),
    text("token_hash", unique=True),
    refers("person_id", "people.person_id"),
    text("name", default=""),
    moment("made_at"),
    moment("expires_at", optional=True),
    moment("ended_at", optional=True),
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
