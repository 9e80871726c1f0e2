"""Candidate arcs of short sentences with random scores, and the same as a factor graph of the general library."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from brute_force import all_trees
from treebp._types import BoolArray, FloatArray, IntArray
from treebp.bp.beliefs import Beliefs
from treebp.bp.factor_graph import FactorGraph
from treebp.bp.factor_handle import Factor
from treebp.bp.factors.trees import ProjectiveTree, SpanningTree
from treebp.bp.propagation import propagate
from treebp.bp.variables import Variable
from treebp.kernels.candidates import list_arcs, list_pairs
from treebp.kernels.objective import infer, learn


@dataclass(frozen=True)
class SmallSentence:
    """What the parser's kernels take, for one sentence; ``tree`` is the gold tree, among whose arcs all are."""

    scores: FloatArray
    pair_scores: FloatArray
    first: IntArray
    second: IntArray
    heads: IntArray
    modifiers: IntArray
    starts: IntArray
    tree: IntArray
    projective: bool
    single_root: bool

    @property
    def gold(self) -> BoolArray:
        return np.equal(self.tree[self.modifiers - 1], self.heads)

    def infer(self, iterations: int) -> tuple[FloatArray, float]:
        return infer(*self._arrays, iterations, self.projective, self.single_root)

    def learn(self, objective: int, iterations: int, temperature: float = 1.0) -> tuple[float, FloatArray, FloatArray]:
        return learn(objective, temperature, *self._arrays, self.gold, iterations, self.projective, self.single_root)

    @property
    def _arrays(self) -> tuple[FloatArray, FloatArray, IntArray, IntArray, IntArray, IntArray, IntArray]:
        return self.scores, self.pair_scores, self.first, self.second, self.heads, self.modifiers, self.starts

    def matrix(self, values: FloatArray, elsewhere: float = 0.0) -> FloatArray:
        """One value per arc as (n + 1, n + 1)."""
        matrix = np.full((len(self.starts), len(self.starts)), elsewhere)
        matrix[self.heads, self.modifiers] = values
        return matrix


def small_sentence(
    seed: int,
    *,
    words: int,
    projective: bool,
    single_root: bool,
    pairs: bool = True,
    scale: float = 1.0,
    pair_scale: float = 1.0,
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
    heads, modifiers, starts = list_arcs(keep)
    first, second, _, _ = list_pairs(heads, modifiers, starts, pairs, pairs, projective)
    return SmallSentence(
        scores=rng.normal(scale=scale, size=len(heads)),
        pair_scores=rng.normal(scale=pair_scale, size=len(first)),
        first=first,
        second=second,
        heads=heads,
        modifiers=modifiers,
        starts=starts,
        tree=tree,
        projective=projective,
        single_root=single_root,
    )


@dataclass(frozen=True)
class LibraryGraph:
    """The same factor graph in the general library: a variable and a unary factor per arc, a table per pair."""

    beliefs: Beliefs
    variables: list[Variable]
    unaries: list[Factor]
    tables: list[Factor]


def library_graph(sentence: SmallSentence, iterations: int) -> LibraryGraph:
    graph = FactorGraph()
    arcs = {(int(h), int(m)): graph.variable() for h, m in zip(sentence.heads, sentence.modifiers, strict=True)}
    variables = list(arcs.values())
    tree = ProjectiveTree if sentence.projective else SpanningTree
    graph.constrain(tree(arcs, single_root=sentence.single_root))
    unaries = [graph.factor([v], [0.0, score]) for v, score in zip(variables, sentence.scores, strict=True)]
    tables = [
        graph.factor([variables[a], variables[b]], [[0.0, 0.0], [0.0, score]])
        for a, b, score in zip(sentence.first, sentence.second, sentence.pair_scores, strict=True)
    ]
    return LibraryGraph(propagate(graph, iterations=iterations), variables, unaries, tables)


def numerical_gradient(function: Callable[[FloatArray], float], at: FloatArray, step: float = 1e-5) -> FloatArray:
    """Central differences."""
    return np.array([(function(at + step * e) - function(at - step * e)) / (2 * step) for e in np.eye(len(at))])


def with_scores(sentence: SmallSentence, scores: FloatArray) -> SmallSentence:
    """Other scores of arcs and, behind them, of pairs."""
    count = len(sentence.scores)
    return replace(sentence, scores=scores[:count], pair_scores=scores[count:])
