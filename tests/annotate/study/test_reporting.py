"""Reports of studies: who is named, what they cost, and, from the papers' tables, the papers' numbers."""

from __future__ import annotations

import json
import re
from pathlib import Path

import polars as pl
import pytest

from grater.annotate import adjudication, jobs, judgments, people, units
from grater.annotate.importing import import_files
from grater.annotate.money import job_costs
from grater.annotate.plans import NewJob, add_job
from grater.annotate.protocol import set_terms
from grater.annotate.reporting import study_inputs
from grater.annotate.store import Store
from grater.annotate.submissions import hand_in, take_desk
from grater.annotate.tasks.task import Answer
from grater.model import as_annotated
from grater.reporting.build import Inputs, build
from grater.reporting.document import Report, Section
from grater.tables import write_table
from tests.annotate.store.worlds import read, write
from tests.annotate.study.files import write_decisions, write_essays, write_items, write_text
from tests.measure.agreement.tables import TABLE_3
from tests.measure.agreement.test_constructions import ANSWERS, TABLE_5
from tests.measure.agreement.test_constructions import _items as construction_items


@pytest.fixture
def judged(store: Store, tmp_path: Path) -> Store:
    rows = [f"{item},{answer}" for item in ("one", "two") for answer in ("Ann,error", "Bob,ok")]
    table = write_text(tmp_path / "j.csv", "item,rater,label", *rows)
    import_files(store, corpora=[write_essays(tmp_path)], items=[write_items(tmp_path)], judgments=[table])
    return store


def test_raters_go_by_pseudonyms_unless_names_were_asked_for(judged: Store) -> None:
    for is_named in (True, False):
        report = build(read(judged, study_inputs, names=is_named))
        [table] = [sheet for sheet in report.sheets if sheet.name == "raters"]
        assert {row[0] for row in table.rows} & {"Ann", "Bob"} == ({"Ann", "Bob"} if is_named else set())


def test_a_report_on_a_job_of_marked_essays_tells_of_its_marks(store: Store, tmp_path: Path) -> None:
    import_files(store, corpora=[write_essays(tmp_path)])
    job = add_job(store, NewJob(name="essays", task="marking"))
    rater = write(store, people.add, name="Ann", role="annotator")
    desk = take_desk(store, job_id=job.job_id, person_id=rater.person_id)
    word = desk.unit.unit.essay.text.split()[0]
    mark = {"start": 0, "end": len(word), "quote": word, "tag": "Mec", "replacements": ["This"], "comment": ""}
    hand_in(store, desk, {"edits": [json.dumps([mark])]}, seconds=9)
    report = build(read(store, study_inputs, job_names=["essays"]))
    assert (section(report, "effort").title, section(report, "effort").words) == ("Protocol", ())
    words = section(report, "corpus").words[0]
    assert words.startswith("1 essay with")
    assert "edits per 100 tokens" in words


USAGE = {"Extraneous": "0", "Wrong-Choice": "1", "OK": "2"}
"""The labels of T&C 2008, Table 3, as the task `usage` has them."""


def report_of(store: Store) -> Report:
    return build(read(store, study_inputs))


def section(report: Report, name: str) -> Section:
    [found] = [each for each in report.sections if each.name == name]
    return found


def write_essay(folder: Path) -> Path:
    """One essay of 200 words, with nothing in it to be found."""
    return write_text(folder / "e.txt", " ".join(["in"] * 200))


def write_rows(path: Path, *rows: tuple[object, ...]) -> Path:
    """Judgments: item, rater, label, group."""
    write_table(pl.DataFrame(rows, schema=["item", "rater", "label", "group"], orient="row"), path)
    return path


def printed(text: str, before: str) -> float:
    """The number that a text prints after these words, with the two digits that the papers give."""
    match = re.search(rf"{before} (\d?\.\d+)", text)
    assert match, text
    return round(float(match[1]), 2)


def test_two_raters_of_1336_prepositions(store: Store, tmp_path: Path) -> None:
    # T&C 2008, Table 3 and section 5.2: kappa .63; of 86 errors of one rater the other accepts 26, of 97 it is 37
    rows = [
        (f"{place}-{one}-{other}", rater, USAGE[label], "expert")
        for i, one in enumerate(TABLE_3.labels)
        for j, other in enumerate(TABLE_3.labels)
        for place in range(int(TABLE_3.cells[i, j]))
        for rater, label in (("R1", one), ("R2", other))
    ]
    table = write_rows(tmp_path / "table-3.csv", *rows)
    import_files(store, judgments=[table], job="trained raters", task="usage")
    found = section(report_of(store), "agreement")
    assert "2,672 judgments of 1,336 items by 2 raters" in found.words[0]
    assert printed(found.words[0], "kappa") == 0.63
    for words in ("the 86 uses", "accepts 26 (30 %)", "the 97 uses", "accepts 37 (38 %)"):
        assert words in found.figures[0].words


