"""The same rule gives the same answer through command, page and API.

A table of limits and one of state changes are run through every door that a study has for them.  A command answers
with its exit status, a page and a call with an HTTP status, which must be the same for both.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import count, product
from pathlib import Path
from typing import Any, NamedTuple, get_args

import pytest
from pydantic import TypeAdapter

from grater import check
from grater.annotate import credentials, jobs, people, units, webhooks
from grater.annotate.credentials import NewToken
from grater.annotate.gold import GoldWanted, make_gold
from grater.annotate.invitations import NewInvitation
from grater.annotate.jobs import MOVES, GivenState, NewGuidelines
from grater.annotate.messages import NewRaterMessage, NewReview
from grater.annotate.money import NewBonus
from grater.annotate.panels import NewPanel
from grater.annotate.plans import NewJob
from grater.annotate.protocol import protocol_sheet, set_terms
from grater.annotate.samples import NewSample
from grater.annotate.terms import Pay, Qualification, Redundancy, Terms, TrustRule
from grater.annotate.web import security
from grater.annotate.web.people import NewInvitations
from grater.annotate.web.security import API
from grater.annotate.web.units import NewReason
from tests.annotate.web.studies import CHEAP_HASHER, Browser, Study, served
from tests.cli.running import Capture, grater

TAKEN, REFUSED = True, False
NAMES = count(1)


@dataclass
class House:
    """A served study with its three doors; `ids` fill the braces of paths."""

    study: Study
    browser: Browser
    headers: Mapping[str, str]
    capsys: Capture
    path: Path
    ids: Mapping[str, str]

    def command(self, args: list[str]) -> int:
        """0 where the command did it, 2 where it refused in one line."""
        return grater(self.capsys, *(str(self.path) if arg == "STUDY" else arg for arg in args)).status

    def page(self, path: str, form: Mapping[str, object]) -> int:
        """The status of a form that was sent; one that is answered with the way to another page was taken."""
        status = int(self.browser.post(path.format(**self.ids), form, follow_redirects=False).status_code)
        return 200 if status == 303 else status

    def api(self, path: str, body: Mapping[str, Any]) -> int:
        client = self.study.client()
        status = int(client.post(API + path.format(**self.ids), json=body, headers=self.headers).status_code)
        return 200 if status == 204 else status


@pytest.fixture(scope="module", autouse=True)
def cheap_passwords() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(security, "HASHER", CHEAP_HASHER)
        yield


@pytest.fixture
def house(tmp_path: Path, capsys: Capture) -> Iterator[House]:
    """A study with two jobs, pay, a gold unit, a webhook and a worker."""
    with served(tmp_path, tasks=("error", "usage")) as study:
        job_id, owner = study.jobs["error"], study.people["owner"]
        with study.store.write() as tx:
            job = jobs.get(tx, job_id)
            unit = units.get(tx, units.ids_of_job(tx, job_id, role="work")[0])
            make_gold(tx, job, unit.unit.items[0].item.item_id, ["error"], reason="It is one.")
            set_terms(tx, job_id, {"pay": {"cents": 5}})
            webhook = webhooks.add(tx, url="https://hooks.example.org/grater")
            token = credentials.make_token(tx, owner.person_id)
            gold_id = units.ids_of_job(tx, job_id, role="gold")[0]
        ids = {"job": job_id, "worker": study.people["worker"].person_id, "gold": gold_id}
        ids |= {"webhook": webhook.webhook_id}
        headers = {"authorization": f"Bearer {token}"}
        yield House(study, study.browser("owner"), headers, capsys, tmp_path / "study.db", ids)


@dataclass(frozen=True)
class Doors:
    """How a value is sent through each door; None where a door does not offer it.

    `model` is the request that has the limit, in the field that the last part of its name names.
    """

    command: Callable[[Any, str], list[str]] | None
    page: Callable[[Any, str], tuple[str, dict[str, object]]] | None
    api: Callable[[Any, str], tuple[str, dict[str, Any]]]
    model: type
    is_taken: bool = True
    zero_is_none: bool = False

    def send(self, house: House, value: Any) -> list[bool]:
        """Whether each door takes a value; page and API answer with the same status."""
        name = f"name {next(NAMES)}"
        answers = [house.command(self.command(value, name)) == 0] if self.command else []
        statuses = []
        if self.page:
            statuses.append(house.page(*self.page(value, f"{name} p")))
        statuses.append(house.api(*self.api(value, f"{name} a")))
        assert len(set(statuses)) == 1, statuses
        return [*answers, *(status < 400 for status in statuses)]


def of_job(
    option: str, field: str, *, task: str = "error", annotator: str = "", on_page: int = 1, **options: Any
) -> Doors:
    """A number of a new job, whose annotators may be named; a page may speak of percent."""
    words = ["--annotator", annotator] if annotator else []
    form, body = ({"annotators": annotator}, {"annotators": [annotator]}) if annotator else ({}, {})
    return Doors(
        lambda value, name: ["job", "new", "STUDY", "--task", task, "--name", name, *words, option, str(value)],
        lambda value, name: ("/manage/jobs", {"name": name, "task": task, **form, field: on_page * value}),
        lambda value, name: ("/jobs", {"name": name, "task": task, **body, field: value}),
        model=NewJob,
        **options,
    )


def of_terms(
    form: Callable[[Any], dict[str, object]], terms: Callable[[Any], dict[str, Any]], model: type = Terms
) -> Doors:
    """A number of the terms of a job."""
    return Doors(
        lambda value, _: ["job", "terms", "STUDY", "error", "--change", json.dumps(terms(value))],
        lambda value, _: ("/manage/jobs/{job}/terms", {"cents": 5, **form(value)}),
        lambda value, _: ("/jobs/{job}/terms", terms(value)),
        model=model,
    )


def of_gold(field: str) -> Doors:
    return of_terms(
        lambda value: {"minimum": 0.7, field: value},
        lambda value: {"gold": {"minimum": 0.7, field: value}},
        TrustRule,
    )


def of_redundancy(field: str, **others: int) -> Doors:
    return of_terms(
        lambda value: {**others, field: value}, lambda value: {"redundancy": {**others, field: value}}, Redundancy
    )


def of_request(path: str, field: str, model: type, command: str = "", **others: object) -> Doors:
    """A field of a request that page and API know by the same name, and a command by its last option."""
    return Doors(
        (lambda value, _: [*command.split(), str(value)]) if command else None,
        lambda value, _: (f"/manage{path}", {**others, field: value}),
        lambda value, _: (path, {**others, field: value}),
        model=model,
    )


def of_gold_wanted(option: str, field: str, *, zero_is_none: bool = False) -> Doors:
    """How gold is made of experts' answers, of whom none agree here."""
    doors = of_request("/jobs/{job}/gold", field, GoldWanted, f"job gold STUDY error {option}")
    return replace(doors, is_taken=False, zero_is_none=zero_is_none)


