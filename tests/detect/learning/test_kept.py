from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from grater.detect.learning.events import Events
from grater.detect.learning.kept import keep, kept
from grater.detect.learning.vocabulary import Vocabulary
from grater.errors import BadInput
from grater.model import Json

EVENTS = Events(
    np.arange(6, dtype=np.int32).reshape(2, 3),
    np.array([3, 34], np.int8),
    np.array([0, 99], np.int8),
    Vocabulary(("the", "naïve", "\ud83d")),
)
SOURCE: dict[str, Json] = {"text": ["a.txt, 12 bytes"], "seed": 0}


def test_events_come_back_as_they_were(tmp_path: Path) -> None:
    keep(EVENTS, tmp_path / "events.npz", SOURCE)
    back = kept(tmp_path / "events.npz", SOURCE)
    assert back.vocabulary == EVENTS.vocabulary
    for name in ("rows", "labels", "folds"):
        assert np.array_equal(getattr(back, name), getattr(EVENTS, name))
        assert getattr(back, name).dtype == getattr(EVENTS, name).dtype


def test_events_of_another_text_are_refused(tmp_path: Path) -> None:
    keep(EVENTS, tmp_path / "events.npz", SOURCE)
    with pytest.raises(BadInput, match="come from another text; delete the file"):
        kept(tmp_path / "events.npz", {**SOURCE, "text": ["b.txt, 12 bytes"]})


def test_something_else_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "events.npz"
    path.write_bytes(b"nothing of the kind")
    with pytest.raises(BadInput, match="expected kept events"):
        kept(path, SOURCE)
    np.savez(path, other=np.zeros(2))
    with pytest.raises(BadInput, match="expected kept events"):
        kept(path, SOURCE)
    with path.open("wb") as stream:
        np.save(stream, np.zeros(2))
    with pytest.raises(BadInput, match="expected kept events"):
        kept(path, SOURCE)


@pytest.mark.parametrize("text", [b"[]", b"7", b"{", b'{"words": []}', b'{"words": 5, "source": {}}'])
def test_an_archive_with_other_words_inside_is_refused(tmp_path: Path, text: bytes) -> None:
    path, none = tmp_path / "events.npz", np.zeros(0)
    np.savez(path, rows=none, labels=none, folds=none, text=np.frombuffer(text, np.uint8))
    with pytest.raises(BadInput, match="expected kept events"):
        kept(path, SOURCE)


def test_a_file_that_is_not_there_is_said_so(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="cannot be read"):
        kept(tmp_path / "events.npz", SOURCE)
