import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from second_order import crossing, crossing_table, projective, projective_hypergraph, projective_table, tree_graph
from treebp.bp.enumeration import enumerate_graph
from treebp.bp.factor_graph import FactorGraph
from treebp.bp.factors.cardinality import AtMostOne, ExactlyOne
from treebp.bp.factors.chain import Chain
from treebp.bp.propagation import propagate
from treebp.bp.schedule import EdgePlan, GroupPlan, plan

SCHEDULES = ["serial", "parallel"]


def random_table(rng, shape, forbidden=0.0):
    table = rng.normal(scale=1.5, size=shape)
    table[rng.random(shape) < forbidden] = -np.inf
    table.flat[rng.integers(table.size)] = 0.0
    return table


def random_acyclic_graph(seed):
    """Components that grow by hanging a table or a structured factor, with new variables, on one variable."""
    rng = np.random.default_rng(seed)
    graph = FactorGraph()
    handles = []
    for _ in range(rng.integers(1, 3)):
        known = [graph.variable(states=2)]
        for _ in range(rng.integers(0, 4)):
            hook = known[rng.integers(len(known))]
            kind = rng.integers(4)
            if kind == 0 and hook.states == 2:
                new = graph.variables(2)
                handles.append(graph.constrain([ExactlyOne, AtMostOne][rng.integers(2)]([new[0], hook, new[1]])))
            elif kind == 1:
                new = graph.variables(2, hook.states)
                transitions = random_table(rng, (2, hook.states, hook.states))
                handles.append(graph.constrain(Chain([new[0], hook, new[1]], transitions)))
            else:
                new = [graph.variable(int(states)) for states in rng.integers(1, 4, size=rng.integers(0, 3))]
                variables = [*new, hook]
                shape = [variable.states for variable in variables]
                handles.append(graph.factor(variables, random_table(rng, shape)))
            known += new
    return graph, handles


def loopy_graph(seed):
    """Variables of several sizes in tables of one to three of them, a chain and a constraint, full of cycles."""
    rng = np.random.default_rng(seed)
    graph = FactorGraph()
    a, b, c = graph.variables(3)
    d, e = graph.variables(2, states=3)
    for variables in ([a], [d], [a, b], [b, c], [c, a], [d, e], [a, d, e], [c, e]):
        table = random_table(rng, [variable.states for variable in variables], forbidden=0.1)
        graph.factor(variables, table)
    graph.constrain(AtMostOne([a, b, c]))
    graph.constrain(Chain([e, d], rng.normal(size=(3, 3))))
    return graph


@pytest.mark.parametrize("schedule", SCHEDULES)
@given(seed=st.integers(0, 10**6))
@settings(max_examples=30)
def test_exact_on_acyclic_graphs(schedule, seed):
    graph, handles = random_acyclic_graph(seed)
    exact = enumerate_graph(graph)
    beliefs = propagate(graph, iterations=1 if schedule == "serial" else 12, schedule=schedule)
    for variable in graph.compile().variables:
        np.testing.assert_allclose(beliefs[variable], exact[variable], atol=1e-9)
    for handle in handles:
        for found, expected in zip(beliefs.factor(handle), exact.factor(handle), strict=True):
            np.testing.assert_allclose(found, expected, atol=1e-9)
    assert beliefs.log_partition == pytest.approx(exact.log_partition, rel=1e-9, abs=1e-9)


@given(seed=st.integers(0, 10**6))
@settings(max_examples=15)
def test_gradient_of_the_log_partition_is_expected_counts(seed):
    graph, handles = random_acyclic_graph(seed)
    beliefs = propagate(graph, iterations=1)
    for handle in handles:
        expectations = beliefs.expectations(handle)
        assert expectations.shape == handle.potentials.shape
        for index in np.ndindex(handle.potentials.shape):
            step = np.zeros_like(handle.potentials)
            step[index] = 1e-5
            up, down = (
                enumerate_graph(graph, {handle: handle.potentials + sign * step}).log_partition for sign in (1, -1)
            )
            assert expectations[index] == pytest.approx((up - down) / 2e-5, abs=1e-6)


def check_gradient(graph, adjoints, rng, **options):
    """Compare the gradient along random directions, and at each -inf, with finite differences."""

    def objective(potentials):
        beliefs = propagate(graph, potentials=potentials, **options)
        found = {owner: beliefs.factor(owner) if owner in factors else beliefs[owner] for owner in adjoints}
        return sum(np.sum(adjoint * found[owner]) for owner, adjoint in adjoints.items())

    factors = graph.compile().factors
    beliefs = propagate(graph, **options)
    gradient = beliefs.backward(adjoints)
    assert set(gradient) == set(factors)
    for factor in factors:
        assert gradient[factor].shape == factor.potentials.shape
        assert np.all(gradient[factor][factor.potentials == -np.inf] == 0.0)
    for _ in range(3):
        step = {factor: 1e-5 * rng.normal(size=factor.potentials.shape) for factor in factors}
        up, down = (
            objective({factor: factor.potentials + sign * step[factor] for factor in factors}) for sign in (1, -1)
        )
        found = sum(np.sum(gradient[factor] * step[factor]) for factor in factors)
        assert found == pytest.approx((up - down) / 2, rel=1e-6, abs=1e-11)


