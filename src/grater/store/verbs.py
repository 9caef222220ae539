"""Every verb of the event log: `noun.what`, by what it is about."""

from __future__ import annotations

VERBS_ABOUT = {
    "work": (
        "lease.taken",
        "lease.returned",
        "lease.expired",
        "lease.revoked",
        "submission.stored",
        "submission.status",
        "slots.changed",
        "unit.finished",
        "adjudication.saved",
        "findings.added",
        "finding.kept",
        "finding.mended",
    ),
    "jobs": (
        "job.added",
        "job.state",
        "job.options",
        "guidelines.added",
        "units.added",
        "unit.gold",
        "unit.practice",
        "assignments.added",
        "assignments.moved",
    ),
    "crowds": (
        "trust.changed",
        "gold.added",
        "gold.state",
        "gold.reason",
        "dispute.opened",
        "dispute.decided",
        "message.sent",
        "review.written",
        "payment.written",
        "payments.paid",
        "panel.added",
        "place.taken",
        "place.state",
    ),
    "people": (
        "person.added",
        "person.role",
        "person.state",
        "person.password",
        "person.about",
        "token.made",
        "token.ended",
        "invitation.made",
        "invitation.used",
        "invitation.ended",
    ),
    "the study": (
        "study.made",
        "import.done",
        "decisions.added",
        "sample.drawn",
        "webhook.added",
        "webhook.active",
        "webhook.paused",
    ),
}

VERBS = frozenset(verb for verbs in VERBS_ABOUT.values() for verb in verbs)