def of_panel(field: str, provider: str = "open") -> Doors:
    return of_request("/jobs/{job}/panels", field, NewPanel, provider=provider)


NUMBERS: dict[str, Doors] = {
    "job.judgments": of_job("--judgments-per-item", "judgments"),
    "job.most": of_job("--n", "most", zero_is_none=True),
    "job.batch_size": of_job("--batch-size", "batch_size"),
    "job.overlap_every": of_job("--overlap-every", "overlap_every", annotator="Worker"),
    "job.delay_days": of_job("--delay-days", "delay_days"),
    "job.lease_minutes": of_job("--lease-minutes", "lease_minutes"),
    "job.suggested_share": of_job("--suggested-share", "suggested_share", task="marking", on_page=100),
    "seed": of_job("--seed", "seed"),
    "gold.least": of_gold_wanted("--min-experts", "least"),
    "gold.most": of_gold_wanted("--n", "most", zero_is_none=True),
    "sample.n": Doors(
        lambda value, name: ["study", "sample", "STUDY", "--system", "S", "--name", name, "--n", str(value)],
        lambda value, name: ("/manage/samples", {"of": "S", "name": name, "n": value}),
        lambda value, name: ("/samples", {"system": "S", "name": name, "n": value}),
        model=NewSample,
        is_taken=False,  # no system has decided here
    ),
    "terms.page": of_terms(lambda value: {"page": value}, lambda value: {"page": value}),
    "terms.limit": of_terms(lambda value: {"limit": value}, lambda value: {"limit": value}),
    "terms.pool": of_terms(lambda value: {"pool": value}, lambda value: {"pool": value}),
    **{
        f"terms.gold.{field}": of_gold(field)
        for field in ("minimum", "least_seen", "quiz", "attempts", "sure", "exposure")
    },
    "terms.redundancy.least": of_redundancy("least", most=100),
    "terms.redundancy.most": of_redundancy("most", least=1),
    "terms.redundancy.lead": of_redundancy("lead", least=1, most=100),
    "terms.pay.cents": of_terms(lambda value: {"cents": value}, lambda value: {"pay": {"cents": value}}, Pay),
    "terms.pay.least_hourly": of_terms(
        lambda value: {"least_hourly": value}, lambda value: {"pay": {"cents": 5, "least_hourly": value}}, Pay
    ),
    "terms.qualifications.judgments": of_terms(
        lambda value: {"other_job": "usage", "other_judgments": value},
        lambda value: {"qualifications": [{"job": "usage", "judgments": value}]},
        Qualification,
    ),
    "invitation.days": of_request(
        "/invitations", "days", NewInvitation, "people invite STUDY --days", role="annotator"
    ),
    "token.days": Doors(
        lambda value, _: ["people", "token", "STUDY", "Owner", "--days", str(value)],
        lambda value, _: ("/me/tokens", {"days": value}),
        lambda value, _: ("/me/tokens", {"days": value}),
        model=NewToken,
    ),
    "bonus.cents": of_request("/jobs/{job}/raters/{worker}/bonus", "cents", NewBonus),
    **{f"panel.{field}": of_panel(field) for field in ("places", "minutes", "per_address")},
}

