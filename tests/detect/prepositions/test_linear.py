from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from grater.corpora.text.analysis import analyse
from grater.detect.prepositions.candidates import ANSWERS, candidates_of
from grater.detect.prepositions.engines import LINEAR, load_linear, save_linear
from grater.errors import BadInput
from grater.models import write_model
from tests.detect.prepositions.native_text import native_lines
from tests.detect.prepositions.tiny import tiny_engine

TEXT = " ".join(native_lines(40))


def test_a_model_comes_back_from_its_file_as_it_was(tmp_path: Path) -> None:
    engine = tiny_engine()
    save_linear(engine, tmp_path / "tiny.model")
    back = load_linear(tmp_path / "tiny.model")
    assert back.vocabulary == engine.vocabulary
    assert back.step == engine.step
    assert np.array_equal(back.keys, engine.keys)
    assert np.array_equal(back.table, engine.table)
    assert {**back.card, "hash": ""} == {**engine.card, "hash": ""}


def test_the_same_model_gives_the_same_bytes(tmp_path: Path) -> None:
    for name in ("one", "other"):
        save_linear(tiny_engine(), tmp_path / f"{name}.model")
    assert (tmp_path / "one.model").read_bytes() == (tmp_path / "other.model").read_bytes()


def test_scores_are_log_probabilities_and_do_not_depend_on_the_batch() -> None:
    engine = tiny_engine()
    candidates = [each for sentence in analyse(TEXT) for each in candidates_of(sentence)]
    together = engine.scores(candidates)
    alone = np.concatenate([engine.scores([candidate]) for candidate in candidates])
    backwards = engine.scores(candidates[::-1])[::-1]
    assert together.shape == (len(candidates), len(ANSWERS))
    assert np.allclose(np.exp(together).sum(axis=1), 1)
    assert together.tobytes() == alone.tobytes() == backwards.tobytes()


def test_no_candidates_no_scores() -> None:
    assert tiny_engine().scores([]).shape == (0, len(ANSWERS))


@pytest.mark.parametrize("place", [10, 200, -50])
def test_a_damaged_file_is_refused(tmp_path: Path, place: int) -> None:
    path = tmp_path / "tiny.model"
    save_linear(tiny_engine(), path)
    content = bytearray(path.read_bytes())
    content[place] ^= 0xFF
    path.write_bytes(content)
    with pytest.raises(BadInput, match=r"tiny\.model"):
        load_linear(path)


def test_a_cut_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "tiny.model"
    save_linear(tiny_engine(), path)
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(BadInput, match="cut off"):
        load_linear(path)


def test_a_model_whose_parts_do_not_fit_together_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "odd.model"
    write_model(path, kind=LINEAR, card={}, arrays={"keys": np.zeros((4, 3), np.uint8)}, strings={"words": ["a"]})
    with pytest.raises(BadInput, match="expected the parts of a model of prepositions"):
        load_linear(path)


def test_an_engine_without_features_gives_every_answer_the_same() -> None:
    engine = tiny_engine()
    empty = replace(engine, keys=engine.keys[:0], table=engine.table[-1:])
    candidates = [each for sentence in analyse("He sat on it.") for each in candidates_of(sentence)]
    assert np.allclose(np.exp(empty.scores(candidates)), 1 / len(ANSWERS))
