"""The handle of a factor."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from treebp._types import FloatArray
from treebp.factors.protocol import StructuredFactor
from treebp.variables import Variable


@dataclass(frozen=True, eq=False, slots=True)
class Factor:
    """Handle of a factor, to ask for its beliefs and its gradient; made by `FactorGraph`.

    `potentials` are the log-potentials that a run uses unless it is given others. `structured` is the
    object that answers messages, or None for a table.
    """

    name: str
    variables: tuple[Variable, ...]
    potentials: FloatArray
    structured: StructuredFactor | None

    def checked(self, log_potentials: ArrayLike) -> FloatArray:
        """Own copy of new log-potentials, of this factor's shape; ValueError on another shape, NaN or +inf."""
        return checked_potentials(log_potentials, self.potentials.shape, self.name)

    def __repr__(self) -> str:
        return f"Factor({self.name!r})"


def checked_potentials(log_potentials: ArrayLike, shape: tuple[int, ...], name: str) -> FloatArray:
    """Own copy of log-potentials; ValueError on another shape, NaN or +inf."""
    potentials = np.array(log_potentials, dtype=np.float64)
    if potentials.shape != shape:
        raise ValueError(f"{name}: log-potentials of shape {potentials.shape}, expected {shape}")
    for index in np.argwhere(np.isnan(potentials) | np.isposinf(potentials))[:1]:
        entry = tuple(int(state) for state in index)
        raise ValueError(f"{name}: log-potential {potentials[entry]} at {entry}; finite or -inf expected")
    return potentials
