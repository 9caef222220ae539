"""The graph that `context` runs: weights of eight bits, and answers that do not depend on the batch.

Dynamic quantisation as onnxruntime does it takes one scale from a whole batch, so that the neighbours of a sentence
change its answers.  Here every row (piece) is quantised by itself, and products of whole numbers are exact on any
processor:

- the input of a block's first matrices is normed, so a fixed scale suits every row.  It comes from what the network
  makes of random pieces, with room to spare (`ROOM`); what lies beyond is cut off;
- the input of the other two, a mixture of values and the inner values, has a scale from the row's own largest value.

Weights have a scale per column (symmetric, no offset), embeddings one per piece.  Norms and the heads stay in full
precision.  The sentences of a batch have one length; padding would be read as a word.  The operators are those with
fast kernels in onnxruntime, its own (`com.microsoft`) among them; `Attention` needs version 1.23.

Only some words are asked about (`places`), so the last block goes on with their rows alone once it has looked at the
others.  Query heads that share keys and values are read as further places of one head (`_by_group`): nothing has to
be copied for them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from onnx import ModelProto, NodeProto, TensorProto, helper, load_from_string, numpy_helper

from grater.detect.context.heads import WIDTH
from grater.detect.context.pieces import MOST_PIECES

Floats = npt.NDArray[np.float32]

INPUT, PLACES, OUTPUT = "pieces", "places", "logits"
OPSET, IR_VERSION = 23, 10
OWN = "com.microsoft"
EPSILON = 1e-5
LARGEST_WEIGHT, LARGEST, MIDDLE = 127, 63, 64
"""Of a weight, of a value, and the byte that stands for a value of zero.

Two products of such bytes fit into 16 bits: processors without VNNI add them there, and cut off what does not fit.
"""

ROOM = 1.25
SMALLEST = 1e-9
"""Added to a row's largest value: a row of zeros has a scale, too."""

MOST_PLACES = MOST_PIECES + 2
OF_NORM1, OF_NORM2 = ("query", "key", "value"), ("gate", "up")


@dataclass(frozen=True, slots=True, eq=False)
class Matrix:
    """Whole numbers of eight bits (inputs, outputs), and the scale of each column."""

    values: npt.NDArray[np.int8]
    scale: Floats


@dataclass(frozen=True, slots=True, eq=False)
class Weights:
    """A network to be written: matrices and norms by the names that PyTorch has for them, without `.weight`.

    `reach` is the largest value seen behind each norm of a block; `heads` (width, answers) and `bias` are the heads.
    """

    matrices: Mapping[str, Matrix]
    norms: Mapping[str, Floats]
    reach: Mapping[str, float]
    embedding: Matrix
    heads: Floats
    bias: Floats
    n_heads: int
    n_shared: int
    rotation: float

    @property
    def n_blocks(self) -> int:
        return sum(name.endswith(".norm1") for name in self.norms)

    @property
    def width(self) -> int:
        return len(self.norms["norm"])


def quantised(weights: Floats) -> Matrix:
    """A matrix (inputs, outputs) in eight bits, column by column."""
    scale = np.maximum(np.abs(weights).max(axis=0), SMALLEST) / LARGEST_WEIGHT
    return Matrix(values=np.rint(weights / scale).astype(np.int8), scale=scale.astype(np.float32))


@dataclass(frozen=True, slots=True, eq=False)
class _Drawing:
    """Nodes and constants, and the names of what they give."""

    nodes: list[NodeProto] = field(default_factory=list)
    constants: dict[str, TensorProto] = field(default_factory=dict)

    def constant(self, name: str, values: npt.ArrayLike, dtype: Any = np.float32) -> str:
        self.constants[name] = numpy_helper.from_array(np.ascontiguousarray(values, dtype), name)
        return name

    def node(self, operator: str, *inputs: str, domain: str = "", **attributes: Any) -> str:
        name = f"{operator}.{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, list(inputs), [name], domain=domain, **attributes))
        return name


