"""Small graphs with log-potentials that are tensors."""

import numpy as np
import torch

import treebp as tb


def second_order(words=4, seed=0, projective=True, single_root=False):
    """A tree, a field for each arc, and pairs and triples of arcs."""
    rng = np.random.default_rng(seed)
    arcs = [(h, m) for m in range(1, words + 1) for h in range(words + 1) if h != m]
    heads, modifiers = zip(*arcs, strict=True)
    trees = tb.Trees([words + 1], heads, modifiers, range(len(arcs)), projective=projective, single_root=single_root)
    pairs = np.array([rng.choice(len(arcs), 2, replace=False) for _ in range(12)])
    triples = np.array([rng.choice(len(arcs), 3, replace=False) for _ in range(5)])
    graph = tb.Graph(len(arcs), [tb.AllOn(np.arange(len(arcs))[:, None]), tb.AllOn(pairs), tb.AllOn(triples), trees])
    return graph, [torch.from_numpy(rng.normal(size=group.potentials)) for group in graph.groups]


def mixed():
    """Variables of two and of three states, tables and a chain."""
    rng = np.random.default_rng(1)
    chain = tb.Chains([0, 1, 2], [3], states=3)
    groups = [tb.Tables([[0], [1], [2]], (3,)), chain, tb.Tables([[0, 3], [2, 3]], (3, 2)), tb.Tables([[3]], (2,))]
    graph = tb.Graph([3, 3, 3, 2], groups)
    return graph, [torch.from_numpy(rng.normal(size=group.potentials)) for group in graph.groups]
