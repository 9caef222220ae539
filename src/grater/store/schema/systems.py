"""What detectors decided, what was sampled, and who outside wants to hear of finished work."""

from __future__ import annotations

from sqlalchemy import Boolean, Column, Index, PrimaryKeyConstraint, Table

from grater.store.schema.base import METADATA, json, key, moment, number, one_of, optional, refers, text
from grater.store.schema.corpus import score

systems = Table(
    "systems",
    METADATA,
    key("system"),
    text("signature", default=""),
    json("options"),
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
    json("payload"),
    PrimaryKeyConstraint("system", "item_id"),
    Index("ix_decisions_item_id", "item_id"),
)

samples = Table(
    "samples",
    METADATA,
    key("sample_id"),
    text("name", unique=True),
    json("meta"),
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
    json("verbs", default="[]"),
    number("last_n", default="0"),
    text("state", default="active"),
    moment("added_at"),
    one_of("state", "active", "paused"),
)

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
    one_of("state", "waiting", "delivered", "failed"),
)
"""`n` is the event that is told."""
