"""Whose arrays are whose: what the caller keeps is not looked at again, what the library keeps cannot be changed."""

import copy
import pickle
import threading

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import treebp as tb
from treebp.hypergraphs.builders import eisner, hmm_trellis


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def a_hypergraph():
    return tb.Hypergraph(2, heads=[0, 0, 1], tails=[0], offsets=[0, 0, 0, 1])


def a_graph(rng, states=2):
    """A cycle of three variables, and a chain over them."""
    graph = tb.FactorGraph()
    variables = graph.variables(3, states=states)
    for variable in variables:
        graph.factor([variable], rng.normal(size=states))
    pairs = [graph.factor([variables[i], variables[i - 1]], rng.normal(size=(states, states))) for i in range(3)]
    graph.constrain(tb.Chain(variables, rng.normal(size=(2, states, states))))
    return graph, variables, pairs


# What is given.


@pytest.mark.parametrize("arithmetic", ["real", "log", "signed-log"])
def test_weights_of_a_hypergraph_are_copied(arithmetic):
    weights = np.array([[1.0, 1.0, 1.0], [0.5, 0.25, 1.0]])
    given = weights if arithmetic == "signed-log" else weights[1]
    sums, expected = (a_hypergraph().inside_outside(array, arithmetic) for array in (given, given.copy()))
    weights[:] = 50.0
    assert_array_equal(sums.edge_marginals, expected.edge_marginals)
    assert_array_equal(
        sums.backward(edge_adjoint=[1.0, 0.0, 0.0]).weights, expected.backward(edge_adjoint=[1, 0, 0])[2]
    )


def test_parameters_of_a_hypergraph_factor_are_copied():
    hypergraph, tie = eisner(2, single_root=True)
    parameters = np.where(tie >= 0, 0, -1)
    found = []
    for change in (False, True):
        graph = tb.FactorGraph()
        arcs = dict(zip([1, 2, 5, 7], graph.variables(4), strict=True))
        ties = {edge: arcs[arc] for edge, arc in enumerate(tie.tolist()) if arc >= 0}
        factor = tb.HypergraphFactor(hypergraph, edges=ties, potentials=[0.3], parameters=parameters)
        graph.constrain(factor)
        if change:
            parameters[:] = 10**6
        found.append(tb.propagate(graph, iterations=1).on)
    assert_array_equal(*found)


def test_arrays_of_groups_and_potentials_are_copied():
    def run(spoil):
        rng = np.random.default_rng(1)
        heads, modifiers = np.array([0, 2, 0, 1]), np.array([1, 1, 2, 2])
        pairs = np.array([[0, 1], [2, 3]], np.int32)
        own = [rng.normal(size=4), rng.normal(size=2), np.zeros(0)]
        groups = [
            tb.AllOn(np.arange(4)[:, None]),
            tb.AllOn(pairs),
            tb.Trees([3], heads, modifiers, range(4), projective=True, single_root=False),
        ]
        graph = tb.Graph(4, groups)
        if spoil:
            for array in (heads, modifiers, pairs, groups[1].variables):
                array[:] = 10**6
        beliefs = tb.propagate(graph, iterations=2, potentials=own)
        if spoil:
            for array in own:
                array[:] = np.nan
        return beliefs.on, beliefs.log_partition, beliefs.backward(np.ones(4))[1]

    for one, two in zip(run(spoil=False), run(spoil=True), strict=True):
        assert_array_equal(one, two)


def test_what_makes_no_tree_group_is_refused_before_kernels_trust_it():
    for heads, modifiers in (([9, 0], [1, 2]), ([-1, 0], [1, 2]), ([1, 0], [1, 2]), ([0, 0, 0], [1, 1, 2])):
        with pytest.raises(ValueError, match="Trees: "):
            tb.Trees([3], heads, modifiers, range(len(heads)), projective=True, single_root=False)
    trees = tb.Trees([3], [0, 1], [1, 2], range(2), projective=True, single_root=False)
    for ask in (trees.best, trees.marginals):
        with pytest.raises(ValueError, match="an array of shape"):
            ask(np.zeros(1))


