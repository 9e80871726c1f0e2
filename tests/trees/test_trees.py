"""Distributions over trees beyond the shared contract: long sentences, samples' frequencies, batches, bad input."""

import numpy as np
import pytest
from numpy.typing import NDArray

from brute_force import all_trees, indicators
from treebp.hypergraphs.builders import eisner
from treebp.trees.dependency_trees import DependencyTrees

KINDS = [(True, True), (True, False), (False, True), (False, False)]
kinds = pytest.mark.parametrize(("projective", "single_root"), KINDS)


@kinds
@pytest.mark.parametrize("scale", [0.3, 2.0, 60.0])
def test_samples_have_the_right_frequencies(projective: bool, single_root: bool, scale: float) -> None:
    rng = np.random.default_rng(5)
    scores = rng.normal(size=(5, 5)) * scale
    scores[0, 2] = -np.inf
    trees = DependencyTrees(scores, projective=projective, single_root=single_root)
    draws = trees.sample(6000, rng)
    frequencies = indicators(draws).mean(axis=0)
    deviation = np.sqrt(trees.marginals * (1 - trees.marginals) / 6000)
    assert (np.abs(frequencies - trees.marginals) <= 5 * deviation + 1e-9).all()


def test_samples_where_walks_would_circle_for_ever() -> None:
    scores = np.zeros((5, 5))
    scores[1, 2] = scores[2, 1] = scores[3, 4] = scores[4, 3] = 80.0
    trees = DependencyTrees(scores, projective=False, single_root=False)
    frequencies = indicators(trees.sample(3000, np.random.default_rng(2))).mean(axis=0)
    np.testing.assert_allclose(frequencies, trees.marginals, atol=0.05)


def log_space_reference(
    scores: NDArray[np.float64], single_root: bool, adjoint: NDArray[np.float64]
) -> tuple[float, NDArray[np.float64], NDArray[np.float64]]:
    """The generic hypergraph in log arithmetic with the paper's own adjoint equations."""
    graph, tie = eisner(len(scores) - 1, single_root=single_root)
    tied = tie >= 0
    weights = np.where(tied, scores.ravel()[np.maximum(tie, 0)], 0.0)
    result = graph.inside_outside(weights, arithmetic="log")
    marginals = np.bincount(tie[tied], result.edge_marginals[tied], minlength=scores.size)
    edge_adjoint = np.where(tied, adjoint.ravel()[np.maximum(tie, 0)], 0.0)
    gradient = result.backward(edge_adjoint=edge_adjoint).weights
    gradient = np.bincount(tie[tied], gradient[tied], minlength=scores.size)
    return result.log_partition, marginals.reshape(scores.shape), gradient.reshape(scores.shape)


@pytest.mark.parametrize("single_root", [True, False])
@pytest.mark.parametrize("temperature", [1.0, 1e-4])
def test_150_words_projective(single_root: bool, temperature: float) -> None:
    rng = np.random.default_rng(0)
    scores = rng.uniform(size=(151, 151)) / temperature
    adjoint = rng.normal(size=scores.shape)
    trees = DependencyTrees(scores, projective=True, single_root=single_root)
    log_z, marginals, gradient = log_space_reference(scores, single_root, adjoint)
    assert trees.log_partition == pytest.approx(log_z, rel=1e-12)
    np.testing.assert_allclose(trees.marginals, marginals, atol=1e-8)
    np.testing.assert_allclose(trees.backward(adjoint), gradient, atol=1e-8)


def elimination_reference(
    scores: NDArray[np.float64], single_root: bool, direction: NDArray[np.float64], modifier: int
) -> tuple[float, NDArray[np.float64], NDArray[np.float64]]:
    """log Z, one modifier's marginals and their derivatives: all other words eliminated one by one, in long doubles.

    One root word: arcs from the root are made so light that a second one no longer counts.
    """
    size = len(scores)
    logs = scores.astype(np.longdouble)
    slopes = direction.astype(np.longdouble)
    penalty = np.longdouble(size * np.ptp(scores) + 100 * size) if single_root else np.longdouble(0)
    logs[0] -= penalty
    np.fill_diagonal(logs, -np.inf)
    logs[:, 0] = -np.inf
    column = logs[:, modifier].copy()
    first = penalty
    slope = np.longdouble(0)
    exits = np.full(size, -np.inf, np.longdouble)  # log probability of reaching the root before the modifier
    exit_slopes = np.zeros(size, np.longdouble)
    out = []
    for pivot in [word for word in range(1, size) if word != modifier]:
        total, total_slope = log_sum(logs[:, pivot], slopes[:, pivot])
        first, slope = first + total, slope + total_slope
        step, step_slope = logs[:, pivot] - total, slopes[:, pivot] - total_slope
        out.append((pivot, step, step_slope))
        through = step[:, None] + logs[pivot]
        through_slope = step_slope[:, None] + slopes[pivot]
        new = np.logaddexp(logs, through)
        safe = np.where(new == -np.inf, 0, new)
        slopes = np.exp(logs - safe) * slopes + np.exp(through - safe) * through_slope
        logs = new
        np.fill_diagonal(logs, -np.inf)
        logs[pivot], logs[:, pivot] = -np.inf, -np.inf
        slopes = np.where(logs == -np.inf, 0, slopes)
    exits[0] = 0.0
    for pivot, step, step_slope in reversed(out):
        exits[pivot], exit_slopes[pivot] = log_sum(step + exits, step_slope + exit_slopes)
    total, total_slope = log_sum(column + exits, direction[:, modifier] + exit_slopes)
    marginals = np.exp(column + exits - total)
    changes = marginals * (direction[:, modifier] + exit_slopes - total_slope)
    return float(first + total), marginals.astype(float), changes.astype(float)


