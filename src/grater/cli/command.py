"""Shared parts of commands: making a command from a function, and printing.

Results go to standard output, messages to standard error. Tables on a terminal have a bold title and no box, words
aligned left and numbers right. Reading long corpora on a terminal shows a progress bar. Tables are imported only
where they are read, so that `grater score` and `grater corpus` need not load polars.
"""

from __future__ import annotations

import json
import logging
import shutil
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib import import_module
from inspect import Parameter, Signature
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, TypeAlias, Union, get_args, get_origin

import typer
from rich.console import Console
from typer import Argument, Option

from grater import progress
from grater.errors import UsageError
from grater.files import n_bytes_of, require_place
from grater.model import Json as JsonValue
from grater.options import Opt, is_optional, parts_of, require_different, signature_of, typed
from grater.result import Result
from grater.sheet import WRITERS, Sheet, TableFormat, as_text

Json: TypeAlias = Annotated[bool, Option("--json", help="Print JSON.")]
Table: TypeAlias = Annotated[TableFormat, Option("--table", help="Table format.")]
Out: TypeAlias = Annotated[Path | None, Option("--out", metavar="FILE", help="Also write the result as a table.")]

messages = Console(stderr=True, highlight=False, soft_wrap=True)

TABLE_SUFFIXES = {".csv", ".tsv", ".parquet", ".ndjson", ".xlsx", ".xls", ".ods"}
PLAIN_WIDTH = 120
"""Characters of a line where the output is not a terminal."""


def print_json(value: JsonValue) -> None:
    """Print one JSON document and nothing else; undefined numbers must already be null."""
    sys.stdout.write(json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False) + "\n")


def say(message: str) -> None:
    """Print a message on standard error."""
    messages.print(message, markup=False)


@dataclass(frozen=True, slots=True)
class Done:
    """The outcome of a command that is not a table of numbers.

    `shown` goes to standard output, `messages` to standard error. A `status` of 1 means that problems were found.
    """

    value: Any
    messages: Sequence[str] = ()
    shown: Sequence[str] = ()
    sheets: Sequence[Sheet] = ()
    warnings: Sequence[str] = ()
    status: int = 0

    def tell(self, *, as_json: bool) -> None:
        warn(self.warnings)
        if as_json:
            print_json(self.value)
        else:
            sys.stdout.writelines(f"{line}\n" for line in self.shown)
            show_sheets(self.sheets)
            for line in self.messages:
                say(line)
        if self.status:
            raise typer.Exit(self.status)


def warn(warnings: Iterable[str]) -> None:
    """Print what a reader of the result must know, one line each."""
    for warning in warnings:
        say(f"warning: {typed(warning)}")


def show(result: Result, *, table: TableFormat = "text", as_json: bool = False) -> None:
    """Print a result in the requested format."""
    if as_json:
        print_json(result.to_dict())
        return
    if paragraph := getattr(result, "paragraph", ""):  # asked for in place of tables
        typer.echo(paragraph)
        return
    show_sheets(result.sheets(), table=table)


def show_sheets(sheets: Iterable[Sheet], *, table: TableFormat = "text") -> None:
    """Print tables one after the other, on a terminal at its width and with bold titles.

    CSV has only cells; their notes go to standard error.
    """
    notes: dict[str, None] = {}
    for index, plain in enumerate(sheets):
        sheet = replace(plain, notes=tuple(map(typed, plain.notes)))
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
    """A progress bar for a long job on a terminal; yields the callback for the number of parts done and the total."""
    from rich.progress import Progress  # most commands have no bar

    with Progress(console=messages, transient=True, disable=not messages.is_terminal) as progress:
        bar = progress.add_task(title, total=None)
        yield lambda done, total: progress.update(bar, completed=done, total=total)


def require_outputs(outputs: Iterable[Path | None], inputs: Iterable[Path | None]) -> None:
    """Before a long job, check that its tables can be written, to distinct places, without overwriting inputs."""
    wanted = [path for path in outputs if path]
    require_different(wanted)
    for path in (each for each in inputs if each):
        for out in wanted:
            require_different([path, out])
    if wanted:
        from grater.tables import require_table_place  # polars, which `grater score` need not wait for

        for out in wanted:
            require_table_place(out)


# Commands made from functions


_KEY = Parameter.KEYWORD_ONLY


