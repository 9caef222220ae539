"""A small network cut from a causal language model: some of its blocks, and its tokens for our pieces.

Our network has the model's blocks without the causal mask (`network`).  The first blocks are worth most, so
`chosen_blocks` takes them from the first half, closer together at the start.  A piece starts as the mean of the
model's tokens for it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from grater.detect.context.pieces import SPECIAL
from grater.detect.context.train.network import Transformer
from grater.detect.context.train.teacher import ByteTokens, read_gguf
from grater.errors import UsageError

Weights = Mapping[str, NDArray[np.float32]]


def start_from(path: Path, network: Transformer, pieces: Sequence[str]) -> None:
    """Give a network the weights of a language model in a GGUF file; the heads stay as they are."""
    weights, tokens, merges = read_gguf(path)
    _require_same_shape(path, weights, network)
    n_blocks = 1 + max(int(name.split(".")[1]) for name in weights if name.startswith("blocks."))
    new = {"norm.weight": weights["norm.weight"]}
    for own, its in enumerate(chosen_blocks(n_blocks, network.shape.n_blocks)):
        prefix = f"blocks.{its}."
        new |= {
            f"blocks.{own}.{name.removeprefix(prefix)}": value
            for name, value in weights.items()
            if name.startswith(prefix)
        }
    new["embedding.weight"] = embeddings(weights["embedding.weight"], pieces, ByteTokens(tokens, merges))
    network.load_state_dict({name: torch.from_numpy(value) for name, value in new.items()}, strict=False)


def chosen_blocks(n_blocks: int, wanted: int) -> list[int]:
    """Which blocks to take, the gaps between them growing: of 30, five are 0, 1, 4, 8 and 15."""
    if wanted >= n_blocks:
        return list(range(n_blocks))
    last = n_blocks // 2
    return [max(number, round(last * (number / max(1, wanted - 1)) ** 2)) for number in range(wanted)]


def embeddings(table: NDArray[np.float32], pieces: Sequence[str], tokens: ByteTokens) -> NDArray[np.float32]:
    """For each piece the mean of its tokens; those that stand for no letters start at nothing."""
    rows = np.zeros((len(pieces), table.shape[1]), np.float32)
    for number, piece in enumerate(pieces[len(SPECIAL) :], len(SPECIAL)):
        rows[number] = table[tokens.of_letters(piece)].mean(axis=0)
    return rows


def _require_same_shape(path: Path, weights: Weights, network: Transformer) -> None:
    own = network.state_dict()
    for name in ("query", "key", "gate"):
        its, ours = weights[f"blocks.0.{name}.weight"].shape, tuple(own[f"blocks.0.{name}.weight"].shape)
        if its != ours:
            raise UsageError(f"{path}: expected blocks with a {name} of {ours}, as the network has, found {its}")
