"""Projective dependency trees with grandparents, for scores that are tensors."""

from typing import Any

import numpy as np
import torch
from torch import Tensor

from treebp.torch.dependency_trees import numpy_generator, tensor_of_lengths
from treebp.trees.grandparents import GrandparentTrees as NumPyTrees


class GrandparentTrees:
    """The distribution over projective trees in which each arc also knows the head of its head, on the CPU.

    As `treebp.GrandparentTrees`, for one sentence or a batch, differentiable once; the log-partition has no second
    derivative here.

    Args:
        scores: (n + 1, n + 1), position 0 is the root. -inf removes an arc. The diagonal and column 0 are ignored. Or
            a batch, (batch, width, width).
        grandparent_scores: (n + 1, n + 1, n + 1), or (batch, width, width, width). -inf removes a pair.
        single_root: whether exactly one word hangs from the root; otherwise at least one does.
        lengths: (batch,) words of each sentence of a batch, width - 1 by default. What lies beyond them is ignored, and
            zero (heads: -1) in the results.

    Attributes:
        log_partition: () or (batch,) the logarithm of the sum over all trees of exp(score).
        marginals: the probability of each arc, shaped as the scores.
        grandparent_marginals: the probability of each arc from a word with its grandparent.

    Raises:
        ValueError: wrong shapes; NaN, +inf or more than 1e300; a word without any head, or scores that allow no tree;
            tensors on a device other than the CPU, for which there are no kernels.

    Example:
        >>> chain = torch.zeros(4, 4, 4)
        >>> chain[0, 1, 2] = chain[1, 2, 3] = 3.0
        >>> trees = GrandparentTrees(torch.zeros(4, 4), chain.requires_grad_(), single_root=True)
        >>> trees.argmax()
        tensor([0, 1, 2])
        >>> trees.log_partition.backward()
        >>> torch.allclose(chain.grad, trees.grandparent_marginals)
        True

    """

    def __init__(self, scores: Tensor, grandparent_scores: Tensor, *, single_root: bool, lengths: Any = None) -> None:
        if scores.device.type != "cpu" or grandparent_scores.device.type != "cpu":
            raise ValueError(f"GrandparentTrees has no kernels for tensors on {scores.device}: move them to the CPU")
        self.lengths = tensor_of_lengths(scores, lengths, True)
        if grandparent_scores.shape != (*scores.shape, scores.shape[-1]):
            expected = (*scores.shape, scores.shape[-1])
            raise ValueError(f"grandparent_scores have shape {tuple(grandparent_scores.shape)}, expected {expected}")
        self.single_root = bool(single_root)
        self._batched = scores.ndim == 3
        self._dtype = scores.dtype
        arcs, pairs = (
            (given if self._batched else given[None]).to(torch.float64) for given in (scores, grandparent_scores)
        )
        self._trees = []
        for b, size in enumerate((self.lengths + 1).tolist()):
            try:
                own = arcs[b, :size, :size].detach().numpy(), pairs[b, :size, :size, :size].detach().numpy()
                self._trees.append(NumPyTrees(*own, single_root=self.single_root))
            except ValueError as error:
                raise ValueError(f"sentence {b}: {error}" if self._batched else str(error)) from None
        found = _Sums.apply(arcs, pairs, self._trees)
        self.log_partition, self.marginals, self.grandparent_marginals = map(self._given_back, found)

    @property
    def entropy(self) -> Tensor:
        """The entropy of the distribution, in nats; shape () or (batch,). Not differentiable."""
        return self._numbers([trees.entropy for trees in self._trees])

    def kl(self, other: "GrandparentTrees") -> Tensor:
        """KL(self || other) in nats, inf where `other` lacks a tree that this one has. Not differentiable.

        `other` must allow as many roots as this one.
        """
        if len(self._trees) != len(other._trees):
            raise ValueError("kl compares distributions over sentences of the same lengths")
        return self._numbers([one.kl(two) for one, two in zip(self._trees, other._trees, strict=True)])

    def argmax(self) -> Tensor:
        """Heads of the highest-scoring tree; shape (n,), or (batch, width - 1) padded with -1."""
        return self._heads([trees.argmax() for trees in self._trees])

    def mbr(self) -> Tensor:
        """Heads of the tree with the most arcs expected to be right; shaped as `argmax`."""
        return self._heads([trees.mbr() for trees in self._trees])

    def sample(self, k: int, rng: torch.Generator | None = None) -> Tensor:
        """k independent trees: heads (k, n), or (batch, k, width - 1) padded with -1."""
        generator = numpy_generator(rng)
        return self._heads([trees.sample(k, generator) for trees in self._trees])

    def topk(self, k: int) -> Any:
        """The k best trees, best first: heads (at most k, n) and scores; a list of these for a batch."""
        found = [trees.topk(k) for trees in self._trees]
        pairs = [(torch.from_numpy(heads), torch.from_numpy(scores).to(self._dtype)) for heads, scores in found]
        return pairs if self._batched else pairs[0]

    def log_prob(self, heads: Tensor) -> Tensor:
        """Log-probabilities of trees: heads (..., n) give shape (...); a batch takes (batch, ..., width - 1).

        -inf for heads with a cycle, crossing arcs, too many roots or a removed arc. Not differentiable: see
        `log_partition`.
        """
        rows = heads if self._batched else heads[None]
        return self._numbers(
            [trees.log_prob(own[..., : trees.n].numpy()) for trees, own in zip(self._trees, rows, strict=True)]
        )

    def _given_back(self, batch: Tensor) -> Tensor:
        return (batch if self._batched else batch[0]).to(self._dtype)

    def _numbers(self, values: Any) -> Tensor:
        return self._given_back(torch.from_numpy(np.stack([np.asarray(value) for value in values])))

    def _heads(self, found: Any) -> Tensor:
        width = self.marginals.shape[-1] - 1
        padded = [
            np.pad(own, [(0, 0)] * (own.ndim - 1) + [(0, width - own.shape[-1])], constant_values=-1) for own in found
        ]
        heads = torch.from_numpy(np.stack(padded))
        return heads if self._batched else heads[0]


class _Sums(torch.autograd.Function):
    """Log-partitions, marginals and grandparent marginals of a batch."""

    @staticmethod
    def forward(ctx: Any, scores: Tensor, grandparent_scores: Tensor, trees: list[NumPyTrees]) -> Any:
        ctx.trees, ctx.shapes = trees, (scores.shape, grandparent_scores.shape)
        arcs, pairs = (np.zeros(shape) for shape in ctx.shapes)
        for b, own in enumerate(trees):
            size = own.n + 1
            arcs[b, :size, :size] = own.marginals
            pairs[b, :size, :size, :size] = own.grandparent_marginals
        log_partitions = np.array([own.log_partition for own in trees])
        return tuple(torch.from_numpy(found) for found in (log_partitions, arcs, pairs))

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, of_log_partitions: Tensor, of_arcs: Tensor, of_pairs: Tensor) -> Any:
        arcs, pairs = (np.zeros(shape) for shape in ctx.shapes)
        for b, own in enumerate(ctx.trees):
            size = own.n + 1
            below = np.s_[b, :size, :size], np.s_[b, :size, :size, :size]
            through = own.backward(of_arcs[below[0]].numpy(), of_pairs[below[1]].numpy())
            scale = float(of_log_partitions[b])
            arcs[below[0]] = scale * own.marginals + through[0]
            pairs[below[1]] = scale * own.grandparent_marginals + through[1]
        return torch.from_numpy(arcs), torch.from_numpy(pairs), None
