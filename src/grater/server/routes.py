"""All routers of the application, in the order in which a request tries them.

The pages, one file per group; each has a router.

The REST API under /api/v1: the same powers as the pages, for programs with a token (docs/api.md).
"""

from __future__ import annotations

from grater.server.account.api import router as me_calls
from grater.server.account.pages import router as home_pages
from grater.server.account.pages import router as join_pages
from grater.server.account.pages import router as login_pages
from grater.server.account.pages import router as me_pages
from grater.server.adjudication.api import router as adjudications_calls
from grater.server.adjudication.pages import router as adjudicate_pages
from grater.server.adjudication.pages import router as adjudicate_queue_pages
from grater.server.crowd.api import router as crowd_calls
from grater.server.crowd.api import router as terms_calls
from grater.server.crowd.pages import router as crowd_live_pages
from grater.server.crowd.pages import router as crowd_terms_pages
from grater.server.gold.api import router as gold_calls
from grater.server.gold.pages import router as crowd_gold_pages
from grater.server.jobs.api import router as handing_over_calls
from grater.server.jobs.api import router as jobs_calls
from grater.server.jobs.api import router as new_job_calls
from grater.server.jobs.pages import router as manage_guidelines_pages
from grater.server.jobs.pages import router as manage_jobs_pages
from grater.server.jobs.pages import router as manage_new_job_pages
from grater.server.marking.api import router as drafts_calls
from grater.server.marking.pages import router as marking_pages
from grater.server.mining.api import router as mining_calls
from grater.server.mining.pages import router as mining_pages
from grater.server.money.api import router as money_calls
from grater.server.money.pages import router as crowd_money_pages
from grater.server.openapi import router as docs_calls
from grater.server.panels.api import router as panels_calls
from grater.server.panels.pages import router as crowd_panel_pages
from grater.server.panels.pages import router as crowd_panels_pages
from grater.server.people.api import router as people_calls
from grater.server.people.pages import router as manage_people_pages
from grater.server.people.pages import router as seats_pages
from grater.server.raters.api import router as raters_calls
from grater.server.raters.api import talk_router as talk_calls
from grater.server.raters.pages import router as crowd_raters_pages
from grater.server.raters.pages import router as crowd_talk_pages
from grater.server.reviews.api import router as reviews_calls
from grater.server.reviews.pages import router as reviews_pages
from grater.server.study.api import router as essays_calls
from grater.server.study.api import router as study_calls
from grater.server.study.pages import router as manage_essays_pages
from grater.server.study.pages import router as manage_export_pages
from grater.server.study.pages import router as manage_import_pages
from grater.server.study.pages import router as manage_items_pages
from grater.server.study.pages import router as manage_report_pages
from grater.server.systems.api import router as systems_calls
from grater.server.systems.pages import router as manage_systems_pages
from grater.server.units.api import router as units_calls
from grater.server.units.pages import router as manage_known_pages
from grater.server.units.pages import router as manage_units_pages
from grater.server.webhooks.api import router as events_calls
from grater.server.webhooks.pages import router as manage_webhooks_pages
from grater.server.work.api import router as leases_calls
from grater.server.work.pages import router as crowd_out_pages
from grater.server.work.pages import router as jobs_pages
from grater.server.work.pages import router as leases_pages

PAGES = (
    home_pages,
    login_pages,
    join_pages,
    jobs_pages,
    leases_pages,
    marking_pages,
    me_pages,
    crowd_talk_pages,
    crowd_panel_pages,
    crowd_out_pages,
    crowd_live_pages,
    crowd_terms_pages,
    crowd_gold_pages,
    crowd_raters_pages,
    crowd_money_pages,
    crowd_panels_pages,
    manage_new_job_pages,
    manage_jobs_pages,
    manage_guidelines_pages,
    manage_import_pages,
    manage_essays_pages,
    manage_items_pages,
    manage_export_pages,
    manage_report_pages,
    manage_systems_pages,
    manage_units_pages,
    manage_known_pages,
    manage_people_pages,
    manage_webhooks_pages,
    adjudicate_queue_pages,
    adjudicate_pages,
    mining_pages,
    reviews_pages,
    seats_pages,
)

CALLS = (
    docs_calls,
    me_calls,
    study_calls,
    essays_calls,
    systems_calls,
    mining_calls,
    people_calls,
    jobs_calls,
    new_job_calls,
    handing_over_calls,
    units_calls,
    leases_calls,
    drafts_calls,
    reviews_calls,
    adjudications_calls,
    talk_calls,
    terms_calls,
    crowd_calls,
    gold_calls,
    raters_calls,
    money_calls,
    panels_calls,
    events_calls,
)

BUSY = (leases_calls, leases_pages, jobs_pages)
"""What raters call all day: routes are tried one after the other, so these come first."""

ROUTERS = tuple({id(router): router for router in (*BUSY, *PAGES, *CALLS)}.values())
