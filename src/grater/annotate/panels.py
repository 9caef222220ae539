"""Panels: raters join by a link with their id, and leave with a completion code or a return address.

A panel needs the name of the parameter with its rater id and, for each outcome (completed, screened out, failed the
quiz), a code or a return address. Addresses may contain `{id}` and `{code}`. Providers have the documented parameter
names of three panels: Prolific (PROLIFIC_PID, STUDY_ID, SESSION_ID), CloudResearch Connect (participantId, projectId,
assignmentId) and SONA (survey_code, filled in for %SURVEY_CODE% in the study URL). Addresses differ by account, so
requesters paste their own. In SONA's completion URL, which ends in survey_code=XXXX, XXXX is replaced by the rater's
code.

Anyone who knows a link can invent ids. Links are therefore signed with the panel's secret, unless its manager chooses
otherwise, and the number of raters per address and day is limited. A rater who failed the quiz keeps their place;
otherwise every invented id would give another look at the quiz.

The panel defines identity: the same id from the same provider is the same person in every job of the study, so a
failed quiz cannot be undone by a new session, browser or link. A place is `joined` until it ends as `completed`,
`screened-out` or `failed`, or until it is `returned` or `timed-out`, which frees it for somebody else and withdraws
the rater's leases. `completed` requires the agreed number of valid answers: the limit in the job's terms, or all the
work of a smaller job. Without a limit, it requires all the work that others do not finish first. Running out of gold,
or of work that was returned or that others hold, is not completion (P12). Anyone who runs out of work earlier stays
`joined`, and a manager may end their place. An `open` panel has no ids: everybody who comes is a new person.

An id is not a password: it is part of a link that others may know. The first person to use an id gets a return code,
derived from the study's key; their browser stores it, and any other browser must enter it to continue in their place.
"""

from __future__ import annotations

import hmac
from base64 import b32encode
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Annotated, Literal, TypeAlias, cast
from urllib.parse import quote, urlencode, urlsplit

from pydantic import AfterValidator, Field, StringConstraints
from sqlalchemy import exists, func, select

from grater.annotate import jobs, leases, people, standing
from grater.annotate.jobs import Job
from grater.annotate.people import Person
from grater.annotate.requests import Body, example
from grater.annotate.store import Tx, events, schema
from grater.annotate.store.transaction import DAY, MINUTE, Columns, new_id, new_secret
from grater.annotate.terms import terms_of
from grater.errors import Conflict, NotFound, UsageError, unknown
from grater.model import Json

Ending: TypeAlias = Literal["completed", "screened-out", "failed"]
ENDINGS: tuple[Ending, ...] = ("completed", "screened-out", "failed")
ENDING_WORDS: dict[str, str] = {"completed": "completed", "screened-out": "screened out", "failed": "failed the quiz"}
TAKEN = ("joined", "completed", "failed")
GIVEN_BACK = ("returned", "timed-out")
SIGNATURE = "signature"
LONGEST_ID = 200
CODE_LETTERS = 4
FULL = "this study has all the raters that it needs at the moment; thank you for coming"
CROWDED = "too many raters have joined from your network today; come back tomorrow, or ask those who run the study"
UNSIGNED = (
    "Links are not signed: anyone who knows the link can make up IDs, and each of them is a new rater who sees the "
    "quiz. Only the number of places and of raters per address limits them."
)
NO_IDS = "There are no IDs: in another browser anyone is a new rater. Only places and raters per address limit them."


@dataclass(frozen=True, slots=True)
class Provider:
    """`id_parameter` carries the rater's id; parameters in `also` are stored with it.

    `blank` is the panel's placeholder for a value in a link, with `{}` for the parameter's name; it is empty if the
    panel adds its parameters to any link. `returned` is the panel's placeholder for the id in return addresses.
    """

    name: str
    id_parameter: str
    also: tuple[str, ...] = ()
    blank: str = "ID"
    returned: str = ""

    @property
    def query(self) -> str:
        """The query string of the link to paste at the panel."""
        names = (self.id_parameter, *self.also) if self.id_parameter and self.blank else ()
        return "&".join(f"{name}={self.blank.format(name)}" for name in names)


