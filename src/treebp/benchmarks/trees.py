"""Marginals of batches of trees, and back-propagation through them."""

from collections.abc import Callable, Iterator

import numpy as np

from treebp._types import FloatArray
from treebp.benchmarks.measurement import Measurement, interleaved
from treebp.benchmarks.workload import Workload
from treebp.trees.dependency_trees import DependencyTrees


def tree_marginals(workload: Workload) -> Iterator[Measurement]:
    """Projective and other trees with one root word, random scores of scale 1: CPU ms per batch."""
    sizes = workload.sizes
    rng = np.random.default_rng(0)
    cases: dict[str, Callable[[], object]] = {}
    for words in sizes.lengths:
        scores, adjoint = rng.normal(size=(2, sizes.batch, words + 1, words + 1))
        for projective in (True, False):
            name = f"{'projective' if projective else 'non-projective'}, {sizes.batch} x {words} words"
            cases[f"{name}, marginals"] = _marginals(scores, projective)
            cases[f"{name}, with backward"] = _backward(scores, adjoint, projective)
    for name, seconds in interleaved(cases, sizes.repeats, least=sizes.least).items():
        yield Measurement("trees", name, "ms", tuple(1e3 * value for value in seconds))


def _marginals(scores: FloatArray, projective: bool) -> Callable[[], FloatArray]:
    return lambda: DependencyTrees(scores, projective=projective, single_root=True).marginals


def _backward(scores: FloatArray, adjoint: FloatArray, projective: bool) -> Callable[[], FloatArray]:
    def marginals_and_backward() -> FloatArray:
        trees = DependencyTrees(scores, projective=projective, single_root=True)
        return trees.backward(adjoint * trees.marginals)

    return marginals_and_backward
