"""Objectives and decoders of tensors agree with those of arrays."""

import numpy as np
import pytest
import torch
from torch.autograd import gradcheck

import treebp as tb
from treebp.torch import DependencyTrees, annealed_risk, expected_recall, l2_distance, log_odds_decode, mbr_decode

LENGTHS = [4, 2]
HEADS = torch.tensor([[2, 0, 2, 3], [2, 0, 7, 7]])
KIND = {"projective": True, "single_root": False}


def draw():
    generator = torch.Generator().manual_seed(0)
    scores = torch.randn(2, 5, 5, generator=generator, dtype=torch.float64)
    return DependencyTrees(scores, **KIND, lengths=LENGTHS).marginals


OBJECTIVES = {
    "expected_recall": (expected_recall, tb.expected_recall, {}),
    "l2_distance": (l2_distance, tb.l2_distance, {}),
    "annealed_risk": (annealed_risk, tb.annealed_risk, {"temperature": 0.2, **KIND}),
}


@pytest.mark.parametrize("name", OBJECTIVES)
def test_values_and_gradients(name):
    ours, theirs, options = OBJECTIVES[name]
    marginals = draw().requires_grad_()
    value = ours(marginals, HEADS, lengths=LENGTHS, **options)
    value.sum().backward()
    for b, n in enumerate(LENGTHS):
        own = np.s_[b, : n + 1, : n + 1]
        expected, gradient = theirs(marginals[own].detach().numpy(), HEADS[b, :n].numpy(), **options)
        assert value[b].item() == pytest.approx(expected, rel=1e-12)
        np.testing.assert_allclose(marginals.grad[own], gradient, atol=1e-12)
        assert ours(marginals[own].detach(), HEADS[b, :n], **options).item() == pytest.approx(expected, rel=1e-12)
    assert gradcheck(lambda given: ours(given, HEADS, lengths=LENGTHS, **options), (draw().requires_grad_(),))


def test_decoders():
    marginals = draw()
    for b, n in enumerate(LENGTHS):
        own = marginals[b, : n + 1, : n + 1].numpy()
        expected = tb.mbr_decode(own, **KIND), tb.log_odds_decode(own, **KIND)
        np.testing.assert_array_equal(mbr_decode(marginals, **KIND, lengths=LENGTHS)[b, :n], expected[0])
        np.testing.assert_array_equal(log_odds_decode(marginals, **KIND, lengths=LENGTHS)[b, :n], expected[1])


@pytest.mark.parametrize("heads", [[1, 0, 2, 3], [9, 0, 2, 3], [-1, 0, 2, 3]])
def test_heads_that_cannot_be(heads):
    with pytest.raises(ValueError, match="not the word itself"):
        l2_distance(draw()[0], torch.tensor(heads))
    with pytest.raises(ValueError, match="4 words"):
        l2_distance(draw()[0], torch.tensor([0, 1]))
    with pytest.raises(ValueError, match="temperature"):
        annealed_risk(draw()[0], torch.tensor([0, 1, 1, 1]), temperature=0.0, **KIND)
