"""Any object of the open protocol of structured factors, as a group of one."""

import numpy as np

from treebp._types import FloatArray, IntArray
from treebp.bp.factors.protocol import StructuredFactor
from treebp.bp.groups.protocol import Group, Sender
from treebp.bp.groups.rows import RowBackprop, RowSender


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
        log_potentials = potentials.reshape(self.shape)

        def answer(rows: FloatArray) -> tuple[FloatArray, RowBackprop]:
            # The factor may do with its arguments as it likes.
            sent, backprop = self.factor.messages(rows.copy(), log_potentials.copy())
            if sent.shape != rows.shape:
                raise ValueError(f"{self.name}: outgoing messages of shape {sent.shape}, expected {rows.shape}")
            if np.any(np.isnan(sent) | np.isposinf(sent)):
                raise ValueError(f"{self.name}: NaN or +inf in its outgoing messages")

            def checked(adjoint: FloatArray) -> tuple[FloatArray, FloatArray]:
                of_rows, own = backprop(adjoint)
                for array, expected in ((of_rows, rows), (own, log_potentials)):
                    if array.shape != expected.shape or not np.isfinite(array).all():
                        message = f"adjoint {array}, expected finite numbers of shape {expected.shape}"
                        raise ValueError(f"{self.name}: {message}")
                return of_rows, own.ravel()

            return sent, checked

        return RowSender(self.edge_states, answer, np.zeros(1, np.int64), self.potentials)

    def subset(self, factor: int) -> tuple[Group, IntArray, IntArray]:
        """The group itself."""
        return self, np.arange(len(self.variables)), np.arange(self.potentials)
