"""Jobs and people: job, change, gold, crowd, hand-over, invite and seat; access: token, second-factor and audit."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypedDict, Unpack, cast

from grater.annotate.tasks import TASKS
from grater.cli.command import Done
from grater.cli.study import JobName, ServerUrl, opened, pasted, read_guidelines, unmet_gold
from grater.corpora import read_corpus
from grater.errors import UsageError
from grater.model import Json as JsonValue
from grater.options import KindName, NumberDrawn, NumberFlagged, Opt, Seed, StudyName, described
from grater.progress import NOTES
from grater.result import encode
from grater.sheet import Sheet, counted
from grater.tables import read_items, write_table

if TYPE_CHECKING:
    from grater.annotate.jobs import GivenState, Job
    from grater.annotate.store import Tx


DESIGNS_LISTED = "sampling, exhaustive, verification, crowd-error, cloze, choice, constructions, marking"


class Planning(TypedDict, total=False):
    """How the units of a job are made, if no design says it; `NewJob` has the defaults."""

    kind: KindName
    suggested_share: Annotated[
        float, Opt("Marking: offer the system's marks on this share of essays.", "SHARE", default=1.0)
    ]
    fresh: Annotated[bool, Opt("Only essays that no job with this task has used.", default=False)]
    sample: Annotated[str, Opt("Only the items of a sample that are not judged yet.", "NAME", default="")]
    batch_size: Annotated[int, Opt("Units per batch.", min=0, default=0)]
    overlap_every: Annotated[int, Opt("Give every n-th batch to all annotators.", min=0, default=0)]
    delay_days: Annotated[float, Opt("Construction: days between the two stages.", min=0, default=3)]
    lease_minutes: Annotated[float | None, Opt("Minutes allowed per unit.")]
    tagset: Annotated[str | None, Opt("Marking: tag set; default: NUCLE's 27 tags.")]
    asks: Annotated[str, Opt("Error: the kind of error to ask about, if not that of the items.", "KIND", default="")]
    grey: Annotated[bool, Opt("Construction: offer a grey answer, counted as yes.", default=False)]
    pairs: Annotated[bool, Opt("Rank: two corrections at a time instead of up to five.", default=False)]


@described
def add_job_command(
    study: StudyName,
    *,
    task: Annotated[str, Opt(f"The task: one of {', '.join(TASKS)}.")] = "",
    design: Annotated[
        str, Opt(f"A published design instead of a task, with its paper's sizes: one of {DESIGNS_LISTED}.")
    ] = "",
    name: Annotated[str | None, Opt("The job's name; default: the task's.")] = None,
    judgments_per_item: Annotated[int | None, Opt("Judgments per item.", "N", min=1)] = None,
    system: Annotated[str | None, Opt("The system whose suggestions raters see.")] = None,
    n: NumberDrawn = None,
    flagged: NumberFlagged = None,
    items: Annotated[Path | None, Opt("Only the items of this table.", "FILE")] = None,
    annotators: Annotated[
        Sequence[str], Opt("Give the units to this person, by name; repeatable.", "NAME", flag="--annotator")
    ] = (),
    guidelines: Annotated[Path | None, Opt("Instructions, instead of the task's default.", "FILE.md")] = None,
    draft: Annotated[bool, Opt("Leave the job as a draft.")] = False,
    seed: Seed = 0,
    **planning: Unpack[Planning],
) -> Done:
    """Create a job and open it."""
    from grater.annotate import progress, samples
    from grater.annotate.plans import NewJob, add_job
    from grater.annotate.samples import DESIGNS, MISSING, notes_on, of_sample, start

    if bool(task) == bool(design) or (flagged is not None and not design):
        raise UsageError("expected `task` TASK, or `design` DESIGN with `flagged` N if wanted")
    if design and (planning or items or guidelines or draft):
        raise UsageError("a design has its own units and instructions; expected only its name, sizes and people")
    common: dict[str, Any] = {"system": system, "annotators": annotators, "seed": seed}
    with opened(study) as store:
        if design:
            sizes: dict[str, Any] = {"n": n, "n_flagged": flagged, "judgments": judgments_per_item}
            job = start(store, design, name=name or "", **common, **sizes)
        else:
            wanted = {"name": name or task, "task": task, "judgments": judgments_per_item or 1, "most": n}
            item_ids = read_items(items).frame["item"].to_list() if items else ()
            own = {"guidelines": read_guidelines(guidelines) if guidelines else None, "open": not draft}
            plan = NewJob.checked(**wanted, **own, **common, item_ids=item_ids, **planning)
            job = add_job(store, of_sample(store, plan))
        with store.read() as tx:
            n_units = progress.units_by_job(tx)[job.job_id]["work"]
            n_slots = sum(progress.slots_by_job(tx)[job.job_id].values())
            notes = notes_on(tx, samples.named(tx, job.name)) if design == "sampling" else ()
    value: dict[str, JsonValue] = {"job": job.name, "job_id": job.job_id, "units": n_units, "state": job.state}
    invite = f"next: grater people invite {pasted(study)} --role annotator"
    if not design:
        summary = f"{counted(n_units, 'unit')}, {counted(n_slots, 'judgment')} wanted, {job.state}"
        return Done({**value, "judgments": n_slots}, [f"{job.name}: {summary}; {invite}"])
    missing = [str(line) for line in cast("Sequence[str]", job.options.get(MISSING, ()))]
    value |= {"design": design, "task": job.task, "judgments": job.judgments, MISSING: list(missing)}
    size = f"{counted(n_units, 'unit')} of the task {job.task}, {counted(job.judgments, 'judgment')} each"
    lines = [f"note: {line}" for line in (*missing, *notes)]
    lines.append(f"{job.name}: {size} ({DESIGNS[design].source}); {invite}")
    return Done({**value, "notes": list(notes)}, lines)


@described
def open_job(study: StudyName, job: JobName) -> Done:
    """Open a job: raters can take its units."""
    return _move(study, job, "open")


@described
def pause_job(study: StudyName, job: JobName) -> Done:
    """Pause a job: nobody can take a unit; work in progress is still accepted."""
    return _move(study, job, "paused")


@described
def close_job(study: StudyName, job: JobName) -> Done:
    """Close a job; work in progress is still accepted."""
    return _move(study, job, "closed")


def _move(study: str, job: str, state: GivenState) -> Done:
    from grater.annotate import jobs, trust

    with opened(study) as store, store.write() as tx:
        changed = jobs.move(tx, jobs.named(tx, job).job_id, state)
        warnings = trust.gold_warnings(tx, changed) if state == "open" else ()
    return _state(study, changed, warnings)


@described
def guidelines(
    study: StudyName, job: JobName, file: Annotated[Path, Opt("The instructions, in Markdown.", "FILE.md")]
) -> Done:
    """Give a job a new version of its instructions."""
    from grater.annotate import jobs
    from grater.annotate.jobs import NewGuidelines

    words = NewGuidelines.checked(markdown=read_guidelines(file)).markdown
    with opened(study) as store, store.write() as tx:
        changed = jobs.named(tx, job)
        jobs.add_guidelines(tx, changed.job_id, words)
    return _state(study, changed)


def _state(study: str, job: Job, warnings: Sequence[str] = ()) -> Done:
    from grater.annotate import jobs

    with opened(study) as store, store.read() as tx:
        current = jobs.current_guidelines(tx, job.job_id)
    version = current.version if current else 0
    value: JsonValue = {"job": job.name, "state": job.state, "guidelines": version}
    return Done(value, [f"{job.name}: {job.state}, instructions version {version}"], warnings=warnings)


@described
def make_gold_units(
    study: StudyName,
    job: JobName,
    *,
    expert_job: Annotated[str | None, Opt("The job with the expert judgments; default: any.", "JOB")] = None,
    min_experts: Annotated[int, Opt("Minimum number of experts, who must all agree.", min=1)] = 2,
    n: NumberDrawn = None,
    rater: Annotated[str | None, Opt("Marking: the rater whose edits are the known errors.")] = None,
    planted: Annotated[Path | None, Opt("Marking: essays whose edits are the errors to plant.", "CORPUS")] = None,
    reason: Annotated[str, Opt("The explanation for raters who missed it.")] = "",
    seed: Seed = 0,
) -> Done:
    """Turn units that nobody has seen into gold."""
    from grater.annotate import jobs
    from grater.annotate.gold import PLANTED, GoldWanted, gold_from_planted, known_gold
    from grater.annotate.standing import has_gold

    good = None if planted is None else list(read_corpus(planted))
    with opened(study) as store, store.write() as tx:
        target = jobs.named(tx, job)
        if good is not None:
            made = gold_from_planted(tx, target, good, reason=reason or PLANTED)
        else:
            sizes = {"source": expert_job, "least": min_experts, "most": n}
            wanted = {**sizes, **({"reason": reason} if reason else {})}
            made = known_gold(tx, target, GoldWanted.checked(**wanted), rater=rater, seed=seed)
    lines = [f"{job}: {counted(made.made, 'gold unit')} made, {made.met} left out: already gold, or seen by raters"]
    lines += [] if has_gold(target) else [unmet_gold(study, job)]
    return Done({"job": job, "gold": made.made, "met": made.met}, lines)


@described
def terms(
    study: StudyName,
    job: JobName,
    *,
    changed: Annotated[
        str | None, Opt('Terms to change: \'{"pay": {"cents": 5}, "limit": 200}\'.', "JSON", flag="--change")
    ] = None,
    pay: Annotated[Path | None, Opt("Write the amounts owed, by panel and ID.", "FILE.csv", writes="table")] = None,
) -> Done:
    """Show the terms, protocol and cost of a crowd job; with --change, change its terms first."""
    from grater.annotate import jobs
    from grater.annotate.money import job_costs, owed_frame, settle
    from grater.annotate.protocol import protocol_sheet, set_terms
    from grater.annotate.terms import terms_json, terms_of

    try:
        new_terms = json.loads("{}" if changed is None else changed)
    except ValueError:
        new_terms = None
    if not isinstance(new_terms, dict):
        quoted = "a JSON object with names in double quotes"
        raise UsageError(f"`changed`: expected {quoted}, found {str(changed)[:60]!r}")
    with opened(study) as store:
        if changed is not None:
            with store.write() as tx:
                set_terms(tx, jobs.named(tx, job).job_id, new_terms)
        if pay is not None:
            with store.write() as tx:
                paid_job = jobs.named(tx, job)
                settle(tx, paid_job)
                frame = owed_frame(tx, paid_job)
            write_table(frame, pay)
            NOTES.info(f"{pay}: {len(frame)} payments")
        with store.read() as tx:
            crowd_job = jobs.named(tx, job)
            sheet, costs = protocol_sheet(tx, crowd_job), job_costs(tx, crowd_job)
    lines = [costs.hourly.warning] if costs.hourly and costs.hourly.warning else []
    own_terms = terms_json(terms_of(crowd_job.options))
    value: JsonValue = {"terms": own_terms, "protocol": dict(sheet), "costs": costs.to_dict()}
    return Done(value, lines, [f"{name}: {words}" for name, words in sheet.items()])


@described
def hand_units_over(
    study: StudyName,
    giver: Annotated[str, Opt("The person who has the units.", "FROM")],
    taker: Annotated[str, Opt("The person who gets them.", "TO")],
    *,
    job: Annotated[str, Opt("A job with named annotators.")],
) -> Done:
    """Reassign a person's remaining units in a job to somebody else."""
    from grater.annotate import jobs, people
    from grater.annotate.plans import hand_over

    with opened(study) as store, store.write() as tx:
        n_units = hand_over(tx, jobs.named(tx, job), people.named(tx, giver), people.named(tx, taker))
    value: JsonValue = {"job": job, "from": giver, "to": taker, "units": n_units}
    return Done(value, [f"{job}: {counted(n_units, 'unit')} of {giver} went to {taker}"])


