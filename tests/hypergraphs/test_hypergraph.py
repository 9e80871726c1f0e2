"""Hypergraphs beyond the shared contract: every arithmetic, all adjoints, samples' frequencies, bad input."""

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from distribution_contract import all_derivations, edge_counts, hypergraphs
from treebp.hypergraphs.builders import eisner, hmm_trellis
from treebp.hypergraphs.hypergraph import Hypergraph, HypergraphBuilder

seeds = st.integers(0, 2**32 - 1)


def node_counts(graph: Hypergraph) -> np.ndarray:
    uses = np.zeros((graph.edges, graph.nodes))
    uses[np.arange(graph.edges), graph.heads] = 1
    return edge_counts(graph) @ uses


@settings(max_examples=60)
@given(hypergraphs, seeds)
def test_sums_equal_enumeration_in_every_arithmetic(graph: Hypergraph, seed: int) -> None:
    rng = np.random.default_rng(seed)
    weights = np.exp(rng.normal(size=graph.edges))
    counts = edge_counts(graph)
    share = np.prod(weights**counts, axis=1)
    partition = share.sum()
    share /= partition
    for arithmetic, given_weights in (
        ("real", weights),
        ("log", np.log(weights)),
        ("signed-log", (np.ones(graph.edges), np.log(weights))),
    ):
        result = graph.inside_outside(given_weights, arithmetic)
        assert_allclose(result.log_partition, math.log(partition), atol=1e-12)
        assert_allclose(result.edge_marginals, share @ counts, rtol=1e-9, atol=1e-14)
        assert_allclose(result.node_marginals, share @ node_counts(graph), rtol=1e-9, atol=1e-14)
        outside = result.outside if arithmetic == "real" else np.exp(result.outside)
        inside = result.inside if arithmetic == "real" else np.exp(result.inside)
        assert_allclose(outside * inside / partition, result.node_marginals, rtol=1e-9, atol=1e-14)


@settings(max_examples=60)
@given(hypergraphs, seeds)
def test_signed_log_equals_real(graph: Hypergraph, seed: int) -> None:
    rng = np.random.default_rng(seed)
    weights = rng.normal(size=graph.edges)
    node_adjoint, edge_adjoint = rng.normal(size=graph.nodes), rng.normal(size=graph.edges)
    real = graph.inside_outside(weights, "real")
    log = graph.inside_outside((np.sign(weights), np.log(np.abs(weights))), "signed-log")
    # Cancellation costs both the digits that it costs; leave out draws where it costs nearly all.
    if np.abs(real.node_marginals).max() > 1e3:
        return
    assert log.partition_sign == real.partition_sign
    assert_allclose(log.inside_sign * np.exp(log.inside), real.inside, rtol=1e-7, atol=1e-9)
    assert_allclose(log.outside_sign * np.exp(log.outside), real.outside, rtol=1e-7, atol=1e-9)
    assert_allclose(log.node_marginals, real.node_marginals, rtol=1e-7, atol=1e-9)
    assert_allclose(log.edge_marginals, real.edge_marginals, rtol=1e-7, atol=1e-9)
    by_log, by_real = log.backward(node_adjoint, edge_adjoint), real.backward(node_adjoint, edge_adjoint)
    assert_allclose(by_log.weights, weights * by_real.weights, rtol=1e-6, atol=1e-6)
    reached = real.outside != 0
    assert_allclose(by_log.inside[reached], (real.inside * by_real.inside)[reached], rtol=1e-6, atol=1e-6)
    assert_allclose(by_log.outside[reached], (real.outside * by_real.outside)[reached], rtol=1e-6, atol=1e-6)


