"""The contract of groups: what their factors send, and the gradients, as if each factor were a table.

To put a group under the contract, write a function that builds a small one and lists what each of its factors scores,
and add it to ``CASES``.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise, product
from types import SimpleNamespace

import numpy as np
from numpy.random import Generator

import factor_contract
from brute_force import all_trees
from factor_contract import case_of_solutions, table_messages
from treebp._types import FloatArray, IntArray
from treebp.bp.factors.protocol import FactorBackprop
from treebp.bp.groups.all_on import AllOn
from treebp.bp.groups.chains import Chains
from treebp.bp.groups.counts import Counts
from treebp.bp.groups.protocol import Group, Sender
from treebp.bp.groups.successions import Successions
from treebp.bp.groups.tables import Tables
from treebp.bp.groups.trees import Trees
from treebp.bp.groups.wrapped import Wrapped
from treebp.bp.variables import Variable

Scores = Callable[[int], FloatArray]
Solutions = Sequence[tuple[Sequence[int], Sequence[int]]]
CERTAIN = 400.0  # the largest log-odds that groups whose messages are ratios are told of


@dataclass
class GroupCase:
    """A group on as many variables as it has edges, its log-potentials, and each of its factors as a table."""

    group: Group
    potentials: FloatArray
    members: list[factor_contract.Case]

    @property
    def states(self) -> IntArray:
        """Of the variable of each edge."""
        return np.broadcast_to(self.group.edge_states, self.group.variables.shape)

    def entries(self, edges: Sequence[int] | IntArray) -> IntArray:
        """Where the messages of some edges are, in their order."""
        widths = np.where(self.states == 2, 1, self.states)
        ends = np.cumsum(widths)
        return np.concatenate([np.arange(ends[edge] - widths[edge], ends[edge]) for edge in edges])


def member(states: Sequence[int], solutions: Solutions, potentials: FloatArray) -> factor_contract.Case:
    """A factor with these states of its variables: each solution is a joint state and the potentials that it uses."""
    variables = [Variable(f"v{k}", count) for k, count in enumerate(states)]
    return case_of_solutions(SimpleNamespace(variables=variables, potentials=potentials), solutions)


def tables(rng: Generator, scores: Scores, shape: tuple[int, ...]) -> GroupCase:
    count = int(rng.integers(1, 4))
    potentials = scores(count * int(np.prod(shape)))
    variables = np.arange(count * len(shape)).reshape(len(shape), count).T
    solutions = [(states, [k]) for k, states in enumerate(np.ndindex(shape))]
    members = [member(shape, solutions, own) for own in potentials.reshape(count, -1)]
    return GroupCase(Tables(variables, shape), potentials, members)


def all_on(rng: Generator, scores: Scores, arity: int) -> GroupCase:
    count = int(rng.integers(1, 4))
    potentials = scores(count)
    solutions = [(states, [0] if all(states) else []) for states in product((0, 1), repeat=arity)]
    group = AllOn(np.arange(count * arity).reshape(arity, count).T)
    return GroupCase(group, potentials, [member((2,) * arity, solutions, potentials[k : k + 1]) for k in range(count)])


def trees(rng: Generator, scores: Scores, projective: bool, single_root: bool) -> GroupCase:
    words = rng.integers(1, 4, size=rng.integers(1, 4)).tolist()
    arcs, members = [], []
    for n in words:
        every = [(h, m) for m in range(1, n + 1) for h in range(n + 1) if h != m]
        own = [arc for arc in every if arc in {(0, 1), (1, 2), (2, 3)} or rng.random() < 0.7]
        solutions = [
            ([int(heads[m - 1] == h) for h, m in own], [])
            for heads in all_trees(n, projective, single_root).tolist()
            if all((h, m) in own for m, h in enumerate(heads, 1))
        ]
        members.append(member([2] * len(own), solutions, np.zeros(0)))
        arcs += own
    heads, modifiers = np.array(arcs).T
    sizes = [n + 1 for n in words]
    group = Trees(sizes, heads, modifiers, np.arange(len(arcs)), projective=projective, single_root=single_root)
    return GroupCase(group, np.zeros(0), members)


def chains(rng: Generator, scores: Scores, states: Sequence[int]) -> GroupCase:
    lengths = rng.integers(1, 5, size=rng.integers(1, 4)).tolist()
    potentials, members, counts = [], [], []
    for length in lengths:
        own = rng.choice(states, size=length).tolist()
        first = np.cumsum([0, *(before * after for before, after in pairwise(own))]).tolist()
        potentials.append(scores(first[-1]))
        solutions = [
            (path, [first[k] + path[k] * own[k + 1] + path[k + 1] for k in range(length - 1)])
            for path in product(*map(range, own))
        ]
        members.append(member(own, solutions, potentials[-1]))
        counts += own
    group = Chains(np.arange(sum(lengths)), lengths, counts if len(states) > 1 else states[0])
    return GroupCase(group, np.concatenate(potentials), members)


def counts(rng: Generator, scores: Scores, weights: Sequence[float]) -> GroupCase:
    lengths = rng.integers(1, 5, size=rng.integers(1, 4)).tolist()
    members = []
    for length in lengths:
        found = member([2] * length, [], np.zeros(0))
        for states in product((0, 1), repeat=length):
            found.table[states] = weights[sum(states)] if sum(states) < len(weights) else -np.inf
        members.append(found)
    return GroupCase(Counts(np.arange(sum(lengths)), lengths, weights=weights), np.zeros(0), members)


def successions(rng: Generator, scores: Scores) -> GroupCase:
    lengths = rng.integers(1, 6, size=rng.integers(1, 4)).tolist()
    potentials, members = [], []
    for length in lengths:
        pairs = [(i, j) for i in range(-1, length) for j in range(i + 1, length + 1) if (i, j) != (-1, length)]
        solutions = []
        for states in product((0, 1), repeat=length):
            on = [-1, *np.flatnonzero(states).tolist(), length]
            solutions.append((states, [pairs.index(pair) for pair in pairwise(on)] if any(states) else []))
        potentials.append(scores(len(pairs)))
        members.append(member([2] * length, solutions, potentials[-1]))
    group = Successions(np.arange(sum(lengths)), np.concatenate(([0], np.cumsum(lengths))))
    return GroupCase(group, np.concatenate(potentials), members)


class Agreement:
    """What a user may write: a score for each two neighbouring variables that have the same state."""

    def __init__(self, variables: Sequence[Variable], potentials: FloatArray) -> None:
        self.variables, self.potentials = tuple(variables), potentials

    @property
    def solutions(self) -> Solutions:
        states = product(*(range(variable.states) for variable in self.variables))
        return [(one, [k for k in range(len(one) - 1) if one[k] == one[k + 1]]) for one in states]

    def messages(self, incoming: FloatArray, potentials: FloatArray) -> tuple[FloatArray, FactorBackprop]:
        case = case_of_solutions(Agreement(self.variables, potentials), self.solutions)
        return table_messages(case, incoming, np.zeros_like(incoming))[0], (
            lambda adjoint: table_messages(case, incoming, adjoint)[1:]
        )


def wrapped(rng: Generator, scores: Scores) -> GroupCase:
    states = rng.permutation([2, 3, 2]).tolist()
    variables = [Variable(f"v{k}", count) for k, count in enumerate(states)]
    factor = Agreement(variables, scores(2))
    group = Wrapped(factor, np.arange(3), "agreement")
    return GroupCase(group, factor.potentials, [member(states, factor.solutions, factor.potentials)])


CASES: dict[str, Callable[[Generator, Scores], GroupCase]] = {
    **{f"tables {shape}": partial(tables, shape=shape) for shape in [(1,), (2,), (3,), (2, 2), (3, 2), (2, 2, 2)]},
    "tables (2, 1, 3)": partial(tables, shape=(2, 1, 3)),
    **{f"all on {arity}": partial(all_on, arity=arity) for arity in (1, 2, 3)},
    **{
        f"{'projective' if projective else 'spanning'} trees, {'one root' if single_root else 'any roots'}": partial(
            trees, projective=projective, single_root=single_root
        )
        for projective, single_root in product((False, True), repeat=2)
    },
    **{f"chains {states}": partial(chains, states=states) for states in ([2], [3], [1, 2, 3, 4])},
    "exactly one": partial(counts, weights=[-np.inf, 0.0]),
    "counts": partial(counts, weights=[0.5, -1.0, -np.inf, 2.0]),
    "successions": successions,
    "wrapped": wrapped,
}


def told(sender: Sender, messages: FloatArray) -> FloatArray:
    """Log-messages as a sender wants them."""
    return np.exp(np.clip(messages, -CERTAIN, CERTAIN)) if sender.in_ratios else messages


def heard(sender: Sender, messages: FloatArray) -> FloatArray:
    """What a sender says as log-messages."""
    return np.log(messages) if sender.in_ratios else messages


def to_rows(entries: FloatArray, states: Sequence[int]) -> FloatArray:
    """Log-probabilities of each state of each variable, from log-odds for binary ones."""
    rows, place = [], 0
    for count in states:
        if count == 2:
            rows += [-np.logaddexp(0.0, entries[place]), -np.logaddexp(0.0, -entries[place])]
        else:
            rows += entries[place : place + count].tolist()
        place += 1 if count == 2 else count
    return np.array(rows)


def pieces(rows: FloatArray, states: Sequence[int]) -> list[FloatArray]:
    return np.split(rows, np.cumsum(states)[:-1])


@dataclass
class Expected:
    """What a factor should answer; `possible` is False if the messages leave it no joint state."""

    possible: bool
    outgoing: FloatArray
    adjoint: FloatArray  # that of the messages sent, made to fit them
    of_incoming: FloatArray
    of_potentials: FloatArray
    expectations: FloatArray
    log_partition: float


def expected(own: factor_contract.Case, incoming: FloatArray, adjoint: FloatArray) -> Expected:
    """By listing all joint states. Adjoints of messages to variables with many states sum to zero, as in every use."""
    states = [variable.states for variable in own.factor.variables]
    received = to_rows(incoming, states)
    sent, _, _ = table_messages(own, received, np.zeros_like(received))
    outgoing, of_messages, of_rows, place = [], [], [], 0
    for count, row in zip(states, pieces(sent, states), strict=True):
        with np.errstate(invalid="ignore"):
            if count == 2:
                outgoing.append(row[1:] - row[:1])
                own_adjoint = np.where(np.isfinite(outgoing[-1]), adjoint[place : place + 1], 0.0)
                of_rows.append(np.concatenate([-own_adjoint, own_adjoint]))
            else:
                outgoing.append(row - np.logaddexp.reduce(row))
                own_adjoint = np.where(np.isfinite(row), adjoint[place : place + count], 0.0)
                own_adjoint -= np.where(np.isfinite(row), own_adjoint.sum() / max(np.isfinite(row).sum(), 1), 0.0)
                of_rows.append(own_adjoint)
        of_messages.append(own_adjoint)
        place += len(outgoing[-1])
    _, of_received, of_potentials = table_messages(own, received, np.concatenate(of_rows))
    joint = own.table.copy()
    for axis, row in enumerate(pieces(received, states)):
        joint += row.reshape([-1 if other == axis else 1 for other in range(joint.ndim)])
    log_partition = float(np.logaddexp.reduce(joint, axis=None))
    expectations = np.full(own.factor.potentials.shape, np.nan)
    if log_partition > -np.inf:
        expectations = np.tensordot(np.exp(joint - log_partition), own.counts, axes=joint.ndim)
    of_incoming = []
    for count, row, of_row in zip(states, pieces(received, states), pieces(of_received, states), strict=True):
        of_incoming.append(of_row[1:] * np.exp(row[0]) - of_row[:1] * np.exp(row[1]) if count == 2 else of_row)
    flat = np.where(np.isfinite(incoming), np.concatenate(of_incoming), 0.0)
    return Expected(
        log_partition > -np.inf,
        np.concatenate(outgoing),
        np.concatenate(of_messages),
        flat,
        of_potentials,
        expectations,
        log_partition,
    )
