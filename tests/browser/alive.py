"""The pages of the living study, as its people see them: stops of the tour that have a study with a past to show."""

from __future__ import annotations

from collections.abc import Iterator

from grater.annotate import jobs, people, progress, units
from grater.annotate.people import Person
from grater.annotate.store import Store, Tx
from grater.demo import living
from grater.demo.life import CROWD, ESSAYS, NEXT
from tests.browser.site import Site
from tests.browser.tour import Stop

RATER, ANNOTATOR = living.RATERS[0].name, living.ANNOTATORS[0]


def person(store: Store, name: str) -> Person:
    with store.read() as tx:
        return people.named(tx, name)


def job_id(store: Store, name: str) -> str:
    with store.read() as tx:
        return jobs.named(tx, name).job_id


def stops(site: Site) -> list[Stop]:
    """Every stop that can be made in the living study."""
    return [*_rater(site), *_annotator(site), *_adjudicator(site), *_staff(site)]


def _rater(site: Site) -> Iterator[Stop]:
    rater, crowd = person(site.store, RATER), job_id(site.store, CROWD)
    asking = person(site.store, living.MESSAGES[0][0])
    yield Stop("/jobs", "/jobs", rater, "jobs-rater")
    yield Stop("/jobs/{job_id}", f"/jobs/{crowd}", rater, "job-crowd")
    yield Stop("/leases/{lease_id}", site.lease(crowd, rater), rater, "form-error-crowd")
    yield Stop("/jobs/{job_id}/talk", f"/jobs/{crowd}/talk", asking, "talk")
    yield Stop("/jobs/{job_id}/done", f"/jobs/{crowd}/done", asking, "done")


def _annotator(site: Site) -> Iterator[Stop]:
    annotator = person(site.store, ANNOTATOR)
    yield Stop("/jobs", "/jobs", annotator, "jobs")
    yield Stop("/jobs/{job_id}", f"/jobs/{job_id(site.store, ESSAYS)}", annotator, "job")
    yield Stop("/me", "/me", annotator, "me")


def _adjudicator(site: Site) -> Iterator[Stop]:
    who, essays, crowd = person(site.store, living.ADJUDICATOR), job_id(site.store, ESSAYS), job_id(site.store, CROWD)
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


def _staff(site: Site) -> Iterator[Stop]:
    owner, crowd, essays = person(site.store, living.OWNER), job_id(site.store, CROWD), job_id(site.store, ESSAYS)
    ejected = next(rater for rater in living.RATERS if rater.skill < living.CAREFUL)
    with site.store.read() as tx:
        marked = units.ids_of_job(tx, essays)[0]
        essay_id = units.get(tx, marked).unit.essay.essay_id
    yield Stop("/manage", "/manage", owner, "manage")
    for name in ("essays", "items", "people", "systems", "export", "audit"):
        yield Stop(f"/manage/{name}", f"/manage/{name}", owner, f"manage-{name}")
    yield Stop("/manage/jobs/new", "/manage/jobs/new", owner, "manage-new-job")
    yield Stop("/manage/essays", f"/manage/essays?essay={essay_id}", owner, "manage-essay")
    yield Stop("/manage/jobs/{job_id}", f"/manage/jobs/{crowd}", owner, "manage-job")
    studio = f"/manage/jobs/{job_id(site.store, NEXT)}/gold/studio"
    yield Stop("/manage/jobs/{job_id}/gold/studio", studio, owner, "gold-studio")
    yield Stop("/manage/jobs/{job_id}/try", f"/manage/jobs/{crowd}/try", owner, "manage-try")
    yield Stop("/manage/jobs/{job_id}/units", f"/manage/jobs/{crowd}/units", owner, "manage-units")
    for name in ("agreement", "guidelines"):
        yield Stop(f"/manage/jobs/{{job_id}}/{name}", f"/manage/jobs/{essays}/{name}", owner, f"manage-{name}")
    yield Stop("/manage/units/{unit_id}", f"/manage/units/{marked}", owner, "manage-unit")
    for name in ("crowd", "terms", "gold", "raters", "money", "panels"):
        yield Stop(f"/manage/jobs/{{job_id}}/{name}", f"/manage/jobs/{crowd}/{name}", owner, f"crowd-{name}")
    one = f"/manage/jobs/{crowd}/raters/{person(site.store, ejected.name).person_id}"
    yield Stop("/manage/jobs/{job_id}/raters/{person_id}", one, owner, "crowd-rater")
