"""The contract of distributions over structures: every answer equals the one read off a list of all structures.

To put a distribution under the contract, write a `Twin` of it, which draws a small instance, lists its structures and
passes questions on to the library; and add that to `TWINS`.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from functools import cache, partial
from itertools import chain, product

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from brute_force import all_trees, indicators
from treebp.hypergraphs.hypergraph import Derivation, Hypergraph, HypergraphBuilder
from treebp.trees.dependency_trees import DependencyTrees
from treebp.trees.grandparents import GrandparentTrees

Floats = NDArray[np.float64]
Draw = Callable[[st.SearchStrategy], object]


def draw_scores(draw: Draw, shape: tuple[int, ...]) -> Floats:
    """Scores with ties, huge values and removed entries among them."""
    scale = draw(st.sampled_from([0.0, 1.0, 30.0, 1e4]))
    removed = draw(st.sampled_from([0.0, 0.0, 0.1, 0.4]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    scores = rng.uniform(-1, 1, shape)
    if draw(st.booleans()):
        scores = np.round(scores)
    scores *= scale
    scores[rng.random(shape) < removed] = -np.inf
    return scores


class Twin(ABC):
    """All structures of a small distribution, numbered, and the library's own answers about that distribution.

    Attributes:
        counts: (structures, scores) how often each structure uses each score.
        totals: (structures,) their scores.
        log_partition: -inf if no structure is possible.
        p: (structures,) their probabilities.

    """

    def __init__(self, scores: Floats, counts: Floats) -> None:
        self.scores = scores
        self.counts = counts
        # Zero times -inf is no score.
        self.totals = np.array([row[row > 0] @ scores[row > 0] for row in counts])
        self.log_partition = float(np.logaddexp.reduce(self.totals))
        self.p = np.exp(self.totals - max(self.log_partition, np.finfo(float).min))

    @abstractmethod
    def build(self) -> object:
        """Build the distribution and ask it for its log-partition; keep it for the questions below."""

    @abstractmethod
    def marginals(self) -> Floats:
        """(scores,)."""

    @abstractmethod
    def backward(self, adjoint: Floats) -> Floats:
        """(scores,)."""

    @abstractmethod
    def argmax(self) -> int:
        """The number of the best structure."""

    @abstractmethod
    def topk(self, k: int) -> tuple[list[int], Floats]:
        """The numbers of the best structures, and their scores."""

    @abstractmethod
    def sample(self, k: int, rng: np.random.Generator) -> list[int]:
        """The numbers of k structures."""


class TreeTwin(Twin):
    """What both distributions over dependency trees have in common."""

    trees: DependencyTrees | GrandparentTrees

    def __init__(self, heads: NDArray[np.int64], scores: Floats, counts: Floats) -> None:
        super().__init__(scores, counts)
        self.heads = heads
        self.arcs = indicators(heads)
        self._number = {tuple(row): number for number, row in enumerate(heads.tolist())}

    def numbers(self, rows: Iterable[NDArray[np.int64]]) -> list[int]:
        return [self._number[tuple(row.tolist())] for row in rows]

    def argmax(self) -> int:
        return self.numbers([self.trees.argmax()])[0]

    def topk(self, k: int) -> tuple[list[int], Floats]:
        heads, totals = self.trees.topk(k)
        return self.numbers(heads), totals

    def sample(self, k: int, rng: np.random.Generator) -> list[int]:
        return self.numbers(self.trees.sample(k, rng))


class FirstOrder(TreeTwin):
    def __init__(self, draw: Draw, projective: bool, single_root: bool) -> None:
        n = draw(st.integers(1, 5))
        self.options = {"projective": projective, "single_root": single_root}
        self.matrix = draw_scores(draw, (n + 1, n + 1))
        heads = all_trees(n, **self.options)
        super().__init__(heads, self.matrix.ravel(), indicators(heads).reshape(len(heads), -1))

    def build(self) -> object:
        self.trees = DependencyTrees(self.matrix, **self.options)
        return self.trees.log_partition

    def marginals(self) -> Floats:
        return self.trees.marginals.ravel()

    def backward(self, adjoint: Floats) -> Floats:
        return self.trees.backward(adjoint.reshape(self.matrix.shape)).ravel()


class WithGrandparents(TreeTwin):
    def __init__(self, draw: Draw, single_root: bool) -> None:
        n = draw(st.integers(1, 5))
        self.single_root = single_root
        self.matrix, self.cube = (draw_scores(draw, (n + 1,) * axes) for axes in (2, 3))
        heads = all_trees(n, True, single_root)
        pairs = np.zeros((len(heads), *self.cube.shape))
        for number, tree in enumerate(heads.tolist()):
            for modifier, head in enumerate(tree, 1):
                if head:
                    pairs[number, tree[head - 1], head, modifier] = 1
        counts = np.concatenate([indicators(heads).reshape(len(heads), -1), pairs.reshape(len(heads), -1)], axis=1)
        super().__init__(heads, np.concatenate([self.matrix.ravel(), self.cube.ravel()]), counts)

    def build(self) -> object:
        self.trees = GrandparentTrees(self.matrix, self.cube, single_root=self.single_root)
        return self.trees.log_partition

    def marginals(self) -> Floats:
        return np.concatenate([self.trees.marginals.ravel(), self.trees.grandparent_marginals.ravel()])

    def backward(self, adjoint: Floats) -> Floats:
        arcs, pairs = np.split(adjoint, [self.matrix.size])
        gradients = self.trees.backward(arcs.reshape(self.matrix.shape), pairs.reshape(self.cube.shape))
        return np.concatenate([gradient.ravel() for gradient in gradients])


def all_derivations(graph: Hypergraph) -> list[tuple[int, ...]]:
    """The derivations of the root as tuples of edges, in the order in which the library reports edges."""
    into: list[list[tuple[int, list[int]]]] = [[] for _ in range(graph.nodes)]
    for edge in np.argsort(graph.heads, kind="stable").tolist():
        tails = graph.tails[graph.offsets[edge] : graph.offsets[edge + 1]].tolist()
        if all(into[tail] for tail in tails):
            into[graph.heads[edge]].append((edge, tails))

    @cache
    def of_node(node: int) -> list[tuple[int, ...]]:  # of others than the root uses there may be very many
        return [
            (edge, *chain.from_iterable(parts)) for edge, tails in into[node] for parts in product(*map(of_node, tails))
        ]

    return of_node(graph.root)


def edge_counts(graph: Hypergraph) -> Floats:
    """(derivations, edges) how often each derivation uses each edge."""
    return np.array([np.bincount(edges, minlength=graph.edges) for edges in all_derivations(graph)], dtype=float)


@st.composite
def _hypergraphs(draw: st.DrawFn) -> Hypergraph:
    """Axioms, unary to ternary edges, repeated tails, edges in any order, any root that can be derived."""
    nodes = draw(st.integers(2, 5))
    edges: list[tuple[int, tuple[int, ...]]] = [(0, ())]
    for head in range(nodes):
        for _ in range(draw(st.integers(0 if head else 1, 2))):
            tails = st.lists(st.integers(0, head - 1), max_size=3) if head else st.just([])
            edges.append((head, tuple(draw(tails))))
    builder = HypergraphBuilder()
    for _ in range(nodes):
        builder.add_node()
    for head, tails in draw(st.permutations(edges)):
        builder.add_edge(head, tails)
    derivable = {0}
    for head, tails in sorted(edges):
        if derivable.issuperset(tails):
            derivable.add(head)
    return builder.build(root=draw(st.sampled_from(sorted(derivable))))


def _few_derivations(graph: Hypergraph) -> bool:
    return graph.inside_outside(np.ones(graph.edges), "real").inside[graph.root] <= 200


hypergraphs = _hypergraphs().filter(_few_derivations)


class Derivations(Twin):
    def __init__(self, draw: Draw) -> None:
        self.graph: Hypergraph = draw(hypergraphs)
        self._number = {edges: number for number, edges in enumerate(all_derivations(self.graph))}
        super().__init__(draw_scores(draw, (self.graph.edges,)), edge_counts(self.graph))

    def number(self, derivation: Derivation) -> int:
        return self._number[tuple(derivation.edges.tolist())]

    def build(self) -> object:
        self.sums = self.graph.inside_outside(self.scores, "log")
        return self.sums.log_partition

    def marginals(self) -> Floats:
        return self.sums.edge_marginals

    def backward(self, adjoint: Floats) -> Floats:
        return self.sums.backward(edge_adjoint=adjoint).weights

    def argmax(self) -> int:
        return self.number(self.graph.viterbi(self.scores))

    def topk(self, k: int) -> tuple[list[int], Floats]:
        best = self.graph.kbest(self.scores, k)
        return [self.number(derivation) for derivation in best], np.array([derivation.score for derivation in best])

    def sample(self, k: int, rng: np.random.Generator) -> list[int]:
        return [self.number(derivation) for derivation in self.graph.sample(self.scores, k, rng)]


TWINS: dict[str, Callable[[Draw], Twin]] = {
    "projective, one root": partial(FirstOrder, projective=True, single_root=True),
    "projective, any roots": partial(FirstOrder, projective=True, single_root=False),
    "non-projective, one root": partial(FirstOrder, projective=False, single_root=True),
    "non-projective, any roots": partial(FirstOrder, projective=False, single_root=False),
    "grandparents, one root": partial(WithGrandparents, single_root=True),
    "grandparents, any roots": partial(WithGrandparents, single_root=False),
    "hypergraph": Derivations,
}
