"""`grater study decide, sample, design, job, evaluate, report`: the walk of the architecture, as a person types it.

The systems are files of edits, so no model is needed; the essays are those of `tests.annotate.study.files`, and of
their eleven prepositions `careful` flags one and `eager` three.  Then `adjudicate`, `seat`, `hand-over`, `review` and
`invite --back`, where two raters have said `error` to everything, and one of them marked an essay.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from grater.annotate import invitations, people, status
from grater.annotate.importing import import_files
from grater.annotate.plans import NewJob, add_job
from grater.annotate.store import open_store
from grater.annotate.tables import decision_columns
from tests.annotate.study.files import write_essays, write_items, write_text
from tests.annotate.study.systems import write_systems, write_verdicts
from tests.annotate.study.test_export import work
from tests.cli.running import Capture, Ran, grater


@pytest.fixture
def systems(tmp_path: Path) -> list[str]:
    return write_systems(tmp_path)


@pytest.fixture
def study(tmp_path: Path, capsys: Capture, systems: list[str]) -> Path:
    """A study of three essays on which two systems have decided."""
    path = tmp_path / "study.db"
    assert grater(capsys, "study", "new", path, "--name", "Prepositions").status == 0
    assert grater(capsys, "study", "import", path, write_essays(tmp_path)).status == 0
    flags = [word for system in systems for word in ("--system", system)]
    assert grater(capsys, "study", "decide", path, *flags).status == 0
    return path


@pytest.fixture
def judged(study: Path, tmp_path: Path, capsys: Capture) -> Path:
    """The same, every preposition judged by three of the crowd and two experts."""
    items = prepositions(study)
    for group, n_raters in (("crowd", 3), ("expert", 2)):
        file = write_verdicts(tmp_path / f"{group}.csv", items, n_raters=n_raters, group=group)
        ran = grater(capsys, "study", "import", study, "--judgments", file, "--job", group)
        assert ran.status == 0, ran.err
    return study


def prepositions(study: Path) -> list[str]:
    with open_store(study) as store, store.read() as tx:
        return decision_columns(tx, ["prep"])["item"].unique().sort().to_list()


def result_of(ran: Ran) -> Any:
    assert (ran.status, ran.err) == (0, "")
    return json.loads(ran.out)


def test_decisions_say_what_was_done_and_stay(study: Path, capsys: Capture, systems: list[str]) -> None:
    ran = grater(capsys, "study", "decide", study, "--system", systems[0])
    assert (ran.status, ran.out) == (0, "")
    assert "1 flagged, 0 new decisions" in ran.err
    assert f"next: grater job new {study} --design sampling --system careful" in ran.err
    [done] = result_of(grater(capsys, "study", "decide", study, "--system", systems[1], "--json"))
    assert (done["system"], done["flagged"], done["new"]) == ("eager", 3, 0)
    other = systems[1].replace("eager=", "careful=")
    ran = grater(capsys, "study", "decide", study, "--system", other)
    assert (ran.status, ran.out) == (2, "")
    assert "2 flags, 2 types, 2 suggestions differ; nothing was changed" in ran.err
    assert ran.err.count("\n") == 1
    renamed = f"careful-2={other.partition('=')[2]}"
    assert grater(capsys, "study", "decide", study, "--system", renamed).status == 0


def test_a_system_from_outside_decides_on_items(
    study: Path, tmp_path: Path, capsys: Capture, systems: list[str]
) -> None:
    places = write_text(tmp_path / "nouns.csv", "item,essay,start,end,kind,target", "n1,e0,17,20,noun,bus")
    assert grater(capsys, "study", "import", study, "--items", places).status == 0
    other = systems[0].replace("careful=", "nouns=")
    [done] = result_of(grater(capsys, "study", "decide", study, "--system", other, "--kind", "noun", "--json"))
    assert (done["items"], done["flagged"]) == (1, 0)
    ran = grater(capsys, "study", "decide", study, "--system", other, "--kind", "verb")
    assert (ran.status, ran.err.count("\n")) == (2, 1)
    assert "its kinds: noun, prep, prep-missing" in ran.err


def test_samples_repeat_and_are_joined_by_a_second_system(study: Path, capsys: Capture) -> None:
    args = ("study", "sample", study, "--system", "eager", "--n", 6, "--flagged", 2, "--json")
    first = result_of(grater(capsys, *args))
    assert (first["sample"], first["items"], len(first["to_judge"])) == ("sample", 6, 6)
    assert set(first["to_judge"]) <= set(prepositions(study))
    assert result_of(grater(capsys, *args)) == first
    ran = grater(capsys, "study", "sample", study, "--system", "eager", "--n", 7)
    assert (ran.status, ran.err.count("\n")) == (2, 1)
    assert "another sample called 'sample'" in ran.err
    grater(capsys, "study", "sample", study, "--system", "eager", "--n", 6)
    ran = grater(capsys, "study", "sample", study, "--system", "careful", "--add-to", "sample")
    assert ran.status == 0
    assert ran.err.startswith("sample+careful: ")
    assert f"next: grater job new {study} --task usage --sample sample+careful" in ran.err


def test_a_job_over_a_sample_asks_only_what_nobody_judged(study: Path, tmp_path: Path, capsys: Capture) -> None:
    left = result_of(grater(capsys, "study", "sample", study, "--system", "eager", "--n", 6, "--json"))["to_judge"]
    job = ("job", "new", study, "--task", "usage", "--sample", "sample", "--json")
    assert result_of(grater(capsys, *job))["units"] == 6
    file = write_verdicts(tmp_path / "some.csv", left[:2])
    grater(capsys, "study", "import", study, "--judgments", file)
    assert result_of(grater(capsys, *job, "--name", "again"))["units"] == 4
    everything = write_verdicts(tmp_path / "all.csv", left)
    grater(capsys, "study", "import", study, "--judgments", everything)
    ran = grater(capsys, *job, "--name", "third")
    assert (ran.status, ran.out) == (2, "")
    assert "every item of the sample has already been judged" in ran.err


@pytest.mark.parametrize(
    ("order", "task", "units", "judgments"),
    [
        (("sampling", "--system", "eager", "--n", 5), "usage", 5, 2),
        (("exhaustive",), "usage", 11, 2),
        (("verification", "--system", "eager"), "verify", 3, 1),
        (("crowd-error", "--n", 4), "error", 4, 20),
        (("cloze", "--n", 3), "cloze", 3, 2),
        (("choice", "--system", "eager"), "choice", 3, 2),
        (("marking",), "marking", 3, 2),
    ],
)
def test_a_design_is_a_job_with_the_sizes_of_its_paper(
    study: Path, capsys: Capture, order: tuple[Any, ...], task: str, units: int, judgments: int
) -> None:
    args = ("job", "new", study, "--design", *order, "--json")
    made = result_of(grater(capsys, *args))
    assert (made["job"], made["task"], made["units"], made["judgments"]) == (order[0], task, units, judgments)
    assert result_of(grater(capsys, *args)) == made


def test_another_order_of_the_same_name_is_refused(study: Path, capsys: Capture) -> None:
    assert grater(capsys, "job", "new", study, "--design", "marking").status == 0
    ran = grater(capsys, "job", "new", study, "--design", "marking", "--n", 1)
    assert (ran.status, ran.err.count("\n")) == (2, 1)
    assert "choose another name" in ran.err
    assert grater(capsys, "job", "new", study, "--design", "marking", "--n", 1, "--name", "one").status == 0


def test_judged_systems_are_scored_and_a_sample_speaks_for_the_whole_corpus(judged: Path, capsys: Capture) -> None:
    found = json.loads(grater(capsys, "study", "evaluate", judged, "--json").out)
    assert [system["system"] for system in found["systems"]] == ["careful", "eager"]
    # of eleven prepositions every third, four in all, is an error for the majority; gaps were judged by nobody
    assert {sum(system["counts"][cell] for cell in ("hit", "miss")) for system in found["systems"]} == {4}
    assert "precision" in grater(capsys, "study", "evaluate", judged).out
    assert "next: see the results: grater study report" in grater(capsys, "study", "status", judged).err
    assert grater(capsys, "study", "verify", judged).status == 0
    grater(capsys, "study", "sample", judged, "--system", "eager", "--n", 8)
    found = json.loads(grater(capsys, "study", "evaluate", judged, "--sample", "sample", "--json").out)
    system = next(each for each in found["systems"] if each["system"] == "eager")
    assert system["counts"]["hit"] + system["counts"]["false_alarm"] == pytest.approx(3)


def test_the_report_of_a_study_has_every_part_that_it_can_fill(judged: Path, tmp_path: Path, capsys: Capture) -> None:
    grater(capsys, "study", "sample", judged, "--system", "eager", "--n", 8)
    args = ("study", "report", judged, "--out", tmp_path / "report", "--figures", "svg")
    ran = grater(capsys, *args)
    assert (ran.status, ran.out) == (0, "")
    assert f"the report is {tmp_path / 'report' / 'report.html'}" in ran.err
    page = (tmp_path / "report" / "report.html").read_text("utf-8")
    for part in ("corpus", "experts", "agreement", "raters-needed", "systems", "bins", "effort"):
        assert f'id="{part}"' in page, part
    written = json.loads(grater(capsys, *args, "--json").out)
    assert written["report"] == str(tmp_path / "report" / "report.html")
    assert written["report"] in written["files"]
    assert (tmp_path / "report" / "report.html").read_text("utf-8") == page


@pytest.mark.usefixtures("study")
def test_wrong_use_is_one_line(tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    grater(capsys, "study", "new", "empty.db")
    for args, message in (
        ("study decide empty.db --system prep-lm", "has no essays yet"),
        ("study decide study.db --system egaer", "unknown system 'egaer'"),
        ("study sample study.db --system egaer --n 3", "'egaer'"),
        ("study sample study.db --system eager --n 3 --kind article", "no decisions on items of kind"),
        ("study sample study.db --system careful --add-to smple", "sample"),
        ("job new study.db --design smapling", "Did you mean 'sampling'"),
        ("job new study.db --design choice", "expected its name, found careful, eager"),
        ("job new study.db --design constructions", "expected nouns with 30 phrases or more"),
        ("study evaluate study.db", "no judgments with verdicts"),
        ("study evaluate study.db --sample none", "unknown sample 'none'"),
        ("job new study.db --task usage --sample none", "unknown sample 'none'"),
        ("study report study.db --figures gif", "gif"),
    ):
        ran = grater(capsys, *args.split())
        assert (ran.status, ran.out) == (2, "")
        assert message in ran.err
        assert ran.err.count("\n") == 1


@pytest.fixture
def alike(tmp_path: Path) -> Path:
    """Two raters have said `error` to everything, and one of them marked an essay."""
    path = tmp_path / "study.db"
    with status.new_study(path) as store:
        import_files(store, corpora=[write_essays(tmp_path)], items=[write_items(tmp_path)])
        add_job(store, NewJob(name="errors", task="error", judgments=2, item_ids=("one", "two")))
        add_job(store, NewJob(name="marks", task="marking", essay_ids=("e0",)))
        with store.write() as tx:
            people.add(tx, name="Olga", role="owner")
            ids = [people.add(tx, name=name, role="annotator").person_id for name in ("Ann", "Bob")]
        for person_id in ids:
            while work(store, "errors", person_id):
                pass
        same = '[{"start": 0, "end": 2, "quote": "We", "tag": "Pform", "replacements": ["We"], "comment": ""}]'
        work(store, "marks", ids[0], edits=same)
    return path


def test_clear_cases_are_accepted_or_decided_by_a_table(alike: Path, tmp_path: Path, capsys: Capture) -> None:
    listed = grater(capsys, "study", "adjudicate", alike, "--job", "errors")
    assert listed.status == 0
    assert listed.out.count("error 2") == 2
    assert "2 left, raters differ on 0" in listed.err
    table = write_text(tmp_path / "gold.csv", "item,label", "one,ok")
    done = grater(capsys, "study", "adjudicate", alike, table, "--job", "errors", "--as", "Olga", "--json")
    assert json.loads(done.out)["decided"] == 1
    done = grater(capsys, "study", "adjudicate", alike, "--job", "errors", "--accept", "unanimous", "--json")
    assert json.loads(done.out) == {"decided": 1, "waiting": []}
    assert grater(capsys, "study", "verify", alike).status == 0


def test_seats_links_back_and_what_is_handed_over(alike: Path, capsys: Capture) -> None:
    with open_store(alike) as store:
        add_job(store, NewJob(name="named", task="error", item_ids=("one", "two"), annotators=("Ann",)))
    moved = grater(capsys, "people", "hand-over", alike, "Ann", "Bob", "--job", "named", "--json")
    assert json.loads(moved.out) == {"job": "named", "from": "Ann", "to": "Bob", "units": 2}
    again = grater(capsys, "people", "hand-over", alike, "Ann", "Bob", "--job", "named")
    assert (again.status, again.out) == (2, "")
    assert "'Ann' has no units left" in again.err
    link = grater(capsys, "people", "invite", alike, "--back", "Olga", "--url", "https://rate.example")
    assert link.out.startswith("https://rate.example/join/")
    assert "as owner" in link.err
    with open_store(alike) as store, store.read() as tx:
        invitation = invitations.find(tx, link.out.strip().rpartition("/")[2])
        assert invitation is not None
        assert invitation.person_id == people.named(tx, "Olga").person_id
    made = json.loads(grater(capsys, "people", "seat", alike, "Ann", "Bob", "--name", "The pair", "--json").out)
    assert (made["name"], made["role"], made["members"]) == ("The pair", "annotator", ["Ann", "Bob"])
    with open_store(alike) as store, store.read() as tx:
        assert people.named(tx, "The pair").kind == "joint"


def test_odd_marks_are_queued_once_and_new_instructions_pause_a_job(
    alike: Path, capsys: Capture, tmp_path: Path
) -> None:
    first, second = (grater(capsys, "job", "review", alike, "marks", "--json") for _ in range(2))
    assert [json.loads(each.out)["findings"] for each in (first, second)] == [1, 0]
    words = write_text(tmp_path / "new.md", "# Look twice")
    assert grater(capsys, "job", "pause", alike, "errors").status == 0
    done = grater(capsys, "job", "guidelines", alike, "errors", words, "--json")
    assert json.loads(done.out) == {"job": "errors", "state": "paused", "guidelines": 2}
    gone = grater(capsys, "job", "guidelines", alike, "errors", tmp_path / "gone.md")
    assert (gone.status, gone.err.count("\n")) == (2, 1)
