"""The people of the living study, what they are like and what they say: all invented.

Twenty raters judge prepositions for pay, with questions among them whose answers are known; one of them guesses and
is ejected.  Two annotators mark essays, an adjudicator decides where they differ.  What they answer leans on the
marks of the sample's two annotators, as in `sample.raters`; who is skilled and who is quick is written here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from grater.demo.raters import ERROR, LEANINGS, OK
from grater.uncertainty import generator

OWNER, MANAGER, ADJUDICATOR = "Rosa Lindqvist", "Teo Marchetti", "Ngozi Eze"
ANNOTATORS = ("Ingrid Solheim", "Tomás Figueira")
UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class SampleRater:
    """`skill`: how often they see what an item is; `seconds` for one item; `n` answers until now."""

    name: str
    skill: float
    seconds: float
    n: int


RATERS = (
    SampleRater(name="Aisha Bello", skill=0.97, seconds=14, n=21),
    SampleRater(name="Benedikt Huber", skill=0.95, seconds=22, n=14),
    SampleRater(name="Camila Reyes", skill=0.93, seconds=11, n=18),
    SampleRater(name="Dmitri Volkov", skill=0.9, seconds=9, n=16),
    SampleRater(name="Eleni Papadaki", skill=0.96, seconds=17, n=12),
    SampleRater(name="Farhan Qureshi", skill=0.94, seconds=13, n=17),
    SampleRater(name="Grace Achieng", skill=0.98, seconds=19, n=20),
    SampleRater(name="Hana Sato", skill=0.97, seconds=24, n=13),
    SampleRater(name="Imre Kovács", skill=0.91, seconds=10, n=15),
    SampleRater(name="Jamila Haddad", skill=0.95, seconds=15, n=16),
    SampleRater(name="Kofi Mensah", skill=0.93, seconds=12, n=19),
    SampleRater(name="Linh Tran", skill=0.96, seconds=16, n=12),
    SampleRater(name="Mateo Rojas", skill=0.9, seconds=8, n=18),
    SampleRater(name="Nadia Petrova", skill=0.98, seconds=21, n=14),
    SampleRater(name="Oluwaseun Ade", skill=0.94, seconds=13, n=15),
    SampleRater(name="Priya Raman", skill=0.97, seconds=15, n=11),
    SampleRater(name="Quentin Moreau", skill=0.2, seconds=3, n=60),
    SampleRater(name="Rania Farouk", skill=0.92, seconds=12, n=16),
    SampleRater(name="Siobhan Kelly", skill=0.96, seconds=18, n=13),
    SampleRater(name="Tui Parata", skill=0.93, seconds=14, n=10),
)

REASONS = {
    ERROR: "A careful writer would use another preposition here, or none.",
    OK: "The preposition is the usual one after this word.",
}
MESSAGES = (
    ("Hana Sato", "In some sentences two prepositions would do. Should I still choose OK?"),
    ("Kofi Mensah", "One sentence has no verb at all. I chose Unknown, I hope that is right."),
    ("Priya Raman", "I will go on tomorrow. Thank you for the quick payment!"),
)
ANSWERS = (
    ("Hana Sato", "Yes: if a careful writer could have written it, it is OK, even if you would write another."),
    ("Kofi Mensah", "That is what Unknown is for. Thank you for telling us."),
)
NOTICE = "The first week has been paid. There are a few dozen sentences left; whoever likes may go on."
DISPUTE = "Both are used where I live: people say it either way."
REVIEWS = (
    ("Aisha Bello", 5, 5, "Short sentences and clear examples."),
    ("Mateo Rojas", 4, 4, "Good pay. A few sentences were hard to judge without the rest of the essay."),
    ("Siobhan Kelly", 4, 3, "What should I do with American and British usage?"),
)
VERDICT = "Looked up in two dictionaries of collocations."
N_CONTESTED, N_BOTH, N_NEITHER, N_GOLD = 26, 14, 20, 16


def items_to_ask(marked: Mapping[str, int], *, seed: int = 0) -> tuple[list[str], dict[str, str]]:
    """Items of the crowd job, more of them contested than is usual, and known answers to others."""
    rng = generator(seed, "living items")
    sides = {n: [item for item, n_marks in marked.items() if n_marks == n] for n in (0, 1, 2)}
    by_marks = {n: [str(item) for item in rng.permutation(side)] for n, side in sides.items()}
    half = N_GOLD // 2
    known = dict.fromkeys(by_marks[2][:half], ERROR) | dict.fromkeys(by_marks[0][:half], OK)
    asked = by_marks[1][:N_CONTESTED] + by_marks[2][half : half + N_BOTH] + by_marks[0][half : half + N_NEITHER]
    return sorted(asked), known


def leanings_of(items: Sequence[str], marked: Mapping[str, int], *, seed: int = 0) -> dict[str, float]:
    """The probability that a perfect rater calls each item an error."""
    rng = generator(seed, "living leanings")
    shapes = {item: LEANINGS[marked[item]] for item in items}
    return {item: float(rng.beta(mean * firm, (1 - mean) * firm)) for item, (mean, firm) in shapes.items()}


CAREFUL = 0.5
"""Raters of at least this skill know the answers to gold, which is easy; the others miss all of it, and so are always
ejected."""

SWAYED = 0.6
"""How often an annotator accepts a suggestion that they would not have marked unprompted."""

HARD = 0.03
"""How often a skilled rater finds a sentence too confused to judge."""


def answer_of(rater: SampleRater, leaning: float, rng: np.random.Generator) -> str:
    if rng.random() < HARD * rater.skill:
        return UNKNOWN
    view = rng.random() < leaning
    is_error = view if rng.random() < rater.skill else not view
    return ERROR if is_error else OK


def sittings(rng: np.random.Generator, *, days: float) -> Iterator[tuple[float, SampleRater, int]]:
    """When who sat down for how many answers, in the order of time; everybody comes twice."""
    halves = [(rater, part) for rater in RATERS for part in (rater.n - rater.n // 2, rater.n // 2)]
    yield from sorted(((float(rng.uniform(0, days)), *half) for half in halves), key=lambda sitting: sitting[0])
