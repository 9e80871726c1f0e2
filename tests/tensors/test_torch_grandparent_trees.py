"""Grandparent trees over tensors."""

import numpy as np
import pytest
import torch
from torch.autograd import gradcheck

from treebp.torch import GrandparentTrees
from treebp.trees.grandparents import GrandparentTrees as NumPyTrees


def draw(batch, words):
    generator = torch.Generator().manual_seed(1)
    arcs = torch.randn(batch, *(words + 1,) * 2, generator=generator, dtype=torch.float64)
    return arcs, torch.randn(batch, *(words + 1,) * 3, generator=generator, dtype=torch.float64)


@pytest.mark.parametrize("single_root", [True, False])
def test_a_batch_says_what_numpy_says_of_its_sentences(single_root):
    arcs, pairs = draw(2, 5)
    trees = GrandparentTrees(arcs, pairs, single_root=single_root, lengths=[5, 3])
    other = GrandparentTrees(0.5 * arcs, pairs, single_root=single_root, lengths=[5, 3])
    for b, n in enumerate([5, 3]):
        own, cube = np.s_[: n + 1, : n + 1], np.s_[: n + 1, : n + 1, : n + 1]
        alone = NumPyTrees(arcs[b][own].numpy(), pairs[b][cube].numpy(), single_root=single_root)
        assert trees.log_partition[b].item() == alone.log_partition
        np.testing.assert_array_equal(trees.marginals[b][own], alone.marginals)
        np.testing.assert_array_equal(trees.grandparent_marginals[b][cube], alone.grandparent_marginals)
        np.testing.assert_array_equal(trees.argmax()[b, :n], alone.argmax())
        np.testing.assert_array_equal(trees.mbr()[b, :n], alone.mbr())
        np.testing.assert_array_equal(trees.topk(3)[b][0], alone.topk(3)[0])
        assert trees.entropy[b].item() == alone.entropy
        assert trees.kl(other)[b] > 0.0
    assert (trees.argmax()[1, 3:] == -1).all()
    draws = trees.sample(3, torch.Generator().manual_seed(0))
    assert draws.shape == (2, 3, 5)
    assert torch.isfinite(trees.log_prob(draws)).all()


@pytest.mark.parametrize("single_root", [True, False])
def test_gradients(single_root):
    arcs, pairs = draw(2, 3)
    arcs[0, 1, 2] = pairs[0, 0, 1, 3] = -torch.inf

    def queries(*scores):
        trees = GrandparentTrees(*scores, single_root=single_root, lengths=[3, 2])
        return trees.log_partition, trees.marginals, trees.grandparent_marginals

    assert gradcheck(queries, (arcs.requires_grad_(), pairs.requires_grad_()))


def test_errors_name_the_sentence():
    arcs, pairs = draw(2, 3)
    arcs[1, :, 2] = -torch.inf
    with pytest.raises(ValueError, match="sentence 1: word 2 has no possible head"):
        GrandparentTrees(arcs, pairs, single_root=True)
    with pytest.raises(ValueError, match="grandparent_scores have shape"):
        GrandparentTrees(arcs, pairs[:, :2], single_root=True)
    with pytest.raises(ValueError, match="move them to the CPU"):
        GrandparentTrees(arcs.to("meta"), pairs, single_root=True)
