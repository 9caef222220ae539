"""The same numbers as `errant_compare` on the real files of CoNLL-2014, in every mode and tier.

The peer's own code runs in `.peers/errant` (make peers).  None of these files has a duplicated edit.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from grater.corpora.source import open_source
from grater.measure.corrections.edit_table import MODES, Tier, read_table
from grater.measure.corrections.errant import score_errant
from grater.measure.corrections.scores import precision_recall_f
from tests.measure.corrections.errant_peer import errant_compare
from tests.measure.corrections.test_errant import types
from tests.real_data import data_path

GOLDENS = Path(__file__).parent / "goldens"
CATEGORIES: dict[str, Tier] = {"1": "op", "2": "main", "3": "full"}
FILES = [
    ("conll14/official/official-2014.combined.m2", "conll14/ten-annotators/A1.m2"),
    ("conll14/official/official-2014.combined-withalt.m2", "conll14/ten-annotators/A10.m2"),
    ("conll14/ten-annotators/A4.m2", "conll14/official/official-2014.combined.m2"),
]
"""A reference and a hypothesis: one annotator against several, and several against one."""


def require_equal(reference: Path, hypothesis: Path, *, beta: str) -> None:
    calls = [
        ["-hyp", str(hypothesis), "-ref", str(reference), f"-{mode}", "-cat", category, "-b", beta]
        for mode in MODES
        for category in CATEGORIES
    ]
    printed = iter(errant_compare(calls))
    tables = read_table(open_source(reference)), read_table(open_source(hypothesis))
    for mode in MODES:
        score = score_errant(*tables, mode=mode, beta=float(beta))
        for tier in CATEGORIES.values():
            theirs = next(printed)
            assert tuple(score.counts.sum(axis=0)) == theirs.overall[:3]
            rounded = precision_recall_f(score.counts.sum(axis=0), beta=float(beta)).round(4)
            assert rounded == pytest.approx(theirs.overall[3:], abs=1e-9)
            assert types(score, tier) == {name: numbers[:3] for name, numbers in theirs.types.items()}


@pytest.mark.data
@pytest.mark.parametrize(("reference", "hypothesis"), FILES)
def test_real_files_get_the_numbers_of_errant_compare_in_every_mode_and_tier(reference: str, hypothesis: str) -> None:
    require_equal(data_path(reference), data_path(hypothesis), beta="0.5")


@pytest.mark.data
def test_another_beta_chooses_the_references_that_errant_compare_chooses() -> None:
    require_equal(*(data_path(name) for name in FILES[0]), beta="2.0")


def test_our_own_files_get_the_numbers_of_errant_compare() -> None:
    require_equal(GOLDENS / "errant-ref.m2", GOLDENS / "errant-hyp.m2", beta="0.5")


@pytest.mark.data
def test_every_annotator_of_the_ten_against_the_official_two_is_free_of_duplicates() -> None:
    reference = read_table(open_source(data_path(FILES[0][0])))
    for number in range(1, 11):
        hypothesis = read_table(open_source(data_path(f"conll14/ten-annotators/A{number}.m2")))
        assert score_errant(reference, hypothesis).n_duplicates == 0
