"""Tables to take home from a page."""

from __future__ import annotations

import polars as pl
from starlette.responses import Response

from grater.tables.formulas import guarded_frame


def csv_file(frame: pl.DataFrame, name: str) -> Response:
    """A table as a file of this name, safe to open in a spreadsheet."""
    headers = {"content-disposition": f'attachment; filename="{name}"'}
    return Response(guarded_frame(frame).write_csv(), media_type="text/csv; charset=utf-8", headers=headers)
