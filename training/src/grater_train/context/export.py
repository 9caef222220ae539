"""From a trained network to ONNX: in full precision, to compare with, and in eight bits, which `context` runs."""

from __future__ import annotations

import warnings
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import torch

from grater.detect.context.pieces import END, SPECIAL, START
from grater_train.context.graph import INPUT, OUTPUT, Floats, Matrix, Weights, graph, quantised, weights_of
from grater_train.context.network import Shape, Transformer

OPSET = 18
LENGTHS, N_OF_LENGTH = (4, 10, 20, 40, 60), 12
"""Random pieces that show how far the values behind a norm reach."""

NORMS = ("norm1", "norm2")
MATRICES = ("query", "key", "value", "out", "gate", "up", "down")


def export_onnx(network: Transformer, path: Path) -> None:
    """The network in full precision; batch and length are free."""
    network = network.eval().float().cpu()
    example = torch.tensor([[2, 5, 6, 7, 8, 3, 0, 0], [2, 5, 6, 7, 8, 9, 10, 3]])
    free = {INPUT: {0: torch.export.Dim("n"), 1: torch.export.Dim("length")}}
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyTorch's exporter warns of its own code
        program = torch.onnx.export(
            network,
            (example,),
            input_names=[INPUT],
            output_names=[OUTPUT],
            dynamic_shapes=free,
            opset_version=OPSET,
            dynamo=True,
            verbose=False,
        )
        program.save(str(path), external_data=False)


def export_quantised(network: Transformer, path: Path) -> None:
    """The network with weights of eight bits (`graph`); sentences of different lengths may not share a batch."""
    network = network.eval().float().cpu()
    path.write_bytes(graph(_weights(network)))


def network_of(quantised_graph: bytes) -> Transformer:
    """The network of a graph in eight bits, in full precision, to train on."""
    weights = weights_of(quantised_graph)
    state = {f"{name}.weight": _floats(matrix).T for name, matrix in weights.matrices.items()}
    state |= {f"{name}.weight": norm for name, norm in weights.norms.items()}
    state |= {"embedding.weight": _floats(weights.embedding).T}
    state |= {"heads.weight": weights.heads.T, "heads.bias": weights.bias}
    shape = Shape(
        n_pieces=weights.embedding.values.shape[1],
        n_blocks=weights.n_blocks,
        width=weights.width,
        inner=weights.matrices["blocks.0.gate"].values.shape[1],
        n_heads=weights.n_heads,
        n_shared=weights.n_shared,
        rotation=weights.rotation,
    )
    network = Transformer(shape)
    network.load_state_dict({name: torch.from_numpy(value.copy()) for name, value in state.items()})
    return network


def _floats(matrix: Matrix) -> Floats:
    return matrix.values.astype(np.float32) * matrix.scale


def _weights(network: Transformer) -> Weights:
    state: dict[str, Floats] = {name: tensor.numpy() for name, tensor in network.state_dict().items()}
    blocks = [f"blocks.{number}" for number in range(network.shape.n_blocks)]
    names = [f"{block}.{name}" for block in blocks for name in MATRICES]
    norms = ["norm", *(f"{block}.{name}" for block in blocks for name in NORMS)]
    return Weights(
        matrices={name: quantised(state[f"{name}.weight"].T) for name in names},
        norms={name: state[f"{name}.weight"] for name in norms},
        reach=_reach(network),
        embedding=quantised(state["embedding.weight"].T),
        heads=state["heads.weight"].T,
        bias=state["heads.bias"],
        n_heads=network.shape.n_heads,
        n_shared=network.shape.n_shared,
        rotation=network.shape.rotation,
    )


def _reach(network: Transformer) -> dict[str, float]:
    """The largest value behind each norm of a block."""
    reach: dict[str, float] = defaultdict(float)

    def keep(name: str, values: Any) -> None:
        reach[name] = max(reach[name], float(values.abs().max()))

    norms = {name: module for name, module in network.named_modules() if name.endswith(NORMS)}
    hooks = [
        module.register_forward_hook(lambda _, __, values, name=name: keep(name, values))
        for name, module in norms.items()
    ]
    rng = np.random.default_rng(0)
    with torch.no_grad():
        for length in LENGTHS:
            pieces = rng.integers(len(SPECIAL), network.shape.n_pieces, (N_OF_LENGTH, length))
            pieces[:, 0], pieces[:, -1] = START, END
            network(torch.from_numpy(pieces))
    for hook in hooks:
        hook.remove()
    return dict(reach)
