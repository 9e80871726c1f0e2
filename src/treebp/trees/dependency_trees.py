"""Distributions over the dependency trees of a sentence."""

import heapq
from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike

from treebp._checks import float_array, integer_array, random_generator, read_only, whole_number
from treebp._types import AnyArray, BoolArray, FloatArray, IntArray
from treebp.kernels import nonprojective, projective, tree_queries
from treebp.kernels.tree_group import is_tree
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
        self._lengths = checked_lengths(array.shape, lengths)
        self.projective = bool(projective)
        self.single_root = bool(single_root)
        self._batched = array.ndim == 3
        self._scores = array if self._batched else array[None]
        b, head, modifier = tree_queries.first_bad_score(self._scores, self._lengths)
        if b >= 0:
            where = f"sentence {b}: " if self._batched else ""
            score = self._scores[b, head, modifier]
            raise ValueError(f"{where}the score of arc {head} -> {modifier} is {score}; -inf or up to 1e300 expected")

    @property
    def scores(self) -> FloatArray:
        """The scores as given, float64; read-only, as all arrays that are not made for the caller."""
        return read_only(self._unbatched(self._scores))

    @property
    def lengths(self) -> IntArray:
        """(batch,) the words of each sentence."""
        return read_only(self._lengths)

    @cached_property
    def _sums(self) -> "_Sums":
        offsets, log_partitions = np.empty((2, len(self._lengths)))
        sums = _Sums(offsets, log_partitions, np.empty_like(self._scores), self._swept)
        if self.projective:
            projective.marginals(self._scores, self._lengths, self.single_root, *sums[:3])
        else:
            nonprojective.marginals(self._scores, self._lengths, self.single_root, *sums)
        self._require_trees(sums.log_partitions)
        return sums

    @property
    def _swept(self) -> nonprojective.Swept:
        """Memory for what the backward pass need not compute again; that of projective trees keeps nothing."""
        batch, *square = (0, 0, 0) if self.projective else self._scores.shape
        weights, matrices = np.empty((2, batch, *square))
        return nonprojective.Swept(weights, matrices, np.empty(batch))

    @property
    def log_partition(self) -> FloatArray:
        """log Z; shape () or (batch,)."""
        return self._unbatched(self._sums.offsets + self._sums.log_partitions)

    @property
    def marginals(self) -> FloatArray:
        """`marginals[head, modifier]` = p(arc); the shape of the scores."""
        return read_only(self._unbatched(self._sums.marginals))

    @property
    def entropy(self) -> FloatArray:
        """Entropy in nats; shape () or (batch,)."""
        return self._unbatched(self._sums.log_partitions - self._expected(self._logits))

    def kl(self, other: "DependencyTrees") -> FloatArray:
        """KL(self || other) in nats, inf where `other` lacks a tree that self has; shape () or (batch,).

        `other` must allow every kind of tree that self does.
        """
        alike = self._scores.shape == other._scores.shape and np.array_equal(self._lengths, other._lengths)
        check_comparable(self, other, alike)
        with np.errstate(invalid="ignore"):  # what neither has is not expected
            difference = self._expected(self._logits - other._logits)
        return self._unbatched(difference - self._sums.log_partitions + other._sums.log_partitions)

    @cached_property
    def _logits(self) -> FloatArray:
        """The scores, -inf where there is no arc, less each modifier's largest one, which `_sums.offsets` add up."""
        logits = np.full_like(self._scores, -np.inf)
        for b, size in enumerate((self._lengths + 1).tolist()):
            logits[b, :size, :size] = tree_queries.masked(self._scores[b], size)
        best = logits.max(axis=1, keepdims=True)
        return logits - np.where(best > -np.inf, best, 0.0)

    def _expected(self, values: FloatArray) -> FloatArray:
        """The expected sum of arcs' values, infinite where one with a probability is; shape (batch,).

        The marginals of a modifier sum to one, but for rounding: so the value of a probable arc goes out of all of them
        first, lest rounding meet large values.
        """
        marginals = self._sums.marginals
        values = np.where(marginals > 0.0, values, 0.0)
        infinite = np.isinf(values).any(axis=(1, 2))
        values[infinite] = 0.0
        probable = np.take_along_axis(values, marginals.argmax(axis=1, keepdims=True), axis=1)
        totals = marginals.sum(axis=1, keepdims=True)
        shares = marginals / np.where(totals > 0.0, totals, 1.0)
        rest = np.where(shares > 0.0, shares * (values - probable), 0.0)
        return np.where(infinite, np.inf, probable.sum(axis=(1, 2)) + rest.sum(axis=(1, 2)))

    def argmax(self) -> IntArray:
        """Heads of the most probable tree; shape (n,), or (batch, width - 1) padded with -1."""
        return self._unbatched(self._best(self._scores))

    def mbr(self) -> IntArray:
        """Heads of the tree with the highest expected number of correct arcs (eq. 3); shaped as `argmax`."""
        removed = self._scores == -np.inf
        return self._unbatched(self._best(np.where(removed, -np.inf, self._sums.marginals)))

    def topk(self, k: int) -> tuple[IntArray, FloatArray] | list[tuple[IntArray, FloatArray]]:
        """The k best distinct trees, best first: heads (at most k, n) and scores; a list of these for a batch.

        Each tree found splits the rest by the first word on which they differ from it (Lawler, 1972).
        """
        k = whole_number(k, "k", 1)
        first = self._best(self._scores)
        found = [self._topk(b, k, first[b]) for b in range(len(self._lengths))]
        return found if self._batched else found[0]

    def sample(self, k: int, rng: np.random.Generator) -> IntArray:
        """Exact independent samples: heads of shape (k, n), or (batch, k, width - 1) padded with -1."""
        k, rng = whole_number(k, "k", 0), random_generator(rng)
        marginals = self._sums.marginals
        draws = np.full((len(self._lengths), k, self._scores.shape[1] - 1), -1)
        for b, n in enumerate(self._lengths.tolist()):
            scores = tree_queries.masked(self._scores[b], n + 1)
            if self.projective:
                sample_projective(scores, self.single_root, draws[b, :, :n], rng)
            elif self.single_root:
                sample_with_one_root(scores, marginals[b, 0, : n + 1], draws[b, :, :n], rng)
            else:
                sample_below_root(scores, draws[b, :, :n], rng)
        return self._unbatched(draws)

    def log_prob(self, heads: ArrayLike) -> FloatArray:
        """Log probability of trees: heads (..., n) gives shape (...); a batch takes (batch, ..., width - 1).

        -inf for heads with a cycle, or that break the projectivity or root convention. Raises ValueError for a head out
        of range and for a word that heads itself.
        """
        array = integer_array(heads, "heads")
        batch = array if self._batched else array[None]
        count, width = self._scores.shape[:2]
        if batch.ndim < 2 or batch.shape[0] != count or batch.shape[-1] != width - 1:
            raise ValueError(f"heads have shape {array.shape}, the trees {width - 1} words")
        log_probs = np.array([self._log_probs(b, batch[b]) for b in range(count)])
        return self._unbatched(log_probs.reshape(batch.shape[:-1]))

    def backward(self, adjoint: ArrayLike) -> FloatArray:
        """Vector-Jacobian product: dJ/d scores given `adjoint` = dJ/d marginals, both shaped as the scores."""
        array = float_array(adjoint, "adjoint", copied=False)
        if array.shape != self.scores.shape:
            raise ValueError(f"the adjoint has shape {array.shape}, the marginals {self.scores.shape}")
        if not np.isfinite(array).all():
            raise ValueError("the adjoint must be finite")
        sums, out = self._sums, np.empty_like(self._scores)
        direction = array.reshape(out.shape)
        if self.projective:
            projective.product(self._scores, direction, self._lengths, self.single_root, out)
        else:
            nonprojective.product(self._scores, direction, self._lengths, self.single_root, sums.swept, out)
        return self._unbatched(out)

    def _unbatched(self, array: AnyArray) -> AnyArray:
        return array if self._batched else array[0]

    def require_trees(self) -> None:
        """Raise ValueError if a sentence has no tree; this is what any query does first."""
        self._require_trees(self._sums.log_partitions)

    def _require_trees(self, log_partition: FloatArray) -> None:
        for b in np.flatnonzero(log_partition == -np.inf)[:1]:
            where = f"sentence {b}" if self._batched else "the sentence"
            kind = f"{'projective' if self.projective else 'non-projective'} tree"
            roots = " with one root word" if self.single_root else ""
            arcs = tree_queries.masked(self._scores[b], int(self._lengths[b]) + 1)[:, 1:]
            headless = np.flatnonzero((arcs == -np.inf).all(axis=0)) + 1
            why = f"word {headless[0]} has no possible head" if len(headless) else "too many arcs have a score of -inf"
            raise ValueError(f"{where} has no {kind}{roots}: {why}")

    def _best(self, scores: FloatArray) -> IntArray:
        heads = np.full((len(self._lengths), scores.shape[1] - 1), -1)
        best = tree_queries.best_trees(scores, self._lengths, self.projective, self.single_root, heads)
        self._require_trees(best)
        return heads

    def _topk(self, b: int, k: int, first: IntArray) -> tuple[IntArray, FloatArray]:
        """A part of all trees has the heads of its best tree before a word, which has any head but those refused."""
        size = int(self._lengths[b]) + 1
        arcs, heads = tree_queries.masked(self._scores[b], size), first[: size - 1]
        score = arcs[heads, np.arange(1, size)].sum()
        queue: list[tuple[float, int, int, IntArray, BoolArray]] = [(-score, 0, 0, heads, np.zeros(size, np.bool_))]
        best: list[tuple[IntArray, float]] = []
        found = 1
        while queue and len(best) < k:
            negative, _, fixed, heads, refused = heapq.heappop(queue)
            best.append((heads, -negative))
            if len(best) == k:
                break
            trees = np.empty((size - 1, size - 1), np.int64)
            totals = tree_queries.best_other_trees(
                arcs, self.projective, self.single_root, heads, fixed, refused, trees
            )
            for word in np.flatnonzero(totals > -np.inf).tolist():
                also = refused.copy() if word == fixed else np.zeros(size, np.bool_)
                also[heads[word]] = True
                heapq.heappush(queue, (-float(totals[word]), found, word, trees[word], also))
                found += 1
        return np.array([tree for tree, _ in best]), np.array([total for _, total in best])

    def _log_probs(self, b: int, heads: IntArray) -> FloatArray:
        n = int(self._lengths[b])
        trees = np.ascontiguousarray(heads.reshape(-1, heads.shape[-1])[:, :n], dtype=np.int64)
        words = np.arange(1, n + 1)
        for bad, what in (
            ((trees < 0) | (trees > n), "is out of range"),
            (trees == words, "is the word itself"),
        ):
            if bad.any():
                row, word = np.argwhere(bad)[0]
                raise ValueError(f"the head {trees[row, word]} of word {word + 1} {what}")
        totals = self._logits[b][trees, words].sum(axis=1) - self._sums.log_partitions[b]
        legal = [is_tree(tree, self.projective, self.single_root) for tree in trees]
        return np.where(legal, totals, -np.inf)


class _Sums(NamedTuple):
    """Sums over all trees of each sentence of a batch.

    Attributes:
        offsets: (batch,) the sum of each modifier's largest score, which goes out of all trees alike.
        log_partitions: (batch,) of what is left.
        marginals: the shape of the scores.
        swept: what the backward pass needs.

    """

    offsets: FloatArray
    log_partitions: FloatArray
    marginals: FloatArray
    swept: nonprojective.Swept


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
    found: IntArray = np.full(count, width - 1) if lengths is None else integer_array(lengths, "lengths")
    if found.shape != (count,):
        raise ValueError(f"lengths must be {count} integers, one per sentence")
    if count and not (found.min() >= 1 and found.max() < width):
        raise ValueError(f"lengths must lie between 1 and {width - 1}")
    return found
