from __future__ import annotations

import gzip
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grater.corpora.text import tags as perceptron
from grater.corpora.text.tags import KIND, PerceptronTagger, Weights, load_tagger
from grater.errors import BadInput
from grater.models import write_model
from grater_train.tagging import Tagged, accuracy, cluster_words, joined, read_conllu, train
from tests.examples import examples
from tests.real_data import data_path

SOME = "The the a dog dogs barked happily , . 😀 recieve 2009 U.S. i dont x-ray"
WORDS = st.sampled_from(SOME.split()) | st.text(max_size=8)

GOLD = [
    ("The cat sleeps .", "DT NN VBZ ."),
    ("A dog barks .", "DT NN VBZ ."),
    ("The dog sleeps .", "DT NN VBZ ."),
    ("Cats sleep .", "NNS VBP ."),
    ("Dogs bark .", "NNS VBP ."),
    ("A cat barks .", "DT NN VBZ ."),
]


def toy_sentences() -> list[Tagged]:
    return [Tagged(tuple(words.split()), tuple(tags.split()), (False,) * len(tags.split())) for words, tags in GOLD]


@cache
def toy() -> Weights:
    return train(toy_sentences(), np.random.default_rng(0), card={"name": "toy"}, n_epochs=5)


def test_batches_of_any_size_give_the_same_tags(monkeypatch: pytest.MonkeyPatch) -> None:
    weights = toy()
    sentences = [words.split() for words, _ in GOLD] * 7 + [["Dog"] * 700, []]
    expected = PerceptronTagger(weights).tag_all(sentences)
    monkeypatch.setattr(perceptron, "BATCH", 3)
    assert PerceptronTagger(weights).tag_all(sentences) == expected


def slowly(weights: Weights, words: Sequence[str]) -> tuple[str, ...]:
    """The score of the module's docstring, feature by feature, in plain Python."""
    from grater.corpora.text.tags import lower
    from grater_train.tagging import Featurer

    paired = {word: number for number, word in enumerate(weights.paired, 1)}
    common = {word: number for number, word in enumerate(weights.common, 1)}
    rows = dict(zip(weights.features, weights.rows.tolist(), strict=True))
    for key, row in zip(weights.pair_keys.tolist(), weights.pair_rows.tolist(), strict=True):
        size = len(paired) + 1
        kind, left, right = key // size // size, key // size % size, key % size
        rows[f"P{kind}{weights.paired[left - 1]}\t{weights.paired[right - 1]}"] = row
    last = before = len(weights.tags)
    tags = []
    numbers = [common.get(lower(word), 0) for word in words] + [0]
    for index, features in enumerate(Featurer(paired, weights.clusters)(words)):
        scores = weights.history[before, last].astype(int)
        scores = (
            scores + weights.common_rows[0, numbers[index], last] + weights.common_rows[1, numbers[index + 1], last]
        )
        for feature in features:
            scores = scores + np.array(rows.get(feature, [0] * len(weights.tags)))
        before, last = last, int(scores.argmax())
        tags.append(weights.tags[last])
    return tuple(tags)


def test_the_fast_tagger_computes_what_the_slow_formula_says() -> None:
    weights = toy()
    for words, _ in [*GOLD, ("A strange dog , barks loudly at cats", "")]:
        assert PerceptronTagger(weights).tag(words.split()) == slowly(weights, words.split())


@examples(25)
@given(st.integers(0, 1000), st.lists(WORDS.filter(bool), min_size=1, max_size=12))  # no token is empty
def test_any_weights_are_used_as_the_slow_formula_says(seed: int, words: list[str]) -> None:
    rng, weights = np.random.default_rng(seed), toy()
    shaken = replace(
        weights,
        rows=rng.integers(-9, 9, weights.rows.shape).astype(np.int8),
        history=rng.integers(-40, 40, weights.history.shape).astype(np.int16),
        common_rows=rng.integers(-40, 40, weights.common_rows.shape).astype(np.int8),
    )
    sentence = [*words, "The", "cat", "sleeps", "."]
    assert PerceptronTagger(shaken).tag(sentence) == slowly(shaken, sentence)


def test_the_shipped_model_computes_what_the_slow_formula_says() -> None:
    tagger = load_tagger()
    sentence = "Yesterday , the two well-known teachers of our school dont came to 3 meetings 😀 ."
    words = sentence.split()
    assert tagger.tag(words) == slowly(tagger.weights, words)


