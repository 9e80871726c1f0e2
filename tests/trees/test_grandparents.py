"""Grandparent trees beyond the shared contract: plain floats against log space, long sentences, bad input."""

import math
from collections import Counter

import numpy as np
import pytest
from numpy.testing import assert_allclose

from brute_force import all_trees
from treebp.hypergraphs.builders import grandparent_model0
from treebp.trees import grandparents
from treebp.trees.dependency_trees import DependencyTrees
from treebp.trees.grandparents import GrandparentTrees


@pytest.mark.parametrize("single_root", [True, False])
def test_samples_follow_the_distribution(single_root: bool) -> None:
    rng = np.random.default_rng(0)
    scores, pair_scores = rng.normal(size=(4, 4)), rng.normal(size=(4, 4, 4))
    pair_scores[0, 2, 1] = -np.inf
    trees = GrandparentTrees(scores, pair_scores, single_root=single_root)
    frequency = Counter(map(tuple, trees.sample(20_000, np.random.default_rng(1)).tolist()))
    every = all_trees(3, True, single_root)
    for heads, p in zip(every.tolist(), np.exp(trees.log_prob(every)), strict=True):
        assert abs(frequency[tuple(heads)] / 20_000 - p) <= 5 * math.sqrt(p / 20_000)


def test_without_grandparent_scores_these_are_eisner_trees() -> None:
    scores = np.random.default_rng(0).normal(size=(9, 9)) * 2
    for single_root in (True, False):
        trees = GrandparentTrees(scores, np.zeros((9, 9, 9)), single_root=single_root)
        plain = DependencyTrees(scores, projective=True, single_root=single_root)
        assert_allclose(trees.log_partition, plain.log_partition)
        assert_allclose(trees.marginals, plain.marginals, atol=1e-12)
        assert np.array_equal(trees.argmax(), plain.argmax())
        assert_allclose(trees.entropy, plain.entropy)


@pytest.mark.parametrize(("n", "temperature"), [(150, 1.0), (40, 1e-4)])
def test_long_and_cold_sentences_agree_with_eisner_where_grandparents_do_not_matter(n: int, temperature: float) -> None:
    """Pair scores that are the same for every grandparent belong to the arcs; nine arcs in ten are pruned."""
    rng = np.random.default_rng(0)
    scores, pair_scores = rng.uniform(size=(2, n + 1, n + 1)) / temperature
    pruned = rng.random(scores.shape) < 0.9
    pruned[np.arange(n), np.arange(1, n + 1)] = False
    scores[pruned] = -np.inf
    trees = GrandparentTrees(scores, np.broadcast_to(pair_scores, (n + 1,) * 3), single_root=True)
    assert trees._in_log_space == (temperature < 1.0)
    pair_scores[0] = 0.0  # the root has no head
    plain = DependencyTrees(scores + pair_scores, projective=True, single_root=True)
    assert_allclose(trees.log_partition, plain.log_partition, rtol=1e-12)
    assert_allclose(trees.marginals, plain.marginals, atol=1e-8)
    adjoint = rng.normal(size=scores.shape)
    assert_allclose(trees.backward(adjoint)[0], plain.backward(adjoint), atol=1e-8)


def test_kl() -> None:
    rng = np.random.default_rng(0)
    scores, pair_scores = rng.normal(size=(2, 5, 5)), rng.normal(size=(2, 5, 5, 5))
    first, second = (GrandparentTrees(s, p, single_root=True) for s, p in zip(scores, pair_scores, strict=True))
    p, q = (np.exp(trees.log_prob(all_trees(4, True, True))) for trees in (first, second))
    assert_allclose(first.kl(second), (p * np.log(p / q)).sum())
    assert_allclose(first.kl(first), 0.0, atol=1e-12)
    many_roots = GrandparentTrees(scores[1], pair_scores[1], single_root=False)
    assert_allclose(first.kl(many_roots), first.kl(second) + many_roots.log_partition - second.log_partition)
    pair_scores[1, 0, 1, 2] = -np.inf
    narrower = GrandparentTrees(scores[1], pair_scores[1], single_root=True)
    assert first.kl(narrower) == np.inf
    assert narrower.kl(first) < np.inf
    with pytest.raises(ValueError, match="every kind of tree"):
        many_roots.kl(first)
    with pytest.raises(ValueError, match="not 4 and 1 words"):
        first.kl(GrandparentTrees(np.zeros((2, 2)), np.zeros((2, 2, 2)), single_root=True))


