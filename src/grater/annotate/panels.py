"""Panels of raters that join by an external link: an id comes in with the link, a code or an address goes out.

The generic provider needs two things from the requester: the name of the parameter that carries the panel's id of the
rater, and, for each way to end (completed, screened out, failed the quiz), a code or a return address.  Addresses may
hold `{id}` and `{code}`.  Templates know the parameter names of three panels, as these document them: Prolific
(PROLIFIC_PID, STUDY_ID, SESSION_ID), CloudResearch Connect (participantId, projectId, assignmentId) and SONA
(survey_code, filled in for %SURVEY_CODE% in the study URL).  Addresses differ by account, so requesters paste their
own.  SONA shows a completion URL that ends in survey_code=XXXX; pasted as it is, it gets the rater's code for XXXX.

Panels of a job and the places in them: raters who come by an external link, and go with a code.

Identity is the panel's: the same id at the same provider is the same person in every job of the study, so a failed
quiz survives a new session, browser and link.  A place is `joined` until it ends: `completed`, `screened-out`,
`failed`; or it is `returned` or `timed-out`, which frees it for somebody else and takes back what the rater held.
`completed` is for the agreed number of valid answers: the limit of the job's terms, or all the work of a job that
is smaller.  Without a limit it is for all the work that others do not finish first.  It is never for gold used up, or
for work that was given back or that others hold (P12).  Anyone who gets no more work before that stays `joined`, and
a manager may end their place.  An `open` panel has no ids: everybody who comes is somebody new.

An id is no password, since it stands in a link and others may know it.  Whoever comes first with an id gets a return
code with it, made from the study's key; their browser keeps it, and any other must name it to go on in their place.

A manager may end places by hand.
"""

from __future__ import annotations

import hmac
from base64 import b32encode
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Literal, TypeAlias, cast
from urllib.parse import quote, urlsplit

from sqlalchemy import exists, func, select

from grater.annotate import jobs, people
from grater.annotate.people import Person
from grater.annotate.store import Tx, events, gold, leases, queue, schema, trust
from grater.annotate.store.clock import MINUTE
from grater.annotate.store.ids import new_id
from grater.annotate.store.transaction import Columns
from grater.annotate.study.limits import require_number, require_text
from grater.annotate.terms import terms_of
from grater.errors import Conflict, NotFound, UsageError
from grater.model import Json
from grater.registry import unknown

Ending: TypeAlias = Literal["completed", "screened-out", "failed"]
ENDINGS: tuple[Ending, ...] = ("completed", "screened-out", "failed")
ENDING_WORDS: dict[str, str] = {"completed": "completed", "screened-out": "screened out", "failed": "failed the quiz"}
SIGNATURE = "signature"
LONGEST_ID = 200


@dataclass(frozen=True, slots=True)
class Provider:
    """`id_parameter` carries the rater's id; `also` are parameters that are kept with it.

    `blank` is how a link says where the panel is to put a value; `{}` is the name of the parameter.  It is empty
    where the panel adds its parameters to any link.  `returned` is what the panel writes for the id in the return
    address that it shows.
    """

    name: str
    id_parameter: str
    also: tuple[str, ...] = ()
    blank: str = "ID"
    returned: str = ""

    @property
    def query(self) -> str:
        """What follows the question mark in the link that is pasted at the panel."""
        names = (self.id_parameter, *self.also) if self.id_parameter and self.blank else ()
        return "&".join(f"{name}={self.blank.format(name)}" for name in names)

    def is_blank(self, value: str) -> bool:
        """Whether the panel left a value as it stands in the link that was pasted there."""
        return bool(self.blank) and value == self.blank.format(self.id_parameter)


PROVIDERS = {
    provider.name: provider
    for provider in (
        Provider("generic", "id"),
        Provider("prolific", "PROLIFIC_PID", ("STUDY_ID", "SESSION_ID"), blank="{{{{%{}%}}}}"),
        Provider("connect", "participantId", ("projectId", "assignmentId"), blank=""),
        Provider("sona", "survey_code", blank="%SURVEY_CODE%", returned="XXXX"),
    )
}


