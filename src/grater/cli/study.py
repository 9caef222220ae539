"""`grater study`: make a study, bring files in, plan jobs, invite people, see where it stands, take results out."""

from __future__ import annotations

import typer

from grater.cli.lazy import LazyGroup

COMMANDS = {
    "new": ("grater.cli.study_new:app", "Make an empty study: a file, or an empty PostgreSQL database."),
    "import": ("grater.cli.study_import:app", "Bring in essays, items, decisions, judgments, known answers."),
    "decide": ("grater.cli.study_decide:app", "Run systems over the essays and keep what they decide."),
    "sample": ("grater.cli.study_sample:app", "Draw items to judge from what a system flags and lets pass."),
    "design": ("grater.cli.study_design:app", "A study of the papers by one name: its job with the paper's sizes."),
    "mine": ("grater.cli.study_mine:app", "Prepositions that look like one too many, to accept or reject."),
    "job": ("grater.cli.study_job:app", "Add a job: a task over items or essays, for a pool or named annotators."),
    "change": ("grater.cli.study_change:app", "Open, pause or close a job; give it new instructions."),
    "gold": ("grater.cli.study_gold:app", "Gold for a job, from what experts agree on or from known errors."),
    "crowd": ("grater.cli.study_crowd:app", "Terms, protocol sheet, costs and payment file of a job for a crowd."),
    "invite": ("grater.cli.study_invite:app", "A link for somebody to join, used once."),
    "token": ("grater.cli.study_token:app", "A token with which a program acts for somebody."),
    "hand-over": ("grater.cli.study_hand_over:app", "What somebody has not done becomes another's."),
    "seat": ("grater.cli.study_seat:app", "A joint seat: two people, one agreed judgment."),
    "status": ("grater.cli.study_status:app", "Where the study stands, and what comes next."),
    "check": ("grater.cli.study_check:app", "Whether the study keeps its promises; exit status 1 if not."),
    "adjudicate": ("grater.cli.study_adjudicate:app", "What raters differ on, and what counts in the end."),
    "review": ("grater.cli.study_review:app", "Marks that look wrong, back to the annotators who made them."),
    "evaluate": ("grater.cli.study_evaluate:app", "The systems against the raters: precision, recall, F."),
    "report": ("grater.cli.study_report:app", "One page with everything that the study found."),
    "export": ("grater.cli.study_export:app", "Everything in one folder, the same bytes whenever nothing changed."),
    "import-archive": ("grater.cli.study_archive:app", "Make a study again from an exported folder or zip."),
}

app = typer.Typer(
    cls=LazyGroup.of(COMMANDS),
    no_args_is_help=True,
    help="A study is one database: essays, items, raters, judgments.",
)


@app.callback()
def study() -> None:
    pass