@described
def make_link(
    study: StudyName,
    *,
    role: Annotated[str, Opt("Role: owner, manager, adjudicator, annotator or worker.")] = "annotator",
    job: Annotated[str | None, Opt("The job the person starts with.")] = None,
    days: Annotated[float, Opt("Days until it expires.")] = 14,
    note: Annotated[str, Opt("A note on what it is for.")] = "",
    back: Annotated[str, Opt("Let this person back in, for example after a lost password.", "NAME")] = "",
    url: ServerUrl = "http://127.0.0.1:8000",
) -> Done:
    """Print an invitation link that works once."""
    from grater.annotate import jobs, people
    from grater.annotate.invitations import NewInvitation, invite, invite_back

    sent = NewInvitation.checked(role=role, days=days, name=note)
    with opened(study) as store, store.write() as tx:
        if back:
            person = people.named(tx, back)
            token, role = invite_back(tx, person.person_id, days=sent.days), person.role
        else:
            job_id = jobs.named(tx, job).job_id if job else None
            token = invite(tx, sent.model_copy(update={"job_id": job_id}))
    link = f"{url.rstrip('/')}/join/{token}"
    message = f"works once, for {days:g} days, as {role}"
    return Done({"link": link, "role": role, "days": days}, [message], [link])


@described
def make_seat(
    study: StudyName,
    first: Annotated[str, Opt("One of the two people, by name.", "FIRST")],
    second: Annotated[str, Opt("The other person, by name.", "SECOND")],
    *,
    name: Annotated[str, Opt("The seat's name; default: both names.")] = "",
) -> Done:
    """Create a joint seat; either person can open it from their own page."""
    from grater.annotate import people
    from grater.annotate.people import NewSeat

    sent = NewSeat.checked(members=[first, second], name=name)
    with opened(study) as store, store.write() as tx:
        seat = people.add_seat(tx, sent.members, name=sent.name)
    message = f"{seat.name}: a joint seat of {first} and {second}, {seat.role}; they open it from their own page"
    members: list[JsonValue] = [first, second]
    return Done({"person_id": seat.person_id, "name": seat.name, "role": seat.role, "members": members}, [message])


