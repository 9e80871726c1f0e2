"""The contract of structured factors: the same messages and gradients as the same factor as a table.

To put a factor under the contract, write a function that draws a small instance and lists its joint states, and add it
to ``CASES``.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from brute_force import all_trees
from treebp._types import FloatArray
from treebp.bp.factors.cardinality import AtMostOne, ExactlyOne
from treebp.bp.factors.chain import Chain
from treebp.bp.factors.constituency import ConstituencyTree
from treebp.bp.factors.hypergraph_factor import HypergraphFactor
from treebp.bp.factors.protocol import StructuredFactor
from treebp.bp.factors.trees import ProjectiveTree, SpanningTree
from treebp.bp.variables import Variable
from treebp.hypergraphs.builders import eisner
from treebp.hypergraphs.hypergraph import HypergraphBuilder

Draw = Callable[[st.SearchStrategy], object]
SCORES = st.one_of(st.floats(-4, 4), st.sampled_from([0.0, 0.0, -np.inf, 1e4, -1e4, 60.0]))


@dataclass
class Case:
    """A factor with its log-value at each joint state, and the gradient of that by its potentials."""

    factor: StructuredFactor
    table: FloatArray  # an axis per variable
    counts: FloatArray  # those axes, then those of the potentials


def variables(count: int, states: int = 2) -> list[Variable]:
    return [Variable(f"v{i}", states) for i in range(count)]


def case_of_solutions(factor: StructuredFactor, solutions: Sequence[tuple[Sequence[int], Sequence[int]]]) -> Case:
    """A case from its derivations: each the states of the variables, and the potentials that it uses."""
    shape = [variable.states for variable in factor.variables]
    potentials = factor.potentials
    table = np.full(shape, -np.inf)
    weighted = []
    for states, used in solutions:
        uses = np.bincount(np.array(used, dtype=np.int64), minlength=potentials.size)
        chosen = uses > 0
        score = float(uses[chosen] @ potentials.ravel()[chosen])
        table[tuple(states)] = np.logaddexp(table[tuple(states)], score)
        weighted.append((tuple(states), uses, score))
    counts = np.zeros([*shape, potentials.size])
    for states, uses, score in weighted:
        if table[states] > -np.inf:
            counts[states] += uses * np.exp(score - table[states])
    return Case(factor, table, counts.reshape([*shape, *potentials.shape]))


def exactly_one(draw: Draw) -> Case:
    factor = ExactlyOne(variables(draw(st.integers(1, 5))))
    return case_of_solutions(factor, [(row, ()) for row in np.eye(len(factor.variables), dtype=int)])


def at_most_one(draw: Draw) -> Case:
    factor = AtMostOne(variables(draw(st.integers(1, 5))))
    k = len(factor.variables)
    return case_of_solutions(factor, [(row, ()) for row in [*np.eye(k, dtype=int), np.zeros(k, dtype=int)]])


def chain(draw: Draw) -> Case:
    length, states = draw(st.integers(1, 4)), draw(st.integers(1, 3))
    shape = draw(st.sampled_from([(length - 1, states, states), (states, states)]))
    factor = Chain(variables(length, states), draw(arrays(float, shape, elements=SCORES)))
    index = np.broadcast_to(np.arange(np.prod(shape)).reshape(shape), (length - 1, states, states))
    solutions = [
        (path, [index[i, path[i], path[i + 1]] for i in range(length - 1)])
        for path in product(range(states), repeat=length)
    ]
    return case_of_solutions(factor, solutions)


def bracketings(start: int, end: int) -> Iterator[frozenset[tuple[int, int]]]:
    own = frozenset([(start, end)])
    if end - start == 1:
        yield own
    for split in range(start + 1, end):
        for left, right in product(bracketings(start, split), bracketings(split, end)):
            yield own | left | right


def bracketing(draw: Draw) -> Case:
    n = draw(st.integers(1, 4))
    spans = [(i, j) for i in range(n) for j in range(i + 1, n + 1)]
    some = draw(st.lists(st.sampled_from(spans), unique=True))
    # The spans of one tree at least: others are refused.
    tree = draw(st.sampled_from(sorted(sorted(one) for one in bracketings(0, n))))
    keys = list(dict.fromkeys([*some, *(span for span in tree if span[1] - span[0] not in {1, n}), (0, n)]))
    factor = ConstituencyTree(dict(zip(keys, variables(len(keys)), strict=True)))
    solutions = [
        ([int(span in tree) for span in keys], ())
        for tree in bracketings(0, n)
        if all(span in keys or span[1] - span[0] in {1, n} for span in tree)
    ]
    return case_of_solutions(reordered(factor, keys, solutions), solutions)


def reordered(factor: StructuredFactor, keys: Sequence[object], solutions: list) -> StructuredFactor:
    """Bring the states of the solutions into the order of the factor's variables, named v0, v1, ... like keys."""
    order = [int(variable.name[1:]) for variable in factor.variables]
    assert sorted(order) == list(range(len(keys)))
    solutions[:] = [([states[i] for i in order], used) for states, used in solutions]
    return factor


def labelled(start: int, end: int, rules: Sequence[Sequence[int]], symbol: int) -> Iterator[tuple[dict, list[int]]]:
    """Trees as {span: symbol}, with the rules that they use."""
    if end - start == 1:
        yield {(start, end): symbol}, []
    for split in range(start + 1, end):
        for index, (parent, left, right) in enumerate(rules):
            if parent == symbol:
                for (one, used), (two, too) in product(
                    labelled(start, split, rules, left), labelled(split, end, rules, right)
                ):
                    yield {(start, end): symbol, **one, **two}, [index, *used, *too]


