"""Arguments that mean nothing are refused, in words, rather than read as something else."""

import numpy as np
import pytest

import treebp as tb
from treebp.hypergraphs.builders import cnf_chart, hmm_trellis

MASKED = np.ma.masked_array(np.zeros((3, 3)), np.eye(3))
COMPLEX = np.full((3, 3), 1j)
KINDS = {"projective": True, "single_root": True}


def a_pair():
    graph = tb.FactorGraph()
    a, b = graph.variables(2)
    return graph, graph.factor([a, b], np.zeros((2, 2)))


def each_taker_of_an_array():
    """What takes (3, 3) numbers."""
    graph, pair = a_pair()
    beliefs = tb.propagate(graph, iterations=1)
    three = tb.FactorGraph()
    tags = three.variables(4, states=3)
    trees = tb.DependencyTrees(np.zeros((3, 3)), **KINDS)
    grandparents = tb.GrandparentTrees(np.zeros((3, 3)), np.zeros((3, 3, 3)), single_root=True)
    trellis, _ = hmm_trellis(length=3, states=1)
    groups = tb.Graph([3, 3], [tb.Tables([[0, 1]], (3, 3))])
    return {
        "DependencyTrees": lambda given: tb.DependencyTrees(given, **KINDS),
        "DependencyTrees.backward": trees.backward,
        "GrandparentTrees": lambda given: tb.GrandparentTrees(given, np.zeros((3, 3, 3)), single_root=True),
        "GrandparentTrees.backward": grandparents.backward,
        "factor": lambda given: three.factor(tags[:2], given),
        "Chain": lambda given: tb.Chain(tags, given),
        "potentials": lambda given: tb.propagate(graph, iterations=1, potentials={pair: given[:2, :2]}),
        "potentials of groups": lambda given: tb.propagate(groups, iterations=1, potentials=[given.ravel()]),
        "backward": lambda given: beliefs.backward({pair: given[:2, :2]}),
        "backward of an array": lambda given: beliefs.backward(given[0, :2]),
        "inside_outside": lambda given: trellis.inside_outside(given.ravel()[: trellis.edges], "real"),
        "kbest": lambda given: trellis.kbest(given.ravel()[: trellis.edges], 1),
        "inside_outside.backward": lambda given: trellis.inside_outside(np.ones(trellis.edges), "real").backward(
            edge_adjoint=given.ravel()[: trellis.edges]
        ),
        "mbr_decode": lambda given: tb.mbr_decode(given, **KINDS),
        "expected_recall": lambda given: tb.expected_recall(given, [0, 1]),
    }


TAKERS = [
    "DependencyTrees", "DependencyTrees.backward", "GrandparentTrees", "GrandparentTrees.backward", "factor", "Chain",
    "potentials", "potentials of groups", "backward", "backward of an array", "inside_outside", "kbest",
    "inside_outside.backward", "mbr_decode", "expected_recall",
]  # fmt: skip


@pytest.mark.parametrize("taker", TAKERS)
def test_masks_and_imaginary_parts_are_not_dropped(taker):
    takers = each_taker_of_an_array()
    assert sorted(takers) == sorted(TAKERS)
    takers[taker](np.zeros((3, 3)) + 0.5)
    takers[taker](np.ma.masked_array(np.ones((3, 3)), False))
    with pytest.raises(ValueError, match="masked entries"):
        takers[taker](MASKED)
    with pytest.raises(ValueError, match="numbers expected"):
        takers[taker](COMPLEX)
    with pytest.raises(ValueError, match="numbers expected"):
        takers[taker](np.full((3, 3), "0.5"))


def test_grammars_are_whole_numbers_and_scores_come_with_them():
    graph = tb.FactorGraph()
    spans = {span: graph.variable() for span in [(0, 2), (1, 3)]}
    with pytest.raises(ValueError, match="rule scores without rules"):
        tb.ConstituencyTree(spans, rule_scores=[1.0])
    with pytest.raises(ValueError, match="rules: an array of integers expected"):
        tb.ConstituencyTree(spans, [[0.0, 0.7, 0.0]])
    with pytest.raises(ValueError, match="rules: an array of integers expected"):
        cnf_chart(3, [[0.0, 0.7, 0.0]], symbols=1)
    hypergraph, _ = hmm_trellis(length=2, states=1)
    with pytest.raises(ValueError, match="parameters: an array of integers expected"):
        tb.HypergraphFactor(hypergraph, edges={0: spans[0, 2]}, potentials=[0.0], parameters=[0.5] * hypergraph.edges)


