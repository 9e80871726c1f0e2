import numpy as np
import pytest

from treebp.bp.enumeration import enumerate_graph
from treebp.bp.factor_graph import FactorGraph
from treebp.bp.factors.cardinality import ExactlyOne
from treebp.bp.factors.chain import Chain


def test_marginals_and_partition_of_a_graph_summed_by_hand():
    graph = FactorGraph()
    a, b = graph.variable(states=2), graph.variable(states=3)
    weights = np.array([[1.0, 2.0], [3.0, 0.0], [1.0, 1.0]])
    with np.errstate(divide="ignore"):
        pair = graph.factor([b, a], np.log(weights))
    unary = graph.factor([a], np.log([1.0, 2.0]))
    exact = enumerate_graph(graph)
    joint = weights * [1.0, 2.0]
    assert exact.log_partition == pytest.approx(np.log(joint.sum()))
    np.testing.assert_allclose(exact.joint, joint.T / joint.sum())
    np.testing.assert_allclose(exact[b], joint.sum(axis=1) / joint.sum())
    np.testing.assert_allclose(exact.factor(pair), joint / joint.sum())
    np.testing.assert_allclose(exact.factor(unary), exact[a])


def test_structured_factors_and_new_potentials():
    graph = FactorGraph()
    variables = graph.variables(3)
    graph.constrain(ExactlyOne([variables[2], variables[0], variables[1]]))
    chain = graph.constrain(Chain(variables, np.zeros((2, 2))))
    transitions = np.array([[0.0, 0.5], [-1.0, 7.0]])
    exact = enumerate_graph(graph, {chain: transitions})
    # ON first, second or third: the chain scores 10 00, 01 10 and 00 01.
    weights = np.exp([-1.0, 0.5 - 1.0, 0.5])
    np.testing.assert_allclose([exact[v][1] for v in variables], weights / weights.sum())
    assert exact.log_partition == pytest.approx(np.log(weights.sum()))
    np.testing.assert_allclose(exact.factor(chain), [exact[v] for v in variables])


def test_sixteen_variables_under_one_constraint():
    graph = FactorGraph()
    variables = graph.variables(16)
    graph.constrain(ExactlyOne(variables))
    assert np.exp(enumerate_graph(graph).log_partition) == pytest.approx(16)


def test_refuses_what_is_too_large_or_impossible():
    graph = FactorGraph()
    graph.variables(21)
    with pytest.raises(ValueError, match="21 variables with 2097152 joint states are too many"):
        enumerate_graph(graph)
    graph = FactorGraph()
    graph.variables(33, states=1)
    with pytest.raises(ValueError, match="33 variables with 1 joint states are too many"):
        enumerate_graph(graph)
    graph = FactorGraph()
    a = graph.variable()
    graph.factor([a], [0.0, -np.inf])
    graph.factor([a], [-np.inf, 0.0])
    with pytest.raises(ValueError, match="forbid every joint state"):
        enumerate_graph(graph)
