"""Beliefs and gradients keep their digits however strong the scores of pairs of arcs are."""

from itertools import product

import numpy as np
import pytest

from high_precision import Answer, Problem, propagate_slowly
from treebp.bp.graph import Graph
from treebp.bp.groups.all_on import AllOn
from treebp.bp.groups.trees import Trees, refused_trees
from treebp.bp.propagation import propagate

ITERATIONS = 4


def problem(
    words: int, *, projective: bool, single_root: bool, pairs_spread: float, arcs_spread: float = 1.0, seed: int = 1
) -> Problem:
    """Eight heads for each word, its neighbours and the root among them; pairs are grandparents and siblings."""
    rng = np.random.default_rng(seed)
    arcs: list[tuple[int, int]] = []
    for modifier in range(1, words + 1):
        near = [head for head in (modifier - 1, modifier + 1) if 0 < head <= words]
        others = [head for head in range(1, words + 1) if abs(head - modifier) > 1]
        far = rng.choice(others, size=min(len(others), 7 - len(near)), replace=False).tolist()
        arcs += [(head, modifier) for head in sorted({0, *near, *far})]
    pairs = [
        (a, b)
        for (a, (h, m)), (b, (g, s)) in product(enumerate(arcs), repeat=2)
        if (g == m and s != h) or (g == h and a < b and (m > h) == (s > h))
    ]
    heads, modifiers = np.array(arcs).T
    gold = np.zeros(len(arcs))
    for modifier in range(1, words + 1):
        gold[rng.choice(np.flatnonzero(modifiers == modifier))] = 1.0
    return Problem(
        words + 1,
        heads,
        modifiers,
        projective,
        single_root,
        np.array(pairs),
        rng.normal(scale=arcs_spread, size=len(arcs)),
        rng.normal(scale=pairs_spread, size=len(pairs)),
        gold,
    )


def tree_of(given: Problem) -> Trees:
    return Trees(
        [given.size],
        given.heads,
        given.modifiers,
        np.arange(len(given.heads)),
        projective=given.projective,
        single_root=given.single_root,
    )


def propagate_fast(given: Problem) -> Answer:
    graph = Graph(len(given.heads), [AllOn(np.arange(len(given.heads))[:, None]), AllOn(given.pairs), tree_of(given)])
    beliefs = propagate(graph, iterations=ITERATIONS, potentials=[given.arc_scores, given.pair_scores, []])
    on = beliefs.on
    off = np.array([beliefs.states(variable)[0] for variable in range(len(on))])
    of_arcs, of_pairs, _ = beliefs.backward(np.where(given.gold > 0.0, -2.0 * off, 2.0 * on))
    return Answer(on, off, of_arcs, of_pairs)


def check(given: Problem) -> None:
    found, right = propagate_fast(given), propagate_slowly(given, ITERATIONS)
    for one, other in ((found.on, right.on), (found.off, right.off)):
        seen = other > 1e-250
        np.testing.assert_allclose(one[seen], other[seen], rtol=1e-8)
    gradient, expected = (np.concatenate([answer.of_arcs, answer.of_pairs]) for answer in (found, right))
    np.testing.assert_allclose(gradient, expected, rtol=0.0, atol=1e-8 * np.abs(expected).max())


@pytest.mark.parametrize("pairs_spread", [3.0, 6.0, 12.0, 20.0, 30.0])
@pytest.mark.parametrize("single_root", [False, True])
@pytest.mark.parametrize("projective", [False, True])
def test_twelve_words(projective, single_root, pairs_spread):
    check(problem(12, projective=projective, single_root=single_root, pairs_spread=pairs_spread))


@pytest.mark.parametrize(
    ("projective", "single_root", "pairs_spread"),
    [(False, False, 6.0), (False, True, 30.0), (False, True, 12.0), (True, True, 3.0), (True, False, 20.0)],
)
def test_twenty_five_words(projective, single_root, pairs_spread):
    check(problem(25, projective=projective, single_root=single_root, pairs_spread=pairs_spread))


@pytest.mark.parametrize("projective", [False, True])
@pytest.mark.parametrize("words", [12, 25, 60])
def test_ordinary_scores_are_not_left_to_logarithms(words, projective):
    """Arcs of standard deviation 3, pairs of 1: a parser that has made up its mind."""
    for seed in range(10):
        given = problem(words, projective=projective, single_root=True, pairs_spread=1.0, arcs_spread=3.0, seed=seed)
        tree = tree_of(given)
        fields, pairs = AllOn(np.arange(len(given.heads))[:, None]), AllOn(given.pairs)
        for iterations in (1, 4):
            graph = Graph(len(given.heads), [fields, pairs, tree])
            beliefs = propagate(
                graph, iterations=iterations, potentials=[given.arc_scores, given.pair_scores, []], gradient=False
            )
            assert not refused_trees(tree, beliefs._outcome.incoming()[2]).any()