PROVIDERS = {
    provider.name: provider
    for provider in (
        Provider("generic", "id"),
        Provider("prolific", "PROLIFIC_PID", ("STUDY_ID", "SESSION_ID"), blank="{{{{%{}%}}}}"),
        Provider("connect", "participantId", ("projectId", "assignmentId"), blank=""),
        Provider("sona", "survey_code", blank="%SURVEY_CODE%", returned="XXXX"),
        Provider("open", ""),
    )
}


def _known(provider: str) -> str:
    if provider not in PROVIDERS:
        raise ValueError(unknown("panel provider", provider, list(PROVIDERS)))
    return provider


def _web(address: str) -> str:
    if urlsplit(address).scheme not in ("http", "https"):
        raise ValueError(f"expected an http(s) address, found {address[:40]!r}")
    return address


Words = Annotated[str, StringConstraints(max_length=1000)]
Number = Annotated[int, Field(ge=0, le=1_000_000)]


class NewPanel(Body):
    """`codes` and return `addresses` by outcome.

    Links are signed with the `secret`, by default a new one; `unsigned` links accept invented ids. `places` is the
    number of raters wanted, including those who fail the quiz; `minutes` is the time until a place times out;
    `per_address` limits new raters from one address per day. 0 means no limit.
    """

    model_config = example(provider="generic", codes={"completed": "C0FFEE"}, places=20, minutes=60)
    provider: Annotated[str, AfterValidator(_known)]
    codes: dict[Ending, Words] = Field(default_factory=dict)
    addresses: dict[Ending, Annotated[Words, AfterValidator(_web)]] = Field(default_factory=dict)
    secret: Words = ""
    unsigned: bool = False
    places: Number = 0
    minutes: Number = 0
    per_address: Number = 5


@dataclass(frozen=True, slots=True)
class Panel:
    """A stored panel of a job, with the fields of `NewPanel`; links must be signed if it has a `secret`."""

    provider: Provider
    codes: Mapping[str, str] = field(default_factory=dict, hash=False)
    addresses: Mapping[str, str] = field(default_factory=dict, hash=False)
    secret: str = field(default="", repr=False)
    places: int = 0
    minutes: int = 0
    per_address: int = NewPanel.model_fields["per_address"].default
    panel_id: str = ""
    job_id: str = ""
    state: str = "open"

    @property
    def path(self) -> str:
        """The link for the panel, with placeholders for its rater id."""
        signature = f"{SIGNATURE}={SIGNATURE.upper()}" if self.secret else ""
        query = "&".join(filter(None, (self.provider.query, signature)))
        return f"/p/{self.panel_id}?{query}" if query else f"/p/{self.panel_id}"

    def path_of(self, external_id: str) -> str:
        """The signed link of one rater."""
        signed = {self.provider.id_parameter: external_id, SIGNATURE: sign(self.secret, external_id)}
        return f"/p/{self.panel_id}?{urlencode(signed)}"

    @property
    def warning(self) -> str:
        return "" if self.secret else UNSIGNED if self.provider.id_parameter else NO_IDS


def id_from(panel: Panel, parameters: Mapping[str, str]) -> str:
    """The panel's id of the rater, checked against the link's signature; empty for an open link."""
    name, blank = panel.provider.id_parameter, panel.provider.blank
    if not name:
        return ""
    external_id = parameters.get(name, "")
    if not external_id or len(external_id) > LONGEST_ID or not external_id.isprintable():
        raise UsageError(f"this link lacks {name}: open the study from your panel's own page")
    if blank and external_id == blank.format(name):
        raise UsageError(f"the panel did not fill in {name}: open the study from your panel's own page")
    sent = parameters.get(SIGNATURE, "").encode()
    if panel.secret and not hmac.compare_digest(sign(panel.secret, external_id).encode(), sent):
        raise UsageError("this link was changed, or is not signed: open the study from your panel's own page")
    return external_id


def sign(secret: str, external_id: str) -> str:
    """The signature that a link carries in addition to the id."""
    return hmac.new(secret.encode(), external_id.encode(), sha256).hexdigest()


