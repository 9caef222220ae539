"""A stand-in for the network: answers by a table, piece by piece, made by hand and never shipped."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from grater.detect.context.calibration import NAMES, Calibration
from grater.detect.context.detector import ContextDetector, from_file, save
from grater.detect.context.heads import HEADS, WIDTH
from grater.detect.context.pieces import MASK, SPECIAL

WORDS = (
    "she goes go went to school in on at Monday listen music a an the depend of good book books old novel should "
    "spend enjoys read working she She In The I am is . ,"
)
LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.,!?0123456789'-"
PIECES = list(
    dict.fromkeys([*SPECIAL, *(f" {word}" for word in WORDS.split()), *(f" {c}" for c in LETTERS), *LETTERS])
)
SURE = 8.0

CALIBRATIONS = dict.fromkeys(
    NAMES, Calibration(slope=1.0, intercept=-1.0, shipped=2.0, thresholds={0.5: 1.0, 0.8: 5.0, 0.9: 20.0})
)
"""A margin of 5 is needed for .8, and .95 is never reached."""


def table_graph(table: np.ndarray[tuple[int, int], np.dtype[np.float32]], *, output: str = "logits") -> bytes:
    """A network whose answers to a piece are a row of the table."""
    node = helper.make_node("Gather", ["table", "pieces"], [output])
    graph = helper.make_graph(
        [node],
        "stand-in",
        [helper.make_tensor_value_info("pieces", TensorProto.INT64, ["n", "length"])],
        [helper.make_tensor_value_info(output, TensorProto.FLOAT, ["n", "length", table.shape[1]])],
        [numpy_helper.from_array(table, "table")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=10)
    onnx.checker.check_model(model)
    return bytes(model.SerializeToString())


def answering(answers: Mapping[str, Mapping[str, str]], *, mask: Mapping[str, str] | None = None) -> bytes:
    """A network that is sure of these answers: by word, then by head.  Of anything else it would change nothing."""
    table = np.zeros((len(PIECES), WIDTH), np.float32)
    rows = {PIECES.index(f" {word}"): of for word, of in answers.items()} | {MASK: mask or {}}
    for row, of_heads in rows.items():
        for head in HEADS:
            if head.name in of_heads:
                table[row, head.start + head.answers.index(of_heads[head.name])] = SURE
    for head in HEADS:
        if head.name.endswith("gap"):
            asked = [row for row, of_heads in rows.items() if head.name in of_heads]
            table[[row for row in range(len(PIECES)) if row not in asked], head.end - 1] = SURE
    return table_graph(table)


def detector(folder: Path, graph: bytes, *, name: str = "toy") -> ContextDetector:
    path = folder / f"{name}.model"
    save(path, graph=graph, pieces=PIECES, calibrations=CALIBRATIONS, card={"name": name, "kind": "context"})
    return from_file(path)
