"""`grater demo`: the whole loop on the bundled sample study, from essays to a report, with no server or account.

Essays by learners are read, counted and checked; our three detectors look at every preposition; two annotators and a
simulated crowd judge them; a sample is drawn; the report says how good the detectors are.  Everything stays in a
folder: the study as one database, every table, the report.  `--serve` then opens the study to the browser.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from grater.agreement.coefficients import band
from grater.agreement.edits import edit_agreement
from grater.cli.demo_study import DEMO_RESAMPLES, SIMULATED, DemoStudy, fresh_study, make_study
from grater.cli.evaluate_options import Resamples
from grater.cli.options import FigureTypes, file_types
from grater.cli.output import say, show
from grater.corpora import read_corpus, write_corpus
from grater.corpora.check import check_essays
from grater.corpora.source import replacing
from grater.corpora.statistics import corpus_statistics
from grater.files import complaining
from grater.model import Essay
from grater.sample import sample_path
from grater.sheet import counted

app = typer.Typer()


@app.command()
def demo(
    out: Annotated[Path, typer.Option(metavar="DIR", help="The folder for the results; made if missing.")] = Path(
        "demo"
    ),
    serve: Annotated[bool, typer.Option("--serve", help="Then serve the study to browsers.")] = False,
    figures: FigureTypes = [],  # noqa: B006
    resamples: Resamples = DEMO_RESAMPLES,
) -> None:
    """Run the whole loop on the bundled sample study and leave everything in a folder."""
    wanted = file_types(figures)
    with complaining(out):
        out.mkdir(parents=True, exist_ok=True)
    fresh_study(out)
    essays = list(read_corpus(sample_path()))
    _corpus(essays, out)
    made = make_study(out, file_types=wanted, n_resamples=resamples)
    _tell(made, out)
    if serve:
        from grater.cli.serve import serve as serve_study  # the server's packages are needed only here

        serve_study(str(out / "study.db"))


def _corpus(essays: Sequence[Essay], out: Path) -> None:
    """The corpus study of the NUCLE paper: formats, counts, defects, agreement of the two annotators."""
    losses: list[str] = []
    for name in ("essays.jsonl", "essays.sgml", "essays.m2"):
        write_corpus(essays, out / name, lambda loss: losses.append(str(loss)))
    statistics = corpus_statistics({"sample": essays}, by="language")
    with replacing(out / "stats.json") as stream:
        json.dump(statistics.to_dict(), stream, ensure_ascii=False, indent=2)
    show(statistics)
    findings = list(check_essays(essays))
    for finding in findings:
        say(str(finding))
    say(f"checked: {len(findings) or 'no'} defects in {len(essays)} essays")
    say(f"converted: {out}/essays.jsonl, .sgml and .m2; {len(losses)} things that SGML and M2 cannot hold were named")
    say(f"agreed: {_agreement(essays)}")


def _agreement(essays: Sequence[Essay]) -> str:
    [pair] = edit_agreement(essays).criteria["identification"].pairs
    kappa = pair.kappa
    limits = f"{kappa.low:.2f} to {kappa.high:.2f}"
    return f"kappa {kappa.value:.2f} ({limits}, {band(kappa.value)}) on which of {pair.n:,} tokens are wrong"


def _tell(made: DemoStudy, out: Path) -> None:
    say(f"decided: {', '.join(made.systems)} on {counted(made.n_items, 'preposition')}, in {out}/decisions.csv")
    say(f"judged: {made.n_expert:,} judgments by two annotators in {out}/judgments.csv")
    say(f"judged: {made.n_crowd:,} judgments by a simulated crowd in {out}/crowd.csv")
    say(f"sampled: {counted(made.n_sampled, 'item')} for {made.systems[0]}, in {out}/sample.csv")
    say(SIMULATED)
    for line in made.headline[:-1]:  # the note on what is simulated comes first
        typer.echo(line)
    say(f"the report is {made.page}; the study is {out}/study.db: grater study status {out}/study.db")