def exit_of(panel: Panel, ending: str, external_id: str) -> tuple[str, str]:
    """The code to show and the address to go to; either can be empty."""
    code = panel.codes.get(ending, "")
    address = panel.addresses.get(ending, "")
    if panel.provider.returned:
        name = panel.provider.id_parameter
        address = address.replace(f"{name}={panel.provider.returned}", f"{name}={{id}}")
    for name, value in (("{id}", external_id), ("{code}", code)):
        address = address.replace(name, quote(value, safe=""))
    return code, address


@dataclass(frozen=True, slots=True)
class PanelPlace:
    """`code` and `address` lead back to the panel; they are empty until the place has ended."""

    panel_id: str
    external_id: str
    person_id: str
    state: str
    code: str
    joined_at: int
    ended_at: int | None
    address: str = field(default="", compare=False)
    return_code: str = field(default="", compare=False, repr=False)


PLACE_COLUMNS = Columns(PanelPlace, schema.panel_places, without=["address", "return_code"])
PLACES = select(schema.panel_places, schema.panels.c.job_id, schema.panels.c.provider).join(schema.panels)


def add(tx: Tx, job_id: str, sent: NewPanel, *, actor: str | None = None) -> Panel:
    """Add a panel, from which raters join a job by a link and to which they return with a code."""
    jobs.get(tx, job_id)
    secret = sent.secret or ("" if sent.unsigned else new_secret()) if PROVIDERS[sent.provider].id_parameter else ""
    options: dict[str, Json] = {**sent.model_dump(exclude={"provider", "unsigned"}), "secret": secret}
    row = {"panel_id": new_id(), "job_id": job_id, "provider": sent.provider, "options": options}
    tx.insert(schema.panels, row | {"state": "open", "added_at": tx.now})
    payload: dict[str, Json] = {"job_id": job_id, "provider": sent.provider, "signed": bool(secret)}
    events.write(tx, actor, "panel.added", str(row["panel_id"]), payload)
    return get(tx, str(row["panel_id"]))


def get(tx: Tx, panel_id: str) -> Panel:
    row = tx.first(select(schema.panels).where(schema.panels.c.panel_id == panel_id))
    if row is None:
        raise NotFound("there is no such panel")
    known = {name: row.options[name] for name in NewPanel.model_fields if row.options.get(name) is not None}
    return Panel(PROVIDERS[row.provider], **known, panel_id=row.panel_id, job_id=row.job_id, state=row.state)


def of_job(tx: Tx, job_id: str) -> list[Panel]:
    query = select(schema.panels.c.panel_id).where(schema.panels.c.job_id == job_id)
    query = query.order_by(schema.panels.c.added_at, schema.panels.c.panel_id)
    return [get(tx, row.panel_id) for row in tx.all(query)]


def enter(
    tx: Tx, panel_id: str, external_id: str, *, also: Mapping[str, str] | None = None, address: str = ""
) -> PanelPlace:
    """Let a rater in by the panel's link; a returning rater gets the same place, whatever its state.

    `address` is a keyed hash of their network address, which their session keeps.
    """
    query = select(schema.panels.c.panel_id).where(schema.panels.c.panel_id == panel_id)
    tx.first(tx.locked(query, of=schema.panels))
    panel = get(tx, panel_id)
    if panel.minutes:  # free the places of raters who came long ago and never finished
        of, since = schema.panel_places.c, tx.now - panel.minutes * MINUTE
        is_old = (of.panel_id == panel_id) & (of.state == "joined") & (of.joined_at <= since)
        for old in tx.all(select(schema.panel_places).where(is_old)):
            set_state(tx, PLACE_COLUMNS.read(old), "timed-out", actor=None)
    known = place_of(tx, panel_id, external_id)
    if known is not None and known.state not in GIVEN_BACK:
        return known
    taken = (schema.panel_places.c.panel_id == panel_id) & schema.panel_places.c.state.in_(TAKEN)
    n_taken = tx.value(select(func.count()).select_from(schema.panel_places).where(taken)) if panel.places else -1
    if panel.state != "open" or n_taken >= panel.places:
        raise Conflict(FULL)
    if known is not None:
        set_state(tx, known, "joined", actor=known.person_id)
        return cast(PanelPlace, place_of(tx, panel_id, external_id))
    if address and panel.per_address:  # raters of the last day, by whatever panel and whatever became of them
        query = PLACES.with_only_columns(func.count(schema.panel_places.c.person_id.distinct()))
        query = query.join(schema.sessions, schema.sessions.c.person_id == schema.panel_places.c.person_id)
        here = (schema.panels.c.job_id == panel.job_id) & (schema.sessions.c.address == address)
        if tx.value(query.where(here, schema.panel_places.c.joined_at > tx.now - DAY)) >= panel.per_address:
            raise Conflict(CROWDED)
    person = _person(tx, panel.provider.name, external_id, also or {})
    row = {"panel_id": panel_id, "external_id": external_id, "person_id": person.person_id, "joined_at": tx.now}
    tx.insert(schema.panel_places, row)
    events.write(tx, person.person_id, "place.taken", panel_id, {"person_id": person.person_id})
    return cast(PanelPlace, place_of(tx, panel_id, external_id))