def made_of(
    function: Callable[..., Any],
    others: Mapping[str, Callable[..., Any]] | None = None,
    *,
    n_arguments: int = 1,
    describe: Callable[[Any, Mapping[str, Any]], Done] | None = None,
) -> Callable[..., None]:
    """A command with the options of a function, which calls it and prints its result.

    The first parameters are arguments, the others options; tables and corpora are files. One of `others` is called
    instead if the option with its name is given or, under "", if the input is an annotated corpus; options that it
    lacks are then refused. `describe` turns a result that is not a table, and the options, into lines.
    """
    others = others or {}
    known: dict[str | None, dict[str, Parameter]] = {None: dict(signature_of(function).parameters)}
    arguments = list(known[None])[:n_arguments]
    for name, other in others.items():
        _, *more = signature_of(other).parameters.items()
        known[name] = {arguments[0]: known[None][arguments[0]], **dict(more)}
    taken: dict[str, Parameter] = {}
    for parameters in known.values():
        taken |= {name: each for name, each in parameters.items() if name not in taken}
    in_all = set.intersection(*map(set, known.values()))
    optional = {
        name: each.replace(default=None) if each.default is Parameter.empty and name not in in_all else each
        for name, each in taken.items()
    }
    owners = {name: _owner(name, known) for name in taken}
    panels = {name: f"For {owner}" if owner else None for name, owner in owners.items()}
    wanted = [_typed(each, is_argument=name in arguments, panel=panels[name]) for name, each in optional.items()]
    flags = {name: _flag(parameter) for name, parameter in taken.items() if name not in arguments}
    options = {name: parts_of(each.annotation)[1] or Opt("") for name, each in taken.items()}
    is_whole = "as_json" in taken or signature_of(function).return_annotation == "None"  # it speaks for itself
    is_table = not (is_whole or describe or signature_of(function).return_annotation == "Done")
    own = [_switch(name, other) for name, other in others.items() if name]
    own += [Parameter("table", _KEY, default="text", annotation=Table)] if is_table else []
    own += [] if is_whole else [Parameter("as_json", _KEY, default=False, annotation=Json)]
    own += [Parameter("out", _KEY, default=None, annotation=Out)] if is_table and "out" not in taken else []

    def command(**given: Any) -> None:
        out: Path | None = None if "out" in taken else given.pop("out", None)
        as_json: bool = False if is_whole else given.pop("as_json")
        table: TableFormat = given.pop("table") if is_table else "text"
        asked: str | None = next(iter([name for name in others if name and given.pop(name)]), None)
        if as_json and "losses" in given and "-" in map(str, [given["losses"], *given["files"][-1:]]):
            both = "found --json and the corpus or its losses; write one to a file"
            raise UsageError(f"expected one result on standard output, {both}")
        for name, value in given.items():
            require_different([] if options[name].repeats else _paths(value))
        require_different(_paths(given.get("judgments")) + _paths(given.get("experts")))
        _require_places(out, given, {name: option.writes for name, option in options.items()})
        if asked is None and "" in others:
            is_of_corpora = given.get("format_name") or any(map(is_corpus, _paths(given[arguments[0]])))
            asked = "" if is_of_corpora else None
        chosen, own_names = others[asked] if asked is not None else function, known[asked]
        values: dict[str, Any] = {}
        first: list[Any] = []
        for parameter in wanted:
            name, value = parameter.name, given[parameter.name]
            if value is None or value == [] or (value == parameter.default and name not in arguments):
                if name in own_names and taken[name].default is Parameter.empty and name not in arguments:
                    raise UsageError(f"expected {flags[name]} {options[name].metavar}")
                continue
            if name not in own_names:
                belongs = f"not for --{asked}" if asked else f"for {owners[name] or 'tables of judgments'}"
                raise UsageError(f"{flags[name]} is {belongs}")
            converted = _value(taken[name], value)
            if name not in arguments:
                values[name] = converted
            elif taken[name].kind is Parameter.VAR_POSITIONAL:
                first += converted
            else:
                first.append(converted)
        result = chosen(*first, **values)
        done = describe(result, given) if describe else result
        if isinstance(done, Done):
            done.tell(as_json=as_json)
        elif isinstance(result, Result):
            warn(result.warnings)
            if out:
                from grater.tables import write_table

                write_table(result.to_frame(), out)
            show(result, table=table, as_json=as_json)

    command.__doc__ = function.__doc__
    command.__name__ = function.__name__
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in [*wanted, *own]}
    command.__signature__ = Signature([*wanted, *own])  # type: ignore[attr-defined]
    return command


def _switch(name: str, function: Callable[..., Any]) -> Parameter:
    """The option that selects another function, described by the first line of its docstring."""
    [line, *_] = (function.__doc__ or "").splitlines()
    return Parameter(name, _KEY, default=False, annotation=Annotated[bool, Option(f"--{name}", help=line)])


def _owner(name: str, known: Mapping[str | None, Collection[str]]) -> str:
    """Which of a command's functions an option belongs to, if not to all."""
    owner = next(other for other, names in known.items() if name in names)
    return f"--{owner}" if owner else "annotated corpora" if owner == "" else ""


def _require_places(out: Path | None, given: Mapping[str, Any], written: Mapping[str, str]) -> None:
    """Checks before a long job that outputs are writable and distinct, and do not overwrite an input."""
    inputs = [path for name, value in given.items() if not written[name] for path in _paths(value)]
    outputs = {name: given[name] for name, kind in written.items() if kind and given[name]}
    tables = [path for path in (out, *(each for name, each in outputs.items() if written[name] == "table")) if path]
    require_different([*outputs.values(), *([out] if out else [])])
    for name, file in outputs.items():
        for path in inputs:
            require_different([path, file])
        if written[name] == "file" and str(file) != "-":
            require_place(file)
    require_outputs(tables, inputs)


