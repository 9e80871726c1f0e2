"""Any object of the open protocol of structured factors, as a group of one."""

import numpy as np

from treebp._types import FloatArray, IntArray
from treebp.bp.factors.protocol import FactorBackprop, StructuredFactor
from treebp.bp.groups.odds import adjoint_of_odds, log_probabilities
from treebp.bp.groups.protocol import Group, GroupBackprop, Sender, Sums


class Wrapped:
    """A structured factor, which may be a user's: what it answers is checked.

    Args:
        factor: the object.
        variables: (edges,) the numbers of its variables.
        name: what errors call it.

    """

    structured = True

    def __init__(self, factor: StructuredFactor, variables: IntArray, name: str) -> None:
        self.factor, self.name = factor, name
        self.variables = variables
        self.edge_states: IntArray = np.array([variable.states for variable in factor.variables], np.int64)
        self.shape = np.shape(factor.potentials)
        self.potentials = int(np.size(factor.potentials))

    @property
    def edge_factor(self) -> IntArray:
        """(edges,) zeros: there is one factor."""
        return np.zeros(len(self.variables), np.int64)

    def start(self, potentials: FloatArray) -> Sender:
        """The factor with these log-potentials."""
        return _WrappedSender(self, potentials.reshape(self.shape))

    def subset(self, factor: int) -> tuple[Group, IntArray, IntArray]:
        """The group itself."""
        return self, np.arange(len(self.variables)), np.arange(self.potentials)


class _WrappedSender:
    in_ratios = False
    strongest = np.inf
    constant = False

    def __init__(self, group: Wrapped, potentials: FloatArray) -> None:
        self._group, self._potentials = group, potentials
        states = group.edge_states
        binary = states == 2
        widths = np.where(binary, 1, states)
        # Where each edge's numbers begin, among entries and among the log-probabilities that the protocol knows.
        self._binary, self._off = (np.cumsum(widths) - widths)[binary], (np.cumsum(states) - states)[binary]
        entry_edge, row_edge = np.repeat(np.arange(len(states)), widths), np.repeat(np.arange(len(states)), states)
        self._other, self._others = np.flatnonzero(~binary[entry_edge]), np.flatnonzero(~binary[row_edge])
        self._first_row = np.cumsum(states) - states

    def _to_rows(self, entries: FloatArray) -> FloatArray:
        rows = np.empty(int(self._group.edge_states.sum()))
        rows[self._off], rows[self._off + 1] = log_probabilities(entries[self._binary]).T
        rows[self._others] = entries[self._other]
        return rows

    def _answer(self, incoming: FloatArray) -> tuple[FloatArray, FloatArray, FactorBackprop]:
        name, received = self._group.name, self._to_rows(incoming)
        # The factor may do with its arguments as it likes.
        sent, backprop = self._group.factor.messages(received.copy(), self._potentials.copy())
        if sent.shape != received.shape:
            raise ValueError(f"{name}: outgoing messages of shape {sent.shape}, expected {received.shape}")
        if np.any(np.isnan(sent) | np.isposinf(sent)):
            raise ValueError(f"{name}: NaN or +inf in its outgoing messages")

        def checked(adjoint: FloatArray) -> tuple[FloatArray, FloatArray]:
            found = backprop(adjoint)
            for array, expected in zip(found, (received, self._potentials), strict=True):
                if array.shape != expected.shape or not np.isfinite(array).all():
                    raise ValueError(f"{name}: adjoint {array}, expected finite numbers of shape {expected.shape}")
            return found

        return received, sent, checked

    def send(self, incoming: FloatArray, outgoing: FloatArray, gradient: bool) -> GroupBackprop:
        _, sent, row_backprop = self._answer(incoming)
        with np.errstate(invalid="ignore"):
            outgoing[self._binary] = sent[self._off + 1] - sent[self._off]
            totals = np.logaddexp.reduceat(sent, self._first_row)
            normalised = sent - np.repeat(totals, self._group.edge_states)
        outgoing[self._other] = normalised[self._others]

        def backprop(adjoint: FloatArray, of_potentials: FloatArray) -> FloatArray:
            of_odds = np.where(np.isfinite(outgoing[self._binary]), adjoint[self._binary], 0.0)
            rows = np.zeros_like(sent)
            rows[self._off], rows[self._off + 1] = -of_odds, of_odds
            rows[self._others] = np.where(sent[self._others] > -np.inf, adjoint[self._other], 0.0)
            received, own = row_backprop(rows)
            of_potentials += own.ravel()
            out = np.empty_like(adjoint)
            pairs = np.stack([received[self._off], received[self._off + 1]], axis=1)
            out[self._binary] = adjoint_of_odds(pairs, incoming[self._binary])
            out[self._other] = received[self._others]
            return out

        return backprop

    def sums(self, incoming: FloatArray, outgoing: FloatArray) -> Sums:
        received, sent, backprop = self._answer(incoming)
        first = slice(0, int(self._group.edge_states[0]))
        joint = received[first] + sent[first]
        log_partition = float(np.logaddexp.reduce(joint))
        if log_partition == -np.inf:
            return Sums(np.full(self._group.potentials, np.nan), log_partition)
        adjoint = np.zeros_like(sent)
        adjoint[first] = np.exp(joint - log_partition)
        return Sums(backprop(adjoint)[1].ravel(), log_partition)
