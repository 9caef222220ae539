"""Counts and numbers of corpora with their intervals: by hand, by annotator and field, as JSON and as tables."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from math import exp, isnan, sqrt
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grater.corpora.counts import CorpusCounts, Counting, Documents, Histogram, Portion, count_essay, sentence_index
from grater.corpora.statistics import CorpusStatistics, Estimates, corpus_statistics, in_order, summarise, value_of
from grater.errors import UnknownName, UsageError
from grater.model import Edit, Essay, Json, Span
from grater.sheet import as_text
from grater.uncertainty import t_value
from tests.cli.running import widest
from tests.examples import examples


def edit(start: int, end: int, *replacements: str, tag: str = "Wci", rater: str = "A") -> Edit:
    return Edit(Span(start, end), replacements, tag, rater)


#                0         1         2         3         4         5
#                0123456789012345678901234567890123456789012345678901234
TWO_SENTENCES = "My brother like football. He play it in every evening."
"""4 words and a stop, then 6 words and a stop: 12 tokens, 11 types (the stop twice)."""


def two_sentences(
    *edits: Edit, annotators: tuple[str, ...] = ("A",), essay_id: str = "one", **metadata: Json
) -> Essay:
    return Essay(essay_id, TWO_SENTENCES, edits, annotators, metadata=metadata)


def m2_block(text: str, *edits: Edit, annotators: tuple[str, ...] = ("0",), **metadata: Json) -> Essay:
    """A tokenised sentence, as the M2 reader gives it."""
    tokens, start = [], 0
    for word in text.split(" "):
        tokens.append(Span(start, start + len(word)))
        start += len(word) + 1
    return Essay(text, text, edits, annotators, tuple(tokens), metadata)


def study(*corpora: Sequence[Essay], by: str | None = None) -> CorpusStatistics:
    return corpus_statistics({f"c{number}": essays for number, essays in enumerate(corpora)}, by=by)


def shown(*corpora: list[Essay], by: str | None = None) -> Any:
    """The study as it comes back from JSON, which has no nan."""
    return json.loads(json.dumps(study(*corpora, by=by).to_dict(), allow_nan=False))


def estimates_of(*essays: Essay) -> Estimates:
    return study(essays).whole.summary.estimates


def test_densities_and_shares_are_per_reading() -> None:
    # 12 tokens: one edit read once is 1/12; two readings with an edit each are 2/24.
    once = estimates_of(two_sentences(edit(11, 15, "likes")))
    twice = estimates_of(two_sentences(edit(11, 15, "likes"), edit(11, 15, "likes", rater="B")))
    assert once.density.value == twice.density.value == pytest.approx(100 / 12)
    read = two_sentences(edit(11, 15, "likes"))
    unread = two_sentences(essay_id="two", annotators=())
    estimates = estimates_of(read, unread)
    assert estimates.sentences["1"].value == 0.5
    assert estimates.density.value == pytest.approx(100 / 12)
    density = estimates_of(two_sentences(annotators=())).density
    assert isnan(density.value)
    assert density.undefined_because == "no annotator read any text here"


def test_the_interval_of_a_density_is_that_of_the_hand() -> None:
    # 0, 1 and 2 edits in 12 tokens each; leaving one out gives rates of 3/24, 2/24 and 1/24.
    marks = [edit(11, 15, "likes"), edit(0, 4, "He")]
    essays = [two_sentences(*marks[:number], essay_id=str(number)) for number in range(3)]
    density = estimates_of(*essays).density
    error = sqrt((100 / 24) ** 2 * 2 * 4 / 6)
    factor = exp(t_value(2) * error / (100 / 12))
    assert (density.low, density.high) == pytest.approx((100 / 12 / factor, 100 / 12 * factor))
    # up to five tags are the top five for certain
    top5 = estimates_of(two_sentences(edit(11, 15, "likes")), two_sentences(essay_id="two")).top5
    assert (top5.value, top5.low, top5.high) == (1, 1, 1)


def test_few_documents_have_no_limits_and_unknown_ones_make_sentences_independent_and_both_say_so() -> None:
    for n, documents in ((1, "1 document"), (2, "2 documents")):
        essays = [two_sentences(*[edit(11, 15, "likes")] * at, essay_id=str(at)) for at in range(1, n + 1)]
        statistics = study(essays)
        density = statistics.whole.summary.estimates.density
        assert (isnan(density.value), isnan(density.low)) == (False, True)
        assert density.undefined_because == f"its cases come from {documents}; an interval needs 3"
        assert any(density.undefined_because in note for note in statistics.sheets()[-1].notes)
    scope = study([m2_block(f"Number {number} is well .") for number in range(9)]).scope
    assert (scope.unit, scope.n_units) == ("sentence", 9)
    assert "sentences taken as independent: their documents are not known" in scope.sentence
    of_essays = study([two_sentences()])
    assert of_essays.scope.unit == "document"
    assert "units:document" in str(of_essays.signature)


def test_adjudicated_work_is_no_annotator() -> None:
    marked = [two_sentences(edit(11, 15, "likes"), essay_id=str(number)) for number in range(3)]
    gold = edit(0, 4, "He", rater="gold")
    judged = [replace(essay, edits=(*essay.edits, gold), annotators=("A", "gold")) for essay in marked]
    alone, beside = study(marked), study(judged)
    assert beside.whole.summary.estimates == alone.whole.summary.estimates
    assert list(beside.whole.by_annotator) == list(alone.whole.by_annotator)
    assert any("gold holds adjudicated decisions" in note for note in beside.sheets()[-1].notes)
    only = [replace(essay, edits=(gold,), annotators=("gold",)) for essay in marked]
    assert study(only).whole.summary.counts.edits == 3, "nobody else marked anything"


def test_the_same_text_by_two_annotators_is_no_new_text() -> None:
    words = [f"Number {number} is wel ." for number in range(30)]
    blocks = [m2_block(text, *[edit(0, 6, "No.", rater="0")] * (len(text) % 2)) for text in words]
    one, two = study(blocks).whole.summary, study(blocks, blocks).whole.summary
    assert two.n_blocks == one.n_blocks
    assert two.estimates.density == one.estimates.density
    both = [
        replace(each, edits=(*each.edits, *(replace(own, rater="1") for own in each.edits)), annotators=("0", "1"))
        for each in blocks
    ]
    assert study(both).whole.summary.estimates == one.estimates


def test_essays_that_draw_many_edits_are_distinguished_from_chance() -> None:
    # NUCLE, section 4: "rich get richer".
    even = stats_of([5, 4, 6, 5, 4, 6, 5, 5])
    rich = stats_of([0, 0, 1, 0, 20, 0, 1, 18])
    assert even["dispersion"]["index"] < 1
    assert even["dispersion"]["p"] > 0.9
    assert rich["dispersion"]["index"] > 5
    assert rich["dispersion"]["p"] < 0.001
    assert rich["dispersion"]["units"] == 8
    edits = [5, 4, 8, 2, 7, 3, 5, 6]
    assert stats_of(edits, "AB")["dispersion"] == pytest.approx(stats_of(edits)["dispersion"])


def stats_of(edits: Sequence[int], annotators: str = "A") -> Any:
    """The numbers of essays of thirty words, so many of which are wrong in each, to each annotator."""
    essays = []
    for number, n_wrong in enumerate(edits):
        starts = range(0, 5 * n_wrong, 5)
        marks = [edit(start, start + 4, "x", rater=annotator) for annotator in annotators for start in starts]
        essays.append(Essay(f"e{number}", " ".join(["word"] * 30), tuple(marks), tuple(annotators)))
    return study(essays).whole.summary.to_dict()


def test_m2_blocks_that_name_their_document_make_one_in_each_file() -> None:
    marked = m2_block("One .", edit(0, 3, "1", rater="0"), document="d1")
    blocks = [marked, m2_block("Two .", document="d2"), m2_block("Three .", document="d1")]
    one, both = (study(*files).whole.summary.documents for files in ([blocks], [blocks, [marked]]))
    assert (one.n, one.by_edits) == (2, {0: 1, 1: 1}), "who found nothing has read it"
    assert (both.n, both.by_edits) == (3, {0: 1, 1: 2})


@given(st.lists(st.integers(0, 30), min_size=1, max_size=40))
def test_measures_are_those_of_the_list_and_nothing_read_has_none_with_a_reason(numbers: list[int]) -> None:
    # 0, 0, 0, 1, 1, 4, 101, 102
    histogram = Histogram({0: 3, 1: 2, 4: 1, 101: 1, 102: 1})
    assert (histogram.n, histogram.mean, histogram.median) == (8, 209 / 8, 1)
    assert (histogram.mode, histogram.highest, histogram.above(100)) == (0, 102, 2)
    shown = Histogram({}).as_json()
    assert (shown["n"], shown["mean"], shown["max"]) == (0, None, None)
    assert shown["reason"]
    histogram = Histogram({number: numbers.count(number) for number in numbers})
    ranked = sorted(numbers)
    assert histogram.median == (ranked[(len(ranked) - 1) // 2] + ranked[len(ranked) // 2]) / 2
    assert histogram.mean == pytest.approx(sum(numbers) / len(numbers))


APART, MERGED = Counting(), Counting(merge_alternatives=True)


def test_annotators_are_those_listed_and_the_raters_of_edits() -> None:
    counted = count_essay(two_sentences(edit(11, 15, "likes"), annotators=("A", "B")), APART)
    assert (counted.text.sentences, counted.text.tokens, len(counted.words)) == (2, 12, 11)
    assert {name: (reading.sentences_read, reading.edits) for name, reading in counted.by_annotator.items()} == {
        "A": (2, 1),
        "B": (2, 0),
    }
    counted = count_essay(two_sentences(edit(11, 15, "likes", rater="C")), APART)
    assert set(counted.by_annotator) == {"A", "C"}
    counted = count_essay(two_sentences(annotators=()), APART)
    assert counted.text.unread == 2
    assert counted.by_annotator == {}
    counted = count_essay(m2_block("All is well .", edit(0, 0, tag="noop", rater="1")), APART)
    assert {name: reading.edits for name, reading in counted.by_annotator.items()} == {"0": 0, "1": 0}


def test_edits_and_tokens_are_counted_per_sentence() -> None:
    reading = count_essay(two_sentences(edit(16, 28, "football; he")), APART).by_annotator["A"]
    assert (reading.edits, reading.edits_inside, reading.by_sentence) == (1, 0, {0: 2})
    counted = count_essay(Essay("e", "", (edit(0, 0, "x"),), ("A",)), APART)
    reading = counted.by_annotator["A"]
    assert (reading.edits, reading.edits_inside, reading.by_sentence) == (1, 0, {})
    counted = count_essay(m2_block("Stop . Go don't ."), APART)
    assert (counted.text.sentences, counted.text.tokens) == (1, 5)


def test_sentence_reaches_to_the_start_of_the_next() -> None:
    # With the space after the full stop, an insertion where the second sentence starts, into its first letter.
    places = {(0, 5): 0, (16, 26): 0, (26, 26): 1, (26, 28): 1, (25, 27): None, (54, 54): 1}
    assert {place: sentence_index(Span(*place), [0, 26]) for place in places} == places


def test_edits_on_one_span_can_be_merged_under_each_of_their_tags() -> None:
    essay = two_sentences(edit(11, 15, "likes", tag="SVA"), edit(11, 15, "loves", tag="Wci"), edit(37, 40, ""))
    apart, merged = (count_essay(essay, counting).by_annotator["A"] for counting in (APART, MERGED))
    assert (apart.edits, apart.places, apart.places_with_several) == (3, 2, 1)
    assert (merged.edits, merged.places, merged.places_with_several) == (2, 2, 1)
    assert apart.by_sentence == {1: 1, 2: 1}
    assert merged.by_sentence == {1: 2}
    first, second = edit(11, 15, "likes", tag="SVA"), edit(11, 15, "loves", tag="Wci")
    reading = count_essay(two_sentences(first, second, edit(11, 15, "like", tag="SVA")), MERGED).by_annotator["A"]
    assert reading.by_tag == {"SVA": 1, "Wci": 1}
    assert (reading.edits, reading.labels) == (1, 2)


def test_broad_tags_are_split_by_their_words_on_demand() -> None:
    essay = two_sentences(edit(37, 39, "on", tag="Wcip"), edit(16, 24, "soccer", tag="Wcip"))
    assert count_essay(essay, APART).by_annotator["A"].by_tag == {"Wcip": 2}
    halves = count_essay(essay, Counting(split_tags=True)).by_annotator["A"].by_tag
    assert halves == {"Wcip/prep": 1, "Wcip/other": 1}


def test_json_by_hand_has_the_keys_of_the_contract() -> None:
    found = shown([two_sentences()], [m2_block("All is well .")], [])
    for part in (found, *found["files"]):
        assert {"documents", "sentences", "tokens", "types", "edits"} <= part.keys()
        assert {"by_annotator", "by_tag", "per_document", "per_sentence"} <= part.keys()
    assert [file["name"] for file in found["files"]] == ["c0", "c1", "c2"]
    first = two_sentences(
        edit(11, 15, "likes", tag="SVA"), edit(29, 33, "plays", tag="SVA"), edit(37, 39, "", tag="Rloc")
    )
    found = shown([first, two_sentences(essay_id="two", annotators=("A", "B"))])
    assert (found["documents"], found["sentences"], found["tokens"], found["edits"]) == (2, 4, 24, 3)
    assert (found["types"], found["types_folded"]) == (11, 11)
    assert found["readings"] == {"documents": 3, "sentences": 6, "tokens": 36}
    assert found["by_tag"] == {"SVA": 2, "Rloc": 1}
    assert found["tag_shares"]["SVA"]["value"] == 2 / 3
    assert found["per_document"]["histogram"] == {"0": 2, "3": 1}
    assert found["per_document"]["edits"] == 1
    assert found["per_sentence"]["histogram"] == {"0": 4, "1": 1, "2": 1}
    assert found["per_sentence"]["shares"]["0"]["value"] == 4 / 6
    assert {name: part["edits"] for name, part in found["by_annotator"].items()} == {"A": 3, "B": 0}
    assert found["density"]["value"] == pytest.approx(100 * 3 / 36)
    found = shown([m2_block("The end is the End .")])
    assert (found["types"], found["types_folded"]) == (6, 4)


def test_unknown_documents_and_empty_corpora_are_null_with_the_reason_next_to_them() -> None:
    unknown = shown([m2_block("All is well .")])
    assert unknown["documents"] is unknown["per_document"]["edits"] is None
    assert "document" in unknown["reason"]
    assert unknown["per_document"]["reason"]
    empty = shown([])
    assert (empty["documents"], empty["tokens"], empty["edits"]) == (0, 0, 0)
    assert empty["density"]["value"] is None
    assert empty["density"]["reason"]


def test_signature_changes_with_the_data_and_the_options() -> None:
    marked, other = two_sentences(edit(11, 15, "likes")), two_sentences(edit(11, 15, "loves"))
    merged = corpus_statistics({"c0": [marked]}, merge_alternatives=True).signature
    signatures = [study([marked]).signature, study([other]).signature, merged]
    assert len(set(map(str, signatures))) == 3
    assert study([marked]).signature == signatures[0]


def test_annotators_of_one_id_are_apart_where_files_hold_the_same_essays() -> None:
    first, second = m2_block("He go home .", edit(3, 5, "goes", rater="0")), m2_block("He go home .")
    whole = corpus_statistics({"A1": [first], "A2": [second]}).whole
    assert {name: summary.counts.edits for name, summary in whole.by_annotator.items()} == {"A1": 1, "A2": 0}
    assert (whole.summary.counts.sentences, whole.summary.counts.edits) == (2, 1)
    first, second = two_sentences(edit(11, 15, "likes")), Essay("two", "I am here.", (), ("A",))
    whole = corpus_statistics({"one.sgml": [first], "two.sgml": [second]}).whole
    assert {name: summary.documents.n for name, summary in whole.by_annotator.items()} == {"A": 2}
    same = shown(
        [two_sentences(edit(11, 15, "likes"))], [two_sentences()], [two_sentences(essay_id="two"), two_sentences()]
    )
    assert same["same_text"] == [["c0", "c1"]]
    assert shown([], [])["same_text"] == []


ESSAYS = [
    two_sentences(edit(11, 15, "likes"), essay_id="a", language="Tamil", score=30),
    two_sentences(edit(11, 15, "likes"), edit(29, 33, "plays"), essay_id="b", language="Malay", score=9),
    two_sentences(essay_id="c", language=""),
]


def test_values_of_a_field_are_rows_in_order_and_unknown_fields_are_refused() -> None:
    whole = study(ESSAYS, by="language").whole
    assert [(value, summary.counts.edits) for value, summary in whole.by_value.items()] == [
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
@given(corpora(), st.integers(0, 6), st.data())
def test_neither_order_nor_division_into_files_changes_a_number(
    essays: list[Essay], cut: int, data: st.DataObject
) -> None:
    one = study(essays, by="language")
    assert study(data.draw(st.permutations(essays)), by="language").to_dict() == one.to_dict()
    two = study(essays[:cut], essays[cut:], by="language")
    assert two.whole.to_dict() == one.whole.to_dict()
    assert two.signature == one.signature


@examples(20)
@given(corpora())
def test_annotators_add_up_to_the_whole_and_merging_alternatives_never_adds_edits(essays: list[Essay]) -> None:
    whole = study(essays).whole
    apart, parts = whole.summary.counts, [summary.counts for summary in whole.by_annotator.values()]
    assert sum(counts.edits for counts in parts) == apart.edits == apart.labels
    assert sum(counts.tokens_read for counts in parts) == apart.tokens_read
    assert sum(whole.summary.per_sentence.by_number.values()) == apart.sentences_read
    merged = corpus_statistics({"x": essays}, merge_alternatives=True).whole.summary.counts
    assert merged.edits == merged.places == apart.places <= apart.edits


MARKED = [
    two_sentences(edit(11, 15, "likes", tag="SVA"), edit(37, 39, "", tag="Rloc"), language="Tamil"),
    two_sentences(edit(11, 15, "likes", tag="SVA"), essay_id="two", language="[bold]"),
]
BLOCKS = [m2_block(f"Number {number} is well .", annotators=("0", "1")) for number in range(3)]


@pytest.mark.parametrize("n_corpora", [1, 2, 3, 4, 9])
@pytest.mark.parametrize("essays", [MARKED, BLOCKS, []])
def test_table_fits_a_terminal(essays: list[Essay], n_corpora: int) -> None:
    lines = [
        line for sheet in study(*[essays] * n_corpora).sheets() for line in as_text(sheet, width=80).splitlines()
    ]
    assert widest("\n".join(line for line in lines if "  " in line)) <= 80


def test_frame_has_one_number_per_row() -> None:
    frame = study(MARKED, BLOCKS, by="language").to_frame()
    assert frame.columns == ["corpus", "by", "group", "measure", "value", "low", "high"]
    assert set(frame["corpus"]) == {"c0", "c1", "all"}
    tamil = frame.filter(corpus="c0", by="language", group="Tamil", measure="edits")
    assert tamil["value"].to_list() == [2.0]
    assert frame.filter(measure="documents", corpus="c1")["value"].to_list()[0] is None


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
