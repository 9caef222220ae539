"""A rater's and a manager's life with gold, which nobody can tell from work (P5), and raters from panels."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from grater.annotate import credentials, gold, jobs, leases, panels, people, standing, units
from grater.annotate.archive import export
from grater.annotate.store import checks
from grater.annotate.submissions import submission_id_of
from grater.annotate.units import NewUnit
from grater.errors import Forbidden
from grater.model import Json
from tests.annotate.store.crowds import statements
from tests.annotate.web.studies import Browser, Study, hidden, new_units, served
from tests.annotate.web.test_work import FILLED, answer, answer_all, begin

REASON = "Nobody waits in that way."
TERMS: dict[str, Json] = {"gold": {"minimum": 0.6, "least_seen": 3, "quiz": 2}, "page": 3, "pay": {"cents": 7}}


@pytest.fixture
def crowd(tmp_path: Path) -> Iterator[Study]:
    """An `error` job with six units of work and four of gold, which accepts `error`."""
    with served(tmp_path) as study:
        study.jobs["crowd"] = study.write(crowd_job, TERMS)
        yield study


def crowd_job(tx, terms: dict[str, Json], *, name: str = "crowd") -> str:  # type: ignore[no-untyped-def]
    job = jobs.add(tx, name=name, task="error", title="Bus stops", judgments=2, options={"crowd": terms})
    found = new_units(tx, "error")
    return opened(tx, job.job_id, found[:6], known=found[6:10], accepted=["error"])


def opened(tx, job_id: str, work: list[NewUnit], *, known: list[NewUnit], accepted: list[str]) -> str:  # type: ignore[no-untyped-def]
    units.add_all(tx, job_id, work)
    for new in known:
        (unit_id,) = units.add_all(tx, job_id, [NewUnit(new.items, new.essay_id, role="gold")])
        gold.add(tx, unit_id, new.items[0][0], accepted, reason=REASON)
    return str(jobs.set_state(tx, job_id, "open").job_id)


def is_gold(study: Study, path: str) -> bool:
    return study.unit_at(path).role == "gold"


def masked(page: str, job_id: str) -> str:
    """A page without the names that are random anyway."""
    page = page.replace(job_id, "JOB")
    page = re.sub(r"/leases/[\w-]+", "/leases/LEASE", page)
    page = re.sub(r"\d+ done", "", page)
    return re.sub(r'(name="csrf" \w+|name="submission_id" value)="[^"]+"', "", page)


@pytest.mark.parametrize("access", ["page", "api"])
def test_gold_and_work_of_the_same_words_are_the_same_to_the_byte(crowd: Study, access: str) -> None:
    """The same sentence as work in one job and as gold in its twin; neither page, keys, order nor names tell."""
    ids = {role: crowd.write(twin, role) for role in ("work", "gold")}
    browser = crowd.browser("worker")
    paths = {role: until(crowd, browser, job_id, role) for role, job_id in ids.items()}
    if access == "page":
        pages = {role: masked(browser.get(path).text, ids[role]) for role, path in paths.items()}
        undo = re.compile(r'\s*<form class="inline"[^\n]*data-undo>.*?</form>')  # there where one was answered before
        pages = {role: " ".join(undo.sub("", page).split()) for role, page in pages.items()}
        assert pages["work"] == pages["gold"]
        assert REASON not in pages["gold"]
        return
    headers = crowd.bearer("worker")
    calls = {role: crowd.client().get(f"/api/v1{path}", headers=headers).json() for role, path in paths.items()}
    assert list(calls["work"]) == list(calls["gold"])  # the same keys in the same order
    differing = {key for key in calls["work"] if calls["work"][key] != calls["gold"][key]}
    assert differing == {"lease_id", "submission_id", "job_id"}
    assert all(len(calls["work"][key]) == len(calls["gold"][key]) for key in differing)


@pytest.mark.parametrize("access", ["page", "api"])
def test_gold_and_work_cost_the_server_the_same(crowd: Study, access: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """No clock tells them apart: for either, the same is asked of the database; and the headers are the same."""
    monkeypatch.setattr(leases, "new_shuffle", lambda: 0)  # from the first unit on: nobody has to begin anew
    job_id = crowd.write(crowd_job, {"gold": {"least_seen": 50}, "page": 2}, name="timed")
    browser, headers = crowd.browser("worker"), crowd.bearer("worker")
    crowd.client().get("/api/v1/me", headers=headers)  # the first use of a token is noted
    begin(browser, job_id)
    costs: dict[bool, set[tuple[tuple[str, ...], ...]]] = {True: set(), False: set()}
    for _ in range(6):
        with statements(crowd.store) as found:
            if access == "api":
                reply = crowd.client().post(f"/api/v1/jobs/{job_id}/next", headers=headers)
                path = f"/leases/{reply.json()['lease']['lease_id']}"
            else:
                reply = browser.post(f"/jobs/{job_id}/next")
                path = reply.url.path
        costs[is_gold(crowd, path)].add((tuple(found), tuple(sorted(reply.headers))))
        answer(browser, path, {"label": "error"})
    assert costs[True] == costs[False]
    assert len(costs[True]) == 1


def twin(tx, role: str) -> str:  # type: ignore[no-untyped-def]
    """A job in which one sentence is the only work, or the only gold."""
    terms: dict[str, Json] = {"gold": {"least_seen": 50}, "page": 2}
    job = jobs.add(tx, name=f"twin {role}", task="error", title="Twins", options={"crowd": terms})
    here, *others = new_units(tx, "error")[:4]
    work, known = ([here], others) if role == "work" else (others, [here])
    return opened(tx, job.job_id, work, known=known, accepted=["ok"])


def until(study: Study, browser: Browser, job_id: str, role: str) -> str:
    """Work until the next unit is of this role; give its path."""
    path = begin(browser, job_id)
    while study.unit_at(path).role != role:
        path = answer(browser, path, {"label": "ok"}).url.path
    return path


def test_quiz_work_missed_gold_and_after_the_end_its_reason_a_dispute_and_forgiveness(crowd: Study) -> None:
    """Nothing tells of the miss while the job is open: raters could tell others."""
    job_id = crowd.jobs["crowd"]
    rater, manager = crowd.browser("worker"), crowd.browser("manager")
    assert "quiz of 2" in rater.get(f"/jobs/{job_id}").text
    path = begin(rater, job_id)
    for _ in range(2):
        assert is_gold(crowd, path)
        path = answer(rater, path, {"label": "error"}).url.path
    while not is_gold(crowd, path):
        path = answer(rater, path, {"label": "error"}).url.path
    assert REASON not in answer(rater, path, {"label": "ok"}).text
    assert rater.get(f"{path}/feedback").status_code == 404
    assert "that you missed" not in rater.get(f"/jobs/{job_id}/talk").text
    own = {"submission_id": submission_id_of(path.rsplit("/", 1)[1]), "text": "Is it gold?"}
    assert rater.post(f"/jobs/{job_id}/disputes", own).status_code == 404
    crowd.write(jobs.set_state, job_id, "closed")
    page = rater.get(f"/jobs/{job_id}/talk").text
    assert REASON in page
    found = re.search(r'name="submission_id" value="([^"]+)"', page)
    sent = {"submission_id": found.group(1), "text": "It is right at sea."}
    assert crowd.browser("annotator").post(f"/jobs/{job_id}/disputes", sent).status_code == 404, "it is another's"
    reply = rater.post(f"/jobs/{job_id}/disputes", sent)
    assert "No reply yet" in reply.text
    asked = manager.get(f"/manage/jobs/{job_id}/gold").text
    assert "It is right at sea." in asked
    dispute = re.search(r"/manage/disputes/([\w-]+)", asked)
    manager.post(f"/manage/disputes/{dispute.group(1)}", {"decision": "grant", "answer": "True."})
    page = rater.get(f"/jobs/{job_id}/talk").text
    assert "You were right. True." in page
    assert "no longer counts" in page
    with crowd.store.read() as tx:
        known = standing.find(tx, job_id, crowd.people["worker"].person_id)
        assert (known.seen, known.right) == (2, 2)
        assert checks.violations(tx) == []


PANEL = {"provider": "prolific", "places": "1", "minutes": "30", "unsigned": "true"}
PANEL |= {"code-completed": "DONE-1", "code-failed": "FAIL-1", "code-screened-out": "OUT-1"}


def panel_of(study: Study, job_id: str, **changed: str) -> str:
    manager = study.browser("manager")
    before = set(re.findall(r"/p/([\w-]+)", manager.get(f"/manage/jobs/{job_id}/panels").text))
    page = manager.post(f"/manage/jobs/{job_id}/panels", {**PANEL, **changed}).text
    (made,) = set(re.findall(r"/p/([\w-]+)", page)) - before
    return str(made)


def enter(study: Study, panel_id: str, external_id: str, *, by: str = "PROLIFIC_PID"):  # type: ignore[no-untyped-def]
    """A browser that comes by the link of a panel, and what it is shown at last."""
    browser, sent = study.browser(), {by: external_id, "STUDY_ID": "s1"}
    shown = browser.get(f"/p/{panel_id}", params=sent)
    return browser, browser.post(f"/p/{panel_id}", sent) if ">Start<" in shown.text else shown


def test_a_panel_rater_who_failed_gets_that_code_in_every_browser_and_no_way_in(crowd: Study) -> None:
    job_id = crowd.jobs["crowd"]
    panel_id = panel_of(crowd, job_id)
    rater, _ = enter(crowd, panel_id, "abc")
    for _ in range(2):
        last = answer(rater, begin(rater, job_id), {"label": "ok"})
    assert "FAIL-1" in last.text
    browser, page = enter(crowd, panel_id, "abc")
    assert "FAIL-1" in page.text
    assert browser.get(f"/jobs/{job_id}").url.path == "/login"
    other = panel_of(crowd, job_id)  # another panel of the same provider, the same person
    browser, elsewhere = enter(crowd, other, "abc")
    assert "return code" in elsewhere.text
    (place,) = crowd.read(panels.places, panel_id)
    form = {"PROLIFIC_PID": "abc", "STUDY_ID": "s1", "return_code": place.return_code}
    assert "removed from this job" in browser.post(f"/p/{other}", form).text


def test_an_id_in_a_link_opens_no_more_than_a_raters_door(crowd: Study) -> None:
    panel_id = panel_of(crowd, crowd.jobs["crowd"])
    enter(crowd, panel_id, "abc")
    crowd.write(people.set_role, crowd.read(people.named, "prolific abc").person_id, "manager")
    browser, reply = enter(crowd, panel_id, "abc")
    assert reply.status_code == 403
    assert browser.get("/manage").url.path == "/login"


def test_anyone_who_comes_again_by_an_open_link_is_the_same_person(crowd: Study) -> None:
    panel_id = panel_of(crowd, crowd.jobs["crowd"], provider="open", places="0")
    browser = crowd.browser()
    for _ in range(2):
        browser.get(f"/p/{panel_id}")
        assert browser.post(f"/p/{panel_id}").url.path == f"/jobs/{crowd.jobs['crowd']}"
    assert sum(person.name.startswith("open guest") for person in crowd.read(people.all)) == 1


def test_terms_are_set_by_the_form_and_wrong_ones_are_refused(crowd: Study) -> None:
    job_id = crowd.jobs["crowd"]
    manager = crowd.browser("manager")
    path = f"/manage/jobs/{job_id}/terms"
    form = {"minimum": "0.8", "quiz": "3", "page": "6", "cents": "9", "currency": "usd", "countries": "Norway, Peru"}
    assert manager.post(path, form).status_code == 200
    page = crowd.browser("worker").get(f"/jobs/{job_id}").text
    assert "Country you live in" in page
    wrong = manager.post(path, {**form, "minimum": "7"})
    assert wrong.status_code == 422
    rater = crowd.browser("worker")
    assert "a requirement of this job" in rater.post(f"/jobs/{job_id}/about", {"country": "Chad"}).text
    other = crowd.browser("annotator")
    assert "quiz of 3" in other.post(f"/jobs/{job_id}/about", {"country": "Peru"}).text


def test_a_rater_reads_the_information_and_agrees_before_the_first_question(crowd: Study) -> None:
    job_id = crowd.jobs["crowd"]
    manager, rater = crowd.browser("manager"), crowd.browser("worker")
    path, consent = f"/manage/jobs/{job_id}/terms", "**Who:** the school of Lund. Data are kept for a year."
    manager.post(path, {"cents": "9", "currency": "EUR", "information": consent})
    page = rater.get(f"/jobs/{job_id}").text
    assert "<strong>Who:</strong> the school of Lund" in page
    assert "0.09 EUR for each question, about 13.50 EUR an hour." in page  # 24 seconds each
    assert not rater.post(f"/jobs/{job_id}/next").url.path.startswith("/leases/")
    assert rater.post(f"/jobs/{job_id}/about", {}).status_code == 422
    agreed = rater.post(f"/jobs/{job_id}/about", {"consent": "1"}).text
    assert "I have read this" not in agreed
    assert rater.post(f"/jobs/{job_id}/next").url.path.startswith("/leases/")
    with crowd.store.read() as tx:
        assert list(people.get(tx, crowd.people["worker"].person_id).payload["consents"].values()) == [tx.now]  # type: ignore[union-attr]
    manager.post(path, {"information": f"{consent} Or two."})
    assert "I have read this" in rater.get(f"/jobs/{job_id}").text  # what has changed is asked about again


def test_what_a_rater_writes_is_on_the_dashboard_of_that_job_alone_and_leads_to_the_writer(crowd: Study) -> None:
    job_id, manager, rater = crowd.jobs["crowd"], crowd.browser("manager"), crowd.browser("worker")
    rater.post(f"/jobs/{job_id}/messages", {"text": "May the target be a name?"})
    rater.post(f"/jobs/{job_id}/reviews", {"stars": "4", "text": "Good fun."})
    page = manager.get(f"/manage/jobs/{job_id}/crowd").text
    assert ("May the target be a name?" in page, "Good fun." in page) == (True, True)
    (link,) = re.findall(r'<a href="(/manage/jobs/[^"]+)">[^<]*</a>: May the target', page)
    assert manager.get(link).status_code == 200, "nothing is answered yet"
    other_id = crowd.write(crowd_job, TERMS, name="other")
    other = manager.get(f"/manage/jobs/{other_id}/crowd").text
    assert ("May the target" in other, "Good fun." in other) == (False, False)


def test_questions_before_and_after_the_work_are_asked_once_and_exported(crowd: Study, tmp_path: Path) -> None:
    job_id = crowd.jobs["crowd"]
    manager, rater = crowd.browser("manager"), crowd.browser("worker")
    path = f"/manage/jobs/{job_id}/terms"
    asked = {"questions_before": "Age? | under 30 | older\nFirst language?", "questions_after": "Was it fun?"}
    assert "First language?</textarea>" in manager.post(path, asked).text
    page = rater.get(f"/jobs/{job_id}").text
    assert all(words in page for words in ("<option>under 30</option>", "First language?", "(optional)"))
    assert not rater.post(f"/jobs/{job_id}/next").url.path.startswith("/leases/")
    assert "Age?" not in rater.post(f"/jobs/{job_id}/about", {"answers": ["older", ""]}).text
    answered = rater.post(f"/jobs/{job_id}/next")
    assert answered.url.path.startswith("/leases/")
    assert "Was it fun?" not in rater.get(f"/jobs/{job_id}/done").text, "nothing is answered yet"
    rater.post(str(answered.url.path), {"label": "ok"})
    assert "Was it fun?" in rater.get(f"/jobs/{job_id}/done").text
    after = rater.post(f"/jobs/{job_id}/about", {"when": "after", "answers": ["Very."]})
    assert (after.url.path, "Was it fun?" in after.text) == (f"/jobs/{job_id}/done", False)
    export(crowd.store, tmp_path / "out")
    rater_id = crowd.read(people.get, crowd.people["worker"].person_id).pseudonym
    assert (tmp_path / "out" / "questionnaire.csv").read_text("utf-8").splitlines() == [
        "job,rater,when,question,answer",
        f"crowd,{rater_id},before,Age?,older",
        f"crowd,{rater_id},after,Was it fun?,Very.",
    ]


@pytest.mark.parametrize("task", ["cloze", "choice", "construction", "marking"])
def test_the_pages_of_the_crowd_open_for_every_kind_of_answer(study: Study, task: str) -> None:
    job_id = study.jobs[task]
    for who in ("worker", "annotator"):
        rater = study.browser(who)
        answer_all(rater, begin(rater, job_id), FILLED[task])
    manager = study.browser("manager")
    for name in ("crowd", "terms", "gold", "raters", "money", "panels"):
        assert manager.get(f"/manage/jobs/{job_id}/{name}").status_code == 200, name


def planted_job(tx) -> str:  # type: ignore[no-untyped-def]
    """A marking job that begins with a quiz of one essay, whose two errors are known; there is another to mark."""
    terms: dict[str, Json] = {"gold": {"quiz": 1}, "page": 2}
    job = jobs.add(tx, name="planted", task="marking", title="Whole essays", options={"crowd": terms})
    known, work, *_ = new_units(tx, "marking")
    return opened(tx, job.job_id, [work], known=[known], accepted=["58-65:Nn", "51-53:Wcip"])


def test_anyone_who_is_ejected_over_an_essay_is_led_to_the_reason(crowd: Study) -> None:
    """The marking page goes where the answer leads, in a request of its own; the session has ended by then."""
    job_id = crowd.write(planted_job)
    rater = crowd.browser("worker")
    reply = answer(rater, begin(rater, job_id), {"edits": "[]"})
    path = reply.url.path
    assert path.startswith("/out/")
    again = rater.get(path).text  # what a script or a reload asks for
    assert "removed from this job" in again
    assert REASON not in again
    assert rater.get(f"/jobs/{job_id}").url.path == "/login"
    panelist, _ = enter(crowd, panel_of(crowd, job_id), "abc")
    reply = answer(panelist, begin(panelist, job_id), {"edits": "[]"})
    assert "FAIL-1" in reply.text
    assert "FAIL-1" in panelist.get(reply.url.path).text
    head, _, signature = path.rpartition("/")
    for wrong in (f"{head}/{'0' * len(signature)}", path.replace(crowd.people["worker"].person_id, "x"), f"{path}1"):
        assert crowd.browser().get(wrong).status_code == 404
    crowd.require_promises()


def test_each_panel_has_its_own_payment_file(crowd: Study) -> None:
    job_id = crowd.jobs["crowd"]
    for name, provider, by in (("abc", "prolific", "PROLIFIC_PID"), ("def", "connect", "participantId")):
        rater, _ = enter(crowd, panel_of(crowd, job_id, provider=provider), name, by=by)
        answer(rater, begin(rater, job_id), {"label": "error"})
    manager = crowd.browser("manager")
    own = f"/manage/jobs/{job_id}/raters/{crowd.read(people.named, 'connect def').person_id}"
    bonus = {"cents": "120", "note": "speed", "payment_id": hidden(manager.get(own).text, "payment_id")}
    for _ in range(2):  # a double click
        assert manager.post(f"{own}/bonus", bonus).text.count("bonus 1.20 EUR") == 1
    assert "Payments for CloudResearch Connect" in manager.post(f"/manage/jobs/{job_id}/payments/settle").text
    path = f"/manage/jobs/{job_id}/payments.csv"
    assert manager.get(f"{path}?panel=connect").text.splitlines()[1:] == ["connect,def,1.27,EUR"]
    assert manager.get(path).text.splitlines()[1:] == ["connect,def,1.27,EUR", "prolific,abc,0.07,EUR"]


def test_a_second_browser_with_the_same_id_is_asked_for_what_only_the_first_knows(crowd: Study) -> None:
    job_id = crowd.jobs["crowd"]
    panel_id = panel_of(crowd, job_id)
    first, page = enter(crowd, panel_id, "abc")
    code = re.search(r"return code: <code>([A-Z2-7]{4}-[A-Z2-7]{4})</code>", page.text)
    assert code
    thief, reply = enter(crowd, panel_id, "abc")
    assert (reply.status_code, thief.get("/jobs").url.path) == (403, "/login")
    form = {"PROLIFIC_PID": "abc", "STUDY_ID": "s1"}
    assert thief.post(f"/p/{panel_id}", {**form, "return_code": "AAAA-AAAA"}).status_code == 403
    other = panel_of(crowd, job_id)
    assert thief.post(f"/p/{other}", form).status_code == 403  # nor by another panel of the same provider
    first.post("/logout")
    first.get(f"/p/{panel_id}?PROLIFIC_PID=abc")
    assert first.post(f"/p/{panel_id}", form).url.path == f"/jobs/{job_id}"  # the first browser is known again
    own, _ = enter(crowd, panel_id, "abc")
    typed = code.group(1).lower().replace("-", " ")
    assert own.post(f"/p/{panel_id}", {**form, "return_code": typed}).url.path == f"/jobs/{job_id}"
    assert code.group(1) in crowd.browser("manager").get(f"/manage/jobs/{job_id}/panels").text  # for who lost it


def test_guesses_of_a_return_code_are_few(crowd: Study) -> None:
    panel_id = panel_of(crowd, crowd.jobs["crowd"])
    enter(crowd, panel_id, "abc")
    thief, _ = enter(crowd, panel_id, "abc")
    form = {"PROLIFIC_PID": "abc", "return_code": "AAAA-AAAA"}
    statuses = [thief.post(f"/p/{panel_id}", form).status_code for _ in range(12)]
    assert statuses == [403] * 8 + [429] * 4


def test_a_rater_from_a_panel_makes_no_tokens_and_has_no_second_factor(crowd: Study) -> None:
    rater, _ = enter(crowd, panel_of(crowd, crowd.jobs["crowd"]), "abc")
    assert "Create a token" not in rater.get("/me").text
    assert rater.post("/me/tokens", {"name": "mine"}).status_code == 403
    assert rater.post("/me/second-factor", {"password": ""}).status_code == 422
    with crowd.store.write() as tx, pytest.raises(Forbidden):
        credentials.make_token(tx, people.named(tx, "prolific abc").person_id)


@pytest.mark.parametrize("label", ["error", "ok"])
def test_the_pages_after_gold_right_or_missed_and_after_work_are_the_same(bare: Study, label: str) -> None:
    job_id, browser = bare.write(crowd_job, {"gold": {"least_seen": 50}, "page": 2}), bare.browser("worker")
    path = begin(browser, job_id)
    pages: dict[bool, set[str]] = {True: set(), False: set()}
    for _ in range(6):
        was_gold = is_gold(bare, path)
        path = answer(browser, path, {"label": label}).url.path
        page = masked(browser.get(path).text, job_id) + masked(browser.get(f"/jobs/{job_id}").text, job_id)
        pages[was_gold].add(re.sub(r'(?s)<div class="passage".*?</div>', "", page))
    assert pages[True] == pages[False]
    assert all("Undo your last answer" in page for page in pages[True])