@pytest.mark.parametrize("damping", [0.0, 0.3])
@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("iterations", [1, 2, 4, 8])
def test_gradient_through_loopy_propagation(iterations, schedule, damping):
    rng = np.random.default_rng(iterations)
    graph = loopy_graph(seed=3)
    compiled = graph.compile()
    adjoints = {variable: rng.normal(size=variable.states) for variable in compiled.variables}
    triple = compiled.factors[6]
    adjoints[triple] = rng.normal(size=triple.potentials.shape)
    check_gradient(graph, adjoints, rng, iterations=iterations, schedule=schedule, damping=damping)


@pytest.mark.parametrize("tree", [projective, crossing, projective_hypergraph])
@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("iterations", [1, 2, 4, 8])
def test_gradient_through_grandparents_siblings_and_a_tree(iterations, schedule, tree):
    rng = np.random.default_rng(iterations)
    graph, arcs = tree_graph(iterations, tree)
    adjoints = {variable: rng.normal(size=2) for variable in arcs.values()}
    check_gradient(graph, adjoints, rng, iterations=iterations, schedule=schedule)


@pytest.mark.parametrize(("tree", "table"), [(projective, projective_table), (crossing, crossing_table)])
def test_tree_equals_the_same_constraint_as_a_table(tree, table):
    graph, arcs = tree_graph(0, tree)
    twin, twin_arcs = tree_graph(0, table)
    # In the order of the parallel schedule, a structured factor and a table have the same place.
    beliefs, twin_beliefs = (propagate(g, iterations=4, schedule="parallel") for g in (graph, twin))
    rng = np.random.default_rng(0)
    adjoints = {arc: rng.normal(size=2) for arc in arcs}
    gradient = beliefs.backward({arcs[arc]: adjoints[arc] for arc in arcs})
    twin_gradient = twin_beliefs.backward({twin_arcs[arc]: adjoints[arc] for arc in arcs})
    for arc in arcs:
        np.testing.assert_allclose(beliefs[arcs[arc]], twin_beliefs[twin_arcs[arc]], rtol=1e-9, atol=1e-12)
    for factor, other in zip(graph.compile().factors[1:], twin.compile().factors[1:], strict=True):
        np.testing.assert_allclose(gradient[factor], twin_gradient[other], rtol=1e-9, atol=1e-12)
    assert beliefs.log_partition == pytest.approx(twin_beliefs.log_partition, rel=1e-9)


def test_gradient_through_early_stopping():
    rng = np.random.default_rng(0)
    graph = loopy_graph(seed=5)
    adjoints = {variable: rng.normal(size=variable.states) for variable in graph.compile().variables}
    assert propagate(graph, iterations=100, tolerance=1e-3).converged
    check_gradient(graph, adjoints, rng, iterations=100, tolerance=1e-3)


def test_serial_order_starts_and_ends_at_the_leaves_of_the_structured_factor():
    graph, _ = tree_graph(seed=0)
    graph.constrain(ExactlyOne([graph.variable()]))
    compiled = graph.compile().graph
    steps = plan(compiled, "serial")
    structured = [number for number, group in enumerate(compiled.groups) if group.structured]
    assert isinstance(steps, GroupPlan)
    assert [step.from_variables for step in steps] == [False, True, False, True]
    assert [sorted(set(step.groups) & set(structured)) for step in steps] == [[], structured, structured, []]
    for from_variables in (False, True):
        sent = [group for step in steps if step.from_variables == from_variables for group in step.groups]
        assert sorted(sent) == list(range(len(compiled.groups)))


def test_each_message_is_sent_once_in_an_iteration_edge_by_edge():
    compiled = loopy_graph(seed=0).compile().graph
    phases = plan(compiled, "serial")
    assert isinstance(phases, EdgePlan)
    for from_variables in (False, True):
        sent = np.concatenate([phase.edges for phase in phases if phase.from_variables == from_variables])
        assert sorted(sent) == list(range(len(compiled.edge_variable)))


def test_residuals_tolerance_and_convergence():
    graph = loopy_graph(seed=1)
    fixed = propagate(graph, iterations=30, damping=0.1)
    assert fixed.iterations == len(fixed.residuals) == 30
    assert not fixed.converged
    assert fixed.residuals[-1] < 1e-5 < fixed.residuals[0]
    stopped = propagate(graph, iterations=30, damping=0.1, tolerance=1e-4)
    assert stopped.converged
    assert stopped.iterations == int(np.argmax(fixed.residuals < 1e-4)) + 1
    np.testing.assert_array_equal(stopped.residuals, fixed.residuals[: stopped.iterations])
    short = propagate(graph, iterations=1, tolerance=1e-4)
    assert not short.converged