def test_two_raters_of_368_nouns(store: Store, tmp_path: Path) -> None:
    # Lee et al. 2009, Tables 4 and 5: kappa .55 and .60, agreement 78 % and 82 %, yes in 62.4, 51.8, 29.3, 39.2 %
    items = construction_items(368)
    write_table(items, tmp_path / "items.csv")
    rows: list[tuple[object, ...]] = []
    for stage, cells in TABLE_5.items():
        answers = [answer for answer, n in zip(ANSWERS, cells, strict=True) for _ in range(n)]
        ids = items.filter(pl.col("kind").str.contains(stage, literal=True))["item"]
        for item_id, pair in zip(ids, answers, strict=True):
            rows += [(item_id, rater, label, "expert") for rater, label in zip(("R1", "R2"), pair, strict=True)]
    table = write_rows(tmp_path / "judgments.csv", *rows)
    import_files(store, corpora=[write_essay(tmp_path)], items=[tmp_path / "items.csv"])
    import_files(store, judgments=[table], job="constructions", task="construction")
    found = section(report_of(store), "constructions")
    assert found.words[0].startswith("368 nouns")
    without, in_context = found.words[0].split("In context")
    assert (printed(without, "raters agree on"), printed(without, "kappa")) == (0.78, 0.55)
    assert (printed(in_context, "raters agree on"), printed(in_context, "kappa")) == (0.82, 0.6)
    [freedom] = [sheet for sheet in found.sheets if sheet.name == "constructions-freedom"]
    assert sorted(printed(f"yes {row[3]}", "yes") for row in freedom.rows) == [0.29, 0.39, 0.52, 0.62]
    [contrasts] = [sheet for sheet in found.sheets if sheet.name == "constructions-contrasts"]
    assert "1.71, .0872" in contrasts.rows[0][3]


def test_the_cloze_and_choice_tests(store: Store, tmp_path: Path) -> None:
    # T&C 2008, 4.2: accuracy .75 by exact match, .28 of the mismatches at least as good, together .82
    ids = [f"b{place}" for place in range(200)]
    places = [f"{item},e,{3 * n},{3 * n + 2},prep" for n, item in enumerate(ids)]
    items = write_text(tmp_path / "items.csv", "item,essay,start,end,kind", *places)
    import_files(store, corpora=[write_essay(tmp_path)], items=[items])
    agreed, differ = ids[:150], ids[150:]
    cloze = [(item, "R1", "in", "expert") for item in ids]
    cloze += [(item, "S", "in" if item in agreed else "on", "program") for item in ids]
    chosen = [
        (item, rater, "equally good" if place < 14 else "writer", "expert")
        for place, item in enumerate(differ)
        for rater in ("R1", "R2")
    ]
    for task, rows in (("cloze", cloze), ("choice", chosen)):
        import_files(store, judgments=[write_rows(tmp_path / f"{task}.csv", *rows)], job=task, task=task)
    report = report_of(store)
    assert {row[0]: row[2][:3] for row in section(report, "cloze").sheets[0].rows}["writer – S"] == ".75"
    found = section(report, "choice")
    assert printed(found.words[0], "at least as good is") == 0.28
    assert printed(found.words[1], "S has the writer’s word in") == 0.75
    assert printed(found.words[1], "an acceptable one in") == 0.82


def test_the_turn_around_of_imported_judgments_without_times_is_unknown(judged: Store, tmp_path: Path) -> None:
    effort = section(report_of(judged), "effort")
    assert effort.words == ("The judgments have no times, so the turnaround is unknown.",)
    assert effort.figures == ()
    rows = [f"{item},Cid,ok,2026-01-0{day}T00:00:00Z" for item, day in (("one", 1), ("two", 2))]
    table = write_text(tmp_path / "dated.csv", "item,rater,label,at", *rows)
    import_files(judged, judgments=[table], job="dated")
    hours = {job.name: read(judged, job_costs, job).hours for job in read(judged, jobs.all)}
    assert hours == {"j": None, "dated": 24.0}
    assert "2 judgments arrived within 24 h" in section(report_of(judged), "effort").words[0]


