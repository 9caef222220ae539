"""How tables look on a terminal: a bold title, no box, words to the left and numbers to the right."""

from __future__ import annotations

from collections.abc import Iterable

from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table
from rich.text import Text

WIDTH = 80


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


def print_notes(console: Console, notes: Iterable[str]) -> None:
    """The lines under a table; a signature is not broken into several, so that it can be pasted and searched for."""
    for note in notes:
        if "|grater:" in note:
            console.print(Text(note, style="dim"), soft_wrap=True)
        else:
            console.print(Text(note, style="dim"), width=min(WIDTH, console.width), overflow="fold")
