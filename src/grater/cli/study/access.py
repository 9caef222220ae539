"""Commands on access to a study: token, second-factor and audit."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from grater.annotate.store import Tx, credentials, people
from grater.annotate.store.clock import as_iso
from grater.annotate.store.credentials import TOKEN_DAYS
from grater.annotate.store.schema import SCOPES
from grater.annotate.study.events import audit_filter, csv_parts, entries, json_lines
from grater.annotate.study.people import end_token, make_token
from grater.annotate.study.second_factor import require_of, required_roles, reset
from grater.annotate.study.status import open_study
from grater.cli.command import Json, print_json, say
from grater.cli.study import StudyName
from grater.errors import UsageError
from grater.model import Json as JsonValue

token_app = typer.Typer()


@token_app.command()
def print_token(
    study: StudyName,
    person: Annotated[str | None, typer.Argument(metavar="[NAME]", help="The person the program acts for.")] = None,
    days: Annotated[float, typer.Option(help="Days the token is valid.")] = TOKEN_DAYS,
    scope: Annotated[
        str,
        typer.Option(
            help="read (change nothing), work (rate and adjudicate) or manage (everything the person may do)."
        ),
    ] = SCOPES[-1],
    name: Annotated[str, typer.Option("--note", help="A note on its purpose.")] = "",
    is_list: Annotated[
        bool, typer.Option("--list-tokens", help="List the valid tokens, of everyone or of NAME.")
    ] = False,
    ended: Annotated[str | None, typer.Option("--end", metavar="ID", help="Revoke a token, by its id.")] = None,
    as_json: Json = False,
) -> None:
    """Print a new API token; it can do what the person can, within its scope."""
    with open_study(study) as store, store.write() as tx:
        if ended:
            end_token(tx, ended)
            say(f"{ended}: ended")
            return
        if is_list:
            _print_tokens(_token_rows(tx, person), as_json=as_json)
            return
        if person is None:
            raise UsageError("expected NAME, the person the program acts for")
        owner = people.named(tx, person)
        token = make_token(tx, owner.person_id, name=name, days=days, scope=scope)
    if as_json:
        print_json({"token": token, "person": owner.name, "role": owner.role, "days": days, "scope": scope})
        return
    typer.echo(token)
    say(f"acts for {owner.name}, {owner.role}, scope {scope}, for {days:g} days")


def _token_rows(tx: Tx, person: str | None) -> list[dict[str, JsonValue]]:
    """The tokens that hold, the oldest first."""
    wanted = people.named(tx, person).person_id if person else None
    names = {each.person_id: each.name for each in people.all(tx)}
    return [
        {
            "token_id": token.token_id,
            "person": names[token.person_id],
            "name": token.name,
            "scope": token.scope,
            "made_at": as_iso(token.made_at),
            "expires_at": as_iso(token.expires_at) if token.expires_at else None,
            "used_at": as_iso(token.used_at) if token.used_at else None,
        }
        for token in credentials.all_tokens(tx)
        if wanted in (None, token.person_id)
    ]


def _print_tokens(rows: list[dict[str, JsonValue]], *, as_json: bool) -> None:
    if as_json:
        print_json({"tokens": rows})
        return
    for row in rows:
        used = f"last used {row['used_at']}" if row["used_at"] else "never used"
        cells = (row["token_id"], row["person"], row["scope"], f"until {row['expires_at']}", used, row["name"])
        typer.echo("  ".join(map(str, cells)))


factor_app = typer.Typer()


@factor_app.command()
def second_factor(
    study: StudyName,
    reset_name: Annotated[
        str | None, typer.Option("--reset", metavar="NAME", help="Reset the second factor of this person.")
    ] = None,
    roles: Annotated[
        str | None,
        typer.Option("--require", metavar="ROLES", help="Roles that need it: owner, manager, both, or none."),
    ] = None,
    as_json: Json = False,
) -> None:
    """List who has a second factor and which roles need one; reset or require it."""
    with open_study(study) as store, store.write() as tx:
        if reset_name:
            reset(tx, people.named(tx, reset_name).person_id)
        if roles is not None:
            named = [role.strip() for role in roles.split(",")]
            require_of(tx, {"both": ["owner", "manager"], "none": []}.get(roles.strip(), named))
        required, with_one = required_roles(tx), credentials.people_with_one(tx)
        names = [person.name for person in people.all(tx) if person.person_id in with_one]
    if as_json:
        print_json({"roles": list(required), "people": list(names)})
        return
    say(f"required of: {', '.join(required) or 'nobody'}; on for: {', '.join(names) or 'nobody'}")


audit_app = typer.Typer()

N_SHOWN = 50


@audit_app.command()
def audit(
    study: StudyName,
    person: Annotated[str, typer.Option(help="Only events by this person.")] = "",
    kind: Annotated[
        str, typer.Option(help="Only events of this kind: person.role, person, or a group such as people.")
    ] = "",
    since: Annotated[
        str, typer.Option(metavar="DAY", help="Only events from this day on, as in 2026-11-16 (UTC).")
    ] = "",
    until: Annotated[str, typer.Option(metavar="DAY", help="Only events up to this day.")] = "",
    job: Annotated[str, typer.Option(help="Only events of this job.")] = "",
    out: Annotated[Path | None, typer.Option(help="Write all events to a file, .csv or .jsonl.")] = None,
    as_json: Json = False,
) -> None:
    """Show the audit log, newest first: the latest 50 events, or all in a file."""
    write = {".csv": csv_parts, ".jsonl": json_lines}.get(out.suffix.lower() if out else ".csv")
    if write is None:
        raise UsageError(f"{out}: expected a file that ends in .csv or .jsonl")
    with open_study(study) as store, store.read() as tx:
        wanted = audit_filter(tx, person=person, kind=kind, since=since, until=until, job=job)
        if out is not None:
            with out.open("w", encoding="utf-8", newline="") as stream:
                stream.writelines(write(tx, wanted))
            return
        rows = [entry.to_dict() for entry in entries(tx, wanted, most=N_SHOWN)]
    if as_json:
        print_json({"events": rows})
        return
    for row in rows:
        typer.echo(
            f"{row['n']}  {row['at']}  {row['person'] or 'grater'}  {row['verb']}  {row['about'] or row['noun']}"
        )
