"""The CoNLL-2014 test set (Ng et al. 2014), whose counts are known."""

import pytest

from grater.corpora import read_corpus
from grater.corpora.statistics import Study, corpus_statistics
from tests.real_data import data_path


def study_of(*files: str) -> Study:
    corpora = {name: read_corpus(data_path(f"conll14/{name}")) for name in files}
    return corpus_statistics(corpora).whole


@pytest.mark.data
@pytest.mark.parametrize(("annotator", "n_edits"), [(0, 2391), (1, 3317)])
def test_official_m2(annotator: int, n_edits: int) -> None:
    summary = study_of(f"official/official-2014.{annotator}.m2").summary
    counts = summary.counts
    assert (counts.sentences, counts.tokens, counts.edits) == (1312, 30_144, n_edits)
    assert counts.sentences_read == 1312
    assert summary.documents.n is None


@pytest.mark.data
def test_combined_m2_distinguishes_its_annotators_and_counts_no_no_op() -> None:
    study = study_of("official/official-2014.combined.m2")
    assert {name: summary.counts.edits for name, summary in study.by_annotator.items()} == {"0": 2391, "1": 3207}


@pytest.mark.data
def test_official_sgml() -> None:
    study = study_of("official/official-2014.0.sgml", "official/official-2014.1.sgml")
    edits = [summary.counts.edits for summary in study.by_annotator.values()]
    assert sorted(edits) == [2397, 3331]
    assert study.summary.documents.n == 100
