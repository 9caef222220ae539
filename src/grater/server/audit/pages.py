"""The audit page: who did what, by person, kind, day and job, and the same as a file."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from urllib.parse import urlencode

from fastapi import APIRouter
from starlette.responses import Response, StreamingResponse

from grater.errors import NotFound, UnknownName, UsageError
from grater.server.context import Context, RequestContext
from grater.server.errors import lines_of
from grater.store import Tx, jobs, people
from grater.store.events import VERBS_ABOUT, AuditFilter
from grater.study.audit import AuditEntry, audit_filter, csv_parts, entries, json_lines

router = APIRouter()

A_PAGE = 100
FIELDS = ("person", "kind", "since", "until", "job")
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
