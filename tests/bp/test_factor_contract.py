"""Every structured factor equals the same factor written as a table, forward and backward."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from factor_contract import CASES, SCORES, split, table_messages
from treebp.bp.enumeration import explicit_table
from treebp.bp.factors.cardinality import AtMostOne, ExactlyOne
from treebp.bp.factors.chain import Chain
from treebp.bp.factors.constituency import ConstituencyTree
from treebp.bp.factors.hypergraph_factor import HypergraphFactor
from treebp.bp.factors.protocol import score_assignment
from treebp.bp.factors.trees import ProjectiveTree, SpanningTree
from treebp.bp.variables import Variable
from treebp.hypergraphs.hypergraph import HypergraphBuilder


@pytest.mark.parametrize("draw_case", CASES)
@given(data=st.data())
@settings(max_examples=150)
def test_messages_and_gradients_equal_those_of_the_table(draw_case, data):
    case = draw_case(data.draw)
    size = sum(variable.states for variable in case.factor.variables)
    incoming = data.draw(arrays(float, size, elements=SCORES))
    pieces = split(incoming, case.factor)
    normalisers = [np.logaddexp.reduce(piece) for piece in pieces]
    assume(min(normalisers) > -np.inf)
    incoming = np.concatenate([piece - log_sum for piece, log_sum in zip(pieces, normalisers, strict=True)])
    adjoint = data.draw(arrays(float, size, elements=st.floats(-2, 2)))

    expected, adjoint_incoming, adjoint_potentials = table_messages(case, incoming, adjoint)
    outgoing, backprop = case.factor.messages(incoming, case.factor.potentials)
    if np.logaddexp.reduce(split(incoming + expected, case.factor)[0]) == -np.inf:
        # No joint state is possible: the factor must say so at every variable.
        for piece in split(incoming + outgoing, case.factor):
            assert np.logaddexp.reduce(piece) == -np.inf
        return
    np.testing.assert_allclose(outgoing, expected, rtol=1e-13, atol=1e-9)
    adjoint[expected == -np.inf] = 0.0
    found_incoming, found_potentials = backprop(adjoint)
    possible = incoming > -np.inf
    np.testing.assert_allclose(found_incoming, np.where(possible, adjoint_incoming, 0.0), rtol=1e-9, atol=1e-9)
    assert found_potentials.shape == case.factor.potentials.shape
    np.testing.assert_allclose(found_potentials, adjoint_potentials, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("draw_case", CASES)
@given(data=st.data())
@settings(max_examples=5)
def test_values_at_joint_states_are_those_of_the_table(draw_case, data):
    case = draw_case(data.draw)
    potentials = case.factor.potentials
    np.testing.assert_allclose(explicit_table(case.factor, potentials), case.table, rtol=1e-13, atol=1e-9)
    states = tuple(data.draw(st.integers(0, variable.states - 1)) for variable in case.factor.variables)
    value, gradient = score_assignment(case.factor, states, potentials)
    np.testing.assert_allclose(value, case.table[states], rtol=1e-13, atol=1e-9)
    np.testing.assert_allclose(gradient, case.counts[states], rtol=1e-9, atol=1e-9)


def test_thousand_variables_of_which_one_is_on():
    variables = [Variable(f"v{i}", 2) for i in range(1000)]
    incoming = np.log(np.tile([0.999, 0.001], 1000))
    # The odds of ON: all others OFF, against one of them ON; at most one allows none of them too.
    for kind, others in ((ExactlyOne, 999 * 0.001 / 0.999), (AtMostOne, 999 * 0.001 / 0.999 + 1)):
        outgoing, _ = kind(variables).messages(incoming, np.zeros(0))
        np.testing.assert_allclose(np.exp(outgoing[1] - outgoing[0]), 1 / others, rtol=1e-10)


def three_states():
    return Variable("many", 3)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: ExactlyOne([three_states()]), "ExactlyOne: variable many has 3 states"),
        (lambda: AtMostOne([three_states()]), "AtMostOne: variable many has 3 states"),
        (lambda: Chain([], np.zeros((2, 2))), "Chain: needs at least one variable"),
        (lambda: Chain([three_states(), Variable("two", 2)], np.zeros((3, 3))), "variable two has 2 states"),
        (lambda: Chain([three_states()], np.zeros((2, 2))), r"expected \(0, 3, 3\) or \(3, 3\)"),
        (lambda: ConstituencyTree({}), "at least one span"),
        (lambda: ConstituencyTree({(2, 2): Variable("empty", 2)}), r"\(2, 2\) of variable empty is no span"),
        (lambda: ConstituencyTree({(0, 2): three_states()}), "variable many has 3 states, expected 2"),
        (lambda: ConstituencyTree({(0, 2): Variable("s", 2)}, [(0, 0, 0)], [0, 0]), r"expected \(1,\)"),
    ],
)
def test_unfit_variables_and_shapes_are_named(build, message):
    with pytest.raises(ValueError, match=message):
        build()


def arcs(*pairs, states=2):
    return {pair: Variable(f"v{index}", states) for index, pair in enumerate(pairs)}


@pytest.mark.parametrize("tree", [ProjectiveTree, SpanningTree])
@pytest.mark.parametrize(
    ("unfit", "message"),
    [
        (arcs(), "needs at least one arc"),
        (arcs((0, 1), (2, 2)), "arc 2 -> 2 leads from a word to itself"),
        (arcs((0, 1), (1, 0)), "arc 1 -> 0 is not between the root 0 and words 1 to 1"),
        (arcs((0, 1), (7, 1)), "arc 7 -> 1 is not between"),
        (arcs((0.5, 1)), r"arc 0\.5 -> 1 is not between"),
        (arcs((0, 1), states=3), "arc 0 -> 1: v0 has 3 states, not 2"),
        (arcs((1, 2), (2, 1)), "no tree over 2 words can be made of these 2 arcs"),
        (arcs((0, 1), (1, 3)), "no tree over 3 words"),
    ],
)
def test_unfit_arcs_are_named(tree, unfit, message):
    with pytest.raises(ValueError, match=f"{tree.__name__}: {message}"):
        tree(unfit)


def two_words():
    builder = HypergraphBuilder()
    word, phrase = builder.add_node(), builder.add_node()
    builder.add_edge(word)
    builder.add_edge(phrase, [word, word])
    return builder.build()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "no edge or node is tied"),
        ({"edges": {9: Variable("v", 2)}}, "edge 9 is not among the 2 edges"),
        ({"nodes": {9: Variable("v", 2)}}, "node 9 is not among the 2 nodes"),
        ({"edges": {1: (Variable("v", 2), 2)}}, "edge 1 is tied to state 2 of variable v"),
        ({"nodes": {0: Variable("v", 2)}}, r"edge 1 \(0, 0 -> 1\) can use two edges tied to variable v"),
        ({"edges": {1: Variable("v", 2)}, "parameters": [0]}, r"parameters of shape \(1,\)"),
        ({"edges": {1: Variable("v", 2)}, "parameters": [0, -1]}, "edge 0 has no potential 0"),
    ],
)
def test_unfit_ties_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        HypergraphFactor(two_words(), **options)


def test_one_edge_cannot_count_twice_for_a_variable():
    variable = Variable("v", 2)
    with pytest.raises(ValueError, match="edge 1"):
        HypergraphFactor(two_words(), edges={1: variable}, nodes={1: variable})
