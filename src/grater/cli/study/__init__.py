"""`grater study`: make a study, bring files in, plan jobs, invite people, see where it stands, take results out.

`StudyName` is the argument that every command on a study takes first.
"""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from grater.cli import LazyGroup
from grater.cli.command import say
from grater.errors import BadInput, Problem
from grater.files import reason

COMMANDS = {
    "new": ("grater.cli.study.files:new_app", "Make an empty study: a file, or an empty PostgreSQL database."),
    "import": ("grater.cli.study.files:import_app", "Bring in essays, items, decisions, judgments, known answers."),
    "decide": ("grater.cli.study.systems:decide_app", "Run systems over the essays and keep what they decide."),
    "sample": ("grater.cli.study.systems:sample_app", "Draw items to judge from what a system flags and lets pass."),
    "design": (
        "grater.cli.study.systems:design_app",
        "A study of the papers by one name: its job with the paper's sizes.",
    ),
    "mine": ("grater.cli.study.systems:mine_app", "Prepositions that look like one too many, to accept or reject."),
    "job": (
        "grater.cli.study.jobs:job_app",
        "Add a job: a task over items or essays, for a pool or named annotators.",
    ),
    "change": ("grater.cli.study.jobs:change_app", "Open, pause or close a job; give it new instructions."),
    "gold": ("grater.cli.study.jobs:gold_app", "Gold for a job, from what experts agree on or from known errors."),
    "crowd": (
        "grater.cli.study.jobs:crowd_app",
        "Terms, protocol sheet, costs and payment file of a job for a crowd.",
    ),
    "invite": ("grater.cli.study.jobs:invite_app", "A link for somebody to join, used once."),
    "token": (
        "grater.cli.study.access:token_app",
        "A token with which a program acts for somebody.",
    ),
    "second-factor": ("grater.cli.study.access:factor_app", "Who logs in with a second factor; require or reset it."),
    "audit": ("grater.cli.study.access:audit_app", "Who did what, by person, kind, day and job; as a file."),
    "hand-over": ("grater.cli.study.jobs:hand_over_app", "What somebody has not done becomes another's."),
    "seat": ("grater.cli.study.jobs:seat_app", "A joint seat: two people, one agreed judgment."),
    "status": ("grater.cli.study.files:status_app", "Where the study stands, and what comes next."),
    "check": ("grater.cli.study.files:check_app", "Whether the study keeps its promises; exit status 1 if not."),
    "adjudicate": ("grater.cli.study.results:adjudicate_app", "What raters differ on, and what counts in the end."),
    "review": ("grater.cli.study.results:review_app", "Marks that look wrong, back to the annotators who made them."),
    "evaluate": ("grater.cli.study.results:evaluate_app", "The systems against the raters: precision, recall, F."),
    "suggestions": (
        "grater.cli.study.results:suggestions_app",
        "What a system's suggestions change in marked essays, and what became of them.",
    ),
    "report": ("grater.cli.study.results:report_app", "One page with everything that the study found."),
    "export": (
        "grater.cli.study.files:export_app",
        "Everything in one folder, the same bytes whenever nothing changed.",
    ),
    "backup": (
        "grater.cli.study.files:backup_app",
        "A copy of everything, taken while people work.",
    ),
    "restore": ("grater.cli.study.files:restore_app", "Make a study again from a backup."),
    "import-archive": ("grater.cli.study.files:archive_app", "Make a study again from an exported folder or zip."),
}

app = typer.Typer(
    cls=LazyGroup.of(COMMANDS),
    no_args_is_help=True,
    help="A study is one database: essays, items, raters, judgments.",
)


@app.callback()
def study() -> None:
    pass


StudyName: TypeAlias = Annotated[str, typer.Argument(metavar="STUDY", help="A file (SQLite) or a postgresql:// URL.")]


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
    say(f"note: {job} tests nobody yet, so nobody meets its gold: {command} '{{\"gold\": {{}}}}'")
