"""Groups whose factors answer messages in rows, where variables have different numbers of states."""

from collections.abc import Callable

import numpy as np

from treebp._types import AnyArray, FloatArray, IntArray
from treebp.bp.groups.odds import adjoint_of_odds, log_probabilities
from treebp.bp.groups.protocol import GroupBackprop, Sums
from treebp.bp.groups.rows import RowBackprop


class RaggedSender:
    """As `RowSender`, with the rows of log-weights of all edges laid end to end.

    Args:
        states: (edges,) of the variable of each edge.
        answer: maps incoming rows (sum of states,) to outgoing ones, not normalised, and their backward pass.
        first: (factors,) the first edge of each factor.
        potentials: how many log-potentials there are.

    """

    in_ratios = False
    strongest = np.inf
    constant = False

    def __init__(
        self,
        states: IntArray,
        answer: Callable[[FloatArray], tuple[FloatArray, RowBackprop]],
        first: IntArray,
        potentials: int,
    ) -> None:
        self._states, self._answer, self._first, self._potentials = states, answer, first, potentials
        self._begin = np.concatenate(([0], np.cumsum(states)))
        widths = np.where(states == 2, 1, states)
        binary = np.repeat(states == 2, states)
        self._off = self._begin[:-1][states == 2]  # where the rows of binary variables begin
        self._odds = (np.cumsum(widths) - widths)[states == 2]  # and where their messages are
        self._many = np.flatnonzero(~binary)  # everything else has a message for each state
        self._of_many = np.flatnonzero(np.repeat(states != 2, widths))

    def send(self, incoming: FloatArray, outgoing: FloatArray, gradient: bool) -> GroupBackprop:
        """Write log-odds, or normalised log-probabilities."""
        rows, row_backprop = self._answer(self._rows(incoming))
        with np.errstate(invalid="ignore"):
            outgoing[self._odds] = rows[self._off + 1] - rows[self._off]
            outgoing[self._of_many] = (rows - self._per_state(np.logaddexp.reduceat(rows, self._begin[:-1])))[
                self._many
            ]

        def backprop(adjoint: FloatArray, of_potentials: FloatArray) -> FloatArray:
            of_rows = np.empty_like(rows)
            of_rows[self._many] = np.where(rows[self._many] > -np.inf, adjoint[self._of_many], 0.0)
            of_odds = np.where(np.isfinite(outgoing[self._odds]), adjoint[self._odds], 0.0)
            of_rows[self._off], of_rows[self._off + 1] = -of_odds, of_odds
            received, own = row_backprop(of_rows)
            of_potentials += own
            out = np.empty_like(adjoint)
            out[self._of_many] = received[self._many]
            pairs = np.stack([received[self._off], received[self._off + 1]], axis=1)
            out[self._odds] = adjoint_of_odds(pairs, incoming[self._odds])
            return out

        return backprop

    def sums(self, incoming: FloatArray, outgoing: FloatArray) -> Sums:
        """Log-partitions, read off each factor's first edge, and their derivatives."""
        received = self._rows(incoming)
        rows, row_backprop = self._answer(received)
        joint = received + rows
        log_partitions = np.logaddexp.reduceat(joint, self._begin[:-1])
        of_first = np.zeros(len(self._states), np.bool_)
        of_first[self._first] = True
        with np.errstate(invalid="ignore"):
            adjoint = np.where(self._per_state(of_first), np.exp(joint - self._per_state(log_partitions)), 0.0)
        if np.isnan(adjoint).any():
            return Sums(np.full(self._potentials, np.nan), -np.inf)
        return Sums(row_backprop(adjoint)[1], float(log_partitions[self._first].sum()))

    def _per_state(self, values: AnyArray) -> AnyArray:
        return np.repeat(values, self._states)

    def _rows(self, incoming: FloatArray) -> FloatArray:
        rows = np.empty(self._begin[-1])
        rows[self._many] = incoming[self._of_many]
        rows[self._off], rows[self._off + 1] = log_probabilities(incoming[self._odds]).T
        return rows
