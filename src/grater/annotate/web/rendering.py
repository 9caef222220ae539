"""Templates and files of the pages: escaped always, strict about names, with the few words that pages share.

Markdown of instructions is CommonMark with tables, by markdown-it, and cannot do harm: with `html` off, tags come out
as text, images are off, and its link check lets neither `javascript:` nor `data:` through.  The content policy of the
pages is the second wall.

The style sheets of every page are written as files of one idea each and sent as one: a browser asks for six files at
a time and waits for all its sheets before it draws.  The address of the one sheet changes with its words, so that
browsers can keep it for good.

`VOCABULARIES` has what pages call the values that a study stores, for the filter `shown`.  A value that is plain
English already (`open`, `paused`, `valid`) is shown as it is.  The words of pay and of panels are decided where the
policies and endings are, because reports and messages use them too.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from hashlib import sha256
from pathlib import Path
from urllib.parse import urlsplit

import polars as pl
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markdown_it import MarkdownIt
from markupsafe import Markup
from starlette.responses import Response
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from grater import __version__
from grater.annotate.gold import Gold
from grater.annotate.importing import name_of
from grater.annotate.panels import ENDING_WORDS
from grater.annotate.tasks.choice import FIRST, SECOND, SYSTEM, WRITER
from grater.annotate.tasks.marking import TASK as MARKING
from grater.annotate.tasks.marking import planted_in_words
from grater.annotate.tasks.task import Shown
from grater.annotate.terms import POLICY_WORDS
from grater.annotate.units import StudyUnit
from grater.annotate.web.security import ADJUDICATORS, MANAGERS, OWNERS
from grater.measure.agreement.coefficients import coefficient_title
from grater.sheet import count, counted, duration, interval, number
from grater.tables.files import guarded_frame

STATES: Mapping[str, str] = {
    "ejected": "removed",
    "ended": "no access",
    "forgiven": "not counted",
    "human": "person",
    "joined": "working",
    "joint": "joint seat",
    "new": "active",
    "quiz": "in the quiz",
    "returned": "left early",
    "screened-out": "screened out",
    "suspended": "under review",
    "timed-out": "timed out",
    "waiting": "queued",
}
"""Of jobs, raters, places in a panel, gold, payments, webhooks and tasks in the background."""

REASON_WORDS: Mapping[str, str] = {
    "gold": "too many wrong answers to gold",
    "manager": "decided by a manager",
    "quiz": "failed the entry quiz",
}
"""Why a rater's standing changed; other reasons are sentences already."""

PROVIDER_WORDS: Mapping[str, str] = {
    "prolific": "Prolific",
    "connect": "CloudResearch Connect",
    "sona": "SONA",
    "generic": "Another platform",
    "open": "Anywhere: a link for anyone",
}
"""Where the raters of a crowd come from, in the order in which they are offered."""

VOCABULARIES: Mapping[str, Mapping[str, str]] = {
    "": STATES,
    "policy": POLICY_WORDS,
    "ending": ENDING_WORDS,
    "provider": PROVIDER_WORDS,
    "reason": REASON_WORDS,
}


def shown(value: str, vocabulary: str = "") -> str:
    """The words for a value; the value itself where it needs none."""
    return VOCABULARIES[vocabulary].get(value, value)


RENDERER = MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")


def as_html(markdown: str) -> Markup:
    return Markup(RENDERER.render(markdown))


def in_words(shown: Shown, label: str) -> str:
    """The text of a label's choice; for a choice between two words, the word itself."""
    texts = {choice.value: choice.text for field in shown.fields for choice in field.choices}
    if label in (WRITER, SYSTEM) and FIRST in shown.kept:
        return texts[FIRST if label == shown.kept[FIRST] else SECOND]
    return texts.get(label, label)


def expected(unit: StudyUnit, known: Gold, shown: Shown) -> str:
    """The accepted answers, or the words of an essay that were wrong."""
    if unit.job.task == MARKING.name:
        return planted_in_words(unit.unit.essay.text, known.accepted)
    return " or ".join(in_words(shown, label) for label in sorted(known.accepted))


STATIC = Path(__file__).parent / "static"
TEMPLATES = Path(__file__).parent / "templates"
SHEETS = ("base", "frame", "cards", "figures", "forms", "questions", "managing", "check")
"""In order of precedence."""

IMPORT = re.compile(
    r"""^import (?:\{(?P<names>[^}]+)\}|\* as (?P<whole>\w+)) from "(?P<module>[^"]+)";\n""", re.MULTILINE
)
EXPORT = re.compile(r"^export (?=(?:async )?(?:function|class|const) (?P<name>\w+))", re.MULTILINE)
SILENT = re.compile(r"^\s*(?://.*)?\n|^[ \t]+", re.MULTILINE)
"""Lines that are only a comment, and indentation: no module of ours has either inside a string."""

WHOLE = "site.css"
FOR_GOOD = {"cache-control": "public, max-age=31536000, immutable"}


