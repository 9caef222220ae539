from __future__ import annotations

import pytest

from grater.detect.ngrams.language_model import LanguageModel
from grater.errors import BadInput
from grater_train.arpa import read_arpa, write_arpa
from grater_train.kneser_ney import language_model
from grater_train.ngrams import ModelSize, train
from tests.detect.ngrams.texts import SENTENCES

SMALL = """\\data\\
ngram 1=5
ngram 2=2

\\1-grams:
-1.0\t<unk>
-99\t<s>\t-0.5
-0.7\t</s>
-0.5\tcat\t-0.25
-0.9\tThe\t-0.1

\\2-grams:
-0.2\t<s> cat
-0.3\tThe cat

\\end\\
"""


def exact(trained_on: list[list[str]]) -> LanguageModel:
    trained = train(trained_on, ModelSize(prune=(0, 0, 0, 1)))
    return language_model(trained.smoothed, trained.vocabulary, is_exact=True)


def test_a_model_written_and_read_again_says_the_same() -> None:
    model = exact(SENTENCES)
    found = read_arpa(write_arpa(model), name="ours")
    again = language_model(found.smoothed, found.vocabulary, is_exact=True)
    assert (found.n_words_left_out, found.n_ngrams_left_out) == (0, 0)
    for words in [*SENTENCES, ["quite", "another", "train"]]:
        assert again.sentence_log_p(words) == pytest.approx(model.sentence_log_p(words), abs=1e-4)


def test_numbers_are_logarithms_to_the_base_of_ten_and_words_out_of_normal_form_are_left_out() -> None:
    found = read_arpa(SMALL.splitlines(keepends=True), name="small")
    model = language_model(found.smoothed, found.vocabulary, is_exact=True)
    assert found.vocabulary.words == ("<unk>", "<s>", "</s>", "cat")
    assert (found.n_words_left_out, found.n_ngrams_left_out) == (1, 1)
    # log10: cat after <s> -0.2, then </s> is not there after cat: -0.25 - 0.7
    assert model.sentence_log_p(["cat"]) == pytest.approx((-0.2 - 0.25 - 0.7) * 2.302585093)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("ngram 2=2", "ngram 2=3"), "small: expected 3 n-grams of order 2, found 2"),
        (("-0.2\t<s> cat", "-0.2\tcat"), "small:13: expected a logarithm, a tab and 2 words"),
        (("-0.2\t<s> cat", "x\t<s> cat"), "small:13: expected a logarithm"),
        (("-0.2\t<s> cat", "0.2\t<s> cat"), "small:13: expected a logarithm"),
        ((SMALL, "no such thing\n"), "is it an ARPA file"),
    ],
)
def test_damaged_files_are_refused_with_the_line(change: tuple[str, str], message: str) -> None:
    with pytest.raises(BadInput, match=message):
        read_arpa(SMALL.replace(*change).splitlines(keepends=True), name="small")


@pytest.mark.parametrize(("ngram", "part"), [("cat cat cat", "beginning"), ("<s> cat cat", "end")])
def test_an_ngram_without_its_parts_is_refused(ngram: str, part: str) -> None:
    text = SMALL.replace("ngram 2=2\n", "ngram 2=2\nngram 3=1\n")
    text = text.replace("\\end\\", f"\\3-grams:\n-0.1\t{ngram}\n\n\\end\\")
    with pytest.raises(BadInput, match=f"expected the {part} of every n-gram of order 3"):
        read_arpa(text.splitlines(keepends=True), name="small")
