"""What every command shares: options that mean the same everywhere, and how commands speak.

Results go to standard output, messages to standard error.  A table on a terminal has a bold title and no box, words
to the left and numbers to the right.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import MISSING, fields, is_dataclass
from functools import wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias, get_type_hints

import typer
from rich.console import Console

from grater.errors import UnknownName, UsageError
from grater.model import Json as JsonValue
from grater.registry import unknown
from grater.result import Result
from grater.sheet import WRITERS, Sheet, TableFormat, as_text

if TYPE_CHECKING:
    from grater.reporting.drawing import FileType

Json: TypeAlias = Annotated[bool, typer.Option("--json", help="Print JSON.")]
EngineName: TypeAlias = Annotated[
    str,
    typer.Option(
        metavar="NAME", help="What extracts edits from plain text: grater, or errant:MODEL with a spaCy model."
    ),
]
Seed: TypeAlias = Annotated[int, typer.Option(min=0, help="Random seed.")]
Precision: TypeAlias = Annotated[
    float | None,
    typer.Option(
        metavar="SHARE",
        help="Target precision, .5 to .95, for calibrated systems such as context.",
    ),
]
Table: TypeAlias = Annotated[TableFormat, typer.Option("--table", help="Table format.")]
FigureTypes: TypeAlias = Annotated[
    list[str],
    typer.Option(
        "--figures", metavar="TYPE", help="Type of figure: svg, png or pdf; repeatable; default: all three."
    ),
]

Author: TypeAlias = Annotated[str, typer.Option(metavar="NAME", help="The author, shown under the title.")]
Earlier: TypeAlias = Annotated[
    list[str],
    typer.Option(
        metavar="NEW=OLD", help="OLD is an earlier version of NEW; not needed for names such as mine-2 and mine."
    ),
]
HeadlineFile: TypeAlias = Annotated[
    Path | None,
    typer.Option("--headline", metavar="FILE", help="Write the first figure alone: FILE.svg, FILE.png or FILE.pdf."),
]


def file_types(names: Sequence[str]) -> list[FileType]:
    """The types that were asked for, else all."""
    from grater.reporting.drawing import FILE_TYPES  # most commands draw nothing

    for name in names:
        if name not in FILE_TYPES:
            raise UnknownName(unknown("type of figure", name, list(FILE_TYPES)))
    return [name for name in FILE_TYPES if not names or name in names]


messages = Console(stderr=True, highlight=False, soft_wrap=True)

PLAIN_WIDTH = 120
"""Characters of a line where the output is no terminal."""


def print_json(value: JsonValue) -> None:
    """Machine output: one JSON document and nothing else; undefined numbers must be null by now."""
    sys.stdout.write(json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False) + "\n")


def say(message: str) -> None:
    """A line to the person, beside the result."""
    messages.print(message, markup=False)


def say_done(message: str, value: JsonValue, *, as_json: bool) -> None:
    """What a command did that has no result to show: a line to the person, or machine output."""
    if as_json:
        print_json(value)
    else:
        say(message)


def warn(warnings: Iterable[str]) -> None:
    """What a reader of the result must know, one line each."""
    for warning in warnings:
        say(f"warning: {warning}")


def show(result: Result, *, table: TableFormat = "text", as_json: bool = False) -> None:
    """A result on standard output, as the person asked for it."""
    if as_json:
        print_json(result.to_dict())
    else:
        show_sheets(result.sheets(), table=table)


def show_sheets(sheets: Iterable[Sheet], *, table: TableFormat = "text") -> None:
    """Tables one after the other; on a terminal as wide as the terminal, with bold titles.

    CSV has cells alone: what the notes say of them goes to standard error.
    """
    notes: dict[str, None] = {}
    for index, sheet in enumerate(sheets):
        text = _terminal_text(sheet) if table == "text" else WRITERS[table](sheet)
        sys.stdout.write("\n" * bool(index) + text)
        notes |= dict.fromkeys(sheet.notes)
    for note in notes if table == "csv" else ():
        say(note)


def _terminal_text(sheet: Sheet) -> str:
    if not sys.stdout.isatty():
        return as_text(sheet, width=PLAIN_WIDTH)
    text = as_text(sheet, width=shutil.get_terminal_size().columns)
    return text.replace(sheet.title, f"\x1b[1m{sheet.title}\x1b[0m", 1) if sheet.title else text


@contextmanager
def counting(title: str) -> Iterator[Callable[[int, int], None]]:
    """A bar for a long job, on a terminal only; gives the callback that hears how many of all parts are done."""
    from rich.progress import Progress  # most commands have no bar

    with Progress(console=messages, transient=True, disable=not messages.is_terminal) as progress:
        bar = progress.add_task(title, total=None)
        yield lambda done, total: progress.update(bar, completed=done, total=total)


def require_outputs(outputs: Iterable[Path | None], inputs: Iterable[Path | None]) -> None:
    """Before a long job: its tables can be written, each in a place of its own, and over nothing that is read."""
    from grater.tables import require_table_place  # polars, which `grater score` need not wait for

    wanted = [path for path in outputs if path]
    require_different(wanted)
    for path in (each for each in inputs if each):
        for out in wanted:
            require_different([path, out])
    for out in wanted:
        require_table_place(out)


def split_name(path: Path) -> tuple[str, Path]:
    """`NAME=FILE` as its two parts; a file that is there under the whole name has no other."""
    name, equals, file = str(path).partition("=")
    return (name, Path(file)) if equals and name and file and not path.exists() else ("", path)


def require_different(paths: Iterable[Path]) -> None:
    """Refuse a path that is named twice: it would count twice, or be written over while it is needed."""
    seen: set[Path] = set()
    for path in paths:
        place = path if str(path) == "-" else Path(os.path.realpath(path))  # unlike `resolve`, fails at no path
        if place in seen:
            raise UsageError(f"expected different files, found {path} named twice")
        seen.add(place)


def takes_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of its parameters that are blocks of them, such as `Reading`, in their place."""
    own = [p.replace(kind=Parameter.KEYWORD_ONLY) for p in signature(command, eval_str=True).parameters.values()]
    blocks: dict[str, Any] = {p.name: p.annotation for p in own if is_dataclass(p.annotation)}
    options = {name: _options_of(block) for name, block in blocks.items()}

    @wraps(command)
    def with_options(**arguments: Any) -> None:
        for name, block in blocks.items():
            arguments[name] = block(**{option.name: arguments.pop(option.name) for option in options[name]})
        command(**arguments)

    parameters = [option for parameter in own for option in options.get(parameter.name, [parameter])]
    with_options.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    with_options.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    return with_options


def _options_of(block: Any) -> list[Parameter]:
    types = get_type_hints(block, include_extras=True)
    return [
        Parameter(
            option.name,
            Parameter.KEYWORD_ONLY,
            default=option.default if option.default_factory is MISSING else option.default_factory(),
            annotation=types[option.name],
        )
        for option in fields(block)
    ]