@settings(max_examples=60)
@given(hypergraphs, seeds)
def test_backward_is_the_covariance(graph: Hypergraph, seed: int) -> None:
    """The derivative of an expected count by a log-weight is a covariance, exactly."""
    rng = np.random.default_rng(seed)
    log_weights = rng.normal(size=graph.edges) * 3
    log_weights[rng.random(graph.edges) < 0.2] = -np.inf
    counts, nodes = edge_counts(graph), node_counts(graph)
    score = np.array([log_weights[list(edges)].sum() for edges in all_derivations(graph)])
    if np.isneginf(score).all():
        with pytest.raises(ValueError, match=f"node {graph.root}, has no derivation"):
            graph.inside_outside(log_weights, "log")
        return
    share = np.exp(score - np.logaddexp.reduce(score))
    node_adjoint, edge_adjoint = rng.normal(size=graph.nodes), rng.normal(size=graph.edges)
    value = nodes @ node_adjoint + counts @ edge_adjoint
    expected = (share * (value - share @ value)) @ counts
    adjoints = graph.inside_outside(log_weights, "log").backward(node_adjoint, edge_adjoint)
    assert_allclose(adjoints.weights, expected, rtol=1e-9, atol=1e-12)
    weights = np.exp(log_weights)
    real = graph.inside_outside(weights, "real").backward(node_adjoint, edge_adjoint)
    assert_allclose(weights * real.weights, expected, rtol=1e-9, atol=1e-12)


def test_real_adjoints_by_finite_differences() -> None:
    """Also where a weight is zero, which has a derivative in real arithmetic alone."""
    graph, _ = eisner(3, single_root=False)
    rng = np.random.default_rng(0)
    weights = rng.random(graph.edges)
    weights[rng.integers(graph.edges, size=3)] = 0.0
    node_adjoint, edge_adjoint = rng.normal(size=graph.nodes), rng.normal(size=graph.edges)

    def objective(weights: np.ndarray) -> float:
        result = graph.inside_outside(weights, "real")
        return float(result.node_marginals @ node_adjoint + result.edge_marginals @ edge_adjoint)

    adjoint = graph.inside_outside(weights, "real").backward(node_adjoint, edge_adjoint).weights
    for edge in range(graph.edges):
        step = np.zeros(graph.edges)
        step[edge] = 1e-6
        slope = (objective(weights + step) - objective(weights - step)) / 2e-6
        assert_allclose(adjoint[edge], slope, rtol=1e-5, atol=1e-5 * np.abs(adjoint).max())


def test_samples_follow_the_distribution() -> None:
    graph, _ = eisner(3, single_root=False)
    log_weights = np.random.default_rng(1).normal(size=graph.edges)
    log_weights[np.flatnonzero(np.diff(graph.offsets) == 1)[0]] = -np.inf
    drawn = graph.sample(log_weights, 20_000, np.random.default_rng(2))
    frequency = Counter(tuple(derivation.edges.tolist()) for derivation in drawn)
    log_partition = graph.inside_outside(log_weights, "log").log_partition
    for edges in all_derivations(graph):
        probability = math.exp(log_weights[list(edges)].sum() - log_partition)
        assert abs(frequency[edges] / 20_000 - probability) <= 5 * math.sqrt(probability / 20_000)
    assert_allclose(drawn[0].score, log_weights[drawn[0].edges].sum())
    assert graph.sample(log_weights, 0, np.random.default_rng(0)) == []


def test_sampling_is_reproducible() -> None:
    graph, _ = hmm_trellis(5, 3)
    log_weights = np.zeros(graph.edges)
    first, second = (graph.sample(log_weights, 10, np.random.default_rng(5)) for _ in range(2))
    assert [d.edges.tolist() for d in first] == [d.edges.tolist() for d in second]


def test_huge_log_weights() -> None:
    """Derivatives at +-1e4 are those of the same weights brought closer to zero."""
    graph, tie = eisner(4, single_root=True)
    scores = np.random.default_rng(3).normal(size=(5, 5))
    rng = np.random.default_rng(4)
    node_adjoint, edge_adjoint = rng.normal(size=graph.nodes), rng.normal(size=graph.edges)
    # Every tree has one arc into each word, so these shifts change no marginal.
    shifted = scores + np.array([0.0, 1e4, -1e4, 1e4, 5e3])
    results = [graph.inside_outside(np.where(tie >= 0, s.ravel()[tie], 0.0), "log") for s in (scores, shifted)]
    assert_allclose(results[1].log_partition - results[0].log_partition, 1.5e4)
    assert_allclose(results[1].edge_marginals, results[0].edge_marginals, atol=1e-10)
    first, second = (result.backward(node_adjoint, edge_adjoint) for result in results)
    assert_allclose(second.weights, first.weights, atol=1e-9)
    extreme = graph.inside_outside(np.where(tie >= 0, 1e4 * scores.ravel()[tie], 0.0), "log")
    assert np.isfinite(extreme.backward(node_adjoint, edge_adjoint).weights).all()
    best = graph.viterbi(np.where(tie >= 0, scores.ravel()[tie], 0.0))
    assert_allclose(extreme.edge_marginals[best.edges], 1.0)