def test_fixed_point_agrees_with_its_factors_and_its_bethe_gradient():
    graph = loopy_graph(seed=2)
    beliefs = propagate(graph, iterations=200, tolerance=1e-13)
    pair = graph.compile().factors[2]
    np.testing.assert_allclose(beliefs.factor(pair).sum(axis=1), beliefs[pair.variables[0]], atol=1e-10)
    step = np.zeros((2, 2))
    step[1, 0] = 1e-5
    up, down = (
        propagate(graph, iterations=200, tolerance=1e-13, potentials={pair: pair.potentials + sign * step})
        for sign in (1, -1)
    )
    slope = (up.log_partition - down.log_partition) / 2e-5
    assert beliefs.expectations(pair)[1, 0] == pytest.approx(slope, abs=1e-6)


def test_new_potentials_without_building_again():
    graph = FactorGraph()
    a = graph.variable()
    unary = graph.factor([a], [0.0, 0.0])
    assert propagate(graph, iterations=1, potentials={unary: [0.0, np.log(3)]})[a][1] == pytest.approx(0.75)
    assert propagate(graph, iterations=1)[a][1] == pytest.approx(0.5)


def test_huge_scores_and_graphs_without_factors_or_variables():
    graph = FactorGraph()
    assert propagate(graph, iterations=1).log_partition == 0.0
    lonely = graph.variable(states=4)
    beliefs = propagate(graph, iterations=2)
    np.testing.assert_allclose(beliefs[lonely], 0.25)
    assert beliefs.log_partition == pytest.approx(np.log(4))
    a, b = graph.variables(2)
    graph.factor([a], [0.0, 1e4])
    graph.factor([a, b], [[0.0, 1e4], [0.0, -1e4]])
    beliefs = propagate(graph, iterations=1)
    assert beliefs[b].tolist() == pytest.approx([1 / 2, 1 / 2])
    assert beliefs.log_partition == pytest.approx(1e4 + np.log(2) + np.log(4), rel=1e-12)


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_contradictions_name_what_is_impossible(schedule):
    graph = FactorGraph()
    a = graph.variable(name="rain")
    graph.factor([a], [0.0, -np.inf])
    graph.factor([a], [-np.inf, 0.0])
    with pytest.raises(ValueError, match="variable rain: its factors together forbid every state"):
        propagate(graph, iterations=3, schedule=schedule)

    graph = FactorGraph()
    variables = graph.variables(3)
    for variable in variables[:2]:
        graph.factor([variable], [-np.inf, 0.0])
    graph.constrain(ExactlyOne(variables), name="one label")
    with pytest.raises(ValueError, match="one label: the other factors leave it no state of variable x"):
        propagate(graph, iterations=3, schedule=schedule)


def test_contradiction_that_messages_have_not_reached_yet():
    graph = FactorGraph()
    a, b, c = graph.variables(3)
    for pair in ([a, b], [b, c], [c, a]):
        graph.factor(pair, [[-np.inf, 0.0], [0.0, -np.inf]])
    graph.factor([a], [0.0, -np.inf])
    beliefs = propagate(graph, iterations=1)
    with pytest.raises(ValueError, match=r"factor \(x1, x2\): the other factors leave it no joint state"):
        _ = beliefs.log_partition


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"iterations": 0}, "iterations = 0"),
        ({"iterations": 1, "damping": 1.0}, "damping = 1.0"),
        ({"iterations": 1, "schedule": "random"}, "schedule 'random'"),
        ({"iterations": 1, "tolerance": -1.0}, "tolerance = -1.0"),
        ({"iterations": 1, "tolerance": np.nan}, "tolerance = nan"),
    ],
)
def test_unfit_options_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        propagate(FactorGraph(), **options)


def test_strangers_and_misshapen_arrays_are_named():
    graph, other = FactorGraph(), FactorGraph()
    a, stranger = graph.variable(), other.variable(name="stranger")
    unary, foreign = graph.factor([a], [0.0, 1.0]), other.factor([stranger], [0.0, 1.0])
    one = graph.constrain(ExactlyOne([a]))
    beliefs = propagate(graph, iterations=1)
    for ask, message in (
        (lambda: beliefs[stranger], "variable stranger belongs to another graph"),
        (lambda: beliefs.factor(foreign), r"factor \(stranger\) belongs to another graph"),
        (lambda: beliefs.backward({stranger: [0, 1]}), "variable stranger belongs"),
        (lambda: beliefs.backward({a: [0, 1, 2]}), r"x0: the adjoint must be finite and of shape \(2,\)"),
        (lambda: beliefs.backward({a: [0, np.nan]}), "x0: the adjoint must be finite"),
        (lambda: beliefs.backward({one: [0, 1]}), "ExactlyOne: give adjoints of its variables"),
        (lambda: propagate(graph, iterations=1, potentials={unary: [0.0]}), r"factor \(x0\): log-potentials"),
        (lambda: propagate(graph, iterations=1, potentials={foreign: [0.0, 0.0]}), "belongs to another graph"),
    ):
        with pytest.raises(ValueError, match=message):
            ask()
