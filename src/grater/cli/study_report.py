"""`grater study report`: one page with everything that a study found."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from grater.cli.evaluate_options import Resamples
from grater.cli.options import FigureTypes, Seed, file_types
from grater.cli.output import say
from grater.cli.study_option import StudyName
from grater.report.save import save_report
from grater.statistics.bootstrap import Chance
from grater.statistics.intervals import RESAMPLES
from grater.store import open_store
from grater.study.reporting import study_report

app = typer.Typer()


@app.command()
def report(
    study: StudyName,
    out: Annotated[Path, typer.Option(metavar="DIR", help="The folder for the report; made if missing.")] = Path(
        "report"
    ),
    title: Annotated[str, typer.Option(help="The title of the report; the study's name if not given.")] = "",
    job: Annotated[list[str], typer.Option(metavar="NAME", help="Only judgments of these jobs.")] = [],  # noqa: B006
    kind: Annotated[str, typer.Option(help="Only items of this kind, as in prep.")] = "",
    names: Annotated[bool, typer.Option("--names", help="Raters by name; by pseudonym otherwise.")] = False,
    figures: FigureTypes = [],  # noqa: B006
    resamples: Resamples = RESAMPLES,
    seed: Seed = 0,
) -> None:
    """Write the report: an HTML page that works offline, Markdown, LaTeX tables, every figure."""
    wanted = file_types(figures)
    with open_store(study) as store, store.read() as tx:
        chance = Chance(n_resamples=resamples, seed=seed)
        made = study_report(tx, title=title, job_names=job, kind=kind, chance=chance, names=names)
    written = save_report(made, out, file_types=wanted)
    say(f"the report is {written[0]}; {len(made.figures)} figures are in {out}/figures")