def test_crowd_jobs_are_compared_with_experts_with_hours_and_cost(judged: Store, tmp_path: Path) -> None:
    # T,C&M 2013, Tables 4 and 5: of two experts who differ once, and three of a crowd who are right together
    truth = {n: "error" if n % 2 else "ok" for n in range(8)}
    rows = {
        "experts": [
            f"i{n},X{expert},{'ok' if (n, expert) == (1, 2) else label},,expert"
            for n, label in truth.items()
            for expert in (1, 2)
        ],
        "crowds": [
            f"i{n},W{rater},{'ok' if n == rater else label},2026-01-01T0{rater}:00:00Z,crowd"
            for n, label in truth.items()
            for rater in (1, 3, 5)
        ],
    }
    for job, of_job in rows.items():
        table = write_text(tmp_path / f"{job}.csv", "item,rater,label,at,group", *of_job)
        import_files(judged, judgments=[table], job=job)
    pay(judged, "crowds", 5)
    report = report_of(judged)
    assert "other items like these 8" in section(report, "experts").scope
    sheets = section(report, "crowds").sheets
    matched, took = (dict(zip(sheet.columns, sheet.rows[0], strict=True)) for sheet in sheets)
    assert (matched["job"], matched["items"], matched["judgments per item"]) == ("crowds", "8", "3.0")
    assert matched["experts' kappa"].startswith(".750")  # 7 of 8 alike, half of each: (.875 - .5) / .5
    assert matched["raters needed"].startswith("3 (")  # one is wrong in one of eight, the majority never
    assert (took["raters"], took["hours"], took["cost"], took["per judgment"]) == ("3", "4.0", "1.20 EUR", "0.05 EUR")


def pay(store: Store, job: str, cents: int) -> None:
    write(store, set_terms, read(store, jobs.named, job).job_id, {"pay": {"cents": cents, "currency": "EUR"}})


def test_a_report_on_one_job_leaves_out_the_pay_protocol_and_marks_of_others(judged: Store, tmp_path: Path) -> None:
    rows = [f"{item},Cid,ok,crowd" for item in ("one", "two")]
    import_files(judged, judgments=[write_text(tmp_path / "paid.csv", "item,rater,label,group", *rows)], job="paid")
    pay(judged, "paid", 250)
    other, own = (read(judged, study_inputs, job_names=[name]) for name in ("j", "paid"))
    assert (other.cost, own.cost) == ("", "5.00 EUR"), "paid out or not yet"
    assert ({row[0] for row in other.protocol}, other.crowds and other.crowds[0].name) == ({"j"}, "j")
    assert [job.name for job in own.crowds] == ["paid"]
    protocol = {name: words for _, name, words in own.protocol}
    assert not {"gold", "restrictions"} & set(protocol), "of a job judged elsewhere nothing is claimed of either"
    assert "judged elsewhere" in protocol["task"]
    assert protocol["pay"].startswith("2.50 EUR")


def test_programs_and_adjudicated_decisions_are_no_raters_of_a_study(judged: Store, tmp_path: Path) -> None:
    # S has decisions in the study, so it is a program; `gold` is what somebody decided in the end
    import_files(judged, decisions=[write_decisions(tmp_path)])
    rows = [f"{item},{rater},error" for item in ("one", "two") for rater in ("S", "gold")]
    import_files(judged, judgments=[write_text(tmp_path / "more.csv", "item,rater,label", *rows)], job="more")
    with judged.read() as tx:
        inputs = study_inputs(tx, names=True)
        groups = {row["rater"]: row["group"] for row in judgments.table(tx, names=True)}
    assert groups == {"Ann": "crowd", "Bob": "crowd", "S": "program", "gold": "adjudicated"}
    assert set(inputs.judgments.frame["rater"].cast(str)) == {"Ann", "Bob"}
    assert set(inputs.programs.frame["rater"].cast(str)) == {"S"}
    assert "4 judgments of 2 items by 2 raters" in section(build(inputs), "agreement").words[0]


def test_marks_of_programs_and_adjudicated_marks_are_no_reading(store: Store, tmp_path: Path) -> None:
    import_files(store, corpora=[write_essays(tmp_path)])
    with store.write() as tx:
        names = [people.add(tx, name=name, role="annotator", kind=kind) for name, kind in MARKERS.items()]
    job = add_job(store, NewJob(name="essays", task="marking", annotators=tuple(MARKERS), judgments=2))
    for person in names:
        while desk := take_desk(store, job_id=job.job_id, person_id=person.person_id):
            hand_in(store, desk, {"edits": ["[]"]}, seconds=9)
    decider = names[0].person_id
    with store.write() as tx:
        for unit_id in units.ids_of_job(tx, job.job_id):
            answer = Answer(units.get(tx, unit_id).unit.items[0].item.item_id, "marked", payload={"edits": []})
            adjudication.save(tx, unit_id=unit_id, person_id=decider, answers=[answer])
    essays = read(store, study_inputs, names=True).essays
    assert all(len(essay.annotators) == 4 for essay in essays), "the file's, two here, and gold"
    assert all(len(as_annotated(essay).annotators) == 2 for essay in essays), "the file's and the person's"
    report = build(Inputs("marked", essays))
    assert report.headline[0].startswith("2 annotators, 3 essays")
    assert any("not annotators" in line and "gold" in line for line in section(report, "corpus").words)


MARKERS = {"Ann": "human", "gpt": "program"}
