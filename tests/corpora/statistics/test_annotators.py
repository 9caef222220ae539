from grater.corpora.merge import stems
from grater.corpora.statistics import corpus_statistics
from grater.corpora.statistics.annotators import names_apart
from grater.model import Essay
from tests.corpora.statistics.essays import edit, m2_block, two_sentences


def test_ids_that_collide_give_way_to_the_files_stem() -> None:
    annotators = {"x/A1.m2": ["0"], "x/A2.m2": ["0"]}
    assert names_apart(annotators, [list(annotators)]) == {("x/A1.m2", "0"): "A1", ("x/A2.m2", "0"): "A2"}


def test_ids_that_do_not_collide_stay() -> None:
    assert names_apart({"a.m2": ["0"], "b.m2": ["1"]}, [["a.m2", "b.m2"]]) == {}


def test_ids_in_files_of_different_essays_do_not_collide() -> None:
    assert names_apart({"a.m2": ["0"], "b.m2": ["0"]}, []) == {}


def test_only_the_ids_that_collide_are_renamed() -> None:
    annotators = {"a.m2": ["0", "1"], "b.m2": ["0"]}
    assert names_apart(annotators, [list(annotators)]) == {("a.m2", "0"): "a", ("b.m2", "0"): "b"}


def test_several_ids_of_a_file_that_collide_keep_their_number() -> None:
    annotators = {"a.m2": ["0", "1"], "b.m2": ["0", "1"]}
    assert sorted(names_apart(annotators, [list(annotators)]).values()) == ["a.0", "a.1", "b.0", "b.1"]


def test_files_of_the_same_stem_keep_their_whole_names() -> None:
    assert stems(["x/a.m2", "y/a.m2", "y/b.m2"]) == {"x/a.m2": "x/a.m2", "y/a.m2": "y/a.m2", "y/b.m2": "b"}


def test_same_id_for_the_same_sentence_in_two_files_is_two_annotators() -> None:
    first, second = m2_block("He go home .", edit(3, 5, "goes", rater="0")), m2_block("He go home .")
    whole = corpus_statistics({"A1": [first], "A2": [second]}, resamples=10).whole
    assert {name: summary.counts.edits for name, summary in whole.by_annotator.items()} == {"A1": 1, "A2": 0}
    assert (whole.summary.counts.sentences, whole.summary.counts.edits) == (2, 1)


def test_same_id_for_different_essays_in_two_files_is_one_annotator() -> None:
    first, second = two_sentences(edit(11, 15, "likes")), Essay("two", "I am here.", (), ("A",))
    whole = corpus_statistics({"one.sgml": [first], "two.sgml": [second]}, resamples=10).whole
    assert {name: summary.totals.documents for name, summary in whole.by_annotator.items()} == {"A": 2}
