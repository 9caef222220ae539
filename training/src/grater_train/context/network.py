"""The network: a stack of transformer blocks that look both ways, and six small heads at each word's first piece.

The blocks are those of Llama (Touvron et al. 2023, section 2.2: RMSNorm before each part, SwiGLU, rotary positions),
with keys and values shared by groups of heads, and without the causal mask.  So the weights of a causal language
model of that make can be the start (`teacher`), and a few of its blocks a smaller network's.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812 (its usual name)
from torch import nn

N_ANSWERS = 86
Tensor = Any


@dataclass(frozen=True, slots=True)
class Shape:
    """The sizes of a network."""

    n_pieces: int
    n_blocks: int = 12
    width: int = 384
    inner: int = 1024
    n_heads: int = 6
    n_shared: int = 3
    rotation: float = 100_000.0
    dropout: float = 0.0


class RootNorm(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x: Tensor) -> Tensor:
        wide = x.float()
        return (wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + 1e-5)).to(x.dtype) * self.weight.to(x.dtype)


class Block(nn.Module):
    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.n_heads, self.n_shared = shape.n_heads, shape.n_shared
        self.size = shape.width // shape.n_heads
        self.dropout = shape.dropout
        self.norm1, self.norm2 = RootNorm(shape.width), RootNorm(shape.width)
        self.query = nn.Linear(shape.width, shape.width, bias=False)
        self.key = nn.Linear(shape.width, self.size * shape.n_shared, bias=False)
        self.value = nn.Linear(shape.width, self.size * shape.n_shared, bias=False)
        self.out = nn.Linear(shape.width, shape.width, bias=False)
        self.gate = nn.Linear(shape.width, shape.inner, bias=False)
        self.up = nn.Linear(shape.width, shape.inner, bias=False)
        self.down = nn.Linear(shape.inner, shape.width, bias=False)

    def forward(self, x: Tensor, cosine: Tensor, sine: Tensor, bias: Tensor) -> Tensor:
        n, length, width = x.shape
        y = self.norm1(x)
        query = self._rotated(self.query(y).view(n, length, self.n_heads, self.size).transpose(1, 2), cosine, sine)
        key = self._rotated(self.key(y).view(n, length, self.n_shared, self.size).transpose(1, 2), cosine, sine)
        value = self.value(y).view(n, length, self.n_shared, self.size).transpose(1, 2)
        groups = self.n_heads // self.n_shared
        key, value = (part.repeat_interleave(groups, dim=1) for part in (key, value))
        mixed = F.scaled_dot_product_attention(query, key, value, attn_mask=bias)
        x = x + self._dropped(self.out(mixed.transpose(1, 2).reshape(n, length, width)))
        y = self.norm2(x)
        return x + self._dropped(self.down(F.silu(self.gate(y)) * self.up(y)))

    def _dropped(self, x: Tensor) -> Tensor:
        """Some values left out in training, so that the network cannot lean on any of them."""
        return F.dropout(x, self.dropout, training=self.training) if self.dropout else x

    @staticmethod
    def _rotated(x: Tensor, cosine: Tensor, sine: Tensor) -> Tensor:
        left, right = x.chunk(2, dim=-1)
        return torch.cat([left * cosine - right * sine, right * cosine + left * sine], dim=-1)


class Transformer(nn.Module):
    """From pieces [n, length] to answers [n, length, 86]; padding (0) is not looked at."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.shape = shape
        self.embedding = nn.Embedding(shape.n_pieces, shape.width)
        nn.init.normal_(self.embedding.weight, std=0.02)
        self.blocks = nn.ModuleList([Block(shape) for _ in range(shape.n_blocks)])
        self.norm = RootNorm(shape.width)
        self.heads = nn.Linear(shape.width, N_ANSWERS)

    def states(self, pieces: Tensor) -> Tensor:
        """What the blocks make of the pieces: [n, length, width]."""
        x = self.embedding(pieces)
        if torch.is_autocast_enabled():
            x = x.to(torch.bfloat16)
        cosine, sine = self.rotations(pieces.shape[1], x)
        bias = torch.where(pieces == 0, -1e4, 0.0).to(x.dtype)[:, None, None, :]
        bias = bias.expand(-1, 1, pieces.shape[1], -1)
        for block in self.blocks:
            x = block(x, cosine, sine, bias)
        return self.norm(x)

    def forward(self, pieces: Tensor) -> Tensor:
        return self.heads(self.states(pieces))

    def rotations(self, length: int, like: Tensor) -> tuple[Tensor, Tensor]:
        size = self.shape.width // self.shape.n_heads
        powers = torch.arange(0, size, 2, device=like.device, dtype=torch.float32) / size
        angles = torch.arange(length, device=like.device, dtype=torch.float32)[:, None] * self.shape.rotation**-powers
        return angles.cos().to(like.dtype), angles.sin().to(like.dtype)
