from __future__ import annotations

import hashlib
import json
import lzma
import tracemalloc
import zlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from grater.corpora.text.tags import load_tagger
from grater.detect.articles import detector as articles
from grater.detect.context import detector as context
from grater.detect.ngrams import language_model
from grater.detect.prepositions import engines
from grater.errors import BadInput, UnknownName, UsageError
from grater.models import Packing, kind_of, read_model, shipped, shipped_names, write_model


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
def test_what_is_written_is_read_again_and_equal_models_are_equal_files(tmp_path: Path, packing: Packing) -> None:
    content = write(tmp_path / "toy.model", packing=packing)
    model = read_model(tmp_path / "toy.model", kind="toy")
    assert model.arrays["weights"].tolist() == [[0, 1, 2], [3, 4, 5]]
    assert model.arrays["weights"].dtype == np.int8
    assert model.arrays["none"].shape == (0, 4)
    assert model.strings["words"] == ("a", "naïve", "\n\0", "\ud800", "")
    assert model.card["name"] == "toy"
    assert len(str(model.card["hash"])) == 16
    assert write(tmp_path / "again.model", packing=packing) == content


def test_arrays_of_any_byte_order_and_layout_are_kept_and_arrays_of_objects_refused(tmp_path: Path) -> None:
    array = np.asfortranarray(np.arange(6, dtype=">i4").reshape(2, 3))
    write(tmp_path / "toy.model", arrays={"weights": array})
    assert read_model(tmp_path / "toy.model", kind="toy").arrays["weights"].tolist() == array.tolist()
    with pytest.raises(UsageError, match="expected numbers"):
        write(tmp_path / "odd.model", arrays={"weights": np.array([None])})
    assert not (tmp_path / "odd.model").exists()


def test_another_kind_is_refused_and_an_unknown_model_answered_with_the_nearest(tmp_path: Path) -> None:
    write(tmp_path / "toy.model")
    with pytest.raises(BadInput, match="expected a model of kind 'tagger', found kind 'toy'"):
        read_model(tmp_path / "toy.model", kind="tagger")
    with pytest.raises(UnknownName, match="Did you mean 'tagger'"):
        shipped("taggr")


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda content: content[:-1], "cut off or damaged"),
        (lambda content: content + b"x", "cut off or damaged"),
        (lambda content: content[:-1] + bytes([content[-1] ^ 1]), "damaged: its contents"),
        (lambda content: content[:30], "header cannot be read"),
        (lambda content: content.replace(b"grater-model 1", b"grater-model 9", 1), "found '9'"),
        (lambda content: b"PK" + content, "found something else"),
        (lambda content: content[:0], "found something else"),
        (lambda content: content.replace(b'"sha256"', b'"sha999"', 1), "header cannot be read"),
        (lambda _: b"grater-model 1\n" + b"[" * 100_000 + b"]" * 100_000 + b"\n", "header cannot be read"),
    ],
    ids=["short", "long", "flipped", "no header", "version", "no model", "empty", "no hash", "nested"],
)
def test_damage_is_named(tmp_path: Path, spoil: Any, message: str) -> None:
    path = tmp_path / "toy.model"
    path.write_bytes(spoil(write(path)))
    with pytest.raises(BadInput, match=message) as raised:
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


def crafted(path: Path, part: dict[str, Any], body: bytes, *, packing: str = "zlib") -> Path:
    """A model file of somebody who means no good: its hash is right, and so is its size."""
    header = {"kind": "toy", "card": {}, "packing": packing, "parts": [{**part, "size": len(body)}]}
    header["sha256"] = hashlib.sha256(body).hexdigest()
    path.write_bytes(b"grater-model 1\n" + json.dumps(header).encode() + b"\n" + body)
    return path


@pytest.mark.parametrize("packing", ["zlib", "lzma"])
@pytest.mark.parametrize(
    "part",
    [
        {"strings": "words"},
        {"array": "weights", "dtype": "|u1", "shape": [16]},
        {"array": "weights", "dtype": "|u1", "shape": [300_000_000]},
    ],
    ids=["strings", "more than its header says", "as much as its header says"],
)
def test_a_small_file_that_unpacks_to_hundreds_of_megabytes_is_refused_by_its_header(
    tmp_path: Path, part: dict[str, Any], packing: Packing
) -> None:
    path = crafted(tmp_path / "toy.model", part, bomb(packing), packing=packing)
    tracemalloc.start()
    with pytest.raises(BadInput, match="unpack to far more than its size"):
        read_model(path, kind="toy")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 260_000_000


@cache
def bomb(packing: Packing) -> bytes:
    """300 MB of zeros, packed piece by piece."""
    packer = zlib.compressobj(1) if packing == "zlib" else lzma.LZMACompressor(preset=0)
    return b"".join([*(packer.compress(bytes(10_000_000)) for _ in range(30)), packer.flush()])


@pytest.mark.parametrize(
    ("part", "raw"),
    [
        ({"strings": "words"}, b"[" * 100_000 + b"]" * 100_000),
        ({"strings": "words"}, b'{"a": 1}'),
        ({"strings": "words"}, b"[1, 2]"),
        ({"array": "w", "dtype": "|u1", "shape": [-1, -4]}, b"abcd"),
        ({"array": "w", "dtype": "|O", "shape": [1]}, b"abcdefgh"),
        ({"array": "w", "dtype": "|u1", "shape": "4"}, b"abcd"),
        ({"array": "w", "dtype": "|u1", "shape": [5]}, b"abcd"),
    ],
)
def test_parts_that_are_no_arrays_or_strings_are_refused_in_one_line(
    tmp_path: Path, part: dict[str, Any], raw: bytes
) -> None:
    body = zlib.compress(raw)
    path = crafted(tmp_path / "toy.model", part, body)
    with pytest.raises(BadInput, match="damaged: its parts cannot be unpacked"):
        read_model(path, kind="toy")


@pytest.mark.parametrize("name", [name for name in shipped_names() if name != "words"])
def test_a_model_without_one_of_its_parts_or_with_one_of_another_shape_is_refused_when_it_is_loaded(
    tmp_path: Path, name: str
) -> None:
    model = read_model(shipped(name), kind=kind_of(shipped(name)))
    load = LOADERS[model.kind]
    small = {key: array[..., :50] for key, array in model.arrays.items()}
    few = {key: words[:50] for key, words in model.strings.items()}
    path = tmp_path / "odd.model"
    broken: list[tuple[Any, Any]] = [(small, dict.fromkeys(few, ()))]
    broken += [({key: array for key, array in small.items() if key != left}, few) for left in small]
    broken += [({**small, key: array[None]}, few) for key, array in small.items()]
    for arrays, strings in broken:
        write_model(path, kind=model.kind, card=model.card, arrays=arrays, strings=strings, packing="none")
        with pytest.raises(BadInput, match=r"odd\.model"):
            load(path)


LOADERS: dict[str, Callable[[Path], object]] = {
    "articles": articles.load,
    "combined": engines.combined_from_file,
    "context": context.from_file,
    "ngrams": language_model.load,
    "prepositions": engines.load_linear,
    "tagger": load_tagger,
}