@dataclass(frozen=True, slots=True)
class Panel:
    """One panel of a job: codes and return addresses by ending; with a `secret` links must be signed."""

    provider: Provider
    codes: Mapping[str, str] = field(default_factory=dict, hash=False)
    addresses: Mapping[str, str] = field(default_factory=dict, hash=False)
    secret: str = ""

    def __post_init__(self) -> None:
        for ending, address in self.addresses.items():
            if ending not in ENDINGS or urlsplit(address).scheme not in ("http", "https"):
                raise UsageError(f"expected http(s) addresses for {', '.join(ENDINGS)}, found {ending}: {address!r}")


def id_from(panel: Panel, parameters: Mapping[str, str]) -> str:
    """The panel's id of the rater who came by the link, checked against its signature where links are signed."""
    name = panel.provider.id_parameter
    external_id = parameters.get(name, "")
    if not external_id or len(external_id) > LONGEST_ID or not external_id.isprintable():
        raise UsageError(f"this link lacks {name}: open the study from your panel's own page")
    if panel.provider.is_blank(external_id):
        raise UsageError(f"the panel did not fill in {name}: open the study from your panel's own page")
    if panel.secret and not hmac.compare_digest(sign(panel.secret, external_id), parameters.get(SIGNATURE, "")):
        raise UsageError("this link was changed: open the study from your panel's own page")
    return external_id


def sign(secret: str, external_id: str) -> str:
    """The signature that a panel adds to a link beside the id."""
    return hmac.new(secret.encode(), external_id.encode(), sha256).hexdigest()


def exit_of(panel: Panel, ending: Ending, external_id: str) -> tuple[str, str]:
    """The code to show and the address to go to; either may be empty."""
    code = panel.codes.get(ending, "")
    address = panel.addresses.get(ending, "")
    if panel.provider.returned:
        name = panel.provider.id_parameter
        address = address.replace(f"{name}={panel.provider.returned}", f"{name}={{id}}")
    for name, value in (("{id}", external_id), ("{code}", code)):
        address = address.replace(name, quote(value, safe=""))
    return code, address


OPEN_LINK = Provider("open", "")
KNOWN = {**PROVIDERS, OPEN_LINK.name: OPEN_LINK}
TAKEN = ("joined", "completed")
GIVEN_BACK = ("returned", "timed-out")
FULL = "this study has all the raters that it needs at the moment; thank you for coming"
OVER = ("completed", "screened-out", "failed")


@dataclass(frozen=True, slots=True)
class StudyPanel:
    """`places` is the number of raters wanted, 0 for any number; `minutes` until a place times out, 0 for never."""

    panel_id: str
    job_id: str
    panel: Panel
    places: int
    minutes: int
    state: str


@dataclass(frozen=True, slots=True)
class PanelPlace:
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
CODE_LETTERS = 4


def add(
    tx: Tx, job_id: str, provider: str, *, options: Mapping[str, Json] | None = None, actor: str | None = None
) -> StudyPanel:
    """A new panel for a job; `options`: codes, addresses (by ending), secret, places, minutes."""
    if provider not in KNOWN:
        raise UsageError(unknown("panel provider", provider, list(KNOWN)))
    jobs.get(tx, job_id)
    _panel(provider, options or {})  # refused before it is stored
    panel_id = new_id()
    row = {"panel_id": panel_id, "job_id": job_id, "provider": provider, "options": dict(options or {})}
    tx.insert(schema.panels, row | {"state": "open", "added_at": tx.now})
    events.write(tx, actor, "panel.added", panel_id, {"job_id": job_id, "provider": provider})
    return get(tx, panel_id)


def get(tx: Tx, panel_id: str) -> StudyPanel:
    row = tx.first(select(schema.panels).where(schema.panels.c.panel_id == panel_id))
    if row is None:
        raise NotFound("there is no such panel")
    panel, places, minutes = _panel(row.provider, row.options)
    return StudyPanel(
        panel_id=row.panel_id, job_id=row.job_id, panel=panel, places=places, minutes=minutes, state=row.state
    )


