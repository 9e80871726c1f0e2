"""Every distribution over structures against enumeration, and its number of structures against closed forms."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from distribution_contract import TWINS, TreeTwin
from treebp.trees.dependency_trees import DependencyTrees
from treebp.trees.grandparents import GrandparentTrees


@pytest.mark.parametrize("twin", TWINS.values(), ids=TWINS.keys())
@given(data=st.data())
@settings(max_examples=100)
def test_answers_equal_those_of_enumeration(twin, data):
    case = twin(data.draw)
    if case.log_partition == -math.inf:
        with pytest.raises(ValueError, match=r"has no|allow no"):
            case.build()
        return
    largest = max(1.0, np.abs(case.scores[case.scores > -np.inf]).max())  # log-sums and totals are rounded at its size
    assert_allclose(case.build(), case.log_partition, rtol=1e-9, atol=1e-12 * largest)
    assert_allclose(case.marginals(), case.p @ case.counts, rtol=1e-9, atol=1e-11)

    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    adjoint = rng.normal(size=case.scores.shape)
    value = case.counts @ adjoint
    covariance = (case.p * (value - case.p @ value)) @ case.counts
    assert_allclose(case.backward(adjoint), covariance, rtol=1e-9, atol=1e-10)

    possible = case.totals > -np.inf
    ranked = np.sort(case.totals[possible])[::-1]
    close = {"rtol": 1e-12, "atol": 1e-12 * largest}
    assert_allclose(case.totals[case.argmax()], ranked[0], **close)
    k = data.draw(st.integers(1, 12))
    best, totals = case.topk(k)
    assert len(set(best)) == len(best)
    assert_allclose(totals, ranked[:k], **close)
    assert_allclose(case.totals[best], totals, **close)
    assert possible[case.sample(3, rng)].all()

    if isinstance(case, TreeTwin):
        trees = case.trees
        logs = np.where(possible, case.totals - case.log_partition, -np.inf)
        assert_allclose(trees.log_prob(case.heads), logs, rtol=1e-9, atol=1e-12 * largest)
        entropy = -(case.p[case.p > 0] @ logs[case.p > 0])
        assert_allclose(trees.entropy, entropy, rtol=1e-9, atol=1e-11 * largest)  # sums scores times probabilities
        right = np.einsum("tij,ij->t", case.arcs, trees.marginals)
        assert right[case.numbers([trees.mbr()])[0]] >= right[possible].max() - 1e-9


@pytest.mark.parametrize("single_root", [True, False])
@pytest.mark.parametrize("n", range(1, 13))
def test_as_many_trees_as_the_closed_forms_say(n, single_root):
    projective = math.comb(3 * n - 2, n - 1) // n if single_root else math.comb(3 * n, n) // (2 * n + 1)
    spanning = n ** (n - 1) if single_root else (n + 1) ** (n - 1)
    arcs, pairs = np.zeros((n + 1, n + 1)), np.zeros((n + 1, n + 1, n + 1))
    for trees, count in (
        (DependencyTrees(arcs, projective=True, single_root=single_root), projective),
        (DependencyTrees(arcs, projective=False, single_root=single_root), spanning),
        (GrandparentTrees(arcs, pairs, single_root=single_root), projective),
    ):
        assert math.exp(trees.log_partition) == pytest.approx(count, rel=1e-12)
