"""`grater demo`: the whole loop on the bundled sample study, ending in a report and in a study that is alive."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from grater.cli.command import print_json, say, show
from grater.corpora import read_corpus, write_corpus
from grater.corpora.check import check_essays
from grater.corpora.source import replacing
from grater.demo import sample_path
from grater.files import complaining
from grater.model import Essay
from grater.options import AsJson, FigureTypes, Opt, described
from grater.sheet import counted, interval

if TYPE_CHECKING:
    from grater.corpora.statistics import CorpusStatistics
    from grater.demo.study import DemoStudy


@described
def demo(
    *,
    out: Annotated[Path, Opt("The folder for the results.", "FOLDER")] = Path("demo"),
    serve: Annotated[bool, Opt("Also serve the study in the browser.")] = False,
    figures: FigureTypes = (),
    as_json: AsJson = False,
) -> None:
    """Run the whole pipeline on the bundled sample study, into a folder."""
    from grater.demo.study import STUDY, fresh_study, is_demo, make_study  # SQLAlchemy, without which there is help
    from grater.reporting.save import file_types

    wanted = file_types(figures)
    with complaining(out):
        out.mkdir(parents=True, exist_ok=True)
    if serve and is_demo(out / STUDY):
        say(f"{out / STUDY}: serving the demo made earlier; delete the folder to make a new one")
        _serve(out)
        return
    fresh_study(out)
    essays = list(read_corpus(sample_path()))
    statistics = _corpus(essays, out)
    if not as_json:
        show(statistics)
    made = make_study(out, essays, file_types=wanted)
    if as_json:
        print_json({**made.to_dict(), "study": str(out / STUDY)})
    else:
        _tell(made, out)
    if serve:
        _serve(out)


def _serve(out: Path) -> None:
    from grater.cli.study.files import serve as serve_study
    from grater.demo.study import LOGIN, STUDY

    if (out / LOGIN).exists():
        say((out / LOGIN).read_text("utf-8").rstrip())
    serve_study(str(out / STUDY))


def _corpus(essays: Sequence[Essay], out: Path) -> CorpusStatistics:
    """The corpus study of the NUCLE paper: formats, counts, defects, agreement of the two annotators."""
    from grater.corpora.statistics import corpus_statistics
    from grater.measure.agreement.coefficients import band_words
    from grater.measure.agreement.edits import edit_agreement

    losses: list[str] = []
    for name in ("essays.jsonl", "essays.sgml", "essays.m2"):
        write_corpus(essays, out / name, lambda loss: losses.append(str(loss)))
    statistics = corpus_statistics({"sample": essays}, by="language")
    with replacing(out / "stats.json") as stream:
        json.dump(statistics.to_dict(), stream, ensure_ascii=False, indent=2)
    findings = list(check_essays(essays))
    for finding in findings:
        say(str(finding))
    say(f"checked: {len(findings) or 'no'} defects in {len(essays)} essays")
    say(f"converted: {out}/essays.jsonl, .sgml and .m2; {len(losses)} losses listed, which SGML and M2 cannot hold")
    [pair] = edit_agreement(essays).criteria["identification"].pairs
    words = f"{interval(pair.kappa)} ({band_words(pair.kappa)})"
    say(f"agreed: kappa {words} on which of {pair.n:,} tokens are wrong")
    return statistics


def _tell(made: DemoStudy, out: Path) -> None:
    from grater.demo.study import SIMULATED

    say(f"decided: {', '.join(made.systems)} on {counted(made.n_items, 'preposition')}, in {out}/decisions.csv")
    say(f"judged: {made.n_expert:,} judgments by two annotators in {out}/judgments.csv")
    say(f"judged: {made.n_crowd:,} judgments by a simulated crowd in {out}/crowd.csv")
    say(f"sampled: {counted(made.n_sampled, 'item')} for {made.systems[0]}, in {out}/sample.csv")
    say(SIMULATED)
    for line in made.headline[:-1]:  # the note on what is simulated comes first
        typer.echo(line)
    say("These intervals generalise to other essays like these; in the report, each table has its own scope.")
    say(f"the report is {made.page}; the study is {out}/study.db: grater study status {out}/study.db")
    if made.login:
        say(f"open the study in your browser: grater demo --out {out} --serve; names and password: {made.login}")
