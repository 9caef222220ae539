"""A language model as the teacher: its weights in a network of ours, and its tokens for our words.

The model is causal, of Llama's architecture, and read from a GGUF file with the package `gguf`.  Without the causal
mask, and after a short training on our task, it answers better than a small network learns to by itself, and the
small network learns from its answers (`training`).  GGUF files hold the rows of queries and keys in an order in which
neighbours are rotated together; our blocks rotate halves, so the rows are put back.  The tokens of a word are those
that the model would see in running text: with the space before it, or without for what is written close to the word
before (a comma, *n't*).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from grater.errors import UsageError
from grater_train.context.network import Shape, Transformer
from grater_train.context.training import Cutter
from grater_train.context.words import MASK

NAMES = {
    "attn_norm": "norm1",
    "ffn_norm": "norm2",
    "attn_q": "query",
    "attn_k": "key",
    "attn_v": "value",
    "attn_output": "out",
    "ffn_gate": "gate",
    "ffn_up": "up",
    "ffn_down": "down",
}

CLOSE = frozenset(f"{mark}{ending}" for mark in "'’" for ending in ("", "s", "m", "re", "ve", "ll", "d")) | frozenset(
    {",", ".", ";", ":", "!", "?", ")", "]", "%", "…", "”", "n't", "n’t"}
)
"""What is written without a space before it."""

START, END = "<|im_start|>", "<|im_end|>"
"""Tokens that mean nothing inside a sentence: they stand at its start and end, and the second for a masked word."""

MOST_TOKENS_OF_A_WORD = 10
SIZE_OF_A_HEAD = 64
Weights = Mapping[str, NDArray[np.float32]]


def read_teacher(path: Path, types: Sequence[str], device: str) -> tuple[Transformer, Cutter]:
    """A network with the model's weights and untrained heads, and what cuts word types into its tokens."""
    weights, tokens, merges = read_gguf(path)
    network = Transformer(shape_of(path, weights))
    missing, unknown = network.load_state_dict(
        {name: torch.from_numpy(value) for name, value in weights.items()}, strict=False
    )
    if unknown or {name.split(".")[0] for name in missing} != {"heads"}:
        raise UsageError(f"{path}: expected a language model of Llama's architecture")
    encoder = ByteTokens(tokens, merges)
    start, end = encoder.numbers[START], encoder.numbers[END]
    return network.to(device), Cutter(token_table(types, encoder), device, start=start, end=end)


def shape_of(path: Path, weights: Weights) -> Shape:
    """The sizes of a network that the weights fit."""
    n_blocks = sum(name.endswith(".query.weight") for name in weights)
    if not n_blocks or "embedding.weight" not in weights:
        raise UsageError(f"{path}: expected a language model of Llama's architecture")
    n_pieces, width = weights["embedding.weight"].shape
    return Shape(
        n_pieces=n_pieces,
        n_blocks=n_blocks,
        width=width,
        inner=weights["blocks.0.gate.weight"].shape[0],
        n_heads=width // SIZE_OF_A_HEAD,
        n_shared=weights["blocks.0.key.weight"].shape[0] // SIZE_OF_A_HEAD,
    )


def token_table(types: Sequence[str], encoder: ByteTokens) -> torch.Tensor:
    """The tokens of each word type [types, most], with 0 after the last."""
    table = np.zeros((len(types), MOST_TOKENS_OF_A_WORD), dtype=np.int32)
    for number, word in enumerate(types[1:], 1):
        row = [encoder.numbers[END]] if number == MASK else encoder.of_word(word)[:MOST_TOKENS_OF_A_WORD]
        table[number, : len(row)] = row
    return torch.from_numpy(table)


def read_gguf(path: Path) -> tuple[dict[str, NDArray[np.float32]], list[str], list[str]]:
    """The weights by the names of our network, the model's tokens, and its merges in order."""
    from gguf import GGUFReader
    from gguf.quants import dequantize

    reader = GGUFReader(path)
    weights: dict[str, NDArray[np.float32]] = {}
    n_heads = {"query": _number(reader, "head_count"), "key": _number(reader, "head_count_kv")}
    for tensor in reader.tensors:
        name = our_name(tensor.name)
        value = dequantize(tensor.data, tensor.tensor_type).astype(np.float32)
        part = name.split(".")[-2] if name.startswith("blocks") else ""
        weights[name] = restored(value, n_heads[part]) if part in n_heads else value
    fields = reader.fields
    return weights, fields["tokenizer.ggml.tokens"].contents(), fields["tokenizer.ggml.merges"].contents()


def _number(reader: Any, name: str) -> int:
    return int(reader.fields[f"llama.attention.{name}"].contents())


def our_name(name: str) -> str:
    if name.startswith("blk."):
        _, number, part, kind = name.split(".")
        return f"blocks.{number}.{NAMES[part]}.{kind}"
    return {"token_embd.weight": "embedding.weight", "output_norm.weight": "norm.weight"}[name]


def restored(rows: NDArray[np.float32], n_heads: int) -> NDArray[np.float32]:
    """Rows of queries or keys in the order in which halves are rotated."""
    size = rows.shape[0] // n_heads
    return rows.reshape(n_heads, size // 2, 2, -1).swapaxes(1, 2).reshape(rows.shape)


class ByteTokens:
    """Byte-pair encoding over bytes written as characters, as GPT-2's tokenisers do it."""

    def __init__(self, tokens: Iterable[str], merges: Iterable[str]) -> None:
        self.numbers = {token: number for number, token in enumerate(tokens)}
        self.ranks = {tuple(merge.split(" ")): rank for rank, merge in enumerate(merges)}
        self.letters = _byte_letters()

    def of_word(self, word: str) -> list[int]:
        """The tokens of a word in running text; at least one."""
        return self.of_letters(word if word in CLOSE else f" {word}")

    def of_letters(self, written: str) -> list[int]:
        """The tokens of a piece of text; at least one."""
        letters = [self.letters[byte] for byte in written.encode()]
        return [self.numbers[token] for token in self._merged(letters) if token in self.numbers] or [0]

    def _merged(self, parts: list[str]) -> list[str]:
        while len(parts) > 1:
            ranked = [(self.ranks.get(pair, 1 << 30), at) for at, pair in enumerate(itertools.pairwise(parts))]
            rank, at = min(ranked)
            if rank == 1 << 30:
                break
            parts[at : at + 2] = [parts[at] + parts[at + 1]]
        return parts


def _byte_letters() -> Mapping[int, str]:
    """Printable bytes are themselves; the others take the characters from 256 on."""
    return dict(_pairs())


def _pairs() -> Iterator[tuple[int, str]]:
    printable = {*range(33, 127), *range(161, 173), *range(174, 256)}
    extra = 0
    for byte in range(256):
        if byte in printable:
            yield byte, chr(byte)
        else:
            yield byte, chr(256 + extra)
            extra += 1
