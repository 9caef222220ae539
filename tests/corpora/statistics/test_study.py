import json
from typing import Any

import pytest

from grater.corpora.statistics import corpus_statistics
from grater.model import Essay
from tests.corpora.statistics.essays import edit, m2_block, two_sentences

KEYS = [
    "documents",
    "sentences",
    "tokens",
    "types",
    "edits",
    "by_annotator",
    "by_tag",
    "per_document",
    "per_sentence",
]


def shown(*corpora: list[Essay], by: str | None = None) -> Any:
    """The study as it comes back from JSON, which has no nan."""
    statistics = corpus_statistics(
        {f"c{number}": essays for number, essays in enumerate(corpora)}, by=by, resamples=50
    )
    return json.loads(json.dumps(statistics.as_json(), allow_nan=False))


def test_json_has_the_keys_of_the_contract_for_all_and_for_each_file() -> None:
    study = shown([two_sentences()], [m2_block("All is well .")], [])
    for part in (study, *study["files"]):
        assert set(KEYS) <= part.keys()
    assert [file["name"] for file in study["files"]] == ["c0", "c1", "c2"]


def test_json_by_hand() -> None:
    first = two_sentences(
        edit(11, 15, "likes", tag="SVA"), edit(29, 33, "plays", tag="SVA"), edit(37, 39, "", tag="Rloc")
    )
    study = shown([first, two_sentences(essay_id="two", annotators=("A", "B"))])
    assert (study["documents"], study["sentences"], study["tokens"], study["edits"]) == (2, 4, 24, 3)
    assert (study["types"], study["types_folded"]) == (11, 11)
    assert study["readings"] == {"documents": 3, "sentences": 6, "tokens": 36}
    assert study["by_tag"] == {"SVA": 2, "Rloc": 1}
    assert study["tag_shares"]["SVA"]["value"] == 2 / 3
    assert study["per_document"]["histogram"] == {"0": 2, "3": 1}
    assert study["per_document"]["edits"] == 1
    assert study["per_sentence"]["histogram"] == {"0": 4, "1": 1, "2": 1}
    assert study["per_sentence"]["shares"]["0"]["value"] == 4 / 6
    assert {name: part["edits"] for name, part in study["by_annotator"].items()} == {"A": 3, "B": 0}
    assert study["density"]["value"] == pytest.approx(100 * 3 / 36)


def test_types_are_counted_as_written_and_without_case() -> None:
    study = shown([m2_block("The end is the End .")])
    assert (study["types"], study["types_folded"]) == (6, 4)


def test_unknown_documents_are_null_with_the_reason_beside_them() -> None:
    study = shown([m2_block("All is well .")])
    assert study["documents"] is None
    assert "document" in study["reason"]
    assert study["per_document"]["edits"] is None
    assert study["per_document"]["reason"]


def test_files_are_added_up() -> None:
    study = shown([two_sentences(edit(11, 15, "likes"))], [two_sentences(essay_id="two")])
    assert (study["documents"], study["tokens"], study["types"], study["edits"]) == (2, 24, 11, 1)


def test_files_of_the_same_essays_are_named() -> None:
    study = shown(
        [two_sentences(edit(11, 15, "likes"))], [two_sentences()], [two_sentences(essay_id="two"), two_sentences()]
    )
    assert study["same_text"] == [["c0", "c1"]]
    assert shown([], [])["same_text"] == []


def test_files_of_the_same_words_by_different_writers_are_not_the_same_essays() -> None:
    assert shown([two_sentences(essay_id="one")], [two_sentences(essay_id="two")])["same_text"] == []


def test_empty_corpus_has_zeros_and_nulls_with_reasons() -> None:
    study = shown([])
    assert (study["documents"], study["tokens"], study["edits"]) == (0, 0, 0)
    assert study["density"]["value"] is None
    assert study["density"]["reason"]


def test_groups_stand_in_rows() -> None:
    study = shown([two_sentences(language="Tamil"), two_sentences(essay_id="two")], by="language")
    assert study["by"]["field"] == "language"
    assert [(row["value"], row["documents"]) for row in study["by"]["rows"]] == [("Tamil", 1), (None, 1)]


def test_signature_changes_with_the_data_and_the_options() -> None:
    def signature(*essays: Essay, merge: bool = False, seed: int = 0) -> str:
        statistics = corpus_statistics({"x": essays}, merge_alternatives=merge, seed=seed, resamples=5)
        return str(statistics.signature)

    marked = two_sentences(edit(11, 15, "likes"))
    signatures = [
        signature(marked),
        signature(two_sentences(edit(11, 15, "loves"))),
        signature(marked, merge=True),
        signature(marked, seed=1),
    ]
    assert len(set(signatures)) == 4
    assert signature(marked) == signatures[0]
