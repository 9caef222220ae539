"""Several annotators in files of their own become one corpus; sentences find the document that they were cut from."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from grater.corpora import read_corpus
from grater.corpora.formats import Loss
from grater.corpora.m2 import FORMAT
from grater.corpora.merge import attach_documents, merge_annotators
from grater.corpora.nucle import FORMAT as NUCLE
from grater.corpora.source import open_source
from grater.errors import BadInput
from grater.model import Edit, Essay, Json, Span
from tests.corpora.sources import TextSource
from tests.real_data import data_path


def essay(essay_id: str, *annotators: str, text: str = "We goes home.", **metadata: Json) -> Essay:
    """An essay in which every annotator has marked the verb."""
    edits = tuple(Edit(Span(3, 7), ("go",), "SVA", annotator) for annotator in annotators)
    return Essay(essay_id, text, edits, annotators, metadata=metadata)


def merged(**corpora: list[Essay]) -> list[Essay]:
    return list(merge_annotators(corpora))


def test_colliding_annotators_are_called_after_their_files_everywhere() -> None:
    (found,) = merged(A1=[essay("e", "0")], A2=[essay("e", "0")])
    assert found.annotators == ("A1", "A2")
    assert [edit.rater for edit in found.edits] == ["A1", "A2"]
    (found,) = merged(old=[essay("e", "0", "1")], new=[essay("e", "0", "1")])
    assert found.annotators == ("old.0", "old.1", "new.0", "new.1")
    first, second = essay("e", "0"), essay("f", "0")
    assert merged(one=[first], two=[second]) == [first, second]
    found = merged(one=[essay("e", "0"), essay("f", "0")], two=[essay("f", "0"), essay("g", "0")])
    assert {essay.essay_id: essay.annotators for essay in found} == {
        "e": ("one",),
        "f": ("one", "two"),
        "g": ("two",),
    }


def test_order_does_not_matter_and_the_first_file_with_a_field_counts() -> None:
    found = merged(A1=[essay("e", "0"), essay("f", "0"), essay("g", "0")], A2=[essay("g", "0"), essay("e", "0")])
    assert [(essay.essay_id, len(essay.annotators)) for essay in found] == [("e", 2), ("g", 2), ("f", 1)]
    (found,) = merged(A1=[essay("e", "0", level="B1")], A2=[essay("e", "0", level="B2", language="Thai")])
    assert found.metadata == {"level": "B1", "language": "Thai"}


def test_files_that_do_not_fit_each_other_are_refused() -> None:
    with pytest.raises(BadInput, match="A1: expected essay 'e' once, found it again"):
        merged(A1=[essay("e", "0"), essay("e", "0")], A2=[])
    with pytest.raises(BadInput, match="found a file and an annotator of that name; rename the file"):
        merged(**{"1": [essay("e", "0", "1")], "2": [essay("e", "0")]})
    words = r"A2: expected the text that A1 has for essay 'e', found 's home\.' in place of ' home\.' at character 5"
    with pytest.raises(BadInput, match=words):
        merged(A1=[essay("e", "0", text="We go home.")], A2=[essay("e", "0", text="We gos home.")])
    one = replace(essay("e", "0"), tokens=(Span(0, 2), Span(3, 7), Span(8, 13)))
    two = replace(essay("e", "0"), tokens=(Span(0, 2), Span(3, 7), Span(8, 12), Span(12, 13)))
    with pytest.raises(BadInput, match=r"found 'home' in place of 'home\.' as token 2"):
        merged(A1=[one], A2=[two])
    (found,) = merged(A1=[essay("e", "0")], A2=[two])
    assert found.tokens == two.tokens


@pytest.mark.slow
@pytest.mark.data
def test_the_ten_annotators_of_conll14_meet() -> None:
    files = sorted(data_path("conll14/ten-annotators").glob("*.m2"))
    essays = list(merge_annotators({path.stem: read_corpus(path) for path in files}))
    assert len(essays) == 1_312
    assert {essay.annotators for essay in essays} == {tuple(path.stem for path in files)}
    assert sum(len(essay.edits) for essay in essays) == 37_667  # the data's README


FIRST = Essay("cats", 'On cats\nMy cat sleeps. "It dreams," I said. It doesn\'t care.')
SECOND = Essay("dogs", "My dog barks.\n'No!' It sleeps.")


def places(*sentences: str, documents: tuple[Essay, ...] = (FIRST, SECOND)) -> list[tuple[object, object]]:
    essays = [Essay(str(number), sentence, line=number) for number, sentence in enumerate(sentences, 1)]
    found = list(attach_documents(essays, documents))
    assert [essay.text for essay in found] == list(sentences)
    return [(essay.metadata["document"], essay.metadata["document_start"]) for essay in found]


def start_of(document: Essay, words: str) -> tuple[str, int]:
    return document.essay_id, document.text.index(words)


def test_sentences_are_found_in_order_whatever_the_tokeniser_did_to_space_and_quotes() -> None:
    sentences = ["On cats", "My cat sleeps .", "`` It dreams , '' I said .", "It does n't care .", "My dog barks ."]
    assert places(*sentences, "' No ! '", "It sleeps .") == [
        start_of(FIRST, "On"),
        start_of(FIRST, "My"),
        start_of(FIRST, '"It'),
        start_of(FIRST, "It doesn't"),
        start_of(SECOND, "My"),
        start_of(SECOND, "'No"),
        start_of(SECOND, "It"),
    ]


def test_quotes_repeats_and_empty_sentences_stand_where_they_should() -> None:
    document = Essay("x", 'He said "Yes." "No," said I.')
    assert places('He said " Yes . "', '" No , " said I .', documents=(document,)) == [("x", 0), ("x", 15)]
    document = Essay("x", "Yes. Yes. No. Yes.")
    assert [start for _, start in places("Yes .", "Yes .", "Yes .", documents=(document,))] == [0, 5, 14]
    assert places("On cats", "")[1] == ("cats", 8)


def test_documents_are_read_only_as_far_as_needed_and_every_sentence_without_a_place_is_named() -> None:
    documents = iter([FIRST, SECOND])
    assert next(attach_documents([Essay("1", "On cats")], documents)).metadata["document"] == "cats"
    assert next(documents) is SECOND
    with pytest.raises(BadInput) as caught:
        places("On cats", "On cows", "My cat sleeps .", "My cat sleeps .")
    assert [str(problem) for problem in caught.value.problems] == [
        f"documents: expected sentence {n} (line {n}) in a document after the sentence before it, found none: {found}"
        for n, found in ((2, "'On cows'"), (4, "'My cat sleeps .'"))
    ]


OFFICIAL = "conll14/official/official-2014."
# The counts are those of the shared task's files (Ng et al. 2014) and of Bryant and Ng 2015; no-ops are not counted.
FILES = {
    OFFICIAL + "0.m2": {"0": 2391},
    OFFICIAL + "1.m2": {"0": 3317},
    OFFICIAL + "combined.m2": {"0": 2391, "1": 3207},
    OFFICIAL + "combined-withalt.m2": None,
    "conll14/ten-annotators/A1.m2": None,
}
NINE_MORE = [f"conll14/ten-annotators/A{n}.m2" for n in range(2, 11)]


def read(path: Path) -> list[Essay]:
    return list(FORMAT.read(open_source(path)))


@pytest.mark.data
@pytest.mark.parametrize("name", [*FILES, *(pytest.param(name, marks=pytest.mark.slow) for name in NINE_MORE)])
def test_an_official_file_has_its_numbers_and_comes_out_byte_for_byte(name: str) -> None:
    path = data_path(name)
    essays = read(path)
    assert len(essays) == 1312
    assert sum(len(essay.tokens or ()) for essay in essays) == 30144
    assert FILES.get(name) in (None, Counter(edit.rater for essay in essays for edit in essay.edits))
    losses: list[Loss] = []
    assert "".join(FORMAT.write(essays, losses.append)).encode() == path.read_bytes()
    assert losses == []


@pytest.mark.data
def test_every_sentence_of_the_test_set_is_found_in_its_document() -> None:
    documents = list(NUCLE.read(open_source(data_path(OFFICIAL + "0.sgml"))))
    essays = list(attach_documents(read(data_path(OFFICIAL + "0.m2")), documents))
    by_id = {document.essay_id: document.text for document in documents}
    assert len(essays) == 1312
    assert len({str(essay.metadata["document"]) for essay in essays}) == len(by_id) == 50
    starts = [
        (by_id[str(essay.metadata["document"])], essay.metadata["document_start"], essay.text) for essay in essays
    ]
    assert all(isinstance(start, int) and text[start] == sentence[0] for text, start, sentence in starts)


@pytest.mark.data
@pytest.mark.parametrize(
    ("annotator", "n_in_sgml", "n_left_out", "n_changed"), [("0", 2397, 3, 7), ("1", 3331, 17, 4)]
)
def test_sgml_to_m2_names_what_m2_cannot_hold(
    annotator: str, n_in_sgml: int, n_left_out: int, n_changed: int
) -> None:
    documents = list(NUCLE.read(open_source(data_path(f"{OFFICIAL}{annotator}.sgml"))))
    losses: list[Loss] = []
    essays = list(FORMAT.read(TextSource("".join(FORMAT.write(documents, losses.append)))))
    of_edits = [loss for loss in losses if loss.what.startswith("edit ")]
    assert sum(len(document.edits) for document in documents) == n_in_sgml
    assert sum(len(essay.edits) for essay in essays) == n_in_sgml - n_left_out
    assert sum(not loss.changed for loss in of_edits) == n_left_out
    assert sum(loss.changed for loss in of_edits) == n_changed