def log_sum(logs: NDArray[np.longdouble], slopes: NDArray[np.longdouble]) -> tuple[np.longdouble, np.longdouble]:
    top = logs.max()
    shares = np.exp(logs - top)
    return top + np.log(shares.sum()), (shares * np.where(shares > 0, slopes, 0)).sum() / shares.sum()


@pytest.mark.parametrize("single_root", [True, False])
@pytest.mark.parametrize("temperature", [1.0, 1e-4])
def test_150_words_nonprojective(single_root: bool, temperature: float) -> None:
    rng = np.random.default_rng(1)
    scores = rng.uniform(size=(151, 151)) / temperature
    adjoint = rng.normal(size=scores.shape)
    trees = DependencyTrees(scores, projective=False, single_root=single_root)
    gradient = trees.backward(adjoint)
    for modifier in (1, 77):
        log_z, marginals, changes = elimination_reference(scores, single_root, adjoint, modifier)
        assert trees.log_partition == pytest.approx(log_z, rel=1e-12)
        np.testing.assert_allclose(trees.marginals[:, modifier], marginals, atol=1e-8)
        np.testing.assert_allclose(gradient[:, modifier], changes, atol=1e-8)


def test_textbook_determinant() -> None:
    scores = np.random.default_rng(3).normal(size=(41, 41))
    weights = np.exp(scores)
    np.fill_diagonal(weights, 0.0)
    laplacian = np.diag(weights[:, 1:].sum(axis=0)) - weights[1:, 1:]
    trees = DependencyTrees(scores, projective=False, single_root=False)
    assert trees.log_partition == pytest.approx(np.linalg.slogdet(laplacian)[1], rel=1e-12)


@kinds
def test_padding_changes_nothing(projective: bool, single_root: bool) -> None:
    rng = np.random.default_rng(4)
    lengths = np.array([3, 1, 6])
    batch = rng.normal(size=(3, 8, 8))
    adjoint = rng.normal(size=(3, 8, 8))
    for b, n in enumerate(lengths):
        batch[b, n + 1 :] = np.nan
        batch[b, :, n + 1 :] = np.inf
    trees = DependencyTrees(batch, projective=projective, single_root=single_root, lengths=lengths)
    gradient, best, mbr = trees.backward(adjoint), trees.argmax(), trees.mbr()
    draws = trees.sample(2, rng)
    assert draws.shape == (3, 2, 7)
    assert trees.log_prob(best).shape == (3,)
    for b, n in enumerate(lengths):
        scores = batch[b, : n + 1, : n + 1]
        alone = DependencyTrees(scores, projective=projective, single_root=single_root)
        assert trees.log_partition[b] == alone.log_partition
        assert trees.entropy[b] == pytest.approx(alone.entropy)
        assert trees.log_prob(best)[b] == pytest.approx(alone.log_prob(alone.argmax()))
        np.testing.assert_array_equal(trees.marginals[b, : n + 1, : n + 1], alone.marginals)
        np.testing.assert_array_equal(gradient[b, : n + 1, : n + 1], alone.backward(adjoint[b, : n + 1, : n + 1]))
        np.testing.assert_array_equal(best[b, :n], alone.argmax())
        np.testing.assert_array_equal(mbr[b, :n], alone.mbr())
        np.testing.assert_array_equal(trees.topk(3)[b][0], alone.topk(3)[0])
        assert (best[b, n:] == -1).all()
        assert trees.marginals[b, n + 1 :].sum() == gradient[b, :, n + 1 :].sum() == 0.0


