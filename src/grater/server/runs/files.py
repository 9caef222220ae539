"""What a run made, as a download, for pages and calls."""

from __future__ import annotations

from starlette.responses import Response

from grater.errors import NotFound
from grater.store import Store, runs


def result_file(store: Store, run_id: str) -> Response:
    """The file that a run made: a page that works offline."""
    with store.read() as tx:
        runs.get(tx, run_id)
        made = runs.files_of(tx, run_id, is_result=True)
    if not made:
        raise NotFound("this task has no file (yet)")
    headers = {"content-disposition": f'attachment; filename="{made[0].name}"'}
    return Response(made[0].content, media_type="text/html; charset=utf-8", headers=headers)
