"""Distributions over the dependency trees of sentences whose scores are tensors."""

from functools import cached_property, lru_cache
from typing import Any

import numpy as np
import torch
from torch import Tensor

from treebp.torch.tree_kernels import tree_kernels
from treebp.trees.dependency_trees import DependencyTrees as NumPyTrees
from treebp.trees.dependency_trees import check_comparable, check_shape, checked_lengths


class DependencyTrees:
    """The distribution p(tree) proportional to exp(sum of its arcs' scores), as `treebp.DependencyTrees` has it.

    Log-partition, marginals, entropy, divergence and log-probabilities can be differentiated; the log-partition twice,
    the others once: there are no third derivatives of the log-partition.

    Args:
        scores: (n + 1, n + 1) `scores[head, modifier]`, 0 being the root; -inf removes an arc, the diagonal and column
            0 are ignored. Or a batch, (batch, width, width). Not to be changed in place while this is in use.
        projective: whether arcs must not cross.
        single_root: whether the root has exactly one modifier, rather than any number.
        lengths: (batch,) words of each sentence of a batch, width - 1 by default. What lies beyond them is ignored, and
            zero (heads: -1) in the results.
        validate: whether a sentence that has no tree is an error. On a GPU, where scores too are looked at no earlier
            than by the first query, this waits for an answer. Without it, what belongs to such a sentence is NaN, or -1
            for heads; the log-partition of one without a tree is -inf.

    Raises:
        ValueError: a wrong shape; NaN, +inf or more than 1e300, with the arc; once queried, a sentence without a tree.

    Example:
        >>> scores = torch.zeros(2, 4, 4, dtype=torch.float64)
        >>> trees = DependencyTrees(scores, projective=True, single_root=True, lengths=[3, 2])
        >>> trees.marginals[:, 0].numpy().round(3)
        array([[0.   , 0.429, 0.143, 0.429],
               [0.   , 0.5  , 0.5  , 0.   ]])
        >>> trees.argmax()[1]
        tensor([ 0,  1, -1])

    """

    def __init__(
        self,
        scores: Tensor,
        *,
        projective: bool,
        single_root: bool,
        lengths: Any = None,
        validate: bool = True,
    ) -> None:
        if not isinstance(scores, Tensor) or not scores.is_floating_point():
            raise ValueError("scores: a tensor of floating-point numbers expected")
        self._kernels = tree_kernels(scores.device)
        self.projective, self.single_root, self.validate = bool(projective), bool(single_root), bool(validate)
        self._given = scores
        self._batched = scores.ndim == 3
        self.lengths = tensor_of_lengths(scores, lengths, validate)
        # What kernels see: the tensor itself, if it has their type.
        self._scores = (scores if self._batched else scores[None]).to(torch.float64).contiguous()
        if scores.device.type == "cpu":
            self._on_host()  # which looks at the scores

    @property
    def scores(self) -> Tensor:
        """The scores as given."""
        return self._given

    def _on_host(self) -> NumPyTrees:
        """The same distribution, of which the host asks what kernels do not know."""
        return NumPyTrees.of(
            self._scores.detach().cpu().numpy() if self._batched else self._scores[0].detach().cpu().numpy(),
            projective=self.projective,
            single_root=self.single_root,
            lengths=self.lengths.cpu().numpy() if self._batched else None,
        )

    @cached_property
    def _sums(self) -> tuple[Tensor, Tensor]:
        """Log-partitions and marginals as kernels give them: nodes of autograd's graph are made for each query."""
        log_partition, marginals, verdict = self._kernels.marginals(
            self._scores.detach(), self.lengths, self.projective, self.single_root
        )
        self._require_trees(verdict)
        return log_partition, marginals

    def _require_trees(self, verdict: Tensor) -> None:
        if self.validate and np.count_nonzero(verdict.cpu().numpy()):  # costs less than a kernel and a copy
            self._on_host().require_trees()

    def _product(self, scores: Tensor, direction: Tensor) -> Tensor:
        return self._kernels.product(scores, direction, self.lengths, self.projective, self.single_root)

    @property
    def log_partition(self) -> Tensor:
        """log Z; shape () or (batch,)."""
        return self._given_back(self._log_partition)

    @property
    def _log_partition(self) -> Tensor:
        return _LogPartition.apply(self._scores, self) if self._scores.requires_grad else self._sums[0].detach()

    @property
    def marginals(self) -> Tensor:
        """`marginals[head, modifier]` = p(arc); the shape of the scores."""
        return self._given_back(self._marginals)

    @property
    def _marginals(self) -> Tensor:
        return _Marginals.apply(self._scores, self) if self._scores.requires_grad else self._sums[1].detach()

    @property
    def entropy(self) -> Tensor:
        """Entropy in nats; shape () or (batch,)."""
        return self._given_back(self._log_partition - self._expected(self._scores))

    def _expected(self, scores: Tensor) -> Tensor:
        """Expected score of the arcs; an impossible arc counts nothing, whatever its score."""
        marginals = self._marginals
        return (marginals * torch.where(marginals > 0.0, scores, 0.0)).sum(dim=(1, 2))

    def kl(self, other: "DependencyTrees") -> Tensor:
        """KL(self || other) in nats, inf where `other` lacks a tree that self has; shape () or (batch,).

        `other` must allow every kind of tree that self does.
        """
        check_comparable(
            self, other, self._scores.shape == other._scores.shape and torch.equal(self.lengths, other.lengths)
        )
        difference = self._expected(self._scores) - self._expected(other._scores)
        return self._given_back(difference - self._log_partition + other._log_partition)

    def argmax(self) -> Tensor:
        """Heads of the most probable tree; shape (n,), or (batch, width - 1) padded with -1."""
        return self._best(self._scores.detach())

    def mbr(self) -> Tensor:
        """Heads of the tree with the highest expected number of correct arcs (eq. 3); shaped as `argmax`."""
        scores = self._scores.detach()
        return self._best(torch.where(scores == -torch.inf, -torch.inf, self._sums[1]))

    def _best(self, scores: Tensor) -> Tensor:
        heads, verdict = self._kernels.best(scores, self.lengths, self.projective, self.single_root)
        self._require_trees(verdict)
        return heads if self._batched else heads[0]

    def topk(self, k: int) -> Any:
        """The k best distinct trees, best first: heads (at most k, n) and scores; a list of these for a batch.

        The host looks for them, wherever the scores are.
        """
        found = self._on_host().topk(k)
        dtype, device = self._given.dtype, self._given.device
        pairs = [
            (torch.from_numpy(heads).to(device), torch.from_numpy(scores).to(device, dtype))
            for heads, scores in (found if isinstance(found, list) else [found])
        ]
        return pairs if self._batched else pairs[0]

    def sample(self, k: int, rng: torch.Generator | None = None) -> Tensor:
        """Exact independent samples: heads of shape (k, n), or (batch, k, width - 1) padded with -1.

        Non-projective ones are drawn by the host, wherever the scores are.
        """
        if k < 0:
            raise ValueError(f"k must not be negative, not {k}")
        if self._scores.device.type == "cuda" and self.projective:
            heads = self._sample_on_device(k, rng)
            return heads if self._batched else heads[0]
        return torch.from_numpy(self._on_host().sample(k, numpy_generator(rng))).to(self._given.device)

    def _sample_on_device(self, k: int, rng: torch.Generator | None) -> Tensor:
        from treebp.cuda.dense_trees import sample_projective

        scores, width = self._scores.detach(), self._scores.shape[1]
        device = scores.device if rng is None else rng.device
        uniforms = torch.rand((len(scores), k, 2 * width), generator=rng, dtype=torch.float64, device=device)
        heads, verdict = sample_projective(scores, self.lengths, self.single_root, uniforms.to(scores.device))
        self._require_trees(verdict)
        return heads

    def log_prob(self, heads: Tensor) -> Tensor:
        """Log probability of trees: heads (..., n) gives shape (...); a batch takes (batch, ..., width - 1).

        -inf for heads with a cycle, or that break the projectivity or root convention. Raises ValueError for a head out
        of range and for a word that heads itself.
        """
        heads = torch.as_tensor(heads, device=self._scores.device)
        rows = heads if self._batched else heads[None]
        count, words = len(self._scores), self._scores.shape[1] - 1
        if heads.is_floating_point() or rows.ndim < 2 or len(rows) != count or rows.shape[-1] != words:
            self._on_host().log_prob(heads.cpu().numpy())  # says what is wrong
        flat = rows.to(torch.int64).reshape(count, -1, words).contiguous()
        legal = self._kernels.legal(flat, self.lengths, self.projective, self.single_root)
        if self.validate and bool((legal < 0).any()):
            self._on_host().log_prob(heads.cpu().numpy())
        inside = torch.arange(words, device=flat.device) < self.lengths[:, None, None]
        chosen = self._scores[:, :, 1:].gather(1, flat.clamp(0, words))
        totals = torch.where(inside, chosen, 0.0).sum(dim=-1) - self._log_partition[:, None]
        log_probs = torch.where(legal > 0, totals, -torch.inf).reshape(rows.shape[:-1])
        return self._given_back(log_probs)

    def _given_back(self, batch: Tensor) -> Tensor:
        return (batch if self._batched else batch[0]).to(self._given.dtype)


