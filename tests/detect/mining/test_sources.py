from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from grater.detect.mining.sources import counts_in_model, counts_in_shipped_model, counts_in_text
from grater.detect.ngrams.language_model import LanguageModel
from grater.detect.ngrams.training import Wish, train
from tests.detect.ngrams.texts import SENTENCES

WANTED = {("waited", "the"), ("waited", "at", "the"), ("the", "station"), ("flew", "home")}


def test_text_is_counted_by_sentences_in_normal_words(tmp_path: Path) -> None:
    path = tmp_path / "text.txt"
    path.write_text(
        "We waited at THE station. Waited at the bus stop.\nWe waited at THE station. Waited at the bus stop.\n"
    )
    # the second line is the first again, and is read once
    assert counts_in_text([path], WANTED) == {("waited", "at", "the"): 2, ("the", "station"): 1}


def test_a_model_counts_what_it_keeps_roughly_and_the_rest_as_nothing() -> None:
    trained = train(SENTENCES, Wish(prune=(0,)))
    model = LanguageModel.of(trained.smoothed, trained.vocabulary)
    counts = counts_in_model(model, trained.n_tokens, WANTED)
    assert counts["flew", "home"] == counts["waited", "the"] == 0
    rows = np.array(
        [[-1, -1, -1, *model.vocabulary.ids(["the"])], [-1, -1, *model.vocabulary.ids(["the", "station"])]]
    )
    assert counts["the", "station"] == pytest.approx(trained.n_tokens * np.exp(model.log_p(rows).sum()))
    assert 0 < counts["waited", "at", "the"] < counts["the", "station"]


def test_the_model_that_comes_along_knows_common_words_and_no_others() -> None:
    counts = counts_in_shipped_model({("of", "the"), ("of", "zzyzx")})
    assert counts["of", "the"] > 100 > counts["of", "zzyzx"] == 0
