"""Neither the order of essays nor their division into files changes a number, a limit or the fingerprint."""

from hypothesis import given
from hypothesis import strategies as st

from grater.corpora.counts import CorpusCounts
from grater.corpora.statistics import Study, Summary, corpus_statistics
from grater.model import Edit, Essay, Json, Span
from tests.corpora.statistics.essays import TWO_SENTENCES
from tests.examples import examples

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


def numbers(study: Study) -> Json:
    return study.to_dict()


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
    assert numbers(one.whole) == numbers(two.whole)
    assert one.signature == two.signature


@examples(20)
@given(corpora())
def test_merging_alternatives_never_adds_edits(essays: list[Essay]) -> None:
    def counts(*, merge: bool) -> CorpusCounts:
        summary: Summary = corpus_statistics({"x": essays}, merge_alternatives=merge).whole.summary
        return summary.counts

    apart, merged = counts(merge=False), counts(merge=True)
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
