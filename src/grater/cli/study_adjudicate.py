"""`grater study adjudicate`: what raters differ on, and what counts in the end."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Annotated

import typer

from grater.cli.options import Json
from grater.cli.output import print_json, say
from grater.cli.study_option import StudyName
from grater.errors import UsageError
from grater.sheet import counted
from grater.store import Store, jobs, open_store
from grater.study.adjudication import Rule, Waiting, accept, decide, waiting

app = typer.Typer()


@app.command()
def adjudicate(
    study: StudyName,
    table: Annotated[Path | None, typer.Argument(metavar="[TABLE]", help="Decisions: columns item, label.")] = None,
    job: Annotated[str, typer.Option(help="The job to decide in.")] = "",
    rule: Annotated[
        Rule | None, typer.Option("--accept", help="Take what all raters, or more than half of them, say.")
    ] = None,
    decider: Annotated[str | None, typer.Option("--as", help="Who decides; the only owner if not given.")] = None,
    as_json: Json = False,
) -> None:
    """List what is undecided; with a table or --accept, decide. Decisions go by the annotator `gold`."""
    if not job or (table is not None and rule is not None):
        raise UsageError("expected --job NAME, and a table or --accept but not both")
    with open_store(study) as store:
        n_decided = _decided(store, job, table, rule, decider)
        with store.read() as tx:
            found = waiting(tx, jobs.named(tx, job))
    if as_json:
        print_json({"decided": n_decided, "waiting": [each.as_json() for each in found]})
        return
    for each in found:
        typer.echo(_line(each))
    n_differ = sum(each.differs for each in found)
    say(f"{counted(n_decided, 'unit')} decided now; {len(found):,} wait, raters differ on {n_differ:,}")


def _decided(store: Store, job: str, table: Path | None, rule: Rule | None, decider: str | None) -> int:
    if table is not None:
        return decide(store, job, table, decider=decider)
    return accept(store, job, rule, decider=decider) if rule is not None else 0


def _line(unit: Waiting) -> str:
    told = []
    for item_id, said in unit.answers.items():
        counts = Counter(answer.label for answer in said).most_common()
        told.append(f"{item_id}  {', '.join(f'{label} {n}' for label, n in counts)}")
    return "\n".join(told)
