"""Groups whose factors answer messages in rows: a log-probability per state of each variable, binary or not."""

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from treebp._types import AnyArray, FloatArray, IntArray
from treebp.bp.groups.odds import adjoint_of_odds, log_probabilities
from treebp.bp.groups.protocol import GroupBackprop, Sums

RowBackprop: TypeAlias = Callable[[FloatArray], tuple[FloatArray, FloatArray]]
"""Maps dJ/d outgoing rows to dJ/d incoming rows and dJ/d potentials."""


class RowSender:
    """Answers messages by a function of rows, which are laid end to end.

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
        self._begin = np.cumsum(states) - states  # where each row begins
        binary, widths = states == 2, np.where(states == 2, 1, states)
        self._off = self._begin[binary]  # where binary variables have their two states,
        self._on = self._off + 1
        self._odds = (np.cumsum(widths) - widths)[binary]  # and where their one message
        self._many = np.flatnonzero(np.repeat(~binary, states))  # everything else has a message for each state
        self._of_many = np.flatnonzero(np.repeat(~binary, widths))

    def send(self, incoming: FloatArray, outgoing: FloatArray, gradient: bool) -> GroupBackprop:
        """Write log-odds, or normalised log-probabilities."""
        rows, row_backprop = self._answer(self._rows(incoming))
        with np.errstate(invalid="ignore"):
            outgoing[self._odds] = rows[self._on] - rows[self._off]
            if len(self._many):
                outgoing[self._of_many] = (rows - self._per_state(np.logaddexp.reduceat(rows, self._begin)))[self._many]

        def backprop(adjoint: FloatArray, of_potentials: FloatArray) -> FloatArray:
            of_rows, out = np.empty_like(rows), np.empty_like(adjoint)
            of_odds = np.where(np.isfinite(outgoing[self._odds]), adjoint[self._odds], 0.0)
            of_rows[self._off], of_rows[self._on] = -of_odds, of_odds
            if len(self._many):
                of_rows[self._many] = np.where(rows[self._many] > -np.inf, adjoint[self._of_many], 0.0)
            received, own = row_backprop(of_rows)
            of_potentials += own
            pairs = np.stack([received[self._off], received[self._on]], axis=1)
            out[self._odds] = adjoint_of_odds(pairs, incoming[self._odds])
            if len(self._many):
                out[self._of_many] = received[self._many]
            return out

        return backprop

    def sums(self, incoming: FloatArray, outgoing: FloatArray) -> Sums:
        """Log-partitions, read off each factor's first edge, and their derivatives."""
        received = self._rows(incoming)
        rows, row_backprop = self._answer(received)
        of_first = np.zeros(len(self._states), np.bool_)
        of_first[self._first] = True
        places, widths = np.flatnonzero(self._per_state(of_first)), self._states[self._first]
        joint = (received + rows)[places]
        log_partitions = np.logaddexp.reduceat(joint, np.cumsum(widths) - widths)
        if not (log_partitions > -np.inf).all():
            return Sums(np.full(self._potentials, np.nan), -np.inf)
        adjoint = np.zeros_like(rows)
        adjoint[places] = np.exp(joint - np.repeat(log_partitions, widths))
        return Sums(row_backprop(adjoint)[1], float(log_partitions.sum()))

    def _per_state(self, values: AnyArray) -> AnyArray:
        return np.repeat(values, self._states)

    def _rows(self, incoming: FloatArray) -> FloatArray:
        rows = np.empty(self._states.sum())
        rows[self._off], rows[self._on] = log_probabilities(incoming[self._odds]).T
        if len(self._many):
            rows[self._many] = incoming[self._of_many]
        return rows
