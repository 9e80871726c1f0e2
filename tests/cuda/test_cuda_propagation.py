"""Belief propagation by CUDA kernels agrees with Numba's."""

import numpy as np
import pytest
import torch

import treebp as tb
from torch_graphs import mixed, second_order
from treebp.bp.outcome import Options
from treebp.cuda import dense_trees
from treebp.torch.beliefs import Beliefs
from treebp.torch.propagation import run_on_device

CPU = torch.device("cpu")
KINDS = [(True, True), (True, False), (False, True), (False, False)]


def by_cuda(graph, potentials, schedule="serial", damping=0.0, iterations=3, tolerance=None):
    options = Options(damping, tolerance, gradient=True, watch=True)
    run = run_on_device(graph, potentials, CPU, iterations, schedule, options, validate=True)
    return Beliefs(run, graph, None, potentials, False)


def compare(graph, potentials, atol=1e-9, **options):
    """Beliefs, residuals, log-partition, expectations and gradients."""
    arrays = [own.numpy() for own in potentials]
    expected = tb.propagate(graph, potentials=arrays, **{"iterations": 3, **options})
    for own in potentials:
        own.requires_grad_()
    found = by_cuda(graph, potentials, **options)
    np.testing.assert_allclose(found._slots.detach(), expected.slots, atol=atol)
    np.testing.assert_allclose(found.residuals, expected.residuals, atol=atol)
    adjoint = np.random.default_rng(7).normal(size=len(expected.slots))
    found._slots.backward(torch.from_numpy(adjoint))
    for own, gradient in zip(potentials, expected.backward_slots(adjoint), strict=True):
        np.testing.assert_allclose(own.grad, gradient, atol=atol)
    assert found.log_partition.item() == pytest.approx(expected.log_partition, abs=1e-8)
    for own, expectation in zip(found.group_expectations, expected.group_expectations, strict=True):
        np.testing.assert_allclose(own, expectation, atol=atol)


@pytest.mark.parametrize(("projective", "single_root"), KINDS)
def test_second_order(projective, single_root):
    compare(*second_order(projective=projective, single_root=single_root))


@pytest.mark.parametrize("projective", [True, False])
def test_trees_too_large_for_shared_memory(projective, monkeypatch):
    monkeypatch.setattr(dense_trees, "most_shared", lambda kind, device: 0)
    compare(*second_order(projective=projective))


@pytest.mark.parametrize("schedule", ["serial", "parallel"])
@pytest.mark.parametrize("damping", [0.0, 0.3])
def test_second_order_schedules(schedule, damping):
    compare(*second_order(), schedule=schedule, damping=damping)


@pytest.mark.parametrize("damping", [0.0, 0.3])
def test_tables_and_chains(damping):
    compare(*mixed(), schedule="parallel", damping=damping)


def test_binary_chains_and_tables():
    rng = np.random.default_rng(3)
    groups = [tb.Chains([0, 1, 2, 3], [3, 1], states=2), tb.Tables([[0, 3], [2, 1]], (2, 2)), tb.Tables([[0]], (2,))]
    graph = tb.Graph(4, groups)
    compare(graph, [torch.from_numpy(rng.normal(size=own.potentials)) for own in groups], schedule="parallel")


@pytest.mark.parametrize(("projective", "single_root"), KINDS)
def test_forbidden_and_forced_arcs_and_strong_factors(projective, single_root):
    graph, potentials = second_order(projective=projective, single_root=single_root)
    potentials[0][0] = -torch.inf
    potentials[0][5] = 900.0  # real arithmetic will not do
    potentials[1][2] = -torch.inf
    potentials[1][3] = 400.0
    compare(graph, potentials, atol=1e-8)


@pytest.mark.parametrize(("projective", "single_root"), KINDS)
def test_an_arc_that_is_certain(projective, single_root):
    graph, potentials = second_order(projective=projective, single_root=single_root)
    groups = [*graph.groups, tb.Tables([[3]], (2,))]
    certain = torch.tensor([-torch.inf, 0.0], dtype=torch.float64)
    compare(tb.Graph(len(graph.states), groups), [*potentials, certain], schedule="parallel")


def test_contradictions_name_what_has_no_state():
    graph, potentials = second_order()
    potentials[0][:4] = -torch.inf
    with pytest.raises(ValueError, match="the other factors leave it no state of variable"):
        by_cuda(graph, potentials)
    groups = [tb.Tables([[0]], (2,)), tb.Tables([[0]], (2,))]
    graph = tb.Graph(1, groups)
    with pytest.raises(ValueError, match="variable 0: its factors together forbid every state"):
        by_cuda(graph, [torch.tensor([-torch.inf, 0.0]), torch.tensor([0.0, -torch.inf])], schedule="parallel")


def test_a_tolerance_stops_early():
    graph, potentials = second_order()
    assert by_cuda(graph, potentials, iterations=200, tolerance=1e-6).iterations < 200


def test_what_the_device_cannot_do():
    with pytest.raises(ValueError, match="Counts has no kernels for tensors on cpu"):
        by_cuda(tb.Graph(2, [tb.Counts([0, 1], [2], weights=[0.0, 0.0, -np.inf])]), [torch.zeros(0)])
    grid = tb.Graph(4, [tb.AllOn([[0, 1], [1, 2], [2, 3], [3, 0]])])
    with pytest.raises(ValueError, match="edge by edge"):
        by_cuda(grid, [torch.zeros(4)])
    with pytest.raises(ValueError, match=r"expected \(4,\)"):
        by_cuda(grid, [torch.zeros(3)], schedule="parallel")
    with pytest.raises(ValueError, match="for each of 1 groups"):
        by_cuda(grid, [], schedule="parallel")
