"""Grandparents in projective trees without approximation: model 0 of Koo and Collins (2010), sentence by sentence."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from treebp._types import FloatArray, IntArray
from treebp.parsing.arcs import Batch
from treebp.parsing.parts.part import Tuples
from treebp.parsing.scorer import ARC
from treebp.trees.grandparents import GrandparentTrees

GRANDPARENT = "grandparent"


class ExactSentence(NamedTuple):
    """The distribution over one sentence's trees, and where its arcs and pairs are, in the batch and in its arrays."""

    trees: GrandparentTrees
    arcs: slice
    pairs: slice
    where: tuple[IntArray, ...]
    triples: tuple[IntArray, ...]


def grandparent_trees(
    batch: Batch, tuples: Tuples, potentials: Mapping[str, FloatArray], *, single_root: bool
) -> list[ExactSentence]:
    """The distribution of each sentence that has words."""
    found = []
    for number, (arcs, first) in enumerate(zip(batch.arcs, batch.first[:-1].tolist(), strict=True)):
        if not len(arcs.heads):
            continue
        own, pairs = slice(first, first + len(arcs.heads)), slice(*tuples.first[number : number + 2].tolist())
        triples = tuple(tuples.positions[pairs].T)
        size = len(arcs.starts)
        scores = np.zeros((size, size, size))
        scores[triples] = potentials[GRANDPARENT][pairs]
        distribution = GrandparentTrees(arcs.matrix(potentials[ARC][own], -np.inf), scores, single_root=single_root)
        found.append(ExactSentence(distribution, own, pairs, (arcs.heads, arcs.modifiers), triples))
    return found


def exact_marginals(
    sentences: Sequence[ExactSentence],
) -> tuple[dict[str, FloatArray], Callable[[FloatArray], dict[str, FloatArray]]]:
    """The marginals of arcs and pairs, and the function from dJ/d those of arcs to dJ/d potentials."""

    def joined(of_arcs: Sequence[FloatArray], of_pairs: Sequence[FloatArray]) -> dict[str, FloatArray]:
        nothing = np.zeros(0)
        return {ARC: np.concatenate([nothing, *of_arcs]), GRANDPARENT: np.concatenate([nothing, *of_pairs])}

    def backprop(adjoint: FloatArray) -> dict[str, FloatArray]:
        by_arc, by_pair = [], []
        for each in sentences:
            matrix = np.zeros_like(each.trees.marginals)
            matrix[each.where] = adjoint[each.arcs]
            of_arcs, of_grandparents = each.trees.backward(matrix)
            by_arc.append(of_arcs[each.where])
            by_pair.append(of_grandparents[each.triples])
        return joined(by_arc, by_pair)

    found = joined(
        [each.trees.marginals[each.where] for each in sentences],
        [each.trees.grandparent_marginals[each.triples] for each in sentences],
    )
    return found, backprop
