"""Sums over batches of trees and the best of them, by the kernels of the device that holds the scores.

Scores are contiguous float64 tensors (batch, width, width), lengths int64 tensors (batch,) on the same device.
"""

from typing import Protocol

import numpy as np
import torch
from torch import Tensor

from treebp._types import FloatArray
from treebp.kernels import nonprojective as nonprojective_trees
from treebp.kernels import projective as projective_trees
from treebp.kernels import tree_queries
from treebp.kernels.tree_group import is_tree


class TreeKernels(Protocol):
    """What kernels of a device can do.

    The verdict that comes with results has an entry that is not zero for each sentence that has no tree, a score that
    is none, or a wrong length. What belongs to such a sentence is NaN, or -1 for heads; only the log-partition of one
    without a tree is -inf.
    """

    def marginals(
        self, scores: Tensor, lengths: Tensor, projective: bool, single_root: bool
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Log-partitions (batch,), marginals shaped as the scores, and the verdict."""
        ...

    def product(
        self, scores: Tensor, direction: Tensor, lengths: Tensor, projective: bool, single_root: bool
    ) -> Tensor:
        """The Jacobian of the marginals, which is symmetric, times a direction."""
        ...

    def best(self, scores: Tensor, lengths: Tensor, projective: bool, single_root: bool) -> tuple[Tensor, Tensor]:
        """The heads of the best trees (batch, width - 1), padded with -1, and the verdict."""
        ...

    def legal(self, heads: Tensor, lengths: Tensor, projective: bool, single_root: bool) -> Tensor:
        """Of heads (batch, trees, width - 1): 1 for a tree, 0 for none, -1 for a head that no word can have."""
        ...


class _Host:
    """Numba's kernels; the scores have been checked before."""

    def marginals(
        self, scores: Tensor, lengths: Tensor, projective: bool, single_root: bool
    ) -> tuple[Tensor, Tensor, Tensor]:
        offsets, log_partition, out, _ = _sums(scores, lengths, projective, single_root)
        impossible = log_partition == -np.inf
        out[impossible] = np.nan
        return torch.from_numpy(offsets + log_partition), torch.from_numpy(out), torch.from_numpy(impossible)

    def product(
        self, scores: Tensor, direction: Tensor, lengths: Tensor, projective: bool, single_root: bool
    ) -> Tensor:
        out = np.empty(scores.shape)
        along = scores.numpy(), direction.contiguous().numpy(), lengths.numpy(), single_root
        if projective:
            projective_trees.product(*along, out)
        else:
            nonprojective_trees.product(*along, _sums(scores, lengths, projective, single_root)[3], out)
        return torch.from_numpy(out)

    def best(self, scores: Tensor, lengths: Tensor, projective: bool, single_root: bool) -> tuple[Tensor, Tensor]:
        heads = np.full((len(scores), scores.shape[1] - 1), -1)
        found = tree_queries.best_trees(scores.numpy(), lengths.numpy(), projective, single_root, heads)
        return torch.from_numpy(heads), torch.from_numpy(found == -np.inf)

    def legal(self, heads: Tensor, lengths: Tensor, projective: bool, single_root: bool) -> Tensor:
        found = torch.empty(heads.shape[:2], dtype=torch.int32)
        for b, n in enumerate(lengths.tolist()):
            words = np.arange(1, n + 1)
            for k, row in enumerate(heads[b, :, :n].numpy()):
                bad = ((row < 0) | (row > n) | (row == words)).any()
                found[b, k] = -1 if bad else is_tree(row, projective, single_root)
        return found


def _sums(
    scores: Tensor, lengths: Tensor, projective: bool, single_root: bool
) -> tuple[FloatArray, FloatArray, FloatArray, nonprojective_trees.Swept]:
    """What goes out of all trees alike, log-partitions, marginals, and what a derivative needs."""
    offsets, log_partitions = np.empty((2, len(scores)))
    marginals = np.empty(scores.shape)
    weights, matrices = np.empty((2, *scores.shape)) if not projective else np.empty((2, 0, 0, 0))
    swept = nonprojective_trees.Swept(weights, matrices, np.empty(len(weights)))
    given = scores.numpy(), lengths.numpy(), single_root, offsets, log_partitions, marginals
    if projective:
        projective_trees.marginals(*given)
    else:
        nonprojective_trees.marginals(*given, swept)
    return offsets, log_partitions, marginals, swept


def tree_kernels(device: torch.device) -> TreeKernels:
    """The kernels for tensors on a device; ValueError if there are none."""
    if device.type == "cpu":
        return _Host()
    if device.type == "cuda":
        from treebp.cuda import dense_trees

        return dense_trees
    raise ValueError(f"treebp.torch has no kernels for tensors on {device}: move them to the CPU")
