"""Crowds beside experts: a job counts as matched with its interval, and not where experts hardly agree."""

from __future__ import annotations

from grater.measure.agreement.raters_needed import raters_needed
from grater.reporting.agreement import raters_needed_words
from grater.reporting.document import Section
from grater.reporting.raters import CrowdJob, crowds_section
from tests.reporting.made_up import judgments

CROWD = ("r1", "r2", "r3", "r4", "r5")
GOOD = CrowdJob("good", judgments(CROWD, wrong=0.05, seed=1), judgments(("A", "B"), wrong=0.15, seed=4))
GUESSED = CrowdJob("guessed", judgments(CROWD, wrong=0.05, seed=1), judgments(("A", "B"), wrong=0.4, seed=3))
WEAK = CrowdJob("weak", judgments(CROWD, wrong=0.25, seed=6), judgments(("A", "B"), wrong=0.15, seed=4))


def section(*jobs: CrowdJob) -> Section:
    made = crowds_section(jobs)
    assert made is not None
    return made


def test_a_job_whose_intervals_bear_it_out_is_matched() -> None:
    words = section(GOOD).words
    assert words[0] == "The majority of enough raters reaches the experts' kappa in 1 of 1 crowd job."
    assert len(words) == 1, "nothing is in doubt"


def test_a_match_that_the_intervals_leave_open_is_said_to_be() -> None:
    made = section(GOOD, GUESSED, WEAK)
    needed = dict(zip((row[0] for row in made.sheets[0].rows), (row[4] for row in made.sheets[0].rows), strict=True))
    assert needed["good"] == "1 (1 to 3)"
    assert needed["weak"].endswith("or more)")
    assert made.words[0].endswith("in 3 of 3 crowd jobs, but only in 1 do the intervals bear it out.")
    assert "More raters may be needed than were asked: guessed; weak." in made.words
    assert "The experts' own kappa cannot be told from 0, so matching it shows nothing: guessed." in made.words


def test_the_number_of_raters_in_a_sentence_has_its_interval_and_the_experts_their_doubt() -> None:
    assert GUESSED.experts is not None
    needed = raters_needed(GUESSED.judgments, GUESSED.experts)
    assert "The majority of 1 rater (95 % interval 1 or more) agrees" in raters_needed_words(needed)
    assert "the experts' own kappa cannot be told from 0: to match it shows nothing" in needed.warnings