def test_kl() -> None:
    rng = np.random.default_rng(6)
    p_scores, q_scores = rng.normal(size=(2, 5, 5))
    p = DependencyTrees(p_scores, projective=True, single_root=True)
    q = DependencyTrees(q_scores, projective=False, single_root=False)
    every = all_trees(4, True, True)
    log_p = p.log_prob(every)
    assert p.kl(q) == pytest.approx((np.exp(log_p) * (log_p - q.log_prob(every))).sum())
    assert p.kl(p) == pytest.approx(0.0, abs=1e-12)
    q_scores[0, :] = -np.inf
    q_scores[0, 1] = 0.0
    assert p.kl(DependencyTrees(q_scores, projective=True, single_root=True)) == np.inf
    with pytest.raises(ValueError, match="every kind of tree"):
        q.kl(p)


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        (np.zeros((3, 4)), "shape"),
        (np.zeros((1, 1)), "shape"),
        (np.zeros(4), "shape"),
        (np.array([[0.0, np.nan], [0.0, 0.0]]), "arc 0 -> 1 is nan"),
        (np.array([[0.0, 0.0, np.inf], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]), "arc 0 -> 2 is inf"),
        (np.array([[0.0, -1e305], [0.0, 0.0]]), "arc 0 -> 1 is -1e\\+305"),
        ([[0.0, 1.0], [0.0]], "scores: an array of numbers expected"),
    ],
)
def test_bad_scores(scores: NDArray[np.float64], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        DependencyTrees(scores, projective=True, single_root=True)


def test_bad_arguments() -> None:
    trees = DependencyTrees(np.zeros((4, 4)), projective=True, single_root=True)
    batch = np.zeros((2, 4, 4))
    with pytest.raises(ValueError, match="word 2 is out of range"):
        trees.log_prob([0, 4, 1])
    with pytest.raises(ValueError, match="word 2 is the word itself"):
        trees.log_prob([0, 2, 1])
    with pytest.raises(ValueError, match="integers"):
        trees.log_prob([0.0, 1.0, 1.0])
    with pytest.raises(ValueError, match="shape"):
        trees.log_prob([0, 1])
    with pytest.raises(ValueError, match="adjoint has shape"):
        trees.backward(np.zeros((3, 3)))
    with pytest.raises(ValueError, match="finite"):
        trees.backward(np.full((4, 4), np.nan))
    with pytest.raises(ValueError, match="at least 1"):
        trees.topk(0)
    with pytest.raises(ValueError, match="between 1 and 3"):
        DependencyTrees(batch, projective=True, single_root=True, lengths=[4, 1])
    with pytest.raises(ValueError, match="one per sentence"):
        DependencyTrees(batch, projective=True, single_root=True, lengths=[1])
    with pytest.raises(ValueError, match="go with a batch"):
        DependencyTrees(batch[0], projective=True, single_root=True, lengths=[1])
    assert trees.log_prob([2, 1, 0]) == trees.log_prob([0, 0, 1]) == -np.inf


@kinds
def test_every_question_about_a_sentence_without_a_tree_is_refused(projective: bool, single_root: bool) -> None:
    batch = np.zeros((2, 4, 4))
    batch[1, :, 2] = -np.inf
    trees = DependencyTrees(batch, projective=projective, single_root=single_root)
    for ask in (
        lambda: trees.log_partition,
        lambda: trees.entropy,
        lambda: trees.kl(trees),
        trees.argmax,
        trees.mbr,
        lambda: trees.topk(2),
        lambda: trees.sample(2, np.random.default_rng(0)),
        lambda: trees.log_prob([[0, 1, 2]] * 2),
        lambda: trees.backward(np.zeros_like(batch)),
    ):
        with pytest.raises(ValueError, match=r"sentence 1 has no .*: word 2 has no possible head"):
            ask()
    scores = np.zeros((4, 4))
    scores[0] = -np.inf
    with pytest.raises(ValueError, match=r"the sentence has no .*: too many arcs"):
        _ = DependencyTrees(scores, projective=projective, single_root=single_root).marginals


def test_scores_are_copied() -> None:
    scores = np.zeros((3, 3))
    trees = DependencyTrees(scores, projective=True, single_root=True)
    scores[:] = np.nan
    assert np.exp(trees.log_partition) == pytest.approx(2)


def test_derivatives_of_cold_spanning_trees_keep_their_digits() -> None:
    scores = np.random.default_rng(217011).uniform(-30, 30, (5, 5))
    direction = np.random.default_rng(0).normal(size=(5, 5))
    arcs = indicators(all_trees(4, projective=False, single_root=False))
    log_weights = (arcs * scores).sum(axis=(1, 2))
    p = np.exp(log_weights - log_weights.max())
    p /= p.sum()
    values = (arcs * direction).sum(axis=(1, 2))
    expected = np.tensordot(p * (values - p @ values), arcs, 1)
    found = DependencyTrees(scores, projective=False, single_root=False).backward(direction)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-11)
