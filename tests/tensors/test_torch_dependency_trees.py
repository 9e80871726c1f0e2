"""Trees over tensors: what NumPy's class says, differentiable."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.autograd import gradcheck, gradgradcheck

from distribution_contract import draw_scores
from treebp.torch import DependencyTrees
from treebp.trees.dependency_trees import DependencyTrees as NumPyTrees

KINDS = [(True, True), (True, False), (False, True), (False, False)]
kinds = pytest.mark.parametrize(("projective", "single_root"), KINDS)


def random_scores(batch, words, seed=0, scale=1.0):
    generator = torch.Generator().manual_seed(seed)
    scores = torch.randn(batch, words + 1, words + 1, generator=generator, dtype=torch.float64) * scale
    return scores.requires_grad_()


def complaint(trees):
    """What a distribution says when there is no tree."""
    try:
        return "" if trees.log_partition is not None else "nothing"
    except ValueError as error:
        return str(error)


@settings(max_examples=40)
@given(st.data(), st.sampled_from(KINDS))
def test_answers_are_those_of_numpy(data, kind):
    projective, single_root = kind
    batch, words = data.draw(st.integers(1, 3)), data.draw(st.integers(1, 6))
    scores = draw_scores(data.draw, (batch, words + 1, words + 1))
    lengths = [data.draw(st.integers(1, words)) for _ in range(batch)]
    theirs = NumPyTrees(scores, projective=projective, single_root=single_root, lengths=lengths)
    ours = DependencyTrees(torch.from_numpy(scores), projective=projective, single_root=single_root, lengths=lengths)
    error = complaint(theirs)
    assert complaint(ours) == error
    if error:
        return
    expected = theirs.log_partition
    np.testing.assert_array_equal(ours.log_partition, expected)
    np.testing.assert_array_equal(ours.marginals, theirs.marginals)
    size = np.abs(scores[np.isfinite(scores)]).sum()  # entropy is a difference of sums of scores
    np.testing.assert_allclose(ours.entropy, theirs.entropy, rtol=1e-12, atol=1e-12 * size)
    np.testing.assert_array_equal(ours.argmax(), theirs.argmax())
    np.testing.assert_array_equal(ours.mbr(), theirs.mbr())
    for (heads, best), (their_heads, their_best) in zip(ours.topk(3), theirs.topk(3), strict=True):
        np.testing.assert_array_equal(heads, their_heads)
        np.testing.assert_array_equal(best, their_best)
    draws = ours.sample(4, torch.Generator().manual_seed(3))
    assert torch.equal(draws, ours.sample(4, torch.Generator().manual_seed(3)))
    padded = torch.where(draws < 0, 0, draws)  # what lies beyond a sentence is not looked at
    np.testing.assert_allclose(ours.log_prob(padded), theirs.log_prob(padded.numpy()), rtol=1e-9, atol=1e-9)


@kinds
@pytest.mark.parametrize("words", [1, 2, 5, 60])
def test_gradients(projective, single_root, words):
    fast = words > 5
    scores = random_scores(2, words)
    if words > 1:
        with torch.no_grad():
            scores[0, 1, 2] = -torch.inf
    lengths = [words, max(1, words - 1)]

    def queries(given):
        trees = DependencyTrees(given, projective=projective, single_root=single_root, lengths=lengths)
        other = DependencyTrees(0.5 * given, projective=projective, single_root=single_root, lengths=lengths)
        return trees.log_partition, trees.marginals, trees.entropy, trees.kl(other), trees.log_prob(heads)

    heads = DependencyTrees(scores, projective=projective, single_root=single_root, lengths=lengths).argmax()
    heads = torch.where(heads < 0, 0, heads)
    assert gradcheck(queries, (scores,), fast_mode=fast)
    if not fast:
        assert gradgradcheck(lambda given: queries(given)[0], (scores,))


@kinds
def test_gradients_of_large_scores_and_of_ties(projective, single_root):
    large = torch.zeros(1, 5, 5, dtype=torch.float64)
    large[0, 0, 1] = large[0, 1, 2:] = 1e4  # with a tie between what is left
    large[0, 2, 3] = 1e4
    large[0, 4, 3] = -1e4

    def marginals(given):
        return DependencyTrees(given, projective=projective, single_root=single_root).marginals

    assert gradcheck(marginals, (large.requires_grad_(),))
    ties = torch.zeros(1, 5, 5, dtype=torch.float64, requires_grad=True)
    assert gradcheck(marginals, (ties,))


@kinds
def test_a_batch_is_its_sentences_one_by_one(projective, single_root):
    lengths = [4, 1, 3]
    scores = random_scores(3, 4)
    batch = DependencyTrees(scores, projective=projective, single_root=single_root, lengths=lengths)
    (batch.log_partition.sum() + (batch.marginals**2).sum()).backward()
    for b, words in enumerate(lengths):
        own = scores[b, : words + 1, : words + 1].detach().requires_grad_()
        alone = DependencyTrees(own, projective=projective, single_root=single_root)
        assert torch.equal(alone.log_partition, batch.log_partition[b])
        assert torch.equal(alone.marginals, batch.marginals[b, : words + 1, : words + 1])
        assert torch.equal(alone.argmax(), batch.argmax()[b, :words])
        (alone.log_partition + (alone.marginals**2).sum()).backward()
        torch.testing.assert_close(scores.grad[b, : words + 1, : words + 1], own.grad)
        assert not scores.grad[b, words + 1 :].any()
        assert not scores.grad[b, :, words + 1 :].any()


def test_float32_goes_in_and_out():
    scores = random_scores(2, 6).detach().float().requires_grad_()
    trees = DependencyTrees(scores, projective=True, single_root=True)
    assert trees.log_partition.dtype == trees.marginals.dtype == trees.entropy.dtype == torch.float32
    trees.marginals[:, 0].square().sum().backward()
    assert scores.grad.dtype == torch.float32
    exact = NumPyTrees(scores.detach().double().numpy(), projective=True, single_root=True)
    np.testing.assert_allclose(trees.marginals.detach(), exact.marginals, atol=1e-7)


def test_the_kernels_see_the_tensor_itself():
    scores = random_scores(2, 6).detach()
    trees = DependencyTrees(scores, projective=True, single_root=True)
    assert trees._scores.data_ptr() == scores.data_ptr()
    assert np.shares_memory(trees._on_host().scores, scores.numpy())


def test_queries_can_be_differentiated_one_after_the_other():
    scores = random_scores(1, 3)
    trees = DependencyTrees(scores, projective=True, single_root=False)
    with torch.no_grad():
        assert not trees.marginals.requires_grad
    trees.log_partition.sum().backward()
    trees.marginals[0, 0, 1].backward()
    trees.entropy.sum().backward()
    assert scores.grad.abs().sum() > 0.0


def test_there_is_no_third_derivative():
    scores = random_scores(1, 3)
    trees = DependencyTrees(scores, projective=True, single_root=False)
    (gradient,) = torch.autograd.grad(trees.marginals[0, 0, 1], scores, create_graph=True)
    with pytest.raises(RuntimeError, match="no further"):
        gradient.sum().backward()


@pytest.mark.parametrize(
    ("scores", "options", "message"),
    [
        (torch.zeros(3), {}, "scores must have shape"),
        (torch.zeros(3, 3, dtype=torch.int64), {}, "floating-point"),
        (torch.zeros(3, 3), {"lengths": [2]}, "lengths go with a batch"),
        (torch.zeros(2, 3, 3), {"lengths": torch.tensor([2, 3])}, "between 1 and 2"),
        (torch.full((3, 3), torch.nan), {}, "the score of arc 0 -> 1 is nan"),
        (torch.zeros(3, 3, device="meta"), {}, "no kernels for tensors on meta"),
    ],
)
def test_errors(scores, options, message):
    with pytest.raises(ValueError, match=message):
        DependencyTrees(scores, projective=True, single_root=True, **options)


def test_a_sentence_without_a_tree():
    scores = torch.zeros(2, 3, 3)
    scores[1, :, 2] = -torch.inf
    trees = DependencyTrees(scores, projective=True, single_root=True)
    for query in (lambda: trees.log_partition, trees.argmax):
        with pytest.raises(ValueError, match="sentence 1 has no projective tree with one root word: word 2 has no"):
            query()
    with pytest.raises(ValueError, match="k = 0: at least 1 expected"):
        DependencyTrees(torch.zeros(3, 3), projective=True, single_root=True).topk(0)
    with pytest.raises(ValueError, match="same lengths"):
        DependencyTrees(torch.zeros(3, 3), projective=True, single_root=True).kl(trees)
    with pytest.raises(ValueError, match="out of range"):
        DependencyTrees(torch.zeros(3, 3), projective=True, single_root=True).log_prob(torch.tensor([0, 5]))