def graph(weights: Weights) -> bytes:
    """The network as ONNX, from `pieces` (n, length) to `logits` (places, answers).

    A place is the number of a piece, counted through the whole batch.
    """
    drawing = _Drawing()
    _constants(drawing, weights)
    x, middles = _embedded(drawing, weights.embedding), "middles"
    for number in range(weights.n_blocks):
        block = f"blocks.{number}"
        mixed = _mixed(drawing, weights, block, x)
        if number == weights.n_blocks - 1:
            x, mixed = (drawing.node("Gather", part, PLACES) for part in (x, mixed))
            middles = drawing.node("Expand", "middle", drawing.node("Shape", PLACES))
        x = drawing.node("Add", x, _of_rows(drawing, weights, f"{block}.out", mixed, middles))
        x = drawing.node("Add", x, _transformed(drawing, weights, block, x, middles))
    heads, bias = drawing.constant("heads", weights.heads), drawing.constant("bias", weights.bias)
    normed = _normed(drawing, weights, "norm", x)
    drawing.nodes.append(helper.make_node("Gemm", [normed, heads, bias], [OUTPUT]))
    return bytes(_model(drawing).SerializeToString())


def _constants(drawing: _Drawing, weights: Weights) -> None:
    """What all blocks share.

    `sentences` is the shape (n, length, -1), `groups` (n, heads of a group * length, -1), `rows` (n * length, width).
    """
    size = weights.width // weights.n_heads
    powers = weights.rotation ** -(np.arange(0, size, 2, dtype=np.float32) / size)
    angles = np.arange(MOST_PLACES, dtype=np.float32)[:, None] * powers.astype(np.float32)
    drawing.constant("cosine", np.cos(angles))
    drawing.constant("sine", np.sin(angles))
    drawing.constant("first", [0], np.int64)
    drawing.constant("last", [1], np.int64)
    drawing.constant("flat", [-1], np.int64)
    drawing.constant("groups", [0, -1, size * weights.n_shared], np.int64)
    drawing.constant("rows", [-1, weights.width], np.int64)
    drawing.constant("one", 1.0)
    drawing.constant("smallest", SMALLEST)
    drawing.constant("step", 1 / LARGEST)
    drawing.constant("middle", MIDDLE, np.uint8)
    shape = drawing.node("Shape", INPUT)
    drawing.nodes.append(helper.make_node("Concat", [shape, "flat"], ["sentences"], axis=0))
    n_rows = drawing.node("ReduceProd", shape, keepdims=1)
    drawing.nodes.append(helper.make_node("Expand", ["middle", n_rows], ["middles"]))


def _embedded(drawing: _Drawing, embedding: Matrix) -> str:
    pieces = drawing.node("Reshape", INPUT, "flat")
    table = drawing.constant("embedding", embedding.values.T, np.int8)
    scales = drawing.constant("embedding.scale", embedding.scale[:, None])
    whole = drawing.node("Cast", drawing.node("Gather", table, pieces), to=TensorProto.FLOAT)
    return drawing.node("Mul", whole, drawing.node("Gather", scales, pieces))


def _mixed(drawing: _Drawing, weights: Weights, block: str, x: str) -> str:
    """The values that each piece takes from the others."""
    query, key, value = (
        drawing.node("Reshape", product, "sentences")
        for product in _of_normed(drawing, weights, block, "norm1", x, OF_NORM1)
    )
    query, key = (
        drawing.node("RotaryEmbedding", part, "first", "cosine", "sine", domain=OWN) for part in (query, key)
    )
    n = weights.n_shared
    query = drawing.node("Reshape", query, "groups")
    mixed = drawing.node("Attention", query, key, value, q_num_heads=n, kv_num_heads=n)
    return drawing.node("Reshape", mixed, "rows")


def _transformed(drawing: _Drawing, weights: Weights, block: str, x: str, middles: str) -> str:
    gate, up = _of_normed(drawing, weights, block, "norm2", x, OF_NORM2)
    opened = drawing.node("QuickGelu", gate, domain=OWN, alpha=1.0)  # x * sigmoid(x)
    return _of_rows(drawing, weights, f"{block}.down", drawing.node("Mul", opened, up), middles)


def _normed(drawing: _Drawing, weights: Weights, name: str, x: str) -> str:
    norm = drawing.constant(name, weights.norms[name])
    return drawing.node("SimplifiedLayerNormalization", x, norm, axis=-1, epsilon=EPSILON)


