"""Encoders: from the vectors of words to vectors of words in their sentence."""

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence, pad_packed_sequence, pad_sequence

from treebp.neural.inputs import Words

_HEADS = 8


class BiLSTM(nn.Module):
    """Layers of LSTMs in both directions; the same values are dropped at all words of a sentence."""

    def __init__(self, inputs: int, layers: int, size: int, dropout: float) -> None:
        super().__init__()
        self.size = 2 * size
        self._dropout = dropout
        self.layers = nn.ModuleList(
            nn.LSTM(inputs if layer == 0 else 2 * size, size, batch_first=True, bidirectional=True)
            for layer in range(layers)
        )

    def forward(self, rows: Tensor, words: Words) -> Tensor:
        """(rows, inputs) to (rows, `size`)."""
        sizes = words.sizes.tolist()
        states = pad_sequence(rows.split(sizes), batch_first=True)
        lengths = torch.tensor(sizes)
        for layer in self.layers:
            packed = pack_padded_sequence(_dropped(states, self._dropout, self), lengths, True, enforce_sorted=False)
            found: PackedSequence = layer(packed)[0]
            states = pad_packed_sequence(found, batch_first=True)[0]
        return _unpadded(_dropped(states, self._dropout, self), sizes)


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
        sizes = words.sizes.tolist()
        states = pad_sequence(self.project(rows).split(sizes), batch_first=True)
        length = states.shape[1]
        padding = torch.arange(length)[None] >= torch.tensor(sizes)[:, None]
        states = states + _positions(length, self.size).to(states)
        found = self.layers(_dropped(states, self._dropout, self), src_key_padding_mask=padding.to(states.device))
        return _unpadded(found, sizes)


ENCODERS: dict[str, Any] = {"bilstm": BiLSTM, "transformer": Transformer}


def new_encoder(name: str, inputs: int, layers: int, size: int, dropout: float, description: str | None) -> Any:
    """The encoder of this name: one of ``ENCODERS``, or one of the package ``transformers``, described or by name."""
    if name in ENCODERS:
        return ENCODERS[name](inputs, layers, size, dropout)
    from treebp.neural.pretrained import Pretrained

    return Pretrained.named(inputs, name) if description is None else Pretrained(inputs, description)


def _dropped(states: Tensor, share: float, module: nn.Module) -> Tensor:
    """The states of (sentences, words, size) with values dropped, the same ones at all words of a sentence."""
    if not (module.training and share):
        return states
    kept = states.new_empty(states.shape[0], 1, states.shape[2]).bernoulli_(1.0 - share)
    return states * (kept / (1.0 - share))


def _unpadded(states: Tensor, sizes: Sequence[int]) -> Tensor:
    return torch.cat([sentence[:size] for sentence, size in zip(states, sizes, strict=True)])


def _positions(length: int, size: int) -> Tensor:
    angles = torch.arange(length)[:, None] * torch.exp(torch.arange(0, size, 2) * (-math.log(1e4) / size))
    return torch.stack([angles.sin(), angles.cos()], dim=2).flatten(1)[:, :size]
