"""The real M2 files of CoNLL-2014: their numbers, and the same bytes again after reading and writing."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from grater.corpora.formats import Loss
from grater.corpora.m2 import FORMAT
from grater.corpora.merge import attach_documents
from grater.corpora.nucle import FORMAT as NUCLE
from grater.corpora.source import open_source
from grater.model import Essay
from tests.corpora.sources import TextSource
from tests.real_data import data_path

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

pytestmark = pytest.mark.data


def read(path: Path) -> list[Essay]:
    return list(FORMAT.read(open_source(path)))


def n_edits(essays: list[Essay]) -> dict[str, int]:
    return Counter(edit.rater for essay in essays for edit in essay.edits)


@pytest.mark.parametrize("name", [*FILES, *(pytest.param(name, marks=pytest.mark.slow) for name in NINE_MORE)])
def test_an_official_file_has_its_numbers_and_comes_out_byte_for_byte(name: str) -> None:
    path = data_path(name)
    essays = read(path)
    assert len(essays) == 1312
    assert sum(len(essay.tokens or ()) for essay in essays) == 30144
    assert FILES.get(name) in (None, n_edits(essays))
    losses: list[Loss] = []
    assert "".join(FORMAT.write(essays, losses.append)).encode() == path.read_bytes()
    assert losses == []


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


@pytest.mark.parametrize(
    ("annotator", "n_in_sgml", "n_left_out", "n_changed"), [("0", 2397, 3, 7), ("1", 3331, 17, 4)]
)
def test_sgml_to_m2_names_every_edit_that_m2_cannot_hold(
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
