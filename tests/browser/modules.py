"""The ES modules alone on an empty page, without a server: for what can be told from values."""

from __future__ import annotations

from importlib.resources import files
from urllib.parse import urlsplit

from playwright.sync_api import Page, Route

ORIGIN = "http://modules.test"
STATIC = files("grater") / "annotate" / "web" / "static"
TYPES = {"js": "text/javascript", "css": "text/css"}


def serve_modules(page: Page) -> None:
    """Lets the page load our modules from the package, and nothing else from anywhere."""

    def answer(route: Route) -> None:
        path = urlsplit(route.request.url).path
        if path == "/":
            route.fulfill(content_type="text/html", body="<!doctype html><title>modules</title>")
            return
        body = STATIC.joinpath(path.removeprefix("/static/")).read_text("utf-8")
        route.fulfill(content_type=TYPES[path.rpartition(".")[2]], body=body)

    page.route("**/*", answer)
    page.goto(ORIGIN)


def call(page: Page, module: str, expression: str, value: object = None) -> object:
    """The value of an expression in which `m` is the module and `v` the value."""
    script = f"async (v) => {{ const m = await import('/static/marking/{module}.js'); return {expression.strip()}; }}"
    return page.evaluate(script, value)
