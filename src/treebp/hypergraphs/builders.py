"""Hypergraphs of well-known dynamic programs: trees, charts, chains and alignments."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from treebp._checks import float_array, integer_array, whole_number
from treebp._types import FloatArray, IntArray
from treebp.hypergraphs._charts import EdgeGroups, Spans, beyond, splits
from treebp.hypergraphs.hypergraph import Hypergraph


class TiedHypergraph(NamedTuple):
    """A hypergraph whose edges take their weights from a score array."""

    hypergraph: Hypergraph
    tie: IntArray  # (edges,) flat index into the score array, or -1 for an edge of weight one

    def log_weights(self, scores: ArrayLike) -> FloatArray:
        """Look up each edge's log-weight in the score array."""
        flat = float_array(scores, "scores").ravel()
        return np.where(self.tie >= 0, flat[self.tie], 0.0)

    def collect(self, per_edge: FloatArray, shape: tuple[int, ...]) -> FloatArray:
        """Add up a quantity of edges (marginals, adjoints) over those tied to one score, into `shape`."""
        tied = self.tie >= 0
        total = np.zeros(shape)
        np.add.at(total.ravel(), self.tie[tied], per_edge[tied])
        return total


class ConstituencyChart(NamedTuple):
    """A chart for binary trees: a `TiedHypergraph` that also knows each edge's rule."""

    hypergraph: Hypergraph
    tie: IntArray  # (edges,) flat index of the head's [start, end, symbol] in an (n, n + 1, symbols) array
    rule: IntArray  # (edges,) row of the rule, or -1 for a word


def eisner(n: int, *, single_root: bool) -> TiedHypergraph:
    """Projective dependency trees over n words (Eisner 1996), O(n^3) edges, one derivation per tree.

    Edges that add an arc are tied to `scores[head, modifier]` of shape (n + 1, n + 1), where 0 is the root.

    Args:
        n: number of words, at least one.
        single_root: whether exactly one word hangs from the root; otherwise at least one does.

    Example:
        >>> graph, tie = eisner(3, single_root=True)
        >>> graph.inside_outside(np.ones(graph.edges), arithmetic="real").inside[graph.root].item()
        7.0

    """
    whole_number(n, "n", 1)
    size = n + 1
    joined, to_right, to_left, right, left = range(5)
    node = Spans(size, kinds=5)
    edges = EdgeGroups()
    position = np.arange(size)
    edges.add(node(right, position, position))
    edges.add(node(left, position, position))
    i, j = np.triu_indices(size, 1)
    edges.add(node(to_right, i, j), node(joined, i, j), tie=i * size + j)
    i, j = i[i > 0], j[i > 0]
    edges.add(node(to_left, i, j), node(joined, i, j), tie=j * size + i)
    i, k, j = splits(size)
    # With a single root the root's arcs start from nothing and end with the whole sentence.
    start, end = (i > 0) | (not single_root) | (k == 0), (i > 0) | (not single_root) | (j == n)
    edges.add(node(joined, i, j)[start], node(right, i, k)[start], node(left, k + 1, j)[start])
    edges.add(node(right, i, j)[end], node(to_right, i, k + 1)[end], node(right, k + 1, j)[end])
    inner = i > 0
    edges.add(node(left, i, j)[inner], node(to_left, k, j)[inner], node(left, i, k)[inner])
    return TiedHypergraph(*edges.build(node.count, root=int(node(right, 0, n))))


