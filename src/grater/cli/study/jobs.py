"""Commands on jobs and the people who do them: job, change, gold, crowd, hand-over, invite and seat."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal

import typer

from grater.annotate.money import job_costs, owed_frame, settle
from grater.annotate.samples import of_sample
from grater.annotate.store import Store, jobs, people, progress
from grater.annotate.store.gold import has_gold
from grater.annotate.study.gold import PLANTED, gold_from_planted, known_gold
from grater.annotate.study.jobs import JobPlan, add_guidelines, add_job, hand_over_by_name, set_state
from grater.annotate.study.people import add_seat, invite, invite_back
from grater.annotate.study.status import open_study
from grater.annotate.study.terms import protocol_sheet, set_terms
from grater.annotate.tasks import TASKS
from grater.annotate.terms import terms_json, terms_of
from grater.cli.command import Json, Seed, print_json, require_outputs, say
from grater.cli.study import StudyName, pasted, read_guidelines, tell_unmet_gold
from grater.corpora import read_corpus
from grater.errors import UsageError
from grater.model import Json as JsonValue
from grater.sheet import counted
from grater.tables import write_table

job_app = typer.Typer()


@job_app.command()
def add_job_command(
    study: StudyName,
    task: Annotated[str, typer.Option(help=f"The task: one of {', '.join(TASKS)}.")],
    name: Annotated[str | None, typer.Option(help="The job's name; default: the task's.")] = None,
    judgments: Annotated[int, typer.Option("--judgments-per-item", min=1, help="Judgments per unit.")] = 1,
    kind: Annotated[str | None, typer.Option(help="The kind of items; default: the task's.")] = None,
    system: Annotated[
        str | None, typer.Option(help="The system whose suggestions choice and verify show, and marking offers.")
    ] = None,
    suggested_share: Annotated[
        float,
        typer.Option(
            metavar="SHARE", help="Marking: offer the system's marks for this share of each annotator's essays."
        ),
    ] = 1.0,
    most: Annotated[int | None, typer.Option("--n", min=1, help="Only N units, drawn at random.")] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Only essays that no job with this task has used.")] = False,
    sample: Annotated[
        str, typer.Option(metavar="NAME", help="Only the items of a sample that are not judged yet.")
    ] = "",
    annotators: Annotated[
        list[str],
        typer.Option("--annotator", metavar="NAME", help="Give the units to this person, by name; repeatable."),
    ] = [],  # noqa: B006
    batch_size: Annotated[int, typer.Option(min=0, help="Units per batch.")] = 0,
    overlap_every: Annotated[int, typer.Option(min=0, help="Give every n-th batch to all annotators.")] = 0,
    delay_days: Annotated[float, typer.Option(min=0, help="Construction: days between the two stages.")] = 3,
    lease_minutes: Annotated[float | None, typer.Option(help="Minutes allowed per unit.")] = None,
    guidelines: Annotated[
        Path | None, typer.Option(metavar="FILE.md", help="Instructions, instead of the task's default.")
    ] = None,
    tagset: Annotated[str | None, typer.Option(help="Marking: tag set; default: NUCLE's 27 tags.")] = None,
    grey: Annotated[bool, typer.Option("--grey", help="Construction: offer a grey answer, counted as yes.")] = False,
    draft: Annotated[bool, typer.Option("--draft", help="Leave the job as a draft.")] = False,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Create a job and open it."""
    plan = JobPlan(
        name or task,
        task,
        judgments,
        kind=kind,
        system=system,
        suggested_share=suggested_share,
        most=most,
        annotators=annotators,
        batch_size=batch_size,
        overlap_every=overlap_every,
        delay_days=delay_days,
        lease_minutes=lease_minutes,
        guidelines=read_guidelines(guidelines) if guidelines else None,
        payload={**({"tagset": tagset} if tagset else {}), **({"grey": True} if grey else {})},
        seed=seed,
        is_open=not draft,
        is_fresh=fresh,
    )
    with open_study(study) as store:
        job = add_job(store, of_sample(store, plan, sample) if sample else plan)
        with store.read() as tx:
            n_units = progress.units_by_job(tx)[job.job_id]["work"]
            n_slots = sum(progress.slots_by_job(tx)[job.job_id].values())
    if as_json:
        print_json(
            {"job": job.name, "job_id": job.job_id, "units": n_units, "judgments": n_slots, "state": job.state}
        )
    else:
        summary = f"{counted(n_units, 'unit')}, {counted(n_slots, 'judgment')} wanted, {job.state}"
        say(f"{job.name}: {summary}; next: grater study invite {pasted(study)} --role annotator")


