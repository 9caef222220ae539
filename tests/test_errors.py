from __future__ import annotations

import pytest

from grater.errors import MOST_PROBLEMS, BadInput, Problem, Problems


def test_a_problem_says_file_and_line_first() -> None:
    problem = Problem("essays.m2", "expected 'S ' or 'A ', found 'X 1 2'", 7)
    assert str(problem) == "essays.m2:7: expected 'S ' or 'A ', found 'X 1 2'"


def test_problems_are_reported_together_at_the_end() -> None:
    problems = Problems("a.m2")
    problems.add("first", line=1)
    problems.add("second", line=9)
    with pytest.raises(BadInput) as caught:
        problems.done()
    assert str(caught.value).splitlines() == ["a.m2:1: first", "a.m2:9: second"]


def test_the_twentieth_problem_ends_the_reading() -> None:
    problems = Problems("a.m2")
    for line in range(1, MOST_PROBLEMS):
        problems.add("bad", line=line)
    with pytest.raises(BadInput, match="stopped after 20 problems"):
        problems.add("bad", line=MOST_PROBLEMS)