def labelled_tree(draw: Draw) -> Case:
    rules = [(0, 0, 0), (0, 1, 0), (1, 0, 0), (0, 1, 1)]
    scores = draw(arrays(float, 4, elements=SCORES))
    keys = draw(st.sampled_from([[(0, 3), (0, 2), (1, 3)], [(0, 2), (1, 3), (1, 2), (2, 3)]]))
    factor = ConstituencyTree(dict(zip(keys, variables(len(keys), 3), strict=True)), rules, scores)
    solutions = [
        ([tree[span] + 1 if span in tree else 0 for span in keys], used) for tree, used in labelled(0, 3, rules, 0)
    ]
    return case_of_solutions(reordered(factor, keys, solutions), solutions)


def tied_edges(draw: Draw) -> Case:
    """Projective trees over three words with a weight for each arc, tied to the arcs."""
    hypergraph, tie = eisner(3, single_root=True)
    arcs = [(h, m) for h in range(4) for m in range(1, 4) if h != m]
    index = {h * 4 + m: i for i, (h, m) in enumerate(arcs)}
    names = variables(len(arcs))
    factor = HypergraphFactor(
        hypergraph,
        edges={edge: names[index[arc]] for edge, arc in enumerate(tie.tolist()) if arc >= 0},
        potentials=draw(arrays(float, (4, 4), elements=SCORES)),
        parameters=tie,
    )
    trees = all_trees(3, projective=True, single_root=True).tolist()
    solutions = [
        ([int(heads[m - 1] == h) for h, m in arcs], [h * 4 + m for m, h in enumerate(heads, 1)]) for heads in trees
    ]
    return case_of_solutions(reordered(factor, arcs, solutions), solutions)


def tied_nodes_and_edges(draw: Draw) -> Case:
    """Ambiguous derivations: a node tied to a variable's second state, edges into it tied to another variable."""
    builder = HypergraphBuilder()
    left, right, goal = (builder.add_node() for _ in range(3))
    for head, tails in [(left, ()), (left, ()), (right, ()), (right, ()), (goal, (left, right)), (goal, (left,))]:
        builder.add_edge(head, tails)
    a, b, c = variables(3, 3)
    factor = HypergraphFactor(
        builder.build(),
        edges={0: (a, 1), 1: (a, 2), 2: b, 4: c},
        nodes={right: Variable("v3", 2)},
        potentials=draw(arrays(float, 6, elements=SCORES)),
    )
    solutions = []
    for of_left in (0, 1):
        solutions.append(([of_left + 1, 0, 0, 0], [of_left, 5]))
        solutions += [([of_left + 1, int(of_right == 2), 1, 1], [of_left, of_right, 4]) for of_right in (2, 3)]
    return case_of_solutions(reordered(factor, range(4), solutions), solutions)


def dependency_tree(draw: Draw, kind: type[ProjectiveTree] | type[SpanningTree]) -> Case:
    n, single_root = draw(st.integers(1, 3)), draw(st.booleans())
    arcs = [(h, m) for h in range(n + 1) for m in range(1, n + 1) if h != m]
    pruned = draw(st.sets(st.sampled_from(arcs), max_size=3))
    arcs = [arc for arc in arcs if arc not in pruned or arc in {(0, 1), (1, 2), (2, 3)}]
    factor = kind(dict(zip(arcs, variables(len(arcs)), strict=True)), single_root=single_root)
    trees = all_trees(n, projective=kind is ProjectiveTree, single_root=single_root).tolist()
    solutions = [
        ([int(heads[m - 1] == h) for h, m in arcs], ())
        for heads in trees
        if all((h, m) in arcs for m, h in enumerate(heads, 1))
    ]
    return case_of_solutions(factor, solutions)


def projective_tree(draw: Draw) -> Case:
    return dependency_tree(draw, ProjectiveTree)


def spanning_tree(draw: Draw) -> Case:
    return dependency_tree(draw, SpanningTree)


CASES = [
    exactly_one,
    at_most_one,
    chain,
    bracketing,
    labelled_tree,
    tied_edges,
    tied_nodes_and_edges,
    projective_tree,
    spanning_tree,
]


def split(flat: FloatArray, factor: StructuredFactor) -> list[FloatArray]:
    return np.split(flat, np.cumsum([variable.states for variable in factor.variables])[:-1])


def table_messages(case: Case, incoming: FloatArray, adjoint: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Outgoing messages and adjoints of incoming messages and potentials, by summing the table."""
    ndim = case.table.ndim
    pieces = split(incoming, case.factor)
    adjoints = split(adjoint, case.factor)
    outgoing = [np.full_like(piece, -np.inf) for piece in pieces]
    adjoint_incoming = [np.zeros_like(piece) for piece in pieces]
    adjoint_potentials = np.zeros_like(case.factor.potentials)
    for target in range(ndim):
        score = case.table.copy()
        for axis in range(ndim):
            if axis != target:
                score += pieces[axis].reshape([-1 if other == axis else 1 for other in range(ndim)])
        for state in range(len(pieces[target])):
            part = np.moveaxis(score, target, 0)[state]
            outgoing[target][state] = np.logaddexp.reduce(part, axis=None)
            if outgoing[target][state] == -np.inf:
                continue
            share = np.zeros_like(score)
            np.moveaxis(share, target, 0)[state] = np.exp(part - outgoing[target][state])
            share *= adjoints[target][state]
            for axis in range(ndim):
                if axis != target:
                    adjoint_incoming[axis] += share.sum(axis=tuple(other for other in range(ndim) if other != axis))
            adjoint_potentials += np.tensordot(share, case.counts, axes=ndim)
    return np.concatenate(outgoing), np.concatenate(adjoint_incoming), adjoint_potentials
