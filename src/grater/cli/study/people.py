"""Jobs and people: job, change, gold, crowd, hand-over, invite and seat; access: token, second-factor and audit."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Option

from grater.annotate.tasks import TASKS
from grater.cli.command import Json, Seed, print_json, require_outputs, say, say_done, warn
from grater.cli.study import JobName, StudyName, pasted, read_guidelines, tell_unmet_gold
from grater.corpora import read_corpus
from grater.errors import UsageError
from grater.model import Json as JsonValue
from grater.sheet import counted
from grater.tables import write_table

if TYPE_CHECKING:
    from grater.annotate.jobs import GivenState, Job
    from grater.annotate.samples import Order
    from grater.annotate.store import Store, Tx


DESIGNS_LISTED = "sampling, exhaustive, verification, crowd-error, cloze, choice, constructions, marking"


def add_job_command(
    study: StudyName,
    task: Annotated[str, Option(help=f"The task: one of {', '.join(TASKS)}.")] = "",
    design: Annotated[
        str,
        Option(help=f"A published design instead of a task, with its paper's sizes: one of {DESIGNS_LISTED}."),
    ] = "",
    name: Annotated[str | None, Option(help="The job's name; default: the task's.")] = None,
    judgments: Annotated[int | None, Option("--judgments-per-item", min=1, help="Judgments per item.")] = None,
    kind: Annotated[str | None, Option(help="Only items of this kind.")] = None,
    system: Annotated[
        str | None, Option(help="The system whose suggestions choice and verify show, and marking offers.")
    ] = None,
    suggested_share: Annotated[
        float,
        Option(metavar="SHARE", help="Marking: offer the system's marks for this share of each annotator's essays."),
    ] = 1.0,
    most: Annotated[int | None, Option("--n", min=1, help="Number of items or units to draw.")] = None,
    flagged: Annotated[int | None, Option(min=0, help="Number of flagged items in the sample.")] = None,
    fresh: Annotated[bool, Option("--fresh", help="Only essays that no job with this task has used.")] = False,
    sample: Annotated[str, Option(metavar="NAME", help="Only the items of a sample that are not judged yet.")] = "",
    annotators: Annotated[
        list[str], Option("--annotator", metavar="NAME", help="Give the units to this person, by name; repeatable.")
    ] = [],
    batch_size: Annotated[int, Option(min=0, help="Units per batch.")] = 0,
    overlap_every: Annotated[int, Option(min=0, help="Give every n-th batch to all annotators.")] = 0,
    delay_days: Annotated[float, Option(min=0, help="Construction: days between the two stages.")] = 3,
    lease_minutes: Annotated[float | None, Option(help="Minutes allowed per unit.")] = None,
    guidelines: Annotated[
        Path | None, Option(metavar="FILE.md", help="Instructions, instead of the task's default.")
    ] = None,
    tagset: Annotated[str | None, Option(help="Marking: tag set; default: NUCLE's 27 tags.")] = None,
    grey: Annotated[bool, Option("--grey", help="Construction: offer a grey answer, counted as yes.")] = False,
    draft: Annotated[bool, Option("--draft", help="Leave the job as a draft.")] = False,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Create a job and open it."""
    from grater.annotate import progress
    from grater.annotate.plans import NewJob, add_job
    from grater.annotate.samples import Order, of_sample
    from grater.annotate.store import open_store

    if bool(task) == bool(design) or (flagged is not None and not design):
        raise UsageError("expected --task TASK, or --design DESIGN with --flagged N if wanted")
    if design:
        order = Order(
            design=design,
            name=name or "",
            system=system,
            n=most,
            n_flagged=flagged,
            judgments=judgments,
            annotators=annotators,
            seed=seed,
        )
        _start_design(study, order, as_json=as_json)
        return
    plan = NewJob.checked(
        name=name or task,
        task=task,
        judgments=1 if judgments is None else judgments,
        kind=kind,
        system=system,
        suggested_share=suggested_share,
        sample=sample,
        most=most,
        fresh=fresh,
        annotators=annotators,
        batch_size=batch_size,
        overlap_every=overlap_every,
        delay_days=delay_days,
        lease_minutes=lease_minutes,
        guidelines=read_guidelines(guidelines) if guidelines else None,
        tagset=tagset,
        grey=grey,
        seed=seed,
        open=not draft,
    )
    with open_store(study) as store:
        job = add_job(store, of_sample(store, plan))
        with store.read() as tx:
            n_units = progress.units_by_job(tx)[job.job_id]["work"]
            n_slots = sum(progress.slots_by_job(tx)[job.job_id].values())
    if as_json:
        print_json(
            {"job": job.name, "job_id": job.job_id, "units": n_units, "judgments": n_slots, "state": job.state}
        )
    else:
        summary = f"{counted(n_units, 'unit')}, {counted(n_slots, 'judgment')} wanted, {job.state}"
        say(f"{job.name}: {summary}; next: grater people invite {pasted(study)} --role annotator")


