"""What every command shares: options that mean the same everywhere, what commands read, and how they speak.

Results go to standard output, messages to standard error.  A table on a terminal has a bold title and no box, words
to the left and numbers to the right.  Corpora are read under a progress bar, on a terminal and for long input only.
Tables are imported where they are read, since `grater score` and `grater corpus` need not wait for polars.
"""

from __future__ import annotations

import json
import logging
import os
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import MISSING, fields, is_dataclass
from functools import partial, wraps
from importlib import import_module
from inspect import Parameter, Signature, signature
from pathlib import Path
from types import UnionType
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Literal,
    TypeAlias,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

from rich.console import Console
from typer import Argument, Option

from grater.corpora import format_for, read_corpus
from grater.corpora.jsonl import FORMAT_NAME
from grater.corpora.merge import Reread
from grater.corpora.source import OPENERS, left_out
from grater.errors import UnknownName, UsageError
from grater.model import Essay
from grater.model import Json as JsonValue
from grater.options import Opt, is_optional, parts_of, signature_of, typed
from grater.registry import unknown
from grater.result import Result
from grater.sheet import WRITERS, Sheet, TableFormat, as_text, counted

if TYPE_CHECKING:
    from grater.reporting.drawing import FileType

# Options

Json: TypeAlias = Annotated[bool, Option("--json", help="Print JSON.")]
EngineName: TypeAlias = Annotated[
    str,
    Option(metavar="NAME", help="What extracts edits from plain text: grater, or errant:MODEL with a spaCy model."),
]
Seed: TypeAlias = Annotated[int, Option(min=0, help="Random seed.")]
Precision: TypeAlias = Annotated[
    float | None, Option(metavar="SHARE", help="Target precision, .5 to .95, for calibrated systems such as context.")
]
Table: TypeAlias = Annotated[TableFormat, Option("--table", help="Table format.")]
Out: TypeAlias = Annotated[Path | None, Option("--out", metavar="FILE", help="Also write the result as a table.")]
FigureTypes: TypeAlias = Annotated[
    list[str],
    Option("--figures", metavar="TYPE", help="Type of figure: svg, png or pdf; repeatable; default: all three."),
]

FORMAT_HELP = "Corpus format: bea, brat, fce, jsonl, m2, nucle, table or text; default: by file name."
Format: TypeAlias = Annotated[str | None, Option("--format", metavar="FORMAT", help=FORMAT_HELP)]
Columns: TypeAlias = Annotated[
    list[str], Option("--columns", metavar="OURS=THEIRS", help="Rename a column; repeatable.")
]
RaterColumns: TypeAlias = Annotated[
    list[str],
    Option(
        "--rater-columns",
        metavar="NAME,NAME",
        help="Columns of labels, one per rater, in a sheet with one row per item.",
    ),
]
ItemsFile: TypeAlias = Annotated[
    Path | None, Option("--items", metavar="FILE", help="A table of items, for their places and other columns.")
]


Jobs: TypeAlias = Annotated[
    int | None,
    Option(
        "--jobs",
        min=1,
        metavar="N",
        help="Number of processes; default: one for small input, one per core for large.",
    ),
]
EngineChoice: TypeAlias = Annotated[
    Literal["processes", "spark"], Option("--engine", help="Run in processes on this machine, or on Apache Spark.")
]
Master: TypeAlias = Annotated[
    str | None, Option("--master", metavar="URL", help="The Spark master, as in spark://host:7077 or local[4].")
]
Lines: TypeAlias = Annotated[bool, Option("--lines", help="Read each line of a text file as an essay.")]


def file_types(names: Sequence[str]) -> list[FileType]:
    """The types that were asked for, else all."""
    from grater.reporting.drawing import FILE_TYPES  # most commands draw nothing

    for name in names:
        if name not in FILE_TYPES:
            raise UnknownName(unknown("type of figure", name, list(FILE_TYPES)))
    return [name for name in FILE_TYPES if not names or name in names]


messages = Console(stderr=True, highlight=False, soft_wrap=True)

TABLE_SUFFIXES = {".csv", ".tsv", ".parquet", ".ndjson", ".xlsx", ".xls", ".ods"}
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
        say(f"warning: {typed(warning)}")


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
    blocks: dict[str, Any] = {
        p.name: p.annotation for p in own if is_dataclass(p.annotation) or is_typeddict(p.annotation)
    }
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
    if is_typeddict(block):
        described = {name: parts_of(each)[1] or Opt("") for name, each in types.items()}
        given = [Parameter(name, _KEY, default=described[name].default, annotation=types[name]) for name in types]
        return [_typed(each, is_argument=False) for each in given]
    return [
        Parameter(
            option.name,
            Parameter.KEYWORD_ONLY,
            default=option.default if option.default_factory is MISSING else option.default_factory(),
            annotation=types[option.name],
        )
        for option in fields(block)
    ]


# Commands made from functions


_KEY = Parameter.KEYWORD_ONLY


