"""Mined lists in a study: made, decided, taken out as a table, built into a balanced corpus."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest

from grater.detect.mining.mined import mine
from grater.detect.mining.sources import Counts
from grater.detect.mining.uses import uses_of
from grater.detect.mining.verdicts import suspects_table, verdicts_of
from grater.errors import BadInput, NotFound, Stale, UsageError
from grater.model import Essay
from grater.store import Store, essays, gold, jobs, leases, open_store, people, units
from grater.store.checks import violations
from grater.store.people import Person
from grater.study.balancing import balanced_job
from grater.study.mining import add_list, all_of, decide, examples, far, mine_study, the_list, verdict_table
from grater.study.planning import JobPlan
from grater.tables import read_items, write_table

TEXT = (
    "She wants to marry with her boss. They discussed about the plan. I entered into the room. "
    "We lived with her parents. He talked about the weather. They walked into the garden. He looked at the sky."
)
MORE = "My sister will marry with her friend. They lived with her aunt. She asked about the way."
SEEN: Counts = {
    ("marry", "her"): 300,
    ("discussed", "the"): 500,
    ("entered", "the"): 900,
    ("lived", "with", "her"): 80,
    ("talked", "about", "the"): 90,
    ("walked", "into", "the"): 70,
    ("looked", "at", "the"): 200,
    ("asked", "about", "the"): 60,
}


def count(wanted: set[tuple[str, ...]]) -> Counts:
    return {ngram: SEEN.get(ngram, 0) for ngram in wanted}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "study.db", create=True) as found:
        with found.write() as tx:
            essays.add_all(tx, [Essay("one", TEXT), Essay("two", MORE)])
        yield found


@pytest.fixture
def ada(store: Store) -> Person:
    with store.write() as tx:
        return people.add(tx, name="Ada", role="owner")


def mined(store: Store) -> str:
    return mine_study(store, "mined", count, source="toy", most=10).job_id


def verdicts(store: Store, job_id: str) -> dict[str, str]:
    with store.read() as tx:
        return {each.trigram: each.verdict for each in all_of(tx, job_id)}


def say(store: Store, job_id: str, person: Person, **said: str) -> None:
    """Verdicts by the first word of the trigram."""
    with store.write() as tx:
        for each in all_of(tx, job_id):
            first = each.trigram.split(" ")[0]
            if first in said:
                decide(tx, each, said[first], person)


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
    with store.read() as tx:
        assert violations(tx) == []


def test_a_change_of_mind_is_a_further_version_and_the_newest_counts(store: Store, ada: Person) -> None:
    job_id = mined(store)
    for verdict in ("y", "n", "y", ""):
        say(store, job_id, ada, marry=verdict)
    with store.read() as tx:
        marry = all_of(tx, job_id)[1].listed
    assert (marry.label, marry.by, marry.version) == ("", "", 4)
    say(store, job_id, ada, marry="n", entered="y")
    with store.read() as tx:
        found = all_of(tx, job_id)
    assert [each.verdict for each in found] == ["", "n", "y"]
    assert (found[2].listed.by, far(found).as_json()) == ("Ada", {"accepted": 1, "rejected": 1, "open": 1})


def test_a_decision_made_from_an_older_version_is_stale(store: Store, ada: Person) -> None:
    job_id = mined(store)
    say(store, job_id, ada, discussed="y")
    with store.write() as tx, pytest.raises(Stale):
        decide(tx, all_of(tx, job_id)[0], "n", ada, version=0)
    assert verdicts(store, job_id)["discussed about the"] == "y"


def test_other_words_than_y_and_n_are_refused(store: Store, ada: Person) -> None:
    job_id = mined(store)
    with pytest.raises(BadInput, match="expected y, n or nothing, found 'maybe'"):
        say(store, job_id, ada, entered="maybe")


def test_the_table_is_the_one_that_the_command_writes(store: Store, ada: Person, tmp_path: Path) -> None:
    say(store, mined(store), ada, marry="y", entered="n")
    with store.read() as tx:
        ours = verdict_table(tx, jobs.named(tx, "mined").job_id)
        corpus = list(essays.all(tx))
    suspects = mine(list(uses_of(corpus)), count).suspects
    theirs = suspects_table(suspects, {"marry with her": "y", "entered into the": "n"})
    assert ours.equals(theirs)
    write_table(ours, tmp_path / "verdicts.csv")
    assert verdicts_of(read_items(tmp_path / "verdicts.csv"))["marry with her"] == "y"


def test_a_list_comes_in_with_its_verdicts_under_the_name_of_who_brings_it(store: Store, ada: Person) -> None:
    job_id = mined(store)
    say(store, job_id, ada, marry="y", entered="n")
    with store.read() as tx:
        table = read_items(verdict_table(tx, job_id))
    again = add_list(store, "again", table, lambda _: ada)
    assert verdicts(store, again.job_id) == verdicts(store, job_id)
    with store.read() as tx:
        assert {each.listed.by for each in all_of(tx, again.job_id) if each.verdict} == {"Ada"}
        assert all_of(tx, again.job_id)[1].n_uses == 2


def test_a_verdict_survives_blanks_that_a_hand_put_in(store: Store, ada: Person) -> None:
    job_id = mined(store)
    say(store, job_id, ada, marry="y", entered="n")
    with store.read() as tx:
        frame = verdict_table(tx, job_id)
    spaced = frame.with_columns(trigram=" " + pl.col("trigram").str.replace(" ", "  "))
    again = add_list(store, "again", read_items(spaced), lambda _: ada)
    assert verdicts(store, again.job_id) == verdicts(store, job_id)


@pytest.mark.parametrize("name", ["", "  ", "two\nlines", "nul\0", "x" * 81])
def test_a_list_has_a_name_that_can_be_seen(store: Store, ada: Person, name: str) -> None:
    job_id = mined(store)
    with store.read() as tx:
        table = read_items(verdict_table(tx, job_id))
    with pytest.raises(UsageError, match="name: expected 1 to 80 letters that can be seen"):
        mine_study(store, name, count, source="few", most=3)
    with pytest.raises(UsageError, match="name: expected 1 to 80 letters that can be seen"):
        add_list(store, name, table, lambda _: ada)


def test_a_list_of_other_essays_or_with_odd_cells_is_refused_whole(store: Store, ada: Person) -> None:
    job_id = mined(store)
    with store.read() as tx:
        good = verdict_table(tx, job_id)
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
    with store.read() as tx:
        assert [job.name for job in jobs.all(tx)] == ["mined"]


def test_the_balanced_corpus_becomes_a_job_with_gold(store: Store, ada: Person) -> None:
    job_id = mined(store)
    say(store, job_id, ada, marry="y", entered="y", discussed="n")
    job, made = balanced_job(store, job_id, JobPlan("balanced", "error", 3, is_open=False), count, n_each=9, n_gold=2)
    assert (made.n_errors, made.n_correct, made.n_duplicates, len(made.gold())) == (2, 2, 0, 2)
    assert made.shortfalls == ["wanted 9 errors, found 2: accept more trigrams"]
    assert "discussed about the" not in made.items["trigram"].to_list()
    with store.read() as tx:
        assert (job.state, job.judgments) == ("draft", 3)
        assert len(units.ids_of_job(tx, job.job_id, role="work")) == 2
        known = {each.item_id: each for name, each in gold.all(tx) if name == "balanced"}
        assert violations(tx) == []
    assert {item: sorted(each.accepted) for item, each in known.items()} == {
        item: [label] for item, label, _ in made.gold().rows()
    }
    assert {"is one too many" in each.reason for each in known.values()} == {True, False}


def test_nothing_accepted_builds_nothing(store: Store, ada: Person) -> None:
    job_id = mined(store)
    say(store, job_id, ada, marry="n")
    with pytest.raises(UsageError, match="expected accepted trigrams"):
        balanced_job(store, job_id, JobPlan("balanced", "error"), count)
    with store.read() as tx:
        assert [job.name for job in jobs.all(tx)] == ["mined"]


def test_a_job_of_another_kind_is_no_list(store: Store) -> None:
    with store.write() as tx:
        job = jobs.add(tx, name="other", task="error")
        with pytest.raises(NotFound, match="other: this job is no mined list"):
            the_list(tx, job.job_id)


def test_essays_without_a_suspect_and_a_study_without_essays_say_so(tmp_path: Path, store: Store) -> None:
    with pytest.raises(UsageError, match="no preposition of these essays is suspicious"):
        mine_study(store, "none", lambda wanted: dict.fromkeys(wanted, 0), source="toy", most=5)
    with open_store(tmp_path / "empty.db", create=True) as empty, pytest.raises(UsageError, match="no essays yet"):
        mined(empty)
