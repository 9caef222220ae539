"""The command line: `grater VERB ...`, one thin file per command group.

A command file is imported only when its command runs, so `grater --help` stays as quick as a bare typer program.
Wrong use and bad input end with exit status 2 and plain lines on standard error; nobody sees a traceback.
"""

from __future__ import annotations

import os
import sys

import typer
from typer.exceptions import Abort, Exit, TyperException

from grater import __version__
from grater.cli.lazy import LazyGroup
from grater.errors import GraterError

COMMANDS = {
    "demo": ("grater.cli.demo:app", "The corpus study of the NUCLE paper on the bundled sample essays."),
    "corpus": ("grater.cli.corpus:app", "Read, write, check and count annotated corpora in every format."),
}
"""Every command: where it lives, and its line in `grater --help`."""

app = typer.Typer(
    name="grater",
    cls=LazyGroup.of(COMMANDS),
    help="grater: find out how good a grammatical error detector really is.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
)


@app.callback(invoke_without_command=True)
def grater(
    version: bool = typer.Option(False, "--version", help="Print the version and exit.", is_eager=True),
) -> None:
    if version:
        typer.echo(f"grater {__version__}")
        raise typer.Exit


def main(args: list[str] | None = None) -> None:
    """Run the command line and leave with its exit status: 0 done, 1 problems found, 2 wrong use or bad input."""
    sys.exit(run(sys.argv[1:] if args is None else args))


def run(args: list[str]) -> int:
    """Run one command and give its exit status; every error that a person can mend becomes plain lines."""
    try:
        status = typer.main.get_command(app)(args, prog_name="grater", standalone_mode=False)
        sys.stdout.flush()
    except TyperException as error:
        return _complain(_one_line(error)) if error.format_message() else 2
    except GraterError as error:
        return _complain(str(error))
    except Exit as left:
        return left.exit_code
    except Abort:
        return 130
    except BrokenPipeError:
        # The reader of our output (head, less) has gone; give Python's own flush at exit nowhere to fail.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    return status if isinstance(status, int) else 0


def _complain(message: str) -> int:
    sys.stderr.write(message.rstrip("\n") + "\n")
    return 2


def _one_line(error: TyperException) -> str:
    """Typer's own complaint, with the command it is about and where to read on."""
    context = getattr(error, "ctx", None)
    path = context.command_path if context is not None else "grater"
    message = " ".join(error.format_message().split())
    stop = "" if message.endswith(("?", ".")) else "."
    return f"{path}: {message[:1].lower()}{message[1:]}{stop} Try '{path} --help'"