def made_of(
    function: Callable[..., Any], for_corpora: Callable[..., Any] | None = None, *, n_arguments: int = 1
) -> Callable[..., None]:
    """A command with the options of a function, which calls it and shows its result.

    The first parameters are arguments, the others options; tables and corpora are files.  Where an annotated corpus
    is given, `for_corpora` is called instead, and options that only one of the two has are refused for the other.
    """
    functions = [function, *([for_corpora] if for_corpora else [])]
    known = [dict(signature_of(each).parameters) for each in functions]
    arguments = list(known[0])[:n_arguments]
    if for_corpora:
        known[1] = {arguments[0]: known[0][arguments[0]], **dict(list(known[1].items())[1:])}
    taken = {**known[0], **known[-1], **known[0]}
    wanted = [_typed(parameter, is_argument=name in arguments) for name, parameter in taken.items()]
    flags = {name: _flag(parameter) for name, parameter in taken.items() if name not in arguments}
    written = {name: (parts_of(each.annotation)[1] or Opt("")).writes for name, each in taken.items()}
    is_whole = "as_json" in taken  # it prints what it has to say itself
    own = [] if is_whole else [Parameter("table", _KEY, default="text", annotation=Table)]
    own += [] if is_whole else [Parameter("as_json", _KEY, default=False, annotation=Json)]
    own += [] if "out" in taken else [Parameter("out", _KEY, default=None, annotation=Out)]

    def command(**given: Any) -> None:
        out: Path | None = None if "out" in taken else given.pop("out")
        as_json: bool = False if is_whole else given.pop("as_json")
        table: TableFormat = "text" if is_whole else given.pop("table")
        for value in given.values():
            require_different(_paths(value))
        require_different(_paths(given.get("judgments")) + _paths(given.get("experts")))
        inputs = [path for name, value in given.items() if not written[name] for path in _paths(value)]
        require_outputs([out, *(given[name] for name, kind in written.items() if kind == "table")], inputs)
        is_other = for_corpora is not None and _is_corpora(given[arguments[0]], given.get("format_name"))
        chosen, own_names = functions[is_other], known[is_other]
        values: dict[str, Any] = {}
        first: list[Any] = []
        for parameter in wanted:
            name, value = parameter.name, given[parameter.name]
            if value is None or value == [] or (value == parameter.default and name not in arguments):
                continue
            if name not in own_names:
                raise UsageError(f"{flags[name]} is for {'tables of judgments' if is_other else 'annotated corpora'}")
            converted = _value(taken[name], value)
            if name in arguments:
                first += converted if taken[name].kind is Parameter.VAR_POSITIONAL else [converted]
            else:
                values[name] = converted
        result = chosen(*first, **values)
        if result is None:
            return
        if not isinstance(result, Result):
            say_done("\n".join(result.lines()), result.to_dict(), as_json=as_json)
            return
        warn(result.warnings)
        if out:
            from grater.tables import write_table

            write_table(result.to_frame(), out)
        show(result, table=table, as_json=as_json)
        if table == "text" and not as_json and hasattr(result, "plot"):
            sys.stdout.write("\n" + "\n".join(result.plot()) + "\n")

    command.__doc__ = function.__doc__
    command.__name__ = function.__name__
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in [*wanted, *own]}
    command.__signature__ = Signature([*wanted, *own])  # type: ignore[attr-defined]
    return command


def _flag(parameter: Parameter) -> str:
    _, option = parts_of(parameter.annotation)
    return (option.flag if option else "") or f"--{parameter.name.replace('_', '-')}"


def _typed(parameter: Parameter, *, is_argument: bool) -> Parameter:
    """A parameter as typer takes it."""
    plain, option = parts_of(parameter.annotation)
    kind, _ = is_optional(plain)
    option = option or Opt("")
    is_list = option.several or bool(option.parse) or get_origin(kind) in (Sequence, Mapping)
    is_list = is_list or parameter.kind is Parameter.VAR_POSITIONAL
    default = [] if is_list else None if parameter.default is Parameter.empty else parameter.default
    is_needed = parameter.default is Parameter.empty and not option.metavar.startswith("[")
    word: Any = Path if _is_file(kind) else str if is_list or get_origin(kind) in (Union, UnionType) else kind
    word = str if option.names else word
    annotation: Any = list[word] if is_list else word if default is not None or is_needed else word | None
    if is_list and is_argument and not is_needed:
        annotation, default = list[word] | None, None
    dots = "..." if is_argument and is_list else ""
    about: dict[str, Any] = {"help": option.help, "metavar": f"{option.metavar}{dots}" or None}
    about |= {name: getattr(option, name) for name in ("min", "max") if getattr(option, name) is not None}
    if option.names:
        about["autocompletion"] = completing(option.names)
    if is_argument:
        made: Any = Argument(**about)
    else:
        made = Option(_flag(parameter), **about)
    return Parameter(
        parameter.name,
        Parameter.KEYWORD_ONLY,
        default=Parameter.empty if is_needed else default,
        annotation=Annotated[annotation, made],
    )


