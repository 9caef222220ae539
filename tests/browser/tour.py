"""Every page of the server with something on it: where it is, who looks at it, what its picture is called.

The accessibility check and the pictures of the guide both take this tour, and a test holds it against the table of
routes: a new page that is not on it is found out.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from grater.annotate import content, gold, invitations, jobs, marks, panels, runs, units
from grater.annotate.marks import review
from grater.annotate.people import Person, add_seat
from grater.annotate.runs import RunFile
from grater.annotate.submissions import desk_of, hand_in
from grater.annotate.units import NewUnit
from grater.annotate.web import Settings, setup_link
from grater.annotate.web.app import ROLES_OF
from grater.annotate.web.security import WITHOUT_COOKIES
from grater.annotate.web.work import last_page
from grater.model import Json
from tests.annotate.web import studies
from tests.browser.site import NUMBER, Site
from tests.browser.test_adjudication import marked, rated

NO_PAGES = frozenset(
    (
        "/",
        "/healthz",
        "/manage/audit.csv",
        "/manage/jobs/{job_id}/payments.csv",
        "/manage/runs/{run_id}/file",
    )
)  # a way on, a sign of life, files
ESSAY = "She adopted puppy. He own three chair near the sea, in summer."
TERMS: dict[str, Json] = {
    "gold": {"minimum": 0.5, "least_seen": 4, "quiz": 1},
    "page": 2,
    "pay": {"cents": 12},
}
REASON = "Another word is used here."


@dataclass(frozen=True, slots=True)
class Stop:
    """`route` as on the table of roles, one of its addresses, and who stands before it; nobody is logged out."""

    route: str
    path: str
    person: Person | None
    picture: str


def routes() -> set[str]:
    """Every address that answers with a page."""
    return {path for method, path in ROLES_OF if method == "GET" and not path.startswith(WITHOUT_COOKIES)} - NO_PAGES


def tour(site: Site) -> list[Stop]:
    """All stops, on a study that has something to show at each."""
    return [stop for part in PARTS for stop in part(site)]


def _visitor(site: Site) -> Iterator[Stop]:
    job_id = crowd_job(site)
    with site.store.write() as tx:
        token = invitations.make(tx, role="worker", job_id=job_id)
        panel = panels.add(
            tx, job_id, panels.NewPanel(provider="prolific", codes={"completed": "THANKS-42"}, unsigned=True)
        )
    link = setup_link(Settings(base_url=site.url), site.store)
    assert link is not None
    yield Stop("/login", "/login", None, "login")
    yield Stop("/check", "/check", None, "check")
    yield Stop("/setup/{token}", link.removeprefix(site.url), None, "setup")
    yield Stop("/join/{token}", f"/join/{token}", None, "join")
    yield Stop("/p/{panel_id}", f"/p/{panel.panel_id}?PROLIFIC_PID=p-{next(NUMBER)}&STUDY_ID=s", None, "panel-door")
    yield Stop("/out/{person_id}/{lease_id}/{signature}", removed(site, job_id), None, "removed")


def _rater(site: Site) -> Iterator[Stop]:
    rater, job_id = site.person("worker"), crowd_job(site)
    practice, _ = answered(site, job_id, rater, "ok")
    missed_gold(site, job_id, rater)
    yield Stop("/jobs", "/jobs", rater, "jobs-rater")
    yield Stop("/jobs/{job_id}", f"/jobs/{job_id}", rater, "job-crowd")
    yield Stop("/leases/{lease_id}", site.lease(job_id, rater), rater, "form-error-crowd")
    yield Stop("/leases/{lease_id}/feedback", f"{practice}/feedback", rater, "feedback")
    yield Stop("/jobs/{job_id}/talk", f"/jobs/{job_id}/talk", rater, "talk")
    yield Stop("/jobs/{job_id}/done", f"/jobs/{job_id}/done", rater, "done")


def _annotator(site: Site) -> Iterator[Stop]:
    annotator, other = site.person(), site.person()
    with site.store.write() as tx:
        add_seat(tx, [annotator.name, other.name])
    unit_id = odd_marks(site, annotator)
    yield Stop("/reviews", "/reviews", annotator, "reviews")
    yield Stop("/me/essays", "/me/essays", annotator, "me-essays")
    yield Stop("/me/essays/{unit_id}", f"/me/essays/{unit_id}", annotator, "me-essay")
    yield Stop("/me", "/me", annotator, "me")


def _adjudicator(site: Site) -> Iterator[Stop]:
    adjudicator, essay = site.person("adjudicator"), marked(site, ESSAY, comment="")
    with site.store.read() as tx:
        job_id = units.get(tx, essay).job.job_id
    yield Stop("/adjudicate", "/adjudicate", adjudicator, "adjudicate")
    yield Stop("/adjudicate/jobs/{job_id}", f"/adjudicate/jobs/{job_id}", adjudicator, "adjudicate-job")
    yield Stop("/adjudicate/{unit_id}", f"/adjudicate/{essay}", adjudicator, "adjudicate-essay")
    yield Stop("/adjudicate/{unit_id}", f"/adjudicate/{rated(site, 'usage')}", adjudicator, "adjudicate-item")


def _staff(site: Site) -> Iterator[Stop]:
    owner, unit_id, crowd = site.person("owner"), marked(site, ESSAY, comment=""), crowd_job(site)
    rater = site.person("worker")
    missed_gold(site, crowd, rater)
    with site.store.read() as tx:
        unit = units.get(tx, unit_id)
    job_id, essay_id = unit.job.job_id, unit.unit.essay.essay_id
    with site.store.write() as tx:
        runs.add(tx, "report", "Report: Two schools", {}, actor=owner.person_id)
        run = runs.claim(tx)
        assert run is not None
        runs.finish(tx, run, words="The report is ready.", files=[RunFile(name="report.html", content=b"")])
    for name in (
        "start",
        "detector",
        "sure",
        "runs",
        "essays",
        "items",
        "people",
        "systems",
        "export",
        "public",
        "webhooks",
        "audit",
        "import",
    ):
        yield Stop(f"/manage/{name}", f"/manage/{name}", owner, f"manage-{name}")
    yield Stop("/manage/jobs/new", "/manage/jobs/new", owner, "manage-new-job")
    yield Stop("/manage/essays", f"/manage/essays?essay={essay_id}", owner, "manage-essay")
    yield Stop("/manage", "/manage", owner, "manage")
    yield Stop("/me/second-factor", "/me/second-factor", site.member("manager"), "second-factor")
    yield Stop("/manage/jobs/{job_id}", f"/manage/jobs/{job_id}", owner, "manage-job")
    yield Stop(
        "/manage/jobs/{job_id}/gold/studio", f"/manage/jobs/{studio_job(site)}/gold/studio", owner, "gold-studio"
    )
    yield Stop("/manage/jobs/{job_id}/try", f"/manage/jobs/{crowd}/try", owner, "manage-try")
    for name in ("units", "agreement", "guidelines"):
        yield Stop(f"/manage/jobs/{{job_id}}/{name}", f"/manage/jobs/{job_id}/{name}", owner, f"manage-{name}")
    yield Stop("/manage/units/{unit_id}", f"/manage/units/{unit_id}", owner, "manage-unit")
    for name in ("crowd", "terms", "gold", "raters", "money", "panels"):
        yield Stop(f"/manage/jobs/{{job_id}}/{name}", f"/manage/jobs/{crowd}/{name}", owner, f"crowd-{name}")
    one = f"/manage/jobs/{crowd}/raters/{rater.person_id}"
    yield Stop("/manage/jobs/{job_id}/raters/{person_id}", one, owner, "crowd-rater")
    yield Stop("/api", "/api", owner, "api")


def crowd_job(site: Site) -> str:
    """Work, a unit of practice and gold that accept `error`, a quiz of one, pay."""
    with site.store.write() as tx:
        content.add_essays(tx, studies.corpus())
        found = studies.new_units(tx, "error")
        name = f"crowd {next(NUMBER)}"
        job = jobs.add(tx, name=name, task="error", title="Errors", options={"crowd": TERMS}, judgments=3)
        units.add_all(tx, job.job_id, found[:5])
        for n, new in enumerate(found[5:]):
            known = NewUnit(new.items, new.essay_id, role="gold" if n else "practice")
            (unit_id,) = units.add_all(tx, job.job_id, [known])
            gold.add(tx, unit_id, new.items[0][0], ["error"], reason=REASON)
        return jobs.set_state(tx, job.job_id, "open").job_id


def studio_job(site: Site) -> str:
    """A job that can take over the gold of another one."""
    with site.store.write() as tx:
        job = jobs.add(tx, name=f"studio {next(NUMBER)}", task="error", title="Errors once more", judgments=3)
        units.add_all(tx, job.job_id, studies.new_units(tx, "error"))
        return job.job_id


def missed_gold(site: Site, job_id: str, rater: Person) -> None:
    """The rater practises, passes the quiz, works, and misses a known answer."""
    while answered(site, job_id, rater, "error")[1] != "gold":
        pass
    while answered(site, job_id, rater, "ok")[1] != "gold":
        pass


def removed(site: Site, job_id: str) -> str:
    """The last page of a rater who fails the quiz, as the server leads there."""
    rater = site.person("worker")
    while (last := answered(site, job_id, rater, "ok"))[1] != "gold":
        pass
    lease_id = last[0].rpartition("/")[2]
    with site.store.read() as tx:
        return last_page(tx, rater.person_id, lease_id)


def answered(site: Site, job_id: str, person: Person, label: str) -> tuple[str, str]:
    """The next unit answered with a label; give its address and what it was for."""
    address = site.lease(job_id, person)
    with site.store.read() as tx:
        desk = desk_of(tx, address.rpartition("/")[2], person_id=person.person_id)
    hand_in(site.store, desk, {"label": [label]}, seconds=4)
    return address, desk.unit.role


def odd_marks(site: Site, annotator: Person) -> str:
    """An essay with a correction that changes nothing, sent back to its annotator; gives its unit."""
    job_id = site.marking_job(ESSAY)
    address = site.lease(job_id, annotator)
    with site.store.read() as tx:
        desk = desk_of(tx, address.rpartition("/")[2], person_id=annotator.person_id)
        name = jobs.get(tx, job_id).name
    hand_in(site.store, desk, {"edits": [json.dumps([_edit("own", "SVA", "own")])]}, seconds=9)
    assert review(site.store, name) == 1
    with site.store.read() as tx:
        assert len(marks.open_findings(tx, annotator.person_id)) == 1
    return desk.unit.unit_id


def _edit(words: str, tag: str, correction: str) -> dict[str, Json]:
    start = ESSAY.index(words)
    span: dict[str, Json] = {"start": start, "end": start + len(words), "quote": words}
    return {**span, "tag": tag, "replacements": [correction], "comment": ""}


def by_person(stops: Sequence[Stop]) -> Iterator[tuple[Person | None, list[Stop]]]:
    """The stops of each person together, so that each needs one browser."""
    people = {stop.person.person_id if stop.person else "": stop.person for stop in stops}
    for person_id, person in people.items():
        yield person, [stop for stop in stops if (stop.person.person_id if stop.person else "") == person_id]


PARTS = (_visitor, _rater, _annotator, _adjudicator, _staff)