def _of_normed(
    drawing: _Drawing, weights: Weights, block: str, norm: str, x: str, names: tuple[str, ...]
) -> list[str]:
    """Products of normed rows, which have a fixed scale."""
    scale = ROOM * weights.reach[f"{block}.{norm}"] / LARGEST
    fixed = drawing.constant(f"{block}.{norm}.scale", scale)
    rows = drawing.node("QuantizeLinear", _normed(drawing, weights, f"{block}.{norm}", x), fixed, "middle")
    return [_product(drawing, rows, fixed, f"{block}.{name}", weights) for name in names]


def _of_rows(drawing: _Drawing, weights: Weights, name: str, x: str, middles: str) -> str:
    """The product of rows with a scale each, from its largest value (`Abs` costs more than a second search)."""
    highest, lowest = (drawing.node(operator, x, "last", keepdims=1) for operator in ("ReduceMax", "ReduceMin"))
    largest = drawing.node("Max", highest, drawing.node("Neg", lowest))
    scale = drawing.node("Mul", drawing.node("Add", largest, "smallest"), "step")
    rows = drawing.node("QuantizeLinear", x, drawing.node("Reshape", scale, "flat"), middles, axis=0)
    return drawing.node("Mul", _product(drawing, rows, "one", name, weights), scale)


def _product(drawing: _Drawing, rows: str, scale: str, name: str, weights: Weights) -> str:
    matrix = _by_group(name, weights)
    values = drawing.constant(name, matrix.values, np.int8)
    columns = drawing.constant(f"{name}.columns", matrix.scale)
    return drawing.node("MatMulIntegerToFloat", rows, values, scale, columns, "middle", domain=OWN)


def _by_group(name: str, weights: Weights) -> Matrix:
    """A matrix; of queries, and of what is made of their answers, the first heads of all groups come first."""
    order = _order(weights.width, weights.n_heads, weights.n_shared)
    return _reordered(name, weights.matrices[name], order)


def _order(width: int, n_heads: int, n_shared: int) -> npt.NDArray[np.int64]:
    return np.arange(width).reshape(n_shared, n_heads // n_shared, -1).transpose(1, 0, 2).reshape(-1)


def _reordered(name: str, matrix: Matrix, order: npt.NDArray[np.int64]) -> Matrix:
    """The columns of queries, or the rows of what is made of their answers, in another order."""
    if name.endswith(".query"):
        return Matrix(values=matrix.values[:, order], scale=matrix.scale[order])
    return replace(matrix, values=matrix.values[order]) if name.endswith(".out") else matrix


def weights_of(network: bytes) -> Weights:
    """The weights that a graph was made from, to train on."""
    parts = {part.name: numpy_helper.to_array(part) for part in load_from_string(network).graph.initializer}
    size, width = 2 * parts["cosine"].shape[1], parts["rows"][1]
    n_heads, n_shared = width // size, parts["groups"][2] // size
    order = np.argsort(_order(width, n_heads, n_shared))
    names = [name.removesuffix(".columns") for name in parts if name.endswith(".columns")]
    norms = [name.removesuffix(".scale") for name in parts if name.endswith((".norm1.scale", ".norm2.scale"))]
    return Weights(
        matrices={
            name: _reordered(name, Matrix(values=parts[name], scale=parts[f"{name}.columns"]), order)
            for name in names
        },
        norms={name: parts[name] for name in ["norm", *norms]},
        reach={name: parts[f"{name}.scale"].item() * LARGEST / ROOM for name in norms},
        embedding=Matrix(values=parts["embedding"].T, scale=parts["embedding.scale"][:, 0]),
        heads=parts["heads"],
        bias=parts["bias"],
        n_heads=int(n_heads),
        n_shared=int(n_shared),
        rotation=float(parts["sine"][1, -1] ** (-size / (size - 2))),
    )


def _model(drawing: _Drawing) -> ModelProto:
    pieces = helper.make_tensor_value_info(INPUT, TensorProto.INT64, ["n", "length"])
    places = helper.make_tensor_value_info(PLACES, TensorProto.INT64, ["n_places"])
    logits = helper.make_tensor_value_info(OUTPUT, TensorProto.FLOAT, ["n_places", WIDTH])
    drawn = helper.make_graph(drawing.nodes, "context", [pieces, places], [logits], list(drawing.constants.values()))
    versions = [helper.make_opsetid("", OPSET), helper.make_opsetid(OWN, 1)]
    return helper.make_model(drawn, opset_imports=versions, ir_version=IR_VERSION)
