"""Groups whose factors answer messages in rows: a log-probability per state of each variable, binary or not."""

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from treebp._types import FloatArray, IntArray
from treebp.bp.groups.odds import adjoint_of_odds, log_probabilities, odds_of
from treebp.bp.groups.protocol import GroupBackprop, Sums

RowBackprop: TypeAlias = Callable[[FloatArray], tuple[FloatArray, FloatArray]]
"""Maps dJ/d outgoing rows to dJ/d incoming rows and dJ/d potentials."""


class RowSender:
    """Answers messages by a function of rows.

    Args:
        states: how many states all variables have.
        answer: maps incoming rows (edges, states) to outgoing ones, not normalised, and their backward pass.
        first: (factors,) the first edge of each factor.
        potentials: how many log-potentials there are.

    """

    in_ratios = False
    strongest = np.inf
    constant = False

    def __init__(
        self,
        states: int,
        answer: Callable[[FloatArray], tuple[FloatArray, RowBackprop]],
        first: IntArray,
        potentials: int,
    ) -> None:
        self._states, self._answer, self._first, self._potentials = states, answer, first, potentials

    def send(self, incoming: FloatArray, outgoing: FloatArray, gradient: bool) -> GroupBackprop:
        """Write log-odds, or normalised log-probabilities."""
        rows, row_backprop = self._answer(self._rows(incoming))
        if self._states == 2:
            outgoing[:] = odds_of(rows)
        else:
            outgoing[:] = normalised(rows).ravel()

        def backprop(adjoint: FloatArray, of_potentials: FloatArray) -> FloatArray:
            if self._states != 2:
                of_rows = np.where(rows > -np.inf, adjoint.reshape(rows.shape), 0.0)
                received, own = row_backprop(of_rows)
                of_potentials += own
                return received.ravel()
            of_odds = np.where(np.isfinite(outgoing), adjoint, 0.0)
            received, own = row_backprop(np.stack([-of_odds, of_odds], axis=1))
            of_potentials += own
            return adjoint_of_odds(received, incoming)

        return backprop

    def sums(self, incoming: FloatArray, outgoing: FloatArray) -> Sums:
        """Log-partitions, read off each factor's first edge, and their derivatives."""
        received = self._rows(incoming)
        rows, row_backprop = self._answer(received)
        joint = (received + rows)[self._first]
        log_partitions = np.logaddexp.reduce(joint, axis=1)
        adjoint = np.zeros_like(rows)
        with np.errstate(invalid="ignore"):
            adjoint[self._first] = np.exp(joint - log_partitions[:, None])
        if np.isnan(adjoint).any():
            return Sums(np.full(self._potentials, np.nan), -np.inf)
        return Sums(row_backprop(adjoint)[1], float(log_partitions.sum()))

    def _rows(self, incoming: FloatArray) -> FloatArray:
        return log_probabilities(incoming) if self._states == 2 else incoming.reshape(-1, self._states)


def normalised(rows: FloatArray) -> FloatArray:
    """Log-probabilities of log-weights (n, states); NaN where all are -inf."""
    with np.errstate(invalid="ignore"):
        return np.asarray(rows - np.logaddexp.reduce(rows, axis=1, keepdims=True))
