"""The tables of a study, as they are now (docs/store.md); `migrations` brings older studies up to them.

Text ids are random (`ids.new_id`) unless they come from content (essays, items); times are whole milliseconds.
What must never be wrong is a constraint here, not a habit elsewhere: one submission id is one row (P2), a rater has
at most one judgment that counts for a unit and a slot at most one valid judgment (P3), states are closed sets.
Queries write a table as `schema.jobs`, so that a bare `jobs` is the module of queries.
"""

from grater.store.schema.base import METADATA
from grater.store.schema.corpus import annotators, edits, essays, findings, imports, items, meta
from grater.store.schema.crowd import (
    GOLD_STATES,
    disputes,
    gold,
    messages,
    panel_places,
    panels,
    payments,
    reviews,
    trust,
)
from grater.store.schema.people import ROLES, invitations, joint_members, people, sessions, tokens
from grater.store.schema.systems import decisions, deliveries, sample_items, samples, systems, webhooks
from grater.store.schema.work import (
    JOB_STATES,
    STATUSES,
    adjudications,
    assignments,
    drafts,
    events,
    guidelines,
    jobs,
    judgments,
    leases,
    slots,
    submissions,
    unit_items,
    units,
)

__all__ = [
    "GOLD_STATES",
    "JOB_STATES",
    "METADATA",
    "ROLES",
    "STATUSES",
    "adjudications",
    "annotators",
    "assignments",
    "decisions",
    "deliveries",
    "disputes",
    "drafts",
    "edits",
    "essays",
    "events",
    "findings",
    "gold",
    "guidelines",
    "imports",
    "invitations",
    "items",
    "jobs",
    "joint_members",
    "judgments",
    "leases",
    "messages",
    "meta",
    "panel_places",
    "panels",
    "payments",
    "people",
    "reviews",
    "sample_items",
    "samples",
    "sessions",
    "slots",
    "submissions",
    "systems",
    "tokens",
    "trust",
    "unit_items",
    "units",
    "webhooks",
]