def test_spans_without_a_tree_are_told_so_and_not_that_other_factors_are_to_blame():
    graph = tb.FactorGraph()
    with pytest.raises(ValueError, match="no tree over 3 words can be made of these 1 spans"):
        tb.ConstituencyTree({(0, 3): graph.variable()})
    unreached = tb.Hypergraph(2, heads=[0], tails=[], offsets=[0, 0])
    with pytest.raises(ValueError, match="the root, node 1, has no derivation"):
        tb.HypergraphFactor(unreached, edges={0: graph.variable()})


@pytest.mark.parametrize("iterations", [np.nan, 2.5, 0, -1, "3", None, np.inf])
def test_iterations_are_a_whole_number(iterations):
    graph, _ = a_pair()
    with pytest.raises(ValueError, match="iterations = "):
        tb.propagate(graph, iterations=iterations)
    assert tb.propagate(graph, iterations=np.int32(2)).iterations == 2


@pytest.mark.parametrize("k", [2.5, np.nan, -1, None, "2"])
def test_how_many_is_a_whole_number(k):
    rng = np.random.default_rng(0)
    graph = tb.FactorGraph()
    trees = tb.DependencyTrees(np.zeros((3, 3)), **KINDS)
    grandparents = tb.GrandparentTrees(np.zeros((3, 3)), np.zeros((3, 3, 3)), single_root=True)
    trellis, _ = hmm_trellis(length=2, states=2)
    weights = np.zeros(trellis.edges)
    for ask in (
        lambda: trees.topk(k),
        lambda: trees.sample(k, rng),
        lambda: grandparents.topk(k),
        lambda: grandparents.sample(k, rng),
        lambda: trellis.kbest(weights, k),
        lambda: trellis.sample(weights, k, rng),
        lambda: graph.variable(states=k),
        lambda: graph.variables(k),
        lambda: hmm_trellis(length=k, states=2),
    ):
        with pytest.raises(ValueError, match=r"whole number expected|at least [01] expected"):
            ask()


@pytest.mark.parametrize("rng", [None, 0, np.random.RandomState(0)])  # the last is what old programs have
def test_a_generator_is_asked_for_by_name(rng):
    trellis, _ = hmm_trellis(length=2, states=2)
    for ask in (
        lambda: tb.DependencyTrees(np.zeros((3, 3)), **KINDS).sample(1, rng),
        lambda: tb.GrandparentTrees(np.zeros((3, 3)), np.zeros((3, 3, 3)), single_root=True).sample(1, rng),
        lambda: trellis.sample(np.zeros(trellis.edges), 1, rng),
    ):
        with pytest.raises(ValueError, match=r"rng = .*: a generator expected"):
            ask()


@pytest.mark.parametrize("state", [-1, 2])
def test_a_likelihood_is_of_a_state_that_there_is(state):
    graph, _ = a_pair()
    graph.variable()  # which no factor looks at
    beliefs = tb.propagate(graph, iterations=1)
    for variable in beliefs.graph.variables:
        with pytest.raises(ValueError, match=f"no state {state}"):
            tb.log_likelihood(beliefs, dict.fromkeys(beliefs.graph.variables, 0) | {variable: state})


def test_heads_are_integers():
    trees = tb.DependencyTrees(np.zeros((3, 3)), **KINDS)
    for heads in ([0.0, 1.0], np.ma.masked_array([0, 1], [False, True])):
        with pytest.raises(ValueError, match="heads: "):
            trees.log_prob(heads)


def test_what_grandparent_trees_ignore_may_be_anything():
    scores, pairs = np.zeros((4, 4)), np.zeros((4, 4, 4))
    expected = tb.GrandparentTrees(scores, pairs, single_root=False).marginals
    g, h, m = np.ogrid[:4, :4, :4]
    within = (g >= np.minimum(h, m)) & (g <= np.maximum(h, m))
    for anything in (np.nan, np.inf, -np.inf):
        scores[:, 0] = anything
        np.fill_diagonal(scores, anything)
        pairs[within | (h == 0) | (m == 0) | (h == m)] = anything
        assert np.array_equal(tb.GrandparentTrees(scores, pairs, single_root=False).marginals, expected)
    for index in ((0, 1, 2), (3, 1, 2)):
        wrong = np.zeros((4, 4, 4))
        wrong[index] = np.nan
        with pytest.raises(ValueError, match="grandparent_scores"):
            tb.GrandparentTrees(np.zeros((4, 4)), wrong, single_root=False)
    with pytest.raises(ValueError, match="scores"):
        tb.GrandparentTrees(np.where(np.arange(4) == 2, np.nan, np.zeros((4, 4))), pairs, single_root=False)
