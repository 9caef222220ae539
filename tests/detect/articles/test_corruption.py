from __future__ import annotations

from grater.detect.articles import corruption
from grater.detect.articles.constructions import CONSTRUCTIONS, NONE_OF_THEM
from grater.detect.articles.corruption import corrupted, with_errors
from grater.rng import generator
from grater.text.analysis import Sentence, analyse
from tests.detect.articles.made_text import made_lines


def sentence(text: str) -> Sentence:
    [found] = analyse(text)
    return found


def always(monkeypatch: object, wanted: str, becomes: str) -> None:
    rates = {name: ({becomes: 1.0} if name == wanted else {}) for name in CONSTRUCTIONS}
    monkeypatch.setattr(corruption, "RATES", rates)  # type: ignore[attr-defined]


def test_an_error_is_put_in_and_what_stood_there_is_known(monkeypatch: object) -> None:
    always(monkeypatch, "a-singular", "null-singular")
    words, right = with_errors(sentence("She saw an old house near the river."), generator(0))
    assert words == ["She", "saw", "old", "house", "near", "the", "river", "."]
    assert {words[place]: CONSTRUCTIONS[of] for place, of in right.items()} == {
        "house": "a-singular",
        "river": "the-singular",
    }


def test_number_goes_wrong_too(monkeypatch: object) -> None:
    always(monkeypatch, "the-plural", "the-singular")
    words, _ = with_errors(sentence("We fed the geese."), generator(0))
    assert words == ["We", "fed", "the", "goose", "."]


def test_text_without_chance_of_error_stays_as_it_is(monkeypatch: object) -> None:
    monkeypatch.setattr(corruption, "RATES", {name: {} for name in CONSTRUCTIONS})  # type: ignore[attr-defined]
    found = list(corrupted([analyse(line) for line in made_lines()[:20]], generator(0)))
    assert found
    assert all(each.right in (each.placed.phrase.construction, NONE_OF_THEM) for each in found)


def test_the_same_seed_gives_the_same_errors() -> None:
    passages = [analyse(line) for line in made_lines()[:40]]
    one, other = ([(each.placed.words, each.right) for each in corrupted(passages, generator(3))] for _ in range(2))
    assert one == other


def test_about_one_phrase_in_ten_goes_wrong() -> None:
    assert 0.05 < corruption.error_rate() < 0.12
