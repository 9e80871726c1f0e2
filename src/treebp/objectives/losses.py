"""What to train for: module (E) of the paper's circuit.

Each objective returns its value and its gradient with respect to the first argument. Those of dependency trees take
arc probabilities as an (n + 1, n + 1) array, `marginals[head, modifier]` with 0 for the root, and the correct heads
as an (n,) array of integers; `arc_marginals` makes the former from beliefs.
"""

from collections.abc import Callable, Mapping
from typing import Protocol, overload

import numpy as np
from numpy.typing import ArrayLike

from treebp._checks import float_array
from treebp._types import BoolArray, FloatArray, IntArray
from treebp.bp.beliefs import Beliefs
from treebp.bp.factor_handle import Factor
from treebp.bp.factors.protocol import score_assignment
from treebp.bp.factors.trees import checked_arcs
from treebp.bp.variables import Variable
from treebp.trees.dependency_trees import DependencyTrees


class Marginals(Protocol):
    """Anything that knows the distribution of a variable: Beliefs, Enumeration, a dictionary."""

    def __getitem__(self, variable: Variable, /) -> FloatArray:
        """A (states,) array that sums to one."""
        ...


def arc_marginals(
    beliefs: Marginals, arcs: Mapping[tuple[int, int], Variable]
) -> tuple[FloatArray, Callable[[FloatArray], dict[Variable, FloatArray]]]:
    """Arc probabilities b(ON) as a square array, zero for arcs without a variable.

    Returns:
        marginals: (n + 1, n + 1), head and modifier.
        backprop: turns an objective's gradient into the argument of `Beliefs.backward`.

    Raises:
        ValueError: an arc that cannot be in a tree, or whose variable is not binary.

    Example:
        >>> first, second = Variable("0->1", 2), Variable("1->2", 2)
        >>> beliefs = {first: np.array([0.0, 1.0]), second: np.array([0.25, 0.75])}
        >>> marginals, to_beliefs = arc_marginals(beliefs, {(0, 1): first, (1, 2): second})
        >>> marginals
        array([[0.  , 1.  , 0.  ],
               [0.  , 0.  , 0.75],
               [0.  , 0.  , 0.  ]])

    """
    n = checked_arcs(arcs, "arc_marginals")
    marginals = np.zeros((n + 1, n + 1))
    for arc, variable in arcs.items():
        marginals[arc] = beliefs[variable][1]

    def backprop(adjoint: FloatArray) -> dict[Variable, FloatArray]:
        return {variable: np.array([0.0, adjoint[arc]]) for arc, variable in arcs.items()}

    return marginals, backprop


@overload
def l2_distance(marginals: FloatArray, gold: ArrayLike) -> tuple[float, FloatArray]: ...
@overload
def l2_distance(marginals: Marginals, gold: Mapping[Variable, int]) -> tuple[float, dict[Variable, FloatArray]]: ...
def l2_distance(
    marginals: FloatArray | Marginals, gold: ArrayLike | Mapping[Variable, int]
) -> tuple[float, FloatArray | dict[Variable, FloatArray]]:
    """Squared distance between beliefs and truth, eq. (11); every state of a variable counts, ON and OFF alike.

    Args:
        marginals: beliefs about variables, or an array of arc probabilities.
        gold: {variable: correct state}, for the variables that count; with arc probabilities, the correct heads.

    Returns:
        The distance, and its gradient: what `Beliefs.backward` takes, or an array like `marginals`.

    Example:
        >>> rain = Variable("rain", 2)
        >>> value, gradient = l2_distance({rain: np.array([0.25, 0.75])}, {rain: 1})
        >>> value, gradient[rain]
        (0.125, array([ 0.5, -0.5]))
        >>> l2_distance(np.array([[0.0, 0.75, 0.25], [0.0, 0.0, 0.75], [0.0, 0.25, 0.0]]), [0, 1])[0]
        0.5

    """
    if isinstance(marginals, np.ndarray) or not isinstance(gold, Mapping):
        arcs = _arc_probabilities(np.asarray(marginals))
        difference = np.where(_is_arc(len(arcs)), arcs - expected_recall(arcs, np.asarray(gold))[1], 0.0)
        return 2.0 * float(np.sum(difference**2)), 4.0 * difference
    value = 0.0
    gradient = {}
    for variable, state in gold.items():
        difference = marginals[variable].copy()
        difference[_state(variable, state)] -= 1.0
        value += float(difference @ difference)
        gradient[variable] = 2.0 * difference
    return value, gradient


def expected_recall(marginals: FloatArray, heads: ArrayLike) -> tuple[float, FloatArray]:
    """Expected number of words with the correct head.

    >>> expected_recall(np.array([[0.0, 0.75, 0.25], [0.0, 0.0, 0.75], [0.0, 0.25, 0.0]]), [0, 1])[0]
    1.5
    """
    arcs = _arc_probabilities(marginals)
    gradient = np.zeros_like(arcs)
    gradient[_checked_heads(heads, len(arcs) - 1), np.arange(1, len(arcs))] = 1.0
    return float((gradient * arcs).sum()), gradient


