"""The corpus study: numbers by hand, by annotator and field, as JSON and as tables; and those of real corpora."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grater.corpora.counts import CorpusCounts, Documents, Portion
from grater.corpora.statistics import (
    CorpusStatistics,
    corpus_statistics,
    in_order,
    summarise,
    value_of,
)
from grater.errors import UnknownName, UsageError
from grater.model import Edit, Essay, Span
from grater.sheet import as_text
from tests.cli.running import widest
from tests.corpora.statistics.essays import TWO_SENTENCES, edit, m2_block, two_sentences
from tests.examples import examples


def shown(*corpora: list[Essay], by: str | None = None) -> Any:
    """The study as it comes back from JSON, which has no nan."""
    statistics = corpus_statistics({f"c{number}": essays for number, essays in enumerate(corpora)}, by=by)
    return json.loads(json.dumps(statistics.to_dict(), allow_nan=False))


def test_json_by_hand_has_the_keys_of_the_contract() -> None:
    study = shown([two_sentences()], [m2_block("All is well .")], [])
    for part in (study, *study["files"]):
        assert {"documents", "sentences", "tokens", "types", "edits"} <= part.keys()
        assert {"by_annotator", "by_tag", "per_document", "per_sentence"} <= part.keys()
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


def test_values_of_a_field_are_rows_in_order_and_unknown_fields_are_refused() -> None:
    study = corpus_statistics({"x": ESSAYS}, by="language").whole
    assert [(value, summary.counts.edits) for value, summary in study.by_value.items()] == [
        ("Malay", 2),
        ("Tamil", 1),
        (None, 0),
    ]
    values = ["B2", "10", None, "A10", "9", "-1", "A2", "A"]
    assert in_order(values) == ["-1", "9", "10", "A", "A2", "A10", "B2", None]
    essay = two_sentences(level=3, exams=["FCE", "CAE"], native=False)
    found = [value_of(essay, field) for field in ("level", "exams", "native", "age")]
    assert found == ["3", '["FCE", "CAE"]', "false", None]
    with pytest.raises(UnknownName, match=r"unknown metadata field 'langage'\. Did you mean 'language'"):
        corpus_statistics({"x": ESSAYS}, by="langage")
    with pytest.raises(UsageError, match="no essay here has any metadata"):
        corpus_statistics({"x": [two_sentences()]}, by="language")


N = len(TWO_SENTENCES)


@st.composite
def edits(draw: st.DrawFn) -> Edit:
    start = draw(st.integers(0, N))
    end = draw(st.integers(start, min(N, start + 12)))
    replacements = draw(st.lists(st.sampled_from(["", "soccer", "at"]), max_size=2, unique=True))
    return Edit(Span(start, end), tuple(replacements), draw(st.sampled_from("NVW")), draw(st.sampled_from("AB")))


@st.composite
def corpora(draw: st.DrawFn) -> list[Essay]:
    marked = draw(st.lists(st.lists(edits(), max_size=4), min_size=1, max_size=6))
    languages = st.sampled_from(["Tamil", "Malay", None])
    return [
        Essay(str(number), TWO_SENTENCES, tuple(found), ("A",), metadata={"language": draw(languages)})
        for number, found in enumerate(marked)
    ]


@examples(20)
@given(corpora(), st.data())
def test_order_of_essays_changes_nothing(essays: list[Essay], data: st.DataObject) -> None:
    shuffled = data.draw(st.permutations(essays))
    first, second = (corpus_statistics({"x": order}, by="language") for order in (essays, shuffled))
    assert first.to_dict() == second.to_dict()


@examples(20)
@given(corpora(), st.integers(0, 6))
def test_division_into_files_changes_no_total(essays: list[Essay], cut: int) -> None:
    one = corpus_statistics({"x": essays}, by="language")
    two = corpus_statistics({"x": essays[:cut], "y": essays[cut:]}, by="language")
    assert one.whole.to_dict() == two.whole.to_dict()
    assert one.signature == two.signature


@examples(20)
@given(corpora())
def test_merging_alternatives_never_adds_edits(essays: list[Essay]) -> None:
    apart, merged = (
        corpus_statistics({"x": essays}, merge_alternatives=merge).whole.summary.counts for merge in (False, True)
    )
    assert merged.edits == merged.places == apart.places <= apart.edits
    assert apart.labels == apart.edits


@examples(20)
@given(corpora())
def test_annotators_add_up_to_the_whole(essays: list[Essay]) -> None:
    study = corpus_statistics({"x": essays}).whole
    parts = [summary.counts for summary in study.by_annotator.values()]
    assert sum(counts.edits for counts in parts) == study.summary.counts.edits
    assert sum(counts.tokens_read for counts in parts) == study.summary.counts.tokens_read
    assert sum(study.summary.per_sentence.by_number.values()) == study.summary.counts.sentences_read


MARKED = [
    two_sentences(edit(11, 15, "likes", tag="SVA"), edit(37, 39, "", tag="Rloc"), language="Tamil"),
    two_sentences(edit(11, 15, "likes", tag="SVA"), essay_id="two", language="[bold]"),
]
BLOCKS = [m2_block(f"Number {number} is well .", annotators=("0", "1")) for number in range(3)]


def study(*corpora: list[Essay], by: str | None = None) -> CorpusStatistics:
    names = {f"corpus-{number}": essays for number, essays in enumerate(corpora)}
    return corpus_statistics(names, by=by)


def printed(*corpora: list[Essay], by: str | None = None, width: int = 80) -> str:
    """What a terminal of this width shows."""
    return "\n".join(as_text(sheet, width=width) for sheet in study(*corpora, by=by).sheets())


@pytest.mark.parametrize("n_corpora", [1, 2, 3, 4, 9])
@pytest.mark.parametrize("essays", [MARKED, BLOCKS, []])
def test_table_fits_a_terminal(essays: list[Essay], n_corpora: int) -> None:
    text = printed(*[essays] * n_corpora)
    assert widest("\n".join(line for line in text.splitlines() if "  " in line)) <= 80


def test_the_sheets_show_bars_dashes_and_fields_as_they_are() -> None:
    lines = [line for line in printed(MARKED).splitlines() if "█" in line]
    assert [line.split()[:2] for line in lines] == [["SVA", "2"], ["Rloc", "1"]]
    assert [line.count("█") for line in lines] == [30, 15]
    text = printed(BLOCKS)
    assert next(line for line in text.splitlines() if "Documents" in line).split() == ["Documents", "–"]
    assert "3 sentences do not say which document they come from" in text
    marked = [replace(essay, metadata={"[/bold]": "yes"}) for essay in MARKED]
    assert "By [/bold]" in printed(marked, by="[/bold]")


def test_frame_has_one_number_per_row() -> None:
    frame = study(MARKED, BLOCKS, by="language").to_frame()
    assert frame.columns == ["corpus", "by", "group", "measure", "value", "low", "high"]
    assert set(frame["corpus"]) == {"corpus-0", "corpus-1", "all"}
    tamil = frame.filter(corpus="corpus-0", by="language", group="Tamil", measure="edits")
    assert tamil["value"].to_list() == [2.0]
    assert frame.filter(measure="documents", corpus="corpus-1")["value"].to_list()[0] is None


# The ten most frequent tags of Figure 4 as the text gives them; the other 17 share the rest.
TOP_TEN = {
    "Wcip": 7312, "Rloc": 6390, "ArtOrDet": 6004, "Nn": 3955, "Mec": 3290,
    "Vt": 3288, "Wform": 2241, "SVA": 1578, "Others": 1532, "Vform": 1531,
}  # fmt: skip
REST = {f"other {number}": 557 for number in range(16)} | {"other 16": 564}
# Shares of sentences with 0, 1, 2 and more edits (57.64 %, 20.48 %, 10.66 %, 11.21 %) of 59,871.
BY_SENTENCE = {0: 34_510, 1: 12_262, 2: 6_382, 3: 6_716, 28: 1}


def test_the_numbers_of_the_nucle_paper_come_from_its_counts() -> None:
    counts = CorpusCounts(
        sentences=59_871,
        tokens=1_220_257,
        sentences_read=59_871,
        tokens_read=1_220_257,
        edits=46_597,
        edits_inside=45_945,
        places=46_597,
        places_with_several=466,
        by_tag=TOP_TEN | REST,
        by_sentence=BY_SENTENCE,
    )
    documents = Documents(1_414, 0, Counter({15: 40, 33: 1_373, 194: 1}))
    nucle = summarise(Portion({0: counts}, documents))
    ratios = [*nucle.means.values(), nucle.estimates.density.value]  # Table 5
    assert ratios == pytest.approx([42.34, 862.98, 20.38, 32.95, 3.82], abs=0.005)
    assert nucle.counts.edits == nucle.counts.labels
    # The paper's 57.83 % is the sum of its rounded shares; of the counts it is 26,951 / 46,597.
    assert nucle.estimates.top5.value == pytest.approx(0.578385, abs=5e-7)
    rounded = [round(100 * nucle.estimates.tags[tag].value, 2) for tag in list(TOP_TEN)[:5]]
    assert sum(rounded) == pytest.approx(57.83)
    assert nucle.estimates.top10.value == pytest.approx(0.7966, abs=5e-5)
    assert list(nucle.estimates.tags)[:10] == list(TOP_TEN)
    assert nucle.estimates.tags["Wcip"].value == pytest.approx(0.1569, abs=5e-5)
    shares = [share.value for share in nucle.estimates.sentences.values()]
    # The paper's four shares sum to 99.99 %: the last was cut, not rounded.
    assert shares == pytest.approx([0.5764, 0.2048, 0.1066, 0.1121], abs=1e-4)
    assert nucle.per_sentence.highest == 28
    assert nucle.estimates.inside.value == pytest.approx(0.986, abs=5e-4)
    assert nucle.estimates.alternatives.value == pytest.approx(0.01, abs=5e-4)