TEXTS: dict[str, Doors] = {
    "job.name": Doors(
        lambda text, _: ["job", "new", "STUDY", "--task", "error", "--name", text],
        lambda text, _: ("/manage/jobs", {"name": f"p{text[1:]}", "task": "error"}),
        lambda text, _: ("/jobs", {"name": f"a{text[1:]}", "task": "error"}),
        model=NewJob,
    ),
    "job.title": Doors(
        None,
        lambda text, name: ("/manage/jobs", {"name": name, "task": "error", "title": text}),
        lambda text, name: ("/jobs", {"name": name, "task": "error", "title": text}),
        model=NewJob,
    ),
    "guidelines.markdown": of_request("/jobs/{job}/guidelines", "markdown", NewGuidelines),
    "gold.reason": of_request("/gold/{gold}/reason", "reason", NewReason),
    "panel.secret": of_panel("secret", "generic"),
    "message.text": Doors(
        None,
        lambda text, _: ("/manage/jobs/{job}/raters", {"to": "all", "text": text}),
        lambda text, _: ("/jobs/{job}/raters/messages", {"to": "all", "text": text}),
        model=NewRaterMessage,
    ),
}


class Limit(NamedTuple):
    """The least and the most that a number may be; `excludes_least` where it must be more than the least."""

    least: float
    most: float
    excludes_least: bool


def limit_of(model: type, field: str) -> Limit:
    """The limit of a number as its model publishes it."""
    about = TypeAdapter(model).json_schema()["properties"][field]
    about |= next((part for part in about.get("anyOf", ()) if part["type"] != "null"), {})
    least = about.get("exclusiveMinimum", about.get("minimum"))
    return Limit(least, about["maximum"], excludes_least="exclusiveMinimum" in about)


def around(name: str, doors: Doors) -> tuple[list[float], list[float]]:
    """Values that a limit allows, and values that it does not."""
    limit = limit_of(doors.model, name.rpartition(".")[2])
    least = limit.least + 1 if limit.excludes_least else limit.least
    below = limit.least if limit.excludes_least else limit.least - 1
    return [least, limit.most], [-1 if doors.zero_is_none else below, limit.most + 1]


@pytest.mark.parametrize("name", NUMBERS)
def test_every_door_holds_to_the_limit_of_a_number(house: House, name: str) -> None:
    doors = NUMBERS[name]
    allowed, refused = around(name, doors)
    for value in allowed if doors.is_taken else ():
        assert set(doors.send(house, value)) == {TAKEN}, value
    for value in refused:
        assert set(doors.send(house, value)) == {REFUSED}, value


@pytest.mark.parametrize("name", TEXTS)
def test_every_door_holds_to_the_length_of_a_text(house: House, name: str) -> None:
    model, field = TEXTS[name].model, name.rpartition(".")[2]
    longest = TypeAdapter(model).json_schema()["properties"][field]["maxLength"]
    assert set(TEXTS[name].send(house, "x" * longest)) == {TAKEN}
    assert set(TEXTS[name].send(house, "x" * (longest + 1))) == {REFUSED}


def test_every_door_lets_good_raters_see_what_they_missed(house: House) -> None:
    shown = {"gold": {"minimum": 0.7, "shows_misses": True}}
    doors: list[Callable[[], int]] = [
        lambda: house.command(["job", "terms", "STUDY", "error", "--change", json.dumps(shown)]),
        lambda: house.page("/manage/jobs/{job}/terms", {"minimum": 0.7, "shows_misses": "1"}),
        lambda: house.api("/jobs/{job}/terms", shown),
    ]
    for door, taken in zip(doors, (0, 200, 200), strict=True):
        assert door() == taken
        with house.study.store.write() as tx:
            job = jobs.get(tx, house.ids["job"])
            assert "good raters see what they missed" in protocol_sheet(tx, job)["Removal rule"]
            changed = set_terms(tx, job.job_id, {"gold": {"minimum": 0.7}})
            assert "see what they missed" not in protocol_sheet(tx, changed)["Removal rule"]


