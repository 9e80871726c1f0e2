"""What to train for: module (E) of the paper's circuit.

Each objective returns its value and its gradient with respect to the first argument. Those of dependency trees take
arc probabilities as an (n + 1, n + 1) array, `marginals[head, modifier]` with 0 for the root, and the correct heads
as an (n,) array of integers; `arc_marginals` makes the former from beliefs.
"""

from collections.abc import Callable, Mapping
from typing import Protocol, TypeVar, overload

import numpy as np
from numpy.typing import ArrayLike

from treebp._checks import float_array
from treebp._types import AnyArray, BoolArray, FloatArray, IntArray
from treebp.bp.beliefs import Beliefs
from treebp.bp.factor_handle import Factor
from treebp.bp.factors.protocol import score_assignment
from treebp.bp.factors.trees import checked_arcs
from treebp.bp.groups.trees import Trees
from treebp.bp.variables import Variable

Key = TypeVar("Key")
_SMALLEST = 1e-9  # belief whose logarithm is taken


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
        arcs = arc_probabilities(np.asarray(marginals))
        right = expected_recall(arcs, np.asarray(gold))[1]
        value, gradient = l2_of_arcs(np.where(_is_arc(len(arcs)), arcs, 0.0).ravel(), right.ravel() > 0.0)
        return value, gradient.reshape(arcs.shape)
    total = 0.0
    gradients = {}
    for variable, state in gold.items():
        difference = marginals[variable].copy()
        difference[_state(variable, state)] -= 1.0
        total += float(difference @ difference)
        gradients[variable] = 2.0 * difference
    return total, gradients


def l2_of_arcs(beliefs: FloatArray, gold: BoolArray) -> tuple[float, FloatArray]:
    """The same for binary variables, of which only the beliefs in ON are given, and which of them are right.

    >>> l2_of_arcs(np.array([0.75, 0.25]), np.array([True, False]))
    (0.25, array([-1.,  1.]))
    """
    error = beliefs - gold
    return 2.0 * float(error @ error), 4.0 * error


def log_loss_of_arcs(beliefs: FloatArray, gold: BoolArray) -> tuple[float, FloatArray]:
    """The negative sum of the logarithms of the beliefs in those that are right, given as for `l2_of_arcs`.

    >>> log_loss_of_arcs(np.array([0.5, 0.25]), np.array([True, False]))
    (0.6931471805599453, array([-2.,  0.]))
    """
    right = np.flatnonzero(gold)
    likely = np.maximum(beliefs[right], _SMALLEST)
    adjoint = np.zeros_like(beliefs)
    adjoint[right] = -1.0 / likely
    return -float(np.log(likely).sum()), adjoint


def expected_recall(marginals: FloatArray, heads: ArrayLike) -> tuple[float, FloatArray]:
    """Expected number of words with the correct head.

    >>> expected_recall(np.array([[0.0, 0.75, 0.25], [0.0, 0.0, 0.75], [0.0, 0.25, 0.0]]), [0, 1])[0]
    1.5
    """
    arcs = arc_probabilities(marginals)
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
    arcs = arc_probabilities(marginals)
    gold = expected_recall(arcs, heads)[1] > 0.0
    modifiers, above = np.nonzero(_is_arc(len(arcs)).T)  # sorted by modifier
    trees = Trees([len(arcs)], above, modifiers, range(len(above)), projective=projective, single_root=single_root)
    value, adjoint = annealed_risk_of_arcs(arcs[above, modifiers], gold[above, modifiers], trees, temperature)
    gradient = np.zeros_like(arcs)
    gradient[above, modifiers] = adjoint
    return value, gradient


def annealed_risk_of_arcs(
    beliefs: FloatArray, gold: BoolArray, trees: Trees, temperature: float
) -> tuple[float, FloatArray]:
    """The same for the candidate arcs of many trees: beliefs (arcs,), and which of them are right.

    Words none of whose candidates is right are wrong whatever the decoder does.

    >>> trees = Trees([2, 2], [0, 0], [1, 1], [0, 1], projective=True, single_root=True)
    >>> annealed_risk_of_arcs(np.array([0.5, 0.5]), np.array([True, False]), trees, temperature=1.0)[0]
    1.0
    """
    with np.errstate(over="ignore"):
        scores = beliefs / temperature
    if not np.isfinite(scores).all():
        raise ValueError(f"temperature = {temperature}: too small for these beliefs")
    marginals, _, backprop = trees.marginals(scores)
    words = int(trees.arcs.sizes.sum()) - len(trees.arcs.sizes)
    adjoint = backprop(-gold.astype(np.float64)) / temperature
    return words - float(marginals[gold].sum()), adjoint


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
    state_of = {variable: _state(variable, gold[variable]) for variable in beliefs.graph.variables}
    score, observed = 0.0, {}
    for factor in beliefs.graph.factors:
        states = tuple(state_of[variable] for variable in factor.variables)
        potentials = beliefs.potentials(factor)
        if factor.structured is None:
            own, observed[factor] = float(potentials[states]), np.zeros_like(potentials)
            observed[factor][states] = 1.0
        else:
            own, observed[factor] = score_assignment(factor.structured, states, potentials)
        if own == -np.inf:
            raise ValueError(f"{factor.name}: forbids the joint state {states}, of which the likelihood was asked")
        score += own
    expected = {factor: beliefs.expectations(factor) for factor in observed}
    cost, adjoints = cost_of_score(score, beliefs.log_partition, observed, expected)
    return -cost, {factor: -adjoint for factor, adjoint in adjoints.items()}


def cost_of_score(
    score: float, log_partition: float, observed: Mapping[Key, AnyArray], expected: Mapping[Key, FloatArray]
) -> tuple[float, dict[Key, FloatArray]]:
    """Negative log-likelihood of what has this score, and its gradient by the log-potentials.

    `observed` says how often each log-potential counts in it, `expected` how often it is expected to.

    >>> cost_of_score(1.0, 3.0, {"tag": np.array([1, 0])}, {"tag": np.array([0.25, 0.75])})
    (2.0, {'tag': array([-0.75,  0.75])})
    """
    return log_partition - score, {key: expected[key] - observed[key] for key in observed}


def _state(variable: Variable, state: int) -> int:
    if state not in range(variable.states):
        raise ValueError(f"variable {variable.name}: no state {state} among its {variable.states}")
    return int(state)


def arc_probabilities(marginals: ArrayLike) -> FloatArray:
    """Own copy of arc probabilities; ValueError unless they are square and finite."""
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
