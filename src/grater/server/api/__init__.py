"""The REST API under /api/v1: the same powers as the pages, for programs with a token (docs/server.md)."""

from grater.server.api import adjudications, crowd, docs, events, jobs, leases, mining, people, reviews, study

CALLS = (
    docs.router,
    people.router,
    study.router,
    jobs.router,
    leases.router,
    adjudications.router,
    mining.router,
    reviews.router,
    crowd.router,
    events.router,
)