@described
def print_token(
    study: StudyName,
    person: Annotated[str | None, Opt("The person the program acts for.", "[NAME]")] = None,
    *,
    days: Annotated[float, Opt("Days until it expires.")] = 90,
    scope: Annotated[str, Opt("read, work (rate and adjudicate) or manage (everything).")] = "manage",
    note: Annotated[str, Opt("A note on what it is for.")] = "",
    list_tokens: Annotated[bool, Opt("List the valid tokens, of everyone or of NAME.")] = False,
    end: Annotated[str, Opt("Revoke a token, by its id.", "ID")] = "",
) -> Done:
    """Print a new API token; it can do what the person can, within its scope."""
    from grater.annotate import credentials, people
    from grater.annotate.credentials import NewToken, end_token

    sent = NewToken.checked(name=note, days=days, scope=scope)
    with opened(study) as store, store.write() as tx:
        if end:
            end_token(tx, end, person_id=None)
            return Done({"ended": end}, [f"{end}: ended"])
        if list_tokens:
            return _tokens(tx, person)
        if person is None:
            raise UsageError("expected NAME, the person the program acts for")
        owner = people.named(tx, person)
        token = credentials.make_token(tx, owner.person_id, **sent.model_dump())
    message = f"acts for {owner.name}, {owner.role}, scope {scope}, for {days:g} days"
    value: JsonValue = {"token": token, "person": owner.name, "role": owner.role, "days": days, "scope": scope}
    return Done(value, [message], [token])