def _is_file(kind: Any) -> bool:
    return kind is Any or kind is Path or (get_origin(kind) in (Union, UnionType) and Path in get_args(kind))


def _paths(value: Any) -> list[Path]:
    return [each for each in (value if isinstance(value, list) else [value]) if isinstance(each, Path)]


def _is_corpora(files: Any, format_name: str | None) -> bool:
    return bool(format_name) or any(is_corpus(file) for file in _paths(files))


def _value(parameter: Parameter, value: Any) -> Any:
    """What a function takes, of what was typed."""
    plain, option = parts_of(parameter.annotation)
    kind, _ = is_optional(plain)
    option = option or Opt("")
    if option.parse:
        return imported(option.parse)(value)
    if option.several:
        return value[0] if len(value) == 1 else value
    if get_origin(kind) is Sequence:
        [member] = get_args(kind)
        try:
            return [member(each) for each in (entries(value) if option.split or member is not str else value)]
        except ValueError:
            raise UsageError(f"expected numbers for {_flag(parameter)}, found {', '.join(value)!r}") from None
    return value


def imported(place: str) -> Any:
    module, _, name = place.partition(":")
    return getattr(import_module(module), name)


def completing(place: str) -> Callable[[str], list[str]]:
    """Completes the names of a registry, which is imported when the shell asks."""

    def names(incomplete: str) -> list[str]:
        return [name for name in imported(place) if name.startswith(incomplete)]

    return names


def is_corpus(path: Path) -> bool:
    """Whether a path is an annotated corpus, not a table; a .jsonl file is one if it begins with our header.

    Standard input is a table, unless a format of corpora was named.
    """
    if str(path) == "-":
        return False
    suffixes = [suffix for suffix in path.suffixes if suffix != ".gz"]
    if suffixes and suffixes[-1] in TABLE_SUFFIXES:
        return False
    if suffixes and suffixes[-1] == ".jsonl" and path.suffix == ".jsonl" and path.is_file():
        with path.open(encoding="utf-8", errors="replace") as lines:
            return FORMAT_NAME in lines.readline()
    return True


class Notes(logging.Handler):
    """What a function notes on its way, for the person at the terminal."""

    def emit(self, record: logging.LogRecord) -> None:
        say(record.getMessage())


for noting in ("grater.api", "grater.chat"):
    logging.getLogger(noting).addHandler(Notes(logging.INFO))
    logging.getLogger(noting).setLevel(logging.INFO)


def entries(settings: Sequence[str]) -> list[str]:
    """Options may be repeated, or hold several with commas between."""
    return [entry.strip() for setting in settings for entry in setting.split(",") if entry.strip()]


WORTH_A_BAR = 5_000_000
"""Bytes of input below which a progress bar would only flicker."""

MOST_NAMED = 5


@contextmanager
def reading(title: str, *paths: Path, n_passes: int = 1) -> Iterator[Callable[[int], None]]:
    """A bar over the bytes of some files, on a terminal and for long input only; gives the callback that moves it."""
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    n_bytes = n_passes * n_bytes_of(paths)
    is_packed = any(path.suffix.lower() in OPENERS for path in paths)  # then nobody knows how much it unpacks to
    columns = [TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn()]
    shown = messages.is_terminal and n_bytes >= WORTH_A_BAR
    with Progress(*columns, console=messages, transient=True, disable=not shown) as progress:
        bar = progress.add_task(title, total=None if is_packed else n_bytes)
        yield lambda n_bytes: progress.advance(bar, n_bytes)


@contextmanager
def reading_all(
    paths: Sequence[Path], format_name: str | None, *, n_readings: int = 1
) -> Iterator[dict[str, Iterable[Essay]]]:
    """The corpora at some paths by their names as given, each to be read `n_readings` times, under one bar."""
    require_different(paths)
    n_passes = n_readings * max(format_for(path, format_name).n_passes for path in paths)
    with reading("reading", *paths, n_passes=n_passes) as advance:
        read = partial(read_corpus, format_name=format_name, advance=advance)
        yield {str(path): Reread(partial(read, path)) for path in paths}


def tell_left_out(paths: Iterable[Path], format_name: str | None) -> None:
    """Name the files of folders that nobody reads; an essay in another format must not go missing unnoticed."""
    for path in paths:
        chosen = format_for(path, format_name)
        files = [str(file.relative_to(path)) for file in left_out(path, chosen)]
        if files:
            more = ", ..." if len(files) > MOST_NAMED else ""
            names = ", ".join(files[:MOST_NAMED]) + more
            say(f"{path}: left out {counted(len(files), 'file')} of another format than {chosen.name}: {names}")


def n_bytes_of(paths: Iterable[Path]) -> int:
    files = (file for path in paths for file in (path.rglob("*") if path.is_dir() else [path]))
    return sum(file.stat().st_size for file in files if file.is_file())