def of_job(tx: Tx, job_id: str) -> list[StudyPanel]:
    query = (
        select(schema.panels.c.panel_id)
        .where(schema.panels.c.job_id == job_id)
        .order_by(schema.panels.c.added_at, schema.panels.c.panel_id)
    )
    return [get(tx, row.panel_id) for row in tx.all(query)]


def enter(tx: Tx, panel_id: str, external_id: str, *, also: Mapping[str, str] | None = None) -> PanelPlace:
    """A rater comes by the panel's link; who was here before gets the same place, whatever became of it."""
    query = select(schema.panels.c.panel_id).where(schema.panels.c.panel_id == panel_id)
    tx.first(tx.locked(query, of=schema.panels))
    panel = get(tx, panel_id)
    time_out(tx, panel)
    known = place_of(tx, panel_id, external_id)
    if known is not None and known.state not in GIVEN_BACK:
        return known
    if panel.state != "open" or (panel.places and _n_taken(tx, panel_id) >= panel.places):
        raise Conflict(FULL)
    if known is not None:
        set_state(tx, known, "joined", actor=known.person_id)
        return cast(PanelPlace, place_of(tx, panel_id, external_id))
    person = _person(tx, panel.panel.provider.name, external_id, also or {})
    row = {"panel_id": panel_id, "external_id": external_id, "person_id": person.person_id, "joined_at": tx.now}
    tx.insert(schema.panel_places, row)
    events.write(tx, person.person_id, "place.taken", panel_id, {"person_id": person.person_id})
    return cast(PanelPlace, place_of(tx, panel_id, external_id))


def place_of(tx: Tx, panel_id: str, external_id: str) -> PanelPlace | None:
    here = (schema.panel_places.c.panel_id == panel_id) & (schema.panel_places.c.external_id == external_id)
    row = tx.first(select(schema.panel_places).where(here))
    return None if row is None else PLACE_COLUMNS.read(row)


def place_in_job(tx: Tx, job_id: str, person_id: str) -> PanelPlace | None:
    """The rater's newest place in a panel of this job, with the address to go to from there."""
    query = select(schema.panel_places).join(
        schema.panels, schema.panels.c.panel_id == schema.panel_places.c.panel_id
    )
    query = query.where(schema.panels.c.job_id == job_id, schema.panel_places.c.person_id == person_id)
    row = tx.first(query.order_by(schema.panel_places.c.joined_at.desc()))
    return None if row is None else way_out(tx, _with_return_code(tx, PLACE_COLUMNS.read(row)))


def way_out(tx: Tx, place: PanelPlace) -> PanelPlace:
    """The place with its code and address, which are only there once it has ended."""
    if place.state not in OVER:
        return place
    panel = get(tx, place.panel_id).panel
    code, address = exit_of(panel, cast(Ending, place.state), place.external_id)
    return replace(place, code=code, address=address)


def places(tx: Tx, panel_id: str) -> list[PanelPlace]:
    query = select(schema.panel_places).where(schema.panel_places.c.panel_id == panel_id)
    query = query.order_by(schema.panel_places.c.joined_at, schema.panel_places.c.external_id)
    return [_with_return_code(tx, PLACE_COLUMNS.read(row)) for row in tx.all(query)]


def return_code(tx: Tx, person_id: str) -> str:
    """What a rater from a panel must name in another browser: 40 bits, the same for all their places."""
    digest = hmac.new(tx.key.encode(), f"return|{person_id}".encode(), sha256).digest()
    letters = b32encode(digest).decode()
    return f"{letters[:CODE_LETTERS]}-{letters[CODE_LETTERS : 2 * CODE_LETTERS]}"


def _with_return_code(tx: Tx, place: PanelPlace) -> PanelPlace:
    return replace(place, return_code=return_code(tx, place.person_id))