def _tokens(tx: Tx, person: str | None) -> Done:
    """The tokens that hold, the oldest first."""
    from grater.annotate import credentials, people
    from grater.annotate.store.transaction import as_iso

    wanted = people.named(tx, person).person_id if person else None
    names = {each.person_id: each.name for each in people.all(tx)}
    rows = [
        {
            "token_id": token.token_id,
            "person": names[token.person_id],
            "name": token.name,
            "scope": token.scope,
            "made_at": as_iso(token.made_at),
            "expires_at": token.expires_at and as_iso(token.expires_at),
            "used_at": token.used_at and as_iso(token.used_at),
        }
        for token in credentials.all_tokens(tx)
        if wanted in (None, token.person_id)
    ]
    columns = ("token_id", "person", "scope", "expires_at", "used_at", "name")
    shown = tuple(tuple(str(row[name] or "") for name in columns) for row in rows)
    return Done({"tokens": encode(rows)}, sheets=[Sheet("", columns, shown)])


@described
def second_factor(
    study: StudyName,
    *,
    reset_name: Annotated[str | None, Opt("Reset the second factor of this person.", "NAME", flag="--reset")] = None,
    roles: Annotated[
        str | None, Opt("Roles that need it: owner, manager, both, or none.", "ROLES", flag="--require")
    ] = None,
) -> Done:
    """List who has a second factor and which roles need one; reset or require it."""
    from grater.annotate import people
    from grater.annotate.second_factor import NewSecondFactorRule, people_with_one, require_of, required_roles, reset

    with opened(study) as store, store.write() as tx:
        if reset_name:
            reset(tx, people.named(tx, reset_name).person_id)
        if roles is not None:
            named = [role.strip() for role in roles.split(",")]
            wanted = {"both": ["owner", "manager"], "none": []}.get(roles.strip(), named)
            require_of(tx, NewSecondFactorRule.checked(roles=wanted).roles)
        required, with_one = required_roles(tx), people_with_one(tx)
        names = [person.name for person in people.all(tx) if person.person_id in with_one]
    message = f"required of: {', '.join(required) or 'nobody'}; on for: {', '.join(names) or 'nobody'}"
    return Done({"roles": list(required), "people": list(names)}, [message])


