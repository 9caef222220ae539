"""Mined lists in a study: made, decided, taken out as a table, built into a balanced corpus."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from grater.annotate import content, gold, jobs, leases, people, units
from grater.annotate.mining import (
    NewBalanced,
    NewList,
    add_list,
    all_of,
    balanced_job,
    examples,
    mine_study,
    verdict_table,
)
from grater.annotate.people import Person
from grater.annotate.store import Store, open_store
from grater.annotate.store.checks import violations
from grater.annotate.tasks import TASKS
from grater.detect.mining.ranking import uses_of
from grater.detect.mining.review import mine, suspects_table, verdicts_of
from grater.errors import BadInput, UsageError
from grater.tables import read_items, write_table
from grater.uncertainty import generator
from tests.annotate.store.worlds import read
from tests.annotate.study.mined_lists import ada, count, mined, say, store, verdicts

__all__ = ["ada", "store"]


def test_the_study_mines_its_own_essays_the_worst_first(store: Store) -> None:
    job_id = mined(store)
    assert list(verdicts(store, job_id)) == ["discussed about the", "marry with her", "entered into the"]
    with store.read() as tx:
        marry = all_of(tx, job_id)[1]
        sentences = ["".join(piece.text for piece in pieces) for pieces in examples(tx, marry)]
    assert (marry.number("n_trigram"), marry.number("n_bigram"), marry.n_uses) == (0, 300, 2)
    assert sentences == ["She wants to marry with her boss.", "My sister will marry with her friend."]


def test_raters_are_never_given_a_suspect_and_the_study_keeps_its_promises(store: Store, ada: Person) -> None:
    job_id = mined(store)
    say(store, job_id, ada, marry="y")
    with store.write() as tx:
        worker = people.add(tx, name="Bo", role="worker")
        jobs.set_state(tx, job_id, "open")
        assert leases.take(tx, job_id=job_id, person_id=worker.person_id) is None
    assert read(store, violations) == []


def test_the_balanced_corpus_becomes_a_job_with_gold(store: Store, ada: Person) -> None:
    job_id = mined(store)
    say(store, job_id, ada, marry="y", entered="y", discussed="n")
    job, made = balanced_job(store, job_id, NewBalanced(name="balanced", n_each=9, n_gold=2), count)
    assert (made.n_errors, made.n_correct, made.n_duplicates, len(made.gold())) == (2, 2, 0, 2)
    assert made.shortfalls == ["errors: 2 instead of 9; accept more trigrams"]
    assert "discussed about the" not in made.items["trigram"].to_list()
    with store.read() as tx:
        assert (job.state, job.judgments) == ("draft", 3)
        assert len(units.ids_of_job(tx, job.job_id, role="work")) == 2
        known = {each.item_id: each for name, each in gold.all(tx) if name == "balanced"}
        assert violations(tx) == []
    assert {item: sorted(each.accepted) for item, each in known.items()} == {
        item: [label] for item, label, _ in made.gold().rows()
    }
    assert {"is extraneous" in each.reason for each in known.values()} == {True, False}


def test_nothing_accepted_builds_nothing(store: Store, ada: Person) -> None:
    job_id = mined(store)
    say(store, job_id, ada, marry="n")
    with pytest.raises(UsageError, match="expected accepted trigrams"):
        balanced_job(store, job_id, NewBalanced(name="balanced"), count)
    assert [job.name for job in read(store, jobs.all)] == ["mined"]


def test_essays_without_a_suspect_and_a_study_without_essays_say_so(tmp_path: Path, store: Store) -> None:
    with pytest.raises(UsageError, match="no preposition in these essays is suspicious"):
        mine_study(store, NewList(name="none"), lambda wanted: dict.fromkeys(wanted, 0), source="toy")
    with open_store(tmp_path / "empty.db", create=True) as empty, pytest.raises(UsageError, match="no essays yet"):
        mined(empty)


def test_raters_of_the_balanced_corpus_are_asked_whether_the_preposition_is_extraneous(
    store: Store, ada: Person
) -> None:
    # Madnani et al. 2011, 2.1: extraneous, not extraneous, or too hard to say; "wrong" is another question
    job_id = mined(store)
    say(store, job_id, ada, marry="y", entered="y")
    job, _ = balanced_job(store, job_id, NewBalanced(name="balanced", n_each=9, n_gold=2), count)
    with store.read() as tx:
        asked = [units.get(tx, unit_id) for unit_id in units.ids_of_job(tx, job.job_id)]
    shown = [TASKS["error"].show(each.unit, rng=generator(0, "page")) for each in asked]
    assert {field.question for page in shown for field in page.fields} == {
        "Is the highlighted preposition extraneous: should there be none?"
    }
    assert {each.item.kind for unit in asked for each in unit.unit.items} == {"prep"}, "as detectors decide on them"


def test_the_table_is_the_one_that_the_command_writes(store: Store, ada: Person, tmp_path: Path) -> None:
    say(store, mined(store), ada, marry="y", entered="n")
    with store.read() as tx:
        ours = verdict_table(tx, jobs.named(tx, "mined").job_id)
        corpus = list(content.all_essays(tx))
    suspects = mine(list(uses_of(corpus)), count).suspects
    theirs = suspects_table(suspects, {"marry with her": "y", "entered into the": "n"})
    assert ours.equals(theirs)
    write_table(ours, tmp_path / "verdicts.csv")
    assert verdicts_of(read_items(tmp_path / "verdicts.csv"))["marry with her"] == "y"


def test_a_verdict_survives_blanks_that_a_hand_put_in(store: Store, ada: Person) -> None:
    job_id = mined(store)
    say(store, job_id, ada, marry="y", entered="n")
    frame = read(store, verdict_table, job_id)
    spaced = frame.with_columns(trigram=" " + pl.col("trigram").str.replace(" ", "  "))
    again = add_list(store, "again", read_items(spaced), lambda _: ada)
    assert verdicts(store, again.job_id) == verdicts(store, job_id)


def test_a_list_of_other_essays_or_with_odd_cells_is_refused_whole(store: Store, ada: Person) -> None:
    job_id = mined(store)
    good = read(store, verdict_table, job_id)
    strange = good.with_columns(trigram=pl.lit("climbed up the"))
    odd = good.with_columns(n_bigram=pl.lit("many"))
    twice = pl.concat([good, good.head(1).with_columns(item=pl.lit("another"))])
    for frame, words in (
        (strange, "expected a trigram of the study's essays, found 'climbed up the'"),
        (odd, "n_bigram: expected a number, found 'many'"),
        (twice, "expected every trigram once"),
        (good.drop("trigram"), "expected a column 'trigram'"),
    ):
        with pytest.raises(BadInput, match=words):
            add_list(store, "odd", read_items(frame), lambda _: ada)
    with pytest.raises(UsageError, match="name: expected"):
        add_list(store, " ", read_items(good), lambda _: ada)
    assert [job.name for job in read(store, jobs.all)] == ["mined"]
