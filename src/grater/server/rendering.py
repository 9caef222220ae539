"""Templates: escaped always, strict about names, with the few words that pages share."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from grater import __version__
from grater.server.markdown import as_html
from grater.server.security.roles import ADJUDICATORS, MANAGERS, OWNERS
from grater.server.static_files import sheet_address
from grater.server.wording import expected, in_words

HERE = Path(__file__).parent


def environment() -> Environment:
    made = Environment(
        loader=FileSystemLoader(HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {"markdown": as_html, "moment": moment, "percent": percent}
    made.globals |= {"expected": expected, "in_words": in_words, "site_css": sheet_address(), "version": __version__}
    made.globals |= {"managers": MANAGERS, "adjudicators": ADJUDICATORS, "owners": OWNERS}
    return made


def moment(at: int | None) -> str:
    """A time of the store as people read it, in UTC."""
    return "" if at is None else datetime.fromtimestamp(at / 1000, UTC).strftime("%Y-%m-%d %H:%M UTC")


def percent(share: float) -> str:
    return f"{100 * share:.0f} %"