def known_person(tx: Tx, provider: str, external_id: str) -> str | None:
    """The id of whoever came with this id from this provider before, in whatever job."""
    query = select(schema.panel_places.c.person_id).join(
        schema.panels, schema.panels.c.panel_id == schema.panel_places.c.panel_id
    )
    same = query.where(schema.panels.c.provider == provider, schema.panel_places.c.external_id == external_id)
    return cast("str | None", tx.value(same.limit(1)))


def conclude(tx: Tx, job_id: str, person_id: str) -> PanelPlace | None:
    """There is no work for the rater now: end their place if they are done for good."""
    place = place_in_job(tx, job_id, person_id)
    if place is None or place.state != "joined":
        return place
    ending = _ending(tx, job_id, person_id)
    if ending:
        set_state(tx, place, ending, actor=None)
    return place_in_job(tx, job_id, person_id)


def set_state(tx: Tx, place: PanelPlace, state: str, *, actor: str | None) -> bool:
    """End a place, free it or take it again; what the rater held goes back to the queue.

    False, and nothing changes, where somebody changed it first: who has completed does not time out.
    """
    here = (schema.panel_places.c.panel_id == place.panel_id) & (
        schema.panel_places.c.external_id == place.external_id
    )
    values = {"state": state, "ended_at": None if state == "joined" else tx.now}
    as_it_was = schema.panel_places.update().where(here, schema.panel_places.c.state == place.state)
    if not tx.execute(as_it_was.values(**values)).rowcount:
        return False
    if state in GIVEN_BACK:
        for lease in leases.held_by(tx, place.person_id, job_id=get(tx, place.panel_id).job_id):
            leases.close(tx, lease, "returned", actor=actor)
    events.write(tx, actor, "place.state", place.panel_id, {"person_id": place.person_id, "state": state})
    return True


def time_out(tx: Tx, panel: StudyPanel) -> int:
    """Free the places of raters who came long ago and never finished; return their number."""
    if not panel.minutes:
        return 0
    is_old = schema.panel_places.c.joined_at <= tx.now - panel.minutes * MINUTE
    here = (schema.panel_places.c.panel_id == panel.panel_id) & (schema.panel_places.c.state == "joined") & is_old
    old = [PLACE_COLUMNS.read(row) for row in tx.all(select(schema.panel_places).where(here))]
    return sum(set_state(tx, place, "timed-out", actor=None) for place in old)


def _ending(tx: Tx, job_id: str, person_id: str) -> str:
    """How a rater who gets no work now has ended; empty if they may get some later, or a manager must decide.

    Only stored answers count.  What others hold may come back, and so may gold that rests.
    """
    job, standing = jobs.get(tx, job_id), trust.find(tx, job_id, person_id)
    if standing.state in trust.OUT:
        return "failed" if standing.state == "ejected" else ""
    reason, terms = queue.why_not(tx, job, person_id), terms_of(job.options)
    if reason == "unqualified":
        return "screened-out"
    limit = gold.limit_of(tx, job)
    if limit and gold.n_valid(tx, job_id, person_id) >= limit:
        return "completed"
    slots, sent, theirs = schema.slots, schema.submissions, schema.assignments
    mine = exists().where(sent.c.unit_id == slots.c.unit_id, sent.c.person_id == person_id)
    work = select(slots.c.unit_id).where(slots.c.job_id == job_id, slots.c.state != "closed")
    if job.access == "assigned":
        work = work.where(exists().where(theirs.c.unit_id == slots.c.unit_id, theirs.c.person_id == person_id))
    has_open = tx.first(work.where(slots.c.state.in_(("free", "leased")), ~mine).limit(1)) is not None
    if job.state != "closed" and (reason or has_open):
        return ""
    if gold.is_in_quiz(terms, standing.state) or not gold.n_sent(tx, job_id, person_id):
        return "screened-out"
    counts = mine.where(sent.c.status == "valid")
    has_all = tx.first(work.where(~counts).limit(1)) is None
    has_some = tx.first(work.where(counts).limit(1)) is not None
    return "completed" if has_some and (has_all or not (limit or has_open)) else ""


