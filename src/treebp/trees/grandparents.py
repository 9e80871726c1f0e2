"""Projective dependency trees whose arcs are scored together with their grandparents, exactly."""

from __future__ import annotations

from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import ArrayLike

from treebp._checks import float_array, integer_array, is_score, random_generator, read_only, whole_number
from treebp._types import BoolArray, FloatArray, IntArray
from treebp.hypergraphs.builders import grandparent_model0
from treebp.kernels import grandparent as kernels
from treebp.kernels import log_grandparent as log_kernels
from treebp.kernels.tree_group import is_tree
from treebp.trees.dependency_trees import DependencyTrees

# The imaginary step that differentiates the kernels: its square must vanish beside one, and nothing else.
_STEP = 1e-12
# The smallest log-partition, less the log-number of trees, that plain floats can be trusted with. A half-tree
# that underflows is part of at most (27/4)^n trees, and no weight is larger than one, so what is lost stays
# below 1e-308 (27/4)^n. That, and its derivative taken with `_STEP`, must be nothing beside the partition
# function.
_LOG_FLOOR = float(np.log(np.finfo(np.float64).tiny) - np.log(_STEP) + 50.0)


class GrandparentTrees:
    """The distribution over projective trees in which each arc also knows the head of its head.

    A tree's score is the sum of `scores[head, modifier]` over its arcs and `grandparent_scores[g, head,
    modifier]` over its arcs from words, g being the head's head. Everything is exact, in O(n^4) time and
    O(n^3) memory (model 0 of Koo and Collins 2010), in plain floats where these suffice and in log space where
    they do not. Only `topk` lists the hyperedges, which takes O(n^4) memory, 1 GB for 60 words.

    Args:
        scores: (n + 1, n + 1), position 0 is the root. -inf removes an arc. The diagonal and column 0 are
            ignored.
        grandparent_scores: (n + 1, n + 1, n + 1). -inf removes a pair. Pairs that no projective tree has (the
            grandparent within the arc's span) and those of the root as head are ignored.
        single_root: whether exactly one word hangs from the root; otherwise at least one does.

    Attributes:
        log_partition: the logarithm of the sum over all trees of exp(score).
        marginals: (n + 1, n + 1) the probability of each arc; read-only.
        grandparent_marginals: (n + 1, n + 1, n + 1) the probability of each arc from a word with its
            grandparent; read-only.

    Raises:
        ValueError: wrong shapes; NaN, +inf or more than 1e300; a word without any head, or scores that allow no tree.

    Example:
        >>> trees = GrandparentTrees(np.zeros((4, 4)), np.zeros((4, 4, 4)), single_root=True)
        >>> round(np.exp(trees.log_partition))  # projective trees over three words
        7
        >>> chain = np.zeros((4, 4, 4))
        >>> chain[0, 1, 2] = chain[1, 2, 3] = 3.0
        >>> GrandparentTrees(np.zeros((4, 4)), chain, single_root=True).argmax()
        array([0, 1, 2])

    """

    def __init__(self, scores: ArrayLike, grandparent_scores: ArrayLike, *, single_root: bool) -> None:
        arcs = float_array(scores, "scores")
        size = len(arcs) if arcs.ndim else 0
        if size < 2 or arcs.shape != (size, size):
            raise ValueError(f"scores have shape {arcs.shape}, expected (n + 1, n + 1) for n >= 1 words")
        self.n = size - 1
        self.single_root = bool(single_root)
        pairs = float_array(grandparent_scores, "grandparent_scores")
        used = _possible(size)
        _check("scores", arcs, (size, size), is_score(arcs) | ~used.any(axis=0))
        used = used & (np.arange(size)[:, None] > 0)  # those of the root as head are arcs
        _check("grandparent_scores", pairs, (size, size, size), is_score(pairs) | ~used)
        # Every tree has one arc into each modifier: its largest score goes out of all of them alike.
        with np.errstate(invalid="ignore"):  # what is ignored may be anything
            self._scores = np.where(_possible(size), _join(arcs, pairs), -np.inf)
        largest = self._scores.max(axis=(0, 1))
        if (largest[1:] == -np.inf).any():
            raise ValueError(f"word {1 + int(np.argmin(largest[1:]))} has no possible head")
        largest[0] = 0.0
        self._scores -= largest
        self._shift = float(largest.sum())
        self._weights = np.exp(_to_kernel(self._scores))
        marginals, partition = kernels.marginals(self._weights, self.single_root)
        self._log_partition = float(np.log(partition)) if partition > 0.0 else -np.inf
        self._in_log_space = self._log_partition <= self.n * np.log(27 / 4) + _LOG_FLOOR
        if self._in_log_space:
            marginals, _, self._log_partition = log_kernels.log_marginals(
                _to_kernel(self._scores), np.zeros((size,) * 3), self.single_root
            )
        if self._log_partition == -np.inf:
            raise ValueError("the scores allow no projective tree")
        self._marginals = _from_kernel(marginals)
        self.log_partition = self._log_partition + self._shift
        self.marginals, self.grandparent_marginals = map(read_only, _part(self._marginals))

    @cached_property
    def entropy(self) -> float:
        """The entropy of the distribution, in nats.

        Every tree has one arc into each modifier, so the score of a probable one goes out of all of them, and the
        marginals of a modifier sum to one: what rounding has done to the log-partition does not meet large scores then.
        """
        size = self.n + 1
        marginals, scores = self._marginals.reshape(-1, size)[:, 1:], self._scores.reshape(-1, size)[:, 1:]
        shift = scores[marginals.argmax(axis=0), np.arange(self.n)]
        shares = marginals / marginals.sum(axis=0)
        used = shares > 0
        return self._log_partition - float(shift.sum()) - float(shares[used] @ (scores - shift)[used])

    def kl(self, other: GrandparentTrees) -> float:
        """Compute KL(self || other) in nats, infinite where `other` lacks a tree that this one has.

        `other` must allow as many roots as this one.
        """
        if other.n != self.n:
            raise ValueError(f"kl compares sentences of the same length, not {self.n} and {other.n} words")
        if other.single_root and not self.single_root:
            raise ValueError("kl(other): other does not allow every kind of tree that self does")
        own = self._expected(self._scores) - self._log_partition
        return own - self._expected(other._scores) + other._log_partition

    def _expected(self, scores: FloatArray) -> float:
        """Expect the total of `scores` under this distribution."""
        used = self._marginals > 0
        return float(self._marginals[used] @ scores[used])

    def argmax(self) -> IntArray:
        """Find the highest-scoring tree: (n,) heads."""
        best: IntArray = self._descend(1, best=True, rng=np.random.default_rng(0))[0]
        return best

    def sample(self, k: int, rng: np.random.Generator) -> IntArray:
        """Draw k trees independently: (k, n) heads."""
        return self._descend(whole_number(k, "k", 0), best=False, rng=random_generator(rng))

    def _descend(self, k: int, *, best: bool, rng: np.random.Generator) -> IntArray:
        scores = _to_kernel(self._scores)
        (complete, _), _, (arc, _) = log_kernels.log_inside(scores, np.zeros_like(scores), self.single_root, best)
        trees = np.zeros((k, self.n), np.int64)
        for heads in trees:
            log_kernels.descend(complete, arc, self.single_root, not best, rng, heads)
        return trees

    def topk(self, k: int) -> tuple[IntArray, FloatArray]:
        """Find the k best trees, best first: heads (at most k, n) and scores (at most k,)."""
        graph, tie = chart = grandparent_model0(self.n, single_root=self.single_root)
        derivations = graph.kbest(chart.log_weights(self._scores), k)
        trees = np.zeros((len(derivations), self.n), np.int64)
        for heads, derivation in zip(trees, derivations, strict=True):
            used = tie[derivation.edges]
            _, head, modifier = np.unravel_index(used[used >= 0], self._scores.shape)
            heads[modifier - 1] = head
        return trees, np.array([derivation.score for derivation in derivations]) + self._shift

    def mbr(self) -> IntArray:
        """Find the tree with the most arcs expected to be right: (n,) heads."""
        arcs = np.where((self._scores > -np.inf).any(axis=0), self.marginals, -np.inf)
        return DependencyTrees(arcs, projective=True, single_root=self.single_root).argmax()

    def log_prob(self, heads: ArrayLike) -> FloatArray:
        """Compute log-probabilities of trees: heads (..., n), 0 for the root, give shape (...).

        -inf for heads with a cycle, crossing arcs, too many roots or a removed arc.

        Raises:
            ValueError: a head out of range, or a word that heads itself.

        """
        trees = integer_array(heads, "heads")
        if trees.ndim < 1 or trees.shape[-1] != self.n:
            raise ValueError(f"heads must be of shape (..., {self.n}), not {trees.shape}")
        words = np.arange(1, self.n + 1)
        wrong = (trees < 0) | (trees > self.n) | (trees == words)
        if wrong.any():
            index = tuple(np.argwhere(wrong)[0])
            raise ValueError(f"word {index[-1] + 1} cannot have the head {trees[index]}")
        rows = trees.reshape(-1, self.n)
        legal = [is_tree(row, True, self.single_root) for row in rows]
        grandparents = np.take_along_axis(np.pad(rows, ((0, 0), (1, 0))), rows, axis=1)
        totals = self._scores[grandparents, rows, words].sum(axis=1) - self._log_partition
        return np.where(legal, totals, -np.inf).reshape(trees.shape[:-1])

    def backward(
        self, adjoint: ArrayLike, grandparent_adjoint: ArrayLike | None = None
    ) -> tuple[FloatArray, FloatArray]:
        """Back-propagate through the marginals.

        Args:
            adjoint: (n + 1, n + 1) an objective's derivatives with respect to `marginals`.
            grandparent_adjoint: (n + 1, n + 1, n + 1) those with respect to `grandparent_marginals`, if any.

        Returns:
            The objective's derivatives with respect to the scores and to the grandparent scores. The
            marginals are the gradient of the log-partition, so their Jacobian is symmetric, and the product
            from the left is the derivative of the marginals in the adjoint's direction.

        """
        size = self.n + 1
        arcs = float_array(adjoint, "adjoint")
        pairs = np.zeros((size,) * 3)
        if grandparent_adjoint is not None:
            pairs = float_array(grandparent_adjoint, "grandparent_adjoint")
        for name, array, axes in (("adjoint", arcs, 2), ("grandparent_adjoint", pairs, 3)):
            _check(name, array, (size,) * axes, np.isfinite(array))
        direction = _join(arcs, pairs)
        if self._in_log_space:
            _, slopes, _ = log_kernels.log_marginals(_to_kernel(self._scores), _to_kernel(direction), self.single_root)
            return _part(_from_kernel(slopes))
        largest = np.abs(direction).max() or 1.0
        steps = 1.0 + (1j * _STEP / largest) * _to_kernel(direction)
        moved, _ = kernels.marginals(self._weights * steps, self.single_root)
        return _part(_from_kernel(moved.imag) * (largest / _STEP))


