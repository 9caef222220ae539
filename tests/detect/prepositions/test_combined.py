from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from grater.corpora.text.analysis import analyse
from grater.detect.prepositions.candidates import ANSWERS, NONE, Candidate, answer_of, candidates_of
from grater.detect.prepositions.engines import (
    COMBINED,
    CombinedEngine,
    KnownToAny,
    LinearEngine,
    combined_from_file,
    parts_of,
    save_combined,
    save_linear,
)
from grater.errors import BadInput, UsageError
from grater.model import Essay, Json
from grater.models import write_model
from tests.detect.prepositions.native_text import native_lines
from tests.detect.prepositions.tiny import tiny_engine

CARD: dict[str, Json] = {"name": "two", "thresholds": {"choice": 1.0, "extraneous": 1.0, "missing": 1.0}}


def one() -> LinearEngine:
    return tiny_engine("maxent")


def other() -> LinearEngine:
    return tiny_engine("perceptron")


@cache
def candidates() -> list[Candidate]:
    return [candidate for sentence in analyse(" ".join(native_lines(30))) for candidate in candidates_of(sentence)]


def saved(folder: Path) -> tuple[Path, list[str]]:
    """A combination of two tiny models beside them."""
    names = []
    for name, engine in (("one", one()), ("other", other())):
        save_linear(engine, folder / f"{name}.model")
        names.append(str(folder / f"{name}.model"))
    both = CombinedEngine((one(), other()), np.arange(len(ANSWERS)) / 10)
    save_combined(both, names, folder / "two.model", CARD)
    return folder / "two.model", names


def test_a_score_is_the_mean_of_both() -> None:
    expected = (one().scores(candidates()) + other().scores(candidates())) / 2
    assert np.allclose(CombinedEngine((one(), other())).scores(candidates()), expected)


def test_what_the_written_preposition_costs_is_taken_from_none_alone() -> None:
    plain = CombinedEngine((one(), other()))
    costs = np.arange(len(ANSWERS)) / 10
    difference = plain.scores(candidates()) - plain.with_costs(costs).scores(candidates())
    assert (difference[:, :NONE] == 0).all()
    assert np.allclose(difference[:, NONE], [answer_of(candidate) / 10 for candidate in candidates()])


def test_neither_order_nor_batch_changes_a_score() -> None:
    engine = CombinedEngine((one(), other()), np.arange(len(ANSWERS)) / 10)
    alone = np.concatenate([engine.scores([candidate]) for candidate in candidates()])
    assert engine.scores(candidates()).tobytes() == alone.tobytes()
    assert engine.scores(candidates()[::-1])[::-1].tobytes() == alone.tobytes()


def test_no_candidates_give_no_rows() -> None:
    assert CombinedEngine((one(), other())).scores([]).shape == (0, len(ANSWERS))


def test_a_combination_comes_back_from_its_file_as_it_was(tmp_path: Path) -> None:
    path, _ = saved(tmp_path)
    detector = combined_from_file(path)
    assert detector.name == "two"
    expected = CombinedEngine((one(), other()), np.arange(len(ANSWERS)) / 10).scores(candidates())
    assert np.array_equal(detector.engine.scores(candidates()), expected)
    found = list(detector.find([Essay("a", "The boy waited at the bus on Monday.")]))
    assert {finding.decision.system for finding in found} == {"two"}


def test_a_part_that_was_trained_anew_is_refused(tmp_path: Path) -> None:
    path, names = saved(tmp_path)
    save_linear(replace(one(), step=2 * one().step), Path(names[0]))
    with pytest.raises(BadInput, match="train the combination anew"):
        combined_from_file(path)


def test_a_file_whose_parts_do_not_fit_together_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "odd.model"
    strings = {"parts": ["a"], "hashes": ["b"]}
    write_model(path, kind=COMBINED, card=CARD, arrays={"costs": np.zeros(3)}, strings=strings)
    with pytest.raises(BadInput, match="expected the parts of a combination"):
        combined_from_file(path)


def test_only_preposition_detectors_can_be_combined() -> None:
    with pytest.raises(UsageError, match="article: expected one of grater's own preposition detectors"):
        parts_of(["prep-maxent", "article"])


def test_a_word_is_known_if_one_of_the_parts_knows_it() -> None:
    known = KnownToAny([{"cat"}, {"dog"}])
    assert "cat" in known
    assert "dog" in known
    assert "blorg" not in known
