"""`grater demo`: the whole loop, into a folder of one's own; twice is the same as once."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from grater.annotate import credentials, jobs, judgments, messages, money, people, progress, standing, trust
from grater.annotate.marks import has_suggestions
from grater.annotate.store import Store, open_store
from grater.annotate.writing import public_pages
from grater.demo import living, sample_path
from grater.demo.life import CROWD, ESSAYS
from grater.demo.study import EARLIER, fresh_study
from tests.cli.running import Capture, as_json, grater, invoked, refused
from tests.conftest import Demo

pytest.importorskip("vl_convert")
PasswordHasher = pytest.importorskip("argon2").PasswordHasher

FILES = {
    *("essays.jsonl", "essays.sgml", "essays.m2", "stats.json", "study.db"),
    *("items.csv", "decisions.csv", "judgments.csv", "crowd.csv", "crowd-without-gold.csv", "gold.csv"),
    *("sample-judgments.csv", "sample.csv", "sample.meta.json", "cloze.csv", "cloze-words.csv", "choice.csv"),
    *("nouns.csv", "constructions.csv", "rankings.csv", "marks.csv", "fates.csv", "remaining.csv", "report"),
}
SECTIONS = (
    *("corpus", "experts", "agreement", "raters-needed", "raters-needed-without-gold", "raters", "systems", "bins"),
    *("thresholds", "difficulty", "cloze", "choice", "constructions", "suggestions", "effort", "preference"),
    *("correctors", "recall", "remaining"),
)


def test_the_demo_is_the_whole_loop_and_has_an_earlier_version_of_a_system(demo: Demo) -> None:
    out = demo.folder
    assert {path.name for path in out.iterdir()} >= FILES
    assert "flags errors with precision" in demo.out
    assert f"the report is {out / 'report' / 'report.html'}" in demo.err
    assert "simulated" in demo.err
    page = (out / "report" / "report.html").read_text("utf-8")
    for name in SECTIONS:
        assert f'<section id="{name}"' in page, name
    assert "are simulated" in page
    assert "Accuracy on gold of" in page
    assert list((out / "report" / "figures").glob("*.svg"))
    assert not list((out / "report" / "figures").glob("*.png"))
    assert as_json("study status", out / "study.db")["essays"] == 76
    invoked("study verify", out / "study.db")
    assert (out / "essays.jsonl").read_bytes() == sample_path().read_bytes()
    page = (out / "report" / "report.md").read_text("utf-8")
    assert re.search(rf"^\| {EARLIER} \| \.\d+ \[", page, re.M)
    assert EARLIER not in (out / "decisions.csv").read_text("utf-8")


def test_a_report_on_one_job_counts_its_annotators_and_no_pay(demo: Demo, tmp_path: Path) -> None:
    # the living part of the demo adds marks of other people, adjudicated marks and paid raters
    options = ("--out", tmp_path, demo.folder / "study.db")
    written = as_json("study report --job annotators --figures svg", *options)
    page = (tmp_path / "report.md").read_text("utf-8")
    assert "2 annotators, 76 essays read by two or more of them" in page
    assert "they agree with kappa .624 [" in page
    assert "7.9 [" in page
    assert "EUR" not in page
    assert "USD" not in page
    assert all(f"**Warning:** {line}" in page for line in written["warnings"])


@pytest.fixture(scope="module")
def study(demo: Demo) -> Iterator[Store]:
    with open_store(demo.folder / "study.db") as store:
        yield store


def test_people_of_the_demo_work_for_pay_talk_dispute_and_comment(study: Store) -> None:
    with study.read() as tx:
        job = jobs.named(tx, CROWD)
        states = {people.get(tx, each.person_id).name: each.state for each in standing.of_job(tx, job.job_id)}
        worked = {people.get(tx, each.person_id).name for each in progress.by_rater(tx, job.job_id)}
        far = progress.counts_of(tx, job.job_id)
        paid = {payment.state for payment in money.payments_of(tx, job.job_id)}
    assert worked == {rater.name for rater in living.RATERS}
    assert [name for name, state in states.items() if state == "ejected"] == ["Quentin Moreau"]
    assert 0.6 * far.wanted < far.valid < far.wanted
    assert {"paid", "owed"} <= paid
    with study.read() as tx:
        asked = [message.text for message in messages.unread(tx, job.job_id)]
        assert len(messages.reviews_of_job(tx, job.job_id)) == len(living.REVIEWS)
        assert [each.state for each in trust.disputes_of_job(tx, job.job_id)] == ["open"]
        submitted = judgments.by_submission(tx, jobs.named(tx, ESSAYS).job_id)
        marked = [answer for _, answers in submitted for answer in answers]
        assert has_suggestions(tx)
        for name, by in ((CROWD, "label"), (ESSAYS, "payload")):
            done = progress.finished_units(tx, jobs.named(tx, name).job_id, by=by)
            assert any(each.is_decided for each in done), "adjudication is under way"
            assert any(each.differs and not each.is_decided for each in done)
    assert asked == [living.MESSAGES[-1][1]]  # the others have been answered
    assert any(edit["comment"] for answer in marked for edit in answer.payload["edits"])  # type: ignore[index,union-attr,call-overload]


def test_visitors_are_told_how_to_log_in_and_nobody_else_is(demo: Demo, study: Store) -> None:
    login = demo.folder / "login.txt"
    assert login.stat().st_mode & 0o077 == 0
    words = login.read_text("utf-8")
    password = words.splitlines()[0].rpartition(" ")[2]
    with study.read() as tx:
        assert PasswordHasher().verify(people.named(tx, living.OWNER).password_hash, password)
        assert public_pages(tx).check_page
    assert "at /check" in words
    assert password not in demo.err
    assert f"--serve; names and password: {login}" in demo.err


def test_a_demo_that_is_there_is_just_served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    served: list[str] = []
    monkeypatch.setattr("grater.cli.study.files.serve", served.append)
    fresh_study(tmp_path)
    (tmp_path / "login.txt").write_text("Password for everyone: swordfish\n")
    assert "swordfish" in invoked("demo --serve --out", tmp_path).stderr
    assert served == [str(tmp_path / "study.db")]


@pytest.mark.slow
def test_a_demo_run_again_gives_the_same_tables(demo: Demo, tmp_path: Path) -> None:
    out = tmp_path / "demo"
    demo.copy_to(out)
    tables = {name: (out / name).read_bytes() for name in FILES if name.endswith(".csv")}
    assert as_json("demo --figures svg --out", out)["report"] == str(out / "report" / "report.html")
    assert {name: (out / name).read_bytes() for name in tables} == tables


def test_a_demo_says_in_one_line_what_is_in_its_way(capsys: Capture, tmp_path: Path) -> None:
    (tmp_path / "demo" / "study.db").mkdir(parents=True)
    ran = grater(capsys, "demo", "--out", tmp_path / "demo", "--figures", "svg")
    assert ran.status == 2
    assert ran.err.splitlines()[-1].startswith(f"{tmp_path / 'demo' / 'study.db'}: expected a file or nothing")
    assert "unknown type of figure 'gif'" in refused("demo --figures gif --out", tmp_path / "other")
    assert not (tmp_path / "other").exists()


def test_a_demo_leaves_alone_what_people_made(tmp_path: Path) -> None:
    (tmp_path / "judgments.csv").write_text("mine")
    line = refused("demo --out", tmp_path)
    assert "judgments.csv: is not part of a demo and would be lost" in line
    assert [path.name for path in tmp_path.iterdir()] == ["judgments.csv"]
    (tmp_path / "judgments.csv").unlink()
    invoked("study new --name Mine", tmp_path / "study.db")
    line = refused("demo --out", tmp_path)
    assert "study.db: this study is not a demo; open it with grater serve" in line
    assert as_json("study status", tmp_path / "study.db")["study"] == "Mine"


def test_a_study_of_a_demo_that_somebody_has_visited_is_kept(tmp_path: Path) -> None:
    for has_visited in (False, True):
        fresh_study(tmp_path)  # again where nobody has logged in
        with open_store(tmp_path / "study.db") as store, store.write() as tx:
            rater = people.add(tx, name=living.RATERS[0].name, role="worker", password_hash="x")
            if has_visited:
                credentials.start_session(tx, rater.person_id, hours=1)
    assert "study.db: people have used this demo" in refused("demo --out", tmp_path)
