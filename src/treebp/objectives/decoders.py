"""How to pick a tree: the last step of the paper's circuit."""

import numpy as np

from treebp._types import FloatArray, IntArray
from treebp.objectives.losses import arc_probabilities
from treebp.trees.dependency_trees import DependencyTrees


def mbr_decode(marginals: FloatArray, *, projective: bool, single_root: bool) -> IntArray:
    """The tree with the largest expected number of correct heads, eq. (3).

    Returns:
        (n,) the head of each word, 0 for the root.

    Example:
        >>> mbr_decode(np.array([[0, 0.6, 0.3], [0, 0, 0.7], [0, 0.4, 0]]), projective=True, single_root=True)
        array([0, 1])

    """
    return np.asarray(DependencyTrees(marginals, projective=projective, single_root=single_root).argmax())


def log_odds_decode(marginals: FloatArray, *, projective: bool, single_root: bool) -> IntArray:
    """The tree with the largest sum of log-odds `log(p / (1 - p))`: the paper's footnote 3, not MBR.

    Probabilities of 0 and 1 count as the closest numbers to them that floating point can tell apart.

    Example:
        >>> marginals = np.array([[0, 0.6, 0.3], [0, 0, 0.7], [0, 0.4, 0]])
        >>> log_odds_decode(marginals, projective=True, single_root=True)
        array([0, 1])

    """
    odds = log_odds(arc_probabilities(marginals))
    return mbr_decode(odds, projective=projective, single_root=single_root)


def log_odds(beliefs: FloatArray) -> FloatArray:
    """log p / (1 - p), finite for certain arcs.

    >>> log_odds(np.array([0.5, 0.75])).round(3)
    array([0.   , 1.099])
    """
    numbers = np.finfo(np.float64)
    return np.asarray(np.log(np.maximum(beliefs, numbers.tiny)) - np.log(np.maximum(1.0 - beliefs, numbers.epsneg)))
