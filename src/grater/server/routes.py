"""All routers of the application, in the order in which a request tries them."""

from __future__ import annotations

from grater.server.api.adjudications import router as adjudications_calls
from grater.server.api.crowd import router as crowd_calls
from grater.server.api.docs import router as docs_calls
from grater.server.api.drafts import router as drafts_calls
from grater.server.api.essays import router as essays_calls
from grater.server.api.events import router as events_calls
from grater.server.api.gold import router as gold_calls
from grater.server.api.handing_over import router as handing_over_calls
from grater.server.api.jobs import router as jobs_calls
from grater.server.api.leases import router as leases_calls
from grater.server.api.me import router as me_calls
from grater.server.api.mining import router as mining_calls
from grater.server.api.money import router as money_calls
from grater.server.api.new_job import router as new_job_calls
from grater.server.api.panels import router as panels_calls
from grater.server.api.people import router as people_calls
from grater.server.api.raters import router as raters_calls
from grater.server.api.reviews import router as reviews_calls
from grater.server.api.study import router as study_calls
from grater.server.api.systems import router as systems_calls
from grater.server.api.talk import router as talk_calls
from grater.server.api.terms import router as terms_calls
from grater.server.api.units import router as units_calls
from grater.server.pages.adjudicate import router as adjudicate_pages
from grater.server.pages.adjudicate_queue import router as adjudicate_queue_pages
from grater.server.pages.crowd_gold import router as crowd_gold_pages
from grater.server.pages.crowd_live import router as crowd_live_pages
from grater.server.pages.crowd_money import router as crowd_money_pages
from grater.server.pages.crowd_out import router as crowd_out_pages
from grater.server.pages.crowd_panel import router as crowd_panel_pages
from grater.server.pages.crowd_panels import router as crowd_panels_pages
from grater.server.pages.crowd_raters import router as crowd_raters_pages
from grater.server.pages.crowd_talk import router as crowd_talk_pages
from grater.server.pages.crowd_terms import router as crowd_terms_pages
from grater.server.pages.home import router as home_pages
from grater.server.pages.jobs import router as jobs_pages
from grater.server.pages.join import router as join_pages
from grater.server.pages.leases import router as leases_pages
from grater.server.pages.login import router as login_pages
from grater.server.pages.manage_essays import router as manage_essays_pages
from grater.server.pages.manage_export import router as manage_export_pages
from grater.server.pages.manage_guidelines import router as manage_guidelines_pages
from grater.server.pages.manage_import import router as manage_import_pages
from grater.server.pages.manage_items import router as manage_items_pages
from grater.server.pages.manage_jobs import router as manage_jobs_pages
from grater.server.pages.manage_known import router as manage_known_pages
from grater.server.pages.manage_new_job import router as manage_new_job_pages
from grater.server.pages.manage_people import router as manage_people_pages
from grater.server.pages.manage_report import router as manage_report_pages
from grater.server.pages.manage_systems import router as manage_systems_pages
from grater.server.pages.manage_units import router as manage_units_pages
from grater.server.pages.manage_webhooks import router as manage_webhooks_pages
from grater.server.pages.marking import router as marking_pages
from grater.server.pages.me import router as me_pages
from grater.server.pages.mining import router as mining_pages
from grater.server.pages.reviews import router as reviews_pages
from grater.server.pages.seats import router as seats_pages

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
