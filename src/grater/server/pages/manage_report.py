"""The report of the study as a file to take home: the page that `grater study report` writes, without its figures."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import Response

from grater.report.page import as_html
from grater.server.visit import Visiting
from grater.store import Store, jobs
from grater.study.reporting import study_report

router = APIRouter()

LONGEST_TITLE = 200


@router.post("/manage/report")
def make_report(visit: Visiting) -> Response:
    return report_file(visit.server.store, job=visit.text("job"), title=visit.text("title"))


def report_file(store: Store, *, job: str, title: str) -> Response:
    """One page that works offline; a download, for its style stands in it, which the policy of our pages forbids."""
    with store.read() as tx:
        names = [jobs.named(tx, job).name] if job else []
        report = study_report(tx, title=title[:LONGEST_TITLE], job_names=names)
    headers = {"content-disposition": 'attachment; filename="report.html"'}
    return Response(as_html(report), media_type="text/html; charset=utf-8", headers=headers)