def _start_design(study: str, order: Order, *, as_json: bool) -> None:
    from grater.annotate import progress, samples
    from grater.annotate.samples import DESIGNS, MISSING, notes_on, start
    from grater.annotate.store import open_store

    with open_store(study) as store:
        job = start(store, order)
        with store.read() as tx:
            n_units = progress.units_by_job(tx)[job.job_id]["work"]
            notes = notes_on(tx, samples.named(tx, job.name)) if order.design == "sampling" else ()
    not_filled = job.options.get(MISSING, [])
    if as_json:
        sizes: dict[str, JsonValue] = {"units": n_units, "judgments": job.judgments, MISSING: not_filled}
        sizes["notes"] = list(notes)
        print_json({"job": job.name, "design": order.design, "task": job.task, **sizes})
        return
    for line in not_filled if isinstance(not_filled, list) else ():
        say(f"not filled: {line}")
    for note in notes:
        say(f"note: {note}")
    size = f"{counted(n_units, 'unit')} of the task {job.task}, {counted(job.judgments, 'judgment')} each"
    command = f"grater people invite {pasted(study)} --role annotator"
    say(f"{job.name}: {size} ({DESIGNS[order.design].source}); next: {command}")


def open_job(study: StudyName, job: JobName, as_json: Json = False) -> None:
    """Open a job: raters can take its units."""
    _move(study, job, "open", as_json=as_json)


def pause_job(study: StudyName, job: JobName, as_json: Json = False) -> None:
    """Pause a job: nobody can take a unit; work in progress is still accepted."""
    _move(study, job, "paused", as_json=as_json)


def close_job(study: StudyName, job: JobName, as_json: Json = False) -> None:
    """Close a job; work in progress is still accepted."""
    _move(study, job, "closed", as_json=as_json)


def _move(study: str, job: str, state: GivenState, *, as_json: bool) -> None:
    from grater.annotate import jobs, trust
    from grater.annotate.store import open_store

    with open_store(study) as store, store.write() as tx:
        changed = jobs.move(tx, jobs.named(tx, job).job_id, state)
        warn(trust.gold_warnings(tx, changed) if state == "open" else ())
    _say_state(study, changed, as_json=as_json)


def guidelines(
    study: StudyName,
    job: JobName,
    file: Annotated[Path, Argument(metavar="FILE.md", help="The instructions, in Markdown.")],
    as_json: Json = False,
) -> None:
    """Give a job a new version of its instructions."""
    from grater.annotate import jobs
    from grater.annotate.jobs import NewGuidelines
    from grater.annotate.store import open_store

    words = NewGuidelines.checked(markdown=read_guidelines(file)).markdown
    with open_store(study) as store, store.write() as tx:
        changed = jobs.named(tx, job)
        jobs.add_guidelines(tx, changed.job_id, words)
    _say_state(study, changed, as_json=as_json)