@pytest.mark.parametrize(("n", "single_root"), [(60, True), (30, False)])
def test_plain_floats_log_space_and_hypergraph_agree(
    n: int, single_root: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Forward and backward, with pruned arcs."""
    size = n + 1
    rng = np.random.default_rng(0)
    scores, pair_scores = 2 * rng.normal(size=(size, size)), 2 * rng.normal(size=(size,) * 3)
    scores[1:][rng.random((n, size)) < 0.3] = -np.inf
    adjoint, pair_adjoint = rng.normal(size=(size, size)), rng.normal(size=(size,) * 3)
    fast = GrandparentTrees(scores, pair_scores, single_root=single_root)
    assert not fast._in_log_space
    monkeypatch.setattr(grandparents, "_LOG_FLOOR", np.inf)
    slow = GrandparentTrees(scores, pair_scores, single_root=single_root)
    assert slow._in_log_space
    chart = grandparent_model0(n, single_root=single_root)
    joined = pair_scores + scores
    joined[0, 0] = scores[0]
    generic = chart.hypergraph.inside_outside(chart.log_weights(joined), "log")
    direction = pair_adjoint + adjoint
    direction[0, 0] = adjoint[0]
    edge_adjoint = generic.backward(edge_adjoint=chart.log_weights(direction)).weights
    pairs, pair_gradient = (chart.collect(x, (size,) * 3) for x in (generic.edge_marginals, edge_adjoint))
    arcs, gradient = pairs.sum(axis=0), pair_gradient.sum(axis=0)
    pairs[0, 0] = pair_gradient[0, 0] = 0.0
    for trees in (fast, slow):
        assert_allclose(trees.log_partition, generic.log_partition, rtol=1e-12)
        assert_allclose(trees.marginals, arcs, rtol=1e-8, atol=1e-12)
        assert_allclose(trees.grandparent_marginals, pairs, rtol=1e-8, atol=1e-12)
        assert_allclose(trees.marginals[:, 1:].sum(axis=0), 1.0)
        for got, want in zip(trees.backward(adjoint, pair_adjoint), (gradient, pair_gradient), strict=True):
            assert_allclose(got, want, rtol=1e-8, atol=1e-10)


def test_contradictory_scores_leave_plain_floats() -> None:
    """Every word wants a head that no tree can give it, so the partition function underflows."""
    n = 12
    scores = np.zeros((n + 1, n + 1))
    for word in range(1, n, 2):
        scores[word, word + 1] = scores[word + 1, word] = 1e4
    trees = GrandparentTrees(scores, np.zeros((n + 1,) * 3), single_root=True)
    assert trees._in_log_space
    plain = DependencyTrees(scores, projective=True, single_root=True)
    assert_allclose(trees.log_partition, plain.log_partition, rtol=1e-12)
    assert_allclose(trees.marginals, plain.marginals, atol=1e-9)
    adjoint = np.random.default_rng(0).normal(size=scores.shape)
    assert_allclose(trees.backward(adjoint)[0], plain.backward(adjoint), atol=1e-8)


def test_backward_by_finite_differences() -> None:
    rng = np.random.default_rng(0)
    scores, pair_scores = rng.normal(size=(7, 7)), rng.normal(size=(7, 7, 7))
    scores[2, 5] = pair_scores[0, 3, 4] = -np.inf
    adjoint, pair_adjoint = rng.normal(size=(7, 7)), rng.normal(size=(7, 7, 7))

    def objective(scores: np.ndarray, pair_scores: np.ndarray) -> float:
        trees = GrandparentTrees(scores, pair_scores, single_root=False)
        return float((trees.marginals * adjoint).sum() + (trees.grandparent_marginals * pair_adjoint).sum())

    gradient, pair_gradient = GrandparentTrees(scores, pair_scores, single_root=False).backward(adjoint, pair_adjoint)
    step, pair_step = rng.normal(size=(7, 7)), rng.normal(size=(7, 7, 7))
    h = 1e-5
    above = objective(scores + h * step, pair_scores + h * pair_step)
    below = objective(scores - h * step, pair_scores - h * pair_step)
    slope = (gradient * step).sum() + (pair_gradient * pair_step).sum()
    assert_allclose((above - below) / (2 * h), slope, rtol=1e-7)
    assert gradient[2, 5] == pair_gradient[0, 3, 4] == 0.0


def test_diagonal_and_column_zero_are_ignored() -> None:
    rng = np.random.default_rng(0)
    scores, pair_scores = rng.normal(size=(4, 4)), rng.normal(size=(4, 4, 4))
    before = GrandparentTrees(scores, pair_scores, single_root=True)
    np.fill_diagonal(scores, -np.inf)
    scores[:, 0] = 1e300
    pair_scores[:, :, 0] = pair_scores[:, 0] = 1e300
    pair_scores[2, 1, 3] = -np.inf  # the grandparent lies within the arc
    after = GrandparentTrees(scores, pair_scores, single_root=True)
    assert after.log_partition == before.log_partition
    assert np.array_equal(after.marginals, before.marginals)


def one(value: float) -> tuple[np.ndarray, np.ndarray]:
    scores = np.zeros((3, 3))
    scores[1, 2] = value
    return scores, np.zeros((3, 3, 3))


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        (one(np.nan), r"scores\[1, 2\] is nan"),
        (one(np.inf), r"scores\[1, 2\] is inf"),
        ((np.zeros((3, 3)), np.full((3, 3, 3), np.nan)), r"grandparent_scores\[0, 1, 2\] is nan"),
        ((np.zeros((3, 4)), np.zeros((3, 3, 3))), r"scores have shape \(3, 4\)"),
        ((np.zeros((1, 1)), np.zeros((1, 1, 1))), "n >= 1"),
        ((np.zeros(()), np.zeros(())), "n >= 1"),
        ((np.zeros((3, 3)), np.zeros((3, 3))), r"grandparent_scores have shape \(3, 3\), expected \(3, 3, 3\)"),
        ((np.where(np.arange(3) == 2, -np.inf, np.zeros((3, 3))), np.zeros((3, 3, 3))), "word 2 has no possible head"),
        (
            (np.where(np.arange(3)[:, None] == 0, -np.inf, np.zeros((3, 3))), np.zeros((3, 3, 3))),
            "the scores allow no projective tree",
        ),
    ],
)
def test_bad_scores(scores: tuple[np.ndarray, np.ndarray], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        GrandparentTrees(*scores, single_root=True)


def test_bad_questions() -> None:
    trees = GrandparentTrees(*one(0.0), single_root=True)
    for heads, message in (
        ([0, 3], "word 2 cannot have the head 3"),
        ([1, 0], "word 1 cannot have the head 1"),
        ([0], r"shape \(\.\.\., 2\)"),
        ([0.0, 1.0], "integers"),
    ):
        with pytest.raises(ValueError, match=message):
            trees.log_prob(heads)
    assert trees.log_prob([2, 1]) == trees.log_prob([0, 0]) == -np.inf
    with pytest.raises(ValueError, match=r"adjoint have shape \(2, 2\)|adjoint has shape"):
        trees.backward(np.zeros((2, 2)))
    with pytest.raises(ValueError, match=r"grandparent_adjoint\[0, 0, 0\] is nan"):
        trees.backward(np.zeros((3, 3)), np.full((3, 3, 3), np.nan))
    for gradient in trees.backward(np.zeros((3, 3))):
        assert not gradient.any()