def _flag(parameter: Parameter) -> str:
    _, option = parts_of(parameter.annotation)
    return (option.flag if option else "") or f"--{parameter.name.replace('_', '-')}"


def _typed(parameter: Parameter, *, is_argument: bool, panel: str | None = None) -> Parameter:
    """A parameter as typer expects it, in a panel of the help."""
    plain, option = parts_of(parameter.annotation)
    kind, _ = is_optional(plain)
    option = option or Opt("")
    is_list = option.several or bool(option.parse) or get_origin(kind) in (Sequence, Mapping)
    is_list = is_list or parameter.kind is Parameter.VAR_POSITIONAL
    default = [] if is_list else None if parameter.default is Parameter.empty else parameter.default
    is_needed = (parameter.default is Parameter.empty and not option.metavar.startswith("[")) or option.needed
    members = get_args(kind) if get_origin(kind) is Sequence else (kind,)
    word: Any = Path if _is_file(members[0]) else str if is_list or get_origin(kind) in (Union, UnionType) else kind
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
        made = Option(_flag(parameter), rich_help_panel=panel, **about)
    return Parameter(
        parameter.name,
        Parameter.KEYWORD_ONLY,
        default=Parameter.empty if is_needed else default,
        annotation=Annotated[annotation, made],
    )


def _is_file(kind: Any) -> bool:
    return kind is Any or kind is Path or (get_origin(kind) in (Union, UnionType) and Path in get_args(kind))


def _paths(value: Any) -> list[Path]:
    """The files of a value, without the NAME= before them."""
    paths = (each for each in (value if isinstance(value, list) else [value]) if isinstance(each, Path))
    return [each if each.exists() else Path(str(each).rpartition("=")[2]) for each in paths]


def _value(parameter: Parameter, value: Any) -> Any:
    """Convert typed text to the value that a function expects."""
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
            is_split = option.split or member in (int, float)
            return [member(each) for each in (entries(value) if is_split else value)]
        except ValueError:
            raise UsageError(f"expected numbers for {_flag(parameter)}, found {', '.join(value)!r}") from None
    return value


def imported(place: str) -> Any:
    module, _, name = place.partition(":")
    return getattr(import_module(module), name)


def completing(place: str) -> Callable[[str], list[str]]:
    """Completes the names of a registry, which is imported when the shell requests completions."""

    def names(incomplete: str) -> list[str]:
        return [name for name in imported(place) if name.startswith(incomplete)]

    return names


def is_corpus(path: Path) -> bool:
    """Whether a path is an annotated corpus, not a table; a .jsonl file is one if it begins with our header.

    Standard input is a table, unless a corpus format was given.
    """
    if str(path) == "-":
        return False
    suffixes = [suffix for suffix in path.suffixes if suffix != ".gz"]
    if suffixes and suffixes[-1] in TABLE_SUFFIXES:
        return False
    if suffixes and suffixes[-1] == ".jsonl" and path.suffix == ".jsonl" and path.is_file():
        from grater.corpora.jsonl import FORMAT_NAME  # tables need not wait for the formats of corpora

        with path.open(encoding="utf-8", errors="replace") as lines:
            return FORMAT_NAME in lines.readline()
    return True


class Notes(logging.Handler):
    """The notes of a function, for the person at the terminal."""

    def emit(self, record: logging.LogRecord) -> None:
        say(typed(record.getMessage()))


for notes in (progress.NOTES, logging.getLogger("grater.chat")):
    notes.addHandler(Notes(logging.INFO))
    notes.setLevel(logging.INFO)


def entries(settings: Sequence[str]) -> list[str]:
    """The values of an option that may be repeated or comma-separated."""
    return [entry.strip() for setting in settings for entry in setting.split(",") if entry.strip()]


WORTH_A_BAR = 5_000_000
"""Bytes of input below which a progress bar would only flicker."""


@contextmanager
def reading(title: str, *paths: Path, n_passes: int = 1) -> Iterator[Callable[[int], None]]:
    """A progress bar over the bytes of files, on a terminal and for long input; yields its callback."""
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    from grater.corpora.source import OPENERS

    n_bytes = n_passes * n_bytes_of(paths)
    is_packed = any(path.suffix.lower() in OPENERS for path in paths)  # then nobody knows how much it unpacks to
    columns = [TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn()]
    shown = messages.is_terminal and n_bytes >= WORTH_A_BAR
    with Progress(*columns, console=messages, transient=True, disable=not shown) as progress:
        bar = progress.add_task(title, total=None if is_packed else n_bytes)
        yield lambda n_bytes: progress.advance(bar, n_bytes)


progress.drawn_by.update(reading=reading, counting=counting)
