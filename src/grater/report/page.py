"""The report as one HTML page that works offline: charts are inline SVG, nothing is loaded, no script runs.

Colours follow the reader's light or dark.  From a number a link leads to the items behind it, further down on the
same page.
"""

from __future__ import annotations

from importlib.resources import files

from grater.errors import MissingExtra
from grater.report.drawing import as_svg
from grater.report.figure import Report
from grater.report.palette import variables


def as_html(report: Report) -> str:
    """The whole page."""
    try:
        from jinja2 import Environment
        from markupsafe import Markup
    except ImportError as error:
        raise MissingExtra("the page is made by Jinja2: pip install 'grater[report]'") from error
    folder = files("grater.report") / "templates"
    environment = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    template = environment.from_string((folder / "report.html").read_text(encoding="utf-8"))
    style = (folder / "report.css").read_text(encoding="utf-8")
    drawn = {figure.name: Markup(_silent(as_svg(figure, theme="page"))) for figure in report.figures}
    return template.render(
        report=report,
        drawn=drawn,
        style=Markup(style),
        light=Markup(variables("light")),
        dark=Markup(variables("dark")),
    )


def _silent(svg: str) -> str:
    """A chart whose marks are not read out one by one: its alternative text has the words beside it."""
    return svg.replace("<svg ", '<svg aria-hidden="true" ', 1)