@lru_cache(maxsize=16)
def _possible(size: int) -> BoolArray:
    """Mark the pairs [g, h, m] that a projective tree can have, and [0, 0, m] for the arcs from the root."""
    g, h, m = np.ogrid[:size, :size, :size]
    pair = (h > 0) & (h != m) & ((g < np.minimum(h, m)) | (g > np.maximum(h, m)))
    return np.asarray((m > 0) & (pair | ((g == 0) & (h == 0))))


def _to_kernel(array: FloatArray) -> FloatArray:
    """Lay [g, h, m] out as the kernels have it, [h, m, g]."""
    return np.ascontiguousarray(array.transpose(1, 2, 0))


def _from_kernel(array: FloatArray) -> FloatArray:
    return np.ascontiguousarray(array.transpose(2, 0, 1))


def _join(arcs: FloatArray, pairs: FloatArray) -> FloatArray:
    """Put arcs and pairs into one array [g, h, m]; arcs from the root, which have no g, go to [0, 0, m]."""
    joined = pairs + arcs
    joined[0, 0] = arcs[0]
    return joined


def _part(joined: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Sum a joined array up to arcs, and take the arcs from the root out of the pairs."""
    arcs = joined.sum(axis=0)
    pairs = joined.copy()
    pairs[0, 0] = 0.0
    return arcs, pairs


def _check(name: str, array: FloatArray, shape: tuple[int, ...], legal: BoolArray) -> None:
    if array.shape != shape:
        raise ValueError(f"{name} have shape {array.shape}, expected {shape}")
    if not legal.all():
        index = tuple(int(axis) for axis in np.unravel_index(np.argmin(legal), shape))
        raise ValueError(f"{name}{list(index)} is {array[index]}")
