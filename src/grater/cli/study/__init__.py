"""`grater study`: make a study, bring files in, plan jobs, invite people, see where it stands, take results out.

`StudyName` is the argument that every command on a study takes first.
"""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated, TypeAlias

import typer
from typer import Argument

from grater.cli import LazyGroup
from grater.cli.command import say
from grater.errors import BadInput, Problem
from grater.files import reason

COMMANDS = {
    "new": ("grater.cli.study.files:make_study_file", "Create an empty study: a file or a PostgreSQL database."),
    "import": ("grater.cli.study.files:import_into", "Import essays, items, decisions, judgments or known answers."),
    "decide": ("grater.cli.study.systems:run_systems", "Run systems on the essays and store their decisions."),
    "sample": ("grater.cli.study.systems:draw_sample", "Draw a sample of flagged and unflagged items to judge."),
    "design": (
        "grater.cli.study.systems:start_design",
        "Create the job of a published design, with the paper's sizes.",
    ),
    "mine": ("grater.cli.study.systems:mine", "Find prepositions that may be extraneous, to accept or reject."),
    "job": (
        "grater.cli.study.people:add_job_command",
        "Create a job: a task on items or essays, for anyone or for named people.",
    ),
    "change": ("grater.cli.study.people:change", "Open, pause or close a job, or change its instructions."),
    "gold": (
        "grater.cli.study.people:make_gold_units",
        "Add gold to a job, from experts' agreement or known errors.",
    ),
    "crowd": (
        "grater.cli.study.people:crowd",
        "Show a crowd job's terms, protocol and cost; write its payment file.",
    ),
    "invite": ("grater.cli.study.people:make_link", "Print an invitation link that works once."),
    "token": ("grater.cli.study.people:print_token", "Create, list or revoke API tokens."),
    "second-factor": ("grater.cli.study.people:second_factor", "List, require or reset second factors."),
    "audit": ("grater.cli.study.people:audit", "Show who did what and when, or write it to a file."),
    "hand-over": ("grater.cli.study.people:hand_units_over", "Reassign a person's remaining units to somebody else."),
    "seat": ("grater.cli.study.people:make_seat", "Create a joint seat: two people, one agreed judgment."),
    "status": ("grater.cli.study.files:show_status", "Show progress and the next step."),
    "check": ("grater.cli.study.files:check", "Check a study for lost, duplicate or orphaned work."),
    "adjudicate": ("grater.cli.study.results:adjudicate", "List what raters differ on, and decide it."),
    "review": (
        "grater.cli.study.results:review_marks",
        "Check a job's marks and return the findings to their annotators.",
    ),
    "evaluate": (
        "grater.cli.study.results:evaluate_study",
        "Score the systems against the raters: precision, recall and F.",
    ),
    "suggestions": (
        "grater.cli.study.results:suggestions",
        "Measure the effect of a system's suggestions on marking.",
    ),
    "report": ("grater.cli.study.results:write_report", "Write the report of a study, with figures."),
    "export": ("grater.cli.study.files:export_to", "Export a study to a folder, without secrets."),
    "backup": ("grater.cli.study.files:backup", "Back up a study, even while people work."),
    "restore": ("grater.cli.study.files:restore_from_backup", "Restore a study from a backup."),
    "import-archive": ("grater.cli.study.files:restore", "Restore a study from an exported folder or zip."),
}

app = typer.Typer(
    add_completion=False,
    cls=LazyGroup.of(COMMANDS),
    no_args_is_help=True,
    help="Run a study, kept in one database: essays, jobs, people, judgments, results.",
)


@app.callback()
def study() -> None:
    pass


StudyName: TypeAlias = Annotated[str, Argument(metavar="STUDY", help="A file (SQLite) or a postgresql:// URL.")]


def pasted(study: str) -> str:
    """The study as the next command takes it; a URL may hold a password, and is not repeated."""
    return "STUDY" if "://" in study else shlex.quote(study)


def read_guidelines(path: Path) -> str:
    """Instructions in Markdown from a file."""
    try:
        return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(Problem(str(path), f"expected instructions in UTF-8: {reason(error)}")) from error


def tell_unmet_gold(study: str, job: str) -> None:
    """Gold that no rule gives out is met by nobody."""
    command = f"grater study crowd {pasted(study)} --job {shlex.quote(job)} --terms"
    say(f"note: {job} has no rule for gold yet, so raters will not see it; set one: {command} '{{\"gold\": {{}}}}'")
