"""Encoders: from the vectors of words to vectors of words in their sentence."""

import math
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence

from treebp._types import IntArray
from treebp.neural.inputs import Words

_HEADS = 8


class BiLSTM(nn.Module):
    """Layers of LSTMs in both directions; the same values are dropped at all words of a sentence."""

    def __init__(self, inputs: int, layers: int, size: int, dropout: float) -> None:
        super().__init__()
        self.size = 2 * size
        self._dropout = dropout
        self.layers = nn.ModuleList(
            nn.LSTM(inputs if layer == 0 else 2 * size, size, bidirectional=True) for layer in range(layers)
        )

    def forward(self, rows: Tensor, words: Words) -> Tensor:
        """(rows, inputs) to (rows, `size`)."""
        order, counts = _side_by_side(words.sizes)
        sentences = np.repeat(np.arange(len(words.sizes)), words.sizes)[order]
        states = rows[torch.from_numpy(order).to(rows.device)]
        for layer in self.layers:
            packed = PackedSequence(_dropped(states, sentences, self._dropout, self), torch.from_numpy(counts))
            states = layer(packed)[0].data
        states = _dropped(states, sentences, self._dropout, self)
        return states[torch.from_numpy(np.argsort(order)).to(rows.device)]


class Transformer(nn.Module):
    """Layers of self-attention, with sines and cosines of positions."""

    def __init__(self, inputs: int, layers: int, size: int, dropout: float) -> None:
        super().__init__()
        if size % _HEADS:
            raise ValueError(f"encoder_size = {size} is no multiple of {_HEADS}, the number of attention heads")
        self.size = size
        self._dropout = dropout
        self.project = nn.Linear(inputs, size)
        layer = nn.TransformerEncoderLayer(size, _HEADS, 4 * size, dropout, batch_first=True, norm_first=True)
        self.layers = nn.TransformerEncoder(layer, layers, nn.LayerNorm(size), enable_nested_tensor=False)

    def forward(self, rows: Tensor, words: Words) -> Tensor:
        """(rows, inputs) to (rows, `size`)."""
        sizes, length = words.sizes, int(words.sizes.max())
        sentences = np.repeat(np.arange(len(sizes)), sizes)
        places = np.arange(len(rows)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        states = _dropped(self.project(rows), sentences, self._dropout, self)
        states = states + _positions(length, self.size).to(states)[places]
        there = torch.from_numpy(np.arange(length) < sizes[:, None]).to(rows.device)
        padded = states.new_zeros(len(sizes), length, self.size).masked_scatter(there[:, :, None], states)
        return self.layers(padded, src_key_padding_mask=~there)[there]


ENCODERS: dict[str, Any] = {"bilstm": BiLSTM, "transformer": Transformer}


def new_encoder(name: str, inputs: int, layers: int, size: int, dropout: float, description: str | None) -> Any:
    """The encoder of this name: one of ``ENCODERS``, or one of the package ``transformers``, described or by name."""
    if name in ENCODERS:
        return ENCODERS[name](inputs, layers, size, dropout)
    from treebp.neural.pretrained import Pretrained

    return Pretrained.named(inputs, name) if description is None else Pretrained(inputs, description)


def _side_by_side(sizes: IntArray) -> tuple[IntArray, IntArray]:
    """The rows of sentences as an LSTM reads them, all first words first; and how many k-th words there are.

    The longest sentences come first, so that those that go on are always the first ones.
    """
    first = np.cumsum(sizes) - sizes
    longest = np.argsort(-sizes, kind="stable")
    goes_on = np.arange(sizes.max())[:, None] < sizes[longest]
    return (np.arange(sizes.max())[:, None] + first[longest])[goes_on], goes_on.sum(axis=1)


def _dropped(rows: Tensor, sentences: IntArray, share: float, module: nn.Module) -> Tensor:
    """The rows of these sentences with values dropped, the same ones in all rows of a sentence."""
    if not (module.training and share):
        return rows
    kept = rows.new_empty(int(sentences.max()) + 1, rows.shape[1]).bernoulli_(1.0 - share) / (1.0 - share)
    return rows * kept[torch.from_numpy(sentences).to(rows.device)]


def _positions(length: int, size: int) -> Tensor:
    angles = torch.arange(length)[:, None] * torch.exp(torch.arange(0, size, 2) * (-math.log(1e4) / size))
    return torch.stack([angles.sin(), angles.cos()], dim=2).flatten(1)[:, :size]