def test_training_learns_its_sentences() -> None:
    tagger = PerceptronTagger(toy())
    assert [" ".join(tagger.tag(words.split())) for words, _ in GOLD] == [tags for _, tags in GOLD]


def test_the_same_seed_gives_the_same_file(tmp_path: Path) -> None:
    contents = []
    for name in ("one", "two"):
        weights = toy.__wrapped__()
        path = tmp_path / f"{name}.model"
        write_model(path, kind=KIND, card=weights.card, arrays=weights.arrays, strings=weights.strings)
        contents.append(path.read_bytes())
    assert contents[0] == contents[1]


def test_a_written_tagger_is_read_and_tags_alike(tmp_path: Path) -> None:
    weights = toy()
    path = tmp_path / "toy.model"
    write_model(path, kind=KIND, card=weights.card, arrays=weights.arrays, strings=weights.strings)
    assert load_tagger(path).tag(["The", "dog", "barks", "."]) == ("DT", "NN", "VBZ", ".")
    assert load_tagger(str(path)).name == "toy"


def test_a_single_sentence_is_enough_to_train_and_tag() -> None:
    weights = train(toy_sentences()[:1], np.random.default_rng(0), card={}, n_epochs=1)
    assert len(PerceptronTagger(weights).tag(["Something", "else"])) == 2


def test_words_used_alike_share_a_cluster() -> None:
    things, people = ["cup", "box", "pen", "key"], ["anna", "peter", "maria", "john"]
    rng = np.random.default_rng(1)
    fill = [first + second for first in "qwrtzp" for second in "abcdefghijklm"]
    lines = [f"{person} takes the {thing} ." for person in people for thing in things for _ in range(10)]
    lines += [" ".join(rng.permutation(fill)) for _ in range(30)]
    clusters = cluster_words(lines, np.random.default_rng(0))
    fine = {word: clusters.features(word)[1] for word in things + people}
    assert len({fine[word] for word in things} & {fine[word] for word in people}) == 0
    assert clusters.features("unheard-of") == []


def test_conllu_skips_ranges_empty_nodes_and_sentences_left_out() -> None:
    row = "{}\t{}\t_\t_\t{}\t_\t_\t_\t_\t{}"
    lines = ["# sent_id = keep-1", row.format("1-2", "dont", "_", "_"), row.format(1, "do", "VBP", "SpaceAfter=No")]
    lines += [row.format(2, "nt", "RB", "_"), row.format("2.1", "go", "VB", "_"), ""]
    lines += ["# sent_id = drop-1", row.format(1, "No", "UH", "_"), "", row.format(1, "Yes", "UH", "_")]
    found = list(read_conllu(lines, name="x", keep=lambda sent_id: not sent_id.startswith("drop")))
    assert [(each.words, each.tags) for each in found] == [(("do", "nt"), ("VBP", "RB"))]


def test_a_line_with_too_few_columns_is_named() -> None:
    with pytest.raises(BadInput, match="x:2: expected 10 columns with tabs between them, found 1"):
        list(read_conllu(["# one", "word"], name="x"))


def test_hyphenated_words_are_made_whole() -> None:
    pieces = "a/DT two/CD -/HYPH year/NN -/HYPH old/JJ well/RB -/HYPH known/VBN plan/NN -/HYPH"
    words, tags = zip(*(piece.split("/") for piece in pieces.split()), strict=True)
    glued = (False, True, True, True, True, False, True, True, False, True, False)
    whole = joined(Tagged(words, tags, glued))
    assert whole.words == ("a", "two-year-old", "well-known", "plan", "-")
    assert whole.tags == ("DT", "JJ", "JJ", "NN", "HYPH")


@pytest.mark.data
@pytest.mark.parametrize(("name", "least"), [("ewt", 0.94), ("gum", 0.955)])
def test_the_shipped_tagger_reaches_what_its_card_says(name: str, least: float) -> None:
    path = data_path(f"ud/{name}-test.conllu.gz")
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        sentences = list(read_conllu(lines, name=path.name))
    tagger = load_tagger()
    found = accuracy(tagger, sentences).value
    figures = cast("dict[str, dict[str, float]]", tagger.card["figures"])
    assert found == pytest.approx(figures[path.name]["value"])
    assert found >= least