def place_of(tx: Tx, panel_id: str, external_id: str) -> PanelPlace | None:
    here = (schema.panel_places.c.panel_id == panel_id) & (schema.panel_places.c.external_id == external_id)
    return PLACE_COLUMNS.find(tx, PLACES.where(here))


def has_ended(tx: Tx, job: Job, person_id: str) -> bool:
    """Whether a rater can no longer change anything in a job; one who has done everything can still revise it."""
    place = place_in_job(tx, job.job_id, person_id)
    is_gone = place is not None and place.state in ENDINGS
    return is_gone or standing.why_not(tx, job, person_id) not in ("", "limit")


def place_in_job(tx: Tx, job_id: str, person_id: str) -> PanelPlace | None:
    """The rater's newest place in a panel of this job, with its return address."""
    query = PLACES.where(schema.panels.c.job_id == job_id, schema.panel_places.c.person_id == person_id)
    row = tx.first(query.order_by(schema.panel_places.c.joined_at.desc()))
    return None if row is None else way_out(tx, PLACE_COLUMNS.read(row, return_code=return_code(tx, person_id)))


def way_out(tx: Tx, place: PanelPlace) -> PanelPlace:
    """The place with its code and address, if it has ended."""
    if place.state not in ENDINGS:
        return place
    code, address = exit_of(get(tx, place.panel_id), place.state, place.external_id)
    return replace(place, code=code, address=address)


def places(tx: Tx, panel_id: str) -> list[PanelPlace]:
    query = select(schema.panel_places).where(schema.panel_places.c.panel_id == panel_id)
    query = query.order_by(schema.panel_places.c.joined_at, schema.panel_places.c.external_id)
    return [PLACE_COLUMNS.read(row, return_code=return_code(tx, row.person_id)) for row in tx.all(query)]


def return_code(tx: Tx, person_id: str) -> str:
    """The code that a panel's rater must enter in another browser: 40 bits, the same for all their places."""
    digest = hmac.new(tx.key.encode(), f"return|{person_id}".encode(), sha256).digest()
    letters = b32encode(digest).decode()
    return f"{letters[:CODE_LETTERS]}-{letters[CODE_LETTERS : 2 * CODE_LETTERS]}"


def is_same_browser(tx: Tx, person_id: str, named: str) -> bool:
    """Whether this is the rater's return code; only letters count, in any case."""
    expected = return_code(tx, person_id).replace("-", "")
    sent = "".join(letter for letter in named.upper() if letter.isalnum())
    return hmac.compare_digest(expected.encode(), sent.encode())


def known_person(tx: Tx, provider: str, external_id: str) -> str | None:
    """The person who came earlier with this id from this provider, in any job."""
    same = PLACES.where(schema.panels.c.provider == provider, schema.panel_places.c.external_id == external_id)
    row = tx.first(same.limit(1))
    return None if row is None else row.person_id