def _say_state(study: str, job: Job, *, as_json: bool) -> None:
    from grater.annotate import jobs
    from grater.annotate.store import open_store

    with open_store(study) as store, store.read() as tx:
        current = jobs.current_guidelines(tx, job.job_id)
    version = current.version if current else 0
    say_done(
        f"{job.name}: {job.state}, instructions version {version}",
        {"job": job.name, "state": job.state, "guidelines": version},
        as_json=as_json,
    )


def make_gold_units(
    study: StudyName,
    job: JobName,
    source: Annotated[
        str | None, Option("--expert-job", help="The job with the expert judgments; default: any.")
    ] = None,
    least: Annotated[int, Option("--min-experts", min=1, help="Minimum number of experts, who must all agree.")] = 2,
    most: Annotated[int | None, Option("--n", min=1, help="Number of items or units to draw.")] = None,
    rater: Annotated[str | None, Option(help="Marking: the rater whose edits are the known errors.")] = None,
    planted: Annotated[
        Path | None, Option(metavar="CORPUS", help="Marking: correct essays whose edits name the errors to plant.")
    ] = None,
    reason: Annotated[str, Option(help="The explanation for raters who missed it.")] = "",
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Turn units that nobody has seen into gold."""
    from grater.annotate import jobs
    from grater.annotate.gold import PLANTED, GoldWanted, gold_from_planted, known_gold
    from grater.annotate.standing import has_gold
    from grater.annotate.store import open_store

    good = None if planted is None else list(read_corpus(planted))
    with open_store(study) as store, store.write() as tx:
        target = jobs.named(tx, job)
        if good is not None:
            made = gold_from_planted(tx, target, good, reason=reason or PLANTED)
        else:
            wanted = {"source": source, "least": least, "most": most, **({"reason": reason} if reason else {})}
            made = known_gold(tx, target, GoldWanted.checked(**wanted), rater=rater, seed=seed)
    if as_json:
        print_json({"job": job, "gold": made.made, "met": made.met})
    else:
        say(f"{job}: {counted(made.made, 'gold unit')} made, {made.met} left out: already gold, or seen by raters")
        if not has_gold(target):
            tell_unmet_gold(study, job)


def terms(
    study: StudyName,
    job: JobName,
    changed: Annotated[
        str | None,
        Option("--change", metavar="JSON", help='Terms to change: \'{"pay": {"cents": 5}, "limit": 200}\'.'),
    ] = None,
    pay: Annotated[Path | None, Option(metavar="FILE.csv", help="Write the amounts owed, by panel and ID.")] = None,
    as_json: Json = False,
) -> None:
    """Show the terms, protocol and cost of a crowd job; with --change, change its terms first."""
    from grater.annotate import jobs
    from grater.annotate.money import job_costs, owed_frame, settle
    from grater.annotate.protocol import protocol_sheet
    from grater.annotate.store import open_store
    from grater.annotate.terms import terms_json, terms_of

    require_outputs([pay], [])
    with open_store(study) as store:
        if changed is not None:
            _change(store, job, changed)
        if pay is not None:
            with store.write() as tx:
                paid_job = jobs.named(tx, job)
                settle(tx, paid_job)
                frame = owed_frame(tx, paid_job)
            write_table(frame, pay)
            say(f"{pay}: {len(frame)} payments")
        with store.read() as tx:
            crowd_job = jobs.named(tx, job)
            sheet, costs = protocol_sheet(tx, crowd_job), job_costs(tx, crowd_job)
    if as_json:
        answer: Mapping[str, JsonValue] = {
            "terms": terms_json(terms_of(crowd_job.options)),
            "protocol": sheet,
            "costs": costs.to_dict(),
        }
        print_json(answer)
        return
    for name, words in sheet.items():
        typer.echo(f"{name}: {words}")
    if costs.hourly and costs.hourly.warning:
        say(costs.hourly.warning)


def _change(store: Store, job: str, terms: str) -> None:
    from grater.annotate import jobs
    from grater.annotate.protocol import set_terms

    try:
        new_terms = json.loads(terms)
    except ValueError as error:
        quoted = "a JSON object with names in double quotes"
        raise UsageError(f"--change: expected {quoted}, found {terms[:60]!r}") from error
    if not isinstance(new_terms, dict):
        raise UsageError(f"--change: expected a JSON object, found {terms[:60]!r}")
    with store.write() as tx:
        set_terms(tx, jobs.named(tx, job).job_id, new_terms)


def hand_units_over(
    study: StudyName,
    giver: Annotated[str, Argument(metavar="FROM", help="The person who has the units.")],
    taker: Annotated[str, Argument(metavar="TO", help="The person who gets them.")],
    job: Annotated[str, Option(help="A job with named annotators.")],
    as_json: Json = False,
) -> None:
    """Reassign a person's remaining units in a job to somebody else."""
    from grater.annotate import jobs, people
    from grater.annotate.plans import hand_over
    from grater.annotate.store import open_store

    with open_store(study) as store, store.write() as tx:
        n_units = hand_over(tx, jobs.named(tx, job), people.named(tx, giver), people.named(tx, taker))
    say_done(
        f"{job}: {counted(n_units, 'unit')} of {giver} went to {taker}",
        {"job": job, "from": giver, "to": taker, "units": n_units},
        as_json=as_json,
    )


def make_link(
    study: StudyName,
    role: Annotated[str, Option(help="Role: owner, manager, adjudicator, annotator or worker.")] = "annotator",
    job: Annotated[str | None, Option(help="The job the person starts with.")] = None,
    days: Annotated[float, Option(help="Days until it expires.")] = 14,
    name: Annotated[str, Option("--note", help="A note on what it is for.")] = "",
    back_name: Annotated[
        str | None,
        Option(
            "--back", metavar="NAME", help="Let this person of the study back in, for example after a lost password."
        ),
    ] = None,
    url: Annotated[
        str, Option(help="The public address of the server, as in https://rate.example.org.")
    ] = "http://127.0.0.1:8000",
    as_json: Json = False,
) -> None:
    """Print an invitation link that works once."""
    from grater.annotate import jobs, people
    from grater.annotate.invitations import NewInvitation, invite, invite_back
    from grater.annotate.store import open_store

    sent = NewInvitation.checked(role=role, days=days, name=name)
    with open_store(study) as store, store.write() as tx:
        if back_name:
            person = people.named(tx, back_name)
            token, role = invite_back(tx, person.person_id, days=sent.days), person.role
        else:
            job_id = jobs.named(tx, job).job_id if job else None
            token = invite(tx, sent.model_copy(update={"job_id": job_id}))
    link = f"{url.rstrip('/')}/join/{token}"
    if as_json:
        print_json({"link": link, "role": role, "days": days})
        return
    typer.echo(link)
    say(f"works once, for {days:g} days, as {role}")


def make_seat(
    study: StudyName,
    first: Annotated[str, Argument(metavar="FIRST", help="One of the two people, by name.")],
    second: Annotated[str, Argument(metavar="SECOND", help="The other person, by name.")],
    name: Annotated[str, Option(help="The seat's name; default: both names.")] = "",
    as_json: Json = False,
) -> None:
    """Create a joint seat; either person can open it from their own page."""
    from grater.annotate import people
    from grater.annotate.people import NewSeat
    from grater.annotate.store import open_store

    sent = NewSeat.checked(members=[first, second], name=name)
    with open_store(study) as store, store.write() as tx:
        seat = people.add_seat(tx, sent.members, name=sent.name)
    say_done(
        f"{seat.name}: a joint seat of {first} and {second}, {seat.role}; they open it from their own page",
        {"person_id": seat.person_id, "name": seat.name, "role": seat.role, "members": [first, second]},
        as_json=as_json,
    )


def print_token(
    study: StudyName,
    person: Annotated[str | None, Argument(metavar="[NAME]", help="The person the program acts for.")] = None,
    days: Annotated[float, Option(help="Days until it expires.")] = 90,
    scope: Annotated[
        str,
        Option(help="read (change nothing), work (rate and adjudicate) or manage (everything the person may do)."),
    ] = "manage",
    name: Annotated[str, Option("--note", help="A note on what it is for.")] = "",
    is_list: Annotated[bool, Option("--list-tokens", help="List the valid tokens, of everyone or of NAME.")] = False,
    ended: Annotated[str | None, Option("--end", metavar="ID", help="Revoke a token, by its id.")] = None,
    as_json: Json = False,
) -> None:
    """Print a new API token; it can do what the person can, within its scope."""
    from grater.annotate import credentials, people
    from grater.annotate.credentials import NewToken, end_token
    from grater.annotate.store import open_store

    sent = NewToken.checked(name=name, days=days, scope=scope)
    with open_store(study) as store, store.write() as tx:
        if ended:
            end_token(tx, ended, person_id=None)
            say(f"{ended}: ended")
            return
        if is_list:
            _print_tokens(_token_rows(tx, person), as_json=as_json)
            return
        if person is None:
            raise UsageError("expected NAME, the person the program acts for")
        owner = people.named(tx, person)
        token = credentials.make_token(tx, owner.person_id, **sent.model_dump())
    if as_json:
        print_json({"token": token, "person": owner.name, "role": owner.role, "days": days, "scope": scope})
        return
    typer.echo(token)
    say(f"acts for {owner.name}, {owner.role}, scope {scope}, for {days:g} days")


def _token_rows(tx: Tx, person: str | None) -> list[dict[str, JsonValue]]:
    """The tokens that hold, the oldest first."""
    from grater.annotate import credentials, people
    from grater.annotate.store.transaction import as_iso

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


def second_factor(
    study: StudyName,
    reset_name: Annotated[
        str | None, Option("--reset", metavar="NAME", help="Reset the second factor of this person.")
    ] = None,
    roles: Annotated[
        str | None, Option("--require", metavar="ROLES", help="Roles that need it: owner, manager, both, or none.")
    ] = None,
    as_json: Json = False,
) -> None:
    """List who has a second factor and which roles need one; reset or require it."""
    from grater.annotate import people
    from grater.annotate.second_factor import NewSecondFactorRule, people_with_one, require_of, required_roles, reset
    from grater.annotate.store import open_store

    with open_store(study) as store, store.write() as tx:
        if reset_name:
            reset(tx, people.named(tx, reset_name).person_id)
        if roles is not None:
            named = [role.strip() for role in roles.split(",")]
            wanted = {"both": ["owner", "manager"], "none": []}.get(roles.strip(), named)
            require_of(tx, NewSecondFactorRule.checked(roles=wanted).roles)
        required, with_one = required_roles(tx), people_with_one(tx)
        names = [person.name for person in people.all(tx) if person.person_id in with_one]
    say_done(
        f"required of: {', '.join(required) or 'nobody'}; on for: {', '.join(names) or 'nobody'}",
        {"roles": list(required), "people": list(names)},
        as_json=as_json,
    )


N_SHOWN = 50


def audit(
    study: StudyName,
    person: Annotated[str, Option(help="Only events by this person.")] = "",
    kind: Annotated[
        str, Option(help="Only events of this kind: person.role, person, or a group such as people.")
    ] = "",
    since: Annotated[str, Option(metavar="DAY", help="Only events from this day on, as in 2026-11-16 (UTC).")] = "",
    until: Annotated[str, Option(metavar="DAY", help="Only events up to this day.")] = "",
    job: Annotated[str, Option(help="Only events of this job.")] = "",
    out: Annotated[Path | None, Option(help="Write all events to a file, .csv or .jsonl.")] = None,
    as_json: Json = False,
) -> None:
    """Show the audit log, newest first: the latest 50 events, or all in a file."""
    from grater.annotate.audit import audit_filter, csv_parts, entries, json_lines
    from grater.annotate.store import open_store

    write = {".csv": csv_parts, ".jsonl": json_lines}.get(out.suffix.lower() if out else ".csv")
    if write is None:
        raise UsageError(f"{out}: expected a file that ends in .csv or .jsonl")
    with open_store(study) as store, store.read() as tx:
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
