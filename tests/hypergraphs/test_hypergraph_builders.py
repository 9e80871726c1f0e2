"""Every builder against a closed form for the number of its derivations, and its ties against the scores."""

import math
from itertools import permutations, product

import numpy as np
import pytest
from numpy.testing import assert_allclose

from treebp.hypergraphs.builders import cnf_chart, eisner, grandparent_model0, hmm_trellis, itg
from treebp.hypergraphs.hypergraph import Hypergraph


def count(graph: Hypergraph, log_weights: np.ndarray | None = None) -> float:
    """Count the derivations, only those with finite log-weights where given."""
    weights = np.ones(graph.edges) if log_weights is None else np.isfinite(log_weights).astype(float)
    return float(graph.inside_outside(weights, "real").inside[graph.root])


def projective_trees(n: int, single_root: bool) -> int:
    """Count by the ternary-tree numbers: A006013 with one root, A001764 with any number."""
    if single_root:
        return math.comb(3 * n - 2, n - 1) // n
    return math.comb(3 * n, n) // (2 * n + 1)


@pytest.mark.parametrize("builder", [eisner, grandparent_model0])
@pytest.mark.parametrize("single_root", [True, False])
@pytest.mark.parametrize("n", range(1, 13))
def test_projective_tree_counts(builder: object, single_root: bool, n: int) -> None:
    assert count(builder(n, single_root=single_root).hypergraph) == projective_trees(n, single_root)


@pytest.mark.parametrize("single_root", [True, False])
def test_tree_ties_name_each_arc_once(single_root: bool) -> None:
    """Each derivation holds one arc into each word, and different derivations are different trees."""
    for builder, shape in ((eisner, (5, 5)), (grandparent_model0, (5, 5, 5))):
        graph, tie = builder(4, single_root=single_root)
        trees = set()
        for derivation in graph.kbest(np.zeros(graph.edges), 1000):
            used = tie[derivation.edges]
            indices = np.array(np.unravel_index(used[used >= 0], shape))
            *grandparent, head, modifier = indices[:, np.argsort(indices[-1])]
            assert modifier.tolist() == [1, 2, 3, 4]
            if grandparent:
                assert np.array_equal(grandparent[0], np.where(head == 0, 0, np.concatenate(([0], head))[head]))
            trees.add(tuple(head.tolist()))
        assert len(trees) == projective_trees(4, single_root)


@pytest.mark.parametrize("n", range(1, 10))
def test_binary_brackets_are_counted_by_catalan_numbers(n: int) -> None:
    chart = cnf_chart(n, [(0, 0, 0)], symbols=1)
    assert count(chart.hypergraph) == math.comb(2 * n - 2, n - 1) // n


def test_chart_ties_and_rules() -> None:
    """S -> A S | A A: right-branching only, one tree; each edge is tied to the span of its head."""
    rules = [(0, 1, 0), (0, 1, 1)]
    graph, tie, rule = cnf_chart(4, rules, symbols=2)
    (tree,) = graph.kbest(np.where((rule < 0) & (tie % 2 == 0), -np.inf, 0.0), 9)
    spans = [tuple(map(int, np.unravel_index(t, (4, 5, 2)))) for t in tie[tree.edges]]
    assert spans == [(0, 4, 0), (0, 1, 1), (1, 4, 0), (1, 2, 1), (2, 4, 0), (2, 3, 1), (3, 4, 1)]
    assert rule[tree.edges].tolist() == [0, -1, 0, -1, 1, -1, -1]
    other_start = cnf_chart(2, rules, symbols=2, start=1).hypergraph
    with pytest.raises(ValueError, match="no derivation"):
        other_start.viterbi(np.zeros(other_start.edges))


@pytest.mark.parametrize(("length", "states"), [(1, 1), (1, 4), (5, 3), (7, 2)])
def test_trellis(length: int, states: int) -> None:
    tied = hmm_trellis(length, states)
    assert count(tied.hypergraph) == states**length
    scores = np.random.default_rng(0).normal(size=(length, states, states))
    result = tied.hypergraph.inside_outside(tied.log_weights(scores), "log")
    totals = []
    for path in product(range(states), repeat=length):
        totals.append(scores[0, 0, path[0]] + sum(scores[t, path[t - 1], path[t]] for t in range(1, length)))
    assert_allclose(result.log_partition, np.logaddexp.reduce(totals))
    marginals = tied.collect(result.edge_marginals, scores.shape)
    assert_allclose(marginals.sum(axis=(1, 2)), 1.0)
    assert_allclose(result.node_marginals[:-1].reshape(length, states), marginals.sum(axis=1))


def large_schroeder(n: int) -> int:
    """Count the separable permutations of n + 1 things: 1, 2, 6, 22, 90, ..."""
    return sum(math.comb(n + k, 2 * k) * math.comb(2 * k, k) // (k + 1) for k in range(n + 1))


@pytest.mark.parametrize(("source", "target"), [(1, 1), (1, 3), (3, 2), (4, 4), (5, 6)])
def test_alignment_counts(source: int, target: int) -> None:
    tied = itg(source, target)
    links = range(1, min(source, target) + 1)
    ways = (math.comb(source, k) * math.comb(target, k) * large_schroeder(k - 1) for k in links)
    assert count(tied.hypergraph) == 1 + sum(ways)
    if source == target:
        no_gaps = np.zeros((source + 1, target + 1))
        no_gaps[0], no_gaps[:, 0] = -np.inf, -np.inf
        assert count(tied.hypergraph, tied.log_weights(no_gaps)) == large_schroeder(source - 1)


def test_alignment_scores() -> None:
    """Three words to three: all partial matchings are separable, so the sum is over all of them."""
    scores = np.random.default_rng(0).normal(size=(4, 4))
    totals = []
    for linked in product([False, True], repeat=3):
        sources = [i for i in (1, 2, 3) if linked[i - 1]]
        for targets in permutations((1, 2, 3), len(sources)):
            total = sum(scores[i, 0] for i in (1, 2, 3) if i not in sources)
            total += sum(scores[0, k] for k in (1, 2, 3) if k not in targets)
            totals.append(total + sum(scores[i, k] for i, k in zip(sources, targets, strict=True)))
    tied = itg(3, 3)
    result = tied.hypergraph.inside_outside(tied.log_weights(scores), "log")
    assert_allclose(result.log_partition, np.logaddexp.reduce(totals))
    marginals = tied.collect(result.edge_marginals, scores.shape)
    assert_allclose(marginals[1:].sum(axis=1), 1.0)
    assert_allclose(marginals[:, 1:].sum(axis=0), 1.0)


def test_bad_sizes() -> None:
    for build in (
        lambda: eisner(0, single_root=True),
        lambda: grandparent_model0(0, single_root=True),
        lambda: cnf_chart(0, [(0, 0, 0)], symbols=1),
        lambda: cnf_chart(1, [], symbols=0),
        lambda: hmm_trellis(1, 0),
        lambda: hmm_trellis(0, 1),
        lambda: itg(0, 2),
        lambda: itg(2, 0),
    ):
        with pytest.raises(ValueError, match=" = 0: at least 1 expected"):
            build()
    with pytest.raises(ValueError, match=r"rule 1 \[0, 2, 0\] uses a symbol"):
        cnf_chart(3, [(0, 0, 0), (0, 2, 0)], symbols=2)
    with pytest.raises(ValueError, match="start symbol 3"):
        cnf_chart(3, [(0, 0, 0)], symbols=2, start=3)
