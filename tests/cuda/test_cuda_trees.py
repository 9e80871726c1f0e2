"""Sums over trees and the best of them: CUDA kernels agree with their twins."""

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from brute_force import indicators
from distribution_contract import draw_scores
from treebp.cuda import dense_trees
from treebp.torch import DependencyTrees
from treebp.torch.tree_kernels import tree_kernels

HOST = tree_kernels(torch.device("cpu"))
KINDS = [(True, True), (True, False), (False, True), (False, False)]


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(st.data(), st.sampled_from(KINDS))
def test_a_batch(data, kind):
    batch, words = data.draw(st.integers(1, 3)), data.draw(st.integers(1, 7))
    scores = torch.from_numpy(draw_scores(data.draw, (batch, words + 1, words + 1)))
    direction = torch.from_numpy(np.random.default_rng(0).normal(size=scores.shape))
    lengths = torch.tensor([data.draw(st.integers(1, words)) for _ in range(batch)])
    log_partition, marginals, verdicts = dense_trees.marginals(scores, lengths, *kind)
    expected, expected_marginals, impossible = HOST.marginals(scores, lengths, *kind)
    assert torch.equal(verdicts > 0, impossible)
    np.testing.assert_allclose(log_partition, expected, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(marginals, expected_marginals, atol=1e-9)
    possible = ~impossible
    product = dense_trees.product(scores, direction, lengths, *kind)[possible]
    np.testing.assert_allclose(product, HOST.product(scores, direction, lengths, *kind)[possible], atol=1e-9)
    heads, verdicts = dense_trees.best(scores, lengths, *kind)
    assert torch.equal(heads[possible], HOST.best(scores, lengths, *kind)[0][possible])
    assert torch.equal(verdicts > 0, impossible)
    assert (heads[impossible] == -1).all()


@pytest.mark.parametrize("kind", KINDS)
def test_among_equals_the_same_tree_is_best(kind):
    rng = np.random.default_rng(2)
    scores = rng.integers(-1, 2, size=(12, 25, 25)).astype(float)
    scores[rng.random(scores.shape) < 0.2] = -np.inf
    scores, lengths = torch.from_numpy(scores), torch.arange(13, 25)
    heads, verdicts = dense_trees.best(scores, lengths, *kind)
    expected, impossible = HOST.best(scores, lengths, *kind)
    assert torch.equal(verdicts > 0, impossible)
    assert not impossible.all()
    assert torch.equal(heads[~impossible], expected[~impossible])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("most", [0, 1200, 2500])  # bytes: for nothing, half the charts of one query, or of the other
def test_sentences_too_long_for_shared_memory(kind, most, monkeypatch):
    monkeypatch.setattr(dense_trees, "most_shared", lambda kind, device: most)
    scores, direction = torch.from_numpy(np.random.default_rng(0).normal(size=(2, 2, 8, 8)))
    lengths = torch.tensor([7, 4])
    np.testing.assert_allclose(
        dense_trees.marginals(scores, lengths, *kind)[1], HOST.marginals(scores, lengths, *kind)[1], atol=1e-12
    )
    np.testing.assert_allclose(
        dense_trees.product(scores, direction, lengths, *kind),
        HOST.product(scores, direction, lengths, *kind),
        atol=1e-12,
    )


@pytest.mark.parametrize("single_root", [True, False])
def test_samples_have_the_right_frequencies(single_root):
    scores = torch.from_numpy(np.random.default_rng(5).normal(size=(2, 5, 5)) * 2.0)
    scores[0, 0, 2] = -torch.inf
    trees = DependencyTrees(scores, projective=True, single_root=single_root, lengths=[4, 3])
    draws = trees._sample_on_device(3000, torch.Generator().manual_seed(1))
    assert torch.isfinite(trees.log_prob(draws)).all()
    assert (draws[1, :, 3] == -1).all()
    for b, n in enumerate([4, 3]):
        marginals = trees.marginals[b, : n + 1, : n + 1].numpy()
        deviation = np.sqrt(marginals * (1 - marginals) / 3000)
        frequencies = indicators(draws[b, :, :n].numpy()).mean(axis=0)
        assert (np.abs(frequencies - marginals) <= 5 * deviation + 1e-9).all()
    scores[1, :, 1] = -torch.inf
    with pytest.raises(ValueError, match="sentence 1 has no projective tree"):
        DependencyTrees(scores, projective=True, single_root=single_root)._sample_on_device(2, None)


@pytest.mark.parametrize("kind", KINDS)
def test_heads_that_are_trees_and_others(kind):
    heads = torch.from_numpy(np.random.default_rng(0).integers(-1, 6, size=(2, 60, 4)))
    lengths = torch.tensor([4, 3])
    legal = dense_trees.legal(heads, lengths, *kind)
    assert torch.equal(legal, HOST.legal(heads, lengths, *kind))
    assert set(legal.ravel().tolist()) == {-1, 0, 1}


@pytest.mark.parametrize("kind", KINDS)
def test_scores_and_lengths_that_are_none(kind):
    scores = torch.zeros(3, 4, 4, dtype=torch.float64)
    scores[1, 2, 3] = torch.nan
    lengths = torch.tensor([3, 3, 4])
    log_partition, marginals, verdicts = dense_trees.marginals(scores, lengths, *kind)
    assert verdicts.tolist() == [0, 2, 3]
    assert torch.isfinite(log_partition[0])
    assert torch.isfinite(marginals[0]).all()
    assert torch.isnan(marginals[1:]).all()
    assert dense_trees.best(scores, lengths, *kind)[1].tolist() == [0, 2, 3]


@pytest.mark.parametrize("single_root", [True, False])
def test_sums_out_of_range_are_rescaled(single_root):
    """Without it long sentences, whose best trees are far from all words' best heads, would need logarithms."""
    scores, direction = np.random.default_rng(4).normal(size=(2, 2, 41, 41))
    scores *= np.array([29.0, 23.0])[:, None, None]  # log-partitions of -682, which plain sums may lose
    scores[:, :30, 30] = -np.inf  # so that no tree ends there
    scores, direction, lengths = torch.from_numpy(scores), torch.from_numpy(direction), torch.tensor([40, 40])
    log_partition, marginals = torch.empty(2, dtype=torch.float64), torch.empty_like(scores)
    verdicts = torch.empty((2, 2), dtype=torch.int32)
    dense_trees._sums("marginals", scores, None, lengths, True, single_root, log_partition, marginals, verdicts)
    assert verdicts.tolist() == [[0, 0], [0, 0]]  # the second row: refused
    expected, expected_marginals, _ = HOST.marginals(scores, lengths, True, single_root)
    np.testing.assert_allclose(log_partition, expected, rtol=1e-12)
    np.testing.assert_allclose(marginals, expected_marginals, atol=1e-9)
    product = dense_trees.product(scores, direction, lengths, True, single_root)
    np.testing.assert_allclose(product, HOST.product(scores, direction, lengths, True, single_root), atol=1e-9)