# What is handed out.


def handed_out():
    rng = np.random.default_rng(0)
    for projective in (True, False):
        for shape in ((4, 4), (2, 4, 4)):
            trees = tb.DependencyTrees(rng.normal(size=shape), projective=projective, single_root=True)
            yield from (trees.scores, trees.lengths, trees.marginals)
    grandparents = tb.GrandparentTrees(np.zeros((3, 3)), np.zeros((3, 3, 3)), single_root=True)
    yield from (grandparents.marginals, grandparents.grandparent_marginals)
    hypergraph, _ = hmm_trellis(length=2, states=2)
    yield from (hypergraph.heads, hypergraph.tails, hypergraph.offsets)
    for arithmetic in ("real", "log"):
        sums = hypergraph.inside_outside(np.full(hypergraph.edges, 0.5), arithmetic)
        yield from (sums.inside, sums.inside_sign, sums.outside, sums.outside_sign)
        yield from (sums.node_marginals, sums.edge_marginals)
    for states in (2, 3):
        graph, variables, pairs = a_graph(rng, states)
        beliefs = tb.propagate(graph, iterations=2)
        yield from (pairs[0].potentials, beliefs.on, beliefs.residuals, *beliefs.group_expectations)
        yield tb.enumerate_graph(graph).joint
        yield tb.Chain(variables, np.zeros((states, states))).potentials


def test_what_the_library_keeps_is_handed_out_read_only():
    arrays = list(handed_out())
    assert len(arrays) > 40
    for array in arrays:
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0
        with pytest.raises(ValueError, match="read-only"):
            np.add(array, 1, out=array)


@pytest.mark.parametrize("projective", [True, False])
def test_what_is_made_for_the_caller_can_be_written_to_and_changes_nothing(rng, projective):
    trees = tb.DependencyTrees(rng.normal(size=(2, 5, 5)), projective=projective, single_root=False)
    before = [trees.log_partition.copy(), trees.entropy.copy(), trees.mbr().copy(), trees.backward(np.ones((2, 5, 5)))]
    for array in (trees.log_partition, trees.entropy, trees.argmax(), trees.mbr(), trees.sample(1, rng)):
        array[...] = 0
    after = [trees.log_partition, trees.entropy, trees.mbr(), trees.backward(np.ones((2, 5, 5)))]
    for one, two in zip(before, after, strict=True):
        assert_array_equal(one, two)


def test_a_factor_may_spoil_what_it_is_asked_with():
    class Spoiling:
        def __init__(self, variable):
            self.variables, self.potentials = [variable], np.array([0.0, 1.0])

        def messages(self, incoming, potentials):
            sent = potentials.copy()
            incoming[:], potentials[:] = np.nan, np.nan
            return sent, lambda adjoint: (np.zeros(2), adjoint)

    graph = tb.FactorGraph()
    variable = graph.variable()
    factor = graph.constrain(Spoiling(variable))
    for _ in range(2):
        beliefs = tb.propagate(graph, iterations=2)
        assert beliefs[variable][1] == pytest.approx(1 / (1 + np.exp(-1)))
        assert_array_equal(beliefs.potentials(factor), [0.0, 1.0])


# Graphs that change.


class Growing:
    """Weights of one variable, which adds to its graph whenever it is asked."""

    def __init__(self, graph, variable):
        self.graph, self.variables, self.potentials = graph, [variable], np.array([0.0, 1.0])

    def messages(self, incoming, potentials):
        new = self.graph.variable(states=3)
        self.graph.factor([new, *self.variables], np.ones((3, 2)))
        return potentials, lambda adjoint: (np.zeros(2), adjoint)