N_SHOWN = 50


@described
def audit(
    study: StudyName,
    *,
    person: Annotated[str, Opt("Only events by this person.")] = "",
    kind: Annotated[str, Opt("Only events of this kind, as in person.role.")] = "",
    since: Annotated[str, Opt("Only events from this day on (UTC).", "DAY")] = "",
    until: Annotated[str, Opt("Only events up to this day.", "DAY")] = "",
    job: Annotated[str, Opt("Only events of this job.")] = "",
    search: Annotated[str, Opt("Only events that mention these words.")] = "",
    out: Annotated[Path | None, Opt("Write all events to a file, .csv or .jsonl.")] = None,
) -> Done:
    """Show the audit log, newest first: the latest 50 events, or all in a file."""
    from grater.annotate.audit import audit_filter, csv_parts, entries, json_lines

    write = {".csv": csv_parts, ".jsonl": json_lines}.get(out.suffix.lower() if out else ".csv")
    if write is None:
        raise UsageError(f"{out}: expected a file that ends in .csv or .jsonl")
    with opened(study) as store, store.read() as tx:
        wanted = audit_filter(tx, person=person, kind=kind, since=since, until=until, job=job, search=search)
        if out is not None:
            with out.open("w", encoding="utf-8", newline="") as stream:
                stream.writelines(write(tx, wanted))
            return Done({"out": str(out)}, [f"{out}: the events that were asked for"])
        rows = [entry.to_dict() for entry in entries(tx, wanted, most=N_SHOWN)]
    shown = [
        f"{row['n']}  {row['at']}  {row['person'] or 'grater'}  {row['verb']}  {row['about'] or row['noun']}"
        for row in rows
    ]
    return Done({"events": encode(rows)}, shown=shown)
