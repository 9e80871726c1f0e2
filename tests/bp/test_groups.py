"""Every group of factors does what the same factors do as tables: one by one, together, and in whole graphs."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from factor_contract import SCORES
from group_contract import CASES, Agreement, GroupCase, expected, heard, told
from treebp._types import FloatArray
from treebp.bp.factor_graph import FactorGraph
from treebp.bp.factors.cardinality import ExactlyOne
from treebp.bp.factors.chain import Chain
from treebp.bp.factors.trees import ProjectiveTree, SpanningTree
from treebp.bp.graph import Graph
from treebp.bp.groups.all_on import AllOn
from treebp.bp.groups.chains import Chains
from treebp.bp.groups.counts import Counts
from treebp.bp.groups.protocol import Group
from treebp.bp.groups.successions import Successions
from treebp.bp.groups.tables import Tables
from treebp.bp.groups.trees import Trees
from treebp.bp.groups.wrapped import Wrapped
from treebp.bp.propagation import propagate

LOG_ODDS = st.one_of(SCORES, st.just(np.inf))
EVERY_CASE = pytest.mark.parametrize("build", CASES.values(), ids=CASES.keys())
EVERY_RUN = pytest.mark.parametrize(
    "options",
    [{"schedule": schedule, "damping": damping} for schedule in ("serial", "parallel") for damping in (0.0, 0.3)],
    ids=lambda options: f"{options['schedule']}-{options['damping']}",
)


def drawn_case(data: st.DataObject, build) -> tuple[GroupCase, FloatArray, FloatArray]:
    """A group with scores of all sizes, messages to it, and adjoints of those from it."""
    rng = np.random.default_rng(data.draw(st.integers(0, 10**6), label="seed"))
    case = build(rng, lambda size: data.draw(arrays(float, size, elements=SCORES), label="scores"))
    incoming = []
    for states in case.states.tolist():
        row = data.draw(arrays(float, 1 if states == 2 else states, elements=LOG_ODDS if states == 2 else SCORES))
        if states != 2:
            assume(row.max() > -np.inf)
            row = row - np.logaddexp.reduce(row)
        incoming.append(row)
    flat = np.concatenate(incoming)
    return case, flat, data.draw(arrays(float, len(flat), elements=st.floats(-2, 2)), label="adjoint")


def nothing_left(one: FloatArray, two: FloatArray) -> bool:
    """Whether two messages along an edge are not possible, or contradict each other."""
    with np.errstate(invalid="ignore"):
        both = one + two
    return bool(np.isnan(both).any()) or (len(both) > 1 and both.max() == -np.inf)


@EVERY_CASE
@given(data=st.data())
@settings(max_examples=40)
def test_messages_gradients_and_sums_equal_those_of_tables(build, data):
    case, incoming, adjoint = drawn_case(data, build)
    sender = case.group.start(case.potentials)
    outgoing = np.full_like(incoming, np.nan)
    backprop = sender.send(told(sender, incoming), outgoing, True)
    log_outgoing, full_adjoint = heard(sender, outgoing), np.zeros_like(incoming)
    answers = []
    for number, own in enumerate(case.members):
        _, edges, _ = case.group.subset(number)
        entries = case.entries(edges)
        answer = expected(own, incoming[entries], adjoint[entries])
        answers.append(answer)
        if answer.possible:
            np.testing.assert_allclose(log_outgoing[entries], answer.outgoing, rtol=1e-13, atol=1e-9)
            full_adjoint[entries] = answer.adjoint
        else:
            for edge in edges:  # each of its variables can tell
                assert nothing_left(log_outgoing[case.entries([edge])], incoming[case.entries([edge])])
    sums = sender.sums(told(sender, incoming), outgoing)
    if not all(answer.possible for answer in answers):
        assert sums.log_partition == -np.inf
        return
    of_potentials = np.zeros_like(case.potentials)
    of_incoming = backprop(full_adjoint, of_potentials)
    assert (of_incoming is None) == sender.constant
    log_partition = sum(answer.log_partition for answer in answers)
    if sender.in_ratios:  # messages to variables count with one for OFF, and their log-partitions are taken off
        off, on = -np.logaddexp(0.0, incoming), -np.logaddexp(0.0, -incoming)
        log_partition -= np.logaddexp(off, on + log_outgoing).sum()
    np.testing.assert_allclose(sums.log_partition, log_partition, rtol=1e-13, atol=1e-9)
    for number, answer in enumerate(answers):
        _, edges, own = case.group.subset(number)
        np.testing.assert_allclose(of_potentials[own], answer.of_potentials, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(sums.expectations[own], answer.expectations, rtol=1e-9, atol=1e-9)
        if of_incoming is not None:
            np.testing.assert_allclose(of_incoming[case.entries(edges)], answer.of_incoming, rtol=1e-9, atol=1e-9)
        else:
            np.testing.assert_allclose(answer.of_incoming, 0.0, atol=1e-9)


@EVERY_CASE
@given(data=st.data())
@settings(max_examples=20)
def test_many_factors_answer_as_each_alone(build, data):
    case, incoming, adjoint = drawn_case(data, build)
    together = case.group.start(case.potentials)
    outgoing, of_potentials = np.empty_like(incoming), np.zeros_like(case.potentials)
    backprop = together.send(told(together, incoming), outgoing, True)
    outgoing = heard(together, outgoing)
    for edge in range(len(case.states)):
        assume(not nothing_left(outgoing[case.entries([edge])], incoming[case.entries([edge])]))
    finite = np.where(np.isfinite(outgoing), adjoint, 0.0)
    of_incoming = backprop(finite, of_potentials)
    seen = []
    for number in range(len(case.members)):
        group, edges, own = case.group.subset(number)
        np.testing.assert_array_equal(group.variables, case.group.variables[edges])
        assert set(case.group.edge_factor[edges].tolist()) == {number}
        seen += edges.tolist()
        entries = case.entries(edges)
        alone = group.start(case.potentials[own])
        # A large score of another factor may have led to logarithms, and these to rounding.
        near = {"rtol": 1e-13, "atol": 1e-13 if alone.in_ratios == together.in_ratios else 1e-9}
        found, of_own = np.empty(len(entries)), np.zeros(len(own))
        back = alone.send(told(alone, incoming[entries]), found, True)
        np.testing.assert_allclose(heard(alone, found), outgoing[entries], **near)
        received = back(finite[entries], of_own)
        np.testing.assert_allclose(of_own, of_potentials[own], **near)
        if received is not None and of_incoming is not None:
            np.testing.assert_allclose(received, of_incoming[entries], **near)
    assert sorted(seen) == list(range(len(case.group.variables)))


def loopy(case: GroupCase, rng: np.random.Generator) -> tuple[list[Group], list[FloatArray], list[FloatArray]]:
    """The group, a field on each variable and a table for each two of a factor's that follow each other.

    Also the component of each log-potential, which is that of a factor.
    """
    component = case.group.edge_factor
    fields: dict[int, list[int]] = {}
    pairs: dict[tuple[int, int], list[list[int]]] = {}
    for number in range(len(case.members)):
        edges = case.group.subset(number)[1].tolist()
        for edge in edges:
            fields.setdefault(int(case.states[edge]), []).append(edge)
        for one, two in pairwise(edges):
            pairs.setdefault((int(case.states[one]), int(case.states[two])), []).append([one, two])
    groups: list[Group] = [case.group]
    potentials = [case.potentials]
    owners = [np.empty(len(case.potentials), np.int64)]
    for number in range(len(case.members)):
        owners[0][case.group.subset(number)[2]] = number
    variables = case.group.variables
    for shape, rows in [*(((states,), [[edge] for edge in own]) for states, own in fields.items()), *pairs.items()]:
        group = Tables(variables[np.array(rows)], shape)
        groups.append(group)
        potentials.append(rng.normal(size=group.potentials))
        owners.append(np.repeat(component[np.array(rows)[:, 0]], group.entries))
    return groups, potentials, owners


def states_of_variables(case: GroupCase) -> np.ndarray:
    states = np.empty(len(case.states), np.int64)
    states[case.group.variables] = case.states
    return states


def smooth_case(build, seed: int) -> tuple[GroupCase, np.random.Generator]:
    rng = np.random.default_rng(seed)
    return build(rng, lambda size: rng.normal(size=size)), rng


@EVERY_RUN
@EVERY_CASE
def test_gradients_through_loopy_graphs_are_finite_differences(build, options):
    case, rng = smooth_case(build, 7)
    groups, potentials, _ = loopy(case, rng)
    graph = Graph(states_of_variables(case), groups)
    weights = rng.normal(size=len(case.states)) * (graph.states > 1)
    beliefs = propagate(graph, iterations=3, potentials=potentials, **options)
    gradient = np.concatenate(beliefs.backward(weights))
    step = [1e-5 * rng.normal(size=len(own)) for own in potentials]
    up, down = (
        weights
        @ propagate(
            graph, iterations=3, potentials=[a + sign * b for a, b in zip(potentials, step, strict=True)], **options
        ).on
        for sign in (1, -1)
    )
    assert gradient @ np.concatenate(step) == pytest.approx((up - down) / 2, rel=1e-6, abs=1e-12)
    for fewer in ({"gradient": False}, {"watch": False}):
        again = propagate(graph, iterations=3, potentials=potentials, **options, **fewer)
        np.testing.assert_array_equal(again.on, beliefs.on)
        assert again.log_partition == beliefs.log_partition


@EVERY_RUN
@EVERY_CASE
def test_a_batch_of_components_gives_what_each_gives_alone(build, options):
    case, rng = smooth_case(build, 3)
    groups, potentials, owners = loopy(case, rng)
    states = states_of_variables(case)
    graph = Graph(states, groups)
    weights = rng.normal(size=len(states)) * (states > 1)
    together = propagate(graph, iterations=3, potentials=potentials, **options)
    gradients = together.backward(weights)
    for number in range(len(case.members)):
        alone, own_potentials, places = [], [], []
        for index, (group, own, owner) in enumerate(zip(groups, potentials, owners, strict=True)):
            if index == 0:
                part, _, place = group.subset(number)
            else:
                assert isinstance(group, Tables)
                rows = group.variables.reshape(group.arity, -1).T
                kept = owner.reshape(len(rows), -1)[:, 0] == number
                part, place = Tables(rows[kept], group.shape), np.flatnonzero(owner == number)
            alone.append(part)
            own_potentials.append(own[place])
            places.append(place)
        mine = case.group.variables[case.group.subset(number)[1]]
        beliefs = propagate(Graph(states, alone), iterations=3, potentials=own_potentials, **options)
        np.testing.assert_allclose(beliefs.on[mine], together.on[mine], rtol=1e-13, atol=1e-13)
        only_mine = np.zeros(len(states))
        only_mine[mine] = weights[mine]
        for found, all_found, place in zip(beliefs.backward(only_mine), gradients, places, strict=True):
            np.testing.assert_allclose(found, all_found[place], rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("damping", [0.0, 0.3])
@EVERY_CASE
def test_groups_equal_the_same_factors_as_tables_of_a_factor_graph(build, damping):
    case, rng = smooth_case(build, 5)
    groups, potentials, _ = loopy(case, rng)
    states = states_of_variables(case)
    options = {"iterations": 4, "schedule": "parallel", "damping": damping}
    beliefs = propagate(Graph(states, groups), potentials=potentials, **options)
    graph = FactorGraph()
    variables = [graph.variable(int(count)) for count in states]
    handles = []
    for number, own in enumerate(case.members):
        mine = case.group.variables[case.group.subset(number)[1]]
        handles.append(graph.factor([variables[one] for one in mine], own.table))
    for group, flat in zip(groups[1:], potentials[1:], strict=True):
        assert isinstance(group, Tables)
        for row, own_table in zip(
            group.variables.reshape(group.arity, -1).T, flat.reshape(group.count, -1), strict=True
        ):
            graph.factor([variables[one] for one in row], own_table.reshape(group.shape))
    explicit = propagate(graph, **options)
    for number, variable in enumerate(variables):
        np.testing.assert_allclose(beliefs.states(number), explicit[variable], rtol=1e-9, atol=1e-11)
    assert beliefs.log_partition == pytest.approx(explicit.log_partition, rel=1e-9)
    np.testing.assert_allclose(beliefs.residuals, explicit.residuals, rtol=1e-9, atol=1e-12)
    weights = rng.normal(size=len(states)) * (states > 1)
    found = beliefs.backward(weights)[0]
    adjoints = {
        variable: weight * np.eye(variable.states)[1]
        for variable, weight in zip(variables, weights, strict=True)
        if variable.states > 1
    }
    of_tables = explicit.backward(adjoints)
    for number, (own, handle) in enumerate(zip(case.members, handles, strict=True)):
        of_own = np.tensordot(of_tables[handle], own.counts, axes=own.table.ndim)
        np.testing.assert_allclose(found[case.group.subset(number)[2]], of_own, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("schedule", ["serial", "parallel"])
def test_a_factor_graph_is_the_groups_that_it_compiles_to(schedule):
    rng = np.random.default_rng(0)
    graph = FactorGraph()
    arcs = {(h, m): graph.variable() for m in range(1, 4) for h in range(4) if h != m}
    tags = graph.variables(3, states=3)
    flags = graph.variables(3)
    fields = [graph.factor([variable], rng.normal(size=2)) for variable in arcs.values()]
    pair = graph.factor([arcs[0, 1], arcs[1, 2]], rng.normal(size=(2, 2)))
    link = graph.factor([arcs[1, 3], tags[0]], rng.normal(size=(2, 3)))
    other = graph.factor([arcs[1, 3], flags[0]], rng.normal(size=(2, 2)))
    chain = graph.constrain(Chain(tags, rng.normal(size=(2, 3, 3))))
    user = graph.constrain(Agreement([flags[1], tags[1]], rng.normal(size=1)))
    one = graph.constrain(ExactlyOne(flags))
    graph.constrain(SpanningTree(arcs, single_root=True))
    graph.constrain(ProjectiveTree(arcs))
    numbers = {variable: number for number, variable in enumerate([*arcs.values(), *tags, *flags])}
    heads, modifiers = np.array(list(arcs)).T
    places = np.arange(len(arcs))
    link_place, flag = numbers[arcs[1, 3]], numbers[flags[0]]
    groups = [
        Tables(places[:, None], (2,)),
        Tables([[numbers[arcs[0, 1]], numbers[arcs[1, 2]]], [link_place, flag]], (2, 2)),
        Tables([[link_place, numbers[tags[0]]]], (2, 3)),
        Chains([numbers[tag] for tag in tags], [3], states=3),
        Wrapped(Agreement([flags[1], tags[1]], np.zeros(1)), np.array([numbers[flags[1]], numbers[tags[1]]]), "user"),
        Counts([numbers[flag] for flag in flags], [3], weights=[-np.inf, 0.0]),
        Trees([4], heads, modifiers, places, projective=False, single_root=True),
        Trees([4], heads, modifiers, places, projective=True, single_root=False),
    ]
    of_groups = [
        np.concatenate([field.potentials for field in fields]),
        np.concatenate([pair.potentials.ravel(), other.potentials.ravel()]),
        link.potentials.ravel(),
        chain.potentials.ravel(),
        user.potentials,
        one.potentials,
        np.zeros(0),
        np.zeros(0),
    ]
    options = {"iterations": 3, "schedule": schedule, "damping": 0.1}
    direct = propagate(Graph([variable.states for variable in numbers], groups), potentials=of_groups, **options)
    compiled = propagate(graph, **options)
    for variable, number in numbers.items():
        np.testing.assert_allclose(direct.states(number), compiled[variable], rtol=1e-13)
    assert direct.log_partition == pytest.approx(compiled.log_partition, rel=1e-13)
    gradient = compiled.backward({tags[2]: [0.0, 1.0, 0.0], flags[2]: [0.0, -2.0]})
    weights = np.zeros(len(numbers))
    weights[[numbers[tags[2]], numbers[flags[2]]]] = 1.0, -2.0
    found = direct.backward(weights)
    np.testing.assert_allclose(found[0], np.concatenate([gradient[field] for field in fields]), rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(found[2], gradient[link].ravel(), rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(found[3], gradient[chain].ravel(), rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(found[4], gradient[user], rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("schedule", ["serial", "parallel"])
@pytest.mark.parametrize(
    ("group", "scores"),
    [
        (Counts([0, 1, 2], [3], weights=[-np.inf, 0.0]), []),
        (Trees([3], [0, 0, 1], [1, 2, 2], [0, 1, 2], projective=True, single_root=True), []),
        (Trees([3], [0, 0, 1], [1, 2, 2], [0, 1, 2], projective=False, single_root=False), []),
        (Chains([0, 1, 2], [3], states=2), [-np.inf, 0.0, 0.0, 0.0] * 2),
        (AllOn([[0, 1, 2]]), [-np.inf]),
        (Successions([0, 1, 2], [0, 3]), [-np.inf] * 9),
    ],
    ids=lambda group: type(group).__name__,
)
def test_what_the_factors_leave_no_state_is_named(group, scores, schedule):
    fields = np.zeros((3, 2))
    fields[:, 1 if isinstance(group, Counts | Trees | Chains) else 0] = -np.inf  # everything OFF, or everything ON
    graph = Graph(3, [Tables([[0], [1], [2]], (2,)), group])
    with pytest.raises(ValueError, match=r"forbid every state|leave it no"):
        _ = propagate(graph, iterations=2, schedule=schedule, potentials=[fields.ravel(), scores]).log_partition


def test_unfit_sequences_are_told():
    for first in ([], [1, 3], [0, 2], [0, 3, 3]):
        with pytest.raises(ValueError, match="Successions: 3 variables"):
            Successions([0, 1, 2], first)


@pytest.mark.parametrize("lengths", [[], [2], [0, 3], [3, 0], [1, 0, 2], [4, -1]])
def test_unfit_lengths_are_told(lengths):
    """A factor of no variables would have nothing to read its log-partition off."""
    with pytest.raises(ValueError, match="Counts: 3 variables"):
        Counts([0, 1, 2], lengths, weights=[0.0])
    with pytest.raises(ValueError, match="Chains: 3 variables"):
        Chains([0, 1, 2], lengths, states=2)
