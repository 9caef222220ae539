"""The agreement of the annotators of CoNLL-2014; the numbers are in docs/raters-needed.md."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import pytest

from grater.corpora import read_corpus
from grater.corpora.merge import Reread, attach_documents, merge_annotators
from grater.measure.agreement.edits import edit_agreement
from grater.model import Essay
from tests.real_data import data_path


def merged(*names: str) -> Iterator[Essay]:
    paths = [data_path(f"conll14/{name}") for name in names]
    return merge_annotators({path.stem: Reread(partial(read_corpus, path)) for path in paths})


@pytest.mark.data
def test_the_two_official_annotators_of_conll_2014() -> None:
    essays = merged("official/official-2014.0.m2", "official/official-2014.1.m2")
    documents = read_corpus(data_path("conll14/official/official-2014.0.sgml"))
    found = edit_agreement(attach_documents(essays, documents))
    assert (found.n_units, found.n_essays, found.scope.n_units) == (30_144, 1_312, 50)
    kappas = [each.mean_kappa.value for each in found.criteria.values()]
    assert kappas == pytest.approx([0.4372, 0.5302, 0.4474], abs=5e-5)
    assert found.criteria["classification"].n_units == 1_753
    assert found.warnings == ()


@pytest.mark.data
def test_a_combined_file_is_warned_about() -> None:
    found = edit_agreement(read_corpus(data_path("conll14/official/official-2014.combined.m2")))
    assert any("drops an annotator who agrees" in warning for warning in found.warnings)


@pytest.mark.data
@pytest.mark.slow
def test_all_ten_annotators_of_conll_2014() -> None:
    found = edit_agreement(merged(*(f"ten-annotators/A{n}.m2" for n in range(1, 11))))
    assert [len(each.pairs) for each in found.criteria.values()] == [45, 45, 45]
    means = [each.mean_kappa.value for each in found.criteria.values()]
    assert means == pytest.approx([0.4599, 0.5532, 0.4761], abs=5e-5)
    alphas = [each.coefficients["alpha"].value for each in found.criteria.values()]
    assert alphas == pytest.approx([0.4600, 0.5306, 0.4483], abs=5e-5)
