"""Correctors judged in a study: rankings, marks with their fates, errors that are left; out to the commands."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import polars as pl
import pytest

import grater
from grater.annotate import content, people
from grater.annotate.archive import export
from grater.annotate.corrected import accepted_marks, marks
from grater.annotate.plans import NewJob, Previews, add_job
from grater.annotate.reporting import study_inputs
from grater.annotate.status import new_study
from grater.annotate.store import Store
from grater.annotate.submissions import Desk, hand_in, take_desk
from grater.errors import UsageError
from grater.model import DELETE, Decision, Essay, Span, edit_item
from grater.reporting.build import build
from grater.reporting.save import report_html
from grater.sheet import interval
from tests.annotate.store.conftest import location
from tests.annotate.store.worlds import read, write
from tests.annotate.study.files import mark

TEXT = "We met at {}. He depend of her. The bread are good."
EDITS = {
    "good": {"depend": "depends", "of": "on", "are": "is"},
    "half": {"depend": "depends", "of": "in"},
    "twin": {"depend": "depends", "of": "in"},
    "late": {"of": DELETE, "are": "is"},
}
N_ESSAYS = 6
Answers = Callable[[Desk], dict[str, list[str]]]


def correct(store: Store, *systems: str) -> None:
    """Every edit of some systems as an item."""
    with store.write() as tx:
        for essay in list(content.all_essays(tx)):
            for name in systems:
                for old, new in EDITS[name].items():
                    start = essay.text.index(old)
                    item = edit_item(essay.essay_id, Span(start, start + len(old)), new)
                    content.add_items(tx, [content.study_item(item)])
                    content.add_decisions(tx, [Decision(item.item_id, name, True, suggestion=new)])


__all__ = ["location"]


@pytest.fixture
def study(location: str) -> Iterator[Store]:
    with new_study(location) as store:
        write(store, content.add_essays, [Essay(f"e{n}", TEXT.format(n)) for n in range(N_ESSAYS)])
        correct(store, "good", "half", "twin")
        yield store


def work(store: Store, job_id: str, name: str, answer: Answers, n: int = 99) -> list[str]:
    """Somebody answers up to `n` units; gives the sentences that they saw."""
    rater = read(store, people.by_name, name) or write(store, people.add, name=name, role="annotator")
    seen: list[str] = []
    while len(seen) < n and (desk := take_desk(store, job_id=job_id, person_id=rater.person_id)):
        seen.append(desk.unit.unit.essay.essay_id + "".join(piece.text for piece in desk.shown.pieces))
        hand_in(store, desk, answer(desk), seconds=5)
    return seen


def marking(*words: str) -> Answers:
    def answer(desk: Desk) -> dict[str, list[str]]:
        text = desk.unit.unit.essay.text
        edits = [mark(text, each, "Wcip" if each == "of" else "SVA", "x") for each in words]
        return {"edits": [json.dumps(edits)]}

    return answer


def by_reading(rule: Callable[[str], str]) -> Answers:
    """Answers each row by the sentence that it shows."""
    return lambda desk: {
        field.name: [rule("".join(piece.text for piece in field.reading))] for field in desk.shown.fields
    }


def test_marks_are_verified_and_serve_every_system_also_a_later_one(study: Store, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="annotators mark source sentences first"):
        add_job(study, NewJob(name="", task="fate"))
    job = add_job(study, NewJob(name="", task="marking", judgments=2))
    work(study, job.job_id, "Ann", marking("depend of", "met"))
    assert read(study, marks) == [], "until two have read an essay"
    work(study, job.job_id, "Bo", marking("depend", "are"))
    job = add_job(study, NewJob(name="check", task="error", kind="mark", judgments=2))
    rejecting = lambda desk: {"label": ["ok" if "met" in [p.text for p in desk.shown.pieces] else "error"]}  # noqa: E731
    for name in ("Cy", "Di"):
        work(study, job.job_id, name, rejecting)
    with study.read() as tx:
        assert len(marks(tx)) == 3 * N_ESSAYS
        assert len(accepted_marks(tx)) == 2 * N_ESSAYS
    answer = by_reading(lambda text: "gone" if "depends on" in text or " is " in text else "still there")
    first = add_job(study, NewJob(name="", task="fate"))
    assert len(work(study, first.job_id, "Cy", answer)) == 2 * N_ESSAYS
    with pytest.raises(UsageError, match="no units"):
        add_job(study, NewJob(name="", task="fate"))
    correct(study, "late")
    second = add_job(study, NewJob(name="", task="fate"))
    assert len(work(study, second.job_id, "Di", answer)) == 2 * N_ESSAYS
    export(study, tmp_path / "out")
    tables = {name: tmp_path / "out" / f"{name}.csv" for name in ("marks", "fates", "verified")}
    found = grater.recall(tables["marks"], fates=tables["fates"], verified=tables["verified"])
    by_name = {each.system: each for each in found.systems}
    assert (found.n_marks, found.n_verified, found.n_found_by_both) == (3 * N_ESSAYS, 2 * N_ESSAYS, N_ESSAYS)
    assert by_name["good"].union.value == 1
    assert by_name["half"].union.value == by_name["twin"].union.value == 0
    assert by_name["late"].union.value == 0.5
    assert found.scope.unit in ("essay", "document")
    job = add_job(study, NewJob(name="edits", task="verify", system="late", kind="edit"))
    work(study, job.job_id, "Cy", lambda _: {"label": ["writer's better"]})
    job = add_job(study, NewJob(name="", task="remaining", most=20))
    work(study, job.job_id, "Cy", lambda _: {"missed": ["1"], "half_right": ["0"], "introduced": ["2"]})
    inputs = read(study, study_inputs)
    assert inputs.judgments is not None
    assert len(inputs.judgments) == 2 * N_ESSAYS, "verified marks say nothing of systems"
    report = build(inputs)
    sections = {section.name: section for section in report.sections}
    assert {"correctors", "recall", "remaining"} <= sections.keys()
    tables = {sheet.name: sheet for sheet in sections["correctors"].sheets}
    [recalled] = [each.recall for each in inputs.correctors.recall.systems if each.system == "late"]
    [left] = [each.errors for each in inputs.correctors.remaining.systems if each.system == "late"]
    assert tables["corrector-late"].rows[-1] == (
        *("all types", "12", ".000 [.000, .355]", "1.000 [.645, 1.000]"),
        *(interval(recalled), interval(left, digits=2)),
    )
    assert tables["examples-late"].rows == (
        ("worse", "The bread [are → is] good."),
        ("worse", "He depend [of → (nothing)] her."),
        ("missed", "He [depend of] her."),
    )
    assert {each.title: each.n_items for each in report.lists}["Edits of late that make a sentence worse"] == 12
    assert {each.title: each.n_items for each in report.lists}["Errors that late did not correct"] == N_ESSAYS
    page = report_html(report)
    assert "did not correct" in page
    assert "rather too high than too low" in page


def test_rankings_merge_what_is_alike_and_go_round_all_sentences_first(study: Store, tmp_path: Path) -> None:
    job = add_job(study, NewJob(name="", task="rank", judgments=2))
    best_first = by_reading(lambda text: "1" if "on her" in text or "is good" in text else "2")
    n_sentences = 2 * N_ESSAYS  # the first sentence is the same for all systems
    first = [work(study, job.job_id, name, best_first, n=4) for name in ("Ann", "Bo", "Cy")]
    seen = [sentence for some in first for sentence in some]
    assert len(set(seen)) == len(seen) == n_sentences, "no sentence is ranked again before all are ranked"
    work(study, job.job_id, "Di", best_first)
    export(study, tmp_path / "out")
    table = pl.read_csv(tmp_path / "out" / "rankings.csv")
    assert {"item", "rater", "system", "rank", "document"} <= set(table.columns)
    assert table.group_by("item", "rater").len()["len"].to_list() == [3] * 2 * n_sentences
    ranks = dict(table.group_by("system").agg(pl.col("rank").unique().sort()).iter_rows())
    assert ranks == {"good": [1], "half": [2], "twin": [2]}
    wins = {each.system: each for each in grater.prefer(tmp_path / "out" / "rankings.csv").systems}
    assert wins["good"].expected_wins.value == 1


def test_in_pairs_one_key_says_which_of_two_is_better_and_the_rankings_know_it(study: Store, tmp_path: Path) -> None:
    job = add_job(study, NewJob(name="two", task="rank", pairs=True))

    def better(desk: Desk) -> dict[str, list[str]]:
        [question] = desk.shown.fields
        assert [choice.key for choice in question.choices] == ["1", "2", "3"]
        readings = ["".join(piece.text for piece in choice.reading) for choice in question.choices[:2]]
        return {question.name: ["first" if "on her" in readings[0] or "is good" in readings[0] else "second"]}

    assert len(work(study, job.job_id, "Ann", better)) == 2 * N_ESSAYS
    again = add_job(study, NewJob(name="ties", task="rank", pairs=True))
    work(study, again.job_id, "Ann", lambda _: {"better": ["equal"]})
    export(study, tmp_path / "out")
    result = grater.prefer(tmp_path / "out" / "rankings.csv")
    assert len(result.pairs) == 3
    counts = {pair.test.systems: (pair.wins, pair.losses, pair.ties) for pair in result.pairs}
    assert counts["good", "half"] == (2 * N_ESSAYS, 0, 2 * N_ESSAYS)


def test_errors_that_are_left_are_counted_once_for_systems_that_wrote_the_same(study: Store, tmp_path: Path) -> None:
    preview = read(study, Previews().of, NewJob(name="", task="remaining"))
    job = add_job(study, NewJob(name="", task="remaining"))
    n_units = N_ESSAYS * (1 + 2 + 2)  # alike in all systems, two corrections, two corrections
    assert preview.units == n_units

    def answer(desk: Desk) -> dict[str, list[str]]:
        text = "".join(piece.text for piece in desk.shown.pieces)
        assert desk.shown.after.startswith("As written: ")
        counts = {"missed": "are" in text.split(), "half_right": " in " in text, "introduced": False}
        return {name: [str(int(is_there))] for name, is_there in counts.items()}

    assert len(work(study, job.job_id, "Ann", answer)) == n_units
    export(study, tmp_path / "out")
    by_name = {each.system: each for each in grater.remaining(tmp_path / "out" / "remaining.csv").systems}
    n_words = 4 + 4 + 4
    assert by_name["good"].errors.value == 0
    assert by_name["half"].kinds["missed"].value == pytest.approx(100 / n_words)
    assert by_name["twin"].errors.value == pytest.approx(200 / n_words)
    assert by_name["half"].n_sentences == 3 * N_ESSAYS
