"""All routers of the application, in the order in which a request tries them."""

from __future__ import annotations

from grater.server import openapi
from grater.server.account import api as account_api
from grater.server.account import pages as account_pages
from grater.server.account import second_factor as second_factor_pages
from grater.server.adjudication import api as adjudication_api
from grater.server.adjudication import pages as adjudication_pages
from grater.server.audit import api as audit_api
from grater.server.audit import pages as audit_pages
from grater.server.check import doors as public_pages
from grater.server.check import languagetool
from grater.server.check import pages as check_pages
from grater.server.crowd import api as crowd_api
from grater.server.crowd import pages as crowd_pages
from grater.server.gold import api as gold_api
from grater.server.gold import pages as gold_pages
from grater.server.jobs import api as jobs_api
from grater.server.jobs import mending as mending_pages
from grater.server.jobs import pages as jobs_pages
from grater.server.jobs import trying as trying_pages
from grater.server.marking import api as marking_api
from grater.server.marking import pages as marking_pages
from grater.server.mining import api as mining_api
from grater.server.mining import pages as mining_pages
from grater.server.money import api as money_api
from grater.server.money import pages as money_pages
from grater.server.panels import api as panels_api
from grater.server.panels import pages as panels_pages
from grater.server.people import api as people_api
from grater.server.people import pages as people_pages
from grater.server.raters import api as raters_api
from grater.server.raters import pages as raters_pages
from grater.server.reviews import api as reviews_api
from grater.server.reviews import pages as reviews_pages
from grater.server.runs import api as runs_api
from grater.server.runs import pages as runs_pages
from grater.server.study import api as study_api
from grater.server.study import pages as study_pages
from grater.server.systems import api as systems_api
from grater.server.systems import pages as systems_pages
from grater.server.units import api as units_api
from grater.server.units import pages as units_pages
from grater.server.webhooks import api as webhooks_api
from grater.server.webhooks import pages as webhooks_pages
from grater.server.work import api as work_api
from grater.server.work import pages as work_pages

BUSY = (work_api.router, work_pages.router)
"""What raters ask for all day: routes are tried one after the other, so these come first."""

PAGES = (
    account_pages.router,
    second_factor_pages.router,
    marking_pages.router,
    panels_pages.router,
    crowd_pages.router,
    gold_pages.router,
    raters_pages.router,
    money_pages.router,
    jobs_pages.router,
    trying_pages.router,
    mending_pages.router,
    study_pages.router,
    runs_pages.router,
    systems_pages.router,
    units_pages.router,
    people_pages.router,
    webhooks_pages.router,
    audit_pages.router,
    adjudication_pages.router,
    mining_pages.router,
    reviews_pages.router,
    check_pages.router,
    public_pages.router,
    languagetool.router,
)

CALLS = (
    openapi.router,
    account_api.router,
    study_api.router,
    runs_api.router,
    systems_api.router,
    mining_api.router,
    people_api.router,
    jobs_api.router,
    units_api.router,
    marking_api.router,
    reviews_api.router,
    adjudication_api.router,
    raters_api.talk_router,
    crowd_api.router,
    gold_api.router,
    raters_api.router,
    money_api.router,
    panels_api.router,
    webhooks_api.router,
    audit_api.router,
)

DESCRIBED = (work_api.router, *CALLS)
"""The routers that the description of the API names."""

ROUTERS = (*BUSY, *PAGES, *CALLS)