def _n_taken(tx: Tx, panel_id: str) -> int:
    taken = (schema.panel_places.c.panel_id == panel_id) & schema.panel_places.c.state.in_(TAKEN)
    return int(tx.value(select(func.count()).select_from(schema.panel_places).where(taken)) or 0)


def _person(tx: Tx, provider: str, external_id: str, also: Mapping[str, str]) -> Person:
    """Whoever came with this id from this provider before, in whatever job, or somebody new without a password.

    The name is looked up first: of two who come with one id at once, the second finds the name free and is refused
    when it is taken, or finds whom the first has added.
    """
    name = f"{provider} {external_id}"
    is_taken = people.by_name(tx, name) is not None
    person_id = known_person(tx, provider, external_id)
    if person_id is not None:
        return people.get(tx, person_id)
    free = f"{name} {new_id()[:6]}" if is_taken else name
    return people.add(tx, name=free, role="worker", payload={"panel": provider, **also})


def _panel(provider: str, options: Mapping[str, Json]) -> tuple[Panel, int, int]:
    codes, addresses = options.get("codes") or {}, options.get("addresses") or {}
    if not isinstance(codes, Mapping) or not isinstance(addresses, Mapping):
        raise UsageError("expected codes and addresses by ending (completed, screened-out, failed)")
    wrong = [ending for ending in codes if ending not in ENDINGS]
    if wrong:
        raise UsageError(unknown("ending", wrong[0], list(ENDINGS)))
    panel = Panel(
        provider=KNOWN[provider],
        codes=_as_text(codes),
        addresses=_as_text(addresses),
        secret=str(options.get("secret") or ""),
    )
    return panel, int(str(options.get("places") or 0)), int(str(options.get("minutes") or 0))


def _as_text(by_ending: Mapping[str, Json]) -> dict[str, str]:
    return {str(ending): str(value) for ending, value in by_ending.items()}


def add_panel(
    tx: Tx, job_id: str, provider: str, *, options: Mapping[str, Json], actor: str | None = None
) -> StudyPanel:
    """A panel from which raters come to a job by a link, and to which they go back with a code."""
    for name in ("places", "minutes"):
        require_number(f"panel.{name}", cast(int, options.get(name, 0)))
    for name in ("codes", "addresses"):
        for text in cast("Mapping[str, str]", options.get(name) or {}).values():
            require_text("panel.text", text)
    require_text("panel.text", str(options.get("secret") or ""))
    return add(tx, job_id, provider, options=options, actor=actor)


def is_same_browser(tx: Tx, person_id: str, named: str) -> bool:
    """Whether somebody names the return code of a rater; letters alone count, large or small."""
    expected = return_code(tx, person_id).replace("-", "")
    sent = "".join(letter for letter in named.upper() if letter.isalnum())
    return hmac.compare_digest(expected.encode(), sent.encode())


BY_HAND = (*GIVEN_BACK, "completed")
"""How a manager may end a place: somebody else may have it, or its rater is done and gets the code."""


def end_place(tx: Tx, panel_id: str, external_id: str, state: str, *, actor: str) -> str:
    """End a place that was returned or timed out at the panel, or is done as it is; returns the id of its job."""
    if state not in BY_HAND:
        raise UsageError(f"state: expected {', '.join(BY_HAND)}, found {state[:20]!r}")
    panel, place = get(tx, panel_id), place_of(tx, panel_id, external_id)
    is_here = place is not None and place.state == "joined"
    if place is None or not is_here or not set_state(tx, place, state, actor=actor):
        raise NotFound("nobody with this ID is working here")
    return panel.job_id


def door_path(panel: StudyPanel) -> str:
    """The path that is given to a panel, with the parameters in which the panel puts its id of a rater."""
    query = panel.panel.provider.query
    return f"/p/{panel.panel_id}?{query}" if query else f"/p/{panel.panel_id}"
