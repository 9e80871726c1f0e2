"""Distributions over the dependency trees of a sentence."""

import heapq
from collections.abc import Callable
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from treebp._checks import float_array
from treebp._types import AnyArray, FloatArray, IntArray
from treebp.kernels import nonprojective, projective, tree_queries
from treebp.trees._samples import sample_below_root, sample_projective, sample_with_one_root


class DependencyTrees:
    """The distribution p(tree) proportional to exp(sum of its arcs' scores).

    Args:
        scores: (n + 1, n + 1) `scores[head, modifier]`, 0 being the root; -inf removes an arc, the diagonal and
            column 0 are ignored. Or a batch, (batch, width, width).
        projective: whether arcs must not cross.
        single_root: whether the root has exactly one modifier, rather than any number.
        lengths: (batch,) words of each sentence of a batch, width - 1 by default. What lies beyond them is ignored, and
            zero (heads: -1) in the results.

    Raises:
        ValueError: a wrong shape; NaN, +inf or more than 1e300, with the arc; once queried, a sentence without a tree.

    Example:
        >>> trees = DependencyTrees(np.zeros((4, 4)), projective=True, single_root=True)
        >>> round(float(np.exp(trees.log_partition)))
        7
        >>> trees.marginals[0].round(3)
        array([0.   , 0.429, 0.143, 0.429])

    """

    def __init__(
        self, scores: ArrayLike, *, projective: bool, single_root: bool, lengths: ArrayLike | None = None
    ) -> None:
        self._set(float_array(scores, "scores"), projective, single_root, lengths)

    @classmethod
    def of(
        cls, scores: FloatArray, *, projective: bool, single_root: bool, lengths: ArrayLike | None = None
    ) -> "DependencyTrees":
        """The same over a contiguous array that is not copied, and must not change."""
        trees = cls.__new__(cls)
        trees._set(scores, projective, single_root, lengths)
        return trees

    def _set(self, array: FloatArray, projective: bool, single_root: bool, lengths: ArrayLike | None) -> None:
        self.lengths: IntArray = checked_lengths(array.shape, lengths)
        self.projective = bool(projective)
        self.single_root = bool(single_root)
        self._batched = array.ndim == 3
        self._scores = array if self._batched else array[None]
        b, head, modifier = tree_queries.first_bad_score(self._scores, self.lengths)
        if b >= 0:
            where = f"sentence {b}: " if self._batched else ""
            score = self._scores[b, head, modifier]
            raise ValueError(f"{where}the score of arc {head} -> {modifier} is {score}; -inf or up to 1e300 expected")

    @property
    def scores(self) -> FloatArray:
        """The scores as given, float64."""
        return self._unbatch(self._scores)

    @cached_property
    def _sums(self) -> tuple[FloatArray, FloatArray]:
        log_partition = np.empty(len(self.lengths))
        marginals = np.empty_like(self._scores)
        family = projective if self.projective else nonprojective
        family.marginals(self._scores, self.lengths, self.single_root, log_partition, marginals)
        self._require_trees(log_partition)
        return log_partition, marginals

    @property
    def log_partition(self) -> FloatArray:
        """log Z; shape () or (batch,)."""
        return self._unbatch(self._sums[0])

    @property
    def marginals(self) -> FloatArray:
        """`marginals[head, modifier]` = p(arc); the shape of the scores."""
        return self._unbatch(self._sums[1])

    @property
    def entropy(self) -> FloatArray:
        """Entropy in nats; shape () or (batch,)."""
        log_partition, marginals = self._sums
        return self._unbatch(log_partition - _expectation(marginals, self._scores))

    def kl(self, other: "DependencyTrees") -> FloatArray:
        """KL(self || other) in nats, inf where `other` lacks a tree that self has; shape () or (batch,).

        `other` must allow every kind of tree that self does.
        """
        alike = self._scores.shape == other._scores.shape and np.array_equal(self.lengths, other.lengths)
        check_comparable(self, other, alike)
        log_partition, marginals = self._sums
        difference = _expectation(marginals, self._scores) - _expectation(marginals, other._scores)
        return self._unbatch(difference - log_partition + other._sums[0])

    @property
    def _best_trees(self) -> Callable[[FloatArray, IntArray, bool, IntArray], FloatArray]:
        return tree_queries.best_projective_trees if self.projective else tree_queries.best_spanning_trees

    def argmax(self) -> IntArray:
        """Heads of the most probable tree; shape (n,), or (batch, width - 1) padded with -1."""
        return self._unbatch(self._best(self._scores))

    def mbr(self) -> IntArray:
        """Heads of the tree with the highest expected number of correct arcs (eq. 3); shaped as `argmax`."""
        removed = self._scores == -np.inf
        return self._unbatch(self._best(np.where(removed, -np.inf, self._sums[1])))

    def topk(self, k: int) -> tuple[IntArray, FloatArray] | list[tuple[IntArray, FloatArray]]:
        """The k best distinct trees, best first: heads (at most k, n) and scores; a list of these for a batch.

        Each tree found splits the rest by the first word on which they differ from it (Lawler, 1972).
        """
        if k < 1:
            raise ValueError(f"k must be at least 1, not {k}")
        self.require_trees()
        found = [self._topk(b, k) for b in range(len(self.lengths))]
        return found if self._batched else found[0]

    def sample(self, k: int, rng: np.random.Generator) -> IntArray:
        """Exact independent samples: heads of shape (k, n), or (batch, k, width - 1) padded with -1."""
        if k < 0:
            raise ValueError(f"k must not be negative, not {k}")
        _, marginals = self._sums
        draws = np.full((len(self.lengths), k, self._scores.shape[1] - 1), -1)
        for b, n in enumerate(self.lengths.tolist()):
            scores = tree_queries.masked(self._scores[b], n + 1)
            if self.projective:
                sample_projective(scores, self.single_root, draws[b, :, :n], rng)
            elif self.single_root:
                sample_with_one_root(scores, marginals[b, 0, : n + 1], draws[b, :, :n], rng)
            else:
                sample_below_root(scores, draws[b, :, :n], rng)
        return self._unbatch(draws)

    def log_prob(self, heads: ArrayLike) -> FloatArray:
        """Log probability of trees: heads (..., n) gives shape (...); a batch takes (batch, ..., width - 1).

        -inf for heads with a cycle, or that break the projectivity or root convention. Raises ValueError for a head out
        of range and for a word that heads itself.
        """
        array = np.asarray(heads)
        if not np.issubdtype(array.dtype, np.integer):
            raise ValueError("heads must be integers")
        batch = array if self._batched else array[None]
        count, width = self._scores.shape[:2]
        if batch.ndim < 2 or batch.shape[0] != count or batch.shape[-1] != width - 1:
            raise ValueError(f"heads have shape {array.shape}, the trees {width - 1} words")
        log_probs = np.array([self._log_probs(b, batch[b]) for b in range(count)])
        return self._unbatch(log_probs.reshape(batch.shape[:-1]))

    def backward(self, adjoint: ArrayLike) -> FloatArray:
        """Vector-Jacobian product: dJ/d scores given `adjoint` = dJ/d marginals, both shaped as the scores."""
        array = float_array(adjoint, "adjoint")
        if array.shape != self.scores.shape:
            raise ValueError(f"the adjoint has shape {array.shape}, the marginals {self.scores.shape}")
        if not np.isfinite(array).all():
            raise ValueError("the adjoint must be finite")
        self.require_trees()
        out = np.empty_like(self._scores)
        family = projective if self.projective else nonprojective
        family.product(self._scores, array.reshape(out.shape), self.lengths, self.single_root, out)
        return self._unbatch(out)

    def _unbatch(self, array: AnyArray) -> AnyArray:
        return array if self._batched else array[0]

    def require_trees(self) -> None:
        """Raise ValueError if a sentence has no tree; this is what any query does first."""
        self._require_trees(self._sums[0])

    def _require_trees(self, log_partition: FloatArray) -> None:
        for b in np.flatnonzero(log_partition == -np.inf)[:1]:
            where = f"sentence {b}" if self._batched else "the sentence"
            kind = f"{'projective' if self.projective else 'non-projective'} tree"
            roots = " with one root word" if self.single_root else ""
            arcs = tree_queries.masked(self._scores[b], int(self.lengths[b]) + 1)[:, 1:]
            headless = np.flatnonzero((arcs == -np.inf).all(axis=0)) + 1
            why = f"word {headless[0]} has no possible head" if len(headless) else "too many arcs have a score of -inf"
            raise ValueError(f"{where} has no {kind}{roots}: {why}")

    def _best(self, scores: FloatArray) -> IntArray:
        heads = np.full((len(self.lengths), scores.shape[1] - 1), -1)
        self._require_trees(self._best_trees(scores, self.lengths, self.single_root, heads))
        return heads

    def _topk(self, b: int, k: int) -> tuple[IntArray, FloatArray]:
        size = int(self.lengths[b]) + 1
        words = np.arange(1, size)
        length = self.lengths[b : b + 1]

        def push(scores: FloatArray, fixed: int) -> None:
            heads = np.empty((1, size - 1), np.int64)
            score = self._best_trees(scores[None], length, self.single_root, heads)[0]
            if score > -np.inf:
                heapq.heappush(queue, (-float(score), len(queue) + len(trees), fixed, heads[0], scores))

        queue: list[tuple[float, int, int, IntArray, FloatArray]] = []
        trees: list[IntArray] = []
        best: list[float] = []
        push(tree_queries.masked(self._scores[b], size), 0)
        while queue and len(trees) < k:
            negative, _, fixed, heads, scores = heapq.heappop(queue)
            trees.append(heads)
            best.append(-negative)
            # The rest of this part: same heads for the words before `word`, another head for `word`.
            for word in range(fixed, size - 1):
                part = scores.copy()
                part[:, words[:word]] = -np.inf
                part[heads[:word], words[:word]] = scores[heads[:word], words[:word]]
                part[heads[word], words[word]] = -np.inf
                push(part, word)
        return np.array(trees), np.array(best)

    def _log_probs(self, b: int, heads: IntArray) -> FloatArray:
        n = int(self.lengths[b])
        trees = np.ascontiguousarray(heads.reshape(-1, heads.shape[-1])[:, :n], dtype=np.int64)
        words = np.arange(1, n + 1)
        for bad, what in (
            ((trees < 0) | (trees > n), "is out of range"),
            (trees == words, "is the word itself"),
        ):
            if bad.any():
                row, word = np.argwhere(bad)[0]
                raise ValueError(f"the head {trees[row, word]} of word {word + 1} {what}")
        totals = self._scores[b][trees, words].sum(axis=1) - self._sums[0][b]
        legal = [tree_queries.is_tree(tree, self.projective, self.single_root) for tree in trees]
        return np.where(legal, totals, -np.inf)