change_app = typer.Typer()


@change_app.command()
def change(
    study: StudyName,
    job: Annotated[str, typer.Option(help="The job to change.")],
    state: Annotated[Literal["open", "paused", "closed"] | None, typer.Option(help="The new state.")] = None,
    instructions: Annotated[
        Path | None, typer.Option("--guidelines", metavar="FILE.md", help="A new version of the instructions.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Change a job's state or instructions; work in progress is still accepted."""
    if state is None and instructions is None:
        raise UsageError("expected --state or --guidelines, found neither")
    words = read_guidelines(instructions) if instructions else ""
    with open_study(study) as store, store.write() as tx:
        changed = jobs.named(tx, job)
        if instructions is not None:
            add_guidelines(tx, changed.job_id, words)
        if state is not None:
            changed = set_state(tx, changed.job_id, state)
        current = jobs.current_guidelines(tx, changed.job_id)
    version = current.version if current else 0
    if as_json:
        print_json({"job": job, "state": changed.state, "guidelines": version})
    else:
        say(f"{job}: {changed.state}, instructions version {version}")


gold_app = typer.Typer()


@gold_app.command()
def make_gold_units(
    study: StudyName,
    job: Annotated[str, typer.Option(help="The job to add gold to.")],
    source: Annotated[
        str | None, typer.Option("--expert-job", help="The job with the expert judgments; default: any.")
    ] = None,
    least: Annotated[
        int, typer.Option("--min-experts", min=1, help="Minimum number of experts, who must all agree.")
    ] = 2,
    most: Annotated[int | None, typer.Option("--n", min=1, help="Only N units, drawn at random.")] = None,
    rater: Annotated[str | None, typer.Option(help="Marking: the rater whose edits are the known errors.")] = None,
    planted: Annotated[
        Path | None,
        typer.Option(metavar="CORPUS", help="Marking: correct essays whose edits name the errors to plant."),
    ] = None,
    reason: Annotated[str, typer.Option(help="The explanation raters see after a miss.")] = "",
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Turn units that nobody has seen into gold."""
    good = None if planted is None else list(read_corpus(planted))
    with open_study(study) as store, store.write() as tx:
        target = jobs.named(tx, job)
        if good is not None:
            made = gold_from_planted(tx, target, good, reason=reason or PLANTED)
        else:
            made = known_gold(
                tx, target, source=source, rater=rater, least=least, most=most, reason=reason, seed=seed
            )
    if as_json:
        print_json({"job": job, "gold": made.made, "met": made.met})
    else:
        say(f"{job}: {counted(made.made, 'gold unit')} made, {made.met} left out: already gold, or seen by raters")
        if not has_gold(target):
            tell_unmet_gold(study, job)


crowd_app = typer.Typer()


@crowd_app.command()
def crowd(
    study: StudyName,
    job: Annotated[str, typer.Option(help="The job to show.")],
    terms: Annotated[
        str | None, typer.Option(metavar="JSON", help='Terms to change: \'{"pay": {"cents": 5}, "limit": 200}\'.')
    ] = None,
    pay: Annotated[
        Path | None, typer.Option(metavar="FILE.csv", help="Write the amounts owed, by panel and ID.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Show the protocol and cost of a job; with --terms, change its terms first."""
    require_outputs([pay], [])
    with open_study(study) as store:
        if terms is not None:
            _change(store, job, terms)
        if pay is not None:
            _pay(store, job, pay)
        with store.read() as tx:
            crowd_job = jobs.named(tx, job)
            sheet, costs = protocol_sheet(tx, crowd_job), job_costs(tx, crowd_job)
    if as_json:
        answer: Mapping[str, JsonValue] = {
            "terms": terms_json(terms_of(crowd_job.options)),
            "protocol": dict(sheet),
            "costs": costs.to_dict(),
        }
        print_json(answer)
        return
    for name, words in sheet:
        typer.echo(f"{name}: {words}")
    if costs.hourly and costs.hourly.warning:
        say(costs.hourly.warning)


def _change(store: Store, job: str, terms: str) -> None:
    try:
        new_terms = json.loads(terms)
    except ValueError as error:
        quoted = "a JSON object with names in double quotes"
        raise UsageError(f"--terms: expected {quoted}, found {terms[:60]!r}") from error
    if not isinstance(new_terms, dict):
        raise UsageError(f"--terms: expected a JSON object, found {terms[:60]!r}")
    with store.write() as tx:
        set_terms(tx, jobs.named(tx, job).job_id, new_terms)


def _pay(store: Store, job: str, path: Path) -> None:
    with store.write() as tx:
        paid_job = jobs.named(tx, job)
        settle(tx, paid_job)
        frame = owed_frame(tx, paid_job)
    write_table(frame, path)
    say(f"{path}: {len(frame)} payments")


hand_over_app = typer.Typer()


@hand_over_app.command()
def hand_units_over(
    study: StudyName,
    giver: Annotated[str, typer.Argument(metavar="FROM", help="The person who has the units.")],
    taker: Annotated[str, typer.Argument(metavar="TO", help="The person who gets them.")],
    job: Annotated[str, typer.Option(help="A job with named annotators.")],
    as_json: Json = False,
) -> None:
    """Reassign a person's remaining units in a job to somebody else."""
    with open_study(study) as store:
        n_units = hand_over_by_name(store, job=job, giver=giver, taker=taker)
    if as_json:
        print_json({"job": job, "from": giver, "to": taker, "units": n_units})
    else:
        say(f"{job}: {counted(n_units, 'unit')} of {giver} went to {taker}")


invite_app = typer.Typer()


@invite_app.command()
def make_link(
    study: StudyName,
    role: Annotated[str, typer.Option(help="Role: owner, manager, adjudicator, annotator or worker.")] = "annotator",
    job: Annotated[str | None, typer.Option(help="The job the person starts with.")] = None,
    days: Annotated[float, typer.Option(help="Days the link is valid.")] = 14,
    name: Annotated[str, typer.Option("--note", help="A note on who it is for.")] = "",
    back_name: Annotated[
        str | None,
        typer.Option(
            "--back", metavar="NAME", help="Let this person of the study back in, for example after a lost password."
        ),
    ] = None,
    url: Annotated[str, typer.Option(help="The server's public address.")] = "http://127.0.0.1:8000",
    as_json: Json = False,
) -> None:
    """Print an invitation link that works once."""
    with open_study(study) as store, store.write() as tx:
        if back_name:
            person = people.named(tx, back_name)
            token, role = invite_back(tx, person.person_id, days=days), person.role
        else:
            job_id = jobs.named(tx, job).job_id if job else None
            token = invite(tx, role=role, job_id=job_id, days=days, name=name)
    link = f"{url.rstrip('/')}/join/{token}"
    if as_json:
        print_json({"link": link, "role": role, "days": days})
        return
    typer.echo(link)
    say(f"works once, for {days:g} days, as {role}")


seat_app = typer.Typer()


@seat_app.command()
def make_seat(
    study: StudyName,
    first: Annotated[str, typer.Argument(metavar="FIRST", help="One of the two people, by name.")],
    second: Annotated[str, typer.Argument(metavar="SECOND", help="The other person, by name.")],
    name: Annotated[str, typer.Option(help="The seat's name; default: both names.")] = "",
    as_json: Json = False,
) -> None:
    """Create a joint seat; either person can open it from their own page."""
    with open_study(study) as store:
        seat = add_seat(store, (first, second), name=name)
    if as_json:
        print_json({"person_id": seat.person_id, "name": seat.name, "role": seat.role, "members": [first, second]})
    else:
        say(f"{seat.name}: a joint seat of {first} and {second}, {seat.role}; they open it from their own page")
