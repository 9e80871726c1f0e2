"""Belief propagation on tensors: what NumPy's says, differentiable."""

import numpy as np
import pytest
import torch
from torch.autograd import gradcheck

import treebp as tb
from torch_graphs import mixed, second_order
from treebp.torch import log_likelihood, propagate


@pytest.mark.parametrize("build", [second_order, mixed])
@pytest.mark.parametrize("schedule", ["serial", "parallel"])
@pytest.mark.parametrize("damping", [0.0, 0.3])
def test_beliefs_and_gradients(build, schedule, damping):
    graph, potentials = build()
    potentials[0][1] = -torch.inf
    expected = tb.propagate(
        graph, iterations=3, schedule=schedule, damping=damping, potentials=[own.numpy() for own in potentials]
    )
    for own in potentials:
        own.requires_grad_()

    def beliefs(*given):
        found = propagate(graph, iterations=3, schedule=schedule, damping=damping, potentials=given)
        return torch.cat([found.states(variable) for variable in range(len(graph.states))])

    found = propagate(graph, iterations=3, schedule=schedule, damping=damping, potentials=potentials)
    np.testing.assert_allclose(found.states(2).detach(), expected.states(2), atol=1e-15)
    np.testing.assert_array_equal(found.residuals, expected.residuals)
    assert found.log_partition.item() == expected.log_partition
    assert gradcheck(beliefs, tuple(potentials))


def test_the_gradient_of_an_exact_log_partition_is_exact():
    rng = np.random.default_rng(0)
    graph = tb.Graph([3] * 5, [tb.Tables(np.arange(5)[:, None], (3,)), tb.Chains(range(5), [3, 2], states=3)])
    potentials = tuple(torch.from_numpy(rng.normal(size=own.potentials)).requires_grad_() for own in graph.groups)
    assert gradcheck(lambda *given: propagate(graph, iterations=1, potentials=given).log_partition, potentials)
    beliefs = propagate(graph, iterations=1, potentials=potentials)
    torch.testing.assert_close(beliefs.table.ravel(), beliefs.group_expectations[0])


def test_handles_of_a_factor_graph():
    graph = tb.FactorGraph()
    a, b = graph.variables(2)
    field = graph.factor([a], [0.0, 1.0])
    pair = graph.factor([a, b], [[1.0, 0.0], [0.0, 1.0]])
    scores = torch.tensor([0.0, 2.0], requires_grad=True)
    beliefs = propagate(graph, iterations=1, potentials={field: scores})
    expected = tb.propagate(graph, iterations=1, potentials={field: [0.0, 2.0]})
    np.testing.assert_allclose(beliefs[b].detach(), expected[b], atol=1e-7)
    value = log_likelihood(beliefs, {a: 1, b: 0})
    their_value, their_gradient = tb.log_likelihood(expected, {a: 1, b: 0})
    assert value.item() == pytest.approx(their_value, rel=1e-6)
    value.backward()
    np.testing.assert_allclose(scores.grad, their_gradient[field], atol=1e-7)
    with pytest.raises(ValueError, match="no state given"):
        log_likelihood(beliefs, {a: 1})
    with pytest.raises(ValueError, match="no state 2"):
        log_likelihood(beliefs, {a: 2, b: 0})
    with pytest.raises(ValueError, match="expected"):
        propagate(graph, iterations=1, potentials={pair: torch.zeros(3)})
    forbidding = propagate(graph, iterations=1, potentials={field: torch.tensor([0.0, -torch.inf])})
    with pytest.raises(ValueError, match="forbids the joint state"):
        log_likelihood(forbidding, {a: 1, b: 0})


def test_errors():
    graph, potentials = second_order()
    with pytest.raises(ValueError, match="iterations = 0"):
        propagate(graph, iterations=0, potentials=potentials)
    with pytest.raises(ValueError, match="on one device"):
        propagate(graph, iterations=1, potentials=[potentials[0].to("meta"), *potentials[1:]])
    with pytest.raises(ValueError, match="no kernels for tensors on meta"):
        propagate(graph, iterations=1, potentials=[own.to("meta") for own in potentials])
    with pytest.raises(ValueError, match="a tensor for each of 4 groups"):
        propagate(graph, iterations=1, potentials={})
    graph, potentials = mixed()
    with pytest.raises(ValueError, match="not all variables are binary"):
        _ = propagate(graph, iterations=1, potentials=potentials).on
    with pytest.raises(ValueError, match="ask for states"):
        _ = propagate(graph, iterations=1, potentials=potentials).table
    contradiction = [potentials[0].clone(), *potentials[1:]]
    contradiction[0][:3] = -torch.inf
    with pytest.raises(ValueError, match=r"no state of variable 0|forbid every state"):
        propagate(graph, iterations=1, potentials=contradiction)


def test_float32_and_no_gradient():
    graph, potentials = second_order()
    with torch.no_grad():
        beliefs = propagate(graph, iterations=2, potentials=[own.float() for own in potentials], watch=False)
    assert beliefs.on.dtype == torch.float32
    assert beliefs.iterations == 2
    assert not beliefs.converged
