"""A causal language model as the start: its weights, and its tokens for our words.

The model is read from a GGUF file with the package `gguf`.  Such files hold the rows of queries and keys in an order
in which neighbours are rotated together; our blocks rotate halves, so the rows are put back.  The tokens of a word
are those that the model would see in running text: with the space before it, or without for what is written close to
the word before (a comma, *n't*).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

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
