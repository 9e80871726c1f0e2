"""The network: an encoder, and what turns its states into scores of arcs, parts and labels."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from treebp._types import IntArray
from treebp.neural.encoders import new_encoder
from treebp.neural.inputs import Inputs, Words
from treebp.neural.layout import Layout

_LONGEST = 200  # words of a sentence all of whose triples are scored


class Shape(NamedTuple):
    """What a network is made of.

    Attributes:
        inputs: kinds of inputs.
        encoder: its name in ``ENCODERS``, or that of one of the package ``transformers``.
        layers, size: of the encoder.
        embedding: the size of the vector of each input.
        arcs, labels, rank: sizes of the projections that arcs, labels and parts are scored by.
        dropout: the share of values that are dropped in training.
        hidden: the share of inputs that are hidden in training.
        bf16: whether the encoder computes in bfloat16, which only GPUs do.

    """

    inputs: tuple[str, ...]
    encoder: str
    layers: int
    size: int
    embedding: int
    arcs: int
    labels: int
    rank: int
    dropout: float
    hidden: float
    bf16: bool


class Network(nn.Module):
    """Scores of arcs and labels, biaffine, and of parts, as a sum of products of one number per word (low rank).

    A part's scores start at zero: what is learnt first is what is best without it.
    """

    def __init__(
        self,
        shape: Shape,
        values: Mapping[str, Sequence[str]],
        parts: Mapping[str, int],
        labels: int,
        description: str | None = None,
    ) -> None:
        super().__init__()
        self._bf16 = shape.bf16
        self.inputs = Inputs(shape.inputs, values, shape.embedding, shape.hidden)
        self.encoder = new_encoder(
            shape.encoder, self.inputs.size, shape.layers, shape.size, shape.dropout, description
        )

        def projection(size: int) -> nn.Module:
            return nn.Sequential(nn.Linear(self.encoder.size, size), nn.LeakyReLU(0.1), nn.Dropout(shape.dropout))

        self.arc_words = nn.ModuleList([projection(shape.arcs), projection(shape.arcs)])
        self.arc_scores = nn.Linear(shape.arcs, shape.arcs)  # whose bias scores heads alone
        nn.init.zeros_(self.arc_scores.weight)
        nn.init.zeros_(self.arc_scores.bias)
        self.part_words = nn.ModuleDict(
            {name: nn.ModuleList([projection(shape.rank) for _ in range(words)]) for name, words in parts.items()}
        )
        self.part_scores = nn.ParameterDict({name: nn.Parameter(torch.zeros(shape.rank)) for name in parts})
        self.label_words = nn.ModuleList([projection(shape.labels), projection(shape.labels)])
        self.label_pairs = nn.Parameter(torch.zeros(shape.labels, labels * shape.labels))
        self.label_heads = nn.Linear(shape.labels, labels)
        self.label_modifiers = nn.Linear(shape.labels, labels, bias=False)

    @property
    def device(self) -> Any:
        """Where it computes."""
        return self.arc_scores.weight.device

    def states(self, words: Words) -> Tensor:
        """The encoder's, of each row."""
        vectors = self.inputs(words)
        with torch.autocast(vectors.device.type, torch.bfloat16, self._bf16 and vectors.is_cuda):
            states = self.encoder(vectors, words)
        return states.to(self.arc_scores.weight.dtype)

    def arcs(self, states: Tensor, layout: Layout, sentences: IntArray, heads: IntArray, modifiers: IntArray) -> Tensor:
        """Scores of arcs, given their sentences and positions in these."""
        of_heads, of_modifiers = (project(states) for project in self.arc_words)
        of_modifiers = self.arc_scores(of_modifiers)
        dense = [
            (of_heads[rows] @ of_modifiers[rows].transpose(1, 2)).flatten() for rows in self._on_device(*layout.groups)
        ]
        (places,) = self._on_device(layout.pair_places(sentences, heads, modifiers))
        return torch.cat(dense)[places]

    def parts(self, name: str, states: Tensor, layout: Layout, sentences: IntArray, positions: IntArray) -> Tensor:
        """Scores of the parts of one kind, given their sentences and positions (count, words of each) in these.

        All triples of a sentence by a product of matrices take less time than those that are asked for one by one.
        """
        factors = [project(states) for project in self.part_words[name]]
        factors[0] = factors[0] * self.part_scores[name]
        if len(factors) != 3 or int(layout.sizes.max()) > _LONGEST:
            rows = self._on_device(*(positions.T + layout.first[sentences]))
            return math.prod(factor[own] for factor, own in zip(factors, rows, strict=True)).sum(dim=1)
        dense = []
        for rows in self._on_device(*layout.groups):
            one, two, three = (factor[rows] for factor in factors)
            pairs = (one[:, :, None] * two[:, None]).flatten(1, 2)
            dense.append((pairs @ three.transpose(1, 2)).flatten())
        (places,) = self._on_device(layout.triple_places(sentences, positions))
        return torch.cat(dense)[places]

    def labels(self, states: Tensor, heads: IntArray, modifiers: IntArray) -> Tensor:
        """(arcs, labels) scores of labels, given the rows of heads and modifiers."""
        of_heads, of_modifiers = (project(states) for project in self.label_words)
        of_heads, of_modifiers = (
            words[rows] for words, rows in zip((of_heads, of_modifiers), self._on_device(heads, modifiers), strict=True)
        )
        wanted = (of_heads @ self.label_pairs).unflatten(1, (-1, of_modifiers.shape[1]))
        both = (wanted @ of_modifiers[:, :, None]).squeeze(2)
        return both + self.label_heads(of_heads) + self.label_modifiers(of_modifiers)

    def _on_device(self, *arrays: IntArray) -> list[Tensor]:
        return [torch.from_numpy(np.ascontiguousarray(array)).to(self.device) for array in arrays]