def grandparent_model0(n: int, *, single_root: bool) -> TiedHypergraph:
    """Projective dependency trees whose half-trees know their grandparent (Koo and Collins 2010, model 0).

    O(n^4) edges, one derivation per tree. Edges that add an arc are tied to `scores[grandparent, head,
    modifier]` of shape (n + 1, n + 1, n + 1); those from the root, which has no head, to `scores[0, 0,
    modifier]`.

    Args:
        n: number of words, at least one.
        single_root: whether exactly one word hangs from the root; otherwise at least one does.

    Example:
        >>> graph, tie = grandparent_model0(3, single_root=False)
        >>> graph.inside_outside(np.ones(graph.edges), arithmetic="real").inside[graph.root].item()
        12.0

    """
    whole_number(n, "n", 1)
    size = n + 1
    spans = Spans(n, kinds=4 * size)
    to_right, to_left, right, left = (kind * size for kind in range(4))

    def node(kind: int, i: IntArray, j: IntArray, grandparent: IntArray) -> IntArray:
        # Half-trees are over words, which count from one.
        return spans(kind + grandparent, i - 1, j - 1)

    edges = EdgeGroups()
    grandparent, word = np.indices((size, size)).reshape(2, -1)
    distinct = (word > 0) & (word != grandparent)
    grandparent, word = grandparent[distinct], word[distinct]
    edges.add(node(right, word, word, grandparent))
    edges.add(node(left, word, word, grandparent))
    i, k, j = splits(n) + 1
    row, g = np.nonzero(beyond(i, j, size))
    i, k, j = i[row], k[row], j[row]
    edges.add(node(to_right, i, j, g), node(right, i, k, g), node(left, k + 1, j, i), tie=(g * size + i) * size + j)
    edges.add(node(to_left, i, j, g), node(left, k + 1, j, g), node(right, i, k, j), tie=(g * size + j) * size + i)
    edges.add(node(right, i, j, g), node(to_right, i, k + 1, g), node(right, k + 1, j, i))
    edges.add(node(left, i, j, g), node(to_left, k, j, g), node(left, i, k, j))
    # The root's own half-trees: `below[m]` ends with the arc to m, `whole[j]` reaches word j.
    whole = spans.count + 2 * np.arange(size)
    below = whole - 1
    edges.add(whole[:1])
    k, j = np.triu_indices(size, 1)
    # With a single root the root's arcs start from nothing and end with the whole sentence.
    start, end = (k == 0) | (not single_root), (j == n) | (not single_root)
    edges.add(below[j][start], whole[k][start], node(left, k + 1, j, 0 * k)[start], tie=j[start])
    edges.add(whole[j][end], below[k + 1][end], node(right, k + 1, j, 0 * k)[end])
    return TiedHypergraph(*edges.build(spans.count + 2 * size - 1))


def cnf_chart(n: int, rules: ArrayLike, *, symbols: int, start: int = 0) -> ConstituencyChart:
    """Binary constituency trees over n words, with a grammar in Chomsky normal form.

    Each word may have any symbol; a longer span has the symbol A where a rule (A, B, C) joins a B and a C.
    Each edge is tied to its head's span in an array of shape (n, n + 1, symbols), start and end being
    positions between words.

    Args:
        n: number of words, at least one.
        rules: (rules, 3) the symbols parent, left child, right child.
        symbols: number of symbols, preterminals included.
        start: the symbol of the whole sentence.

    Example:
        >>> chart = cnf_chart(4, [(0, 0, 0)], symbols=1)
        >>> chart.hypergraph.inside_outside(np.ones(chart.hypergraph.edges), arithmetic="real").log_partition
        1.6094379124341003

    """
    whole_number(n, "n", 1)
    whole_number(symbols, "symbols", 1)
    grammar = integer_array(rules, "rules").reshape(-1, 3)
    unknown = ((grammar < 0) | (grammar >= symbols)).any(axis=1)
    if unknown.any():
        first = int(np.argmax(unknown))
        raise ValueError(f"rule {first} {grammar[first].tolist()} uses a symbol that is not among the {symbols}")
    if not 0 <= start < symbols:
        raise ValueError(f"the start symbol {start} is not among the {symbols}")
    node = Spans(n, kinds=symbols)
    edges = EdgeGroups()
    word, symbol = np.indices((n, symbols)).reshape(2, -1)
    # Tie and rule travel as one number; no rule is the last of them.
    numbers = len(grammar) + 1
    tie = (word * (n + 1) + word + 1) * symbols + symbol
    edges.add(node(symbol, word, word), tie=tie * numbers + numbers - 1)
    i, k, j = splits(n)
    row, rule = np.indices((len(i), len(grammar))).reshape(2, -1)
    i, k, j = i[row], k[row], j[row]
    parent, left, right = grammar[rule].T
    tie = (i * (n + 1) + j + 1) * symbols + parent
    edges.add(node(parent, i, j), node(left, i, k), node(right, k + 1, j), tie=tie * numbers + rule)
    graph, packed = edges.build(node.count, root=int(node(start, 0, n - 1)))
    tie, rule = np.divmod(packed, numbers)
    return ConstituencyChart(graph, tie, np.where(rule == len(grammar), -1, rule))