def _person(tx: Tx, provider: str, external_id: str, also: Mapping[str, str]) -> Person:
    """The person who came earlier with this id from this provider, or a new one without a password.

    The name is looked up first: if two arrive with one id at once, the second is refused when it adds the name, or
    finds the person whom the first has added.
    """
    name = f"{provider} {external_id}"
    is_taken = people.by_name(tx, name) is not None
    person_id = known_person(tx, provider, external_id)
    if person_id is not None:
        return people.get(tx, person_id)
    free = f"{name} {new_id()[:6]}" if is_taken else name
    return people.add(tx, name=free, role="worker", payload={"panel": provider, **also})


def conclude(tx: Tx, job_id: str, person_id: str) -> PanelPlace | None:
    """The rater has no work now: end their place if they are done for good."""
    place = place_in_job(tx, job_id, person_id)
    if place is None or place.state != "joined":
        return place
    ending = _ending(tx, job_id, person_id)
    if ending:
        set_state(tx, place, ending, actor=None)
    return place_in_job(tx, job_id, person_id)


def set_state(tx: Tx, place: PanelPlace, state: str, *, actor: str | None) -> bool:
    """End a place, free it or take it again; the rater's leases go back to the queue.

    False, with no change, if somebody changed it first: a completed place does not time out.
    """
    of, ended_at = schema.panel_places.c, None if state == "joined" else tx.now
    here = (of.panel_id == place.panel_id) & (of.external_id == place.external_id) & (of.state == place.state)
    if not tx.execute(schema.panel_places.update().where(here).values(state=state, ended_at=ended_at)).rowcount:
        return False
    if state in GIVEN_BACK:
        for lease in leases.held_by(tx, place.person_id, job_id=get(tx, place.panel_id).job_id):
            leases.close(tx, lease, "returned", actor=actor)
    events.write(tx, actor, "place.state", place.panel_id, {"person_id": place.person_id, "state": state})
    return True


class PlaceEnd(Body):
    """The panel reports that a rater returned their place or timed out, or the manager counts them as done."""

    model_config = example(id="5f1b", state="returned")
    id: str = Field(min_length=1, max_length=LONGEST_ID)
    state: Literal["returned", "timed-out", "completed"]


def end_place(tx: Tx, panel_id: str, sent: PlaceEnd, *, actor: str) -> str:
    """End the place of somebody who is working; return the id of its job."""
    panel, place = get(tx, panel_id), place_of(tx, panel_id, sent.id)
    if place is None or place.state != "joined" or not set_state(tx, place, sent.state, actor=actor):
        raise NotFound("nobody with this ID is working here")
    return panel.job_id


def _ending(tx: Tx, job_id: str, person_id: str) -> str:
    """How a rater without work has ended; empty if they may get some later, or if a manager must decide.

    Only stored answers count. Units that others hold may come back, and so may resting gold.
    """
    job, current = jobs.get(tx, job_id), standing.find(tx, job_id, person_id).state
    if current in standing.OUT:
        return "failed" if current == "ejected" else ""
    reason, terms = standing.why_not(tx, job, person_id), terms_of(job.options)
    if reason == "unqualified":
        return "screened-out"
    limit = standing.limit_of(tx, job)
    if reason == "limit" or (limit and standing.n_valid(tx, job_id, person_id) >= limit):
        return "completed"
    slots, sent, theirs = schema.slots, schema.submissions, schema.assignments
    mine = exists().where(sent.c.unit_id == slots.c.unit_id, sent.c.person_id == person_id)
    work = select(slots.c.unit_id).where(slots.c.job_id == job_id, slots.c.state != "closed")
    if job.access == "assigned":
        work = work.where(exists().where(theirs.c.unit_id == slots.c.unit_id, theirs.c.person_id == person_id))
    has_open = tx.first(work.where(slots.c.state.in_(("free", "leased")), ~mine).limit(1)) is not None
    if job.state != "closed" and (reason or has_open):
        return ""
    if terms.is_in_quiz(current) or not standing.n_sent(tx, job_id, person_id):
        return "screened-out"
    counts = mine.where(sent.c.status == "valid")
    has_all = tx.first(work.where(~counts).limit(1)) is None
    has_some = tx.first(work.where(counts).limit(1)) is not None
    return "completed" if has_some and (has_all or not (limit or has_open)) else ""