class _Kind(Protocol):
    """What kind of trees there are."""

    projective: bool
    single_root: bool


def check_comparable(one: _Kind, other: _Kind, alike: bool) -> None:
    """ValueError unless one distribution's divergence from another can be asked for; `alike` says that shapes agree."""
    if not alike:
        raise ValueError("kl compares distributions over sentences of the same lengths")
    if (other.projective and not one.projective) or (other.single_root and not one.single_root):
        raise ValueError("kl(other): other does not allow every kind of tree that self does")


def check_shape(shape: tuple[int, ...]) -> None:
    """ValueError unless scores of a shape can be those of trees."""
    if len(shape) not in (2, 3) or shape[-1] != shape[-2] or shape[-1] < 2:
        raise ValueError(
            f"scores must have shape (n + 1, n + 1) or (batch, n + 1, n + 1) with n >= 1, not {tuple(shape)}"
        )


def checked_lengths(shape: tuple[int, ...], lengths: ArrayLike | None) -> IntArray:
    """The words of each sentence that scores of a shape are about; ValueError if shape or lengths are not right.

    >>> checked_lengths((2, 5, 5), None)
    array([4, 4])
    """
    check_shape(shape)
    if lengths is not None and len(shape) == 2:
        raise ValueError("lengths go with a batch: scores of shape (batch, n + 1, n + 1)")
    count, width = (1, *shape)[-3], shape[-1]
    found: IntArray = np.full(count, width - 1) if lengths is None else np.array(lengths)
    if found.shape != (count,) or not np.issubdtype(found.dtype, np.integer):
        raise ValueError(f"lengths must be {count} integers, one per sentence")
    found = found.astype(np.int64)
    if count and not (found.min() >= 1 and found.max() < width):
        raise ValueError(f"lengths must lie between 1 and {width - 1}")
    return found


def _expectation(marginals: FloatArray, scores: FloatArray) -> FloatArray:
    """Expected score of the arcs; an impossible arc counts nothing, whatever its score."""
    return np.asarray((marginals * np.where(marginals > 0.0, scores, 0.0)).sum(axis=(1, 2)))
