from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from grater.errors import BadInput, GraterError, UnknownName, UsageError
from grater.models import Packing, read_model, shipped, shipped_names, write_model


def write(path: Path, *, packing: Packing = "zlib", **changed: Any) -> bytes:
    parts: dict[str, Any] = {
        "kind": "toy",
        "card": {"name": "toy", "data": ["our own"]},
        "arrays": {"weights": np.arange(6, dtype=np.int8).reshape(2, 3), "none": np.zeros((0, 4), np.float32)},
        "strings": {"words": ["a", "naïve", "\n\0", "\ud800", ""]},
    }
    write_model(path, **{**parts, **changed}, packing=packing)
    return path.read_bytes()


@pytest.mark.parametrize("packing", ["none", "zlib", "lzma"])
def test_what_is_written_is_read_again(tmp_path: Path, packing: Packing) -> None:
    write(tmp_path / "toy.model", packing=packing)
    model = read_model(tmp_path / "toy.model", kind="toy")
    assert model.arrays["weights"].tolist() == [[0, 1, 2], [3, 4, 5]]
    assert model.arrays["weights"].dtype == np.int8
    assert model.arrays["none"].shape == (0, 4)
    assert model.strings["words"] == ("a", "naïve", "\n\0", "\ud800", "")
    assert model.card["name"] == "toy"
    assert len(str(model.card["hash"])) == 16


def test_equal_models_are_equal_files(tmp_path: Path) -> None:
    assert write(tmp_path / "one.model") == write(tmp_path / "two.model")


def test_arrays_of_any_byte_order_and_layout_are_kept(tmp_path: Path) -> None:
    array = np.asfortranarray(np.arange(6, dtype=">i4").reshape(2, 3))
    write(tmp_path / "toy.model", arrays={"weights": array})
    assert read_model(tmp_path / "toy.model", kind="toy").arrays["weights"].tolist() == array.tolist()


def test_arrays_are_not_to_be_changed(tmp_path: Path) -> None:
    write(tmp_path / "toy.model")
    with pytest.raises(ValueError, match="read-only"):
        read_model(tmp_path / "toy.model", kind="toy").arrays["weights"][0, 0] = 1


def test_arrays_of_objects_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="expected numbers"):
        write(tmp_path / "toy.model", arrays={"weights": np.array([None])})
    assert not (tmp_path / "toy.model").exists()


def test_another_kind_is_refused(tmp_path: Path) -> None:
    write(tmp_path / "toy.model")
    with pytest.raises(BadInput, match="expected a model of kind 'tagger', found kind 'toy'"):
        read_model(tmp_path / "toy.model", kind="tagger")


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda content: content[:-1], "cut off or damaged"),
        (lambda content: content + b"x", "cut off or damaged"),
        (lambda content: content[:-1] + bytes([content[-1] ^ 1]), "damaged: its contents"),
        (lambda content: content[:30], "header cannot be read"),
        (lambda content: content.replace(b"grater-model 1", b"grater-model 9", 1), "found '9'"),
        (lambda content: b"PK" + content, "found something else"),
        (lambda content: content[:0], "found something else"),
        (lambda content: content.replace(b'"sha256"', b'"sha999"', 1), "header cannot be read"),
    ],
    ids=["short", "long", "flipped", "no header", "version", "no model", "empty", "no hash"],
)
def test_damage_is_named(tmp_path: Path, spoil: Any, said: str) -> None:
    path = tmp_path / "toy.model"
    path.write_bytes(spoil(write(path)))
    with pytest.raises(BadInput, match=said) as raised:
        read_model(path, kind="toy")
    assert str(path) in str(raised.value)
    assert "\n" not in str(raised.value)


def test_every_cut_of_a_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "toy.model"
    content = write(path)
    for end in range(len(content)):
        path.write_bytes(content[:end])
        with pytest.raises(BadInput):
            read_model(path, kind="toy")


def test_no_file_at_the_path_is_said(tmp_path: Path) -> None:
    with pytest.raises(GraterError, match="cannot be read: No such file"):
        read_model(tmp_path / "none.model", kind="toy")


def test_the_tagger_is_shipped() -> None:
    assert "tagger" in shipped_names()
    assert shipped("tagger").is_file()


def test_an_unknown_model_is_answered_with_the_nearest() -> None:
    with pytest.raises(UnknownName, match="Did you mean 'tagger'"):
        shipped("taggr")
