"""The statistics of corpora as a whole: the JSON contract, several files, groups in rows."""

import json
from typing import Any

import pytest

from grater.corpora.statistics import corpus_statistics, in_order, value_of
from grater.errors import UnknownName, UsageError
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
    statistics = corpus_statistics({f"c{number}": essays for number, essays in enumerate(corpora)}, by=by)
    return json.loads(json.dumps(statistics.to_dict(), allow_nan=False))


def test_json_by_hand_has_the_keys_of_the_contract() -> None:
    study = shown([two_sentences()], [m2_block("All is well .")], [])
    for part in (study, *study["files"]):
        assert set(KEYS) <= part.keys()
    assert [file["name"] for file in study["files"]] == ["c0", "c1", "c2"]
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
    study = shown([m2_block("The end is the End .")])
    assert (study["types"], study["types_folded"]) == (6, 4)


def test_unknown_documents_and_empty_corpora_are_null_with_the_reason_next_to_them() -> None:
    study = shown([m2_block("All is well .")])
    assert study["documents"] is None
    assert "document" in study["reason"]
    assert study["per_document"]["edits"] is None
    assert study["per_document"]["reason"]
    study = shown([])
    assert (study["documents"], study["tokens"], study["edits"]) == (0, 0, 0)
    assert study["density"]["value"] is None
    assert study["density"]["reason"]


def test_signature_changes_with_the_data_and_the_options() -> None:
    def signature(*essays: Essay, merge: bool = False) -> str:
        statistics = corpus_statistics({"x": essays}, merge_alternatives=merge)
        return str(statistics.signature)

    marked = two_sentences(edit(11, 15, "likes"))
    signatures = [signature(marked), signature(two_sentences(edit(11, 15, "loves"))), signature(marked, merge=True)]
    assert len(set(signatures)) == 3
    assert signature(marked) == signatures[0]


def test_annotators_of_one_id_are_apart_where_files_hold_the_same_essays() -> None:
    first, second = m2_block("He go home .", edit(3, 5, "goes", rater="0")), m2_block("He go home .")
    whole = corpus_statistics({"A1": [first], "A2": [second]}).whole
    assert {name: summary.counts.edits for name, summary in whole.by_annotator.items()} == {"A1": 1, "A2": 0}
    assert (whole.summary.counts.sentences, whole.summary.counts.edits) == (2, 1)
    first, second = two_sentences(edit(11, 15, "likes")), Essay("two", "I am here.", (), ("A",))
    whole = corpus_statistics({"one.sgml": [first], "two.sgml": [second]}).whole
    assert {name: summary.documents.n for name, summary in whole.by_annotator.items()} == {"A": 2}
    study = shown(
        [two_sentences(edit(11, 15, "likes"))], [two_sentences()], [two_sentences(essay_id="two"), two_sentences()]
    )
    assert study["same_text"] == [["c0", "c1"]]
    assert shown([], [])["same_text"] == []


ESSAYS = [
    two_sentences(edit(11, 15, "likes"), essay_id="a", language="Tamil", score=30),
    two_sentences(edit(11, 15, "likes"), edit(29, 33, "plays"), essay_id="b", language="Malay", score=9),
    two_sentences(essay_id="c", language=""),
]


def test_values_of_a_field_are_rows_in_order() -> None:
    study = corpus_statistics({"x": ESSAYS}, by="language").whole
    assert [(value, summary.counts.edits) for value, summary in study.by_value.items()] == [
        ("Malay", 2),
        ("Tamil", 1),
        (None, 0),
    ]
    values = ["B2", "10", None, "A10", "9", "-1", "A2", "A"]
    assert in_order(values) == ["-1", "9", "10", "A", "A2", "A10", "B2", None]
    essay = two_sentences(level=3, exams=["FCE", "CAE"], native=False)
    assert [value_of(essay, field) for field in ("level", "exams", "native", "age")] == [
        "3",
        '["FCE", "CAE"]',
        "false",
        None,
    ]


def test_unknown_fields_are_refused() -> None:
    with pytest.raises(UnknownName, match=r"unknown metadata field 'langage'\. Did you mean 'language'"):
        corpus_statistics({"x": ESSAYS}, by="langage")
    with pytest.raises(UsageError, match="no essay here has any metadata"):
        corpus_statistics({"x": [two_sentences()]}, by="language")
