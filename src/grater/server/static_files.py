"""The files of the pages.  The style sheets of every page are written as files of one idea each, and sent as one.

A browser asks for six files at a time and waits for all its sheets before it draws.  The address of the one sheet
changes with its words, so that browsers can keep it for good.
"""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

from starlette.responses import Response
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

STATIC = Path(__file__).parent / "static"
SHEETS = ("base", "frame", "cards", "figures", "forms", "questions")
"""In the order in which they overrule each other."""

WHOLE = "site.css"
FOR_GOOD = {"cache-control": "public, max-age=31536000, immutable"}


class PageFiles(StaticFiles):
    def __init__(self) -> None:
        super().__init__(directory=STATIC)
        self.sheet = whole_sheet()

    async def get_response(self, path: str, scope: Scope) -> Response:
        if path == WHOLE and scope["method"] in ("GET", "HEAD"):
            return Response(self.sheet, media_type="text/css", headers=FOR_GOOD)
        return await super().get_response(path, scope)


def whole_sheet() -> str:
    return "\n".join((STATIC / f"{name}.css").read_text(encoding="utf-8") for name in SHEETS)


def sheet_address() -> str:
    return f"/static/{WHOLE}?{sha256(whole_sheet().encode()).hexdigest()[:12]}"
