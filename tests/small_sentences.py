"""Candidate arcs of short sentences with random scores, and the same as a factor graph of the general library."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, product
from typing import Any

import numpy as np

from brute_force import all_trees
from treebp._types import BoolArray, FloatArray, IntArray
from treebp.bp.beliefs import Beliefs
from treebp.bp.factor_graph import FactorGraph
from treebp.bp.factor_handle import Factor
from treebp.bp.factors.trees import ProjectiveTree, SpanningTree
from treebp.bp.propagation import propagate
from treebp.bp.variables import Variable
from treebp.features.templates import ATTRIBUTES
from treebp.parsing.arcs import Arcs, Batch
from treebp.parsing.model import Circuit, Inference, Inferred, Problem, infer
from treebp.parsing.parts import PARTS, Part, Tuples
from treebp.parsing.scorer import ARC
from treebp.training.circuit import OBJECTIVES

PAIRS = ("sibling", "grandparent")


@dataclass(frozen=True)
class SmallSentence:
    """A sentence, or several in a batch, with scores that no scorer gave; ``gold`` are the arcs of the right trees."""

    batch: Batch
    parts: tuple[Part, ...]
    tuples: Mapping[str, Tuples]
    potentials: Mapping[str, FloatArray]
    trees: tuple[IntArray, ...]
    projective: bool
    single_root: bool

    @property
    def arcs(self) -> Arcs:
        """Those of the one sentence."""
        (arcs,) = self.batch.arcs
        return arcs

    @property
    def gold(self) -> BoolArray:
        return np.concatenate([arcs.marked(tree) for arcs, tree in zip(self.batch.arcs, self.trees, strict=True)])

    @property
    def flat(self) -> FloatArray:
        """All scores, end to end."""
        return np.concatenate(list(self.potentials.values()))

    def with_flat(self, scores: FloatArray) -> "SmallSentence":
        return replace(self, potentials=split_like(self.potentials, scores))

    @property
    def problem(self) -> Problem:
        trees = self.batch.trees(projective=self.projective, single_root=self.single_root)
        return Problem(self.batch, trees, self.parts, self.tuples, self.potentials)

    def infer(self, iterations: int = 4, *, gradient: bool = False, **settings: Any) -> Inferred:
        return infer(Inference(iterations=iterations, **settings), self.problem, gradient=gradient)

    def learn(
        self, objective: str, iterations: int = 4, temperature: float = 1.0, **settings: Any
    ) -> tuple[float, FloatArray]:
        """The objective, and its gradient by all scores."""
        inferred = self.infer(iterations, gradient=objective != "cll", **settings)
        circuit = Circuit(self.problem, inferred, _no_weights)
        value, adjoints = OBJECTIVES[objective](circuit, self.gold, temperature)
        return value, np.concatenate([adjoints[name] for name in self.potentials])


def _no_weights(adjoints: Mapping[str, FloatArray]) -> Any:
    raise AssertionError("these scores have no weights")


def split_like(arrays: Mapping[str, FloatArray], flat: FloatArray) -> dict[str, FloatArray]:
    ends = np.cumsum([len(own) for own in arrays.values()])
    return dict(zip(arrays, np.split(flat, ends[:-1]), strict=True))


def small_sentence(
    seed: int,
    *,
    words: int,
    projective: bool,
    single_root: bool,
    kinds: Sequence[str] = PAIRS,
    scale: float = 1.0,
    part_scale: float = 1.0,
) -> SmallSentence:
    """A tree, about half of all other arcs, and one word, if there are several, that has just one candidate head."""
    rng = np.random.default_rng(seed)
    tree = rng.choice(all_trees(words, projective, single_root))
    modifiers = np.arange(1, words + 1)
    keep = rng.random((words + 1, words + 1)) < 0.6
    if words > 1:
        keep[:, rng.integers(1, words + 1)] = False
    keep[tree, modifiers] = True
    keep[:, 0] = False
    np.fill_diagonal(keep, False)
    batch = Batch.of([np.ones((words + 3, len(ATTRIBUTES)), np.int64)], [Arcs.of(keep)])
    parts = tuple(PARTS[kind] for kind in kinds)
    tuples = {part.name: part.list(batch, projective) for part in parts}
    potentials = {ARC: rng.normal(scale=scale, size=len(batch.heads))}
    for name, own in tuples.items():
        potentials[name] = rng.normal(scale=part_scale, size=len(own.arcs))
    return SmallSentence(batch, parts, tuples, potentials, (tree,), projective, single_root)


def together(sentences: Sequence[SmallSentence]) -> SmallSentence:
    """Several sentences with the same kinds of parts, laid end to end."""
    first = sentences[0]
    batch = Batch.of(
        [tokens for one in sentences for tokens, _ in one.batch], [arcs for one in sentences for arcs in one.batch.arcs]
    )
    return replace(
        first,
        batch=batch,
        tuples={part.name: part.list(batch, first.projective) for part in first.parts},
        potentials={name: np.concatenate([one.potentials[name] for one in sentences]) for name in first.potentials},
        trees=tuple(tree for one in sentences for tree in one.trees),
    )


class InLogarithms:
    """A tree factor of which the library sees the messages alone, so that no fast kernel can take its place."""

    def __init__(self, tree: ProjectiveTree | SpanningTree) -> None:
        self.variables, self.potentials, self.messages = tree.variables, tree.potentials, tree.messages


@dataclass(frozen=True)
class LibraryGraph:
    """The same factor graph in the general library, of tables and a tree in logarithms.

    Attributes:
        beliefs: of the library.
        variables: one per arc.
        uses: for each score, the factor it is in and the entries of the factor's table that it counts for.

    """

    beliefs: Beliefs
    variables: list[Variable]
    uses: list[tuple[Factor, BoolArray]]

    @property
    def on(self) -> FloatArray:
        return np.array([self.beliefs[variable][1] for variable in self.variables])

    def by_score(self, of_tables: Mapping[Factor, FloatArray]) -> FloatArray:
        """What is given for each entry of a table, added up for each score."""
        return np.array([of_tables[factor][entries].sum() for factor, entries in self.uses])

    def backward(self, adjoint: FloatArray) -> FloatArray:
        rows = {variable: [0.0, float(own)] for variable, own in zip(self.variables, adjoint, strict=True)}
        return self.by_score(self.beliefs.backward(rows))


def library_graph(sentence: SmallSentence, iterations: int, **settings: Any) -> LibraryGraph:
    """Factor by factor: a table for each score, and one for all scores of a sequence of siblings."""
    graph = FactorGraph()
    heads, modifiers = sentence.arcs.heads.tolist(), sentence.arcs.modifiers.tolist()
    arcs = {arc: graph.variable() for arc in zip(heads, modifiers, strict=True)}
    variables = list(arcs.values())
    tree = ProjectiveTree if sentence.projective else SpanningTree
    graph.constrain(InLogarithms(tree(arcs, single_root=sentence.single_root)))
    uses: list[tuple[Factor, BoolArray]] = []
    for name, scores in sentence.potentials.items():
        own = np.arange(len(variables))[:, None] if name == ARC else sentence.tuples[name].arcs
        if name == "consecutive-sibling":
            uses += _sequence_tables(graph, variables, sentence.tuples[name], scores)
            continue
        for numbers, score in zip(own.tolist(), scores.tolist(), strict=True):
            all_on = np.zeros([2] * len(numbers), np.bool_)
            all_on.flat[-1] = True
            uses.append((graph.factor([variables[k] for k in numbers], np.where(all_on, score, 0.0)), all_on))
    return LibraryGraph(propagate(graph, iterations=iterations, **settings), variables, uses)


def _sequence_tables(
    graph: FactorGraph, variables: Sequence[Variable], tuples: Tuples, scores: FloatArray
) -> list[tuple[Factor, BoolArray]]:
    """A table for each side of a head: all joint states of its arcs, each with the scores of what follows what."""
    assert tuples.sequences is not None
    numbers = {arcs: k for k, arcs in enumerate(map(tuple, tuples.arcs.tolist())) if -1 not in arcs}
    for k, (nearer, farther) in enumerate(tuples.arcs.tolist()):
        if nearer == -1:
            numbers["begin", farther] = k
        if farther == -1:
            numbers[nearer, "end"] = k
    found: dict[int, tuple[Factor, BoolArray]] = {}
    for begin, end in pairwise(tuples.sequences.first.tolist()):
        sequence = tuples.sequences.arcs[begin:end].tolist()
        table = np.zeros([2] * len(sequence))
        counts = {}
        for states in product((0, 1), repeat=len(sequence)):
            on = [arc for arc, state in zip(sequence, states, strict=True) if state]
            for step in pairwise(["begin", *on, "end"]) if on else ():
                table[states] += scores[numbers[step]]
                counts.setdefault(numbers[step], np.zeros(table.shape, np.bool_))[states] = True
        factor = graph.factor([variables[arc] for arc in sequence], table)
        found |= {number: (factor, entries) for number, entries in counts.items()}
    return [found[number] for number in range(len(scores))]


def numerical_gradient(function: Callable[[FloatArray], float], at: FloatArray, step: float = 1e-5) -> FloatArray:
    """Central differences."""
    return np.array([(function(at + step * e) - function(at - step * e)) / (2 * step) for e in np.eye(len(at))])
