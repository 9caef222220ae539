"""How tables look on a terminal: a bold title, no box, words to the left and numbers to the right."""

from __future__ import annotations

from collections.abc import Iterable

from rich.box import SIMPLE
from rich.table import Table
from rich.text import Text


def number_table(title: str, headers: Iterable[str], *, is_first_cut: bool = False) -> Table:
    """An empty table whose first column is a name, the others numbers; a long name is folded, or cut."""
    table = Table(
        title=Text(title), title_justify="left", title_style="bold", box=SIMPLE, pad_edge=False, padding=(0, 1)
    )
    first, *others = headers
    table.add_column(Text(first), no_wrap=is_first_cut, overflow="ellipsis" if is_first_cut else "fold")
    for header in others:
        table.add_column(Text(header), justify="right", overflow="fold")
    return table