@pytest.mark.parametrize("schedule", ["serial", "parallel"])
def test_a_run_is_over_the_graph_as_it_was_when_it_began(schedule):
    graph = tb.FactorGraph()
    a, b, c = graph.variables(3)
    for one, two in ((a, b), (b, c), (c, a)):
        graph.factor([one, two], [[0.5, 0.0], [0.0, 0.0]])
    fixed = copy.copy(graph)
    grown = graph.constrain(Growing(graph, a))
    fixed.factor([a], [0.0, 1.0])
    beliefs, expected = (tb.propagate(one, iterations=3, schedule=schedule) for one in (graph, fixed))
    for variable in (a, b, c):
        np.testing.assert_allclose(beliefs[variable], expected[variable], rtol=1e-12)
    assert len(beliefs.graph.variables) == 3
    assert grown in beliefs.backward({a: [0.0, 1.0]})
    assert len(tb.propagate(graph, iterations=1).graph.variables) > 3


def test_another_thread_may_add_to_a_graph_that_is_run():
    rng = np.random.default_rng(0)
    graph, variables, _ = a_graph(rng)
    stop = threading.Event()

    def add():
        while not stop.is_set():
            new = graph.variable(states=int(rng.integers(1, 4)))
            graph.factor([new, variables[0]], np.zeros((new.states, 2)))
            if len(graph.compile().variables) > 60:
                return

    thread = threading.Thread(target=add)
    thread.start()
    try:
        for _ in range(30):
            beliefs = tb.propagate(graph, iterations=2)
            beliefs.backward({variables[0]: [0.0, 1.0]})
            assert all(beliefs[variable].sum() == pytest.approx(1.0) for variable in beliefs.graph.variables)
    finally:
        stop.set()
        thread.join()


# Copies.


def test_a_copy_of_a_graph_grows_by_itself(rng):
    graph, variables, _ = a_graph(rng)
    before = tb.propagate(graph, iterations=2).on
    twin = copy.copy(graph)
    twin.factor([twin.variable(), variables[0]], [[0.0, 5.0], [0.0, 0.0]])
    assert (len(graph.compile().variables), len(twin.compile().variables)) == (3, 4)
    assert_array_equal(tb.propagate(graph, iterations=2).on, before)
    graph.variable()
    assert len(twin.compile().variables) == 4


def test_a_copy_of_a_builder_grows_by_itself():
    builder = tb.HypergraphBuilder()
    builder.add_edge(builder.add_node())
    twin = copy.copy(builder)
    twin.add_edge(twin.add_node(), [0])
    assert (builder.build().edges, twin.build().edges) == (1, 2)


@pytest.mark.parametrize("states", [2, 3])
def test_beliefs_are_pickled_with_their_way_back(rng, states):
    graph, variables, pairs = a_graph(rng, states)
    beliefs = tb.propagate(graph, iterations=3, damping=0.2, potentials={pairs[0]: np.ones((states, states))})
    loaded, (first, *_), pair = pickle.loads(pickle.dumps((beliefs, variables, pairs[0])))
    assert_array_equal(loaded[first], beliefs[variables[0]])
    assert_array_equal(loaded.potentials(pair), np.ones((states, states)))
    assert loaded.log_partition == beliefs.log_partition
    adjoint = np.arange(states, dtype=float)
    assert_array_equal(loaded.backward({first: adjoint})[pair], beliefs.backward({variables[0]: adjoint})[pairs[0]])
    assert copy.copy(beliefs) is beliefs


def test_other_results_are_pickled_too(rng):
    trees = tb.DependencyTrees(rng.normal(size=(4, 4)), projective=True, single_root=True)
    assert_array_equal(pickle.loads(pickle.dumps(trees)).marginals, trees.marginals)
    hypergraph = a_hypergraph()
    sums = hypergraph.inside_outside([1.0, 2.0, 3.0], "real")
    assert_array_equal(pickle.loads(pickle.dumps(sums)).edge_marginals, sums.edge_marginals)
    graph, _, _ = a_graph(rng)
    assert_array_equal(
        tb.propagate(pickle.loads(pickle.dumps(graph)), iterations=2).on, tb.propagate(graph, iterations=2).on
    )