def annealed_risk(
    marginals: FloatArray, heads: ArrayLike, *, temperature: float, projective: bool, single_root: bool
) -> tuple[float, FloatArray]:
    """Expected number of words with a wrong head when the decoder is random, eq. (9) and (10).

    The decoder draws trees with log-weights `marginals / temperature`; towards zero this becomes the loss of
    `mbr_decode`. The paper's negated expected recall is this less the number of words.

    >>> marginals = np.array([[0.0, 0.75, 0.25], [0.0, 0.0, 0.75], [0.0, 0.25, 0.0]])
    >>> value, gradient = annealed_risk(marginals, [0, 1], temperature=0.1, projective=True, single_root=True)
    >>> round(value, 5)
    9e-05
    """
    if not 0.0 < temperature < np.inf:
        raise ValueError(f"temperature = {temperature}: a positive number expected")
    with np.errstate(over="ignore"):  # the decoder refuses a score of inf, and names its arc
        scores = _arc_probabilities(marginals) / temperature
    decoder = DependencyTrees(scores, projective=projective, single_root=single_root)
    recall, adjoint = expected_recall(decoder.marginals, heads)
    return len(scores) - 1 - recall, -decoder.backward(adjoint) / temperature


def log_likelihood(beliefs: Beliefs, gold: Mapping[Variable, int]) -> tuple[float, dict[Factor, FloatArray]]:
    """Log-probability of a joint state of all variables; its gradient with respect to all log-potentials.

    With exact beliefs this is the conditional log-likelihood. With approximate ones it is the surrogate that
    takes the Bethe approximation for the log-partition and the factors' beliefs for its gradient.
    ValueError if `gold` leaves out a variable or is a state that a factor forbids.

    >>> from treebp.bp.factor_graph import FactorGraph
    >>> from treebp.bp.propagation import propagate
    >>> graph = FactorGraph()
    >>> rain = graph.variable()
    >>> prior = graph.factor([rain], np.log([0.25, 0.75]))
    >>> value, gradient = log_likelihood(propagate(graph, iterations=1), {rain: 1})
    >>> round(value, 3), gradient[prior].round(3)
    (-0.288, array([-0.25,  0.25]))
    """
    for variable in beliefs.graph.variables:
        if variable not in gold:
            raise ValueError(f"variable {variable.name}: no state given")
    value = -beliefs.log_partition
    gradient = {}
    for factor in beliefs.graph.factors:
        states = tuple(_state(variable, gold[variable]) for variable in factor.variables)
        potentials = beliefs.potentials(factor)
        if factor.structured is None:
            score, observed = float(potentials[states]), np.zeros_like(potentials)
            observed[states] = 1.0
        else:
            score, observed = score_assignment(factor.structured, states, potentials)
        if score == -np.inf:
            raise ValueError(f"{factor.name}: forbids the joint state {states}, of which the likelihood was asked")
        value += score
        gradient[factor] = observed - beliefs.expectations(factor)
    return value, gradient


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
    arcs, numbers = _arc_probabilities(marginals), np.finfo(np.float64)
    odds = np.log(np.maximum(arcs, numbers.tiny)) - np.log(np.maximum(1.0 - arcs, numbers.epsneg))
    return mbr_decode(odds, projective=projective, single_root=single_root)


def _state(variable: Variable, state: int) -> int:
    if state not in range(variable.states):
        raise ValueError(f"variable {variable.name}: no state {state} among its {variable.states}")
    return int(state)


def _arc_probabilities(marginals: ArrayLike) -> FloatArray:
    arcs = float_array(marginals, "marginals")
    if arcs.ndim != 2 or arcs.shape[0] != arcs.shape[1] or len(arcs) < 2:
        raise ValueError(f"marginals of shape {arcs.shape}, expected (n + 1, n + 1) for n >= 1 words")
    for head, modifier in np.argwhere(_is_arc(len(arcs)) & ~np.isfinite(arcs))[:1]:
        raise ValueError(f"the probability of arc {head} -> {modifier} is {arcs[head, modifier]}")
    return arcs


def _checked_heads(heads: ArrayLike, n: int) -> IntArray:
    gold = np.asarray(heads)
    if gold.shape != (n,) or not np.isin(gold, np.arange(n + 1)).all() or np.any(gold == np.arange(1, n + 1)):
        raise ValueError(f"heads {gold.tolist()}: a head from 0 to {n}, not the word itself, for each of {n} words")
    return gold.astype(np.int64)


def _is_arc(size: int) -> BoolArray:
    """Whether each (head, modifier) is an arc: not into the root, nor from a word to itself."""
    return ~np.eye(size, dtype=np.bool_) & (np.arange(size) > 0)