def tensor_of_lengths(scores: Tensor, lengths: Any, validate: bool) -> Tensor:
    """(batch,) the words of each sentence, on the scores' device; ValueError if they, or the shape, are not right.

    Lengths that are on a GPU are looked at only to `validate` them.
    """
    if lengths is None:
        check_shape(scores.shape)
        return _full_lengths(scores.shape[0] if scores.ndim == 3 else 1, scores.shape[-1] - 1, scores.device)
    if isinstance(lengths, Tensor):
        if lengths.device.type != "cpu" and not validate:
            check_shape(scores.shape)
            return lengths.to(torch.int64)
        lengths = lengths.cpu().numpy()
    return torch.from_numpy(checked_lengths(scores.shape, lengths)).to(scores.device)


@lru_cache(maxsize=64)  # a kernel less to launch
def _full_lengths(count: int, words: int, device: torch.device) -> Tensor:
    return torch.full((count,), words, device=device)


def numpy_generator(rng: torch.Generator | None) -> np.random.Generator:
    """A generator of NumPy's that depends on the state of one of torch's, and moves that on."""
    seed = torch.randint(2**63 - 1, (), generator=rng, device=rng.device if rng is not None else "cpu")
    return np.random.default_rng(int(seed))


class _LogPartition(torch.autograd.Function):
    """Its gradient is the marginals."""

    @staticmethod
    def forward(ctx: Any, scores: Tensor, trees: DependencyTrees) -> Tensor:
        ctx.save_for_backward(scores)
        ctx.trees = trees
        return trees._sums[0].detach()

    @staticmethod
    def backward(ctx: Any, adjoint: Tensor) -> Any:
        (scores,) = ctx.saved_tensors
        return adjoint[:, None, None] * _Marginals.apply(scores, ctx.trees), None


class _Marginals(torch.autograd.Function):
    """Their Jacobian is symmetric, so the product from the left is the one from the right."""

    @staticmethod
    def forward(ctx: Any, scores: Tensor, trees: DependencyTrees) -> Tensor:
        ctx.save_for_backward(scores)
        ctx.trees = trees
        return trees._sums[1].detach()

    @staticmethod
    def backward(ctx: Any, adjoint: Tensor) -> Any:
        (scores,) = ctx.saved_tensors
        if not torch.is_grad_enabled():  # no second derivative is wanted: spare the node
            return ctx.trees._product(scores, adjoint), None
        return _Product.apply(scores, adjoint, ctx.trees), None


class _Product(torch.autograd.Function):
    """The Jacobian of the marginals times a vector; linear in the vector."""

    @staticmethod
    def forward(ctx: Any, scores: Tensor, direction: Tensor, trees: DependencyTrees) -> Tensor:
        return trees._product(scores.detach(), direction.detach())

    @staticmethod
    def backward(ctx: Any, adjoint: Tensor) -> Any:
        raise RuntimeError("marginals of trees can be differentiated once, their log-partition twice, and no further")
