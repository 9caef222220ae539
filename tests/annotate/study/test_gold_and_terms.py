"""Gold from experts, planted errors and other jobs looks like work (P5) or is refused (P4); terms and signals."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from grater.annotate import content, gold, jobs, judgments, trust, units
from grater.annotate.jobs import Job
from grater.annotate.money import job_costs, settle
from grater.annotate.plans import NewJob, add_job
from grater.annotate.programs import judge, program_job
from grater.annotate.protocol import protocol_sheet, set_terms, use_recommended_rule
from grater.annotate.raters import best, rater_lines
from grater.annotate.reporting import study_inputs
from grater.annotate.store import Store, Tx, checks, schema
from grater.annotate.systems import decide
from grater.annotate.tables import study_tables
from grater.annotate.tasks import TASKS
from grater.annotate.tasks.marking import SUGGESTIONS
from grater.annotate.terms import terms_of
from grater.annotate.work import shown_to_staff
from grater.annotate.worksheets import add_judgments
from grater.detect.systems import load_system
from grater.errors import GraterError, UsageError
from grater.model import Edit, Essay, Item, Json, Span
from grater.reporting.build import build
from grater.tables import read_judgments
from tests.annotate.store.crowds import make_crowd, statements
from tests.annotate.store.worlds import read, write
from tests.annotate.tasks.units import rng, unit_for
from tests.annotate.web import studies
from tests.annotate.web.studies import Study, served


def judged_by_experts(tx: Tx, labels: list[tuple[str, str]]) -> None:
    """An expert job over the items, `labels` by the two experts for each."""
    rows = [
        {"item": item.item_id, "rater": f"expert {n}", "label": label, "group": "expert"}
        for item, pair in zip(content.all_items(tx), labels, strict=False)
        for n, label in enumerate(pair)
    ]
    add_judgments(tx, read_judgments(pl.DataFrame(rows), name="experts"), job="experts", task="usage")


def marking_job(tx: Tx, essay: Essay, *, payload: dict[str, Json] | None = None) -> Job:
    """A job of marking one essay."""
    whole = Item(essay.essay_id, Span(0, len(essay.text)), "essay")
    content.add_essays(tx, [essay])
    content.add_items(tx, [content.study_item(whole)])
    job = jobs.add(tx, name="marking", task="marking", judgments=1)
    units.add_all(tx, job.job_id, [units.NewUnit(((whole.item_id, {}),), essay.essay_id, payload=payload or {})])
    return job


def test_items_on_which_experts_agree_become_gold_in_place_of_work(store: Store) -> None:
    crowd = make_crowd(store, n_units=4, n_gold=0, terms={})
    crowd.write(judged_by_experts, [("1", "0"), ("2", "2"), ("1", "2"), ("e", "e")])
    assert crowd.write(gold.known_gold, crowd.job, gold.GoldWanted(least=2)) == gold.MadeGold(made=3, met=0)
    found = {tuple(sorted(each.known[0].accepted)) for each in crowd.read(trust.gold_records, crowd.job_id)}
    assert found == {("error",), ("ok",)}  # 0 and 1 both come to error, 2 and e to ok
    assert len(crowd.read(units.ids_of_job, crowd.job_id, role="work")) == 1
    crowd.require_promises()


def test_an_item_that_a_rater_has_met_stays_work(store: Store) -> None:
    crowd = make_crowd(store, n_units=3, n_gold=0, terms={}, n_raters=1)
    crowd.work(n=1)
    crowd.write(judged_by_experts, [("1", "1")] * 3)
    assert crowd.write(gold.known_gold, crowd.job, gold.GoldWanted(least=2)) == gold.MadeGold(made=2, met=1)
    crowd.require_promises()


def good_essay(*planted: Edit) -> Essay:
    return Essay("letter", "She waits at the stop. He waits for her.", planted, ("us",))


def test_planted_essays_become_gold_once_and_tell_nobody_what_they_are(store: Store) -> None:
    corpus = [good_essay(Edit(Span(10, 12), ("in to",), "Wcip", "us"), Edit(Span(13, 17), ("",), "ArtOrDet", "us"))]
    with store.write() as tx:
        job = jobs.add(tx, name="marking", task="marking")
        assert gold.gold_from_planted(tx, job, corpus) == gold.MadeGold(1, 0)
        assert gold.gold_from_planted(tx, job, corpus) == gold.MadeGold(0, 1)
        (known,) = trust.gold_records(tx, job.job_id)
        (essay,) = content.all_essays(tx)
        assert checks.violations(tx) == []
    assert essay.text == "She waits in to stop. He waits for her."
    assert (essay.edits, essay.annotators) == ((), ())
    assert "letter" not in essay.essay_id
    assert known.known[0].accepted == {"10-15:Wcip", "16-16:ArtOrDet"}


def test_planted_essays_stay_out_of_the_studys_numbers(store: Store) -> None:
    planted = [good_essay(Edit(Span(10, 12), ("in",), "Wcip", "us"))]
    write(store, content.add_essays, [Essay("own", "We waited in the rain.")])
    write(store, gold.gold_from_planted, write(store, jobs.add, name="marking", task="marking"), planted)
    (done,) = decide(store, [load_system("prep-lm")])
    with store.read() as tx:
        assert (content.n_essays(tx), [essay.essay_id for essay in content.own_essays(tx)]) == (2, ["own"])
        assert done.n_items == content.n_decisions(tx) > 0
        assert {each.item.essay_id for each in content.all_items(tx, kind="prep") if each.item} == {"own"}
    other = add_job(store, NewJob(name="other", task="marking"))
    assert len(read(store, units.ids_of_job, other.job_id)) == 1


def test_errors_are_planted_for_marking_only_and_never_none(store: Store) -> None:
    with store.write() as tx:
        rating, marking = (jobs.add(tx, name=task, task=task) for task in ("error", "marking"))
        for job, edits, words in (
            (rating, [], "error: errors are planted for the task marking"),
            (marking, [], "letter: expected edits to plant"),
            (marking, [("in", "R:PREP")], "expected errors with a tag of nucle or none, found 'R:PREP'"),
            (marking, [("at", "Wcip")], "expected words other than 'at' to plant"),
        ):
            planted = [Edit(Span(10, 12), (word,), tag, "us") for word, tag in edits]
            with pytest.raises(UsageError, match=words):
                gold.gold_from_planted(tx, job, [good_essay(*planted)])


def test_what_is_known_looks_like_the_work_of_the_job(store: Store) -> None:
    """The same tags to choose from, the same words in grey: nobody can tell gold from work."""
    looks: dict[str, Json] = {"tagset": "errant", "grey": True}
    planted = [good_essay(Edit(Span(10, 12), ("in",), "R:PREP", "us"))]
    with store.write() as tx:
        job = marking_job(tx, Essay("one", "She waits."), payload={**looks, "trigram": "x"})
        assert gold.gold_from_planted(tx, job, planted) == gold.MadeGold(1, 0)
        (known,) = units.ids_of_job(tx, job.job_id, role="gold")
        assert units.get(tx, known).unit.payload == looks


def test_essays_with_known_errors_become_gold_graded_by_errors_found(store: Store) -> None:
    essay = Essay("one", "She waits in the stop.", (Edit(Span(10, 12), ("at",), "Wcip", "teacher"),), ("teacher",))
    with store.write() as tx:
        job = marking_job(tx, essay)
        assert gold.gold_from_edits(tx, job, reason="a stop is a place").made == 1
        (known,) = trust.gold_records(tx, job.job_id)
    assert known.known[0].accepted == {"10-12:Wcip"}


def test_terms_are_checked_and_the_rest_is_kept(store: Store) -> None:
    crowd = make_crowd(store, terms={"limit": 5})
    pay: dict[str, Json] = {"cents": 3, "currency": "EUR", "policy": "all", "least_hourly": 0}
    for change, terms in (({"pay": {"cents": 3}}, {"limit": 5, "pay": pay}), ({"limit": None}, {"pay": pay})):
        assert crowd.write(set_terms, crowd.job_id, change).options["crowd"] == terms
    with pytest.raises(GraterError):
        crowd.write(set_terms, crowd.job_id, {"pya": {}})


def test_the_protocol_sheet_and_table_5_say_what_was_done(store: Store) -> None:
    crowd = make_crowd(store, n_units=10, n_gold=5, judgments=1, terms={"pay": {"cents": 50}, "gold": {}, "page": 5})
    crowd.work(n=5)
    crowd.write(settle, crowd.job)
    costs, sheet = crowd.read(job_costs, crowd.job), crowd.read(protocol_sheet, crowd.job)
    assert (costs.judgments, costs.valid, costs.cents, costs.on_gold, costs.wasted) == (4, 4, 250, 50, 0)
    assert costs.per_valid == 62.5  # five units paid, four that count
    assert costs.hourly.median == 60_000.0  # 50 cents for three seconds
    assert sheet["Gold"] == "5 units, on average 1 hidden in every 5"
    assert "0.50 EUR per unit, every judgment paid" in sheet["Pay"]


def test_signals_mark_the_monotonous_and_put_nobody_out(store: Store) -> None:
    crowd = make_crowd(store, n_units=60, n_gold=0, judgments=3, n_raters=3, terms={})
    for number in range(60):
        for rater in range(3):
            crowd.answer(rater, label="error" if rater == 0 else ("error", "ok")[number % 2])
    lines = crowd.read(rater_lines, crowd.job)
    assert [line.marks for line in lines] == [("same answer",), (), ()]
    assert {line.trust.state for line in lines} == {"new"}
    assert len(best(lines)) == 3


def test_a_program_that_talks_nonsense_or_has_a_persons_name_is_refused_and_the_rest_is_kept(store: Store) -> None:
    crowd = make_crowd(store, n_units=3, n_gold=0, terms={})
    own, robot = crowd.write(program_job, crowd.job, "robot")

    def nonsense(lines: Iterator[str]) -> Iterator[str]:
        unit = [json.loads(line)["unit"] for line in lines][-1]  # it may answer in another order
        yield json.dumps({"unit": unit, "fields": {"label": "ok"}})
        yield "I think it is fine."

    with pytest.raises(GraterError, match="answer 2: expected a JSON line"):
        judge(store, own, robot, nonsense)  # type: ignore[arg-type]
    assert len(crowd.read(judgments.table, own.job_id)) == 1
    with pytest.raises(UsageError, match="a person in this study has this name"):
        crowd.write(program_job, crowd.job, "rater 0")


@pytest.mark.parametrize(
    ("least", "labels", "n_judgments"),
    [(2, ("error", "ok", "ok", "error", "error"), 20), (3, ("error", "error"), 8)],
    ids=["two who differ, then as many as could decide", "before any unit has its least"],
)
def test_where_asking_stopped_early_shares_are_of_what_every_unit_was_to_have(
    store: Store, least: int, labels: tuple[str, ...], n_judgments: int
) -> None:
    rule: dict[str, Json] = {"redundancy": {"least": least, "most": 5, "lead": 2}}
    crowd = make_crowd(store, n_units=4, n_gold=0, judgments=least, n_raters=5, terms=rule)
    for rater, label in enumerate(labels):
        crowd.work(rater, n=4, label=label)
    tables, inputs = crowd.read(study_tables, "study"), crowd.read(study_inputs)
    assert len(tables.judgments) == n_judgments
    assert tables.redundancy == inputs.redundancy == least
    (words,) = [section.words[0] for section in build(inputs).sections if section.name == "agreement"]
    assert words.startswith("8 judgments of 4 items by 2 raters")
    crowd.write(set_terms, crowd.job_id, {"redundancy": {"least": 3, "most": 3}})
    assert crowd.read(study_tables, "study").redundancy == 0, "a fixed number leaves nothing out"


TEXT = "Friends waited on the bus stop on a Monday."


def two_items(tx: Tx) -> list[str]:
    content.add_essays(tx, [Essay("e", TEXT)])
    places = [Item("e", Span(start, start + 2), "prep") for start in (15, 31)]
    content.add_items(tx, [content.study_item(place) for place in places])
    return [place.item_id for place in places]


class Noted(dict[str, Any]):
    """Notes which names were looked up."""

    names: set[str]

    def get(self, name: str, default: Any = None) -> Any:
        self.names.add(name)
        return super().get(name, default)


@pytest.mark.parametrize("name", sorted(TASKS))
def test_whatever_a_task_reads_of_a_units_payload_gold_has_too(name: str) -> None:
    """Suggestions differ from essay to essay: a job that offers them takes no other gold than its own units."""
    payload = Noted()
    payload.names = set()
    TASKS[name].show(replace(unit_for(name), payload=payload), rng=rng())
    assert payload.names <= {*gold.LOOKS, SUGGESTIONS}


def test_added_gold_asks_the_question_of_its_job(store: Store) -> None:
    with store.write() as tx:
        work, known = two_items(tx)
        job = jobs.add(tx, name="lists", task="error", judgments=1)
        asked = units.NewUnit(((work, {}),), "e", payload={"asks": "collocation"})
        (work_id,) = units.add_all(tx, job.job_id, [asked])
        assert gold.make_gold(tx, job, known, ["error"], reason="")
        (gold_id,) = units.ids_of_job(tx, job.job_id, role="gold")
        shown = [shown_to_staff(tx, unit_id) for unit_id in (work_id, gold_id)]
    assert shown[0].fields == shown[1].fields


@pytest.mark.parametrize("task", ["construction", "verify", "choice"])
def test_gold_that_no_page_can_show_is_refused(store: Store, task: str) -> None:
    with store.write() as tx:
        _, known = two_items(tx)
        job = jobs.add(tx, name=task, task=task, judgments=1)
        with pytest.raises(UsageError, match="cannot be shown"):
            gold.make_gold(tx, job, known, [TASKS[task].labels[0]], reason="")
        assert units.ids_of_job(tx, job.job_id) == []


def test_gold_of_earlier_jobs_comes_first_then_experts_and_what_raters_met_is_left_out(tmp_path: Path) -> None:
    with served(tmp_path, tasks=("error",)) as study:
        new = first_gold(study)
        with study.store.write() as tx:
            job = jobs.get(tx, new)
            judged_by_experts(tx, [("ok", "ok")] + [("ok", "error")] * (content.n_items(tx) - 1))
            first, second = gold.candidates(tx, job)[:2]
            assert (first.source, first.accepted) == ("Gold of the job error", ("error",))
            assert (second.source, second.accepted) == ("All experts who judged it agree", ("ok",))
            assert [first.reason] == gold.earlier_reasons(tx) == ["Another word is used here."]
            gold.make_gold(tx, job, first.item_id, first.accepted, reason="")
            assert first.item_id not in {each.item_id for each in gold.candidates(tx, job)}


def test_looking_for_candidates_takes_as_many_queries_whatever_the_number_of_units(tmp_path: Path) -> None:
    with served(tmp_path, tasks=("error",)) as study:
        job, n_queries = study.read(jobs.get, study.jobs["error"]), []
        for _ in range(2):
            with statements(study.store) as queries:
                study.read(gold.candidates, job)
            n_queries.append(len(queries))
            gone = schema.units.c.unit_id == study.units_of(job.job_id)[0]
            with study.store.write() as tx:
                tx.execute(schema.units.update().where(gone).values(role="practice"))
        assert n_queries[0] == n_queries[1]


def first_gold(study: Study) -> str:
    """A piece of gold in the job of the study, and a new job about the same items; give its id."""
    with study.store.write() as tx:
        job = jobs.get(tx, study.jobs["error"])
        last = units.get(tx, units.ids_of_job(tx, job.job_id)[-1])
        gold.make_gold(tx, job, last.unit.items[0].item.item_id, ["error"], reason="Another word is used here.")
        return studies.add_job(tx, "error", name="new", state="draft")


def test_the_recommended_rule_asks_for_gold_first(tmp_path: Path) -> None:
    with served(tmp_path, tasks=("error",)) as study:
        job_id = study.jobs["error"]
        with pytest.raises(UsageError, match="has no gold yet"):
            study.write(use_recommended_rule, job_id)
        first_gold(study)
        rule = terms_of(study.write(use_recommended_rule, job_id).options).gold
        assert (rule.minimum, rule.least_seen, rule.quiz) == (0.8, 12, 0)  # half of one gold unit
