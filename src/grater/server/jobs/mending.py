"""Mistakes mended by clicking: the study and its jobs renamed, jobs archived or deleted, practice made work again."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import Response

from grater.errors import Conflict, UsageError
from grater.server.context import Context
from grater.server.jobs.pages import job_view
from grater.server.study.pages import essay_view
from grater.server.units.pages import unit_view
from grater.study import jobs
from grater.study.status import rename_study

router = APIRouter()


@router.post("/manage/name")
def rename_the_study(context: Context) -> Response:
    with context.changing() as tx:
        rename_study(tx, context.text("name"), actor=context.person.person_id)
    context.server.title.forget()
    return context.go("/manage")


@router.post("/manage/jobs/{job_id}/rename")
def rename(context: Context, job_id: str) -> Response:
    name, title = context.text("name"), context.text("title")
    try:
        with context.changing() as tx:
            jobs.rename_job(tx, job_id, name=name, title=title, actor=context.person.person_id)
    except (Conflict, UsageError) as error:
        return job_view(context, job_id, problems=[str(error)])
    return context.go(f"/manage/jobs/{job_id}")


@router.post("/manage/jobs/{job_id}/archive")
def archive(context: Context, job_id: str) -> Response:
    """Out of sight, or back."""
    is_archived = context.text("archived") == "1"
    try:
        with context.changing() as tx:
            jobs.archive_job(tx, job_id, is_archived, actor=context.person.person_id)
    except Conflict as error:
        return job_view(context, job_id, problems=[str(error)])
    return context.go("/manage" if is_archived else f"/manage/jobs/{job_id}")


@router.post("/manage/jobs/{job_id}/delete")
def delete(context: Context, job_id: str) -> Response:
    try:
        with context.changing(beside="everybody") as tx:
            jobs.delete_job(tx, job_id, word=context.text("word"), actor=context.person.person_id)
    except (Conflict, UsageError) as error:
        return job_view(context, job_id, problems=[str(error)])
    return context.go("/manage")


@router.post("/manage/units/{unit_id}/work")
def back_to_work(context: Context, unit_id: str) -> Response:
    try:
        with context.changing(beside="everybody") as tx:
            jobs.back_to_work(tx, unit_id, actor=context.person.person_id)
    except Conflict as error:
        return unit_view(context, unit_id, problems=[str(error)])
    return context.go(f"/manage/units/{unit_id}")


@router.post("/manage/essays/delete")
def delete_essay(context: Context) -> Response:
    essay_id = context.text("essay")
    try:
        with context.changing() as tx:
            jobs.delete_essay(tx, essay_id, word=context.text("word"), actor=context.person.person_id)
    except (Conflict, UsageError) as error:
        return essay_view(context, essay_id, problems=[str(error)])
    return context.go("/manage/essays")