def test_one_node() -> None:
    builder = HypergraphBuilder()
    builder.add_edge(builder.add_node())
    graph = builder.build()
    result = graph.inside_outside([2.0], "real")
    assert (result.inside, result.outside, result.edge_marginals) == ([2.0], [1.0], [1.0])
    assert result.backward(edge_adjoint=np.ones(1)).weights == [0.0]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((2, [1, 0], [0, 1], [0, 1, 2]), r"edge 1 \(1 -> 0\) has a tail that does not come before"),
        ((1, [0], [0], [0, 1]), r"edge 0 \(0 -> 0\).*cycle"),
        ((2, [1], [7], [0, 1]), r"edge 0 \(7 -> 1\) has a tail that is not among the 2"),
        ((2, [0, 2], [], [0, 0, 0]), r"edge 1 \(-> 2\) has a head that is not among the 2"),
        ((2, [0], [], [0, 1]), "offsets must rise from 0 to 0 in 2 entries"),
        ((2, [0.5], [], [0, 0]), "heads: an array of integers expected"),
        ((0, [], [], [0]), "the root, node -1, is not among the 0 nodes"),
    ],
)
def test_structural_errors(arguments: tuple, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Hypergraph(*arguments)


PAIR = Hypergraph(2, [0, 1], [0], [0, 0, 1])


@pytest.mark.parametrize(
    ("weights", "arithmetic", "message"),
    [
        ([1.0], "real", r"shape \(1,\), expected one per edge"),
        ([1.0, np.nan], "real", r"edge 1 \(0 -> 1\) has a weight that is not finite"),
        ([np.inf, 0.0], "log", r"edge 0 \(-> 0\) has a log-weight that is NaN or \+inf"),
        ([0.0, np.nan], "log", "edge 1"),
        ([0.0, -np.inf], "log", "the root, node 1, has no derivation"),
        ([0.0, 1.0], "real", "underflows: try log"),
        ([1e-200, 1e-200], "real", "underflows: try log"),
        ([1e200, 1e200], "real", "partition function overflows: try log"),
        ([0.0, 0.0], "signed-log", r"expected \(2, 2\)"),
        (([1.0, 0.5], [0.0, 0.0]), "signed-log", r"edge 1 .* a sign other than"),
        ([0.0, 0.0], "tropical", "unknown arithmetic 'tropical'"),
    ],
)
def test_bad_weights(weights: object, arithmetic: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        PAIR.inside_outside(weights, arithmetic)


def test_bad_questions() -> None:
    result = PAIR.inside_outside([0.0, 0.0], "log")
    with pytest.raises(ValueError, match=r"node_adjoint has shape \(3,\)"):
        result.backward(node_adjoint=np.zeros(3))
    with pytest.raises(ValueError, match=r"edge_adjoint\[1\] is not finite"):
        result.backward(edge_adjoint=np.array([0.0, np.nan]))
    with pytest.raises(ValueError, match="k = 0: at least 1 expected"):
        PAIR.kbest([0.0, 0.0], 0)
    with pytest.raises(ValueError, match="k = -1: at least 0 expected"):
        PAIR.sample([0.0, 0.0], -1, np.random.default_rng())
    with pytest.raises(ValueError, match="node 1, has no derivation"):
        PAIR.viterbi([0.0, -np.inf])


def test_cancelled_node_has_marginals_but_no_log_derivative() -> None:
    graph = Hypergraph(2, [0, 0, 1, 1], [0], [0, 0, 0, 1, 1])
    result = graph.inside_outside(([1.0, -1.0, 1.0, 1.0], np.zeros(4)), "signed-log")
    assert_allclose(result.edge_marginals, [1.0, -1.0, 0.0, 1.0])
    with pytest.raises(ValueError, match="weight of edge 0: weights cancel"):
        result.backward(edge_adjoint=np.ones(4))
    real = graph.inside_outside([1.0, -1.0, 1.0, 1.0], "real").backward(edge_adjoint=np.arange(4.0))
    assert np.isfinite(real.weights).all()