class PageFiles(StaticFiles):
    def __init__(self) -> None:
        super().__init__(directory=STATIC)
        self.sheet = whole_sheet()

    async def get_response(self, path: str, scope: Scope) -> Response:
        if scope["method"] in ("GET", "HEAD"):
            if path == WHOLE:
                return Response(self.sheet, media_type="text/css", headers=FOR_GOOD)
            if path.endswith(JOINED) and (STATIC / path.removesuffix(JOINED)).is_file():
                script = joined_script(path.removesuffix(JOINED))
                return Response(script, media_type="text/javascript", headers=FOR_GOOD)
            if path == WORKER:  # it looks after pages, which are not under /static
                return Response((STATIC / path).read_bytes(), media_type="text/javascript", headers=OF_ALL_PAGES)
        return await super().get_response(path, scope)


JOINED = ".joined.js"
WORKER = "offline.js"
OF_ALL_PAGES = {"service-worker-allowed": "/", "cache-control": "no-cache"}


@cache
def joined_script(name: str) -> str:
    """A module joined with all that it imports, which a browser would otherwise request one by one."""
    modules: dict[str, str] = {}
    _join((STATIC / name).resolve(), modules)
    return "\n".join(modules.values())


def _join(path: Path, modules: dict[str, str]) -> str:
    """Append a module after those it imports, and return its name there."""
    name = "$" + re.sub(r"\W", "_", path.relative_to(STATIC.resolve()).as_posix())
    if name in modules:
        return name

    def taken(found: re.Match[str]) -> str:
        theirs = _join((path.parent / found["module"]).resolve(), modules)
        return f"const {found['whole'] or '{' + found['names'] + '}'} = {theirs};\n"

    text = IMPORT.sub(taken, path.read_text(encoding="utf-8"))
    given = ", ".join(found["name"] for found in EXPORT.finditer(text))
    modules[name] = f"const {name} = (() => {{\n{SILENT.sub('', EXPORT.sub('', text))}return {{ {given} }};\n}})();"
    return name


@cache
def script_address(name: str) -> str:
    return f"/static/{name}{JOINED}?{sha256(joined_script(name).encode()).hexdigest()[:12]}"


def whole_sheet() -> str:
    return "".join(sheet(name) for name in SHEETS)


def sheet(name: str) -> str:
    """A style sheet without comments and indentation."""
    text = (STATIC / f"{name}.css").read_text(encoding="utf-8")
    return re.sub(r"^\s+", "", re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL), flags=re.MULTILINE)


def sheet_address() -> str:
    return f"/static/{WHOLE}?{sha256(whole_sheet().encode()).hexdigest()[:12]}"


@cache
def environment() -> Environment:
    templates = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,  # else every page asks the disk whether its templates are the same
    )
    templates.filters |= {"markdown": as_html, **{function.__name__: function for function in FILTERS}}
    templates.globals |= GLOBALS | {"site_css": sheet_address()}
    return templates


def moment(at: int | None) -> str:
    """A stored time for people: in UTC, which `typed.js` turns into their local time."""
    if at is None:
        return ""
    when = datetime.fromtimestamp(at / 1000, UTC)
    return Markup('<time datetime="{:%Y-%m-%dT%H:%MZ}">{:%Y-%m-%d %H:%M} UTC</time>').format(when, when)


def near(text: str, letters: int, is_before: bool) -> str:
    """The text next to a marked word, about the given number of letters, cut at a space."""
    if len(text) <= letters:
        return text
    cut = text[-letters:] if is_before else text[:letters]
    if is_before:
        return "…" + (cut.partition(" ")[2] or cut)
    return (cut.rpartition(" ")[0] or cut) + "…"


def is_local(link: str) -> bool:
    """Whether an address only works on this computer."""
    return urlsplit(link).hostname in ("127.0.0.1", "localhost", "::1")


LINE_END = re.compile(r"\r\n|[\n\r\u2028\u2029]")


def paragraphs(text: str) -> list[str]:
    """As the marking page cuts an essay (`text.js`), so that nothing moves when its module draws it."""
    return LINE_END.split(text)


def percent(share: float) -> str:
    return f"{100 * share:.0f} %"


@dataclass(frozen=True, slots=True)
class Pager:
    """Page `page` of `n_pages`, both from 1 on: rows number `start` and after, `size` at the most."""

    page: int
    n_pages: int
    size: int

    @property
    def start(self) -> int:
        return (self.page - 1) * self.size


def pager(n_rows: int, page: int, *, size: int) -> Pager:
    """The requested page, or the nearest one that exists."""
    n_pages = max(1, -(-n_rows // size))
    return Pager(max(1, min(page, n_pages)), n_pages, size)


def csv_file(frame: pl.DataFrame, name: str) -> Response:
    """A table as a file of this name, safe to open in a spreadsheet."""
    headers = {"content-disposition": f'attachment; filename="{name}"'}
    return Response(guarded_frame(frame).write_csv(), media_type="text/csv; charset=utf-8", headers=headers)


FILTERS = (
    coefficient_title,
    count,
    counted,
    duration,
    interval,
    is_local,
    moment,
    near,
    number,
    paragraphs,
    percent,
    shown,
)
GLOBALS: dict[str, object] = {function.__name__: function for function in (expected, in_words, name_of)}
GLOBALS["script"] = script_address
GLOBALS |= {"adjudicators": ADJUDICATORS, "managers": MANAGERS, "owners": OWNERS, "version": __version__}
"""The values that every template has in addition to those of its page."""
