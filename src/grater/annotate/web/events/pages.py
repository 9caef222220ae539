"""The event log in the browser: the audit page for managers, and webhooks for owners.

The audit page shows who did what, by person, kind, day and job, and gives the same as a file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from urllib.parse import urlencode

from fastapi import APIRouter
from starlette.responses import Response, StreamingResponse

from grater.annotate.store import Tx, events, jobs, people
from grater.annotate.store.events import VERBS_ABOUT, AuditFilter, Webhook
from grater.annotate.store.units import FINISHED
from grater.annotate.study.audit import AuditEntry, audit_filter, csv_parts, entries, json_lines
from grater.annotate.study.webhooks import failures_of
from grater.annotate.study.webhooks import set_state as set_webhook_state
from grater.annotate.web.context import Context, RequestContext
from grater.annotate.web.errors import lines_of
from grater.annotate.web.events.delivery import make_webhook
from grater.errors import BadInput, NotFound, UnknownName, UsageError

router = APIRouter()
A_PAGE = 100
FIELDS = ("person", "kind", "since", "until", "job")


@router.get("/manage/webhooks")
def webhook_page(context: Context) -> Response:
    return _page(context)


@router.post("/manage/webhooks")
def add_webhook(context: Context) -> Response:
    """A new webhook; its secret is shown this once."""
    try:
        made = make_webhook(context, url=context.text("url"), verbs=context.text("verbs").split())
    except (BadInput, UnknownName, UsageError) as error:
        return _page(context, problems=lines_of(error))
    return _page(context, made=made)


@router.post("/manage/webhooks/{webhook_id}/state")
def set_state(context: Context, webhook_id: str) -> Response:
    with context.changing() as tx:
        set_webhook_state(tx, webhook_id, context.text("state"), actor=context.person.person_id)
    return context.go("/manage/webhooks")


def _page(context: RequestContext, *, made: Webhook | None = None, problems: Sequence[str] = ()) -> Response:
    with context.server.store.read() as tx:
        rows = [
            (webhook, events.deliveries_of(tx, webhook.webhook_id, most=5), failures_of(tx, webhook))
            for webhook in events.all_webhooks(tx)
        ]
    shown = {"rows": rows, "made": made, "finished": FINISHED, "problems": problems}
    return context.page("manage_webhooks.html", shown, status=422 if problems else 200)


Writer = Callable[[Tx, AuditFilter], Iterator[str]]


@router.get("/manage/audit")
def audit_page(context: Context) -> Response:
    """The newest first; an unknown name says so beside an empty list."""
    asked = _asked(context)
    before = context.request.query_params.get("before", "")
    rows: list[AuditEntry] = []
    problems: list[str] = []
    with context.server.store.read() as tx:
        try:
            wanted = audit_filter(tx, **asked)
            number = int(before) if before.isdecimal() and len(before) < len(str(2**62)) else None
            rows = entries(tx, wanted, before=number, most=A_PAGE + 1)
        except (NotFound, UnknownName, UsageError) as error:
            problems = lines_of(error)
        shown = {"people": people.all(tx), "jobs": jobs.all(tx), "groups": VERBS_ABOUT}
    query = {name: value for name, value in asked.items() if value}
    older = urlencode({**query, "before": rows[A_PAGE - 1].event.n}) if len(rows) > A_PAGE else ""
    more = {"rows": rows[:A_PAGE], "asked": asked, "query": urlencode(query), "older": older, "problems": problems}
    return context.page("audit.html", {**shown, **more}, status=422 if problems else 200)


@router.get("/manage/audit.csv")
def audit_csv(context: Context) -> Response:
    """All that the filter lets through, for a spreadsheet."""
    return _file(context, csv_parts, "text/csv; charset=utf-8", "audit.csv")


@router.get("/manage/audit.jsonl")
def audit_jsonl(context: Context) -> Response:
    """All that the filter lets through, for a program."""
    return _file(context, json_lines, "application/x-ndjson", "audit.jsonl")


def _file(context: RequestContext, write: Writer, media_type: str, name: str) -> Response:
    with context.server.store.read() as tx:
        wanted = audit_filter(tx, **_asked(context))

    def parts() -> Iterator[str]:
        with context.server.store.read() as tx:
            yield from write(tx, wanted)

    headers = {"content-disposition": f'attachment; filename="{name}"'}
    return StreamingResponse(parts(), media_type=media_type, headers=headers)


def _asked(context: RequestContext) -> dict[str, str]:
    return {name: context.request.query_params.get(name, "").strip() for name in FIELDS}
