"""What an object must offer to be a structured factor."""

from collections.abc import Callable, Sequence
from typing import Protocol, TypeAlias

import numpy as np

from treebp._types import FloatArray
from treebp.bp.variables import Variable

FactorBackprop: TypeAlias = Callable[[FloatArray], tuple[FloatArray, FloatArray]]


class StructuredFactor(Protocol):
    """A factor over many variables that sums over their joint states without listing them.

    `variables` are the factor's neighbours, each at most once. `potentials` are the factor's own
    log-potentials, an array of any shape: gradients come back in that shape, and each run may replace them.
    A hard constraint has none: an array of size 0.

    Example:
        A weight for each state of one variable:

        >>> class Weights:
        ...     def __init__(self, variable, log_weights):
        ...         self.variables, self.potentials = [variable], np.array(log_weights)
        ...
        ...     def messages(self, incoming, potentials):
        ...         return potentials, lambda adjoint: (np.zeros_like(incoming), adjoint)
        >>> from treebp.bp.factor_graph import FactorGraph
        >>> from treebp.bp.propagation import propagate
        >>> graph = FactorGraph()
        >>> tag = graph.variable(states=3)
        >>> _ = graph.constrain(Weights(tag, np.log([1.0, 2.0, 1.0])))
        >>> propagate(graph, iterations=1)[tag].round(3)
        array([0.25, 0.5 , 0.25])

    """

    @property
    def variables(self) -> Sequence[Variable]:
        """The neighbours, in the order of the messages."""
        ...

    @property
    def potentials(self) -> FloatArray:
        """Own log-potentials; size 0 if the factor has none."""
        ...

    def messages(self, incoming: FloatArray, potentials: FloatArray) -> tuple[FloatArray, FactorBackprop]:
        """Sum over all joint states (eq. 5), and return a function that differentiates that sum.

        Args:
            incoming: (sum of states,) normalised log-messages, variable after variable; `-inf` forbids a
                state. If all variables are binary, `incoming.reshape(-1, 2)` has a row for each, OFF then ON.
            potentials: shaped like `self.potentials`; the log-potentials to use in this call.

        Returns:
            outgoing: (sum of states,) for each state of each variable the log of the sum, over all joint
                states that agree with it, of the factor's value times the messages of the *other* variables.
                It is not normalised: `logsumexp(incoming_i + outgoing_i)` is the factor's log-partition at
                every variable i. Where the messages leave no joint state, `-inf` throughout will do.
            backprop: maps dJ/d outgoing, zero where that is `-inf`, to dJ/d incoming and dJ/d potentials, zero
                where those are.

        """
        ...


def score_assignment(
    factor: StructuredFactor, states: Sequence[int], potentials: FloatArray
) -> tuple[float, FloatArray]:
    """Log-value of the factor at one joint state, and its gradient with respect to the potentials.

    Messages that leave each variable one state reduce the sum of eq. (5) to the one term asked for.
    """
    sizes = [variable.states for variable in factor.variables]
    incoming = np.full(sum(sizes), -np.inf)
    incoming[np.cumsum([0, *sizes[:-1]]) + np.asarray(states)] = 0.0
    outgoing, backprop = factor.messages(incoming, potentials)
    value = float(outgoing[states[0]])
    if value == -np.inf:
        return value, np.zeros_like(potentials)
    adjoint = np.zeros_like(outgoing)
    adjoint[states[0]] = 1.0
    return value, backprop(adjoint)[1]