def hmm_trellis(length: int, states: int) -> TiedHypergraph:
    """Paths of `length` positions with `states` states each.

    State s at position t is node `t * states + s`, and the goal is one more. Edges are tied to
    `scores[position, previous state, state]` of shape (length, states, states); the first position has no
    previous state and uses `scores[0, 0, state]`.

    Example:
        >>> graph, tie = hmm_trellis(length=3, states=2)
        >>> graph.inside_outside(np.ones(graph.edges), arithmetic="real").inside[graph.root].item()
        8.0

    """
    whole_number(length, "length", 1)
    whole_number(states, "states", 1)
    edges = EdgeGroups()
    first = np.arange(states)
    edges.add(first, tie=first)
    t, previous, state = np.indices((length - 1, states, states)).reshape(3, -1)
    tie = ((t + 1) * states + previous) * states + state
    edges.add((t + 1) * states + state, t * states + previous, tie=tie)
    goal = length * states
    edges.add(np.full(states, goal), goal - states + first)
    return TiedHypergraph(*edges.build(goal + 1))


def itg(source_length: int, target_length: int) -> TiedHypergraph:
    """Alignments of two sentences by an inversion transduction grammar (Wu 1997), each derived once.

    Each word is linked to at most one of the other sentence, and the links, as a permutation, come apart into
    straight and inverted halves. Edges are tied to `scores[source, target]` of shape (source_length + 1,
    target_length + 1), words counted from one: `scores[i, 0]` and `scores[0, k]` are those of words without a
    link (-inf forbids them).

    The normal form: a block is a link and the unlinked words that follow its two ends; the left half of a
    straight block is not straight, that of an inverted block not inverted; unlinked words at the very
    beginning hang from the root. O(source_length^3 target_length^3) edges.

    Example:
        >>> graph, tie = itg(2, 2)
        >>> graph.inside_outside(np.ones(graph.edges), arithmetic="real").inside[graph.root].item()
        7.0

    """
    whole_number(source_length, "source_length", 1)
    whole_number(target_length, "target_length", 1)
    n, m = source_length, target_length
    link, straight, inverted, block = range(4)
    # Source spans a..b and target spans c..d between positions, short ones first, four kinds of node for
    # each.
    source, target = np.stack(np.triu_indices(n + 1, 1)), np.stack(np.triu_indices(m + 1, 1))
    row, column = np.indices((source.shape[1], target.shape[1])).reshape(2, -1)
    a, b, c, d = np.concatenate((source[:, row], target[:, column]))
    number = np.zeros((n + 1, n + 1, m + 1, m + 1), np.int64)
    number[a, b, c, d] = np.argsort(np.argsort(b - a + d - c, kind="stable"))
    source_start, target_start = np.arange(n + 1), n + 1 + np.arange(m + 1)  # unlinked beginnings up to there
    starts = n + m + 2

    def node(kind: int, a: IntArray, b: IntArray, c: IntArray, d: IntArray) -> IntArray:
        return np.asarray(starts + 4 * number[a, b, c, d] + kind)

    goal = starts + 4 * len(a)
    edges = EdgeGroups()
    edges.add(source_start[:1])
    edges.add(target_start[:1])
    edges.add(source_start[1:], source_start[:-1], tie=np.arange(1, n + 1) * (m + 1))
    edges.add(target_start[1:], target_start[:-1], tie=np.arange(1, m + 1))
    tie = np.where(d > c + 1, d, np.where(b > a + 1, b * (m + 1), b * (m + 1) + d))
    new = (b == a + 1) & (d == c + 1)
    edges.add(node(link, a, b, c, d)[new], tie=tie[new])
    # The unlinked words after a link come in one order, the source's first.
    before = node(link, a, b - (d == c + 1), c, d - (d > c + 1))
    edges.add(node(link, a, b, c, d)[~new], before[~new], tie=tie[~new])
    for kind in (link, straight, inverted):
        edges.add(node(block, a, b, c, d), node(kind, a, b, c, d))
    whole = (b == n) & (d == m)
    edges.add(
        np.full(whole.sum(), goal),
        source_start[a[whole]],
        target_start[c[whole]],
        node(block, a, b, c, d)[whole],
    )
    edges.add(np.array([goal]), source_start[-1:], target_start[-1:])
    source, target = splits(n), splits(m)
    row, column = np.indices((source.shape[1], target.shape[1])).reshape(2, -1)
    a, p, b = source[:, row] + np.array([[0], [1], [1]])
    c, q, d = target[:, column] + np.array([[0], [1], [1]])
    for kind in (link, inverted):
        edges.add(node(straight, a, b, c, d), node(kind, a, p, c, q), node(block, p, b, q, d))
    for kind in (link, straight):
        edges.add(node(inverted, a, b, c, d), node(kind, a, p, q, d), node(block, p, b, c, q))
    return TiedHypergraph(*edges.build(goal + 1))
