"""`grater study decide, sample, design, job, evaluate, report`: the walk of the architecture, as a person types it.

The systems are files of edits, so no model is needed; the essays are those of `tests.annotate.study.files`, and of
their eleven prepositions `careful` flags one and `eager` three.  Then `adjudicate`, `seat`, `hand-over`, `review` and
`invite --back`, where two raters have said `error` to everything, and one of them marked an essay.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from grater.annotate import invitations, people, status
from grater.annotate.importing import import_files
from grater.annotate.plans import NewJob, add_job
from grater.annotate.store import open_store
from grater.annotate.tables import decision_columns
from tests.annotate.study.files import write_essays, write_items, write_text
from tests.annotate.study.systems import write_systems, write_verdicts
from tests.annotate.study.test_export import work
from tests.cli.running import as_json, invoked, refused


@pytest.fixture(autouse=True)
def in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def systems() -> list[str]:
    return write_systems(Path())


@pytest.fixture
def study(systems: list[str]) -> None:
    """A study of three essays on which two systems have decided."""
    invoked("study new study.db --name Prepositions")
    invoked("study import study.db", write_essays(Path()))
    invoked("study decide study.db", *(word for system in systems for word in ("--system", system)))


@pytest.fixture
def judged(study: None) -> None:  # noqa: ARG001
    """The same, every preposition judged by three of the crowd and two experts."""
    items = prepositions()
    for group, n_raters in (("crowd", 3), ("expert", 2)):
        file = write_verdicts(Path(f"{group}.csv"), items, n_raters=n_raters, group=group)
        invoked("study import study.db --job", group, "--judgments", file)


def prepositions() -> list[str]:
    with open_store("study.db") as store, store.read() as tx:
        return decision_columns(tx, ["prep"])["item"].unique().sort().to_list()


@pytest.mark.usefixtures("study")
def test_decisions_say_what_was_done_and_stay(systems: list[str]) -> None:
    ran = invoked("study decide study.db --system", systems[0])
    assert ran.stdout == ""
    assert "1 flagged, 0 new decisions" in ran.stderr
    assert "next: grater job new study.db --design sampling --system careful" in ran.stderr
    [done] = as_json("study decide study.db --system", systems[1])
    assert (done["system"], done["flagged"], done["new"]) == ("eager", 3, 0)
    other = systems[1].replace("eager=", "careful=")
    line = refused("study decide study.db --system", other)
    assert "2 flags, 2 types, 2 suggestions differ; nothing was changed" in line
    invoked("study decide study.db --system", other.replace("careful=", "careful-2="))


@pytest.mark.usefixtures("study")
def test_a_system_from_outside_decides_on_items(systems: list[str]) -> None:
    write_text(Path("nouns.csv"), "item,essay,start,end,kind,target", "n1,e0,17,20,noun,bus")
    invoked("study import study.db --items nouns.csv")
    decide = f"study decide study.db --system {systems[0].replace('careful=', 'nouns=')} --kind"
    [done] = as_json(decide, "noun")
    assert (done["items"], done["flagged"]) == (1, 0)
    assert "its kinds: noun, prep, prep-missing" in refused(decide, "verb")


@pytest.mark.usefixtures("study")
def test_samples_repeat_and_are_joined_by_a_second_system() -> None:
    command = "study sample study.db --system eager --n"
    first = as_json(command, 6, "--flagged", 2)
    assert (first["sample"], first["items"], len(first["to_judge"])) == ("sample", 6, 6)
    assert set(first["to_judge"]) <= set(prepositions())
    assert as_json(command, 6, "--flagged", 2) == first
    assert "another sample called 'sample'" in refused(command, 7)
    said = invoked("study sample study.db --system careful --add-to sample").stderr
    assert said.startswith("sample+careful: ")
    assert "next: grater job new study.db --task usage --sample sample+careful" in said


@pytest.mark.usefixtures("study")
def test_a_job_over_a_sample_asks_only_what_nobody_judged() -> None:
    left = as_json("study sample study.db --system eager --n 6")["to_judge"]
    job = "job new study.db --task usage --sample sample"
    assert as_json(job)["units"] == 6
    invoked("study import study.db --judgments", write_verdicts(Path("some.csv"), left[:2]))
    assert as_json(job, "--name", "again")["units"] == 4
    invoked("study import study.db --judgments", write_verdicts(Path("all.csv"), left))
    assert "every item of the sample has already been judged" in refused(job, "--name", "third")


@pytest.mark.usefixtures("study")
@pytest.mark.parametrize(
    ("design", "task", "units", "judgments"),
    [
        ("sampling --system eager --n 5", "usage", 5, 2),
        ("exhaustive", "usage", 11, 2),
        ("verification --system eager", "verify", 3, 1),
        ("crowd-error --n 4", "error", 4, 20),
        ("cloze --n 3", "cloze", 3, 2),
        ("choice --system eager", "choice", 3, 2),
        ("marking", "marking", 3, 2),
    ],
)
def test_a_design_is_a_job_with_the_sizes_of_its_paper(design: str, task: str, units: int, judgments: int) -> None:
    made = as_json("job new study.db --design", *design.split())
    name = design.split()[0]
    assert (made["job"], made["task"], made["units"], made["judgments"]) == (name, task, units, judgments)
    assert as_json("job new study.db --design", *design.split()) == made
    assert "choose another name" in refused("job new study.db --seed 2 --design", *design.split())


@pytest.mark.usefixtures("judged")
def test_judged_systems_are_scored_reported_and_a_sample_speaks_for_the_whole_corpus() -> None:
    found = as_json("study evaluate study.db")
    assert [system["system"] for system in found["systems"]] == ["careful", "eager"]
    # of eleven prepositions every third, four in all, is an error for the majority; gaps were judged by nobody
    assert {sum(system["counts"][cell] for cell in ("hit", "miss")) for system in found["systems"]} == {4}
    assert "precision" in invoked("study evaluate study.db").stdout
    assert "next: see the results: grater study report" in invoked("study status study.db").stderr
    invoked("study verify study.db")
    invoked("study sample study.db --system eager --n 8")
    found = as_json("study evaluate study.db --sample sample")
    system = next(each for each in found["systems"] if each["system"] == "eager")
    assert system["counts"]["hit"] + system["counts"]["false_alarm"] == pytest.approx(3)
    report = "study report study.db --out report --figures svg"
    ran = invoked(report)
    assert (ran.stdout, "the report is report/report.html" in ran.stderr) == ("", True)
    page = Path("report/report.html").read_text("utf-8")
    for part in ("corpus", "experts", "agreement", "raters-needed", "systems", "bins", "effort"):
        assert f'id="{part}"' in page, part
    written = as_json(report)
    assert written["report"] == "report/report.html"
    assert written["report"] in written["files"]
    assert Path("report/report.html").read_text("utf-8") == page


@pytest.mark.usefixtures("study")
def test_wrong_use_is_one_line() -> None:
    invoked("study new empty.db")
    for command, message in (
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
        assert message in refused(command)


@pytest.fixture
def alike() -> None:
    """Two raters have said `error` to everything, and one of them marked an essay."""
    with status.new_study("study.db") as store:
        import_files(store, corpora=[write_essays(Path())], items=[write_items(Path())])
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


@pytest.mark.usefixtures("alike")
def test_clear_cases_are_accepted_or_decided_by_a_table() -> None:
    adjudicate = "study adjudicate study.db --job errors"
    listed = invoked(adjudicate)
    assert listed.stdout.count("error 2") == 2
    assert "2 left, raters differ on 0" in listed.stderr
    table = write_text(Path("gold.csv"), "item,label", "one,ok")
    assert as_json(adjudicate, table, "--as", "Olga")["decided"] == 1
    assert as_json(adjudicate, "--accept", "unanimous") == {"decided": 1, "waiting": []}
    invoked("study verify study.db")


@pytest.mark.usefixtures("alike")
def test_seats_links_back_and_what_is_handed_over() -> None:
    with open_store("study.db") as store:
        add_job(store, NewJob(name="named", task="error", item_ids=("one", "two"), annotators=("Ann",)))
    hand_over = "people hand-over study.db Ann Bob --job named"
    assert as_json(hand_over) == {"job": "named", "from": "Ann", "to": "Bob", "units": 2}
    assert "'Ann' has no units left" in refused(hand_over)
    link = invoked("people invite study.db --back Olga --url https://rate.example")
    assert link.stdout.startswith("https://rate.example/join/")
    assert "as owner" in link.stderr
    made = as_json("people seat study.db Ann Bob --name", "The pair")
    assert (made["name"], made["role"], made["members"]) == ("The pair", "annotator", ["Ann", "Bob"])
    with open_store("study.db") as store, store.read() as tx:
        invitation = invitations.find(tx, link.stdout.strip().rpartition("/")[2])
        assert invitation is not None
        assert invitation.person_id == people.named(tx, "Olga").person_id
        assert people.named(tx, "The pair").kind == "joint"


@pytest.mark.usefixtures("alike")
def test_odd_marks_are_queued_once_and_new_instructions_pause_a_job() -> None:
    assert [as_json("job review study.db marks")["findings"] for _ in range(2)] == [1, 0]
    write_text(Path("new.md"), "# Look twice")
    invoked("job pause study.db errors")
    done = as_json("job guidelines study.db errors new.md")
    assert done == {"job": "errors", "state": "paused", "guidelines": 2}
    assert "gone.md" in refused("job guidelines study.db errors gone.md")
