"""Every page of the server with something on it: where it is, who looks at it, what its picture is called.

The accessibility check and the pictures of the guide both take this tour, and a test holds it against the table of
routes: a new page that is not on it is found out.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from grater.annotate import content, gold, invitations, jobs, panels, people, progress, runs, units
from grater.annotate.marks import review
from grater.annotate.people import Person, add_seat
from grater.annotate.runs import RunFile
from grater.annotate.store import Store, Tx
from grater.annotate.units import NewUnit
from grater.annotate.web import Settings, setup_link
from grater.annotate.web.app import ROLES_OF
from grater.annotate.web.security import WITHOUT_COOKIES
from grater.annotate.web.work import last_page
from grater.demo import living
from grater.demo.life import CROWD, ESSAYS, NEXT
from grater.model import Json
from tests.annotate.web import studies
from tests.browser.site import NUMBER, Site
from tests.browser.test_adjudication import edit, marked, rated

FILES = {"/manage/audit.csv", "/manage/jobs/{job_id}/payments.csv", "/manage/runs/{run_id}/file"}
NO_PAGES = {"/", "/healthz", *FILES}
ESSAY = "She adopted puppy. He own three chair near the sea, in summer."
TERMS: dict[str, Json] = {"gold": {"minimum": 0.5, "least_seen": 4, "quiz": 1}, "page": 2, "pay": {"cents": 12}}
REASON = "Another word is used here."
LISTS = ("essays", "items", "people", "systems", "export", "audit")
"""Pages of a study, and below of a crowd job, that differ in a word of their address."""
OF_A_CROWD = ("crowd", "terms", "gold", "raters", "money", "panels")


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
    first, others = ("start", "detector", "sure", "import"), ("runs", "public", "webhooks", *LISTS)
    for name in (*first, *others):
        yield Stop(f"/manage/{name}", f"/manage/{name}", owner, f"manage-{name}")
    yield Stop("/manage/jobs/new", "/manage/jobs/new", owner, "manage-new-job")
    yield Stop("/manage/essays", f"/manage/essays?essay={essay_id}", owner, "manage-essay")
    yield Stop("/manage", "/manage", owner, "manage")
    yield Stop("/me/second-factor", "/me/second-factor", site.person("manager"), "second-factor")
    yield Stop("/manage/jobs/{job_id}", f"/manage/jobs/{job_id}", owner, "manage-job")
    yield Stop(
        "/manage/jobs/{job_id}/gold/studio", f"/manage/jobs/{studio_job(site)}/gold/studio", owner, "gold-studio"
    )
    yield Stop("/manage/jobs/{job_id}/try", f"/manage/jobs/{crowd}/try", owner, "manage-try")
    for name in ("units", "agreement", "guidelines"):
        yield Stop(f"/manage/jobs/{{job_id}}/{name}", f"/manage/jobs/{job_id}/{name}", owner, f"manage-{name}")
    yield Stop("/manage/units/{unit_id}", f"/manage/units/{unit_id}", owner, "manage-unit")
    for name in OF_A_CROWD:
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
    for label in ("error", "ok"):
        while answered(site, job_id, rater, label)[1] != "gold":
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
    address, unit = site.answer(job_id, person, {"label": [label]})
    return address, unit.role


def odd_marks(site: Site, annotator: Person) -> str:
    """An essay with a correction that changes nothing, sent back to its annotator; gives its unit."""
    odd = json.dumps([edit(ESSAY, "own", "own", "SVA")])
    _, unit = site.answer(site.marking_job(ESSAY), annotator, {"edits": [odd]})
    assert review(site.store, unit.job.name) == 1
    return unit.unit_id


def by_person(stops: Sequence[Stop]) -> Iterator[tuple[Person | None, list[Stop]]]:
    """The stops of each person together, so that each needs one browser."""
    people = {stop.person.person_id if stop.person else "": stop.person for stop in stops}
    for person_id, person in people.items():
        yield person, [stop for stop in stops if (stop.person.person_id if stop.person else "") == person_id]


PARTS = (_visitor, _rater, _annotator, _adjudicator, _staff)


# The living study of the demo

RATER, ANNOTATOR = living.RATERS[0].name, living.ANNOTATORS[0]


def named(store: Store, name: str) -> Person:
    with store.read() as tx:
        return people.named(tx, name)


def job_named(store: Store, name: str) -> str:
    with store.read() as tx:
        return jobs.named(tx, name).job_id


def living_stops(site: Site) -> list[Stop]:
    """Every stop that can be made in the living study, which has a past to show."""
    parts = (_living_rater, _living_annotator, _living_adjudicator, _living_staff)
    return [stop for part in parts for stop in part(site)]


def _living_rater(site: Site) -> Iterator[Stop]:
    rater, crowd = named(site.store, RATER), job_named(site.store, CROWD)
    asking = named(site.store, living.MESSAGES[0][0])
    yield Stop("/jobs", "/jobs", rater, "jobs-rater")
    yield Stop("/jobs/{job_id}", f"/jobs/{crowd}", rater, "job-crowd")
    yield Stop("/leases/{lease_id}", site.lease(crowd, rater), rater, "form-error-crowd")
    yield Stop("/jobs/{job_id}/talk", f"/jobs/{crowd}/talk", asking, "talk")
    yield Stop("/jobs/{job_id}/done", f"/jobs/{crowd}/done", asking, "done")


def _living_annotator(site: Site) -> Iterator[Stop]:
    annotator = named(site.store, ANNOTATOR)
    yield Stop("/jobs", "/jobs", annotator, "jobs")
    yield Stop("/jobs/{job_id}", f"/jobs/{job_named(site.store, ESSAYS)}", annotator, "job")
    yield Stop("/me", "/me", annotator, "me")


def _living_adjudicator(site: Site) -> Iterator[Stop]:
    who = named(site.store, living.ADJUDICATOR)
    essays, crowd = job_named(site.store, ESSAYS), job_named(site.store, CROWD)
    with site.store.read() as tx:
        essay, item = contested(tx, essays), contested(tx, crowd)
    yield Stop("/adjudicate", "/adjudicate", who, "adjudicate")
    yield Stop("/adjudicate/jobs/{job_id}", f"/adjudicate/jobs/{crowd}", who, "adjudicate-job")
    yield Stop("/adjudicate/{unit_id}", f"/adjudicate/{essay}", who, "adjudicate-essay")
    yield Stop("/adjudicate/{unit_id}", f"/adjudicate/{item}", who, "adjudicate-item")


def contested(tx: Tx, job: str) -> str:
    """The first unit on which people differ and which nobody has decided."""
    done = progress.finished_units(tx, job, by="payload" if jobs.get(tx, job).name == ESSAYS else "label")
    return next(each.unit_id for each in done if each.differs and not each.is_decided)


def _living_staff(site: Site) -> Iterator[Stop]:
    owner = named(site.store, living.OWNER)
    crowd, essays = job_named(site.store, CROWD), job_named(site.store, ESSAYS)
    ejected = next(rater for rater in living.RATERS if rater.skill < living.CAREFUL)
    with site.store.read() as tx:
        marked = units.ids_of_job(tx, essays)[0]
        essay_id = units.get(tx, marked).unit.essay.essay_id
    yield Stop("/manage", "/manage", owner, "manage")
    for name in LISTS:
        yield Stop(f"/manage/{name}", f"/manage/{name}", owner, f"manage-{name}")
    yield Stop("/manage/jobs/new", "/manage/jobs/new", owner, "manage-new-job")
    yield Stop("/manage/essays", f"/manage/essays?essay={essay_id}", owner, "manage-essay")
    yield Stop("/manage/jobs/{job_id}", f"/manage/jobs/{crowd}", owner, "manage-job")
    studio = f"/manage/jobs/{job_named(site.store, NEXT)}/gold/studio"
    yield Stop("/manage/jobs/{job_id}/gold/studio", studio, owner, "gold-studio")
    yield Stop("/manage/jobs/{job_id}/try", f"/manage/jobs/{crowd}/try", owner, "manage-try")
    yield Stop("/manage/jobs/{job_id}/units", f"/manage/jobs/{crowd}/units", owner, "manage-units")
    for name in ("agreement", "guidelines"):
        yield Stop(f"/manage/jobs/{{job_id}}/{name}", f"/manage/jobs/{essays}/{name}", owner, f"manage-{name}")
    yield Stop("/manage/units/{unit_id}", f"/manage/units/{marked}", owner, "manage-unit")
    for name in OF_A_CROWD:
        yield Stop(f"/manage/jobs/{{job_id}}/{name}", f"/manage/jobs/{crowd}/{name}", owner, f"crowd-{name}")
    one = f"/manage/jobs/{crowd}/raters/{named(site.store, ejected.name).person_id}"
    yield Stop("/manage/jobs/{job_id}/raters/{person_id}", one, owner, "crowd-rater")
