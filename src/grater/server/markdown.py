"""Markdown of instructions as HTML that cannot do harm: no HTML of its own, no images, no dangerous links.

CommonMark with tables, by markdown-it.  With `html` off, tags come out as text; its link check lets neither
`javascript:` nor `data:` through.  The content policy of the pages is the second wall.
"""

from __future__ import annotations

from markdown_it import MarkdownIt
from markupsafe import Markup

RENDERER = MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")


def as_html(markdown: str) -> Markup:
    return Markup(RENDERER.render(markdown))