def test_limits_that_users_know_stay() -> None:
    """Written down once more, so that none is loosened unnoticed; the command once took 5,000 judgments per unit."""
    published = [(NewInvitations, "number"), (Terms, "page"), (NewJob, "judgments"), (NewReview, "stars")]
    assert [limit_of(model, field).most for model, field in published] == [100, 200, 100, 5]


ALLOWED = {"draft": {"open"}, "open": {"paused", "closed"}, "paused": {"open", "closed"}, "closed": {"open"}}
"""The moves of a job, written down once more: a draft is never closed, and only an open job is paused."""
MOVED = {"open": "open", "paused": "pause", "closed": "close"}


@pytest.mark.parametrize(("state", "wanted"), list(product(MOVES, get_args(GivenState))))
def test_a_job_moves_from_state_to_state_alike_through_every_door(house: House, state: Any, wanted: str) -> None:
    doors: list[Callable[[], int]] = [
        lambda: house.command(["job", MOVED[wanted], "STUDY", "error"]),
        lambda: house.page("/manage/jobs/{job}/state", {"state": wanted}),
        lambda: house.api("/jobs/{job}/state", {"state": wanted}),
    ]
    for door, answer in zip(doors, (0, 200, 200) if wanted in ALLOWED[state] else (2, 409, 409), strict=True):
        with house.study.store.write() as tx:
            jobs.set_state(tx, house.ids["job"], state)
        assert door() == answer


ROLES = ("annotator", "adjudicator", "manager", "owner", "worker")
STATES: dict[str, tuple[str, str, tuple[str, ...]]] = {
    "person": ("people/{worker}/state", "state", ("ended", "active")),
    "role": ("people/{worker}/role", "role", ROLES),
    "gold": ("gold/{gold}/state", "state", ("suspended", "active", "forgiven")),
    "webhook": ("webhooks/{webhook}/state", "state", ("paused", "active")),
    "standing": ("jobs/{job}/raters/{worker}/standing", "change", ("flag", "reject", "reinstate")),
}


@pytest.mark.parametrize("noun", STATES)
def test_page_and_api_give_the_same_states_and_no_others(house: House, noun: str) -> None:
    place, field, known = STATES[noun]
    page, api = f"/manage/{place}", f"/{place}"
    for state in known:
        assert (house.page(page, {field: state}), house.api(api, {field: state})) == (200, 200), state
    assert (house.page(page, {field: "nonsense"}), house.api(api, {field: "nonsense"})) == (422, 422)


def test_only_an_owner_invites_managers_through_every_door(house: House) -> None:
    with house.study.store.write() as tx:
        token = credentials.make_token(tx, house.study.people["manager"].person_id)
    asked = {"role": "manager"}
    page = house.study.browser("manager").post("/manage/invitations", asked).status_code
    api = house.study.client().post(f"{API}/invitations", json=asked, headers={"authorization": f"Bearer {token}"})
    assert (page, api.status_code) == (403, 403)
    assert house.command(["people", "invite", "STUDY", "--role", "manager"]) == 0  # whoever has the file owns it


def test_the_last_owner_stays(house: House) -> None:
    ids = {**house.ids, "worker": house.study.people["owner"].person_id}
    alone = House(house.study, house.browser, house.headers, house.capsys, house.path, ids)
    assert alone.page("/manage/people/{worker}/state", {"state": "ended"}) == 403
    assert alone.api("/people/{worker}/state", {"state": "ended"}) == 403
    with house.study.store.read() as tx:
        assert people.get(tx, ids["worker"]).state == "active"


def test_the_spelling_of_a_variant_is_expected_at_every_door(tmp_path: Path, capsys: Capture) -> None:
    pytest.importorskip("harper")
    text, systems = "The colour of the theater pleased us, and the maths was easy.", ("harper:errors",)
    (tmp_path / "essay.txt").write_text(text, encoding="utf-8")
    with served(tmp_path, editors=True, check_systems=systems, check_letters=1_000_000) as study:
        client = study.client()
        for language, better in (("en-GB", ["theatre"]), ("en-US", ["color"]), (None, [])):
            asked = ["--language", language] if language else []
            ran = grater(capsys, "check", tmp_path / "essay.txt", "--system", *systems, *asked, "--json")
            by_command = [flag["suggestion"] for flag in json.loads(ran.out)["flags"]]
            by_python = [flag.decision.suggestion for flag in check(text, systems=systems, language=language).flags]
            reply = client.post("/v2/check", data={"text": text, "language": language or "en"}).json()
            by_editor = [match["replacements"][0]["value"] for match in reply["matches"]]
            assert by_command == by_python == by_editor == better
