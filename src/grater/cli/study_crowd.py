"""`grater study crowd`: the terms of a job for a crowd, its protocol sheet, its costs, its payment file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from grater.cli.options import Json
from grater.cli.output import print_json, require_outputs, say
from grater.cli.study_option import StudyName
from grater.crowd.terms import terms_json, terms_of
from grater.errors import UsageError
from grater.model import Json as JsonValue
from grater.store import Store, jobs, open_store
from grater.study.money import job_costs, owed_frame, settle
from grater.study.terms import protocol_sheet, set_terms
from grater.tables import write_table

app = typer.Typer()


@app.command()
def crowd(
    study: StudyName,
    job: Annotated[str, typer.Option(help="The job.")],
    terms: Annotated[
        str | None, typer.Option(metavar="JSON", help='Terms to change: \'{"pay": {"cents": 5}, "limit": 200}\'.')
    ] = None,
    pay: Annotated[Path | None, typer.Option(metavar="FILE.csv", help="Write what is owed, by panel and id.")] = None,
    as_json: Json = False,
) -> None:
    """Show the protocol of a job and what it cost; with --terms change its terms first."""
    require_outputs([pay], [])
    with open_store(study) as store:
        if terms is not None:
            _change(store, job, terms)
        if pay is not None:
            _pay(store, job, pay)
        with store.read() as tx:
            found = jobs.named(tx, job)
            sheet, costs = protocol_sheet(tx, found), job_costs(tx, found)
    if as_json:
        told: Mapping[str, JsonValue] = {
            "terms": terms_json(terms_of(found.options)),
            "protocol": dict(sheet),
            "costs": costs.as_json(),
        }
        print_json(told)
        return
    for name, words in sheet:
        typer.echo(f"{name}: {words}")
    if costs.hourly and costs.hourly.warning:
        say(costs.hourly.warning)


def _change(store: Store, job: str, terms: str) -> None:
    try:
        found = json.loads(terms)
    except ValueError as error:
        quoted = "a JSON object, its names in double quotes"
        raise UsageError(f"--terms: expected {quoted}, found {terms[:60]!r}") from error
    if not isinstance(found, dict):
        raise UsageError(f"--terms: expected a JSON object, found {terms[:60]!r}")
    with store.write() as tx:
        set_terms(tx, jobs.named(tx, job).job_id, found)


def _pay(store: Store, job: str, path: Path) -> None:
    with store.write() as tx:
        found = jobs.named(tx, job)
        settle(tx, found)
        frame = owed_frame(tx, found)
    write_table(frame, path)
    say(f"{path}: {len(frame)} payments")
