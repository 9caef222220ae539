"""Numbers of Dahlmeier, Ng & Wu 2013, section 5, from the paper's own totals."""

from collections import Counter

import pytest

from grater.corpora.counts import CorpusCounts, Documents, Portion
from grater.corpora.statistics import Summary, summarise

# The ten most frequent tags of Figure 4 as the text gives them; the other 17 share the rest.
TOP_TEN = {
    "Wcip": 7312, "Rloc": 6390, "ArtOrDet": 6004, "Nn": 3955, "Mec": 3290,
    "Vt": 3288, "Wform": 2241, "SVA": 1578, "Others": 1532, "Vform": 1531,
}  # fmt: skip
REST = {f"other {number}": 557 for number in range(16)} | {"other 16": 564}
# Shares of sentences with 0, 1, 2 and more edits (57.64 %, 20.48 %, 10.66 %, 11.21 %) of 59,871.
BY_SENTENCE = {0: 34_510, 1: 12_262, 2: 6_382, 3: 6_716, 28: 1}


@pytest.fixture(scope="module")
def nucle() -> Summary:
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
    return summarise(Portion({0: counts}, documents))


def test_table_5(nucle: Summary) -> None:
    ratios = [*nucle.means.values(), nucle.estimates.density.value]
    assert ratios == pytest.approx([42.34, 862.98, 20.38, 32.95, 3.82], abs=0.005)


def test_top_five_and_top_ten_tags(nucle: Summary) -> None:
    assert nucle.counts.edits == nucle.counts.labels
    # The paper's 57.83 % is the sum of its rounded shares; of the counts it is 26,951 / 46,597.
    assert nucle.estimates.top5.value == pytest.approx(0.578385, abs=5e-7)
    rounded = [round(100 * nucle.estimates.tags[tag].value, 2) for tag in list(TOP_TEN)[:5]]
    assert sum(rounded) == pytest.approx(57.83)
    assert nucle.estimates.top10.value == pytest.approx(0.7966, abs=5e-5)
    assert list(nucle.estimates.tags)[:10] == list(TOP_TEN)
    assert nucle.estimates.tags["Wcip"].value == pytest.approx(0.1569, abs=5e-5)


def test_shares_of_sentences(nucle: Summary) -> None:
    shares = [share.value for share in nucle.estimates.sentences.values()]
    # The paper's four shares sum to 99.99 %: the last was cut, not rounded.
    assert shares == pytest.approx([0.5764, 0.2048, 0.1066, 0.1121], abs=1e-4)
    assert nucle.per_sentence.highest == 28


def test_shares_inside_a_sentence_and_with_alternatives(nucle: Summary) -> None:
    assert nucle.estimates.inside.value == pytest.approx(0.986, abs=5e-4)
    assert nucle.estimates.alternatives.value == pytest.approx(0.01, abs=5e-4)
